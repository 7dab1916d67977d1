/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast paths compared with the engine, which tests/emu/test_engine.c and
   tests/emu/test_gemm.c compare with independent definitions: whole GEMMs at every level
   of vector instructions, bit for bit. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "analysis/evidence/mutant.h"
#include "analysis/evidence/sample.h"
#include "emu/gemm.h"
#include "emu/parts.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 140, DEPTH = 160 };

static const struct bitcut_format *f32(void) { return &formats[FORMAT_F32]; }

/* --- problems ---------------------------------------------------------------------- */

struct problem {
    size_t m, n, k;
    uint32_t a[SIDE * DEPTH], b[DEPTH * SIDE], c[SIDE * SIDE];
};

/* Levels with kernels that this processor has; the engine is not one of them. */
static bool level_runs(const struct simd_level *l)
{
    return l->kernels && l->supported();
}

/* A recipe on a unit, varied, on so many threads. */
struct task {
    struct bitcut_gemm gemm; /* without matrices */
    int threads;
};

static struct task task_of(const struct bitcut_recipe *r, const struct bitcut_unit *u)
{
    return (struct task){ gemm_of(r, u), 1 };
}

/* `parts`: stored by the first run of the problem, or NULL. */
static void run(uint32_t *d, const struct task *t, const struct problem *p,
                const struct simd_level *level, struct gemm_parts *parts)
{
    struct bitcut_gemm g = t->gemm;
    const struct gemm_options options = { .threads = t->threads,
                                          .simd = level,
                                          .parts = parts };
    struct fault f;
    for (size_t i = 0; i < p->m * p->n; i++) d[i] = 0xd0d0d0d0;
    gemm_set_dense(&g, d, p->m, p->n, p->k, p->a, p->b, p->c);
    if (gemm_run(&g, &options, &f) != BITCUT_OK)
        ck_abort_msg("%s on %s, %s: %s", g.recipe->name, g.unit->name, level->name,
                     f.text);
}

static const struct simd_level *engine(void)
{
    const struct simd_level *l = simd_levels;
    while (l->kernels) l++;
    return l;
}

/* What was computed, for the message of a failure. */
struct where {
    const char *kind, *change; /* of a row beside the unit's, or "" */
    uint64_t seed;
};

static void check_same(const struct task *t, const struct problem *p, const uint32_t *got,
                       const uint32_t *want, const struct simd_level *level,
                       struct where where)
{
    const struct bitcut_gemm *g = &t->gemm;
    for (size_t i = 0; i < p->m * p->n; i++) {
        if (got[i] == want[i]) continue;
        ck_abort_msg("%s on %s %s, %s, class %s, state %" PRIx64
                     ", %zu x %zu x %zu, slices %d, "
                     "tile %d, partial_first %d, lanes %d, turn %d, unroll %d, reduction %d, "
                     "promote %d, tile_k "
                     "%d, threads %d: (%zu, %zu) got %08" PRIx32 " (%a), want "
                     "%08" PRIx32 " (%a)",
                     g->recipe->name, g->unit->name, where.change, level->name,
                     where.kind, where.seed, p->m, p->n, p->k, g->order.slices,
                     g->order.tile, g->order.partial_first, g->order.lanes, g->order.chunk,
                     g->order.unroll, (int)g->order.reduction, g->promote, g->tile_k, t->threads, i / p->n,
                     i % p->n, got[i], format_to_double(f32(), got[i]), want[i],
                     format_to_double(f32(), want[i]));
    }
}

/* Every level against the engine; returns how many outputs were compared at each. */
static uint64_t check_levels(const struct task *t, const struct problem *p,
                             struct where where)
{
    static uint32_t got[SIDE * SIDE], want[SIDE * SIDE];
    struct gemm_parts parts = { 0 };
    run(want, t, p, engine(), NULL);
    for (const struct simd_level *l = simd_levels; l->name; l++) {
        if (!level_runs(l)) continue;
        run(got, t, p, l, p->k % 2 ? &parts : NULL);
        check_same(t, p, got, want, l, where);
    }
    gemm_parts_clear(&parts);
    return p->m * p->n;
}

/* --- one part: operands of the unit's own format, from the classes of samples ------- */

/* The FP32 value of an operand; a conversion to the format gives the operand back. */
static uint32_t value_of(const struct bitcut_unit *u, uint64_t encoding)
{
    return (uint32_t)bitcut_format_convert(f32(), &roundings[ROUND_RN], u->a, encoding);
}

