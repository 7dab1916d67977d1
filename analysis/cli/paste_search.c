/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/paste_search.h"

#include "analysis/identify/effort.h"

#include <stdlib.h>

/* How many hypotheses are tried on one unit, and on all, so that all lines of a paste
   take seconds. */
enum { TRIED_ON_ONE = 2000, TRIED_ON_ALL = 400 };

struct asked {
    const struct paste_line *x;
    const struct paste_operands *o;
};

bool paste_search_takes(const struct paste_line *x)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    return x->ran && !x->scale && x->a == x->b && format_holds(f32, x->a) &&
           format_holds(f32, x->d) && (x->op == PASTE_MM || x->op == PASTE_SCALED);
}

/* The part of the groups of rows that a D has, whose outputs are FP32 encodings. */
static double agreement(const uint32_t *d, const void *context)
{
    const struct asked *const q = context;
    const size_t count = q->o->rows * q->o->cols;
    uint64_t *const own = memory_allocate(count, sizeof *own);
    if (!own) return 0;
    for (size_t i = 0; i < count; i++)
        own[i] = bitcut_format_convert(q->x->d, &roundings[ROUND_RN],
                                       &formats[FORMAT_F32], d[i]);
    const double part = paste_agreeing(q->x, own, q->o) / (double)PASTE_GROUPS;
    free(own);
    return part;
}

/* A matrix of the FP32 values of rows x cols encodings, or of their transpose. */
static enum bitcut_status widen(struct matrix *to, const uint64_t *from, size_t rows,
                                size_t cols, bool transposed,
                                const struct bitcut_format *format, struct fault *f)
{
    const enum bitcut_status status =
        transposed ? matrix_init(to, cols, rows, f) : matrix_init(to, rows, cols, f);
    for (size_t i = 0; status == BITCUT_OK && i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to->at[transposed ? j * rows + i : i * cols + j] =
                (uint32_t)bitcut_format_convert(&formats[FORMAT_F32],
                                                &roundings[ROUND_RN], format,
                                                from[i * cols + j]);
    return status;
}

static enum bitcut_status search(struct statistic_answer *to, struct statistic_problem *p,
                                 const struct bitcut_unit *unit, struct fault *f)
{
    const double products = (double)p->a.rows * (double)p->b.cols * (double)p->a.cols;
    p->unit = unit;
    p->effort = TRIED_ON_ONE * products / WORK_SEARCH;
    enum bitcut_status status = unit ? statistic_search(to, p, f) : BITCUT_OK;
    if (status != BITCUT_OK || (unit && to->found)) return status;
    p->unit = NULL;
    p->effort = TRIED_ON_ALL * products / WORK_SEARCH;
    return statistic_search(to, p, f);
}

enum bitcut_status paste_search(struct statistic_answer *to, const struct paste_line *x,
                                const struct bitcut_unit *unit, int threads,
                                const struct progress *progress, struct fault *f)
{
    struct paste_operands o;
    const struct asked asked = { x, &o };
    const bool whole = x->a == &formats[FORMAT_F32]; /* may be split into parts */
    struct statistic_problem p = { .format = x->d,
                                   .recipe = whole ? NULL : bitcut_recipe_find("plain"),
                                   .agreement = agreement,
                                   .context = &asked,
                                   .threads = threads,
                                   .progress = progress };
    enum bitcut_status status = paste_operands_make(&o, x, f);
    if (status != BITCUT_OK) return status;
    status = widen(&p.a, o.a, o.rows, o.k, false, x->a, f);
    if (status == BITCUT_OK) status = widen(&p.b, o.b, o.cols, o.k, true, x->b, f);
    if (status == BITCUT_OK) status = search(to, &p, unit, f);
    matrix_clear(&p.a);
    matrix_clear(&p.b);
    paste_operands_clear(&o);
    return status;
}
