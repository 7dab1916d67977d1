/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/bound_factor.h"

#include "lib/number/bits.h"

#include <math.h>

double bound_raised(double x, size_t k) { return x * (1 + (double)(k + 64) * 0x1p-52); }

enum bitcut_status bound_no_memory(struct fault *f)
{
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
}

double bound_factor_at(const struct comparison *x, bool of_b, size_t line, size_t p)
{
    if (!x->extra || x->extra->scaling < BITCUT_SCALING_UNIT) return 1;
    return fabs(
        value_of_float(scale_factor(of_b ? &x->extra->b : &x->extra->a, line, p)));
}

double bound_factor_most(const struct comparison *x, bool of_b, size_t line)
{
    double most = 1;
    if (!x->extra || x->extra->scaling < BITCUT_SCALING_UNIT) return most;
    const struct scale_factors *const all = of_b ? &x->extra->b : &x->extra->a;
    for (size_t b = 0; all->at && b < all->blocks; b++)
        most = larger_double(
            most, fabs(value_of_float(all->at[line / all->lines * all->blocks + b])));
    return most;
}
