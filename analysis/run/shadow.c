/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/run/shadow.h"

#include "lib/gemm/plan.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same product with its own D.  Returns false if memory runs out. */
static bool take_memory(struct shadow *s, const struct product *p)
{
    size_t one, all;
    if (!size_multiply(&one, p->gemm.m, p->gemm.n) ||
        !size_multiply(&all, one, p->gemm.count))
        return false;
    const struct bitcut_matrix *const d = &p->gemm.d;
    void *const own = memory_allocate(all, product_bytes(d));
    s->result = *p;
    s->result.gemm.d =
        (struct bitcut_matrix){ .to = own, .stride = one, .format = d->format };
    return own != NULL;
}

void shadow_free(struct shadow *s)
{
    if (s) free(s->result.gemm.d.to);
    free(s);
}

/* Compute in the configuration that is not the original, or, if neither is, in the second
   one. */
void shadow_begin(struct call *t)
{
    const struct run_configuration *const own = t->site.configuration, *const other =
                                                                           &run_settings()
                                                                                ->against;
    if (own->original && other->original) return;
    if (!run_configuration_fits(other, t->routine->precision)) return;
    const double began = seconds_now();
    const struct product *const seen = call_see(t);
    struct shadow *const s = seen ? calloc(1, sizeof *s) : NULL;
    if (!s) return;
    s->swaps = other->original;
    struct fault f = { .status = BITCUT_NO_MEMORY, .text = "not enough memory" };
    if (take_memory(s, seen) &&
        (s->swaps ? call_compute(t, &s->result, own, &f)
                  : call_compute_other(t, &s->result, other, &f)) == BITCUT_OK) {
        t->shadow = s;
    } else {
        fault_set(&t->fault, f.status, "not compared: %s", f.text);
        shadow_free(s);
    }
    if (!(t->shadow && s->swaps)) t->own_seconds += seconds_now() - began;
}

/* --- comparing -------------------------------------------------------------------- */

/* The value of an element. */
static double value_of(const void *at, size_t bytes)
{
    uint32_t small;
    double large;
    if (bytes == sizeof small)
        return value_of_float(*(const uint32_t *)memcpy(&small, at, bytes));
    memcpy(&large, at, sizeof large);
    return large;
}

/* One output of the program's result, and of the other. */
static void compare(struct call_log_difference *x, const void *d, const void *e,
                    size_t bytes)
{
    const double dd = value_of(d, bytes), ee = value_of(e, bytes), de = dd - ee;
    x->outputs++;
    x->differ += memcmp(d, e, bytes) && !(isnan(dd) && isnan(ee));
    x->not_finite += isfinite(dd) != isfinite(ee);
    if (!isfinite(dd) || !isfinite(ee)) return;
    x->square += (long double)de * de;
    x->norm[0] += (long double)dd * dd;
    x->norm[1] += (long double)ee * ee;
    x->most = fmax(x->most, fabs(de));
    x->largest = fmax(x->largest, fmax(fabs(dd), fabs(ee)));
}

/* Element (i, j) of D. */
static void *element(const struct bitcut_gemm *g, size_t i, size_t j)
{
    return product_place(&g->d, g->m, g->n, i, j);
}

/* One GEMM: the program's D, and the other D, which exists already or is still to be set.
 */
static void compare_one(struct shadow *s, const struct product *p,
                        const struct product *other)
{
    const size_t bytes = product_bytes(&p->gemm.d);
    for (size_t i = 0; i < p->gemm.m; i++)
        for (size_t j = 0; j < p->gemm.n; j++) {
            if (!half_has(p->d, i, j)) continue;
            void *const d = element(&p->gemm, i, j), *const e =
                                                         element(&other->gemm, i, j);
            compare(&s->difference, s->swaps ? e : d, s->swaps ? d : e, bytes);
            if (s->swaps) memcpy(d, e, bytes);
        }
}

void shadow_end(struct call *t)
{
    const double began = seconds_now();
    struct shadow *const s = t->shadow;
    const bool there = call_fetch(t);
    for (size_t i = 0; there && i < t->product->gemm.count; i++) {
        const struct product one = product_nth(t->seen, i),
                             other = product_nth(&s->result, i);
        compare_one(s, &one, &other);
    }
    if (s->swaps && !(there && call_give(t))) t->end = CALL_FAILED;
    t->own_seconds += seconds_now() - began;
}
