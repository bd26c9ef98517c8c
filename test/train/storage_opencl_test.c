// Trainings whose values are held in bf16 and f16: the bits of the cpu on ref and on OpenCL, on a small net and
// on a recipe of the repository.
// labels: full opencl
#include "cases/case_command.h"
#include "train/train_tools.h"

#define FASHION "/usr/share/datasets/fashion-mnist"

// The digest that a command's last line tells.
static void weights_of(const char *recipe, const char *settings, char out[65])
{
    static case_said said;
    char line[1024];
    tiny_remove(TEMP("storage-other"));
    snprintf(line, sizeof line, "$WEFT train %s %s --out %s --json", recipe, settings,
             TEMP("storage-other"));
    case_command(&said, line);
    const char *at = strstr(said.text, "\"weights_sha256\":\"");
    if (said.code != 0 || !at)
        fail_msg("%s: exit code %d, said:\n%s", line, said.code, said.text);
    snprintf(out, 65, "%.64s", at + strlen("\"weights_sha256\":\""));
}

static bool has_opencl(void)
{
    static case_said said;
    case_command(&said, "$WEFT devices --json");
    return strstr(said.text, "\"id\":\"opencl:0\"") && strstr(said.text, "\"exact\":\"native\"");
}

static void expect_same(const char *recipe, const char *settings, const char *const *devices)
{
    char first[65], other[65], words[256];
    snprintf(words, sizeof words, "%s --device cpu", settings);
    weights_of(recipe, words, first);
    for (; *devices; devices++) {
        if (!strncmp(*devices, "opencl", 6) && !has_opencl())
            WF_SKIP("no OpenCL device on this machine");
        snprintf(words, sizeof words, "%s --device %s", settings, *devices);
        weights_of(recipe, words, other);
        assert_string_equal(other, first);
    }
}

static void small_net(void **state)
{
    static const char *const devices[] = {"ref", "opencl", NULL};
    char recipe[512];
    (void)state;
    tiny_data();
    snprintf(recipe, sizeof recipe, "%s", tiny_write(tiny_recipe));
    expect_same(recipe, "storage=bf16 --steps 8", devices);
    expect_same(recipe, "storage=f16 --steps 8", devices);
}

static void fashion(void **state)
{
    static const char *const devices[] = {"opencl", NULL};
    (void)state;
    if (access(FASHION, R_OK) != 0)
        WF_SKIP("no data set in %s, install dataset-fashion-mnist", FASHION);
    expect_same(WEFT_SOURCE_DIR "/recipes/fashion-mlp.yaml", "storage=bf16 --steps 30", devices);
}

const struct CMUnitTest wf_tests_storage_opencl[] = {cmocka_unit_test(small_net),
                                                     cmocka_unit_test(fashion)};
const unsigned long wf_n_tests_storage_opencl = WF_N_TESTS(wf_tests_storage_opencl);
