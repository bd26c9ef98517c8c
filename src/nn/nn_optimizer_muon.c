// Muon (K. Jordan et al., 2024, kellerjordan.github.io/posts/muon): momentum whose matrices are brought near
// orthogonal ones by five Newton-Schulz steps. The step is scaled as J. Liu et al., "Muon is Scalable for
// LLM Training", 2025, so that one learning rate and one decay do for Muon and for the AdamW that moves
// everything that is no matrix, or that its group leaves to AdamW.
#include <math.h>

#include "nn/nn_optimizer.h"

#define N_STEPS 5
#define NORM_EPSILON 1e-7

// x / |x| made nearly orthogonal: x <- a x + (b A + c A A) x, A = x x^T. x is [rows,columns], rows <= columns.
static weft_val newton_schulz(weft_graph *g, weft_val x)
{
    const weft_val a = wf_nn_number(g, 3.4445), b = wf_nn_number(g, -4.7750),
                   c = wf_nn_number(g, 2.0315);
    const weft_val norm = weft_sqrt(g, weft_sum(g, weft_mul(g, x, x), NULL, 0, false));
    x = weft_div(g, x, weft_add(g, norm, wf_nn_number(g, NORM_EPSILON)));
    for (int i = 0; i < N_STEPS; i++) {
        const weft_val square = weft_matmul(g, x, x, false, true);
        const weft_val fourth = weft_matmul(g, square, square, false, false);
        const weft_val poly = weft_add(g, weft_mul(g, square, b), weft_mul(g, fourth, c));
        x = weft_add(g, weft_mul(g, x, a), weft_matmul(g, poly, x, false, false));
    }
    return x;
}

static weft_val build(wf_update *u, const weft_parameter *p, weft_val grad)
{
    static const int32_t swapped[] = {1, 0};
    weft_graph *g = u->g;
    const weft_type t = weft_val_type(g, p->val);
    if (t.ndim < 2 || p->is_left_to_adamw)
        return wf_update_adamw(u, p, grad);
    // A kernel of a convolution is the matrix [out, everything else].
    const int64_t rows = t.dims[0], columns = rows ? weft_val_count(g, p->val) / rows : 0;
    const int64_t matrix[] = {rows, columns};
    const weft_val m = wf_update_average(u, p, "momentum", u->momentum, grad);
    const weft_val beta = wf_nn_number(g, u->momentum);
    const weft_val rest = wf_nn_number(g, 1.0 - u->momentum);
    const weft_val ahead = weft_add(g, weft_mul(g, m, beta), weft_mul(g, grad, rest));
    weft_val x = weft_reshape(g, ahead, matrix, 2);
    if (rows > columns)
        x = weft_permute(g, x, swapped);
    x = newton_schulz(g, x);
    if (rows > columns)
        x = weft_permute(g, x, swapped);
    const double scale = 0.2 * sqrt((double)(rows > columns ? rows : columns));
    const weft_val step = weft_mul(g, u->lr, wf_nn_number(g, scale));
    const weft_val move = weft_mul(g, step, weft_reshape(g, x, t.dims, t.ndim));
    return weft_sub(g, wf_update_shrink(u, p), move);
}

const wf_optimizer wf_optimizer_muon = {.name = "muon",
                                        .prepare = wf_update_prepare_corrections,
                                        .build = build,
                                        .beta1 = 0.9,
                                        .beta2 = 0.999,
                                        .epsilon = 1e-8,
                                        .momentum = 0.95};