/* Row i of A and column i of B are the samples of a class, so output (i, i) meets them as
   they are; an instruction in four is of any class. */
static void samples_fill(struct problem *p, const struct bitcut_unit *u,
                         const struct sample_class *class, uint64_t *state)
{
    struct rng rng = rng_start(test_bits(state), 0);
    const size_t lines = p->m > p->n ? p->m : p->n, step = (size_t)u->k;
    int classes = 0;
    while (sample_classes[classes].name && !sample_classes[classes].scaled) classes++;
    for (size_t i = 0; i < lines; i++)
        for (size_t k = 0; k < p->k; k += step) {
            struct sample s;
            const bool any = test_between(state, 0, 3) == 0;
            (any ? &sample_classes[test_between(state, 0, classes - 1)] : class)
                ->fill(&s, u, &rng);
            for (size_t j = 0; j < step && k + j < p->k; j++) {
                if (i < p->m) p->a[i * p->k + k + j] = value_of(u, s.a[j]);
                if (i < p->n) p->b[(k + j) * p->n + i] = value_of(u, s.b[j]);
            }
        }
    for (size_t i = 0; i < p->m * p->n; i++) p->c[i] = (uint32_t)test_bits(state);
}

/* Columns, which vectors hold, beyond one vector and beyond a block of them; without
   BITCUT_WHOLE mostly fewer rows, and few large shapes. */
static void shape_random(struct problem *p, uint64_t *state)
{
    const int one_of = test_whole() ? 8 : 32;
    const int most = test_long() || test_between(state, 1, one_of) == 1 ? SIDE : 30;
    p->m = (size_t)test_between(state, 1, most < SIDE && !test_whole() ? 12 : most);
    p->n = (size_t)test_between(state, 1, most);
    p->k = (size_t)test_between(state, 0, test_between(state, 0, 2) ? 50 : DEPTH);
}

/* One of 12 with BITCUT_WHOLE, one of 48 by default, all in check-long. */
static bool drawn(uint64_t *state)
{
    enum { ALL = 384 };
    return test_between(state, 0, ALL - 1) < test_cases(ALL / 12, ALL);
}

/* How a unit is computed. */
static enum fast_method method_of(const struct bitcut_unit *u)
{
    struct fast_rule r;
    ck_assert(fast_rule_make(&r, u));
    return r.method;
}

/* As many outputs are compared for a unit at each level, at least its classes once; in
   check-long 10^8 for each method. */
static uint64_t outputs_wanted(const struct bitcut_unit *u)
{
    uint64_t alike = 0;
    for (const struct bitcut_unit *v = units; v->name; v++)
        alike += fast_takes(v) && !field_repeats(v) && method_of(v) == method_of(u);
    return field_repeats(u) ? 1 : (uint64_t)test_cases(2000, 100000000 / (int)alike + 1);
}

static uint64_t class_check(const struct bitcut_unit *u, const char *change,
                            const struct sample_class *c, uint64_t *state)
{
    static struct problem p;
    struct task t = task_of(&recipes[RECIPE_PLAIN], u);
    const struct where where = { c->name, change, *state };
    shape_random(&p, state);
    samples_fill(&p, u, c, state);
    t.threads = test_between(state, 0, 7) ? 1 : 3;
    return check_levels(&t, &p, where);
}

static uint64_t unit_check(const struct bitcut_unit *u, uint64_t *state, uint64_t wanted)
{
    uint64_t compared = 0;
    do
        for (const struct sample_class *c = sample_classes; c->name; c++)
            if (!c->scaled && test_in_turn((int)(u - units), (int)(c - sample_classes)))
                compared += class_check(u, "", c, state);
    while (compared < wanted);
    return compared;
}

/* All units of a method; what is drawn for one method does not depend on the others. */
static uint64_t method_check(enum fast_method method)
{
    uint64_t state = test_seed() + method, compared = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (fast_takes(u) && method_of(u) == method)
            compared += unit_check(u, &state, outputs_wanted(u));
    return compared;
}

/* Methods of rows, first and last of a test: in check-long a test of all would be longer
   than Check can say (2^32 microseconds). */
