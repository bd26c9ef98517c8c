// One token out of logits: temperature, the k most probable, the fewest that reach a probability. In: logits.
// Out: a token. Stage: train.
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "math/weft_math.h"
#include "train/sample.h"

#define STREAM 0x5a3f1e27u // of these draws alone

typedef struct candidate {
    float logit;
    int64_t token;
} candidate;

// The greatest logit first, of equals the lowest token.
static int by_logit(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->token < y->token ? -1 : 1;
}

weft_status wf_sample_check_options(const weft_sample_options *o, weft_error *err)
{
    WEFT_REQUIRE(err, o->struct_size == sizeof *o, "sample: struct_size is %zu, expected %zu",
                 o->struct_size, sizeof *o);
    if (!(o->temperature >= 0.0 && o->temperature <= 1e6))
        WEFT_FAIL(err, WEFT_ERR_ATTR, "sample: temperature is %g, expected 0 to 1e6",
                  o->temperature);
    if (o->top_k < 0)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "sample: top_k is %lld, expected 0 or more",
                  (long long)o->top_k);
    if (!(o->top_p >= 0.0 && o->top_p <= 1.0))
        WEFT_FAIL(err, WEFT_ERR_ATTR, "sample: top_p is %g, expected 0 to 1", o->top_p);
    return WEFT_OK;
}

// Probabilities of the kept candidates, not yet divided by their sum, which is returned.
static double weigh(const candidate *list, int64_t n, float temperature, double *out)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const float z = WF_DIV(list[i].logit - list[0].logit, temperature);
        out[i] = list[i].logit == list[0].logit ? 1.0 : (double)wf_exp(z); // also of infinities
        sum += out[i];
    }
    return sum;
}

// How many reach the share p of the sum.
static int64_t cut_by_share(const double *weights, int64_t n, double sum, double p)
{
    double reached = 0.0;
    for (int64_t i = 0; i < n; i++) {
        reached += weights[i];
        if (reached >= p * sum)
            return i + 1;
    }
    return n;
}

static int64_t draw(const candidate *list, const double *weights, int64_t n, float uniform)
{
    double sum = 0.0, reached = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += weights[i];
    for (int64_t i = 0; i < n; i++) {
        reached += weights[i];
        if ((double)uniform * sum < reached)
            return list[i].token;
    }
    return list[n - 1].token;
}

weft_status weft_sample_token(const float *logits, int64_t n, const weft_sample_options *o,
                              int64_t at, int64_t *out_token, weft_error *err)
{
    const wf_allocator a = wf_allocator_default();
    candidate *list;
    double *weights;
    int64_t n_kept = 0;
    WEFT_REQUIRE(err, logits && n > 0 && o && out_token, "sample: without logits or options");
    *out_token = 0;
    WEFT_TRY(wf_sample_check_options(o, err));
    WEFT_TRY(wf_alloc(&a, (size_t)n, sizeof *list + sizeof *weights, &list, err));
    weights = (double *)(void *)(list + n);
    for (int64_t i = 0; i < n; i++) {
        if (logits[i] == logits[i])
            list[n_kept++] = (candidate){logits[i], i};
    }
    qsort(list, (size_t)n_kept, sizeof *list, by_logit);
    if (o->top_k > 0 && o->top_k < n_kept)
        n_kept = o->top_k;
    const float temperature = (float)o->temperature;
    if (n_kept > 0 && temperature > 0.0f) {
        const double sum = weigh(list, n_kept, temperature, weights);
        if (o->top_p > 0.0 && o->top_p < 1.0)
            n_kept = cut_by_share(weights, n_kept, sum, o->top_p);
        const float uniform = wf_random_uniform((wf_u64)o->seed, 0, STREAM, (wf_u64)at);
        *out_token = draw(list, weights, n_kept, uniform);
    } else if (n_kept > 0) {
        *out_token = list[0].token;
    }
    wf_free(&a, list);
    return WEFT_OK;
}
