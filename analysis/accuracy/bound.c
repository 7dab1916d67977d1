/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/bound_limits.h"

#include "analysis/split/representation_error.h"
#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdio.h>

#define U 0x1p-24

/* Probabilistic limits are this many times the spread.  One is exceeded with a
   probability below 2 exp(-LAMBDA^2 / 2), 5e-11 for each rounding or output. */
#define LAMBDA 7

static bool aligns_by_scales(const struct bitcut_unit *u)
{
    return summation_reads(u) & READS_GROUP;
}

/* --- constants -------------------------------------------------------------------- */

/* The accumulation error of each term, in proportion to its size. */
struct term_errors {
    double term[RECIPE_TERMS_MAX];
};

/* The error of the products, for operands whose parts have these errors. */
static double product_error(const struct gemm_plan *p, const struct term_errors *way,
                            const struct retained *a, const struct retained *b)
{
    double sum = retained_lost(p, a, b);
    for (int t = 0; t < p->terms; t++) {
        const double size =
            a->at[RETAINED_PART + p->term[t].a] * b->at[RETAINED_PART + p->term[t].b];
        if (size > 0) sum += size * way->term[t];
    }
    return sum;
}

/* Allows for a few hundred binary64 operations on nonnegative numbers. */
static double upward(double x) { return x * (1 + 0x1p-40); }

/* The error that is not in proportion to the products, for operands that underflow by
   this amount. */
static struct bound_beside
beside_of(const struct gemm_plan *p, const struct term_errors *way,
          const struct retained_max *a, const struct retained_max *b,
          const struct retained *less_a, const struct retained *less_b)
{
    return (
        struct bound_beside){ .of_a = upward(product_error(p, way, &a->times, less_b)),
                              .of_b = upward(product_error(p, way, less_a, &b->times)),
                              .each = upward(product_error(p, way, less_a, less_b)) };
}

/* The same for rows and columns that are scaled to at least 2^target, relative to their
   largest elements. */
static struct bound_beside relate_beside(struct bound_beside x, double a, double b)
{
    return (struct bound_beside){ x.of_a * b, x.of_b * a, x.each * a * b };
}

static void relate_to_lines(struct bound_apriori *x, const struct gemm_plan *p,
                            double before)
{
    const double a = ldexp(1, -equilibrate_target(&p->split_a)),
                 b = ldexp(1, -equilibrate_target(&p->split_b));
    const struct bound_beside any =
        relate_beside((struct bound_beside){ x->of_a, x->of_b, x->each }, a, b);
    x->of_a = any.of_a;
    x->of_b = any.of_b;
    x->each = any.each;
    x->low = relate_beside(x->low, a, b);
    x->from *= larger_double(a, b);
    x->normal *= larger_double(a, b);
    x->most = (double)INFINITY;
    x->lines = before * a * b;
}

/* The format of all elements of an operand if its only part has them exactly; otherwise
   NULL. */
static const struct bitcut_format *exact_format(const struct gemm_plan *p,
                                                const struct bitcut_split *split,
                                                const struct bitcut_format *format)
{
    const bool multiplied = p->equilibrate || p->scaling == BITCUT_SCALING_OPERAND;
    return format && format != &formats[FORMAT_F32] && !multiplied && split->parts == 1 &&
                   format_holds(split->part[0].format, format)
               ? format
               : NULL;
}

/* The largest errors of elements that their part has exactly. */
static struct retained_max most_of_exact(const struct retained_reader *r,
                                         const struct bitcut_format *format)
{
    const double least = r->least[0];
    const bool lower = format->special == SPECIAL_INTEGER && format->has_sign;
    struct retained_max most = {
        .most = lower ? ldexp(1, format->bits - 1) : format_largest_value(format)
    };
    most.times.at[RETAINED_WHOLE] = most.times.at[RETAINED_PART] = 1;
    if (r->flush[0]) most.beside.at[RETAINED_REST] = least;
    if (r->aligns[0]) most.beside.at[RETAINED_PART] = least;
    if (r->flush[0] || r->aligns[0]) most.from = most.normal = most.full = least;
    return most;
}

/* The largest errors of operands; scaled operands are FP32 as well.  The format of an
   operand is NULL for any FP32 values. */
