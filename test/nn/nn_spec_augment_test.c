// Masks of SpecAugment, read back from what they leave of a spectrogram without zeros: their widths and starts, which
// entries they touch, the gradient, evaluation, bits across devices, the family `audio`, errors.
#include "nn_run.h"

#define BATCH 4
#define BANDS 11
#define FRAMES 23
#define N (BATCH * BANDS * FRAMES)
#define STEPS 120

typedef struct spectrogram {
    float v[BATCH][BANDS][FRAMES];
} spectrogram;

typedef struct masked {
    spectrogram y[STEPS], gradient[STEPS];
} masked;

static weft_spec_augment_options options_of(int64_t freq_masks, int64_t freq_width,
                                            int64_t time_masks, int64_t time_width)
{
    weft_spec_augment_options o = WEFT_SPEC_AUGMENT_OPTIONS_INIT;
    o.freq_masks = freq_masks;
    o.freq_mask_width = freq_width;
    o.time_masks = time_masks;
    o.time_mask_width = time_width;
    return o;
}

// No zero among them, and -inf and NaN at the first two places of the second sample.
static void make_input(spectrogram *x, spectrogram *weight)
{
    float *v = &x->v[0][0][0], *w = &weight->v[0][0][0];
    for (int i = 0; i < N; i++) {
        v[i] = (float)((i * 37) % 101) * 0.01f - 0.505f;
        w[i] = 1.0f + (float)(i % 7);
    }
    x->v[1][0][0] = -INFINITY;
    x->v[1][0][1] = NAN;
}

// STEPS steps of the masks and of the gradient of sum(y * weight) by x.
static void run_on(const char *device, const char *isa, int64_t seed,
                   const weft_spec_augment_options *o, masked *out)
{
    static spectrogram x, weight;
    static const weft_type scalar = {WEFT_I64, 0, {0}};
    nn_run r;
    weft_val gradient;
    make_input(&x, &weight);
    nn_begin_on(&r, device, isa, NULL, true);
    NN_OK(weft_state_write(r.state, "seed", &scalar, &seed, sizeof seed, err));
    const weft_val in = weft_input(r.g, "x", WEFT_F32, NN_DIMS(BATCH, BANDS, FRAMES));
    const weft_val w = weft_input(r.g, "weight", WEFT_F32, NN_DIMS(BATCH, BANDS, FRAMES));
    const weft_val y = weft_spec_augment(r.nn, in, o);
    const weft_val step = weft_nn_step(r.nn);
    weft_output(r.g, "y", y);
    weft_grad(r.g, weft_sum(r.g, weft_mul(r.g, y, w), NULL, 0, false), &in, 1, &gradient);
    weft_output(r.g, "gradient", gradient);
    weft_assign(r.g, step, weft_add(r.g, step, weft_scalar(r.g, WEFT_I64, 1.0)));
    nn_compile(&r);
    NN_OK(weft_program_write(r.program, "x", &x, sizeof x, err));
    NN_OK(weft_program_write(r.program, "weight", &weight, sizeof weight, err));
    for (int i = 0; i < STEPS; i++) {
        NN_OK(weft_program_run(r.program, err));
        NN_OK(weft_program_read(r.program, "y", &out->y[i], sizeof out->y[i], err));
        NN_OK(weft_program_read(r.program, "gradient", &out->gradient[i], sizeof out->gradient[i],
                                err));
    }
    nn_end(&r);
}

// +0 exactly, which no entry of the input is.
static bool is_hidden(const float *y)
{
    static const float zero = 0.0f;
    return !memcmp(y, &zero, sizeof zero);
}

static int count_hidden(const spectrogram *y, int sample)
{
    int n = 0;
    for (int i = 0; i < BANDS * FRAMES; i++)
        n += is_hidden(&y->v[sample][0][0] + i);
    return n;
}

// Each entry is 0 with a gradient of 0, or the input's bits with the gradient that arrives.
static void check_entries(const masked *got)
{
    static spectrogram x, weight;
    make_input(&x, &weight);
    for (int i = 0; i < STEPS; i++) {
        const float *y = &got->y[i].v[0][0][0], *dx = &got->gradient[i].v[0][0][0];
        for (int k = 0; k < N; k++) {
            if (is_hidden(&y[k])) {
                assert_true(is_hidden(&dx[k]));
            } else {
                assert_memory_equal(&y[k], &x.v[0][0][0] + k, sizeof y[k]);
                assert_true(dx[k] == (&weight.v[0][0][0])[k]);
            }
        }
    }
}

