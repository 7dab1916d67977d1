/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/result_pair.h"

#include "emu/unit_field.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/exact/exact.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- positions of differences ----------------------------------------------------- */

/* The index of an FP32 encoding among the numbers of a format. */
static int64_t along_line(const struct bitcut_format *format, uint32_t x)
{
    return format_along_line(format, bitcut_format_convert(format, &roundings[ROUND_RN],
                                                           &formats[FORMAT_F32], x));
}

/* The largest distance between two outputs that differ and are numbers. */
static void measure(struct result_pair *t, const struct pair_of *x)
{
    for (size_t i = 0; i < x->m * x->n; i++) {
        if (x->d[i] == x->h[i] || !f32_is_finite(x->d[i]) || !f32_is_finite(x->h[i]))
            continue;
        const int64_t steps =
            along_line(t->format, x->d[i]) - along_line(t->format, x->h[i]);
        const size_t ulps = (size_t)(steps < 0 ? -steps : steps);
        if (!t->answer.measured || ulps > t->answer.ulps) {
            t->answer.ulps = ulps;
            t->answer.row = i / x->n;
            t->answer.column = i % x->n;
        }
        t->answer.measured = true;
    }
}

static enum bitcut_status find_places(struct result_pair *t,
                                      const struct explanation e[2], struct fault *f)
{
    uint32_t *const d = problem_result(&e[0].q), *const h = problem_result(&e[1].q);
    const struct pair_of x = { problem_m(&e[0].q), problem_n(&e[0].q), d, h, NULL };
    if (d && h) {
        t->answer.total = x.m * x.n;
        for (size_t i = 0; i < t->answer.total; i++) t->answer.differ += d[i] != h[i];
        t->parts = difference_boxes(t->part, PARTS_MAX, &x);
        measure(t, &x);
    }
    free(d);
    free(h);
    return d && h ? BITCUT_OK
                  : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the results");
}

/* --- reasons ---------------------------------------------------------------------- */

/* The text for value 0 of an axis; NULL: as in the recipe. */
static const char *const usual[AXES] = {
    [AXIS_PROMOTE] = "promotion is as in the recipe",
    [AXIS_PARTS] = "the parts are the recipe's",
    [AXIS_TERMS] = "the products are the recipe's",
    [AXIS_TILE] = "the tiles are the recipe's",
    [AXIS_LINES] = "no rows or columns are equilibrated",
    [AXIS_ORDER] = "k is one sum, ascending",
    [AXIS_EPILOGUE] = "the epilogue is alpha A B + beta C, rounded once",
    [AXIS_FAULT] = "there is no fault",
};

enum { VALUE_MAX = 300 };

/* The text for a hypothesis on an axis. */
static void value_describe(char text[VALUE_MAX], int axis, const struct verdict *v,
                           const struct space *s)
{
    text[0] = 0;
    if (axis == AXIS_RECIPE) text_add(text, VALUE_MAX, "%s", v->x.gemm.recipe->name);
    else if (axis == AXIS_UNIT) text_add(text, VALUE_MAX, "%s", v->x.gemm.unit->name);
    else if (!v->h.at[axis])
        text_add(text, VALUE_MAX, "%s",
                 usual[axis] ? usual[axis] : "it is as in the recipe");
    else axes[axis].describe(text, VALUE_MAX, &v->x, s, v->h.at[axis]);
}

/* Whether two units differ in a field that one of them reads. */
static bool differs_in(const struct field *p, const struct bitcut_unit *x,
                       const struct bitcut_unit *y)
{
    return field_get(p, x) != field_get(p, y) && (field_used(p, x) || field_used(p, y));
}

/* The fields in which two units differ, as "fraction 25 and 24". */
static void describe_units(char *text, const struct bitcut_unit *x,
                           const struct bitcut_unit *y)
{
    enum { FIELDS_SAID = 4 };
    int said = 0;
    if (x->k != y->k) {
        text_add(text, WHY_MAX, " (k %d and %d", x->k, y->k);
        said++;
    }
    for (const struct field *p = fields; p->name && said < FIELDS_SAID; p++) {
        char of_x[FIELD_TEXT_MAX], of_y[FIELD_TEXT_MAX];
        if (!differs_in(p, x, y)) continue;
        field_value(of_x, p, x, field_get(p, x));
        field_value(of_y, p, y, field_get(p, y));
        text_add(text, WHY_MAX, "%s%s %s and %s", said++ ? ", " : " (", p->name, of_x,
                 of_y);
    }
    if (said) text_add(text, WHY_MAX, ")");
}

