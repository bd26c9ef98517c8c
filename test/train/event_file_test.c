// Event files for TensorBoard, read back by a reader of their own: lengths, masked CRCs, messages field by
// field (cases.md 100: tensorboard#2636, wav2letter#528).
#include "io/event_file.h"

#include "io/crc32c.h"
#include "io/temp_file.h"
#include "train/train_tools.h"
#include "weft_config.h"

#define DIR_E TEMP("events")
#define DIR_R TEMP("events-run")
#define FIRST "/events.out.tfevents.0000000000.weft"
#define SECOND "/events.out.tfevents.0000000001.weft"

// Bit by bit, from the definition.
static uint32_t crc_of(const uint8_t *data, size_t n)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        }
    }
    return ~crc;
}

static void crcs_are_right(void **state)
{
    uint8_t data[300];
    (void)state;
    assert_int_equal(wf_crc32c("123456789", 9), 0xe3069283u);
    assert_int_equal(wf_crc32c("", 0), 0);
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 37 + 11);
        assert_int_equal(wf_crc32c(data, i), crc_of(data, i));
    }
    // RFC 3720, B.4: 32 zero bytes.
    memset(data, 0, 32);
    assert_int_equal(wf_crc32c(data, 32), 0x8a9136aau);
    assert_int_equal(wf_crc32c_masked(data, 32),
                     (uint32_t)((0x8a9136aau >> 15 | 0x8a9136aau << 17) + 0xa282ead8u));
}

#if WEFT_HAVE_PROTOBUF_C

typedef struct scalar {
    char tag[64];
    float value;
} scalar;

typedef struct event {
    double wall_time;
    int64_t step;
    char version[32];
    int session_status; // -1: none
    scalar scalars[32];
    size_t n_scalars;
} event;

static uint64_t get_le(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++) {
        v |= (uint64_t)p[i] << 8 * i;
    }
    return v;
}

// One field of a message: key, then a varint, 8 bytes, 4 bytes, or a length and bytes.
typedef struct field {
    uint32_t number, wire;
    uint64_t value;
    const uint8_t *bytes;
} field;

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
        assert_true(*at < end && shift < 64);
        const uint8_t b = *(*at)++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
}

static bool next_field(const uint8_t **at, const uint8_t *end, field *f)
{
    if (*at == end)
        return false;
    const uint64_t key = varint(at, end);
    f->number = (uint32_t)(key >> 3);
    f->wire = (uint32_t)key & 7;
    f->bytes = *at;
    switch (f->wire) {
    case 0: f->value = varint(at, end); break;
    case 1: f->value = 8; break;
    case 2:
        f->value = varint(at, end);
        f->bytes = *at;
        break;
    case 5: f->value = 4; break;
    default: fail_msg("wire type %u", f->wire);
    }
    if (f->wire != 0) {
        assert_true((uint64_t)(end - *at) >= f->value);
        *at += f->value;
    }
    return true;
}

static void read_value(const field *outer, scalar *s)
{
    const uint8_t *at = outer->bytes, *end = at + outer->value;
    field f;
    bool has_value = false;
    while (next_field(&at, end, &f)) {
        if (f.number == 1) {
            assert_true(f.wire == 2 && f.value < sizeof s->tag);
            memcpy(s->tag, f.bytes, f.value);
            s->tag[f.value] = 0;
        }
        if (f.number == 2) {
            assert_int_equal(f.wire, 5);
            memcpy(&s->value, f.bytes, 4);
            has_value = true;
        }
    }
    assert_true(has_value); // zeros, too
}

static void read_message(const uint8_t *data, size_t n, event *e)
{
    const uint8_t *at = data, *end = data + n;
    field f, g;
    *e = (event){.session_status = -1};
    while (next_field(&at, end, &f)) {
        if (f.number == 1)
            memcpy(&e->wall_time, f.bytes, 8);
        if (f.number == 2)
            e->step = (int64_t)f.value;
        if (f.number == 3)
            memcpy(e->version, f.bytes, f.value);
        if (f.number == 5) {
            const uint8_t *in = f.bytes, *stop = in + f.value;
            while (next_field(&in, stop, &g)) {
                assert_true(g.number == 1 && e->n_scalars < 32);
                read_value(&g, &e->scalars[e->n_scalars++]);
            }
        }
        if (f.number == 7) {
            const uint8_t *in = f.bytes, *stop = in + f.value;
            while (next_field(&in, stop, &g)) {
                if (g.number == 1)
                    e->session_status = (int)g.value;
            }
        }
    }
}

static size_t read_file(const char *path, event *events, size_t most)
{
    wf_file_map map;
    size_t n = 0, at = 0;
    assert_int_equal(wf_file_map_open(path, &map, NULL), WEFT_OK);
    const uint8_t *data = map.data;
    while (at < map.size_bytes) {
        assert_true(map.size_bytes - at >= 16 && n < most);
        const uint64_t length = get_le(data + at, 8);
        assert_true(length <= map.size_bytes - at - 16);
        uint32_t crc = crc_of(data + at, 8);
        assert_int_equal(get_le(data + at + 8, 4),
                         (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8u));
        crc = crc_of(data + at + 12, length);
        assert_int_equal(get_le(data + at + 12 + length, 4),
                         (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8u));
        read_message(data + at + 12, length, &events[n++]);
        at += 16 + length;
    }
    wf_file_map_close(&map);
    return n;
}

