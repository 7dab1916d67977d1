/* SPDX-License-Identifier: BSD-3-Clause */
/* The diagnosis of all of D: that of a sample and, if every output of the sample is
   right, a look at many more outputs.  One of them that is far beyond all errors of the
   sample has a fault, which is diagnosed in the region of such outputs. */
#include "analysis/identify/diagnosis.h"
#include "analysis/identify/diagnosis_name.h"
#include "analysis/identify/difference.h"
#include "analysis/identify/rung.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>

/* Products of the outputs that are looked at; fewer if something was told, which costs
   more. */
enum { PRODUCTS = 1 << 26, TOLD_PRODUCTS = 1 << 22 };

/* Errors of the sample that no right output exceeds, times. */
static const double BEYOND = 64;

/* Outputs far beyond the errors of the sample, and the smallest region with all. */
struct far_outputs {
    size_t count, examined;
    struct diagnosis_region in;
    bool filled; /* all examined outputs of the region are far */
};

static void find_far(struct far_outputs *to, const struct view *v, double limit)
{
    const struct block *const b = &v->b;
    size_t inside = 0;
    *to = (struct far_outputs){ .in = { SIZE_MAX, 0, SIZE_MAX, 0 } };
    for (int pass = 0; pass < 2; pass++)
        for (size_t at = 0; at < b->rows * b->cols; at++) {
            const size_t row = b->row[at / b->cols], col = b->col[at % b->cols];
            const double error = fabs(v->d[at] - v->exact[at]) / v->size[at];
            struct diagnosis_region *const r = &to->in;
            if (!isfinite(error)) continue;
            if (pass) {
                inside += row >= r->row && row < r->row_end && col >= r->col &&
                          col < r->col_end;
                continue;
            }
            to->examined++;
            if (!(error > limit)) continue;
            to->count++;
            r->row = smaller(r->row, row), r->col = smaller(r->col, col);
            r->row_end = row >= r->row_end ? row + 1 : r->row_end;
            r->col_end = col >= r->col_end ? col + 1 : r->col_end;
        }
    to->filled = inside == to->count;
}

/* Lines of D, the last one among them; NULL: no memory. */
static size_t *lines_take(size_t *count, size_t most, size_t all, uint64_t seed,
                          uint64_t stream)
{
    size_t *const line = memory_allocate(smaller(most, all), sizeof *line);
    if (!line) return NULL;
    *count = lines_draw(line, smaller(most, all), all, seed, stream);
    line[*count - 1] = all - 1;
    return line;
}

/* Many outputs of D, as many rows as columns if they are not all. */
static enum bitcut_status look(struct far_outputs *to, const struct problem *q,
                               double limit, uint64_t seed, struct fault *f)
{
    enum { STREAM_ROWS = 63, STREAM_COLS = 64 };
    const size_t area =
                     (problem_is_told(q) ? TOLD_PRODUCTS : PRODUCTS) / problem_k(q) + 1,
                 side = (size_t)sqrt((double)area) + 1, m = problem_m(q),
                 n = problem_n(q), most = n < side ? area / n + 1 : side;
    size_t rows, cols;
    size_t *const row = lines_take(&rows, most, m, seed, STREAM_ROWS),
                  *const col = lines_take(&cols, m < side ? area / m + 1 : side, n, seed,
                                          STREAM_COLS);
    struct view v;
    enum bitcut_status status =
        row && col ? view_take(&v, q, row, rows, col, cols, f)
                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK) {
        find_far(to, &v, limit);
        view_clear(&v);
    }
    free(row);
    free(col);
    return status;
}

/* Limit a diagnosis to the outputs that are right, and add that of the others. */
static enum bitcut_status add_far(struct diagnosis *to, const struct far_outputs *far,
                                  const struct problem *q, uint64_t seed,
                                  const struct progress *progress, struct fault *f)
{
    const struct diagnosis_region *const r = &far->in;
    struct diagnosis rest;
    const enum bitcut_status status =
        diagnosis_find_in(&rest, q, *r, false, seed, progress, f);
    if (status != BITCUT_OK) return status;
    to->level = DIAGNOSIS_UNEXPLAINED;
    to->outside = far->count;
    to->outputs = far->examined;
    text_add(to->place, sizeof to->place, "%s", far->filled ? "" : "some outputs of ");
    region_describe(to->place, sizeof to->place, r->row, r->row_end, r->col, r->col_end);
    if (rest.level == DIAGNOSIS_FAULT) diagnosis_take_faults(to, &rest);
    return status;
}

enum bitcut_status diagnosis_find(struct diagnosis *to, const struct problem *q,
                                  uint64_t seed, const struct progress *progress,
                                  struct fault *f)
{
    const struct diagnosis_region all = { 0, problem_m(q), 0, problem_n(q) };
    struct diagnosis found;
    struct far_outputs far = { .count = 0 };
    enum bitcut_status status =
        diagnosis_find_in(&found, q, all, true, seed, progress, f);
    const bool is_right = status == BITCUT_OK && (found.level == DIAGNOSIS_ROUNDING ||
                                                  found.level == DIAGNOSIS_OPERANDS);
    if (is_right) status = look(&far, q, ldexp(BEYOND * found.largest, -24), seed, f);
    if (status == BITCUT_OK && far.count)
        status = add_far(&found, &far, q, seed, progress, f);
    if (status == BITCUT_OK) *to = found;
    return status;
}
