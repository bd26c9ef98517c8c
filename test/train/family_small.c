// The table of small instances, and trainings of them. A family added here is trained on every device, resumed and
// killed.
#include "train/family_small.h"

#define TEXT TEMP("family.txt")
#define SOUND TEMP("family-sound.csv")

#define PICTURES(image) "reader: synthetic, image: " image ", n_classes: 10, normalise: false"
#define OF_TEXT(context)                                                                           \
    "reader: text, file: " TEXT ", unit: char, validation: 0.2, context: " context

const family_small families_small[] = {
    {"softmax", FAMILY_PICTURES, PICTURES("[1, 8, 8]"), "model: {family: softmax}\n", NULL},
    {"mlp", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: mlp, hidden: [17, 9], dropout: 0.2}\n", NULL},
    {"lenet", FAMILY_PICTURES, PICTURES("[1, 28, 28]"),
     "model: {family: lenet, activation: tanh, pool: mean}\n", NULL},
    {"vgg", FAMILY_PICTURES, PICTURES("[3, 8, 8]"),
     "model: {family: vgg, channels: [5, 7], convs: 2, hidden: [11], batch_norm: true}\n", NULL},
    {"resnet18", FAMILY_PICTURES, PICTURES("[3, 10, 8]"),
     "model: {family: resnet18, width: 3, zero_residual: true}\n", NULL},
    {"resnet20", FAMILY_PICTURES, PICTURES("[3, 9, 8]"),
     "model: {family: resnet20, width: 3, init: kaiming}\n", NULL},
    {"resnet50", FAMILY_PICTURES, PICTURES("[1, 32, 32]"),
     "model: {family: resnet50, stem: imagenet, width: 2}\n", NULL},
    {"mobilenetv2", FAMILY_PICTURES, PICTURES("[3, 8, 8]"),
     "model: {family: mobilenetv2, stem: cifar, width: 0.1}\n", NULL},
    {"unet", FAMILY_PICTURES, PICTURES("[1, 8, 12]"),
     "model: {family: unet, width: 3, levels: 2}\ntarget: {kind: mask, threshold: 0.4}\n", NULL},
    {"autoencoder", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: autoencoder, hidden: [21, 13], code: 5, noise: 0.1, masking: 0.2}\n"
     "loss: bce\ntarget: image\n",
     NULL},
    {"autoencoder, conv", FAMILY_PICTURES, PICTURES("[3, 8, 8]"),
     "model: {family: autoencoder, kind: conv, channels: [4, 6], code: 5, activation: silu}\n"
     "loss: {kind: huber, delta: 0.2}\ntarget: image\n",
     NULL},
    {"vae", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: vae, hidden: [19], code: 3}\nloss: {kind: bce, reduction: sum}\n"
     "target: image\n",
     NULL},
    {"dbn, rbm", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: dbn, hidden: [13, 9], layer: 2, gibbs: 2, linear_top: true}\n"
     "loss: own\ntarget: image\n",
     NULL},
    {"dbn, chains", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: dbn, hidden: [13], chains: 7}\nloss: own\ntarget: image\n", NULL},
    {"dbn, classifier", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: dbn, hidden: [13, 9], mode: classifier, dropout: 0.1}\n", NULL},
    {"dbn, autoencoder", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: dbn, hidden: [13, 9], mode: autoencoder, linear_top: true}\n"
     "loss: bce\ntarget: image\n",
     NULL},
    // Layer by layer, then a classifier on them: three trainings.
    {"dbn, phases", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model: {family: dbn, hidden: [13, 9]}\nloss: own\ntarget: image\n",
     "phases:\n  - {name: one, model: {layer: 1, chains: 6}}\n"
     "  - {name: two, model: {layer: 2}, train: {init_from: {new: [\"rbm2.*\"]}}}\n"
     "  - name: top\n    model: {mode: classifier}\n    loss: cross_entropy\n    target: label\n"
     "    train: {init_from: {new: [\"fc.*\"]}}\n"},
    {"layers", FAMILY_PICTURES, PICTURES("[1, 8, 8]"),
     "model:\n"
     "  - conv: {out: 4, kernel: 3, pad: 1}\n"
     "  - residual: [relu6, conv: {out: 4, kernel: 3, pad: 1}]\n"
     "  - residual:\n"
     "      body: [conv: {out: 6, kernel: 3, stride: 2, pad: 1}, batch_norm]\n"
     "      shortcut: [conv: {out: 6, kernel: 1, stride: 2}]\n"
     "  - branch: {paths: [[relu], [conv: {out: 3, kernel: 1}, tanh], []]}\n"
     "  - branch: {join: add, paths: [[gelu], []]}\n"
     "  - upsample: 2\n"
     "  - conv_transpose: {out: 3, kernel: 2, stride: 2}\n"
     "  - mean_pool: 2\n"
     "  - resize: {size: 11, mode: linear}\n"
     "  - adaptive_max_pool: 5\n"
     "  - adaptive_mean_pool: 4\n"
     "  - flatten\n"
     "  - reshape: [8, 6]\n"
     "  - flatten\n"
     "  - linear: 10\n",
     NULL},
    {"lstm", FAMILY_RECURRENT, OF_TEXT("12"),
     "model: {family: lstm, width: 11, hidden: 9, layers: 2, dropout: 0.1}\n", NULL},
    {"gru", FAMILY_RECURRENT, OF_TEXT("12"), "model: {family: gru, width: 11, layers: 1}\n", NULL},
    {"rnn, bidirectional", FAMILY_RECURRENT, OF_TEXT("12"),
     "model: {family: rnn, width: 7, layers: 1, bidirectional: true}\n", NULL},
    {"ctc", FAMILY_RECURRENT, OF_TEXT("12"),
     "model: {family: ctc, width: 6, hidden: 7}\nloss: own\n", NULL},
    {"gpt", FAMILY_TRANSFORMER, OF_TEXT("20"),
     "model: {family: gpt, width: 24, heads: 4, kv_heads: 2, layers: 2, dropout: 0.1}\n", NULL},
    {"gpt, tied", FAMILY_TRANSFORMER, OF_TEXT("20"),
     "model: {family: gpt, width: 18, heads: 3, layers: 1, tied: true, norm: rms, std: 0}\n", NULL},
    {"bert", FAMILY_TRANSFORMER, OF_TEXT("20"),
     "model: {family: bert, width: 24, heads: 4, layers: 2, segments: 2, pad: 0}\n"
     "target: {kind: masked, share: 0.2}\n",
     NULL},
    {"bert, all shown", FAMILY_TRANSFORMER, "reader: synthetic, context: 9, n_classes: 7",
     "model: {family: bert, width: 16, heads: 2, layers: 1, vocabulary: 7}\n", NULL},
    {"vit", FAMILY_TRANSFORMER, PICTURES("[3, 8, 12]"),
     "model: {family: vit, patch: 4, width: 24, heads: 4, layers: 2, dropout: 0.1}\n", NULL},
    {"audio", FAMILY_SOUND,
     "reader: table, file: " SOUND ", validation: 0.25, target_is: class, normalise: false",
     "model: {family: audio, sample_rate: 1000, mels: 6, channels: [4, 6], dropout: 0.1, freq_masks: 1, "
     "freq_mask_width: 2, time_masks: 2, time_mask_width: 3}\n",
     NULL},
};
const size_t n_families_small = sizeof families_small / sizeof families_small[0];

