/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/emu/gemm_problem.h"

#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* --- what is asked for ------------------------------------------------------------- */

struct asked asked_of(const struct bitcut_recipe *r, const struct bitcut_unit *u)
{
    return (struct asked){ .recipe = r,
                           .unit = u,
                           .split_a = r->split ? *r->split : split_plain(u->a),
                           .split_b = r->split ? *r->split : split_plain(u->b),
                           .dropped_term = r->keeps_dropped_term,
                           .promote = r->promote,
                           .tile_k = r->tile_k,
                           .order = { .slices = 1, .lanes = 1 },
                           .alpha = ONE,
                           .scale_d = ONE,
                           .clamp_low = 0xff800000,
                           .clamp_high = INFINITE };
}

/* Factors as they are given to the library; `at` can be anything where only their shape
   matters. */
static struct bitcut_scales factors_given(const struct asked_factors *x, const void *at,
                                          const struct bitcut_format *format)
{
    if (!x->there) return (struct bitcut_scales){ .lines = 0 };
    return (struct bitcut_scales){ { .at = at, .format = format }, x->lines, x->depth };
}

struct bitcut_gemm asked_given(const struct asked *g)
{
    struct bitcut_gemm x = gemm_of(g->recipe, g->unit);
    x.split_a = &g->split_a;
    x.split_b = &g->split_b;
    x.dropped_term =
        g->dropped_term == g->recipe->keeps_dropped_term ? BITCUT_UNSET : g->dropped_term;
    x.promote = g->promote == g->recipe->promote ? BITCUT_UNSET : g->promote;
    x.tile_k = g->tile_k == g->recipe->tile_k ? BITCUT_UNSET : g->tile_k;
    x.equilibrate = g->equilibrate;
    x.sum_rounding = g->sum_rounding;
    x.round_seed = g->round_seed;
    x.order = g->order;
    x.alpha = g->alpha;
    x.beta = g->beta;
    memcpy(x.epilogue, g->epilogue, sizeof x.epilogue);
    x.start = g->start;
    x.scaling = g->scaling;
    x.bias_rows = g->bias_rows;
    if (g->has_bias) x.bias.at = g;
    const struct bitcut_format *const of_unit =
        g->scaling == BITCUT_SCALING_UNIT ? g->unit->scale : NULL;
    x.scale_a = factors_given(&g->scale_a, g, of_unit);
    x.scale_b = factors_given(&g->scale_b, g, of_unit);
    x.scale_d = g->scale_d;
    x.clamp_low = g->clamp_low, x.clamp_high = g->clamp_high;
    x.d.format = g->result;
    return x;
}

enum bitcut_status asked_check(const struct asked *g, struct fault *f)
{
    const struct bitcut_gemm x = asked_given(g);
    struct gemm_plan plan;
    return gemm_plan_on_unit(&plan, &x, f);
}

/* --- matrices ---------------------------------------------------------------------- */

static uint32_t sign_random(uint64_t *rng)
{
    return (uint32_t)(test_bits(rng) >> 63) << 31;
}

static uint32_t exponents(uint64_t *rng, int low, int high)
{
    const uint32_t fraction = (uint32_t)test_bits(rng) & 0x7fffff;
    return sign_random(rng) | power_of_two(test_between(rng, low, high)) | fraction;
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
    if (test_between(rng, 0, 40)) return exponents(rng, -8, 4);
    return special[test_between(rng, 0, 5)] | sign_random(rng);
}

static uint32_t fill_zeros(uint64_t *rng)
{
    return test_between(rng, 0, 3) ? sign_random(rng) : fill_subnormal(rng);
}

/* Sums that cancel: small multiples of powers of two. */
static uint32_t fill_few(uint64_t *rng)
{
    return sign_random(rng) | power_of_two(test_between(rng, 0, 2)) |
           (uint32_t)test_between(rng, 0, 1) << 22 | (uint32_t)!test_between(rng, 0, 5);
}

const struct input_class input_classes[CLASSES] = {
    { "normal", fill_normal },   { "wide", fill_wide },
    { "huge", fill_huge },       { "subnormal", fill_subnormal },
    { "special", fill_special }, { "zeros", fill_zeros },
    { "few", fill_few },
};

/* rows x cols elements of a class; what lies between the rows is NaN. */
static void matrix_fill(uint32_t *x, size_t rows, size_t cols, size_t ld,
                        const struct input_class *class, uint64_t *rng)
{
    for (size_t i = 0; i < rows * ld; i++)
        x[i] = i % ld < cols ? class->fill(rng) : (uint32_t)A_NAN;
}

