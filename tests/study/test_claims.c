/* SPDX-License-Identifier: BSD-3-Clause */
/* Every claim can be true and can be false.  The rows are those that come with bitcut, at
   the sizes of papers; rows about libraries and speed are made by hand.  They are
   changed, and the verdict has to follow. */
#include "analysis/study/compare.h"
#include "analysis/study/study.h"
#include "tests/study/sample_results.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row with the values that a list of conditions "key=value|..." asks for, the first of
   each. */
static json_t *row_with(const char *where)
{
    char part[256];
    json_t *row = json_object();
    while (where && row_next_key(part, sizeof part, &where)) {
        char *value = strchr(part, '='), *end;
        *value++ = 0;
        value[strcspn(value, "|")] = 0;
        const double number = strtod(value, &end);
        json_object_set_new(row, part, *end ? json_string(value) : json_real(number));
    }
    return row;
}

static const struct claim_flags *flags_of(const struct claim *c)
{
    return c->judge == claim_judge_flags ? c->about : NULL;
}

static void add_row(json_t *rows, const char *where, const char *key, json_t *value)
{
    json_t *row = row_with(where);
    json_object_set_new(row, key, value);
    json_object_set_new(row, "device", json_string("A100 A800 B200 H800 MI210"));
    json_array_append_new(rows, row);
}

/* Rows of a claim that has none kept: one on top and one below, or one. */
static json_t *made_by_hand(const struct claim *c)
{
    json_t *rows = json_array();
    if (flags_of(c)) {
        const struct claim_flags *other = c->other;
        add_row(rows, flags_of(c)->where, flags_of(c)->key, json_true());
        if (other) add_row(rows, other->where, other->key, json_false());
    } else if (c->judge == claim_judge_ratios) {
        const struct claim_ratios *r = c->about;
        add_row(rows, r->top, r->key, json_real(3));
        add_row(rows, r->bottom, r->key, json_real(2));
    } else if (c->judge == claim_judge_values) {
        const struct claim_values *v = c->about;
        add_row(rows, v->where, v->key, json_real(3));
    }
    return rows;
}

/* Rows of a claim, to be released; those of its study are read once for all its claims.
 */
static json_t *rows_of(const struct claim *c)
{
    static const struct study *study;
    static json_t *kept;
    if (study_of_claim(c) != study) {
        json_decref(kept);
        study = study_of_claim(c);
        kept = sample_study_rows(study);
    }
    return json_array_size(kept) ? json_incref(kept) : made_by_hand(c);
}

static enum claim_outcome verdict_of(double *ours, const struct claim *c, json_t *rows)
{
    json_t *found = claim_verdict("s", c, rows, 0, 1);
    const char *name = json_string_value(json_object_get(found, "verdict"));
    const struct table_row *row = table_find(TABLE(verdicts), name);
    *ours = row_number(found, "ours");
    json_decref(found);
    return (enum claim_outcome)(row - verdicts);
}

/* --- altered rows ----------------------------------------------------------------- */

/* The key of a claim, and the rows that decide it: a list of conditions. */
static const char *key_of(const struct claim *c)
{
    if (c->judge == claim_judge_values)
        return ((const struct claim_values *)c->about)->key;
    if (c->judge == claim_judge_growth)
        return ((const struct claim_growth *)c->about)->key;
    return ((const struct claim_ratios *)c->about)->key;
}

/* The largest x of a growth. */
static double largest(const struct claim *c, json_t *rows)
{
    const struct claim_growth *g = c->about;
    double most = 0;
    if (c->judge != claim_judge_growth) return 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (row_is(json_array_get(rows, i), g->where))
            most = fmax(most, row_number(json_array_get(rows, i), g->x));
    return most;
}

/* Whether a row is one that decides a claim from above. */
static bool decides(const struct claim *c, const json_t *row, double most)
{
    if (c->judge == claim_judge_values)
        return row_is(row, ((const struct claim_values *)c->about)->where);
    if (c->judge == claim_judge_growth) {
        const struct claim_growth *g = c->about;
        return row_is(row, g->where) && row_number(row, g->x) >= most;
    }
    const struct claim_ratios *r = c->about;
    if (c->judge == claim_judge_ratios) return row_is(row, r->top);
    for (; r->key; r++)
        if (row_is(row, r->top)) return true;
    return false;
}