static const enum fast_method groups[][2] = {
    { FAST_FUSED_F32, FAST_FUSED_CUT },
    { FAST_FUSED_F16, FAST_FUSED_F16_TWO },
    { FAST_CHAIN, FAST_EXACT },
    { FAST_PAIRS_FLUSH, FAST_DOT },
    { FAST_TWO_STAGE, FAST_TWO_STAGE_PARITY },
    { FAST_SERIAL_RN, FAST_CARRIED_RZ },
    { FAST_EXACT_F16, FAST_MULTIPLY_ADD_BF16 },
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static void group_check(int group)
{
    for (enum fast_method m = groups[group][0]; m <= groups[group][1]; m++) {
        const uint64_t compared = method_check(m);
        printf("# method %d: %" PRIu64 " outputs at each level\n", (int)m, compared);
        ck_assert_msg(compared, "method %d is of no row", (int)m);
    }
}

START_TEST(fused_to_f32) { group_check(0); }
END_TEST
START_TEST(fused_to_f16) { group_check(1); }
END_TEST
START_TEST(chains_and_exact) { group_check(2); }
END_TEST
START_TEST(pairs) { group_check(3); }
END_TEST
START_TEST(two_stage) { group_check(4); }
END_TEST
START_TEST(serial) { group_check(5); }
END_TEST
START_TEST(rounded_short) { group_check(6); }
END_TEST

static bool grouped(enum fast_method m)
{
    bool any = false;
    for (int i = 0; i < GROUPS; i++) any |= groups[i][0] <= m && m <= groups[i][1];
    return any;
}

/* Whether a GEMM can run on the unit at all. */
static bool can_run(const struct bitcut_unit *u)
{
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
    struct gemm_plan plan;
    return gemm_plan_on_unit(&plan, &g, NULL) == BITCUT_OK;
}

/* No other row of the table that a GEMM can run on is left to the engine, unless its
   summation is or its operands are of two formats, and none untested. */
START_TEST(all_rows)
{
    for (const struct bitcut_unit *u = units; u->name; u++)
        ck_assert_msg(!can_run(u) || !u->summation->fast || u->a != u->b ||
                          (fast_takes(u) && grouped(method_of(u))),
                      "%s", u->name);
}
END_TEST

/* Rows beside those of the table are computed rightly or left to the engine. */
START_TEST(one_step_away)
{
    static struct mutant list[MUTANTS_MAX];
    uint64_t state = test_seed() + 5;
    int tried = 0, taken = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const int count = field_repeats(u) ? 0 : mutants_list(list, u);
        for (int i = 0; i < count; i++) {
            if (!can_run(&list[i].unit)) continue;
            tried++;
            if (!fast_takes(&list[i].unit)) continue;
            taken++;
            char name[80];
            mutant_name(name, sizeof name, &list[i]);
            for (const struct sample_class *c = sample_classes; c->name; c++)
                if (!c->scaled && drawn(&state))
                    class_check(&list[i].unit, name, c, &state);
        }
    }
    printf("# %d of %d rows one step away\n", taken, tried);
    ck_assert_int_ge(taken, 100);
}
END_TEST

/* --- recipes: FP32 operands of many kinds ------------------------------------------- */

/* Signs and fractions at random, exponents from low to high. */
static uint32_t exponents(uint64_t *rng, int low, int high)
{
    const uint32_t bits = (uint32_t)test_bits(rng);
    return (bits & 0x807fffff) | (uint32_t)(test_between(rng, low, high) + 127) << 23;
}

static uint32_t fill_normal(uint64_t *rng) { return exponents(rng, -12, 2); }
static uint32_t fill_wide(uint64_t *rng) { return exponents(rng, -40, 20); }
static uint32_t fill_large(uint64_t *rng) { return exponents(rng, 30, 50); }
static uint32_t fill_shifted(uint64_t *rng) { return exponents(rng, 34, 38); }
static uint32_t fill_tiny(uint64_t *rng) { return exponents(rng, -62, -40); }
static uint32_t fill_vanishing(uint64_t *rng) { return exponents(rng, -78, -68); }
static uint32_t fill_least(uint64_t *rng) { return exponents(rng, -127, -100); }
static uint32_t fill_any(uint64_t *rng) { return (uint32_t)test_bits(rng); }
static uint32_t fill_largest(uint64_t *rng)
{
    return 0x3fffffff ^ (uint32_t)test_between(rng, 0, 1) << 13;
}

