/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/arithmetic.h"

#include "emu/unit.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/quantizer.h"

#include <stdlib.h>
#include <string.h>

static const int rounded_formats[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32, FORMAT_E4M3,
                                       FORMAT_E5M2 };

static const struct {
    int rounding;
    const char *what;
} rules[] = {
    { ROUND_RN, "to nearest" },
    { ROUND_RZ, "toward zero" },
    { ROUND_RNA, "to nearest, ties away from zero" },
    { ROUND_RN_SAT, "to nearest, and what overflows to the largest number" },
};

enum {
    ROUNDED_FORMATS = sizeof rounded_formats / sizeof *rounded_formats,
    RULES = sizeof rules / sizeof *rules
};

/* --- rows ------------------------------------------------------------------------- */

/* The first unit that runs the GEMM. */
static bool plan(struct candidate *x, const struct problem *q)
{
    for (const struct bitcut_unit *u = q->unit ? q->unit : units; u->name; u++) {
        x->gemm.unit = u;
        x->unit = *u;
        const bool runs = u->c == &formats[FORMAT_F32] && u->a == u->b && !u->scale &&
                          gemm_plan_on_unit(&x->plan, &x->gemm, NULL) == BITCUT_OK &&
                          x->plan.split_a.part[0].format == u->a &&
                          (u->k > 1 || x->plan.terms == 1) && !x->plan.equilibrate;
        if (runs || q->unit) return runs;
    }
    return false;
}

static bool whole(struct candidate *x, const struct space *s)
{
    const struct problem any = { .unit = NULL };
    candidate_clean(x, s);
    x->gemm.recipe = &recipes[RECIPE_FP32];
    return plan(x, &any);
}

static void add(struct arithmetics *to, enum arithmetic_kind kind,
                const struct candidate *x)
{
    if (to->count == ARITHMETICS_MAX) return;
    to->at[to->count++] = (struct arithmetic){ .kind = kind, .x = *x };
}

/* The largest magnitude of an operand. */
static uint32_t largest_in(const struct matrix *x)
{
    uint32_t most = 0;
    for (size_t i = 0; i < x->rows * x->cols; i++)
        if ((x->at[i] & 0x7fffffff) > most) most = x->at[i] & 0x7fffffff;
    return most;
}

/* Whether a rule is tried: saturation only for both operands, and if it changes some. */
static bool is_tried(size_t rule, size_t format, enum arithmetic_kind kind,
                     uint32_t largest)
{
    return rules[rule].rounding != ROUND_RN_SAT ||
           (kind == ARITHMETIC_ROUNDED &&
            value_of_float(largest) >
                format_largest_value(&formats[rounded_formats[format]]));
}

static void add_rounded(struct arithmetics *to, const struct candidate *exact,
                        const struct problem *q, enum arithmetic_kind kind)
{
    const uint32_t a = largest_in(&q->a), b = largest_in(&q->b);
    const int first = kind == ARITHMETIC_ROUNDED ? 3 : 1, last = 3;
    for (size_t f = 0; f < ROUNDED_FORMATS; f++)
        for (size_t r = 0; r < RULES; r++)
            for (int both = first; both <= last - (kind == ARITHMETIC_ONE); both++) {
                struct candidate x = *exact;
                if (!is_tried(r, f, kind, a > b ? a : b)) continue;
                const struct split_part part = { &formats[rounded_formats[f]],
                                                 &roundings[rules[r].rounding], 0,
                                                 false };
                if (both & 1) x.plan.split_a.part[0] = part;
                if (both & 2) x.plan.split_b.part[0] = part;
                add(to, kind, &x);
            }
}

static bool same_products(const struct gemm_plan *x, const struct gemm_plan *y)
{
    bool same = x->terms == y->terms && x->scale == y->scale &&
                split_same(&x->split_a, &y->split_a) &&
                split_same(&x->split_b, &y->split_b);
    for (int t = 0; t < x->terms && same; t++) {
        bool any = false;
        for (int u = 0; u < y->terms; u++)
            any |= x->term[t].a == y->term[u].a && x->term[t].b == y->term[u].b;
        same = any;
    }
    return same;
}

static bool is_new(const struct arithmetics *to, const struct candidate *x)
{
    for (size_t i = 0; i < to->count; i++)
        if (same_products(&to->at[i].x.plan, &x->plan)) return false;
    return true;
}

/* A recipe with its own split or another one, without and with the product of the low
   parts. */
