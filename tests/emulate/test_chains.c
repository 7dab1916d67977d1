/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that a device receives for an emulated GEMM, executed here: every chain,
   its products gathered and added one instruction after the other by a unit built from
   the rule alone; then sums, according to struct bitcut_order and struct bitcut_recipe.
   D must equal the emulator's, bit for bit. */
#include "emu/engine.h"
#include "emu/gemm.h"
#include "emu/summation.h"
#include "gpu/emulate/chains.h"
#include "gpu/emulate/emulation.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "tests/emu/gemm_problem.h"
#include "tests/test.h"

#include <stdlib.h>

enum { ROWS = 2, COLUMNS = 3, K_MAX = 200, PLACES_MAX = 8192 };

/* --- a unit and a split of numbers alone ------------------------------------------ */

static const struct summation *const by_sum[] = { [RULE_FUSED] = &sum_fused,
                                                  [RULE_PAIRS] = &sum_pairs,
                                                  [RULE_TWO_STAGE] = &sum_two_stage,
                                                  [RULE_SERIAL] = &sum_serial };

static uint64_t rounded(const struct bitcut_format *to, uint32_t x)
{
    return bitcut_format_convert(to, RN, F32, x);
}

static uint32_t widened(const struct bitcut_format *from, uint64_t x)
{
    return (uint32_t)bitcut_format_convert(F32, RN, from, x);
}

/* A unit whose k are in order. */
static struct bitcut_unit unit_of(const struct unit_rule *r)
{
    return (struct bitcut_unit){ .name = "a rule",
                                 .m = 1,
                                 .n = 1,
                                 .k = r->k,
                                 .a = &r->operand[0],
                                 .b = &r->operand[1],
                                 .c = &r->c,
                                 .summation = by_sum[r->sum],
                                 .block = r->block,
                                 .fraction = r->fraction,
                                 .align_min = r->align_min,
                                 .sum_fraction = r->sum_fraction,
                                 .keep = r->keep,
                                 .keep_min = r->keep_min,
                                 .carrier = r->carried ? &formats[FORMAT_F64] : NULL,
                                 .parity = r->parity,
                                 .normalise = r->normalise,
                                 .floor = r->floor,
                                 .c_last = r->c_last,
                                 .flush_inputs = r->flush_inputs,
                                 .result = &r->result,
                                 .rounding = r->rounding,
                                 .zero = (enum zero_sign)r->zero,
                                 .nan = rounded(&r->c, r->nan) };
}

static struct bitcut_split split_of(const struct split_rule *r)
{
    struct bitcut_split s = { .name = "a rule", .scale = r->scale, .parts = r->parts };
    for (int i = 0; i < r->parts; i++)
        s.part[i] = (struct split_part){ &r->part[i].format, &r->part[i].rounding,
                                         r->part[i].level, r->part[i].copy };
    return s;
}

/* --- a GEMM ----------------------------------------------------------------------- */

/* One GEMM, and of each line its parts as FP32 encodings, by place among the k-steps. */
struct case_ {
    struct bitcut_gemm gemm;
    struct bitcut_split split[2];
    struct gemm_plan plan;
    struct gpu_emulation e;
    struct k_parts parts;
    uint32_t a[ROWS * K_MAX], b[K_MAX * COLUMNS], c[ROWS * COLUMNS];
    uint32_t part_a[ROWS][SPLIT_PARTS_MAX][PLACES_MAX];
    uint32_t part_b[COLUMNS][SPLIT_PARTS_MAX][PLACES_MAX];
    int exponent_a[ROWS], exponent_b[COLUMNS];
};

/* What equilibrates a line, by the target of the rule alone. */
static int exponent_of(const struct split_rule *r, const uint32_t *x, size_t k,
                       size_t stride)
{
    uint32_t largest = 0;
    for (size_t p = 0; p < k; p++) largest = equilibrate_larger(largest, x[p * stride]);
    if (!largest) return 0;
    const struct number z = format_decode(F32, largest);
    const int top = z.exponent - 23 + 63 - __builtin_clzll(z.significand);
    return r->target - top;
}