// Whether band m (or frame f) of a sample is hidden: the entry is, in a frame (band) that the other axis's masks
// leave alone.
static void find_bands(const spectrogram *y, int sample, bool out[BANDS])
{
    for (int m = 0; m < BANDS; m++) {
        out[m] = true;
        for (int f = 0; f < FRAMES; f++)
            out[m] = out[m] && is_hidden(&y->v[sample][m][f]);
    }
}

static void find_frames(const spectrogram *y, int sample, bool out[FRAMES])
{
    for (int f = 0; f < FRAMES; f++) {
        out[f] = true;
        for (int m = 0; m < BANDS; m++)
            out[f] = out[f] && is_hidden(&y->v[sample][m][f]);
    }
}

// One mask of n places, of `width` at most: counts its width, and whether it begins at the first or ends at the
// last place. It is in one piece.
typedef struct mask_counts {
    int width[FRAMES + 1];
    bool is_at_first, is_at_last;
} mask_counts;

static void count_mask(const bool *is_in, int n, mask_counts *counts)
{
    int width = 0, n_starts = 0;
    for (int i = 0; i < n; i++) {
        width += is_in[i];
        n_starts += is_in[i] && (i == 0 || !is_in[i - 1]);
    }
    assert_int_equal(n_starts, width > 0);
    counts->width[width]++;
    counts->is_at_first |= is_in[0];
    counts->is_at_last |= is_in[n - 1];
}

// Widths 0 .. most, each as often as chance has it; starts from one end to the other.
static void check_counts(const mask_counts *counts, int most)
{
    const double expected = (double)BATCH * STEPS / (most + 1);
    for (int w = 0; w <= FRAMES; w++) {
        if (w > most)
            assert_int_equal(counts->width[w], 0);
        else
            assert_true(fabs(counts->width[w] - expected) < 5.0 * sqrt(expected));
    }
    assert_true(counts->is_at_first && counts->is_at_last);
}

static void one_mask_of_each(void **state)
{
    static masked got;
    mask_counts bands = {{0}, false, false}, frames = {{0}, false, false};
    const weft_spec_augment_options o = options_of(1, 3, 1, 6);
    (void)state;
    run_on("ref", NULL, 7, &o, &got);
    check_entries(&got);
    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < BATCH; b++) {
            bool is_band[BANDS], is_frame[FRAMES];
            int n_bands = 0, n_frames = 0;
            find_bands(&got.y[i], b, is_band);
            find_frames(&got.y[i], b, is_frame);
            count_mask(is_band, BANDS, &bands);
            count_mask(is_frame, FRAMES, &frames);
            for (int m = 0; m < BANDS; m++)
                n_bands += is_band[m];
            for (int f = 0; f < FRAMES; f++)
                n_frames += is_frame[f];
            // Nothing else is hidden.
            assert_int_equal(count_hidden(&got.y[i], b),
                             n_bands * FRAMES + n_frames * BANDS - n_bands * n_frames);
        }
    }
    check_counts(&bands, 3);
    check_counts(&frames, 6);
}

// Two masks are two: there are more pieces than one, and never more hidden than both can.
static void several_masks(void **state)
{
    static masked got;
    const weft_spec_augment_options o = options_of(0, 0, 2, 5);
    int n_two = 0;
    (void)state;
    run_on("ref", NULL, 7, &o, &got);
    check_entries(&got);
    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < BATCH; b++) {
            bool is_frame[FRAMES];
            int n = 0, n_starts = 0;
            find_frames(&got.y[i], b, is_frame);
            for (int f = 0; f < FRAMES; f++) {
                n += is_frame[f];
                n_starts += is_frame[f] && (f == 0 || !is_frame[f - 1]);
            }
            assert_true(n <= 10 && n_starts <= 2);
            n_two += n_starts == 2;
            assert_int_equal(count_hidden(&got.y[i], b), n * BANDS);
        }
    }
    assert_true(n_two > BATCH * STEPS / 4);
}

// A width of the whole axis is allowed, and reaches it.
static void as_wide_as_the_axis(void **state)
{
    static masked got;
    const weft_spec_augment_options o = options_of(1, BANDS, 0, 0);
    int n_whole = 0;
    (void)state;
    run_on("ref", NULL, 7, &o, &got);
    check_entries(&got);
    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < BATCH; b++)
            n_whole += count_hidden(&got.y[i], b) == BANDS * FRAMES;
    }
    assert_true(n_whole > 0);
}

