/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/compare.h"

#include "analysis/study/bootstrap.h"
#include "analysis/study/distinct.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 32, VALUE_MAX = 64, KEYS_MAX = 8, CASE_MAX = 160 };

/* --- values of rows --------------------------------------------------------------- */

static void value_text(char text[VALUE_MAX], const json_t *value)
{
    text[0] = 0;
    if (json_is_string(value)) snprintf(text, VALUE_MAX, "%s", json_string_value(value));
    else if (json_is_number(value))
        snprintf(text, VALUE_MAX, "%g", json_number_value(value));
    else if (json_is_boolean(value))
        snprintf(text, VALUE_MAX, "%s", json_is_true(value) ? "true" : "false");
}

bool row_next_key(char *word, size_t size, const char **list)
{
    *list += strspn(*list, " ");
    const size_t length = strcspn(*list, " ");
    if (!length) return false;
    snprintf(word, size, "%.*s", (int)length, *list);
    *list += length;
    return true;
}

/* Whether a text is one of a list "this|that". */
static bool is_one_of(const char *text, const char *list)
{
    const size_t length = strlen(text);
    for (; list; list = strchr(list, '|') ? strchr(list, '|') + 1 : NULL)
        if (strcspn(list, "|") == length && !strncmp(list, text, length)) return true;
    return false;
}

bool row_is(const json_t *row, const char *where)
{
    char word[KEY_MAX + VALUE_MAX], have[VALUE_MAX];
    const char *list = where ? where : "";
    while (row_next_key(word, sizeof word, &list)) {
        char *const value = strchr(word, '=');
        *value = 0;
        value_text(have, json_object_get(row, word));
        if (!is_one_of(have, value + 1)) return false;
    }
    return true;
}

double row_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (json_is_number(value)) return json_number_value(value);
    const char *text = json_string_value(value);
    return text && !strcmp(text, "inf") ? INFINITY : NAN;
}

json_t *row_find(json_t *rows, const char *where)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (row_is(json_array_get(rows, i), where)) return json_array_get(rows, i);
    return NULL;
}

/* --- numbers and reasons ---------------------------------------------------------- */

/* Numbers, each with its interval and the row of its case, and for a ratio a row of the
   denominator. */
struct sample {
    struct bootstrap_ratio of;
    const json_t *row, *bottom;
};

struct samples {
    struct sample *at;
    size_t count;
    const char *cases; /* keys that distinguish them, or NULL */
};

/* NaN comes last. */
static int by_value(const void *left, const void *right)
{
    const double a = ((const struct sample *)left)->of.value,
                 b = ((const struct sample *)right)->of.value;
    if (isnan(a) || isnan(b)) return !!isnan(a) - !!isnan(b);
    return (a > b) - (a < b);
}

static void sort_samples(struct samples *s)
{
    qsort(s->at, s->count, sizeof *s->at, by_value);
}

/* The median of sorted samples. */
static double median_of(const struct samples *s)
{
    const size_t half = s->count / 2;
    const double above = s->at[half].of.value;
    return s->count % 2 || isinf(above) ? above : (s->at[half - 1].of.value + above) / 2;
}

/* Sort.  Set the median, the ends of the spread, and the ends of all intervals. */
static void summarise(struct judgement *j, struct samples *s)
{
    bool any = false;
    sort_samples(s);
    j->low = s->at[0].of.value;
    j->high = s->at[s->count - 1].of.value;
    j->ours = median_of(s);
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        any |= s->at[i].of.low < s->at[i].of.high;
        least = fmin(least, s->at[i].of.low);
        most = fmax(most, s->at[i].of.high);
    }
    j->least = any ? least : NAN;
    j->most = any ? most : NAN;
}

/* " at n=64 round=2", or nothing. */
static void case_text(char text[CASE_MAX], const struct sample *s, const char *cases)
{
    char key[KEY_MAX], value[VALUE_MAX];
    text[0] = 0;
    for (const char *list = cases ? cases : ""; row_next_key(key, sizeof key, &list);) {
        value_text(value, json_object_get(s->row, key));
        text_add(text, CASE_MAX, "%s%s=%s", *text ? " " : " at ", key, value);
    }
}

/* Append to the reason. */
__attribute__((format(printf, 2, 3))) static void tell(struct judgement *j,
                                                       const char *form, ...)
{
    va_list list;
    va_start(list, form);
    text_add_list(j->reason, sizeof j->reason, form, list);
    va_end(list);
}

/* "5 cases give 2 to 3 (1.8 to 3.3 by the bootstrap)", or for a single case "2 at k=3".
 */
