/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds computed from the events of the emulator. */
#include "analysis/accuracy/bound.h"
#include "analysis/split/representation_error.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* A row of A or a column of B, contiguous. */
struct line {
    const uint32_t *at;
    struct retained_reader reader;
    struct retained_max most;
    int exponent;
};

static struct line line_of(const struct bound_problem *x, enum bitcut_operand operand,
                           const uint32_t *at)
{
    const struct retained_reader r = retained_reader_of(x->plan, operand);
    return (struct line){ at, r, retained_max_of(&r),
                          retained_exponent(x->plan, &r, at, x->x->k, 1) };
}

/* The largest change of an element's parts by underflow: both the actual parts and the
   parts without underflow are within this distance. */
static double underflow_of(const struct line *l, double size)
{
    const struct retained *const less =
        size < l->most.normal ? &l->most.beside : &l->most.low;
    return size > 0 && size < l->most.full ? 2 * less->at[RETAINED_REST] : 0;
}

/* The largest magnitude of an element's parts without underflow. */
static double parts_of(const struct line *l, double size)
{
    return size * (1 + l->most.times.at[RETAINED_REST]);
}

/* Add up the losses of parts over k. */
static void add_lines(struct bound_watched *to, const struct bound_problem *x,
                      const struct line *a, const struct line *b)
{
    for (size_t p = 0; p < x->x->k; p++) {
        struct retained of_a, of_b;
        retained_of(&of_a, &a->reader, a->at[p], p, a->exponent);
        retained_of(&of_b, &b->reader, b->at[p], p, b->exponent);
        to->lost += retained_lost(x->plan, &of_a, &of_b);
        const double size_a = of_a.at[RETAINED_WHOLE], size_b = of_b.at[RETAINED_WHOLE],
                     less_a = underflow_of(a, size_a), less_b = underflow_of(b, size_b);
        to->underflow +=
            less_a * parts_of(b, size_b) + less_b * parts_of(a, size_a) + less_a * less_b;
    }
    const double alpha =
        fabs(value_of_float(x->x->alpha)) * (1 + (double)(x->x->k + 64) * 0x1p-52);
    to->lost = alpha * ldexp(to->lost, -a->exponent - b->exponent);
    to->underflow = alpha * ldexp(to->underflow, -a->exponent - b->exponent);
}

enum bitcut_status bound_watch(struct bound_watched *to, const struct bound_problem *x,
                               size_t at, struct fault *f)
{
    const struct comparison *const c = x->x;
    const size_t i = at / c->n, j = at % c->n;
    uint32_t *const column = memory_allocate(c->k, sizeof *column);
    struct hostfp mode;
    if (!column) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a bound");
    for (size_t p = 0; p < c->k; p++) column[p] = c->b[p * c->n + j];
    const struct budget_lines lines = {
        .a = c->a + i * c->k, .b = column, .k = c->k, .c = c->c ? c->c[at] : 0
    };
    struct bitcut_gemm sum = *x->gemm; /* before D is rounded to a short format */
    sum.d.format = NULL;
    *to = (struct bound_watched){ .lost = 0 };
    const enum bitcut_status status =
        budget_one(&to->budget, &sum, x->plan, &lines, false, f);
    hostfp_enter(&mode);
    const struct line a = line_of(x, BITCUT_A, lines.a), b = line_of(x, BITCUT_B, column);
    if (status == BITCUT_OK && !to->budget.event.what) add_lines(to, x, &a, &b);
    hostfp_leave(&mode);
    free(column);
    return status;
}
