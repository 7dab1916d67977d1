/* SPDX-License-Identifier: BSD-3-Clause */
/* The independent definition of a GEMM, which uses no code of emu. */
#include "tests/emu/gemm_problem.h"
#include "tests/emu/spec.h"
#include "tests/number/number_oracle.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- FP32 arithmetic --------------------------------------------------------------- */

/* Any product of two FP32 values plus a third is a multiple of 2^-298 below 2^257; the
   value of one encoding has fewer bits. */
enum { EXACT_BITS = 600, VALUE_BITS = 53 };

static void value_read(mpfr_ptr x, const struct bitcut_format *f, uint64_t encoding)
{
    const struct value v = oracle_value(f, encoding);
    if (v.kind == NUMBER_NAN) mpfr_set_nan(x);
    else if (v.kind == NUMBER_INF) mpfr_set_inf(x, 1);
    else mpfr_set_d(x, v.magnitude, MPFR_RNDN);
    if (v.negative) mpfr_neg(x, x, MPFR_RNDN);
}

static uint32_t f32_of(mpfr_srcptr x, uint32_t nan)
{
    const uint32_t sign = mpfr_signbit(x) ? (uint32_t)SIGN : 0;
    if (mpfr_nan_p(x)) return nan;
    return mpfr_inf_p(x) ? sign | INFINITE : (uint32_t)oracle_round(F32, RN, x);
}

