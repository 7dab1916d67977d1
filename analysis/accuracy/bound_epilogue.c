/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bounds of a GEMM with a start and steps, from those of its sums. */
#include "analysis/accuracy/bound.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

#define U 0x1p-24

/* The start of an output as a magnitude. */
static double start_of(const struct epilogue_values *e, size_t i, size_t j)
{
    return epilogue_started(e, (struct exact_output){ 0, 0 }, i, j).magnitude;
}

/* The magnitude below which no sum overflows. */
static double largest_sum(const struct gemm_plan *p)
{
    const struct bitcut_format *const c = p->unit[0]->c, *const sums =
                                                             p->order.partial_format;
    const int emax = p->integer ? 31 + 4
                     : sums     ? smaller_int(format_emax(c), format_emax(sums))
                                : format_emax(c);
    return sums && p->equilibrate ? 0 : ldexp(1, emax - 4);
}

/* The smallest factor of a line other than 0; infinite if there is none. */
static double factor_least(const struct scale_factors *x, size_t line)
{
    double least = x->at ? (double)INFINITY : 1;
    for (size_t b = 0; x->at && b < x->blocks; b++) {
        const double v = fabs(value_of_float(x->at[line / x->lines * x->blocks + b]));
        if (v != 0 && !(v >= least)) least = v;
    }
    return least;
}

/* The sums of magnitudes of the elements of lines. */
static void line_sums(double *to, const uint32_t *at, size_t lines, size_t k,
                      size_t across, size_t along)
{
    for (size_t i = 0; i < lines; i++) {
        to[i] = 0;
        for (size_t p = 0; p < k; p++)
            to[i] += fabs(value_of_float(at[i * across + p * along]));
    }
}

/* The lines of A and B, for factors that are not applied by steps. */
struct lines {
    double *norm_a, *norm_b; /* without factors, and to the right: */
    double *sum_a, *sum_b;   /* sums of magnitudes                  */
};

/* The error by which factors of elements are rounded before the split. */
static double multiplying_error(const struct bound_problem *x, const struct lines *l,
                                bool least, size_t at)
{
    const struct epilogue_values *const e = x->x->extra;
    const size_t i = at / x->x->n, j = at % x->x->n;
    const double both = (e->a.at != NULL) + (e->b.at != NULL);
    return e->scaling != BITCUT_SCALING_OPERAND
               ? 0
               : (least ? 0 : expm1(both * U) * x->x->magnitude[at]) +
                     0x1p-149 * (l->sum_a[i] + l->sum_b[j] + 0x1p-126 * (double)x->x->k);
}

/* Whether an output may have a limit: nothing overflows, and no product of factors is
   below the normal numbers where it multiplies a sum. */
static bool is_in_range(const struct bound_problem *x, const struct lines *l,
                        struct exact_output v, size_t i, size_t j)
{
    const struct epilogue_values *const e = x->x->extra;
    const double most = largest_sum(x->plan);
    if (!(v.magnitude < most)) return false;
    return e->scaling < BITCUT_SCALING_PROMOTED ||
           (l->norm_a[i] * l->norm_b[j] < most &&
            factor_least(&e->a, i) * factor_least(&e->b, j) >= 0x1p-126);
}

/* The bound of D from the limit of its sum; `least`: of what is lost below the normal
   numbers alone. */
static struct output_bound bound_of(const struct bound_problem *x, const struct lines *l,
                                    bool least, double limit, size_t at)
{
    const struct epilogue_values *const e = x->x->extra;
    const size_t i = at / x->x->n, j = at % x->x->n;
    const struct exact_output sum = { x->x->product[at], x->x->product_magnitude[at] },
                              v = epilogue_started(e, sum, i, j);
    const double start = least ? 0 : start_of(e, i, j) * x->way.start,
                 error =
                     limit + multiplying_error(x, l, least, at) + (start > 0 ? start : 0);
    if (!is_in_range(x, l, v, i, j) || !isfinite(error))
        return (struct output_bound){ .error = NAN };
    const struct output_bound before = {
        .error = error,
        .size = least ? v.magnitude : fabs(v.value) + v.magnitude * 0x1p-36 + error,
        .least = least
    };
    return epilogue_bound(e, before, v, i, j);
}

static void apply(double *limit, double *size, bool least, const struct bound_problem *x,
                  const struct lines *l)
{
    const struct epilogue_values *const e = x->x->extra;
    const bool none = start_is_scaled(x->plan);
    const double grows = least ? epilogue_relative(e->step, e->result, 0) : 0x1p-40;
    for (size_t at = 0; at < x->x->m * x->x->n; at++) {
        const struct output_bound b = bound_of(x, l, least, limit[at], at);
        const bool bounded = !none && isfinite(b.error) && isfinite(b.size);
        limit[at] = bounded ? b.error * (1 + grows) : (double)NAN;
        if (size) size[at] = bounded ? b.size : (double)NAN;
    }
}

enum bitcut_status bound_apply_epilogue(double *limit, double *size, bool least,
                                        const struct bound_problem *x, struct fault *f)
{
    const struct comparison *const c = x->x;
    const size_t m = c->m, n = c->n, k = c->k;
    double *const room = memory_allocate(m + n, 2 * sizeof *room);
    if (!room) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    const struct lines l = { room, room + m, room + m + n, room + m + n + m };
    struct hostfp mode;
    line_norms(l.norm_a, l.norm_b, c, 1);
    hostfp_enter(&mode);
    line_sums(l.sum_a, c->a, m, k, k, 1);
    line_sums(l.sum_b, c->b, n, k, 1, n);
    apply(limit, size, least, x, &l);
    hostfp_leave(&mode);
    free(room);
    return BITCUT_OK;
}
