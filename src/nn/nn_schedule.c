// The learning rate as a function of the step, in graph ops: a resumed run computes the same numbers.
// I. Loshchilov, F. Hutter, ICLR 2017 (cosine); L. Smith, N. Topin, 2017 (one-cycle); S. Hu et al., "MiniCPM",
// 2024 (wsd); A. Haegele et al., "Scaling Laws and Compute-Optimal Training Beyond Fixed Training
// Durations", 2024 (its square-root decay).
#include <math.h>

#include "nn/nn_builder.h"

#define HALF_PI 1.57079632679489661923

#define GAMMA_DEFAULT 0.1
#define WARMUP_SHARE_DEFAULT 0.3
#define INITIAL_DIVISOR_DEFAULT 25.0
#define FINAL_DIVISOR_DEFAULT 1e4
#define DECAY_SHARE_DEFAULT 0.2

static double or_default(double value, double by_default)
{
    return value != 0.0 ? value : by_default;
}

static bool check(weft_graph *g, const weft_schedule_options *o)
{
    const bool has_end = o->kind == WEFT_SCHEDULE_LINEAR || o->kind == WEFT_SCHEDULE_COSINE ||
                         o->kind == WEFT_SCHEDULE_ONE_CYCLE || o->kind == WEFT_SCHEDULE_WSD;
    const int64_t warmup = o->kind == WEFT_SCHEDULE_ONE_CYCLE ? 0 : o->warmup_steps;
    const char *wrong = NULL;
    if (!wf_nn_options_check(g, "schedule", o->struct_size, sizeof *o))
        return false;
    if (o->kind < WEFT_SCHEDULE_CONSTANT || o->kind > WEFT_SCHEDULE_WSD)
        wrong = "a kind that exists";
    else if (!(o->lr > 0.0))
        wrong = "lr above 0"; // 0 is what a forgotten option looks like
    else if (warmup < 0)
        wrong = "warmup_steps of 0 or more";
    else if (has_end && o->total_steps < 1)
        wrong = "total_steps of 1 or more";
    else if (!(o->final_fraction >= 0.0))
        wrong = "final_fraction of 0 or more";
    else if (o->kind == WEFT_SCHEDULE_STEP && (o->step_size < 1 || !(o->gamma >= 0.0)))
        wrong = "step_size of 1 or more and gamma of 0 or more";
    else if (!(o->warmup_share >= 0.0 && o->warmup_share <= 1.0) || !(o->initial_divisor >= 0.0) ||
             !(o->final_divisor >= 0.0))
        wrong = "warmup_share of 0 to 1 and positive divisors";
    else if (!(o->decay_share >= 0.0 && o->decay_share <= 1.0))
        wrong = "decay_share of 0 to 1";
    if (!wrong)
        return true;
    wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                  "schedule: kind %d, lr %g, warmup_steps %lld, total_steps %lld, expected %s",
                  (int)o->kind, o->lr, (long long)o->warmup_steps, (long long)o->total_steps,
                  wrong);
    return false;
}

static weft_val integer(weft_graph *g, int64_t value)
{
    return weft_constant(g, WEFT_I64, NULL, 0, &value);
}

// to + (from - to) * (1 + cos(pi p)) / 2 where p = 1 - left. As a square of a sine it keeps its
// relative accuracy where it ends near 0.
static weft_val along_cosine(weft_graph *g, weft_val left, double from, double to)
{
    const weft_val sine = weft_sin(g, weft_mul(g, left, wf_nn_number(g, HALF_PI)));
    const weft_val share = weft_mul(g, sine, sine);
    return weft_add(g, weft_mul(g, share, wf_nn_number(g, from - to)), wf_nn_number(g, to));
}

// Steps left until `end`, cut to 0..span, over span.
static weft_val share_left(weft_graph *g, weft_val step, int64_t end, int64_t span)
{
    const weft_val left = weft_sub(g, integer(g, end), step);
    const weft_val cut = weft_min(g, weft_max(g, left, integer(g, 0)), integer(g, span));
    return weft_div(g, weft_cast(g, cut, WEFT_F32), wf_nn_number(g, (double)span));
}

