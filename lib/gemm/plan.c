/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/plan.h"

#include "lib/base/size.h"
#include "lib/gemm/order.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/equilibrate.h"

#include <string.h>

/* --- a caller's GEMM -------------------------------------------------------------- */

/* The smallest size that any version of the library had. */
#define SIZE_MIN sizeof(struct bitcut_gemm)

static const struct bitcut_gemm open_gemm = {
    .size = sizeof open_gemm,
    .scale = BITCUT_UNSET,
    .dropped_term = BITCUT_UNSET,
    .promote = BITCUT_UNSET,
    .tile_k = BITCUT_UNSET,
    .count = 1,
    .alpha = 0x3f800000,
    .scale_d = 0x3f800000,
    .clamp_low = 0xff800000,
    .clamp_high = 0x7f800000,
    .parts = BITCUT_UNSET,
    .alpha_f64 = 1,
};

void bitcut_gemm_init(struct bitcut_gemm *g, size_t size)
{
    memcpy(g, &open_gemm, size < sizeof *g ? size : sizeof *g);
    g->size = size;
}

/* Numbers that may be left open, up to a largest value. */
static bool is_open_or_to(int x, int most) { return x >= BITCUT_UNSET && x <= most; }

static enum bitcut_status check_numbers(const struct bitcut_gemm *g, struct fault *f)
{
    const struct bitcut_order *o = &g->order;
    const enum bitcut_layout layouts =
        g->a.layout | g->b.layout | g->c.layout | g->d.layout;
    if (!is_open_or_to(g->scale, GEMM_SCALE_MAX))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "scale must be 0 to %d",
                         GEMM_SCALE_MAX);
    if (g->sparsity > BITCUT_COMPRESSED_A)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown sparsity of A");
    if (g->round_seed < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "round_seed must not be negative");
    if (!is_open_or_to(g->dropped_term, 1) || layouts > BITCUT_COLUMN_MAJOR ||
        o->reduction > BITCUT_HALVES)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unknown value of an enumeration in the GEMM");
    if (!is_open_or_to(g->promote, INT32_MAX) || !is_open_or_to(g->tile_k, INT32_MAX) ||
        o->slices < 0 || o->tile < 0 || o->cut < 0 || o->balance_tail < 0 ||
        o->lanes < 0 || o->chunk < 0 || o->unroll < 0 || o->narrow < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    if (!order_is_sound(o))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "lane_order must list each of the lanes 0 to lanes - 1 once, at "
                         "most %d lanes",
                         BITCUT_LANE_ORDER_MAX);
    if (g->unit && g->kernel)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "unit and kernel cannot be combined");
    return epilogue_check(g, f);
}

static enum bitcut_status check_size(size_t size, struct fault *f)
{
    if (size >= SIZE_MIN && size <= sizeof(struct bitcut_gemm)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "the GEMM has size %zu, which this library does not know: %s", size,
                     size < SIZE_MIN ? "call bitcut_gemm_init() first"
                                       : "the program was built for a newer library");
}

enum bitcut_status gemm_take(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                             struct fault *f)
{
    struct bitcut_gemm g;
    const enum bitcut_status status = gemm_take_any(&g, from, f);
    if (status == BITCUT_OK && g.scheme)
        return fault_option(f, "scheme",
                            "this call takes FP32 GEMMs; a scheme is taken by gemm, "
                            "verify, judge, budget, "
                            "bound and tolerance");
    if (status == BITCUT_OK) *to = g;
    return status;
}

enum bitcut_status gemm_take_any(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                                 struct fault *f)
{
    if (!from) return fault_set(f, BITCUT_BAD_ARGUMENT, "the GEMM must not be NULL");
    enum bitcut_status status = check_size(from->size, f);
    if (status != BITCUT_OK) return status;
    *to = open_gemm;
    memcpy(to, from, from->size);
    to->size = sizeof *to;
    return check_numbers(to, f);
}

enum bitcut_status gemm_take_plain(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                                   const char *who, struct fault *f)
{
    const enum bitcut_status status = gemm_take(to, from, f);
    if (status != BITCUT_OK) return status;
    if (to->offsets)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not take groups", who);
    if (to->sparsity)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not take a sparse A", who);
    if (!gemm_is_extended(to)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s takes D = alpha A B + beta C; it does not take a bias, factors, "
                     "a start or other steps of an epilogue",
                     who);
}

