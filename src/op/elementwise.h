// Elementwise ops in one line each. The line stands in the op's file; the build copies all such
// lines into weft_generated/elementwise_list.inc, from which the devices make their loops. So a
// formula is written once, in the common dialect (src/math), for every device.
//
//   WF_ELEMENTWISE_F1(name, f32, truth, grad, flags)        f32 -> f32
//   WF_ELEMENTWISE_F2(name, f32, truth, grad, flags)
//   WF_ELEMENTWISE_F3(name, f32, truth, grad, flags)
//   WF_ELEMENTWISE_N1(name, f32, int, truth, grad, flags)   f32 and integers, same dtype out
//   WF_ELEMENTWISE_N2(name, f32, int, truth, grad, flags)
//   WF_ELEMENTWISE_I1(name, int, flags)                     integers and bool
//   WF_ELEMENTWISE_I2(name, int, flags)
//   WF_ELEMENTWISE_C1(name, f32, int, flags)                any but f64 f16 bf16 -> bool
//   WF_ELEMENTWISE_C2(name, expr, flags)
//
// Formulas are over a, b, c; in integer ones T is the type and U its unsigned twin; bool is u8, and an
// I op's result is taken & 1 behind the formula; truth formulas are over doubles and may call libm.
// Each line defines wf_op_<name> and the constructor weft_<name>.
#ifndef WF_OP_ELEMENTWISE_H
#define WF_OP_ELEMENTWISE_H

#include <math.h>

#include "math/weft_math.h"
#include "op/op.h"

#define WF_DTYPES_MAP_F WF_DTYPE_BIT(WEFT_F32)
#define WF_DTYPES_MAP_N (WF_DTYPE_BIT(WEFT_F32) | WF_DTYPES_INT)
#define WF_DTYPES_MAP_I (WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL))
#define WF_DTYPES_MAP_C (WF_DTYPES_MAP_N | WF_DTYPE_BIT(WEFT_BOOL))

// All inputs of one shape and dtype out of `allowed`; the result is that, or bool.
weft_status wf_infer_elementwise(const wf_node_info *info, uint32_t allowed, weft_type *out,
                                 weft_error *err);
wf_cost wf_cost_elementwise(const wf_node_info *info);

// Constructors broadcast their operands to one shape (NumPy's rule) by explicit nodes, then add.
weft_val wf_build_elementwise(weft_graph *g, const wf_op *op, const weft_val *in, size_t n);

#define WF_EW_ARGS_1(T_) WF_UNUSED T_ a = ((const T_ *)q->in[0].data)[i];
#define WF_EW_ARGS_2(T_) WF_EW_ARGS_1(T_) WF_UNUSED T_ b = ((const T_ *)q->in[1].data)[i];
#define WF_EW_ARGS_3(T_) WF_EW_ARGS_2(T_) WF_UNUSED T_ c = ((const T_ *)q->in[2].data)[i];
#define WF_EW_LOOP(n_, T_, U_, O_, expr)                                                           \
    do {                                                                                           \
        typedef T_ T WF_UNUSED;                                                                    \
        typedef U_ U WF_UNUSED;                                                                    \
        for (int64_t i = 0; i < count; i++) {                                                      \
            WF_EW_ARGS_##n_(T_)((O_ *)q->out[0].data)[i] = (O_)(expr);                             \
        }                                                                                          \
    } while (0)
#define WF_EW_INT_CASES(n_, O8, OU8, O32, O64, expr)                                               \
    case WEFT_I8: WF_EW_LOOP(n_, int8_t, uint8_t, O8, expr); break;                                \
    case WEFT_U8: WF_EW_LOOP(n_, uint8_t, uint8_t, OU8, expr); break;                              \
    case WEFT_I32: WF_EW_LOOP(n_, int32_t, uint32_t, O32, expr); break;                            \
    case WEFT_I64:                                                                                 \
        WF_EW_LOOP(n_, int64_t, uint64_t, O64, expr);                                              \
        break;
