/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields and sentences of advice on FP64 schemes. */
#include "analysis/fp64/scheme_advice.h"
#include "emu/gemm_sentence.h"
#include "lib/base/text.h"

#include <math.h>

/* --- fields ----------------------------------------------------------------------- */

static const char *metric_name(const struct scheme_advice *x)
{
    return metrics[x->of->metric].name;
}

static const char *metric_field(const void *x) { return metric_name(x); }

static bool is_open(const void *x)
{
    return isnan(((const struct scheme_advice *)x)->of->want);
}

static const void *each_trial(const void *answer, size_t i, void *room)
{
    const struct scheme_advice *const x = answer;
    (void)room;
    return i < x->trials ? &x->trial[i] : NULL;
}

/* clang-format off */
#define TRIAL(place, key, unit, what) RECORD_INNER(struct scheme_trial, place, key, unit, what)
#define OF(place, key, unit, what) RECORD_INNER(struct scheme_advice, place, key, unit, what)

const struct record_field scheme_trial_fields[] = {
    TRIAL(scheme, "scheme", "", "the scheme (bitcut list schemes)"),
    TRIAL(unit, "unit", "", "the unit that multiplies parts"),
    TRIAL(target, "target", "", "the chip or unit that was asked for"),
    TRIAL(parts, "parts", "", "the fewest slices or moduli that reach the wanted error, or the most there are"),
    TRIAL(products, "part_products", "", "products of parts for each product of A B"),
    TRIAL(cost, "cost", "byte", "products times bytes of a part"),
    TRIAL(error, "error", "", "the error on the first sample"),
    RECORD_MAYBE(struct scheme_trial, checked, "checked", "", "the error on the second sample; null: not computed"),
    TRIAL(bound, "bound", "", "the metric of errors as large as their bounds, the larger of both samples"),
    TRIAL(reaches, "reaches", "", "whether both errors are at most the wanted error, and there is a bound"),
    { 0 }
};