static event events[256];

static void what_is_written_is_read(void **state)
{
    static const wf_event_scalar two[] = {{"train/loss", 0.0f}, {"train/learning_rate", 3e-4f}};
    const wf_allocator a = wf_allocator_default();
    wf_event_file *file;
    (void)state;
    tiny_remove(DIR_E);
    assert_int_equal(wf_directory_create(DIR_E, NULL), WEFT_OK);
    assert_int_equal(wf_event_file_create(&a, DIR_E, 0, &file, NULL), WEFT_OK);
    assert_int_equal(wf_event_file_write(file, 1, two, 2, NULL), WEFT_OK);
    assert_int_equal(wf_event_file_write(file, INT64_C(1) << 40, two, 1, NULL), WEFT_OK);
    wf_event_file_destroy(file);
    assert_int_equal(wf_event_file_create(&a, DIR_E, 7, &file, NULL), WEFT_OK);
    wf_event_file_destroy(file);

    assert_int_equal(read_file(DIR_E FIRST, events, 8), 3);
    assert_string_equal(events[0].version, "brain.Event:2");
    assert_true(events[0].wall_time > 1.6e9);
    assert_int_equal(events[1].step, 1);
    assert_int_equal(events[1].n_scalars, 2);
    assert_string_equal(events[1].scalars[0].tag, "train/loss");
    assert_true(events[1].scalars[0].value == 0.0f && events[1].scalars[1].value == 3e-4f);
    assert_int_equal(events[2].step, INT64_C(1) << 40);
    // A run that goes on says from which step.
    assert_int_equal(read_file(DIR_E SECOND, events, 8), 2);
    assert_int_equal(events[1].session_status, 1);
    assert_int_equal(events[1].step, 8);
}

static const scalar *find(size_t n, int64_t step, const char *tag)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < events[i].n_scalars; k++) {
            if (events[i].step == step && !strcmp(events[i].scalars[k].tag, tag))
                return &events[i].scalars[k];
        }
    }
    fail_msg("no %s at step %d", tag, (int)step);
    return NULL;
}

static void a_run_writes_its_curves(void **state)
{
    static const char *const settings[] = {"train.tensorboard=true", "train.stats_every=4"};
    tiny_run half = {.stop_at = 7}, rest = {0};
    (void)state;
    tiny_remove(DIR_R);
    tiny_how how = {
        .path = tiny_write(tiny_recipe), .dir = DIR_R, .settings = settings, .n_settings = 2};
    tiny_train(&how, &half);
    assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
    how.is_resumed = true;
    tiny_train(&how, &rest);
    assert_int_equal(rest.status, WEFT_OK);
    size_t n = read_file(DIR_R FIRST, events, 256);
    for (int64_t i = 0; i < 7; i++) {
        assert_true(find(n, i + 1, "train/loss")->value == half.loss[i]);
        assert_true(find(n, i + 1, "train/learning_rate")->value == half.lr[i]);
    }
    assert_true(find(n, 4, "gradient_norm/conv1.weight")->value > 0.0f);
    assert_true(find(n, 4, "update_ratio/linear2.bias")->value > 0.0f);
    find(n, 4, "dead_units/relu1");
    find(n, 6, "validation/loss");
    n = read_file(DIR_R SECOND, events, 256);
    assert_int_equal(events[1].step, 8);
    assert_true(find(n, 8, "train/loss")->value == rest.loss[0]);
    assert_true(find(n, 18, "validation/accuracy")->value == (float)rest.val_accuracy);
}

#else

static void what_is_written_is_read(void **state)
{
    (void)state;
    WF_SKIP("protobuf-c: this build has none");
}

static void a_run_writes_its_curves(void **state)
{
    static const char *const settings[] = {"train.tensorboard=true"};
    tiny_run run = {0};
    (void)state;
    tiny_remove(DIR_R);
    const tiny_how how = {
        .path = tiny_write(tiny_recipe), .dir = DIR_R, .settings = settings, .n_settings = 1};
    tiny_train(&how, &run);
    assert_int_equal(run.status, WEFT_ERR_UNSUPPORTED);
    assert_string_equal(run.err.message,
                        DIR_R ": this build has no protobuf-c to write event files with");
}

#endif

const struct CMUnitTest wf_tests_event_file[] = {
    cmocka_unit_test(crcs_are_right),
    cmocka_unit_test(what_is_written_is_read),
    cmocka_unit_test(a_run_writes_its_curves),
};
const unsigned long wf_n_tests_event_file = WF_N_TESTS(wf_tests_event_file);
