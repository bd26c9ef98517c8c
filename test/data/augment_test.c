// Augmentation: each change by itself, on numbers that are known; all of them in the loader, with any number of
// threads.
#include "data/data_tools.h"

#include <math.h>

#include "base/sha256.h"
#include "data/augment.h"
#include "data/loader.h"

enum { H = 5, W = 7 };

static uint8_t image[2 * H * W], out[2 * H * W];

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)(i * 37 + 11);
    return 0;
}

static uint8_t at(const uint8_t *data, int64_t c, int64_t y, int64_t x)
{
    return y >= 0 && y < H && x >= 0 && x < W ? data[(c * H + y) * W + x] : 0;
}

static void turns_and_moves(void **state)
{
    (void)state;
    int64_t m[6];
    wf_augment_matrix(0, 65536, 0, 0, m);
    wf_augment_affine_u8(image, 2, H, W, m, out);
    assert_memory_equal(out, image, sizeof image);
    for (int64_t down = -3; down <= 3; down++) {
        for (int64_t right = -3; right <= 3; right++) {
            wf_augment_matrix(0, 65536, down, right, m);
            wf_augment_affine_u8(image, 2, H, W, m, out);
            for (int64_t i = 0; i < 2 * H * W; i++)
                assert_int_equal(out[i], at(image, i / (H * W), i / W % H - down, i % W - right));
        }
    }
    // Half a turn is exact; a quarter on the square in the middle.
    wf_augment_matrix(0x80000000u, 65536, 0, 0, m);
    wf_augment_affine_u8(image, 2, H, W, m, out);
    for (int64_t i = 0; i < 2 * H * W; i++)
        assert_int_equal(out[i], at(image, i / (H * W), H - 1 - i / W % H, W - 1 - i % W));
    wf_augment_matrix(0x40000000u, 65536, 0, 0, m);
    wf_augment_affine_u8(image, 2, H, W, m, out);
    for (int64_t y = 0; y < H; y++) {
        for (int64_t x = 1; x < 6; x++)
            assert_int_equal(at(out, 1, y, x), at(image, 1, x - 1, 5 - y)); // anticlockwise
    }
    // Twice as large: the pixel in the middle stays, between two of them is their mean.
    wf_augment_matrix(0, 131072, 0, 0, m);
    wf_augment_affine_u8(image, 2, H, W, m, out);
    assert_int_equal(at(out, 0, 2, 3), at(image, 0, 2, 3));
    assert_int_equal(at(out, 0, 2, 4), (at(image, 0, 2, 3) + at(image, 0, 2, 4) + 1) / 2);
    // One colour keeps itself inside, at any angle.
    memset(image, 200, sizeof image);
    for (uint32_t turn = 0; turn < 32; turn++) {
        wf_augment_matrix(turn << 27, 80000, 0, 0, m);
        wf_augment_affine_u8(image, 2, H, W, m, out);
        assert_int_equal(at(out, 1, 2, 3), 200);
    }
}

static void colours(void **state)
{
    (void)state;
    uint8_t p[3] = {10, 100, 200}, same[3] = {10, 100, 200};
    wf_augment_colour_u8(p, 3, 1, 256, 256, 256);
    assert_memory_equal(p, same, 3);
    wf_augment_colour_u8(p, 3, 1, 512, 256, 256);
    assert_memory_equal(p, ((uint8_t[]){20, 200, 255}), 3);
    memcpy(p, same, 3);
    wf_augment_colour_u8(p, 3, 1, 256, 128, 256);
    assert_memory_equal(p, ((uint8_t[]){69, 114, 164}), 3); // 128 - 59, 128 - 14, 128 + 36
    memcpy(p, same, 3);
    wf_augment_colour_u8(p, 3, 1, 256, 256, 0);
    assert_memory_equal(p, ((uint8_t[]){84, 84, 84}), 3); // 0.299 10 + 0.587 100 + 0.114 200
    wf_augment_colour_u8(same, 1, 3, 128, 256, 0);        // grey pictures have no saturation
    assert_memory_equal(same, ((uint8_t[]){5, 50, 100}), 3);
}

static void squares_and_mixtures(void **state)
{
    (void)state;
    memcpy(out, image, sizeof image);
    wf_augment_cutout_u8(out, 2, H, W, 0, 6, 3);
    for (int64_t i = 0; i < 2 * H * W; i++) {
        const int64_t y = i / W % H, x = i % W;
        assert_int_equal(out[i], y < 2 && x > 4 ? 128 : image[i]);
    }
    wf_augment_cutout_u8(out, 2, H, W, 2, 2, 100);
    for (size_t i = 0; i < sizeof out; i++)
        assert_int_equal(out[i], 128);
    for (uint32_t share = 0; share <= 65536; share += 8192) {
        memcpy(out, image, sizeof image);
        uint8_t other[2 * H * W];
        memset(other, 100, sizeof other);
        wf_augment_mix_u8(out, other, sizeof out, share);
        for (size_t i = 0; i < sizeof out; i++) {
            const double exact = share / 65536.0 * image[i] + (1 - share / 65536.0) * 100;
            assert_int_equal(out[i], (int)(exact + 0.5));
        }
    }
    float sound[5] = {1, 2, 3, 4, 5};
    wf_augment_shift_f32(sound, 5, 2);
    assert_memory_equal(sound, ((float[]){0, 0, 1, 2, 3}), 20);
    wf_augment_shift_f32(sound, 5, -3);
    assert_memory_equal(sound, ((float[]){2, 3, 0, 0, 0}), 20);
    wf_augment_shift_f32(sound, 5, 0);
    assert_memory_equal(sound, ((float[]){2, 3, 0, 0, 0}), 20);
    wf_augment_shift_f32(sound, 5, -9);
    assert_memory_equal(sound, ((float[]){0, 0, 0, 0, 0}), 20);
}

