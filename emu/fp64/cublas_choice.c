/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fp64/cublas_choice.h"

#include "lib/base/size.h"
#include "lib/base/status.h"
#include "lib/base/threads.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* --- slices of k ------------------------------------------------------------------ */

size_t cublas_slices(size_t m, size_t n, size_t k)
{
    enum { TILE = 128, BLOCK = 128, FILL = 32, WHOLE_MAX = 1023, LONGEST = 8191 };
    const size_t tiles = divide_up(m, TILE) * divide_up(n, TILE);
    if (larger(larger(m, n), k) <= WHOLE_MAX || !tiles || !k) return 1;
    const size_t wanted = smaller(divide_up(FILL, tiles), divide_up(k, BLOCK));
    return larger(larger(wanted, (k - 1) / LONGEST), 1);
}

/* --- dynamic control -------------------------------------------------------------- */

enum { SPAN_BLOCK = 64, ZERO = -4195, ZEROS = -8191, SUFFICIENT = 54 };

/* The exponents of a line in a block. */
struct range {
    int16_t largest, least;
};

static struct range range_of(const double *x, size_t count)
{
    int largest = ZEROS, least = INT16_MAX;
    for (size_t p = 0; p < count; p++) {
        const int e = x[p] == 0 ? ZERO : ilogb(x[p]);
        if (e != ZERO) largest = larger_int(largest, e);
        least = smaller_int(least, e);
    }
    if (largest == ZEROS) least = ZEROS;
    return (struct range){ (int16_t)largest, (int16_t)least };
}

/* The ranges of all blocks of each line; NULL: no memory. */
static struct range *ranges_of(const double *x, size_t lines, size_t k, int threads)
{
    const size_t blocks = divide_up(k, SPAN_BLOCK);
    size_t count;
    struct range *const to =
        size_multiply(&count, lines, blocks) ? memory_allocate(count, sizeof *to) : NULL;
    if (!to) return NULL;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, lines))
    for (size_t line = 0; line < lines; line++)
        for (size_t i = 0; i < blocks; i++)
            to[line * blocks + i] = range_of(x + line * k + i * SPAN_BLOCK,
                                             smaller(SPAN_BLOCK, k - i * SPAN_BLOCK));
    return to;
}

static int largest_of(const struct range *line, size_t blocks)
{
    int largest = 2 * ZEROS;
    for (size_t i = 0; i < blocks; i++) largest = larger_int(largest, line[i].largest);
    return largest;
}

/* An exponent that one of the products of two lines has at least. */
static int exponent_of_products(const struct range *a, const struct range *b,
                                size_t blocks)
{
    int exponent = 2 * ZEROS;
    for (size_t i = 0; i < blocks; i++)
        exponent = larger_int(
            exponent, larger_int(a[i].largest + b[i].least, a[i].least + b[i].largest));
    return exponent;
}

static int largest_span(const struct range *a, size_t m, const struct range *b, size_t n,
                        size_t blocks, int threads)
{
    int span = 0;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, m))           \
    reduction(max                                                                        \
              : span)
    for (size_t i = 0; i < m; i++) {
        const struct range *const row = a + i * blocks;
        const int largest = largest_of(row, blocks);
        for (size_t j = 0; j < n; j++) {
            const struct range *const col = b + j * blocks;
            span = larger_int(span, largest + largest_of(col, blocks) -
                                        exponent_of_products(row, col, blocks));
        }
    }
    return span;
}

bool cublas_bits(int *bits, const double *a, size_t m, const double *b, size_t n,
                 size_t k, int threads)
{
    const size_t blocks = divide_up(k, SPAN_BLOCK);
    if (!m || !n || !k) {
        *bits = SUFFICIENT;
        return true;
    }
    struct range *const of_a = ranges_of(a, m, k, threads), *const of_b = ranges_of(
                                                                b, n, k, threads);
    const bool made = of_a && of_b;
    if (made) *bits = SUFFICIENT + largest_span(of_a, m, of_b, n, blocks, threads);
    free(of_a);
    free(of_b);
    return made;
}
