/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/advise_try.h"
#include "analysis/sampling/cost.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPONENT_BITS = 8 /* exponent bits of FP32: parts with as many have its range */ };

size_t advise_targets(const char *target[ADVISE_TARGETS_MAX])
{
    size_t count = 0;
    for (const struct chip *c = chips; c->name && count < ADVISE_TARGETS_MAX; c++) {
        bool first = true;
        for (const struct chip *other = chips; other < c; other++)
            first &= strcmp(other->architecture, c->architecture) != 0;
        if (first) target[count++] = c->name;
    }
    return count;
}

/* --- candidates ------------------------------------------------------------------- */

/* Variations of a recipe's row for parts with few exponent bits. */
static const struct {
    int scale; /* BITCUT_UNSET: as in the row */
    bool equilibrate;
} variations[] = { { BITCUT_UNSET, false }, { 10, false }, { 11, false },
                   { BITCUT_UNSET, true },  { 10, true },  { 11, true } };

enum {
    VARIATIONS = sizeof variations / sizeof variations[0],
    RECIPES_MAX = 64,
    QUANTIZERS_MAX = 64
};

/* Trials at one target. */
struct list {
    struct advise_trial *at;
    size_t count, room;
    bool incomplete; /* not enough memory to know which trials there are */
};

/* Products of two numbers, for all pairs. */
static double count_products(const struct advise_problem *q)
{
    double products = 0;
    for (const struct gemm_data *x = q->of; x < q->of + q->pairs; x++)
        products += (double)x->a.rows * (double)x->b.cols * (double)x->a.cols;
    return q->gemm && q->gemm->sparsity ? products / 2 : products;
}

/* Whether a variation differs from the row. */
static bool differs(const struct bitcut_split *s, const struct bitcut_format *parts,
                    int v)
{
    const bool scaled = s && s->parts > 1 && s->scale > 0;
    if (v == 0) return true;
    if (parts->exponent_bits >= EXPONENT_BITS) return false;
    return variations[v].scale == BITCUT_UNSET ||
           (scaled && variations[v].scale != s->scale);
}

/* A recipe on a unit for operands that are quantized, or not. */
struct candidate {
    const struct bitcut_recipe *recipe;
    const struct bitcut_unit *unit;
    const struct bitcut_format *parts;
    const struct bitcut_quantizer *quantizer[2];
};

/* The GEMM of a recipe on a unit with the start, the steps and the operands that were
   asked for.  Its operands only say which there are.  Units of integers alone correct
   zero points. */
static struct bitcut_gemm gemm_asked(const struct bitcut_recipe *recipe,
                                     const struct bitcut_unit *unit,
                                     const struct advise_problem *q)
{
    struct bitcut_gemm g = gemm_of(recipe, unit);
    if (q->gemm) {
        g = *q->gemm;
        g.recipe = recipe;
        g.unit = unit;
    }
    if (!format_is_integer(unit->c)) g.zero_a = g.zero_b = 0;
    g.d.format = q->format_d;
    return g;
}

/* The GEMM of a variation of a candidate. */
static struct bitcut_gemm gemm_of_candidate(const struct candidate *c, int v,
                                            const struct advise_problem *q)
{
    static const uint32_t one = F32_ONE;
    struct bitcut_gemm g = gemm_asked(c->recipe, c->unit, q);
    g.scale = variations[v].scale;
    g.equilibrate = variations[v].equilibrate;
    for (int side = 0; side < 2; side++) {
        const struct bitcut_quantizer *const x = c->quantizer[side];
        if (!x) continue;
        *(side ? &g.zero_b : &g.zero_a) = 0;
        const enum bitcut_scaling own = unit_scaling(c->unit, x);
        if (own > g.scaling) g.scaling = own;
        *(side ? &g.scale_b : &g.scale_a) = (struct bitcut_scales){
            { .at = &one, .format = x->scale }, x->lines, x->depth
        };
    }
    return g;
}

/* The integer format of all A, or of all B; NULL if there is none. */
static const struct bitcut_format *integers_of(const struct advise_problem *q, bool is_b)
{
    const struct bitcut_format *const format = (is_b ? q->of->b : q->of->a).format;
    for (const struct gemm_data *x = q->of; x < q->of + q->pairs; x++)
        if ((is_b ? x->b : x->a).format != format) return NULL;
    return format && format_is_integer(format) ? format : NULL;
}

