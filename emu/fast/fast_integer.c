/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fast/fast_integer.h"

#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"

#include <string.h>

static bool wraps(const struct bitcut_unit *u)
{
    return u->rounding.overflow == OVERFLOW_WRAP;
}

bool fast_integer_sums(const struct bitcut_unit *u)
{
    return format_is_integer(u->c) && wraps(u) && u->summation == &sum_fused;
}

bool fast_integer_takes(const struct job *job)
{
    const struct bitcut_unit *const u = job->unit;
    return job->plan->integer && !job->watch && !job->plan->faults &&
           (u->summation == &sum_fused || u->summation == &sum_saturated) &&
           (wraps(u) || (job->parts.count == 1 && !job->plan->start &&
                         u->summation == &sum_fused && u->block == u->k));
}

int16_t *fast_integer_lines(const struct parts *w)
{
    const size_t length = divide_up(w->length, FAST_INTEGER_RUN) * FAST_INTEGER_RUN;
    const struct bitcut_format *const f = w->format[0];
    const int16_t *const words = w->at[0];
    const uint8_t *const bytes = w->at[0];
    size_t count;
    int16_t *const to =
        size_multiply(&count, w->lines, length) ? memory_allocate(count, sizeof *to) : NULL;
    for (size_t line = 0; to && line < w->lines; line++)
        for (size_t k = 0; k < length; k++) {
            const size_t at = parts_index(w, line, k);
            to[line * length + k] = (int16_t)(k >= w->length  ? 0
                                              : f->bits == 16 ? words[at]
                                              : f->has_sign   ? (int8_t)bytes[at]
                                                              : bytes[at]);
        }
    return to;
}

/* The sum of the products of two lines modulo 2^32. */
static uint32_t sum_modulo(const int16_t *restrict a, const int16_t *restrict b,
                           size_t length)
{
    uint32_t sum = 0;
    for (size_t k = 0; k < length; k += FAST_INTEGER_RUN) {
        uint32_t run = 0;
        for (int p = 0; p < FAST_INTEGER_RUN; p++)
            run += (uint32_t)((int32_t)a[k + p] * b[k + p]);
        sum += run;
    }
    return sum;
}

/* The same with pairs of products that are limited to 16 bits. */
static uint32_t sum_of_pairs(const int16_t *restrict a, const int16_t *restrict b,
                             size_t length)
{
    uint32_t sum = 0;
    for (size_t k = 0; k < length; k += 2) {
        int32_t x = (int32_t)a[k] * b[k] + (int32_t)a[k + 1] * b[k + 1];
        x = x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x;
        sum += (uint32_t)x;
    }
    return sum;
}

/* The sum limited to the range of s32 after every `step` products. */
static uint32_t sum_limited(const int16_t *a, const int16_t *b, size_t length, size_t step)
{
    int64_t sum = 0;
    for (size_t k = 0; k < length; k += step) {
        for (size_t p = 0; p < step; p++) sum += (int32_t)a[k + p] * b[k + p];
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    }
    return (uint32_t)(int32_t)sum;
}

void fast_integer_row(const struct job *job, size_t i, size_t j, size_t cols)
{
    const struct bitcut_unit *const u = job->unit;
    const size_t length = divide_up(job->a.length, FAST_INTEGER_RUN) * FAST_INTEGER_RUN;
    const int16_t *const a = job->integers_a + i * length;
    for (size_t p = 0; p < cols; p++) {
        const int16_t *const b = job->integers_b + (j + p) * length;
        uint32_t sum = u->summation == &sum_saturated ? sum_of_pairs(a, b, length)
                       : wraps(u)                     ? sum_modulo(a, b, length)
                                  : sum_limited(a, b, length, (size_t)u->block);
        sum += job_start(job, i, j + p);
        const float total = float_of_bits(sum);
        job_finish(job, i, j + p, &total, 1);
    }
}

/* --- products of matrices --------------------------------------------------------- */

/* The sum of the products of two lines, modulo 2^32. */
static double sum_of_lines(const int16_t *a, const int16_t *b, size_t k)
{
    uint32_t sum = 0;
    for (size_t p = 0; p < k; p++) sum += (uint32_t)((int32_t)a[p] * b[p]);
    return (double)(int32_t)sum;
}

/* A block of rows and columns; a smaller one at the edges. */
static void products_of_block(double *to, size_t ldd, const struct fast_kernels *kernels,
                              const int16_t *a, size_t rows, const int16_t *b,
                              size_t cols, size_t k)
{
    uint32_t sum[FAST_INTEGER_ROWS][FAST_INTEGER_COLUMNS];
    const bool whole =
        rows == FAST_INTEGER_ROWS && cols == FAST_INTEGER_COLUMNS && kernels;
    if (whole) kernels->integer_sums(sum, a, b, k);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[i * ldd + j] = whole ? (double)(int32_t)sum[i][j]
                                    : sum_of_lines(a + i * k, b + j * k, k);
}

/* Columns of B that stay in the cache while rows of A pass. */
enum { CACHED_COLUMNS = 32 };

void fast_integer_products(double *to, const struct fast_kernels *kernels,
                           const int16_t *a, size_t m, const int16_t *b, size_t n,
                           size_t k, int threads, const struct progress *progress)
{
#pragma omp parallel for schedule(dynamic)                                               \
    num_threads(threads_for(threads, divide_up(n, CACHED_COLUMNS)))
    for (size_t first = 0; first < n; first += CACHED_COLUMNS) {
        const size_t end = smaller(first + CACHED_COLUMNS, n);
        for (size_t i = 0; i < m && !progress_stopped(progress); i += FAST_INTEGER_ROWS)
            for (size_t j = first; j < end; j += FAST_INTEGER_COLUMNS)
                products_of_block(to + i * n + j, n, kernels, a + i * k,
                                  smaller(FAST_INTEGER_ROWS, m - i), b + j * k,
                                  smaller(FAST_INTEGER_COLUMNS, end - j), k);
    }
}
