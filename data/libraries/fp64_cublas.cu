/* SPDX-License-Identifier: BSD-3-Clause */
/* Records which computation cuBLAS chooses for an FP64 GEMM with fixed-point emulation.

       nvcc -O2 -std=c++20 -arch=sm_90 -I. -o fp64_cublas fp64_cublas.cu -lcublas
       fp64_cublas bits      dynamic control: the bits that it retains, for several data
       fp64_cublas slices    the slices of k, for several sizes
       fp64_cublas long      D of cases with fixed control and long k, as fp64.cu does

   A line of `bits` has a case of tests/emu/fp64_cases.h and what cuBLAS computed:

       reported max offset native layout m n k kind seed alpha beta edits digest elements

   `reported` is what cublasSetFixedPointEmulationMantissaBitCountPointer() gets (-77: it
   is not written), `max` and `offset` are the limit of the bits (0: cuBLAS's own) and the
   offset, and `native` is 1 if D is that of cublasDgemm() without emulation.

   A line of `slices` has

       bits layout m n k reported native S slices

   `bits` is 8 N - 1 for fixed control with N parts, 0 for dynamic control.  S is the
   number of slices of k whose lengths explain all slices that were found, 0 if there is
   none; then the slices follow, first k and length.  A row of A has 1 and -1 at two
   adjacent k, and elsewhere numbers so small that a slice of k with the 1 drops them; B
   has ones, and k itself.  So D counts the k of the other slices. */
#include "tests/emu/fp64_cases.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#define MUST(call)                                                                       \
    do {                                                                                 \
        const int must_status = (int)(call);                                             \
        if (must_status) {                                                               \
            fprintf(stderr, "fp64_cublas: line %d: status %d\n", __LINE__, must_status); \
            exit(3);                                                                     \
        }                                                                                \
    } while (0)

enum { UNWRITTEN = -77 };

static const char layouts[][3] = { "NN", "TN", "NT", "TT" };
static cublasHandle_t handle;
static int *retained, failure; /* failure: the status of a call that cuBLAS refused */

/* How cuBLAS is called.  bits: 0 for dynamic control. */
struct mode {
    int bits, max, offset;
    cublasEmulationStrategy_t strategy;
};

static void set_mode(const struct mode *x)
{
    const bool fixed = x->bits > 0;
    const int unwritten = UNWRITTEN;
    MUST(cudaMemcpy(retained, &unwritten, sizeof unwritten, cudaMemcpyHostToDevice));
    MUST(cublasSetMathMode(handle, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH));
    MUST(cublasSetEmulationStrategy(handle, x->strategy));
    MUST(cublasSetFixedPointEmulationMantissaControl(
        handle, fixed ? CUDA_EMULATION_MANTISSA_CONTROL_FIXED
                      : CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC));
    failure =
        cublasSetFixedPointEmulationMaxMantissaBitCount(handle, fixed ? x->bits : x->max);
    failure += 100 * cublasSetFixedPointEmulationMantissaBitOffset(handle,
                                                                   fixed ? 0 : x->offset);
    MUST(cublasSetFixedPointEmulationMantissaBitCountPointer(handle, retained));
}

static int reported(void)
{
    int bits = 0;
    MUST(cudaMemcpy(&bits, retained, sizeof bits, cudaMemcpyDeviceToHost));
    return bits;
}

/* D = alpha A B + beta C, column-major. */
static int multiply(double *d, const double *a, const double *b, const char *layout,
                    size_t m, size_t n, size_t k, double alpha, double beta)
{
    const bool ta = layout[0] == 'T', tb = layout[1] == 'T';
    return cublasDgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                       tb ? CUBLAS_OP_T : CUBLAS_OP_N, (int)m, (int)n, (int)k, &alpha, a,
                       (int)(ta ? k : m), b, (int)(tb ? n : k), &beta, d, (int)m);
}

/* --- data from seeds -------------------------------------------------------------- */

struct device {
    double *a, *b, *c;
    size_t room; /* elements of each */
};

static void copy_lines(double *to, const double *lines, size_t count, size_t k,
                       bool whole)
{
    std::vector<double> stored(count * k);
    for (size_t line = 0; line < count; line++)
        for (size_t p = 0; p < k; p++)
            stored[whole ? line * k + p : p * count + line] = lines[line * k + p];
    MUST(cudaMemcpy(to, stored.data(), count * k * sizeof *to, cudaMemcpyHostToDevice));
}

struct problem {
    std::vector<double> a, b, c;
};

