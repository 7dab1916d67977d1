/* Whole GEMMs against a second statement of them: words, k-steps, promotion, folding,
   slices and epilogue from the prose of lib/split.h and lib/recipe.h, instructions by
   tests/emu/spec.h, FP32 operations exact in MPFR and rounded once. */
#include "emu/gemm.h"
#include "lib/bits.h"
#include "tests/lib/number_oracle.h"
#include "tests/emu/spec.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>


#define F32 (&formats[FORMAT_F32])
#define RN  (&roundings[ROUND_RN])

enum {
    ONE = 0x3f800000,
    SIGN = (int)0x80000000,
    INFINITE = 0x7f800000,
    A_NAN = 0x7fc12345
};

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

static uint32_t power_of_two(int exponent) { return (uint32_t)(exponent + 127) << 23; }

/* --- what is asked for ------------------------------------------------------------- */

/* A GEMM with nothing left open, but sizes and matrices. */
struct asked {
    const struct bitcut_recipe *recipe;
    const struct bitcut_unit *unit;
    struct bitcut_split split_a, split_b;
    bool equilibrate, low_low;
    int promote, tile_k;
    struct bitcut_order order;
    uint32_t alpha, beta;
    int threads;
};

/* As the recipe's row says. */
static struct asked asked_of(const struct bitcut_recipe *r, const struct bitcut_unit *u)
{
    const struct bitcut_split split = r->split ? *r->split : split_plain(u->a);
    return (struct asked){ .recipe = r,
                           .unit = u,
                           .split_a = split,
                           .split_b = split,
                           .low_low = r->keeps_low_low,
                           .promote = r->promote,
                           .tile_k = r->tile_k,
                           .order = { .slices = 1, .lanes = 1 },
                           .alpha = ONE };
}

/* The same as it is given to the library: what is as in the row may be left open. */
static struct bitcut_gemm given(const struct asked *g)
{
    struct bitcut_gemm x = gemm_of(g->recipe, g->unit);
    x.split_a = &g->split_a;
    x.split_b = &g->split_b;
    x.low_low = g->low_low == g->recipe->keeps_low_low ? BITCUT_UNSET : g->low_low;
    x.promote = g->promote == g->recipe->promote ? BITCUT_UNSET : g->promote;
    x.tile_k = g->tile_k == g->recipe->tile_k ? BITCUT_UNSET : g->tile_k;
    x.equilibrate = g->equilibrate;
    x.order = g->order;
    x.alpha = g->alpha;
    x.beta = g->beta;
    return x;
}

static enum bitcut_status check(const struct asked *g, struct fault *f)
{
    const struct bitcut_gemm x = given(g);
    struct gemm_plan plan;
    return gemm_plan_on_unit(&plan, &x, f);
}

/* The low words of both sides carry 2 to this. */
static int scale_of(const struct asked *g)
{
    return g->split_a.words > 1 ? g->split_a.scale : g->split_b.scale;
}

/* --- words ------------------------------------------------------------------------- */

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

enum { SIDE = 40, LINE_MOST = 64, ROW_MOST = SIDE + 4 };

/* The words of a row of A or a column of B as operands of the unit, then +0. */
struct line {
    uint64_t word[SPLIT_WORDS_MOST][LINE_MOST];
    int exponent; /* by which it is equilibrated, or 0 */
};