static void parts_fill(uint32_t part[SPLIT_PARTS_MAX][PLACES_MAX], int *exponent,
                       const struct case_ *x, const struct split_rule *r,
                       const uint32_t *line, size_t stride)
{
    const size_t k = x->gemm.k, places = x->parts.steps * (size_t)x->e.k_step;
    const struct bitcut_split split = split_of(r);
    *exponent = x->plan.equilibrate ? exponent_of(r, line, k, stride) : 0;
    for (size_t q = 0; q < places; q++) {
        const size_t p = x->parts.element ? x->parts.element[q] : q < k ? q : SIZE_MAX;
        uint64_t parts[SPLIT_PARTS_MAX] = { 0 };
        if (p != SIZE_MAX)
            split_apply(parts, &split,
                        x->plan.equilibrate
                            ? equilibrate_scale(line[p * stride], *exponent)
                            : line[p * stride]);
        for (int w = 0; w < r->parts; w++)
            part[w][q] = p == SIZE_MAX ? 0 : widened(&r->part[w].format, parts[w]);
    }
}

static uint32_t fma32(const struct case_ *x, uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)fma_round(F32, RN, x->e.nan, a, b, c);
}

/* --- one chain -------------------------------------------------------------------- */

struct sums {
    uint32_t v, promoted;
};

static void happen(struct sums *s, const struct case_ *x, const struct unit_rule *r,
                   uint32_t what)
{
    if (what & CHAIN_PROMOTE) {
        s->promoted = fma32(x, s->promoted, ONE, s->v);
        s->v = 0;
    }
    if (what & CHAIN_SCALE)
        s->v =
            widened(&r->c, rounded(&r->c, fma32(x, s->v, f32_power_of_two(-x->plan.scale),
                                                s->v & 0x80000000u)));
    if (what & CHAIN_ZERO && (s->v & 0x7fffffff) >= x->e.zeroed) s->v = 0;
}

/* The instruction whose products begin at a place of both lines. */
static uint32_t instruction(const struct unit_rule *r, const uint32_t *a,
                            const uint32_t *b, uint32_t v)
{
    const struct bitcut_unit u = unit_of(r);
    struct number x[UNIT_K_MAX], y[UNIT_K_MAX];
    for (int i = 0; i < r->k; i++) {
        x[i] = unit_read(&u, u.a, rounded(u.a, a[r->order[i]]));
        y[i] = unit_read(&u, u.b, rounded(u.b, b[r->order[i]]));
    }
    return widened(u.c, unit_dot(&u, (struct lane){ x, NULL }, (struct lane){ y, NULL },
                                 rounded(u.c, v)));
}

static struct sums chain_run(const struct case_ *x, const struct chain *c,
                             int accumulator, size_t i, size_t j)
{
    const struct unit_rule *const r = &x->e.rule[accumulator];
    struct sums s = { 0 };
    uint32_t p = 0;
    size_t event = 0;
    for (size_t n = 0; n < c->runs; n++) {
        const struct chain_run *const run = &c->run[n];
        const uint32_t end = n + 1 < c->runs ? run[1].from : c->products;
        ck_assert(run->from == p && end > p && (end - p) % (uint32_t)r->k == 0);
        for (uint32_t at = run->at; p < end; p += (uint32_t)r->k) {
            if (event < c->events && c->event[event].at == p)
                happen(&s, x, r, c->event[event++].what);
            s.v =
                instruction(r, &x->part_a[i][run->a][at], &x->part_b[j][run->b][at], s.v);
            at += (uint32_t)r->k;
        }
    }
    ck_assert_uint_eq(p, c->products);
    if (event < c->events && c->event[event].at == p)
        happen(&s, x, r, c->event[event++].what);
    ck_assert_uint_eq(event, c->events);
    return s;
}

/* --- sums of chains --------------------------------------------------------------- */

/* All accumulators of a sequence, folded. */
static uint32_t folded(const struct case_ *x, const struct chain *chain, size_t i,
                       size_t j)
{
    const int last = x->plan.accumulators - 1;
    uint32_t v = 0;
    for (int n = last; n >= 0; n--) {
        const struct sums s = chain_run(x, &chain[n], n, i, j);
        const uint32_t own = n == 0 && x->e.promotes ? s.promoted : s.v;
        v = n == last ? own : fma32(x, v, f32_power_of_two(-x->plan.scale), own);
    }
    return v;
}

