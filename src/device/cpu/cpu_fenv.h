// The floating-point mode that exact arithmetic needs: nearest even, subnormals kept, no traps.
// A host program may have changed it (-ffast-math start-up code does), so it is set in every thread.
#ifndef WF_CPU_FENV_H
#define WF_CPU_FENV_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

// All exceptions masked; rounding, FTZ and DAZ bits clear. The sticky flags are not ours to judge.
#define WF_CPU_FENV_MODE UINT32_C(0x1f80)
#define WF_CPU_FENV_MASK UINT32_C(0xffc0)

static inline uint64_t wf_cpu_fenv_get(void)
{
    return _mm_getcsr();
}
static inline void wf_cpu_fenv_restore(uint64_t mode)
{
    _mm_setcsr((uint32_t)mode);
}
static inline void wf_cpu_fenv_set(void)
{
    if ((_mm_getcsr() & WF_CPU_FENV_MASK) != WF_CPU_FENV_MODE)
        _mm_setcsr(WF_CPU_FENV_MODE);
}
static inline void wf_cpu_pause(void)
{
    _mm_pause();
}

#elif defined(__aarch64__)

// FPCR 0: nearest even, no flush to zero, no default NaN, no traps.
static inline uint64_t wf_cpu_fenv_get(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static inline void wf_cpu_fenv_restore(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
static inline void wf_cpu_fenv_set(void)
{
    if (wf_cpu_fenv_get() != 0)
        wf_cpu_fenv_restore(0);
}
static inline void wf_cpu_pause(void)
{
    __asm__ volatile("yield");
}

#else

// C11's own interface; there is no portable word for subnormals.
#include <fenv.h>
static inline uint64_t wf_cpu_fenv_get(void)
{
    return (uint64_t)fegetround();
}
static inline void wf_cpu_fenv_restore(uint64_t mode)
{
    (void)fesetround((int)mode);
}
static inline void wf_cpu_fenv_set(void)
{
    (void)fesetround(FE_TONEAREST);
}
static inline void wf_cpu_pause(void) {}

#endif
#endif