/* D, row by row, of the operands that are on the device. */
static std::vector<double> result(const struct device *x, const struct fp64_case *w,
                                  const struct problem *p)
{
    const double beta = fp64_of(w->beta);
    std::vector<double> by_columns(w->m * w->n), d(w->m * w->n);
    for (size_t i = 0; i < w->m; i++)
        for (size_t j = 0; j < w->n; j++)
            by_columns[j * w->m + i] = beta == 0 ? 0 : p->c[i * w->n + j];
    MUST(cudaMemcpy(x->c, by_columns.data(), d.size() * sizeof d[0],
                    cudaMemcpyHostToDevice));
    failure += 10000 * multiply(x->c, x->a, x->b, w->layout, w->m, w->n, w->k,
                                fp64_of(w->alpha), beta);
    MUST(cudaMemcpy(by_columns.data(), x->c, d.size() * sizeof d[0],
                    cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < w->m; i++)
        for (size_t j = 0; j < w->n; j++) d[i * w->n + j] = by_columns[j * w->m + i];
    return d;
}

static struct problem prepare(const struct device *x, const struct fp64_case *w)
{
    struct problem p = { std::vector<double>(w->m * w->k),
                         std::vector<double>(w->n * w->k),
                         std::vector<double>(w->m * w->n) };
    fp64_operands(p.a.data(), p.b.data(), p.c.data(), w);
    copy_lines(x->a, p.a.data(), w->m, w->k, w->layout[0] == 'T');
    copy_lines(x->b, p.b.data(), w->n, w->k, w->layout[1] == 'N');
    return p;
}

static void print_elements(const std::vector<double> &d)
{
    static int lines;
    if (++lines % 50 == 0) fflush(stdout);
    printf("%016llx", (unsigned long long)fp64_digest(d.data(), d.size()));
    for (size_t i = 0; i < 4 && i < d.size(); i++)
        printf(" %016llx", (unsigned long long)fp64_bits(d[i]));
    printf("\n");
}

static struct fp64_case of(int kind, size_t m, size_t n, size_t k, uint64_t seed,
                           const char *edits)
{
    struct fp64_case w = {};
    snprintf(w.layout, sizeof w.layout, "%s", layouts[seed % 4]);
    snprintf(w.edits, sizeof w.edits, "%s", edits);
    w.kind = kind, w.m = m, w.n = n, w.k = k, w.seed = seed, w.alpha = fp64_bits(1);
    return w;
}

static void record_bits(const struct device *x, const struct fp64_case *w, int max,
                        const std::vector<int> &offsets,
                        cublasEmulationStrategy_t strategy)
{
    const struct problem p = prepare(x, w);
    MUST(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    const std::vector<double> native = result(x, w, &p);
    for (int offset : offsets) {
        const struct mode mode = { 0, max, offset, strategy };
        set_mode(&mode);
        const std::vector<double> d = result(x, w, &p);
        if (failure) printf("failure=%d ", failure);
        printf("%d %d %d %d %s %zu %zu %zu %s %llu %016llx %016llx %s ", reported(), max,
               offset, !memcmp(d.data(), native.data(), d.size() * sizeof d[0]),
               w->layout, w->m, w->n, w->k, fp64_kinds[w->kind],
               (unsigned long long)w->seed, (unsigned long long)w->alpha,
               (unsigned long long)w->beta, w->edits[0] ? w->edits : "-");
        print_elements(d);
    }
}

/* --- bits ------------------------------------------------------------------------- */

#define EAGER CUBLAS_EMULATION_STRATEGY_EAGER

static void record_edited(const struct device *x)
{
    static const char *const edits[] = {
        "", "A0:0-0^10", "A0:0-0^10,B0:1-1^10", "A0:0-0^10,B0:0-0^10",
        "A0:0-15^9,B0:0-15^9", "A0:0-31^9,B0:0-31^9", "A0:0-63^9,B0:0-63^9",
        "A0:32-63^9,B0:32-63^9", "A0:64-127^9,B0:64-127^9", "A0:64-95^9,B0:64-95^9",
        "A0:0-127^9,B0:0-127^9", "A0:128-191^9,B0:128-191^9", "A0:192-255^9,B0:192-255^9",
        "A1:192-199^9,B2:192-199^9", "A0:5-5^-7", "A0:5-5^-7,B0:70-70^-6",
        "A0:5-5^-7,B0:6-6^-6", "A*:5-5^-7,B*:6-6^-6", "A*:0-999^30,B*:0-999^-17",
        "A*:0-999^-30,B*:0-999^31",
        /* zeros */
        "A0:5-5z", "B0:5-5z", "A0:5-5z,B0:5-5z", "A0:5-5z,B0:70-70z", "A0:0-63z",
        "A0:0-63z,B0:0-63z", "A0:0-63z,B0:64-127z", "A0:0-999z", "B0:0-999z", "A*:0-999z",
        "A*:0-999z,B*:0-999z", "A0:0-999z,B0:0-999z",
        "A0:5-5z,B0:6-6z,A0:70-70z,B0:71-71z",
        "A0:5-5z,B0:6-6z,A0:70-70z,B0:71-71z,A0:135-135z,B0:136-136z,A0:199-199z,B0:198-"
        "198z",
        "A*:1-999z,B*:0-998z", "A*:1-999z,B*:1-999z", "A*:0-63z,B*:64-999z",
        "A*:0-62z,B*:64-999z", "A*:64-999z,B*:64-999z",
        "A0:3-3z,A0:9-9^20,B0:4-4z,B0:9-9^20", "A0:3-3z,A0:70-70^5,B0:4-4z,B0:70-70^8",
        "A*:3-3z,B*:4-4z",
        /* subnormal and extreme numbers */
        "A0:5-5^-1030", "A*:0-999^-1030", "A*:0-999^-1060,B*:0-999^1000",
        "A0:0-999^-1070", "A*:0-999^-1022", "A*:0-999^-1023", "A0:5-5^-1022,B0:6-6^-1022",
        "A0:5-5^-1023,B0:6-6^-1023", "A0:5-5^-1060,B0:6-6^-1030",
        "A0:5-5^-1074,B0:6-6^-1074", "A*:0-999^1023", "A*:0-999^1023,B*:0-999^-1022",
        "A*:0-999^600,B*:0-999^600", "A*:0-999^-600,B*:0-999^-600",
        "A*:0-999^-1030,B*:0-999^-1030", "A0:5-5^1023", "A*:0-999^1022,B*:0-999^1",
        "A*:0-999^-1074", "A*:0-63^-1060,A*:64-999^-1030", "A0:5-5^1000,B0:6-6^1000",
        "A0:5-5^-1000,B0:6-6^-1000", "A0:5-5^1000,B0:5-5^-1000",
        "A0:0-63^900,B0:0-63^-900,A0:64-127^-900,B0:64-127^900",
        "A0:0-63^500,B0:0-63^-500,A0:64-127^-500,B0:64-127^500",
        /* fractions */
        "A*:0-999f,B*:0-999f", "A*:0-999p,B*:0-999p", "A*:0-999f", "B*:0-999p",
        "A0:5-5^10,A0:5-5f,B0:6-6^10,B0:6-6f", "A0:5-5^10,A0:5-5p,B0:6-6^10,B0:6-6p",
        "A0:5-5^10,A0:5-5f", "A0:5-5^-10,A0:5-5f,B0:6-6^-10", "A*:0-999^-1030,A*:0-999f",
        /* results at the ends of the range */
        "A*:0-999^960,B*:0-999^-1060", "A*:0-999^-1060,B*:0-999^960",
        "A*:0-999^990,B*:0-999^-1074", "A*:0-999^-536,B*:0-999^-536",
        "A*:0-999^-530,B*:0-999^-532", "A*:0-999^-1050,B*:0-999^8",
        "A*:0-999^8,B*:0-999^-1050", "A*:0-999^510,B*:0-999^511",
        "A*:0-999^512,B*:0-999^511"
    };
    uint64_t seed = 1;
    for (const char *e : edits)
        for (int turn = 0; turn < 2; turn++, seed++) {
            const size_t k = turn ? 70 : 200;
            const struct fp64_case w =
                of(FP64_binade, turn ? 4 : 3, turn ? 3 : 4, k, seed, e);
            record_bits(x, &w, 0, { 0 }, EAGER);
        }
}

static void record_sizes(const struct device *x)
{
    static const size_t ks[] = { 1,  2,   3,   4,   8,   16,  31,  32,   33,   63,  64,
                                 65, 127, 128, 129, 191, 192, 193, 1000, 1025, 3000 };
    uint64_t seed = 1000;
    for (size_t k : ks)
        for (int turn = 0; turn < 3; turn++, seed++) {
            const struct fp64_case w =
                of(turn == 2 ? FP64_uniform : FP64_binade, 1 + turn, 2, k, seed,
                   turn == 1 ? "A0:0-0^6,B0:1-1^6" : "");
            record_bits(x, &w, 0, { 0 }, EAGER);
        }
    for (int kind = 0; kind < FP64_norm; kind++)
        for (size_t k : { 33, 150 }) {
            const struct fp64_case w = of(kind, 5, 6, k, seed++, "");
            record_bits(x, &w, 0, { 0 }, EAGER);
        }
    for (size_t m : { 1, 2, 17, 64, 129, 300 })
        for (size_t n : { 1, 3, 65, 128, 300 }) {
            char edits[96];
            snprintf(edits, sizeof edits, "A%zu:3-3^11,B%zu:90-90^11", m - 1, n - 1);
            const struct fp64_case w = of(FP64_binade, m, n, 100, seed++, edits);
            record_bits(x, &w, 0, { 0 }, EAGER);
        }
}

/* Zeros and subnormal numbers in one block, or two. */
static void record_ends(const struct device *x)
{
    static const char *const edits[] = {
        "A*:3-3z,B*:4-4z",
        "A*:3-3z,B*:3-3z",
        "A*:0-999^30,B*:0-999^20,A*:3-3z,B*:4-4z",
        "A*:0-999^-30,B*:0-999^-20,A*:3-3z,B*:4-4z",
        "A*:3-3z,B*:4-4^-1040",
        "A*:3-3^-1040,B*:4-4z",
        "A*:3-3^-1040,B*:4-4^-1050",
        "A*:3-3^-1022,B*:4-4^-1022",
        "A*:3-3^-1023,B*:4-4^-1023",
        "A*:3-3^-1024,B*:4-4^-1024",
        "A*:3-3^-1074,B*:4-4^-1074",
        "A*:3-3^-1073,B*:4-4^-1073",
        "A*:3-3^-1060,A*:3-3p,B*:4-4^-1060,B*:4-4f",
        "A*:0-999^-1030,A*:3-3^-1060,B*:4-4^-40",
        "A*:0-999^-1030,A*:3-3z,B*:4-4^-40",
        "A*:0-999^-1030,A*:3-3z,B*:4-4z",
        "A*:0-999^-1060,A*:3-3z,B*:0-999^-1050,B*:4-4z",
        "A*:0-999^-1074,A*:3-3z,B*:4-4z",
        "A*:3-3^-1074,B*:4-4^-3",
        "A*:3-3^-3,B*:4-4^-1074",
        "A*:3-3z,B*:4-4^-3",
        "A*:3-3^-3,B*:4-4z",
        "A*:0-999^1023,B*:0-999^1023,A*:3-3z,B*:4-4z",
        "A*:0-999^40,A*:0-19z,B*:0-999^-7,B*:20-39z",
        "A*:0-19z,B*:20-39z,A0:3-3^9,B0:25-25^8",
        "A*:1-999z,B*:0-0z",
        "A*:1-999z,A*:0-0^50,B*:0-0z,B*:1-999^20",
        "A*:1-999z,B*:1-999z",
        "A*:0-63z,B*:64-999z",
        "A*:0-63z,B*:64-999z,A*:64-999^30,B*:0-63^20",
        "A*:0-63z,B*:64-999z,A*:64-999^-30,B*:0-63^-20",
        "A*:0-63z,B*:64-999z,A*:70-70z",
        "A*:0-63z,B*:64-999z,A*:64-999^600,B*:0-63^700",
        "A*:0-63^-1074,B*:64-999^-1074",
        "A*:0-63z,B*:64-999^-1074",
        "A*:0-63^-1022,B*:64-999^-1022",
        "A*:0-63^-900,B*:64-999^-900",
        "A*:0-63z,B*:64-999^-900",
        "A*:0-63z,B*:64-999^-100,B*:70-70z",
        "A*:0-62z,B*:64-999z,B*:3-3z",
        "A*:0-999z,B*:0-63^40,B*:3-3z",
        "A0:0-999z,B0:0-63^40,B0:3-3z,A1:5-5^9,B1:4-4^9",
        "A*:0-999^1023,A*:3-3^-1074,B*:0-999^1023,B*:4-4^-1074",
        "A*:0-999^1023,A*:3-3^-1022,B*:0-999^1023,B*:4-4^-1022"
    };
    uint64_t seed = 3000;
    for (const char *e : edits)
        for (size_t k : { 40, 64, 100 }) {
            const struct fp64_case w = of(FP64_binade, 2, 3, k, seed++, e);
            record_bits(x, &w, 0, { 0 }, EAGER);
            if (k == 100) record_bits(x, &w, 0, { -4190, -8150 }, EAGER);
        }
    for (double alpha : { 0x1p-300, 0x1p300, 0.3 })
        for (const char *e :
             { "A*:0-999^600,B*:0-999^600", "A*:0-999^-545,B*:0-999^-545",
               "A*:0-999^-1040", "A*:0-9p,A*:0-9^600,B*:0-9p,B*:0-9^600" })
            for (double beta : { 0., 0.7 }) {
                struct fp64_case w =
                    of(FP64_binade, 4, 4, strchr(e, 'p') ? 2 : 30, seed++, e);
                w.alpha = fp64_bits(alpha), w.beta = fp64_bits(beta);
                record_bits(x, &w, 0, { 0 }, EAGER);
            }
}

/* Limits and offsets: spans of 1 to 30 binades. */
static void record_limits(const struct device *x)
{
    static const int maxima[] = { 0,  1,  7,  8,  39, 46, 47, 48,  54,  55,  56,
                                  62, 63, 64, 71, 78, 79, 80, 103, 127, 199, 1000 };
    uint64_t seed = 2000;
    char edits[96];
    for (int max : maxima)
        for (int span : { 0, 1, 2, 9, 10, 17, 18, 25, 26 }) {
            snprintf(edits, sizeof edits, "A0:3-3^%d,B0:40-40^%d", span, span);
            const struct fp64_case w = of(FP64_binade, 3, 3, 48, seed++, edits);
            record_bits(x, &w, max, { 0 }, EAGER);
        }
    for (int span : { 0, 5, 30 }) {
        snprintf(edits, sizeof edits, "A0:3-3^%d,B0:40-40^%d", span, span);
        const struct fp64_case w = of(FP64_binade, 3, 3, 48, seed++, edits);
        record_bits(x, &w, 0, { -200, -100, -64, -63, -56, -55, -54, -53, -52, -48,
                                -47,  -46,  -40, -39, -31, -16, -8,  -7,  -1,  1,
                                2,    8,    9,   16,  17,  24,  25,  26,  40,  100 },
                    EAGER);
    }
    for (auto strategy :
         { CUBLAS_EMULATION_STRATEGY_DEFAULT, CUBLAS_EMULATION_STRATEGY_PERFORMANT })
        for (size_t n : { 3, 300 }) {
            const struct fp64_case w = of(FP64_binade, n, n, n, seed++, "");
            record_bits(x, &w, 0, { 0 }, strategy);
        }
    for (double beta : { 0., 1., 1e200, -0.3 })
        for (double alpha : { 1., 0., 1e-200, 0.7 }) {
            struct fp64_case w = of(FP64_uniform, 5, 4, 90, seed++, "");
            w.alpha = fp64_bits(alpha), w.beta = fp64_bits(beta);
            record_bits(x, &w, 0, { 0 }, EAGER);
        }
}

static void record_spans(const struct device *x)
{
    static const size_t ks[] = { 5,   64,  65,  100, 128,  130, 200,
                                 256, 300, 320, 777, 1100, 2500 };
    uint64_t state = 7;
    for (uint64_t seed = 5000; seed < 5600; seed++) {
        const size_t m = 1 + fp64_next(&state) % (seed % 9 ? 12 : 150),
                     n = 1 + fp64_next(&state) % (seed % 7 ? 12 : 150),
                     k = ks[fp64_next(&state) % (seed % 5 ? 10 : 13)];
        const struct fp64_case w = of(FP64_spans, m, n, k, seed, "");
        record_bits(x, &w, seed % 3 ? 0 : 143,
                    { seed % 4 ? 0 : (int)(seed / 4 % 25) - 12 }, EAGER);
    }
}

/* --- long k ----------------------------------------------------------------------- */

static void record_long(const struct device *x)
{
    static const struct {
        size_t m, n, k;
    } sizes[] = {
        { 3, 2, 262144 },   { 3, 2, 262145 },   { 3, 2, 300000 },   { 3, 2, 393216 },
        { 3, 2, 524288 },   { 3, 2, 524289 },   { 3, 2, 700001 },   { 3, 2, 1048576 },
        { 1, 1, 262144 },   { 1, 1, 270336 },   { 2, 3, 266240 },   { 2, 3, 327680 },
        { 3, 2, 250000 },   { 3, 2, 262143 },   { 3, 2, 262016 },   { 20, 30, 270000 },
        { 3, 2, 1009 },     { 3, 2, 1023 },     { 3, 2, 1024 },     { 3, 2, 1025 },
        { 33, 17, 2000 },   { 130, 5, 3000 },   { 5, 130, 3000 },   { 130, 130, 2100 },
        { 256, 192, 2048 }, { 192, 256, 3000 }, { 300, 20, 5000 },  { 20, 300, 5000 },
        { 1024, 16, 4096 }, { 16, 1024, 4096 }, { 257, 257, 1500 }, { 513, 3, 4000 },
        { 3, 513, 4000 },   { 1025, 3, 4500 },  { 3, 2049, 4500 },  { 130, 3, 140000 }
    };
    uint64_t seed = 9000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int turn = 0; turn < 3; turn++, seed++) {
            const int parts = turn == 0 ? 7 : 2 + (int)(i % 9);
            struct fp64_case w = of(turn == 1 ? FP64_wide : FP64_uniform, sizes[i].m,
                                    sizes[i].n, sizes[i].k, seed, "");
            if (w.m * w.n * w.k > 100000000 && turn) continue;
            if (turn == 2) w.alpha = fp64_bits(0.7), w.beta = fp64_bits(-1.1);
            const struct problem p = prepare(x, &w);
            const struct mode mode = { 8 * parts - 1, 0, 0, EAGER };
            set_mode(&mode);
            const std::vector<double> d = result(x, &w, &p);
            printf("cublas-fixed %d %s %zu %zu %zu %s %llu %016llx %016llx ", parts,
                   w.layout, w.m, w.n, w.k, fp64_kinds[w.kind],
                   (unsigned long long)w.seed, (unsigned long long)w.alpha,
                   (unsigned long long)w.beta);
            print_elements(d);
        }
}

/* --- slices of k ------------------------------------------------------------------ */

enum { PROBES = 64 };

/* Where probe i of `count` has its pair: from 0 to the last even k - 2. */
static __host__ __device__ size_t place_of(size_t i, size_t count, size_t k)
{
    const size_t last = (k - 2) / 2 * 2;
    return i + 1 == count ? last : i * (last / 2) / (count - 1) * 2;
}

__global__ void fill_a(double *a, size_t m, size_t k, bool whole, size_t first,
                       size_t count, double tiny)
{
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < m * k;
         at += (size_t)gridDim.x * blockDim.x) {
        const size_t line = whole ? at / k : at % m, p = whole ? at % k : at / m,
                     place = place_of((first + line) % count, count, k);
        a[at] = p == place ? 1 : p == place + 1 ? -1 : tiny;
    }
}

