/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields and sentences of a search for the worst inputs. */
#include "analysis/fp64/worst_inputs.h"
#include "emu/gemm_sentence.h"
#include "lib/base/text.h"

#include <math.h>

/* --- fields ----------------------------------------------------------------------- */

static const void *each_range(const void *record, size_t i, void *room)
{
    const struct worst_inputs *const x = record;
    (void)room;
    return i < WORST_RANGES ? &x->ranges[i] : NULL;
}

static const void *each_edge(const void *record, size_t i, void *room)
{
    const struct worst_inputs *const x = record;
    (void)room;
    return i < EDGE_CASES ? &x->edges[i] : NULL;
}

static bool has_cause(const void *x)
{
    return !((const struct worst_inputs *)x)->budget.event.what;
}

/* clang-format off */
#define OF(place, key, unit, what) RECORD_INNER(struct worst_inputs, place, key, unit, what)

const struct record_field worst_range_fields[] = {
    RECORD_INNER(struct worst_range, range, "range", "", "binades that exponents of a row and of a column span"),
    RECORD_MAYBE(struct worst_range, loss, "loss", "u |A||B|", "the largest loss; null: the search was stopped before"),
    { 0 }
};

const struct record_field worst_cause_fields[] = {
    OF(cause[BUDGET_REPRESENTATION_A], "representation_a", "u |A||B|", "bits of A that no part has"),
    OF(cause[BUDGET_REPRESENTATION_B], "representation_b", "u |A||B|", "bits of B that no part has"),
    OF(cause[BUDGET_DROPPED], "dropped", "u |A||B|", "products of slices that the scheme does not compute"),
    OF(cause[BUDGET_UNIT], "unit", "u |A||B|", "sums of products of parts that the unit rounds"),
    OF(cause[BUDGET_OVERFLOW], "overflow", "u |A||B|", "integers beyond s32 or the range of the residues"),
    OF(cause[BUDGET_ADDITIONS], "additions", "u |A||B|", "FP64 additions of the products, or of the residues; all parts add up to D - E"),
    { 0 }
};