typedef int operation(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static uint32_t operate(operation *f, uint32_t nan, uint32_t a, uint32_t b)
{
    mpfr_t x, y;
    mpfr_inits2(EXACT_BITS, x, y, (mpfr_ptr)NULL);
    value_read(x, F32, a);
    value_read(y, F32, b);
    if (f(x, x, y, MPFR_RNDN)) ck_abort_msg("not exact: %08" PRIx32 " %08" PRIx32, a, b);
    const uint32_t d = f32_of(x, nan);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    return d;
}

static uint32_t multiply_add(uint32_t nan, uint32_t a, uint32_t b, uint32_t c)
{
    mpfr_t x, y, z;
    mpfr_inits2(EXACT_BITS, x, y, z, (mpfr_ptr)NULL);
    value_read(x, F32, a);
    value_read(y, F32, b);
    value_read(z, F32, c);
    if (mpfr_fma(x, x, y, z, MPFR_RNDN)) ck_abort_msg("not exact: %08" PRIx32, c);
    const uint32_t d = f32_of(x, nan);
    mpfr_clears(x, y, z, (mpfr_ptr)NULL);
    return d;
}

/* The NaN of FP32 operations: that of the unit's FP32 results, else CUDA's. */
static uint32_t nan_of(const struct asked *g)
{
    return g->unit->c == F32 ? (uint32_t)g->unit->nan : 0x7fffffff;
}

uint32_t statement_multiply(const struct asked *g, uint32_t a, uint32_t b)
{
    return operate(mpfr_mul, nan_of(g), a, b);
}

uint32_t statement_add(const struct asked *g, uint32_t a, uint32_t b)
{
    return operate(mpfr_add, nan_of(g), a, b);
}

uint32_t statement_multiply_add(const struct asked *g, uint32_t a, uint32_t b, uint32_t c)
{
    return multiply_add(nan_of(g), a, b, c);
}

/* The low parts of both sides carry 2 to this. */
static int scale_of(const struct asked *g)
{
    return g->split_a.parts > 1 ? g->split_a.scale : g->split_b.scale;
}

/* --- units ------------------------------------------------------------------------- */

/* What parts of 8 bits beside parts of f16 run on: a name without its formats. */
static const struct {
    const char *unit, *eight;
} beside[] = {
    { "ampere/mma.m16n8k16.f32.f16", "ampere/mma.m16n8k32.f32." },
    { "ada/mma.m16n8k16.f32.f16", "ada/mma.m16n8k32.f32." },
    { "hopper/mma.m16n8k16.f32.f16", "hopper/mma.m16n8k32.f32." },
    { "hopper/mma.m16n8k8.f32.f16", "hopper/mma.m16n8k32.f32." },
    { "hopper/mma.m16n8k16.f16.f16", "hopper/mma.m16n8k32.f16." },
    { "hopper/wgmma.m64n8k16.f32.f16", "hopper/wgmma.m64n8k32.f32." },
};

/* Units of f16 leave parts of 8 bits to others; wider ones take them as their own. */
static bool leaves(const struct bitcut_unit *u, const struct bitcut_format *part)
{
    return u->a == &formats[FORMAT_F16] && part->bits == 8;
}

static const struct bitcut_unit *unit_of(const struct asked *g, struct recipe_term t)
{
    const struct bitcut_format *a = g->split_a.part[t.a].format,
                               *b = g->split_b.part[t.b].format;
    char name[80];
    size_t i = 0;
    if (!leaves(g->unit, a) && !leaves(g->unit, b)) return g->unit;
    while (strcmp(beside[i].unit, g->unit->name) != 0) i++;
    snprintf(name, sizeof name, "%s%s%s%s", beside[i].eight, a->name, a == b ? "" : ".",
             a == b ? "" : b->name);
    if (a->special == SPECIAL_INTEGER) memcpy(strstr(name, ".f32.") + 1, "s", 1);
    return unit_find(name, NULL);
}

/* All terms of a recipe, the product of the low parts first; returns how many. */
static int terms_of(struct recipe_term term[RECIPE_TERMS_MAX + 1], const struct asked *g)
{
    int n = 0;
    if (g->dropped_term) term[n++] = g->recipe->dropped_term;
    for (int i = 0; i < g->recipe->terms; i++) term[n++] = g->recipe->term[i];
    return n;
}

/* k of a k-step: the largest of all instructions. */
static size_t step_of(const struct asked *g)
{
    struct recipe_term term[RECIPE_TERMS_MAX + 1];
    size_t step = 0;
    for (int i = terms_of(term, g) - 1; i >= 0; i--) {
        const size_t k = (size_t)unit_of(g, term[i])->k;
        if (k > step) step = k;
    }
    return step;
}

/* --- parts ------------------------------------------------------------------------- */

/* MPFR's rounding for a rule on x: a step away from zero, or none, for a rule by bit. */
static struct bitcut_rounding directed(const struct bitcut_rounding *r,
                                       const struct bitcut_format *f, uint64_t x)
{
    struct bitcut_rounding d = *r;
    if (r->direction != BY_BIT) return d;
    d.overflow = OVERFLOW_INF;
    d.direction = TO_ZERO;
    if (oracle_bit(f, x, r->bit))
        d.direction = oracle_value(f, x).negative ? TO_NEGATIVE : TO_POSITIVE;
    return d;
}

static uint64_t convert(const struct bitcut_format *to, const struct bitcut_rounding *r,
                        const struct bitcut_format *from, uint64_t x)
{
    const struct value v = oracle_value(from, x);
    if (v.kind == NUMBER_NAN || v.kind == NUMBER_INF) return oracle_special(to, r, v);
    const struct bitcut_rounding rule = directed(r, from, x);
    mpfr_t y;
    mpfr_init2(y, VALUE_BITS);
    value_read(y, from, x);
    const uint64_t d = oracle_round(to, &rule, y);
    mpfr_clear(y);
    return d;
}

uint64_t statement_convert(const struct bitcut_format *to, const struct bitcut_format *from,
                           uint64_t x)
{
    return convert(to, RN, from, x);
}

/* The parts of a row of A or a column of B as operands of the unit, then +0. */
struct line {
    uint64_t part[SPLIT_PARTS_MAX][LINE_LENGTH_MAX];
    uint64_t scale[LINE_LENGTH_MAX]; /* of the unit, for every k */
    size_t origin[LINE_LENGTH_MAX];  /* of a gathered line, the k of each element */
    int exponent;                    /* by which it is equilibrated, or 0 */
};

static void parts_fill(struct line *line, size_t at, const struct asked *g,
                       const struct bitcut_split *s, uint32_t x)
{
    const uint32_t nan = (uint32_t)F32->nan;
    const struct bitcut_format *const operand = s == &g->split_b ? g->unit->b : g->unit->a;
    uint32_t rest = x;
    for (int i = 0, level = 0; i < s->parts; i++) {
        const struct split_part *w = &s->part[i];
        const int by = w->copy ? w->level : w->level - level;
        const uint32_t from =
            operate(mpfr_mul, nan, w->copy ? x : rest, power_of_two(by * s->scale));
        const uint64_t part = convert(w->format, w->rounding, F32, from);
        const uint32_t taken = (uint32_t)convert(F32, RN, w->format, part);
        line->part[i][at] =
            leaves(g->unit, w->format) ? part : convert(operand, RN, w->format, part);
        if (w->copy) continue;
        rest = operate(mpfr_sub, nan, from, taken);
        level = w->level;
    }
}

/* x 2^exponent, rounded once. */
static uint32_t scaled(uint32_t x, int exponent)
{
    mpfr_t y;
    mpfr_init2(y, VALUE_BITS);
    value_read(y, F32, x);
    mpfr_mul_2si(y, y, exponent, MPFR_RNDN);
    const uint32_t d = f32_of(y, (uint32_t)F32->nan);
    mpfr_clear(y);
    return d;
}

/* The binade before the last one of a part that x or a part of it is rounded to; the last
   one of an integer, which saturates. */
static int binade_of(const struct bitcut_split *s, int part)
{
    const struct bitcut_format *f = s->part[part].format;
    const int down = f->special == SPECIAL_INTEGER ? 2 : 4;
    int target;
    frexp(oracle_value(f, format_largest(f, false)).magnitude / down, &target);
    return target - s->part[part].level * s->scale;
}

/* What takes the largest finite magnitude to [2^14, 2^15), or to the binade before the
   last one of the high part and of copies; 0 if there is none but zeros. */
static int exponent_of(const struct bitcut_split *s, const uint32_t *x, size_t stride,
                       size_t k)
{
    double largest = 0;
    int exponent, target = 14;
    for (size_t p = 0; p < k; p++) {
        const struct value v = oracle_value(F32, x[p * stride]);
        if (v.kind != NUMBER_NAN && v.kind != NUMBER_INF)
            largest = fmax(largest, v.magnitude);
    }
    for (int i = 0; i < s->parts; i++)
        if ((!i || s->part[i].copy) && binade_of(s, i) < target) target = binade_of(s, i);
    frexp(largest, &exponent);
    return largest > 0 ? target - (exponent - 1) : 0;
}

/* Lines of integers are equilibrated whether it is asked for or not. */
static bool scales_lines(const struct asked *g)
{
    bool any = g->equilibrate;
    for (int i = 0; i < g->split_a.parts; i++)
        any |= g->split_a.part[i].format->special == SPECIAL_INTEGER;
    for (int i = 0; i < g->split_b.parts; i++)
        any |= g->split_b.part[i].format->special == SPECIAL_INTEGER;
    return any;
}

static void lines_fill(struct line *lines, size_t count, const struct asked *g,
                       const struct bitcut_split *split, const uint32_t *x,
                       size_t line_stride, size_t stride, size_t k)
{
    memset(lines, 0, count * sizeof *lines);
    for (size_t i = 0; i < count; i++, x += line_stride) {
        if (scales_lines(g)) lines[i].exponent = exponent_of(split, x, stride, k);
        for (size_t p = 0; p < k; p++)
            parts_fill(&lines[i], p, g, split, scaled(x[p * stride], lines[i].exponent));
    }
}

/* --- the recipe -------------------------------------------------------------------- */

/* What accumulator i holds: sums of some term, if any. */
static const struct bitcut_format *held_by(const struct asked *g, int i)
{
    struct recipe_term term[RECIPE_TERMS_MAX + 1];
    for (int t = terms_of(term, g) - 1; t >= 0; t--)
        if (term[t].accumulator == i) return unit_of(g, term[t])->c;
    return g->unit->c;
}

static uint32_t accumulated(const struct asked *g, int i, uint64_t accumulator)
{
    const struct bitcut_format *c = held_by(g, i);
    if (oracle_value(c, accumulator).kind == NUMBER_NAN) return nan_of(g);
    return (uint32_t)convert(F32, RN, c, accumulator);
}

/* An output: its place and what is given. */
struct output {
    const struct problem *p;
    size_t i, j;
};

/* A slice in the middle of being computed. */
struct sums {
    const struct output *o;
    size_t k; /* where the k-step begins that is computed */
    uint64_t accumulator[RECIPE_ACCUMULATORS_MAX];
    uint32_t promoted;
    int waiting; /* instructions of accumulator 0 that are not promoted yet */
};

/* The instruction of a term whose first product is that of k, in a GEMM with a rounding
   of sums: by the parts of bitcut.h and of emu/engine_tile.c. */
static uint64_t rounded_dot(const struct sums *x, const struct asked *g, int term,
                            const struct bitcut_unit *unit, const uint64_t *a,
                            const uint64_t *b, const uint64_t *scale_a,
                            const uint64_t *scale_b, size_t k, uint64_t c)
{
    struct bitcut_unit u = *unit;
    uint64_t draws = 0;
    const uint64_t seed = UINT64_MAX - (uint64_t)g->round_seed;
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    const uint32_t at[4] = { (uint32_t)x->o->i, (uint32_t)x->o->j, (uint32_t)k,
                             (uint32_t)term };
    uint32_t out[4];
    bitcut_philox(out, at, key);
    u.rounding.direction = g->sum_rounding->direction;
    u.rounding.seed = seed;
    u.rounding.position = (uint64_t)out[1] << 32 | out[0];
    if (u.rounding.direction == STOCHASTIC) u.rounding.draws = &draws;
    return spec_dot(&u, a, b, scale_a, scale_b, c);
}

static void promote(struct sums *x, const struct asked *g)
{
    const uint32_t sum = accumulated(g, 0, x->accumulator[0]);
    const uint32_t a = statement_factor_a(g, x->o->p, x->o->i, x->k),
                   b = statement_factor_b(g, x->o->p, x->o->j, x->k);
    switch (g->scaling) {
    case BITCUT_SCALING_PROMOTED:
        x->promoted = statement_multiply_add(g, statement_multiply(g, a, b), sum,
                                             x->promoted);
        break;
    case BITCUT_SCALING_PROMOTED_APART:
        x->promoted = statement_add(
            g, x->promoted, statement_multiply(g, statement_multiply(g, a, b), sum));
        break;
    case BITCUT_SCALING_PROMOTED_TURNS:
        x->promoted =
            statement_multiply_add(g, statement_multiply(g, sum, a), b, x->promoted);
        break;
    case BITCUT_SCALING_PROMOTED_TURNS_B:
        x->promoted =
            statement_multiply_add(g, statement_multiply(g, sum, b), a, x->promoted);
        break;
    default: x->promoted = statement_add(g, x->promoted, sum);
    }
    x->accumulator[0] = 0;
    x->waiting = 0;
}

/* All instructions of a term in the k-step that begins with k. */
static void term_run(struct sums *x, const struct asked *g, int number,
                     struct recipe_term t, const struct line *a, const struct line *b,
                     size_t k)
{
    const struct bitcut_unit *u = unit_of(g, t);
    uint64_t *to = &x->accumulator[t.accumulator];
    x->k = k;
    for (size_t end = k + step_of(g); k < end; k += (size_t)u->k) {
        uint64_t scale_a[LINE_LENGTH_MAX], scale_b[LINE_LENGTH_MAX];
        for (int s = 0; u->scale && s < u->k / u->scale_block; s++) {
            scale_a[s] = a->scale[k + (size_t)(s * u->scale_block)];
            scale_b[s] = b->scale[k + (size_t)(s * u->scale_block)];
        }
        const uint64_t *const of_a = u->scale ? scale_a : NULL,
                             *const of_b = u->scale ? scale_b : NULL;
        *to = g->sum_rounding
                  ? rounded_dot(x, g, number, u, &a->part[t.a][k], &b->part[t.b][k], of_a,
                                of_b, a->origin[k], *to)
                  : spec_dot(u, &a->part[t.a][k], &b->part[t.b][k], of_a, of_b, *to);
        if (t.accumulator == 0) x->waiting++;
        if (g->promote && x->waiting == g->promote) promote(x, g);
    }
}

/* The last accumulator that some term uses. */
static int last_used(const struct asked *g)
{
    int last = g->dropped_term ? g->recipe->dropped_term.accumulator : 0;
    for (int i = 0; i < g->recipe->terms; i++)
        if (g->recipe->term[i].accumulator > last) last = g->recipe->term[i].accumulator;
    return last;
}

/* Before a term of a tile: its accumulator times 2^-s, in MPFR, if the term says so; and
   before the last one what is no number, or no finite one, is +0. */
static void before_term(struct sums *x, const struct asked *g, struct recipe_term t,
                        bool last)
{
    const struct bitcut_format *c = held_by(g, t.accumulator);
    uint64_t *sum = &x->accumulator[t.accumulator];
    const enum number_class class = oracle_value(c, *sum).kind;
    mpfr_t y;
    if (t.scaled && (class == NUMBER_FINITE || class == NUMBER_ZERO)) {
        mpfr_init2(y, VALUE_BITS);
        value_read(y, c, *sum);
        mpfr_mul_2si(y, y, -scale_of(g), MPFR_RNDN);
        *sum = oracle_round(c, RN, y);
        mpfr_clear(y);
    }
    if (last && g->recipe->zeroed != RECIPE_ZEROES_NOTHING &&
        (class == NUMBER_NAN ||
         (class == NUMBER_INF && g->recipe->zeroed == RECIPE_ZEROES_NOT_FINITE)))
        *sum = 0;
}

/* One tile: all k-steps of a term, then those of the next. */
static void tile_run(struct sums *x, const struct asked *g, const struct line *a,
                     const struct line *b, size_t from, size_t to)
{
    struct recipe_term term[RECIPE_TERMS_MAX + 1];
    const int terms = terms_of(term, g);
    for (int i = 0; i < terms; i++) {
        before_term(x, g, term[i], i == terms - 1);
        for (size_t k = from; k < to; k += step_of(g))
            term_run(x, g, i, term[i], a, b, k);
    }
    if (x->waiting) promote(x, g);
}

/* No tiles: all terms of a k-step, then those of the next. */
static void steps_run(struct sums *x, const struct asked *g, const struct line *a,
                      const struct line *b, size_t from, size_t to)
{
    struct recipe_term term[RECIPE_TERMS_MAX + 1];
    const int terms = terms_of(term, g);
    for (size_t k = from; k < to; k += step_of(g))
        for (int i = 0; i < terms; i++) term_run(x, g, i, term[i], a, b, k);
    if (g->promote && x->waiting) promote(x, g);
}

/* One lane of a slice: its k from `from` to `to`.  `start`: what its accumulator 0 starts
   from, or NULL. */
static uint32_t slice_run(const struct asked *g, const struct output *o,
                          const uint32_t *start, const struct line *a,
                          const struct line *b, size_t from, size_t to)
{
    struct sums x = { .o = o };
    if (start) x.accumulator[0] = convert(held_by(g, 0), RN, F32, *start);
    uint32_t v[RECIPE_ACCUMULATORS_MAX];
    size_t tile = 0; /* whole k-steps that hold tile_k */
    while (tile < (size_t)g->tile_k) tile += step_of(g);
    if (!tile) steps_run(&x, g, a, b, from, to);
    for (size_t k = from; tile && k < to; k += tile)
        tile_run(&x, g, a, b, k, k + tile < to ? k + tile : to);
    for (int i = 0; i < RECIPE_ACCUMULATORS_MAX; i++)
        v[i] = accumulated(g, i, x.accumulator[i]);
    if (g->promote || g->tile_k) v[0] = x.promoted;
    for (int i = last_used(g); i > 0; i--)
        v[i - 1] = multiply_add(nan_of(g), v[i], power_of_two(-scale_of(g)), v[i - 1]);
    return v[0];
}

/* The k-steps of all lanes of all slices, in tables: which k each begins with, how many
   it has, and whose it is. */
struct step {
    size_t from, count, slice, lane;
};

enum { STEPS_MAX = 2 * LINE_LENGTH_MAX };

static size_t whole_steps(const struct asked *g, int k)
{
    size_t size = 0;
    while (size < (size_t)k || !size) size += step_of(g);
    return size;
}

/* Deal k [begin, begin + k): tiles to slices from number `slice` on, their steps by turns
   to lanes. */
static size_t deal_some(struct step *to, const struct asked *g, size_t begin, size_t k,
                        size_t slice, size_t slices)
{
    const size_t tile = whole_steps(g, g->order.tile),
                 turn = whole_steps(g, g->order.chunk);
    const size_t rest = k % tile, tiles = k / tile + (rest > 0);
    const size_t each = (tiles + slices - 1) / slices;
    size_t count = 0;
    for (size_t t = 0; t < tiles; t++) {
        const bool is_short = rest && t == (g->order.partial_first ? 0 : tiles - 1);
        const size_t size = is_short ? rest : tile;
        for (size_t at = 0; at < size; at += step_of(g)) {
            const size_t left = size - at, step = step_of(g);
            const size_t in_slice = t % each * tile + at;
            to[count++] =
                (struct step){ begin + at, left < step ? left : step, slice + t / each,
                               in_slice / turn % (size_t)g->order.lanes };
        }
        begin += size;
    }
    return count;
}

/* Of the k that are left how many the next slice has: whole ones have `length`. */
static size_t next_slice(const struct asked *g, size_t left, size_t length)
{
    const size_t multiple = (size_t)g->order.balance_tail;
    size_t half = 0;
    if (left <= length) return left;
    if (!multiple || left >= 2 * length) return length;
    if (multiple == 1) return left - left / 2;
    while (half < left / 2) half += multiple;
    return half < length ? half : length;
}

/* Deal all of k. */
static size_t deal(struct step *to, const struct asked *g, size_t k)
{
    const size_t slices = (size_t)g->order.slices, cut = (size_t)g->order.cut,
                 unit = cut ? cut : whole_steps(g, g->order.tile);
    size_t length = unit, count = 0;
    if (!cut && !g->order.balance_tail) return deal_some(to, g, 0, k, 0, slices);
    while (length * slices < k) length += unit;
    for (size_t slice = 0, from = 0; from < k; slice++) {
        const size_t size = next_slice(g, k - from, length);
        count += deal_some(to + count, g, from, size, slice, 1);
        from += size;
    }
    return count;
}

/* A loop unrolled by rounds: so many k of a slice are no whole round, and the steps that
   hold these are of no lane, but of the loop after it; or of the sums of a second loop, as
   far as these have whole rounds; or of lane 0. */
enum { AFTER_ROUNDS = 1 << 30, SECOND_LOOP = 1 << 10 };

static size_t lane_after(const struct asked *g, size_t at, size_t length)
{
    const size_t turn = whole_steps(g, g->order.chunk), sums = (size_t)g->order.narrow;
    if (g->order.remainder_in_lane) return 0;
    if (sums && g->order.narrow_apart)
        for (size_t lanes = (size_t)g->order.lanes; lanes >= sums; lanes /= 2) {
            const size_t whole = length - length % (lanes * turn);
            if (at < whole) return lanes * SECOND_LOOP + at / turn % lanes;
            at -= whole, length -= whole;
        }
    if (!sums || g->order.narrow_apart || at >= length / (sums * turn) * (sums * turn)) return AFTER_ROUNDS;
    return SECOND_LOOP + at / turn % sums;
}

static void take_from_lanes(struct step *steps, const struct asked *g, size_t count)
{
    if (!g->order.unroll || g->order.lanes < 2) return;
    const size_t round = whole_steps(g, g->order.unroll);
    for (size_t i = 0; i < count;) {
        size_t end = i, length = 0, seen = 0;
        for (; end < count && steps[end].slice == steps[i].slice; end++)
            length += steps[end].count;
        for (; i < end; i++) {
            const size_t rounds = length / round * round;
            if (seen >= rounds)
                steps[i].lane = lane_after(g, seen - rounds, length - rounds);
            seen += steps[i].count;
        }
    }
}

/* The parts of the steps of a lane, one after the other, each padded with +0; returns how
   many k that are. */
static size_t gather(struct line *to, const struct asked *g, const struct line *from,
                     const struct step *steps, size_t count, size_t slice, size_t lane)
{
    size_t k = 0;
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < count; i++) {
        if (steps[i].slice != slice || steps[i].lane != lane) continue;
        for (int w = 0; w < SPLIT_PARTS_MAX; w++)
            memcpy(&to->part[w][k], &from->part[w][steps[i].from],
                   steps[i].count * sizeof to->part[w][0]);
        for (size_t p = 0; p < step_of(g) && steps[i].from + p < LINE_LENGTH_MAX; p++)
            to->scale[k + p] = from->scale[steps[i].from + p];
        for (size_t at = 0; at < step_of(g); at++)
            to->origin[k + at] = steps[i].from + at;
        k += step_of(g);
    }
    return k;
}