/* Column j has ones, or 2^21 + k for even k and odd j, and the same for k + 1. */
__global__ void fill_b(double *b, size_t n, size_t k, bool whole)
{
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < n * k;
         at += (size_t)gridDim.x * blockDim.x) {
        const size_t line = whole ? at / k : at % n, p = whole ? at % k : at / n;
        b[at] = line % 2 ? (double)(((size_t)1 << 21) + (p & ~(size_t)1)) : 1;
    }
}

typedef std::set<std::pair<long long, long long>>
    found; /* first k (-1: unknown), length */

/* Slice i of S slices: blocks of 128, divided evenly; the last ones have one more. */
static std::pair<long long, long long> slice_of(size_t k, size_t slices, size_t i)
{
    const size_t blocks = (k + 127) / 128, used = std::min(slices, blocks),
                 each = blocks / used, longer = blocks % used, shorter = used - longer,
                 from = i * each + (i > shorter ? i - shorter : 0),
                 to = from + each + (i >= shorter);
    return { (long long)(from * 128), (long long)(std::min(to * 128, k) - from * 128) };
}

static bool explains(const found &all, size_t k, size_t slices)
{
    std::set<std::pair<long long, long long>> whole;
    std::set<long long> lengths;
    for (size_t i = 0; i < std::min(slices, (k + 127) / 128); i++) {
        whole.insert(slice_of(k, slices, i));
        lengths.insert(slice_of(k, slices, i).second);
    }
    for (auto &x : all)
        if (x.first < 0 ? !lengths.count(x.second) : !whole.count(x)) return false;
    return true;
}