const family_small *family_small_find(const char *name)
{
    for (size_t i = 0; i < n_families_small; i++) {
        if (!strcmp(families_small[i].name, name))
            return &families_small[i];
    }
    fail_msg("no small instance of %s", name);
    return NULL;
}

static void write_text(void)
{
    FILE *f = fopen(TEXT, "w");
    assert_non_null(f);
    for (int i = 0; i < 40; i++)
        fprintf(f, "line %d: the weft goes over, \xc3\xa9t\xc3\xa9, and under again.\n",
                i * i % 37);
    fclose(f);
}

// 160 samples of a rectangle whose period tells the class, a row for each clip.
static void write_sound(void)
{
    FILE *f = fopen(SOUND, "w");
    assert_non_null(f);
    for (int t = 0; t < 160; t++)
        fprintf(f, "s%d,", t);
    fprintf(f, "class\n");
    for (int clip = 0; clip < 60; clip++) {
        const int period = 4 + 3 * (clip % 3);
        for (int t = 0; t < 160; t++)
            fprintf(f, "%s0.%02d,", (t + clip) / period % 2 ? "-" : "", 20 + clip * t % 31);
        fprintf(f, "%c\n", "abc"[clip % 3]);
    }
    fclose(f);
}

const char *family_small_write(const family_small *f, int steps, int every)
{
    char text[3072], checkpoints[48] = "";
    write_text();
    write_sound();
    if (every)
        snprintf(checkpoints, sizeof checkpoints, ", checkpoint_every: %d", every);
    snprintf(
        text, sizeof text,
        "name: small\nseed: 5\ndata: {%s}\n%s%soptimiser: {kind: adamw, lr: 3e-3, weight_decay: "
        "0.01}\nschedule: cosine\ntrain: {batch: %s, steps: %d%s}\n%s",
        f->data, f->model, strstr(f->model, "loss:") ? "" : "loss: cross_entropy\n",
        f->kind == FAMILY_PICTURES ? "8" : "6, clip_norm: 1", steps, checkpoints,
        f->phases ? f->phases : "");
    return tiny_write(text);
}

