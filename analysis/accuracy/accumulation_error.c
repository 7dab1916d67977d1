/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/accumulation_error.h"

#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/gemm/order.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>

#define U 0x1p-24

double path_growth(double x) { return expm1(x); }

/* --- the order of k --------------------------------------------------------------- */

enum bitcut_status accumulation_of(struct accumulation *to, const struct gemm_plan *p,
                                   size_t k)
{
    struct k_parts parts;
    size_t met[K_PARTS_KEPT_MAX + 1], resumed[K_PARTS_KEPT_MAX + 1], kept = 0, most = 0;
    struct accumulation all = { 0 };
    const enum bitcut_status status =
        k_parts_make(&parts, &p->order, k, (size_t)p->k_step);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < parts.count; i++) {
        const size_t steps = parts.first[i + 1] - parts.first[i];
        if (!k_parts_resumes(&parts, i)) {
            all.k_steps = larger(all.k_steps, steps);
            met[kept] = resumed[kept] = 0;
            kept++;
        } else {
            size_t *const longest = &all.remaining[resumed[kept - 1]++];
            *longest = larger(*longest, steps);
        }
        for (int n = 0; n < parts.adds[i]; n++, kept--) {
            met[kept - 2] = 1 + larger(met[kept - 2], met[kept - 1]);
            resumed[kept - 2] = larger(resumed[kept - 2], resumed[kept - 1]);
        }
        most = larger(most, met[kept - 1]);
    }
    all.all = parts.steps, all.lanes = parts.count, all.additions = most;
    *to = all;
    k_parts_clear(&parts);
    return BITCUT_OK;
}

/* --- accumulators ----------------------------------------------------------------- */

/* Sums over the roundings that a product meets: of v; of the v inside steps and of their
   results (accumulation_error.block); of v^2. */
struct met {
    double all, block, squares;
};

static struct met met_add(struct met x, double times, struct met y)
{
    return (struct met){ x.all + times * y.all, x.block + times * y.block,
                         x.squares + times * y.squares };
}

static struct met met_most(struct met x, struct met y)
{
    return (struct met){ larger_double(x.all, y.all), larger_double(x.block, y.block),
                         larger_double(x.squares, y.squares) };
}

/* Add `count` roundings by v. */
static struct met met_of(double times, double v)
{
    return (struct met){ times * v, times * v, times * v * v };
}

/* The error of an instruction relative to everything that enters it, and relative to its
   own products in addition. */
struct instruction {
    struct met all, own;
};

/* v of an operation inside a step, for units that round each operation; otherwise 0. */
static double inner_error(const struct bitcut_unit *u)
{
    const struct step_error e = u->summation->error(u);
    if (u->summation->rounds_each) return round_error(u->result, u->rounding.direction);
    return e.products / u->block; /* for serial sums */
}

/* The error of rounding a step's result; a sum of integers has none. */
static double result_error(const struct bitcut_unit *u)
{
    return format_is_integer(u->result) ? 0
                                        : round_error(u->result, u->rounding.direction);
}

static struct instruction instruction_of(const struct bitcut_unit *u)
{
    const struct step_error e = u->summation->error(u);
    const double steps = u->k / u->block, eps = result_error(u), inner = inner_error(u);
    const struct met chain = { steps * (eps + e.sum),
                               steps * eps + (u->k - steps) * inner, steps * eps * eps },
                     own = { e.products, inner, e.products * inner };
    if (!u->c_last) return (struct instruction){ chain, own };
    return (struct instruction){ met_of(1, round_error(u->c, TO_NEAREST_EVEN)),
                                 met_add(own, 1, chain) };
}

/* The number of instructions of a term in a k-step. */
static double instructions_of(const struct gemm_plan *p, int t)
{
    return p->k_step / p->unit[t]->k;
}

/* The steps of an accumulator in a lane. */
struct chain {
    double k_steps;    /* in a chain: between promotions at the ends of tiles */
    double most;       /* instructions in a chain */
    double promotions; /* in total */
};

static struct chain chain_of(const struct gemm_plan *p, size_t k_steps, int accumulator)
{
    struct chain c = { (double)k_steps, (double)INFINITY, 0 };
    double instructions = 0, tiles = 1;
    if (accumulator != 0 || !(p->promote || p->tile_k)) return c;
    for (int t = 0; t < p->terms; t++)
        if (p->term[t].accumulator == 0) instructions += instructions_of(p, t);
    if (p->tile_k) {
        const size_t tile = divide_up((size_t)p->tile_k, (size_t)p->k_step);
        tiles = (double)divide_up(k_steps, tile);
        c.k_steps = (double)smaller(k_steps, tile);
    }
    if (p->promote) c.most = p->promote;
    c.promotions = tiles * (p->promote ? ceil(c.k_steps * instructions / p->promote) : 1);
    return c;
}

/* The roundings that a product meets in its accumulator and in its promotions in a number
   of k-steps.  The first promotion adds to 0. */