void gemm_problem_fill(struct problem *p, struct shape shape,
                       const struct input_class *class, uint64_t *rng)
{
    const struct input_class *other = test_between(rng, 0, 1) ? class : &input_classes[0];
    p->m = shape.m, p->n = shape.n, p->k = shape.k;
    p->lda = p->k + (size_t)test_between(rng, 0, 3);
    p->ldb = p->n + (size_t)test_between(rng, 0, 3);
    p->ldc = p->n + (size_t)test_between(rng, 0, 3);
    p->ldd = p->n + (size_t)test_between(rng, 0, 3);
    p->in_place = test_between(rng, 0, 1);
    matrix_fill(p->a, p->m, p->k, p->lda, class, rng);
    matrix_fill(p->b, p->k, p->n, p->ldb, other, rng);
    matrix_fill(p->c, p->m, p->n, p->ldc, class, rng);
    for (size_t i = 0; i < ROW_MAX; i++) p->bias[i] = class->fill(rng);
    for (size_t i = 0; i < SIDE * LINE_LENGTH_MAX; i++) {
        p->factor_a[i] = other->fill(rng);
        p->factor_b[i] = class->fill(rng);
        p->scale_a[i] = (uint8_t)test_between(rng, 100, test_between(rng, 0, 30) ? 150 : 255);
        p->scale_b[i] = (uint8_t)test_between(rng, 100, test_between(rng, 0, 30) ? 150 : 255);
    }
    for (size_t i = 0; i < SIDE * ROW_MAX; i++) p->d[i] = 0xd0d0d0d0u ^ (uint32_t)i;
}

/* Two positions of a four: one of six pairs. */
static void pair_draw(uint8_t pair[2], uint64_t *rng)
{
    pair[0] = (uint8_t)test_between(rng, 0, 2);
    pair[1] = (uint8_t)test_between(rng, pair[0] + 1, 3);
}

void gemm_problem_thin(struct problem *p, const struct asked *g, uint64_t *rng)
{
    const bool given = g->sparsity == BITCUT_COMPRESSED_A || g->has_positions;
    p->ldp = p->k / 2 + (size_t)test_between(rng, 0, 3);
    for (size_t i = 0; i < p->m; i++) {
        const bool repeats = i && test_between(rng, 0, 1);
        for (size_t q = 0; q < p->k / 4; q++) {
            uint8_t *const pair = &p->positions[i * p->ldp + 2 * q];
            pair_draw(pair, rng);
            if (repeats) memcpy(pair, pair - p->ldp, 2);
            const int kept = test_between(rng, 0, 3);
            for (size_t e = 0; g->sparsity == BITCUT_SPARSE_A && e < 4; e++) {
                uint32_t *const x = &p->a[i * p->lda + 4 * q + e];
                const bool first = e == pair[0], second = e == pair[1];
                if (given ? !first && !second : !(first && kept) && !(second && kept > 1))
                    *x = given ? (uint32_t)A_NAN : sign_random(rng);
            }
        }
    }
}

/* --- the comparison ---------------------------------------------------------------- */

static void print_value(const char *name, uint32_t x)
{
    printf(" %s %08" PRIx32 " (%a)", name, x, format_to_double(F32, x));
}

