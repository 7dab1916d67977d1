/* SPDX-License-Identifier: BSD-3-Clause */
/* Records what libraries of FP64 GEMMs on INT8 units compute (tests/emu/fp64_cases.h).

       nvcc -O2 -std=c++20 -arch=sm_90 -I. -DOZIMMU='"ozimmu"' -o ozimmu fp64.cu ...
   -lcublas nvcc -O2 -std=c++20 -arch=sm_90 -I. -DGEMMUL8 -o gemmul8 fp64.cu ... -lcublas
       nvcc -O2 -std=c++20 -arch=sm_90 -I. -o cublas fp64.cu -lcublas
       ozimmu record [VALUES]       a line for each case; VALUES gets all elements of D
       gemmul8 record [VALUES]
       gemmul8 errors               how far D is from exact products
       cublas record [VALUES]       cuBLAS with fixed-point emulation

   `...` are the objects and the headers of the library.  OZIMMU is the scheme that the
   objects have: ozIMMU itself, or ozIMMU with the files of accelerator_for_ozIMMU.

   `errors` prints the kind of data, the scheme, the number of moduli, k, and the largest
   |D - AB| / |A||B| of 64 x 64 outputs. */
#include "tests/emu/fp64_cases.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#ifdef OZIMMU
#include <ozimmu/ozimmu.hpp>
#elif defined GEMMUL8
#include <gemmul8.hpp>
#endif

#define MUST(call)                                                                       \
    do {                                                                                 \
        const int must_status = (int)(call);                                             \
        if (must_status) {                                                               \
            fprintf(stderr, "fp64: line %d: status %d\n", __LINE__, must_status);        \
            exit(3);                                                                     \
        }                                                                                \
    } while (0)

/* --- calls ------------------------------------------------------------------------ */

/* Operands on the GPU, column-major, as the layout stores them. */
struct device {
    double *a, *b, *c;
    cublasHandle_t handle;
};

#ifdef OZIMMU

static const char *const schemes[] = { OZIMMU };
enum { SCHEMES = 1, LEAST = 3, MOST = 18 };

static int multiply(const struct device *x, const struct fp64_case *w, double alpha,
                    double beta)
{
    using namespace mtk::ozimmu;
    static handle_t handle = nullptr;
    if (!handle) MUST(create(&handle));
    const bool ta = w->layout[0] == 'T', tb = w->layout[1] == 'T';
    return gemm(handle, ta ? op_t : op_n, tb ? op_t : op_n, w->m, w->n, w->k, &alpha,
                x->a, ta ? w->k : w->m, x->b, tb ? w->n : w->k, &beta, x->c, w->m,
                (compute_mode_t)(fp64_int8_3 + w->parts - 3), real);
}

#elif defined GEMMUL8

static const char *const schemes[] = { "gemmul8", "gemmul8-fast" };
enum { SCHEMES = 2, LEAST = 2, MOST = 20 };

static int multiply(const struct device *x, const struct fp64_case *w, double alpha,
                    double beta)
{
    static void *work;
    static size_t size;
    const size_t needed = gemmul8::workSize(w->m, w->n, w->k, (unsigned)w->parts);
    if (needed > size) {
        cudaFree(work);
        MUST(cudaMalloc(&work, size = needed));
    }
    const bool ta = w->layout[0] == 'T', tb = w->layout[1] == 'T';
    gemmul8::gemm<double>(
        x->handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, w->m,
        w->n, w->k, &alpha, x->a, ta ? w->k : w->m, x->b, tb ? w->n : w->k, &beta, x->c,
        w->m, (unsigned)w->parts, strlen(w->scheme) > strlen("gemmul8"), work);
    return 0;
}

#else

static const char *const schemes[] = { "cublas-fixed" };
enum { SCHEMES = 1, LEAST = 2, MOST = 12 };

static int multiply(const struct device *x, const struct fp64_case *w, double alpha,
                    double beta)
{
    static int *retained;
    int bits = 0;
    const bool ta = w->layout[0] == 'T', tb = w->layout[1] == 'T';
    if (!retained) MUST(cudaMalloc(&retained, sizeof *retained));
    MUST(cudaMemset(retained, 0, sizeof *retained));
    MUST(cublasSetMathMode(x->handle, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH));
    MUST(cublasSetEmulationStrategy(x->handle, CUBLAS_EMULATION_STRATEGY_EAGER));
    MUST(cublasSetFixedPointEmulationMantissaControl(
        x->handle, CUDA_EMULATION_MANTISSA_CONTROL_FIXED));
    MUST(cublasSetFixedPointEmulationMaxMantissaBitCount(x->handle, 8 * w->parts - 1));
    MUST(cublasSetFixedPointEmulationMantissaBitCountPointer(x->handle, retained));
    MUST(cublasDgemm(x->handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                     tb ? CUBLAS_OP_T : CUBLAS_OP_N, (int)w->m, (int)w->n, (int)w->k,
                     &alpha, x->a, (int)(ta ? w->k : w->m), x->b, (int)(tb ? w->n : w->k),
                     &beta, x->c, (int)w->m));
    MUST(cudaMemcpy(&bits, retained, sizeof bits, cudaMemcpyDeviceToHost));
    if (bits != 8 * w->parts - 1)
        fprintf(stderr, "fp64: %s with %d bits: %d retained\n", fp64_kinds[w->kind],
                8 * w->parts - 1, bits);
    return 0;
}

