/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a product on a chip, in products of f16 parts there. */
#ifndef BITCUT_ANALYSIS_SAMPLING_COST_H
#define BITCUT_ANALYSIS_SAMPLING_COST_H

#include "lib/gemm/plan.h"

/* The sum over the terms of a plan, on the chip or unit with that name, by the table of
   rates (emu/rate.h).  Where it has no row, the cost is in proportion to the bytes of a
   part. */
double plan_cost(const struct gemm_plan *plan, const char *target);

/* Largest TFLOP/s of A B by the same rates; 0: unknown. */
double plan_tflops(const struct gemm_plan *plan, const char *target);

#endif
