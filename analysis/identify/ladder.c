/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/ladder.h"

#include "analysis/identify/difference_pattern.h"
#include "analysis/identify/rung.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/exact/exact.h"
#include "lib/number/bits.h"

#include <stdlib.h>
#include <string.h>

const struct rung rungs[] = {
    { "contents", "outputs that were not written: zeros, NaN, infinities, one number",
      rung_contents, false, false },
    { "reading", "operands that are transposed or exchanged", rung_reading, false, true },
    { "growth", "a sum that stops growing in an accumulator of f16 or bf16", rung_growth,
      true, false },
    { "negative", "negative results that are zeros", rung_negative, true, false },
    { "constant", "one number in all of D", rung_constant, true, false },
    { "zeros", "zero points of integers that were not given", rung_zeros, true, false },
    { "operand", "a bias or factors that were not given", rung_operand, true, false },
    { "lines", "rows or columns of D at other positions", rung_lines, true, true },
    { "tiles", "tiles, or elements of tiles, of D at other positions", rung_tiles, true,
      true },
    { "k", "k of one operand shifted or reversed", rung_k, true, true },
    { "blocks", "factors of blocks of k that were not given", rung_blocks, true, false },
    { 0 }
};

/* --- climbing --------------------------------------------------------------------- */

/* Draw lines from the written ones. */
static size_t written_draw(size_t *to, size_t most, const struct some_lines *written,
                           size_t all, uint64_t seed, uint64_t stream)
{
    const size_t count =
        lines_draw(to, most, written->at ? written->count : all, seed, stream);
    for (size_t i = 0; i < count && written->at; i++) to[i] = written->at[to[i]];
    return count;
}

/* The same for rows and columns; the caller frees *row and *col, also after a failure. */
static enum bitcut_status draw_both(size_t **row, size_t *rows, size_t **col,
                                    size_t *cols, const struct ladder_report *l,
                                    const struct problem *q, uint64_t seed,
                                    uint64_t stream, struct fault *f)
{
    *row = memory_allocate(*rows, sizeof **row);
    *col = memory_allocate(*cols, sizeof **col);
    if (!*row || !*col)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    *rows = written_draw(*row, *rows, &l->rows, problem_m(q), seed, stream);
    *cols = written_draw(*col, *cols, &l->cols, problem_n(q), seed, stream + 1);
    return BITCUT_OK;
}

enum bitcut_status ladder_take(struct block *to, const struct ladder_report *l,
                               const struct problem *q, size_t rows, size_t cols,
                               uint64_t seed, uint64_t stream, struct fault *f)
{
    size_t *row, *col;
    enum bitcut_status status =
        draw_both(&row, &rows, &col, &cols, l, q, seed, stream, f);
    if (status == BITCUT_OK) status = block_take(to, q, row, rows, col, cols, f);
    free(row);
    free(col);
    return status;
}

static enum bitcut_status take_sample(struct rung_input *x, const struct ladder_report *l,
                                      struct fault *f)
{
    enum { SIDE = 64, STREAM = 50 };
    size_t *row, *col, rows = SIDE, cols = SIDE;
    view_clear(&x->sample);
    enum bitcut_status status =
        draw_both(&row, &rows, &col, &cols, l, x->q, x->seed, STREAM, f);
    if (status == BITCUT_OK)
        status = view_take(&x->sample, x->q, row, rows, col, cols, f);
    free(row);
    free(col);
    return status;
}

/* --- ulps ------------------------------------------------------------------------- */

/* The exact values of the sample, rounded to FP32 and to FP64; of a problem with
   something given up to roundings of binary64. */
static enum bitcut_status exact_values(uint32_t *c32, uint64_t *c64, const struct view *v,
                                       struct fault *f)
{
    const struct block *const b = &v->b;
    const struct exact_update update = { b->q->alpha, b->c ? b->q->beta : 0, b->c };
    const struct exact_options o = { .threads = 1, .update = &update };
    for (size_t at = 0; b->own && at < b->rows * b->cols; at++) {
        c32[at] = bits_of_float((float)v->exact[at]);
        c64[at] = bits_of_double(v->exact[at]);
    }
    return b->own ? BITCUT_OK
                  : exact_gemm(c32, c64, NULL, NULL, &o, b->rows, b->cols, b->k, b->a,
                               b->b, f);
}

