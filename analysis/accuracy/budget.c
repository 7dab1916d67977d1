/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_watch.h"
#include "analysis/accuracy/budget_parts.h"
#include "analysis/accuracy/short_result.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* clang-format off */
const struct budget_row budget_rows[] = {
    { "representation", "the parts in place of A and B, with exponents unlimited" },
    { "underflow",      "parts below the smallest exponent, and subnormal parts as the "
                        "unit reads them" },
    { "saturation",     "parts above the largest value of their format" },
    { "dropped",        "products of parts that the recipe drops" },
    { "alignment",      "bits that units cut from terms before adding them" },
    { "accumulation",   "sums rounded to the format of the accumulator" },
    { "promotion",      "accumulators added to FP32 sums and to each other" },
    { "slices",         "sums of lanes and slices added" },
    { "epilogue",       "inverse scaling of rows and columns, alpha, beta and C, and the "
                        "last roundings, to FP32 and to the format of D" },
    { 0 }
};
/* clang-format on */

/* All exact values of one output. */
struct account {
    mpz_t stage[STAGES], part[BUDGET_PARTS], error, value;
};

static void account_init(struct account *x)
{
    for (int i = 0; i < STAGES; i++) mpz_init(x->stage[i]);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_init(x->part[i]);
    mpz_inits(x->error, x->value, NULL);
}

static void account_clear(struct account *x)
{
    for (int i = 0; i < STAGES; i++) mpz_clear(x->stage[i]);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_clear(x->part[i]);
    mpz_clears(x->error, x->value, NULL);
}

/* The parts of the sum before the epilogue, then all parts as parts of D. */
static void account_fill(struct account *x, const struct watcher *w,
                         const struct bitcut_gemm *g, uint32_t c, int exponents)
{
    const struct budget_sums *const sum = &w->sum[0];
    mpz_t y;
    mpz_init(y);
    for (int i = 1; i < STAGES; i++)
        mpz_sub(x->part[BUDGET_REPRESENTATION + i - 1], x->stage[i], x->stage[i - 1]);
    mpz_sub(x->part[BUDGET_DROPPED], sum->entry[BUDGET_SUM_PRODUCTS],
            x->stage[STAGE_REAL]);
    for (int i = BUDGET_SUM_ALIGNED; i < BUDGET_SUM_ENTRIES; i++)
        mpz_set(x->part[BUDGET_ALIGNMENT + i - BUDGET_SUM_ALIGNED], sum->entry[i]);
    mpz_set(x->value, x->stage[STAGE_EXACT]);
    dyadic_shift(x->value, -exponents);
    dyadic_multiply(x->value, g->alpha);
    for (int i = 0; i < BUDGET_EPILOGUE; i++) {
        if (mpz_sgn(x->part[i])) dyadic_shift(x->part[i], -exponents);
        dyadic_multiply(x->part[i], g->alpha);
    }
    if (gemm_reads_c(g)) {
        dyadic_set_f32(y, c);
        dyadic_multiply(y, g->beta);
        mpz_add(x->value, x->value, y);
    }
    mpz_clear(y);
}

/* The difference between D and alpha times the sum plus beta c.  It also checks that
   nothing is missing. */
static void account_close(struct account *x, const struct watcher *w, uint32_t d,
                          const struct bitcut_gemm *g, uint32_t c, int exponents)
{
    mpz_t y;
    mpz_init(y);
    dyadic_set_f32(y, w->total);
    if (mpz_sgn(y)) dyadic_shift(y, -exponents);
    dyadic_multiply(y, g->alpha);
    if (gemm_reads_c(g)) {
        dyadic_set_f32(x->error, c);
        dyadic_multiply(x->error, g->beta);
        mpz_add(y, y, x->error);
    }
    dyadic_set_f32(x->error, d);
    mpz_sub(x->part[BUDGET_EPILOGUE], x->error, y);
    mpz_sub(x->error, x->error, x->value);
    mpz_set(y, x->error);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_sub(y, y, x->part[i]);
    assert(mpz_sgn(y) == 0);
    mpz_clear(y);
}

/* The drift of D. */
static void settle_drift(struct budget_output *to, const struct watcher *w,
                         const struct bitcut_gemm *g, int exponents)
{
    struct drift d = w->sum[0].drift;
    const double alpha = value_of_float(g->alpha),
                 sum = ldexp(value_of_float(w->total), -exponents);
    drift_shift(&d, -exponents);
    d.most += exponents ? 0x1p-150 : 0;
    d.most *= fabs(alpha) * (1 + 0x1p-40);
    d.mean *= alpha;
    d.squares *= alpha * alpha;
    if (g->alpha != F32_ONE) drift_f32(&d, bits_of_float((float)fabs(alpha * sum)));
    if (gemm_reads_c(g)) drift_f32(&d, w->d);
    to->drift = d.most;
    to->drift_mean = d.mean;
    to->drift_spread = sqrt(d.squares);
}