enum bitcut_status gemm_check_place(const struct bitcut_gemm *to, struct fault *f)
{
    return to ? check_size(to->size, f) : BITCUT_OK;
}

void gemm_give(struct bitcut_gemm *to, const struct bitcut_gemm *g)
{
    if (!to) return;
    const size_t size = to->size;
    memcpy(to, g, size);
    to->size = size;
}

/* --- the plan --------------------------------------------------------------------- */

/* A split of the GEMM, with the variations of the GEMM applied. */
static struct bitcut_split split_of(const struct bitcut_gemm *g,
                                    const struct bitcut_split *own,
                                    const struct bitcut_format *parts)
{
    const struct bitcut_split *row = own ? own : g->recipe->split;
    struct bitcut_split s = row ? *row : split_plain(parts);
    if (g->high) s.part[0].rounding = g->high;
    for (int i = 1; g->low && i < s.parts; i++) s.part[i].rounding = g->low;
    if (g->scale != BITCUT_UNSET) s.scale = g->scale;
    s.seed = 2 * (uint64_t)g->round_seed;
    return s;
}

static int chosen(int asked, int otherwise)
{
    return asked == BITCUT_UNSET ? otherwise : asked;
}

/* An order in which no number is left open. */
static struct bitcut_order order_of(struct bitcut_order o)
{
    if (!o.slices) o.slices = 1;
    if (!o.lanes) o.lanes = 1;
    if (o.partial_format == &formats[FORMAT_F32]) o.partial_format = NULL;
    o.partial_store &= o.partial_format != NULL;
    if (o.lanes == 1) o.unroll = 0;
    if (!o.unroll) o.narrow = 0;
    o.narrow_apart &= o.narrow > 0;
    o.remainder_in_lane &= o.unroll > 0;
    o.slices_ascending &= o.slices > 1 && o.reduction != BITCUT_ASCENDING;
    return o;
}

static void add_term(struct gemm_plan *p, struct recipe_term t)
{
    p->term[p->terms++] = t;
    if (t.accumulator >= p->accumulators) p->accumulators = t.accumulator + 1;
}

bool gemm_equilibrates(const struct bitcut_gemm *g)
{
    const struct bitcut_split *const own = g->recipe->split,
                                     *const a = g->split_a ? g->split_a : own,
                                     *const b = g->split_b ? g->split_b : own;
    return g->equilibrate || (a && split_is_fixed(a)) || (b && split_is_fixed(b));
}

/* The k that share both factors: the greatest common divisor of the blocks of A and B; 0:
   all k. */
static size_t block_of(const struct bitcut_gemm *g)
{
    size_t x = factor_depth(&g->scale_a), y = factor_depth(&g->scale_b);
    while (y) {
        const size_t rest = x % y;
        x = y;
        y = rest;
    }
    return x < INT32_MAX ? x : 0;
}

static struct gemm_plan plan_of(const struct bitcut_gemm *g,
                                const struct bitcut_format *a,
                                const struct bitcut_format *b)
{
    const struct bitcut_recipe *r = g->recipe;
    struct gemm_plan p = { .recipe = r,
                           .split_a = split_of(g, g->split_a, a),
                           .split_b = split_of(g, g->split_b, b),
                           .dropped_term = chosen(g->dropped_term, r->keeps_dropped_term),
                           .equilibrate = gemm_equilibrates(g),
                           .promote = chosen(g->promote, r->promote),
                           .tile_k = chosen(g->tile_k, r->tile_k),
                           .order = order_of(g->order),
                           .start = g->start,
                           .scaling = g->scaling };
    p.integer = p.split_a.parts == 1 && p.split_b.parts == 1 &&
                format_is_integer(p.split_a.part[0].format) &&
                format_is_integer(p.split_b.part[0].format);
    memcpy(p.epilogue, g->epilogue, sizeof p.epilogue);
    epilogue_name(p.epilogue_name, g, p.integer);
    p.round_seed = g->round_seed;
    p.sum_rounding = g->sum_rounding;
    p.split_b.seed++; /* the same values are rounded apart in A and B */
    p.target = equilibrate_target(&p.split_a);
    p.scale = p.split_a.parts > 1   ? p.split_a.scale
              : p.split_b.parts > 1 ? p.split_b.scale
                                    : 0;
    if (p.dropped_term && r->dropped_term.a)
        add_term(&p, r->dropped_term); /* otherwise recipe_takes() refuses it */
    for (int i = 0; i < r->terms; i++) add_term(&p, r->term[i]);
    if (gemm_scales_promotions(g) && !p.tile_k) p.tile_k = (int)block_of(g);
    return p;
}

