/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/residual.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>

/* Floating point of the host decides which hypotheses are tried, never whether one holds.
 */

enum { FEW = 8 }; /* outputs that are examined */

/* The exact product of output (at_i, at_j) of a block as the candidate reads its
   operands, and |A||B|. */
static double product(double *size, const struct candidate *x, const struct block *b,
                      size_t at_i, size_t at_j)
{
    const struct problem *const q = b->q;
    const size_t k = problem_k(q), places = candidate_places(x, k);
    const bool factors = block_has_factors(b);
    double sum = (double)float_of_bits(x->faults.start);
    *size = 0;
    for (size_t p = 0; p < places; p++) {
        const size_t from = candidate_k_at(x, p, k);
        const double one =
            value_of_float(candidate_block_element(x, b, BITCUT_A, at_i, from)) *
            value_of_float(candidate_block_element(x, b, BITCUT_B, at_j, from)) *
            (factors ? block_factor(b, BITCUT_A, at_i, from) *
                           block_factor(b, BITCUT_B, at_j, from)
                     : 1);
        sum += one;
        *size += fabs(one);
    }
    return sum;
}

/* D of output `at` from its exact product v, whose magnitude is `size`. */
static double finished(const struct candidate *x, const struct block *b, size_t at,
                       double v, double size)
{
    const size_t i = at / b->cols, j = at % b->cols;
    const struct exact_output sum = { v, size };
    if (b->own) return block_finish(b, sum, i, j).value;
    return value_of_float(candidate_finish(x, bits_of_float((float)v),
                                           candidate_c(x, b->q, b->row[i], b->col[j])));
}

double residual_misfit(const struct space *s, const struct block *b,
                       const struct kernel_fault_choice *fault)
{
    struct candidate x;
    double off = 0, all = 0;
    candidate_clean(&x, s);
    if (fault && fault->row->vary && !fault->row->vary(&x, s, fault->kind))
        return INFINITY;
    if (fault && fault->row->alter && !fault->row->alter(&x, s, fault->kind))
        return INFINITY;
    if (b->own && candidate_takes_products(&x)) return INFINITY;
    for (size_t n = 0; n < FEW; n++) {
        const size_t at = block_spread(b, n, FEW);
        double size;
        const double v = product(&size, &x, b, at / b->cols, at % b->cols),
                     d = finished(&x, b, at, v, size);
        if (!isfinite(d) || !f32_is_finite(b->d[at])) continue;
        off += fabs(d - value_of_float(b->d[at]));
        all += size;
    }
    return all > 0 ? off / all : INFINITY;
}

float residual_short_number(double x, double tolerance)
{
    for (double base = 10; base <= 1e6; base *= 10) {
        const double near = round(x * base) / base;
        if (near != 0 && fabs(near - x) <= tolerance) return (float)near;
    }
    return 0;
}

uint32_t residual_start(const struct space *s, const struct block *b)
{
    struct candidate x;
    double least = INFINITY, most = -INFINITY, sum = 0;
    const double alpha = value_of_float(s->alpha), beta = value_of_float(s->beta);
    if (b->own) return 0;
    candidate_clean(&x, s);
    for (size_t n = 0; n < FEW; n++) {
        const size_t at = block_spread(b, n, FEW);
        double size;
        const double c = b->c ? beta * value_of_float(b->c[at]) : 0;
        const double lack = (value_of_float(b->d[at]) - c) / alpha -
                            product(&size, &x, b, at / b->cols, at % b->cols);
        least = lack < least ? lack : least;
        most = lack > most ? lack : most;
        sum += lack / FEW;
    }
    if (!(most - least < fabs(sum) / 16)) return 0;
    return bits_of_float(residual_short_number(sum, most - least));
}
