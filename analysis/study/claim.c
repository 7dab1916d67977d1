/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/claim.h"

#include "emu/unit.h"
#include "lib/base/text.h"
#include "lib/io/json_value.h"
#include "lib/io/listing.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct table_row verdicts[] = {
    [VERDICT_AGREES] = { "agrees", "the computed result agrees with the printed result" },
    [VERDICT_DIFFERS] = { "differs", "the results differ: the reason names the amount "
                                     "and the cause" },
    [VERDICT_UNDECIDED] = { "undecided", "other seeds could change the verdict" },
    [VERDICT_CANNOT] = { "cannot", "rows, hardware, a detail of the paper or suitable "
                                   "inputs are missing" },
    { 0 }
};

const char *verdict_label(const char *name)
{
    return strcmp(name, verdicts[VERDICT_CANNOT].name) != 0 ? name : "needs hardware";
}

const struct table_row claim_origins[] = {
    [ORIGIN_PAPER] = { "paper", "a claim of a paper" },
    [ORIGIN_BITCUT] = { "bitcut", "bitcut's own question, which no paper answers" },
    { 0 }
};

/* The factor 2 is a bit.  Papers draw errors on logarithmic axes over several decades,
   where smaller factors are not visible, and leave the order of additions open, which
   changes an error by as much. */
const struct table_row claim_criteria[] = {
    [CRITERION_NONE] = { "none", "a number, or rows that are true or false" },
    [CRITERION_SAME] = { "same accuracy",
                         "errors differ by a factor of 2 at most: the same accuracy, no "
                         "loss, little effect, no advantage, catches up; a loss or a "
                         "cause of error is a factor of at least 2" },
    [CRITERION_ORDER] = { "order", "any factor counts: smaller, better, worse, wider, "
                                   "faster, growing" },
    [CRITERION_STATED] = { "stated", "the limit is in the claim's own sentence" },
    { 0 }
};

/* Rounded to four digits, so that differences between C libraries do not show; null for
   NaN. */
static json_t *number_or_null(double x)
{
    char text[REAL_TEXT_MAX];
    if (isnan(x)) return json_null();
    if (isinf(x)) return json_number(x);
    real_text(text, x, 4);
    return json_real(strtod(text, NULL));
}

static json_t *printed_json(const struct claim *c)
{
    return c->printed ? json_string(c->printed) : json_number(c->number);
}

static json_t *ours_json(const struct judgement *j)
{
    return *j->ours_text ? json_string(j->ours_text) : number_or_null(j->ours);
}

static json_t *interval_json(const struct judgement *j)
{
    if (isnan(j->least)) return json_null();
    return json_pack("[o, o]", number_or_null(j->least), number_or_null(j->most));
}

/* The unit whose model the rows have, or NULL. */
static const struct bitcut_unit *unit_of(const struct claim *c)
{
    return c->unit ? unit_find(c->unit, &formats[FORMAT_F16]) : NULL;
}

/* Append a part to the reason. */
__attribute__((format(printf, 2, 3))) static void describe(struct judgement *j,
                                                           const char *form, ...)
{
    va_list list;
    if (*j->reason) text_add(j->reason, sizeof j->reason, "; ");
    va_start(list, form);
    text_add_list(j->reason, sizeof j->reason, form, list);
    va_end(list);
}

/* Whether a name contains this word: A100 is a word of NVIDIA A100-PCIE-40GB, and not of
   A1000. */
static bool has_word(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = name; (at = strstr(at, word)); at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

static const char *device_of(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "device"));
    return name ? name : "";
}

/* The rows of the claim's device, or all rows if it has none: a new array. */
static json_t *own_rows(const struct claim *c, json_t *rows)
{
    json_t *own = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (!c->device || has_word(device_of(json_array_get(rows, i)), c->device))
            json_array_append(own, json_array_get(rows, i));
    return own;
}

static const struct judgement nothing = { .verdict = VERDICT_CANNOT,
                                          .ours = NAN,
                                          .low = NAN,
                                          .high = NAN,
                                          .least = NAN,
                                          .most = NAN };

/* Check the sentence with rows for which it should be false.  If it holds for them as
   well, the rows cannot decide it. */
static void compare_other(struct judgement *j, const struct claim *c, json_t *rows)
{
    struct claim other = *c;
    struct judgement of_other = nothing;
    if (!c->other || j->verdict != VERDICT_AGREES) return;
    other.about = c->other;
    c->judge(&of_other, &other, rows);
    if (of_other.verdict != VERDICT_AGREES) return;
    j->verdict = VERDICT_CANNOT;
    describe(j, "these inputs do not decide: the same holds for %s (%s)", c->otherwise,
             of_other.reason);
}

/* The result of the judge, and results for comparison. */
static void look(struct judgement *j, const struct claim *c, json_t *rows)
{
    if (c->judge) c->judge(j, c, rows);
    compare_other(j, c, rows);
    if (c->assumes) describe(j, "assumed: %s", c->assumes);
    if (c->beside) describe(j, "%s", c->beside);
    if (unit_of(c))
        describe(j, "%s by its model: %s", c->unit, unit_evidence(unit_of(c)));
}

/* The names of the devices that have rows, separated by commas; empty if there are none.
 */
static void write_devices_field(char text[REASON_MAX], json_t *rows)
{
    *text = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *name = device_of(json_array_get(rows, i));
        if (*name && !strstr(text, name)) text_append(text, REASON_MAX, name);
    }
}

/* Set the verdict to cannot, with what is missing; the result is given for comparison. */
static void withhold(struct judgement *j, const struct claim *c, bool device_missing,
                     json_t *rows)
{
    char beside[REASON_MAX], devices[REASON_MAX] = "";
    if (device_missing) write_devices_field(devices, rows);
    strcpy(beside, j->reason);
    j->verdict = VERDICT_CANNOT;
    *j->reason = 0;
    describe(j, "it takes %s%s%s%s", device_missing ? c->device : "",
             device_missing ? " hardware" : "", device_missing && c->needs ? " and " : "",
             c->needs ? c->needs : "");
    if (*beside)
        describe(j, "%s%s: %s", *devices ? "on " : "for comparison", devices, beside);
}

/* The result, or that there is none. */
static void decide(struct judgement *j, const struct claim *c, json_t *rows,
                   size_t missing, size_t points)
{
    *j = nothing;
    if (missing) {
        describe(j, "%zu of %zu points are missing", missing, points);
        return;
    }
    json_t *own = own_rows(c, rows);
    const bool device_missing = c->device && !json_array_size(own);
    look(j, c, device_missing ? rows : own);
    if (device_missing || c->needs) withhold(j, c, device_missing, rows);
    json_decref(own);
}

json_t *claim_verdict(const char *study, const struct claim *c, json_t *rows,
                      size_t missing, size_t points)
{
    struct judgement j;
    decide(&j, c, rows, missing, points);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s?, s:s?, s:s?, s:s, s:s?, "
        "s:o}",
        "study", study, "name", c->name, "claim", c->what, "paper", c->paper, "printed",
        printed_json(c), "ours", ours_json(&j), "low", number_or_null(j.low), "high",
        number_or_null(j.high), "verdict", verdicts[j.verdict].name, "reason", j.reason,
        "device", c->device, "unit", c->unit, "evidence",
        unit_of(c) ? unit_evidence(unit_of(c)) : NULL, "origin",
        claim_origins[c->origin].name, "criterion",
        c->criterion ? claim_criteria[c->criterion].name : NULL, "interval",
        interval_json(&j));
}
