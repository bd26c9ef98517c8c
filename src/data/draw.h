// A stream of random words and unbiased integers from Philox, for permutations and augmentation on
// the host. The counter is (block number, step, stream): any place can be reached directly.
#ifndef WF_DATA_DRAW_H
#define WF_DATA_DRAW_H

#include <stdint.h>

typedef struct wf_draw {
    uint64_t seed;
    uint64_t block; // next block of four words
    uint32_t step;
    uint32_t stream;
    uint32_t word[4];
    uint32_t n_left;
} wf_draw;

// Streams of the data stage. Fixed: they are part of what a seed means.
enum {
    WF_DRAW_STREAM_SHUFFLE = 0x64617401u,
    WF_DRAW_STREAM_AUGMENT = 0x64617402u,
    WF_DRAW_STREAM_SPLIT = 0x64617403u,
    WF_DRAW_STREAM_MIX = 0x64617404u,
    WF_DRAW_STREAM_NOISE = 0x64617405u,
};

// Begins at word 4 * block of the stream.
void wf_draw_init(wf_draw *draw, uint64_t seed, uint64_t block, uint32_t step, uint32_t stream);
uint32_t wf_draw_word(wf_draw *draw);
// Uniform in 0 .. n-1, n >= 1: the high half of word * n, words that would favour some results
// drawn again (Lemire 2019).
uint32_t wf_draw_below(wf_draw *draw, uint32_t n);
// index = a uniform permutation of 0 .. n-1: Fisher and Yates from the end, j = below(i + 1).
void wf_draw_permutation(wf_draw *draw, uint32_t *index, uint32_t n);

#endif