/* The slices that the rows of D show. */
static void read_slices(found *to, const double *d, size_t m, size_t n, size_t k,
                        size_t rows, double tiny)
{
    const double pairs = (double)(k / 2), all = (double)k,
                 weights = all * (1 << 21) + (pairs * (pairs - 1) / 2) * 4 +
                           (k % 2 ? (double)(k - 1) : 0);
    for (size_t i = 0; i < rows; i++) {
        const double length = all - d[i] / tiny;
        double first = -1;
        if (n > 1 && length > 0) {
            /* The sum of even k of the slice, k - 1 for odd ones. */
            const double sum = weights - d[m + i] / tiny - length * (1 << 21),
                         odd = floor(length / 2);
            first = (sum + odd - length * (length - 1) / 2) / length;
        }
        to->insert({ first == floor(first) ? (long long)first : -2, (long long)length });
    }
}

static void record_slices(const struct device *x, const struct mode *mode,
                          const char *layout, size_t m, size_t n, size_t k, double beta)
{
    int status;
    const size_t count = m >= PROBES ? PROBES : std::max<size_t>(m, 16),
                 parts = mode->bits ? mode->bits / 8 + 1 : (size_t)12;
    const double tiny = ldexp(1, -(int)(8 * parts + 10));
    found all;
    bool native = false;
    if (m * k > x->room || n * k > x->room || m * n > x->room) return;
    fill_b<<<2048, 256>>>(x->b, n, k, layout[1] == 'N');
    for (size_t first = 0; first < count; first += m) {
        const size_t rows = std::min(m, count - first);
        std::vector<double> d(2 * m);
        fill_a<<<2048, 256>>>(x->a, m, k, layout[0] == 'T', first, count, tiny);
        MUST(cudaMemset(x->c, 0, m * n * sizeof *x->c));
        set_mode(mode);
        status = multiply(x->c, x->a, x->b, layout, m, n, k, 1, beta);
        if (status) {
            printf("%d %s %zu %zu %zu status %d\n", mode->bits, layout, m, n, k,
                   (int)status);
            return;
        }
        MUST(cudaMemcpy(d.data(), x->c, m * std::min<size_t>(n, 2) * sizeof d[0],
                        cudaMemcpyDeviceToHost));
        read_slices(&all, d.data(), m, parts > 3 ? n : 1, k, rows, tiny);
    }
    native = all.size() == 1 && all.begin()->second == 2 && k > 2;
    size_t slices = 1;
    const size_t most = (k + 127) / 128;
    while (slices <= std::min<size_t>(most, 4096) && !explains(all, k, slices)) slices++;
    if (slices > std::min<size_t>(most, 4096)) slices = 0;
    static int lines;
    if (++lines % 50 == 0) fflush(stdout);
    printf("%d %s %zu %zu %zu %d %d %zu", mode->bits, layout, m, n, k, reported(), native,
           slices);
    if (!slices) {
        size_t printed = 0;
        for (auto &s : all)
            if (printed++ < 40) printf(" %lld+%lld", s.first, s.second);
    }
    printf("\n");
}

