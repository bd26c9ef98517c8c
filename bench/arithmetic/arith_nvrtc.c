// Compiles the experiment's kernels with NVRTC, opened at run time, to PTX.
//   arith_nvrtc KERNELS.cl INCLUDE_DIR compute_80 OUT.ptx [OPTION]
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *nvrtc_program;

typedef struct {
    int (*create)(nvrtc_program *, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(nvrtc_program, int, const char *const *);
    int (*ptx_size)(nvrtc_program, size_t *);
    int (*ptx)(nvrtc_program, char *);
    int (*log_size)(nvrtc_program, size_t *);
    int (*log)(nvrtc_program, char *);
} nvrtc;

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "nvrtc: %s is missing\n", name);
        exit(3);
    }
    return symbol;
}

static void *open_library(void)
{
    static const char *const names[] = {"libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so",
                                        "libnvrtc.so.13", "libnvrtc.so.12"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        if (library != NULL) {
            return library;
        }
    }
    fprintf(stderr, "nvrtc: skipped, no libnvrtc.so\n");
    exit(3);
}

int main(int argc, char **argv)
{
    static char source[1 << 17];
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: arith_nvrtc KERNELS.cl INCLUDE_DIR ARCH OUT.ptx [OPTION]\n");
        return 2;
    }
    FILE *f = fopen(argv[1], "rb");
    if (f == NULL || fread(source, 1, sizeof source - 1, f) == 0) {
        fprintf(stderr, "%s: not readable\n", argv[1]);
        return 1;
    }
    fclose(f);
    void *library = open_library();
    nvrtc n;
    *(void **)&n.create = find(library, "nvrtcCreateProgram");
    *(void **)&n.compile = find(library, "nvrtcCompileProgram");
    *(void **)&n.ptx_size = find(library, "nvrtcGetPTXSize");
    *(void **)&n.ptx = find(library, "nvrtcGetPTX");
    *(void **)&n.log_size = find(library, "nvrtcGetProgramLogSize");
    *(void **)&n.log = find(library, "nvrtcGetProgramLog");
    char arch[64], include[512];
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", argv[3]);
    snprintf(include, sizeof include, "-I%s", argv[2]);
    const char *options[] = {arch,
                             include,
                             "--fmad=false",
                             "--prec-div=true",
                             "--prec-sqrt=true",
                             "--ftz=false",
                             argc == 6 ? argv[5] : ""};
    nvrtc_program program;
    size_t size = 0;
    n.create(&program, source, "arith_gpu.cl", 0, NULL, NULL);
    if (n.compile(program, argc == 6 ? 7 : 6, options) != 0) {
        n.log_size(program, &size);
        char *log = calloc(1, size + 1);
        n.log(program, log);
        fprintf(stderr, "%s\n", log);
        return 1;
    }
    n.ptx_size(program, &size);
    char *ptx = calloc(1, size + 1);
    n.ptx(program, ptx);
    f = fopen(argv[4], "wb");
    if (f == NULL || fwrite(ptx, 1, strlen(ptx), f) != strlen(ptx) || fclose(f) != 0) {
        fprintf(stderr, "%s: not writable\n", argv[4]);
        return 1;
    }
    free(ptx);
    return 0;
}
