// Makes the small data set, trains on it, keeps what the library told.
#include "train/train_tools.h"

#include <dirent.h>
#include <unistd.h>

const char tiny_recipe[] = TINY_HEAD "  augment: {crop: 1, flip: true}\n"
                                     "model:\n"
                                     "  - conv: {out: 6, kernel: 3, pad: 1, bias: false}\n"
                                     "  - batch_norm\n"
                                     "  - relu\n"
                                     "  - max_pool: 2\n"
                                     "  - flatten\n"
                                     "  - linear: 12\n"
                                     "  - gelu\n"
                                     "  - dropout: 0.2\n"
                                     "  - linear: 4\n"
                                     "loss: {kind: cross_entropy, label_smoothing: 0.1}\n"
                                     "optimiser: {kind: adamw, lr: 1e-2, weight_decay: 0.01}\n"
                                     "schedule: {kind: cosine, warmup: 3, final_fraction: 0.1}\n"
                                     "train: {batch: 16, epochs: 3, clip_norm: 1}\n";

static uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    x = (x ^ (x >> 12)) * 0x297a2d39u;
    return x ^ (x >> 15);
}

static void write_part(const char *prefix, uint32_t n, uint32_t salt)
{
    char path[512];
    uint8_t images[16 + TINY_TRAIN * TINY_SIDE * TINY_SIDE] = {
        0, 0, 8, 3, 0, 0, 0, (uint8_t)n, 0, 0, 0, TINY_SIDE, 0, 0, 0, TINY_SIDE};
    uint8_t labels[8 + TINY_TRAIN] = {0, 0, 8, 1, 0, 0, 0, (uint8_t)n};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t label = mix(i + salt) % TINY_CLASSES;
        labels[8 + i] = (uint8_t)label;
        // A bright bar whose place tells the class, in noise.
        for (uint32_t p = 0; p < TINY_SIDE * TINY_SIDE; p++) {
            const bool is_bar = p / TINY_SIDE / 2 == label;
            const uint32_t noise = mix(salt + 1000 * i + p) % 90;
            images[16 + i * TINY_SIDE * TINY_SIDE + p] = (uint8_t)((is_bar ? 140 : 20) + noise);
        }
    }
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", TEMP("tiny-data"), prefix);
    temp_write(path, images, 16 + (size_t)n * TINY_SIDE * TINY_SIDE);
    snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", TEMP("tiny-data"), prefix);
    temp_write(path, labels, 8 + (size_t)n);
}

void tiny_data(void)
{
    static char made_in[4096]; // each test file has a folder of its own
    char here[sizeof made_in];
    assert_non_null(getcwd(here, sizeof here));
    if (strcmp(here, made_in) == 0)
        return;
    memcpy(made_in, here, sizeof here);
    assert_int_equal(wf_directory_create(TEMP("tiny-data"), NULL), WEFT_OK);
    write_part("train", TINY_TRAIN, 7);
    write_part("t10k", TINY_TEST, 77);
}

void tiny_remove(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    char path[1024];
    while (d && (entry = readdir(d))) {
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (entry->d_name[0] == '.' && strlen(entry->d_name) <= 2)
            continue;
        if (unlink(path) != 0) // the folder of a phase
            tiny_remove(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}

const char *tiny_write(const char *text)
{
    temp_write(TEMP("tiny.yaml"), text, strlen(text));
    return TEMP("tiny.yaml");
}

static void keep_step(void *user, const weft_step_event *e)
{
    tiny_run *run = user;
    if (run->n_steps < (int64_t)(sizeof run->loss / sizeof run->loss[0])) {
        run->loss[run->n_steps] = e->loss;
        run->lr[run->n_steps] = e->lr;
    }
    run->n_steps++;
    run->last_step = e->step;
}

static void keep_epoch(void *user, const weft_epoch_event *e)
{
    tiny_run *run = user;
    run->n_epochs++;
    run->val_loss = e->val_loss;
    run->val_accuracy = e->val_accuracy;
}

static void keep_done(void *user, const weft_done_event *e)
{
    tiny_run *run = user;
    run->done = *e;
    run->is_done = true;
}

static bool wants_stop(void *user)
{
    const tiny_run *run = user;
    return run->stop_at && run->last_step >= run->stop_at;
}

static void keep_log(void *user, weft_log_level level, const char *line)
{
    tiny_run *run = user;
    if (level == WEFT_LOG_DEBUG)
        return;
    const size_t at = strlen(run->log);
    snprintf(run->log + at, sizeof run->log - at, "%s\n", line);
}

static weft_status train(const tiny_how *how, weft_context *context, tiny_run *run)
{
    weft_recipe *recipe = NULL;
    weft_device *device = NULL;
    weft_device_options device_options = WEFT_DEVICE_OPTIONS_INIT;
    weft_train_options options = WEFT_TRAIN_OPTIONS_INIT;
    weft_train_events events = {sizeof events, run,       NULL,      keep_step,
                                keep_epoch,    keep_done, wants_stop};
    device_options.isa = how->isa;
    device_options.n_threads = how->n_threads;
    options.run_dir = how->dir;
    options.is_resumed = how->is_resumed;
    options.n_loader_threads = how->n_loader_threads;
    options.memory_limit_bytes = how->memory_limit_bytes;
    weft_status status =
        weft_recipe_read(context, how->path, how->settings, how->n_settings, &recipe, &run->err);
    if (status == WEFT_OK)
        status = weft_device_open(context, how->device ? how->device : "cpu", &device_options,
                                  &device, &run->err);
    if (status == WEFT_OK)
        status = weft_train_run(recipe, device, &options, &events, &run->err);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    return status;
}

void tiny_train(const tiny_how *how, tiny_run *run)
{
    weft_context *context;
    weft_context_options options = WEFT_CONTEXT_OPTIONS_INIT;
    tiny_data();
    options.log = keep_log;
    options.log_user = run;
    assert_int_equal(weft_context_create(&options, &context, NULL), WEFT_OK);
    run->status = train(how, context, run);
    weft_context_destroy(context);
}

bool tiny_has_device(const char *id, const char *isa)
{
    weft_context *context;
    weft_device *device = NULL;
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    options.isa = isa;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    const bool has = weft_device_open(context, id, &options, &device, NULL) == WEFT_OK;
    weft_device_close(device);
    weft_context_destroy(context);
    return has;
}

static void found_device(void *user, const weft_device_info *info)
{
    char *id = user;
    if (!id[0] && info->usable && info->exact != WEFT_EXACT_NO && !strncmp(info->id, "opencl", 6))
        snprintf(id, 64, "%s", info->id);
}

const char *tiny_exact_opencl(void)
{
    static char id[64];
    weft_context *context;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    id[0] = 0;
    weft_devices_list(context, found_device, id);
    weft_context_destroy(context);
    if (!id[0])
        WF_SKIP("no OpenCL device with exact arithmetic on this machine");
    return id;
}

bool tiny_same_file(const char *dir_a, const char *dir_b, const char *name)
{
    char a[1024], b[1024];
    wf_file_map x, y;
    snprintf(a, sizeof a, "%s/%s", dir_a, name);
    snprintf(b, sizeof b, "%s/%s", dir_b, name);
    assert_int_equal(wf_file_map_open(a, &x, NULL), WEFT_OK);
    assert_int_equal(wf_file_map_open(b, &y, NULL), WEFT_OK);
    const bool is_same =
        x.size_bytes == y.size_bytes && (!x.size_bytes || !memcmp(x.data, y.data, x.size_bytes));
    wf_file_map_close(&x);
    wf_file_map_close(&y);
    return is_same;
}