static void print_difference(const struct asked *g, const struct problem *p, size_t i,
                             size_t j, uint32_t got, uint32_t want)
{
    printf("# %s on %s, %zu x %zu x %zu, equilibrate %d, dropped_term %d, promote %d, "
           "tile_k %d, slices %d, tile %d, partial_first %d, cut %d, balance_tail %d, "
           "lanes %d, chunk %d, unroll %d, narrow %d, apart %d, in lane %d, reduction %d, slices ascending %d, partial_format %s, partial_store %d, "
           "sum_rounding %s, round_seed %d, "
           "threads %d, splits %s %s\n",
           g->recipe->name, g->unit->name, p->m, p->n, p->k, g->equilibrate,
           g->dropped_term, g->promote, g->tile_k, g->order.slices, g->order.tile,
           g->order.partial_first, g->order.cut, g->order.balance_tail, g->order.lanes,
           g->order.chunk, g->order.unroll, g->order.narrow, g->order.narrow_apart,
           g->order.remainder_in_lane,
           (int)g->order.reduction, g->order.slices_ascending,
           g->order.partial_format ? g->order.partial_format->name : "none",
           g->order.partial_store, g->sum_rounding ? g->sum_rounding->name : "none",
           g->round_seed, g->threads, g->split_a.name, g->split_b.name);
    printf("# result %s, start %d, scaling %d, bias %d by rows %d, factors of A %d (%zu x "
           "%zu) and B %d (%zu x %zu), scale_d %08" PRIx32 ", clamp %08" PRIx32
           " %08" PRIx32 ", steps",
           g->result ? g->result->name : "f32", (int)g->start, (int)g->scaling,
           g->has_bias, g->bias_rows, g->scale_a.there, g->scale_a.lines,
           g->scale_a.depth, g->scale_b.there, g->scale_b.lines, g->scale_b.depth,
           g->scale_d, g->clamp_low, g->clamp_high);
    for (const unsigned char *s = g->epilogue; *s; s++) printf(" %d", *s);
    printf("\n# sparsity %d, positions %d", (int)g->sparsity, g->has_positions);
    printf("\n# alpha %08" PRIx32 ", beta %08" PRIx32 ", D is %sC\n# row %zu of A:",
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

/* Compare all of D's storage with what is wanted; prints the first difference. */
static void check_same(const struct asked *g, const struct problem *p,
                       const uint32_t *got, const uint32_t *want)
{
    const size_t bytes = result_bytes(g);
    for (size_t i = 0; i < SIDE * ROW_MAX * sizeof *got / bytes; i++) {
        uint32_t x = 0, y = 0;
        memcpy(&x, (const char *)got + i * bytes, bytes);
        memcpy(&y, (const char *)want + i * bytes, bytes);
        if (x == y) continue;
        if (p->ldd && i / p->ldd < p->m && i % p->ldd < p->n)
            print_difference(g, p, i / p->ldd, i % p->ldd, x, y);
        ck_abort_msg("%s on %s: D at %zu (of rows of %zu)", g->recipe->name,
                     g->unit->name, i, p->ldd);
    }
}

struct bitcut_gemm gemm_posed(const struct asked *g, uint32_t *d, const struct problem *p,
                              const uint32_t *c)
{
    struct bitcut_gemm x = asked_given(g);
    gemm_set_dense(&x, d, p->m, p->n, p->k, p->a, p->b, c);
    x.a.ld = p->lda, x.b.ld = p->ldb, x.c.ld = p->ldc, x.d.ld = p->ldd;
    x.d.format = g->result;
    const bool of_unit = g->scaling == BITCUT_SCALING_UNIT;
    if (g->has_bias) x.bias.at = p->bias;
    if (g->scale_a.there)
        x.scale_a.at.at = of_unit ? (const void *)p->scale_a : p->factor_a;
    if (g->scale_b.there)
        x.scale_b.at.at = of_unit ? (const void *)p->scale_b : p->factor_b;
    x.sparsity = g->sparsity;
    if (g->sparsity == BITCUT_COMPRESSED_A || (g->sparsity && g->has_positions))
        x.positions = (struct bitcut_matrix){ .at = p->positions,
                                              .format = &formats[FORMAT_U8],
                                              .ld = p->ldp };
    return x;
}

enum bitcut_status gemm_problem_run(uint32_t *d, const struct asked *g,
                                    const struct problem *p, const uint32_t *c)
{
    const struct bitcut_gemm x = gemm_posed(g, d, p, c);
    char why[BITCUT_TEXT_MAX] = "";
    const enum bitcut_status status = bitcut_gemm(NULL, &x, g->threads, why);
    if (status != BITCUT_OK) printf("# %s\n", why), fflush(stdout);
    return status;
}

void gemm_problem_check(const struct asked *g, struct problem *p)
{
    static uint32_t got[SIDE * ROW_MAX], want[SIDE * ROW_MAX];
    const bool in_place = p->in_place && !is_zero(g->beta) && !g->result;
    if (in_place) {
        p->ldd = p->ldc;
        memcpy(p->d, p->c, sizeof p->d);
    }
    gemm_problem_solve(want, g, p);
    memcpy(got, p->d, sizeof got);
    const uint32_t *c = in_place ? got : p->c;
    ck_assert_int_eq(
        gemm_problem_run(got, g, p, is_zero(g->beta) && p->in_place ? NULL : c),
        BITCUT_OK);
    check_same(g, p, got, want);
}