static void words_fill(struct line *line, size_t at, const struct asked *g,
                       const struct bitcut_split *s, uint32_t x)
{
    const uint32_t nan = (uint32_t)F32->nan;
    for (int i = 0; i < s->words; i++) {
        const uint64_t word = convert(s->format, i ? s->low : s->high, F32, x);
        const uint32_t taken = (uint32_t)convert(F32, RN, s->format, word);
        line->word[i][at] = convert(g->unit->a, RN, s->format, word);
        x = operate(mpfr_sub, nan, x, taken);
        x = operate(mpfr_mul, nan, x, power_of_two(s->scale));
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

/* What takes the largest finite magnitude to [2^14, 2^15), or to half the last binade of
   the words; 0 if there is none but zeros. */
static int exponent_of(const struct bitcut_format *words, const uint32_t *x,
                       size_t stride, size_t k)
{
    double largest = 0;
    int exponent, target;
    for (size_t p = 0; p < k; p++) {
        const struct value v = oracle_value(F32, x[p * stride]);
        if (v.kind != NUMBER_NAN && v.kind != NUMBER_INF)
            largest = fmax(largest, v.magnitude);
    }
    frexp(oracle_value(words, format_largest(words, false)).magnitude / 4, &target);
    frexp(largest, &exponent);
    if (target > 14) target = 14;
    return largest > 0 ? target - (exponent - 1) : 0;
}

static void lines_fill(struct line *lines, size_t count, const struct asked *g,
                       const struct bitcut_split *split, const uint32_t *x,
                       size_t line_stride, size_t stride, size_t k)
{
    memset(lines, 0, count * sizeof *lines);
    for (size_t i = 0; i < count; i++, x += line_stride) {
        if (g->equilibrate)
            lines[i].exponent = exponent_of(split->format, x, stride, k);
        for (size_t p = 0; p < k; p++)
            words_fill(&lines[i], p, g, split, scaled(x[p * stride], lines[i].exponent));
    }
}

/* --- the recipe -------------------------------------------------------------------- */

/* The NaN of FP32 operations: that of the unit's FP32 results, else CUDA's. */
static uint32_t nan_of(const struct asked *g)
{
    return g->unit->c == F32 ? (uint32_t)g->unit->nan : 0x7fffffff;
}

static uint32_t accumulated(const struct asked *g, uint64_t accumulator)
{
    const struct bitcut_format *c = g->unit->c;
    if (oracle_value(c, accumulator).kind == NUMBER_NAN) return nan_of(g);
    return (uint32_t)convert(F32, RN, c, accumulator);
}

/* A slice in the middle of being computed. */
struct sums {
    uint64_t accumulator[RECIPE_ACCUMULATORS_MOST];
    uint32_t promoted;
    int waiting; /* instructions of accumulator 0 that are not promoted yet */
};

static void promote(struct sums *x, const struct asked *g)
{
    x->promoted =
        operate(mpfr_add, nan_of(g), x->promoted, accumulated(g, x->accumulator[0]));
    x->accumulator[0] = 0;
    x->waiting = 0;
}

static void term_run(struct sums *x, const struct asked *g, struct recipe_term t,
                     const struct line *a, const struct line *b, size_t k)
{
    uint64_t *to = &x->accumulator[t.accumulator];
    *to = spec_dot(g->unit, &a->word[t.a][k], &b->word[t.b][k], NULL, NULL, *to);
    if (t.accumulator == 0) x->waiting++;
    if (g->promote && x->waiting == g->promote) promote(x, g);
}

/* The last accumulator that some term uses. */
static int last_used(const struct asked *g)
{
    int last = g->low_low ? g->recipe->low_low.accumulator : 0;
    for (int i = 0; i < g->recipe->terms; i++)
        if (g->recipe->term[i].accumulator > last) last = g->recipe->term[i].accumulator;
    return last;
}

/* All terms of a recipe, the product of the low words first; returns how many. */
static int terms_of(struct recipe_term term[RECIPE_TERMS_MOST + 1], const struct asked *g)
{
    int n = 0;
    if (g->low_low) term[n++] = g->recipe->low_low;
    for (int i = 0; i < g->recipe->terms; i++) term[n++] = g->recipe->term[i];
    return n;
}

/* Before a term of a tile: its accumulator times 2^-s, in MPFR, if the term says so; and
   before the last one what is no number, or no finite one, is +0. */
static void before_term(struct sums *x, const struct asked *g, struct recipe_term t,
                        bool last)
{
    const struct bitcut_format *c = g->unit->c;
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
    struct recipe_term term[RECIPE_TERMS_MOST + 1];
    const int terms = terms_of(term, g);
    for (int i = 0; i < terms; i++) {
        before_term(x, g, term[i], i == terms - 1);
        for (size_t k = from; k < to; k += (size_t)g->unit->k)
            term_run(x, g, term[i], a, b, k);
    }
    if (x->waiting) promote(x, g);
}

/* No tiles: all terms of a k-step, then those of the next. */
static void steps_run(struct sums *x, const struct asked *g, const struct line *a,
                      const struct line *b, size_t from, size_t to)
{
    struct recipe_term term[RECIPE_TERMS_MOST + 1];
    const int terms = terms_of(term, g);
    for (size_t k = from; k < to; k += (size_t)g->unit->k)
        for (int i = 0; i < terms; i++) term_run(x, g, term[i], a, b, k);
    if (g->promote && x->waiting) promote(x, g);
}

/* One lane of a slice: its k from `from` to `to`. */
static uint32_t slice_run(const struct asked *g, const struct line *a,
                          const struct line *b, size_t from, size_t to)
{
    struct sums x = { .waiting = 0 };
    uint32_t v[RECIPE_ACCUMULATORS_MOST];
    size_t tile = 0; /* whole k-steps that hold tile_k */
    while (tile < (size_t)g->tile_k) tile += (size_t)g->unit->k;
    if (!tile) steps_run(&x, g, a, b, from, to);
    for (size_t k = from; tile && k < to; k += tile)
        tile_run(&x, g, a, b, k, k + tile < to ? k + tile : to);
    for (int i = 0; i < RECIPE_ACCUMULATORS_MOST; i++)
        v[i] = accumulated(g, x.accumulator[i]);
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

enum { STEPS_MOST = 2 * LINE_MOST };

static size_t whole_steps(const struct asked *g, int k)
{
    size_t size = 0;
    while (size < (size_t)k || !size) size += (size_t)g->unit->k;
    return size;
}

/* Deal all of k: tiles to slices, their steps by turns to lanes. */
static size_t deal(struct step *to, const struct asked *g, size_t k)
{
    const size_t tile = whole_steps(g, g->order.tile), turn = whole_steps(g, g->order.turn);
    const size_t rest = k % tile, tiles = k / tile + (rest > 0);
    const size_t each = (tiles + (size_t)g->order.slices - 1) / (size_t)g->order.slices;
    size_t count = 0, begin = 0;
    for (size_t t = 0; t < tiles; t++) {
        const bool is_short = rest && t == (g->order.rest_first ? 0 : tiles - 1);
        const size_t size = is_short ? rest : tile;
        for (size_t at = 0; at < size; at += (size_t)g->unit->k) {
            const size_t left = size - at, step = (size_t)g->unit->k;
            const size_t in_slice = t % each * tile + at;
            to[count++] = (struct step){ begin + at, left < step ? left : step, t / each,
                                         in_slice / turn % (size_t)g->order.lanes };
        }
        begin += size;
    }
    return count;
}

/* The words of the steps of a lane, one after the other, each padded with +0; returns how
   many k that are. */
static size_t gather(struct line *to, const struct asked *g, const struct line *from,
                     const struct step *steps, size_t count, size_t slice, size_t lane)
{
    size_t k = 0;
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < count; i++) {
        if (steps[i].slice != slice || steps[i].lane != lane) continue;
        for (int w = 0; w < SPLIT_WORDS_MOST; w++)
            memcpy(&to->word[w][k], &from->word[w][steps[i].from],
                   steps[i].count * sizeof to->word[w][0]);
        k += (size_t)g->unit->k;
    }
    return k;
}

/* All of x[count] added as the order says; +0 of none. */
static uint32_t reduced(const struct asked *g, uint32_t *x, size_t count)
{
    const uint32_t nan = nan_of(g);
    if (count < 2) return count ? x[0] : 0;
    if (g->order.reduction == BITCUT_TREE) {
        for (size_t i = 0; i + 1 < count; i += 2)
            x[i / 2] = operate(mpfr_add, nan, x[i], x[i + 1]);
        if (count % 2) x[count / 2] = x[count - 1];
        return reduced(g, x, count / 2 + count % 2);
    }
    const bool down = g->order.reduction == BITCUT_DESCENDING;
    uint32_t sum = x[down ? count - 1 : 0];
    for (size_t i = 1; i < count; i++)
        sum = operate(mpfr_add, nan, sum, x[down ? count - 1 - i : i]);
    return sum;
}

/* Lanes of each slice, then slices; what has no step does not exist. */
static uint32_t slices_run(const struct asked *g, const struct line *a,
                           const struct line *b, size_t k)
{
    struct step steps[STEPS_MOST];
    struct line own_a, own_b;
    uint32_t slice[STEPS_MOST];
    const size_t count = deal(steps, g, k);
    const size_t slices = count ? steps[count - 1].slice + 1 : 0;
    for (size_t s = 0; s < slices; s++) {
        uint32_t lane[STEPS_MOST];
        size_t lanes = 0;
        for (size_t l = 0; l < (size_t)g->order.lanes && l < STEPS_MOST; l++) {
            const size_t own = gather(&own_a, g, a, steps, count, s, l);
            gather(&own_b, g, b, steps, count, s, l);
            if (own) lane[lanes++] = slice_run(g, &own_a, &own_b, 0, own);
        }
        slice[s] = reduced(g, lane, lanes);
    }
    return reduced(g, slice, slices);
}

static bool is_zero(uint32_t x) { return (x & 0x7fffffff) == 0; }

static uint32_t element(const struct asked *g, const struct line *a, const struct line *b,
                        size_t k, const uint32_t *c)
{
    const uint32_t sum = scaled(slices_run(g, a, b, k), -a->exponent - b->exponent);
    const uint32_t t = operate(mpfr_mul, nan_of(g), g->alpha, sum);
    return is_zero(g->beta) ? t : multiply_add(nan_of(g), g->beta, *c, t);
}

/* --- matrices ---------------------------------------------------------------------- */

/* Matrices to compute with, all row-major. */
struct problem {
    size_t m, n, k, lda, ldb, ldc, ldd;
    uint32_t a[SIDE * ROW_MOST], b[SIDE * ROW_MOST], c[SIDE * ROW_MOST];
    uint32_t d[SIDE * ROW_MOST];
    bool in_place; /* D is C */
};

static int between(uint64_t *rng, int low, int high)
{
    return low + (int)(test_bits(rng) % (uint64_t)(high - low + 1));
}

static uint32_t sign_random(uint64_t *rng)
{
    return (uint32_t)(test_bits(rng) >> 63) << 31;
}

static uint32_t exponents(uint64_t *rng, int low, int high)
{
    const uint32_t fraction = (uint32_t)test_bits(rng) & 0x7fffff;
    return sign_random(rng) | power_of_two(between(rng, low, high)) | fraction;
}

static uint32_t fill_normal(uint64_t *rng) { return exponents(rng, -3, 3); }

/* About the range of f16, subnormals and overflow included. */
static uint32_t fill_wide(uint64_t *rng) { return exponents(rng, -36, 16); }

static uint32_t fill_huge(uint64_t *rng) { return exponents(rng, -126, 127); }

static uint32_t fill_subnormal(uint64_t *rng)
{
    if (test_bits(rng) & 1) return exponents(rng, -126, -100);
    return sign_random(rng) | ((uint32_t)test_bits(rng) & 0x7fffff);
}

static uint32_t fill_special(uint64_t *rng)
{
    static const uint32_t special[] = { INFINITE, A_NAN, 0x7f800001, 0x7f7fffff, 0, 1 };
    if (between(rng, 0, 40)) return exponents(rng, -8, 4);
    return special[between(rng, 0, 5)] | sign_random(rng);
}

static uint32_t fill_zeros(uint64_t *rng)
{
    return between(rng, 0, 3) ? sign_random(rng) : fill_subnormal(rng);
}

/* Sums that cancel: small multiples of powers of two. */
static uint32_t fill_few(uint64_t *rng)
{
    return sign_random(rng) | power_of_two(between(rng, 0, 2)) |
           (uint32_t)between(rng, 0, 1) << 22 | (uint32_t)!between(rng, 0, 5);
}

static const struct input_class {
    const char *name;
    uint32_t (*fill)(uint64_t *rng);
} classes[] = {
    { "normal", fill_normal },   { "wide", fill_wide },
    { "huge", fill_huge },       { "subnormal", fill_subnormal },
    { "special", fill_special }, { "zeros", fill_zeros },
    { "few", fill_few },
};

enum { CLASSES = sizeof classes / sizeof classes[0] };

/* rows x cols elements of a class; what lies between the rows is NaN. */
static void matrix_fill(uint32_t *x, size_t rows, size_t cols, size_t ld,
                        const struct input_class *class, uint64_t *rng)
{
    for (size_t i = 0; i < rows * ld; i++)
        x[i] = i % ld < cols ? class->fill(rng) : (uint32_t)A_NAN;
}

struct shape {
    size_t m, n, k;
};

static void problem_fill(struct problem *p, struct shape shape,
                         const struct input_class *class, uint64_t *rng)
{
    const struct input_class *other = between(rng, 0, 1) ? class : &classes[0];
    p->m = shape.m, p->n = shape.n, p->k = shape.k;
    p->lda = p->k + (size_t)between(rng, 0, 3);
    p->ldb = p->n + (size_t)between(rng, 0, 3);
    p->ldc = p->n + (size_t)between(rng, 0, 3);
    p->ldd = p->n + (size_t)between(rng, 0, 3);
    p->in_place = between(rng, 0, 1);
    matrix_fill(p->a, p->m, p->k, p->lda, class, rng);
    matrix_fill(p->b, p->k, p->n, p->ldb, other, rng);
    matrix_fill(p->c, p->m, p->n, p->ldc, class, rng);
    for (size_t i = 0; i < SIDE * ROW_MOST; i++) p->d[i] = 0xd0d0d0d0u ^ (uint32_t)i;
}

/* --- the comparison ---------------------------------------------------------------- */

static void print_value(const char *name, uint32_t x)
{
    printf(" %s %08" PRIx32 " (%a)", name, x, format_to_double(F32, x));
}

static void print_difference(const struct asked *g, const struct problem *p, size_t i,
                             size_t j, uint32_t got, uint32_t want)
{
    printf("# %s on %s, %zu x %zu x %zu, equilibrate %d, low_low %d, promote %d, "
           "tile_k %d, slices %d, tile %d, rest_first %d, lanes %d, turn %d, reduction %d, "
           "threads %d, splits %s %s\n",
           g->recipe->name, g->unit->name, p->m, p->n, p->k, g->equilibrate, g->low_low,
           g->promote, g->tile_k, g->order.slices, g->order.tile, g->order.rest_first,
           g->order.lanes, g->order.turn, (int)g->order.reduction, g->threads,
           g->split_a.name, g->split_b.name);
    printf("# alpha %08" PRIx32 ", beta %08" PRIx32 ", D is %sC\n# row %zu of A:",
           g->alpha, g->beta, p->in_place ? "" : "not ", i);
    for (size_t x = 0; x < p->k; x++) printf(" %08" PRIx32, p->a[i * p->lda + x]);
    printf("\n# column %zu of B:", j);
    for (size_t x = 0; x < p->k; x++) printf(" %08" PRIx32, p->b[x * p->ldb + j]);
    printf("\n#");
    print_value("got", got);
    print_value("want", want);
    printf("\n");
    fflush(stdout); /* a failed check ends the process without it */
}

/* What is wanted in place of D: D with its m x n elements computed. */
static void expect(uint32_t *want, const struct asked *g, const struct problem *p)
{
    static struct line a[SIDE], b[SIDE];
    lines_fill(a, p->m, g, &g->split_a, p->a, p->lda, 1, p->k);
    lines_fill(b, p->n, g, &g->split_b, p->b, 1, p->ldb, p->k);
    memcpy(want, p->d, sizeof p->d);
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++)
            want[i * p->ldd + j] = element(g, &a[i], &b[j], p->k, &p->c[i * p->ldc + j]);
}

/* Compare all of D's storage with what is wanted; prints the first difference. */
static void check_same(const struct asked *g, const struct problem *p, const uint32_t *got,
                       const uint32_t *want)
{
    for (size_t i = 0; i < SIDE * ROW_MOST; i++) {
        if (got[i] == want[i]) continue;
        if (p->ldd && i / p->ldd < p->m && i % p->ldd < p->n)
            print_difference(g, p, i / p->ldd, i % p->ldd, got[i], want[i]);
        ck_abort_msg("%s on %s: D at %zu (of rows of %zu)", g->recipe->name,
                     g->unit->name, i, p->ldd);
    }
}

/* The GEMM with its matrices. */
static struct bitcut_gemm posed(const struct asked *g, uint32_t *d,
                                const struct problem *p, const uint32_t *c)
{
    struct bitcut_gemm x = given(g);
    gemm_set_dense(&x, d, p->m, p->n, p->k, p->a, p->b, c);
    x.a.ld = p->lda, x.b.ld = p->ldb, x.c.ld = p->ldc, x.d.ld = p->ldd;
    return x;
}

static enum bitcut_status run(uint32_t *d, const struct asked *g, const struct problem *p,
                              const uint32_t *c)
{
    const struct bitcut_gemm x = posed(g, d, p, c);
    return bitcut_gemm(NULL, &x, g->threads, NULL);
}

static void check_gemm(const struct asked *g, struct problem *p)
{
    static uint32_t got[SIDE * ROW_MOST], want[SIDE * ROW_MOST];
    const bool in_place = p->in_place && !is_zero(g->beta);
    if (in_place) {
        p->ldd = p->ldc;
        memcpy(p->d, p->c, sizeof p->d);
    }
    expect(want, g, p);
    memcpy(got, p->d, sizeof got);
    const uint32_t *c = in_place ? got : p->c;
    ck_assert_int_eq(run(got, g, p, is_zero(g->beta) && p->in_place ? NULL : c),
                     BITCUT_OK);
    check_same(g, p, got, want);
}

/* --- recipes on units -------------------------------------------------------------- */

/* Units of every kind of summation, and the formats of the words that they can multiply
   beside their own. */
static const struct {
    const char *name, *formats;
} unit_rows[] = {
    { "ideal/rn25", "f16" },
    { "ideal/rz25", "f16" },
    { "ootomo/mma_rn", "f16" },
    { "fma/f32", "f32 f16 bf16 tf32" },
    { "volta/mma.m8n8k4.f32.f16", "f16" },
    { "ampere/mma.m16n8k16.f32.f16", "f16" },
    { "ampere/mma.m16n8k8.f32.tf32", "tf32 f16 bf16" },
    { "ada/mma.m16n8k32.f32.e4m3", "" },
    { "hopper/mma.m16n8k16.f32.f16", "f16" },
    { "hopper/mma.m16n8k16.f16.f16", "f16" },
    { "hopper/mma.m16n8k16.f32.bf16", "bf16" },
    { "hopper/mma.m16n8k4.f32.tf32", "tf32 f16 bf16" },
    { "hopper/mma.m16n8k32.f32.e5m2", "" },
    { "hopper/mma.m16n8k32.f16.e4m3", "" },
    { "blackwell/tcgen05.m128n8k32.f32.e2m1", "" },
    { "cdna1/mfma.32x32x8.f32.f16", "f16" },
    { "cdna1/mfma.16x16x8.f32.bf16", "bf16" },
    { "cdna1/mfma.32x32x2.f32.f32", "f32 f16 bf16 tf32" },
    { "cdna2/mfma.16x16x16.f32.f16", "f16" },
    { "cdna2/mfma.32x32x4.f32.bf16", "bf16" },
    { "cdna3/mfma.32x32x8.f32.f16", "f16" },
    { "cdna3/mfma.16x16x8.f32.xf32", "tf32 f16 bf16" },
    { "cdna3/mfma.32x32x16.f32.bf8.bf8", "" },
};

enum { UNITS = sizeof unit_rows / sizeof unit_rows[0] };

/* Whether `name` is one of the words of `list`. */
static bool is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    while (*list) {
        const size_t length = strcspn(list, " ");
        if (length == n && !strncmp(list, name, n)) return true;
        list += length + (list[length] == ' ');
    }
    return false;
}