void family_small_train(const family_small *f, int steps, tiny_how how, char out_sha[65])
{
    tiny_run run = {0};
    how.path = family_small_write(f, steps, 0);
    if (!how.is_resumed)
        tiny_remove(how.dir);
    tiny_train(&how, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s: %s", f->name, run.err.message);
    memcpy(out_sha, run.done.weights_sha256, 65);
}

static const char *or_own(const char *word)
{
    return word ? word : "its own";
}

void family_small_compare(const family_small *f, int steps, const tiny_how *one,
                          const tiny_how *other)
{
    char a[65], b[65];
    family_small_train(f, steps, *one, a);
    family_small_train(f, steps, *other, b);
    if (strcmp(a, b) != 0)
        fail_msg("%s: %s by instruction set %s and %u threads, %s on %s by %s and %u", f->name, a,
                 or_own(one->isa), one->n_threads, b, other->device ? other->device : "cpu",
                 or_own(other->isa), other->n_threads);
}

static void compare_kind(family_kind kind, int steps, const tiny_how *other)
{
    const tiny_how plain = {.dir = other->dir, .isa = "scalar", .n_threads = 1};
    for (size_t i = 0; i < n_families_small; i++) {
        if (families_small[i].kind == kind)
            family_small_compare(&families_small[i], steps, &plain, other);
    }
}

void family_small_on_cpus(family_kind kind, int steps, const char *dir)
{
    static const char *const isas[] = {"avx2", "avx512", "neon"};
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        if (tiny_has_device("cpu", isas[i]))
            compare_kind(kind, steps, &(tiny_how){.dir = dir, .isa = isas[i], .n_threads = 2});
    }
}

void family_small_through_opencl(family_kind kind, int steps, const char *dir)
{
    compare_kind(kind, steps, &(tiny_how){.dir = dir, .device = tiny_exact_opencl()});
}

void family_small_resume(const family_small *f, int steps, int at, const char *dir)
{
    char whole[65], resumed[65];
    tiny_run half = {.stop_at = at};
    tiny_how how = {.dir = dir};
    family_small_train(f, steps, how, whole);
    tiny_remove(dir);
    how.path = family_small_write(f, steps, 0);
    tiny_train(&how, &half);
    assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
    how.is_resumed = true;
    family_small_train(f, steps, how, resumed);
    if (strcmp(whole, resumed) != 0)
        fail_msg("%s: %s, stopped behind step %d and resumed %s", f->name, whole, at, resumed);
}
