#include "analysis/study/claim.h"

#include "analysis/evidence/json_value.h"
#include "emu/unit.h"
#include "lib/listing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct table_row verdicts[] = {
    [VERDICT_AGREES] = { "agrees", "what was printed is what was computed" },
    [VERDICT_DIFFERS] = { "differs", "it is not: the reason says by how much, and why" },
    [VERDICT_CANNOT] = { "cannot",
                         "rows, hardware or a detail of the paper are missing" },
    { 0 }
};

/* To four digits, so that no host's logarithm shows; null for NaN. */
static json_t *number_or_null(double x)
{
    char text[REAL_TEXT_MOST];
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

/* The unit whose model the rows are of, or NULL. */
static const struct bitcut_unit *unit_of(const struct claim *c)
{
    return c->unit ? unit_find(c->unit, &formats[FORMAT_F16]) : NULL;
}

/* Append to the reason, as a part of it. */
__attribute__((format(printf, 2, 3))) static void say(struct judgement *j,
                                                      const char *form, ...)
{
    va_list list;
    if (*j->reason && strlen(j->reason) + 3 < sizeof j->reason) strcat(j->reason, "; ");
    const size_t used = strlen(j->reason);
    va_start(list, form);
    vsnprintf(j->reason + used, sizeof j->reason - used, form, list);
    va_end(list);
}

/* What the judge found, or that it could not look. */
static void decide(struct judgement *j, const struct claim *c, json_t *rows,
                   size_t missing, size_t points)
{
    *j = (struct judgement){
        .verdict = VERDICT_CANNOT, .ours = NAN, .low = NAN, .high = NAN
    };
    if (missing) {
        say(j, "%zu of %zu points are missing", missing, points);
        return;
    }
    if (c->judge) c->judge(j, c, rows);
    if (c->beside) say(j, "%s", c->beside);
    if (unit_of(c)) say(j, "%s by its model: %s", c->unit, unit_evidence(unit_of(c)));
    if (!c->needs) return;
    char beside[REASON_MOST];
    strcpy(beside, j->reason);
    j->verdict = VERDICT_CANNOT;
    *j->reason = 0;
    say(j, "it takes %s", c->needs);
    if (*beside) say(j, "beside it: %s", beside);
}

json_t *claim_verdict(const char *study, const struct claim *c, json_t *rows,
                      size_t missing, size_t points)
{
    struct judgement j;
    decide(&j, c, rows, missing, points);
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s?, s:s?}",
                     "study", study, "name", c->name, "claim", c->what, "paper", c->paper,
                     "printed", printed_json(c), "ours", ours_json(&j), "low",
                     number_or_null(j.low), "high", number_or_null(j.high), "verdict",
                     verdicts[j.verdict].name, "reason", j.reason, "unit", c->unit,
                     "evidence", unit_of(c) ? unit_evidence(unit_of(c)) : NULL);
}
