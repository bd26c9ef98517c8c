// Spectra against a transform in float64 written down here, bits across devices, errors.
#include "nn_run.h"

#define PI 3.14159265358979323846
#define RATE 8000.0
#define N_SAMPLES 700
#define FRAME 128
#define HOP 60
#define BINS (FRAME / 2 + 1)
#define N_FRAMES (1 + (N_SAMPLES - FRAME) / HOP)
#define N_MELS 12
#define BATCH 2

// Two tones that drift, and silence in the second half of the second row.
static void make_sound(float *x)
{
    for (int b = 0; b < BATCH; b++) {
        for (int t = 0; t < N_SAMPLES; t++) {
            const double s = t / RATE, tone = sin(2.0 * PI * (600.0 + 900.0 * b + 2000.0 * s) * s);
            const bool is_silent = b == 1 && t >= N_SAMPLES / 2;
            x[b * N_SAMPLES + t] =
                is_silent ? 0.0f : (float)(0.5 * tone + 0.1 * sin(2.0 * PI * 3100.0 * s));
        }
    }
}

static double power_of(const float *x, int k)
{
    double re = 0.0, im = 0.0;
    for (int t = 0; t < FRAME; t++) {
        const double hann = 0.5 - 0.5 * cos(2.0 * PI * t / FRAME);
        re += (double)x[t] * hann * cos(2.0 * PI * k * t / FRAME);
        im += (double)x[t] * hann * sin(2.0 * PI * k * t / FRAME);
    }
    return re * re + im * im;
}

static double hz_of_band(double band)
{
    const double mel = 2595.0 * log10(1.0 + RATE / 2.0 / 700.0) * band / (N_MELS + 1);
    return 700.0 * (pow(10.0, mel / 2595.0) - 1.0);
}

static double mel_of(const double *power, int m)
{
    const double left = hz_of_band(m), centre = hz_of_band(m + 1), right = hz_of_band(m + 2);
    double sum = 0.0;
    for (int k = 0; k < BINS; k++) {
        const double hz = RATE * k / FRAME;
        sum += power[k] *
               fmax(0.0, fmin((hz - left) / (centre - left), (right - hz) / (right - centre)));
    }
    return sum;
}

typedef struct spectra {
    float power[BATCH][BINS][N_FRAMES];
    float mel[BATCH][N_MELS][N_FRAMES];
    float gradient[BATCH][N_SAMPLES];
} spectra;

static void run_on(const char *device, const char *isa, spectra *out)
{
    nn_run r;
    static float x[BATCH * N_SAMPLES];
    weft_mel_options o = WEFT_MEL_OPTIONS_INIT;
    o.sample_rate = RATE;
    o.frame = FRAME;
    o.hop = HOP;
    o.n_mels = N_MELS;
    make_sound(x);
    nn_begin_on(&r, device, isa, NULL, true);
    const weft_val in = weft_input(r.g, "x", WEFT_F32, NN_DIMS(BATCH, N_SAMPLES));
    const weft_val mel = weft_mel_spectrogram(r.g, in, &o);
    weft_val gradient;
    weft_output(r.g, "power", weft_power_spectrogram(r.g, in, FRAME, HOP));
    weft_output(r.g, "mel", mel);
    weft_grad(r.g, weft_sum(r.g, mel, NULL, 0, false), &in, 1, &gradient);
    weft_output(r.g, "gradient", gradient);
    nn_compile(&r);
    NN_OK(weft_program_write(r.program, "x", x, sizeof x, err));
    NN_OK(weft_program_run(r.program, err));
    NN_OK(weft_program_check(r.program, err));
    NN_OK(weft_program_read(r.program, "power", out->power, sizeof out->power, err));
    NN_OK(weft_program_read(r.program, "mel", out->mel, sizeof out->mel, err));
    NN_OK(weft_program_read(r.program, "gradient", out->gradient, sizeof out->gradient, err));
    nn_end(&r);
}

