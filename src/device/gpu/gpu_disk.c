// Files of the kernel cache: <sha256>.bin, written beside and renamed, so that a reader sees a whole file
// or none; a header with the key and the content's digest guards against the rest. See gpu_api.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "device/gpu/gpu_api.h"

#define MAGIC "weftbin1"
#define HEADER_BYTES (8 + 32 + 32) // magic, key, digest of what follows

static bool cache_path(const uint8_t key[32], const char *suffix, char *out, size_t size)
{
    char hex[WF_SHA256_HEX_BYTES];
    wf_sha256_hex(key, hex);
    const char *root = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int n;
    if (root && root[0] == '/') {
        n = snprintf(out, size, "%s/weft/%s%s", root, hex, suffix);
    } else if (home && home[0] == '/') {
        n = snprintf(out, size, "%s/.cache/weft/%s%s", home, hex, suffix);
    } else {
        return false;
    }
    return n > 0 && (size_t)n < size;
}

static bool write_file(const wf_allocator *a, const char *path, const void *data, size_t size_bytes)
{
    char dir[512];
    const char *base = wf_path_base(path);
    size_t len = (size_t)(base - path);
    if (len == 0 || len >= sizeof dir)
        return false;
    memcpy(dir, path, len - 1);
    dir[len - 1] = 0;
    return wf_directory_create(dir, NULL) == WEFT_OK &&
           wf_file_write(a, path, data, size_bytes, NULL) == WEFT_OK;
}

static void digest_of(const void *data, size_t size_bytes, uint8_t out[WF_SHA256_BYTES])
{
    wf_sha256 sha;
    wf_sha256_init(&sha);
    wf_sha256_update(&sha, data, size_bytes);
    wf_sha256_final(&sha, out);
}

bool wf_gpu_disk_read(const wf_allocator *a, const uint8_t key[32], uint8_t **out_data,
                      size_t *out_size_bytes)
{
    *out_data = NULL;
    *out_size_bytes = 0;
    char path[512];
    uint8_t *file = NULL;
    size_t size = 0;
    if (!cache_path(key, ".bin", path, sizeof path) || !wf_file_is_regular(path) ||
        wf_file_read(a, path, &file, &size, NULL) != WEFT_OK) {
        return false;
    }
    uint8_t digest[WF_SHA256_BYTES];
    bool is_good =
        size >= HEADER_BYTES && memcmp(file, MAGIC, 8) == 0 && memcmp(file + 8, key, 32) == 0;
    if (is_good) {
        digest_of(file + HEADER_BYTES, size - HEADER_BYTES, digest);
        is_good = memcmp(file + 40, digest, sizeof digest) == 0;
    }
    if (!is_good) {
        wf_free(a, file);
        return false;
    }
    memmove(file, file + HEADER_BYTES, size - HEADER_BYTES);
    *out_data = file;
    *out_size_bytes = size - HEADER_BYTES;
    return true;
}

void wf_gpu_disk_write(const wf_allocator *a, const uint8_t key[32], const void *data,
                       size_t size_bytes)
{
    char path[512];
    uint8_t *file;
    if (!cache_path(key, ".bin", path, sizeof path))
        return;
    if (wf_alloc(a, HEADER_BYTES + size_bytes, 1, &file, NULL) != WEFT_OK)
        return;
    memcpy(file, MAGIC, 8);
    memcpy(file + 8, key, 32);
    digest_of(data, size_bytes, file + 40);
    if (size_bytes)
        memcpy(file + HEADER_BYTES, data, size_bytes);
    write_file(a, path, file, HEADER_BYTES + size_bytes);
    wf_free(a, file);
}

void wf_gpu_disk_save_source(const wf_allocator *a, const uint8_t key[32], const char *source,
                             char out_path[512])
{
    if (!cache_path(key, ".cl", out_path, 512) ||
        !write_file(a, out_path, source, strlen(source))) {
        out_path[0] = 0;
    }
}