#endif

/* --- one case --------------------------------------------------------------------- */

/* Lines of k elements, stored one after another (`whole`) or interleaved. */
static void copy_lines(double *to, const double *lines, size_t count, size_t k,
                       bool whole)
{
    std::vector<double> stored(count * k);
    for (size_t line = 0; line < count; line++)
        for (size_t p = 0; p < k; p++)
            stored[whole ? line * k + p : p * count + line] = lines[line * k + p];
    MUST(cudaMemcpy(to, stored.data(), count * k * sizeof *to, cudaMemcpyHostToDevice));
}

/* D of the library, row by row.  If beta is 0, C is 0. */
static std::vector<double> result(const struct device *x, const struct fp64_case *w,
                                  const double *a, const double *b, const double *c)
{
    const double beta = fp64_of(w->beta);
    std::vector<double> by_columns(w->m * w->n), d(w->m * w->n);
    copy_lines(x->a, a, w->m, w->k, w->layout[0] == 'T');
    copy_lines(x->b, b, w->n, w->k, w->layout[1] == 'N');
    for (size_t i = 0; i < w->m; i++)
        for (size_t j = 0; j < w->n; j++)
            by_columns[j * w->m + i] = beta == 0 ? 0 : c[i * w->n + j];
    MUST(cudaMemcpy(x->c, by_columns.data(), d.size() * sizeof *c,
                    cudaMemcpyHostToDevice));
    MUST(multiply(x, w, fp64_of(w->alpha), beta));
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(by_columns.data(), x->c, d.size() * sizeof *c,
                    cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < w->m; i++)
        for (size_t j = 0; j < w->n; j++) d[i * w->n + j] = by_columns[j * w->m + i];
    return d;
}

static void record(const struct device *x, const struct fp64_case *w, FILE *values)
{
    std::vector<double> a(w->m * w->k), b(w->n * w->k), c(w->m * w->n);
    fp64_operands(a.data(), b.data(), c.data(), w);
    const std::vector<double> d = result(x, w, a.data(), b.data(), c.data());
    printf("%s %d %s %zu %zu %zu %s %llu %016llx %016llx %016llx", w->scheme, w->parts,
           w->layout, w->m, w->n, w->k, fp64_kinds[w->kind], (unsigned long long)w->seed,
           (unsigned long long)w->alpha, (unsigned long long)w->beta,
           (unsigned long long)fp64_digest(d.data(), d.size()));
    for (size_t i = 0; i < 4 && i < d.size(); i++)
        printf(" %016llx", (unsigned long long)fp64_bits(d[i]));
    printf("\n");
    if (values) fwrite(d.data(), sizeof d[0], d.size(), values);
}

/* --- the cases -------------------------------------------------------------------- */

static const char layouts[][3] = { "NN", "TN", "NT", "TT" };

static struct fp64_case of(const char *scheme, int parts, int kind, size_t m, size_t n,
                           size_t k, uint64_t seed)
{
    struct fp64_case w = {};
    snprintf(w.scheme, sizeof w.scheme, "%s", scheme);
    snprintf(w.layout, sizeof w.layout, "%s", layouts[seed % 4]);
    w.parts = parts, w.kind = kind, w.m = m, w.n = n, w.k = k, w.seed = seed;
    w.alpha = fp64_bits(1);
    return w;
}

/* Ordinary data, sizes and factors, for every number of parts. */
static void record_ordinary(const struct device *x, const char *scheme, FILE *values)
{
    static const size_t sizes[] = { 1, 2, 3, 5, 8, 16, 17, 31, 32, 33, 48, 64 },
                        ks[] = { 1,   2,   3,   4,   7,   16,  31,  64,
                                 100, 255, 256, 257, 300, 512, 777, 1000 };
    static const double factors[][2] = { { 1, 0 },     { 1, 1 },   { -1, 0 },
                                         { -1, 1 },    { 0.5, 0 }, { 1, 0.3 },
                                         { 0.7, 1.1 }, { 3, -1 },  { -1, -0.6 } };
    static const int kinds[] = { FP64_uniform, FP64_positive, FP64_wide,   FP64_powers,
                                 FP64_small,   FP64_large,    FP64_gram,   FP64_graded,
                                 FP64_ties,    FP64_tenth,    FP64_million };
    const int turns = SCHEMES == 1 ? 80 : 95;
    uint64_t state = 1;
    for (int i = 0; i < turns; i++) {
        const size_t m = sizes[fp64_next(&state) % 12], n = sizes[fp64_next(&state) % 12];
        struct fp64_case w = of(scheme, LEAST + i % (MOST - LEAST + 1), kinds[i % 11], m,
                                n, ks[fp64_next(&state) % 16], (uint64_t)i + 1);
        w.alpha = fp64_bits(factors[i / 2 % 9][0]);
        w.beta = fp64_bits(factors[i / 2 % 9][1]);
        record(x, &w, values);
    }
}