static struct met steps_met(const struct gemm_plan *p, size_t k_steps, int accumulator)
{
    const struct chain c = chain_of(p, k_steps, accumulator);
    struct met all = { 0 }, most = { 0 }, own = { 0 };
    double instructions = 0;
    for (int t = 0; t < p->terms; t++) {
        if (p->term[t].accumulator != accumulator) continue;
        const struct instruction x = instruction_of(p->unit[t]);
        const double count = c.k_steps * instructions_of(p, t);
        all = met_add(all, count, x.all);
        most = met_most(most, x.all);
        own = met_most(own, x.own);
        instructions += count;
    }
    if (instructions > c.most) {
        const struct met chain = met_add((struct met){ 0 }, c.most, most);
        all = (struct met){ fmin(all.all, chain.all), fmin(all.block, chain.block),
                            fmin(all.squares, chain.squares) };
    }
    const struct met promotions = met_of(larger_double(c.promotions - 1, 0), U);
    return met_add(met_add(all, 1, own), 1, promotions);
}

/* v of the rounding of a value in FP32 to accumulator 0, which starts from it. */
static double begin_error(const struct gemm_plan *p)
{
    const struct bitcut_format *const c = p->unit[0]->c;
    return c == &formats[FORMAT_F32] ? 0 : round_error(c, TO_NEAREST_EVEN);
}

/* The same for a product of a lane, whose sum enters an accumulator again for each loop
   that follows. */
static struct met accumulator_met(const struct gemm_plan *p,
                                  const struct accumulation *path, int accumulator)
{
    struct met own = steps_met(p, path->k_steps, accumulator);
    for (int i = 0; i < 2 && path->remaining[i]; i++)
        own = met_add(met_add(own, 1, steps_met(p, path->remaining[i], accumulator)), 1,
                      met_of(1, begin_error(p)));
    return own;
}

/* How often a sum can start from another one. */
static double resumed_of(const struct accumulation *path)
{
    return (double)((path->remaining[0] > 0) + (path->remaining[1] > 0));
}

/* --- after the accumulators ------------------------------------------------------- */

/* Whether an accumulator holds integers, which are rounded to FP32 at the end. */
static bool has_integers(const struct gemm_plan *p, int i)
{
    bool any = false;
    for (int t = 0; t < p->terms; t++)
        any |= p->term[t].accumulator == i && format_is_integer(p->unit[t]->c);
    return any;
}

/* Roundings of accumulator i when the accumulators are combined: the last one meets all
   of them. */
static double folds_of(const struct gemm_plan *p, int i)
{
    const int last = p->accumulators - 1;
    return (i == last ? last : i + 1) + has_integers(p, i);
}

static double scalars_of(uint32_t alpha, uint32_t beta)
{
    return (alpha != F32_ONE) + (beta << 1 != 0);
}

/* Roundings of a promotion with factors, beyond those of one without: of s_a s_b and of
   the first promotion, which adds to 0; or of s_a s_b and of its product; or of the
   product with the first factor and of the first promotion. */
static double scalings_of(const struct gemm_plan *p, int i)
{
    return i == 0 && p->scaling >= BITCUT_SCALING_PROMOTED ? 2 : 0;
}

static bool starts_in_slice(const struct gemm_plan *p)
{
    return p->start == BITCUT_START_SLICE_C || p->start == BITCUT_START_SLICE_BIAS;
}

/* The scale from accumulator i to D. */
static struct met after_met(const struct gemm_plan *p, const struct accumulation *path,
                            int i, uint32_t alpha, uint32_t beta)
{
    const double additions = (double)path->additions,
                 sums = p->order.partial_format
                            ? round_error(p->order.partial_format, TO_NEAREST_EVEN)
                            : 0;
    const struct met own =
        met_of(folds_of(p, i) + scalings_of(p, i) + starts_in_slice(p) + additions +
                   scalars_of(alpha, beta),
               U);
    const double stored = p->order.partial_store ? 1 : 1 + additions + resumed_of(path);
    return met_add(own, 1, met_of(stored, sums));
}

/* Additions of sums in all lanes. */
static double additions_of(const struct gemm_plan *p, const struct accumulation *path)
{
    const size_t longest =
        larger(path->k_steps, larger(path->remaining[0], path->remaining[1]));
    const double lanes = (double)path->lanes,
                 promotions = chain_of(p, longest, 0).promotions;
    return lanes * (larger_double(promotions, 1) + p->accumulators - 1) - 1;
}

/* --- underflow -------------------------------------------------------------------- */

/* The loss of one rounding in the subnormal range. */
static double least_of(const struct bitcut_format *f, const struct bitcut_rounding *r)
{
    const double place = ldexp(1, format_least_exponent(f));
    if (r->flush) return ldexp(1, format_emin(f));
    return round_is_nearest(r) ? place / 2 : place;
}

static double least_rn(const struct bitcut_format *f)
{
    return least_of(f, &roundings[ROUND_RN]);
}

/* The loss of an accumulator that starts from a value in FP32: the value is rounded to
   its format, and the unit may flush it. */
static double start_least(const struct bitcut_unit *u)
{
    return least_rn(u->c) + (u->flush_inputs ? ldexp(1, format_emin(u->c)) : 0);
}

