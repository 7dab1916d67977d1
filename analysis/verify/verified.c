/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/verified.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- fields ----------------------------------------------------------------------- */

/* --- of a D --- */

#define D_HAS(name, condition)                                                           \
    static bool name(const void *answer)                                                 \
    {                                                                                    \
        const struct verified *const v = answer;                                         \
        return condition;                                                                \
    }

D_HAS(d_differs, v->found.differ)
D_HAS(d_is_finite, v->first.finite)
D_HAS(d_has_parts, *v->first.differ)
D_HAS(d_is_explained, *v->explained.sentence)
D_HAS(d_is_by_code, v->by_code)
D_HAS(d_is_a_file, !v->by_code)
D_HAS(d_is_batch, v->of_batch)

static const void *differing_at(const void *answer, size_t i, void *room)
{
    const struct verified *const v = answer;
    (void)room;
    return i < v->listed ? &v->differing[i] : NULL;
}

static const char *d_level(const void *answer)
{
    return diagnosis_levels[((const struct verified *)answer)->explained.level].name;
}

#define OF_D(member, key, what) RECORD_INNER(struct verified, member, key, "", what)
#define OF_D_IF(condition, member, key, unit, what)                                      \
    RECORD_INNER_IF(struct verified, member, key, unit, what, condition)

/* clang-format off */
static const struct record_field d_file[] = {
    OF_D(first.other, "file", "value in the file"),
    { 0 }
};

static const struct record_field d_device[] = {
    OF_D(first.other, "device", "value of the kernel"),
    { 0 }
};

static const struct record_field d_parts[] = {
    OF_D(first.differ, "differ", "how they differ"),
    { 0 }
};

static const struct record_field d_gemm[] = {
    OF_D(found.gemm, "gemm", "GEMM of the batch, counted from 0"),
    { 0 }
};

static const struct record_field d_batch[] = {
    OF_D(gemms, "count", "GEMMs of the batch"),
    OF_D(identical, "identical", "GEMMs whose outputs all agree"),
    { 0 }
};

static const struct record_field d_first[] = {
    RECORD_TOGETHER(d_is_batch, d_gemm, "", "GEMM of the batch"),
    RECORD_PAIR(struct verified, found.row, "at", "", "row and column"),
    OF_D(first.model, "emulator", "value of the emulator"),
    RECORD_TOGETHER(d_is_a_file, d_file, "", "value in the file"),
    RECORD_TOGETHER(d_is_by_code, d_device, "", "value of the kernel"),
    OF_D_IF(d_is_finite, first.steps, "ulps", "ulp", "distance between them"),
    RECORD_TOGETHER(d_has_parts, d_parts, "", "how they differ, where no distance is "
                                              "defined"),
    { 0 }
};

const struct record_field verified_fields[] = {
    RECORD_ITEMS(differing_at, differing_fields, "differing", "the first outputs that differ"),
    OF_D(gemm.gemm.m, "m", "rows of D"),
    OF_D(gemm.gemm.n, "n", "columns of D"),
    OF_D(gemm.gemm.k, "k", "columns of A"),
    RECORD_TOGETHER(d_is_batch, d_batch, "", "GEMMs of a batch"),
    OF_D(found.compared, "compared", "outputs compared"),
    OF_D(total, "total", "outputs of D"),
    OF_D(found.differ, "mismatches", "outputs that differ"),
    RECORD_TOGETHER(d_differs, d_first, "first", "the first of them"),
    RECORD_TEXT_OF(d_level, "diagnosis", "the diagnosis of explain: identical, rounding, "
                                         "operands, fault, unexplained, or none"),
    OF_D_IF(d_is_explained, explained.sentence, "hypothesis", "", "recipe, unit and order that "
                                                          "computed D"),
    { 0 }
};