static void add_recipe(struct arithmetics *to, const struct space *s,
                       const struct problem *q, const struct bitcut_recipe *r,
                       const struct bitcut_split *split, enum arithmetic_kind kind)
{
    for (int dropped = 0; dropped <= 1; dropped++) {
        struct candidate x;
        candidate_clean(&x, s);
        x.gemm.recipe = r;
        if (kind == ARITHMETIC_OTHER) x.gemm.split_a = x.gemm.split_b = split;
        if (dropped) x.gemm.dropped_term = !r->keeps_dropped_term;
        if (plan(&x, q) && x.plan.terms > 1 && is_new(to, &x))
            add(to, dropped && kind == ARITHMETIC_SPLIT ? ARITHMETIC_TERMS : kind, &x);
    }
}

/* Recipes of two parts with parts that are rounded by other rules. */
static void add_roundings(struct arithmetics *to, const struct space *s,
                          const struct problem *q)
{
    static const int by[] = { ROUND_RN, ROUND_RZ };
    for (const struct bitcut_recipe *r = recipes; r->name; r++)
        for (int i = 0; i < 4; i++) {
            struct candidate x;
            if (!r->split || r->split->parts != 2 || (q->recipe && q->recipe != r))
                continue;
            candidate_clean(&x, s);
            x.gemm.recipe = r;
            x.gemm.high = &roundings[by[i / 2]];
            x.gemm.low = &roundings[by[i % 2]];
            if (plan(&x, q) && x.plan.terms > 1 && is_new(to, &x))
                add(to, ARITHMETIC_PARTS, &x);
        }
}

static bool takes(const struct bitcut_recipe *r, const struct bitcut_split *split)
{
    return split->parts > 1 && split->parts == r->split->parts &&
           !split_is_fixed(split) && split_own_parts(split) == split->parts &&
           split_own_parts(r->split) == r->split->parts;
}

static void add_recipes(struct arithmetics *to, const struct space *s,
                        const struct problem *q, enum arithmetic_kind kind)
{
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        if (!r->split || r->split->parts == 1 || (q->recipe && q->recipe != r)) continue;
        if (kind == ARITHMETIC_SPLIT) add_recipe(to, s, q, r, r->split, kind);
        for (const struct bitcut_split *split = splits;
             split->name && kind == ARITHMETIC_OTHER; split++)
            if (takes(r, split)) add_recipe(to, s, q, r, split, kind);
    }
}

static bool make_sums(struct arithmetic *a, const struct block *b)
{
    struct part_matrices m;
    if (!part_matrices_make(&m, &a->x, b, b->rows, b->cols, NULL)) return false;
    const bool made = part_sums_make(&a->sums, &m, &a->x, true);
    part_matrices_clear(&m);
    return made;
}

/* --- quantized operands ----------------------------------------------------------- */

/* The values for which the quantized elements of `lines` lines stand.  One more line has
   the largest magnitude of the operand, on which the scale of the matrix depends.
   BITCUT_BAD_ARGUMENT: an element is not finite. */
static enum bitcut_status quantize_lines(uint32_t *x, const struct bitcut_quantizer *q,
                                         size_t lines, size_t k, uint32_t most)
{
    const size_t blocks = quantizer_blocks(q, k), all = lines + 1;
    uint32_t *const line = memory_allocate(all, k * sizeof *line),
                    *const scale = memory_allocate(all, blocks * sizeof *scale), matrix;
    struct quantized kept;
    enum bitcut_status status = line && scale ? BITCUT_OK : BITCUT_NO_MEMORY;
    if (status == BITCUT_OK) {
        memcpy(line, x, lines * k * sizeof *x);
        for (size_t p = 0; p < k; p++) line[lines * k + p] = most;
        status = quantize(line, scale, &matrix, &kept, q, line, all, k, NULL);
    }
    for (size_t i = 0; status == BITCUT_OK && i < lines; i++)
        for (size_t p = 0; p < k; p++) {
            const size_t s = (q->lines ? i : 0) * blocks + (q->depth ? p / q->depth : 0);
            x[i * k + p] =
                bits_of_float((float)(value_of_float(line[i * k + p]) *
                                      value_of_float(scale[s]) * value_of_float(matrix)));
        }
    free(line);
    free(scale);
    return status;
}