/* Check that every promotion has one factor of A and one of B, and that blocks of an
   instruction are those of its unit. */
static enum bitcut_status check_scales(const struct gemm_plan *p,
                                       const struct bitcut_gemm *g, struct fault *f)
{
    const size_t block = block_of(g), tile = (size_t)p->tile_k;
    if (gemm_has_scales(g) && g->scaling == BITCUT_SCALING_EPILOGUE && block)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors of blocks of k cannot be applied in the epilogue; use "
                         "a scaling at promotions, of operands, or of the unit");
    if (!gemm_scales_promotions(g) || !gemm_has_scales(g)) return BITCUT_OK;
    if (p->accumulators > 1)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors at promotions require a recipe with one accumulator, "
                         "such as plain");
    if (p->order.lanes > 1)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors at promotions and lanes of k cannot be combined");
    if (!p->promote && !tile)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors at promotions require promotions: set promote");
    if (block && block % tile)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "factors have blocks of %zu k: tile-k must divide it", block);
    return BITCUT_OK;
}

/* Check that the operations of the recipe between tiles are possible. */
static enum bitcut_status check_tiles(const struct gemm_plan *p, struct fault *f)
{
    const struct bitcut_recipe *r = p->recipe;
    bool scales = false;
    for (int i = 0; i < p->terms; i++) scales |= p->term[i].scaled;
    if (!p->tile_k && (scales || r->zeroed))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s requires tiles along k; the tile length must be at least 1",
                         r->name);
    if (p->promote && scales)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "%s promotes at the end of each tile; a promotion interval cannot be set",
            r->name);
    return BITCUT_OK;
}

/* The number of products of integers that an accumulator adds for each k. */
static size_t integer_products(const struct gemm_plan *p, int accumulator)
{
    size_t count = 0;
    for (int i = 0; i < p->terms; i++)
        count += p->term[i].accumulator == accumulator &&
                 format_is_integer(p->split_a.part[p->term[i].a].format);
    return count;
}

/* Check that sums of integers fit their accumulators: a slice has no more k than fit, for
   any k-step. */
static enum bitcut_status check_integers(const struct gemm_plan *p, size_t k,
                                         struct fault *f)
{
    enum { PRODUCT_MAX = 127 * 127, STEP_MAX = 64 };
    const struct bitcut_order *o = &p->order;
    const size_t slice = o->slices == 1
                             ? k
                             : divide_up(k, (size_t)o->slices) + (size_t)o->tile +
                                   (size_t)o->cut + STEP_MAX;
    for (int i = 0; i < p->accumulators; i++) {
        const size_t count = integer_products(p, i),
                     most = count ? INT32_MAX / (PRODUCT_MAX * count) : slice;
        if (slice > most)
            return fault_set(
                f, BITCUT_BAD_ARGUMENT,
                "%s sums integers exactly in 32 bits up to k = %zu; use more slices of k",
                p->recipe->name, most);
    }
    return BITCUT_OK;
}

/* Check a GEMM whose sums stay s32. */
static enum bitcut_status check_carried(const struct gemm_plan *p,
                                        const struct bitcut_gemm *g, struct fault *f)
{
    const struct bitcut_format *const operand[] = { matrix_format(&g->a),
                                                    matrix_format(&g->b) },
                                      *const part[] = { p->split_a.part[0].format,
                                                        p->split_b.part[0].format };
    if (p->terms > 1 || p->promote || p->tile_k || p->sum_rounding || p->equilibrate ||
        p->order.partial_format || g->high || g->low || g->scaling)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "sums of integers are exact: they take slices and lanes of k, but "
            "no promotion, tile, split, rounding, format of partial sums, "
            "equilibration or scaling");
    for (int i = 0; i < 2; i++)
        if (format_is_integer(operand[i]) && operand[i] != part[i])
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%c has the format %s, but the unit multiplies %s", "AB"[i],
                             operand[i] -> name, part[i] -> name);
    return BITCUT_OK;
}