#define WF_EW_NO_INTS(n_, expr)
#define WF_EW_SAME_INTS(n_, expr) WF_EW_INT_CASES(n_, int8_t, uint8_t, int32_t, int64_t, expr)
#define WF_EW_BITS(n_, expr)                                                                       \
    WF_EW_SAME_INTS(n_, expr)                                                                      \
    case WEFT_BOOL:                                                                                \
        WF_EW_LOOP(n_, uint8_t, uint8_t, uint8_t, (expr)&1);                                       \
        break;
#define WF_EW_COMPARES(n_, expr)                                                                   \
    WF_EW_INT_CASES(n_, uint8_t, uint8_t, uint8_t, uint8_t, expr)                                  \
    case WEFT_BOOL:                                                                                \
        WF_EW_LOOP(n_, uint8_t, uint8_t, uint8_t, expr);                                           \
        break;
#define WF_EW_FLOAT(n_, O_, expr)                                                                  \
    case WEFT_F32:                                                                                 \
        WF_EW_LOOP(n_, float, uint32_t, O_, expr);                                                 \
        break;
#define WF_EW_NO_FLOAT(n_, O_, expr)

// eval_<name>, eval_truth_<name>, infer_<name>, row_<name>, wf_op_<name>
#define WF_EW_DEFINE(name_, n_, allowed_, f32_, f32_text_, int_text_, FLOAT_, O_, INTS_, int_,     \
                     truth_, OT_, grad_, flags_, compare_)                                         \
    static weft_status infer_##name_(const wf_node_info *info, weft_type *out, weft_error *err)    \
    {                                                                                              \
        return wf_infer_elementwise(info, allowed_, out, err);                                     \
    }                                                                                              \
    static weft_status eval_##name_(wf_eval *q, weft_error *err)                                   \
    {                                                                                              \
        int64_t count = wf_type_count(&q->out[0].type);                                            \
        switch ((int)q->in[0].type.dtype) {                                                        \
            FLOAT_(n_, O_, f32_)                                                                   \
            INTS_(n_, int_)                                                                        \
        default: WEFT_FAIL(err, WEFT_ERR_INTERNAL, #name_ ": dtype reached eval");                 \
        }                                                                                          \
        return WEFT_OK;                                                                            \
    }                                                                                              \
    static weft_status eval_truth_##name_(wf_eval *q, weft_error *err)                             \
    {                                                                                              \
        int64_t count = wf_type_count(&q->out[0].type);                                            \
        if (!wf_dtype_is_float(q->in[0].type.dtype))                                               \
            return eval_##name_(q, err);                                                           \
        WF_EW_LOOP(n_, double, uint64_t, OT_, truth_);                                             \
        return WEFT_OK;                                                                            \
    }                                                                                              \
    static const wf_elementwise row_##name_ = {n_, f32_text_, int_text_, compare_};                \
    const wf_op wf_op_##name_ = {                                                                  \
        .name = #name_,                                                                            \
        .n_inputs = n_,                                                                            \
        .n_outputs = 1,                                                                            \
        .flags = WF_OP_ELEMENTWISE | (flags_),                                                     \
        .task = WF_TASK_MAP,                                                                       \
        .elementwise = &row_##name_,                                                               \
        .infer = infer_##name_,                                                                    \
        .grad = grad_,                                                                             \
        .eval = eval_##name_,                                                                      \
        .eval_truth = eval_truth_##name_,                                                          \
        .cost = wf_cost_elementwise,                                                               \
    };

