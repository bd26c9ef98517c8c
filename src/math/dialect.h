// The common dialect: one way to write a function or a kernel that C, OpenCL C 1.2, CUDA (NVRTC)
// and HIP (hipRTC) all compile, to the same bits. Everything in src/math and every GPU kernel
// source is written in it.
//
// In:  the compiler's own macros; optionally, set before inclusion,
//        WF_SOFT_DIV, WF_SOFT_SQRT (or WF_SOFT_DIV_SQRT for both): the device's divide or square
//        root is not correctly rounded, use ours (math/divide.h, math/square_root.h);
//        WF_SOFT_FMA: the device's fma is wrong, go through native f64.
// Out: types wf_*, qualifiers and operations WF_*.
//
// Rules for code in the dialect (doc/arithmetic.md): f32 only, literals end in f, no libm; a
// product never stands beside a sum, WF_FMA is written instead, so that no compiler has anything to
// contract; a device's private, local and global pointers say so; helpers are WF_FN; branch-free
// where a loop over it shall become vector code. Compile with -ffp-contract=off -fno-math-errno
// -fno-trapping-math (C), -cl-std=CL1.2 (OpenCL), --fmad=false (CUDA), -ffp-contract=off (HIP).
#ifndef WF_MATH_DIALECT_H
#define WF_MATH_DIALECT_H

#ifdef WF_SOFT_DIV_SQRT
#define WF_SOFT_DIV
#define WF_SOFT_SQRT
#endif

// Offline clang defines only the first of the two.
#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
#define WF_DIALECT_OPENCL 1
#elif defined(__CUDACC_RTC__) || defined(__CUDACC__) || defined(__HIPCC_RTC__) || defined(__HIPCC__)
#define WF_DIALECT_CUDA 1 // HIP as well: the two differ only where __HIP__ is tested below
#else
#define WF_DIALECT_C 1
#endif

#if defined(WF_DIALECT_OPENCL) // OpenCL C

#pragma OPENCL FP_CONTRACT OFF
#ifdef WF_SOFT_FMA
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef float wf_f32;
typedef char wf_i8;
typedef uchar wf_u8;
typedef short wf_i16;
typedef ushort wf_u16;
typedef int wf_i32;
typedef uint wf_u32;
typedef long wf_i64;
typedef ulong wf_u64;

#define WF_FN static
#define WF_KERNEL __kernel
#define WF_KERNEL_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))
#define WF_GLOBAL __global
#define WF_LOCAL __local     // a variable at kernel scope
#define WF_LOCAL_PTR __local // what a pointer points to
#define WF_CONSTANT __constant
#define WF_RESTRICT restrict
#define WF_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define WF_UNROLL _Pragma("unroll")

#define WF_GROUP_ID(d) ((wf_i32)get_group_id(d))
#define WF_LOCAL_ID(d) ((wf_i32)get_local_id(d))
#define WF_GLOBAL_ID(d) ((wf_i32)get_global_id(d))
#define WF_GLOBAL_ID64(d) ((wf_i64)get_global_id(d))
#define WF_N_GROUPS(d) ((wf_i32)get_num_groups(d))
#define WF_LOCAL_SIZE(d) ((wf_i32)get_local_size(d))
#define WF_GLOBAL_SIZE(d) ((wf_i32)get_global_size(d))
#define WF_GLOBAL_SIZE64(d) ((wf_i64)get_global_size(d))

WF_FN wf_u32 wf_as_u32(wf_f32 x)
{
    return as_uint(x);
}
WF_FN wf_f32 wf_as_f32(wf_u32 x)
{
    return as_float(x);
}

#define WF_FMA_NATIVE(a, b, c) fma((a), (b), (c))
#define WF_SQRT_NATIVE(x) sqrt(x)

// 16 bytes at once, p 16-byte aligned: a0 .. a3 are lvalues.
#define WF_LOAD4(a0, a1, a2, a3, p)                                                                \
    do {                                                                                           \
        const float4 wf_v4 = *(const __global float4 *)(p);                                        \
        (a0) = wf_v4.x, (a1) = wf_v4.y, (a2) = wf_v4.z, (a3) = wf_v4.w;                            \
    } while (0)
#define WF_LOAD4_LOCAL(a0, a1, a2, a3, p)                                                          \
    do {                                                                                           \
        const float4 wf_v4 = *(const __local float4 *)(p);                                         \
        (a0) = wf_v4.x, (a1) = wf_v4.y, (a2) = wf_v4.z, (a3) = wf_v4.w;                            \
    } while (0)
#define WF_STORE4(p, a0, a1, a2, a3) (*(__global float4 *)(p) = (float4)((a0), (a1), (a2), (a3)))
#define WF_STORE4_LOCAL(p, a0, a1, a2, a3)                                                         \
    (*(__local float4 *)(p) = (float4)((a0), (a1), (a2), (a3)))

#define WF_ATOMIC_MIN_U32(p, v) ((void)atomic_min((volatile __global uint *)(p), (wf_u32)(v)))

#elif defined(WF_DIALECT_CUDA) // CUDA, HIP