/* A block with quantized operands, whose arrays a and b alone have to be freed. */
static enum bitcut_status quantized_block(struct block *to, const struct block *b,
                                          const struct bitcut_quantizer *q)
{
    *to = *b;
    to->a = memory_allocate(b->rows, b->k * sizeof *to->a);
    to->b = memory_allocate(b->cols, b->k * sizeof *to->b);
    uint32_t *const turned = memory_allocate(b->cols, b->k * sizeof *turned);
    enum bitcut_status status = to->a && to->b && turned ? BITCUT_OK : BITCUT_NO_MEMORY;
    if (status == BITCUT_OK) {
        memcpy(to->a, b->a, b->rows * b->k * sizeof *b->a);
        for (size_t j = 0; j < b->cols; j++)
            for (size_t p = 0; p < b->k; p++)
                turned[j * b->k + p] = b->b[p * b->cols + j];
        status = quantize_lines(to->a, q, b->rows, b->k, largest_in(&b->q->a));
    }
    if (status == BITCUT_OK)
        status = quantize_lines(turned, q, b->cols, b->k, largest_in(&b->q->b));
    for (size_t j = 0; status == BITCUT_OK && j < b->cols; j++)
        for (size_t p = 0; p < b->k; p++) to->b[p * b->cols + j] = turned[j * b->k + p];
    free(turned);
    return status;
}

/* Quantizers with blocks of several lines are left out: a sample has some of the lines.
   So are all of them if an element is not finite.  False: no memory. */
static bool add_quantized(struct arithmetics *to, const struct candidate *exact,
                          const struct block *b)
{
    enum bitcut_status status = BITCUT_OK;
    for (const struct bitcut_quantizer *q = quantizers;
         q->name && !b->own && status == BITCUT_OK; q++) {
        struct block quantized;
        if (q->lines > 1 || to->count == ARITHMETICS_MAX) continue;
        struct arithmetic *const a = &to->at[to->count];
        *a = (struct arithmetic){ .kind = ARITHMETIC_QUANTIZED,
                                  .quantizer = q,
                                  .x = *exact };
        status = quantized_block(&quantized, b, q);
        if (status == BITCUT_OK && !make_sums(a, &quantized)) status = BITCUT_NO_MEMORY;
        to->count += status == BITCUT_OK;
        free(quantized.a);
        free(quantized.b);
    }
    return status != BITCUT_NO_MEMORY;
}

/* --- all -------------------------------------------------------------------------- */

enum bitcut_status arithmetics_make(struct arithmetics *to, const struct space *s,
                                    const struct block *b, struct fault *f)
{
    struct candidate exact;
    bool made = true;
    to->count = 0;
    if (!whole(&exact, s))
        return fault_set(f, BITCUT_UNSUPPORTED, "no unit multiplies FP32 numbers");
    add(to, ARITHMETIC_EXACT, &exact);
    add_rounded(to, &exact, b->q, ARITHMETIC_ROUNDED);
    add_recipes(to, s, b->q, ARITHMETIC_SPLIT);
    add_recipes(to, s, b->q, ARITHMETIC_OTHER);
    add_roundings(to, s, b->q);
    add_rounded(to, &exact, b->q, ARITHMETIC_ONE);
    for (size_t i = 0; i < to->count && made; i++) made = make_sums(&to->at[i], b);
    if (made && add_quantized(to, &exact, b)) return BITCUT_OK;
    arithmetics_clear(to);
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for products of parts");
}

void arithmetics_clear(struct arithmetics *a)
{
    for (size_t i = 0; i < a->count; i++) part_sums_clear(&a->at[i].sums);
    a->count = 0;
}

/* --- words ------------------------------------------------------------------------ */

static const char *rule_of(const struct bitcut_rounding *r)
{
    for (size_t i = 0; i < RULES; i++)
        if (&roundings[rules[i].rounding] == r) return rules[i].what;
    return r->name;
}

void arithmetic_describe(char *text, size_t size, const struct arithmetic *a)
{
    const struct split_part *const of_a = a->x.plan.split_a.part, *const of_b =
                                                                      a->x.plan.split_b
                                                                          .part;
    const bool a_is_whole = of_a->format == &formats[FORMAT_F32];
    const struct split_part *const part = a_is_whole ? of_b : of_a;
    char split[120];
    switch (a->kind) {
    case ARITHMETIC_EXACT: return;
    case ARITHMETIC_ROUNDED:
    case ARITHMETIC_ONE:
        text_add(text, size, "%s rounded to %s %s",
                 a->kind == ARITHMETIC_ROUNDED ? "A and B are"
                 : a_is_whole                  ? "B is"
                                               : "A is",
                 part->format->name, rule_of(part->rounding));
        return;
    case ARITHMETIC_QUANTIZED:
        text_add(text, size, "A and B are quantized by %s: %s", a->quantizer->name,
                 a->quantizer->what);
        return;
    case ARITHMETIC_SPLIT:
    case ARITHMETIC_TERMS:
    case ARITHMETIC_OTHER:
    case ARITHMETIC_PARTS:
        split_label(split, sizeof split, &a->x.plan.split_a);
        text_add(text, size,
                 "D is the sum of %d products of the parts of split %s, as in recipe %s",
                 a->x.plan.terms, split, a->x.gemm.recipe->name);
    }
}