static void write_spread_field(struct judgement *j, const struct samples *s)
{
    char where[CASE_MAX];
    case_text(where, &s->at[0], s->cases);
    if (s->count == 1) tell(j, "%.4g%s", j->ours, where);
    else tell(j, "%zu cases give %.3g to %.3g", s->count, j->low, j->high);
    if (!isnan(j->least)) tell(j, " (%.3g to %.3g by the bootstrap)", j->least, j->most);
}

/* Compare a printed number with the readings, from the smallest to the largest.  Each
   reading may lie anywhere in its interval. */
static void judge_number(struct judgement *j, const struct claim *c,
                         const struct samples *s)
{
    const double wide = c->tolerance ? c->tolerance : 1, x = c->number,
                 doubt = c->doubt ? c->doubt : 1;
    double low = INFINITY, high = -INFINITY, least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        low = fmin(low, s->at[i].of.high);
        high = fmax(high, s->at[i].of.low);
        least = fmin(least, s->at[i].of.low);
        most = fmax(most, s->at[i].of.high);
    }
    const bool surely = x >= low * doubt / wide && x <= high / doubt * wide,
               maybe = x >= least / doubt / wide && x <= most * doubt * wide;
    j->verdict = surely ? VERDICT_AGREES : maybe ? VERDICT_UNDECIDED : VERDICT_DIFFERS;
    write_spread_field(j, s);
    if (!maybe)
        tell(j, ", %s%.3g times the printed number",
             s->count > 1 ? "the nearest case " : "",
             (x < j->low ? j->low : j->high) / x);
    else if (!surely) tell(j, "; it depends on the seeds whether this is so");
}

/* The limits of a sentence, and the factor by which the ends of an interval are
   uncertain. */
struct limits {
    double least, most, doubt;
};

/* Whether a number is outside the limits in its whole interval, inside in its whole
   interval, or neither.  NaN is outside. */
static enum claim_outcome place_of(const struct sample *s, const struct limits *limit)
{
    const double low = s->of.low / limit->doubt, high = s->of.high * limit->doubt;
    if (low >= limit->least && high <= limit->most) return VERDICT_AGREES;
    if (high >= limit->least && low <= limit->most) return VERDICT_UNDECIDED;
    return VERDICT_DIFFERS;
}

/* The sample with that outcome that exceeds a limit most; the samples are sorted. */
static const struct sample *worst_of(bool *low, const struct samples *s,
                                     const struct limits *limit, enum claim_outcome place)
{
    const struct sample *first = NULL, *last = NULL;
    for (size_t i = 0; i < s->count; i++) {
        if (place_of(&s->at[i], limit) != place) continue;
        if (!first) first = &s->at[i];
        last = &s->at[i];
    }
    *low = isinf(limit->most) || !(first->of.low / limit->doubt >= limit->least);
    return *low ? first : last;
}

/* A sentence holds if all numbers are within the limits.  The reason names a number
   outside, otherwise one that may be outside, otherwise the one nearest to a limit. */
static void judge_sentence(struct judgement *j, const struct claim *c,
                           const struct samples *s, double least, double most)
{
    const struct limits limit = { least, most > 0 ? most : (double)INFINITY,
                                  c->doubt ? c->doubt : 1 };
    size_t count[VERDICTS] = { 0 };
    char where[CASE_MAX];
    bool low;
    for (size_t i = 0; i < s->count; i++) count[place_of(&s->at[i], &limit)]++;
    j->verdict = count[VERDICT_DIFFERS]     ? VERDICT_DIFFERS
                 : count[VERDICT_UNDECIDED] ? VERDICT_UNDECIDED
                                            : VERDICT_AGREES;
    if (j->verdict == VERDICT_AGREES) {
        write_spread_field(j, s);
        tell(j, ", %slimit %.3g", isinf(limit.most) ? "lower " : "",
             isinf(limit.most) ? least : most);
        return;
    }
    const struct sample *worst = worst_of(&low, s, &limit, j->verdict);
    case_text(where, worst, s->cases);
    tell(j, "%.3g%s (", worst->of.value, where);
    if (worst->of.low < worst->of.high)
        tell(j, "%.3g to %.3g by the bootstrap, ", worst->of.low, worst->of.high);
    tell(j, "%slimit %.3g", low ? "lower " : "", low ? least : most);
    tell(j, "), %zu of %zu cases %s%s it", count[j->verdict], s->count,
         j->verdict == VERDICT_UNDECIDED ? "may " : "", low ? "fall below" : "exceed");
}