static uint32_t fill_few(uint64_t *rng)
{
    static const uint32_t few[] = { 0, 0x3f800000, 0x3fc00000, 0x40000000, 0x3f800001 };
    return few[test_between(rng, 0, 4)] | (uint32_t)test_between(rng, 0, 1) << 31;
}

/* A NaN or an infinity now and then, so that most lines have none. */
static uint32_t fill_special(uint64_t *rng)
{
    static const uint32_t special[] = { 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
                                        1 };
    return test_between(rng, 0, 999) ? fill_normal(rng)
                                     : special[test_between(rng, 0, 4)];
}

static const struct input_class {
    const char *name;
    uint32_t (*fill)(uint64_t *rng);
} classes[] = {
    { "normal", fill_normal },
    { "wide", fill_wide },
    { "large", fill_large },
    { "shifted", fill_shifted },
    { "tiny", fill_tiny },
    { "vanishing", fill_vanishing }, /* products of the size of the least subnormal */
    { "least", fill_least },
    { "any", fill_any },
    { "largest", fill_largest },
    { "few", fill_few },
    { "special", fill_special },
    { NULL, NULL },
};

static void inputs_fill(struct problem *p, const struct input_class *c, uint64_t *state)
{
    for (size_t i = 0; i < p->m * p->k; i++) p->a[i] = c->fill(state);
    for (size_t i = 0; i < p->k * p->n; i++) p->b[i] = c->fill(state);
    for (size_t i = 0; i < p->m * p->n; i++) p->c[i] = c->fill(state);
}

static void recipe_check(const struct bitcut_recipe *r, const struct bitcut_unit *u,
                         const struct input_class *c, uint64_t *state)
{
    static struct problem p;
    struct task t = task_of(r, u);
    struct bitcut_gemm *const g = &t.gemm;
    struct gemm_plan plan;
    const struct where where = { c->name, "", *state };
    if (test_between(state, 0, 2) == 0) g->order.slices = test_between(state, 1, 4);
    if (test_between(state, 0, 3) == 0) {
        g->order.lanes = test_between(state, 1, 5);
        g->order.tile = test_between(state, 0, 40);
        g->order.partial_first = test_between(state, 0, 1);
        g->order.cut = test_between(state, 0, 1) * test_between(state, 0, 20);
        g->order.balance_tail = test_between(state, 0, 1) * test_between(state, 0, 20);
        g->order.reduction = (enum bitcut_reduction)test_between(state, 0, 3);
        g->order.partial_format = test_between(state, 0, 2) ? NULL : &formats[FORMAT_F16];
        g->order.partial_store = test_between(state, 0, 1);
        for (int i = 0; i < g->order.lanes && g->order.tile % 2; i++)
            g->order.lane_order[i] = (unsigned char)(g->order.lanes - 1 - i);
        if (!g->order.partial_first) g->order.unroll = test_between(state, 0, 40);
        g->order.remainder_in_lane = !test_between(state, 0, 2);
        if (!test_between(state, 0, 3) && !g->order.partial_first && !g->order.remainder_in_lane)
            g->order.lanes = 4, g->order.narrow = 2, g->order.unroll = 64;
    }
    if (test_between(state, 0, 3) == 0) g->promote = test_between(state, 0, 5);
    if (test_between(state, 0, 2) == 0) g->tile_k = test_between(state, 0, 80);
    if (gemm_plan_on_unit(&plan, g, NULL) != BITCUT_OK) return;
    p.m = (size_t)test_between(state, 1, 15);
    p.n = (size_t)test_between(state, 1, 80);
    p.k = (size_t)test_between(state, 1, 100);
    inputs_fill(&p, c, state);
    if (test_between(state, 0, 3) == 0) g->alpha = c->fill(state);
    if (test_between(state, 0, 3) == 0) g->beta = fill_normal(state);
    t.threads = test_between(state, 0, 7) ? 1 : 3;
    check_levels(&t, &p, where);
}

START_TEST(all_recipes)
{
    uint64_t state = test_seed() + 1;
    for (int i = 0; i < test_cases(1, 20); i++)
        for (const struct bitcut_recipe *r = recipes; r->name; r++)
            for (const struct bitcut_unit *u = units; u->name; u++)
                for (const struct input_class *c = classes; fast_takes(u) && c->name; c++)
                    if (drawn(&state)) recipe_check(r, u, c, &state);
}
END_TEST

