/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/hypothesis.h"

#include "analysis/identify/epilogue_choice.h"
#include "analysis/identify/fault.h"
#include "analysis/order/order_sentence.h"
#include "emu/unit_field.h"
#include "lib/base/size.h"
#include "lib/base/table.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- recipe and unit -------------------------------------------------------------- */

static size_t recipe_count(const struct space *s)
{
    (void)s;
    size_t count = 0;
    while (recipes[count].name) count++;
    return count;
}

static bool recipe_vary(struct candidate *x, const struct space *s, size_t value)
{
    (void)s;
    x->gemm.recipe = &recipes[value];
    return true;
}

static size_t unit_count(const struct space *s) { return s->units; }

static bool unit_vary(struct candidate *x, const struct space *s, size_t value)
{
    x->gemm.unit = s->unit[value];
    x->unit = *x->gemm.unit;
    return true;
}

/* --- promotion -------------------------------------------------------------------- */

static const int intervals[] = { BITCUT_UNSET, 0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64 };

static size_t promote_count(const struct space *s)
{
    (void)s;
    return sizeof intervals / sizeof *intervals;
}

static bool promote_vary(struct candidate *x, const struct space *s, size_t value)
{
    const size_t instructions =
        divide_up(s->products, (size_t)x->gemm.unit->k) * (size_t)x->gemm.recipe->terms;
    /* One product after the other in one sum: slices of an order describe the same. */
    if (x->gemm.unit->block == 1 && x->gemm.recipe->terms == 1 && intervals[value] > 0)
        return false;
    if (intervals[value] > 0 && (size_t)intervals[value] >= instructions) return false;
    x->gemm.promote = intervals[value];
    return intervals[value] != x->gemm.recipe->promote;
}

static void promote_describe(char *text, size_t size, const struct candidate *x,
                             const struct space *s, size_t value)
{
    (void)x, (void)s;
    if (intervals[value])
        snprintf(text, size, "its sum is promoted every %d instructions",
                 intervals[value]);
    else snprintf(text, size, "its sum is never promoted");
}

/* --- parts ------------------------------------------------------------------------ */

static size_t parts_count(const struct space *s) { return s->parts_count; }

static bool parts_vary(struct candidate *x, const struct space *s, size_t value)
{
    const struct parts_choice w = s->parts[value];
    x->gemm.split_a = w.a;
    x->gemm.split_b = w.b;
    x->gemm.high = w.high;
    x->gemm.low = w.low;
    x->gemm.scale = w.scale;
    return true;
}

/* The differences from the recipe's own parts. */
static bool parts_alter(struct candidate *x, const struct space *s, size_t value)
{
    (void)s, (void)value;
    struct gemm_plan own;
    struct bitcut_gemm g = x->gemm;
    g.split_a = g.split_b = NULL;
    g.high = g.low = NULL;
    g.scale = BITCUT_UNSET;
    return gemm_plan_on_values(&own, &g, NULL) != BITCUT_OK ||
           !split_same(&own.split_a, &x->plan.split_a) ||
           !split_same(&own.split_b, &x->plan.split_b);
}

static void describe_if(char *text, size_t size, const char *what, const char *name)
{
    if (name) text_add(text, size, what, *text ? ", " : "", name);
}

static void parts_describe(char *text, size_t size, const struct candidate *x,
                           const struct space *s, size_t value)
{
    (void)x;
    const struct parts_choice w = s->parts[value];
    char scale[16];
    text[0] = 0;
    snprintf(scale, sizeof scale, "2^%d", w.scale);
    if (w.a == w.b)
        describe_if(text, size, "%sits parts are from split %s", w.a ? w.a->name : NULL);
    else {
        describe_if(text, size, "%sthe parts of A are from split %s",
                    w.a ? w.a->name : NULL);
        describe_if(text, size, "%sthe parts of B are from split %s",
                    w.b ? w.b->name : NULL);
    }
    describe_if(text, size, "%sits high parts are rounded by %s",
                w.high ? w.high->name : NULL);
    describe_if(text, size, "%sits low parts are rounded by %s",
                w.low ? w.low->name : NULL);
    describe_if(text, size, "%sits low parts are scaled by %s",
                w.scale == BITCUT_UNSET ? NULL : scale);
}

bool parts_are_typical(const struct space *s, size_t value)
{
    const struct parts_choice *const w = &s->parts[value];
    const bool one = w->a && w->a == w->b && w->a->parts == 1 && !w->high;
    return (one || (!w->a && !w->b)) && !w->low && w->scale == BITCUT_UNSET;
}

