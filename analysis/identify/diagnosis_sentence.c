/* SPDX-License-Identifier: BSD-3-Clause */
/* A diagnosis: its fields, and its sentence. */
#include "analysis/identify/diagnosis.h"
#include "analysis/identify/rounding_level.h"
#include "lib/base/text.h"

#include <math.h>

/* clang-format off */
const struct diagnosis_level_row diagnosis_levels[] = {
    [DIAGNOSIS_NONE] = { "none", "" },
    [DIAGNOSIS_IDENTICAL] = { "identical", "" },
    [DIAGNOSIS_ROUNDING] = { "rounding",
        "the kernel may be correct: another order of k is enough for this difference. bitcut "
        "tolerance -d checks its errors; bitcut explain --probe runs a program to measure its "
        "order" },
    [DIAGNOSIS_OPERANDS] = { "operands",
        "the kernel may be correct if it is meant to round A and B so: bitcut tolerance -d checks "
        "its errors, with a recipe that does the same (bitcut list recipes) or --quantize-a and --quantize-b" },
    [DIAGNOSIS_FAULT] = { "fault", "look for this fault in the kernel" },
    [DIAGNOSIS_UNEXPLAINED] = { "unexplained",
        "another order of k is not enough for this difference: look for a fault in the kernel, "
        "or give what the kernel does in addition to A B (-c, --bias, --scale-a, --quantize-a, --epilogue)" },
    { 0 }
};
/* clang-format on */

/* The unit of errors, once in each sentence that has one. */
static const char UNIT[] =
    " (u |A||B|: 2^-24 times the sum of the magnitudes of an output's products)";

static void describe_faults(char *text, size_t size, const struct diagnosis *d)
{
    for (size_t i = 0; i < d->faults; i++)
        text_add(text, size, "%s%s", i ? ", and " : "", d->fault[i].what);
    if (d->sames) text_add(text, size, " (the same on these data: ");
    for (size_t i = 0; i < d->sames; i++)
        text_add(text, size, "%s%s", i ? "; " : "", d->same[i]);
    if (d->sames) text_add(text, size, ")");
}

static void describe_order(char *text, size_t size, const struct diagnosis *d)
{
    if (d->bias)
        text_add(text, size, "; the errors are biased %s, as of %s", d->bias->name,
                 d->bias->cause);
}

/* The median error with the effect of a fault, and without it.  No other order removes
   the errors of short sums. */
static void describe_remaining(char *text, size_t size, const struct diagnosis *d)
{
    if (d->after < d->before)
        text_add(text, size,
                 ". Without it, %.2g u |A||B| of the error of %.3g u |A||B| remain%s",
                 d->after, d->before, UNIT);
    else text_add(text, size, ". The error is %.3g u |A||B|%s", d->before, UNIT);
}

/* The outputs outside of the region that is far: only rounding, if their error is that of
   a correct kernel. */
static void describe_others(char *text, size_t size, const struct diagnosis *d,
                            const char *before)
{
    enum { MUCH = 8 };
    if (d->after <= MUCH * d->limit)
        text_add(text, size,
                 "%sIn the other outputs only rounding differs: %.2g u |A||B|%s", before,
                 d->after, UNIT);
    else
        text_add(text, size, "%sThe median error of the other outputs is %.2g u |A||B|%s",
                 before, d->after, UNIT);
}

static void describe_rounding(char *text, size_t size, const struct diagnosis *d)
{
    static const double usual = 1.8;
    text_add(text, size, "only rounding differs: the error is %.2g u |A||B|", d->before);
    if (d->bias) text_add(text, size, "%s", UNIT);
    else if (d->before <= usual * d->limit)
        text_add(text, size, ", as of a correct kernel in another order of k%s", UNIT);
    else
        text_add(
            text, size,
            ", %.2g times that of one chain of sums rounded to nearest, as of truncated "
            "sums, or of an order with large partial sums%s",
            d->before / d->limit, UNIT);
}

/* Of outputs that the nearest hypothesis does not give. */
static void describe_rest(char *text, size_t size, const struct diagnosis *d)
{
    if (d->level == DIAGNOSIS_ROUNDING) {
        text_add(text, size, "only rounding differs from the nearest hypothesis");
        return;
    }
    text_add(text, size, "%s%zu of %zu outputs, %s, ",
             d->level == DIAGNOSIS_UNEXPLAINED ? "unexplained: "
             : d->level == DIAGNOSIS_OPERANDS  ? "in "
                                               : "",
             d->outside, d->outputs, d->place);
    if (d->level == DIAGNOSIS_UNEXPLAINED)
        text_add(text, size, "are far from the nearest hypothesis");
    else if (d->level == DIAGNOSIS_FAULT) text_add(text, size, "show a fault: ");
    if (d->level == DIAGNOSIS_OPERANDS) text_add(text, size, "%s", d->operands);
    describe_faults(text, size, d);
    if (d->level != DIAGNOSIS_OPERANDS && *d->operands)
        text_add(text, size, "; also, %s", d->operands);
    if (d->level != DIAGNOSIS_UNEXPLAINED) describe_remaining(text, size, d);
}

