// Data sets: looking up fields, reading samples, destroying.
#include "data/dataset.h"

#include <string.h>

void wf_dataset_destroy(wf_dataset *dataset)
{
    if (dataset)
        dataset->destroy(dataset);
}

const wf_field *wf_dataset_find(const wf_dataset *dataset, const char *name)
{
    for (int32_t i = 0; i < dataset->n_fields; i++) {
        if (!strcmp(dataset->field[i].name, name))
            return &dataset->field[i];
    }
    return NULL;
}

weft_status wf_field_read(const wf_field *field, int64_t sample, void *out_sample, weft_error *err)
{
    if (!field->data)
        return field->read(field->user, sample, out_sample, err);
    memcpy(out_sample, (const uint8_t *)field->data + (size_t)sample * field->sample_bytes,
           field->sample_bytes);
    return WEFT_OK;
}
