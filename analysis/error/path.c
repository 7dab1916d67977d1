#include "analysis/error/path.h"

#include "emu/summation.h"
#include "lib/bits.h"
#include "lib/fma.h"
#include "lib/hostfp.h"
#include "lib/k_parts.h"
#include "lib/size.h"

#include <assert.h>
#include <math.h>

#define U 0x1p-24

double path_compound(double x, double y)
{
    return isinf(x) || isinf(y) ? (double)INFINITY : x + y + x * y;
}

double path_gamma(double x) { return x < 1 ? x / (1 - x) : (double)INFINITY; }

/* --- the order of k --------------------------------------------------------------- */

enum bitcut_status path_of(struct path *to, const struct gemm_plan *p, size_t k)
{
    struct k_parts parts;
    size_t met[K_PARTS_KEPT_MOST + 1], kept = 0, most = 0, longest = 0;
    const enum bitcut_status status =
        k_parts_make(&parts, &p->order, k, (size_t)p->k_step);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < parts.count; i++) {
        const size_t steps = parts.first[i + 1] - parts.first[i];
        if (steps > longest) longest = steps;
        met[kept++] = 0;
        for (int n = 0; n < parts.adds[i]; n++, kept--)
            met[kept - 2] =
                1 + (met[kept - 2] > met[kept - 1] ? met[kept - 2] : met[kept - 1]);
        if (met[kept - 1] > most) most = met[kept - 1];
    }
    *to = (struct path){ longest, parts.steps, parts.count, most };
    k_parts_clear(&parts);
    return BITCUT_OK;
}

/* --- accumulators ----------------------------------------------------------------- */

/* What an instruction errs by: beside all that meets it, and beside its products only. */
struct instruction_error {
    double all, products;
};

static struct instruction_error instruction_error_of(const struct bitcut_unit *u)
{
    const struct step_error e = u->summation->error(u);
    const double steps =
        (u->k / u->block) * (round_error(u->result, u->rounding.direction) + e.sum);
    if (!u->c_last) return (struct instruction_error){ steps, e.products };
    return (struct instruction_error){ round_error(u->c, TO_NEAREST_EVEN),
                                       steps + e.products };
}

/* Instructions of a term in a k-step. */
static double instructions_of(const struct gemm_plan *p, int t)
{
    return p->k_step / p->unit[t]->k;
}

/* The course of an accumulator in a lane. */
struct course {
    double k_steps;    /* of a chain: between promotions at the end of tiles     */
    double most;       /* instructions of a chain                                */
    double promotions; /* in all                                                 */
};

static struct course course_of(const struct gemm_plan *p, const struct path *path,
                               int accumulator)
{
    struct course c = { (double)path->k_steps, (double)INFINITY, 0 };
    double instructions = 0, tiles = 1;
    if (accumulator != 0 || !(p->promote || p->tile_k)) return c;
    for (int t = 0; t < p->terms; t++)
        if (p->term[t].accumulator == 0) instructions += instructions_of(p, t);
    if (p->tile_k) {
        const size_t tile = divide_up((size_t)p->tile_k, (size_t)p->k_step);
        tiles = (double)divide_up(path->k_steps, tile);
        c.k_steps = (double)smaller(path->k_steps, tile);
    }
    if (p->promote) c.most = p->promote;
    c.promotions = tiles * (p->promote ? ceil(c.k_steps * instructions / p->promote) : 1);
    return c;
}

/* What a product errs by in its accumulator and by its promotions. */
static double accumulator_error(const struct gemm_plan *p, const struct path *path,
                                int accumulator)
{
    const struct course c = course_of(p, path, accumulator);
    double all = 0, most = 0, own = 0;
    for (int t = 0; t < p->terms; t++) {
        if (p->term[t].accumulator != accumulator) continue;
        const struct instruction_error e = instruction_error_of(p->unit[t]);
        all += c.k_steps * instructions_of(p, t) * e.all;
        most = larger_double(most, e.all);
        own = larger_double(own, e.products);
    }
    const double chain = path_gamma(fmin(all, c.most * most) + own);
    const double adds = path_gamma(larger_double(c.promotions - 1, 0) * U);
    return path_compound(chain, adds);
}

/* --- afterwards ------------------------------------------------------------------- */

