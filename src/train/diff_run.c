// weft diff: two trainings side by side until bits differ, then that step taken apart. In: a recipe and two
// sides, devices or traces. Out: the first step and op that differ.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "train/diff.h"

typedef struct side {
    wf_trainer t; // of a device
    bool is_trainer;
    wf_trace trace;
} side;

typedef struct diff {
    side a, b;
    int64_t n_steps;
    weft_diff_result *out;
} diff;

weft_status wf_diff_start(wf_trainer *t, weft_error *err)
{
    const int64_t batch = t->recipe->v.train.batch, n = t->data.train_split.n;
    weft_program *program;
    if (t->recipe->n_phases > 0) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "diff: the recipe has %zu phases, expected the run folder of one of them",
                  t->recipe->n_phases);
    }
    if (t->recipe->v.train.micro_batch > 0) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "diff: steps of micro-batches are not taken apart, expected train.micro_batch "
                  "unset");
    }
    // A sampled step is another program, with the same bits.
    t->recipe->v.train.stats_every = 0;
    WEFT_TRY(wf_trainer_start(t, 0, 0, err));
    // Variables have their first values behind this.
    return wf_program_get(&t->programs, WF_PROGRAM_TRAIN, n < batch ? n : batch, &program, err);
}

weft_status wf_diff_tell(const wf_trainer *t, int64_t n_steps, const weft_train_events *events,
                         weft_error *err)
{
    const weft_step_event event = {.step = t->step,
                                   .total_steps = n_steps,
                                   .epoch = t->epoch + 1,
                                   .n_epochs = 1,
                                   .loss = t->loss,
                                   .lr = t->lr};
    if (events && events->step)
        events->step(events->user, &event);
    if (events && events->wants_stop && events->wants_stop(events->user))
        WEFT_FAIL(err, WEFT_ERR_INTERRUPTED, "interrupted at step %lld", (long long)t->step);
    return WEFT_OK;
}

// ---- reporting
static void report(weft_diff_result *out, weft_diff_kind kind, int64_t step, const weft_type *type,
                   const void *a, const void *b, int64_t element)
{
    out->kind = kind;
    out->step = step;
    out->type = *type;
    out->element = element;
    wf_read_element(type, a, element, &out->a_bits, &out->a_value);
    wf_read_element(type, b, element, &out->b_bits, &out->b_value);
}

static void name_node(weft_diff_result *out, const wf_node *node)
{
    (void)snprintf(out->op, sizeof out->op, "%s", node->op->name);
    (void)snprintf(out->scope, sizeof out->scope, "%s", node->scope);
    if (node->place.file)
        (void)snprintf(out->place, sizeof out->place, "%s:%d", node->place.file, node->place.line);
}

// "1/00017.0 model/fc1/matmul": scope and op out of a trace's name.
static void name_tensor(weft_diff_result *out, const char *name)
{
    const char *path = strchr(name, ' ');
    path = path ? path + 1 : name;
    const char *op = strrchr(path, '/');
    (void)snprintf(out->op, sizeof out->op, "%s", op ? op + 1 : path);
    (void)snprintf(out->scope, sizeof out->scope, "%.*s", op ? (int)(op - path) : 0, path);
}

// ---- two devices
static bool compare_variables(diff *d, const wf_tensor_set *a, const wf_tensor_set *b, int64_t step)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const int64_t element =
            wf_find_difference(&a->items[i].type, a->items[i].data, b->items[i].data);
        if (element < 0)
            continue;
        report(d->out, WEFT_DIFF_VARIABLE, step, &a->items[i].type, a->items[i].data,
               b->items[i].data, element);
        (void)snprintf(d->out->variable, sizeof d->out->variable, "%s", a->items[i].name);
        return true;
    }
    return false;
}

