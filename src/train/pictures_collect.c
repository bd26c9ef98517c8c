// Results of the evaluating program for the first samples of a split. In: a split, an output's name. Out: arrays.
#include <string.h>

#include "train/pictures.h"

void wf_class_colour(int64_t class_idx, uint8_t out_rgb[3])
{
    static const uint8_t colours[][3] = {
        {31, 119, 180},  {255, 127, 14}, {44, 160, 44},   {214, 39, 40},
        {148, 103, 189}, {140, 86, 75},  {227, 119, 194}, {127, 127, 127},
        {188, 189, 34},  {23, 190, 207}, {0, 0, 128},     {0, 100, 0},
    };
    memcpy(out_rgb, colours[(size_t)class_idx % WF_COUNT_OF(colours)], 3);
}

// Elements of an output for one sample; 0: the program has no such output.
static int64_t output_size(const weft_program *program, const char *output, int64_t batch)
{
    const wf_plan *plan = program->plan;
    for (size_t i = 0; i < plan->n_outputs; i++) {
        if (!strcmp(plan->outputs[i].name, output))
            return wf_type_count(&plan->outputs[i].view.type) / batch;
    }
    return 0;
}

static int64_t field_size(const wf_data_field *field)
{
    int64_t n = 1;
    for (int32_t i = 0; i < field->ndim; i++) {
        n *= field->dim[i];
    }
    return n;
}

static const wf_batch_field *find_field(const wf_batch *batch, const char *name)
{
    for (int32_t i = 0; name && i < batch->n_fields; i++) {
        if (!strcmp(batch->field[i].name, name))
            return &batch->field[i];
    }
    return NULL;
}

typedef struct collector {
    wf_program_cache *programs;
    const char *output;
    wf_shown *shown;
    int64_t at; // samples done
    int64_t n_x;
} collector;

// One batch through the program; its results behind those of the batches before.
static weft_status run_batch(collector *c, const wf_batch *batch, weft_error *err)
{
    const wf_train_data *data = c->programs->data;
    wf_shown *s = c->shown;
    const size_t n = (size_t)batch->n, at = (size_t)c->at;
    weft_program *program;
    const void *x = find_field(batch, data->input.name)->data;
    // The class is asked for by its name: an autoencoder's program has no use for it, its colours have.
    const wf_batch_field *label = find_field(batch, "label");
    WEFT_TRY(wf_program_get(c->programs, WF_PROGRAM_EVAL, batch->n, &program, err));
    const size_t x_bytes = n * (size_t)c->n_x * sizeof(float);
    WEFT_TRY(weft_program_write(program, data->input.name, x, x_bytes, err));
    if (data->label.name)
        WEFT_TRY(weft_program_write(program, data->label.name, label->data,
                                    n * (size_t)field_size(&data->label) * sizeof(float), err));
    WEFT_TRY(weft_program_run(program, err));
    if (s->x)
        memcpy(s->x + at * (size_t)c->n_x, x, x_bytes);
    if (label && label->ndim == 0 && label->dtype == WEFT_I32)
        memcpy(s->labels + at, label->data, n * sizeof *s->labels);
    WEFT_TRY(weft_program_read(program, c->output, s->result + at * (size_t)s->n_result,
                               n * (size_t)s->n_result * sizeof(float), err));
    c->at += batch->n;
    return WEFT_OK;
}

weft_status wf_shown_collect(wf_program_cache *programs, const wf_split *split, const char *output,
                             int64_t n_wanted, bool has_input, wf_shown *s, weft_error *err)
{
    const wf_recipe_train *train = &programs->recipe->v.train;
    const int64_t usual = wf_program_eval_batch(train, train->batch);
    const int64_t batch = split->n >= usual ? usual : split->n;
    const int64_t whole = split->n / batch, wanted = (n_wanted + batch - 1) / batch;
    const int64_t n_batches = whole < wanted ? whole : wanted;
    const wf_loader_options options = {
        .batch_size = batch, .normalisation = programs->data->normalisation, .n_epochs = 1};
    const wf_allocator *a = &programs->arena.allocator;
    weft_program *program;
    wf_loader *loader = NULL;
    weft_status status;
    memset(s, 0, sizeof *s);
    s->allocator = *a;
    WEFT_TRY(wf_program_get(programs, WF_PROGRAM_EVAL, batch, &program, err));
    s->n_result = output_size(program, output, batch);
    if (s->n_result == 0)
        return WEFT_OK;
    collector c = {programs, output, s, 0, field_size(&programs->data->input)};
    const size_t n = (size_t)(n_batches * batch);
    WEFT_TRY(wf_alloc(a, n, (size_t)s->n_result * sizeof(float), &s->result, err));
    WEFT_TRY(wf_alloc(a, n, sizeof *s->labels, &s->labels, err));
    if (has_input)
        WEFT_TRY(wf_alloc(a, n, (size_t)c.n_x * sizeof(float), &s->x, err));
    WEFT_TRY(wf_loader_create(split, &options, &loader, err));
    for (int64_t i = 0; i < n_batches; i++) {
        wf_batch b;
        WEFT_TRY_GOTO(wf_loader_next(loader, &b, err));
        WEFT_TRY_GOTO(run_batch(&c, &b, err));
    }
    s->n = c.at < n_wanted ? c.at : n_wanted;
    status = WEFT_OK;
fail:
    wf_loader_destroy(loader);
    return status;
}

void wf_shown_deinit(wf_shown *s)
{
    wf_free(&s->allocator, s->x);
    wf_free(&s->allocator, s->labels);
    wf_free(&s->allocator, s->result);
    memset(s, 0, sizeof *s);
}