/* A sum in the format of the order. */
static uint32_t sum_stored(const struct asked *g, uint32_t sum)
{
    mpfr_t y;
    const struct bitcut_format *f = g->order.partial_format;
    if (!f || (sum & 0x7fffffff) >= INFINITE) return sum;
    mpfr_init2(y, VALUE_BITS);
    value_read(y, F32, sum);
    value_read(y, f, oracle_round(f, RN, y));
    sum = f32_of(y, nan_of(g));
    mpfr_clear(y);
    return sum;
}

/* A sum of a lane or of two sums as the order keeps it: in the format, unless only sums
   of slices are stored in it. */
static uint32_t sum_kept(const struct asked *g, uint32_t sum)
{
    return g->order.partial_store ? sum : sum_stored(g, sum);
}

static uint32_t sum_of_two(const struct asked *g, uint32_t x, uint32_t y)
{
    return sum_kept(g, operate(mpfr_add, nan_of(g), x, y));
}

/* What lane 0 of a warp has after shuffles down by 2^n, ..., 2, 1: a lane beyond the last
   has nothing. */
static uint32_t halved(const struct asked *g, uint32_t *x, size_t count)
{
    for (size_t distance = (size_t)1 << 20; distance > 0; distance /= 2)
        for (size_t i = 0; i < distance && i + distance < count; i++)
            x[i] = sum_of_two(g, x[i], x[i + distance]);
    return x[0];
}

