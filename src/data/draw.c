// Random words and unbiased integers from Philox.
#include "data/draw.h"

#include "math/philox.h"

void wf_draw_init(wf_draw *draw, uint64_t seed, uint64_t block, uint32_t step, uint32_t stream)
{
    draw->seed = seed;
    draw->block = block;
    draw->step = step;
    draw->stream = stream;
    draw->n_left = 0;
}

uint32_t wf_draw_word(wf_draw *draw)
{
    if (draw->n_left == 0) {
        wf_philox_block block =
            wf_random_block(draw->seed, draw->step, draw->stream, draw->block * 4);
        draw->word[0] = block.w3; // taken from the end
        draw->word[1] = block.w2;
        draw->word[2] = block.w1;
        draw->word[3] = block.w0;
        draw->n_left = 4;
        draw->block++;
    }
    return draw->word[--draw->n_left];
}

uint32_t wf_draw_below(wf_draw *draw, uint32_t n)
{
    uint64_t product = (uint64_t)wf_draw_word(draw) * n;
    if ((uint32_t)product < n) {
        // 2^32 mod n low halves would make some results more frequent.
        uint32_t threshold = (0u - n) % n;
        while ((uint32_t)product < threshold)
            product = (uint64_t)wf_draw_word(draw) * n;
    }
    return (uint32_t)(product >> 32);
}

void wf_draw_permutation(wf_draw *draw, uint32_t *index, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        index[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = wf_draw_below(draw, i);
        uint32_t kept = index[i - 1];
        index[i - 1] = index[j];
        index[j] = kept;
    }
}