static struct retained_max most_of(const struct gemm_plan *p, enum bitcut_operand operand,
                                   const struct bitcut_format *format)
{
    const struct retained_reader r = retained_reader_of(p, operand);
    if (exact_format(p, r.split, format)) return most_of_exact(&r, format);
    struct retained_max most = retained_max_of(&r);
    if (p->equilibrate) {
        most.beside.at[RETAINED_REST] += 0x1p-150;
        most.low.at[RETAINED_REST] += 0x1p-150;
    }
    return most;
}

static struct bound_apriori constants_of(const struct gemm_plan *p,
                                         const struct bitcut_gemm *g, double alpha,
                                         const struct accumulation_error *e,
                                         const struct term_errors *way)
{
    const struct retained_max a = most_of(p, BITCUT_A, g->a.format),
                              b = most_of(p, BITCUT_B, g->b.format);
    const double relative =
        larger_double(product_error(p, way, &a.times, &b.times), e->update);
    const struct bound_beside any = beside_of(p, way, &a, &b, &a.beside, &b.beside);
    struct bound_apriori x = {
        .relative = upward(relative / U),
        .least = upward(e->after + (p->equilibrate ? 0 : alpha * e->before)),
        .from = larger_double(a.from, b.from),
        .most = fmin(a.most, b.most),
        .of_a = any.of_a,
        .of_b = any.of_b,
        .each = any.each,
        .normal = larger_double(a.normal, b.normal),
        .low = beside_of(p, way, &a, &b, &a.low, &b.low),
    };
    if (p->equilibrate) relate_to_lines(&x, p, upward(alpha * e->before));
    return x;
}

static double alpha_of(const struct bitcut_gemm *g)
{
    return fabs(value_of_float(g->alpha));
}

static struct term_errors as_built(const struct accumulation_error *e)
{
    struct term_errors way;
    for (int t = 0; t < RECIPE_TERMS_MAX; t++) way.term[t] = e->term[t];
    return way;
}

/* The relative error of D from that of the sums of a GEMM with steps, in u. */
static double relative_of_steps(const struct bitcut_gemm *g, const struct gemm_plan *p,
                                const struct accumulation_error *e, double relative)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    const bool operands = g->scaling == BITCUT_SCALING_OPERAND && gemm_has_scales(g);
    double before = larger_double(relative * U, e->start);
    epilogue_of(step, g);
    if (operands) before += (1 + before) * expm1(2 * U);
    if (start_is_scaled(p) || aligns_by_scales(p->unit[0])) return INFINITY;
    return upward(epilogue_relative(step, matrix_format(&g->d), before) / U);
}

enum bitcut_status bound_apriori(struct bound_apriori *to, const struct bitcut_gemm *g,
                                 size_t k, bool any_order, struct fault *f)
{
    struct gemm_plan p;
    struct bitcut_unit own[RECIPE_TERMS_MAX];
    struct accumulation path = { 0 };
    struct hostfp mode;
    const bool extended = gemm_is_extended(g);
    const uint32_t alpha = extended ? F32_ONE : g->alpha, beta = extended ? 0 : g->beta;
    enum bitcut_status status = gemm_plan_on_values(&p, g, f);
    if (g->sparsity) k /= 2;
    if (status == BITCUT_OK && p.integer) {
        *to = bound_apriori_integers(g);
        return status;
    }
    if (status == BITCUT_OK && !any_order) {
        status = accumulation_of(&path, &p, k);
        if (status != BITCUT_OK) fault_set(f, status, "not enough memory for the bound");
    }
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    gemm_plan_round_sums(&p, own);
    const struct accumulation_error e =
        any_order ? accumulation_error_any(&p, k, alpha, beta)
                  : accumulation_error_of(&p, &path, alpha, beta);
    const struct term_errors way = as_built(&e);
    *to = constants_of(&p, g, fabs(value_of_float(alpha)), &e, &way);
    if (extended) to->relative = relative_of_steps(g, &p, &e, to->relative);
    hostfp_leave(&mode);
    return BITCUT_OK;
}