/* The lane that the reduction takes at place `at`. */
static size_t lane_at(const struct asked *g, size_t at)
{
    bool listed = false;
    for (int i = 0; i < BITCUT_LANE_ORDER_MAX; i++)
        listed = listed || g->order.lane_order[i] != 0;
    return listed ? g->order.lane_order[at] : at;
}

/* All of x[count] added by a reduction; +0 of none. */
static uint32_t reduced(const struct asked *g, enum bitcut_reduction how, uint32_t *x,
                        size_t count)
{
    if (count < 2) return count ? x[0] : 0;
    if (how == BITCUT_HALVES) return halved(g, x, count);
    if (how == BITCUT_TREE) {
        for (size_t i = 0; i + 1 < count; i += 2)
            x[i / 2] = sum_of_two(g, x[i], x[i + 1]);
        if (count % 2) x[count / 2] = x[count - 1];
        return reduced(g, how, x, count / 2 + count % 2);
    }
    const bool down = how == BITCUT_DESCENDING;
    uint32_t sum = x[down ? count - 1 : 0];
    for (size_t i = 1; i < count; i++)
        sum = sum_of_two(g, sum, x[down ? count - 1 - i : i]);
    return sum;
}

/* The first additions of x[count], until so many sums remain. */
static void reduced_to(const struct asked *g, uint32_t *x, size_t count, size_t sums)
{
    for (; count > sums; count /= 2)
        for (size_t i = 0; i < count / 2; i++)
            x[i] = g->order.reduction == BITCUT_TREE
                       ? sum_of_two(g, x[2 * i], x[2 * i + 1])
                       : sum_of_two(g, x[i], x[i + count / 2]);
}

