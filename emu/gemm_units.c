/* SPDX-License-Identifier: BSD-3-Clause */
/* The unit on which each term of a recipe runs. */
#include "emu/job.h"
#include "emu/gemm.h"
#include "lib/base/size.h"
#include "lib/gemm/matrix.h"

/* Check that the unit multiplies the high parts. */
static enum bitcut_status check_high(const struct gemm_plan *p,
                                     const struct bitcut_unit *u, struct fault *f)
{
    const struct bitcut_format *a = p->split_a.part[0].format,
                               *b = p->split_b.part[0].format;
    if (format_holds(u->a, a) && format_holds(u->b, b)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "recipe %s has parts in %s, but %s multiplies %s by %s; choose "
                     "another unit or split",
                     p->recipe->name, (format_holds(u->a, a) ? b : a)->name, u->name,
                     u->a->name, u->b->name);
}

/* Whether a unit with this operand format takes a part of the split: a part in the format
   of the high part, or any part that fits if the operand is wider. */
static bool takes(const struct bitcut_format *operand, const struct bitcut_split *s,
                  int w)
{
    const struct bitcut_format *part = s->part[w].format, *high = s->part[0].format;
    return part == high || (operand != high && format_holds(operand, part));
}

const struct bitcut_format *accumulator_format(const struct gemm_plan *p, int accumulator)
{
    int t = 0;
    while (t < p->terms && p->term[t].accumulator != accumulator) t++;
    return p->unit[t < p->terms ? t : 0]->c;
}

/* Find the units of all terms. */
static enum bitcut_status find_units(struct gemm_plan *p, const struct bitcut_unit *u,
                                     struct fault *f)
{
    for (int i = 0; i < p->terms; i++) {
        const struct recipe_term t = p->term[i];
        const struct bitcut_format *a = p->split_a.part[t.a].format,
                                   *b = p->split_b.part[t.b].format;
        const bool own = takes(u->a, &p->split_a, t.a) && takes(u->b, &p->split_b, t.b);
        p->unit[i] = own ? u : unit_beside(u, a, b);
        if (!p->unit[i])
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "recipe %s also multiplies parts in %s by %s; the "
                             "architecture of %s has no such instruction with sums in %s",
                             p->recipe->name, a->name, b->name, u->name, u->c->name);
        if (accumulator_format(p, t.accumulator) != p->unit[i]->c)
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "recipe %s adds products in %s to products in %s",
                             p->recipe->name, p->unit[i]->c->name,
                             accumulator_format(p, t.accumulator)->name);
        if (p->unit[i]->k > p->k_step) p->k_step = p->unit[i]->k;
    }
    return BITCUT_OK;
}

/* Check that a round of an unrolled loop with fewer sums after it has k for every lane.
 */
static enum bitcut_status check_round(const struct gemm_plan *p, struct fault *f)
{
    const struct bitcut_order *const o = &p->order;
    const size_t step = (size_t)p->k_step,
                 chunk = o->chunk ? divide_up((size_t)o->chunk, step) : 1;
    if (!o->narrow || divide_up((size_t)o->unroll, step) / chunk >= (size_t)o->lanes)
        return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "narrow requires a round (unroll) with a chunk for each lane");
}

/* Check that a k-step has whole instructions of every term. */
static enum bitcut_status check_k_step(const struct gemm_plan *p, struct fault *f)
{
    for (int i = 0; i < p->terms; i++)
        if (p->k_step % p->unit[i]->k)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "k of %s must divide %d",
                             p->unit[i]->name, p->k_step);
    return BITCUT_OK;
}

/* Check that factors of these lines and k are the block scales of the unit. */
static bool is_scales_of(const struct bitcut_scales *x, const struct bitcut_unit *u)
{
    return matrix_is_given(&x->at) && matrix_format(&x->at) == u->scale &&
           x->lines == 1 && x->depth == (size_t)u->scale_block;
}

static enum bitcut_status check_unit_scales(const struct bitcut_gemm *g,
                                            const struct bitcut_unit *u, struct fault *f)
{
    const bool scaled = g->scaling == BITCUT_SCALING_UNIT;
    if (!u->scale && !scaled) return BITCUT_OK;
    if (!u->scale)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s has no block scales", u->name);
    if (scaled && !gemm_has_scales(g)) return BITCUT_OK; /* they are not known yet */
    if (scaled && is_scales_of(&g->scale_a, u) && is_scales_of(&g->scale_b, u))
        return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s requires block scales: factors of A and of B in %s, one for "
                     "each line and %d k, and scaling=unit",
                     u->name, u->scale->name, u->scale_block);
}

enum bitcut_status gemm_plan_on_unit(struct gemm_plan *to, const struct bitcut_gemm *g,
                                     struct fault *f)
{
    struct gemm_plan p;
    const enum bitcut_status status = gemm_plan_on_floats(&p, g, f);
    if (status != BITCUT_OK) return status;
    if (g->sparsity)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "only gemm, verify, explain, judge, bound, budget, tolerance "
                         "and advise take a sparse A");
    *to = p;
    return BITCUT_OK;
}

