/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/advise_text.h"

#include "analysis/accuracy/short_result.h"
#include "emu/gemm_fields.h"
#include "emu/gemm_sentence.h"
#include "emu/gemm_text.h"
#include "lib/base/text.h"
#include "lib/number/quantizer.h"

#include <math.h>
#include <string.h>

/* --- fields of a trial ------------------------------------------------------------ */

static void describe_line(char *text, size_t size, const void *trial)
{
    char line[CONFIGURATION_LINE_MAX];
    configuration_line_write(line, &((const struct advise_trial *)trial)->gemm);
    text_add(text, size, "%s", line);
}

/* Whether both have the same units, with the same cost of products. */
static bool same_chips(const struct chip *x, const struct chip *y)
{
    return !strcmp(x->architecture, y->architecture) &&
           (x->rates && y->rates ? !strcmp(x->rates, y->rates) : x->rates == y->rates);
}

/* All chips with the architecture and rates of a target, or its name. */
static void describe_all_chips(char *text, size_t size, const void *trial)
{
    const char *const target = ((const struct advise_trial *)trial)->target;
    const struct chip *const chip = table_find(TABLE(chips), target);
    if (!chip) text_add(text, size, "%s", target);
    for (const struct chip *c = chips; chip && c->name; c++)
        if (same_chips(c, chip)) text_append(text, size, c->name);
}

static const char *evidence(const void *trial)
{
    return unit_evidence(((const struct advise_trial *)trial)->gemm.unit);
}

static bool has_rate(const void *trial)
{
    return ((const struct advise_trial *)trial)->tflops > 0;
}

static void describe_trial_split(char *text, size_t size, const void *trial)
{
    split_label(text, size, &((const struct advise_trial *)trial)->plan.split_a);
}

static bool is_quantized(const void *trial) { return advise_is_quantized(trial); }

static bool has_short_d(const void *trial)
{
    return result_is_short(((const struct advise_trial *)trial)->gemm.d.format);
}

#define TRIAL(field, key, unit, what)                                                    \
    RECORD_INNER(struct advise_trial, field, key, unit, what)