static const wf_augmentation everything = {
    .rotate = 20, .scale = 0.2, .translate = 0.2, .colour = 0.3, .cutout = 2, .mixup = 0.5};

static void digest(const wf_split *split, wf_loader_options o, char hex[WF_SHA256_HEX_BYTES])
{
    wf_loader *l;
    wf_batch b;
    wf_sha256 sha;
    uint8_t bytes[WF_SHA256_BYTES];
    wf_sha256_init(&sha);
    assert_int_equal(wf_loader_create(split, &o, &l, NULL), WEFT_OK);
    for (;;) {
        assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
        if (b.n == 0)
            break;
        for (int32_t f = 0; f < b.n_fields; f++) {
            size_t n = (size_t)b.n * 4;
            for (int32_t k = 0; k < b.field[f].ndim; k++)
                n *= (size_t)b.field[f].dim[k];
            wf_sha256_update(&sha, b.field[f].data, n);
        }
    }
    wf_loader_destroy(l);
    wf_sha256_final(&sha, bytes);
    wf_sha256_hex(bytes, hex);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    static toy data;
    wf_split all;
    char one[WF_SHA256_HEX_BYTES], other[WF_SHA256_HEX_BYTES];
    toy_init(&data);
    wf_split_init_all(&all, &data.dataset);
    wf_loader_options o = {.batch_size = 10,
                           .seed = 5,
                           .is_shuffled = true,
                           .crop_padding = 1,
                           .is_flipped = true,
                           .augment = everything,
                           .n_epochs = 3};
    digest(&all, o, one);
    for (int32_t n = 2; n < 5; n++) {
        o.n_threads = n;
        digest(&all, o, other);
        assert_string_equal(other, one);
    }
    // Each of them changes something.
    for (int k = 0; k < 6; k++) {
        o.augment = everything;
        double *const part[] = {
            &o.augment.rotate, &o.augment.scale, &o.augment.translate, &o.augment.colour, NULL,
            &o.augment.mixup};
        if (part[k])
            *part[k] = 0.0;
        else
            o.augment.cutout = 0;
        digest(&all, o, other);
        assert_string_not_equal(other, one);
    }
}

// Samples are mixed as often as asked for, and then carry the other's label in half of the cases.
static void mixed_labels(void **state)
{
    (void)state;
    static toy data;
    wf_split all;
    wf_loader *l;
    wf_batch b;
    int64_t n = 0, n_other = 0;
    toy_init(&data);
    wf_split_init_all(&all, &data.dataset);
    const wf_loader_options o = {.batch_size = TOY_N, .augment = {.mixup = 0.8}, .n_epochs = 50};
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    for (;;) {
        assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
        if (b.n == 0)
            break;
        for (int64_t i = 0; i < b.n; i++, n++)
            n_other += ((const int32_t *)b.field[1].data)[i] != (int32_t)(b.sample[i] % 10);
    }
    wf_loader_destroy(l);
    // 0.8 * 1/2 * 9/10 of 5150, within five standard deviations.
    assert_in_range(n_other, (int64_t)(0.36 * (double)n) - 173, (int64_t)(0.36 * (double)n) + 173);
}

static void sounds(void **state)
{
    (void)state;
    enum { N = 64, LENGTH = 100 };
    static float sound[N][LENGTH];
    for (int i = 0; i < N; i++)
        sound[i][50] = 1.0f;
    wf_dataset set = {.allocator = wf_allocator_default(),
                      .source = "sounds",
                      .n_samples = N,
                      .n_fields = 1,
                      .destroy = toy_destroy};
    set.field[0] = (wf_field){.name = "sound",
                              .dtype = WEFT_F32,
                              .ndim = 1,
                              .dim = {LENGTH},
                              .sample_bytes = LENGTH * sizeof(float),
                              .data = sound};
    wf_split all;
    wf_loader *l;
    wf_batch b;
    int seen[LENGTH] = {0}, n_places = 0;
    double sum = 0.0, squares = 0.0;
    wf_split_init_all(&all, &set);
    wf_loader_options o = {.batch_size = N, .augment = {.shift = 0.1}, .n_epochs = 1};
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
    for (int i = 0; i < N * LENGTH; i++)
        seen[i % LENGTH] += ((const float *)b.field[0].data)[i] == 1.0f;
    wf_loader_destroy(l);
    for (int i = 0; i < LENGTH; i++) {
        assert_true(seen[i] == 0 || (i >= 40 && i <= 60));
        n_places += seen[i] > 0;
    }
    assert_true(n_places > 12);
    o.augment = (wf_augmentation){.noise = 0.25};
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
    for (int i = 0; i < N * LENGTH; i++) {
        const double noise =
            (double)((const float *)b.field[0].data)[i] - (i % LENGTH == 50 ? 1.0 : 0.0);
        sum += noise;
        squares += noise * noise;
    }
    wf_loader_destroy(l);
    assert_true(fabs(sum / (N * LENGTH)) < 0.016); // five standard deviations of a mean of 6400
    assert_true(fabs(sqrt(squares / (N * LENGTH)) - 0.25) < 0.012);
    o.augment.noise = -1.0;
    assert_fails(wf_loader_create(&all, &o, &l, err), WEFT_ERR_ATTR,
                 "loader: noise -1, expected 0 to 1e+06");
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_augment[] = {
    TEST(turns_and_moves),       TEST(colours),      TEST(squares_and_mixtures),
    TEST(any_number_of_threads), TEST(mixed_labels), TEST(sounds),
};
const unsigned long wf_n_tests_augment = WF_N_TESTS(wf_tests_augment);
