/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer about the O of an attention: its keys, its sentences, and the public call.
 */
#include "analysis/identify/attention_search.h"

#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <string.h>

/* --- keys --------------------------------------------------------------------------- */

static bool is_named(const void *x)
{
    return ((const struct attention_explanation *)x)->answer.row;
}
static bool is_not_found(const void *x)
{
    return is_named(x) && !((const struct attention_explanation *)x)->answer.found;
}
static bool has_left(const void *x)
{
    return ((const struct attention_explanation *)x)->plan.a.window_left >= 0;
}
static bool has_right(const void *x)
{
    return ((const struct attention_explanation *)x)->plan.a.window_right >= 0;
}

static const char *fault_sentence(const void *x)
{
    const struct attention_explanation *const e = x;
    return e->answer.fault ? e->fault->what : NULL;
}
static const char *p_format(const void *x)
{
    const struct attention_explanation *const e = x;
    return e->plan.pv.unit ? e->plan.pv.unit->a->name : NULL;
}
static double scale_of(const void *x)
{
    return value_of_float(((const struct attention_explanation *)x)->plan.a.scale);
}

#define OF(member, key, unit, what)                                                      \
    RECORD_MEMBER(struct attention_explanation, answer.member, #member, key, unit, what)
#define INNER(place, key, what)                                                          \
    RECORD_INNER(struct attention_explanation, place, key, "", what)

/* clang-format off */
static const struct record_field named_fields[] = {
    INNER(plan.row.unit_qk, "unit_qk", "unit of Q K^T"),
    INNER(plan.row.unit_pv, "unit_pv", "unit of P V"),
    INNER(plan.block_m, "block_m", "queries of a tile"),
    INNER(plan.block_n, "block_n", "keys of a tile"),
    INNER(plan.row.splits, "splits", "parts of the keys"),
    RECORD_TEXT_OF(p_format, "p_format", "format of P"),
    RECORD_INNER_IF(struct attention_explanation, plan.a.window_left, "window_left", "", "keys before its own that a query sees; null: all", has_left),
    RECORD_INNER_IF(struct attention_explanation, plan.a.window_right, "window_right", "", "keys after its own that a query sees; null: all", has_right),
    RECORD_NUMBER_OF(scale_of, "scale", "", "factor of the scores"),
    { 0 }
};

static const struct record_field far_fields[] = {
    INNER(error, "fp32_distance", "distance of O from the attention in FP32, on the sample"),
    INNER(own, "hypothesis_fp32_distance", "the same of the nearest hypothesis without a fault"),
    INNER(without, "faultless_distance", "distance of O from that hypothesis, on the sample"),
    { 0 }
};

const struct record_field attention_explain_fields[] = {
    OF(text, "hypothesis", "", "the result, as a sentence"),
    OF(found, "found", "", "whether a hypothesis, with its fault, gives every output that was compared"),
    OF(complete, "complete", "", "whether every hypothesis was tried that the search would try without a limit of work"),
    OF(diagnosis, "diagnosis", "", "identical, places, rounding, fault or unexplained"),
    OF(row, "row", "", "algorithm of the hypothesis that gives most outputs"),
    OF(vary, "vary", "", "items of --vary that change the row"),
    OF(fields, "fields", "", "all fields of the algorithm, as --vary takes them"),
    OF(fault, "fault", "", "name of the fault; null: none"),
    RECORD_TEXT_OF(fault_sentence, "fault_effect", "what the fault does; null: there is none"),
    RECORD_TOGETHER(is_named, named_fields, "", "the hypothesis"),
    OF(same, "same", "", "items of --vary that change no output of O, and rows that give it"),
    OF(matched, "matched", "", "outputs of the sample with the bits of the hypothesis"),
    OF(sampled, "sampled", "", "outputs of the sample"),
    OF(compared, "compared", "", "outputs that were compared"),
    OF(differ, "mismatches", "", "outputs that differ"),
    OF(total, "outputs", "", "outputs of O"),
    OF(ulps, "max_ulp", "ulp", "largest distance of an output from the hypothesis"),
    OF(distance, "distance", "", "root mean square, over the queries, of ||O - hypothesis|| / ||O||"),
    RECORD_TOGETHER(is_not_found, far_fields, "", "if no hypothesis gives O"),
    OF(by_chance, "by_chance", "", "hypotheses that would give as many outputs by chance"),
    OF(tried, "tried", "", "hypotheses that were tried"),
    INNER(seconds, "seconds", "time of the search"),
    { 0 }
};
/* clang-format on */

/* --- sentences ---------------------------------------------------------------------- */

static void add_row(char *text, size_t size, const struct attention_explanation *e)
{
    text_add(text, size, "%s", e->answer.row);
    if (*e->answer.vary) text_add(text, size, " with %s", e->answer.vary);
}

static void add_found(char *text, size_t size, const struct attention_explanation *e)
{
    const struct bitcut_attention_explanation *const a = &e->answer;
    if (a->compared == a->total) text_add(text, size, "all %zu outputs are ", a->total);
    else
        text_add(text, size, "all %zu outputs that were compared, of %zu, are ",
                 a->compared, a->total);
    text_add(text, size, a->fault ? "then those of " : "those of ");
    add_row(text, size, e);
    text_add(text, size, ", bit for bit");
    if (a->by_chance > 0.01)
        text_add(text, size,
                 "; but O is short: %.2g of the %zu hypotheses tried would give it by "
                 "chance",
                 a->by_chance, a->tried);
}

static void add_far(char *text, size_t size, const struct attention_explanation *e)
{
    if (e->answer.fault)
        text_add(
            text, size,
            "no hypothesis gives every output; the distance of O from the nearest one "
            "is %.2g with the fault and %.2g without it",
            e->answer.distance, e->without);
    else if (!strcmp(e->answer.diagnosis, "places"))
        text_add(
            text, size,
            "all except %zu of %zu outputs are those of %s, bit for bit; the first of "
            "them is in head %zu, query %zu",
            e->answer.differ, e->answer.compared, e->answer.row, e->first.head,
            e->first.query);
    else if (!strcmp(e->answer.diagnosis, "rounding"))
        text_add(text, size,
                 "no hypothesis gives O, but it is an attention up to rounding: its "
                 "distance from the attention in FP32 is %.2g, and that of %s is %.2g",
                 e->error, e->answer.row, e->own);
    else
        text_add(text, size,
                 "no hypothesis explains O: its distance from the attention in FP32 is "
                 "%.2g, and that of %s is %.2g",
                 e->error, e->answer.row, e->own);
}

/* The result in one sentence. */
static void describe(char *text, size_t size, const struct attention_explanation *e)
{
    if (!e->answer.row) return;
    if (e->interrupted && !e->answer.found) {
        text_add(text, size, "the search was stopped");
        return;
    }
    if (e->answer.fault)
        text_add(text, size, "%s: %s; ", e->answer.fault, e->fault->what);
    (e->answer.found ? add_found : add_far)(text, size, e);
}

static void describe_verdict(char *text, size_t size, const void *x)
{
    text_add(text, size, "%s", ((const struct attention_explanation *)x)->answer.text);
}

static void describe_computed(char *text, size_t size, const void *x)
{
    const struct attention_explanation *const e = x;
    const struct attention_plan *const p = &e->plan;
    if (!e->answer.row) return;
    text_add(text, size,
             "Q K^T by %s, P V by %s; tiles of %zu queries and %zu keys, the ",
             p->row.unit_qk, p->row.unit_pv, p->block_m, p->block_n);
    text_add(text, size, "%s first; ", p->row.descending ? "last" : "first");
    if (p->row.splits > 1) text_add(text, size, "%d splits of the keys; ", p->row.splits);
    text_add(text, size, "P in %s", p->pv.unit->a->name);
    if (p->row.offset) text_add(text, size, " times 2^%g", value_of_float(p->row.offset));
    text_add(text, size, "; %s; scale %.9g", p->row.exp->name, scale_of(e));
    if (has_left(e)) text_add(text, size, "; window left %d", (int)p->a.window_left);
    if (has_right(e) && (has_left(e) || p->a.window_right))
        text_add(text, size, "; window right %d", (int)p->a.window_right);
    else if (has_right(e)) text_add(text, size, "; causal");
}

static void describe_evidence(char *text, size_t size, const void *x)
{
    const struct attention_explanation *const e = x;
    if (e->answer.row && !e->varied) text_add(text, size, "%s", e->plan.row.evidence);
}

static void describe_same(char *text, size_t size, const void *x)
{
    text_add(text, size, "%s", ((const struct attention_explanation *)x)->answer.same);
}

static void describe_nearest(char *text, size_t size, const void *x)
{
    const struct attention_explanation *const e = x;
    const struct bitcut_attention_explanation *const a = &e->answer;
    if (!a->row || a->found) return;
    add_row(text, size, e);
    text_add(
        text, size,
        " gives %zu of %zu outputs; the largest difference is %.3g ulp, the distance "
        "is %.2g",
        a->compared - a->differ, a->compared, a->ulps, a->distance);
}

static void describe_search(char *text, size_t size, const void *x)
{
    const struct attention_explanation *const e = x;
    text_add(text, size, "%zu hypotheses in %.1f s, on %zu outputs", e->answer.tried,
             e->seconds, e->answer.sampled);
    if (!e->answer.complete) text_add(text, size, "; more --effort tries more");
}

const struct record_line attention_explain_lines[] = {
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { "nearest", describe_nearest, RECORD_ALWAYS, NULL },
    { "computed", describe_computed, RECORD_ALWAYS, NULL },
    { "evidence", describe_evidence, RECORD_ALWAYS, NULL },
    { "same bits", describe_same, RECORD_ALWAYS, NULL },
    { "search", describe_search, RECORD_ALWAYS, NULL },
    { 0 }
};

/* --- the call ----------------------------------------------------------------------- */

enum bitcut_status attention_explain_run(struct attention_explanation *to,
                                         const struct bitcut_attention *attention,
                                         const struct explain_options *o, struct fault *f)
{
    struct bitcut_attention a;
    struct hostfp saved;
    enum bitcut_status status = attention_take(&a, attention, f);
    if (status == BITCUT_OK) status = attention_check_matrices(&a, f);
    if (status == BITCUT_OK && (!a.heads || !a.queries || !a.value_dim || !a.keys))
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "O is empty, or there is no key");
    if (status != BITCUT_OK) return status;
    hostfp_enter(&saved); /* host doubles decide what is tried */
    status = attention_search(to, &a, o, f);
    if (status == BITCUT_OK) describe(to->answer.text, sizeof to->answer.text, to);
    hostfp_leave(&saved);
    return status;
}

enum bitcut_status bitcut_attention_explain(struct bitcut_attention_explanation *report,
                                            const struct bitcut_attention *attention,
                                            const struct bitcut_explain_options *options,
                                            int threads, char *why)
{
    struct attention_explanation e;
    struct explain_options o;
    struct fault f;
    enum bitcut_status status =
        struct_check("reports", report ? report->size : 0, sizeof *report, &f);
    if (status == BITCUT_OK) status = explain_options_take(&o, options, threads, &f);
    if (status == BITCUT_OK && o.chip)
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "an attention has no chip");
    if (status == BITCUT_OK) status = attention_explain_run(&e, attention, &o, &f);
    if (status == BITCUT_OK) status = progress_end(status, o.progress, &f);
    if (status == BITCUT_OK) *report = e.answer;
    return fault_write(why, status, &f);
}