static enum bitcut_status count_ulps(struct ladder_report *l, const struct view *v,
                                     struct fault *f)
{
    static const uint64_t limits[ULPS_COUNT] = { 0, 1, 2, 8 };
    const struct bitcut_format *const format = v->b.q->format;
    const size_t count = v->b.rows * v->b.cols;
    uint32_t *const c32 = memory_allocate(count, sizeof *c32);
    uint64_t *const c64 = memory_allocate(count, sizeof *c64);
    enum bitcut_status status =
        c32 && c64 ? exact_values(c32, c64, v, f)
                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exact values");
    for (size_t at = 0; at < count && status == BITCUT_OK; at++) {
        uint32_t right = c32[at];
        if (problem_is_short(v->b.q))
            right = (uint32_t)bitcut_format_convert(
                &formats[FORMAT_F32], &roundings[ROUND_RN], format,
                bitcut_format_convert(format, &roundings[ROUND_RN], &formats[FORMAT_F64],
                                      c64[at]));
        if (l->clipped && value_of_float(right) < 0) right = 0;
        const uint64_t apart = spread_distance(format, v->b.d[at], right);
        for (int i = 0; i < ULPS_COUNT; i++) l->within[i] += apart <= limits[i];
    }
    if (status == BITCUT_OK) l->rounded = count;
    free(c32);
    free(c64);
    return status;
}

/* --- the ladder ------------------------------------------------------------------- */

enum bitcut_status ladder_report_make(struct ladder_report *l, const struct problem *q,
                                      uint64_t seed, struct fault *f)
{
    uint32_t *const d = problem_result(q);
    struct rung_input x = { .q = q,
                            .m = problem_m(q),
                            .n = problem_n(q),
                            .k = problem_k(q),
                            .d = d,
                            .seed = seed };
    enum bitcut_status status =
        d ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for D");
    *l = (struct ladder_report){ .alpha = q->alpha };
    for (size_t i = 0; rungs[i].name && status == BITCUT_OK; i++) {
        const size_t before = l->findings;
        if (q->a.kept && rungs[i].moves) continue;
        status = rungs[i].find(l, &x, f);
        if (status == BITCUT_OK && !i) status = take_sample(&x, l, f);
        if (l->findings > before && rungs[i].ends) break;
    }
    if (status == BITCUT_OK) status = count_ulps(l, &x.sample, f);
    view_clear(&x.sample);
    free(d);
    if (status != BITCUT_OK) ladder_report_clear(l);
    return status;
}

void ladder_report_clear(struct ladder_report *l)
{
    free(l->rows.at);
    free(l->cols.at);
    free(l->gathered[0]);
    free(l->gathered[1]);
    *l = (struct ladder_report){ .findings = 0 };
}

struct problem ladder_rest(const struct ladder_report *l, const struct problem *q)
{
    struct problem rest = *q;
    const size_t m = problem_m(q), n = problem_n(q), k = problem_k(q);
    rest.alpha = l->alpha;
    if (l->has_zero) memcpy(rest.zero, l->zero, sizeof rest.zero);
    if (l->gathered[0]) {
        rest.a = (struct matrix){
            .rows = m, .cols = k, .at = l->gathered[0], .format = q->a.format
        };
        rest.transposed_a = false;
    }
    if (l->gathered[1]) {
        rest.b = (struct matrix){
            .rows = k, .cols = n, .at = l->gathered[1], .format = q->b.format
        };
        rest.transposed_b = false;
    }
    return rest;
}

/* --- sentences and fields --------------------------------------------------------- */

void ladder_describe(char *text, size_t size, const struct ladder_report *l)
{
    for (size_t i = 0; i < l->findings; i++) {
        text_add(text, size, "%s%s", i ? "; " : "", l->finding[i].text);
        if (*l->finding[i].option)
            text_add(text, size, " (give %s)", l->finding[i].option);
    }
}

void ladder_describe_ulps(char *text, size_t size, const struct ladder_report *l)
{
    if (!l->rounded) return;
    const double share = 100 / (double)l->rounded;
    text_add(
        text, size,
        "%.3g %% of %zu outputs are the correctly rounded exact result; %.3g %% within "
        "1 ulp, %.3g %% within 2, %.3g %% within 8",
        share * (double)l->within[0], l->rounded, share * (double)l->within[1],
        share * (double)l->within[2], share * (double)l->within[3]);
}

static bool has_option(const void *finding)
{
    return *((const struct bitcut_finding *)finding)->option;
}

/* clang-format off */
const struct record_field ladder_finding_fields[] = {
    RECORD_FIELD(struct bitcut_finding, name, "name", "", "what was found"),
    RECORD_FIELD(struct bitcut_finding, text, "text", "", "the same as a sentence"),
    RECORD_MEMBER_IF(struct bitcut_finding, option, "option", "option", "", "option of explain "
                     "that gives what was not given, or null", has_option),
    RECORD_FIELD(struct bitcut_finding, rows, "rows", "", "first row that it concerns, and the "
                                                          "row after the last"),
    RECORD_FIELD(struct bitcut_finding, columns, "columns", "", "first column, and the column "
                                                                "after the last"),
    RECORD_FIELD(struct bitcut_finding, outputs, "outputs", "", "outputs that it concerns, of "
                                                                "those that were examined"),
    { 0 }
};
/* clang-format on */