/* What the sums of a GEMM share: its steps, and what is added to the first of them. */
struct dealt {
    const struct asked *g;
    const struct output *o;
    const struct line *a, *b;
    struct step steps[STEPS_MAX];
    size_t count;
    bool in_sum; /* the addend is added to a sum; if not, the accumulator starts from it */
    uint32_t addend;
};

/* The sum of a lane of a slice, from *start on if there is one, as it is kept.  False: it
   has no steps. */
static bool lane_run(uint32_t *sum, const struct dealt *x, const uint32_t *start,
                     size_t slice, size_t lane, bool first)
{
    struct line own_a, own_b;
    const size_t own =
        gather(&own_a, x->g, x->a, x->steps, x->count, slice, lane);
    gather(&own_b, x->g, x->b, x->steps, x->count, slice, lane);
    if (!own) return false;
    if (first && !x->in_sum) start = &x->addend;
    *sum = slice_run(x->g, x->o, start, &own_a, &own_b, 0, own);
    if (first && x->in_sum) *sum = statement_add(x->g, *sum, x->addend);
    *sum = sum_kept(x->g, *sum);
    return true;
}

/* The sums of the second loop, from those of the lanes on; returns how many. */
static size_t second_loop(uint32_t *lane, const struct dealt *x, size_t slice, size_t lanes,
                          bool begins)
{
    const size_t sums = (size_t)x->g->order.narrow;
    bool any = false;
    if (!sums || x->g->order.narrow_apart) return lanes;
    if (lanes) {
        uint32_t own[STEPS_MAX], none;
        memcpy(own, lane, lanes * sizeof *own);
        reduced_to(x->g, own, lanes, sums);
        if (!lane_run(&none, x, NULL, slice, SECOND_LOOP, false)) return lanes;
        memcpy(lane, own, sums * sizeof *own);
    }
    for (size_t i = 0; i < sums; i++) {
        const uint32_t start = lane[i];
        any |= lane_run(&lane[i], x, lanes ? &start : NULL, slice, SECOND_LOOP + i,
                        begins && !i && !lanes);
    }
    return any ? sums : 0;
}