typedef float wf_f32;
typedef signed char wf_i8;
typedef unsigned char wf_u8;
typedef short wf_i16;
typedef unsigned short wf_u16;
typedef int wf_i32;
typedef unsigned int wf_u32;
typedef long long wf_i64;
typedef unsigned long long wf_u64;

#define WF_FN static __device__ __forceinline__
#define WF_KERNEL extern "C" __global__
#define WF_KERNEL_SIZE(x, y, z) __launch_bounds__((x) * (y) * (z))
#define WF_GLOBAL
#define WF_LOCAL __shared__
#define WF_LOCAL_PTR
#define WF_CONSTANT static __constant__ const
#define WF_RESTRICT __restrict__
#define WF_BARRIER() __syncthreads()
#define WF_UNROLL _Pragma("unroll")

// d is a literal 0, 1 or 2. Names made by pasting: threadIdx.x and the like are chosen by ?:
// instead.
#define WF_PICK3(v, d) ((d) == 0 ? (v).x : (d) == 1 ? (v).y : (v).z)
#define WF_GROUP_ID(d) ((wf_i32)WF_PICK3(blockIdx, d))
#define WF_LOCAL_ID(d) ((wf_i32)WF_PICK3(threadIdx, d))
#define WF_LOCAL_SIZE(d) ((wf_i32)WF_PICK3(blockDim, d))
#define WF_N_GROUPS(d) ((wf_i32)WF_PICK3(gridDim, d))
#define WF_GLOBAL_ID64(d)                                                                          \
    ((wf_i64)WF_PICK3(blockIdx, d) * (wf_i64)WF_PICK3(blockDim, d) + (wf_i64)WF_PICK3(threadIdx, d))
#define WF_GLOBAL_SIZE64(d) ((wf_i64)WF_PICK3(gridDim, d) * (wf_i64)WF_PICK3(blockDim, d))
#define WF_GLOBAL_ID(d) ((wf_i32)WF_GLOBAL_ID64(d))
#define WF_GLOBAL_SIZE(d) ((wf_i32)WF_GLOBAL_SIZE64(d))

WF_FN wf_u32 wf_as_u32(wf_f32 x)
{
    return __float_as_uint(x);
}
WF_FN wf_f32 wf_as_f32(wf_u32 x)
{
    return __uint_as_float(x);
}

#if defined(__HIPCC_RTC__) || defined(__HIPCC__) || defined(__HIP__)
#define WF_FMA_NATIVE(a, b, c) __builtin_fmaf((a), (b), (c))
#define WF_SQRT_NATIVE(x) __builtin_sqrtf(x) // correctly rounded by the compile option
#else
#define WF_FMA_NATIVE(a, b, c) __fmaf_rn((a), (b), (c))
#define WF_SQRT_NATIVE(x) __fsqrt_rn(x)
#define WF_DIV_NATIVE(a, b) __fdiv_rn((a), (b))
#endif

#define WF_LOAD4(a0, a1, a2, a3, p)                                                                \
    do {                                                                                           \
        const float4 wf_v4 = *(const float4 *)(p);                                                 \
        (a0) = wf_v4.x, (a1) = wf_v4.y, (a2) = wf_v4.z, (a3) = wf_v4.w;                            \
    } while (0)
#define WF_LOAD4_LOCAL(a0, a1, a2, a3, p) WF_LOAD4(a0, a1, a2, a3, p)
#define WF_STORE4(p, a0, a1, a2, a3) (*(float4 *)(p) = make_float4((a0), (a1), (a2), (a3)))
#define WF_STORE4_LOCAL(p, a0, a1, a2, a3) WF_STORE4(p, a0, a1, a2, a3)

#define WF_ATOMIC_MIN_U32(p, v) ((void)atomicMin((unsigned int *)(p), (wf_u32)(v)))

#else // C

#include <stdint.h>

typedef float wf_f32;
typedef int8_t wf_i8;
typedef uint8_t wf_u8;
typedef int16_t wf_i16;
typedef uint16_t wf_u16;
typedef int32_t wf_i32;
typedef uint32_t wf_u32;
typedef int64_t wf_i64;
typedef uint64_t wf_u64;

// Always inlined: a call inside a loop would keep the loop scalar, and a shared copy of a helper
// could be the one that was compiled for another instruction set.
#define WF_FN static inline __attribute__((always_inline, unused))
#define WF_GLOBAL
#define WF_LOCAL_PTR
#define WF_CONSTANT static const
#define WF_RESTRICT restrict
#define WF_UNROLL

