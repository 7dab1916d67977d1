/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/fp64_answer.h"

#include "analysis/fp64/dense.h"
#include "analysis/fp64/scheme_bound.h"
#include "emu/gemm_sentence.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* --- measuring -------------------------------------------------------------------- */

int fp64_products(const struct bitcut_scheme *s, int parts)
{
    if (s->cut) return parts * (parts + 1) / 2;
    return parts + (s->run == fp64_run_residues);
}

struct fp64_answer fp64_answer_of(const struct bitcut_gemm *g, int parts)
{
    return (struct fp64_answer){ .scheme = g->scheme,
                                 .unit = g->unit,
                                 .parts = parts,
                                 .slices = g->order.slices > 1 ? g->order.slices : 1,
                                 .products = fp64_products(g->scheme, parts),
                                 .m = g->m,
                                 .n = g->n,
                                 .k = g->k,
                                 .count = g->count,
                                 .alpha = g->alpha_f64,
                                 .beta = g->beta_f64,
                                 .seconds = NAN,
                                 .products_per_second = NAN };
}

/* D by multiply-adds, and bounds. */
struct numbers {
    double *plain, *limit;
};

/* D of g by FP64 multiply-adds. */
static enum bitcut_status run_plain(double *to, const struct bitcut_gemm *g,
                                    const struct gemm_options *options, struct fault *f)
{
    struct bitcut_gemm plain = *g;
    plain.scheme = bitcut_scheme_find("fp64");
    plain.unit = unit_find("fma/f64", &formats[FORMAT_F64]);
    plain.parts = BITCUT_UNSET;
    plain.order.slices = 0;
    plain.d = (struct bitcut_matrix){ .to = to, .format = &formats[FORMAT_F64] };
    return fp64_gemm_run(&plain, options, f);
}

/* What D is of its bounds. */
static void compare_bounds(struct fp64_answer *to, const struct comparison *x,
                           const double *limit)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    to->bound_most = to->share = 0;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = fabs(metric_error(x, i));
        const double bound = limit[i] / x->magnitude[i] * 0x1p53;
        if (x->magnitude[i] > 0 && !(bound <= to->bound_most)) to->bound_most = bound;
        if (error > 0 && !(error / limit[i] <= to->share)) to->share = error / limit[i];
    }
    hostfp_leave(&saved);
}

static enum bitcut_status judge_one(struct fp64_answer *to, const struct bitcut_gemm *g,
                                    const struct dense *x, const struct numbers *own,
                                    const struct reference *reference,
                                    const struct gemm_options *options, struct fault *f)
{
    struct fp64_job job = fp64_job_of(g, to->parts, options);
    double plain[METRICS];
    struct judge j;
    job.a = x->a, job.b = x->b_lines, job.c = x->c;
    enum bitcut_status status = dense_judge(&j, x, g, reference, options, f);
    if (status != BITCUT_OK) return status;
    status = judge64_grade(&j, options, f);
    if (status == BITCUT_OK) status = run_plain(own->plain, g, options, f);
    if (status == BITCUT_OK && g->order.slices > 1) /* each slice of k has other scales */
        for (size_t i = 0; i < g->m * g->n; i++) own->limit[i] = INFINITY;
    else if (status == BITCUT_OK)
        status = scheme_bound(own->limit, &job, j.comparison.magnitude, f);
    if (status == BITCUT_OK) {
        metrics_run(to->value, &j.comparison);
        ulp_histogram(to->bins, &j.comparison);
        compare_bounds(to, &j.comparison, own->limit);
        j.comparison.d64 = own->plain;
        metrics_find(plain, &j.comparison, 1u << METRIC_BACKWARD_MAX, options->threads);
        to->dgemm = plain[METRIC_BACKWARD_MAX];
        to->reference = reference;
        to->judged = true;
    }
    judge_clear(&j);
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
        struct dense x;
        const struct numbers own = {
            .plain = memory_allocate(g->m * g->n, sizeof *own.plain),
            .limit = memory_allocate(g->m * g->n, sizeof *own.limit)
        };
        if (!dense_make(&x, &one, options->threads) || !own.plain || !own.limit)
            status =
                fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
        else status = judge_one(&found, &one, &x, &own, reference, options, f);
        dense_clear(&x);
        free(own.plain);
        free(own.limit);
        if (status != BITCUT_OK ||
            (i && !(found.value[METRIC_BACKWARD_MAX] > to->value[METRIC_BACKWARD_MAX])))
            continue;
        *to = found;
        to->largest = i;
    }
    return status;
}

/* --- fields ----------------------------------------------------------------------- */

static bool was_judged(const void *a) { return ((const struct fp64_answer *)a)->judged; }
static bool is_batch(const void *a) { return ((const struct fp64_answer *)a)->is_batch; }

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
    OF(parts, "parts", "", "parts of each element of A and B: slices, or moduli"),       \
    OF(slices, "split_k", "", "slices of k, each with scales of its own"),              \
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
    OF(seconds, "seconds", "s", "time of the emulator"),
    OF(products_per_second, "products_per_second", "1/s", "products of parts per second"),
    { .name = "", .what = "errors of D, if it was compared", .unit = "", .kind = RECORD_GROUP, .of = fp64_error_fields, .when = was_judged },
    RECORD_POINTER(struct fp64_answer, worst, worst_inputs_fields, "worst_inputs", "the search for the worst inputs; null: not asked for"),
    { 0 }
}, fp64_verify_fields[] = {
    GEMM_FIELDS,
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
    text_add(text, size, "%s on %s (evidence of the unit: %s)", a->scheme->name,
             a->unit->name, unit_evidence(a->unit));
}

void fp64_describe_parts(char *text, size_t size, const void *answer)
{
    const struct fp64_answer *const a = answer;
    if (a->scheme->part == &formats[FORMAT_F64]) return;
    text_add(text, size, "each element of A and B is %d %s in %s; %d products of parts",
             a->parts, a->scheme->cut ? "slices" : "residues", a->scheme->part->name,
             a->products);
    if (a->slices > 1) text_add(text, size, "; k is cut into %d slices", a->slices);
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
        text_add(text, size, "all %zu outputs have the bits of the emulator",
                 x->compared);
        return;
    }
    text_add(text, size, "%zu of %zu outputs have other bits than the emulator; first ",
             x->differ, x->compared);
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
