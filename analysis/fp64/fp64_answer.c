/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/fp64_answer.h"

#include "analysis/fp64/fp64_comparison.h"
#include "emu/gemm_sentence.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* --- measuring -------------------------------------------------------------------- */

int fp64_products(const struct bitcut_scheme *s, int parts)
{
    if (s->cut) return parts * (parts + 1) / 2;
    return parts + (s->run == fp64_run_residues);
}

struct fp64_answer fp64_answer_of(const struct bitcut_gemm *g,
                                  const struct fp64_choice *by)
{
    return (struct fp64_answer){ .scheme = g->scheme,
                                 .unit = g->unit,
                                 .by = *by,
                                 .products =
                                     by->in_f64 ? 1 : fp64_products(g->scheme, by->parts),
                                 .m = g->m,
                                 .n = g->n,
                                 .k = g->k,
                                 .count = g->count,
                                 .alpha = g->alpha_f64,
                                 .beta = g->beta_f64,
                                 .seconds = NAN,
                                 .products_per_second = NAN };
}

/* Errors of D, or of another D in its place, in u |A||B|. */
static void take_errors(double *to, struct comparison *x, const double *d)
{
    const double *const own = x->d64;
    x->d64 = d;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = fabs(metric_error(x, i));
        to[i] = error == 0 ? 0 : error / x->magnitude[i] * 0x1p53;
    }
    x->d64 = own;
}

static void take_outputs(struct fp64_outputs *to, struct fp64_comparison *c)
{
    struct comparison *const x = &c->judge.comparison;
    struct hostfp saved;
    hostfp_enter(&saved);
    take_errors(to->error, x, c->matrices.d);
    take_errors(to->plain, x, c->plain);
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double bound = c->limit[i], limit = x->limit[i];
        to->exact[i] = double_of_bits(x->reference64[i]);
        to->bound[i] = bound == 0 ? 0 : bound / x->magnitude[i] * 0x1p53;
        to->limit[i] = limit == 0 ? 0 : limit / x->magnitude[i] * 0x1p53;
    }
    hostfp_leave(&saved);
}

/* Compare D of one GEMM.  outputs: or NULL. */
static enum bitcut_status judge_one(struct fp64_answer *to, struct fp64_outputs *outputs,
                                    const struct bitcut_gemm *g,
                                    const struct reference *reference,
                                    const struct gemm_options *options, struct fault *f)
{
    const struct fp64_choice of_all = to->by;
    struct fp64_comparison c;
    enum bitcut_status status = fp64_settle(&to->by, g, options->threads, f);
    if (status != BITCUT_OK) return status;
    status = fp64_comparison_init(&c, g, reference, options, f);
    if (status == BITCUT_OK) status = fp64_comparison_measure(to, &c, options, f);
    if (status == BITCUT_OK && outputs) take_outputs(outputs, &c);
    fp64_comparison_clear(&c);
    to->by = of_all;
    return status;
}

enum bitcut_status fp64_answer_judge(struct fp64_answer *to, const struct bitcut_gemm *g,
                                     const struct reference *reference,
                                     const struct gemm_options *options, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < g->count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm one = gemm_nth(g, i);
        struct fp64_answer found = *to;
        status = judge_one(&found, NULL, &one, reference, options, f);
        if (status != BITCUT_OK ||
            (i && !(found.value[METRIC_BACKWARD_MAX] > to->value[METRIC_BACKWARD_MAX])))
            continue;
        *to = found;
        to->largest = i;
    }
    return status;
}

void fp64_outputs_clear(struct fp64_outputs *x)
{
    free(x->exact);
    free(x->error);
    free(x->plain);
    free(x->bound);
    free(x->limit);
    *x = (struct fp64_outputs){ .exact = NULL };
}

