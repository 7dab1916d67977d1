/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of matrices by their exponent. */
#ifndef BITCUT_ANALYSIS_SPLIT_EXPONENTS_H
#define BITCUT_ANALYSIS_SPLIT_EXPONENTS_H

#include "analysis/split/retention.h"
#include "lib/gemm/matrix.h"

enum { EXPONENT_MIN = -127, EXPONENT_MAX = 127, EXPONENTS = 255 };

/* Encodings other than zeros, infinities and NaN, sorted by their exponents.  Encodings
   with exponent e, as counted in retention.h, begin at from[e - EXPONENT_MIN]. */
struct exponents {
    uint32_t *at;
    size_t from[EXPONENTS + 1];
    size_t values, zeros, infinite, nan; /* number of elements of the matrix */
};

/* The exponents of all elements of x.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status exponents_sort(struct exponents *to, const struct matrix *x,
                                  struct fault *f);
void exponents_clear(struct exponents *x);

/* The number of values with exponent e. */
static inline size_t exponents_count(const struct exponents *x, int e)
{
    return x->from[e - EXPONENT_MIN + 1] - x->from[e - EXPONENT_MIN];
}

/* The smallest and the largest exponent.  Returns false if there is none. */
bool exponents_range(int *least, int *most, const struct exponents *x);

/* What a split retains of at most `most` values with exponent e, evenly chosen (0: all).
   r->count is their number.  Statuses as for retention_measure(). */
enum bitcut_status exponents_measure(struct retention *r, const struct exponents *x,
                                     int e, size_t most, const struct bitcut_split *split,
                                     bool flush, int threads,
                                     const struct progress *progress, struct fault *f);

#endif