const struct record_field verified_code_fields[] = {
    OF_D(gemm.gemm.kernel, "kernel", "the kernel's name"),
    OF_D(code, "code", "file of the code object"),
    OF_D(gemm.gemm.device, "device", "what executed it"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

void verified_describe_differ(char *text, size_t size, size_t differ, size_t compared)
{
    if (differ)
        text_add(text, size, "%zu, %.3g %%", differ,
                 100. * (double)differ / (double)compared);
    else text_add(text, size, "none");
}

/* --- of a D --- */

static void d_code(char *text, size_t size, const void *answer)
{
    const struct verified *const v = answer;
    if (v->by_code)
        text_add(text, size,
                 "%s of %s on %s: %llu instructions, %llu of them matrix ones",
                 v->gemm.gemm.kernel, v->code, v->gemm.gemm.device,
                 (unsigned long long)v->instructions, (unsigned long long)v->matrix);
}

static void d_compared(char *text, size_t size, const void *answer)
{
    const struct verified *const v = answer;
    const size_t compared = v->found.compared;
    if (compared < v->total)
        text_add(text, size, "%zu of %zu outputs, bit for bit, a sample (--seed)",
                 compared, v->total);
    else text_add(text, size, "all %zu outputs, bit for bit", compared);
    if (v->of_batch)
        text_add(text, size, "; %zu of %zu GEMMs are identical", v->identical, v->gemms);
}

static void d_differ(char *text, size_t size, const void *answer)
{
    const struct verified *const v = answer;
    verified_describe_differ(text, size, v->found.differ, v->found.compared);
}

void verified_describe_first(char *text, size_t size, const void *answer)
{
    const struct verified *const v = answer;
    if (!v->found.differ) return;
    if (v->of_batch) text_add(text, size, "GEMM %zu, ", v->found.gemm);
    text_add(text, size, "row %zu, column %zu: ", v->found.row, v->found.column);
    apart_describe(text, size, &v->first, v->by_code ? "the device" : "the file",
                   "the emulator", true);
    differing_describe(text, size, v->differing, v->listed, 1);
}

void verified_describe_verdict(char *text, size_t size, const void *answer)
{
    const struct verified *const v = answer;
    const bool sample = v->found.compared < v->total;
    if (v->found.differ)
        text_add(text, size,
                 "D differs from this recipe on this unit in %zu of %zu outputs",
                 v->found.differ, v->found.compared);
    else if (!v->total)
        text_add(text, size, "there is nothing to compare: D has no elements");
    else
        text_add(text, size, "%s equals this recipe on this unit, bit for bit",
                 sample ? "the sample of D" : "D");
}

/* What to do where bits differ. */
static void d_next(char *text, size_t size, const void *answer)
{
    const struct verified *const v = answer;
    const struct brief_explanation *const why = &v->explained;
    const enum diagnosis_level level = why->faulty ? DIAGNOSIS_FAULT : why->level;
    if (!v->found.differ) return;
    if (level == DIAGNOSIS_NONE)
        text_add(text, size,
                 "bitcut explain says whether another order of k is enough for this "
                 "difference; bitcut tolerance -d checks the errors");
    else if (level == DIAGNOSIS_IDENTICAL)
        text_add(
            text, size,
            "if the kernel is to compute this, give verify its recipe, unit and order");
    else text_add(text, size, "%s", diagnosis_levels[level].next);
}

static void d_hypothesis(char *text, size_t size, const void *answer)
{
    text_add(text, size, "%s", ((const struct verified *)answer)->explained.sentence);
}

const struct record_line verified_lines[] = {
    /* clang-format off */
    GEMM_LINES,
    { "kernel",           d_code,            RECORD_ALWAYS, NULL },
    { "library",          gemm_describe_library,  RECORD_ALWAYS, NULL },
    { "matrices",         gemm_describe_matrices, RECORD_ALWAYS, NULL },
    { "compared",         d_compared,        RECORD_ALWAYS, NULL },
    { "differ",           d_differ,          RECORD_ALWAYS, NULL },
    { "first difference", verified_describe_first,      RECORD_BELOW,  NULL },
    BUDGET_LINES,
    { LABEL_VERDICT,      verified_describe_verdict,         RECORD_ALWAYS, NULL },
    { "explanation",      d_hypothesis,      RECORD_BELOW,  NULL },
    { "next step",        d_next,            RECORD_ALWAYS, NULL },
    { 0 }
    /* clang-format on */
};

/* --- comparing -------------------------------------------------------------------- */

/* Select at most that many outputs, in random rows and columns, about as many of each. */
static enum bitcut_status take_sample(struct block *part, const struct verify_problem *q,
                                      struct fault *f)
{
    enum { STREAM_ROWS = 40, STREAM_COLUMNS };
    const struct problem of = {
        .a = q->data->a, .b = q->data->b, .c = q->data->c, .d = *q->d
    };
    const size_t m = q->d->rows, n = q->d->cols, side = (size_t)sqrt((double)q->samples),
                 few = smaller(n, q->samples / smaller(m, side)),
                 rows = smaller(m, q->samples / few), cols = smaller(n, q->samples / rows);
    size_t *const row = memory_allocate(rows, sizeof *row),
                  *const col = memory_allocate(cols, sizeof *col);
    enum bitcut_status status =
        row && col ? BITCUT_OK
                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK) {
        lines_draw(row, rows, m, q->seed, STREAM_ROWS);
        lines_draw(col, cols, n, q->seed, STREAM_COLUMNS);
        status = block_take(part, &of, row, rows, col, cols, f);
        part->q = NULL; /* it does not stay valid */
    }
    free(row);
    free(col);
    return status;
}

/* A matrix with borrowed elements. */
static struct matrix matrix_of(uint32_t *at, size_t rows, size_t cols)
{
    return (struct matrix){ .rows = rows, .cols = cols, .at = at };
}

/* D by the emulator, in the format of the given D. */
static enum bitcut_status emulate(struct matrix *want, const struct verify_problem *q,
                                  const struct gemm_options *options, struct fault *f)
{
    struct bitcut_gemm g = q->batch ? *q->batch : *q->gemm;
    struct gemm_options own = *options;
    if (q->expected) {
        memcpy(want->at, q->expected->at, want->rows * want->cols * sizeof *want->at);
        return BITCUT_OK;
    }
    if (!q->batch)
        gemm_set_dense(&g, want->at, want->rows, want->cols, q->data->a.cols,
                       q->data->a.at, q->data->b.at, q->data->c.at);
    if (!q->batch) sparsity_set(&g, &q->data->a);
    g.d.to = want->at;
    own.widened = gemm_is_extended(&g); /* its steps may round to the format of D */
    if (own.widened) g.d.format = q->gemm->d.format;
    const enum bitcut_status status = gemm_run(&g, &own, f);
    if (status == BITCUT_OK && !own.widened)
        result_round(want->at, want->rows * want->cols, q->gemm->d.format);
    return status;
}

/* The position in all of D of an output of the part. */
static void place(const struct verified *v, struct differing *x)
{
    if (!v->part.row) return;
    x->row = v->part.row[x->row];
    x->col = v->part.col[x->col];
}

/* The GEMM of an output of a batch, whose row is one of all D, one under the other. */
static void place_in_batch(struct differing *x, const struct bitcut_gemm *all)
{
    x->of_batch = true;
    x->gemm = gemm_of_row(all, x->row);
    x->row -= gemm_first_row(all, x->gemm);
}

static void count_identical(struct verified *v, const struct bitcut_gemm *all,
                            const struct pair_of *x)
{
    v->of_batch = true;
    v->gemms = all->count;
    for (size_t i = 0; x->m && x->n && i < all->count; i++) {
        const size_t from = gemm_first_row(all, i) * x->n,
                     elements = gemm_first_row(all, i + 1) * x->n - from;
        v->identical +=
            !elements || !memcmp(x->d + from, x->h + from, elements * sizeof *x->d);
    }
    if (!x->m || !x->n) v->identical = v->gemms;
}

static void compare(struct verified *v, const struct matrix *want,
                    const struct verify_problem *q)
{
    const uint32_t *const d = q->d->at;
    const struct pair_of of = { .m = want->rows, .n = want->cols, .d = d, .h = want->at };
    v->found.compared = of.m * of.n;
    for (size_t i = 0; i < v->found.compared; i++) v->found.differ += d[i] != of.h[i];
    v->listed = difference_first(v->differing, &of);
    if (q->batch) count_identical(v, q->batch, &of);
    for (size_t i = 0; i < v->listed; i++)
        if (q->batch) place_in_batch(&v->differing[i], q->batch);
        else place(v, &v->differing[i]);
    if (!v->listed) return;
    v->found.gemm = v->differing[0].gemm;
    v->found.row = v->differing[0].row;
    v->found.column = v->differing[0].col;
    v->found.given = v->differing[0].given;
    v->found.expected = v->differing[0].expected;
    v->first = apart_of(&formats[FORMAT_F32], v->differing[0].expected, v->differing[0].given);
}

/* All outputs of q. */
static enum bitcut_status compare_all(struct verified *v, const char **what,
                                      const struct verify_problem *q,
                                      const struct gemm_options *options, struct fault *f)
{
    struct matrix want;
    *what = "D";
    const size_t rows = q->batch ? gemm_first_row(q->batch, q->batch->count) : q->d->rows;
    enum bitcut_status status = matrix_init(&want, rows, q->d->cols, f);
    if (status != BITCUT_OK) return status;
    *what = "gemm";
    status = emulate(&want, q, options, f);
    if (status == BITCUT_OK) compare(v, &want, q);
    matrix_clear(&want);
    return status;
}

enum bitcut_status verified_find(struct verified *to, const char **what,
                                 const struct verify_problem *q,
                                 const struct gemm_options *options, struct fault *f)
{
    struct block *const part = &to->part;
    *to = (struct verified){ .gemm.gemm = { .gemm = q->gemm,
                                            .plan = q->plan,
                                            .m = q->d->rows,
                                            .n = q->d->cols,
                                            .k = q->data->a.cols,
                                            .is_batch = q->batch != NULL,
                                            .count = q->batch ? q->batch->count : 1 },
                             .total = matrix_count(q->d) * q->d->rows * q->d->cols,
                             .by_code = q->code };
    if (q->code) to->instructions = q->code->counts.instructions;
    if (q->code) to->matrix = q->code->counts.matrix;
    if (!q->samples || q->samples >= to->total)
        return compare_all(to, what, q, options, f);
    *what = "sample";
    enum bitcut_status status = take_sample(part, q, f);
    if (status != BITCUT_OK) return status;
    const struct gemm_data data = { .a = matrix_of(part->a, part->rows, part->k),
                                    .b = matrix_of(part->b, part->k, part->cols),
                                    .c = matrix_of(part->c, part->rows, part->cols) };
    const struct matrix d = matrix_of(part->d, part->rows, part->cols);
    struct verify_problem some = *q;
    some.data = &data;
    some.d = &d;
    status = compare_all(to, what, &some, options, f);
    if (status != BITCUT_OK) verified_clear(to);
    return status;
}

void verified_clear(struct verified *v) { block_clear(&v->part); }
