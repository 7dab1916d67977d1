/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons with everything that metrics read, computed by MPFR. */
#ifndef BITCUT_TESTS_ACCURACY_SAMPLE_COMPARISON_H
#define BITCUT_TESTS_ACCURACY_SAMPLE_COMPARISON_H

#include "analysis/accuracy/metric.h"

#include <mpfr.h>

enum { SIDE = 8, INNER = 20 };

/* A comparison and the arrays that it points to. */
struct sample {
    struct comparison x;
    uint32_t a[SIDE * INNER], b[INNER * SIDE], c[SIDE * SIDE], d[SIDE * SIDE];
    uint32_t exact32[SIDE * SIDE];
    uint64_t exact64[SIDE * SIDE];
    double magnitude[SIDE * SIDE], row_norm[SIDE], col_norm[SIDE], limit[SIDE * SIDE];
};

/* The comparison of a, b and c, already set, with D the rounded result: of A B, or of
   alpha A B + beta C. */
void sample_make(struct sample *s, size_t m, size_t n, size_t k);
void sample_update(struct sample *s, size_t m, size_t n, size_t k, uint32_t alpha,
                   uint32_t beta);

/* alpha times the exact sum of a and b's products, and beta c, hold in so many bits. */
enum { EXACT_BITS = 960 };

/* From sum and size, of so many bits: alpha sum + beta c at element `at`, and the same of
   magnitudes. */
void update_exact(mpfr_ptr sum, mpfr_ptr size, const struct comparison *x, size_t at);

/* The chain fma(a, b, sum) from +0, k ascending; then alpha, then beta c. */
uint32_t fma_chain(const struct sample *s, size_t at);

/* Random elements: normal, far apart, tiny, and integers. */
enum { FILLS = 4 };
extern uint32_t (*const sample_fills[FILLS])(uint64_t *rng);

/* Sample `round` of many: a random product or update of one fill, m, n and k from `least`
   on. */
void sample_draw(struct sample *s, uint64_t *rng, int round, int least);

/* Move some results by up to 2^bits FP32 values, away from the infinities. */
void sample_perturb(struct sample *s, uint64_t *rng);

/* Whether they agree to 1e-12 of a size. */
bool is_close(double got, double want, double size);

/* A grade that is not known: an error is its limit, but for rounding. */
enum { GRADE_EITHER = -1 };

/* Fail unless each metric is what is wanted, to 1e-12. */
void sample_check(const struct sample *s, const double want[METRICS]);

#endif
