// attention: values, masks, grouped heads, one query at a time, gradients, errors. Devices: `weft check`.
#include "op_run.h"

// q, k or v of [b,h,t,d] with other numbers for each seed.
static weft_val make(weft_graph *g, int64_t b, int64_t h, int64_t t, int64_t d, int seed)
{
    const int64_t count = b * h * t * d;
    float *data = malloc((size_t)(count + 1) * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)((i * 37 + seed * 101 + i * i % 13) % 64 - 31) / 24.0f;
    const int64_t dims[] = {b, h, t, d};
    const weft_val x = weft_constant(g, WEFT_F32, dims, 4, data);
    free(data);
    return x;
}

static weft_attention_options causal(void)
{
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    o.is_causal = true;
    return o;
}

static void one_key_is_its_value(void **state)
{
    weft_graph *g = *state;
    static const float q[] = {2.0f, -1.0f}, k[] = {0.5f, 3.0f}, v[] = {7.0f, -0.25f};
    static const float lse[] = {-1.0f};
    const int64_t dims[] = {1, 1, 1, 2};
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    weft_val at;
    o.scale = 0.5; // (1 - 3) / 2
    const weft_val y = weft_attention(g, op_f32(g, dims, 4, q), op_f32(g, dims, 4, k),
                                      op_f32(g, dims, 4, v), &o, &at);
    op_expect_f32(g, y, v, 2);
    op_expect_f32(g, at, lse, 1);
}

// Equal scores: the mean of the values that are seen.
static void causal_looks_back(void **state)
{
    weft_graph *g = *state;
    static const float zero[4] = {0.0f}, v[] = {1.0f, 3.0f, 8.0f, 4.0f};
    static const float y[] = {2.0f, 4.0f, 4.0f}; // 3 queries, 4 keys: the last query sees all
    const weft_attention_options o = causal();
    const weft_val q = op_f32(g, OP_DIMS(1, 1, 3, 1), zero);
    const weft_val k = op_f32(g, OP_DIMS(1, 1, 4, 1), zero);
    op_expect_f32(g, weft_attention(g, q, k, op_f32(g, OP_DIMS(1, 1, 4, 1), v), &o, NULL), y, 3);
}

static weft_val bool_mask(weft_graph *g, const int64_t *dims, const uint8_t *data)
{
    return weft_constant(g, WEFT_BOOL, dims, 4, data);
}

// Case 43: a query whose keys are all masked gives 0, and zero gradients, never NaN.
static void no_key_gives_zero(void **state)
{
    weft_graph *g = *state;
    static const uint8_t sees[] = {1, 0, 1, 0, 0, 0}; // 2 queries, 3 keys
    static const int64_t dims[] = {1, 1, 2, 3};
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    weft_val in[3] = {make(g, 1, 2, 2, 4, 1), make(g, 1, 2, 3, 4, 2), make(g, 1, 2, 3, 4, 3)};
    weft_val lse, grads[3];
    o.mask = bool_mask(g, dims, sees);
    const weft_val y = weft_attention(g, in[0], in[1], in[2], &o, &lse);
    weft_grad(g, op_loss(g, y), in, 3, grads);
    op_values v = op_run(g, grads[2], false);
    for (int64_t h = 0; h < 2; h++) {
        for (int64_t c = 0; c < 4; c++) {
            const int64_t at = (h * 2 + 1) * 4 + c;
            assert_true(((const float *)v.data[y.id])[at] == 0.0f);
            assert_true(((const float *)v.data[grads[0].id])[at] == 0.0f);
            // the key that no query sees
            assert_true(((const float *)v.data[grads[1].id])[(h * 3 + 1) * 4 + c] == 0.0f);
            assert_true(((const float *)v.data[grads[2].id])[(h * 3 + 1) * 4 + c] == 0.0f);
        }
        assert_true(((const float *)v.data[lse.id])[h * 2 + 1] == -INFINITY);
    }
    for (int i = 0; i < 3; i++) {
        for (int64_t c = 0; c < weft_val_count(g, in[i]); c++)
            assert_true(isfinite(((const float *)v.data[grads[i].id])[c]));
    }
    op_values_free(&v);
}

// What a query does not see may hold anything.
static void hidden_keys_are_no_terms(void **state)
{
    weft_graph *g = *state;
    static const float q[] = {1.0f, 1.0f}, k[] = {0.0f, NAN}, v[] = {5.0f, INFINITY};
    static const float y[] = {5.0f};
    const weft_attention_options o = causal();
    const int64_t dims[] = {1, 1, 2, 1};
    const weft_val all = weft_attention(g, op_f32(g, dims, 4, q), op_f32(g, dims, 4, k),
                                        op_f32(g, dims, 4, v), &o, NULL);
    static const int64_t zero[4] = {0}, one[] = {1, 1, 1, 1};
    op_expect_f32(g, weft_reshape(g, weft_slice(g, all, zero, one, NULL), NULL, 0), y, 1);
}