// PyTorch's two phases: up until step `peak` (a fraction, in general), then down until the last step.
static weft_val one_cycle(weft_graph *g, weft_val step, const weft_schedule_options *o)
{
    const double initial = o->lr / or_default(o->initial_divisor, INITIAL_DIVISOR_DEFAULT);
    const double last = initial / or_default(o->final_divisor, FINAL_DIVISOR_DEFAULT);
    const double end = (double)(o->total_steps - 1);
    double peak = or_default(o->warmup_share, WARMUP_SHARE_DEFAULT) * (double)o->total_steps - 1.0;
    const weft_val zero = wf_nn_number(g, 0.0), one = wf_nn_number(g, 1.0);
    const weft_val at = weft_cast(g, step, WEFT_F32);
    const bool has_rise = peak > 0.0;
    peak = has_rise ? peak : 0.0;
    const double fall = end - peak > 0.0 ? end - peak : 1.0;
    // An i64 difference, then f32: exact where a step number alone would round.
    const weft_val to_end =
        weft_cast(g, weft_sub(g, integer(g, o->total_steps - 1), step), WEFT_F32);
    weft_val down_left = weft_div(g, to_end, wf_nn_number(g, fall));
    down_left = weft_min(g, weft_max(g, down_left, zero), one);
    const weft_val down = along_cosine(g, down_left, o->lr, last);
    if (!has_rise)
        return down;
    const weft_val top = wf_nn_number(g, peak);
    weft_val up_left = weft_div(g, weft_sub(g, top, at), top);
    up_left = weft_min(g, weft_max(g, up_left, zero), one);
    const weft_val up = along_cosine(g, up_left, initial, o->lr);
    return weft_select(g, weft_less_equal(g, at, top), up, down);
}

// The factor on lr behind the warm-up; none for a constant.
static weft_val decay_factor(weft_graph *g, weft_val step, const weft_schedule_options *o)
{
    // A run that is no longer than its warm-up has no decay: behind it is the end.
    const int64_t behind = o->total_steps - o->warmup_steps, span = behind > 0 ? behind : 1;
    if (o->kind == WEFT_SCHEDULE_LINEAR) {
        const weft_val left = share_left(g, step, o->total_steps, span);
        return weft_add(g, weft_mul(g, left, wf_nn_number(g, 1.0 - o->final_fraction)),
                        wf_nn_number(g, o->final_fraction));
    }
    if (o->kind == WEFT_SCHEDULE_WSD) {
        const double share = or_default(o->decay_share, DECAY_SHARE_DEFAULT);
        const int64_t steps = (int64_t)floor(share * (double)span + 0.5);
        const weft_val one = wf_nn_number(g, 1.0);
        weft_val left = share_left(g, step, o->total_steps, steps > 0 ? steps : 1);
        if (o->is_sqrt_decay)
            left = weft_sub(g, one, weft_sqrt(g, weft_sub(g, one, left)));
        return weft_add(g, weft_mul(g, left, wf_nn_number(g, 1.0 - o->final_fraction)),
                        wf_nn_number(g, o->final_fraction));
    }
    if (o->kind == WEFT_SCHEDULE_COSINE)
        return along_cosine(g, share_left(g, step, o->total_steps, span), 1.0, o->final_fraction);
    if (o->kind == WEFT_SCHEDULE_STEP) {
        const weft_val past =
            weft_max(g, weft_sub(g, step, integer(g, o->warmup_steps)), integer(g, 0));
        const weft_val n = weft_cast(g, weft_div(g, past, integer(g, o->step_size)), WEFT_F32);
        return weft_pow(g, wf_nn_number(g, or_default(o->gamma, GAMMA_DEFAULT)), n);
    }
    return WEFT_NONE;
}

weft_val weft_schedule(weft_graph *g, weft_val step, const weft_schedule_options *options)
{
    static const weft_schedule_options none = WEFT_SCHEDULE_OPTIONS_INIT;
    const weft_schedule_options *o = options ? options : &none;
    if (!wf_build_ready(g, NULL, &step, 1) || !check(g, o))
        return WEFT_NONE;
    weft_scope_push(g, "schedule");
    weft_val lr;
    if (o->kind == WEFT_SCHEDULE_ONE_CYCLE) {
        lr = one_cycle(g, step, o);
    } else {
        const weft_val base = wf_nn_number(g, o->lr), factor = decay_factor(g, step, o);
        lr = o->kind == WEFT_SCHEDULE_CONSTANT ? base : weft_mul(g, base, factor);
        if (o->warmup_steps > 0) {
            const weft_val done = weft_cast(g, weft_add(g, step, integer(g, 1)), WEFT_F32);
            const weft_val share = weft_div(g, done, wf_nn_number(g, (double)o->warmup_steps));
            lr = weft_select(g, weft_less(g, step, integer(g, o->warmup_steps)),
                             weft_mul(g, base, share), lr);
        }
    }
    weft_scope_pop(g);
    return lr;
}
