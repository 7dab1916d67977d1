/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_rows.h"

#include "analysis/cli/advise_rows.h"
#include "lib/gemm/recipe.h"
#include "lib/io/json_record.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <string.h>

/* --- values ----------------------------------------------------------------------- */

void gemm_report_values(json_t *to, const struct gemm_answers *a)
{
    for (int i = 0; i < 2; i++) {
        const struct advise_values *const v = &a->advice.values[i];
        for (int e = v->most; e >= v->least; e--) {
            const size_t count = exponents_count(&v->own, e);
            if (count)
                json_array_append_new(to, json_pack("{s:s, s:i, s:o}", "operand", v->name,
                                                    "exponent", e, "count",
                                                    json_count(count)));
        }
    }
}

/* --- splits ----------------------------------------------------------------------- */

static void append_all(json_t *to, json_t *list)
{
    json_array_extend(to, list);
    json_decref(list);
}

void gemm_report_recorded(json_t *to, const struct gemm_answers *a)
{
    append_all(to, advise_rows_by_exponent(&a->advice));
}

void gemm_report_recorded_in_all(json_t *to, const struct gemm_answers *a)
{
    append_all(to, advise_rows_in_all(&a->advice));
}

/* --- recipes ---------------------------------------------------------------------- */

/* By cost, then by error; stable. */
static bool is_before(const struct advise_trial *x, const struct advise_trial *y)
{
    const double cost = x->advice.cost - y->advice.cost;
    return cost < 0 || (cost == 0 && x->advice.error < y->advice.error);
}

/* Whether fewer targets than are shown have a better trial. */
static bool is_shown(const struct advise *x, const char *target)
{
    const struct advise_trial *own = NULL;
    size_t before = 0;
    for (size_t i = 0; i < x->bests; i++)
        if (!strcmp(x->best[i]->target, target)) own = x->best[i];
    for (size_t i = 0; i < x->bests && own; i++)
        before += x->best[i] != own &&
                  (is_before(x->best[i], own) ||
                   (!is_before(own, x->best[i]) && x->best[i] < own));
    return before < GEMM_CHIPS;
}

void gemm_report_tried(json_t *to, const struct gemm_answers *a)
{
    static const char *const keys[] = { "chips",    "recipe", "scale",   "equilibrate",
                                        "terms",    "cost",   "tflops",  "error",
                                        "high",     "bound",  "reaches", "unit",
                                        "evidence", NULL };
    const struct advise_trial *const trial = a->advice.trial;
    for (size_t i = 0; i < a->advice.trials; i++) {
        char few[80] = "";
        size_t at = 0;
        if (!is_shown(&a->advice, trial[i].target)) continue;
        for (size_t j = 0; j < i; j++)
            at +=
                is_shown(&a->advice, trial[j].target) && !is_before(&trial[i], &trial[j]);
        json_t *const one = json_object();
        record_json_keys(one, advise_trial_fields, &trial[i], keys);
        advise_describe_chips(few, sizeof few, &trial[i]);
        json_object_set_new(one, "chips", json_string(few));
        json_array_insert_new(to, at, one);
    }
}

/* --- lists of answers ------------------------------------------------------------- */

void gemm_report_scales(json_t *to, const struct gemm_answers *a)
{
    record_json_items(to, advise_fields, &a->advice, "scales");
}

void gemm_report_distances(json_t *to, const struct gemm_answers *a)
{
    record_json_items(to, explain_fields, &a->explanation, "distances");
}

void gemm_report_power(json_t *to, const struct gemm_answers *a)
{
    for (size_t i = 0; i < a->power.rows; i++) {
        json_t *const one = json_object();
        record_json(one, power_fields, &a->power.row[i]);
        json_array_append_new(to, one);
    }
}

/* --- the result ------------------------------------------------------------------- */

static void append_worst(json_t *to, const struct budget_answer *a)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    for (size_t i = 0; i < a->worst_count; i++) {
        const struct budget_place *const p = &a->worst[i];
        const struct budget_output *const b = &p->budget;
        const double unit = ldexp(b->size, -24), given = format_to_double(f32, p->given),
                     rest = (given - format_to_double(f32, b->d)) / unit;
        json_t *const one =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "i", json_count(p->i), "j",
                      json_count(p->j), "exact",
                      b->event.what ? json_null() : json_number(b->value), "result",
                      json_number(given), "result_bits", json_encoding(p->given, 32),
                      "model_bits", json_encoding(b->d, 32), "u", json_number(p->u));
        for (int n = 0; n < BUDGET_PARTS && !b->event.what; n++)
            if (budget_lists(n, b->is_f64, b->part[n]))
                json_object_set_new(one, budget_rows[n].name,
                                    json_real(unit > 0 ? b->part[n] / unit : 0));
        json_object_set_new(one, "unexplained",
                            isfinite(rest) ? json_real(rest) : json_null());
        json_array_append_new(to, one);
    }
}

void gemm_report_worst_emulated(json_t *to, const struct gemm_answers *a)
{
    append_worst(to, &a->budget);
}

void gemm_report_worst(json_t *to, const struct gemm_answers *a)
{
    append_worst(to, &a->worst);
}

void gemm_report_bounds(json_t *to, const struct gemm_answers *a)
{
    static const char *const keys[] = { "bound",       "kind",   "worst_error",
                                        "worst_limit", "ratio",  "outputs",
                                        "verdict",     "source", NULL };
    for (int i = 0; i < BOUNDS; i++) {
        json_t *const one = json_object();
        record_json_keys(one, bound_fields, &a->bound[i], keys);
        json_array_append_new(to, one);
    }
}

/* Outputs of a result by their distance from the exact result. */
void gemm_report_histogram(json_t *to, const char *result,
                           const size_t bins[HISTOGRAM_BINS])
{
    double total = 0;
    for (int i = 0; i < HISTOGRAM_BINS; i++) total += (double)bins[i];
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        if (bins[i])
            json_array_append_new(to, json_pack("{s:s, s:f, s:o, s:f}", "result", result,
                                                "ulps", i ? ldexp(1, i) : 1.0, "count",
                                                json_count(bins[i]), "share",
                                                (double)bins[i] / total));
}

void gemm_report_errors(json_t *to, const struct gemm_answers *a)
{
    const char *const recipe = a->s.gemm.recipe->name;
    if (a->d.at) gemm_report_histogram(to, "D", a->given.bins);
    gemm_report_histogram(to, recipe, a->judged.bins);
    if (strcmp(recipe, "fp32") != 0) gemm_report_histogram(to, "fp32", a->fp32.bins);
}