// Part by part on both devices, until a result differs.
static weft_status take_apart(diff *d, const wf_tensor_set *before, weft_error *err)
{
    wf_trainer *a = &d->a.t, *b = &d->b.t;
    wf_step_part x = {.is_last = false}, y = {.is_last = false};
    wf_tensor_set inputs = {{{0}, 0}, 0, NULL};
    weft_program *program;
    bool is_found = false;
    weft_status status;
    WEFT_TRY_GOTO(wf_program_get(&a->programs, WF_PROGRAM_TRAIN, a->n_samples, &program, err));
    WEFT_TRY_GOTO(wf_tensor_set_of_inputs(program, &inputs, err));
    while (!x.is_last && !is_found) {
        const uint32_t next = x.next_node;
        wf_step_part_deinit(&x);
        wf_step_part_deinit(&y);
        WEFT_TRY_GOTO(wf_step_part_run(a, a->step, a->n_samples, before, &inputs, next, &x, err));
        WEFT_TRY_GOTO(wf_step_part_run(b, a->step, a->n_samples, before, &inputs, next, &y, err));
        for (size_t i = 0; i < x.n && i < y.n && !is_found; i++) {
            const wf_step_value *u = &x.values[i], *v = &y.values[i];
            const int64_t element = wf_find_difference(&u->type, u->data, v->data);
            if (element < 0)
                continue;
            is_found = true;
            report(d->out, WEFT_DIFF_OP, a->step, &u->type, u->data, v->data, element);
            name_node(d->out, u->node);
        }
    }
fail:
    wf_step_part_deinit(&x);
    wf_step_part_deinit(&y);
    wf_tensor_set_deinit(&inputs);
    return status;
}

static weft_status compare_step(diff *d, weft_error *err)
{
    wf_trainer *a = &d->a.t, *b = &d->b.t;
    wf_tensor_set before = {{{0}, 0}, 0, NULL}, x = {{{0}, 0}, 0, NULL}, y = {{{0}, 0}, 0, NULL};
    const weft_type scalar = wf_type_make(WEFT_F32, 0, NULL);
    weft_status status;
    WEFT_TRY_GOTO(wf_tensor_set_of_state(a->state, &before, err));
    WEFT_TRY_GOTO(wf_trainer_step(a, err));
    WEFT_TRY_GOTO(wf_trainer_step(b, err));
    WEFT_TRY_GOTO(wf_tensor_set_of_state(a->state, &x, err));
    WEFT_TRY_GOTO(wf_tensor_set_of_state(b->state, &y, err));
    d->out->n_steps = a->step;
    if (wf_find_difference(&scalar, &a->loss, &b->loss) >= 0) {
        report(d->out, WEFT_DIFF_VARIABLE, a->step, &scalar, &a->loss, &b->loss, 0);
        (void)snprintf(d->out->variable, sizeof d->out->variable, "loss");
    } else {
        (void)compare_variables(d, &x, &y, a->step);
    }
    if (d->out->kind != WEFT_DIFF_NONE)
        WEFT_TRY_GOTO(take_apart(d, &before, err));
fail:
    wf_tensor_set_deinit(&before);
    wf_tensor_set_deinit(&x);
    wf_tensor_set_deinit(&y);
    return status;
}

static weft_status compare_first_values(diff *d, weft_error *err)
{
    wf_tensor_set x = {{{0}, 0}, 0, NULL}, y = {{{0}, 0}, 0, NULL};
    weft_status status = wf_tensor_set_of_state(d->a.t.state, &x, err);
    if (status == WEFT_OK)
        status = wf_tensor_set_of_state(d->b.t.state, &y, err);
    if (status == WEFT_OK)
        (void)compare_variables(d, &x, &y, 0);
    wf_tensor_set_deinit(&x);
    wf_tensor_set_deinit(&y);
    return status;
}

static weft_status compare_devices(diff *d, const weft_train_events *events, weft_error *err)
{
    WEFT_TRY(wf_diff_start(&d->a.t, err));
    WEFT_TRY(wf_diff_start(&d->b.t, err));
    WEFT_TRY(compare_first_values(d, err));
    while (d->out->kind == WEFT_DIFF_NONE && d->a.t.step < d->n_steps) {
        WEFT_TRY(compare_step(d, err));
        WEFT_TRY(wf_diff_tell(&d->a.t, d->n_steps, events, err));
    }
    return WEFT_OK;
}

// ---- a device and a trace
typedef struct beside_trace {
    diff *d;
    const wf_trainer *t;
    const wf_trace *trace;
    bool is_trace_first;
} beside_trace;

static weft_status compare_part(void *user, const wf_step_part *part, bool *out_is_enough,
                                weft_error *err)
{
    const beside_trace *b = user;
    for (size_t i = 0; i < part->n; i++) {
        const wf_step_value *v = &part->values[i];
        const wf_st_tensor *saved = wf_safetensors_find(b->trace->file, v->name);
        if (!saved || saved->dtype != v->type.dtype || saved->size_bytes != v->size_bytes) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: holds no %s, expected the values of every op",
                      b->trace->path, v->name);
        }
        const int64_t element = wf_find_difference(&v->type, v->data, saved->data);
        if (element < 0)
            continue;
        report(b->d->out, WEFT_DIFF_OP, b->t->step, &v->type,
               b->is_trace_first ? saved->data : v->data, b->is_trace_first ? v->data : saved->data,
               element);
        name_node(b->d->out, v->node);
        *out_is_enough = true;
        return WEFT_OK;
    }
    return WEFT_OK;
}