/* Whether the unit of a candidate multiplies the elements of its quantizers, or integers
   that A and B have.  A unit of integers would limit others to its range. */
static bool holds_elements(const struct candidate *c, const struct advise_problem *q)
{
    const struct bitcut_format *const operand[] = { c->unit->a, c->unit->b };
    for (int side = 0; side < 2; side++)
        if (format_is_integer(operand[side]) &&
            operand[side] != (c->quantizer[side] ? c->quantizer[side]->element
                                                 : integers_of(q, side == 1)))
            return false;
    return true;
}

/* Whether blocks of factors consist of k-steps, in every product. */
static bool blocks_fit(struct list *l, const struct advise_trial *t,
                       const struct advise_problem *q)
{
    struct bitcut_gemm g = t->gemm;
    for (size_t i = 0; i < q->pairs; i++) {
        g.k = q->of[i].a.cols;
        const enum bitcut_status status = gemm_check_order(&g, &t->plan, NULL);
        l->incomplete |= status == BITCUT_NO_MEMORY;
        if (status != BITCUT_OK) return false;
    }
    return true;
}

static void add(struct list *l, const struct advise_problem *q, const char *target,
                const struct candidate *c)
{
    const bool quantized = c->quantizer[0] || c->quantizer[1];
    for (int v = 0; v < VARIATIONS && l->count < l->room; v++) {
        struct advise_trial *const t = &l->at[l->count];
        *t = (struct advise_trial){ .target = target,
                                    .gemm = gemm_of_candidate(c, v, q),
                                    .quantizer = { c->quantizer[0], c->quantizer[1] } };
        if (!differs(c->recipe->split, c->parts, v) || !holds_elements(c, q) ||
            (quantized && variations[v].equilibrate) ||
            gemm_equilibrates(&t->gemm) != variations[v].equilibrate ||
            gemm_plan_on_values(&t->plan, &t->gemm, NULL) != BITCUT_OK ||
            epilogue_check_operands(&t->gemm, NULL) != BITCUT_OK || !blocks_fit(l, t, q))
            continue;
        t->advice = (struct bitcut_advice){ .size = sizeof t->advice,
                                            .cost = plan_cost(&t->plan, target),
                                            .quantize_a = c->quantizer[0],
                                            .quantize_b = c->quantizer[1] };
        t->tflops = plan_tflops(&t->plan, target);
        t->products = t->plan.terms * count_products(q);
        l->count++;
    }
}

/* The unit that a target has for these parts; of integers, the one that takes B as well.
 */
static const struct bitcut_unit *find_unit(const char *target,
                                           const struct bitcut_format *parts,
                                           const struct advise_problem *q)
{
    const struct bitcut_unit *const u = unit_find(target, parts);
    if (!u || !format_is_integer(u->c) || q->quantizer[0] || q->quantizer[1]) return u;
    return unit_beside(u, integers_of(q, false), integers_of(q, true));
}

/* A recipe on the unit that a target has for these parts. */
static void add_recipe(struct list *l, const struct advise_problem *q, const char *target,
                       const struct bitcut_recipe *r, const struct bitcut_format *parts)
{
    const struct candidate c = {
        r, find_unit(target, parts, q), parts, { q->quantizer[0], q->quantizer[1] }
    };
    if (!c.unit || (!r->split && (c.unit->a != parts || parts == &formats[FORMAT_F32])))
        return;
    add(l, q, target, &c);
}

/* Quantized operands, on the unit that a target has for their elements and scales. */
static void add_quantized(struct list *l, const struct advise_problem *q,
                          const char *target, const struct bitcut_quantizer *a,
                          const struct bitcut_quantizer *b, bool scaled)
{
    const struct bitcut_quantizer *const either = a ? a : b;
    const struct bitcut_format *const element = either->element;
    const struct bitcut_unit *const u =
        scaled ? unit_find_scaled(target, element, either->scale, either->depth)
               : unit_find(target, element);
    const struct candidate c = { &recipes[RECIPE_PLAIN], u, element, { a, b } };
    if (!u || u->a != element || (q->recipe && q->recipe != c.recipe)) return;
    add(l, q, target, &c);
}