enum bitcut_status fp64_outputs_judge(struct fp64_outputs *to, struct fp64_answer *answer,
                                      const struct bitcut_gemm *g,
                                      const struct reference *reference,
                                      const struct gemm_options *options, struct fault *f)
{
    const size_t count = g->m * g->n;
    struct fp64_outputs outputs = { .exact = memory_allocate(count, sizeof(double)),
                                    .error = memory_allocate(count, sizeof(double)),
                                    .plain = memory_allocate(count, sizeof(double)),
                                    .bound = memory_allocate(count, sizeof(double)),
                                    .limit = memory_allocate(count, sizeof(double)) };
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (!outputs.exact || !outputs.error || !outputs.plain || !outputs.bound ||
        !outputs.limit)
        fault_set(f, status, "not enough memory for the reference");
    else status = judge_one(answer, &outputs, g, reference, options, f);
    if (status == BITCUT_OK) *to = outputs;
    else fp64_outputs_clear(&outputs);
    return status;
}

/* --- fields ----------------------------------------------------------------------- */

static bool was_judged(const void *a) { return ((const struct fp64_answer *)a)->judged; }
static bool is_on_device(const void *a)
{
    return ((const struct fp64_answer *)a)->device;
}

static void describe_device(char *text, size_t size, const void *answer)
{
    const char *const device = ((const struct fp64_answer *)answer)->device;
    text_add(text, size, "%s", device ? device : "emulator");
}

static bool is_batch(const void *a) { return ((const struct fp64_answer *)a)->is_batch; }

static bool has_bits(const void *a)
{
    return ((const struct fp64_answer *)a)->by.bits >= 0;
}

static bool may_fall_back(const void *a)
{
    return ((const struct fp64_answer *)a)->scheme->finite;
}

static bool differs(const void *a)
{
    return ((const struct fp64_answer *)a)->difference.differ;
}

static void describe_explanation(char *text, size_t size, const void *answer)
{
    text_add(text, size, "%s", ((const struct fp64_answer *)answer)->explanation);
}

static double given(const void *a)
{
    return double_of_bits(((const struct fp64_answer *)a)->difference.given);
}

static double expected(const void *a)
{
    return double_of_bits(((const struct fp64_answer *)a)->difference.expected);
}

#define OF(place, key, unit, what)                                                       \
    RECORD_INNER(struct fp64_answer, place, key, unit, what)
#define OF_IF(place, key, unit, what, is)                                                \
    RECORD_INNER_IF(struct fp64_answer, place, key, unit, what, is)
#define NUMBER_OF(function, key, line)                                                   \
    {                                                                                    \
        .name = key, .what = line, .unit = "", .kind = RECORD_COMPUTED,                  \
        .number = function, .when = differs                                              \
    }

/* clang-format off */
#define GEMM_FIELDS                                                                      \
    OF(scheme, "scheme", "", "the scheme (bitcut list schemes)"),                        \
    OF(unit, "unit", "", "the unit that multiplies parts"),                              \
    OF(by.parts, "parts", "", "parts of each element of A and B: slices, or moduli; of a batch, the most"), \
    OF_IF(by.bits, "required_bits", "", "bits that the exponents of A and B require, of schemes that choose the number of parts", has_bits), \
    OF_IF(by.some_f64, "in_fp64", "", "whether FP64 multiply-adds compute D instead, or a D of a batch", may_fall_back), \
    OF(by.slices, "split_k", "", "slices of k, each with scales of its own"),            \
    OF(products, "part_products", "", "products of parts for each product of A B"),      \
    OF(m, "m", "", "rows of A and D"),                                                   \
    OF(n, "n", "", "columns of B and D"),                                                \
    OF(k, "k", "", "columns of A"),                                                      \
    OF_IF(count, "count", "", "GEMMs of a batch", is_batch),                             \
    OF(alpha, "alpha", "", "factor of A B"),                                             \
    OF(beta, "beta", "", "factor of C"),                                                 \
    OF(input_a, "input_a", "", "file or family of A"),                                   \
    OF(input_b, "input_b", "", "file or family of B")

