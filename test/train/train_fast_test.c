// Training in `fast` on a device that fails the probe for `exact`: Mesa's rusticl over llvmpipe, whose fma is
// wrong where operands are subnormal or zero. Losses and accuracy are those of the cpu within a tolerance.
// labels: full opencl
#include <math.h>

#include "cases/case_command.h"
#include "train/train_tools.h"

#define RUSTICL                                                                                    \
    "OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd RUSTICL_ENABLE=llvmpipe "                     \
    "XDG_CACHE_HOME=" WEFT_BUILD_DIR "/rusticl-cache "
#define N_STEPS 60
#define LOSS_TOLERANCE 1e-3 // of a step, as case 51 asks

typedef struct trained {
    double loss[N_STEPS];
    double val_loss, val_accuracy;
} trained;

// The number behind "key": from *at on, which moves behind it.
static double next_number(const char **at, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    *at = strstr(*at, quoted);
    assert_non_null(*at);
    *at += strlen(quoted);
    return strtod(*at, NULL);
}

static void train_with(const char *environment, const char *flags, trained *out)
{
    static case_said said;
    char line[640];
    tiny_remove(TEMP("fast-run"));
    snprintf(line, sizeof line, "%s$WEFT train %s --out %s --steps %d train.log_every=1 --json %s",
             environment, tiny_write(tiny_recipe), TEMP("fast-run"), N_STEPS, flags);
    case_command(&said, line);
    if (said.code != 0)
        fail_msg("%s: exit code %d, said:\n%s", line, said.code, said.text);
    const char *at = said.text;
    for (int i = 0; i < N_STEPS; i++) {
        out->loss[i] = next_number(&at, "loss");
    }
    out->val_loss = next_number(&at, "val_loss");
    out->val_accuracy = next_number(&at, "val_accuracy");
}

static void rusticl_learns_the_same(void **state)
{
    static case_said said;
    trained cpu, rusticl;
    (void)state;
    case_command(&said, RUSTICL "$WEFT devices --json");
    if (said.code != 0 || !strstr(said.text, "\"id\":\"opencl:0\""))
        WF_SKIP("no rusticl");
    tiny_data();
    // Asked for exact, it refuses, and says why.
    char line[512];
    snprintf(line, sizeof line, RUSTICL "$WEFT train %s --device opencl:0",
             tiny_write(tiny_recipe));
    case_says(line, 3, ") is not exact: ");
    train_with("", "--device cpu", &cpu);
    train_with(RUSTICL, "--device opencl:0 --precision fast", &rusticl);
    double most = 0.0;
    for (int i = 0; i < N_STEPS; i++) {
        most = fmax(most, fabs(cpu.loss[i] - rusticl.loss[i]));
    }
    print_message("losses of %d steps differ by at most %g, accuracy %g and %g\n", N_STEPS, most,
                  cpu.val_accuracy, rusticl.val_accuracy);
    assert_true(most <= LOSS_TOLERANCE);
    assert_true(cpu.val_accuracy > 0.9); // a network that learnt nothing would agree, too
    assert_true(fabs(cpu.val_accuracy - rusticl.val_accuracy) <= 1.0 / TINY_TEST + 1e-9);
    assert_true(fabs(cpu.val_loss - rusticl.val_loss) <= LOSS_TOLERANCE);
}

const struct CMUnitTest wf_tests_train_fast[] = {
    cmocka_unit_test(rusticl_learns_the_same),
};
const unsigned long wf_n_tests_train_fast = WF_N_TESTS(wf_tests_train_fast);
