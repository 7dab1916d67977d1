/* SPDX-License-Identifier: BSD-3-Clause */
/* The diagnosis of all of D: that of a sample and, if every output of the sample is
   right, a look at many more outputs.  One of them that is far beyond all errors of the
   sample has a fault, which is diagnosed in the region of such outputs. */
#include "analysis/identify/diagnosis.h"
#include "analysis/identify/diagnosis_name.h"
#include "analysis/identify/diagnosis_place.h"
#include "analysis/identify/rounding_level.h"
#include "analysis/identify/rung.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The largest error of the sample, which is not taken as less than LARGEST_MIN u |A||B|,
   times BEYOND: no right output exceeds it. */
static const double BEYOND = 6, LARGEST_MIN = 0.25;

/* Outputs of D, and the largest error of a right one relative to |A||B|, apart from the
   rounding to the format of D. */
struct looked {
    struct view v;
    double limit;
    bool rounded; /* the exact values are of rounded operands, which may overflow */
};

/* Whether an element of an output, or its part, may overflow. */
static bool has_large(const struct view *v, size_t at)
{
    const struct block *const b = &v->b;
    const size_t i = at / b->cols, j = at % b->cols;
    bool may = false;
    for (size_t p = 0; p < b->k && !may; p++)
        may = !(fabs(value_of_float(b->a[i * b->k + p])) < ELEMENT_MAX &&
                fabs(value_of_float(b->b[p * b->cols + j])) < ELEMENT_MAX);
    return may;
}

/* Whether an output may be infinite or NaN because an element, its part or the result
   overflows. */
static bool may_overflow(const struct view *v, size_t at)
{
    return !(v->size[at] < format_largest_value(v->b.q->format)) || has_large(v, at);
}

/* The outputs that are infinite or NaN because an element overflows. */
static size_t count_overflows(const struct view *v)
{
    const double most = format_largest_value(v->b.q->format);
    size_t count = 0;
    for (size_t at = 0; at < v->b.rows * v->b.cols; at++)
        count += !isfinite(v->d[at]) && v->size[at] < most && has_large(v, at);
    return count;
}

static bool is_far(const void *about, size_t at)
{
    const struct looked *const x = about;
    const struct view *const v = &x->v;
    const double error = fabs(v->d[at] - v->exact[at]);
    if (!isfinite(v->exact[at]) || !isfinite(v->size[at]))
        return x->rounded && isfinite(v->d[at]);
    if (!isfinite(error)) return !may_overflow(v, at);
    return error > x->limit * v->size[at] + number_spacing(v->b.q->format, v->exact[at]);
}

/* Lines of D; NULL: no memory. */
static size_t *lines_take(size_t *count, size_t most, size_t all, uint64_t seed,
                          uint64_t stream)
{
    size_t *const line = memory_allocate(smaller(most, all), sizeof *line);
    if (line) *count = lines_draw_last(line, most, all, seed, stream);
    return line;
}

/* Look at many outputs of D, as many rows as columns if they are not all: the place of
   those that are far from right ones, how many were examined, and how many are infinite
   or NaN because an element overflows. */
static enum bitcut_status look_at(struct diagnosed_place *to, size_t *examined,
                                  size_t *overflows, const struct problem *q,
                                  const struct diagnosis *by, uint64_t seed,
                                  struct fault *f)
{
    enum { STREAM_ROWS = 63, STREAM_COLS = 64 };
    const size_t area = view_area(q), side = (size_t)sqrt((double)area) + 1,
                 m = problem_m(q), n = problem_n(q);
    struct looked x = { .limit = ldexp(BEYOND * fmax(by->largest, LARGEST_MIN), -24),
                        .rounded = by->format };
    size_t rows = 0, cols = 0;
    size_t *const row = lines_take(&rows, n < side ? area / n + 1 : side, m, seed,
                                   STREAM_ROWS),
                  *const col = lines_take(&cols, m < side ? area / m + 1 : side, n, seed,
                                          STREAM_COLS);
    enum bitcut_status status =
        row && col ? view_take(&x.v, q, row, rows, col, cols, f)
                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK) {
        diagnosis_place_region(to, &x.v.b, is_far, &x);
        *examined = rows * cols;
        *overflows = count_overflows(&x.v);
        view_clear(&x.v);
    }
    free(row);
    free(col);
    return status;
}