/* The lanes of a slice, and then what is after the rounds. */
static uint32_t slice_sum(const struct dealt *x, size_t slice)
{
    const struct asked *const g = x->g;
    const bool begins = g->start && !slice;
    uint32_t lane[STEPS_MAX], sum, all;
    size_t lanes = 0;
    for (size_t l = 0; l < (size_t)g->order.lanes && l < STEPS_MAX; l++)
        lanes += lane_run(&lane[lanes], x, NULL, slice, lane_at(g, l),
                          begins && !lane_at(g, l));
    lanes = second_loop(lane, x, slice, lanes, begins);
    all = reduced(g, g->order.reduction, lane, lanes);
    for (size_t n = (size_t)g->order.lanes; g->order.narrow_apart && n; n /= 2) {
        size_t own = 0;
        for (size_t l = 0; l < (size_t)g->order.lanes; l++)
            if (lane_at(g, l) < n)
                own += lane_run(&lane[own], x, NULL, slice,
                                n * SECOND_LOOP + lane_at(g, l),
                                begins && !lanes && !lane_at(g, l));
        if (!own) continue;
        sum = reduced(g, g->order.reduction, lane, own);
        all = lanes ? sum_of_two(g, all, sum) : sum;
        lanes = own;
    }
    if (lane_run(&sum, x, lanes ? &all : NULL, slice, AFTER_ROUNDS, begins && !lanes))
        all = sum;
    return g->order.partial_store ? sum_stored(g, all) : all;
}