static void judge_samples(struct judgement *j, const struct claim *c, struct samples *s,
                          double least, double most)
{
    *j->reason = 0;
    j->verdict = VERDICT_CANNOT;
    if (!s->count) {
        tell(j, "there are no rows for it");
        return;
    }
    summarise(j, s);
    if (c->printed) judge_sentence(j, c, s, least, most);
    else judge_number(j, c, s);
}

/* --- kinds of claims -------------------------------------------------------------- */

void claim_judge_values(struct judgement *j, const struct claim *claim, json_t *rows)
{
    const struct claim_values *v = claim->about;
    const size_t all = json_array_size(rows);
    struct samples s = { .at = distinct_array(all, sizeof *s.at), .cases = v->cases };
    for (size_t i = 0; i < all; i++) {
        const json_t *row = json_array_get(rows, i);
        const double value = row_number(row, v->key);
        if (row_is(row, v->where) && !isnan(value))
            s.at[s.count++] = (struct sample){ { value, value, value }, row, NULL };
    }
    judge_samples(j, claim, &s, v->least, v->most);
    free(s.at);
}

/* The keys of `cases`, ended by NULL, in `text`. */
static void case_keys(const char *keys[KEYS_MAX], char text[KEYS_MAX][KEY_MAX],
                      const char *cases)
{
    int count = 0;
    while (count < KEYS_MAX - 1 && row_next_key(text[count], KEY_MAX, &cases)) {
        keys[count] = text[count];
        count++;
    }
    keys[count] = NULL;
}

/* Groups of the rows of ratios. */
struct sorting {
    struct distinct cases, each, rounds;
};

static void sorting_init(struct sorting *s, const struct claim_ratios *r, json_t *rows)
{
    char text[KEYS_MAX][KEY_MAX];
    const char *keys[KEYS_MAX];
    case_keys(keys, text, r->cases);
    distinct_init(&s->cases, rows, keys);
    distinct_of(&s->each, rows, r->each ? r->each : "");
    distinct_of(&s->rounds, rows, "round");
}

static void sorting_clear(struct sorting *s)
{
    distinct_clear(&s->cases);
    distinct_clear(&s->each);
    distinct_clear(&s->rounds);
}

/* A case, and the values of the key `each` in its top and bottom rows. */
struct reading {
    size_t in, top, bottom;
};

/* Add up a reading's rows, run by run, and record the first top row and the first bottom
   row. */
static void add_up(struct bootstrap_run *runs, struct sample *to,
                   const struct sorting *by, const struct reading *of,
                   const struct claim_ratios *r, json_t *rows)
{
    for (size_t i = 0; i < by->cases.rows; i++) {
        const bool top = by->each.group[i] == of->top,
                   bottom = by->each.group[i] == of->bottom;
        if (by->cases.group[i] != of->in || (!top && !bottom)) continue;
        const json_t *row = json_array_get(rows, i);
        struct bootstrap_run *run = &runs[by->rounds.group[i]];
        const double value = row_number(row, r->key);
        const double x = r->averages ? value : log(value);
        if (isnan(value)) continue;
        if (top && row_is(row, r->top)) {
            if (!to->row) to->row = row;
            run->top += x;
            run->tops++;
        }
        if (bottom && row_is(row, r->bottom)) {
            if (!to->bottom) to->bottom = row;
            run->bottom += x;
            run->bottoms++;
        }
    }
}

/* Keep the runs that have rows of the reading.  Returns their number. */
static size_t squeeze(struct bootstrap_run *runs, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (runs[i].tops || runs[i].bottoms) runs[used++] = runs[i];
    return used;
}

/* The ratio of a reading, if it has rows. */
static void add_reading(struct samples *s, const struct sorting *by,
                        const struct reading *of, const struct claim_ratios *r,
                        json_t *rows)
{
    struct bootstrap_run *runs = distinct_array(by->rounds.groups, sizeof *runs);
    struct sample sample = { { NAN, NAN, NAN }, NULL, NULL };
    add_up(runs, &sample, by, of, r, rows);
    if (sample.row && sample.bottom) {
        const size_t count = squeeze(runs, by->rounds.groups);
        sample.of = bootstrap_ratio_of(runs, count, !r->averages);
        s->at[s->count++] = sample;
    }
    free(runs);
}

static void readings_of(struct samples *s, const struct claim_ratios *r, json_t *rows)
{
    struct sorting by;
    struct reading of;
    sorting_init(&by, r, rows);
    const size_t each = by.each.groups;
    s->at = distinct_array(by.cases.groups * each * each, sizeof *s->at);
    for (of.in = 0; of.in < by.cases.groups; of.in++)
        for (of.top = 0; of.top < each; of.top++)
            for (of.bottom = 0; of.bottom < each; of.bottom++)
                add_reading(s, &by, &of, r, rows);
    sorting_clear(&by);
}

