#include "analysis/error/budget.h"

#include "emu/engine.h"
#include "emu/sum.h"
#include "lib/bits.h"
#include "lib/equilibrate.h"
#include "lib/hostfp.h"
#include "lib/k_parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct budget_row budget_rows[] = {
    { "representation", "words stand for A and B, if they had any exponent" },
    { "underflow",      "words and what units read of them end at their smallest exponent" },
    { "saturation",     "words end at their largest value" },
    { "dropped",        "products of words that the recipe leaves out" },
    { "alignment",      "units cut terms before they add them" },
    { "accumulation",   "sums are rounded to the accumulator" },
    { "promotion",      "accumulators are added to FP32 sums, and to each other" },
    { "slices",         "sums of lanes and slices are added" },
    { "epilogue",       "lines are scaled back, alpha, beta and C, the last rounding" },
    { 0 }
};
/* clang-format on */

/* --- exact values ----------------------------------------------------------------- */

/* Values are integers times 2^-UNIT, far below all that happens: a product of three
   subnormal numbers is a multiple of 2^-447. */
enum { UNIT = 1400 };

/* x times 2^by, exactly. */
static void shift(mpz_t x, long by)
{
    if (by >= 0) mpz_mul_2exp(x, x, (mp_bitcnt_t)by);
    else {
        assert(mpz_divisible_2exp_p(x, (mp_bitcnt_t)-by));
        mpz_tdiv_q_2exp(x, x, (mp_bitcnt_t)-by);
    }
}

static void set_number(mpz_t to, const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    mpz_set_ui(to, x.kind == NUMBER_FINITE ? x.significand : 0);
    if (mpz_sgn(to)) shift(to, UNIT + x.exponent - f->fraction_bits);
    if (x.negative) mpz_neg(to, to);
}

static void set_f32(mpz_t to, uint32_t encoding)
{
    set_number(to, &formats[FORMAT_F32], encoding);
}

static void set_wide(mpz_t to, const struct wide *w)
{
    mpz_import(to, (size_t)w->limbs, -1, sizeof w->limb[0], 0, 0, w->limb);
    if (w->limb[w->limbs - 1] >> 63) {
        mpz_t all;
        mpz_init(all);
        mpz_setbit(all, 64 * (mp_bitcnt_t)w->limbs);
        mpz_sub(to, to, all);
        mpz_clear(all);
    }
    shift(to, UNIT + w->exponent);
}

/* x times the FP32 value. */
static void multiply(mpz_t x, uint32_t factor)
{
    const struct number n = format_decode(&formats[FORMAT_F32], factor);
    mpz_mul_ui(x, x, n.kind == NUMBER_FINITE ? n.significand : 0);
    if (mpz_sgn(x)) shift(x, n.exponent - formats[FORMAT_F32].fraction_bits);
    if (n.negative) mpz_neg(x, x);
}

static double value_of(const mpz_t x)
{
    long exponent;
    const double m = mpz_get_d_2exp(&exponent, x);
    return ldexp(m, (int)exponent - UNIT);
}

/* "m*2^e", m odd. */
static char *text_of(const mpz_t x)
{
    mpz_t m;
    char *text = NULL, *digits;
    const mp_bitcnt_t zeros = mpz_sgn(x) ? mpz_scan1(x, 0) : UNIT;
    mpz_init(m);
    mpz_tdiv_q_2exp(m, x, zeros);
    digits = mpz_get_str(NULL, 10, m);
    const size_t size = strlen(digits) + 24;
    if ((text = malloc(size)))
        snprintf(text, size, "%s*2^%ld", digits, (long)zeros - UNIT);
    void (*release)(void *, size_t);
    mp_get_memory_functions(NULL, NULL, &release);
    release(digits, strlen(digits) + 1);
    mpz_clear(m);
    return text;
}

/* --- ledgers ---------------------------------------------------------------------- */

/* What a sum is made of: exact products, and errors. */
enum { PRODUCTS, ALIGNED, ACCUMULATED, PROMOTED, SLICED, ENTRIES };

struct ledger {
    mpz_t entry[ENTRIES];
};

static void ledger_init(struct ledger *x)
{
    for (int i = 0; i < ENTRIES; i++) mpz_init(x->entry[i]);
}