/* --- terms ------------------------------------------------------------------------ */

/* All permutations are tried for at most this many terms; for more only the reverse
   order. */
enum { PERMUTED_MAX = 4, PERMUTATIONS = 24 };

/* With low*low as in the recipe, or not; and each with every order. */
static size_t terms_count(const struct space *s)
{
    (void)s;
    return 2 * (PERMUTATIONS + 1);
}

static bool terms_vary(struct candidate *x, const struct space *s, size_t value)
{
    (void)s;
    const bool other = value > PERMUTATIONS;
    const struct bitcut_recipe *r = x->gemm.recipe;
    if (other && r->terms == RECIPE_TERMS_MAX) return false;
    if (other) x->gemm.dropped_term = !r->keeps_dropped_term;
    return true;
}

/* Permutation `index` of n things, by its factorial digits.  Returns false if there are
   fewer. */
static bool permute(struct recipe_term *term, int n, size_t index)
{
    struct recipe_term from[PERMUTED_MAX];
    memcpy(from, term, (size_t)n * sizeof *from);
    for (int i = 0, left = n; i < n; i++, left--) {
        const size_t at = index % (size_t)left;
        index /= (size_t)left;
        term[i] = from[at];
        memmove(&from[at], &from[at + 1], ((size_t)left - at - 1) * sizeof *from);
    }
    return index == 0;
}

static void reverse(struct recipe_term *term, int n)
{
    for (int i = 0; i < n / 2; i++) {
        const struct recipe_term kept = term[i];
        term[i] = term[n - 1 - i];
        term[n - 1 - i] = kept;
    }
}

static bool terms_alter(struct candidate *x, const struct space *s, size_t value)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    const size_t at = value % (PERMUTATIONS + 1);
    if (value > PERMUTATIONS && p->dropped_term == x->gemm.recipe->keeps_dropped_term)
        return false;
    if (at == 0) return value != 0;
    if (!candidate_uniform(x)) return false;
    if (at == PERMUTATIONS) reverse(p->term, p->terms);
    return at == PERMUTATIONS
               ? p->terms > PERMUTED_MAX
               : p->terms <= PERMUTED_MAX && permute(p->term, p->terms, at);
}

static void terms_describe(char *text, size_t size, const struct candidate *x,
                           const struct space *s, size_t value)
{
    (void)s;
    const struct gemm_plan *p = &x->plan;
    text[0] = 0;
    if (value > PERMUTATIONS)
        text_add(text, size, "it has %s product of the low parts%s",
                 p->dropped_term ? "the" : "no",
                 value % (PERMUTATIONS + 1) ? ", and " : "");
    if (value % (PERMUTATIONS + 1) == 0) return;
    text_add(text, size, "its products are in order");
    for (int t = 0; t < p->terms; t++)
        text_add(text, size, " %c(A)%c(B)", "hlm"[p->term[t].a], "hlm"[p->term[t].b]);
}

/* --- tiles, rows and columns ------------------------------------------------------ */

static const int tiles[] = { BITCUT_UNSET, 0, 8, 16, 32, 64, 128, 256 };

static size_t tile_count(const struct space *s)
{
    (void)s;
    return sizeof tiles / sizeof *tiles;
}

static bool tile_vary(struct candidate *x, const struct space *s, size_t value)
{
    (void)s;
    x->gemm.tile_k = tiles[value];
    return tiles[value] != x->gemm.recipe->tile_k;
}

static void tile_describe(char *text, size_t size, const struct candidate *x,
                          const struct space *s, size_t value)
{
    (void)x, (void)s;
    if (tiles[value]) snprintf(text, size, "its tiles have %d k", tiles[value]);
    else snprintf(text, size, "it has no tiles of k");
}

static size_t lines_count(const struct space *s)
{
    (void)s;
    return 2;
}

/* Where parts are integers, rows and columns are equilibrated anyway. */
static bool lines_vary(struct candidate *x, const struct space *s, size_t value)
{
    (void)s;
    if (gemm_equilibrates(&x->gemm)) return false;
    x->gemm.equilibrate = value;
    return true;
}

static void lines_describe(char *text, size_t size, const struct candidate *x,
                           const struct space *s, size_t value)
{
    (void)x, (void)s, (void)value;
    snprintf(text, size, "rows of A and columns of B are equilibrated");
}