/* Fewer products first, then without equilibration, then unvaried. */
static int compare(const void *x, const void *y)
{
    const struct advise_trial *a = x, *b = y;
    if (a->advice.cost != b->advice.cost)
        return a->advice.cost < b->advice.cost ? -1 : 1;
    if (a->gemm.equilibrate != b->gemm.equilibrate) return a->gemm.equilibrate ? 1 : -1;
    if (a->gemm.recipe != b->gemm.recipe) return a->gemm.recipe < b->gemm.recipe ? -1 : 1;
    if (a->gemm.scale != b->gemm.scale) return a->gemm.scale < b->gemm.scale ? -1 : 1;
    if (a->quantizer[0] != b->quantizer[0])
        return a->quantizer[0] < b->quantizer[0] ? -1 : 1;
    return a->gemm.unit < b->gemm.unit ? -1 : a->gemm.unit > b->gemm.unit;
}

static void fill(struct list *l, const struct advise_problem *q, const char *target)
{
    l->count = 0;
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        if (q->recipe && r != q->recipe) continue;
        if (r->split) add_recipe(l, q, target, r, r->split->part[0].format);
        for (const struct bitcut_format *f = formats; !r->split && f->name; f++)
            add_recipe(l, q, target, r, f);
    }
    if (q->quantizer[0] || q->quantizer[1])
        add_quantized(l, q, target, q->quantizer[0], q->quantizer[1], true);
    for (const struct bitcut_quantizer *x = quantizers; q->quantizers && x->name; x++)
        for (int scaled = 0; scaled < 2; scaled++)
            add_quantized(l, q, target, x, x, scaled);
    qsort(l->at, l->count, sizeof *l->at, compare);
}

/* --- the search ------------------------------------------------------------------- */

static bool errs_less(const struct advise_trial *x, const struct advise_trial *y)
{
    return x->advice.error < y->advice.error;
}

/* Check the trials that seem to reach the required error, the best first, until one does:
 *found, otherwise NULL. */
static enum bitcut_status check_some(struct advise_trial **found, struct advise *to,
                                     size_t from, const struct advise_samples *s,
                                     struct fault *f)
{
    const double want = to->problem.want;
    for (;;) {
        struct advise_trial *next = NULL;
        for (struct advise_trial *t = &to->trial[from]; t < &to->trial[to->trials]; t++)
            if (t->advice.high <= want && isnan(t->advice.checked) &&
                (!next || errs_less(t, next)))
                next = t;
        *found = next;
        if (!next) return BITCUT_OK;
        const enum bitcut_status status = advise_check(next, s, f);
        next->advice.reaches = next->advice.high <= want;
        if (status != BITCUT_OK || next->advice.reaches) return status;
    }
}

/* The trial with the smallest error from there on, checked as well. */
static enum bitcut_status take_least(struct advise_trial **found, struct advise *to,
                                     size_t from, const struct advise_samples *s,
                                     struct fault *f)
{
    *found = NULL;
    for (struct advise_trial *t = &to->trial[from]; t < &to->trial[to->trials]; t++)
        if (!*found || errs_less(t, *found)) *found = t;
    return *found && isnan((*found)->advice.checked) ? advise_check(*found, s, f)
                                                     : BITCUT_OK;
}

/* Whether trials are compared with each other: the same number of products, and the same
   equilibration. */
static bool are_equal(const struct advise_trial *a, const struct advise_trial *b)
{
    return a->advice.cost == b->advice.cost && a->gemm.equilibrate == b->gemm.equilibrate;
}

static enum bitcut_status search_place(struct advise *to, const struct list *l,
                                       const struct advise_samples *s, struct fault *f)
{
    const size_t first = to->trials;
    struct advise_trial *found = NULL;
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < l->count && !found;) {
        const size_t from = to->trials;
        do {
            struct advise_trial *const t = &to->trial[to->trials];
            *t = l->at[i++];
            status = advise_try(t, s, f);
            if (status != BITCUT_OK) return status;
            to->trials++;
        } while (i < l->count && are_equal(&l->at[i], &l->at[i - 1]));
        status = check_some(&found, to, from, s, f);
        if (status != BITCUT_OK) return status;
    }
    if (!found) status = take_least(&found, to, first, s, f);
    if (found) to->best[to->bests++] = found;
    return status;
}