enum bitcut_status gemm_plan_on_floats(struct gemm_plan *to, const struct bitcut_gemm *g,
                                       struct fault *f)
{
    const enum bitcut_status status = gemm_plan_on_any(to, g, f);
    if (status != BITCUT_OK || !to->integer) return status;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s accumulates in %s; only gemm, verify, explain, report, bound, "
                     "tolerance and advise take integers",
                     g->unit->name, g->unit->c->name);
}

/* Check that a recipe on a unit of integers has no parts.  A list of steps for sums that
   stay integers says nothing about such a recipe. */
static enum bitcut_status check_recipe(const struct bitcut_gemm *g,
                                       const struct bitcut_unit *u, struct fault *f)
{
    const struct bitcut_split *const s = g->split_a ? g->split_a : g->recipe->split;
    if (!format_is_integer(u->c) || !s ||
        (s->parts == 1 && format_is_integer(s->part[0].format)))
        return BITCUT_OK;
    return fault_option(f, "recipe", "%s multiplies %s by %s; use recipe plain", u->name,
                        u->a->name, u->b->name);
}

enum bitcut_status gemm_plan_on_values(struct gemm_plan *to, const struct bitcut_gemm *g,
                                       struct fault *f)
{
    unsigned char all[EPILOGUE_STEPS_MAX];
    struct gemm_plan p;
    const enum bitcut_status status = gemm_plan_on_any(&p, g, f);
    if (status != BITCUT_OK) return status;
    epilogue_of_integers(all, g);
    const unsigned char *const first = all + (*all == BITCUT_STEP_ZEROS);
    if (p.integer && (format_is_integer(matrix_format(&g->d)) ||
                      *first != BITCUT_STEP_FLOAT || g->start))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "a bound or tolerance on %s requires the step float first, a start "
            "from zero and a D without integers; a D of integers is exact: "
            "verify compares it",
            g->unit->name);
    if (!matrix_zero_fits(g->zero_a) || !matrix_zero_fits(g->zero_b))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "zero points beyond +-2^22 have no bound and no tolerance");
    *to = p;
    return BITCUT_OK;
}

enum bitcut_status gemm_plan_on_any(struct gemm_plan *to, const struct bitcut_gemm *g,
                                    struct fault *f)
{
    const struct bitcut_unit *u = g->unit;
    struct gemm_plan p;
    if (!g->recipe || !u)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a recipe and a unit are required");
    enum bitcut_status status =
        fault_about(f, g->scaling ? "scaling" : "unit", check_unit_scales(g, u, f));
    if (status == BITCUT_OK) status = check_recipe(g, u, f);
    if (status == BITCUT_OK) status = gemm_plan_make(&p, g, u->a, u->b, f);
    if (status == BITCUT_OK) status = check_high(&p, u, f);
    if (status == BITCUT_OK) status = find_units(&p, u, f);
    if (status == BITCUT_OK) status = check_k_step(&p, f);
    if (status == BITCUT_OK) status = fault_about(f, "order", check_round(&p, f));
    if (status != BITCUT_OK) return status;
    if (p.integer != format_is_integer(u->c))
        return fault_option(f, "recipe", "%s multiplies %s by %s; use recipe plain",
                            u->name, u->a->name, u->b->name);
    if (!p.integer && u->c != &formats[FORMAT_F32] && u->c != &formats[FORMAT_F16] &&
        u->c != &formats[FORMAT_BF16])
        return fault_option(
            f, "unit", "%s accumulates in %s; a recipe requires f32, f16, bf16 or s32",
            u->name, u->c->name);
    if (p.equilibrate && u->c != &formats[FORMAT_F32])
        return fault_option(
            f, "equilibrate",
            "products of equilibrated rows and columns overflow the %s sums of %s",
            u->c->name, u->name);
    *to = p;
    return BITCUT_OK;
}

/* A copy of a unit that rounds sums as the plan says. */
static struct bitcut_unit rounded_unit(const struct bitcut_unit *u,
                                       const struct gemm_plan *p)
{
    struct bitcut_unit own = *u;
    own.rounding.direction = p->sum_rounding->direction;
    own.rounding.seed = ~(uint64_t)p->round_seed; /* splits have the small numbers */
    return own;
}

void gemm_plan_round_sums(struct gemm_plan *p, struct bitcut_unit own[RECIPE_TERMS_MAX])
{
    for (int t = 0; t < p->terms && p->sum_rounding; t++) {
        own[t] = rounded_unit(p->unit[t], p);
        p->unit[t] = &own[t];
    }
}

bool gemm_unit_takes_parts(const struct bitcut_unit *u, const struct gemm_plan *p)
{
    bool all = true;
    for (int i = 0; i < p->split_a.parts; i++) all &= takes(u->a, &p->split_a, i);
    for (int i = 0; i < p->split_b.parts; i++) all &= takes(u->b, &p->split_b, i);
    return all;
}
