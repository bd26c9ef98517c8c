// What every recipe's plan promises of memory, against what the machine saw: the resident set of a process
// that trains on cpu, and every byte asked of an OpenCL driver, counted at its entry points.
// labels: full opencl noasan long (a sanitizer's own memory) notsan (likewise)
#include <glob.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/opencl/opencl_common.h"
#include "device/opencl_open.h"
#include "train/train_tools.h"
#include "train/trainer.h"

#define DIR_RUN TEMP("recipe-memory")
#define SPARE ((uint64_t)64 << 20) // code, stacks, the loader's batches, what malloc keeps

// Few steps, and few samples to validate with: what is held does not depend on either.
static const char *const settings[] = {"train.steps=12", "data.validation=0.01"};

// Elements that the recipe's data set holds in memory; 0: the data are not on this machine.
static uint64_t data_bytes(const char *path)
{
    weft_context *context;
    weft_recipe *recipe;
    wf_train_data data;
    weft_error err = {0};
    uint64_t bytes = 0;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    if (weft_recipe_read(context, path, settings, 2, &recipe, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    const weft_status status = wf_train_data_open(recipe, &data, &err);
    if (status != WEFT_OK && status != WEFT_ERR_FILE)
        fail_msg("%s", err.message);
    const wf_dataset *const parts[] = {data.train, data.test};
    for (size_t p = 0; p < WF_COUNT_OF(parts) && status == WEFT_OK; p++) {
        for (int32_t f = 0; parts[p] && f < parts[p]->n_fields; f++) {
            bytes += (uint64_t)parts[p]->n_samples * parts[p]->field[f].sample_bytes;
        }
    }
    if (status == WEFT_OK)
        wf_train_data_close(&data);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
    return bytes;
}

// Trains in a process of its own; gives what it planned, the most of all phases, and its greatest resident set.
static uint64_t train_apart(const char *path, uint64_t *out_resident)
{
    int ends[2], code;
    char said[1 << 14];
    struct rusage usage;
    size_t n = 0;
    tiny_remove(DIR_RUN);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl(WEFT_BINARY, WEFT_BINARY, "train", path, "--out", DIR_RUN, "--json", settings[0],
              settings[1], (char *)NULL);
        _exit(98);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], said + n, sizeof said - 1 - n)) > 0;) {
        n += (size_t)got;
    }
    said[n] = 0;
    close(ends[0]);
    assert_int_equal(wait4(child, &code, 0, &usage), child);
    static const char key[] = "\"planned_bytes\":";
    uint64_t planned = 0;
    for (const char *at = strstr(said, key); at; at = strstr(at + 1, key)) {
        const uint64_t bytes = strtoull(at + strlen(key), NULL, 10);
        planned = bytes > planned ? bytes : planned;
    }
    if (code != 0 || planned == 0)
        fail_msg("%s: exit status %d, said:\n%s", path, code, said);
    *out_resident = (uint64_t)usage.ru_maxrss * 1024;
    return planned;
}

static void each_recipe(void (*try)(const char *path, uint64_t data))
{
    glob_t found;
    size_t n = 0;
    assert_int_equal(glob(WEFT_SOURCE_DIR "/recipes/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const uint64_t data = data_bytes(found.gl_pathv[i]);
        if (data)
            try(found.gl_pathv[i], data);
        else
            print_message("%s: its data are not on this machine\n", found.gl_pathv[i]);
        n += data > 0;
    }
    globfree(&found);
    if (n < 5) // those of Fashion-MNIST
        WF_SKIP("only %zu recipes have their data, install dataset-fashion-mnist", n);
}

static void try_cpu(const char *path, uint64_t data)
{
    uint64_t resident;
    const uint64_t planned = train_apart(path, &resident);
    print_message("%s: %.1f MiB planned, %.1f MiB of data, %.1f MiB resident\n", path,
                  (double)planned / 1048576.0, (double)data / 1048576.0,
                  (double)resident / 1048576.0);
    assert_true(resident <= planned + data + SPARE);
}

static void cpu_resident_set(void **state)
{
    (void)state;
    each_recipe(try_cpu);
}

#if WEFT_HAVE_OPENCL
// ---- the driver's entry points, with a count behind them
#define MAX_LIVE 4096
static wf_opencl_symbols driver;
static struct {
    cl_mem mem[MAX_LIVE];
    size_t bytes[MAX_LIVE];
    uint64_t now, most;
} counted;

static cl_mem CL_API_CALL count_create(cl_context context, cl_mem_flags flags, size_t size,
                                       void *host, cl_int *code)
{
    const cl_mem mem = driver.clCreateBuffer(context, flags, size, host, code);
    size_t i = 0;
    while (mem && i < MAX_LIVE && counted.mem[i]) {
        i++;
    }
    assert_true(i < MAX_LIVE);
    if (mem) {
        counted.mem[i] = mem;
        counted.bytes[i] = size;
        counted.now += size;
    }
    if (counted.now > counted.most)
        counted.most = counted.now;
    return mem;
}

static cl_int CL_API_CALL count_release(cl_mem mem)
{
    for (size_t i = 0; i < MAX_LIVE; i++) {
        if (counted.mem[i] == mem) {
            counted.now -= counted.bytes[i];
            counted.mem[i] = NULL;
            return driver.clReleaseMemObject(mem);
        }
    }
    fail_msg("a buffer is released that nobody made");
    return CL_INVALID_MEM_OBJECT;
}

static void try_opencl(const char *path, uint64_t data)
{
    tiny_run run = {0};
    (void)data;
    tiny_remove(DIR_RUN);
    const tiny_how how = {
        .path = path, .dir = DIR_RUN, .settings = settings, .n_settings = 2, .device = "opencl"};
    counted.most = 0;
    tiny_train(&how, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s: %s", path, run.err.message);
    print_message("%s: %.1f MiB planned, %.1f MiB asked of the driver\n", path,
                  (double)run.done.planned_bytes / 1048576.0, (double)counted.most / 1048576.0);
    assert_true(counted.most <= run.done.planned_bytes);
    assert_int_equal(counted.most, run.done.peak_bytes);
    assert_int_equal(counted.now, 0);
}
#endif

static void opencl_buffers(void **state)
{
    (void)state;
    weft_context *context;
    weft_device_close(opencl_open_exact(&context)); // or a skip
    weft_context_destroy(context);
#if WEFT_HAVE_OPENCL
    wf_opencl_symbols *symbols = (wf_opencl_symbols *)(uintptr_t)wf_opencl_load(NULL);
    driver = *symbols;
    symbols->clCreateBuffer = count_create;
    symbols->clReleaseMemObject = count_release;
    each_recipe(try_opencl);
    *symbols = driver;
#endif
}

const struct CMUnitTest wf_tests_recipe_memory[] = {
    cmocka_unit_test(cpu_resident_set),
    cmocka_unit_test(opencl_buffers),
};
const unsigned long wf_n_tests_recipe_memory = WF_N_TESTS(wf_tests_recipe_memory);
