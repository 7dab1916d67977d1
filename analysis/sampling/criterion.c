/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/criterion.h"

#include "analysis/accuracy/metric_element.h"
#include "analysis/accuracy/short_result.h"
#include "lib/number/bits.h"

#include <math.h>

static double size_of_exact(const struct comparison *x, size_t i)
{
    const double value = fabs(double_of_bits(x->reference64[i]));
    return isfinite(value) ? value : 0;
}

/* `rest` of each output is added; NULL: nothing. */
static bool keeps_component(const struct sample_run *r, double limit, const double *rest)
{
    const struct comparison *const x = &r->x;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = metric_unrounded(x, i);
        if (!(error == 0 || error <= limit * unit_of_result(x) * x->magnitude[i] +
                                         (rest ? rest[i] : 0)))
            return false;
    }
    return true;
}

static bool keeps_allclose(const struct sample_run *r, double rtol, double atol)
{
    const struct comparison *const x = &r->x;
    for (size_t i = 0; i < x->m * x->n; i++)
        if (!(fabs(metric_error(x, i)) <= atol + rtol * size_of_exact(x, i)))
            return false;
    return true;
}

static bool bound(const struct sample_run *r, const struct bitcut_tolerances *t)
{
    return keeps_component(r, t->bound, r->allowance);
}

static bool observed(const struct sample_run *r, const struct bitcut_tolerances *t)
{
    return keeps_component(r, t->with_underflow, r->allowance) &&
           (!t->known || keeps_component(r, t->limit, NULL));
}

static bool norm(const struct sample_run *r, const struct bitcut_tolerances *t)
{
    return sample_run_norm_rest(r) <= t->norm_with_underflow &&
           (!t->norm_known || normwise_unrounded(&r->x) <= t->norm_limit);
}

static bool both(const struct sample_run *r, const struct bitcut_tolerances *t)
{
    return observed(r, t) && norm(r, t);
}

static bool own_allclose(const struct sample_run *r, const struct bitcut_tolerances *t)
{
    return keeps_allclose(r, t->rtol, t->atol);
}

/* Defaults of torch.testing.assert_close() by the format of D.
   Source: torch/testing/_comparison.py, _DTYPE_PRECISIONS; other types have 0. */
static bool torch(const struct sample_run *r, const struct bitcut_tolerances *t)
{
    static const struct {
        int format;
        double rtol, atol;
    } defaults[] = { { FORMAT_F16, 1e-3, 1e-5 }, { FORMAT_BF16, 1.6e-2, 1e-5 } };
    const struct bitcut_format *const format = r->x.format;
    (void)t;
    if (r->x.is_f64) return keeps_allclose(r, 1e-7, 1e-7);
    if (!result_is_short(format)) return keeps_allclose(r, 1.3e-6, 1e-5);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (format == &formats[defaults[i].format])
            return keeps_allclose(r, defaults[i].rtol, defaults[i].atol);
    return keeps_allclose(r, 0, 0);
}

/* Defaults of numpy.allclose(). */
static bool numpy(const struct sample_run *r, const struct bitcut_tolerances *t)
{
    (void)t;
    return keeps_allclose(r, 1e-5, 1e-8);
}

const struct criterion criteria[] = {
    [CRITERION_BOUND] = { "bound", "componentwise, by the worst-case bound", bound },
    [CRITERION_OBSERVED] = { "limit", "componentwise, by the observed limits", observed },
    [CRITERION_NORM] = { "norm", "normwise, by the observed limits", norm },
    [CRITERION_BOTH] = { "both", "componentwise and normwise, by the observed limits",
                         both },
    [CRITERION_ALLCLOSE] = { "allclose", "allclose() by the observed limit",
                             own_allclose },
    [CRITERION_TORCH] = { "torch",
                          "torch.testing.assert_close() with the defaults for the type "
                          "of D",
                          torch },
    [CRITERION_NUMPY] = { "numpy", "numpy.allclose(), rtol 1e-5, atol 1e-8", numpy },
    { 0 }
};

_Static_assert(sizeof criteria / sizeof criteria[0] == CRITERIA + 1,
               "a row of the table has its name in the enum");

void criteria_run(bool accepted[CRITERIA], const struct sample_run *r,
                  const struct bitcut_tolerances *t)
{
    for (int i = 0; i < CRITERIA; i++) accepted[i] = criteria[i].accepts(r, t);
}
