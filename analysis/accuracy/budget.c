/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_account.h"
#include "analysis/accuracy/budget_integer.h"
#include "analysis/accuracy/short_result.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* clang-format off */
#define FP32    BUDGET_OF_FP32
#define STEPS   BUDGET_OF_STEPS
#define SCHEMES BUDGET_OF_SCHEMES
const struct budget_row budget_rows[] = {
    { "representation", "the parts in place of A and B, with exponents unlimited", FP32 },
    { "underflow",      "parts below the smallest exponent, and subnormal parts as the "
                        "unit reads them", FP32 },
    { "saturation",     "parts above the largest value of their format", FP32 },
    { "dropped",        "products of parts that the recipe or the scheme drops",
                        FP32 | SCHEMES },
    { "alignment",      "bits that units cut from terms before adding them", FP32 },
    { "accumulation",   "sums rounded to the format of the accumulator", FP32 },
    { "promotion",      "accumulators added to FP32 sums and to each other", FP32 },
    { "slices",         "sums of lanes and slices added", FP32 | SCHEMES },
    { "epilogue",       "inverse scaling of rows and columns, each step rounded to FP32, and "
                        "without further parts the rounding to the format of D; in FP64 "
                        "alpha and beta C", FP32 | SCHEMES },
    { "factors",        "factors of A and B, on elements and at promotions, rounded", STEPS },
    { "start",          "C or the bias from which sums start, rounded, and its addition to a "
                        "slice", STEPS },
    { "result",         "roundings to the format of D, by steps and the last one", STEPS },
    { "representation_a", "bits of A that no part has", SCHEMES },
    { "representation_b", "bits of B that no part has", SCHEMES },
    { "unit",           "sums of products of parts that the unit rounds", SCHEMES },
    { "overflow",       "integers beyond s32 or the range of the residues", SCHEMES },
    { "additions",      "FP64 additions of the products, or of the residues", SCHEMES },
    { 0 }
};
/* clang-format on */

unsigned budget_kinds(const struct bitcut_gemm *g)
{
    if (g->scheme) return BUDGET_OF_SCHEMES;
    return BUDGET_OF_FP32 | (gemm_is_extended(g) ? BUDGET_OF_STEPS : 0);
}

