/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounding to nearest or truncation: the drift of sums on every unit. */
#include "analysis/study/compare.h"
#include "analysis/study/study.h"

#include "analysis/accuracy/bound.h"
#include "lib/input/source.h"
#include "lib/io/json_value.h"

#include <math.h>

/* Outputs: 4 x 4 sums with this number of products. */
static const struct {
    size_t k[3];
    int sizes;
} runs[] = {
    [STUDY_SMALL] = { { 256, 1024 }, 2 }, [STUDY_PAPER] = { { 1024, 4096, 16384 }, 3 }
};

enum { SIDE = 4 };

/* u, the unit of errors. */
static const double last_place = 0x1p-24;

/* Whether a GEMM with one part is possible on this unit. */
static bool takes_parts(struct gemm_plan *plan, const struct bitcut_unit *u)
{
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
    return gemm_plan_on_unit(plan, &g, NULL) == BITCUT_OK;
}

/* Unit number `at` among those; NULL after the last. */
static const struct bitcut_unit *unit_at(size_t at)
{
    struct gemm_plan plan;
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (takes_parts(&plan, u) && !at--) return u;
    return NULL;
}

static size_t rounding_points(const struct study *study, enum study_scale scale)
{
    struct gemm_plan plan;
    size_t count = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        count += takes_parts(&plan, u);
    (void)study, (void)scale;
    return count;
}

/* A and B of one GEMM, and the errors of its sums. */
struct drift {
    double mean, most;        /* loss of sums, in u |A||B| */
    double predicted, spread; /* by the model of the row */
    double bound;
};

/* The loss and the prediction of the model, over all outputs. */
static enum bitcut_status measure(struct drift *to, const struct bitcut_gemm *g,
                                  const struct gemm_plan *plan,
                                  const struct budget_matrices *x, struct fault *f)
{
    struct bound_apriori limit;
    *to = (struct drift){ 0 };
    enum bitcut_status status = bound_apriori(&limit, g, x->k, false, f);
    to->bound = limit.relative;
    for (size_t i = 0; i < x->m * x->n && status == BITCUT_OK; i++) {
        struct budget_output o;
        status = budget_at(&o, g, plan, x, i / x->n, i % x->n, f);
        if (status != BITCUT_OK) break;
        const double unit = last_place * o.size, count = (double)(x->m * x->n);
        const double lost =
            (o.part[BUDGET_ALIGNMENT] + o.part[BUDGET_ACCUMULATION]) / unit;
        to->mean += lost / count;
        to->most = fmax(to->most, fabs(o.error) / unit);
        to->predicted += o.drift_mean / unit / count;
        to->spread += o.drift_spread / unit / count;
        budget_clear(&o);
    }
    return status;
}

static void drift_row(struct study_point *p, const struct bitcut_unit *u, size_t k,
                      const struct drift *d)
{
    study_row(p,
              json_pack("{s:s, s:s?, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
                        "s:o, s:s}",
                        "unit", u->name, "vendor", unit_vendor(u), "operands", u->a->name,
                        "sums", u->c->name, "k", (json_int_t)k, "lost",
                        json_number(-d->mean), "size", json_number(fabs(d->mean)),
                        "predicted", json_number(-d->predicted), "of_predicted",
                        fabs(d->predicted) > 1 ? json_number(d->mean / d->predicted)
                                               : json_null(),
                        "spread", json_number(d->spread), "most", json_number(d->most),
                        "bound", json_number(d->bound), "of_bound",
                        json_number(d->most / d->bound), "evidence", unit_evidence(u)));
}

