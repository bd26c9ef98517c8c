// oneDNN's f32 matrix product and direct convolutions on one thread of the CPU, behind a C face.
#include "arith_onednn.h"

#include <string>
#include <unordered_map>

#include <dnnl.hpp>

using namespace dnnl;

namespace
{
struct conv_handle {
    engine cpu{engine::kind::cpu, 0};
    stream queue{cpu};
    primitive op;
    std::unordered_map<int, memory> args;
    std::string name;

    memory fill(const memory::desc &d)
    {
        memory m(d, cpu);
        float *p = static_cast<float *>(m.get_data_handle());
        unsigned r = 7;
        for (size_t i = 0; i < d.get_size() / sizeof(float); i++) {
            r = r * 1664525u + 1013904223u;
            p[i] = static_cast<float>(r >> 8) * 0x1p-23f - 1.0f;
        }
        return m;
    }
};
} // namespace

extern "C" void arith_onednn_contract(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
}

extern "C" void *arith_onednn_conv_create(const arith_conv *g, int direction)
{
    auto *h = new conv_handle;
    auto f32 = memory::data_type::f32;
    auto any = memory::format_tag::any;
    memory::desc x({g->n, g->c, g->h, g->w}, f32, any), w({g->k, g->c, g->r, g->s}, f32, any), y({g->n, g->k, g->p, g->q}, f32, any);
    memory::dims stride{g->stride, g->stride}, pad{g->pad, g->pad};
    auto direct = algorithm::convolution_direct;
    convolution_forward::primitive_desc f({prop_kind::forward_training, direct, x, w, y, stride, pad, pad}, h->cpu);
    if (direction == 0) {
        h->op = convolution_forward(f);
        h->name = f.impl_info_str();
        h->args = {{DNNL_ARG_SRC, h->fill(f.src_desc())}, {DNNL_ARG_WEIGHTS, h->fill(f.weights_desc())}, {DNNL_ARG_DST, h->fill(f.dst_desc())}};
    } else if (direction == 1) {
        convolution_backward_data::primitive_desc d({direct, x, w, y, stride, pad, pad}, h->cpu, f);
        h->op = convolution_backward_data(d);
        h->name = d.impl_info_str();
        h->args = {{DNNL_ARG_DIFF_DST, h->fill(d.diff_dst_desc())},
                   {DNNL_ARG_WEIGHTS, h->fill(d.weights_desc())},
                   {DNNL_ARG_DIFF_SRC, h->fill(d.diff_src_desc())}};
    } else {
        convolution_backward_weights::primitive_desc d({direct, x, w, y, stride, pad, pad}, h->cpu, f);
        h->op = convolution_backward_weights(d);
        h->name = d.impl_info_str();
        h->args = {{DNNL_ARG_SRC, h->fill(d.src_desc())},
                   {DNNL_ARG_DIFF_DST, h->fill(d.diff_dst_desc())},
                   {DNNL_ARG_DIFF_WEIGHTS, h->fill(d.diff_weights_desc())}};
    }
    return h;
}

extern "C" void arith_onednn_conv_run(void *conv)
{
    auto *h = static_cast<conv_handle *>(conv);
    h->op.execute(h->queue, h->args);
    h->queue.wait();
}

extern "C" void arith_onednn_conv_destroy(void *conv)
{
    delete static_cast<conv_handle *>(conv);
}

extern "C" const char *arith_onednn_conv_name(const void *conv)
{
    return static_cast<const conv_handle *>(conv)->name.c_str();
}