static double seconds(void)
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static void record_all_slices(const struct device *x, double limit)
{
    static const size_t lengths[] = { 1,   16,   64,   127,  128,  129,  192,
                                      255, 256,  257,  300,  384,  512,  640,
                                      768, 1024, 1152, 1536, 2048, 3072, 4096 },
                        ks[] = { 1024, 2048, 4096, 8192, 16384, 65536 };
    static const int parts[] = { 4, 7, 2, 10, 5, 3, 8, 12, 1, 4, 7, 4 };
    const double start = seconds();
    uint64_t state = 3;
    struct mode mode = { 31, 0, 0, EAGER };
    /* Along k. */
    for (size_t k :
         { 128,    256,    512,     640,     768,    896,    960,    992,    999,
           1000,   1001,   1008,    1016,    1022,   1023,   1024,   1025,   1026,
           1040,   1151,   1152,    1153,    1280,   1500,   1536,   2000,   2047,
           2049,   3000,   3968,    4095,    4097,   4224,   4225,   4352,   5000,
           6000,   7000,   8191,    8193,    10000,  12345,  20000,  30000,  32767,
           32769,  40000,  50000,   65535,   65537,  100000, 131071, 131072, 131073,
           200000, 250000, 261888,  262015,  262016, 262017, 262143, 262144, 262145,
           262272, 262273, 270336,  300000,  393216, 400000, 524287, 524288, 524289,
           600000, 786432, 1000000, 1048576, 1048577 })
        for (size_t m : { 16, 200, 1 })
            record_slices(x, &mode, "NN", m, m == 200 ? 150 : 16, k, 0);
    fflush(stdout);
    /* For all numbers of parts, layouts, and dynamic control. */
    for (size_t m : { 16, 256, 640, 1500 })
        for (size_t k : { 1024, 3000, 20000, 270000 }) {
            for (int n = 1; n <= 16; n++) {
                mode.bits = 8 * n - 1;
                record_slices(x, &mode, "NN", m, m == 256 ? 192 : 64, k, 0);
            }
            for (int max : { 0, 15, 31, 47, 55, 56, 79, 80, 127 }) {
                const struct mode dynamic = { 0, max, 0, EAGER };
                printf("max=%d ", max);
                record_slices(x, &dynamic, "NN", m, m == 256 ? 192 : 64, k, 0);
            }
            mode.bits = 31;
            for (auto &layout : layouts)
                record_slices(x, &mode, layout, m, m == 256 ? 192 : 64, k, 1);
        }
    fflush(stdout);
    /* All pairs of m and n; large sizes once. */
    for (int turn = 0; turn < 2; turn++)
        for (size_t m : lengths)
            for (size_t n : lengths)
                for (size_t k : ks) {
                    if (seconds() - start > limit) return;
                    if (((double)m * n * k > 4e9) != (turn == 1) ||
                        (double)m * n * k > 2e11)
                        continue;
                    mode.bits = 8 * parts[fp64_next(&state) % 12] - 1;
                    if (turn) mode.bits = 31;
                    record_slices(x, &mode, layouts[fp64_next(&state) % 4], m, n, k, 0);
                }
    /* Random sizes. */
    for (int i = 0; i < 600 && seconds() - start < limit; i++) {
        const size_t m = 1 + fp64_next(&state) % (i % 2 ? 700 : 3000),
                     n = 1 + fp64_next(&state) % (i % 3 ? 500 : 3000),
                     k = 900 + fp64_next(&state) % (i % 5 ? 9000 : 80000);
        mode.bits = 31;
        record_slices(x, &mode, layouts[i % 4], m, n, k, 0);
    }
}

