// SHA-256 against the examples of FIPS 180-4 (NIST's published values), in pieces of every size.
#include "io/temp_file.h"

#include "base/clock.h"
#include "base/dylib.h"
#include "base/sha256.h"
#include "base/thread.h"

static void hex_of(const char *data, size_t size, size_t piece, char out[WF_SHA256_HEX_BYTES])
{
    wf_sha256 sha;
    uint8_t digest[WF_SHA256_BYTES];
    wf_sha256_init(&sha);
    for (size_t at = 0; at < size; at += piece)
        wf_sha256_update(&sha, data + at, size - at < piece ? size - at : piece);
    wf_sha256_final(&sha, digest);
    wf_sha256_hex(digest, out);
}

static void known_answers(void **state)
{
    (void)state;
    static char million[1000000];
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char hex[WF_SHA256_HEX_BYTES];
    memset(million, 'a', sizeof million);
    hex_of("", 0, 1, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hex_of("abc", 3, 1, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t piece = 1; piece <= 57; piece++) {
        hex_of(two_blocks, sizeof two_blocks - 1, piece, hex);
        assert_string_equal(hex,
                            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
    for (size_t piece = 61; piece < 1000; piece += 177) {
        hex_of(million, sizeof million, piece, hex);
        assert_string_equal(hex,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    temp_write(TEMP("abc"), "abc", 3);
    assert_int_equal(wf_sha256_file(TEMP("abc"), hex, NULL), WEFT_OK);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void *add_one(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

static void thread_and_clock(void **state)
{
    (void)state;
    wf_thread thread;
    int value = 0;
    uint64_t before = wf_clock_ns();
    assert_int_equal(wf_thread_start(&thread, add_one, &value, NULL), WEFT_OK);
    wf_thread_join(&thread);
    wf_thread_join(&thread);
    assert_int_equal(value, 1);
    assert_true(wf_clock_ns() >= before);
    assert_true(wf_thread_n_processors() >= 1);
}

static void library_not_there(void **state)
{
    (void)state;
    static const char *const names[] = {"libweft-none.so.1", "libweft-none.so"};
    static const char *const libc_names[] = {"libweft-none.so.1", "libc.so.6"};
    static const char start[] = "no such library, searched libweft-none.so.1, libweft-none.so (";
    wf_dylib lib;
    weft_error err = {0};
    assert_int_equal(wf_dylib_open(names, 2, &lib, &err), WEFT_ERR_DEVICE);
    assert_int_equal(strncmp(err.message, start, sizeof start - 1), 0);
    if (wf_dylib_open(libc_names, 2, &lib, NULL) != WEFT_OK)
        WF_SKIP("the C library has another name here");
    size_t (*length)(const char *);
    assert_string_equal(lib.name, "libc.so.6");
    assert_true(wf_dylib_symbol(&lib, "strlen", &length));
    assert_int_equal(length("four"), 4);
    assert_false(wf_dylib_symbol(&lib, "weft_none", &length));
    wf_dylib_close(&lib);
}

const struct CMUnitTest wf_tests_sha256[] = {
    cmocka_unit_test(known_answers),
    cmocka_unit_test(thread_and_clock),
    cmocka_unit_test(library_not_there),
};
const unsigned long wf_n_tests_sha256 = WF_N_TESTS(wf_tests_sha256);
