#include "analysis/study/compare.h"

#include "analysis/study/distinct.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MOST = 32,
    VALUE_MOST = 64,
    KEYS_MOST = 8,
    CASE_MOST = 160,
    PAIRS_MOST = 16 /* with one row on top */
};

/* --- values of rows --------------------------------------------------------------- */

static void value_text(char text[VALUE_MOST], const json_t *value)
{
    text[0] = 0;
    if (json_is_string(value)) snprintf(text, VALUE_MOST, "%s", json_string_value(value));
    else if (json_is_number(value))
        snprintf(text, VALUE_MOST, "%g", json_number_value(value));
    else if (json_is_boolean(value))
        snprintf(text, VALUE_MOST, "%s", json_is_true(value) ? "true" : "false");
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
    char word[KEY_MOST + VALUE_MOST], have[VALUE_MOST];
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

/* --- numbers and what to say of them ---------------------------------------------- */

/* Numbers, each with the row that tells its case, and of a ratio the one below. */
struct sample {
    double value;
    const json_t *row, *bottom;
};

struct samples {
    struct sample *at;
    size_t count;
    const char *cases; /* keys that tell them apart, or NULL */
};

/* What is no number comes last. */
static int by_value(const void *left, const void *right)
{
    const double a = ((const struct sample *)left)->value,
                 b = ((const struct sample *)right)->value;
    if (isnan(a) || isnan(b)) return !!isnan(a) - !!isnan(b);
    return (a > b) - (a < b);
}

static void sort_samples(struct samples *s)
{
    qsort(s->at, s->count, sizeof *s->at, by_value);
}

/* So many cases and more have tails, the upper and the lower tenth, that are left out. */
enum { TAILS_FROM = 10, TAIL = 10 };

/* The median of sorted samples. */
static double median_of(const struct samples *s)
{
    const size_t half = s->count / 2;
    const double above = s->at[half].value;
    return s->count % 2 || isinf(above) ? above : (s->at[half - 1].value + above) / 2;
}

/* Sort; set the median and both ends of the spread. */
static void summarise(struct judgement *j, struct samples *s, bool tails)
{
    sort_samples(s);
    const size_t left_out = tails && s->count >= TAILS_FROM ? s->count / TAIL : 0;
    j->low = s->at[left_out].value;
    j->high = s->at[s->count - 1 - left_out].value;
    j->ours = median_of(s);
}

/* " at n=64 round=2", or nothing. */
static void case_text(char text[CASE_MOST], const struct sample *s, const char *cases)
{
    char key[KEY_MOST], value[VALUE_MOST];
    size_t used = 0;
    text[0] = 0;
    for (const char *list = cases ? cases : ""; row_next_key(key, sizeof key, &list);) {
        value_text(value, json_object_get(s->row, key));
        used += (size_t)snprintf(text + used, CASE_MOST - used, "%s%s=%s",
                                 used ? " " : " at ", key, value);
        if (used >= CASE_MOST) return;
    }
}

/* "5 cases give 2 to 3", or of a single one "2 at k=3". */
static void tell_spread(struct judgement *j, const struct samples *s)
{
    char where[CASE_MOST];
    case_text(where, &s->at[0], s->cases);
    if (s->count == 1) snprintf(j->reason, sizeof j->reason, "%.4g%s", j->ours, where);
    else
        snprintf(j->reason, sizeof j->reason, "%zu cases give %.3g to %.3g", s->count,
                 j->low, j->high);
}

/* A printed number against the spread. */
static void judge_number(struct judgement *j, const struct claim *c,
                         const struct samples *s)
{
    const double wide = c->tolerance ? c->tolerance : 1, x = c->number;
    const bool in = x >= j->low / wide && x <= j->high * wide;
    j->verdict = in ? VERDICT_AGREES : VERDICT_DIFFERS;
    tell_spread(j, s);
    const size_t used = strlen(j->reason);
    if (!in)
        snprintf(j->reason + used, sizeof j->reason - used,
                 ", %s%.3g times what is printed", s->count > 1 ? "the nearest " : "",
                 (x < j->low ? j->low : j->high) / x);
}

/* A sentence: all in the limits; what is outside is told, or else what is nearest to a
   limit. */
static void judge_sentence(struct judgement *j, const struct samples *s, double least,
                           double most)
{
    const double limit = most > 0 ? most : INFINITY;
    size_t outside = 0;
    char where[CASE_MOST];
    for (size_t i = 0; i < s->count; i++)
        outside += !(s->at[i].value >= least && s->at[i].value <= limit);
    const bool low = !(s->at[0].value >= least) || isinf(limit);
    const struct sample *worst = &s->at[low ? 0 : s->count - 1];
    case_text(where, worst, s->cases);
    j->verdict = outside ? VERDICT_DIFFERS : VERDICT_AGREES;
    if (outside)
        snprintf(j->reason, sizeof j->reason,
                 "%.3g%s, where %s %.3g was to be; so in %zu of %zu cases", worst->value,
                 where, low ? "at least" : "at most", low ? least : most, outside,
                 s->count);
    else {
        tell_spread(j, s);
        const size_t used = strlen(j->reason);
        snprintf(j->reason + used, sizeof j->reason - used, ", %s %.3g allowed",
                 isinf(limit) ? "from" : "at most", isinf(limit) ? least : most);
    }
}

static void judge_samples(struct judgement *j, const struct claim *c, struct samples *s,
                          double least, double most)
{
    if (!s->count) {
        snprintf(j->reason, sizeof j->reason, "there are no rows of it");
        return;
    }
    summarise(j, s, !c->printed);
    if (c->printed) judge_sentence(j, s, least, most);
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
            s.at[s.count++] = (struct sample){ value, row, NULL };
    }
    judge_samples(j, claim, &s, v->least, v->most);
    free(s.at);
}