static void describe_axis(char *text, int axis, const struct verdict *const v[2],
                          const struct explanation e[2])
{
    char of[2][VALUE_MAX];
    const char *const between = *text ? "; " : "";
    for (int i = 0; i < 2; i++) value_describe(of[i], axis, v[i], &e[i].space);
    if (!strcmp(of[0], of[1])) return;
    if (axis == AXIS_RECIPE)
        text_add(text, WHY_MAX, "%sD is %s, D2 is %s", between, of[0], of[1]);
    else if (axis == AXIS_UNIT) {
        text_add(text, WHY_MAX, "%sD is on %s, D2 on %s", between, of[0], of[1]);
        describe_units(text, v[0]->x.gemm.unit, v[1]->x.gemm.unit);
    } else text_add(text, WHY_MAX, "%sin D %s, in D2 %s", between, of[0], of[1]);
}

/* Hypotheses that give the whole sample: the best, then the others. */
static const struct verdict *nth_verdict(const struct explanation *e, size_t i)
{
    return i ? &e->equal[i - 1] : &e->best;
}

static size_t verdicts(const struct explanation *e)
{
    return 1 + smaller(e->equals, EQUALS_MAX);
}

/* The difference between two hypotheses: the number of axes, and among equal numbers the
   number of fields of their units. */
static size_t apart(const struct verdict *const v[2], const struct explanation e[2])
{
    enum { AXIS_WEIGHT = 2 * FIELD_COUNT };
    const struct bitcut_unit *const x = v[0]->x.gemm.unit, *const y = v[1]->x.gemm.unit;
    size_t sum = x->k != y->k;
    for (const struct field *p = fields; p->name; p++) sum += differs_in(p, x, y);
    for (int axis = 0; axis < AXES; axis++) {
        char of[2][VALUE_MAX];
        for (int i = 0; i < 2; i++) value_describe(of[i], axis, v[i], &e[i].space);
        sum += strcmp(of[0], of[1]) != 0 ? AXIS_WEIGHT : 0;
    }
    return sum;
}

/* Among the hypotheses of both results, the two that differ least. */
static void nearest_pair(const struct verdict *to[2], const struct explanation e[2])
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < verdicts(&e[0]); i++)
        for (size_t j = 0; j < verdicts(&e[1]); j++) {
            const struct verdict *const v[2] = { nth_verdict(&e[0], i),
                                                 nth_verdict(&e[1], j) };
            const size_t now = apart(v, e);
            if (now >= least) continue;
            least = now;
            to[0] = v[0], to[1] = v[1];
        }
}

/* The regions in which a result differs from its hypothesis. */
static void describe_places(char *text, const char *name, const struct explanation *e)
{
    for (size_t i = 0; i < e->parts && i < PARTS_MAX; i++) {
        const struct box *b = &e->part[i];
        text_add(text, WHY_MAX, "%sin ", *text ? "; " : "");
        box_describe(text, WHY_MAX, b);
        text_add(text, WHY_MAX, " of %s %s", name,
                 *b->what ? b->what : "another computation");
    }
}

static void find_why(struct result_pair *t, const struct explanation e[2])
{
    const struct verdict *v[2] = { NULL, NULL };
    if (!e[0].answer.found || !e[1].answer.found) return;
    nearest_pair(v, e);
    for (int axis = 0; axis < AXES; axis++) describe_axis(t->why, axis, v, e);
    if (e[0].space.format != e[1].space.format)
        text_add(t->why, WHY_MAX, "%sD is in %s, D2 in %s", *t->why ? "; " : "",
                 e[0].space.format->name, e[1].space.format->name);
    describe_places(t->why, "D", &e[0]);
    describe_places(t->why, "D2", &e[1]);
}

/* --- which is nearer to the exact result ------------------------------------------ */

/* The distances of a block's outputs from their exact values, relative to |A||B|. */
struct distances {
    double *absolute, *relative;
};

/* The same if a bias, factors or steps were given: from the exact value of all steps, up
   to roundings of binary64. */
static enum bitcut_status find_told(struct distances *to, const struct block *b,
                                    struct fault *f)
{
    if (!to->absolute || !to->relative)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exact results");
    for (size_t i = 0; i < b->rows * b->cols; i++) {
        const struct exact_output x = block_exact(b, i / b->cols, i % b->cols);
        to->absolute[i] = fabs((double)float_of_bits(b->d[i]) - x.value);
        to->relative[i] =
            to->absolute[i] == 0 ? 0 : ldexp(to->absolute[i] / x.magnitude, 24);
    }
    return BITCUT_OK;
}

