/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/attention_judge.h"

#include "analysis/accuracy/attention_exact.h"
#include "emu/attention/attention_plan.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off */
#define ERRORS(member, unit, what) \
    RECORD_FIELD(struct bitcut_attention_errors, member, #member, unit, what)

const struct record_field attention_error_fields[] = {
    ERRORS(outputs, "", "outputs of O"),
    ERRORS(correct, "", "outputs that are the exact result, rounded"),
    ERRORS(unlike, "", "outputs that are infinite or NaN and not the Inf or NaN of the exact result, or the reverse"),
    ERRORS(max_ulp, "ulp", "largest distance from the exact result, in ulps of the format of O"),
    ERRORS(mean_ulp, "ulp", "mean distance"),
    ERRORS(bias_ulp, "ulp", "mean of the signed distances"),
    ERRORS(relres, "", "||O - exact|| / ||exact||, Frobenius norms"),
    ERRORS(max_u, "u", "largest distance relative to the largest |exact| of its head"),
    ERRORS(head, "", "head of the output with the largest distance in ulps"),
    ERRORS(row, "", "its query"),
    ERRORS(column, "", "its column"),
    { 0 }
};
/* clang-format on */

/* Sums over all outputs. */
struct sums {
    double distance, bias, squares, exact;
    size_t measured;
};

/* Add an output: O, and the exact result in the format of O and in binary64. */
static void add_output(struct bitcut_attention_errors *e, struct sums *s,
                       const size_t at[3], const struct bitcut_format *format, uint64_t o,
                       uint64_t rounded, double want, double *largest)
{
    const double x = format_to_double(format, o), y = format_to_double(format, rounded);
    e->outputs++;
    e->correct += o == rounded || (x == 0 && y == 0);
    if (!isfinite(x) || !isfinite(y)) {
        e->unlike += !attention_same(x, y);
        return;
    }
    const double distance = (x - want) / format_ulp(format, want);
    s->measured++;
    s->distance += fabs(distance);
    s->bias += distance;
    s->squares += (x - want) * (x - want);
    s->exact += want * want;
    if (fabs(x - want) > *largest) *largest = fabs(x - want);
    if (!(fabs(distance) > e->max_ulp)) return;
    e->max_ulp = fabs(distance);
    e->head = at[0], e->row = at[1], e->column = at[2];
}

/* Add the outputs of a head. */
static void add_head(struct bitcut_attention_errors *e, struct sums *s,
                     const struct attention_compared *x, size_t head)
{
    const int bytes = format_bytes(x->format);
    const double unit = ldexp(1, -x->format->fraction_bits - 1);
    double largest = 0, norm = 0;
    for (size_t i = 0; i < x->queries; i++)
        for (size_t p = 0; p < x->value_dim; p++) {
            const size_t at = (head * x->queries + i) * x->value_dim + p;
            const double size = fabs(x->exact[at]);
            add_output(e, s, (size_t[]){ head, i, p }, x->format,
                       encoding_get(x->o, bytes, at), encoding_get(x->rounded, bytes, at),
                       x->exact[at], &largest);
            if (isfinite(size) && size > norm) norm = size;
        }
    if (norm > 0 && largest / norm / unit > e->max_u) e->max_u = largest / norm / unit;
}

void attention_errors(struct bitcut_attention_errors *to,
                      const struct attention_compared *x)
{
    struct bitcut_attention_errors e = { .size = sizeof e };
    struct sums s = { 0 };
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t h = 0; h < x->heads; h++) add_head(&e, &s, x, h);
    const double count = s.measured ? (double)s.measured : 1;
    e.mean_ulp = s.distance / count;
    e.bias_ulp = s.bias / count;
    e.relres = s.exact > 0     ? sqrt(s.squares / s.exact)
               : s.squares > 0 ? (double)INFINITY
                               : 0;
    *to = e; /* before the mode changes */
    hostfp_leave(&saved);
}

void attention_outputs(void *to, const struct bitcut_attention *a, const size_t *query,
                       size_t count)
{
    const int bytes = format_bytes(matrix_format(&a->o));
    size_t at = 0;
    for (size_t h = 0; h < a->heads; h++) {
        const struct view o = view_of(&a->o, h, a->queries, a->value_dim, false);
        for (size_t i = 0; i < count; i++)
            for (size_t p = 0; p < a->value_dim; p++)
                encoding_put(to, bytes, at++, view_encoding(&o, query ? query[i] : i, p));
    }
}

/* Compute the exact result, and compare. */
static enum bitcut_status judge(struct bitcut_attention_errors *to,
                                const struct bitcut_attention *a, void *o, void *rounded,
                                double *values, int threads,
                                const struct progress *progress, struct fault *f)
{
    struct bitcut_attention own = *a;
    own.o = (struct bitcut_matrix){ .to = rounded,
                                    .format = a->o.format,
                                    .stride = a->queries * a->value_dim };
    const struct attention_exact_options options = { .threads = threads,
                                                     .progress = progress,
                                                     .values = values };
    const struct attention_compared x = { .format = matrix_format(&a->o),
                                          .o = o,
                                          .rounded = rounded,
                                          .exact = values,
                                          .heads = a->heads,
                                          .queries = a->queries,
                                          .value_dim = a->value_dim };
    const enum bitcut_status status = attention_exact(NULL, &own, &options, f);
    if (status != BITCUT_OK) return status;
    attention_outputs(o, a, NULL, a->queries);
    attention_errors(to, &x);
    return BITCUT_OK;
}

enum bitcut_status attention_judge(struct bitcut_attention_errors *to,
                                   const struct bitcut_attention *attention, int threads,
                                   const struct progress *progress, struct fault *f)
{
    struct bitcut_attention a;
    size_t count = 0;
    enum bitcut_status status = struct_check("errors", to ? to->size : 0, sizeof *to, f);
    if (status == BITCUT_OK) status = attention_take(&a, attention, f);
    if (status == BITCUT_OK) status = attention_check_matrices(&a, f);
    if (status == BITCUT_OK && threads < 0)
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    if (status != BITCUT_OK) return status;
    const bool fits = size_multiply(&count, a.heads, a.queries) &&
                      size_multiply(&count, count, a.value_dim);
    const size_t bytes = (size_t)format_bytes(matrix_format(&a.o));
    void *const rounded = fits ? memory_allocate(count, bytes) : NULL,
                *const o = fits ? memory_allocate(count, bytes) : NULL;
    double *const values = fits ? memory_allocate(count, sizeof *values) : NULL;
    status =
        rounded && o && values
            ? judge(to, &a, o, rounded, values, threads, progress, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the exact reference");
    free(rounded);
    free(o);
    free(values);
    return status;
}

enum bitcut_status bitcut_attention_judge(struct bitcut_attention_errors *to,
                                          const struct bitcut_attention *attention,
                                          int threads, char *why)
{
    struct fault f;
    return fault_write(
        why, attention_judge(to, attention, threads, progress_of_thread(), &f), &f);
}