/* Times on different chips can be compared only if their rates are known. */
static bool is_better(const struct advise_trial *x, const struct advise_trial *y)
{
    if (x->tflops != y->tflops) return x->tflops > y->tflops;
    if (!(x->tflops > 0) && x->advice.cost != y->advice.cost)
        return x->advice.cost < y->advice.cost;
    return errs_less(x, y);
}

/* The best of all targets, and the data that all trials share. */
static void choose(struct advise *to)
{
    for (size_t p = 0; p < to->bests; p++) {
        const struct advise_trial *const t = to->best[p];
        if (t->advice.reaches && (!to->choice || is_better(t, to->choice))) to->choice = t;
    }
    for (size_t i = 0; i < to->trials; i++) {
        to->trial[i].advice.outputs = to->outputs;
        to->trial[i].advice.checks = to->checks;
        to->trial[i].advice.tried = to->trials;
    }
}

static enum bitcut_status search(struct advise *to, const struct advise_samples *s,
                                 struct fault *f)
{
    const struct advise_problem *const q = &to->problem;
    struct list l = { .room = RECIPES_MAX * VARIATIONS + 2 * QUANTIZERS_MAX };
    l.at = memory_allocate(l.room, sizeof *l.at);
    to->trial = memory_allocate(l.room * q->targets, sizeof *to->trial);
    enum bitcut_status status =
        l.at && to->trial
            ? BITCUT_OK
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for recipes");
    for (size_t p = 0; p < q->targets && status == BITCUT_OK; p++) {
        progress_report(s->progress, p, q->targets);
        fill(&l, q, q->target[p]);
        status = l.incomplete
                     ? fault_set(f, BITCUT_NO_MEMORY, "not enough memory for recipes")
                     : search_place(to, &l, s, f);
    }
    free(l.at);
    choose(to);
    return status;
}

const struct advise_trial *advise_best(const struct advise *x)
{
    const struct advise_trial *best = x->choice;
    for (size_t p = 0; p < x->bests && !x->choice; p++)
        if (!best || errs_less(x->best[p], best)) best = x->best[p];
    return best;
}

/* --- values, and how to scale them ------------------------------------------------ */

/* Where scales are compared: on the recommended target, or else where f16 parts are
   possible. */
static const struct bitcut_unit *unit_of_f16(const struct advise *x)
{
    const struct bitcut_format *const f16 = &formats[FORMAT_F16];
    const struct bitcut_unit *u = x->choice ? unit_find(x->choice->target, f16) : NULL;
    for (size_t p = 0; p < x->problem.targets && !(u && u->a == f16); p++)
        u = unit_find(x->problem.target[p], f16);
    return u && u->a == f16 ? u : NULL;
}

static enum bitcut_status add_scale(struct advise *to, struct advise_scale one,
                                    const struct advise_samples *s,
                                    const struct advise_how *how, struct fault *f)
{
    struct advise_trial t = { .gemm = gemm_asked(one.recipe, one.unit, &to->problem) };
    t.gemm.scale = one.scale;
    t.gemm.equilibrate = one.equilibrate;
    if (gemm_plan_on_values(&t.plan, &t.gemm, NULL) != BITCUT_OK) return BITCUT_OK;
    enum bitcut_status status = advise_try(&t, s, f);
    for (int i = 0; i < 2 && status == BITCUT_OK; i++)
        status = advise_values_all(&one.kept[i], &to->values[i], &t.plan.split_a,
                                   one.unit->flush_inputs, one.equilibrate, how, f);
    one.error = t.advice.error;
    if (status == BITCUT_OK) to->scale[to->scales++] = one;
    return status;
}