/* The recipes, and the format of their words: the unit's own if NULL. */
static const struct {
    const char *name, *format;
} recipe_rows[] = {
    { "plain", NULL },    { "markidis", "f16" }, { "feng", "f16" },
    { "ootomo", "f16" },  { "legemm", "f16" },   { "ootomo-tf32", "tf32" },
    { "tf32x3", "tf32" }, { "fp32", "f32" },     { "bf16x3", "bf16" },
    { "bf16x6", "bf16" }, { "bf16x9", "bf16" },
    { "cublas-tf32", "tf32" },     { "cutlass-tf32x3", "tf32" },
    { "triton-tf32x3", "tf32" },   { "cutlass-sm100-bf16x9", "bf16" },
    { "triton-bf16x3", "bf16" },   { "triton-bf16x6", "bf16" },
    { "xla-bf16x3", "bf16" },      { "xla-bf16x6", "bf16" },
    { "xla-bf16x9", "bf16" },
};

enum { RECIPES = sizeof recipe_rows / sizeof recipe_rows[0] };

static void order_draw(struct bitcut_order *o, uint64_t *rng)
{
    static const int slices[] = { 1, 1, 2, 3, 7 }, parts[] = { 0, 0, 1, 8, 20, 32 };
    o->slices = slices[between(rng, 0, 4)];
    if (between(rng, 0, 1)) return;
    o->tile = parts[between(rng, 0, 5)];
    o->rest_first = between(rng, 0, 1);
    o->lanes = between(rng, 1, 5);
    o->turn = parts[between(rng, 0, 5)];
    o->reduction = (enum bitcut_reduction)between(rng, 0, 2);
}

