// Small instances of every family, as recipes: what the tests of bits, of resuming and of kills train.
#ifndef FAMILY_SMALL_H
#define FAMILY_SMALL_H

#include "train/train_tools.h"

typedef enum family_kind {
    FAMILY_PICTURES,
    FAMILY_RECURRENT,
    FAMILY_TRANSFORMER,
    FAMILY_SOUND,
} family_kind;

typedef struct family_small {
    const char *name;
    family_kind kind;
    const char *data;   // of the recipe, without braces
    const char *model;  // lines: model, loss where it is not cross_entropy, target
    const char *phases; // lines, or NULL
} family_small;

extern const family_small families_small[];
extern const size_t n_families_small;

const family_small *family_small_find(const char *name);
// Writes the recipe of a family's training and the data that it reads; gives its path. every: steps from one
// checkpoint to the next, 0: at the end of an epoch.
const char *family_small_write(const family_small *f, int steps, int every);
// Trains it into how.dir, afresh unless how.is_resumed, and copies the digest of its weights.
void family_small_train(const family_small *f, int steps, tiny_how how, char out_sha[65]);
// It must have one set of weights, trained in either way.
void family_small_compare(const family_small *f, int steps, const tiny_how *one,
                          const tiny_how *other);
// So must every instance of a kind on each instruction set of the machine, and through OpenCL (or a skip).
void family_small_on_cpus(family_kind kind, int steps, const char *dir);
void family_small_through_opencl(family_kind kind, int steps, const char *dir);
// It must have the same weights when it is stopped behind step `at` and resumed.
void family_small_resume(const family_small *f, int steps, int at, const char *dir);

#endif