/* Sums of logarithms of one side of a case. */
struct side {
    double sum;
    size_t count;
};

static void side_add(struct side *s, double value)
{
    s->sum += log(value);
    s->count++;
}

/* 1 where both are 0; of two infinite ones no number, which no claim agrees with. */
static double side_ratio(const struct side *top, const struct side *bottom)
{
    const double x = top->sum / (double)top->count,
                 y = bottom->sum / (double)bottom->count;
    return x == y && x < (double)INFINITY ? 1 : exp(x - y);
}

/* The keys of `cases`, ended by NULL, in `text`. */
static void case_keys(const char *keys[KEYS_MOST], char text[KEYS_MOST][KEY_MOST],
                      const char *cases)
{
    int count = 0;
    while (count < KEYS_MOST - 1 && row_next_key(text[count], KEY_MOST, &cases)) {
        keys[count] = text[count];
        count++;
    }
    keys[count] = NULL;
}

/* The ratio of geometric means in each case. */
static void means_of(struct samples *s, const struct distinct *d,
                     const struct claim_ratios *r, json_t *rows)
{
    struct side *top = distinct_array(d->groups, sizeof *top),
                *bottom = distinct_array(d->groups, sizeof *bottom);
    s->at = distinct_array(d->groups, sizeof *s->at);
    for (size_t i = 0; i < d->rows; i++) {
        const json_t *row = json_array_get(rows, i);
        const double value = row_number(row, r->key);
        if (!isnan(value) && row_is(row, r->top)) side_add(&top[d->group[i]], value);
        if (!isnan(value) && row_is(row, r->bottom))
            side_add(&bottom[d->group[i]], value);
    }
    for (size_t g = 0; g < d->groups; g++)
        if (top[g].count && bottom[g].count)
            s->at[s->count++] =
                (struct sample){ side_ratio(&top[g], &bottom[g]),
                                 json_array_get(rows, d->first[g]), NULL };
    free(bottom);
    free(top);
}

