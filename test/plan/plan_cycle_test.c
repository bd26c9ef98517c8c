// Groups that would wait for each other: graphs that random search found (weft check --op random_graph,
// seeds 1426 and 102138), cut down to what matters. Each must be planned for a device that fuses.
#include <stdio.h>

#include "weft/weft.h"
#include "wf_test.h"

static void compiles(const char *text)
{
    weft_context *ctx;
    weft_device *device;
    weft_state *state;
    weft_graph *g;
    weft_program *program = NULL;
    weft_error err;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(ctx, "cpu", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(device, &state, NULL), WEFT_OK);
    if (weft_graph_parse(ctx, text, &g, &err) != WEFT_OK ||
        weft_compile(state, g, NULL, &program, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    weft_program_destroy(program);
    weft_graph_destroy(g);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(ctx);
}

// %12 is older than the row group of %27 and shares a task with a younger node that reads the column sum
// beside it.
static void an_older_node_shares_a_task_with_a_younger(void **state)
{
    (void)state;
    compiles("weft graph 1\n"
             "%1 = constant {dtype=f32, dims=[], data=x0000003f} -> f32[]\n"
             "%2 = broadcast(%1) {dims=[5]} -> f32[5]\n"
             "%3 = variable {name=\"w\", init=2, dtype=f32, dims=[5]} -> f32[5]\n"
             "%4 = input {name=\"x4\", dtype=bool, dims=[64,5]} -> bool[64,5]\n"
             "%5 = input {name=\"x5\", dtype=f32, dims=[64,5]} -> f32[64,5]\n"
             "%6 = input {name=\"x6\", dtype=f32, dims=[17,64,5]} -> f32[17,64,5]\n"
             "%7 = input {name=\"x7\", dtype=f32, dims=[17,64,5]} -> f32[17,64,5]\n"
             "%8 = input {name=\"x8\", dtype=f32, dims=[17,64,5]} -> f32[17,64,5]\n"
             "%9 = div(%7, %8) -> f32[17,64,5]\n"
             "%10 = input {name=\"x10\", dtype=f32, dims=[64,5]} -> f32[64,5]\n"
             "%11 = input {name=\"x11\", dtype=f32, dims=[64,5]} -> f32[64,5]\n"
             "%12 = less(%10, %11) -> bool[64,5]\n"
             "%13 = input {name=\"x13\", dtype=f32, dims=[64,5]} -> f32[64,5]\n"
             "%14 = select(%12, %13, %5) -> f32[64,5]\n"
             "%15 = broadcast(%14) {dims=[17,64,5]} -> f32[17,64,5]\n"
             "%16 = add(%15, %9) -> f32[17,64,5]\n"
             "%17 = add(%16, %16) -> f32[17,64,5]\n"
             "%18 = input {name=\"x18\", dtype=f32, dims=[17,64,5]} -> f32[17,64,5]\n"
             "%19 = add(%18, %18) -> f32[17,64,5]\n"
             "%20 = reduce_sum(%19) {axes=[0], rule=\"column\"} -> f32[1,64,5]\n"
             "%21 = reshape(%20) {dims=[64,5]} -> f32[64,5]\n"
             "%22 = input {name=\"x22\", dtype=f32, dims=[64,5]} -> f32[64,5]\n"
             "%23 = select(%12, %22, %21) -> f32[64,5]\n"
             "%24 = div(%19, %8) -> f32[17,64,5]\n"
             "%25 = mul(%24, %9) -> f32[17,64,5]\n"
             "%26 = neg(%25) -> f32[17,64,5]\n"
             "%27 = reduce_sum(%26) {axes=[2], rule=\"row\"} -> f32[17,64,1]\n"
             "%28 = broadcast(%27) {dims=[17,64,5]} -> f32[17,64,5]\n"
             "%29 = add(%28, %24) -> f32[17,64,5]\n"
             "%30 = mul(%29, %6) -> f32[17,64,5]\n"
             "%31 = input {name=\"x31\", dtype=f32, dims=[64,5]} -> f32[64,5]\n"
             "%32 = select(%4, %31, %23) -> f32[64,5]\n"
             "%33 = reduce_sum(%32) {axes=[0], rule=\"column\"} -> f32[1,5]\n"
             "%34 = reshape(%33) {dims=[5]} -> f32[5]\n"
             "%35 = input {name=\"x35\", dtype=f32, dims=[5]} -> f32[5]\n"
             "%36 = mul(%34, %35) -> f32[5]\n"
             "%37 = sub(%3, %36) -> f32[5]\n"
             "%38 = assign(%3, %37) -> f32[5]\n"
             "output \"y0\" = %17\n"
             "output \"gradient\" = %30\n");
}

// In a space of one point every view looks like the broadcast of a row's value.
static void a_permute_of_one_point_is_no_broadcast(void **state)
{
    (void)state;
    compiles(
        "weft graph 1\n"
        "%1 = input {name=\"in3\", dtype=f32, dims=[1,1,1]} -> f32[1,1,1]\n"
        "%2 = constant {dtype=i64, dims=[], data=x0500000000000000} -> i64[]\n"
        "%3 = variable {name=\"seed\", init=2, dtype=i64, dims=[]} -> i64[]\n"
        "%4 = constant {dtype=i64, dims=[], data=x0000000000000000} -> i64[]\n"
        "%5 = variable {name=\"step\", init=4, dtype=i64, dims=[]} -> i64[]\n"
        "%6 = random(%3, %5) {dims=[1,1,1], kind=\"uniform\", stream=2852432056} -> f32[1,1,1]\n"
        "%7 = input {name=\"x1\", dtype=f32, dims=[1,1,1]} -> f32[1,1,1]\n"
        "%8 = less(%6, %7) -> bool[1,1,1]\n"
        "%9 = input {name=\"x2\", dtype=f32, dims=[1,1,1]} -> f32[1,1,1]\n"
        "%10 = select(%8, %9, %1) -> f32[1,1,1]\n"
        "%11 = input {name=\"x3\", dtype=f32, dims=[1,1,1]} -> f32[1,1,1]\n"
        "%12 = sub(%10, %11) -> f32[1,1,1]\n"
        "%13 = input {name=\"x4\", dtype=f32, dims=[1,1,1]} -> f32[1,1,1]\n"
        "%14 = reduce_sum(%13) {axes=[1], rule=\"row\"} -> f32[1,1,1]\n"
        "%15 = log(%14) -> f32[1,1,1]\n"
        "%16 = sub(%12, %15) -> f32[1,1,1]\n"
        "%17 = permute(%16) {order=[2,0,1]} -> f32[1,1,1]\n"
        "%18 = tanh(%17) -> f32[1,1,1]\n"
        "%19 = permute(%18) {order=[1,2,0]} -> f32[1,1,1]\n"
        "output \"y1\" = %19\n");
}

const struct CMUnitTest wf_tests_plan_cycle[] = {
    cmocka_unit_test(an_older_node_shares_a_task_with_a_younger),
    cmocka_unit_test(a_permute_of_one_point_is_no_broadcast),
};
const unsigned long wf_n_tests_plan_cycle = WF_N_TESTS(wf_tests_plan_cycle);