const struct record_field fp64_setup_fields[] = { GEMM_FIELDS, { 0 } };

const struct record_field fp64_error_fields[] = {
    OF(reference, "reference", "", "the reference of D"),
    RECORD_NAMED(struct fp64_answer, value, "", metrics, "",
                 "every metric (bitcut list metrics), with u = 2^-53"),
    OF(dgemm, "dgemm_backward_max", "u |A||B|",
       "backward_max of FP64 multiply-adds, k ascending, on the same data"),
    OF(bound_most, "bound_max", "u |A||B|", "the largest bound of an output by the scheme"),
    OF(share, "bound_worst", "", "the largest part of its bound that an output takes"),
    OF(bins, "ulp_histogram", "", "outputs by distance from the exact result, in steps of FP64"),
    OF_IF(largest, "largest", "", "GEMM of a batch that has these errors, the largest", is_batch),
    { 0 }
};

const struct record_field fp64_gemm_fields[] = {
    GEMM_FIELDS,
    OF(seed, "seed", "", "seed of the inputs"),
    RECORD_SENTENCE(describe_device, "device", "what computed D: emulator, or the name of a GPU"),
    OF(kernel, "kernel", "", "the kernel; null: the emulator"),
    OF(seconds, "seconds", "s", "time of the emulator or the device, with copies"),
    OF(products_per_second, "products_per_second", "1/s", "products of parts per second"),
    { .name = "", .what = "errors of D, if it was compared", .unit = "", .kind = RECORD_GROUP, .of = fp64_error_fields, .when = was_judged },
    RECORD_POINTER(struct fp64_answer, worst, worst_inputs_fields, "worst_inputs", "the search for the worst inputs; null: not asked for"),
    { 0 }
}, fp64_verify_fields[] = {
    GEMM_FIELDS,
    OF_IF(device, "device", "", "what computed the expected D, if --device names a device", is_on_device),
    OF_IF(kernel, "kernel", "", "its kernel", is_on_device),
    OF(difference.compared, "compared", "", "outputs that were compared"),
    OF(difference.differ, "mismatches", "", "outputs with other bits"),
    OF_IF(difference.gemm, "first.gemm", "", "GEMM of the first of them in the batch", differs),
    OF_IF(difference.row, "first.row", "", "its row", differs),
    OF_IF(difference.column, "first.column", "", "its column", differs),
    NUMBER_OF(given, "first.given", "its value"),
    NUMBER_OF(expected, "first.expected", "that of the emulator"),
    RECORD_SENTENCE(describe_explanation, "explanation", "what computed D instead; null: unknown"),
    { .name = "", .what = "errors of D, if it was compared", .unit = "", .kind = RECORD_GROUP, .of = fp64_error_fields, .when = was_judged },
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

void fp64_describe_scheme(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    text_add(text, size, "%s on %s", a->scheme->name, a->unit->name);
    if (a->device) text_add(text, size, " by the kernel %s on %s", a->kernel, a->device);
    text_add(text, size, " (evidence of the unit: %s)", unit_evidence(a->unit));
}

/* Why D is computed in FP64. */
static void describe_fallback(char *text, size_t size, const struct fp64_answer *a)
{
    if (a->by.bits < 0)
        text_add(text, size, "none: an element of A or B is infinite or NaN");
    else
        text_add(text, size,
                 "none: the exponents of A and B require %d bits, %d slices have %d",
                 a->by.bits, a->by.parts, 8 * a->by.parts - 1);
    text_add(text, size,
             "; FP64 multiply-adds, k ascending (cuBLAS has its own order of k)");
}

void fp64_describe_parts(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    const struct fp64_choice *const by = &a->by;
    if (a->scheme->part == &formats[FORMAT_F64]) return;
    if (by->in_f64) {
        describe_fallback(text, size, a);
        return;
    }
    text_add(text, size, "each element of A and B is %d %s in %s; %d products of parts",
             by->parts, a->scheme->cut ? "slices" : "residues", a->scheme->part->name,
             a->products);
    if (by->bits >= 0 && !by->some_f64)
        text_add(text, size, "; the exponents of A and B require %d bits", by->bits);
    if (by->slices > 1) text_add(text, size, "; k is cut into %zu slices", by->slices);
    if (by->some_f64)
        text_add(text, size, "; some GEMMs of the batch are computed by multiply-adds");
}

static void describe_operand(char *text, size_t size, const char *name, size_t rows,
                             size_t cols, const char *from)
{
    text_add(text, size, ", %s %zu x %zu", name, rows, cols);
    if (from) text_add(text, size, " %s", from);
}

void fp64_describe_matrices(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    text_add(text, size, "D = ");
    if (a->alpha != 1) text_add(text, size, "%.17g ", a->alpha);
    text_add(text, size, "A B");
    if (a->beta != 0) text_add(text, size, " + ");
    if (a->beta != 0 && a->beta != 1) text_add(text, size, "%.17g ", a->beta);
    if (a->beta != 0) text_add(text, size, "C");
    text_add(text, size, " in FP64");
    if (a->is_batch)
        text_add(text, size, ", %zu GEMM%s", a->count, a->count == 1 ? "" : "s");
    describe_operand(text, size, "D", a->m, a->n, NULL);
    describe_operand(text, size, "A", a->m, a->k, a->input_a);
    describe_operand(text, size, "B", a->k, a->n, a->input_b);
    if (a->seeded) text_add(text, size, ", seed %llu", (unsigned long long)a->seed);
}

static void describe_largest(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    if (a->judged && a->is_batch)
        text_add(text, size, "GEMM %zu of %zu; its componentwise error is the largest",
                 a->largest, a->count);
}

void fp64_describe_componentwise(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    char error[NUMBER_SAID_MAX], plain[NUMBER_SAID_MAX];
    if (a->judged)
        text_add(
            text, size,
            "%s u |A||B| at most, u = 2^-53 (FP64 multiply-adds on the same data: %s)",
            number_said(error, a->value[METRIC_BACKWARD_MAX], 3),
            number_said(plain, a->dgemm, 3));
}

void fp64_describe_relative(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    char error[NUMBER_SAID_MAX], bits[NUMBER_SAID_MAX];
    if (!a->judged) return;
    const double kept = a->value[METRIC_EFFECTIVE_BITS];
    text_add(text, size,
             "%s of ||C||, C the exact result: %s bits retained (FP64 has 53)",
             number_said(error, a->value[METRIC_RELRES], 3),
             kept > 0 || !isfinite(kept) ? number_said(bits, kept, 3) : "0");
}

static void describe_bound(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    if (!a->judged) return;
    if (!isfinite(a->bound_most))
        text_add(
            text, size,
            a->scheme->run == fp64_run_residues_fast
                ? "none for some outputs: their integers may exceed the product of "
                  "the moduli"
                : "none for some outputs: a line has no finite scale, the unit rounds "
                  "sums of parts, or k is cut");
    else
        text_add(text, size,
                 "%.3g u |A||B| at most, from the data; the worst output has %.3g %% of "
                 "its bound",
                 a->bound_most, 100 * a->share);
}

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    if (!a->judged) return;
    const double grade = a->value[METRIC_GRADE], wrong = a->value[METRIC_WRONG],
                 worst = a->value[METRIC_GRADE_WORST];
    if (wrong > 0)
        text_add(
            text, size,
            "wrong: %.0f of %zu outputs are NaN or infinite where the exact result is "
            "not, or the other way round",
            wrong, a->m * a->n);
    else if (grade >= 3)
        text_add(text, size,
                 "as accurate as an FP64 GEMM: no error exceeds that of multiply-adds on "
                 "the same data");
    else if (a->value[METRIC_BACKWARD_MAX] > 0x1p43)
        text_add(text, size, "wrong: an error is %.3g of |A||B|",
                 a->value[METRIC_BACKWARD_MAX] * 0x1p-53);
    else
        text_add(
            text, size,
            "less accurate than an FP64 GEMM: an error is %.3g times the largest that "
            "multiply-adds may have on the same data",
            worst);
}

