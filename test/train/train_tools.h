// A data set and recipes small enough to train in a moment, and runs of them whose events are kept.
#ifndef WF_TEST_TRAIN_TOOLS_H
#define WF_TEST_TRAIN_TOOLS_H

#include "io/temp_file.h"

#include "weft/weft.h"

#define TINY_SIDE 8
#define TINY_CLASSES 4
#define TINY_TRAIN 90 // batches of 16: five whole ones and one of 10
#define TINY_TEST 37

// What every recipe here begins with; the data folder is made by tiny_data.
#define TINY_HEAD "name: tiny\nseed: 3\ndata:\n  reader: idx\n  dir: " WEFT_TEST_TMP "/tiny-data\n"

// With everything that is random or has a state: batch norm, dropout, AdamW, crops and flips.
extern const char tiny_recipe[];

// Writes IDX files of images that a network can tell apart, once for the process.
void tiny_data(void);
// Removes a folder of a run and its files.
void tiny_remove(const char *dir);
// Writes a recipe file and gives its path, which is good until the next call.
const char *tiny_write(const char *text);

typedef struct tiny_run {
    weft_status status;
    weft_error err;
    int64_t stop_at; // asks for a stop behind this step; 0: never
    float loss[256], lr[256];
    int64_t n_steps; // told of
    int64_t last_step;
    int64_t n_epochs;
    double val_loss, val_accuracy;
    weft_done_event done; // pointers are gone
    bool is_done;
    char log[2048]; // what the library said
} tiny_run;

// Trains a recipe file with settings (NULL: none) on a device. run: zeroed, but for stop_at.
typedef struct tiny_how {
    const char *path;
    const char *dir;
    const char *const *settings;
    size_t n_settings;
    const char *device; // NULL: "cpu"
    const char *isa;
    uint32_t n_threads;
    int32_t n_loader_threads;
    bool is_resumed;
    uint64_t memory_limit_bytes;
} tiny_how;
void tiny_train(const tiny_how *how, tiny_run *run);

// Whether that device opens, with that instruction set; NULL: its own choice.
bool tiny_has_device(const char *id, const char *isa);
// The first OpenCL device with exact arithmetic; the running test is skipped where there is none.
const char *tiny_exact_opencl(void);

// Whether two files hold the same bytes.
bool tiny_same_file(const char *dir_a, const char *dir_b, const char *name);

#endif
