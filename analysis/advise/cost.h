/* What a product costs on a chip, in products of f16 words there. */
#ifndef BITCUT_ANALYSIS_ADVISE_COST_H
#define BITCUT_ANALYSIS_ADVISE_COST_H

#include "lib/gemm_plan.h"

/* A row of the table of rates: the peak rate of f16 products, and that over those of
   others. */
struct rate_row {
    const char *name, *what;     /* an architecture, or a chip unlike it; whose rates  */
    double f16;                  /* TFLOP/s; 0: not known */
    double bf16, tf32, fp8, f32; /* 0: no unit; f32: the unit that unit_find() chooses */
    const char *source;          /* document, and what it has                          */
};

extern const struct rate_row rates[]; /* ended by a row whose name is NULL */

/* The sum over the terms of a plan, on a chip or a unit of that name; where there is no
   row for it, by bytes of a word. */
double plan_cost(const struct gemm_plan *plan, const char *place);

/* TFLOP/s of A B at most, by the same; 0: not known. */
double plan_tflops(const struct gemm_plan *plan, const char *place);

#endif