static void ledger_clear(struct ledger *x)
{
    for (int i = 0; i < ENTRIES; i++) mpz_clear(x->entry[i]);
}

static void ledger_zero(struct ledger *x)
{
    for (int i = 0; i < ENTRIES; i++) mpz_set_ui(x->entry[i], 0);
}

static void ledger_add(struct ledger *to, const struct ledger *x)
{
    for (int i = 0; i < ENTRIES; i++) mpz_add(to->entry[i], to->entry[i], x->entry[i]);
}

static void ledger_shift(struct ledger *x, long by)
{
    for (int i = 0; i < ENTRIES; i++)
        if (mpz_sgn(x->entry[i])) shift(x->entry[i], by);
}

/* The sum is `value`: what its entries lack is of this one. */
static void ledger_close(struct ledger *x, int entry, const mpz_t value)
{
    mpz_t lack;
    mpz_init_set(lack, value);
    for (int i = 0; i < ENTRIES; i++) mpz_sub(lack, lack, x->entry[i]);
    mpz_add(x->entry[entry], x->entry[entry], lack);
    mpz_clear(lack);
}

static void ledger_close_f32(struct ledger *x, int entry, uint32_t value)
{
    mpz_t y;
    mpz_init(y);
    set_f32(y, value);
    ledger_close(x, entry, y);
    mpz_clear(y);
}

/* --- watching --------------------------------------------------------------------- */

/* An accumulator: its ledger up to some instruction, and the products and what was cut
   since. */
struct running {
    struct ledger ledger;
    struct wide products, cut;
    bool used; /* since */
    mpz_t now;
};

struct watcher {
    const struct gemm_plan *plan;
    struct running accumulator[RECIPE_ACCUMULATORS_MOST];
    struct ledger promoted, sum[K_PARTS_KEPT_MOST + 1]; /* the last one: not yet kept */
    int kept;
    size_t instructions;
    struct budget_event event;
    struct unit_trace trace;
    uint32_t total, d;
};

/* Products of FP32 values, and what units cut of them. */
static void running_start(struct running *x)
{
    wide_clear(&x->products, -600, 400);
    wide_clear(&x->cut, -600, 400);
    x->used = false;
}

static struct watcher *watcher_new(const struct gemm_plan *plan)
{
    struct watcher *const w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->plan = plan;
    for (int i = 0; i < RECIPE_ACCUMULATORS_MOST; i++) {
        ledger_init(&w->accumulator[i].ledger);
        mpz_init(w->accumulator[i].now);
        running_start(&w->accumulator[i]);
    }
    ledger_init(&w->promoted);
    for (int i = 0; i <= K_PARTS_KEPT_MOST; i++) ledger_init(&w->sum[i]);
    return w;
}

static void watcher_free(struct watcher *w)
{
    for (int i = 0; i < RECIPE_ACCUMULATORS_MOST; i++) {
        ledger_clear(&w->accumulator[i].ledger);
        mpz_clear(w->accumulator[i].now);
    }
    ledger_clear(&w->promoted);
    for (int i = 0; i <= K_PARTS_KEPT_MOST; i++) ledger_clear(&w->sum[i]);
    free(w);
}

static void add_term(struct wide *to, struct term x, bool minus)
{
    if (x.significand) wide_add(to, x.negative != minus, x.significand, x.exponent);
}

static void add_integer(struct wide *to, int128 x, int exponent)
{
    add_term(to, integer_term(x, exponent), false);
}

/* What a sum of a step cut: of terms that were aligned, and of itself before others
   joined it. */
static void add_cut(struct running *x, const struct unit_trace *t,
                    const struct trace_sum *s)
{
    for (int i = s->first; i < s->first + s->terms && s->aligned; i++) {
        add_integer(&x->cut, t->term[i].aligned, s->value.exponent);
        add_term(&x->cut, t->term[i].value, true);
    }
    if (s->cut && !s->rounded) {
        add_term(&x->cut, s->kept, false);
        add_term(&x->cut, s->value, true);
    }
}

static bool is_finite(const struct bitcut_format *f, uint64_t encoding)
{
    const enum number_class kind = format_decode(f, encoding).kind;
    return kind == NUMBER_FINITE || kind == NUMBER_ZERO;
}

static bool all_finite(const struct number *x, int count)
{
    bool all = true;
    for (int i = 0; i < count; i++)
        all &= x[i].kind == NUMBER_FINITE || x[i].kind == NUMBER_ZERO;
    return all;
}

