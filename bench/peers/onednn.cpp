// Times oneDNN's own f32 matrix products and convolutions, one JSON line each; an empty line behind each row.
//   onednn gemm|conv [SECONDS] [direct] [cpu-time] < rows      threads by OMP_NUM_THREADS
// A row a line, tab separated, as in shapes.json:  python3 -c 'import json, sys
//   [print(*r, sep="\t") for r in json.load(open("../shapes.json"))[sys.argv[1]]["rows"]]' conv
// Convolutions use the layouts oneDNN chooses and leave reorders out; they are timed as "direct" and, unless
// only that is asked for, as "auto", which may pick Winograd. oneDNN 2.x API.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dnnl.hpp>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>
using namespace dnnl;
static engine cpu(engine::kind::cpu, 0);
static stream queue(cpu);
static double wanted_seconds = 0.3;
static bool is_direct_only, is_cpu_time;

static memory random_memory(const memory::desc &d)
{
    memory m(d, cpu);
    float *p = static_cast<float *>(m.get_data_handle());
    unsigned r = 7;
    for (size_t i = 0; i < d.get_size() / 4; i++) {
        r = r * 1664525u + 1013904223u;
        p[i] = (int)(r >> 16) % 1000 * 1e-3f - .5f;
    }
    return m;
}

static double median_seconds(const std::function<void()> &f)
{
    const int n_windows = 7;
    auto now = [] {
        timespec t;
        clock_gettime(is_cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    };
    f();
    double start = now();
    int per = 0;
    do {
        f();
        per++;
    } while (now() - start < wanted_seconds / n_windows);
    std::vector<double> windows;
    for (int i = 0; i < n_windows; i++) {
        start = now();
        for (int k = 0; k < per; k++)
            f();
        windows.push_back((now() - start) / per);
    }
    std::sort(windows.begin(), windows.end());
    return windows[n_windows / 2];
}

static void gemm(const std::string &name, const std::vector<long> &v)
{
    const long M = v[0], K = v[1], N = v[2];
    const bool ta = v[3], tb = v[4];
    std::vector<float> a(M * K, .5f), b(K * N, .25f), c(M * N);
    const double t = median_seconds([&] {
        dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', M, N, K, 1, a.data(), ta ? M : K, b.data(),
                   tb ? K : N, 0, c.data(), N);
    });
    printf("{\"kind\":\"gemm\",\"shape\":[\"%s\",%ld,%ld,%ld,%d,%d],\"direction\":\"forward\","
           "\"ms\":%.5f,\"gflops\":%.1f}\n",
           name.c_str(), M, K, N, ta, tb, t * 1e3, 2. * M * N * K / t * 1e-9);
}

static void conv_by(algorithm a, const std::string &name, const std::vector<long> &v)
{
    const long n = v[0], c = v[1], h = v[2], k = v[3], r = v[4], s = v[5], p = v[6], g = v[7],
               q = (h + 2 * p - r) / s + 1;
    const double work = 2. * n * k * q * q * (c / g) * r * r;
    const auto f32 = memory::data_type::f32;
    const auto any = memory::format_tag::any;
    const memory::dims weights =
        g > 1 ? memory::dims{g, k / g, c / g, r, r} : memory::dims{k, c, r, r};
    const memory::dims stride{s, s}, pad{p, p};
    memory::desc x({n, c, h, h}, f32, any), w(weights, f32, any), y({n, k, q, q}, f32, any);
    convolution_forward::primitive_desc f(
        {prop_kind::forward_training, a, x, w, y, stride, pad, pad}, cpu);
    convolution_backward_data::primitive_desc d({a, x, w, y, stride, pad, pad}, cpu, f);
    convolution_backward_weights::primitive_desc b({a, x, w, y, stride, pad, pad}, cpu, f);
    auto run = [&](const char *direction, const char *how, primitive op,
                   std::unordered_map<int, memory> args) {
        const double t = median_seconds([&] {
            op.execute(queue, args);
            queue.wait();
        });
        printf("{\"kind\":\"conv\",\"shape\":[\"%s\",%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld],"
               "\"direction\":\"%s\",\"algorithm\":\"%s\",\"kernel\":\"%s\",\"ms\":%.4f,"
               "\"gflops\":%.1f}\n",
               name.c_str(), n, c, h, k, r, s, p, g, direction,
               a == algorithm::convolution_direct ? "direct" : "auto", how, t * 1e3,
               work / t * 1e-9);
    };
    run("forward", f.impl_info_str(), convolution_forward(f),
        {{DNNL_ARG_SRC, random_memory(f.src_desc())},
         {DNNL_ARG_WEIGHTS, random_memory(f.weights_desc())},
         {DNNL_ARG_DST, random_memory(f.dst_desc())}});
    run("dX", d.impl_info_str(), convolution_backward_data(d),
        {{DNNL_ARG_DIFF_DST, random_memory(d.diff_dst_desc())},
         {DNNL_ARG_WEIGHTS, random_memory(d.weights_desc())},
         {DNNL_ARG_DIFF_SRC, random_memory(d.diff_src_desc())}});
    run("dW", b.impl_info_str(), convolution_backward_weights(b),
        {{DNNL_ARG_SRC, random_memory(b.src_desc())},
         {DNNL_ARG_DIFF_DST, random_memory(b.diff_dst_desc())},
         {DNNL_ARG_DIFF_WEIGHTS, random_memory(b.diff_weights_desc())}});
}

static void conv(const std::string &name, const std::vector<long> &v)
{
    for (auto a : {algorithm::convolution_direct, algorithm::convolution_auto}) {
        if (is_direct_only && a != algorithm::convolution_direct)
            continue;
        try {
            conv_by(a, name, v);
        } catch (error &e) {
            fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
        }
    }
}

int main(int argc, char **argv)
{
    const bool is_gemm = argc > 1 && !strcmp(argv[1], "gemm");
    if (argc < 2 || (!is_gemm && strcmp(argv[1], "conv"))) {
        fprintf(stderr, "usage: onednn gemm|conv [SECONDS] [direct] [cpu-time] < rows\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        const std::string word = argv[i];
        is_direct_only |= word == "direct";
        is_cpu_time |= word == "cpu-time";
        wanted_seconds = atof(argv[i]) > 0 ? atof(argv[i]) : wanted_seconds;
    }
    const dnnl_version_t *version = dnnl_version();
    printf("{\"system\":\"oneDNN %d.%d.%d\"}\n", version->major, version->minor, version->patch);
    fflush(stdout);
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        char *field = strtok(line, "\t\n");
        if (!field || field[0] == '#')
            continue;
        const std::string name = field;
        std::vector<long> v;
        while ((field = strtok(nullptr, "\t\n")))
            v.push_back(atol(field));
        if (is_gemm && v.size() == 5)
            gemm(name, v);
        else if (!is_gemm && v.size() == 8)
            conv(name, v);
        printf("\n");
        fflush(stdout);
    }
}
