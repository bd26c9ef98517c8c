// The transforms of Winograd's F(4x4, 3x3) of one instruction set, over lanes: channels side by side.
// Points 0, 1, -1, 2, -2 and infinity. Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// 2016 (arXiv 1509.09308). For `fast` only: sums in another order, of other products. Stage: RUN.
#include "device/cpu/kernel/cpu_gemm_vec.h"
#include "device/cpu/kernel/cpu_kernel.h"

// One line of the input transform: out = B' in.
VEC_INLINE void input_line(const vf in[6], vf out[6])
{
    const vf two = v_set(2.0f), four = v_set(4.0f), five = v_set(-5.0f);
    const vf even = v_fma(-four, in[2], in[4]), odd = v_fma(-four, in[1], in[3]);
    const vf far = in[4] - in[2], near = two * (in[3] - in[1]);
    out[0] = v_fma(four, in[0], v_fma(five, in[2], in[4]));
    out[1] = even + odd;
    out[2] = even - odd;
    out[3] = far + near;
    out[4] = far - near;
    out[5] = v_fma(four, in[1], v_fma(five, in[3], in[5]));
}

// One line of the weights' transform: out = G in.
VEC_INLINE void weight_line(const vf in[3], vf out[6])
{
    const vf sixth = v_set(1.0f / 6.0f), quarter = v_set(0.25f);
    const vf twelfth = v_set(1.0f / 12.0f), small = v_set(1.0f / 24.0f);
    const vf ends = -sixth * (in[0] + in[2]), middle = sixth * in[1];
    const vf outer = v_fma(small, in[0], sixth * in[2]), inner = twelfth * in[1];
    out[0] = quarter * in[0];
    out[1] = ends - middle;
    out[2] = ends + middle;
    out[3] = outer + inner;
    out[4] = outer - inner;
    out[5] = in[2];
}

// One line of the output transform: out = A' in.
VEC_INLINE void output_line(const vf in[6], vf out[4])
{
    const vf sum1 = in[1] + in[2], dif1 = in[1] - in[2];
    const vf sum2 = in[3] + in[4], dif2 = in[3] - in[4];
    out[0] = in[0] + sum1 + sum2;
    out[1] = v_fma(v_set(2.0f), dif2, dif1);
    out[2] = v_fma(v_set(4.0f), sum2, sum1);
    out[3] = v_fma(v_set(8.0f), dif2, dif1) + in[5];
}

// Lanes [0, n) in vectors; the last one overlaps the one before where n is no multiple. n >= VL.
#define FOR_LANES(j, n)                                                                            \
    for (int64_t j = 0; j < (n); j = j + VL < (n) && j + 2 * VL > (n) ? (n)-VL : j + VL)

static void transform_input(float *v, int64_t v_step, const float *const cells[36], int64_t n)
{
    FOR_LANES(j, n)
    {
        vf t[6][6];
        VEC_UNROLL for (int x = 0; x < 6; x++)
        {
            vf in[6], out[6];
            VEC_UNROLL for (int y = 0; y < 6; y++) in[y] = v_load(cells[y * 6 + x] + j);
            input_line(in, out);
            VEC_UNROLL for (int y = 0; y < 6; y++) t[y][x] = out[y];
        }
        VEC_UNROLL for (int y = 0; y < 6; y++)
        {
            vf out[6];
            input_line(t[y], out);
            VEC_UNROLL for (int x = 0; x < 6; x++) v_store(v + (y * 6 + x) * v_step + j, out[x]);
        }
    }
}

static void transform_weights(float *u, int64_t u_step, const float *w, int64_t w_step, int64_t n)
{
    FOR_LANES(j, n)
    {
        vf t[6][3];
        VEC_UNROLL for (int s = 0; s < 3; s++)
        {
            vf in[3], out[6];
            VEC_UNROLL for (int r = 0; r < 3; r++) in[r] = v_load(w + (r * 3 + s) * w_step + j);
            weight_line(in, out);
            VEC_UNROLL for (int y = 0; y < 6; y++) t[y][s] = out[y];
        }
        VEC_UNROLL for (int y = 0; y < 6; y++)
        {
            vf out[6];
            weight_line(t[y], out);
            VEC_UNROLL for (int x = 0; x < 6; x++) v_store(u + (y * 6 + x) * u_step + j, out[x]);
        }
    }
}

static void transform_output(float *const cells[16], const float *m, int64_t m_step, int64_t n)
{
    FOR_LANES(j, n)
    {
        vf t[4][6];
        VEC_UNROLL for (int x = 0; x < 6; x++)
        {
            vf in[6], out[4];
            VEC_UNROLL for (int y = 0; y < 6; y++) in[y] = v_load(m + (y * 6 + x) * m_step + j);
            output_line(in, out);
            VEC_UNROLL for (int y = 0; y < 4; y++) t[y][x] = out[y];
        }
        VEC_UNROLL for (int y = 0; y < 4; y++)
        {
            vf out[4];
            output_line(t[y], out);
            VEC_UNROLL for (int x = 0; x < 4; x++) v_store(cells[y * 4 + x] + j, out[x]);
        }
    }
}

const wf_cpu_winograd WF_CPU_NAME(wf_cpu_winograd);
const wf_cpu_winograd WF_CPU_NAME(wf_cpu_winograd) = {VL, transform_input, transform_weights,
                                                      transform_output};
