/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/cost.h"

#include "emu/rate.h"

/* Bytes of a part over those of f16. */
static double by_bytes(const struct bitcut_format *f)
{
    return f->bits <= 8 ? 0.5 : f->bits <= 16 ? 1 : 2;
}

double plan_cost(const struct gemm_plan *p, const char *target)
{
    const struct rate_row *row = rate_find(target);
    double sum = 0;
    for (int t = 0; t < p->terms; t++) {
        const struct bitcut_format *f = p->unit[t]->a;
        const double cost = row ? rate_cost(row, rate_format_of(f)) : 0;
        sum += cost > 0 ? cost : by_bytes(f);
    }
    return sum;
}

double plan_tflops(const struct gemm_plan *p, const char *target)
{
    return rate_tflops_of(target) / plan_cost(p, target);
}
