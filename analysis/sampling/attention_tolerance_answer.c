/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and sentences of the limits of a test of attention. */
#include "analysis/sampling/attention_tolerance.h"

#include "lib/base/text.h"
#include "lib/number/format.h"

#define LIMITS(member, unit, what)                                                       \
    RECORD_FIELD(struct bitcut_attention_tolerances, member, #member, unit, what)
#define VERDICT(member, unit, what)                                                      \
    RECORD_FIELD(struct bitcut_attention_verdict, member, #member, unit, what)
#define POWER(member, key, what)                                                         \
    RECORD_INNER(struct attention_power, member, key, "", what)
#define OF(member, key, what)                                                            \
    RECORD_INNER(struct attention_tolerance_answer, member, key, "", what)

static const char *fault_name(const void *x)
{
    return ((const struct attention_power *)x)->fault->key;
}

static const char *fault_what(const void *x)
{
    const struct attention_fault *const fault =
        ((const struct attention_power *)x)->fault;
    return *fault->what ? fault->what : NULL;
}

static const void *power_at(const void *x, size_t i, void *room)
{
    const struct attention_tolerance_answer *const a = x;
    (void)room;
    return i < a->powers ? &a->power[i] : NULL;
}

static bool is_judged(const void *x)
{
    return ((const struct attention_tolerance_answer *)x)->judged;
}

/* clang-format off */
const struct record_field attention_tolerance_fields[] = {
    LIMITS(runs, "", "runs of the emulator"),
    LIMITS(outputs, "", "outputs of each"),
    LIMITS(false_alarm, "", "probability that a correct result exceeds a known limit"),
    LIMITS(max, "u", "largest error of an output in the runs, relative to u times the mean of |V|"),
    LIMITS(limit, "u", "limit for it"),
    LIMITS(known, "", "whether the limit has this probability"),
    LIMITS(norm_max, "u", "largest norm of the errors of a run, relative to the norm of u times the mean of |V|"),
    LIMITS(norm_limit, "u", "limit for it"),
    LIMITS(norm_known, "", "whether the limit has this probability"),
    LIMITS(wrong, "", "outputs of a run that are infinite or NaN and not the Inf or NaN of the reference, or the reverse, at most; an O with b times the outputs may have b times as many"),
    LIMITS(zeros, "", "of the first 8 runs, those in which O = 0 is within both limits"),
    { 0 }
};

const struct record_field attention_verdict_fields[] = {
    VERDICT(accepted, "", "whether O is within both limits"),
    VERDICT(component, "u", "largest error of an output, relative to u times the mean of |V|"),
    VERDICT(norm, "u", "norm of the errors, relative to the norm of u times the mean of |V|"),
    VERDICT(above, "", "outputs above their limit"),
    VERDICT(wrong, "", "outputs that are infinite or NaN and not the Inf or NaN of the reference, or the reverse"),
    VERDICT(numbers, "", "outputs that are numbers in both"),
    VERDICT(zeros_accepted, "", "whether O = 0 would be accepted"),
    VERDICT(head, "", "head of the output with the largest error"),
    VERDICT(row, "", "its query"),
    VERDICT(column, "", "its column"),
    { 0 }
};

const struct record_field attention_power_fields[] = {
    RECORD_TEXT_OF(fault_name, "fault", "fault of a kernel; none: false alarms"),
    RECORD_TEXT_OF(fault_what, "what", "what the kernel does; null: it has no fault"),
    POWER(runs, "runs", "runs in which the fault changes O"),
    POWER(component, "component", "of these, rejected by the limit of outputs"),
    POWER(norm, "norm", "rejected by the limit of the norm"),
    POWER(either, "either", "rejected by one of them"),
    { 0 }
};

static const struct record_field verdict_fields[] = {
    RECORD_STRUCT(struct attention_tolerance_answer, verdict, attention_verdict_fields, "given", "the O of --verify"),
    { 0 }
};

const struct record_field attention_test_fields[] = {
    OF(row, "row", "algorithm"),
    OF(other, "other", "algorithm with which it is compared; null: exact attention"),
    OF(format_o, "format_o", "format of O"),
    RECORD_STRUCT(struct attention_tolerance_answer, limits, attention_tolerance_fields, "limits", "limits of a test"),
    RECORD_TOGETHER(is_judged, verdict_fields, "", "verdict on a given O"),
    RECORD_ITEMS(power_at, attention_power_fields, "power", "how often the test rejects faults"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

static void describe_what(char *text, size_t size, const void *x)
{
    const struct attention_tolerance_answer *const a = x;
    text_add(text, size, "O of %s in %s, compared with %s%s", a->row, a->format_o->name,
             a->other ? "O of " : "exact attention", a->other ? a->other : "");
}

static void describe_limit(char *text, size_t size, double limit, bool known, double max,
                           const struct bitcut_attention_tolerances *t, const char *unit)
{
    text_add(text, size, "%.3g u %s", limit, unit);
    if (known)
        text_add(text, size, "; one correct result in %.3g exceeds it",
                 1 / t->false_alarm);
    else text_add(text, size, "; twice the largest error, without a probability");
    text_add(text, size, "; largest error of %zu runs of %zu outputs: %.3g", t->runs,
             t->outputs, max);
}

static void describe_component(char *text, size_t size, const void *x)
{
    const struct bitcut_attention_tolerances *const t =
        &((const struct attention_tolerance_answer *)x)->limits;
    describe_limit(text, size, t->limit, t->known, t->max, t, "|V| for each output");
    if (t->zeros) text_add(text, size, "; O = 0 is accepted in %zu runs", t->zeros);
}

static void describe_norm(char *text, size_t size, const void *x)
{
    const struct bitcut_attention_tolerances *const t =
        &((const struct attention_tolerance_answer *)x)->limits;
    describe_limit(text, size, t->norm_limit, t->norm_known, t->norm_max, t,
                   "||V|| for the norm of all");
}

static void describe_verdict(char *text, size_t size, const void *x)
{
    const struct attention_tolerance_answer *const a = x;
    const struct bitcut_attention_verdict *const v = &a->verdict;
    if (!a->judged) return;
    text_add(text, size,
             "%s: largest error %.3g u |V| (limit %.3g) at head %zu, query %zu, column "
             "%zu; norm %.3g u ||V|| (limit %.3g)",
             v->accepted ? "accepted" : "rejected", v->component, a->limits.limit,
             v->head, v->row, v->column, v->norm, a->limits.norm_limit);
    if (v->above) text_add(text, size, "; %zu outputs exceed the limit", v->above);
    if (v->wrong) text_add(text, size, "; %zu are infinite or NaN", v->wrong);
    if (v->zeros_accepted) text_add(text, size, "; O = 0 would be accepted");
}

static void describe_power(char *text, size_t size, const void *x)
{
    const struct attention_tolerance_answer *const a = x;
    bool any = false;
    for (size_t i = 0; i < a->powers; i++) {
        const struct attention_power *const p = &a->power[i];
        if (!p->runs) continue;
        text_add(text, size, "%s%s %zu of %zu", any ? ", " : "", p->fault->key, p->either,
                 p->runs);
        any = true;
    }
}

const struct record_line attention_test_lines[] = {
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { "test", describe_what, RECORD_ALWAYS, NULL },
    { "componentwise", describe_component, RECORD_ALWAYS, NULL },
    { "normwise", describe_norm, RECORD_ALWAYS, NULL },
    { "rejected", describe_power, RECORD_ALWAYS, NULL },
    { 0 }
};