/* Another split for one side, if the recipe and the unit take it. */
static void side_draw(struct asked *g, struct bitcut_split *side, uint64_t *rng)
{
    const struct bitcut_split own = *side;
    int count = 0;
    while (splits[count].name) count++;
    *side = splits[between(rng, 0, count - 1)];
    if (check(g, NULL) != BITCUT_OK) *side = own;
}

static void options_draw(struct asked *g, uint64_t *rng)
{
    static const int promotes[] = { 0, 1, 2, 3 };
    static const int tiles[] = { 1, 8, 20, 32 };
    const struct asked row = *g;
    static const struct {
        uint32_t alpha, beta;
    } scalars[] = {
        { ONE, 0 },
        { 0xbfc00000, 0x3f400000 },
        { 0, ONE },
        { ONE, SIGN },
        { (uint32_t)SIGN, ONE },
        { INFINITE, 0x3f000000 },
        { 1, 0x40400000 },
        { 0x7f000000, 0x80000001 },
        { 0x40400000, 0xbf800000 },
        { ONE, A_NAN },
        { A_NAN, 0 },
        { 0x3fc00000, INFINITE },
    };
    if (between(rng, 0, 2)) {
        g->low_low = g->split_a.words == 2 && between(rng, 0, 1);
        g->promote = promotes[between(rng, 0, 3)];
        order_draw(&g->order, rng);
        if (between(rng, 0, 1)) g->tile_k = tiles[between(rng, 0, 3)];
        if (check(g, NULL) != BITCUT_OK) g->promote = row.promote;
        if (!between(rng, 0, 2)) side_draw(g, &g->split_a, rng);
        if (!between(rng, 0, 2)) side_draw(g, &g->split_b, rng);
    }
    g->equilibrate = between(rng, 0, 1);
    if (check(g, NULL) != BITCUT_OK) g->equilibrate = false;
    const int i = between(rng, 0, sizeof scalars / sizeof scalars[0] - 1);
    g->alpha = scalars[i].alpha;
    g->beta = scalars[i].beta;
    g->threads = between(rng, 0, 99) ? 1 : between(rng, 2, 3); /* they spin long */
}