/* Divide and multiply the key in the rows that decide a claim: a copy. */
static json_t *scaled(const struct claim *c, json_t *rows, double divisor, double factor)
{
    json_t *copy = json_array();
    const double most = largest(c, rows);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const double value = row_number(row, key_of(c));
        if (isnan(value) || !decides(c, row, most)) {
            json_array_append(copy, row);
            continue;
        }
        row = json_copy(row);
        json_object_set_new(row, key_of(c), json_real(value / divisor * factor));
        json_array_append_new(copy, row);
    }
    return copy;
}

static enum claim_outcome scaled_verdict(const struct claim *c, json_t *rows,
                                         double divisor, double factor)
{
    double ours;
    json_t *copy = scaled(c, rows, divisor, factor);
    const enum claim_outcome found = verdict_of(&ours, c, copy);
    json_decref(copy);
    return found;
}

/* All flags that decide are true, or one of them is not. */
static enum claim_outcome flagged_verdict(const struct claim *c, json_t *rows, bool all)
{
    double ours;
    bool spoilt = all;
    json_t *copy = json_deep_copy(rows);
    for (size_t i = 0; i < json_array_size(copy); i++) {
        json_t *row = json_array_get(copy, i);
        if (!row_is(row, flags_of(c)->where)) continue;
        json_object_set_new(row, flags_of(c)->key, json_boolean(spoilt));
        spoilt = true;
    }
    const enum claim_outcome found = verdict_of(&ours, c, copy);
    json_decref(copy);
    return found;
}

/* --- tests ------------------------------------------------------------------------ */

/* A sentence is true of rows with one factor and false with another; a number is what is
   printed with the right one, and is not with a large one. */
START_TEST(numbers_decide)
{
    static const int powers[] = { -40, 40, -1, 1, -2, 2, -3, 3, -4, 4, -8, 8, -16, 16 };
    int count = 0;
    for (const struct claim *c = NULL; (c = study_claim_next(c));) {
        bool found[VERDICTS] = { false };
        double ours;
        if (!c->judge || c->needs || flags_of(c) || count++ % test_step(6)) continue;
        json_t *rows = rows_of(c);
        found[verdict_of(&ours, c, rows)] = true;
        for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
            if (!found[VERDICT_AGREES] || !found[VERDICT_DIFFERS])
                found[scaled_verdict(c, rows, 1, ldexp(1, powers[i]))] = true;
        if (!c->printed) {
            const enum claim_outcome right = scaled_verdict(c, rows, ours, c->number);
            ck_assert_msg(right == VERDICT_AGREES || right == VERDICT_UNDECIDED,
                          "%s: %s with what is printed", c->name, verdicts[right].name);
            found[VERDICT_AGREES] = true;
        }
        ck_assert_msg(found[VERDICT_AGREES], "%s never agrees", c->name);
        ck_assert_msg(found[VERDICT_DIFFERS], "%s never differs", c->name);
        json_decref(rows);
    }
}
END_TEST

START_TEST(flags_decide)
{
    for (const struct claim *c = NULL; (c = study_claim_next(c));) {
        if (!c->judge || !flags_of(c)) continue;
        json_t *rows = rows_of(c);
        ck_assert_msg(flagged_verdict(c, rows, true) == VERDICT_AGREES, "%s", c->name);
        ck_assert_msg(flagged_verdict(c, rows, false) == VERDICT_DIFFERS, "%s", c->name);
        json_decref(rows);
    }
}
END_TEST

/* A claim that agrees does not once the rows of what else could be so are its own: parts,
   recipes or units swapped. */
