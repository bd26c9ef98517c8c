// Small data sets made in memory for tests.
#ifndef WF_TEST_DATA_TOOLS_H
#define WF_TEST_DATA_TOOLS_H

#include "io/temp_file.h"

#include "data/dataset.h"

#define TOY_N 103
#define TOY_SIDE 6

typedef struct toy {
    wf_dataset dataset;
    uint8_t pixels[TOY_N][2][TOY_SIDE][TOY_SIDE];
    uint8_t label[TOY_N];
} toy;

static inline void toy_destroy(wf_dataset *dataset)
{
    (void)dataset;
}

// 103 images [2,6,6]; the label of sample i is i mod 10.
static inline void toy_init(toy *t)
{
    static const int64_t dims[3] = {2, TOY_SIDE, TOY_SIDE};
    uint8_t *p = &t->pixels[0][0][0][0];
    memset(t, 0, sizeof *t);
    for (size_t i = 0; i < sizeof t->pixels; i++)
        p[i] = (uint8_t)((i * 2654435761u) >> 13);
    for (size_t i = 0; i < TOY_N; i++)
        t->label[i] = (uint8_t)(i % 10);
    t->dataset.allocator = wf_allocator_default();
    t->dataset.source = "toy";
    t->dataset.n_samples = TOY_N;
    t->dataset.n_classes = 10;
    t->dataset.n_fields = 2;
    t->dataset.destroy = toy_destroy;
    wf_field *image = &t->dataset.field[0];
    image->name = "image";
    image->dtype = WEFT_U8;
    image->ndim = 3;
    memcpy(image->dim, dims, sizeof dims);
    image->sample_bytes = 2 * TOY_SIDE * TOY_SIDE;
    image->data = t->pixels;
    wf_field *label = &t->dataset.field[1];
    label->name = "label";
    label->dtype = WEFT_U8;
    label->sample_bytes = 1;
    label->data = t->label;
}

#endif