const struct record_field scheme_advice_fields[] = {
    OF(m, "m", "", "rows of A and D"),
    OF(n, "n", "", "columns of B and D"),
    OF(k, "k", "", "columns of A"),
    RECORD_TEXT_OF(metric_field, "metric", "the metric of errors; backward_max in u = 2^-53"),
    OF(want[0], "want", "", "the wanted error, on the first sample"),
    RECORD_FUNCTION(is_open, "as_dgemm", "whether it is the error of FP64 multiply-adds on each sample, as none was given"),
    OF(outputs, "outputs", "", "outputs of the first sample"),
    OF(checks, "checks", "", "outputs of the second sample"),
    OF(all, "all", "", "whether the first sample is all outputs"),
    OF(dgemm[0], "dgemm_error", "", "error of FP64 multiply-adds, k ascending, on the first sample"),
    OF(f32[0], "f32_error", "", "error of FP32 multiply-adds of A and B rounded to FP32"),
    OF(f32_suffices, "f32_suffices", "", "whether FP32 reaches the wanted error on both samples"),
    RECORD_POINTER(struct scheme_advice, choice, scheme_trial_fields, "advice", "the cheapest scheme that reaches it; null: none does"),
    RECORD_ITEMS(each_trial, scheme_trial_fields, "tried", "every scheme, as `advice`"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

static void describe_matrices(char *text, size_t size, const void *answer)
{
    const struct scheme_advice *const x = answer;
    text_add(text, size, "%s, %zu x %zu, and %s, %zu x %zu, in FP64", x->of->input_a,
             x->m, x->k, x->of->input_b ? x->of->input_b : "A transposed", x->k, x->n);
}

static const char *in_u(const struct scheme_advice *x)
{
    return x->of->metric == METRIC_BACKWARD_MAX ? " u |A||B|" : "";
}

static void describe_want(char *text, size_t size, const void *answer)
{
    const struct scheme_advice *const x = answer;
    char want[NUMBER_SAID_MAX];
    text_add(text, size, "at most %s %s%s%s; ", metric_name(x),
             number_said(want, x->want[0], 2), in_u(x),
             is_open(x) ? ", the error of FP64 multiply-adds" : "");
    if (x->all) text_add(text, size, "all %zu outputs were computed", x->outputs);
    else text_add(text, size, "samples of %zu and %zu outputs", x->outputs, x->checks);
}

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct scheme_advice *const x = answer;
    const struct scheme_trial *const t = x->choice;
    char want[NUMBER_SAID_MAX], error[NUMBER_SAID_MAX];
    if (x->f32_suffices)
        text_add(text, size,
                 "DGEMM is not needed: FP32 multiply-adds have %s %s%s; bitcut advise "
                 "without --fp64 finds the cheapest recipe",
                 metric_name(x), number_said(error, x->f32[0], 2), in_u(x));
    else if (t)
        text_add(text, size, "%s with %d %s on %s, %d products of %s", t->scheme->name,
                 t->parts, t->scheme->cut ? "slices" : "moduli", t->target, t->products,
                 t->scheme->part->name);
    else
        text_add(text, size,
                 "no scheme reaches %s %s%s with a bound; FP64 multiply-adds %s",
                 metric_name(x), number_said(want, x->want[0], 2), in_u(x),
                 x->dgemm[0] <= x->want[0] ? "do" : "do not either");
}

static void describe_range(char *text, size_t size, const void *answer)
{
    const struct scheme_advice *const x = answer;
    const struct scheme_trial *const t = x->choice;
    char error[NUMBER_SAID_MAX], checked[NUMBER_SAID_MAX], dgemm[NUMBER_SAID_MAX];
    if (x->f32_suffices)
        text_add(text, size, "FP32 multiply-adds: %s %s%s, %s on the second sample",
                 metric_name(x), number_said(error, x->f32[0], 2), in_u(x),
                 number_said(checked, x->f32[1], 2));
    else if (t)
        text_add(
            text, size, "%s: %s %s%s, %s on the second sample; FP64 multiply-adds: %s",
            t->scheme->name, metric_name(x), number_said(error, t->error, 2), in_u(x),
            number_said(checked, t->checked, 2), number_said(dgemm, x->dgemm[0], 2));
}

static void describe_bound(char *text, size_t size, const void *answer)
{
    const struct scheme_advice *const x = answer;
    char bound[NUMBER_SAID_MAX];
    if (x->choice && !x->f32_suffices)
        text_add(text, size, "%s %s%s on the samples, from the data", metric_name(x),
                 number_said(bound, x->choice->bound, 2), in_u(x));
}

/* Every scheme on the first target. */
static void describe_tried(char *text, size_t size, const void *answer)
{
    const struct scheme_advice *const x = answer;
    char error[NUMBER_SAID_MAX];
    for (size_t i = 0; i < x->trials; i++) {
        const struct scheme_trial *const t = &x->trial[i];
        if (t->target != x->of->target[0]) continue;
        text_add(text, size, "%s%s: ", i ? ", " : "", t->scheme->name);
        if (t->reaches)
            text_add(text, size, "%d parts (%d products of %s)", t->parts, t->products,
                     t->scheme->part->name);
        else
            text_add(text, size, "not with %d parts (%s%s)", t->parts,
                     number_said(error, fmax(t->error, t->checked), 2),
                     isfinite(t->bound) ? "" : ", no bound");
    }
}

static void describe_command(char *text, size_t size, const void *answer)
{
    const struct scheme_advice *const x = answer;
    const struct scheme_trial *const t = x->choice;
    if (x->f32_suffices) {
        const bool relative = x->of->metric == METRIC_RELRES;
        text_add(text, size, "with A and B as f4 arrays: bitcut advise -a %s",
                 x->of->input_a);
        if (x->of->input_b) text_add(text, size, " -b %s", x->of->input_b);
        text_add(text, size, " --want %.3g%s", /* there u is 2^-24 */
                 x->want[0] * (relative ? 1 : 0x1p-29),
                 relative ? "" : " --metric backward_max");
    } else if (t)
        text_add(text, size, "%sbitcut gemm --scheme %s --unit %s --parts %d -a %s -b %s",
                 x->of->input_b ? "" : "with A transposed in B.npy: ", t->scheme->name,
                 t->unit->name, t->parts, x->of->input_a,
                 x->of->input_b ? x->of->input_b : "B.npy");
}

const struct record_line scheme_advice_lines[] = {
    { "matrices", describe_matrices, RECORD_ALWAYS, NULL },
    { "wanted", describe_want, RECORD_ALWAYS, NULL },
    VERDICT_LINES(describe_verdict, describe_range, describe_bound),
    { "tried", describe_tried, RECORD_ALWAYS, NULL },
    { "check", describe_command, RECORD_ALWAYS, NULL },
    { 0 }
};