/* Roundings of accumulator i when all are folded: the last one meets all of them. */
static double folds_of(const struct gemm_plan *p, int i)
{
    const int last = p->accumulators - 1;
    return i == last ? last : i + 1;
}

static double sums_error(const struct gemm_plan *p)
{
    return p->order.sums ? round_error(p->order.sums, TO_NEAREST_EVEN) : 0;
}

/* From the sum of a lane to D, with so many folds before. */
static double error_after(const struct gemm_plan *p, const struct path *path,
                          double folds, uint32_t alpha, uint32_t beta)
{
    const double own = folds + (alpha != F32_ONE) + (beta << 1 != 0),
                 additions = (double)path->additions;
    return path_gamma((own + additions) * U + (1 + additions) * sums_error(p));
}

/* --- what underflows -------------------------------------------------------------- */

/* What one rounding loses where it is subnormal. */
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

/* In an instruction of the unit. */
static double instruction_least(const struct bitcut_unit *u)
{
    const struct step_error e = u->summation->error(u);
    const double step = e.roundings * least_of(u->result, &u->rounding) + e.cut;
    return u->k / u->block * step + (u->c_last ? least_rn(u->c) : 0);
}

/* In all that happens before lines are scaled back: accumulators, what scales them, their
   promotions and folds, and sums of lanes and slices. */
static double least_before(const struct gemm_plan *p, const struct path *path)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const double lanes = (double)path->lanes;
    double all = 0, instructions = 0;
    for (int t = 0; t < p->terms; t++) {
        const struct recipe_term term = p->term[t];
        const double count = (double)path->all * instructions_of(p, t);
        const int level = p->split_a.word[term.a].level + p->split_b.word[term.b].level;
        all += count * ldexp(instruction_least(p->unit[t]), -p->scale * level);
        if (term.scaled) all += (double)path->all * least_rn(p->unit[t]->c);
        if (term.accumulator == 0) instructions += count;
    }
    if (p->promote || p->tile_k) all += instructions * least_rn(f32);
    all += lanes * p->accumulators * least_rn(f32);
    return all + 2 * lanes * (least_rn(p->order.sums ? p->order.sums : f32));
}

/* --- all of it -------------------------------------------------------------------- */

struct path_error path_error_of(const struct gemm_plan *p, const struct path *path,
                                uint32_t alpha, uint32_t beta)
{
    const double scalars = (alpha != F32_ONE) + (beta << 1 != 0),
                 back = p->equilibrate ? fabs(value_of_float(alpha)) : 0;
    struct path_error e = { .update = beta << 1 != 0 ? U : 0 };
    double most = 0;
    assert(hostfp_entered());
    for (int t = 0; t < p->terms; t++) {
        const int i = p->term[t].accumulator;
        e.term[t] = path_compound(accumulator_error(p, path, i),
                                  error_after(p, path, folds_of(p, i), alpha, beta));
        most = larger_double(most, e.term[t]);
    }
    e.before = (1 + most) * least_before(p, path);
    e.after = (1 + most) * (back + scalars) * least_rn(&formats[FORMAT_F32]);
    return e;
}

static void keep_larger(struct path_error *to, const struct path_error *x)
{
    for (int t = 0; t < RECIPE_TERMS_MOST; t++)
        to->term[t] = larger_double(to->term[t], x->term[t]);
    to->update = larger_double(to->update, x->update);
    to->before = larger_double(to->before, x->before);
    to->after = larger_double(to->after, x->after);
}

/* By so many intervals of l, each with the most k-steps and additions of it. */
struct path_error path_error_any(const struct gemm_plan *p, size_t k, uint32_t alpha,
                                 uint32_t beta)
{
    enum { INTERVALS = 256 };
    const size_t step = (size_t)p->k_step, each = divide_up(k, INTERVALS);
    struct path_error most = { .update = 0 };
    for (size_t from = 1; from <= k || from == 1; from += each ? each : 1) {
        const struct path path = { .k_steps =
                                       divide_up(smaller(from + each, k), step) + 1,
                                   .all = 3 * k,
                                   .lanes = k,
                                   .additions = k - smaller(k, from) };
        const struct path_error e = path_error_of(p, &path, alpha, beta);
        keep_larger(&most, &e);
    }
    return most;
}