static weft_status compare_trace(diff *d, const weft_train_events *events, weft_error *err)
{
    const bool is_trace_first = !d->a.is_trainer;
    wf_trainer *t = is_trace_first ? &d->b.t : &d->a.t;
    const wf_trace *trace = is_trace_first ? &d->a.trace : &d->b.trace;
    if (d->n_steps > trace->n_steps)
        d->n_steps = trace->n_steps;
    WEFT_TRY(wf_diff_start(t, err));
    WEFT_TRY(wf_trace_check(trace, t, err));
    while (d->out->kind == WEFT_DIFF_NONE && t->step < d->n_steps) {
        beside_trace beside = {d, t, trace, is_trace_first};
        WEFT_TRY(wf_step_walk(t, compare_part, &beside, err));
        d->out->n_steps = t->step;
        WEFT_TRY(wf_diff_tell(t, d->n_steps, events, err));
    }
    return WEFT_OK;
}

// ---- two traces
static weft_status compare_traces(diff *d, weft_error *err)
{
    const wf_trace *a = &d->a.trace, *b = &d->b.trace;
    const int64_t common = a->n_steps < b->n_steps ? a->n_steps : b->n_steps;
    const int64_t n_steps = d->n_steps < common ? d->n_steps : common;
    for (size_t i = 0; i < wf_safetensors_count(a->file); i++) {
        const wf_st_tensor *u = wf_safetensors_get(a->file, i);
        const wf_st_tensor *v = wf_safetensors_find(b->file, u->name);
        const int64_t step = strtoll(u->name, NULL, 10);
        if (step > n_steps)
            break;
        if (!v || v->dtype != u->dtype || v->size_bytes != u->size_bytes) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT,
                      "%s: holds no %s as %s does, expected traces of one "
                      "recipe",
                      b->path, u->name, a->path);
        }
        const weft_type type = wf_type_make(u->dtype, u->ndim, u->dim);
        const int64_t element = wf_find_difference(&type, u->data, v->data);
        d->out->n_steps = step;
        if (element < 0)
            continue;
        report(d->out, WEFT_DIFF_OP, step, &type, u->data, v->data, element);
        name_tensor(d->out, u->name);
        break;
    }
    return WEFT_OK;
}

static weft_status side_open(side *s, const weft_diff_side *from, weft_recipe *recipe,
                             const wf_allocator *a, weft_error *err)
{
    if (!from->device)
        return wf_trace_open(a, from->trace_path, &s->trace, err);
    s->is_trainer = true;
    return wf_trainer_init(&s->t, recipe, from->device, 0, err);
}

static void side_close(side *s)
{
    if (s->is_trainer)
        wf_trainer_deinit(&s->t);
    wf_trace_close(&s->trace);
}

weft_status weft_diff_run(weft_recipe *recipe, const weft_diff_side *a, const weft_diff_side *b,
                          int64_t n_steps, const weft_train_events *events,
                          weft_diff_result *out_result, weft_error *err)
{
    WEFT_REQUIRE(err,
                 a && b && out_result && n_steps > 0 && (a->device || a->trace_path) &&
                     (b->device || b->trace_path) && (recipe || (!a->device && !b->device)),
                 "diff: without sides, steps, result, or a recipe for a device");
    const wf_allocator standard = wf_allocator_default();
    diff *d;
    memset(out_result, 0, sizeof *out_result);
    WEFT_TRY(wf_alloc(&standard, 1, sizeof *d, &d, err));
    d->n_steps = n_steps;
    d->out = out_result;
    weft_status status = side_open(&d->a, a, recipe, &standard, err);
    if (status == WEFT_OK)
        status = side_open(&d->b, b, recipe, &standard, err);
    if (status == WEFT_OK) {
        status = d->a.is_trainer && d->b.is_trainer   ? compare_devices(d, events, err)
                 : d->a.is_trainer || d->b.is_trainer ? compare_trace(d, events, err)
                                                      : compare_traces(d, err);
    }
    side_close(&d->a);
    side_close(&d->b);
    wf_free(&standard, d);
    return status;
}
