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

weft_status wf_dataset_learn(wf_dataset *dataset, const wf_split *train, weft_error *err)
{
    return dataset->learn ? dataset->learn(dataset, train, err) : WEFT_OK;
}

weft_status wf_dataset_label(const wf_dataset *dataset, int64_t sample, int64_t *out_label,
                             weft_error *err)
{
    const wf_field *field = wf_dataset_find(dataset, "label");
    uint8_t bytes[8] = {0};
    int32_t half;
    *out_label = 0;
    bool is_integer = field && (field->dtype == WEFT_U8 || field->dtype == WEFT_I8 ||
                                field->dtype == WEFT_I32 || field->dtype == WEFT_I64);
    if (!is_integer || field->sample_bytes != weft_dtype_size(field->dtype))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no label of one integer beside each sample",
                  dataset->source);
    WEFT_TRY(wf_field_read(field, sample, bytes, err));
    switch (field->dtype) {
    case WEFT_U8: *out_label = bytes[0]; break;
    case WEFT_I8: *out_label = (int8_t)bytes[0]; break;
    case WEFT_I64: memcpy(out_label, bytes, sizeof *out_label); break;
    default:
        memcpy(&half, bytes, sizeof half);
        *out_label = half;
        break;
    }
    return WEFT_OK;
}