/* --- order ------------------------------------------------------------------------ */

static size_t order_count(const struct space *s) { return s->orders; }

/* A slice or a chunk that is no multiple of k-steps would be rounded up to another one of
   the table.  Sums are added in a shorter format where accumulators are. */
static bool order_vary(struct candidate *x, const struct space *s, size_t value)
{
    const struct bitcut_order o = s->order[value];
    const int step = x->gemm.unit->k;
    x->gemm.order = o;
    return o.tile % step == 0 && o.chunk % step == 0 &&
           (!o.partial_format || o.partial_store || o.partial_format == x->gemm.unit->c);
}

static void order_describe(char *text, size_t size, const struct candidate *x,
                           const struct space *s, size_t value)
{
    (void)x;
    order_text(text, size, &s->order[value], s->products);
}

bool order_is_of_slices(const struct space *s, size_t value)
{
    const struct bitcut_order o = s->order[value];
    return o.slices > 1 && o.lanes <= 1 && !o.partial_first && !o.cut &&
           !o.balance_tail && !o.partial_format;
}

const size_t typical_tiles[] = { 16, 32, 64, 128, 256, 0 };

static bool has_typical_slices(const struct bitcut_order *o, size_t k)
{
    const size_t slices = (size_t)o->slices;
    bool usual = false;
    for (size_t i = 0; typical_tiles[i] && slices > 1; i++)
        usual |= (slices <= TYPICAL_SLICES_MAX &&
                  divide_up(divide_up(k, typical_tiles[i]), slices) * typical_tiles[i] ==
                      (size_t)o->tile) ||
                 typical_tiles[i] == (size_t)o->tile;
    return usual && o->lanes <= 1;
}

static bool has_typical_lanes(const struct bitcut_order *o)
{
    enum { LANES_MAX = 16, TURN = 8 };
    const bool even = !(o->lanes & (o->lanes - 1)) && !(o->chunk & (o->chunk - 1));
    return o->slices <= 1 && even && o->lanes > 1 && o->lanes <= LANES_MAX &&
           o->chunk >= TURN;
}

bool order_is_typical(const struct space *s, size_t value)
{
    const struct bitcut_order *const o = &s->order[value];
    if (!value) return true;
    return (has_typical_slices(o, s->products) || has_typical_lanes(o)) &&
           o->reduction == BITCUT_ASCENDING && !o->partial_first && !o->cut &&
           !o->balance_tail;
}

/* --- epilogue --------------------------------------------------------------------- */

static size_t epilogue_count(const struct space *s) { return s->epilogues; }

static bool epilogue_vary(struct candidate *x, const struct space *s, size_t value)
{
    epilogue_choice_set(&x->gemm, &s->epilogue[value]);
    return !(s->epilogue[value].clips && s->negative);
}

static void epilogue_describe(char *text, size_t size, const struct candidate *x,
                              const struct space *s, size_t value)
{
    (void)value;
    epilogue_choice_describe(text, size, &x->gemm, s->format);
}

bool epilogue_is_usual(const struct space *s, size_t value)
{
    return s->epilogue[value].usual;
}

bool epilogue_leads(const struct space *s, size_t value)
{
    return s->epilogue[value].leads;
}

/* --- faults ----------------------------------------------------------------------- */

static size_t fault_count(const struct space *s) { return s->faults; }

static bool fault_vary(struct candidate *x, const struct space *s, size_t value)
{
    const struct kernel_fault_choice c = s->fault[value];
    return !c.row || !c.row->vary || c.row->vary(x, s, c.kind);
}

static bool fault_alter(struct candidate *x, const struct space *s, size_t value)
{
    const struct kernel_fault_choice c = s->fault[value];
    return !c.row || !c.row->alter || c.row->alter(x, s, c.kind);
}

static void fault_describe(char *text, size_t size, const struct candidate *x,
                           const struct space *s, size_t value)
{
    const struct kernel_fault_choice c = s->fault[value];
    if (c.row->describe) c.row->describe(text, size, x, s, c.kind);
    else snprintf(text, size, "%s", c.row->what);
}

const char *fault_name(const struct space *s, size_t value)
{
    return s->fault[value].row->name;
}

bool fault_is_coarse(const struct space *s, size_t value)
{
    return value && !s->fault[value].row->fine;
}

bool fault_is_of_store(const struct space *s, size_t value)
{
    return value && s->fault[value].row->of_store;
}

