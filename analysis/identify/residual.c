/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/residual.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>

/* Floating point of the host decides which hypotheses are tried, never whether one holds.
 */

enum { FEW = 8 }; /* outputs that are examined */

/* The exact product of an output as the candidate reads its operands, and |A||B|. */
static double product(double *size, const struct candidate *x, const struct problem *q,
                      size_t i, size_t j)
{
    const size_t k = problem_k(q), places = candidate_places(x, k);
    double sum = (double)float_of_bits(x->faults.start);
    *size = 0;
    for (size_t p = 0; p < places; p++) {
        const size_t from = candidate_k_at(x, p, k);
        const double one = value_of_float(candidate_element(x, q, BITCUT_A, i, from)) *
                           value_of_float(candidate_element(x, q, BITCUT_B, j, from));
        sum += one;
        *size += fabs(one);
    }
    return sum;
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
    for (size_t n = 0; n < FEW; n++) {
        const size_t at = block_spread(b, n, FEW), i = b->row[at / b->cols],
                     j = b->col[at % b->cols];
        double size;
        const uint32_t v = bits_of_float((float)product(&size, &x, b->q, i, j)),
                       d = candidate_finish(&x, v, candidate_c(&x, b->q, i, j));
        if (!f32_is_finite(d) || !f32_is_finite(b->d[at])) continue;
        off += fabs(value_of_float(d) - value_of_float(b->d[at]));
        all += size;
    }
    return all > 0 ? off / all : INFINITY;
}

/* The decimal or binary number with the fewest digits that is near enough. */
static float short_number(double x, double tolerance)
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
    candidate_clean(&x, s);
    for (size_t n = 0; n < FEW; n++) {
        const size_t at = block_spread(b, n, FEW);
        double size;
        const double c = b->c ? beta * value_of_float(b->c[at]) : 0;
        const double lack =
            (value_of_float(b->d[at]) - c) / alpha -
            product(&size, &x, b->q, b->row[at / b->cols], b->col[at % b->cols]);
        least = lack < least ? lack : least;
        most = lack > most ? lack : most;
        sum += lack / FEW;
    }
    if (!(most - least < fabs(sum) / 16)) return 0;
    return bits_of_float(short_number(sum, most - least));
}