/* Sizes near the limits of the rule. */
static void record_limits_of_slices(const struct device *x)
{
    const struct mode mode = { 31, 0, 0, EAGER };
    static const size_t lengths[] = { 16,   300,  1000, 1008, 1016, 1022,
                                      1023, 1024, 1025, 1100, 2048, 4000 };
    uint64_t state = 11;
    for (size_t m : lengths)
        for (size_t n : { 2, 16, 128, 300, 1023, 1024, 2000 })
            for (size_t k : { 100, 127, 128, 129, 200, 255, 256, 257,  300,  384,
                              385, 500, 513, 640, 641, 768, 900, 1000, 1023, 1024 })
                record_slices(x, &mode, layouts[fp64_next(&state) % 4], m, n, k, 0);
    for (size_t base : { 24576, 32768, 262144 })
        for (size_t less : { 0,  1,  2,  3,  4,  7,  8,  9,  15,  16,  17,  31,  32, 33,
                             47, 48, 49, 63, 64, 65, 96, 97, 100, 127, 128, 129, 200 }) {
            record_slices(x, &mode, "NN", 600, 600, base - less, 0);
            record_slices(x, &mode, "TN", 16, 1500, base - less, 0);
        }
    for (size_t k : { 2000000, 2097152, 4000000, 8388608 })
        for (size_t m : { 16, 2, 30 }) record_slices(x, &mode, "TN", m, 4, k, 0);
    for (size_t m : { 5000, 10000, 20000, 65536, 200000 })
        for (size_t n : { 2, 16, 200, 1000 })
            for (size_t k : { 256, 1024, 2000, 9000, 20000 }) {
                record_slices(x, &mode, "NN", m, n, k, 0);
                record_slices(x, &mode, "TN", n, m, k, 0);
            }
    for (int i = 0; i < 900; i++) {
        const size_t m = 1 + fp64_next(&state) % (i % 2 ? 1500 : 5000),
                     n = 2 + fp64_next(&state) % (i % 3 ? 1500 : 4000),
                     k = 64 + fp64_next(&state) % (i % 4 ? 4000 : 100000);
        struct mode own = mode;
        if (i % 4 == 3) own.bits = 0;
        record_slices(x, &own, layouts[i % 4], m, n, k, 0);
    }
}