/* Shapes and in how many classes of inputs each is computed. */
static const struct {
    struct shape shape;
    int classes;
} shapes[] = {
    { { 1, 1, 1 }, 8 * CLASSES }, { { 5, 3, 37 }, CLASSES }, { { 4, 2, 3 }, 2 * CLASSES },
    { { 17, 2, 33 }, 1 },         { { 2, 19, 33 }, 1 },      { { 3, 4, 0 }, 1 },
    { { 0, 3, 5 }, 1 },           { { 3, 0, 5 }, 1 },
};

static void check_shapes(const struct bitcut_recipe *recipe,
                         const struct bitcut_unit *unit, uint64_t *rng)
{
    static struct problem p;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int count = test_cases(shapes[i].classes, 10 * shapes[i].classes);
        const int first = between(rng, 0, CLASSES - 1);
        for (int c = 0; c < count; c++) {
            const int class = shapes[i].classes == 1 ? 2 * between(rng, 0, 3) : first + c;
            struct asked g = asked_of(recipe, unit);
            options_draw(&g, rng);
            ck_assert_int_eq(check(&g, NULL), BITCUT_OK);
            problem_fill(&p, shapes[i].shape, &classes[class % CLASSES], rng);
            check_gemm(&g, &p);
        }
    }
}

START_TEST(recipes_on_units)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        int row = 0, computed = 0;
        while (row < RECIPES && strcmp(recipe_rows[row].name, r->name) != 0) row++;
        ck_assert_msg(row < RECIPES, "recipe %s is not in the list of this test",
                      r->name);
        for (int i = 0; i < UNITS; i++) {
            const struct bitcut_unit *u = unit_find(unit_rows[i].name, NULL);
            const char *format = recipe_rows[row].format;
            ck_assert_msg(u != NULL, "no unit %s", unit_rows[i].name);
            const struct asked g = asked_of(r, u);
            const bool fits = !format || is_listed(unit_rows[i].formats, format);
            ck_assert_msg((check(&g, NULL) == BITCUT_OK) == fits,
                          "%s on %s: should%s fit", r->name, u->name, fits ? "" : " not");
            if (fits) check_shapes(r, u, &rng);
            computed += fits;
        }
        ck_assert_int_gt(computed, 0);
    }
}
END_TEST

/* Tiles that the edges cut in both directions. */
START_TEST(tile_edges)
{
    static struct problem p;
    uint64_t rng = test_seed() + 1;
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        struct asked g = asked_of(r, unit_find("cdna1/mfma.32x32x2.f32.f32", NULL));
        options_draw(&g, &rng);
        problem_fill(&p, (struct shape){ 17, 19, 33 }, &classes[0], &rng);
        check_gemm(&g, &p);
    }
}
END_TEST

/* Every split under a recipe that takes it: the emulator's words are those of lib/split.h
   for rounding rules and scales that no recipe has of itself. */
