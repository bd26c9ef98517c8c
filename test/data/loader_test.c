// The loader: every sample once an epoch, the same bytes for any number of threads, resume at any
// place, errors of the threads; splits, normalisation and augmentation beneath it.
#include "data/data_tools.h"

#include <stdlib.h>

#include "base/sha256.h"
#include "data/augment.h"
#include "data/draw.h"
#include "data/loader.h"

static toy data;
static wf_split all;

static int set_up(void **state)
{
    (void)state;
    toy_init(&data);
    wf_split_init_all(&all, &data.dataset);
    return 0;
}

static wf_loader_options options(int32_t n_threads)
{
    wf_loader_options o = {.batch_size = 10,
                           .seed = 7,
                           .is_shuffled = true,
                           .n_threads = n_threads,
                           .crop_padding = 2,
                           .is_flipped = true,
                           .n_epochs = 3};
    o.normalisation =
        (wf_normalisation){.n_channels = 2, .mean = {0.25f, 0.5f}, .std = {0.3f, 0.7f}};
    return o;
}

static void add_batch(wf_sha256 *sha, const wf_batch *b)
{
    wf_sha256_update(sha, b->field[0].data, (size_t)b->n * 72 * sizeof(float));
    wf_sha256_update(sha, b->field[1].data, (size_t)b->n * sizeof(int32_t));
}

// The digest of all batches from a place on.
static void digest_from(wf_loader_options o, int64_t epoch, int64_t batch,
                        char hex[WF_SHA256_HEX_BYTES])
{
    wf_loader *l;
    wf_batch b;
    wf_sha256 sha;
    uint8_t digest[WF_SHA256_BYTES];
    o.start_epoch = epoch;
    o.start_batch = batch;
    wf_sha256_init(&sha);
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    for (;;) {
        assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
        if (b.n == 0)
            break;
        add_batch(&sha, &b);
    }
    wf_loader_destroy(l);
    wf_sha256_final(&sha, digest);
    wf_sha256_hex(digest, hex);
}

static void every_sample_once(void **state)
{
    (void)state;
    wf_loader *l;
    wf_batch b;
    wf_loader_options o = options(2);
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    assert_int_equal(wf_loader_batches_per_epoch(l), 11);
    assert_true(wf_loader_size_bytes(l) > 0);
    for (int epoch = 0; epoch < 3; epoch++) {
        int seen[TOY_N] = {0};
        for (int i = 0; i < 11; i++) {
            int64_t at_epoch, at_batch;
            wf_loader_position(l, &at_epoch, &at_batch);
            assert_int_equal(at_epoch, epoch);
            assert_int_equal(at_batch, i);
            assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
            assert_int_equal(b.epoch, epoch);
            assert_int_equal(b.index_in_epoch, i);
            assert_int_equal(b.is_last_of_epoch, i == 10);
            assert_int_equal(b.n, i == 10 ? 3 : 10); // the short last batch is used
            assert_int_equal(b.field[0].dtype, WEFT_F32);
            assert_int_equal(b.field[1].dtype, WEFT_I32);
            assert_int_equal((uintptr_t)b.field[0].data % 64, 0);
            for (int64_t k = 0; k < b.n; k++) {
                seen[b.sample[k]]++;
                assert_int_equal(((const int32_t *)b.field[1].data)[k], b.sample[k] % 10);
            }
        }
        for (int i = 0; i < TOY_N; i++)
            assert_int_equal(seen[i], 1);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
        assert_int_equal(b.n, 0);
    }
    wf_loader_destroy(l);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    char one[WF_SHA256_HEX_BYTES], other[WF_SHA256_HEX_BYTES];
    digest_from(options(1), 0, 0, one);
    for (int32_t n = 2; n <= 5; n++) {
        wf_loader_options o = options(n);
        o.n_prefetch = n == 4 ? 2 : 0;
        digest_from(o, 0, 0, other);
        assert_string_equal(other, one);
    }
    wf_loader_options o = options(1);
    o.seed = 8;
    digest_from(o, 0, 0, other);
    assert_string_not_equal(other, one);
}