/* --- order of the slices ---------------------------------------------------------- */

/* Whether slice y comes between slices x and z: the sum of 2^60, 1 and -2^60 in slices x,
   y and z is 1 if y does not, and 0 if it does, for each of the triples. */
static std::string between(const struct device *x, size_t n, size_t k, size_t slices,
                           const std::vector<std::array<size_t, 3>> &triples)
{
    const size_t m = triples.size();
    std::vector<double> a(m * k, 0), d(m * n);
    for (size_t i = 0; i < m; i++)
        for (int t = 0; t < 3; t++)
            a[i * k + slice_of(k, slices, triples[i][t]).first + 5] = t == 1   ? 1
                                                                      : t == 0 ? 0x1p60
                                                                               : -0x1p60;
    MUST(cudaMemcpy(x->a, a.data(), a.size() * sizeof a[0], cudaMemcpyHostToDevice));
    fill_b<<<2048, 256>>>(x->b, n, k, true);
    const struct mode mode = { 55, 0, 0, EAGER };
    set_mode(&mode);
    MUST(multiply(x->c, x->a, x->b, "TN", m, n, k, 1, 0));
    MUST(cudaMemcpy(d.data(), x->c, d.size() * sizeof d[0], cudaMemcpyDeviceToHost));
    std::string to;
    for (size_t i = 0; i < m; i++) to += d[i] == 0 ? 'y' : d[i] == 1 ? '.' : '?';
    return to;
}