START_TEST(other_splits)
{
    static struct problem p;
    uint64_t rng = test_seed() + 2;
    for (const struct bitcut_split *s = splits; s->name; s++)
        for (int i = 0; i < 2 * CLASSES; i++) {
            struct asked g =
                asked_of(&recipes[s->words == 1 ? RECIPE_PLAIN : RECIPE_LEGEMM],
                        unit_find("fma/f32", NULL));
            g.split_a = g.split_b = *s;
            options_draw(&g, &rng);
            ck_assert_int_eq(check(&g, NULL), BITCUT_OK);
            g.promote = 1;
            g.order.slices = 2;
            problem_fill(&p, (struct shape){ 3, 4, 5 }, &classes[i % CLASSES], &rng);
            check_gemm(&g, &p);
        }
}
END_TEST

/* --- known answers ----------------------------------------------------------------- */

static uint32_t f32_encode(double x)
{
    return (uint32_t)bitcut_format_convert(F32, RN, &formats[FORMAT_F64],
                                           bits_of_double(x));
}

#define HOPPER_BF16 "hopper/mma.m16n8k16.f32.bf16"
#define LARGEST     0x1.fffffep127

/* One row times one column, printed with what a hand calculation gives. */
static const struct {
    const char *recipe, *unit;
    double a[2], b[2], alpha, beta, c, d;
} known[] = {
    /* clang-format off */
    { "plain", "a100", { 2, 3 }, { 5, 7 }, 1, 0, 0, 31 },
    { "plain", "a100", { 2, 3 }, { 5, 7 }, -2, 0.5, 8, -58 },
    /* 1 + 2^-11 is not an f16; two words hold it */
    { "plain", "a100", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0, 1 },
    { "markidis", "a100", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-11 },
    { "ootomo", "mi100", { 1 + 0x1p-20, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-20 },
    { "legemm", "h100", { 1 + 0x1p-20, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-20 },
    /* a high word beyond f16 is infinite, the low ones -Inf: Inf - Inf */
    { "plain", "h100", { 0x1p16, 0 }, { 1, 0 }, 1, 0, 0, (double)INFINITY },
    { "markidis", "h100", { 0x1p16, 0 }, { 1, 1 }, 1, 0, 0, (double)NAN },
    /* a negative product that underflows, and a negative zero */
    { "fp32", "fma/f32", { -0x1p-100, -0. }, { 0x1p-100, 0 }, 1, 0, 0, -0. },
    /* the ignored product of two low words: 2^-22 */
    { "ootomo", "h100", { 1 + 0x1p-11, 1 }, { 1 + 0x1p-11, -1 }, 1, 0, 0, 0x1p-10 },
    { "markidis", "mi100", { 1 + 0x1p-11, 1 }, { 1 + 0x1p-11, -1 }, 1, 0, 0,
      0x1p-10 + 0x1p-22 },
    /* a tie goes to even, or away */
    { "cublas-tf32", "hopper/mma.m16n8k8.f32.tf32", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0,
      1 },
    { "plain", "hopper/mma.m16n8k8.f32.tf32", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0,
      1 + 0x1p-10 },
    /* the low words of infinity are NaN, and zeroed */
    { "bf16x3", HOPPER_BF16, { (double)INFINITY, 0 }, { 1, 0 }, 1, 0, 0, (double)NAN },
    { "triton-bf16x3", HOPPER_BF16, { (double)INFINITY, 0 }, { 1, 0 }, 1, 0, 0,
      (double)INFINITY },
    { "triton-bf16x6", HOPPER_BF16, { 1, 0 }, { -(double)INFINITY, 0 }, 1, 0, 0,
      -(double)INFINITY },
    /* the largest value: high word Inf, low -Inf; times words of different sign */
    { "triton-bf16x3", HOPPER_BF16, { LARGEST, 0 }, { 1 - 0x1p-10, 0 }, 1, 0, 0,
      (double)NAN },
    { "xla-bf16x3", HOPPER_BF16, { LARGEST, 0 }, { 1 - 0x1p-10, 0 }, 1, 0, 0,
      (double)INFINITY },
    /* but three words that saturate are exact */
    { "bf16x9", HOPPER_BF16, { LARGEST, 0 }, { 1, 0 }, 1, 0, 0, (double)NAN },
    { "cutlass-sm100-bf16x9", HOPPER_BF16, { LARGEST, 0 }, { 1, 0 }, 1, 0, 0, LARGEST },
    { "cutlass-sm100-bf16x9", HOPPER_BF16, { 1 + 0x1p-23, 0 }, { 1 - 0x1p-24, 0 }, 1, 0,
      0, 1 },
    /* clang-format on */
};

START_TEST(known_answers)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t a[2], b[2], d = 0;
        for (int p = 0; p < 2; p++) {
            a[p] = f32_encode(known[i].a[p]);
            b[p] = f32_encode(known[i].b[p]);
        }
        const uint32_t c = f32_encode(known[i].c);
        const struct bitcut_unit *u =
            bitcut_unit_find(known[i].unit, &formats[FORMAT_F16]);
        struct bitcut_gemm g = gemm_of(bitcut_recipe_find(known[i].recipe), u);
        gemm_set_dense(&g, &d, 1, 1, 2, a, b, &c);
        g.alpha = f32_encode(known[i].alpha);
        g.beta = f32_encode(known[i].beta);
        ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
        const uint32_t want =
            known[i].d != known[i].d ? (uint32_t)u->nan : f32_encode(known[i].d);
        ck_assert_msg(d == want, "row %zu, %s on %s: got %08" PRIx32 ", want %08" PRIx32,
                      i, known[i].recipe, u->name, d, want);
    }
}
END_TEST

/* --- what must not matter ---------------------------------------------------------- */

/* Several tiles in both directions. */
static const struct shape tiles_shape = { 37, 40, 20 };

static const int several_recipes[] = { RECIPE_PLAIN, RECIPE_OOTOMO, RECIPE_LEGEMM };

static const struct asked *several(int i)
{
    static struct asked g;
    g = asked_of(&recipes[several_recipes[i]],
                 unit_find("hopper/mma.m16n8k16.f32.f16", NULL));
    g.order = (struct bitcut_order){ .slices = 2, .lanes = 1 + i };
    g.equilibrate = i == 1;
    g.alpha = 0x3f000001;
    g.beta = 0x3fc00000;
    return &g;
}