/* Append the median of the pairs for each choice that has pairs. */
static void write_choices_field(struct judgement *j, const struct samples *s,
                                const struct claim_choice *choice)
{
    const char *before = "; medians of readings: ";
    struct samples some = { .at = distinct_array(s->count, sizeof *s->at) };
    for (; choice->words; choice++, some.count = 0) {
        for (size_t i = 0; i < s->count; i++)
            if (row_is(s->at[i].row, choice->top) &&
                row_is(s->at[i].bottom, choice->bottom))
                some.at[some.count++] = s->at[i];
        if (!some.count) continue;
        tell(j, "%s%s %.3g", before, choice->words, median_of(&some));
        before = ", ";
    }
    free(some.at);
}

/* The samples that decide the claim; the caller frees `at`. */
static struct samples judged_of(const struct samples *s, const char *where)
{
    struct samples some = { .at = distinct_array(s->count, sizeof *s->at),
                            .cases = s->cases };
    for (size_t i = 0; i < s->count; i++)
        if (row_is(s->at[i].row, where)) some.at[some.count++] = s->at[i];
    return some;
}

static void judge_ratios(struct judgement *j, const struct claim *claim,
                         const struct claim_ratios *r, json_t *rows)
{
    struct samples all = { .cases = r->cases };
    readings_of(&all, r, rows);
    struct samples s = judged_of(&all, r->judged);
    judge_samples(j, claim, &s, r->least, r->most);
    sort_samples(&all);
    if (r->choices) write_choices_field(j, &all, r->choices);
    free(s.at);
    free(all.at);
}

void claim_judge_ratios(struct judgement *j, const struct claim *claim, json_t *rows)
{
    judge_ratios(j, claim, claim->about, rows);
}

void claim_judge_all_ratios(struct judgement *j, const struct claim *claim, json_t *rows)
{
    struct judgement next = *j;
    j->verdict = VERDICT_AGREES;
    for (const struct claim_ratios *r = claim->about; r->key; r++) {
        judge_ratios(&next, claim, r, rows);
        if (next.verdict != VERDICT_AGREES || j->verdict == VERDICT_AGREES) *j = next;
        if (j->verdict == VERDICT_DIFFERS || j->verdict == VERDICT_CANNOT) return;
    }
}

void claim_judge_growth(struct judgement *j, const struct claim *claim, json_t *rows)
{
    const struct claim_growth *g = claim->about;
    char least[CASE_MAX], most[CASE_MAX];
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const double x = row_number(row, g->x);
        if (isnan(x) || !row_is(row, g->where)) continue;
        if (x < low) low = x;
        if (x > high) high = x;
    }
    snprintf(least, sizeof least, "%s %s=%g", g->where, g->x, low);
    snprintf(most, sizeof most, "%s %s=%g", g->where, g->x, high);
    const struct claim_ratios ends = { .key = g->key,
                                       .top = g->falls ? least : most,
                                       .bottom = g->falls ? most : least,
                                       .cases = g->cases,
                                       .averages = g->averages,
                                       .least = g->least };
    judge_ratios(j, claim, &ends, rows);
    if (low <= high) tell(j, "; from %s=%g to %g", g->x, low, high);
}

/* The common value of all rows for a key, or the number of rows. */
static void write_flags_field(struct judgement *j, const struct claim_flags *f,
                              json_t *rows)
{
    size_t right = 0, count = 0;
    const json_t *first = NULL;
    bool same = f->tell != NULL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!row_is(row, f->where)) continue;
        if (!first) first = row;
        same = same &&
               json_equal(json_object_get(row, f->tell), json_object_get(first, f->tell));
        right += json_is_true(json_object_get(row, f->key));
        count++;
    }
    j->verdict = !count          ? VERDICT_CANNOT
                 : right < count ? VERDICT_DIFFERS
                                 : VERDICT_AGREES;
    if (same && first) value_text(j->ours_text, json_object_get(first, f->tell));
    else snprintf(j->ours_text, sizeof j->ours_text, "%zu of %zu", right, count);
    if (!count) snprintf(j->reason, sizeof j->reason, "there are no rows for it");
    else snprintf(j->reason, sizeof j->reason, "true in %zu of %zu rows", right, count);
}

void claim_judge_flags(struct judgement *j, const struct claim *claim, json_t *rows)
{
    write_flags_field(j, claim->about, rows);
}

void claim_judge_cannot(struct judgement *j, const struct claim *claim, json_t *rows)
{
    (void)rows;
    snprintf(j->reason, sizeof j->reason, "%s", (const char *)claim->about);
}
