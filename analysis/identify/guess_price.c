/* SPDX-License-Identifier: BSD-3-Clause */
/* How much likelier a guess must make D before it is believed. */
#include "analysis/identify/guess.h"

#include <math.h>

/* The logarithm of the number of guesses from which a part is one, about.  The families
   of faults begin with the common ones. */
static double choices(const struct residuals *e, const struct guessed *part)
{
    enum { FEW_KINDS = 9 };
    static const double of_position = 0.25;
    const struct kernel_fault *const row = part->fault.row;
    double position = 0;
    if (!row)
        return (part->effect.row->factor ? 2 : 1) * log((double)e->b.k) +
               (part->effect.term != ALL_TERMS);
    for (const struct kernel_fault *r = kernel_fault_next(NULL); r != row;
         r = kernel_fault_next(r))
        position++;
    const double kinds = row->kinds ? (double)row->kinds(&e->s) : 1;
    return (kinds > FEW_KINDS ? 2 * log(kinds / FEW_KINDS) : 0) + 4 * row->of_residual +
           3 * row->of_parts + of_position * position;
}

/* A fault is believed if it makes D this much likelier; a rarer arithmetic costs less. In
   logarithms of likelihood. */
static double price(const struct residuals *e, const struct guess *g)
{
    static const double of_fault = 30, of_other = 3, of_one = 48, of_order = 1e-3;
    const enum arithmetic_kind kind = e->arithmetics.at[g->arithmetic].kind;
    double sum = g->parts * of_fault +
                 (kind == ARITHMETIC_TERMS || kind == ARITHMETIC_OTHER ||
                  kind == ARITHMETIC_PARTS || kind == ARITHMETIC_QUANTIZED) *
                     of_other +
                 (kind == ARITHMETIC_ONE) * of_one + of_order * (double)g->arithmetic;
    for (int i = 0; i < g->parts; i++) sum += choices(e, &g->part[i]);
    return sum;
}

double guess_total(const struct residuals *e, const struct guess *g)
{
    return g->score * (double)e->finite + price(e, g);
}
