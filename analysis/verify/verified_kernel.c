/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields and sentences of verified kernels and of the split pass. */
#include "analysis/verify/verified.h"

#include "lib/base/text.h"

/* --- fields ----------------------------------------------------------------------- */

#define KERNEL_HAS(name, condition)                                                      \
    static bool name(const void *answer)                                                 \
    {                                                                                    \
        const struct kernel_result *const r =                                            \
            &((const struct verified_kernel *)answer)->result;                           \
        return condition;                                                                \
    }

KERNEL_HAS(kernel_differs, r->mismatches)
KERNEL_HAS(kernel_is_output, r->first.is_output)
KERNEL_HAS(kernel_is_finite, r->first.bits.finite)
KERNEL_HAS(kernel_has_parts, *r->first.bits.differ)
KERNEL_HAS(kernel_has_step, r->first.has_step)

static bool kernel_is_explained(const void *answer)
{
    return *((const struct verified_kernel *)answer)->explained.sentence;
}

static bool split_differs(const void *answer)
{
    return ((const struct verified_split *)answer)->result.mismatches;
}

static const char *low_format(const void *answer)
{
    const struct bitcut_split *const s =
        &((const struct verified_split *)answer)->plan.split_a;
    return s->part[s->parts - 1].format->name;
}

static const char *low(const void *answer)
{
    return split_low(&((const struct verified_split *)answer)->plan.split_a)->name;
}

#define ON(member, key, what) RECORD_INNER(struct verified_on, member, key, "", what)

/* clang-format off */
const struct record_field verified_on_fields[] = {
    ON(kernel, "kernel", "the kernel, or \"split\""),
    ON(device, "device", "the device"),
    ON(driver, "driver", "its driver"),
    ON(date, "date", "date of the run, in UTC"),
    ON(seed, "seed", "seed of the values"),
    { 0 }
};

#define OF_KERNEL(member, key, what)                                                     \
    RECORD_INNER(struct verified_kernel, member, key, "", what)
#define FIRST(member, key, what) OF_KERNEL(result.first.member, key, what)
#define FIRST_IF(condition, member, key, what)                                           \
    RECORD_INNER_IF(struct verified_kernel, result.first.member, key, "", what, condition)

static const struct record_field kernel_parts[] = {
    FIRST(bits.differ, "differ", "how they differ"),
    { 0 }
};

static const struct record_field kernel_first[] = {
    FIRST(shape.m, "m", "rows of D"),
    FIRST(shape.n, "n", "columns of D"),
    FIRST(shape.k, "k", "columns of A"),
    FIRST(room, "layout", "layout of the matrices"),
    FIRST(transposes, "transposes", "layout of A and B, n or t: column-major"),
    FIRST(outputs, "outputs", "layout of C and D, n or t: column-major"),
    FIRST(in_place, "in_place", "whether D is stored over C"),
    FIRST(alpha, "alpha", "D = alpha A B + beta C"),
    FIRST(beta, "beta", "D = alpha A B + beta C"),
    FIRST(input, "input", "input family of the values"),
    FIRST(count, "count", "GEMMs of the batch"),
    FIRST_IF(kernel_is_output, gemm, "gemm", "index of the GEMM in the batch, from 0"),
    FIRST_IF(kernel_is_output, at, "at", "row and column; null: a position outside the "
                                         "outputs"),
    FIRST(bits.model, "model", "value of the model"),
    FIRST(bits.other, "device", "value of the device"),
    FIRST_IF(kernel_is_finite, bits.steps, "ulps", "distance between them"),
    RECORD_TOGETHER(kernel_has_parts, kernel_parts, "",
                    "how they differ, where no distance is defined"),
    FIRST_IF(kernel_has_step, step, "k_step", "the step of k after which they differ"),
    { 0 }
};