#define WF_EW_BUILD_1(name_)                                                                       \
    weft_val weft_##name_(weft_graph *g, weft_val a)                                               \
    {                                                                                              \
        return wf_build_elementwise(g, &wf_op_##name_, &a, 1);                                     \
    }
#define WF_EW_BUILD_2(name_)                                                                       \
    weft_val weft_##name_(weft_graph *g, weft_val a, weft_val b)                                   \
    {                                                                                              \
        const weft_val in[] = {a, b};                                                              \
        return wf_build_elementwise(g, &wf_op_##name_, in, 2);                                     \
    }
#define WF_EW_BUILD_3(name_)                                                                       \
    weft_val weft_##name_(weft_graph *g, weft_val a, weft_val b, weft_val c)                       \
    {                                                                                              \
        const weft_val in[] = {a, b, c};                                                           \
        return wf_build_elementwise(g, &wf_op_##name_, in, 3);                                     \
    }

// The text of a formula is taken in the outermost macro, where nothing in it is expanded yet: WF_DIV
// must reach a device as WF_DIV.
#define WF_EW_F(name_, n_, f32_, text_, truth_, grad_, flags_)                                     \
    WF_EW_DEFINE(name_, n_, WF_DTYPES_MAP_F, f32_, text_, NULL, WF_EW_FLOAT, float, WF_EW_NO_INTS, \
                 0, truth_, double, grad_, flags_, false)                                          \
    WF_EW_BUILD_##n_(name_)
#define WF_ELEMENTWISE_F1(name_, f32_, truth_, grad_, flags_)                                      \
    WF_EW_F(name_, 1, f32_, #f32_, truth_, grad_, flags_)
#define WF_ELEMENTWISE_F2(name_, f32_, truth_, grad_, flags_)                                      \
    WF_EW_F(name_, 2, f32_, #f32_, truth_, grad_, flags_)
#define WF_ELEMENTWISE_F3(name_, f32_, truth_, grad_, flags_)                                      \
    WF_EW_F(name_, 3, f32_, #f32_, truth_, grad_, flags_)

#define WF_EW_N(name_, n_, f32_, f32_text_, int_, int_text_, truth_, grad_, flags_)                \
    WF_EW_DEFINE(name_, n_, WF_DTYPES_MAP_N, f32_, f32_text_, int_text_, WF_EW_FLOAT, float,       \
                 WF_EW_SAME_INTS, int_, truth_, double, grad_, flags_, false)                      \
    WF_EW_BUILD_##n_(name_)
#define WF_ELEMENTWISE_N1(name_, f32_, int_, truth_, grad_, flags_)                                \
    WF_EW_N(name_, 1, f32_, #f32_, int_, #int_, truth_, grad_, flags_)
#define WF_ELEMENTWISE_N2(name_, f32_, int_, truth_, grad_, flags_)                                \
    WF_EW_N(name_, 2, f32_, #f32_, int_, #int_, truth_, grad_, flags_)

#define WF_EW_I(name_, n_, int_, int_text_, flags_)                                                \
    WF_EW_DEFINE(name_, n_, WF_DTYPES_MAP_I, 0, NULL, int_text_, WF_EW_NO_FLOAT, float,            \
                 WF_EW_BITS, int_, 0, double, NULL, (flags_) | WF_OP_ZERO_GRADIENT, false)         \
    WF_EW_BUILD_##n_(name_)
#define WF_ELEMENTWISE_I1(name_, int_, flags_) WF_EW_I(name_, 1, int_, #int_, flags_)
#define WF_ELEMENTWISE_I2(name_, int_, flags_) WF_EW_I(name_, 2, int_, #int_, flags_)

#define WF_EW_C(name_, n_, f32_, f32_text_, int_, int_text_, truth_, flags_)                       \
    WF_EW_DEFINE(name_, n_, WF_DTYPES_MAP_C, f32_, f32_text_, int_text_, WF_EW_FLOAT, uint8_t,     \
                 WF_EW_COMPARES, int_, truth_, uint8_t, NULL, (flags_) | WF_OP_ZERO_GRADIENT,      \
                 true)                                                                             \
    WF_EW_BUILD_##n_(name_)
#define WF_ELEMENTWISE_C1(name_, f32_, int_, truth_, flags_)                                       \
    WF_EW_C(name_, 1, f32_, #f32_, int_, #int_, truth_, flags_)
#define WF_ELEMENTWISE_C2(name_, expr_, flags_)                                                    \
    WF_EW_C(name_, 2, expr_, #expr_, expr_, #expr_, expr_, flags_)

#endif