/* Tiles begin and end where rows, columns and k do. */
START_TEST(several_tiles)
{
    enum { M = 259, N = 521, K = 131 };
    static uint32_t a[M * K], b[K * N], got[M * N], want[M * N];
    uint64_t state = test_seed() + 2;
    static const char *const names[] = { "hopper/mma.m16n8k16.f32.f16",
                                         "ampere/mma.m16n8k8.f32.tf32",
                                         "hopper/mma.m16n8k32.f16.e5m2" };
    for (size_t i = 0; i < M * K; i++) a[i] = fill_special(&state);
    for (size_t i = 0; i < K * N; i++) b[i] = fill_special(&state);
    for (int i = 0; i < test_cases(3, 3); i++) {
        struct bitcut_gemm g =
            gemm_of(&recipes[RECIPE_PLAIN], bitcut_unit_find(names[i], NULL));
        gemm_set_dense(&g, want, M, N, K, a, b, NULL);
        ck_assert_int_eq(gemm_run(&g, &(struct gemm_options){ .simd = engine() }, NULL),
                         0);
        g.d.to = got;
        for (const struct simd_level *l = simd_levels; l->name; l++) {
            if (!level_runs(l)) continue;
            ck_assert_int_eq(gemm_run(&g, &(struct gemm_options){ .simd = l }, NULL), 0);
            for (size_t j = 0; j < M * N; j++)
                ck_assert_msg(got[j] == want[j], "%s, %s: (%zu, %zu) %08x, want %08x",
                              names[i], l->name, j / N, j % N, got[j], want[j]);
        }
    }
}
END_TEST

/* --- the caller's floating-point mode ----------------------------------------------- */

START_TEST(host_modes)
{
    static const char *const names[] = { "hopper/mma.m16n8k16.f32.f16",
                                         "hopper/wgmma.m64n8k16.f16.f16",
                                         "hopper/mma.m16n8k32.f32.e4m3" };
    static struct problem p;
    static uint32_t got[SIDE * SIDE], want[SIDE * SIDE];
    uint64_t state = test_seed() + 3;
    fenv_t host;
    fegetenv(&host);
    for (int i = 0; i < 3; i++)
        for (const struct simd_level *l = simd_levels; l->name; l++) {
            const struct bitcut_unit *u = bitcut_unit_find(names[i], NULL);
            struct task g = task_of(&recipes[i == 0 ? RECIPE_LEGEMM : RECIPE_PLAIN], u);
            g.threads = 0;
            if (!level_runs(l)) continue;
            p.m = 19, p.n = 70, p.k = 75;
            inputs_fill(&p, &classes[1], &state);
            run(want, &g, &p, engine(), NULL);
            for (int mode = 0; mode < 8; mode++) {
                test_host_mode(mode);
                run(got, &g, &p, l, NULL);
                ck_assert_msg(fegetround() != FE_TONEAREST || mode % 4 == 0,
                              "mode changed");
                fesetenv(&host);
                check_same(&g, &p, got, want, l,
                           (struct where){ "mode", "", (uint64_t)mode });
            }
        }
}
END_TEST

/* --- parts ---------------------------------------------------------------------------
 */

enum { LINES = 67, LENGTH = 190 };

/* The parts by a level, which include what can be read beyond, are `want`. */
static void level_parts_check(const struct bitcut_unit *u, const struct parts_rule *rule,
                              struct parts_source from, const struct parts *want,
                              const struct simd_level *level)
{
    struct parts got;
    struct parts_rule fast = *rule;
    const struct bitcut_split *s = rule->split;
    fast.kernels = level->kernels;
    ck_assert_int_eq(parts_make(&got, &fast, from, LINES, LENGTH, LENGTH + 2, 2),
                     BITCUT_OK);
    const size_t count = parts_index(want, LINES - 1, LENGTH + 1) + 1 + PARTS_RUN;
    for (int w = 0; w < s->parts; w++)
        ck_assert_msg(!memcmp(got.at[w], want->at[w], count * (size_t)unit_part_bytes(u)),
                      "part %d of %s %s %s, %s", w, u->a->name, s->part[0].rounding->name,
                      s->part[1].rounding->name, level->name);
    ck_assert(!memcmp(got.magnitudes, want->magnitudes, LINES * sizeof *got.magnitudes));
    parts_clear(&got);
}