/* Lanes of each slice, then slices; what has no step does not exist. */
static uint32_t slices_run(const struct asked *g, const struct output *o,
                           const struct line *a, const struct line *b, size_t k)
{
    static struct dealt x;
    uint32_t slice[STEPS_MAX];
    x = (struct dealt){ .g = g, .o = o, .a = a, .b = b };
    x.in_sum =
        g->start == BITCUT_START_SLICE_C || g->start == BITCUT_START_SLICE_BIAS;
    x.addend = g->start ? statement_start(g, o->p, o->i, o->j) : 0;
    x.count = deal(x.steps, g, k);
    take_from_lanes(x.steps, g, x.count);
    const size_t slices = x.count ? x.steps[x.count - 1].slice + 1 : 0;
    for (size_t s = 0; s < slices; s++) slice[s] = slice_sum(&x, s);
    if (!slices && g->start) /* no products */
        return x.in_sum ? x.addend
                        : accumulated(g, 0, convert(held_by(g, 0), RN, F32, x.addend));
    return reduced(g, g->order.slices_ascending ? BITCUT_ASCENDING : g->order.reduction,
                   slice, slices);
}

static uint32_t element(const struct asked *g, const struct output *o,
                        const struct line *a, const struct line *b)
{
    const size_t k = g->sparsity ? o->p->k / 2 : o->p->k;
    const uint32_t sum = scaled(slices_run(g, o, a, b, k), -a->exponent - b->exponent);
    const bool is_nan = (sum & 0x7fffffff) > INFINITE;
    return statement_finish(g, o->p, is_nan ? nan_of(g) : sum, o->i, o->j);
}