/* The first thing that has no sum. */
static void end_with(struct watcher *w, const char *what, int term)
{
    if (!w->event.what) w->event = (struct budget_event){ what, term, w->instructions };
}

static void see_instruction(struct watcher *w, const struct watch_event *e)
{
    const struct bitcut_unit *u = e->unit;
    struct running *const x = &w->accumulator[e->accumulator];
    if (!all_finite(e->a, u->k) || !all_finite(e->b, u->k))
        end_with(w, "a word is infinite or NaN", e->term);
    else if (!is_finite(u->c, e->after)) end_with(w, "an accumulator overflows", e->term);
    w->instructions++;
    if (w->event.what) return;
    unit_trace(&w->trace, u, (struct lane){ e->a, NULL }, (struct lane){ e->b, NULL },
               e->before);
    for (int i = 0; i < u->k; i++)
        add_term(&x->products, product_term(u, e->a[i], e->b[i]), false);
    for (int i = 0; i < w->trace.sums; i++) add_cut(x, &w->trace, &w->trace.sum[i]);
    set_number(x->now, u->c, e->after);
    x->used = true;
}

/* The ledger of an accumulator, up to date. */
static struct ledger *settled(struct watcher *w, int accumulator)
{
    struct running *const x = &w->accumulator[accumulator];
    mpz_t y;
    if (!x->used) return &x->ledger;
    mpz_init(y);
    set_wide(y, &x->products);
    mpz_add(x->ledger.entry[PRODUCTS], x->ledger.entry[PRODUCTS], y);
    set_wide(y, &x->cut);
    mpz_add(x->ledger.entry[ALIGNED], x->ledger.entry[ALIGNED], y);
    mpz_clear(y);
    ledger_close(&x->ledger, ACCUMULATED, x->now);
    running_start(x);
    return &x->ledger;
}

static void accumulator_zero(struct watcher *w, int accumulator)
{
    ledger_zero(&w->accumulator[accumulator].ledger);
    running_start(&w->accumulator[accumulator]);
}

static void see_promotion(struct watcher *w, const struct watch_event *e)
{
    ledger_add(&w->promoted, settled(w, 0));
    ledger_close_f32(&w->promoted, PROMOTED, (uint32_t)e->after);
    accumulator_zero(w, 0);
}

static void see_scaling(struct watcher *w, const struct watch_event *e)
{
    struct ledger *const x = settled(w, e->accumulator);
    ledger_shift(x, -w->plan->scale);
    ledger_close_f32(x, PROMOTED, (uint32_t)e->after);
    set_f32(w->accumulator[e->accumulator].now, (uint32_t)e->after);
}

/* What an accumulator adds to the sum of its lane. */
static const struct ledger *part_of_lane(struct watcher *w, int accumulator)
{
    const bool promotes = w->plan->promote || w->plan->tile_k;
    return accumulator == 0 && promotes ? &w->promoted : settled(w, accumulator);
}

static void see_start(struct watcher *w, const struct watch_event *e)
{
    struct ledger *const sum = &w->sum[w->kept];
    ledger_zero(sum);
    ledger_add(sum, part_of_lane(w, e->accumulator));
}

static void see_fold(struct watcher *w, const struct watch_event *e)
{
    struct ledger *const sum = &w->sum[w->kept];
    ledger_shift(sum, -w->plan->scale);
    ledger_add(sum, part_of_lane(w, e->accumulator));
    ledger_close_f32(sum, PROMOTED, (uint32_t)e->after);
}

static void see_sum(struct watcher *w, const struct watch_event *e)
{
    ledger_close_f32(&w->sum[w->kept++], SLICED, (uint32_t)e->after);
    for (int i = 0; i < w->plan->accumulators; i++) accumulator_zero(w, i);
    ledger_zero(&w->promoted);
}

static void see_addition(struct watcher *w, const struct watch_event *e)
{
    w->kept--;
    ledger_add(&w->sum[w->kept - 1], &w->sum[w->kept]);
    ledger_close_f32(&w->sum[w->kept - 1], SLICED, (uint32_t)e->after);
}

