/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/dgemm.h"

#include "lib/base/assume.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

/* Loops over a micro-tile are unrolled so that it stays in registers. */
#define UNROLL _Pragma("GCC unroll 8")

/* --- the kernels -------------------------------------------------------------------- */

#ifdef HAVE_X86
#define KERNEL(name)          name##_avx512
#define TARGET                __attribute__((target("avx512f")))
#define LANES                 8
#define ROWS                  6
#define VECTORS               2
#define MULTIPLY_ADD(x, y, z) _mm512_fmadd_pd(x, y, z)
#define PRODUCT_ERROR(x, y, p) _mm512_fmsub_pd(x, y, p)
#include "lib/exact/dgemm_kernel.inc"

#define KERNEL(name)          name##_avx2
#define TARGET                __attribute__((target("avx2,fma")))
#define LANES                 4
#define ROWS                  3
#define VECTORS               2
#define MULTIPLY_ADD(x, y, z) _mm256_fmadd_pd(x, y, z)
#define PRODUCT_ERROR(x, y, p) _mm256_fmsub_pd(x, y, p)
#include "lib/exact/dgemm_kernel.inc"

static bool has_avx512(void) { return __builtin_cpu_supports("avx512f"); }
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

typedef double pair __attribute__((vector_size(16)));

/* x rounded to its upper 26 bits; the difference has 26 bits too (Veltkamp). */
static inline pair upper_half(pair x)
{
    const pair shifted = x * 0x1.0000002p27;
    return shifted - (shifted - x);
}

/* Without a fused operation (Dekker 1971): all products of halves are exact. */
static inline pair product_error(pair x, pair y, pair p)
{
    const pair x1 = upper_half(x), y1 = upper_half(y), x2 = x - x1, y2 = y - y1;
    return x2 * y2 - (((p - x1 * y1) - x2 * y1) - x1 * y2);
}

#define KERNEL(name)          name##_generic
#define TARGET
#define LANES                 2
#define ROWS                  3
#define VECTORS               2
#define MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
#define PRODUCT_ERROR(x, y, p) product_error(x, y, p)
#include "lib/exact/dgemm_kernel.inc"

static bool always(void) { return true; }

/* clang-format off */
const struct dgemm_kernel dgemm_kernels[] = {
#ifdef HAVE_X86
    { "avx512",  "AVX-512F",       has_avx512, 6, 16,
      sum_avx512,  plain_sum_avx512,  dot2_avx512,  dot3_avx512 },
    { "avx2",    "AVX2 and FMA",   has_avx2,   3, 8,
      sum_avx2,    plain_sum_avx2,    dot2_avx2,    dot3_avx2 },
#endif
    { "generic", "vectors of two", always,     3, 4,
      sum_generic, plain_sum_generic, dot2_generic, dot3_generic },
    { 0 }
};
/* clang-format on */

const struct dgemm_kernel *dgemm_best(void)
{
    const struct dgemm_kernel *kernel = dgemm_kernels;
    while (!kernel->supported()) kernel++;
    return kernel;
}

/* --- packing ------------------------------------------------------------------------ */

/* Pack steps [from, from + depth) of rows [first, first + height), with zeros for missing
   rows. */
static void pack_a(double *to, const struct dgemm_operands *x, size_t first,
                   size_t height, size_t from, size_t depth)
{
    const size_t rows = smaller(height, x->rows - first);
    if (rows < height) memset(to, 0, 2 * height * depth * sizeof *to);
    for (size_t i = 0; i < rows; i++) {
        const uint32_t *a = x->a + (first + i) * x->lda + from;
        for (size_t k = 0; k < depth; k++) {
            const double value = value_of_float(a[k]);
            to[2 * k * height + i] = value;
            to[(2 * k + 1) * height + i] = fabs(value);
        }
    }
}

/* Pack the same steps of columns [first, first + width). */
static void pack_b(double *to, const struct dgemm_operands *x, size_t first, size_t width,
                   size_t from, size_t depth)
{
    const size_t cols = smaller(width, x->cols - first);
    if (cols < width) memset(to, 0, width * depth * sizeof *to);
    for (size_t k = 0; k < depth; k++) {
        const uint32_t *b = x->b + (from + k) * x->ldb + first;
        for (size_t j = 0; j < cols; j++) to[k * width + j] = value_of_float(b[j]);
    }
}

/* --- tiles -------------------------------------------------------------------------- */

static void sums_clear(struct dgemm_sums *sums, const struct dgemm_kernel *kernel,
                       const struct dgemm_operands *x, bool only_high)
{
    const size_t height = (size_t)kernel->rows, bytes = TILE_COLS * sizeof(double);
    const size_t padded = divide_up(x->rows, height) * height;
    memset(sums->high, 0, padded * bytes);
    if (only_high) return;
    memset(sums->low, 0, padded * bytes);
    memset(sums->size, 0, padded * bytes);
}

