// SHA-256 as FIPS 180-4 writes it: 64 rounds over blocks of 64 bytes.
#include "base/sha256.h"

#include <string.h>

#include "base/file.h"

// FIPS 180-4, 4.2.2: fractions of the cube roots of the first 64 primes.
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate_right(uint32_t x, int n)
{
    return (x >> n) | (x << (32 - n));
}

static void take_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        const uint8_t *p = block + 4 * i;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ (w[i - 15] >> 3);
        uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    // The letters of the standard.
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constant[i] + w[i];
        uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void wf_sha256_init(wf_sha256 *sha)
{
    // FIPS 180-4, 5.3.3: fractions of the square roots of the first eight primes.
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(sha, 0, sizeof *sha);
    memcpy(sha->state, start, sizeof start);
}

void wf_sha256_update(wf_sha256 *sha, const void *data, size_t size_bytes)
{
    const uint8_t *src = data;
    size_t used = (size_t)(sha->n_bytes & 63);
    if (size_bytes == 0)
        return;
    sha->n_bytes += size_bytes;
    if (used) {
        size_t take = 64 - used < size_bytes ? 64 - used : size_bytes;
        memcpy(sha->block + used, src, take);
        src += take;
        size_bytes -= take;
        if (used + take < 64)
            return;
        take_block(sha->state, sha->block);
    }
    for (; size_bytes >= 64; src += 64, size_bytes -= 64)
        take_block(sha->state, src);
    if (size_bytes)
        memcpy(sha->block, src, size_bytes);
}

void wf_sha256_final(wf_sha256 *sha, uint8_t out_digest[WF_SHA256_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t n_bits = sha->n_bytes * 8;
    size_t used = (size_t)(sha->n_bytes & 63);
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(n_bits >> (56 - 8 * i));
    wf_sha256_update(sha, padding, used < 56 ? 56 - used : 120 - used);
    wf_sha256_update(sha, length, sizeof length);
    for (int i = 0; i < 32; i++)
        out_digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void wf_sha256_hex(const uint8_t digest[WF_SHA256_BYTES], char out_hex[WF_SHA256_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < WF_SHA256_BYTES; i++) {
        out_hex[2 * i] = digits[digest[i] >> 4];
        out_hex[2 * i + 1] = digits[digest[i] & 15];
    }
    out_hex[2 * WF_SHA256_BYTES] = 0;
}

weft_status wf_sha256_file(const char *path, char out_hex[WF_SHA256_HEX_BYTES], weft_error *err)
{
    wf_file_map map;
    wf_sha256 sha;
    uint8_t digest[WF_SHA256_BYTES];
    out_hex[0] = 0;
    WEFT_TRY(wf_file_map_open(path, &map, err));
    wf_sha256_init(&sha);
    wf_sha256_update(&sha, map.data, map.size_bytes);
    wf_sha256_final(&sha, digest);
    wf_sha256_hex(digest, out_hex);
    wf_file_map_close(&map);
    return WEFT_OK;
}