static void see(void *context, const struct watch_event *e)
{
    static void (*const how[])(struct watcher *, const struct watch_event *) = {
        [WATCH_INSTRUCTION] = see_instruction,
        [WATCH_PROMOTION] = see_promotion,
        [WATCH_SCALING] = see_scaling,
        [WATCH_START] = see_start,
        [WATCH_FOLD] = see_fold,
        [WATCH_SUM] = see_sum,
        [WATCH_ADDITION] = see_addition,
        [WATCH_END] = NULL
    };
    struct watcher *const w = context;
    if (e->kind == WATCH_ZEROING) end_with(w, "an accumulator is set to zero", -1);
    else if (e->kind != WATCH_INSTRUCTION && !is_finite(&formats[FORMAT_F32], e->after))
        end_with(w, "a sum overflows", -1);
    if (e->kind == WATCH_END) w->total = (uint32_t)e->before, w->d = (uint32_t)e->after;
    else if (!w->event.what || e->kind == WATCH_INSTRUCTION) how[e->kind](w, e);
}

/* --- words ------------------------------------------------------------------------ */

/* What the words of an element stand for, further from it with each stage. */
enum stage { STAGE_EXACT, STAGE_WORDS, STAGE_SMALL, STAGE_REAL, STAGES };

/* A format with more exponents: above, and from STAGE_WORDS on below. */
static struct bitcut_format widened(const struct bitcut_format *f, enum stage stage)
{
    struct bitcut_format wide = *f;
    wide.exponent_bits = 11;
    wide.pad = 0;
    wide.bits = 1 + wide.exponent_bits + wide.fraction_bits;
    wide.has_sign = true;
    wide.special = SPECIAL_IEEE;
    wide.nan = (((uint64_t)1 << 12) - 1) << (f->fraction_bits - 1);
    if (stage == STAGE_WORDS) wide.bias = 1023;
    return wide;
}

/* One operand of a plan: how its elements become words at each stage. */
struct operand {
    const struct gemm_plan *plan;
    enum bitcut_operand which;
    const struct bitcut_split *split;
    int exponent; /* by which its line is equilibrated */
};

static int line_exponent(const struct gemm_plan *p, const struct bitcut_split *split,
                         const uint32_t *line, size_t k)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < k; i++) largest = equilibrate_larger(largest, line[i]);
    return p->equilibrate ? equilibrate_exponent(split, largest) : 0;
}

/* The number of a word, as the unit that takes it does from STAGE_SMALL on. */
static struct term word_term(const struct operand *o, int word, enum stage stage,
                             const struct bitcut_format *f, uint64_t encoding)
{
    const struct bitcut_unit *u = gemm_plan_reader(o->plan, o->which, word);
    const struct bitcut_format *const own = o->split->word[word].format;
    struct number x = format_decode(f, encoding);
    if (u && stage >= STAGE_SMALL && u->flush_inputs && format_is_subnormal(own, x))
        x = format_decode(f, 0);
    struct term t = number_term(f, x);
    t.exponent -= o->split->word[word].level * o->split->scale;
    return t;
}

/* The value of x at a stage, as far as its words are finite; a multiple of the last place
   of x, so that 64 bits hold it. */
static struct term element_value(const struct operand *o, enum stage stage, uint32_t x)
{
    struct bitcut_split split = *o->split;
    struct bitcut_format format[SPLIT_WORDS_MOST];
    struct term term[SPLIT_WORDS_MOST];
    uint64_t word[SPLIT_WORDS_MOST];
    int count = 0;
    struct term exact =
        number_term(&formats[FORMAT_F32], format_decode(&formats[FORMAT_F32], x));
    exact.exponent += o->exponent;
    if (stage == STAGE_EXACT) return exact;
    for (int i = 0; i < split.words && stage != STAGE_REAL; i++) {
        format[i] = widened(split.word[i].format, stage);
        split.word[i].format = &format[i];
    }
    split_words(word, &split, equilibrate_scale(x, o->exponent));
    for (int i = 0; i < split.words; i++)
        if (!split.word[i].copy)
            term[count++] = word_term(o, i, stage, split.word[i].format, word[i]);
    const struct unrounded sum = wide_sum(term, count);
    assert(!sum.sticky);
    return unrounded_term(sum);
}

/* An element at a stage: significand 2^exponent. */
struct value {
    uint64_t significand;
    int32_t exponent;
    bool negative;
};