/* Pose the sums of a GEMM with steps: alpha = 1, without C. */
static void set_sums(struct bound_problem *to)
{
    to->sums_gemm = *to->gemm;
    to->sums_gemm.alpha = F32_ONE;
    to->sums_gemm.beta = 0;
    to->gemm = &to->sums_gemm;
    to->sums_x = *to->x;
    to->sums_x.alpha = F32_ONE;
    to->sums_x.beta = 0;
    to->sums_x.c = NULL;
    to->sums_x.a = to->x->multiplied_a;
    to->sums_x.b = to->x->multiplied_b;
    to->sums_x.magnitude = to->x->product_magnitude;
    to->x = &to->sums_x;
}

enum bitcut_status bound_problem_make(struct bound_problem *to,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_plan *plan,
                                      const struct comparison *x, bool given,
                                      struct fault *f)
{
    struct hostfp mode;
    *to = (struct bound_problem){
        .gemm = g, .own = *plan, .plan = &to->own, .x = x, .result = x, .given = given
    };
    if (x->extra) set_sums(to);
    if (plan->integer) return BITCUT_OK;
    g = to->gemm;
    gemm_plan_round_sums(&to->own, to->unit);
    plan = to->plan;
    if (accumulation_of(&to->path, plan, x->m && x->n ? comparison_products(x) : 0) !=
        BITCUT_OK)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bounds");
    hostfp_enter(&mode);
    to->way = accumulation_error_of(plan, &to->path, g->alpha, g->beta);
    hostfp_leave(&mode);
    return BITCUT_OK;
}

enum bitcut_status bound_rest(double *rest, const struct bound_apriori *c,
                              const struct bitcut_gemm *g, const struct comparison *x,
                              struct fault *f)
{
    struct bound_problem problem;
    struct gemm_plan plan;
    if (!x->extra) return bound_apriori_rest(rest, c, gemm_equilibrates(g), x, f);
    enum bitcut_status status = gemm_plan_on_values(&plan, g, f);
    if (status == BITCUT_OK) status = bound_problem_make(&problem, g, &plan, x, false, f);
    if (status == BITCUT_OK)
        status = bound_apriori_rest(rest, c, plan.equilibrate, problem.x, f);
    return status == BITCUT_OK ? bound_apply_epilogue(rest, NULL, true, &problem, f)
                               : status;
}

/* --- rows: any order -------------------------------------------------------------- */

static bool refuse(char why[BOUND_WHY_MAX], const char *form, const char *name)
{
    snprintf(why, BOUND_WHY_MAX, form, name);
    return false;
}

/* Why no bound in |A||B| holds: a unit aligns groups of products at the exponents of
   their block scales, which may be far above all products. */
static bool is_by_products(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    const struct bitcut_unit *const u = x->plan->unit[0];
    return !aligns_by_scales(u) ||
           refuse(why,
                  "%s aligns products at the exponents of their scales; see the bound "
                  "aligned",
                  u->name);
}

static bool is_f32_part(const struct bitcut_split *s)
{
    return s->parts == 1 && format_holds(s->part[0].format, &formats[FORMAT_F32]);
}

static bool is_any_order(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    const struct gemm_plan *p = x->plan;
    const struct bitcut_unit *u = p->unit[0];
    if (!is_by_products(why, x)) return false;
    if (p->terms != 1 || !is_f32_part(&p->split_a) || !is_f32_part(&p->split_b))
        return refuse(why, "%s does not multiply unrounded FP32 values", p->recipe->name);
    if (summation_aligns(u) || u->block != 1 || u->result != &formats[FORMAT_F32] ||
        !round_is_nearest(&u->rounding))
        return refuse(why, "%s does not round every operation to nearest in FP32",
                      u->name);
    if (p->order.partial_format)
        return refuse(why, "partial sums of lanes and slices are stored in %s",
                      p->order.partial_format->name);
    return true;
}

/* For rounded products: k u, in any order.  For fused ones: u for each of all roundings.
   Then alpha and beta are added. */
static struct bound_apriori any_order(const struct bound_problem *x)
{
    const struct gemm_plan *p = x->plan;
    const double fused = p->unit[0]->summation->rounds_each ? 0 : x->way.additions,
                 scalars = (x->gemm->alpha != F32_ONE) + gemm_reads_c(x->gemm),
                 sums = ((double)comparison_products(x->x) + larger_double(fused, 0)) * U;
    const struct term_errors way = { .term = { sums +
                                               (1 + sums) * path_growth(scalars * U) } };
    return constants_of(p, x->gemm, alpha_of(x->gemm), &x->way, &way);
}