static void tile_run(struct dgemm *d, const struct dgemm_kernel *kernel,
                     dgemm_micro *micro, const struct dgemm_operands *x,
                     const uint8_t *wanted)
{
    assert(hostfp_entered());
    const size_t height = (size_t)kernel->rows, width = (size_t)kernel->cols;
    sums_clear(&d->sums, kernel, x, micro == kernel->sum);
    for (size_t from = 0; from < x->k; from += TILE_DEPTH) {
        const size_t depth = smaller(TILE_DEPTH, x->k - from);
        for (size_t i = 0; i < x->rows; i += height)
            pack_a(d->a + 2 * i * depth, x, i, height, from, depth);
        for (size_t j = 0; j < x->cols; j += width)
            pack_b(d->b + j * depth, x, j, width, from, depth);
        for (size_t j = 0; j < x->cols; j += width)
            for (size_t i = 0; i < x->rows; i += height)
                micro(&d->sums, i * TILE_COLS + j, wanted, depth, d->a + 2 * i * depth,
                      d->b + j * depth);
    }
}

void dgemm_plain_sum(struct dgemm *d, const struct dgemm_kernel *kernel,
                     const struct dgemm_operands *x)
{
    tile_run(d, kernel, kernel->plain_sum, x, NULL);
}

void dgemm_sum(struct dgemm *d, const struct dgemm_kernel *kernel,
               const struct dgemm_operands *x)
{
    tile_run(d, kernel, kernel->sum, x, NULL);
}

void dgemm_dot2(struct dgemm *d, const struct dgemm_kernel *kernel,
                const struct dgemm_operands *x, const uint8_t *wanted)
{
    tile_run(d, kernel, kernel->dot2, x, wanted);
}

/* --- binary64 operands -------------------------------------------------------------- */

/* 2^shift as two factors, whose products with a number are exact if the last one is. */
struct factors {
    double first, second;
};

static struct factors factors_of(int shift)
{
    const int half = shift / 2;
    return (struct factors){ double_of_bits((uint64_t)(half + 1023) << 52),
                             double_of_bits((uint64_t)(shift - half + 1023) << 52) };
}

/* As pack_a() and pack_b(), times 2^shift, without magnitudes. */
static void pack_a64(double *to, const struct dgemm_operands64 *x, size_t first,
                     size_t height, size_t from, size_t depth)
{
    const size_t rows = smaller(height, x->rows - first);
    if (rows < height) memset(to, 0, height * depth * sizeof *to);
    for (size_t i = 0; i < rows; i++) {
        const double *a = x->a + (first + i) * x->lda + from;
        const struct factors f = factors_of(x->row_shift[first + i]);
        for (size_t k = 0; k < depth; k++) to[k * height + i] = a[k] * f.first * f.second;
    }
}

static void pack_b64(double *to, const struct dgemm_operands64 *x, size_t first,
                     size_t width, size_t from, size_t depth)
{
    const size_t cols = smaller(width, x->cols - first);
    struct factors f[DGEMM_COLS_MAX];
    if (cols < width) memset(to, 0, width * depth * sizeof *to);
    for (size_t j = 0; j < cols; j++) f[j] = factors_of(x->col_shift[first + j]);
    for (size_t k = 0; k < depth; k++) {
        const double *b = x->b + (from + k) * x->ldb + first;
        for (size_t j = 0; j < cols; j++)
            to[k * width + j] = b[j] * f[j].first * f[j].second;
    }
}

void dgemm_dot3(struct dgemm64 *d, const struct dgemm_kernel *kernel,
                const struct dgemm_operands64 *x)
{
    assert(hostfp_entered());
    const size_t height = (size_t)kernel->rows, width = (size_t)kernel->cols;
    const size_t bytes = divide_up(x->rows, height) * height * TILE_COLS * sizeof(double);
    double *const sums[] = { d->sums.high, d->sums.middle, d->sums.low, d->sums.size,
                             d->sums.magnitude };
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) memset(sums[i], 0, bytes);
    for (size_t from = 0; from < x->k; from += TILE_DEPTH) {
        const size_t depth = smaller(TILE_DEPTH, x->k - from);
        for (size_t i = 0; i < x->rows; i += height)
            pack_a64(d->a + i * depth, x, i, height, from, depth);
        for (size_t j = 0; j < x->cols; j += width)
            pack_b64(d->b + j * depth, x, j, width, from, depth);
        for (size_t j = 0; j < x->cols; j += width)
            for (size_t i = 0; i < x->rows; i += height)
                kernel->dot3(&d->sums, i * TILE_COLS + j, depth, d->a + i * depth,
                             d->b + j * depth);
    }
}
