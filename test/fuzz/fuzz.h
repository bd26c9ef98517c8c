// What the fuzz harnesses share: bytes become a file, the file is read, and whatever comes back is looked at.
// A harness is a file fuzz_NAME.c with a line FUZZ_READER or a function of its own; `make fuzz` builds each with
// libFuzzer, ASan and UBSan. A fault is a crash, a leak, a hang, or an error without a message.
#ifndef WF_TEST_FUZZ_H
#define WF_TEST_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The path of a file of these bytes; it lives until fuzz_close.
typedef struct fuzz_file {
    int fd;
    char path[64];
} fuzz_file;

static inline fuzz_file fuzz_open(const uint8_t *data, size_t size)
{
    fuzz_file f = {.fd = memfd_create("fuzz", 0)};
    if (f.fd < 0 || write(f.fd, data, size) != (ssize_t)size)
        abort();
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static inline void fuzz_close(fuzz_file *f)
{
    close(f->fd);
}

// An error says what is wrong, in one line.
static inline void fuzz_judge(weft_status status, const weft_error *err)
{
    if ((status == WEFT_OK) != (err->message[0] == 0) || strchr(err->message, '\n'))
        abort();
}

// Every field of every sample of what a reader made of the file.
static inline void fuzz_reader(const char *reader, wf_reader_options options, const uint8_t *data,
                               size_t size)
{
    fuzz_file f = fuzz_open(data, size);
    wf_dataset *set = NULL;
    weft_error err = {0};
    options.path = f.path;
    const weft_status status = wf_readers_open(reader, &options, &set, &err);
    fuzz_judge(status, &err);
    for (int32_t k = 0; set && k < set->n_fields; k++) {
        uint8_t *sample = malloc(set->field[k].sample_bytes + 1);
        for (int64_t i = 0; sample && i < set->n_samples && i < 1000; i++) {
            memset(&err, 0, sizeof err);
            fuzz_judge(wf_field_read(&set->field[k], i, sample, &err), &err);
        }
        free(sample);
    }
    wf_dataset_destroy(set);
    fuzz_close(&f);
}

#define FUZZ_READER(name, ...)                                                                     \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                   \
    {                                                                                              \
        const wf_reader_options options = {__VA_ARGS__};                                           \
        fuzz_reader(name, options, data, size);                                                    \
        return 0;                                                                                  \
    }

#endif