/* --- rows: operations that are rounded one by one --------------------------------- */

static const struct bitcut_unit *unit_that(const struct gemm_plan *p,
                                           bool (*is)(const struct bitcut_unit *u))
{
    for (int t = 0; t < p->terms; t++)
        if (is(p->unit[t])) return p->unit[t];
    return NULL;
}

static bool is_block_fma(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    const struct bitcut_unit *u = unit_that(x->plan, summation_aligns);
    if (!u) return true;
    return refuse(why,
                  "%s truncates terms relative to the largest one; its operations have "
                  "no rounding precision",
                  u->name);
}

static struct bound_apriori block_fma(const struct bound_problem *x)
{
    struct term_errors way;
    for (int t = 0; t < RECIPE_TERMS_MAX; t++) way.term[t] = x->way.block[t];
    return constants_of(x->plan, x->gemm, alpha_of(x->gemm), &x->way, &way);
}

static bool truncates(const struct bitcut_unit *u)
{
    return summation_aligns(u) || (summation_reads(u) & READS_KEEP) ||
           (!round_is_nearest(&u->rounding) && u->rounding.direction != STOCHASTIC);
}

static bool is_zero_mean(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    const struct bitcut_unit *u = unit_that(x->plan, truncates);
    if (!u) return is_by_products(why, x);
    return refuse(
        why, "assumption violated: %s truncates, so the mean of its errors is not zero",
        u->name);
}

static struct bound_apriori zero_mean(const struct bound_problem *x)
{
    struct term_errors way = { .term = { 0 } };
    for (int t = 0; t < x->plan->terms; t++) {
        const double squares = x->way.squares[t];
        way.term[t] = expm1(LAMBDA * sqrt(squares) + squares / (1 - 0x1p-8));
    }
    return constants_of(x->plan, x->gemm, alpha_of(x->gemm), &x->way, &way);
}

/* --- rows: constants of parts ----------------------------------------------------- */

static bool promotes(const struct gemm_plan *p) { return p->promote || p->tile_k; }

static bool is_bounded(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    for (int t = 0; t < x->plan->terms; t++)
        if (isinf(x->way.term[t]))
            return refuse(why,
                          "the bound for a chain of %s of this length overflows binary64",
                          x->plan->unit[t]->name);
    return true;
}

static bool is_parts(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    if (promotes(x->plan))
        return refuse(why, "%s promotes its accumulator; see the bound promoted",
                      x->plan->recipe->name);
    return is_by_products(why, x) && is_bounded(why, x);
}

static bool is_promoted(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    if (!promotes(x->plan))
        return refuse(why, "%s does not promote; see the bound parts",
                      x->plan->recipe->name);
    return is_by_products(why, x) && is_bounded(why, x);
}

static struct bound_apriori parts(const struct bound_problem *x)
{
    const struct term_errors way = as_built(&x->way);
    return constants_of(x->plan, x->gemm, alpha_of(x->gemm), &x->way, &way);
}

/* --- rows: from events ------------------------------------------------------------ */

/* The budget has no part for steps, and takes all k of an output. */
static bool is_plain(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    if (x->x->kept)
        return refuse(
            why, "%s",
            "this bound follows D = alpha A B + beta C step by step; it does not "
            "take a sparse A");
    return !x->x->extra ||
           refuse(why, "%s",
                  "this bound follows D = alpha A B + beta C step by step; "
                  "it does not take a bias, factors or other steps");
}

static bool is_watched(char why[BOUND_WHY_MAX], const struct bound_problem *x)
{
    if (!is_plain(why, x)) return false;
    return !x->given || refuse(why, "%s",
                               "not available for a given D: this bound follows the sums "
                               "of the emulator");
}

static double running(const struct bound_watched *w)
{
    return (w->budget.drift + w->lost) * (1 + 0x1p-40);
}