static void record_special(const struct device *x, const char *scheme, FILE *values)
{
    static const int kinds[] = { FP64_zeros,    FP64_subnormal, FP64_subnormals,
                                 FP64_infinity, FP64_nan,       FP64_top,
                                 FP64_high,     FP64_low,       FP64_wider },
                     parts[] = { 4, 7, 8, 13, 15, 16, 18 };
    uint64_t seed = 1000;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const struct fp64_case w =
                of(scheme, parts[p], kinds[i], 5, 6, p % 2 ? 33 : 300, seed++);
            record(x, &w, values);
        }
    struct fp64_case w = of(scheme, 8, FP64_zeros, 4, 4, 3, seed++);
    w.alpha = fp64_bits(-0.5);
    record(x, &w, values);
}

/* Lengths at which slices become narrower, and the longest of GEMMul8. */
static void record_long(const struct device *x, const char *scheme, FILE *values)
{
    static const size_t ks[] = { 5000,          1 << 16, (1 << 16) + 1, 1 << 17,
                                 (1 << 17) + 1, 1 << 18, (1 << 18) + 1, (1 << 19) + 1 };
    const size_t count = SCHEMES == 1 ? 8 : 4;
    for (size_t i = 0; i < count; i++) {
        const struct fp64_case w =
            of(scheme, i % 2 ? 9 : 14, i % 3 ? FP64_positive : FP64_wide, 3, 2, ks[i],
               2000 + (uint64_t)i);
        record(x, &w, values);
    }
}

static void record_all(const struct device *x, FILE *values)
{
    for (int i = 0; i < SCHEMES; i++) {
        record_ordinary(x, schemes[i], values);
        record_special(x, schemes[i], values);
        record_long(x, schemes[i], values);
    }
    for (int i = 0; i < 2 && SCHEMES > 1; i++) { /* layout of A: T, N */
        struct fp64_case w = of("gemmul8-fast", 14, FP64_norm, 2, 3, 300, 64);
        w.layout[0] = i ? 'N' : 'T';
        record(x, &w, values);
    }
}

/* --- errors ----------------------------------------------------------------------- */

/* The largest error of D.  Elements are integers times 2^exponent, |integers| < 2^53. */
static double worst(const struct fp64_case *w, const double *a, const double *b,
                    const double *d, int exponent)
{
    double largest = 0;
    for (size_t i = 0; i < w->m; i++)
        for (size_t j = 0; j < w->n; j++) {
            __int128 sum = 0, sizes = 0;
            for (size_t p = 0; p < w->k; p++) {
                const __int128 product = (__int128)ldexp(a[i * w->k + p], -exponent) *
                                         (__int128)ldexp(b[j * w->k + p], -exponent);
                sum += product;
                sizes += product < 0 ? -product : product;
            }
            const long double got = ldexpl((long double)d[i * w->n + j], -2 * exponent);
            const double error =
                (double)(fabsl(got - (long double)sum) / (long double)sizes);
            largest = error > largest || error != error ? error : largest;
        }
    return largest;
}

static void print_errors(const struct device *x)
{
    static const struct {
        int kind, exponent;
    } data[] = { { FP64_tenth, -53 },   { FP64_positive, -53 }, { FP64_million, -33 },
                 { FP64_uniform, -52 }, { FP64_gram, -52 },     { FP64_small, -72 },
                 { FP64_large, -32 } };
    static const size_t ks[] = { 64, 1024 };
    for (size_t t = 0; t < sizeof data / sizeof *data; t++)
        for (size_t k : ks)
            for (int parts = 13; parts <= 20; parts++)
                for (const char *scheme : schemes) {
                    const struct fp64_case w =
                        of(scheme, parts, data[t].kind, 64, 64, k, 3001);
                    std::vector<double> a(w.m * k), b(w.n * k), c(w.m * w.n);
                    fp64_operands(a.data(), b.data(), c.data(), &w);
                    const std::vector<double> d =
                        result(x, &w, a.data(), b.data(), c.data());
                    printf("%s %s %d %zu %.2g\n", fp64_kinds[w.kind], scheme, parts, k,
                           worst(&w, a.data(), b.data(), d.data(), data[t].exponent));
                }
}

int main(int count, char **argument)
{
    enum { MOST_LINES = 64, LONGEST = (1 << 19) + 1 };
    if (count < 2) return 2;
    struct device x;
    MUST(cudaMalloc(&x.a, MOST_LINES * LONGEST * sizeof *x.a / 8));
    MUST(cudaMalloc(&x.b, MOST_LINES * LONGEST * sizeof *x.b / 8));
    MUST(cudaMalloc(&x.c, MOST_LINES * MOST_LINES * sizeof *x.c));
    MUST(cublasCreate(&x.handle));
    if (!strcmp(argument[1], "errors")) {
        print_errors(&x);
        return 0;
    }
    FILE *const values = count > 2 ? fopen(argument[2], "wb") : NULL;
    record_all(&x, values);
    return values ? fclose(values) : 0;
}