struct budget_values {
    int exponent; /* by which the line is equilibrated: values are 2^exponent of it */
    size_t k;
    struct value at[]; /* [stage][k] */
};

struct budget_values *budget_values_make(const struct gemm_plan *plan,
                                         enum bitcut_operand operand,
                                         const uint32_t *line, size_t k)
{
    struct budget_values *const to =
        memory_allocate(k * sizeof to->at[0] + sizeof *to, STAGES);
    const struct bitcut_split *const split =
        operand == BITCUT_A ? &plan->split_a : &plan->split_b;
    const struct operand o = { plan, operand, split,
                               line_exponent(plan, split, line, k) };
    struct hostfp saved;
    if (!to) return NULL;
    to->exponent = o.exponent;
    to->k = k;
    hostfp_enter(&saved);
    for (size_t i = 0; i < STAGES * k; i++) {
        const struct term t = element_value(&o, (enum stage)(i / k), line[i % k]);
        to->at[i] = (struct value){ (uint64_t)t.significand, t.exponent, t.negative };
    }
    hostfp_leave(&saved);
    return to;
}

/* The sum of products at each stage, times 2^(both exponents). */
static void stage_sums(mpz_t to[STAGES], const struct budget_values *a,
                       const struct budget_values *b)
{
    for (size_t stage = 0; stage < STAGES; stage++) {
        struct wide sum;
        wide_clear(&sum, -1200, 700);
        for (size_t p = stage * a->k; p < (stage + 1) * a->k; p++)
            add_term(&sum,
                     (struct term){ (bitcut_uint128)a->at[p].significand *
                                        b->at[p].significand,
                                    a->at[p].exponent + b->at[p].exponent,
                                    a->at[p].negative != b->at[p].negative },
                     false);
        set_wide(to[stage], &sum);
    }
}

/* --- all of it -------------------------------------------------------------------- */

/* Everything of one output that is exact. */
struct account {
    mpz_t stage[STAGES], part[BUDGET_PARTS], error, value;
};

static void account_init(struct account *x)
{
    for (int i = 0; i < STAGES; i++) mpz_init(x->stage[i]);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_init(x->part[i]);
    mpz_inits(x->error, x->value, NULL);
}

static void account_clear(struct account *x)
{
    for (int i = 0; i < STAGES; i++) mpz_clear(x->stage[i]);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_clear(x->part[i]);
    mpz_clears(x->error, x->value, NULL);
}

/* Parts of the sum before the epilogue, then all as parts of D. */
static void account_fill(struct account *x, const struct watcher *w,
                         const struct bitcut_gemm *g, uint32_t c, int exponents)
{
    const struct ledger *const sum = &w->sum[0];
    mpz_t y;
    mpz_init(y);
    for (int i = 1; i < STAGES; i++)
        mpz_sub(x->part[BUDGET_REPRESENTATION + i - 1], x->stage[i], x->stage[i - 1]);
    mpz_sub(x->part[BUDGET_DROPPED], sum->entry[PRODUCTS], x->stage[STAGE_REAL]);
    for (int i = ALIGNED; i < ENTRIES; i++)
        mpz_set(x->part[BUDGET_ALIGNMENT + i - ALIGNED], sum->entry[i]);
    mpz_set(x->value, x->stage[STAGE_EXACT]);
    shift(x->value, -exponents);
    multiply(x->value, g->alpha);
    for (int i = 0; i < BUDGET_EPILOGUE; i++) {
        if (mpz_sgn(x->part[i])) shift(x->part[i], -exponents);
        multiply(x->part[i], g->alpha);
    }
    if (g->beta & 0x7fffffff) {
        set_f32(y, c);
        multiply(y, g->beta);
        mpz_add(x->value, x->value, y);
    }
    mpz_clear(y);
}

/* What D is beside alpha times the sum plus beta c; and that nothing is left over. */
static void account_close(struct account *x, const struct watcher *w,
                          const struct bitcut_gemm *g, uint32_t c, int exponents)
{
    mpz_t y;
    mpz_init(y);
    set_f32(y, w->total);
    if (mpz_sgn(y)) shift(y, -exponents);
    multiply(y, g->alpha);
    if (g->beta & 0x7fffffff) {
        set_f32(x->error, c);
        multiply(x->error, g->beta);
        mpz_add(y, y, x->error);
    }
    set_f32(x->error, w->d);
    mpz_sub(x->part[BUDGET_EPILOGUE], x->error, y);
    mpz_sub(x->error, x->error, x->value);
    mpz_set(y, x->error);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_sub(y, y, x->part[i]);
    assert(mpz_sgn(y) == 0);
    mpz_clear(y);
}