static double biased(const struct bound_watched *w)
{
    double mean = w->budget.drift_mean;
    for (int part = BUDGET_REPRESENTATION; part <= BUDGET_DROPPED; part++)
        mean += w->budget.part[part];
    return fabs(mean) + LAMBDA * w->budget.drift_spread;
}

static double underflow(const struct bound_watched *w) { return w->underflow; }

/* --- the table -------------------------------------------------------------------- */

const char *const bound_kinds[] = {
    [BOUND_RIGOROUS] = "rigorous",
    [BOUND_PROBABILISTIC] = "probabilistic",
    [BOUND_ESTIMATE] = "estimate",
};

const struct bound_row bounds[] = {
    [BOUND_ANY_ORDER] = { .name = "any-order",
                          .what = "n u |A||B| for FP32 operations rounded to nearest, in "
                                  "any order",
                          .kind = BOUND_RIGOROUS,
                          .source = "Jeannerod and Rump 2013, of rounded products; with "
                                    "fused multiply-adds "
                                    "derived here the same way, u for each rounding",
                          .applies = is_any_order,
                          .constants = any_order },
    [BOUND_BLOCK_FMA] = { .name = "block-fma",
                          .what = "for units that round the result of each step and "
                                  "every operation in it",
                          .kind = BOUND_RIGOROUS,
                          .source = "Blanchard, Higham, Lopez, Mary and Pranesh 2020",
                          .applies = is_block_fma,
                          .constants = block_fma },
    [BOUND_ALIGNED] = { .name = "aligned",
                        .what = "roundings and truncations of every unit on the "
                                "accumulation path, and the error of the parts of A and "
                                "B",
                        .kind = BOUND_RIGOROUS,
                        .sharp = true,
                        .source = "derived here, from the rows of the units",
                        .applies = is_bounded,
                        .fill = bound_fill_aligned },
    [BOUND_RUNNING] = { .name = "running",
                        .what = "units in the last place of the values that the emulator "
                                "rounded",
                        .kind = BOUND_RIGOROUS,
                        .sharp = true,
                        .source = "derived here; running error analysis, Higham 2002",
                        .applies = is_watched,
                        .watched = running },
    [BOUND_BIASED] = { .name = "biased",
                       .what = "mean of the truncation errors plus 7 standard "
                               "deviations, for the same values",
                       .kind = BOUND_ESTIMATE,
                       .source = "derived here; a model: lost bits are uniform and "
                                 "independent (Hoeffding "
                                 "1963)",
                       .applies = is_watched,
                       .watched = biased },
    [BOUND_ZERO_MEAN] = { .name = "zero-mean",
                          .what =
                              "7 sqrt(n) u |A||B|, for independent errors with mean zero",
                          .kind = BOUND_PROBABILISTIC,
                          .source =
                              "Higham and Mary 2019; Connolly, Higham and Mary 2021",
                          .applies = is_zero_mean,
                          .constants = zero_mean },
    [BOUND_PARTS] = { .name = "parts",
                      .what = "for all A and B in these parts, without promotion: a "
                              "constant times |A||B|",
                      .kind = BOUND_RIGOROUS,
                      .source = "derived here, after Fasi, Higham, Lopez, Mary and "
                                "Mikaitis 2023",
                      .applies = is_parts,
                      .constants = parts },
    [BOUND_PROMOTED] = { .name = "promoted",
                         .what = "the same, with promotion of the accumulator to FP32",
                         .kind = BOUND_RIGOROUS,
                         .source = "derived here, after Fasi, Higham, Lopez, Mary and "
                                   "Mikaitis 2023; blocked "
                                   "summation, Higham 2002",
                         .applies = is_promoted,
                         .constants = parts },
    [BOUND_UNDERFLOW] = { .name = "underflow",
                          .what = "share of the error from parts that are subnormal or "
                                  "flushed",
                          .kind = BOUND_RIGOROUS,
                          .source = "derived here",
                          .underflow = true,
                          .applies = is_plain,
                          .watched = underflow },
    { 0 }
};

bool bound_applies(char why[BOUND_WHY_MAX], const struct bound_row *row,
                   const struct bound_problem *x)
{
    if (!x->plan->integer) return row->applies(why, x);
    return row == &bounds[BOUND_ALIGNED] ||
           refuse(why, "%s", "sums of integers are exact; see the bound aligned");
}