/* Copy a matrix with rounded elements.  NULL: no memory. */
static uint32_t *rounded_copy(const struct matrix *x, const struct diagnosis *by)
{
    uint32_t *const to = memory_allocate(x->rows + 1, (x->cols + 1) * sizeof *to);
    for (size_t i = 0; to && i < x->rows * x->cols; i++)
        to[i] = f32_through(by->format, by->rounding, x->at[i]);
    return to;
}

/* The same of operands that are rounded, if the diagnosis says so. */
static enum bitcut_status look(struct diagnosed_place *to, size_t *examined,
                               size_t *overflows, const struct problem *q,
                               const struct diagnosis *by, uint64_t seed, struct fault *f)
{
    struct problem rounded = *q;
    enum bitcut_status status = BITCUT_OK;
    if (!by->format) return look_at(to, examined, overflows, q, by, seed, f);
    uint32_t *const a = rounded_copy(&q->a, by), *const b = rounded_copy(&q->b, by);
    rounded.a.at = a;
    rounded.b.at = b;
    status = a && b ? look_at(to, examined, overflows, &rounded, by, seed, f)
                    : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for operands");
    free(a);
    free(b);
    return status;
}

/* Whether the operands of a region are those of all of D, as only elements that overflow
   show how these are rounded. */
static enum bitcut_status hold_for_all(bool *hold, const struct diagnosis *of,
                                       const struct diagnosis *to,
                                       const struct problem *q, uint64_t seed,
                                       struct fault *f)
{
    struct diagnosis all = *to;
    struct diagnosed_place far = { .outside = 0 };
    size_t examined, overflows;
    all.format = of->format;
    all.rounding = of->rounding;
    *hold = false;
    if (!of->format) return BITCUT_OK;
    const enum bitcut_status status = look(&far, &examined, &overflows, q, &all, seed, f);
    *hold = status == BITCUT_OK && !far.outside;
    return status;
}

/* Limit a diagnosis to the outputs that are right, and add that of the others. */
static enum bitcut_status add_far(struct diagnosis *to, const struct diagnosed_place *far,
                                  const struct problem *q, uint64_t seed,
                                  const struct progress *progress, struct fault *f)
{
    const struct diagnosis_region in = { far->row, far->row_end, far->col, far->col_end };
    struct diagnosis rest;
    enum bitcut_status status = diagnosis_find_in(&rest, q, in, false, seed, progress, f);
    if (status != BITCUT_OK) return status;
    bool holds = false;
    status = rest.level == DIAGNOSIS_OPERANDS
                 ? hold_for_all(&holds, &rest, to, q, seed, f)
                 : BITCUT_OK;
    if (status != BITCUT_OK) return status;
    if (holds) {
        snprintf(to->operands, sizeof to->operands, "%s", rest.operands);
        return BITCUT_OK;
    }
    to->level = DIAGNOSIS_UNEXPLAINED;
    to->outside = far->outside;
    diagnosis_place_describe_region(to->place, sizeof to->place, far);
    if (rest.level == DIAGNOSIS_FAULT) diagnosis_take_faults(to, &rest);
    return status;
}

/* Elements of A or B that overflow are no rounding errors. */
static void add_overflows(struct diagnosis *to, size_t overflows, size_t examined)
{
    to->level = DIAGNOSIS_OPERANDS;
    text_add(
        to->operands, sizeof to->operands,
        "%s%zu of %zu outputs are infinite or NaN, where elements of A or B overflow "
        "in a short format",
        *to->operands ? ", and " : "", overflows, examined);
}

enum bitcut_status diagnosis_find(struct diagnosis *to, const struct problem *q,
                                  uint64_t seed, const struct progress *progress,
                                  struct fault *f)
{
    const struct diagnosis_region all = { 0, problem_m(q), 0, problem_n(q) };
    struct diagnosis found;
    struct diagnosed_place far = { .outside = 0 };
    size_t examined = 0, overflows = 0;
    enum bitcut_status status =
        diagnosis_find_in(&found, q, all, true, seed, progress, f);
    const bool is_right = status == BITCUT_OK && diagnosis_is_correct(&found);
    if (is_right) status = look(&far, &examined, &overflows, q, &found, seed, f);
    if (status == BITCUT_OK && overflows) add_overflows(&found, overflows, examined);
    if (status == BITCUT_OK && far.outside) {
        found.outputs = examined;
        status = add_far(&found, &far, q, seed, progress, f);
    }
    if (status == BITCUT_OK) *to = found;
    return status;
}