/* The loss in an instruction of the unit. */
static double instruction_least(const struct bitcut_unit *u)
{
    const struct step_error e = u->summation->error(u);
    if (format_is_integer(u->result)) return 0;
    const double step = e.roundings * least_of(u->result, &u->rounding) + e.cut;
    return u->k / u->block * step + (u->c_last ? least_rn(u->c) : 0);
}

/* The loss before rows and columns are scaled back: in accumulators, their scaling, their
   promotions and combination, and sums of lanes and slices. */
static double least_before(const struct gemm_plan *p, const struct accumulation *path)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const double lanes = (double)path->lanes;
    double all = 0, instructions = 0;
    for (int t = 0; t < p->terms; t++) {
        const struct recipe_term term = p->term[t];
        const double count = (double)path->all * instructions_of(p, t);
        const int level = p->split_a.part[term.a].level + p->split_b.part[term.b].level;
        all += count * ldexp(instruction_least(p->unit[t]), -p->scale * level);
        if (term.scaled) all += (double)path->all * least_rn(p->unit[t]->c);
        if (term.accumulator == 0) instructions += count;
    }
    const double each = p->scaling >= BITCUT_SCALING_PROMOTED ? 2 : 1;
    if (p->promote || p->tile_k) all += each * instructions * least_rn(f32);
    all += lanes * p->accumulators * least_rn(f32);
    all += resumed_of(path) * lanes * start_least(p->unit[0]);
    return all + 2 * lanes *
                     (least_rn(p->order.partial_format ? p->order.partial_format : f32));
}

/* --- starts ----------------------------------------------------------------------- */

bool start_is_scaled(const struct gemm_plan *p)
{
    bool scaled = p->equilibrate;
    for (int t = 0; t < p->terms; t++) scaled |= p->term[t].scaled;
    const bool enters = p->start == BITCUT_START_C || p->start == BITCUT_START_BIAS;
    return p->start && (p->equilibrate ||
                        (enters && (scaled || p->scaling >= BITCUT_SCALING_PROMOTED ||
                                    format_is_integer(p->unit[0]->c))));
}

/* Set the error of the start: beta c is rounded, and then to the accumulator's format.
   After that it meets at most what a product of accumulator 0 meets. */
static void add_start(struct accumulation_error *e, const struct gemm_plan *p,
                      struct met product)
{
    if (!p->start) return;
    e->start = path_growth(product.all + U + begin_error(p));
    e->before +=
        (1 + e->start) * (least_rn(&formats[FORMAT_F32]) + start_least(p->unit[0]));
}

/* --- the whole -------------------------------------------------------------------- */

struct accumulation_error accumulation_error_of(const struct gemm_plan *p,
                                                const struct accumulation *path,
                                                uint32_t alpha, uint32_t beta)
{
    const double scalars = scalars_of(alpha, beta),
                 back = p->equilibrate ? fabs(value_of_float(alpha)) : 0;
    struct accumulation_error e = { .update = beta << 1 != 0 ? U : 0,
                                    .additions = additions_of(p, path) };
    struct met of_start = { 0 };
    double most = 0;
    assert(hostfp_entered());
    for (int t = 0; t < p->terms; t++) {
        const int i = p->term[t].accumulator;
        const struct met met =
            met_add(accumulator_met(p, path, i), 1, after_met(p, path, i, alpha, beta));
        if (i == 0) of_start = met_most(of_start, met);
        e.term[t] = path_growth(met.all);
        e.block[t] = path_growth(met.block);
        e.squares[t] = met.squares;
        most = larger_double(most, e.term[t]);
    }
    e.before = (1 + most) * least_before(p, path);
    add_start(&e, p, of_start);
    e.after = (1 + most) * (back + scalars) * least_rn(&formats[FORMAT_F32]);
    return e;
}

static void keep_larger(struct accumulation_error *to, const struct accumulation_error *x)
{
    for (int t = 0; t < RECIPE_TERMS_MAX; t++)
        to->term[t] = larger_double(to->term[t], x->term[t]);
    to->update = larger_double(to->update, x->update);
    to->before = larger_double(to->before, x->before);
    to->start = larger_double(to->start, x->start);
    to->after = larger_double(to->after, x->after);
}

/* Number of intervals of l, each with its largest number of k-steps and additions. */
struct accumulation_error accumulation_error_any(const struct gemm_plan *p, size_t k,
                                                 uint32_t alpha, uint32_t beta)
{
    enum { INTERVALS = 256 };
    const size_t step = (size_t)p->k_step, each = divide_up(k, INTERVALS),
                 remaining = p->order.remainder_in_lane ? 0 : (size_t)p->order.unroll,
                 rest = divide_up(smaller(remaining, k), step);
    struct accumulation_error most = { .update = 0 };
    for (size_t from = 1; from <= k || from == 1; from += each ? each : 1) {
        const struct accumulation path = {
            .k_steps = divide_up(smaller(from + each, k), step) + 1,
            .remaining = { rest, p->order.narrow ? rest : 0 },
            .all = 3 * k,
            .lanes = k,
            .additions = k - smaller(k, from)
        };
        const struct accumulation_error e = accumulation_error_of(p, &path, alpha, beta);
        keep_larger(&most, &e);
    }
    return most;
}