int budget_unit_exponent(const struct budget_output *x)
{
    enum { FP64 = -53 };
    return x->is_f64 ? FP64 : result_unit_exponent(x->format);
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

/* The number of products of an output, and the k of product p. */
static size_t products_of(const struct budget_lines *x)
{
    return x->kept ? x->k / 2 : x->k;
}

static size_t k_of(const struct budget_lines *x, size_t p)
{
    return x->kept ? kept_k(x->kept, p) : p;
}

/* |a b| of product p, less zero points, times the magnitudes of its factors with
   `factors`. */
static double magnitude_of(const struct bitcut_gemm *g, const struct budget_lines *x,
                           size_t p, bool factors)
{
    const size_t k = k_of(x, p);
    return fabs((value_of_float(x->a[k]) - g->zero_a) *
                (value_of_float(x->b[k]) - g->zero_b) *
                (factors ? value_of_float(line_factor(&x->factors_a, k)) *
                               value_of_float(line_factor(&x->factors_b, k))
                         : 1));
}

/* The magnitude of exact_gemm() (lib/exact/exact.h) for one output, or that of all steps.
 */
static double size_of(const struct bitcut_gemm *g, const struct epilogue_values *steps,
                      const struct budget_lines *x)
{
    double size = 0;
    const bool extended = gemm_is_extended(g) || steps->integer,
               factors = extended && g->scaling != BITCUT_SCALING_EPILOGUE;
    for (size_t p = 0; p < products_of(x); p++) size += magnitude_of(g, x, p, factors);
    if (extended)
        return epilogue_exact(steps, (struct exact_output){ 0, size }, 0, 0).magnitude;
    size *= fabs(value_of_float(g->alpha));
    if (gemm_reads_c(g)) size += fabs(value_of_float(g->beta) * value_of_float(x->c));
    return size;
}

static bool inputs_finite(const struct bitcut_gemm *g, const struct budget_lines *x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    bool all = format_is_finite(f32, g->alpha) && format_is_finite(f32, g->beta) &&
               format_is_finite(f32, g->scale_d) && format_is_finite(f32, x->bias) &&
               (!gemm_reads_c(g) || format_is_finite(f32, x->c));
    for (size_t p = 0; p < products_of(x); p++) {
        const size_t k = k_of(x, p);
        all &= format_is_finite(f32, x->a[k]) && format_is_finite(f32, x->b[k]) &&
               format_is_finite(f32, line_factor(&x->factors_a, k)) &&
               format_is_finite(f32, line_factor(&x->factors_b, k));
    }
    return all;
}

/* The GEMM of one output, whose D is an FP32 value before its last rounding. */
static struct bitcut_gemm gemm_of_output(const struct bitcut_gemm *g, uint32_t *d,
                                         const struct budget_lines *x)
{
    struct bitcut_gemm one = *g;
    gemm_set_dense(&one, d, 1, 1, x->k, x->a, x->b, &x->c);
    one.d.format = g->d.format;
    one.count = 1;
    one.offsets = NULL;
    one.sparsity = x->kept ? BITCUT_SPARSE_A : BITCUT_DENSE;
    one.positions =
        (struct bitcut_matrix){ .at = x->kept, .format = &formats[FORMAT_U8] };
    if (gemm_has_bias(g)) one.bias = (struct bitcut_matrix){ .at = &x->bias };
    if (x->factors_a.at)
        one.scale_a =
            (struct bitcut_scales){ { .at = x->factors_a.at }, 1, x->factors_a.depth };
    if (x->factors_b.at)
        one.scale_b = (struct bitcut_scales){
            { .at = x->factors_b.at, .ld = x->factors_b.stride }, 1, x->factors_b.depth
        };
    epilogue_leave_amax(&one);
    return one;
}

static void take_account(struct budget_output *to, const struct account *all)
{
    for (int i = 0; i < BUDGET_PARTS; i++)
        to->part[i] = account_number(all, all->part[i]);
    to->error = account_number(all, all->error);
    to->value = account_number(all, all->value);
}

/* False: no memory. */
static bool take_texts(struct budget_output *to, const struct account *all)
{
    bool enough = true;
    for (int i = 0; i < BUDGET_PARTS; i++)
        enough &= (to->exact[i] = account_text(all, all->part[i])) != NULL;
    return enough;
}

static enum bitcut_status no_memory(struct fault *f)
{
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a budget");
}

static void settle(struct budget_output *to, struct account *all, struct watcher *w,
                   const struct bitcut_gemm *g, const struct epilogue_values *steps,
                   const struct budget_stages *stages)
{
    for (int i = 0; i < STAGES; i++)
        dyadic_sum_get(all->stage[i], &stages->sum[i], stages->unit);
    const char *const what =
        account_fill(all, w, steps, gemm_is_extended(g), stages->exponents, to->d);
    if (what) watcher_end(w, what, -1);
    else if (gemm_is_extended(g))
        to->drift = to->drift_mean = to->drift_spread = (double)NAN;
    else settle_drift(to, w, g, stages->exponents);
    if (!what) take_account(to, all);
    to->event = w->event;
}

/* Run the GEMM of one output with a watcher, and settle what it saw. */
static enum bitcut_status watch_output(struct budget_output *to, struct account *all,
                                       struct watcher *w, const struct bitcut_gemm *one,
                                       const struct epilogue_values *steps,
                                       const struct budget_lines *x, struct fault *f)
{
    const struct gemm_watch watch = { watcher_see, w, &w->trace };
    const struct gemm_options options = { .threads = 1,
                                          .watch = &watch,
                                          .unrounded = true };
    to->size = size_of(one, steps, x);
    if (!inputs_finite(one, x)) watcher_end(w, "an input is infinite or NaN", -1);
    const enum bitcut_status status = gemm_run_plan(one, w->plan, &options, f);
    if (status != BITCUT_OK) return status;
    if (!x->k) watcher_empty(w);
    result_round(&to->d, 1, one->d.format);
    if (!w->event.what && !format_is_finite(&formats[FORMAT_F32], to->d))
        watcher_end(w, "the result overflows", -1);
    to->event = w->event;
    if (!w->event.what) settle(to, all, w, one, steps, x->stages);
    return BITCUT_OK;
}

/* The s32 sum of the one output, before all steps. */
static enum bitcut_status sum_integers(uint32_t *v, const struct bitcut_gemm *one,
                                       const struct gemm_plan *plan, struct fault *f)
{
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm g = gemm_of(one->recipe, one->unit);
    gemm_set_dense(&g, v, 1, 1, one->k, one->a.at, one->b.at, NULL);
    g.d.format = &formats[FORMAT_S32];
    g.order = one->order;
    g.sparsity = one->sparsity;
    g.positions = one->positions;
    return gemm_run_plan(&g, plan, &options, f);
}

/* The budget of an output of a unit of integers: there are no roundings to watch before
   the sum becomes FP32. */
static enum bitcut_status integer_budget(struct budget_output *to, struct account *all,
                                         const struct bitcut_gemm *one,
                                         const struct gemm_plan *plan,
                                         const struct epilogue_values *steps,
                                         const struct budget_lines *x, struct fault *f)
{
    const struct gemm_options options = { .threads = 1, .unrounded = true };
    uint32_t sum;
    to->size = size_of(one, steps, x);
    to->drift = to->drift_mean = to->drift_spread = (double)NAN;
    enum bitcut_status status = gemm_run_plan(one, plan, &options, f);
    if (status == BITCUT_OK) status = sum_integers(&sum, one, plan, f);
    if (status != BITCUT_OK) return status;
    result_round(&to->d, 1, one->d.format);
    const char *what = !inputs_finite(one, x) ? "an input is infinite or NaN"
                       : !format_is_finite(&formats[FORMAT_F32], to->d)
                           ? "the result overflows"
                           : NULL;
    if (!what) {
        budget_integer_sums(all->stage, plan, one, x);
        what = account_fill_integers(all, sum, steps, gemm_is_extended(one), to->d);
    }
    to->event = (struct budget_event){ what, -1, 0 };
    if (!what) take_account(to, all);
    return BITCUT_OK;
}

/* The budget of an output whose sums of stages are known, except of a unit of integers.
 */
static enum bitcut_status one_budget(struct budget_output *to, struct account *all,
                                     const struct bitcut_gemm *g,
                                     const struct gemm_plan *plan,
                                     const struct budget_lines *x, struct fault *f)
{
    const struct bitcut_gemm one = gemm_of_output(g, &to->d, x);
    struct epilogue_values steps = { .c = NULL };
    struct watcher *const w = plan->integer ? NULL : watcher_new(plan, x->stages->unit);
    *to = (struct budget_output){ .format = g->d.format };
    const bool made = (w || plan->integer) &&
                      epilogue_make(&steps, &one, 0, F32_NAN, plan->integer, 1) &&
                      epilogue_take_zeros(&steps, &one, &plan->split_a.part[0],
                                          &plan->split_b.part[0], 1);
    const enum bitcut_status status =
        !made           ? no_memory(f)
        : plan->integer ? integer_budget(to, all, &one, plan, &steps, x, f)
                        : watch_output(to, all, w, &one, &steps, x, f);
    epilogue_clear(&steps);
    watcher_free(w);
    return status;
}

/* The sums of stages of an output.  NULL: no memory. */
static struct budget_stages *find_stages(const struct gemm_plan *plan,
                                         const struct budget_lines *x)
{
    const struct budget_line a = budget_line_of(plan, BITCUT_A, x->a, x->k, &x->factors_a,
                                                x->kept),
                             b = budget_line_of(plan, BITCUT_B, x->b, x->k, &x->factors_b,
                                                NULL);
    struct budget_stages *const to = malloc(sizeof *to);
    if (to && budget_stages_find(to, &a, &b)) return to;
    free(to);
    return NULL;
}

enum bitcut_status budget_account(struct budget_output *to, struct account *all,
                                  const struct bitcut_gemm *g,
                                  const struct gemm_plan *plan,
                                  const struct budget_lines *x, struct fault *f)
{
    struct hostfp saved;
    struct budget_lines lines = *x;
    struct budget_stages *own = NULL;
    if (!x->stages && !plan->integer) lines.stages = own = find_stages(plan, x);
    if (!lines.stages && !plan->integer) return no_memory(f);
    hostfp_enter(&saved);
    const enum bitcut_status status = one_budget(to, all, g, plan, &lines, f);
    hostfp_leave(&saved);
    free(own);
    return status;
}

enum bitcut_status budget_one(struct budget_output *to, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, const struct budget_lines *x,
                              bool texts, struct fault *f)
{
    struct account all;
    account_init(&all);
    enum bitcut_status status = budget_account(to, &all, g, plan, x, f);
    if (status == BITCUT_OK && texts && !to->event.what && !take_texts(to, &all))
        status = no_memory(f);
    account_clear(&all);
    return status;
}

void budget_clear(struct budget_output *x)
{
    for (int i = 0; i < BUDGET_PARTS; i++) free(x->exact[i]);
    *x = (struct budget_output){ 0 };
}