const struct record_field worst_inputs_fields[] = {
    OF(from_a, "from_a", "", "family of A where the search began"),
    OF(from_b, "from_b", "", "family of B where it began"),
    OF(range, "range_limit", "", "binades that exponents of a row and of a column may span"),
    OF(starts, "starts", "", "pairs of families that were tried"),
    OF(tried, "changes", "", "changes of their matrices that were tried"),
    OF(improved, "improved", "", "changes that increased the loss"),
    OF(interrupted, "interrupted", "", "whether the search was stopped: the best inputs so far"),
    OF(row, "row", "", "row of the worst output"),
    OF(col, "column", "", "its column"),
    OF(d, "d", "", "D of the scheme there"),
    OF(exact, "exact", "", "the exact result, rounded once"),
    OF(loss, "loss", "u |A||B|", "distance of D from the exact result"),
    OF(start_loss, "start_loss", "u |A||B|", "the largest loss of the families"),
    OF(dgemm, "dgemm_loss", "u |A||B|", "the largest loss of FP64 multiply-adds on the same data"),
    OF(bound, "bound", "u |A||B|", "the bound of the scheme for the worst output, from the data"),
    OF(range_a, "range_a", "", "binades that exponents of its row of A span"),
    OF(range_b, "range_b", "", "binades that exponents of its column of B span"),
    RECORD_TOGETHER(has_cause, worst_cause_fields, "causes", "the loss by causes; null: D or a scale is not finite"),
    RECORD_ITEMS(each_range, worst_range_fields, "ranges", "loss by the range of exponents, A and B of opposite(range)"),
    RECORD_ITEMS(each_edge, edge_result_fields, "edge_cases", "dot products at the ends of the range"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

void worst_describe_search(char *text, size_t size, const void *answer)
{
    const struct worst_inputs *const x = answer;
    char loss[NUMBER_SAID_MAX];
    text_add(text, size,
             "began with A of %s, B of %s, the largest loss of %d pairs of families (%s "
             "u); %d changes tried, %d increased it; exponents of a row or column span "
             "at most %d binades%s",
             x->from_a, x->from_b, x->starts, number_said(loss, x->start_loss, 3),
             x->tried, x->improved, x->range,
             x->interrupted ? "; stopped, the best inputs so far" : "");
}

void worst_describe_loss(char *text, size_t size, const void *answer)
{
    const struct worst_inputs *const x = answer;
    char loss[NUMBER_SAID_MAX], dgemm[NUMBER_SAID_MAX];
    text_add(text, size,
             "%s u |A||B| at (%zu, %zu): D = %.17g, exact %.17g; FP64 multiply-adds on "
             "the same data: %s u; bound ",
             number_said(loss, x->loss, 3), x->row, x->col, x->d, x->exact,
             number_said(dgemm, x->dgemm, 3));
    if (isfinite(x->bound)) text_add(text, size, "%.3g u", x->bound);
    else text_add(text, size, "none");
}

static void explain_a(char *text, size_t size, const struct worst_inputs *x)
{
    text_add(text, size,
             "the elements of the row of A span %d binades and share one scale, so that "
             "small elements keep few bits",
             x->range_a);
}

static void explain_b(char *text, size_t size, const struct worst_inputs *x)
{
    text_add(text, size,
             "the elements of the column of B span %d binades and share one scale, so "
             "that small elements keep few bits",
             x->range_b);
}

static void explain_left_out(char *text, size_t size, const struct worst_inputs *x)
{
    text_add(text, size,
             "small elements of the row (%d binades) and of the column (%d binades) have "
             "their bits in low slices, and of the products of slices the scheme "
             "computes the %d of largest weight",
             x->range_a, x->range_b, x->of->parts * (x->of->parts + 1) / 2);
}

static void explain_unit(char *text, size_t size, const struct worst_inputs *x)
{
    text_add(text, size, "%s rounds sums of products of parts", x->of->unit->name);
}

static void explain_overflow(char *text, size_t size, const struct worst_inputs *x)
{
    text_add(text, size,
             x->of->scheme->cut
                 ? "sums of products of %d slices exceed s32 and wrap"
                 : "integers exceed the range of %d moduli, so D is another number with "
                   "the same residues",
             x->of->parts);
}

static void explain_additions(char *text, size_t size, const struct worst_inputs *x)
{
    text_add(text, size, "%s",
             x->of->scheme->cut ? "FP64 additions of the products of parts round"
             : x->of->scheme->part == &formats[FORMAT_F64]
                 ? "each FP64 multiply-add rounds"
                 : "reconstruction rounds relative to the product of the moduli, and the "
                   "integers are far below it");
}

/* The parts of the error that a search finds, each with a sentence. */
static const struct {
    enum budget_part part;
    void (*explain)(char *text, size_t size, const struct worst_inputs *x);
} causes[] = {
    { BUDGET_REPRESENTATION_A, explain_a }, { BUDGET_REPRESENTATION_B, explain_b },
    { BUDGET_DROPPED, explain_left_out },   { BUDGET_UNIT, explain_unit },
    { BUDGET_OVERFLOW, explain_overflow },  { BUDGET_ADDITIONS, explain_additions },
};
enum { CAUSES = sizeof causes / sizeof *causes };

static double cause_of(const struct worst_inputs *x, int i)
{
    return x->cause[causes[i].part];
}

static int largest_cause(const struct worst_inputs *x)
{
    int most = 0;
    for (int i = 1; i < CAUSES; i++)
        if (fabs(cause_of(x, i)) > fabs(cause_of(x, most))) most = i;
    return most;
}

void worst_describe_cause(char *text, size_t size, const void *answer)
{
    const struct worst_inputs *const x = answer;
    double all = 0;
    const char *comma = "";
    if (x->budget.event.what || !(x->loss > 0)) return;
    for (int i = 0; i < CAUSES; i++) all += fabs(cause_of(x, i));
    for (int i = 0; i < CAUSES; i++) {
        const double cause = cause_of(x, i);
        if (!(fabs(cause) >= 0.0005 * all)) continue;
        text_add(text, size, "%s%s: %.3g u (%.3g %%)", comma,
                 budget_rows[causes[i].part].what, cause, 100 * fabs(cause) / all);
        comma = ", ";
    }
    text_add(text, size, "; ");
    causes[largest_cause(x)].explain(text, size, x);
}

void worst_describe_ranges(char *text, size_t size, const void *answer)
{
    const struct worst_inputs *const x = answer;
    text_add(text, size, "opposite exponents in A and B that span ");
    for (int i = 0; i < WORST_RANGES; i++)
        text_add(text, size, "%s%d", i ? ", " : "", x->ranges[i].range);
    text_add(text, size, " binades lose ");
    for (int i = 0; i < WORST_RANGES; i++)
        text_add(text, size, "%s%.2g", i ? ", " : "", x->ranges[i].loss);
    text_add(text, size, " u |A||B|");
}

void worst_describe_edges(char *text, size_t size, const void *answer)
{
    const struct worst_inputs *const x = answer;
    int wrong = 0;
    for (int i = 0; i < EDGE_CASES; i++) {
        const struct edge_result *const e = &x->edges[i];
        if (e->correct) continue;
        text_add(text, size, "%s%s (D = %.3g, exact %.3g)",
                 wrong++ ? ", " : "wrong: ", e->what, e->d, e->exact);
    }
    if (!wrong) text_add(text, size, "all %d are correct", (int)EDGE_CASES);
}