#define ADVICE(member, key, unit, what)                                                  \
    RECORD_MEMBER(struct advise_trial, advice.member, #member, key, unit, what)
#define MAYBE(member, key, what)                                                         \
    RECORD_MAYBE_MEMBER(struct advise_trial, advice.member, #member, key, "", what)

#define PART(field, key, what) RECORD_MAYBE(struct advise_trial, field, key, "", what)

/* Present only where there is such an error. */
const struct record_field advise_quantized_fields[] = {
    TRIAL(quantizer[0], "quantizer_a", "",
          "the quantizer of A; null: A is not quantized"),
    TRIAL(quantizer[1], "quantizer_b", "",
          "the quantizer of B; null: B is not quantized"),
    PART(advice.quantization, "quantization",
         "the error that quantization alone makes; null: the GEMM was not checked"),
    { 0 }
};

const struct record_field advise_short_fields[] = {
    TRIAL(gemm.d.format, "format_d", "", "format of D"),
    PART(advice.rounding, "rounding",
         "the error that the rounding of D alone makes; null: the GEMM was not checked"),
    { 0 }
};

const struct record_field advise_trial_fields[] = {
    /* clang-format off */
    RECORD_SENTENCE(describe_line, "gemm", "the GEMM as a line (bitcut_gemm_read())"),
    TRIAL(target, "target", "", "the chip or unit that was asked for"),
    RECORD_SENTENCE(describe_all_chips, "chips", "all of the architecture and rates of that target"),
    TRIAL(gemm.unit, "unit", "", "what it runs on"),
    RECORD_TEXT_OF(evidence, "evidence", "what that unit's model rests on"),
    TRIAL(gemm.recipe, "recipe", "", "how the GEMM is put together"),
    RECORD_SENTENCE(describe_trial_split, "split", "the split, and what is changed in it"),
    TRIAL(plan.split_a.scale, "scale", "", "low parts are times 2^scale"),
    TRIAL(gemm.equilibrate, "equilibrate", "", "whether lines of A and B are scaled"),
    TRIAL(plan.terms, "terms", "", "products of parts for each of A B"),
    TRIAL(products, "products", "", "products of two numbers, in all"),
    ADVICE(cost, "cost", "products", "the terms, as products of f16 parts on that chip"),
    RECORD_INNER_IF(struct advise_trial, tflops, "tflops", "TFLOP/s",
                    "of A B at most, by the peak rate of f16; null: not known", has_rate),
    ADVICE(error, "error", "", "in the metric asked for, of a sample of outputs"),
    ADVICE(high, "high", "", "the error of all outputs is below it, as far as samples tell"),
    MAYBE(checked, "checked", "the error of a second sample, which had no part in the choice"),
    MAYBE(bound, "bound", "what that is at most for certain; null: not known"),
    ADVICE(reaches, "reaches", "", "whether it does what is wanted"),
    RECORD_TOGETHER(is_quantized, advise_quantized_fields, "", "with quantized operands"),
    RECORD_TOGETHER(has_short_d, advise_short_fields, "", "with a D of fewer bits than f32"),
    ADVICE(outputs, "", "", "of the first sample"),
    ADVICE(checks, "", "", "outputs of the second"),
    ADVICE(tried, "", "", "GEMMs that were tried"),
    ADVICE(quantize_a, "", "", "quantizer of A"),
    ADVICE(quantize_b, "", "", "quantizer of B"),
    ADVICE(quantization, "", "", "error that quantization alone makes"),
    ADVICE(rounding, "", "", "error that the rounding of D alone makes"),
    { 0 }
    /* clang-format on */
};

/* --- fields of an answer ---------------------------------------------------------- */

#define SCALE(field, key, unit, what)                                                    \
    RECORD_INNER(struct advise_scale, field, key, unit, what)

const struct record_field advise_scale_fields[] = {
    SCALE(recipe, "recipe", "", "how the GEMM is put together"),
    SCALE(unit, "unit", "", "what it runs on"),
    SCALE(scale, "scale", "", "low parts are times 2^scale"),
    SCALE(equilibrate, "equilibrate", "", "whether lines of A and B are scaled"),
    SCALE(error, "error", "", "in the metric asked for, of the first sample"),
    SCALE(kept[0].bits, "bits_a", "bits", "mean of the retained bits of A, of 24"),
    SCALE(kept[1].bits, "bits_b", "bits", "the same of B"),
    SCALE(kept[0].p_overflow, "overflow_a", "",
          "the share of A with a part that overflows"),
    SCALE(kept[1].p_overflow, "overflow_b", "", "the same of B"),
    SCALE(kept[0].p_flushed, "flushed_a", "",
          "the share of A with a part that is read as zero"),
    SCALE(kept[1].p_flushed, "flushed_b", "", "the same of B"),
    { 0 }
};

static const void *each_best(const void *answer, size_t i, void *room)
{
    const struct advise *const x = answer;
    return (void)room, i < x->bests ? x->best[i] : NULL;
}

static const void *each_trial(const void *answer, size_t i, void *room)
{
    const struct advise *const x = answer;
    return (void)room, i < x->trials ? &x->trial[i] : NULL;
}

static const void *each_kept(const void *answer, size_t i, void *room)
{
    const struct advise *const x = answer;
    return (void)room, i < x->kept.count ? &x->kept.at[i] : NULL;
}

static const void *each_scale(const void *answer, size_t i, void *room)
{
    const struct advise *const x = answer;
    return (void)room, i < x->scales ? &x->scale[i] : NULL;
}

static bool is_transposed(const void *answer)
{
    return !((const struct advise *)answer)->problem.input_b;
}

#define ANSWER(field, key, what) RECORD_INNER(struct advise, field, key, "", what)

const struct record_field advise_fields[] = {
    /* clang-format off */
    ANSWER(problem.want, "want", "the error that will do"),
    ANSWER(problem.metric, "metric", "what that is an error in"),
    RECORD_POINTER(struct advise, problem.gemm, gemm_operand_fields, "operands",
                   "steps and operands of the GEMM other than A and B"),
    ANSWER(problem.pairs, "pairs", "pairs of matrices, one product each"),
    ANSWER(m, "m", "rows of the last A"),
    ANSWER(n, "n", "columns of the last B"),
    ANSWER(k, "k", "columns of the last A"),
    ANSWER(problem.input_a, "input_a", "the file of the last A"),
    ANSWER(problem.input_b, "input_b", "the file of the last B; null: there is none"),
    ANSWER(problem.seed, "seed", "seed that chooses the outputs"),
    RECORD_FUNCTION(is_transposed, "transposed", "whether B is A transposed"),
    ANSWER(outputs, "outputs", "outputs of the first samples, which GEMMs were tried on"),
    ANSWER(checks, "checks", "outputs of the second samples"),
    ANSWER(all, "all", "whether the first samples are all outputs"),
    RECORD_POINTER(struct advise, choice, advise_trial_fields, "advice", "the best; null: none reaches what is wanted"),
    RECORD_ITEMS(each_best, advise_trial_fields, "targets", "what is advised at each target, or errs least there"),
    RECORD_STRUCT(struct advise, values[0], advise_values_fields, "values_a", "values of A"),
    RECORD_STRUCT(struct advise, values[1], advise_values_fields, "values_b", "values of B"),
    RECORD_ITEMS(each_kept, advise_retained_fields, "retained", "what splits keep of them"),
    RECORD_ITEMS(each_scale, advise_scale_fields, "scales", "ootomo and legemm at 2^10, at 2^11 and equilibrated"),
    RECORD_ITEMS(each_trial, advise_trial_fields, "tried", "every GEMM that was tried, as `advice`"),
    { 0 }
    /* clang-format on */
};

/* --- values ----------------------------------------------------------------------- */

static void describe_some(char *text, size_t size, size_t count, const char *what)
{
    if (count) text_add(text, size, ", %zu %s", count, what);
}

static void describe_values(char *text, size_t size, const struct advise *x, bool b)
{
    const struct advise_problem *const q = &x->problem;
    const struct advise_values *const v = &x->values[b];
    const struct exponents *const e = &v->own;
    if (b && !q->input_b) text_add(text, size, "A transposed, as no B was given: ");
    else text_add(text, size, "%s, ", b ? q->input_b : q->input_a);
    text_add(text, size, "%zu x %zu", b ? x->k : x->m, b ? x->n : x->k);
    if (advise_zero(q, b))
        text_add(text, size, ", less the zero point %d", (int)advise_zero(q, b));
    if (q->pairs > 1)
        text_add(text, size, ", and those of %zu more product%s", q->pairs - 1,
                 q->pairs > 2 ? "s" : "");
    text_add(text, size, ": %zu values", e->values - e->zeros - e->infinite - e->nan);
    if (advise_values_any(v))
        text_add(text, size, " from 2^%d to 2^%d", v->least, v->most + 1);
    describe_some(text, size, e->zeros, "zeros");
    describe_some(text, size, e->infinite, "infinite");
    describe_some(text, size, e->nan, "NaN");
}

void advise_describe_a(char *text, size_t size, const void *answer)
{
    describe_values(text, size, answer, false);
}

void advise_describe_b(char *text, size_t size, const void *answer)
{
    describe_values(text, size, answer, true);
}

/* --- trials ----------------------------------------------------------------------- */

/* "relres 1.2e-07", "backward_max 3.1 u" */
static void describe_error(char *text, size_t size, const struct advise *x, double error)
{
    const char *const metric = x->problem.metric->name;
    text_add(text, size, "%s %.2g%s", metric, error,
             strcmp(metric, "backward_max") ? "" : " u");
}

void advise_describe_want(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const bool several = x->problem.pairs > 1;
    text_add(text, size, "at most ");
    describe_error(text, size, x, x->problem.want);
    text_add(text, size, " of %s", several ? "each " : "");
    if (x->problem.gemm) gemm_describe_update(text, size, x->problem.gemm);
    else text_add(text, size, "D = A B");
    text_add(text, size, "; ");
    if (x->all) text_add(text, size, "all %zu outputs were computed", x->outputs);
    else if (several)
        text_add(text, size, "tried on %zu outputs, checked on %zu others", x->outputs,
                 x->checks);
    else
        text_add(text, size, "tried on %zu of %zu outputs, checked on %zu others",
                 x->outputs, x->m * x->n, x->checks);
}

/* " of A and B by fp8-rows" */
static void describe_quantizers(char *text, size_t size, const struct advise_trial *t,
                                const char *before)
{
    const struct bitcut_quantizer *const a = t->quantizer[0], *const b = t->quantizer[1];
    if (a && a == b) text_add(text, size, "%sA and B by %s", before, a->name);
    else if (a && b)
        text_add(text, size, "%sA by %s and B by %s", before, a->name, b->name);
    else if (a || b)
        text_add(text, size, "%s%s by %s", before, a ? "A" : "B", (a ? a : b)->name);
}

/* "legemm at 2^10, equilibrated" */
static void describe_gemm(char *text, size_t size, const struct advise_trial *t)
{
    const int scale = t->plan.split_a.scale;
    text_add(text, size, "%s", t->gemm.recipe->name);
    if (!t->gemm.recipe->split) text_add(text, size, " in %s", t->plan.split_a.name);
    if (scale) text_add(text, size, " at 2^%d", scale);
    if (t->gemm.equilibrate) text_add(text, size, ", equilibrated");
    describe_quantizers(text, size, t, " of ");
}

/* "3 products" */
static void describe_cost(char *text, size_t size, const struct advise_trial *t)
{
    const int terms = t->plan.terms;
    text_add(text, size, "%d product%s", terms, terms > 1 ? "s" : "");
    if (t->advice.cost != terms)
        text_add(text, size, " at the cost of %.3g of f16", t->advice.cost);
}

void advise_describe_chips(char *text, size_t size, const struct advise_trial *t)
{
    enum { SHOWN = 2 };
    char all[1000] = "";
    describe_all_chips(all, sizeof all, t);
    const char *end = all;
    int count = 1;
    for (const char *at = all; (at = strstr(at, ", ")); at += 2, count++)
        if (count == SHOWN) end = at;
    const int more = count > SHOWN ? count - SHOWN : 0;
    text_add(text, size, "%.*s", (int)(more ? (size_t)(end - all) : strlen(all)), all);
    if (more) text_add(text, size, " and %d more", more);
}

/* If nothing is recommended: the trial with the smallest error. */
void advise_describe_none(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const struct advise_trial *const best = advise_best(x);
    if (x->choice) return;
    text_add(text, size, "no recipe reaches ");
    describe_error(text, size, x, x->problem.want);
    if (!best) return;
    text_add(text, size, "; the nearest is ");
    describe_gemm(text, size, best);
    text_add(text, size, " on ");
    advise_describe_chips(text, size, best);
}

static bool are_alike(const struct advise_trial *x, const struct advise_trial *y)
{
    return x->gemm.recipe == y->gemm.recipe &&
           !strcmp(x->plan.split_a.name, y->plan.split_a.name) &&
           x->plan.split_a.scale == y->plan.split_a.scale &&
           x->gemm.equilibrate == y->gemm.equilibrate &&
           x->quantizer[0] == y->quantizer[0] && x->quantizer[1] == y->quantizer[1] &&
           x->advice.cost == y->advice.cost && x->advice.reaches == y->advice.reaches;
}

/* Whether a target before i has the same cheapest recipe. */
static bool is_alike_before(const struct advise *x, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (are_alike(x->best[j], x->best[i])) return true;
    return false;
}

/* The targets from `first` on with the same cheapest recipe. */
static void describe_places(char *text, size_t size, const struct advise *x, size_t first)
{
    for (size_t i = first; i < x->bests; i++) {
        if (!are_alike(x->best[i], x->best[first])) continue;
        text_add(text, size, "%s", i == first ? "" : ", ");
        advise_describe_chips(text, size, x->best[i]);
    }
}

static void describe_alike(char *text, size_t size, const struct advise *x, size_t first)
{
    const struct advise_trial *const t = x->best[first];
    describe_places(text, size, x, first);
    text_add(text, size, t->advice.reaches ? ": " : ": none, the nearest is ");
    describe_gemm(text, size, t);
    text_add(text, size, ", ");
    describe_cost(text, size, t);
}

/* The cheapest recipe on each chip that reaches the required error. */
void advise_describe_best(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    for (size_t i = 0; x->choice && i < x->bests; i++) {
        if (is_alike_before(x, i)) continue;
        text_add(text, size, "%s", i ? "; " : "on ");
        describe_alike(text, size, x, i);
    }
}

/* The range of the errors of the targets with the same cheapest recipe. */
static void describe_errors(char *text, size_t size, const struct advise *x, size_t first)
{
    double least = x->best[first]->advice.error, most = least;
    for (size_t i = first; i < x->bests; i++) {
        if (!are_alike(x->best[i], x->best[first])) continue;
        least = fmin(least, x->best[i]->advice.error);
        most = fmax(most, x->best[i]->advice.error);
    }
    describe_error(text, size, x, least);
    if (most > 1.05 * least) text_add(text, size, " to %.2g", most);
}

/* The errors of the advised recipe, or of the nearest one; for a single recipe also the
   estimate for all outputs. */
void advise_describe_typical(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const struct advise_trial *const one = x->choice ? x->choice : advise_best(x);
    if (!one) return;
    for (size_t i = 0; x->choice && x->bests > 1 && i < x->bests; i++) {
        if (is_alike_before(x, i)) continue;
        text_add(text, size, "%s", i ? "; " : "");
        describe_gemm(text, size, x->best[i]);
        text_add(text, size, ": ");
        describe_errors(text, size, x, i);
    }
    if (!*text) describe_error(text, size, x, one->advice.error);
    text_add(text, size, " (limit %.2g)", x->problem.want);
    if (!x->all)
        text_add(text, size,
                 "; estimated up to %.2g in all outputs, %.2g in a second sample",
                 one->advice.high, one->advice.checked);
}

/* The error of the advised recipe, or of the nearest one, and what quantization and the
   rounding of D alone make. */
void advise_describe_sources(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const struct advise_trial *const t = advise_best(x);
    if (!t || (!advise_is_quantized(t) && !has_short_d(t))) return;
    describe_quantizers(text, size, t, "with ");
    text_add(text, size, "%sthe error is ", *text ? " " : "");
    describe_error(text, size, x, t->advice.error);
    if (advise_is_quantized(t))
        text_add(text, size, "; quantization alone makes %.2g", t->advice.quantization);
    if (has_short_d(t))
        text_add(text, size, "; the rounding of D to %s alone makes %.2g",
                 result_name(t->gemm.d.format), t->advice.rounding);
}

void advise_describe_worst_case(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const struct advise_trial *const t = x->choice;
    if (!t || !isfinite(t->advice.bound)) return;
    describe_error(text, size, x, t->advice.bound);
    if (x->bests > 1)
        text_add(text, size, " with %s on %s", t->gemm.recipe->name, t->target);
}

/* Among several chips, those with known rates are compared. */
void advise_describe_fastest(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const struct advise_trial *const t = x->choice;
    const char *between = "; not compared, as no rate is known: ";
    if (!t || x->bests < 2) return;
    if (!has_rate(t)) {
        text_add(text, size, "not known: no rates of these chips are known");
        return;
    }
    text_add(text, size,
             "%s: at most %.3g TFLOP/s of A B by peak rates (bitcut list rates), ",
             t->target, t->tflops);
    describe_gemm(text, size, t);
    for (size_t i = 0; i < x->bests; i++) {
        if (has_rate(x->best[i])) continue;
        text_add(text, size, "%s", between);
        advise_describe_chips(text, size, x->best[i]);
        between = ", ";
    }
}

/* --- scales ----------------------------------------------------------------------- */

/* The best scale for ootomo's parts, which are rounded to nearest. */
enum { AT_10, AT_11, EQUILIBRATED };

static int best_way(const struct advise_scale *way)
{
    if (way[AT_11].kept[0].p_overflow > 0 || way[AT_11].kept[1].p_overflow > 0)
        return EQUILIBRATED;
    const double unscaled = fmin(way[AT_10].error, way[AT_11].error);
    if (!(unscaled <= 1.1 * way[EQUILIBRATED].error)) return EQUILIBRATED;
    return way[AT_11].error <= 1.05 * way[AT_10].error ? AT_11 : AT_10;
}

/* Why rows and columns are scaled, or not. */
static void describe_reason(char *text, size_t size, const struct advise_scale *way,
                            int best)
{
    for (int i = 0; i < 2; i++) {
        const struct retention *const kept = &way[AT_11].kept[i];
        text_add(text, size, "%s%s retains %.4g, %.4g and %.4g of 24 bits",
                 i ? ", " : "; ", i ? "B" : "A", way[AT_10].kept[i].bits, kept->bits,
                 way[EQUILIBRATED].kept[i].bits);
        if (kept->p_overflow > 0)
            text_add(text, size, " (%.2g %% overflow)", 100 * kept->p_overflow);
        if (kept->p_flushed > 0)
            text_add(text, size, " (of %.2g %% a part is flushed)",
                     100 * kept->p_flushed);
    }
    if (best != EQUILIBRATED) text_add(text, size, "; lines need no scaling");
}

void advise_describe_scales(char *text, size_t size, const void *answer)
{
    static const char *const names[] = { "2^10", "2^11", "equilibrate" };
    const struct advise *const x = answer;
    const struct advise_scale *const way = x->scale;
    if (x->scales < ADVISE_WAYS) return;
    const int best = best_way(way);
    text_add(text, size,
             "%s: with %s on %s %s is %.2g at 2^10, %.2g at 2^11, %.2g equilibrated",
             names[best], way[0].recipe->name, way[0].unit->name, x->problem.metric->name,
             way[AT_10].error, way[AT_11].error, way[EQUILIBRATED].error);
    describe_reason(text, size, way, best);
}

/* --- the command that checks it --------------------------------------------------- */

void advise_describe_command(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const struct advise_trial *const t = x->choice;
    const char *const b = x->problem.input_b;
    if (!t) return;
    if (x->problem.gemm && gemm_has_zeros(x->problem.gemm) &&
        !format_is_integer(t->gemm.unit->c)) {
        text_add(text, size,
                 "bitcut gemm with %s on %s takes A and B less their zero points, from "
                 "files",
                 t->gemm.recipe->name, t->gemm.unit->name);
        return;
    }
    if (!b) text_add(text, size, "with A transposed in B.npy: ");
    text_add(text, size, "bitcut gemm --recipe %s --unit %s -a %s -b %s",
             t->gemm.recipe->name, t->gemm.unit->name, x->problem.input_a,
             b ? b : "B.npy");
    if (t->plan.split_a.scale) text_add(text, size, " --scale %d", t->plan.split_a.scale);
    if (t->gemm.equilibrate) text_add(text, size, " --equilibrate");
    for (int side = 0; side < 2; side++)
        if (t->quantizer[side])
            text_add(text, size, " --quantize-%c %s", side ? 'b' : 'a',
                     t->quantizer[side]->name);
    for (int side = 0; side < 2; side++)
        if (side ? t->gemm.zero_b : t->gemm.zero_a)
            text_add(text, size, " --zero-%c=%d", side ? 'b' : 'a',
                     (int)(side ? t->gemm.zero_b : t->gemm.zero_a));
    if (has_short_d(t) || format_is_integer(t->gemm.unit->c))
        text_add(text, size, " --format-d %s", matrix_format(&t->gemm.d)->name);
    if (x->problem.options) text_add(text, size, "%s", x->problem.options);
}

/* The start, the steps and their operands. */
static void describe_epilogue(char *text, size_t size, const void *answer)
{
    const struct advise *const x = answer;
    const struct gemm_description d = { .gemm = x->problem.gemm };
    if (d.gemm) gemm_describe_epilogue(text, size, &d);
}

const struct record_line advise_lines[] = {
    { "A", advise_describe_a, RECORD_ALWAYS, NULL },
    { "B", advise_describe_b, RECORD_ALWAYS, NULL },
    { "epilogue", describe_epilogue, RECORD_ALWAYS, NULL },
    { "wanted", advise_describe_want, RECORD_ALWAYS, NULL },
    { LABEL_VERDICT, advise_describe_none, RECORD_ALWAYS, NULL },
    VERDICT_LINES(advise_describe_best, advise_describe_typical,
                  advise_describe_worst_case),
    { "error sources", advise_describe_sources, RECORD_ALWAYS, NULL },
    { "fastest", advise_describe_fastest, RECORD_ALWAYS, NULL },
    { "scale", advise_describe_scales, RECORD_ALWAYS, NULL },
    { "check", advise_describe_command, RECORD_ALWAYS, NULL },
    { 0 }
};