static double size_of(const struct bitcut_gemm *g, const struct budget_lines *x)
{
    double size = 0;
    for (size_t p = 0; p < x->k; p++)
        size += fabs(value_of_float(x->a[p]) * value_of_float(x->b[p]));
    size *= fabs(value_of_float(g->alpha));
    if (g->beta & 0x7fffffff)
        size += fabs(value_of_float(g->beta) * value_of_float(x->c));
    return size;
}

static bool inputs_finite(const struct bitcut_gemm *g, const struct budget_lines *x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    bool all = is_finite(f32, g->alpha) && is_finite(f32, g->beta) &&
               (!(g->beta & 0x7fffffff) || is_finite(f32, x->c));
    for (size_t p = 0; p < x->k; p++)
        all &= is_finite(f32, x->a[p]) && is_finite(f32, x->b[p]);
    return all;
}

static enum bitcut_status settle_account(struct budget_output *to,
                                         const struct watcher *w,
                                         const struct bitcut_gemm *g,
                                         const struct budget_lines *x, bool texts)
{
    const int exponents = x->values_a->exponent + x->values_b->exponent;
    struct account all;
    bool enough = true;
    account_init(&all);
    stage_sums(all.stage, x->values_a, x->values_b);
    account_fill(&all, w, g, x->c, exponents);
    account_close(&all, w, g, x->c, exponents);
    for (int i = 0; i < BUDGET_PARTS; i++) {
        to->part[i] = value_of(all.part[i]);
        if (texts) enough &= (to->exact[i] = text_of(all.part[i])) != NULL;
    }
    to->error = value_of(all.error);
    to->value = value_of(all.value);
    account_clear(&all);
    return enough ? BITCUT_OK : BITCUT_NO_MEMORY;
}

/* The same with values that are there. */
static enum bitcut_status settle(struct budget_output *to, const struct watcher *w,
                                 const struct bitcut_gemm *g,
                                 const struct budget_lines *x, bool texts,
                                 struct fault *f)
{
    struct budget_lines lines = *x;
    struct budget_values *own[2] = { NULL, NULL };
    if (!x->values_a)
        lines.values_a = own[0] = budget_values_make(w->plan, BITCUT_A, x->a, x->k);
    if (!x->values_b)
        lines.values_b = own[1] = budget_values_make(w->plan, BITCUT_B, x->b, x->k);
    const enum bitcut_status status = lines.values_a && lines.values_b
                                          ? settle_account(to, w, g, &lines, texts)
                                          : BITCUT_NO_MEMORY;
    free(own[0]);
    free(own[1]);
    return status == BITCUT_OK ? status
                               : fault_set(f, status, "out of memory for a budget");
}

enum bitcut_status budget_one(struct budget_output *to, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, const struct budget_lines *x,
                              bool texts, struct fault *f)
{
    struct watcher *const w = watcher_new(plan);
    const struct gemm_watch watch = { see, w };
    const struct gemm_options options = { .threads = 1, .watch = &watch };
    struct bitcut_gemm one = *g;
    enum bitcut_status status = BITCUT_NO_MEMORY;
    *to = (struct budget_output){ .size = size_of(g, x) };
    if (!w) return fault_set(f, status, "out of memory for a budget");
    if (!inputs_finite(g, x)) end_with(w, "an input is infinite or NaN", -1);
    gemm_set_dense(&one, &to->d, 1, 1, x->k, x->a, x->b, &x->c);
    status = gemm_run_plan(&one, plan, &options, f);
    if (status == BITCUT_OK && !w->event.what && !is_finite(&formats[FORMAT_F32], w->d))
        end_with(w, "the result overflows", -1);
    to->event = w->event;
    if (status == BITCUT_OK && !w->event.what) status = settle(to, w, g, x, texts, f);
    watcher_free(w);
    return status;
}

void budget_clear(struct budget_output *x)
{
    for (int i = 0; i < BUDGET_PARTS; i++) free(x->exact[i]);
    *x = (struct budget_output){ 0 };
}
