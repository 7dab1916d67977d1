/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bounds on units of integers.  A sum of integers is exact, unless it overflows or
   pairs of products saturate; its conversion to FP32 is the first rounding. */
#include "analysis/accuracy/bound.h"
#include "emu/summation.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>

#define U 0x1p-24

static double largest(const struct bitcut_format *f)
{
    return f->has_sign ? ldexp(1, f->bits - 1) : ldexp(1, f->bits);
}

/* Whether no sum of k products can be limited by the unit.  Modulo 2^32 a sum may
   overflow before the zero points correct it. */
static bool is_exact(const struct bitcut_unit *u, size_t k)
{
    const double product = largest(u->a) * largest(u->b);
    if (u->summation == &sum_saturated) return 2 * product < 0x1p15;
    return u->rounding.overflow == OVERFLOW_WRAP || (double)k * product < 0x1p31;
}

struct bound_apriori bound_apriori_integers(const struct bitcut_gemm *g)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    struct hostfp mode;
    hostfp_enter(&mode);
    epilogue_of(step, g);
    const double relative = epilogue_relative(step, matrix_format(&g->d), U) / U;
    hostfp_leave(&mode);
    return (struct bound_apriori){ .relative = is_exact(g->unit, g->k)
                                                   ? relative * (1 + 0x1p-40)
                                                   : (double)INFINITY,
                                   .from = INFINITY,
                                   .normal = INFINITY,
                                   .most = INFINITY };
}

void bound_fill_integers(double *limit, const struct bound_problem *x)
{
    const struct comparison *const c = x->x;
    const bool exact = is_exact(x->plan->unit[0], c->k);
    const double *const magnitude = c->product ? c->product_magnitude : c->magnitude;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t at = 0; at < c->m * c->n; at++) {
        const double sum =
            fabs(c->product ? c->product[at] : double_of_bits(c->reference64[at]));
        limit[at] = !exact || !(magnitude[at] < 0x1p31) ? (double)NAN
                    : sum <= 0x1p24                     ? 0
                                    : format_rounding_error(&formats[FORMAT_F32], sum);
    }
    hostfp_leave(&mode);
}
