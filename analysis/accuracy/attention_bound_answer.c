/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of attention compared with its errors: calls, keys and sentences. */
#include "analysis/accuracy/attention_bound.h"
#include "analysis/accuracy/attention_exact.h"
#include "analysis/accuracy/attention_judge.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

/* --- comparing -------------------------------------------------------------------- */

/* All outputs of an attention. */
struct outputs {
    struct bitcut_attention a;
    size_t count;
    double *exact, *limit; /* [head][query][value_dim]                       */
    void *rounded, *o;     /* the exact result in the format of O, and O     */
};

static bool outputs_make(struct outputs *x)
{
    const struct bitcut_attention *const a = &x->a;
    const size_t bytes = (size_t)format_bytes(matrix_format(&a->o));
    if (!size_multiply(&x->count, a->heads, a->queries) ||
        !size_multiply(&x->count, x->count, a->value_dim))
        return false;
    x->exact = memory_allocate(x->count, sizeof *x->exact);
    x->limit = memory_allocate(x->count, sizeof *x->limit);
    x->rounded = memory_allocate(x->count, bytes);
    x->o = memory_allocate(x->count, bytes);
    return x->exact && x->limit && x->rounded && x->o;
}

static void outputs_clear(struct outputs *x)
{
    free(x->exact), free(x->limit), free(x->rounded), free(x->o);
}

enum bitcut_status attention_bound_compare(struct attention_bound_result *to,
                                           const struct bitcut_format *format,
                                           const void *o, const double *exact,
                                           const double *limit, size_t count,
                                           struct fault *f)
{
    double *const limits = memory_allocate(count, sizeof *limits),
                  *const errors = memory_allocate(count, sizeof *errors);
    for (size_t i = 0; i < count && limits && errors; i++) {
        const double x =
            format_to_double(format, encoding_get(o, format_bytes(format), i));
        if (!isfinite(x) || !isfinite(exact[i]) || !isfinite(limit[i])) continue;
        const double error = fabs(x - exact[i]), ulp = format_ulp(format, exact[i]);
        limits[to->outputs] = limit[i] / ulp;
        errors[to->outputs++] = error / ulp;
        to->violations += !(error <= limit[i]);
        if (limit[i] > 0 && error / limit[i] > to->ratio) to->ratio = error / limit[i];
    }
    const bool made = limits && errors;
    if (made) to->limit_ulp = doubles_median(limits, to->outputs);
    if (made) to->error_ulp = doubles_median(errors, to->outputs);
    free(limits);
    free(errors);
    return made ? BITCUT_OK
                : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bounds");
}

static enum bitcut_status find_exact(struct outputs *x, int threads,
                                     const struct progress *progress, struct fault *f)
{
    struct bitcut_attention own = x->a;
    own.o = (struct bitcut_matrix){ .to = x->rounded,
                                    .format = x->a.o.format,
                                    .stride = x->a.queries * x->a.value_dim };
    return attention_exact(NULL, &own,
                           &(struct attention_exact_options){ .threads = threads,
                                                              .progress = progress,
                                                              .values = x->exact },
                           f);
}

static enum bitcut_status run_row(struct attention_bound_result *to, struct outputs *x,
                                  const struct attention_bound_row *row, int threads,
                                  const struct progress *progress, struct fault *f)
{
    *to = (struct attention_bound_result){ .row = row };
    const enum bitcut_status status =
        attention_bound_limits(x->limit, row, &x->a, threads, progress, f);
    if (status == BITCUT_UNSUPPORTED && !progress_stopped(progress)) {
        text_add(to->why, sizeof to->why, "%s", f->text);
        return BITCUT_OK;
    }
    to->applies = status == BITCUT_OK;
    if (!to->applies) return status;
    return attention_bound_compare(to, matrix_format(&x->a.o), x->o, x->exact, x->limit,
                                   x->count, f);
}

static enum bitcut_status take(struct bitcut_attention *to,
                               const struct bitcut_attention *from, int threads,
                               struct fault *f)
{
    enum bitcut_status status = attention_take(to, from, f);
    if (status == BITCUT_OK) status = attention_check_matrices(to, f);
    if (status == BITCUT_OK && threads < 0)
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    return status;
}

enum bitcut_status
attention_bound_run(struct attention_bound_result result[ATTENTION_BOUNDS],
                    const struct bitcut_attention *attention, int threads,
                    const struct progress *progress, struct fault *f)
{
    struct outputs x = { .count = 0 };
    enum bitcut_status status = take(&x.a, attention, threads, f);
    if (status != BITCUT_OK) return status;
    status = outputs_make(&x)
                 ? find_exact(&x, threads, progress, f)
                 : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bounds");
    if (status == BITCUT_OK) attention_outputs(x.o, &x.a, NULL, x.a.queries);
    for (int i = 0; i < ATTENTION_BOUNDS && status == BITCUT_OK; i++)
        status = run_row(&result[i], &x, &attention_bounds[i], threads, progress, f);
    outputs_clear(&x);
    return status;
}

enum bitcut_status bitcut_attention_bound(double *limit,
                                          const struct bitcut_attention *attention,
                                          const char *name, int threads, char *why)
{
    const struct attention_bound_row *const row =
        table_find(TABLE(attention_bounds), name ? name : "weighted");
    struct bitcut_attention a;
    struct fault f;
    enum bitcut_status status = take(&a, attention, threads, &f);
    if (status == BITCUT_OK && !row)
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "unknown bound \"%.40s\"", name);
    if (status == BITCUT_OK && !limit)
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "the limits must not be NULL");
    if (status == BITCUT_OK)
        status =
            attention_bound_limits(limit, row, &a, threads, progress_of_thread(), &f);
    return fault_write(why, status, &f);
}

/* --- keys ------------------------------------------------------------------------- */

static bool does_apply(const void *x)
{
    return ((const struct attention_bound_result *)x)->applies;
}
static bool does_not(const void *x) { return !does_apply(x); }

#define OF(member, key, unit, what)                                                      \
    RECORD_INNER(struct attention_bound_result, member, key, unit, what)
#define OF_IF(member, key, unit, what)                                                   \
    RECORD_INNER_IF(struct attention_bound_result, member, key, unit, what, does_apply)

/* clang-format off */
const struct record_field attention_bound_fields[] = {
    OF(row, "name", "", "bound"),
    RECORD_INNER_IF(struct attention_bound_result, why, "why", "", "why it does not apply", does_not),
    OF_IF(outputs, "outputs", "", "finite outputs with a limit"),
    OF_IF(violations, "violations", "", "outputs that exceed their limit"),
    OF_IF(ratio, "ratio", "", "largest error / limit"),
    RECORD_MAYBE_IF(struct attention_bound_result, limit_ulp, "limit_ulp", "ulp", "median of the limits, in ulps of the exact output", does_apply),
    RECORD_MAYBE_IF(struct attention_bound_result, error_ulp, "error_ulp", "ulp", "median of the errors", does_apply),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

void attention_bound_describe(char *text, size_t size,
                              const struct attention_bound_result *r)
{
    if (*text) text_add(text, size, "; ");
    text_add(text, size, "%s: ", r->row->name);
    if (!r->applies) text_add(text, size, "none, %s", r->why);
    else if (r->violations)
        text_add(text, size, "%zu of %zu outputs exceed it", r->violations, r->outputs);
    else
        text_add(text, size,
                 "holds in %zu outputs, at most %.3g of it is reached (median limit %.3g "
                 "ulp, median error %.3g ulp)",
                 r->outputs, r->ratio, r->limit_ulp, r->error_ulp);
}