static void record_orders(const struct device *x)
{
    /* D of several calls with the same data. */
    for (size_t k : { 4096, 20000, 65536, 100000, 131072, 140000, 160000, 180000, 200000,
                      220000, 240000, 250000, 262144, 300000, 400000, 524288, 1000000 })
        for (size_t m : { 2, 100, 300 }) {
            const struct fp64_case w = of(FP64_uniform, m, m == 300 ? 200 : m, k, 77, "");
            if (m * k > 30000000) continue;
            const struct problem p = prepare(x, &w);
            std::vector<uint64_t> seen;
            std::string calls;
            for (int call = 0; call < 8; call++) {
                const struct mode mode = { 55, 0, 0, EAGER };
                set_mode(&mode);
                const std::vector<double> d = result(x, &w, &p);
                const uint64_t digest = fp64_digest(d.data(), d.size());
                size_t i = 0;
                while (i < seen.size() && seen[i] != digest) i++;
                if (i == seen.size()) seen.push_back(digest);
                calls += (char)('a' + i);
            }
            printf("calls %zu %zu %zu: %s", w.m, w.n, w.k, calls.c_str());
            for (uint64_t digest : seen) printf(" %016llx", (unsigned long long)digest);
            printf("\n");
        }
    /* Triples of slices: adjacent ones, and random ones. */
    for (size_t k : { 4096, 65536, 131072, 180000, 250000, 262144, 400000 })
        for (int turn = 0; turn < 3; turn++) {
            const size_t slices = std::max<size_t>(32, k / 8192);
            std::vector<std::array<size_t, 3>> triples;
            uint64_t state = 5;
            for (size_t i = 0; i + 2 < std::min<size_t>(slices, 64); i++)
                triples.push_back({ i, i + 1, i + 2 });
            while (triples.size() < 126) {
                const size_t a = fp64_next(&state) % slices,
                             b = fp64_next(&state) % slices,
                             c = fp64_next(&state) % slices;
                if (a != b && b != c && a != c) triples.push_back({ a, b, c });
            }
            printf("between %zu %zu: %s\n", slices, k,
                   between(x, 2, k, slices, triples).c_str());
        }
}

/* Which sizes the default strategy emulates. */
static void record_strategies(const struct device *x)
{
    for (size_t n : { 64, 256, 1024, 2048, 4096, 8192 })
        for (int bits : { 0, 31, 55 })
            for (auto strategy : { CUBLAS_EMULATION_STRATEGY_DEFAULT,
                                   CUBLAS_EMULATION_STRATEGY_PERFORMANT }) {
                const struct mode mode = { bits, 0, 0, strategy };
                printf("strategy=%d ", (int)strategy);
                record_slices(x, &mode, "NN", n, n, n, 0);
            }
}

int main(int count, char **argument)
{
    if (count < 2) return 2;
    int version = 0;
    struct device x = {};
    x.room = (size_t)1 << 28;
    MUST(cudaMalloc(&x.a, x.room * sizeof *x.a));
    MUST(cudaMalloc(&x.b, x.room * sizeof *x.b));
    MUST(cudaMalloc(&x.c, x.room * sizeof *x.c));
    MUST(cudaMalloc(&retained, sizeof *retained));
    MUST(cublasCreate(&handle));
    MUST(cublasGetVersion(handle, &version));
    const std::string what = argument[1];
    const double start = seconds();
    if (what == "bits") {
        record_edited(&x);
        record_sizes(&x);
        record_ends(&x);
        record_limits(&x);
        record_spans(&x);
    } else if (what == "long") record_long(&x);
    else if (what == "orders") record_orders(&x);
    else if (what == "slices") {
        record_limits_of_slices(&x);
        record_all_slices(&x, count > 2 ? atof(argument[2]) : 1e9);
        record_strategies(&x);
    } else return 2;
    fprintf(stderr, "%s: cuBLAS %d, %.1f s\n", argument[1], version, seconds() - start);
    return 0;
}