static bool same_masks(const spectrogram *a, int sample_a, const spectrogram *b, int sample_b)
{
    for (int i = 0; i < BANDS * FRAMES; i++) {
        if (is_hidden(&a->v[sample_a][0][0] + i) != is_hidden(&b->v[sample_b][0][0] + i))
            return false;
    }
    return true;
}

// Samples, steps and seeds have masks of their own; the same seed and step the same ones.
static void drawn_for_each_sample(void **state)
{
    static masked got, again, other;
    const weft_spec_augment_options o = options_of(2, 4, 2, 8);
    int same_sample = 0, same_step = 0, same_seed = 0;
    (void)state;
    run_on("ref", NULL, 7, &o, &got);
    run_on("ref", NULL, 7, &o, &again);
    run_on("ref", NULL, 8, &o, &other);
    assert_memory_equal(&got, &again, sizeof got);
    for (int i = 0; i < STEPS; i++) {
        same_sample += same_masks(&got.y[i], 0, &got.y[i], 1);
        same_step += i > 0 && same_masks(&got.y[i], 0, &got.y[i - 1], 0);
        same_seed += same_masks(&got.y[i], 0, &other.y[i], 0);
    }
    // By chance, two agree now and then: widths of 0.
    assert_true(same_sample < 4 && same_step < 4 && same_seed < 4);
}

static void in_evaluation_nothing_is_hidden(void **state)
{
    nn_run r;
    const weft_spec_augment_options o = options_of(2, 4, 2, 8);
    (void)state;
    nn_begin(&r, NULL, false);
    const weft_val x = weft_input(r.g, "x", WEFT_F32, NN_DIMS(BATCH, BANDS, FRAMES));
    assert_int_equal(weft_spec_augment(r.nn, x, &o).id, x.id);
    nn_end(&r);
    nn_begin(&r, NULL, true);
    const weft_val y = weft_input(r.g, "x", WEFT_F32, NN_DIMS(BATCH, BANDS, FRAMES));
    assert_int_equal(weft_spec_augment(r.nn, y, NULL).id, y.id);
    nn_end(&r);
}

// ---- the family `audio`
#define SAMPLES 2000
#define CLASSES 3
#define OPTIONS "sample_rate=8000", "mels=16", "channels=3,4", "dropout=0", "classes=3"

static void run_family(const char *device, const char *isa, bool is_training, bool is_masked,
                       float out[3 * CLASSES])
{
    static const char *const options[] = {OPTIONS, "freq_masks=2", "freq_mask_width=5",
                                          "time_masks=2", "time_mask_width=4"};
    static float x[3][SAMPLES];
    nn_run r;
    for (int i = 0; i < 3 * SAMPLES; i++)
        (&x[0][0])[i] = (float)((i * 7919) % 1009) / 1009.0f - 0.5f;
    nn_begin_on(&r, device, isa, NULL, is_training);
    const weft_val in = weft_input(r.g, "x", WEFT_F32, NN_DIMS(3, SAMPLES));
    weft_output(r.g, "y", weft_family(r.nn, "audio", in, options, is_masked ? 9 : 5, NULL));
    nn_compile(&r);
    NN_OK(weft_program_write(r.program, "x", x, sizeof x, err));
    NN_OK(weft_program_run(r.program, err));
    NN_OK(weft_program_read(r.program, "y", out, 3 * CLASSES * sizeof *out, err));
    nn_end(&r);
}

static void the_family_has_them_in_training(void **state)
{
    float plain[3 * CLASSES], hidden[3 * CLASSES];
    (void)state;
    run_family("ref", NULL, true, false, plain);
    run_family("ref", NULL, true, true, hidden);
    assert_memory_not_equal(plain, hidden, sizeof plain);
    run_family("ref", NULL, false, false, plain);
    run_family("ref", NULL, false, true, hidden);
    assert_memory_equal(plain, hidden, sizeof plain);
}

static void same_bits_on(const char *device, const char *isa)
{
    static masked expected, got;
    float expected_y[3 * CLASSES], y[3 * CLASSES];
    const weft_spec_augment_options o = options_of(2, 4, 2, 8);
    if (!nn_has_device(device, isa))
        WF_SKIP("no %s%s%s on this machine", device, isa ? " with " : "", isa ? isa : "");
    run_on("ref", NULL, 7, &o, &expected);
    run_on(device, isa, 7, &o, &got);
    assert_memory_equal(&expected, &got, sizeof got);
    run_family("ref", NULL, true, true, expected_y);
    run_family(device, isa, true, true, y);
    assert_memory_equal(expected_y, y, sizeof y);
}

static void same_bits_scalar(void **state)
{
    (void)state;
    same_bits_on("cpu", "scalar");
}