/* The magnitude of exact_gemm() (lib/exact/exact.h) for one output. */
static double size_of(const struct bitcut_gemm *g, const struct budget_lines *x)
{
    double size = 0;
    for (size_t p = 0; p < x->k; p++)
        size += fabs(value_of_float(x->a[p]) * value_of_float(x->b[p]));
    size *= fabs(value_of_float(g->alpha));
    if (gemm_reads_c(g)) size += fabs(value_of_float(g->beta) * value_of_float(x->c));
    return size;
}

static bool inputs_finite(const struct bitcut_gemm *g, const struct budget_lines *x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    bool all = format_is_finite(f32, g->alpha) && format_is_finite(f32, g->beta) &&
               (!gemm_reads_c(g) || format_is_finite(f32, x->c));
    for (size_t p = 0; p < x->k; p++)
        all &= format_is_finite(f32, x->a[p]) && format_is_finite(f32, x->b[p]);
    return all;
}

static enum bitcut_status settle_account(struct budget_output *to,
                                         const struct watcher *w,
                                         const struct bitcut_gemm *g,
                                         const struct budget_lines *x, bool texts)
{
    const int exponents =
        budget_values_exponent(x->values_a) + budget_values_exponent(x->values_b);
    struct account all;
    bool enough = true;
    account_init(&all);
    budget_stage_sums(all.stage, x->values_a, x->values_b);
    account_fill(&all, w, g, x->c, exponents);
    account_close(&all, w, to->d, g, x->c, exponents);
    settle_drift(to, w, g, exponents);
    for (int i = 0; i < BUDGET_PARTS; i++) {
        to->part[i] = dyadic_value(all.part[i]);
        if (texts) enough &= (to->exact[i] = dyadic_text(all.part[i])) != NULL;
    }
    to->error = dyadic_value(all.error);
    to->value = dyadic_value(all.value);
    account_clear(&all);
    return enough ? BITCUT_OK : BITCUT_NO_MEMORY;
}

/* The same with given values. */
static enum bitcut_status settle(struct budget_output *to, const struct watcher *w,
                                 const struct bitcut_gemm *g,
                                 const struct budget_lines *x, bool texts,
                                 struct fault *f)
{
    struct budget_lines lines = *x;
    struct budget_values *own[2] = { NULL, NULL };
    if (!x->values_a)
        lines.values_a = own[0] = budget_values_make(w->plan, BITCUT_A, x->a, x->k);
    if (!x->values_b)
        lines.values_b = own[1] = budget_values_make(w->plan, BITCUT_B, x->b, x->k);
    const enum bitcut_status status = lines.values_a && lines.values_b
                                          ? settle_account(to, w, g, &lines, texts)
                                          : BITCUT_NO_MEMORY;
    free(own[0]);
    free(own[1]);
    return status == BITCUT_OK ? status
                               : fault_set(f, status, "not enough memory for a budget");
}

static enum bitcut_status one_budget(struct budget_output *to,
                                     const struct bitcut_gemm *g,
                                     const struct gemm_plan *plan,
                                     const struct budget_lines *x, bool texts,
                                     struct fault *f)
{
    struct watcher *const w = watcher_new(plan);
    const struct gemm_watch watch = { watcher_see, w };
    const struct gemm_options options = { .threads = 1, .watch = &watch };
    struct bitcut_gemm one = *g;
    enum bitcut_status status = BITCUT_NO_MEMORY;
    *to = (struct budget_output){ .size = size_of(g, x), .format = g->d.format };
    if (!w) return fault_set(f, status, "not enough memory for a budget");
    if (!inputs_finite(g, x)) watcher_end(w, "an input is infinite or NaN", -1);
    gemm_set_dense(&one, &to->d, 1, 1, x->k, x->a, x->b, &x->c);
    status = gemm_run_plan(&one, plan, &options, f);
    if (status == BITCUT_OK) result_round(&to->d, 1, g->d.format);
    if (status == BITCUT_OK && !w->event.what &&
        !format_is_finite(&formats[FORMAT_F32], to->d))
        watcher_end(w, "the result overflows", -1);
    to->event = w->event;
    if (status == BITCUT_OK && !w->event.what) status = settle(to, w, g, x, texts, f);
    watcher_free(w);
    return status;
}

enum bitcut_status budget_one(struct budget_output *to, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, const struct budget_lines *x,
                              bool texts, struct fault *f)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    const enum bitcut_status status = one_budget(to, g, plan, x, texts, f);
    hostfp_leave(&saved);
    return status;
}

void budget_clear(struct budget_output *x)
{
    for (int i = 0; i < BUDGET_PARTS; i++) free(x->exact[i]);
    *x = (struct budget_output){ 0 };
}