static enum bitcut_status find_distances(struct distances *to, const struct block *b,
                                         const struct problem *q,
                                         const struct explain_options *o, struct fault *f)
{
    const size_t count = b->rows * b->cols;
    const struct exact_update update = { q->alpha, q->beta,
                                         f32_is_zero(q->beta) ? NULL : b->c };
    const struct exact_options options = { .threads = o->threads,
                                           .progress = o->progress,
                                           .update = &update,
                                           .sums = offload_sums(o->offload) };
    uint64_t *const exact = memory_allocate(count, sizeof *exact);
    enum bitcut_status status =
        exact && to->absolute && to->relative
            ? exact_gemm(NULL, exact, to->relative, NULL, &options, b->rows, b->cols,
                         b->k, b->a, b->b, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exact results");
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        const double size = to->relative[i];
        to->absolute[i] = fabs((double)float_of_bits(b->d[i]) - double_of_bits(exact[i]));
        to->relative[i] = to->absolute[i] == 0 ? 0 : ldexp(to->absolute[i] / size, 24);
    }
    free(exact);
    return status;
}

static void count_nearer(struct result_pair *t, const struct distances x[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double d = x[0].absolute[i], d2 = x[1].absolute[i];
        if (!isfinite(d) || !isfinite(d2)) continue;
        t->answer.sampled++;
        t->answer.nearer[0] += d < d2;
        t->answer.nearer[1] += d2 < d;
    }
    for (int i = 0; i < 2; i++) {
        double *const error = x[i].relative;
        t->answer.error[i] = doubles_median(error, doubles_finite(error, count));
    }
}

/* For the same outputs of both results. */
static enum bitcut_status find_nearer(struct result_pair *t,
                                      const struct explanation e[2], const size_t *row,
                                      size_t rows, const size_t *col, size_t cols,
                                      const struct explain_options *o, struct fault *f)
{
    struct distances x[2];
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < 2; i++)
        x[i] = (struct distances){ memory_allocate(rows * cols, sizeof(double)),
                                   memory_allocate(rows * cols, sizeof(double)) };
    for (int i = 0; i < 2 && status == BITCUT_OK; i++) {
        struct block b;
        status = block_take(&b, &e[i].q, row, rows, col, cols, f);
        if (status != BITCUT_OK) break;
        status = b.own ? find_told(&x[i], &b, f)
                       : find_distances(&x[i], &b, &e[i].q, o, f);
        block_clear(&b);
    }
    if (status == BITCUT_OK) count_nearer(t, x, rows * cols);
    for (int i = 0; i < 2; i++) free(x[i].absolute), free(x[i].relative);
    return status;
}

static enum bitcut_status sample_nearer(struct result_pair *t,
                                        const struct explanation e[2],
                                        const struct explain_options *o, struct fault *f)
{
    enum { STREAM_EXACT = 30 };
    const size_t side = (size_t)sqrt((double)o->samples), m = problem_m(&e[0].q),
                 n = problem_n(&e[0].q);
    size_t *const row = memory_allocate(smaller(side, m), sizeof *row),
                  *const col = memory_allocate(smaller(side, n), sizeof *col);
    enum bitcut_status status =
        row && col ? BITCUT_OK
                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK)
        status =
            find_nearer(t, e, row, lines_draw(row, side, m, o->seed, STREAM_EXACT), col,
                        lines_draw(col, side, n, o->seed, STREAM_EXACT + 1), o, f);
    free(row);
    free(col);
    return status;
}

/* --- the whole -------------------------------------------------------------------- */

static void describe_where(char *text, const struct result_pair *t)
{
    const struct box *b = &t->part[0];
    text_add(text, SENTENCE_MAX, "D and D2 differ in %zu of %zu outputs, %s",
             t->answer.differ, t->answer.total,
             t->parts > 1 ? "most of them in " : "in ");
    box_describe(text, SENTENCE_MAX, b);
    if (t->answer.measured)
        text_add(text, SENTENCE_MAX,
                 ", by at most %zu ulps of %s, at row %zu and column %zu", t->answer.ulps,
                 t->format->name, t->answer.row, t->answer.column);
}

static void describe_nearer(char *text, const struct result_pair *t)
{
    const int first = t->answer.nearer[1] > t->answer.nearer[0];
    static const char *const names[] = { "D", "D2" };
    text_add(text, SENTENCE_MAX,
             "; %s is nearer to the exact result in %zu of %zu sampled outputs, %s in "
             "%zu; the median distances are %.3g for D and %.3g for D2, in 2^-24 |A||B|",
             names[first], t->answer.nearer[first], t->answer.sampled, names[!first],
             t->answer.nearer[!first], t->answer.error[0], t->answer.error[1]);
}