static uint32_t held(const struct case_ *x, uint32_t v)
{
    return (v & 0x7fffffff) > INFINITE ? v : f32_through(x->plan.order.partial_format, RN, v);
}

static uint32_t output(const struct case_ *x, struct chain *const *chains, size_t i,
                       size_t j)
{
    uint32_t kept[K_PARTS_KEPT_MAX] = { 0 };
    int count = 0;
    for (size_t s = 0; s < x->parts.count; s++) {
        uint32_t v = held(x, folded(x, chains[s], i, j));
        for (int n = 0; n < x->parts.adds[s]; n++)
            v = held(x, fma32(x, kept[--count], ONE, v));
        kept[count++] = v;
    }
    ck_assert_int_le(count, 1);
    uint32_t d = kept[0];
    if (x->plan.equilibrate)
        d = equilibrate_scale(d, -x->exponent_a[i] - x->exponent_b[j]);
    if ((d & 0x7fffffff) > INFINITE) d = x->e.nan;
    if (x->gemm.alpha != ONE)
        d = fma32(x, x->gemm.alpha, d, (x->gemm.alpha ^ d) & 0x80000000u);
    return gemm_reads_c(&x->gemm) ? fma32(x, x->gemm.beta, x->c[i * COLUMNS + j], d) : d;
}

static void compute(uint32_t *d, const struct case_ *x)
{
    struct chain **const chains = calloc(x->parts.count + 1, sizeof *chains);
    for (size_t s = 0; s < x->parts.count; s++) {
        chains[s] = calloc(RECIPE_ACCUMULATORS_MAX, sizeof **chains);
        for (int n = 0; n < x->plan.accumulators; n++)
            ck_assert_int_eq(chain_make(&chains[s][n], &x->e, &x->plan, &x->parts, s, n),
                             BITCUT_OK);
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) d[i * COLUMNS + j] = output(x, chains, i, j);
    for (size_t s = 0; s < x->parts.count; s++) {
        for (int n = 0; n < x->plan.accumulators; n++) chain_clear(&chains[s][n]);
        free(chains[s]);
    }
    free(chains);
}

/* --- what is tried ---------------------------------------------------------------- */

static const struct gpu_multiplier no_multipliers[] = { { 0 } };
static const struct emulator on = { .units = "none", .multipliers = no_multipliers };

static int one_of(uint64_t *rng, int otherwise, int most)
{
    return test_between(rng, 0, 2) ? otherwise : test_between(rng, 0, most);
}

static struct bitcut_order random_order(uint64_t *rng)
{
    static const int sums[] = { FORMAT_F32, FORMAT_F32, FORMAT_F16, FORMAT_BF16 };
    return (struct bitcut_order){
        .slices = one_of(rng, 0, 5),
        .tile = one_of(rng, 0, 40),
        .partial_first = test_between(rng, 0, 3) == 0,
        .cut = one_of(rng, 0, 50),
        .balance_tail = one_of(rng, 0, 20),
        .lanes = one_of(rng, 0, 4),
        .chunk = one_of(rng, 0, 30),
        .reduction = (enum bitcut_reduction)test_between(rng, 0, 3),
        .partial_format = &formats[sums[test_between(rng, 0, 3)]],
    };
}

static size_t table_length(void)
{
    size_t n = 0;
    while (splits[n].name) n++;
    return n;
}

/* Vary what the recipe says, now this, now that. */
static void vary(struct bitcut_gemm *g, struct bitcut_split split[2], uint64_t *rng)
{
    const int last = (int)table_length() - 1;
    if (!test_between(rng, 0, 2)) g->promote = test_between(rng, 0, 5);
    if (!test_between(rng, 0, 2)) g->tile_k = one_of(rng, 0, 70);
    if (!test_between(rng, 0, 2)) g->dropped_term = test_between(rng, 0, 1);
    if (!test_between(rng, 0, 3)) g->scale = test_between(rng, 0, 12);
    g->equilibrate = !test_between(rng, 0, 3);
    for (int i = 0; i < 2; i++) split[i] = splits[test_between(rng, 0, last)];
    if (!test_between(rng, 0, 3)) g->split_a = &split[0];
    if (!test_between(rng, 0, 3)) g->split_b = &split[1];
    if (test_between(rng, 0, 1)) g->order = random_order(rng);
    if (!test_between(rng, 0, 2)) g->alpha = input_classes[0].fill(rng);
    if (!test_between(rng, 0, 2)) g->beta = input_classes[0].fill(rng);
}