static void describe_fault(char *text, size_t size, const struct diagnosis *d)
{
    text_add(text, size, "the error of D shows a fault");
    if (d->outside)
        text_add(text, size, " in %zu of %zu outputs of a sample, %s", d->outside,
                 d->outputs, d->place);
    text_add(text, size, ": ");
    describe_faults(text, size, d);
    if (*d->operands) text_add(text, size, "; also, %s", d->operands);
    if (d->outside) describe_others(text, size, d, ". ");
    else describe_remaining(text, size, d);
}

static void describe_unexplained(char *text, size_t size, const struct diagnosis *d)
{
    if (d->outside) {
        text_add(text, size,
                 "unexplained: %zu of %zu outputs of a sample, %s, are far "
                 "from a correct result",
                 d->outside, d->outputs, d->place);
        describe_others(text, size, d, ". ");
    } else
        text_add(text, size,
                 "unexplained: the error is %.3g u |A||B|, of a correct kernel at most "
                 "about %.2g; the known fault that is nearest leaves %.2g of it%s",
                 d->before, d->limit, d->after, UNIT);
}

void diagnosis_describe(char *text, size_t size, const void *answer)
{
    const struct diagnosis *const d = answer;
    if (d->of_rest && d->level > DIAGNOSIS_IDENTICAL) {
        describe_rest(text, size, d);
        return;
    }
    switch (d->level) {
    case DIAGNOSIS_NONE: return;
    case DIAGNOSIS_IDENTICAL: text_add(text, size, "identical to the bit"); return;
    case DIAGNOSIS_ROUNDING: describe_rounding(text, size, d); break;
    case DIAGNOSIS_OPERANDS:
        text_add(text, size,
                 "%s; apart from this only rounding differs: %.2g u |A||B| remain of "
                 "%.3g%s",
                 d->operands, d->after, d->before, UNIT);
        break;
    case DIAGNOSIS_FAULT: describe_fault(text, size, d); break;
    case DIAGNOSIS_UNEXPLAINED: describe_unexplained(text, size, d); break;
    }
    describe_order(text, size, d);
}

/* --- fields ----------------------------------------------------------------------- */

static const char *level_of(const void *answer)
{
    return diagnosis_levels[((const struct diagnosis *)answer)->level].name;
}

static const char *bias_of(const void *answer)
{
    const struct diagnosis *const d = answer;
    return d->bias ? d->bias->name : NULL;
}

static const void *fault_at(const void *answer, size_t i, void *room)
{
    const struct diagnosis *const d = answer;
    (void)room;
    return i < d->faults ? &d->fault[i] : NULL;
}

static bool has_range(const void *fault)
{
    return ((const struct diagnosed_fault *)fault)->k_end;
}

static bool has_place(const void *answer)
{
    return *((const struct diagnosis *)answer)->place;
}

static bool has_operands(const void *answer)
{
    return *((const struct diagnosis *)answer)->operands;
}

#define OF_ALL(place, key, unit, what)                                                   \
    RECORD_INNER(struct diagnosis, place, key, unit, what)

/* clang-format off */
const struct record_field diagnosed_fault_fields[] = {
    RECORD_INNER(struct diagnosed_fault, name, "fault", "", "the name of the fault"),
    RECORD_INNER(struct diagnosed_fault, what, "what", "", "the fault in words"),
    RECORD_INNER_IF(struct diagnosed_fault, k_first, "k_first", "", "the first k of its range, or null", has_range),
    RECORD_INNER_IF(struct diagnosed_fault, k_end, "k_end", "", "the k after the last of its range, or null", has_range),
    { 0 }
}, diagnosis_fields[] = {
    RECORD_TEXT_OF(level_of, "level", "identical, rounding, operands, fault, unexplained, or none"),
    RECORD_SENTENCE(diagnosis_describe, "sentence", "the diagnosis in one sentence"),
    OF_ALL(outputs, "outputs", "", "outputs of the sample that are finite"),
    OF_ALL(before, "before", "2^-24 |A||B|", "the median distance of D from the exact result"),
    OF_ALL(after, "after", "2^-24 |A||B|", "the same from the exact result with the effects"),
    OF_ALL(limit, "limit", "2^-24 |A||B|", "the median error of one chain of sums in a drawn order of k"),
    OF_ALL(agreeing, "agreeing", "", "share of outputs on which two correct orders of these data agree"),
    RECORD_TEXT_OF(bias_of, "bias", "direction in which the errors are biased, or null"),
    OF_ALL(bias_share, "bias_share", "", "size of the bias as a share of that of a chain of sums that are rounded so"),
    RECORD_INNER_IF(struct diagnosis, operands, "operands", "", "what became of the operands, or null", has_operands),
    OF_ALL(of_rest, "of_rest", "", "whether the diagnosis is of the outputs that the nearest hypothesis does not give"),
    OF_ALL(outside, "outside", "", "outputs of the sample to which the faults are limited; 0: they hold for all"),
    RECORD_INNER_IF(struct diagnosis, place, "place", "", "the region of these outputs, or null", has_place),
    RECORD_ITEMS(fault_at, diagnosed_fault_fields, "faults", "the faults"),
    { 0 }
};
/* clang-format on */