const struct record_field verified_kernel_fields[] = {
    OF_KERNEL(result.configurations, "configurations", "GEMMs and batches"),
    OF_KERNEL(result.compared, "compared", "outputs compared"),
    OF_KERNEL(result.mismatches, "mismatches", "elements that differ"),
    RECORD_TOGETHER(kernel_differs, kernel_first, "first", "the first of them"),
    RECORD_INNER_IF(struct verified_kernel, explained.sentence, "hypothesis", "",
                    "what the kernel did instead", kernel_is_explained),
    { 0 }
};

static void split_name(char *text, size_t size, const void *answer)
{
    split_label(text, size, &((const struct verified_split *)answer)->plan.split_a);
}

#define OF_SPLIT(member, key, what)                                                      \
    RECORD_INNER(struct verified_split, member, key, "", what)

static const struct record_field split_first[] = {
    OF_SPLIT(result.x, "x", "the value"),
    OF_SPLIT(result.part, "part", "index of its part; 0: the high part"),
    OF_SPLIT(result.bits.model, "model", "value of the model"),
    OF_SPLIT(result.bits.other, "device", "value of the device"),
    { 0 }
};

const struct record_field verified_split_fields[] = {
    RECORD_SENTENCE(split_name, "split", "the split, and changes to it"),
    OF_SPLIT(plan.split_a.part[0].format, "format", "format of the high part"),
    RECORD_TEXT_OF(low_format, "low_format", "format of the last part"),
    OF_SPLIT(plan.split_a.part[0].rounding, "high", "rounding of the high part"),
    RECORD_TEXT_OF(low, "low", "rounding of the low parts"),
    OF_SPLIT(plan.split_a.scale, "scale", "low parts are multiplied by 2^scale"),
    OF_SPLIT(plan.equilibrate, "equilibrate", "whether rows and columns are scaled first"),
    OF_SPLIT(result.compared, "compared", "parts compared"),
    OF_SPLIT(result.mismatches, "mismatches", "parts that differ"),
    RECORD_TOGETHER(split_differs, split_first, "first", "the first of them"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

static void on_said(char *text, size_t size, const void *answer)
{
    const struct verified_on *const on = answer;
    text_add(text, size, "on %s, driver %s, %s, seed %llu", on->device, on->driver,
             on->date, (unsigned long long)on->seed);
}

static void kernel_compared(char *text, size_t size, const void *answer)
{
    const struct kernel_result *const r =
        &((const struct verified_kernel *)answer)->result;
    text_add(text, size, "%s%zu outputs of %zu GEMMs and batches, bit for bit",
             r->compared ? "" : "all ", r->compared, r->configurations);
}

static void kernel_differ(char *text, size_t size, const void *answer)
{
    const struct kernel_result *const r =
        &((const struct verified_kernel *)answer)->result;
    verified_describe_differ(text, size, r->mismatches, r->compared);
}

static void kernel_first_said(char *text, size_t size, const void *answer)
{
    const struct kernel_mismatch *const x =
        &((const struct verified_kernel *)answer)->result.first;
    if (!kernel_differs(answer)) return;
    if (x->is_output) text_add(text, size, "row %zu, column %zu: ", x->at[0], x->at[1]);
    else text_add(text, size, "memory around D, which is no output: ");
    apart_describe(text, size, &x->bits, "the device", "the model", true);
}

/* The GEMM of a trial. */
static void kernel_where(char *text, size_t size, const void *answer)
{
    const struct kernel_mismatch *const x =
        &((const struct verified_kernel *)answer)->result.first;
    char alpha[NUMBER_SAID_MAX], beta[NUMBER_SAID_MAX];
    if (!kernel_differs(answer)) return;
    text_add(text, size, "m, n, k = %zu, %zu, %zu; values: %s; alpha %s, beta %s; %s",
             x->shape.m, x->shape.n, x->shape.k, x->input,
             number_said(alpha, x->alpha, 9), number_said(beta, x->beta, 9), x->room);
    for (int i = 0; i < 4; i++)
        if ((i < 2 ? x->transposes : x->outputs)[i % 2] == 't')
            text_add(text, size, ", %c column-major", "ABCD"[i]);
    if (x->in_place) text_add(text, size, ", D is C");
    if (x->count > 1)
        text_add(text, size, "; GEMM %zu of a batch of %zu", x->is_output ? x->gemm : 0,
                 x->count);
    if (x->has_step && x->step) text_add(text, size, "; from k-step %zu on", x->step);
    else if (x->has_step) text_add(text, size, "; even with k = 0");
}

static void kernel_verdict(char *text, size_t size, const void *answer)
{
    text_add(text, size,
             kernel_differs(answer) ? "D differs from this recipe on this unit"
                                    : "D equals this recipe on this unit, bit for bit");
}

static void kernel_hypothesis(char *text, size_t size, const void *answer)
{
    text_add(text, size, "%s",
             ((const struct verified_kernel *)answer)->explained.sentence);
}

const struct record_line verified_kernel_lines[] = {
    /* clang-format off */
    GEMM_LINES,
    { "run",              on_said,           RECORD_ALWAYS, NULL },
    { "compared",         kernel_compared,   RECORD_ALWAYS, NULL },
    { "differ",           kernel_differ,     RECORD_ALWAYS, NULL },
    { "first difference", kernel_first_said, RECORD_BELOW,  NULL },
    { "in",               kernel_where,      RECORD_BELOW,  NULL },
    { LABEL_VERDICT,      kernel_verdict,    RECORD_ALWAYS, NULL },
    { "explanation",      kernel_hypothesis, RECORD_BELOW,  NULL },
    { 0 }
    /* clang-format on */
};

static void fp64_kernel(char *text, size_t size, const void *answer)
{
    const struct verified_on *const on = answer;
    text_add(text, size, "%s, unit %s", on->kernel,
             bitcut_unit_name(on->gemm.gemm->unit));
}

static void fp64_verdict(char *text, size_t size, const void *answer)
{
    text_add(text, size,
             kernel_differs(answer) ? "D differs from this scheme on this unit"
                                    : "D equals this scheme on this unit, bit for bit");
}

const struct record_line verified_fp64_lines[] = {
    /* clang-format off */
    { "kernel",           fp64_kernel,       RECORD_ALWAYS, NULL },
    { "run",              on_said,           RECORD_ALWAYS, NULL },
    { "compared",         kernel_compared,   RECORD_ALWAYS, NULL },
    { "differ",           kernel_differ,     RECORD_ALWAYS, NULL },
    { "first difference", kernel_first_said, RECORD_BELOW,  NULL },
    { "in",               kernel_where,      RECORD_BELOW,  NULL },
    { LABEL_VERDICT,      fp64_verdict,      RECORD_ALWAYS, NULL },
    { 0 }
    /* clang-format on */
};

static void split_compared(char *text, size_t size, const void *answer)
{
    const struct split_result *const r = &((const struct verified_split *)answer)->result;
    text_add(text, size, "%s%llu parts, bit for bit", r->compared ? "" : "all ",
             (unsigned long long)r->compared);
}

static void split_differ(char *text, size_t size, const void *answer)
{
    const struct split_result *const r = &((const struct verified_split *)answer)->result;
    verified_describe_differ(text, size, r->mismatches, r->compared);
}

static void split_first_said(char *text, size_t size, const void *answer)
{
    const struct split_result *const r = &((const struct verified_split *)answer)->result;
    if (!r->mismatches) return;
    text_add(text, size, "part %d of %s: ", r->part, r->x);
    apart_describe(text, size, &r->bits, "the device", "the model", false);
}

const struct record_line verified_split_lines[] = {
    /* clang-format off */
    { "parts",            gemm_describe_parts,   RECORD_ALWAYS, NULL },
    { "run",              on_said,          RECORD_ALWAYS, NULL },
    { "compared",         split_compared,   RECORD_ALWAYS, NULL },
    { "differ",           split_differ,     RECORD_ALWAYS, NULL },
    { "first difference", split_first_said, RECORD_BELOW,  NULL },
    { 0 }
    /* clang-format on */
};