bool fault_is_of_promotion(const struct space *s, size_t value)
{
    return value && s->fault[value].row->of_promotion;
}

bool fault_is_of_parts(const struct space *s, size_t value)
{
    return value && s->fault[value].row->of_parts;
}

bool fault_is_of_slices(const struct space *s, size_t value, size_t order)
{
    struct candidate x = { 0 };
    const struct kernel_fault_choice c = s->fault[value];
    const size_t tile = (size_t)s->order[order].tile;
    if (!c.row || !c.row->of_ranges || !c.row->alter(&x, s, c.kind)) return false;
    const struct k_range r = x.lost.end ? x.lost : x.twice;
    return s->order[order].slices > 1 && r.first % tile == 0 &&
           (r.end == s->k || (r.end - r.first) % tile == 0);
}

/* --- the table -------------------------------------------------------------------- */

const struct axis axes[AXES + 1] = {
    [AXIS_RECIPE] = { "recipe", "recipe of the GEMM", recipe_count, recipe_vary, NULL,
                      NULL },
    [AXIS_UNIT] = { "unit", "the matrix instruction", unit_count, unit_vary, NULL, NULL },
    [AXIS_PROMOTE] = { "promote", "how often the accumulator is promoted to FP32",
                       promote_count, promote_vary, NULL, promote_describe },
    [AXIS_PARTS] = { "parts", "splits, roundings and scale", parts_count, parts_vary,
                     parts_alter, parts_describe },
    [AXIS_TERMS] = { "terms", "which products of parts, in which order", terms_count,
                     terms_vary, terms_alter, terms_describe },
    [AXIS_TILE] = { "tile_k",
                    "length of a tile of k, over which a term is summed before "
                    "the next",
                    tile_count, tile_vary, NULL, tile_describe },
    [AXIS_LINES] = { "equilibrate", "scaling of rows and columns by powers of two",
                     lines_count, lines_vary, NULL, lines_describe },
    [AXIS_ORDER] = { "order", "slices, lanes and reduction over k", order_count,
                     order_vary, NULL, order_describe },
    [AXIS_EPILOGUE] = { "epilogue",
                        "steps from the sum to D, start of the sum, place of factors",
                        epilogue_count, epilogue_vary, NULL, epilogue_describe },
    [AXIS_FAULT] = { "fault", "faults of kernels", fault_count, fault_vary, fault_alter,
                     fault_describe },
};

/* --- making ----------------------------------------------------------------------- */

/* Sums of integers are exact in every order, and their parts are the elements. */
static bool fits_integers(struct hypothesis h)
{
    bool fits = true;
    for (int i = AXIS_UNIT + 1; i < AXES; i++) fits &= i == AXIS_EPILOGUE || !h.at[i];
    return fits;
}

bool candidate_make(struct candidate *x, const struct space *s, struct hypothesis h)
{
    candidate_clean(x, s);
    for (int i = 0; i < AXES; i++)
        if ((h.at[i] || i <= AXIS_UNIT) && !axes[i].vary(x, s, h.at[i])) return false;
    if (format_is_integer(x->unit.c)) {
        if (!fits_integers(h)) return false;
        x->gemm.zero_a = x->zero[0] = s->zero[0];
        x->gemm.zero_b = x->zero[1] = s->zero[1];
    }
    if (gemm_plan_on_values(&x->plan, &x->gemm, NULL) != BITCUT_OK) return false;
    /* No kernel multiplies parts in a shorter format than the instruction's, except a
       loop of scalars, such as NumPy's for f16. */
    const bool scalar = x->unit.k == 1 && x->plan.split_a.parts == 1 && h.at[AXIS_PARTS];
    if (x->plan.split_a.part[0].format != x->unit.a && !scalar) return false;
    /* Several products of parts are for matrix units. */
    if (x->unit.k == 1 && x->plan.terms > 1) return false;
    /* whole FP32 operands: the recipe fp32 is the same */
    if (!x->gemm.recipe->split && x->unit.a == &formats[FORMAT_F32]) return false;
    for (int i = 0; i < AXES; i++)
        if (h.at[i] && axes[i].alter && !axes[i].alter(x, s, h.at[i])) return false;
    if (gemm_is_extended(&x->gemm) && candidate_takes_products(x)) return false;
    return gemm_check_order(&x->gemm, &x->plan, NULL) == BITCUT_OK;
}