// Stopped after k batches and begun again at the reported place: the rest is the same.
static void goes_on_anywhere(void **state)
{
    (void)state;
    for (int k = 0; k <= 33; k += 3) {
        wf_loader *l;
        wf_batch b;
        wf_loader_options o = options(2);
        int64_t epoch, batch;
        char whole[WF_SHA256_HEX_BYTES], rest[WF_SHA256_HEX_BYTES];
        wf_sha256 sha;
        uint8_t digest[WF_SHA256_BYTES];
        wf_sha256_init(&sha);
        assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
        for (int i = 0; i < k; i++)
            assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
        wf_loader_position(l, &epoch, &batch);
        assert_int_equal(epoch * 11 + batch, k);
        for (int i = k; i < 33; i++) {
            assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
            add_batch(&sha, &b);
        }
        wf_loader_destroy(l);
        wf_sha256_final(&sha, digest);
        wf_sha256_hex(digest, whole);
        digest_from(options(3), epoch, batch, rest);
        assert_string_equal(rest, whole);
    }
}

// Without shuffle and augmentation a batch is the data itself, by three roundings.
static void plain_values(void **state)
{
    (void)state;
    wf_loader *l;
    wf_batch b;
    wf_loader_options o = options(1);
    o.is_shuffled = o.is_flipped = false;
    o.crop_padding = 0;
    o.batch_size = 200; // larger than the data set
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
    assert_int_equal(b.n, TOY_N);
    assert_true(b.is_last_of_epoch);
    const float *value = b.field[0].data;
    const uint8_t *pixel = &data.pixels[0][0][0][0];
    for (size_t i = 0; i < TOY_N * 72; i++) {
        size_t c = i / 36 % 2;
        volatile float scaled = (float)pixel[i] / 255.0f;
        volatile float centred = scaled - o.normalisation.mean[c];
        volatile float expected = centred / o.normalisation.std[c];
        assert_true(value[i] == expected);
    }
    wf_loader_destroy(l);
}

static weft_status read_some(void *user, int64_t sample, void *out, weft_error *err)
{
    (void)user;
    if (sample == 57)
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot open sample 57: gone");
    memset(out, (int)sample, 2 * TOY_SIDE * TOY_SIDE);
    return WEFT_OK;
}

static void error_of_a_thread(void **state)
{
    (void)state;
    wf_loader *l;
    wf_batch b;
    wf_loader_options o = options(3);
    o.is_shuffled = false;
    data.dataset.field[0].data = NULL;
    data.dataset.field[0].read = read_some;
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
    for (int i = 0; i < 2; i++)
        assert_fails(wf_loader_next(l, &b, err), WEFT_ERR_FILE, "cannot open sample 57: gone");
    wf_loader_destroy(l);
}

static void destroyed_early(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        wf_loader *l;
        wf_batch b;
        wf_loader_options o = options(1 + i % 4);
        o.n_epochs = 0;
        assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
        for (int k = 0; k < i % 7; k++)
            assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
        wf_loader_destroy(l);
    }
    wf_loader_destroy(NULL);
}

static void wrong_options(void **state)
{
    (void)state;
    wf_loader *l;
    wf_loader_options o = options(1);
    wf_split none;
    o.batch_size = 0;
    assert_fails(wf_loader_create(&all, &o, &l, err), WEFT_ERR_ATTR,
                 "loader: batch size 0, expected 1 or more");
    o = options(1);
    o.normalisation.n_channels = 1;
    assert_fails(wf_loader_create(&all, &o, &l, err), WEFT_ERR_SHAPE,
                 "loader: normalisation of 1 channels, field 'image' is [2,6,6]");
    o = options(1);
    o.normalisation.std[1] = 0;
    assert_fails(wf_loader_create(&all, &o, &l, err), WEFT_ERR_ATTR,
                 "loader: std 0 of channel 1, expected above 0");
    o = options(1);
    o.start_batch = 12;
    assert_fails(wf_loader_create(&all, &o, &l, err), WEFT_ERR_ATTR,
                 "loader: start at batch 12 of an epoch of 11");
    o = options(1);
    wf_split_init_first(&none, &data.dataset, 0);
    assert_fails(wf_loader_create(&none, &o, &l, err), WEFT_ERR_SHAPE,
                 "loader: the split holds no samples");
}

