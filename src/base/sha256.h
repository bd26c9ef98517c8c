// SHA-256 (FIPS 180-4), streaming: digests of weights, steps and recipes.
#ifndef WF_BASE_SHA256_H
#define WF_BASE_SHA256_H

#include "base/error.h"

#define WF_SHA256_BYTES 32
#define WF_SHA256_HEX_BYTES 65 // 64 digits and the final 0

typedef struct wf_sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    uint8_t block[64];
} wf_sha256;

void wf_sha256_init(wf_sha256 *sha);
void wf_sha256_update(wf_sha256 *sha, const void *data, size_t size_bytes);
void wf_sha256_final(wf_sha256 *sha, uint8_t out_digest[WF_SHA256_BYTES]);
// Lower-case digits.
void wf_sha256_hex(const uint8_t digest[WF_SHA256_BYTES], char out_hex[WF_SHA256_HEX_BYTES]);
// Of a whole file. Errors: WEFT_ERR_FILE.
weft_status wf_sha256_file(const char *path, char out_hex[WF_SHA256_HEX_BYTES], weft_error *err);

#endif