/* The matrices with each element multiplied by its factor. */
static void multiplied(uint32_t *a, uint32_t *b, const struct asked *g,
                       const struct problem *p)
{
    memcpy(a, p->a, sizeof p->a);
    memcpy(b, p->b, sizeof p->b);
    if (g->scaling != BITCUT_SCALING_OPERAND) return;
    for (size_t k = 0; k < p->k; k++) {
        for (size_t i = 0; g->scale_a.there && i < p->m; i++)
            a[i * p->lda + k] = statement_multiply(g, a[i * p->lda + k],
                                                   statement_factor_a(g, p, i, k));
        for (size_t j = 0; g->scale_b.there && j < p->n; j++)
            b[k * p->ldb + j] = statement_multiply(g, b[k * p->ldb + j],
                                                   statement_factor_b(g, p, j, k));
    }
}

/* The block scales of all k; where k ends, 1. */
static void scales_fill(struct line *a, struct line *b, const struct asked *g,
                        const struct problem *p)
{
    const struct bitcut_unit *u = g->unit;
    if (!u->scale) return;
    const size_t size = (size_t)u->scale_block, blocks = (p->k + size - 1) / size;
    const uint64_t one = convert(u->scale, RN, F32, ONE);
    for (size_t k = 0; k < LINE_LENGTH_MAX; k++) {
        for (size_t i = 0; i < p->m; i++)
            a[i].scale[k] = k < p->k ? p->scale_a[i * blocks + k / size] : one;
        for (size_t j = 0; j < p->n; j++)
            b[j].scale[k] = k < p->k ? p->scale_b[k / size * p->n + j] : one;
    }
}

/* The k of both kept elements of each four of a row of a sparse A.  Without positions,
   these are the elements that are no zeros, and the zeros with the largest k. */
static void kept_of_row(size_t *to, const struct asked *g, const struct problem *p, size_t i)
{
    const bool given = g->sparsity == BITCUT_COMPRESSED_A || g->has_positions;
    for (size_t k = 0; k < p->k; k += 4, to += 2) {
        size_t numbers = 0, left = 2; /* zeros to keep: from the end, as many as fit */
        for (size_t e = 0; e < 4 && !given; e++)
            numbers += !is_zero(p->a[i * p->lda + k + e]);
        for (size_t e = 4; e-- > 0 && !given;) {
            const bool zero = is_zero(p->a[i * p->lda + k + e]);
            if (zero && numbers == 2) continue;
            numbers += zero;
            to[--left] = k + e;
        }
        for (size_t e = 0; e < 2 && given; e++)
            to[e] = k + p->positions[i * p->ldp + k / 2 + e];
    }
}

/* Row i of a sparse A as a line of its kept elements, and the lines of B with the k of
   these alone. */
static void row_gather(struct line *a, struct line *b, const struct line *whole_b,
                       const uint32_t *own_a, const struct asked *g,
                       const struct problem *p, size_t i)
{
    uint32_t row[LINE_LENGTH_MAX];
    size_t kept[LINE_LENGTH_MAX];
    kept_of_row(kept, g, p, i);
    for (size_t q = 0; q < p->k / 2; q++)
        row[q] = own_a[i * p->lda + (g->sparsity == BITCUT_COMPRESSED_A ? q : kept[q])];
    lines_fill(a, 1, g, &g->split_a, row, 0, 1, p->k / 2);
    for (size_t j = 0; j < p->n; j++) {
        memset(&b[j], 0, sizeof b[j]);
        b[j].exponent = whole_b[j].exponent;
        for (int w = 0; w < SPLIT_PARTS_MAX; w++)
            for (size_t q = 0; q < p->k / 2; q++)
                b[j].part[w][q] = whole_b[j].part[w][kept[q]];
    }
}

void gemm_problem_solve(uint32_t *want, const struct asked *g, const struct problem *p)
{
    static struct line a[SIDE], b[SIDE], own[SIDE];
    static uint32_t own_a[SIDE * ROW_MAX], own_b[SIDE * ROW_MAX];
    const size_t bytes = result_bytes(g);
    multiplied(own_a, own_b, g, p);
    if (!g->sparsity) lines_fill(a, p->m, g, &g->split_a, own_a, p->lda, 1, p->k);
    lines_fill(b, p->n, g, &g->split_b, own_b, 1, p->ldb, p->k);
    scales_fill(a, b, g, p);
    memcpy(want, p->d, sizeof p->d);
    for (size_t i = 0; i < p->m; i++) {
        if (g->sparsity) row_gather(&a[i], own, b, own_a, g, p, i);
        for (size_t j = 0; j < p->n; j++) {
            const struct output o = { p, i, j };
            const uint32_t x = statement_result(
                g, element(g, &o, &a[i], g->sparsity ? &own[j] : &b[j]));
            memcpy((char *)want + (i * p->ldd + j) * bytes, &x, bytes);
        }
    }
}