static void splits(void **state)
{
    (void)state;
    wf_split rest, part, again_rest, again_part;
    int seen[TOY_N] = {0};
    assert_int_equal(wf_split_init_fraction(&rest, &part, &data.dataset, 0.2, 3, NULL), WEFT_OK);
    assert_int_equal(part.n, 21); // round(20.6)
    assert_int_equal(rest.n, 82);
    for (int64_t i = 0; i < part.n; i++)
        seen[wf_split_sample(&part, i)]++;
    for (int64_t i = 0; i < rest.n; i++)
        seen[wf_split_sample(&rest, i)]++;
    for (int i = 0; i < TOY_N; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(wf_split_init_fraction(&again_rest, &again_part, &data.dataset, 0.2, 3, NULL),
                     WEFT_OK);
    assert_memory_equal(part.index, again_part.index, 21 * sizeof *part.index);
    wf_split_deinit(&again_rest);
    wf_split_deinit(&again_part);
    wf_split_deinit(&rest);
    wf_split_deinit(&part);
    assert_fails(wf_split_init_fraction(&rest, &part, &data.dataset, 1.5, 3, err), WEFT_ERR_ATTR,
                 "split: fraction 1.5, expected 0 to 1");
    assert_int_equal(wf_split_init_fraction(&rest, &part, &data.dataset, 1.0, 3, NULL), WEFT_OK);
    assert_int_equal(rest.n, 0);
    wf_split_deinit(&rest);
    wf_split_deinit(&part);
}

// Classes have their shares in both parts.
static void stratified_split(void **state)
{
    (void)state;
    wf_split rest, part;
    int n_part[10] = {0}, n_rest[10] = {0};
    assert_int_equal(wf_split_init_stratified(&rest, &part, &data.dataset, 0.3, 3, NULL), WEFT_OK);
    assert_int_equal(part.n, 30); // of 11 or 10 samples of a class 3
    assert_int_equal(rest.n, 73);
    for (int64_t i = 0; i < part.n; i++)
        n_part[wf_split_sample(&part, i) % 10]++;
    for (int64_t i = 0; i < rest.n; i++)
        n_rest[wf_split_sample(&rest, i) % 10]++;
    for (int k = 0; k < 10; k++) {
        assert_int_equal(n_part[k], 3);
        assert_int_equal(n_rest[k], k < 3 ? 8 : 7);
    }
    wf_split_deinit(&rest);
    wf_split_deinit(&part);
    data.label[5] = 10;
    assert_fails(wf_split_init_stratified(&rest, &part, &data.dataset, 0.3, 3, err), WEFT_ERR_INDEX,
                 "split: label 10 of sample 5, expected 0 to 9");
}

static void normalisation(void **state)
{
    (void)state;
    wf_normalisation norm;
    // Channel 0 holds 0 and 255 in equal parts (mean and deviation 1/2), channel 1 is constant.
    for (int i = 0; i < TOY_N; i++) {
        memset(data.pixels[i][0], 0, 18);
        memset(&data.pixels[i][0][3][0], 255, 18);
        memset(data.pixels[i][1], 51, 36);
    }
    assert_int_equal(wf_normalisation_compute(&all, &data.dataset.field[0], &norm, NULL), WEFT_OK);
    assert_int_equal(norm.n_channels, 2);
    assert_true(norm.mean[0] == 0.5f && norm.std[0] == 0.5f);
    assert_true(norm.mean[1] == 0.2f && norm.std[1] == 1.0f);
    assert_fails(wf_normalisation_compute(&all, &data.dataset.field[1], &norm, err), WEFT_ERR_DTYPE,
                 "normalise: field 'label' is u8 with 0 dimensions, expected u8 [c,h,w]");
}

static void augmentation(void **state)
{
    (void)state;
    uint8_t src[2 * 3 * 4], dst[2 * 3 * 4];
    for (uint8_t i = 0; i < 24; i++)
        src[i] = (uint8_t)(i + 1);
    for (int64_t padding = 0; padding <= 5; padding++) {
        for (int64_t top = 0; top <= 2 * padding; top++) {
            for (int64_t left = 0; left <= 2 * padding; left++) {
                wf_augment_crop_u8(src, 2, 3, 4, padding, top, left, dst);
                for (int64_t i = 0; i < 24; i++) {
                    int64_t c = i / 12, y = i / 4 % 3 + top - padding, x = i % 4 + left - padding;
                    bool is_inside = y >= 0 && y < 3 && x >= 0 && x < 4;
                    assert_int_equal(dst[i], is_inside ? src[c * 12 + y * 4 + x] : 0);
                }
            }
        }
    }
    memcpy(dst, src, sizeof dst);
    wf_augment_flip_u8(dst, 2, 3, 4);
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(dst[i], src[i / 4 * 4 + 3 - i % 4]);
}

static void draws(void **state)
{
    (void)state;
    wf_draw draw;
    int64_t counts[7] = {0};
    uint32_t order[1000];
    bool seen[1000] = {false};
    wf_draw_init(&draw, 1, 0, 0, WF_DRAW_STREAM_SHUFFLE);
    for (int i = 0; i < 70000; i++)
        counts[wf_draw_below(&draw, 7)]++;
    // Five standard deviations of a binomial with p = 1/7.
    for (int k = 0; k < 7; k++)
        assert_in_range(counts[k], 10000 - 463, 10000 + 463);
    wf_draw_permutation(&draw, order, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
    // The known answer of Philox4x32-10 for counter 0 and key 0 (Random123's kat_vectors).
    wf_draw_init(&draw, 0, 0, 0, 0);
    assert_int_equal(wf_draw_word(&draw), 0x6627e8d5u);
    assert_int_equal(wf_draw_word(&draw), 0xe169c58du);
    assert_int_equal(wf_draw_word(&draw), 0xbc57ac4cu);
    assert_int_equal(wf_draw_word(&draw), 0x9b00dbd8u);
}

// pytorch/pytorch#2976, #25690, #196613: one order for one seed, whatever the machine.
static void permutations_follow_the_seed(void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        const char *sha;
    } sizes[] = {
        {1u << 12, "31be1b15557a948848b2e8012bf64b7c08a0e026f9f209166f246c5df1c6b3b9"},
        {1u << 18, "cbff7555073c8738e008a43dcaeaf319299bdc5e85f353fa552796931d01e696"},
        {1u << 22, "ffa4cfdd05d19fc147d38b0dc5c07d7231fbe372b21248916ba1c81bd306885b"},
    };
    for (size_t i = 0; i < WF_N_TESTS(sizes); i++) {
        wf_draw draw;
        wf_sha256 sha;
        uint8_t digest[WF_SHA256_BYTES];
        char hex[WF_SHA256_HEX_BYTES];
        uint32_t *order = malloc(sizes[i].n * sizeof *order);
        assert_non_null(order);
        wf_draw_init(&draw, 0, 0, 0, WF_DRAW_STREAM_SHUFFLE);
        wf_draw_permutation(&draw, order, sizes[i].n);
        wf_sha256_init(&sha);
        wf_sha256_update(&sha, order, sizes[i].n * sizeof *order);
        wf_sha256_final(&sha, digest);
        wf_sha256_hex(digest, hex);
        free(order);
        assert_string_equal(hex, sizes[i].sha);
    }
}

// In the steady state nothing is allocated: the hook counts.
static long n_allocations;
static void *reallocate_counting(void *user, void *ptr, size_t size)
{
    (void)user;
    n_allocations++;
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, size);
}