// An added mask is part of the score: two keys whose scores end up equal.
static void mask_is_added(void **state)
{
    weft_graph *g = *state;
    static const float q[] = {1.0f}, k[] = {2.0f, 3.0f, 9.0f}, v[] = {10.0f, 20.0f, 1e9f};
    static const float added[] = {1.0f, 0.0f, -INFINITY}, y[] = {15.0f};
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    o.mask = op_f32(g, OP_DIMS(1, 1, 1, 3), added);
    const weft_val three = op_f32(g, OP_DIMS(1, 1, 3, 1), k);
    const weft_val out = weft_attention(g, op_f32(g, OP_DIMS(1, 1, 1, 1), q), three,
                                        op_f32(g, OP_DIMS(1, 1, 3, 1), v), &o, NULL);
    op_expect_f32(g, out, y, 1);
}

// Query i alone, on the keys that it sees, has the bits that it has among all.
static void one_by_one_equals_all(void **state)
{
    weft_graph *g = *state;
    enum { T = 67, D = 5 };
    const weft_attention_options o = causal();
    const weft_val q = make(g, 1, 2, T, D, 1), k = make(g, 1, 1, T, D, 2);
    const weft_val v = make(g, 1, 1, T, D, 3);
    const weft_val all = weft_attention(g, q, k, v, &o, NULL);
    weft_val single[T];
    for (int64_t i = 0; i < T; i++) {
        const int64_t zero[4] = {0}, q_from[] = {0, 0, i, 0}, q_to[] = {1, 2, i + 1, D};
        const int64_t to[] = {1, 1, i + 1, D};
        single[i] = weft_attention(g, weft_slice(g, q, q_from, q_to, NULL),
                                   weft_slice(g, k, zero, to, NULL),
                                   weft_slice(g, v, zero, to, NULL), &o, NULL);
    }
    op_values values = op_run(g, single[T - 1], false);
    for (int64_t i = 0; i < T; i++) {
        for (int64_t h = 0; h < 2; h++) {
            assert_memory_equal((const float *)values.data[single[i].id] + h * D,
                                (const float *)values.data[all.id] + (h * T + i) * D,
                                D * sizeof(float));
        }
    }
    op_values_free(&values);
}

// Heads of queries that share keys equal heads that have copies of them.
static void heads_share_keys(void **state)
{
    weft_graph *g = *state;
    const weft_val q = make(g, 2, 4, 6, 3, 1), k = make(g, 2, 2, 6, 3, 2);
    const weft_val v = make(g, 2, 2, 6, 3, 3);
    static const int64_t five[] = {2, 2, 1, 6, 3}, copies[] = {2, 2, 2, 6, 3},
                         four[] = {2, 4, 6, 3};
    weft_val wide[2] = {k, v};
    for (int i = 0; i < 2; i++) {
        wide[i] = weft_broadcast(g, weft_reshape(g, wide[i], five, 5), copies, 5);
        wide[i] = weft_reshape(g, wide[i], four, 4);
    }
    const weft_val shared = weft_attention(g, q, k, v, NULL, NULL);
    const weft_val copied = weft_attention(g, q, wide[0], wide[1], NULL, NULL);
    op_values values = op_run(g, copied, false);
    assert_memory_equal(values.data[shared.id], values.data[copied.id],
                        (size_t)weft_val_count(g, shared) * sizeof(float));
    op_values_free(&values);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_attention_options o = causal();
    weft_val in[3] = {make(g, 1, 2, 3, 2, 1), make(g, 1, 1, 4, 2, 2), make(g, 1, 1, 4, 2, 3)}, lse;
    const weft_val y = weft_attention(g, in[0], in[1], in[2], &o, &lse);
    const weft_val both = weft_add(g, op_loss(g, y), op_loss(g, lse));
    for (int i = 0; i < 3; i++) {
        op_check_gradient(g, op_loss(g, y), in[i]);
        op_check_gradient(g, both, in[i]);
    }
    op_check_gradient(g, op_loss(g, lse), in[0]);
}

// Whatever axes the mask is broadcast along; also through the log-sum-exp, with grouped heads.
static void added_mask_has_its_gradient(void **state)
{
    weft_graph *g = *state;
    static const int64_t masks[][4] = {{2, 4, 3, 5}, {1, 4, 3, 5}, {2, 1, 1, 5},
                                       {1, 4, 1, 1}, {1, 1, 3, 5}, {1, 1, 1, 1}};
    const weft_val q = make(g, 2, 4, 3, 2, 1), k = make(g, 2, 2, 5, 2, 2);
    const weft_val v = make(g, 2, 2, 5, 2, 3);
    for (size_t i = 0; i < OP_COUNT(masks); i++) {
        weft_attention_options o = causal();
        weft_val lse;
        o.mask = make(g, masks[i][0], masks[i][1], masks[i][2], masks[i][3], 4);
        const weft_val y = weft_attention(g, q, k, v, &o, &lse);
        op_check_gradient(g, op_loss(g, y), o.mask);
        op_check_gradient(g, weft_add(g, op_loss(g, y), op_loss(g, lse)), o.mask);
    }
}

