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
    uint32_t *const own = memory_allocate(all, sizeof *own);
    s->result = *p;
    s->result.gemm.d = (struct bitcut_matrix){ .to = own, .stride = one };
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

/* One output of the program's result, and of the other. */
static void compare(struct call_log_difference *x, uint32_t d, uint32_t e)
{
    x->outputs++;
    x->differ += d != e && !(f32_is_nan(d) && f32_is_nan(e));
    x->not_finite += f32_is_finite(d) != f32_is_finite(e);
    if (!f32_is_finite(d) || !f32_is_finite(e)) return;
    const double dd = value_of_float(d), ee = value_of_float(e), de = dd - ee;
    x->square += de * de;
    x->norm[0] += dd * dd;
    x->norm[1] += ee * ee;
    x->most = fmax(x->most, fabs(de));
    x->largest = fmax(x->largest, fmax(fabs(dd), fabs(ee)));
}

/* Element (i, j) of D. */
static uint32_t *element(const struct bitcut_gemm *g, size_t i, size_t j)
{
    return (uint32_t *)g->d.to + product_place(&g->d, g->m, g->n, i, j);
}

/* One GEMM: the program's D, and the other D, which exists already or is still to be set.
 */
static void compare_one(struct shadow *s, const struct product *p,
                        const struct product *other)
{
    for (size_t i = 0; i < p->gemm.m; i++)
        for (size_t j = 0; j < p->gemm.n; j++) {
            if (!half_has(p->d, i, j)) continue;
            uint32_t *const d = element(&p->gemm, i, j), *const e =
                                                             element(&other->gemm, i, j);
            compare(&s->difference, s->swaps ? *e : *d, s->swaps ? *d : *e);
            if (s->swaps) *d = *e;
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