static void several_run(uint32_t *d, const struct problem *p, int i, int threads)
{
    struct asked g = *several(i);
    g.threads = threads;
    memcpy(d, p->d, sizeof p->d);
    ck_assert_int_eq(run(d, &g, p, p->c), BITCUT_OK);
}

START_TEST(thread_counts)
{
    static struct problem p;
    static uint32_t one[SIDE * ROW_MOST], many[SIDE * ROW_MOST];
    uint64_t rng = test_seed() + 3;
    for (int i = 0; i < 3; i++) {
        problem_fill(&p, tiles_shape, &classes[i], &rng);
        several_run(one, &p, i, 1);
        for (int n = 0; n <= 4; n++) {
            several_run(many, &p, i, n);
            ck_assert_msg(!memcmp(many, one, sizeof one), "%d threads, recipe %s", n,
                          recipes[several_recipes[i]].name);
        }
    }
}
END_TEST

START_TEST(host_modes)
{
    static struct problem p;
    static uint32_t got[SIDE * ROW_MOST], want[SIDE * ROW_MOST];
    uint64_t rng = test_seed() + 4;
    fenv_t host;
    fegetenv(&host);
    for (int i = 0; i < 3; i++) {
        problem_fill(&p, tiles_shape, &classes[1 + i], &rng);
        several_run(want, &p, i, 2);
        for (int mode = 0; mode < 8; mode++) {
            test_host_mode(mode);
            several_run(got, &p, i, 2);
            fesetenv(&host);
            ck_assert_msg(!memcmp(got, want, sizeof want), "mode %d, class %s", mode,
                          classes[1 + i].name);
        }
    }
}
END_TEST

/* --- stopping ---------------------------------------------------------------------- */

struct watch {
    int reports, stop_after; /* 0: do not stop */
    double last;
    volatile sig_atomic_t stop;
};

static void watch_report(void *context, double part)
{
    struct watch *w = context;
    ck_assert(part > w->last && part <= 1);
    w->last = part;
    if (++w->reports == w->stop_after) w->stop = 1;
}

static enum bitcut_status watched_run(struct watch *w, uint32_t *d,
                                      const struct problem *p, struct fault *f)
{
    const struct progress progress = { watch_report, w, &w->stop };
    struct gemm_options options = { .threads = 1, .simd = simd_levels,
                                    .progress = &progress };
    while (options.simd->kernels) options.simd++; /* the engine, whose tiles are small */
    const struct bitcut_gemm g = posed(several(0), d, p, p->c);
    return gemm_run(&g, &options, f);
}

START_TEST(stop_and_progress)
{
    static struct problem p;
    static uint32_t d[SIDE * ROW_MOST];
    uint64_t rng = test_seed() + 5;
    problem_fill(&p, tiles_shape, &classes[0], &rng);
    memcpy(d, p.d, sizeof d);
    for (int after = 0; after <= 3; after++) {
        struct fault f = { 0 };
        struct watch w = { .stop_after = after, .stop = after == 0 };
        ck_assert_int_eq(watched_run(&w, d, &p, &f), BITCUT_CANNOT);
        ck_assert(f.status == BITCUT_CANNOT && strstr(f.text, "stopped"));
        ck_assert_int_eq(w.reports, after);
        ck_assert(!memcmp(d, p.d, sizeof d));
    }
    struct watch w = { 0 };
    ck_assert_int_eq(watched_run(&w, d, &p, NULL), BITCUT_OK);
    ck_assert(w.reports > 3 && w.last == 1);
}
END_TEST

/* --- refusals ---------------------------------------------------------------------- */

static void change_nothing(struct asked *g) { (void)g; }
static void change_to_two_words(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_HALFHALF];
    g->low_low = true;
}
static void change_low_low(struct asked *g) { g->low_low = true; }
static void change_promote_to_one(struct asked *g) { g->promote = 1; }
static void change_tile_to_none(struct asked *g) { g->tile_k = 0; }
static void change_scale(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_HALFHALF];
}
static void change_scale_of_a(struct asked *g) { g->split_a = splits[SPLIT_MARKIDIS]; }
static void change_words(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_HALF], g->low_low = false;
}
static void change_words_of_b(struct asked *g) { g->split_b = splits[SPLIT_HALF]; }
static void change_format(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_BF16X2];
}
static void change_format_of_b(struct asked *g) { g->split_b = splits[SPLIT_BF16X2]; }
static void change_lines(struct asked *g) { g->equilibrate = true; }
static void change_lines_and_scale(struct asked *g)
{
    g->equilibrate = true;
    g->split_a.scale = g->split_b.scale = 12;
}

static const struct {
    const char *recipe, *unit;
    void (*change)(struct asked *g);
    const char *text; /* part of the message */
} refusals[] = {
    { "plain", "blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3", change_nothing,
      "block scales" },
    { "markidis", "hopper/mma.m16n8k16.f32.bf16", change_nothing, "words of f16" },
    { "fp32", "hopper/mma.m16n8k8.f32.tf32", change_nothing, "words of f32" },
    { "bf16x3", "hopper/mma.m16n8k16.f32.f16", change_nothing, "multiplies f16 by f16" },
    { "plain", "cdna3/mfma.32x32x16.f32.fp8.bf8", change_nothing,
      "multiplies e4m3fnuz by e5m2fnuz" },
    { "legemm", "hopper/mma.m16n8k16.f32.f16", change_format, "words of bf16" },
    { "plain", "hopper/mma.m8n8k4.f64.f64", change_nothing, "accumulates in f64" },
    { "markidis", "fma/f64", change_nothing, "accumulates in f64" },
    { "plain", "hopper/mma.m16n8k16.f32.f16", change_low_low, "low*low" },
    { "bf16x6", "hopper/mma.m16n8k16.f32.bf16", change_low_low, "low*low" },
    { "plain", "hopper/mma.m16n8k16.f32.f16", change_to_two_words, "low*low" },
    { "triton-bf16x3", "hopper/mma.m16n8k16.f32.bf16", change_tile_to_none,
      "needs tiles" },
    { "cutlass-sm100-bf16x9", "hopper/mma.m16n8k16.f32.bf16", change_tile_to_none,
      "needs tiles" },
    { "cutlass-sm100-bf16x9", "hopper/mma.m16n8k16.f32.bf16", change_promote_to_one,
      "scales its sums" },
    { "ootomo", "hopper/mma.m16n8k16.f32.f16", change_words_of_b, "more words than half" },
    { "ootomo", "hopper/mma.m16n8k16.f32.f16", change_scale_of_a, "carry 2^0" },
    { "markidis", "hopper/mma.m16n8k16.f32.f16", change_format_of_b, "words of bf16" },
    { "ootomo", "hopper/mma.m16n8k16.f32.f16", change_words, "more words than half" },
    { "markidis", "hopper/mma.m16n8k16.f32.f16", change_scale, "different scale" },
    { "ootomo", "hopper/mma.m16n8k16.f16.f16", change_lines, "overflow the f16 sums" },
    { "legemm", "hopper/mma.m16n8k16.f32.f16", change_lines_and_scale, "2^11 at most" },
};