static void fill(uint32_t *to, size_t count, uint64_t *rng)
{
    const struct input_class *class = &input_classes[test_between(rng, 0, CLASSES - 1)];
    for (size_t i = 0; i < count; i++) to[i] = class->fill(rng);
}

static void parts_of_all(struct case_ *x)
{
    for (size_t i = 0; i < ROWS; i++)
        parts_fill(x->part_a[i], &x->exponent_a[i], x, &x->e.a, x->a + i * x->gemm.k, 1);
    for (size_t j = 0; j < COLUMNS; j++)
        parts_fill(x->part_b[j], &x->exponent_b[j], x, &x->e.b, x->b + j, COLUMNS);
}

static void check(struct case_ *x, uint64_t seed)
{
    char line[BITCUT_GEMM_MAX] = "";
    uint32_t want[ROWS * COLUMNS], got[ROWS * COLUMNS];
    struct fault f;
    gemm_set_dense(&x->gemm, want, ROWS, COLUMNS, x->gemm.k, x->a, x->b, x->c);
    ck_assert_int_eq(
        gemm_run_plan(&x->gemm, &x->plan, &(struct gemm_options){ .threads = 1 }, &f),
        BITCUT_OK);
    ck_assert_int_eq(emulation_make(&x->e, &x->gemm, &x->plan, &on, &f), BITCUT_OK);
    ck_assert_int_eq(
        k_parts_make(&x->parts, &x->plan.order, x->gemm.k, (size_t)x->plan.k_step),
        BITCUT_OK);
    ck_assert_uint_le(x->parts.steps * (size_t)x->e.k_step, PLACES_MAX);
    parts_of_all(x);
    compute(got, x);
    k_parts_clear(&x->parts);
    ck_assert_int_eq(bitcut_gemm_write(line, &x->gemm), BITCUT_OK);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        ck_assert_msg(got[i] == want[i],
                      "%s, k %zu, state %" PRIu64 ": (%zu, %zu) is %08x, not %08x", line,
                      x->gemm.k, seed, i / COLUMNS, i % COLUMNS, got[i], want[i]);
}

/* The plan's last term once more, which no recipe has. */
static void repeat_term(struct gemm_plan *p)
{
    if (p->terms == RECIPE_TERMS_MAX) return;
    p->term[p->terms] = p->term[p->terms - 1];
    p->unit[p->terms] = p->unit[p->terms - 1];
    p->terms++;
}

/* A GEMM whose recipe and unit go together, with other numbers; none with integers is
   emulated. */
static void try_on_numbers(struct case_ *x, uint64_t seed, uint64_t *rng)
{
    ck_assert_int_eq(gemm_plan_on_unit(&x->plan, &x->gemm, NULL), BITCUT_OK);
    if (split_is_fixed(&x->plan.split_a) || split_is_fixed(&x->plan.split_b)) {
        const int status = emulation_make(&x->e, &x->gemm, &x->plan, &on, NULL);
        ck_assert_int_eq(status, BITCUT_UNSUPPORTED);
        return;
    }
    if (!test_between(rng, 0, 9)) repeat_term(&x->plan);
    x->gemm.k = (size_t)test_between(rng, 0, K_MAX);
    fill(x->a, ROWS * x->gemm.k, rng);
    fill(x->b, x->gemm.k * COLUMNS, rng);
    fill(x->c, ROWS * COLUMNS, rng);
    check(x, seed);
}

/* A recipe on a unit, varied as far as both take it; false if they do not at all, or devices
   do not know the unit. */
static bool try_one(struct case_ *x, const struct bitcut_recipe *r,
                    const struct bitcut_unit *u, bool varied, uint64_t *rng)
{
    const uint64_t seed = *rng;
    struct unit_rule rule;
    x->gemm = gemm_of(r, u);
    if (gemm_plan_on_unit(&x->plan, &x->gemm, NULL) != BITCUT_OK) return false;
    if (!unit_rule_make(&rule, u)) return false;
    for (int tries = 0; varied && tries < 20; tries++) {
        struct bitcut_gemm g = gemm_of(r, u);
        vary(&g, x->split, rng);
        if (gemm_plan_on_unit(&x->plan, &g, NULL) != BITCUT_OK) continue;
        x->gemm = g;
        break;
    }
    try_on_numbers(x, seed, rng);
    return true;
}

