// A recipe without a file: from data and the name of a model, with settings that usually do. In: a path, a
// family. Out: the same as from a file; what is chosen stands in the run's recipe.yaml.
#include <string.h>

#include "base/file.h"
#include "data/readers.h"
#include "graph/graph.h"
#include "recipe/recipe.h"

// Settings that go with a kind of data. The first row is for readers that are not listed.
typedef struct data_habit {
    const char *reader;
    const char *data;      // more keys of data:
    const char *optimizer; // of optimiser:
    const char *train;     // of train:
} data_habit;

static const data_habit habits[] = {
    {"", "validation: 0.1", "{kind: adamw, lr: 1e-3, weight_decay: 0.01}",
     "{batch: 32, epochs: 10, clip_norm: 5}"},
    {"images", "on_bad: skip, validation: 0.1, stratified: true, augment: {crop: 4, flip: true}",
     "{kind: adamw, lr: 1e-3, weight_decay: 0.05}", "{batch: 32, epochs: 10, clip_norm: 5}"},
    {"cifar", "validation: 0.1, stratified: true, augment: {crop: 4, flip: true}",
     "{kind: adamw, lr: 1e-3, weight_decay: 0.05}", "{batch: 64, epochs: 10, clip_norm: 5}"},
    {"sound", "on_bad: skip, validation: 0.1, stratified: true, augment: {shift: 0.1}",
     "{kind: adamw, lr: 1e-3, weight_decay: 0.05}", "{batch: 32, epochs: 10, clip_norm: 5}"},
    {"table", "validation: 0.2", "{kind: adamw, lr: 1e-3, weight_decay: 0.01}",
     "{batch: 32, epochs: 30}"},
    {"fann", "validation: test", "{kind: adamw, lr: 1e-3, weight_decay: 0.01}",
     "{batch: 32, epochs: 100}"},
    {"text", "unit: char, context: 128, validation: 0.1",
     "{kind: adamw, lr: 1e-3, weight_decay: 0.1}", "{batch: 16, epochs: 1, clip_norm: 1}"},
};

static const data_habit *find_habit(const char *reader)
{
    for (size_t i = 1; i < WF_COUNT_OF(habits); i++) {
        if (!strcmp(habits[i].reader, reader))
            return &habits[i];
    }
    return &habits[0];
}

static void write_recipe(const char *data, const char *model, const char *reader, wf_text *out)
{
    const data_habit *habit = find_habit(reader);
    wf_text_append(out, "name: ");
    wf_key_print_text(model, out);
    wf_text_append(out, "\nseed: 1\ndata: {reader: ");
    wf_key_print_text(reader, out);
    wf_text_append(out, ", dir: ");
    wf_key_print_text(data, out);
    wf_text_printf(out, ", %s}\nmodel: {family: ", habit->data);
    wf_key_print_text(model, out);
    wf_text_printf(out, "}\noptimiser: %s\nschedule: {kind: one_cycle}\ntrain: %s\n",
                   habit->optimizer, habit->train);
}

weft_status weft_recipe_make(weft_context *context, const char *data, const char *model,
                             const char *const *settings, size_t n_settings,
                             weft_recipe **out_recipe, weft_error *err)
{
    WEFT_REQUIRE(err, context && data && model && out_recipe && (settings || !n_settings),
                 "recipe: made without context, data, model or settings");
    *out_recipe = NULL;
    const wf_reader *reader = wf_readers_probe(data); // it may be the beginning of names only
    if (!reader && !wf_file_is_directory(data) && !wf_file_is_regular(data)) {
        wf_file_map map; // says why
        WEFT_TRY(wf_file_map_open(data, &map, err));
        wf_file_map_close(&map);
    }
    if (!reader)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: no reader knows it, expected folders of pictures or sounds by class, .csv, "
                  ".txt, .npz, IDX or CIFAR files",
                  data);
    wf_text text;
    wf_text_init(&text, &context->allocator);
    write_recipe(data, model, reader->name, &text);
    weft_status status = wf_text_status(&text, err);
    if (status == WEFT_OK)
        status = wf_recipe_read_text(context, "recipe of --data and --model", wf_text_str(&text),
                                     settings, n_settings, out_recipe, err);
    wf_text_deinit(&text);
    return status;
}
