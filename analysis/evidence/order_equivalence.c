/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/order_equivalence.h"

#include "emu/engine.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(UNIT_K_MAX <= 64, "a set of products is a mask of 64 bits");

static int compare_masks(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* The products in each sum of the row's steps, also through earlier sums of the step;
   sorted in each step, unless the first NaN decides.  Returns the number of sums. */
static int sets_by(struct unit_trace *trace, uint64_t set[TRACE_SUMS_MAX],
                   const struct bitcut_unit *u)
{
    struct number zeros[UNIT_K_MAX];
    for (int k = 0; k < u->k; k++) zeros[k] = format_decode(u->a, 0);
    const struct lane lane = { zeros, u->scale ? zeros : NULL };
    unit_trace(trace, u, lane, lane, 0);
    for (const struct trace_step *s = trace->step; s < trace->step + trace->steps; s++) {
        uint64_t *const own = set + s->first_sum;
        for (int i = 0; i < s->sums; i++) {
            const struct trace_sum *sum = &trace->sum[s->first_sum + i];
            own[i] = 0;
            for (int j = sum->first; j < sum->first + sum->terms; j++) {
                const struct trace_term *t = &trace->term[j];
                if (t->source == TRACE_PRODUCT) own[i] |= UINT64_C(1) << t->index;
                if (t->source == TRACE_SUM) own[i] |= own[t->index];
            }
        }
        if (u->nan_rule == NAN_FIXED)
            qsort(own, (size_t)s->sums, sizeof own[0], compare_masks);
    }
    return trace->sums;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-larger-than="
/* Used if memory runs out, since the answer must not depend on that. */
static __attribute__((noinline)) int sets_on_stack(uint64_t set[TRACE_SUMS_MAX],
                                                   const struct bitcut_unit *u)
{
    struct unit_trace trace;
    return sets_by(&trace, set, u);
}
#pragma GCC diagnostic pop

/* The same, with the trace on the heap for a small stack. */
static int sets_of(uint64_t set[TRACE_SUMS_MAX], const struct bitcut_unit *u)
{
    struct unit_trace *const trace = malloc(sizeof *trace);
    const int sums = trace ? sets_by(trace, set, u) : sets_on_stack(set, u);
    free(trace);
    return sums;
}

bool order_same(const struct bitcut_unit *x, const struct bitcut_unit *y)
{
    uint64_t s[TRACE_SUMS_MAX], t[TRACE_SUMS_MAX];
    const int n = sets_of(s, x);
    return n == sets_of(t, y) && !memcmp(s, t, (size_t)n * sizeof s[0]);
}
