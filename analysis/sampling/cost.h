/* SPDX-License-Identifier: BSD-3-Clause */
/* What a product costs on a chip, in products of f16 words there. */
#ifndef BITCUT_ANALYSIS_SAMPLING_COST_H
#define BITCUT_ANALYSIS_SAMPLING_COST_H

#include "lib/gemm/plan.h"

/* The sum over the terms of a plan, on a chip or a unit of that name, by the table of
   rates (emu/rate.h); where there is no row for it, by bytes of a word. */
double plan_cost(const struct gemm_plan *plan, const char *place);

/* TFLOP/s of A B at most, by the same; 0: not known. */
double plan_tflops(const struct gemm_plan *plan, const char *place);

#endif
