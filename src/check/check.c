// weft_check_run: every op's cases, random graphs, training runs; the digest of what ref computes.
// Stage: check.
#include "check/check.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"

// In WEFT_FAST: a few hundred reordered f32 roundings, relative to the tensor's greatest magnitude.
#define FAST_TOLERANCE 1e-4

void wf_check_tell(wf_check_session *s, const weft_check_event *event)
{
    weft_check_result *r = s->result;
    uint64_t *count = event->status == WEFT_CHECK_EQUAL       ? &r->n_equal
                      : event->status == WEFT_CHECK_DIFFERENT ? &r->n_different
                                                              : &r->n_skipped;
    (*count)++;
    if (s->found) {
        s->found(s->user, event);
    }
}

weft_check_status wf_check_both(wf_check_session *s, const wf_check_trial *trial,
                                wf_check_result *ref, char reason[256])
{
    wf_check_result got = {.n = 0};
    weft_error err = {0};
    weft_check_status answer = WEFT_CHECK_DIFFERENT;
    if (wf_check_trial_run(trial, s->ref, ref, &err) != WEFT_OK) {
        (void)snprintf(reason, 256, "ref: %.240s", err.message);
        return WEFT_CHECK_DIFFERENT;
    }
    wf_check_digest(&s->digest, ref);
    const weft_status status = wf_check_trial_run(trial, s->device, &got, &err);
    if (status != WEFT_OK) {
        (void)snprintf(reason, 256, "%.250s", err.message);
        answer = status == WEFT_ERR_UNSUPPORTED ? WEFT_CHECK_SKIPPED : WEFT_CHECK_DIFFERENT;
    } else if (s->device->arithmetic == WEFT_FAST
                   ? wf_check_close(ref, &got, FAST_TOLERANCE, reason)
                   : wf_check_equal(ref, &got, reason)) {
        answer = WEFT_CHECK_EQUAL;
    }
    wf_check_result_deinit(&got);
    return answer;
}

static bool is_wanted(const wf_check_session *s, const char *name)
{
    return !s->options->op || !strcmp(s->options->op, name);
}

static weft_status check_name(const wf_check_session *s, weft_error *err)
{
    const char *name = s->options->op;
    if (!name || !strcmp(name, "random_graph") || !strcmp(name, "training") ||
        wf_op_find(s->ctx, name)) {
        return WEFT_OK;
    }
    const char **names;
    WEFT_TRY(wf_alloc(&s->ctx->allocator, s->ctx->n_ops, sizeof *names, &names, err));
    for (size_t i = 0; i < s->ctx->n_ops; i++) {
        names[i] = s->ctx->ops[i]->name;
    }
    const char *nearest = wf_text_nearest(name, names, s->ctx->n_ops);
    wf_free(&s->ctx->allocator, names);
    WEFT_FAIL(err, WEFT_ERR_NAME, "check: op %s is unknown%s%s", name,
              nearest ? ", did you mean " : "", nearest ? nearest : "");
}

static weft_status run_all(wf_check_session *s, weft_error *err)
{
    WEFT_TRY(check_name(s, err));
    for (size_t i = 0; i < s->ctx->n_ops; i++) {
        if (is_wanted(s, s->ctx->ops[i]->name)) {
            WEFT_TRY(wf_check_op(s, s->ctx->ops[i], err));
        }
    }
    if (is_wanted(s, "random_graph")) {
        WEFT_TRY(wf_check_random(s, err));
    }
    return is_wanted(s, "training") ? wf_check_train(s, err) : WEFT_OK;
}

weft_status weft_check_run(weft_context *ctx, weft_device *device,
                           const weft_check_options *options,
                           void (*found)(void *user, const weft_check_event *event), void *user,
                           weft_check_result *out_result, weft_error *err)
{
    static const weft_check_options defaults = WEFT_CHECK_OPTIONS_INIT;
    uint8_t digest[WF_SHA256_BYTES];
    WEFT_REQUIRE(err, ctx && device && out_result, "check: without context, device or result");
    *out_result = (weft_check_result){0};
    options = options ? options : &defaults;
    WEFT_REQUIRE(err, options->struct_size == sizeof *options,
                 "check: struct_size is %zu, expected %zu", options->struct_size, sizeof *options);
    wf_check_session s = {.ctx = ctx,
                          .device = device,
                          .options = options,
                          .result = out_result,
                          .found = found,
                          .user = user};
    WEFT_TRY(weft_device_open(ctx, "ref", NULL, &s.ref, err));
    wf_sha256_init(&s.digest);
    const weft_status status = run_all(&s, err);
    wf_sha256_final(&s.digest, digest);
    wf_sha256_hex(digest, out_result->digest);
    weft_device_close(s.ref);
    return status;
}