/* Every recipe on every unit that takes it, as it is and varied. */
START_TEST(as_emulated)
{
    struct case_ *const x = calloc(1, sizeof *x);
    const int cases = test_cases(3, 100);
    uint64_t rng = test_seed();
    struct hostfp saved;
    ck_assert(x);
    hostfp_enter(&saved);
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        int tried = 0;
        for (const struct bitcut_unit *u = units; u->name; u++)
            for (int i = 0; i < cases; i++) tried += try_one(x, r, u, i > 0, &rng);
        ck_assert_msg(tried > 0, "%s: no unit takes it", r->name);
    }
    hostfp_leave(&saved);
    free(x);
}
END_TEST

/* Low parts of A and of B in formats of their own, which the unit reads as they are. */
START_TEST(mixed_parts)
{
    struct case_ *const x = calloc(1, sizeof *x);
    uint64_t rng = test_seed();
    struct hostfp saved;
    ck_assert(x);
    hostfp_enter(&saved);
    for (int i = 0; i < test_cases(30, 1000); i++) {
        const uint64_t seed = rng;
        x->gemm = gemm_of(&recipes[RECIPE_HALF_FP8],
                          unit_find("hopper/wgmma.m64n8k16.f32.f16", NULL));
        x->gemm.split_a = &splits[i % 2 ? SPLIT_HALF_E5M2 : SPLIT_HALF_E4M3];
        x->gemm.split_b = &splits[i % 2 ? SPLIT_HALF_E4M3 : SPLIT_HALF_E5M2];
        try_on_numbers(x, seed, &rng);
    }
    hostfp_leave(&saved);
    free(x);
}
END_TEST

/* More products, or places, than 32 bits count. */
START_TEST(too_long)
{
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_MARKIDIS],
                                         unit_find("ampere/mma.m16n8k16.f32.f16", NULL));
    size_t first[] = { 0, (size_t)1 << 26 };
    const struct k_parts parts = { .count = 1, .first = first };
    struct gemm_plan plan;
    struct gpu_emulation e;
    struct chain c = { .products = 7 };
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(emulation_make(&e, &g, &plan, &on, NULL), BITCUT_OK);
    ck_assert_int_eq(chain_make(&c, &e, &plan, &parts, 0, 0), BITCUT_UNSUPPORTED);
    first[0] = (size_t)1 << 28;
    first[1] = first[0] + 1;
    ck_assert_int_eq(chain_make(&c, &e, &plan, &parts, 0, 0), BITCUT_UNSUPPORTED);
    ck_assert_uint_eq(c.products, 7);
    first[0]--, first[1]--;
    ck_assert_int_eq(chain_make(&c, &e, &plan, &parts, 0, 0), BITCUT_UNSUPPORTED);
    first[0]--, first[1]--;
    ck_assert_int_eq(chain_make(&c, &e, &plan, &parts, 0, 0), BITCUT_OK);
    ck_assert_uint_eq(c.products, 4 * 16);
    chain_clear(&c);
}
END_TEST

/* A number that is different makes another rule of it; a name does not. */
START_TEST(same_rules)
{
    const struct bitcut_unit *const u = unit_find("hopper/mma.m16n8k16.f32.f16", NULL),
                                    *const wide = unit_find(
                                        "hopper/wgmma.m64n256k16.f32.f16", NULL);
    struct unit_rule x, y;
    ck_assert(unit_rule_make(&x, u) && unit_rule_make(&y, wide));
    ck_assert(unit_rule_same(&x, &y));
    for (const struct bitcut_unit *other = units; other->name; other++) {
        const bool alike = other->block == u->block && other->fraction == u->fraction &&
                           other->a == u->a && other->c == u->c && other->k == u->k &&
                           other->summation == u->summation;
        if (!unit_rule_make(&y, other)) continue;
        ck_assert_msg(unit_rule_same(&x, &y) == alike, "%s", other->name);
    }
}
END_TEST

TEST_MAIN("chains", as_emulated, mixed_parts, too_long, same_rules)