/* Check the second loop, whose sums are sums of as many lanes each. */
static enum bitcut_status check_narrow(const struct gemm_plan *p, struct fault *f)
{
    const struct bitcut_order *const o = &p->order;
    if (!o->narrow) return BITCUT_OK;
    if (o->remainder_in_lane)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "narrow and remainder-in-lane cannot be combined");
    if (o->lanes & (o->lanes - 1) || o->narrow & (o->narrow - 1) ||
        o->narrow >= o->lanes || o->reduction < BITCUT_TREE)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "narrow requires lanes and narrow to be powers of two, fewer "
                         "than lanes, and reduction=tree or reduction=halves");
    return BITCUT_OK;
}

/* Check that the accumulator can start from the sum of the lanes, in an unrolled loop. */
static enum bitcut_status check_unroll(const struct gemm_plan *p, struct fault *f)
{
    bool plain = p->accumulators == 1 && !p->recipe->zeroed &&
                 (p->integer || !integer_products(p, 0));
    for (int i = 0; i < p->terms; i++) plain &= !p->term[i].scaled;
    if (!p->order.unroll) return BITCUT_OK;
    if (!plain && !p->order.remainder_in_lane)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unroll requires a recipe whose only accumulator can start from "
                         "a sum, such as plain; %s has another one",
                         p->recipe->name);
    if (p->order.partial_first)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unroll and partial-first cannot be combined");
    return check_narrow(p, f);
}

/* Whether only the direction of the rule matters, so that a unit can round by it. */
static bool is_rule_of_sums(const struct bitcut_rounding *r)
{
    return !r || (r->direction != BY_BIT && r->flush == FLUSH_NONE &&
                  r->overflow == OVERFLOW_IEEE);
}

enum bitcut_status gemm_plan_make(struct gemm_plan *to, const struct bitcut_gemm *g,
                                  const struct bitcut_format *a,
                                  const struct bitcut_format *b, struct fault *f)
{
    const struct gemm_plan p = plan_of(g, a, b);
    enum bitcut_status status =
        recipe_takes(g->recipe, &p.split_a, &p.split_b, p.dropped_term, f);
    if (status == BITCUT_OK) status = check_tiles(&p, f);
    if (status == BITCUT_OK) status = fault_about(f, "scaling", check_scales(&p, g, f));
    if (status == BITCUT_OK) status = fault_about(f, "order", check_unroll(&p, f));
    if (status == BITCUT_OK && p.order.partial_format &&
        !format_is_result(p.order.partial_format))
        status =
            fault_set(f, BITCUT_BAD_ARGUMENT, "partial sums of k cannot be stored in %s",
                      p.order.partial_format->name);
    if (status == BITCUT_OK && !is_rule_of_sums(p.sum_rounding))
        status = fault_option(f, "sum-rounding",
                              "sums cannot be rounded by rule %s; use rn, rna, rz, "
                              "ru, rd, odd or sr",
                              p.sum_rounding->name);
    if (status == BITCUT_OK && p.equilibrate)
        status = fault_about(f, "equilibrate", equilibrate_takes(&p.split_a, f));
    if (status == BITCUT_OK && p.equilibrate)
        status = fault_about(f, "equilibrate", equilibrate_takes(&p.split_b, f));
    if (status == BITCUT_OK && p.integer) status = check_carried(&p, g, f);
    if (status == BITCUT_OK && !p.integer)
        status = check_integers(&p, gemm_products(g), f);
    if (status == BITCUT_OK) status = epilogue_check_sums(g, p.integer, f);
    if (status == BITCUT_OK && g->sparsity)
        status = fault_about(f, "sparse-a", sparsity_check_extras(g, f));
    if (status == BITCUT_OK) *to = p;
    return status;
}

const struct bitcut_unit *gemm_plan_reader(const struct gemm_plan *p,
                                           enum bitcut_operand operand, int part)
{
    for (int i = 0; i < p->terms; i++)
        if ((operand == BITCUT_A ? p->term[i].a : p->term[i].b) == part)
            return p->unit[i];
    return NULL;
}

void gemm_settle(struct bitcut_gemm *g, const struct gemm_plan *p)
{
    g->recipe = p->recipe;
    if (!g->split_a) g->split_a = p->recipe->split;
    if (!g->split_b) g->split_b = p->recipe->split;
    g->scale = p->scale;
    g->dropped_term = p->dropped_term;
    g->promote = p->promote;
    g->tile_k = p->tile_k;
    g->equilibrate = p->equilibrate;
    g->order = p->order;
}
