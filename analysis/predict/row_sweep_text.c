/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep as keys and as sentences. */
#include "analysis/predict/row_sweep.h"

#include "emu/gemm_text.h"
#include "lib/base/text.h"

#include <math.h>

static bool is_refused(const void *range)
{
    return !((const struct sweep_range *)range)->computations;
}

static const void *computation_at(const void *range, size_t i, void *room)
{
    const struct sweep_range *const r = range;
    if (i >= r->computations) return NULL;
    configuration_line_write(room, &r->of->computation[r->computation[i]]);
    return room;
}

static void describe_library(char *text, size_t size, const void *range)
{
    text_add(text, size, "%s",
             ((const struct sweep_range *)range)->of->chosen->library->name);
}

static void describe_chip(char *text, size_t size, const void *range)
{
    text_add(text, size, "%s", ((const struct sweep_range *)range)->of->chosen->chip->name);
}

static void describe_rows(char *text, size_t size, const void *range)
{
    const struct sweep_range *const r = range;
    text_add(text, size, "%zu", r->first);
    if (r->last > r->first) text_add(text, size, " to %zu", r->last);
}

/* All computations in a line, for a table. */
static void describe_lines(char *text, size_t size, const void *range)
{
    const struct sweep_range *const r = range;
    char line[CONFIGURATION_LINE_MAX];
    for (size_t i = 0; i < r->computations; i++) {
        configuration_line_write(line, &r->of->computation[r->computation[i]]);
        text_add(text, size, "%s%s", i ? "; " : "", line);
    }
    if (!r->computations) text_add(text, size, "not predicted: %s", r->refused);
}

/* clang-format off */
const struct record_field sweep_range_fields[] = {
    RECORD_SENTENCE(describe_library, "library", "the library"),
    RECORD_SENTENCE(describe_chip, "chip", "the chip for which it selects kernels"),
    RECORD_INNER(struct sweep_range, first, "first", "", "first m of the range"),
    RECORD_INNER(struct sweep_range, last, "last", "", "last m of the range"),
    RECORD_INNER(struct sweep_range, n, "n", "", "columns of B and D"),
    RECORD_INNER(struct sweep_range, k, "k", "", "columns of A, rows of B"),
    RECORD_SENTENCE(describe_rows, "rows", "the range in words"),
    RECORD_INNER(struct sweep_range, outputs, "changed", "",
                 "outputs of the first rows that are computed otherwise than for one row less"),
    RECORD_MAYBE(struct sweep_range, difference, "difference", "2^-24 |A||B|",
                 "root mean square of their differences, of the pair of computations that most have; "
                 "null: none changed"),
    RECORD_SENTENCE(describe_lines, "gemm", "recipe, unit and order of k of each computation"),
    RECORD_ITEMS(computation_at, NULL, "computations", "the same, one by one; none if m is not "
                                                       "predicted"),
    RECORD_MEMBER_IF(struct sweep_range, refused, NULL, "refused", "", "why m is not predicted, or null",
                     is_refused),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

static size_t count_refused(const struct row_sweep *x)
{
    size_t count = 0;
    for (size_t i = 0; i < x->ranges; i++)
        if (!x->range[i].computations) count += x->range[i].last - x->range[i].first + 1;
    return count;
}

static size_t count_changes(const struct row_sweep *x)
{
    size_t count = 0;
    for (size_t i = 0; i < x->ranges; i++) count += x->range[i].outputs > 0;
    return count;
}

/* The m of the first changes. */
static void add_changes(char *text, size_t size, const struct row_sweep *x)
{
    enum { SHOWN = 8 };
    size_t shown = 0;
    for (size_t i = 0; i < x->ranges && shown < SHOWN; i++)
        if (x->range[i].outputs)
            text_add(text, size, "%s%zu", shown++ ? ", " : "", x->range[i].first);
    if (count_changes(x) > shown) text_add(text, size, ", ...");
}

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct row_sweep *const x = answer;
    const size_t changes = count_changes(x), refused = count_refused(x);
    const char *const library = x->chosen->library->name, *const chip = x->chosen->chip->name;
    if (refused == x->last - x->first + 1)
        text_add(text, size, "no m is predicted: %s", x->range->refused);
    else if (changes) {
        text_add(text, size,
                 "not batch-invariant: %s on %s changes the computation of some row at m = ",
                 library, chip);
        add_changes(text, size, x);
        if (changes > 1) text_add(text, size, " (%zu changes)", changes);
    } else if (refused)
        text_add(text, size,
                 "not known: %s on %s computes every row in the same way for the m that are "
                 "predicted",
                 library, chip);
    else
        text_add(text, size,
                 "batch-invariant: %s on %s computes every row in the same way for m = %zu to "
                 "%zu",
                 library, chip, x->first, x->last);
    if (refused && refused <= x->last - x->first)
        text_add(text, size, "; %zu of %zu m are not predicted", refused,
                 x->last - x->first + 1);
}

static void describe_largest(char *text, size_t size, const void *answer)
{
    const struct row_sweep *const x = answer;
    double largest = NAN;
    size_t at = 0;
    for (size_t i = 0; i < x->ranges; i++)
        if (!isnan(x->range[i].difference) && !(x->range[i].difference <= largest))
            largest = x->range[i].difference, at = x->range[i].first;
    if (!isnan(largest))
        text_add(text, size,
                 "a changed output differs by %.2g u |A||B| (root mean square, u = 2^-24; the "
                 "largest, at m = %zu)",
                 largest, at);
}

const struct record_line row_sweep_lines[] = {
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { LABEL_TYPICAL, describe_largest, RECORD_ALWAYS, NULL },
    { 0 }
};