static void describe_match(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    const struct bitcut_difference *const x = &a->difference;
    if (!x->differ) {
        text_add(text, size, "all %zu outputs have the bits of the %s", x->compared,
                 a->device ? "kernel" : "emulator");
        return;
    }
    text_add(text, size, "%zu of %zu outputs have other bits than the %s; first ",
             x->differ, x->compared, a->device ? "kernel" : "emulator");
    if (a->is_batch) text_add(text, size, "GEMM %zu, ", x->gemm);
    text_add(text, size, "(%zu, %zu): %.17g, expected %.17g", x->row, x->column, given(a),
             expected(a));
}

/* Sentences about the search for the worst inputs. */
#define WORST_SENTENCE(name)                                                             \
    static void name(char *text, size_t size, const void *answer)                        \
    {                                                                                    \
        const struct fp64_answer *const a = answer;                                      \
        if (a->worst) worst_##name(text, size, a->worst);                                \
    }
WORST_SENTENCE(describe_search)
WORST_SENTENCE(describe_loss)
WORST_SENTENCE(describe_cause)
WORST_SENTENCE(describe_ranges)
WORST_SENTENCE(describe_edges)

/* Sentences about the error budget. */
#define BUDGET_SENTENCE(which)                                                           \
    static void describe_budget_##which(char *text, size_t size, const void *answer)     \
    {                                                                                    \
        const struct fp64_answer *const a = answer;                                      \
        if (a->budget) budget_answer_describe_##which(text, size, a->budget);            \
    }