static void is_the_transform(void **state)
{
    static spectra got;
    static float x[BATCH * N_SAMPLES];
    (void)state;
    run_on("ref", NULL, &got);
    make_sound(x);
    for (int b = 0; b < BATCH; b++) {
        for (int f = 0; f < N_FRAMES; f++) {
            double power[BINS], most = 0.0;
            for (int k = 0; k < BINS; k++) {
                power[k] = power_of(x + b * N_SAMPLES + f * HOP, k);
                most = fmax(most, power[k]);
            }
            for (int k = 0; k < BINS; k++) {
                assert_true(fabs((double)got.power[b][k][f] - power[k]) <= 1e-5 * most);
            }
            for (int m = 0; m < N_MELS; m++) {
                // Where a band is far below the loudest, the loud one's rounding is what it holds.
                const double mel = fmax(mel_of(power, m), 1e-6);
                const double tolerance = 1e-4 + 1e-5 * most / mel;
                if (fabs((double)got.mel[b][m][f] - log(mel)) > tolerance)
                    fail_msg("mel[%d][%d][%d] is %g, expected %g within %g", b, m, f,
                             (double)got.mel[b][m][f], log(mel), tolerance);
            }
        }
    }
    // Silence is the logarithm of the least power, and its samples have no gradient.
    assert_true(fabs((double)got.mel[1][3][N_FRAMES - 1] - log(1e-6)) < 1e-5);
    assert_true(got.gradient[1][N_SAMPLES - HOP] == 0.0f);
    assert_true(got.gradient[0][N_SAMPLES / 2] != 0.0f);
}

static void same_bits_on(const char *device, const char *isa)
{
    static spectra expected, got;
    if (!nn_has_device(device, isa))
        WF_SKIP("no %s%s%s on this machine", device, isa ? " with " : "", isa ? isa : "");
    run_on("ref", NULL, &expected);
    run_on(device, isa, &got);
    assert_memory_equal(&expected, &got, sizeof got);
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

static void expect_refusal(int64_t n_samples, const weft_mel_options *o, weft_status code,
                           const char *message)
{
    nn_run r;
    nn_begin(&r, NULL, true);
    weft_mel_spectrogram(r.g, weft_fill(r.g, WEFT_F32, NN_DIMS(1, n_samples), 0.0), o);
    nn_expect_error(&r, code, message);
    nn_end(&r);
}

static void refuses(void **state)
{
    (void)state;
    weft_mel_options o = WEFT_MEL_OPTIONS_INIT;
    expect_refusal(
        100, &o, WEFT_ERR_SHAPE,
        "mel/spectrogram: x is f32[1,100], expected [b,t] with t of 512 or more: one frame");
    o.frame = 63;
    o.hop = 16;
    expect_refusal(
        100, &o, WEFT_ERR_ATTR,
        "mel/spectrogram: frame is 63, hop is 16, expected an even frame of 2 to 32768 and a "
        "hop of 1 or more");
    o.frame = 64;
    expect_refusal(100, &o, WEFT_ERR_ATTR,
                   "mel/bands: 0 of 64, 0 to 56 Hz, has no frequency of a frame of 64, "
                   "expected fewer bands or a longer frame");
    o.high_hz = 9000.0;
    expect_refusal(
        100, &o, WEFT_ERR_ATTR,
        "mel_spectrogram: sample_rate 16000, bands 64 from 0 to 9000 Hz, least 1e-06, "
        "expected 1 to 4096 bands within 0 to half of the sample rate, and least above 0");
}

const struct CMUnitTest wf_tests_nn_spectrogram[] = {
    cmocka_unit_test(is_the_transform), cmocka_unit_test(same_bits_scalar),
    cmocka_unit_test(same_bits_cpu),    cmocka_unit_test(same_bits_opencl),
    cmocka_unit_test(refuses),
};
const unsigned long wf_n_tests_nn_spectrogram = WF_N_TESTS(wf_tests_nn_spectrogram);