static void no_allocation_per_batch(void **state)
{
    (void)state;
    wf_loader *l;
    wf_batch b;
    wf_loader_options o = options(1);
    data.dataset.allocator.reallocate = reallocate_counting;
    assert_int_equal(wf_loader_create(&all, &o, &l, NULL), WEFT_OK);
    long before = n_allocations;
    for (int i = 0; i < 30; i++)
        assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
    assert_int_equal(n_allocations, before);
    wf_loader_destroy(l);
}

static void allocation_n_fails(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        failing_heap counts = {n, 0};
        wf_loader *l;
        wf_loader_options o = options(2);
        data.dataset.allocator = (wf_allocator){reallocate_failing, &counts};
        weft_status status = wf_loader_create(&all, &o, &l, NULL);
        wf_loader_destroy(l);
        wf_split rest, part;
        if (status == WEFT_OK)
            status = wf_split_init_fraction(&rest, &part, &data.dataset, 0.5, 1, NULL);
        if (status == WEFT_OK) {
            wf_split_deinit(&rest);
            wf_split_deinit(&part);
        }
        assert_int_equal(counts.held, 0);
        if (status == WEFT_OK)
            break;
        assert_int_equal(status, WEFT_ERR_MEMORY);
    }
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_loader[] = {
    TEST(every_sample_once),
    TEST(any_number_of_threads),
    TEST(goes_on_anywhere),
    TEST(plain_values),
    TEST(error_of_a_thread),
    TEST(destroyed_early),
    TEST(wrong_options),
    TEST(splits),
    TEST(stratified_split),
    TEST(normalisation),
    TEST(augmentation),
    TEST(draws),
    TEST(permutations_follow_the_seed),
    TEST(no_allocation_per_batch),
    TEST(allocation_n_fails),
};
const unsigned long wf_n_tests_loader = WF_N_TESTS(wf_tests_loader);