static void parts_check(const struct bitcut_unit *u, const struct bitcut_split *s,
                        const uint32_t *x, bool columns, bool equilibrate)
{
    struct parts want;
    const struct parts_rule rule = { .operand = u->a,
                                     .split = s,
                                     .equilibrate = equilibrate };
    const struct parts_source from = { x, columns ? LINES : LENGTH, columns };
    ck_assert_int_eq(parts_make(&want, &rule, from, LINES, LENGTH, LENGTH + 2, 1),
                     BITCUT_OK);
    for (const struct simd_level *l = simd_levels; l->name; l++)
        if (level_runs(l)) level_parts_check(u, &rule, from, &want, l);
    parts_clear(&want);
}

/* Near the ends of a format's range, and anywhere. */
static uint32_t fill_edge(uint64_t *rng, const struct bitcut_format *f)
{
    const int at[] = { format_emin(f), format_emin(f) - f->fraction_bits,
                       format_emax(f) };
    const int e = at[test_between(rng, 0, 2)] + test_between(rng, -2, 2);
    const uint32_t fraction = (uint32_t)test_bits(rng) & 0x7fffff;
    const uint32_t cut = fraction & -(1u << test_between(rng, 0, 22));
    if (test_between(rng, 0, 2) == 0) return fill_any(rng);
    return (uint32_t)(e + 127 < 0     ? 0
                      : e + 127 > 255 ? 255
                                      : e + 127)
               << 23 |
           (test_between(rng, 0, 1) ? cut : cut - 1u) % 0x800000 |
           (uint32_t)test_between(rng, 0, 1) << 31;
}

/* Any rule for the high and the low part, of every format that a unit multiplies. */
START_TEST(parts_of_splits)
{
    static uint32_t x[LINES * LENGTH];
    uint64_t state = test_seed() + 4;
    for (int i = 0; i < test_cases(3, 500); i++)
        for (const struct bitcut_unit *u = units; u->name; u++) {
            struct bitcut_split s = split_plain(u->a);
            if (u->a != u->b || u->a->bits > 32 || !u->a->has_sign) continue;
            if (u > units && u->a == u[-1].a) continue;
            s.parts = test_between(&state, 1, 3);
            s.scale = test_between(&state, 0, 12);
            const struct bitcut_rounding
                *high = &roundings[test_between(&state, ROUND_RN, ROUND_FENG22)],
                *low = &roundings[test_between(&state, ROUND_RN, ROUND_FENG22)];
            for (int j = 0; j < SPLIT_PARTS_MAX; j++)
                s.part[j] = (struct split_part){ u->a, j ? low : high, j, false };
            for (size_t j = 0; j < LINES * LENGTH; j++) x[j] = fill_edge(&state, u->a);
            parts_check(u, &s, x, test_between(&state, 0, 1), test_between(&state, 0, 1));
        }
}
END_TEST

/* --- choosing a level -----------------------------------------------------------------
 */

START_TEST(environment)
{
    const struct simd_level *l;
    struct fault f;
    for (const struct simd_level *row = simd_levels; row->name; row++) {
        setenv("BITCUT_SIMD", row->name, 1);
        simd_read_environment();
        const enum bitcut_status want = row->supported() ? BITCUT_OK : BITCUT_UNSUPPORTED;
        ck_assert_int_eq(simd_choose(&l, &f), want);
        if (want == BITCUT_OK) ck_assert_ptr_eq(l, row);
    }
    setenv("BITCUT_SIMD", "sse", 1);
    simd_read_environment();
    ck_assert_int_eq(simd_choose(&l, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text,
                     "BITCUT_SIMD must be avx512, avx2, plain or none, found \"sse\"");
    uint32_t one = F32_ONE, d = 7;
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], units);
    gemm_set_dense(&g, &d, 1, 1, 1, &one, &one, NULL);
    ck_assert_int_eq(gemm_run(&g, &(struct gemm_options){ 0 }, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_uint_eq(d, 7);
    setenv("BITCUT_SIMD", "", 1);
    simd_read_environment();
    ck_assert_int_eq(simd_choose(&l, &f), BITCUT_OK);
    ck_assert_ptr_eq(l, simd_best());
}
END_TEST

TEST_MAIN("fast", fused_to_f32, fused_to_f16, chains_and_exact, pairs, two_stage, serial,
          rounded_short, all_rows, one_step_away, all_recipes, several_tiles, host_modes,
          parts_of_splits, environment)