WF_FN wf_u32 wf_as_u32(wf_f32 x)
{
    wf_u32 u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

WF_FN wf_f32 wf_as_f32(wf_u32 x)
{
    wf_f32 f;
    __builtin_memcpy(&f, &x, sizeof f);
    return f;
}

#if defined(__FMA__) || defined(__aarch64__)
#define WF_FMA_NATIVE(a, b, c) __builtin_fmaf((a), (b), (c))
#elif !defined(WF_SOFT_FMA)
#define WF_SOFT_FMA // libm's fmaf would be exact too, but is a call, and slow
#endif
#define WF_SQRT_NATIVE(x) __builtin_sqrtf(x)

#define WF_LOAD4(a0, a1, a2, a3, p)                                                                \
    do {                                                                                           \
        (a0) = (p)[0];                                                                             \
        (a1) = (p)[1];                                                                             \
        (a2) = (p)[2];                                                                             \
        (a3) = (p)[3];                                                                             \
    } while (0)
#define WF_STORE4(p, a0, a1, a2, a3)                                                               \
    do {                                                                                           \
        (p)[0] = (a0);                                                                             \
        (p)[1] = (a1);                                                                             \
        (p)[2] = (a2);                                                                             \
        (p)[3] = (a3);                                                                             \
    } while (0)

#endif // of the four languages

#ifdef WF_SOFT_FMA
// fma through f64, rounded once: the product is exact in f64; the sum is rounded to odd (truncate,
// then set the last bit if anything was lost), and 53 >= 2 * 24 + 2 bits make the second rounding
// harmless, for subnormal results too. S. Boldo, G. Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", IEEE Transactions on Computers 57(4),
// 2008. The error of the sum is Knuth's TwoSum.
WF_FN wf_f32 wf_fma_soft(wf_f32 a, wf_f32 b, wf_f32 c)
{
    const double p = (double)a * (double)b;
    const double d = (double)c;
    const double s = p + d;
    const double v = s - p;
    const double t = (p - (s - v)) + (d - v);
    // 1.0 if anything was lost; false for NaN: an infinite s, whose "error" is NaN, stays what it
    // is. As a double, because SSE2 has no selection of 64-bit integers by a comparison of doubles,
    // and the loop would stay scalar.
    const double mark = t > 0.0 ? 1.0 : t < 0.0 ? 1.0 : 0.0;
#if defined(WF_DIALECT_OPENCL)
    wf_u64 bits = as_ulong(s);
    const wf_u64 low = as_ulong(t);
    const wf_u64 lost = as_ulong(mark) >> 61;
#elif defined(WF_DIALECT_CUDA)
    wf_u64 bits = (wf_u64)__double_as_longlong(s);
    const wf_u64 low = (wf_u64)__double_as_longlong(t);
    const wf_u64 lost = (wf_u64)__double_as_longlong(mark) >> 61;
#else
    wf_u64 bits, low, lost;
    __builtin_memcpy(&bits, &s, sizeof bits);
    __builtin_memcpy(&low, &t, sizeof low);
    __builtin_memcpy(&lost, &mark, sizeof lost);
    lost >>= 61;
#endif
    const wf_u64 beyond = lost & ((bits ^ low) >> 63); // s was rounded away from zero
    bits = (bits - beyond) | lost;
#if defined(WF_DIALECT_OPENCL)
    return (wf_f32)as_double(bits);
#elif defined(WF_DIALECT_CUDA)
    return (wf_f32)__longlong_as_double((wf_i64)bits);
#else
    double odd;
    __builtin_memcpy(&odd, &bits, sizeof odd);
    return (wf_f32)odd;
#endif
}
#define WF_FMA(a, b, c) wf_fma_soft((a), (b), (c))
#else
#define WF_FMA(a, b, c) WF_FMA_NATIVE(a, b, c)
#endif

#ifndef WF_DIV_NATIVE
#define WF_DIV_NATIVE(a, b) ((a) / (b))
#endif

// Correctly rounded, everywhere. The software ones are in divide.h and square_root.h, which include
// this file.
#ifdef WF_SOFT_DIV
#define WF_DIV(a, b) wf_div_soft((a), (b))
#else
#define WF_DIV(a, b) WF_DIV_NATIVE(a, b)
#endif
#ifdef WF_SOFT_SQRT
#define WF_SQRT(x) wf_sqrt_soft(x)
#else
#define WF_SQRT(x) WF_SQRT_NATIVE(x)
#endif

// The one NaN that files, digests and comparisons see.
#define WF_NAN wf_as_f32(0x7fc00000u)
#define WF_INF wf_as_f32(0x7f800000u)

// |x|, -x and "the magnitude of a with the sign of b", by bits: no arithmetic, NaN included.
WF_FN wf_f32 wf_abs(wf_f32 x)
{
    return wf_as_f32(wf_as_u32(x) & 0x7fffffffu);
}
WF_FN wf_f32 wf_neg(wf_f32 x)
{
    return wf_as_f32(wf_as_u32(x) ^ 0x80000000u);
}
WF_FN wf_f32 wf_copysign(wf_f32 a, wf_f32 b)
{
    return wf_as_f32((wf_as_u32(a) & 0x7fffffffu) | (wf_as_u32(b) & 0x80000000u));
}

// 2^n for -126 <= n <= 127.
WF_FN wf_f32 wf_pow2(wf_i32 n)
{
    return wf_as_f32((wf_u32)(n + 127) << 23);
}

// Two numbers as one value: what is meant (hi + lo, or as the function says) stands where it is
// returned.
typedef struct {
    wf_f32 hi, lo;
} wf_pair;

#endif