// Two keys, one query, by hand: p = (3/4, 1/4), so dS = p (dP - sum p dP).
static void added_mask_gradient_by_hand(void **state)
{
    weft_graph *g = *state;
    static const float zero[] = {0.0f, 0.0f}, v[] = {8.0f, 4.0f};
    const float added[] = {logf(3.0f), 0.0f};
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    weft_val dmask;
    o.mask = op_f32(g, OP_DIMS(1, 1, 1, 2), added);
    const weft_val y = weft_attention(g, op_f32(g, OP_DIMS(1, 1, 1, 1), zero),
                                      op_f32(g, OP_DIMS(1, 1, 2, 1), zero),
                                      op_f32(g, OP_DIMS(1, 1, 2, 1), v), &o, NULL);
    weft_grad(g, weft_sum(g, y, NULL, 0, false), &o.mask, 1, &dmask);
    op_values values = op_run(g, dmask, false);
    const float *got = values.data[dmask.id];
    assert_true(fabsf(got[0] - 0.75f) < 1e-6f && fabsf(got[1] + 0.75f) < 1e-6f);
    op_values_free(&values);
}

// A pair that is hidden, by the mask or by time, gets 0 whatever its key holds; so does a query without keys.
static void hidden_pairs_give_the_mask_nothing(void **state)
{
    weft_graph *g = *state;
    static const float q[] = {1.0f, 1.0f, 2.0f}, k[] = {0.5f, 1.0f, NAN};
    static const float v[] = {5.0f, -1.0f, INFINITY};
    static const float added[] = {-INFINITY, 0.0f, 0.0f, 0.25f, 1.0f, 0.0f, 0.5f, 2.0f, -INFINITY};
    weft_attention_options o = causal();
    weft_val dmask;
    o.mask = op_f32(g, OP_DIMS(1, 1, 3, 3), added);
    const int64_t dims[] = {1, 1, 3, 1};
    const weft_val y = weft_attention(g, op_f32(g, dims, 4, q), op_f32(g, dims, 4, k),
                                      op_f32(g, dims, 4, v), &o, NULL);
    weft_grad(g, op_loss(g, y), &o.mask, 1, &dmask);
    op_values values = op_run(g, dmask, false);
    const float *got = values.data[dmask.id];
    for (int i = 0; i < 9; i++) {
        const bool is_seen = i == 3 || i == 4 || i == 6 || i == 7;
        assert_true(is_seen ? got[i] != 0.0f && isfinite(got[i]) : got[i] == 0.0f);
    }
    op_values_free(&values);
}

static void refuses_shapes(void **state)
{
    weft_graph *g = *state;
    const weft_val y = weft_attention(g, make(g, 1, 3, 2, 4, 1), make(g, 1, 2, 5, 4, 2),
                                      make(g, 1, 2, 5, 4, 3), NULL, NULL);
    op_expect_error(g, y, WEFT_ERR_SHAPE,
                    "attention: q is f32[1,3,2,4], k is f32[1,2,5,4], v is f32[1,2,5,4], expected "
                    "[b,h,tq,d] and [b,hk,tk,d] twice, h a multiple of hk, d 1 or more");
}

static void refuses_masks(void **state)
{
    weft_graph *g = *state;
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    const weft_val x = make(g, 1, 3, 2, 4, 1);
    o.mask = make(g, 1, 2, 2, 2, 4);
    op_expect_error(g, weft_attention(g, x, x, x, &o, NULL), WEFT_ERR_SHAPE,
                    "attention: mask is f32[1,2,2,2], expected bool or f32 [b,h,tq,tk] = "
                    "[1,3,2,2], each 1 or that size");
}

static void refuses_integers(void **state)
{
    weft_graph *g = *state;
    const weft_val x = weft_fill(g, WEFT_I32, OP_DIMS(1, 1, 2, 2), 1.0);
    op_expect_error(g, weft_attention(g, x, x, x, NULL, NULL), WEFT_ERR_DTYPE,
                    "attention: q is i32[1,1,2,2], k is i32[1,1,2,2], v is i32[1,1,2,2], expected "
                    "f32");
}

const struct CMUnitTest wf_tests_attention[] = {
    OP_TEST(one_key_is_its_value),
    OP_TEST(causal_looks_back),
    OP_TEST(no_key_gives_zero),
    OP_TEST(hidden_keys_are_no_terms),
    OP_TEST(mask_is_added),
    OP_TEST(one_by_one_equals_all),
    OP_TEST(heads_share_keys),
    OP_TEST(has_its_gradient),
    OP_TEST(added_mask_has_its_gradient),
    OP_TEST(added_mask_gradient_by_hand),
    OP_TEST(hidden_pairs_give_the_mask_nothing),
    OP_TEST(refuses_shapes),
    OP_TEST(refuses_masks),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_attention = WF_N_TESTS(wf_tests_attention);