BUDGET_SENTENCE(all)
BUDGET_SENTENCE(worst)
BUDGET_SENTENCE(one)
#define BUDGETS                                                                          \
    BUDGET_LINES_OF(describe_budget_all, describe_budget_worst, describe_budget_one)

#define SCHEME_LINES                                                                     \
    { "scheme", fp64_describe_scheme, RECORD_ALWAYS, NULL },                             \
        { "parts", fp64_describe_parts, RECORD_ALWAYS, NULL },                           \
    {                                                                                    \
        "matrices", fp64_describe_matrices, RECORD_ALWAYS, NULL                          \
    }
#define ERROR_LINES                                                                      \
    { "errors of", describe_largest, RECORD_ALWAYS, NULL },                              \
        { "componentwise error", fp64_describe_componentwise, RECORD_ALWAYS, NULL },     \
        { "relative error", fp64_describe_relative, RECORD_ALWAYS, NULL },               \
    {                                                                                    \
        LABEL_WORST, describe_bound, RECORD_ALWAYS, NULL                                 \
    }

#define WORST_LINES                                                                      \
    { "worst inputs", describe_search, RECORD_ALWAYS, NULL },                            \
        { "loss", describe_loss, RECORD_ALWAYS, NULL },                                  \
        { "cause", describe_cause, RECORD_ALWAYS, NULL },                                \
        { "loss by range", describe_ranges, RECORD_ALWAYS, NULL },                       \
    {                                                                                    \
        "ends of the range", describe_edges, RECORD_ALWAYS, NULL                         \
    }

/* clang-format off */
const struct record_line fp64_gemm_lines[] = {
    SCHEME_LINES,
    WORST_LINES,
    ERROR_LINES,
    BUDGETS,
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { 0 }
}, fp64_verify_lines[] = {
    SCHEME_LINES,
    { LABEL_VERDICT, describe_match, RECORD_ALWAYS, NULL },
    { "explanation", describe_explanation, RECORD_ALWAYS, NULL },
    ERROR_LINES,
    BUDGETS,
    { 0 }
};
/* clang-format on */