static void same_bits_cpu(void **state)
{
    (void)state;
    same_bits_on("cpu", NULL);
}

static void same_bits_opencl(void **state)
{
    (void)state;
    same_bits_on("opencl", NULL);
}

static void expect_refusal(int32_t ndim, const weft_spec_augment_options *o, weft_status code,
                           const char *message)
{
    static const int64_t dims[] = {2, 11, 23, 1};
    nn_run r;
    nn_begin(&r, NULL, false); // also where nothing would be hidden
    weft_spec_augment(r.nn, weft_fill(r.g, WEFT_F32, dims, ndim, 0.0), o);
    nn_expect_error(&r, code, message);
    nn_end(&r);
}

static void refuses(void **state)
{
    weft_spec_augment_options o = options_of(2, 12, 0, 0);
    (void)state;
    expect_refusal(3, &o, WEFT_ERR_ATTR,
                   "spec_augment: freq_masks is 2, freq_mask_width is 12, expected 1 to 64 and 1 "
                   "to 11, or 0 and 0");
    o = options_of(65, 1, 0, 0);
    expect_refusal(3, &o, WEFT_ERR_ATTR,
                   "spec_augment: freq_masks is 65, freq_mask_width is 1, expected 1 to 64 and 1 "
                   "to 11, or 0 and 0");
    o = options_of(0, 0, 0, 5);
    expect_refusal(3, &o, WEFT_ERR_ATTR,
                   "spec_augment: time_masks is 0, time_mask_width is 5, expected 1 to 64 and 1 "
                   "to 23, or 0 and 0");
    o = options_of(0, 0, 1, -1);
    expect_refusal(3, &o, WEFT_ERR_ATTR,
                   "spec_augment: time_masks is 1, time_mask_width is -1, expected 1 to 64 and 1 "
                   "to 23, or 0 and 0");
    o = options_of(0, 0, 1, 1);
    expect_refusal(4, &o, WEFT_ERR_SHAPE,
                   "spec_augment: x is f32[2,11,23,1], expected f32[b,bands,frames]");
    o.struct_size = 8;
    expect_refusal(3, &o, WEFT_ERR_USAGE, "spec_augment: options.struct_size is 8, expected 40");
}

static void the_family_refuses(void **state)
{
    static const char *const wide[] = {OPTIONS, "freq_masks=1", "freq_mask_width=17"};
    static const char *const many[] = {OPTIONS, "time_masks=65"};
    static const char *const misspelt[] = {OPTIONS, "time_mask_widht=6"};
    static const struct {
        const char *const *options;
        size_t n;
        weft_status code;
        const char *message;
    } rows[] = {
        {wide, 7, WEFT_ERR_ATTR,
         "spec_augment: freq_masks is 1, freq_mask_width is 17, expected 1 to 64 and 1 to 16, or "
         "0 and 0"},
        {many, 6, WEFT_ERR_ATTR, "audio: time_masks is '65', expected 0 to 64"},
        {misspelt, 6, WEFT_ERR_NAME,
         "audio: no option 'time_mask_widht=6', expected key=value with sample_rate, frame, hop, "
         "mels, freq_masks, freq_mask_width, time_masks, time_mask_width, channels, dropout or "
         "classes, did you mean 'time_mask_width'"},
    };
    (void)state;
    for (size_t i = 0; i < NN_COUNT(rows); i++) {
        nn_run r;
        nn_begin(&r, NULL, true);
        const weft_val x = weft_fill(r.g, WEFT_F32, NN_DIMS(1, SAMPLES), 0.0);
        weft_family(r.nn, "audio", x, rows[i].options, rows[i].n, NULL);
        nn_expect_error(&r, rows[i].code, rows[i].message);
        nn_end(&r);
    }
}

const struct CMUnitTest wf_tests_nn_spec_augment[] = {
    cmocka_unit_test(one_mask_of_each),
    cmocka_unit_test(several_masks),
    cmocka_unit_test(as_wide_as_the_axis),
    cmocka_unit_test(drawn_for_each_sample),
    cmocka_unit_test(in_evaluation_nothing_is_hidden),
    cmocka_unit_test(the_family_has_them_in_training),
    cmocka_unit_test(same_bits_scalar),
    cmocka_unit_test(same_bits_cpu),
    cmocka_unit_test(same_bits_opencl),
    cmocka_unit_test(refuses),
    cmocka_unit_test(the_family_refuses),
};
const unsigned long wf_n_tests_nn_spec_augment = WF_N_TESTS(wf_tests_nn_spec_augment);