/* One unit, every k. */
static enum bitcut_status run_rounding(const struct study *study, struct study_point *p,
                                       struct fault *f)
{
    (void)study;
    const struct bitcut_unit *u = unit_at(p->at);
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
    struct gemm_plan plan;
    struct input positive;
    enum bitcut_status status = input_parse(&positive, "positive", f);
    takes_parts(&plan, u);
    for (int i = 0; i < runs[p->scale].sizes && status == BITCUT_OK; i++) {
        struct matrix a = { 0 }, b = { 0 };
        struct drift d;
        const size_t k = runs[p->scale].k[i];
        if (progress_stopped(p->progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        status = source_generate(&a, &positive, INPUT_A, SIDE, k, p->seed, p->threads, f);
        if (status == BITCUT_OK)
            status =
                source_generate(&b, &positive, INPUT_B, k, SIDE, p->seed, p->threads, f);
        const struct budget_matrices x = { a.at, b.at, NULL, SIDE, SIDE, k, NULL, NULL };
        if (status == BITCUT_OK) status = measure(&d, &g, &plan, &x, f);
        if (status == BITCUT_OK) drift_row(p, u, k, &d);
        matrix_clear(&a);
        matrix_clear(&b);
    }
    return status;
}

/* --- claims ----------------------------------------------------------------------- */

#define OF_ROWS(KEY, WHERE, LEAST, MOST)                                                 \
    &(const struct claim_values)                                                         \
    {                                                                                    \
        .key = KEY, .where = WHERE, .cases = "unit k", .least = LEAST, .most = MOST      \
    }

/* FP32 sums of f16 products count as biased if they lose more than this many u |A||B| on
   average, and as unbiased if they lose less.  All units are far from this limit. */
#define BIAS 10

#define SUMS_OF_NVIDIA "vendor=NVIDIA operands=f16 sums=f32 k=1024"

/* without RDNA's V_DOT2, which truncates */
#define SUMS_OF_CDNA                                                                     \
    "unit=cdna1/mfma.32x32x8.f32.f16|cdna1/mfma.16x16x16.f32.f16"                        \
    "|cdna2/mfma.32x32x8.f32.f16|cdna2/mfma.16x16x16.f32.f16"                            \
    "|cdna3/mfma.32x32x8.f32.f16|cdna3/mfma.16x16x16.f32.f16 k=1024"

static const struct claim rounding_claims[] = {
    /* clang-format off */
    { .name = "drift-nvidia", .printed = "RZ is used for rounding",
      .criterion = CRITERION_STATED,
      .what = "units of NVIDIA truncate FP32 sums of f16 products: at k = 1024 they lose "
              "more than 10 u |A||B| on average",
      .paper = "Ootomo and Yokota, section 3.2", .judge = claim_judge_values,
      .about = OF_ROWS("lost", SUMS_OF_NVIDIA, BIAS, 0),
      .other = OF_ROWS("lost", SUMS_OF_CDNA, BIAS, 0),
      .otherwise = "Matrix Cores of AMD" },
    { .name = "drift-amd", .printed = "not biased", OWN_QUESTION,
      .criterion = CRITERION_STATED,
      .what = "Matrix Cores of AMD round FP32 sums of f16 products to nearest: at "
              "k = 1024 they drift by less than 10 u |A||B|",
      .judge = claim_judge_values,
      .about = OF_ROWS("size", SUMS_OF_CDNA, 0, BIAS),
      .other = OF_ROWS("size", SUMS_OF_NVIDIA, 0, BIAS),
      .otherwise = "units of NVIDIA" },
    { .name = "drift-predicted", .printed = "predicted from the row", OWN_QUESTION,
      .criterion = CRITERION_STATED,
      .what = "the mean loss of truncated FP32 sums of f16 products is the mean of the "
              "truncated bits, to within a fifth",
      .judge = claim_judge_values,
      .about = OF_ROWS("of_predicted", SUMS_OF_NVIDIA, 0.8, 1.25),
      .otherwise = "the ratio of two numbers that are computed independently" },
    { .name = "drift-bounded", .printed = "bounded", OWN_QUESTION,
      .criterion = CRITERION_ORDER,
      .what = "no output of any unit has an error above its bound",
      .judge = claim_judge_values, .about = OF_ROWS("of_bound", "", 0, 1),
      .otherwise = "the ratio of two numbers that are computed independently" },
    { 0 }
    /* clang-format on */
};

const struct study study_rounding = {
    /* clang-format off */
    .name = "rounding",
    .chapter = CHAPTER_BOUNDS,
    .what = "loss of sums on every unit, rounded to nearest or truncated, against k",
    .title = "Rounding of sums on every unit",
    .text = "4 x 4 sums of products of positive elements, one part each, on every unit "
            "that accepts them. lost is the mean loss by the unit's alignment and "
            "rounding, in u |A||B|, from the exact budget; size is its magnitude. "
            "predicted and spread are the prediction by the model of bitcut bound from "
            "the bits that were truncated. The other columns are the largest error, "
            "including the error of the parts, and its worst-case bound.",
    .plot = { .sees = "The mean loss of a unit as n grows distinguishes truncation from "
                      "rounding." },
    .claims = rounding_claims, .points = rounding_points, .run = run_rounding,
    /* clang-format on */
};