static void describe(char text[SENTENCE_MAX], const struct result_pair *t,
                     const struct explanation e[2])
{
    if (!t->answer.differ) {
        text_add(text, SENTENCE_MAX, "D and D2 are equal bit for bit in all %zu outputs",
                 t->answer.total);
        return;
    }
    describe_where(text, t);
    if (!e[0].answer.found || !e[1].answer.found)
        text_add(text, SENTENCE_MAX, "; %s %s explained, so the cause is unknown",
                 e[0].answer.found   ? "D2"
                 : e[1].answer.found ? "D"
                                     : "neither",
                 e[0].answer.found || e[1].answer.found ? "is not" : "is");
    else if (*t->why) text_add(text, SENTENCE_MAX, ": %s", t->why);
    describe_nearer(text, t);
}

enum bitcut_status result_pair_compare(struct result_pair *to,
                                       const struct explanation e[2],
                                       const struct explain_options *o, struct fault *f)
{
    struct result_pair t = { .format = e[0].q.format == e[1].q.format
                                           ? e[0].q.format
                                           : &formats[FORMAT_F32],
                             .name = { e[0].q.name, e[1].q.name } };
    if (problem_m(&e[0].q) != problem_m(&e[1].q) ||
        problem_n(&e[0].q) != problem_n(&e[1].q))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "D is %zu x %zu, but D2 is %zu x %zu",
                         problem_m(&e[0].q), problem_n(&e[0].q), problem_m(&e[1].q),
                         problem_n(&e[1].q));
    enum bitcut_status status = find_places(&t, e, f);
    if (status == BITCUT_OK) status = sample_nearer(&t, e, o, f);
    if (status != BITCUT_OK) return status;
    if (t.answer.differ) find_why(&t, e);
    describe(t.answer.text, &t, e);
    *to = t;
    return BITCUT_OK;
}

/* --- fields ----------------------------------------------------------------------- */

static const void *name_at(const void *two, size_t i, void *room)
{
    (void)room;
    return i < 2 ? ((const struct result_pair *)two)->name[i] : NULL;
}

static const void *place_at(const void *two, size_t i, void *room)
{
    const struct result_pair *const t = two;
    (void)room;
    return i < smaller(t->parts, PARTS_MAX) ? &t->part[i] : NULL;
}

static bool is_measured(const void *two)
{
    return ((const struct result_pair *)two)->answer.measured;
}

static bool has_why(const void *two) { return *((const struct result_pair *)two)->why; }

#define OF_TWO(place, key, unit, what)                                                   \
    RECORD_INNER(struct result_pair, place, key, unit, what)
#define ANSWER(member, key, unit, what)                                                  \
    RECORD_MEMBER(struct result_pair, answer.member, #member, key, unit, what)

const struct record_field
    result_pair_place_fields[] = { RECORD_PAIR(
                                       struct box, row, "rows", "",
                                       "the first row, and the row after the last"),
                                   RECORD_PAIR(
                                       struct box, col, "columns", "",
                                       "the first column, and the column after the last"),
                                   RECORD_INNER(struct box, differ, "differ", "",
                                                "differing outputs in this region"),
                                   { 0 } },
    result_pair_largest_fields[] = {
        OF_TWO(answer.ulps, "ulps", "ulps", "the largest distance"),
        OF_TWO(format, "format", "", "format whose ulps are counted"),
        OF_TWO(answer.row, "row", "", "row of that output, from 0"),
        OF_TWO(answer.column, "column", "", "column of that output, from 0"),
        { 0 }
    };

const struct record_field result_pair_fields[] = {
    ANSWER(text, "difference", "", "one sentence with the whole answer"),
    RECORD_ITEMS(name_at, NULL, "pair", "the two files"),
    ANSWER(differ, "differ", "", "outputs that differ"),
    ANSWER(total, "total", "", "all outputs"),
    RECORD_ITEMS(place_at, result_pair_place_fields, "regions",
                 "regions in which they differ, the largest first"),
    OF_TWO(parts, "regions_count", "", "number of such regions"),
    RECORD_TOGETHER(is_measured, result_pair_largest_fields, "largest",
                    "the largest distance, or null"),
    RECORD_INNER_IF(struct result_pair, why, "why", "",
                    "how the two explanations differ, or null", has_why),
    ANSWER(sampled, "sampled", "", "outputs that were compared with the exact result"),
    ANSWER(nearer, "nearer", "",
           "outputs in which each result is nearer to the exact "
           "result"),
    ANSWER(error, "error", "u |A||B|",
           "the median distance of each from the exact result"),
    ANSWER(measured, "", "", "whether differing outputs are numbers in both results"),
    ANSWER(ulps, "", "ulps", "the largest distance"),
    ANSWER(row, "", "", "row of that output, from 0"),
    ANSWER(column, "", "", "column of that output, from 0"),
    { 0 }
};