START_TEST(check_refuses)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct fault f = { 0 };
        struct asked g = asked_of(bitcut_recipe_find(refusals[i].recipe),
                                unit_find(refusals[i].unit, NULL));
        refusals[i].change(&g);
        ck_assert_msg(check(&g, &f) == BITCUT_BAD_ARGUMENT, "row %zu: accepted", i);
        ck_assert_int_eq(f.status, BITCUT_BAD_ARGUMENT);
        ck_assert_msg(*f.text && strstr(f.text, refusals[i].text), "row %zu: %s", i,
                      f.text);
        ck_assert_int_eq(check(&g, NULL), BITCUT_BAD_ARGUMENT);
    }
}
END_TEST

/* The row as it is, alone or with one argument changed. */
static const struct {
    size_t ldd, lda, ldb, ldc, m;
    uint32_t beta;
    int threads;
    bool no_c;
    const char *unit;
    enum bitcut_status status;
} calls[] = {
    /* ldd lda ldb ldc  m  beta threads no_c unit      status */
    { 4, 5, 4, 4, 3, ONE, 1, false, "a100", BITCUT_OK },
    { 4, 5, 4, 0, 3, 0, 1, true, "a100", BITCUT_OK },
    { 4, 5, 4, 0, 3, (uint32_t)SIGN, 1, true, "a100", BITCUT_OK },
    { 3, 5, 4, 4, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 4, 4, 4, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 3, 4, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 3, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, 3, ONE, 1, true, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, 3, ONE, -1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, 3, ONE, 1, false, "fma/f64", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, SIZE_MAX / 2, 0, 1, true, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, SIZE_MAX / 64, 0, 1, true, "a100", BITCUT_NO_MEMORY },
};

/* Whether a call that fails leaves D alone; one that succeeds must not. */
START_TEST(public_statuses)
{
    static uint32_t a[15], b[20], c[12], d[12], before[12];
    for (int i = 0; i < 12; i++) before[i] = 0xd0d0d0d0u ^ (uint32_t)i;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct bitcut_unit *u = unit_find(calls[i].unit, &formats[FORMAT_F16]);
        struct bitcut_gemm g = gemm_of(&recipes[RECIPE_OOTOMO], u);
        char why[BITCUT_TEXT_MOST] = "";
        gemm_set_dense(&g, d, calls[i].m, 4, 5, a, b, calls[i].no_c ? NULL : c);
        g.a.ld = calls[i].lda, g.b.ld = calls[i].ldb;
        g.c.ld = calls[i].ldc, g.d.ld = calls[i].ldd;
        g.beta = calls[i].beta;
        memcpy(d, before, sizeof d);
        const enum bitcut_status status =
            bitcut_gemm(NULL, &g, calls[i].threads, why);
        ck_assert_msg(status == calls[i].status, "row %zu: status %d", i, (int)status);
        ck_assert_int_eq(!memcmp(d, before, sizeof d), status != BITCUT_OK);
        ck_assert_int_eq(*why != 0, status != BITCUT_OK);
    }
}
END_TEST

/* --- rows -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int terms, promote;
    bool low_low;
} defaults[] = {
    { "plain", 1, 0, false },  { "markidis", 4, 0, true },     { "feng", 4, 0, true },
    { "ootomo", 3, 1, false }, { "ootomo-tf32", 3, 1, false }, { "legemm", 3, 0, false },
    { "fp32", 1, 0, false },   { "tf32x3", 3, 0, false },      { "bf16x3", 3, 0, false },
    { "bf16x6", 6, 0, false }, { "bf16x9", 9, 0, false },
    { "cublas-tf32", 1, 0, false },   { "cutlass-tf32x3", 3, 0, false },
    { "triton-tf32x3", 3, 0, false }, { "cutlass-sm100-bf16x9", 9, 0, false },
    { "triton-bf16x6", 6, 0, false }, { "xla-bf16x9", 9, 0, false },
};

START_TEST(rows_made_definite)
{
    const struct bitcut_unit *u = unit_find("fma/f32", NULL);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const struct bitcut_recipe *r = bitcut_recipe_find(defaults[i].name);
        ck_assert_msg(r != NULL, "no recipe %s", defaults[i].name);
        struct bitcut_gemm g = gemm_of(r, u);
        struct gemm_plan plan;
        ck_assert(g.alpha == ONE && g.beta == 0 && g.count == 1);
        ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
        ck_assert_int_eq(plan.promote, defaults[i].promote);
        ck_assert_int_eq(plan.low_low, defaults[i].low_low);
        ck_assert_msg(plan.terms == defaults[i].terms, "%s: %d terms", r->name,
                      plan.terms);
        g.low_low = !plan.low_low;
        if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
        ck_assert_int_eq(plan.terms, defaults[i].terms + (g.low_low ? 1 : -1));
    }
    ck_assert_ptr_null(bitcut_recipe_find("ootomo "));
    ck_assert_ptr_null(bitcut_recipe_find(""));
}
END_TEST

TEST_MAIN("gemm", recipes_on_units, tile_edges, other_splits, known_answers,
          thread_counts, host_modes, stop_and_progress, check_refuses, public_statuses,
          rows_made_definite)