static enum bitcut_status add_scales(struct advise *to, const struct advise_samples *s,
                                     const struct advise_how *how, struct fault *f)
{
    static const struct bitcut_recipe *const tried[] = { &recipes[RECIPE_OOTOMO],
                                                         &recipes[RECIPE_LEGEMM] };
    const struct bitcut_unit *const u = unit_of_f16(to);
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; u && i < ADVISE_SCALES_MAX && status == BITCUT_OK; i++) {
        const int way = i % ADVISE_WAYS;
        const struct advise_scale one = { .recipe = tried[i / ADVISE_WAYS],
                                          .unit = u,
                                          .scale = way ? 11 : 10,
                                          .equilibrate = way == 2 };
        status = add_scale(to, one, s, how, f);
    }
    return status;
}

static enum bitcut_status look_at_values(struct advise *to, const struct advise_samples *s,
                                         struct fault *f)
{
    const struct advise_problem *const q = &to->problem;
    const struct advise_how how = { s->threads, s->progress };
    const int kept = q->input_b ? 2 : 1; /* a transposed A retains the same as A */
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < 2 && status == BITCUT_OK; i++)
        status = advise_values_take(&to->values[i], q->of, q->pairs, i == 1, f);
    for (int i = 0; i < kept && status == BITCUT_OK; i++)
        status =
            advise_values_keep(&to->kept, &to->values[i], q->target, q->targets, &how, f);
    const bool scales = !q->quantizer[0] && !q->quantizer[1];
    return status == BITCUT_OK && scales ? add_scales(to, s, &how, f) : status;
}

/* --- operands --------------------------------------------------------------------- */

static bool has_products(const struct bitcut_gemm *g) { return g->m && g->n && g->k; }

enum bitcut_status advise_take_operands(struct gemm_data **of, size_t *count,
                                        const struct bitcut_gemm *g, int threads,
                                        struct fault *f)
{
    size_t taken = 0;
    struct gemm_data *const all =
        g->count ? memory_allocate(g->count, sizeof *all) : NULL;
    enum bitcut_status status = BITCUT_OK;
    if (g->count && !all) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (size_t i = 0; i < g->count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm one = gemm_nth(g, i);
        if (!has_products(&one)) continue;
        status = gemm_data_take(&all[taken], g, i, threads, f);
        taken += status == BITCUT_OK;
    }
    if (status == BITCUT_OK && !taken)
        status = fault_set(f, BITCUT_BAD_ARGUMENT,
                           "a GEMM with m, n and k of at least 1 is required");
    if (status == BITCUT_OK) *of = all, *count = taken;
    else advise_clear_operands(all, taken);
    return status;
}

void advise_clear_operands(struct gemm_data *of, size_t count)
{
    for (size_t i = 0; i < count; i++) gemm_data_clear(&of[i]);
    free(of);
}

/* --- the whole -------------------------------------------------------------------- */

/* An answer with only the estimates of samples. */
static struct advise begin(const struct advise_problem *q, const struct advise_samples *s)
{
    const struct gemm_data *const last = &q->of[q->pairs - 1];
    struct advise x = { .problem = *q,
                        .m = last->a.rows,
                        .n = last->b.cols,
                        .k = last->a.cols,
                        .all = true };
    for (size_t i = 0; i < s->count; i++) {
        const struct norm_sample *const first = &s->of[i].first, *const second =
                                                                     &s->of[i].second;
        x.outputs += first->data.a.rows * first->data.b.cols;
        x.checks += second->data.a.rows * second->data.b.cols;
        x.all &= first->all;
    }
    return x;
}

enum bitcut_status advise_find(struct advise *to, const struct advise_problem *q,
                               int threads, const struct progress *progress,
                               struct fault *f)
{
    struct advise_samples s;
    enum bitcut_status status = advise_samples_draw(&s, q, threads, progress, f);
    if (status != BITCUT_OK) return status;
    struct advise x = begin(q, &s);
    status = search(&x, &s, f);
    if (status == BITCUT_OK && q->values) status = look_at_values(&x, &s, f);
    advise_samples_clear(&s);
    if (status == BITCUT_OK) *to = x;
    else advise_clear(&x);
    return status;
}

void advise_clear(struct advise *x)
{
    for (int i = 0; i < 2; i++) advise_values_clear(&x->values[i]);
    free(x->kept.at);
    free(x->trial);
    *x = (struct advise){ .trial = NULL };
}