START_TEST(others_differ)
{
    size_t count = 0;
    for (const struct claim *c = NULL; (c = study_claim_next(c));) {
        double ours;
        if (!c->other) continue;
        json_t *rows = rows_of(c);
        struct claim altered = *c;
        altered.about = c->other;
        altered.other = NULL;
        const enum claim_outcome own = verdict_of(&ours, c, rows),
                           other = verdict_of(&ours, &altered, rows);
        if (own == VERDICT_AGREES) {
            ck_assert_msg(other == VERDICT_DIFFERS || other == VERDICT_CANNOT,
                          "%s: of %s, too, it %s", c->name, c->otherwise,
                          verdicts[other].name);
            count++;
        }
        json_decref(rows);
    }
    ck_assert_uint_ge(count, 40);
}
END_TEST

/* What is also true of another is no evidence, whoever claims it. */
START_TEST(inputs_tell)
{
    const struct claim *c = study_libraries.claims;
    double ours;
    json_t *rows = made_by_hand(c);
    ck_assert_str_eq(c->name, "cublas-fast16f");
    ck_assert_int_eq(verdict_of(&ours, c, rows), VERDICT_AGREES);
    json_object_set_new(json_array_get(rows, 1), "one_f16_part", json_true());
    ck_assert_int_eq(verdict_of(&ours, c, rows), VERDICT_CANNOT);
    json_object_set_new(json_array_get(rows, 0), "one_f16_part", json_false());
    ck_assert_int_eq(verdict_of(&ours, c, rows), VERDICT_DIFFERS);
    json_decref(rows);
}
END_TEST

/* One factor for a phrase. */
static void check_same(const struct claim *c, double least, double most)
{
    ck_assert_msg((least == 0 || least == SAME_ACCURACY || least == 1 / SAME_ACCURACY) &&
                      (most == 0 || most == SAME_ACCURACY || most == 1 / SAME_ACCURACY),
                  "%s: %g to %g", c->name, least, most);
}

static void check_order(const struct claim *c, double least, double most)
{
    ck_assert_msg((least == 0 || least == 1) && (most == 0 || most == 1) && least != most,
                  "%s: %g to %g", c->name, least, most);
}

START_TEST(criteria)
{
    static void (*const check[])(const struct claim *, double, double) = {
        [CRITERION_SAME] = check_same, [CRITERION_ORDER] = check_order
    };
    for (const struct claim *c = NULL; (c = study_claim_next(c));) {
        const bool sentence = c->printed && c->judge && !flags_of(c);
        ck_assert_msg(sentence == (c->criterion != CRITERION_NONE), "%s", c->name);
        ck_assert_msg(!c->printed || c->needs || c->otherwise, "%s: what else?", c->name);
        ck_assert_msg(!c->other || c->otherwise, "%s: what is the other?", c->name);
        ck_assert_msg((c->origin == ORIGIN_BITCUT) == !!strstr(c->paper, "bitcut"), "%s",
                      c->name);
        if (c->criterion != CRITERION_SAME && c->criterion != CRITERION_ORDER) continue;
        if (c->judge == claim_judge_values) {
            const struct claim_values *v = c->about;
            check[c->criterion](c, v->least, v->most);
        } else if (c->judge == claim_judge_growth) {
            check[c->criterion](c, ((const struct claim_growth *)c->about)->least, 0);
        } else {
            const struct claim_ratios *r = c->about;
            do check[c->criterion](c, r->least, r->most);
            while (c->judge == claim_judge_all_ratios && (++r)->key);
        }
    }
}
END_TEST

/* No claim is bitcut's own that a paper makes of the same GPU and measure, and the other
   way round: those of LE-GEMM's parts on GPUs, ranges and residuals that it has not. */
START_TEST(own_questions)
{
    for (const struct claim *c = study_scale.claims; c->name; c++)
        ck_assert_msg(c->origin == ORIGIN_BITCUT, "%s", c->name);
    for (const struct claim *c = study_legemm.claims; c->name; c++)
        ck_assert_msg(c->origin == ORIGIN_PAPER, "%s", c->name);
}
END_TEST

TEST_MAIN("claims", numbers_decide, flags_decide, others_differ, inputs_tell, criteria,
          own_questions)
