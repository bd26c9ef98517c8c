// GPT on OpenCL: token by token as all at once, bit for bit.
// labels: full opencl
#include "gpt_decode.h"

static void decodes_on_opencl(void **state)
{
    weft_gpt_options o = small();
    (void)state;
    if (!nn_has_device("opencl", NULL))
        WF_SKIP("opencl: no device that is exact");
    o.layers = 1;
    compare("opencl", NULL, &o, 1);
}

const struct CMUnitTest wf_tests_nn_gpt_opencl[] = {
    cmocka_unit_test(decodes_on_opencl),
};
const unsigned long wf_n_tests_nn_gpt_opencl = WF_N_TESTS(wf_tests_nn_gpt_opencl);
