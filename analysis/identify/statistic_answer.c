/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields and the sentence of the search by statistics. */
#include "analysis/identify/statistic_search.h"
#include "lib/base/record.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* --- keys --------------------------------------------------------------------------- */

#define OF_PAIR(place, key, line)                                                        \
    RECORD_INNER(struct statistic_pair, place, key, "", line)

static const char *pair_name(const void *pair)
{
    return ((const struct statistic_pair *)pair)->row->name;
}

const struct record_field statistic_pair_fields[] = {
    RECORD_TEXT_OF(pair_name, "statistic", "rms, max, mean or largest"),
    OF_PAIR(published.value, "published", "the published number"),
    OF_PAIR(ours, "ours", "the number that the hypothesis gives"),
    OF_PAIR(agrees, "agrees", "whether every printed digit agrees"),
    { 0 }
};

static const void *pair_at(const void *answer, size_t i, void *room)
{
    const struct statistic_answer *const x = answer;
    (void)room;
    return i < (size_t)x->pairs ? &x->pair[i] : NULL;
}

static const void *equal_at(const void *answer, size_t i, void *room)
{
    const struct statistic_answer *const x = answer;
    (void)room;
    return i < x->equals && i < STATISTIC_EQUALS_MAX ? x->equal[i] : NULL;
}

static bool is_named(const void *answer)
{
    return ((const struct statistic_answer *)answer)->named;
}

#define OF(place, key, unit, line)                                                       \
    RECORD_INNER(struct statistic_answer, place, key, unit, line)

static void describe_text(char *text, size_t size, const void *answer);

const struct record_field statistic_fields[] = {
    RECORD_SENTENCE(describe_text, "hypothesis", "the result, in sentences"),
    OF(found, "found", "", "whether a hypothesis gives every printed digit"),
    OF(complete, "complete", "",
       "whether every hypothesis was tried that the search would try without a limit of "
       "work"),
    OF(m, "m", "", "rows of D"),
    OF(n, "n", "", "columns of D"),
    OF(k, "k", "", "columns of A"),
    OF(gemms, "gemms", "", "GEMMs of the batch"),
    OF(outputs, "outputs", "", "outputs of all GEMMs"),
    OF(tried, "tried", "", "hypotheses that were tried"),
    OF(gives, "gives", "", "hypotheses that give every printed digit"),
    OF(results, "results", "", "different D among these"),
    RECORD_INNER_IF(struct statistic_answer, miss, "miss", "",
                    "relative difference of the first statistic", is_named),
    RECORD_ITEMS(pair_at, statistic_pair_fields, "statistics",
                 "the published statistics"),
    RECORD_ITEMS(equal_at, NULL, "equal",
                 "other hypotheses that give the same D; at most 8"),
    { 0 }
};

/* --- the sentence ------------------------------------------------------------------- */

static void list_pairs(char *text, size_t size, const struct statistic_answer *x)
{
    for (int i = 0; i < x->pairs; i++)
        text_add(text, size, "%s%s", i ? ", " : "", x->pair[i].row->name);
}

/* The fewest digits from which the number can be read again. */
static void add_number(char *text, size_t size, double x)
{
    char number[32];
    int digits = 1;
    do snprintf(number, sizeof number, "%.*g", digits, x);
    while (strtod(number, NULL) != x && digits++ < 17);
    text_add(text, size, "%s", number);
}

static void describe_text(char *text, size_t size, const void *answer)
{
    const struct statistic_answer *const x = answer;
    const char *const tried = x->tried == 1 ? "hypothesis was" : "hypotheses were";
    if (x->found) {
        text_add(text, size, "every printed digit of ");
        list_pairs(text, size, x);
        text_add(text, size, " (%zu outputs) is that of %s; %zu %s tried", x->outputs,
                 x->name, x->tried, tried);
        if (x->equals) text_add(text, size, ", %zu more give the same D", x->equals);
        if (x->results > 1)
            text_add(text, size,
                     "; %zu other D have these statistics too, so that more "
                     "digits or statistics are needed",
                     x->results - 1);
        return;
    }
    text_add(text, size, "no hypothesis gives every printed digit; %zu %s tried%s",
             x->tried, tried, x->complete ? "" : "; more --effort tries more");
    if (x->named)
        text_add(text, size, "; the nearest is %s, whose %s differs by %.2g of it",
                 x->name, x->pair[0].row->name, x->miss);
}

static void describe_pairs(char *text, size_t size, const void *answer)
{
    const struct statistic_answer *const x = answer;
    for (int i = 0; i < x->pairs; i++) {
        text_add(text, size, "%s%s ", i ? "; " : "", x->pair[i].row->name);
        add_number(text, size, x->pair[i].ours);
        text_add(text, size, ", published ");
        add_number(text, size, x->pair[i].published.value);
    }
}

static void describe_equal(char *text, size_t size, const void *answer)
{
    const struct statistic_answer *const x = answer;
    for (size_t i = 0; i < x->equals && i < STATISTIC_EQUALS_MAX; i++)
        text_add(text, size, "%s%s", i ? "; " : "", x->equal[i]);
    if (x->equals > STATISTIC_EQUALS_MAX)
        text_add(text, size, "; and %zu more", x->equals - STATISTIC_EQUALS_MAX);
}

const struct record_line statistic_lines[] = {
    { .label = LABEL_VERDICT, .describe = describe_text },
    { .label = "statistics", .describe = describe_pairs },
    { .label = "same bits", .describe = describe_equal },
    { 0 }
};
