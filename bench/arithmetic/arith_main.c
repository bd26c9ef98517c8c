// The experiment's program: checks every kernel, then measures it.
//   arith check | bench [ISA]    for every instruction set of the machine, or the one named
#include <stdio.h>
#include <string.h>

#include "arith_bench.h"
#include "arith_check.h"

static int find_kernels(const arith_kernels **list)
{
    int n = 0;
    list[n++] = &arith_kernels_scalar;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        list[n++] = &arith_kernels_avx2;
    }
    if (__builtin_cpu_supports("avx512f")) {
        list[n++] = &arith_kernels_avx512;
    } else {
        printf("avx512: skipped, the processor has none\n");
    }
#endif
    return n;
}

int main(int argc, char **argv)
{
    const arith_kernels *list[3];
    int n = find_kernels(list);
    int failures = 0;
    if (argc < 2 || argc > 3 || (strcmp(argv[1], "check") != 0 && strcmp(argv[1], "bench") != 0)) {
        fprintf(stderr, "usage: arith check | bench [scalar | avx2 | avx512]\n");
        return 2;
    }
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (argc == 2 || strcmp(argv[2], list[i]->name) == 0) {
            list[kept++] = list[i];
        }
    }
    n = kept;
    for (int i = 0; i < n; i++) {
        int wrong = arith_check(list[i]);
        printf("check %-7s %s\n", list[i]->name,
               wrong == 0 ? "equal to the definition, within float64 bounds" : "WRONG");
        failures += wrong;
        fflush(stdout);
    }
    if (strcmp(argv[1], "bench") == 0 && failures == 0) {
        arith_bench(list, n);
    }
    return failures == 0 ? 0 : 1;
}