/* The ratio of every pair in each case. */
static void pairs_of(struct samples *s, const struct distinct *d,
                     const struct claim_ratios *r, json_t *rows)
{
    s->at = distinct_array(d->rows * PAIRS_MOST, sizeof *s->at);
    for (size_t i = 0; i < d->rows; i++) {
        const json_t *top = json_array_get(rows, i);
        const size_t most = s->count + PAIRS_MOST;
        if (!row_is(top, r->top)) continue;
        for (size_t k = d->first[d->group[i]]; k < d->rows && s->count < most; k++) {
            const json_t *bottom = json_array_get(rows, k);
            const double x = row_number(top, r->key), y = row_number(bottom, r->key);
            if (d->group[k] != d->group[i] || !row_is(bottom, r->bottom)) continue;
            if (isnan(x) || isnan(y)) continue;
            s->at[s->count++] =
                (struct sample){ x == 0 && y == 0 ? 1 : x / y, top, bottom };
        }
    }
}

/* Append the median of the pairs of each choice that there are any of. */
static void tell_choices(struct judgement *j, const struct samples *s,
                         const struct claim_choice *choice)
{
    const char *before = "; medians: ";
    struct samples some = { .at = distinct_array(s->count, sizeof *s->at) };
    for (; choice->words; choice++, some.count = 0) {
        for (size_t i = 0; i < s->count; i++)
            if (row_is(s->at[i].row, choice->top) &&
                row_is(s->at[i].bottom, choice->bottom))
                some.at[some.count++] = s->at[i];
        if (!some.count) continue;
        const size_t used = strlen(j->reason);
        snprintf(j->reason + used, sizeof j->reason - used, "%s%s %.3g", before,
                 choice->words, median_of(&some));
        before = ", ";
    }
    free(some.at);
}

/* Those of the samples that are judged; `at` to be freed. */
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
    struct distinct d;
    struct samples all = { .cases = r->cases };
    char text[KEYS_MOST][KEY_MOST];
    const char *keys[KEYS_MOST];
    case_keys(keys, text, r->cases);
    distinct_init(&d, rows, keys);
    (r->choices ? pairs_of : means_of)(&all, &d, r, rows);
    distinct_clear(&d);
    struct samples s = judged_of(&all, r->judged);
    judge_samples(j, claim, &s, r->least, r->most);
    sort_samples(&all);
    if (r->choices) tell_choices(j, &all, r->choices);
    free(s.at);
    free(all.at);
}

void claim_judge_ratios(struct judgement *j, const struct claim *claim, json_t *rows)
{
    judge_ratios(j, claim, claim->about, rows);
}

void claim_judge_all_ratios(struct judgement *j, const struct claim *claim, json_t *rows)
{
    const struct claim_ratios *r = claim->about;
    do judge_ratios(j, claim, r, rows);
    while (j->verdict == VERDICT_AGREES && (++r)->key);
}

void claim_judge_growth(struct judgement *j, const struct claim *claim, json_t *rows)
{
    const struct claim_growth *g = claim->about;
    char least[CASE_MOST], most[CASE_MOST];
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
    const struct claim_ratios ends = {
        .key = g->key, .top = most, .bottom = least, .cases = g->cases, .least = g->least
    };
    judge_ratios(j, claim, &ends, rows);
    const size_t used = strlen(j->reason);
    if (low <= high)
        snprintf(j->reason + used, sizeof j->reason - used, "; from %s=%g to %g", g->x,
                 low, high);
}

/* What all the rows have for a key, or how many there are of them. */
static void tell_flags(struct judgement *j, const struct claim_flags *f, json_t *rows)
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
    if (!count) snprintf(j->reason, sizeof j->reason, "there are no rows of it");
    else snprintf(j->reason, sizeof j->reason, "so in %zu of %zu rows", right, count);
}

void claim_judge_flags(struct judgement *j, const struct claim *claim, json_t *rows)
{
    tell_flags(j, claim->about, rows);
}

void claim_judge_cannot(struct judgement *j, const struct claim *claim, json_t *rows)
{
    (void)rows;
    snprintf(j->reason, sizeof j->reason, "%s", (const char *)claim->about);
}
