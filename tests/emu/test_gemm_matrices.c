/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of a GEMM: formats, layouts, batches, errors, and the order of k, all compared
   with the same GEMM of dense FP32 matrices. */
#include "emu/gemm.h"
#include "lib/gemm/order.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 9, N = 11, K = 21, COUNT = 3, GAP = 5 };

/* --- one matrix in memory ----------------------------------------------------------- */

/* COUNT matrices, as they lie in memory and without gaps. */
struct stored {
    size_t rows, cols, elements;
    struct bitcut_matrix x;
    unsigned char *memory;
    uint32_t *dense; /* their values, FP32 */
    const void *each[COUNT];
};

static size_t place(const struct stored *s, size_t matrix, size_t i, size_t j)
{
    const bool by_rows = s->x.layout == BITCUT_ROW_MAJOR;
    return matrix * s->x.stride + (by_rows ? i * s->x.ld + j : j * s->x.ld + i);
}

static uint64_t stored_get(const struct stored *s, size_t at)
{
    const int bytes = format_bytes(matrix_format(&s->x));
    uint64_t encoding = 0;
    memcpy(&encoding, s->memory + at * (size_t)bytes, (size_t)bytes);
    return encoding;
}

/* A random finite encoding; now and then a NaN with a payload, or an infinity. */
static uint64_t some_encoding(const struct bitcut_format *f, uint64_t *rng)
{
    for (;;) {
        uint64_t e = test_bits(rng) & (((uint64_t)1 << f->bits) - 1);
        e &= ~(((uint64_t)1 << f->pad) - 1);
        const struct number x = format_decode(f, e);
        const bool special = x.kind == NUMBER_NAN || x.kind == NUMBER_INF;
        if ((special && !test_between(rng, 0, 9)) || (!special && abs(x.exponent) < 12))
            return e;
    }
}

static struct stored stored_make(size_t rows, size_t cols,
                                 const struct bitcut_format *format,
                                 enum bitcut_layout layout, uint64_t *rng)
{
    const size_t bytes = (size_t)format_bytes(format);
    const size_t length = layout == BITCUT_ROW_MAJOR ? cols : rows;
    struct stored s = { .rows = rows, .cols = cols };
    s.x = (struct bitcut_matrix){ .format = format, .layout = layout,
                                  .ld = length + (size_t)test_between(rng, 0, 2) };
    s.x.stride = s.x.ld * (rows * cols / length) + GAP;
    s.elements = COUNT * s.x.stride;
    s.memory = malloc(s.elements * bytes);
    s.dense = malloc(COUNT * rows * cols * sizeof *s.dense);
    ck_assert(s.memory && s.dense);
    for (size_t at = 0; at < s.elements; at++) {
        const uint64_t e = some_encoding(format, rng);
        memcpy(s.memory + at * bytes, &e, bytes);
    }
    for (size_t matrix = 0; matrix < COUNT; matrix++)
        for (size_t i = 0; i < rows * cols; i++) {
            const uint64_t e = stored_get(&s, place(&s, matrix, i / cols, i % cols));
            s.dense[matrix * rows * cols + i] =
                format == &formats[FORMAT_F32]
                    ? (uint32_t)e
                    : (uint32_t)bitcut_format_convert(&formats[FORMAT_F32],
                                                      &roundings[ROUND_RN], format, e);
        }
    s.x.at = s.memory;
    return s;
}

/* By pointers, in another order. */
static void by_pointers(struct stored *s)
{
    const size_t bytes = (size_t)format_bytes(s->x.format);
    for (size_t i = 0; i < COUNT; i++) s->each[i] = s->memory + i * s->x.stride * bytes;
    s->x.each = s->each;
    s->x.at = NULL;
}

static void stored_clear(struct stored *s)
{
    free(s->dense);
    free(s->memory);
}

/* --- formats and layouts ------------------------------------------------------------- */

/* The leading bits of a NaN, or one rounding: stated apart from the emulator. */
static uint64_t narrowed(const struct bitcut_format *to, uint32_t x)
{
    if (to == &formats[FORMAT_F32]) return x;
    if ((x & 0x7fffffff) > 0x7f800000) {
        if (to == &formats[FORMAT_F16])
            return (x >> 16 & 0x8000) | 0x7c00 | (x >> 13 & 0x3ff);
        if (to == &formats[FORMAT_BF16]) return x >> 16;
        if (to == &formats[FORMAT_TF32]) return x & 0xffffe000;
        if (to == &formats[FORMAT_E5M2])
            return (x >> 24 & 0x80) | 0x7c | (x >> 21 & 3);
        return to->nan;
    }
    return bitcut_format_convert(to, &roundings[ROUND_RN], &formats[FORMAT_F32], x);
}

/* GEMM i of the batch on dense FP32 matrices. */
static void expect(uint32_t *want, const struct bitcut_gemm *g, size_t i,
                   const struct stored *a, const struct stored *b, const struct stored *c)
{
    struct bitcut_gemm x = *g;
    gemm_set_dense(&x, want, M, N, K, a->dense + i * M * K, b->dense + i * K * N,
                   c->dense + i * M * N);
    x.count = 1;
    ck_assert_int_eq(bitcut_gemm(NULL, &x, 1, NULL), BITCUT_OK);
}

static void check_batch(const struct bitcut_gemm *g, const struct stored *a,
                        const struct stored *b, const struct stored *c, struct stored *d,
                        const unsigned char *before)
{
    const size_t bytes = (size_t)format_bytes(d->x.format);
    uint32_t want[M * N];
    for (size_t i = 0; i < COUNT; i++) {
        expect(want, g, i, a, b, c);
        for (size_t e = 0; e < M * N; e++) {
            const size_t at = place(d, i, e / N, e % N);
            const uint64_t got = stored_get(d, at), should = narrowed(d->x.format, want[e]);
            ck_assert_msg(got == should,
                          "%s on %s, D of %s: (%zu, %zu) of %zu: got %" PRIx64
                          ", want %" PRIx64,
                          g->recipe->name, g->unit->name, d->x.format->name, e / N, e % N,
                          i, got, should);
            memcpy(d->memory + at * bytes, before + at * bytes, bytes);
        }
    }
    ck_assert_msg(!memcmp(d->memory, before, d->elements * bytes),
                  "%s: what is not D was written", g->recipe->name);
}

static void try_matrices(const struct bitcut_gemm *recipe, uint64_t *rng)
{
    static const int held[] = { FORMAT_F32,  FORMAT_F16,  FORMAT_BF16, FORMAT_TF32,
                                FORMAT_E4M3, FORMAT_E5M2, FORMAT_F32 };
    const struct bitcut_format *f[4];
    enum bitcut_layout l[4];
    struct bitcut_gemm g = *recipe;
    for (int i = 0; i < 4; i++) {
        f[i] = &formats[held[test_between(rng, 0, 6)]];
        l[i] = (enum bitcut_layout)test_between(rng, 0, 1);
    }
    struct stored a = stored_make(M, K, f[0], l[0], rng),
                  b = stored_make(K, N, f[1], l[1], rng),
                  c = stored_make(M, N, f[2], l[2], rng),
                  d = stored_make(M, N, f[3], l[3], rng);
    unsigned char *before = malloc(d.elements * 4);
    ck_assert_ptr_nonnull(before);
    memcpy(before, d.memory, d.elements * (size_t)format_bytes(f[3]));
    if (test_between(rng, 0, 1)) by_pointers(&a);
    if (test_between(rng, 0, 1)) by_pointers(&d);
    g.m = M, g.n = N, g.k = K;
    g.count = COUNT;
    g.alpha = 0xbfa00000;
    g.beta = test_between(rng, 0, 1) ? 0x3f400000 : 0;
    g.a = a.x, g.b = b.x, g.c = c.x, g.d = d.x;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, test_between(rng, 1, 2), NULL), BITCUT_OK);
    check_batch(&g, &a, &b, &c, &d, before);
    free(before);
    stored_clear(&d);
    stored_clear(&c);
    stored_clear(&b);
    stored_clear(&a);
}

/* Every recipe on every unit that takes its parts, with payloads among the NaNs. */
START_TEST(formats_and_layouts)
{
    const int step = test_step(4);
    uint64_t rng = test_seed(), at = rng;
    int tried = 0;
    for (const struct bitcut_recipe *r = recipes; r->name; r++)
        for (const struct bitcut_unit *u = units; u->name; u++) {
            const struct bitcut_gemm g = gemm_of(r, u);
            struct gemm_plan plan;
            if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
            if (at++ % (uint64_t)step) continue;
            for (int i = 0; i < test_cases(2, 10); i++) try_matrices(&g, &rng);
            tried++;
        }
    ck_assert_int_gt(tried, 100);
}
END_TEST

/* D in the place of C, in each layout. */
START_TEST(in_place)
{
    uint64_t rng = test_seed() + 1;
    for (int layout = 0; layout < 2; layout++) {
        struct bitcut_gemm g = gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", NULL));
        const struct bitcut_format *f16 = &formats[FORMAT_F16];
        struct stored a = stored_make(M, K, f16, BITCUT_ROW_MAJOR, &rng),
                      b = stored_make(K, N, f16, BITCUT_ROW_MAJOR, &rng),
                      c = stored_make(M, N, f16, (enum bitcut_layout)layout, &rng);
        unsigned char *before = malloc(c.elements * 2);
        ck_assert_ptr_nonnull(before);
        memcpy(before, c.memory, c.elements * 2);
        g.m = M, g.n = N, g.k = K, g.count = COUNT, g.beta = 0x40000000;
        g.a = a.x, g.b = b.x, g.c = g.d = c.x;
        ck_assert_int_eq(bitcut_gemm(NULL, &g, 2, NULL), BITCUT_OK);
        check_batch(&g, &a, &b, &c, &c, before);
        free(before);
        stored_clear(&c);
        stored_clear(&b);
        stored_clear(&a);
    }
}
END_TEST

/* --- the struct ----------------------------------------------------------------------- */

static void open_everything(struct bitcut_gemm *g) { bitcut_gemm_init(g, sizeof *g); }
static void no_recipe(struct bitcut_gemm *g) { g->recipe = NULL; }
static void no_unit(struct bitcut_gemm *g) { g->unit = NULL; }
static void a_kernel(struct bitcut_gemm *g) { g->kernel = "x", g->unit = NULL; }
static void unit_and_kernel(struct bitcut_gemm *g) { g->kernel = "x"; }
static void too_short(struct bitcut_gemm *g) { g->size = 8; }
static void too_long(struct bitcut_gemm *g) { g->size = sizeof *g + 8; }
static void scale(struct bitcut_gemm *g) { g->scale = 61; }
static void dropped_term(struct bitcut_gemm *g) { g->dropped_term = 2; }
static void promote(struct bitcut_gemm *g) { g->promote = -2; }
static void tile_k(struct bitcut_gemm *g) { g->tile_k = -2; }
static void slices(struct bitcut_gemm *g) { g->order.slices = -1; }
static void lanes(struct bitcut_gemm *g) { g->order.lanes = -1; }
static void reduction(struct bitcut_gemm *g)
{
    g->order.reduction = (enum bitcut_reduction)4;
}
static void lane_twice(struct bitcut_gemm *g)
{
    g->order.lanes = 3, g->order.lane_order[0] = g->order.lane_order[1] = 1;
}
static void lane_beyond(struct bitcut_gemm *g)
{
    g->order.lanes = 2, g->order.lane_order[0] = 1, g->order.lane_order[2] = 2;
}
static void many_listed(struct bitcut_gemm *g)
{
    g->order.lanes = 17;
    for (int i = 0; i < BITCUT_LANE_ORDER_MAX; i++)
        g->order.lane_order[i] = (unsigned char)(15 - i);
}
static void unroll(struct bitcut_gemm *g) { g->order.unroll = -1; }
static void unroll_first(struct bitcut_gemm *g)
{
    g->order.lanes = 2, g->order.unroll = 4, g->order.partial_first = true;
}
static void narrow(struct bitcut_gemm *g) { g->order.narrow = -1; }
static void narrow_of(struct bitcut_gemm *g, int lanes, int sums, int round)
{
    g->order = (struct bitcut_order){
        .lanes = lanes, .narrow = sums, .unroll = round, .reduction = BITCUT_HALVES };
}
static void narrow_three(struct bitcut_gemm *g) { narrow_of(g, 8, 3, 64); }
static void narrow_six(struct bitcut_gemm *g) { narrow_of(g, 6, 2, 64); }
static void narrow_all(struct bitcut_gemm *g) { narrow_of(g, 4, 4, 64); }
static void narrow_short(struct bitcut_gemm *g) { narrow_of(g, 1 << 20, 2, 64); }
static void narrow_down(struct bitcut_gemm *g)
{
    narrow_of(g, 4, 2, 64);
    g->order.reduction = BITCUT_DESCENDING;
}
static void narrow_in_lane(struct bitcut_gemm *g)
{
    narrow_of(g, 4, 2, 64);
    g->order.remainder_in_lane = true;
}
static void unroll_two(struct bitcut_gemm *g)
{
    g->order.lanes = 2, g->order.unroll = 4, g->recipe = &recipes[RECIPE_OOTOMO];
    g->unit = unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
}
static void layout(struct bitcut_gemm *g) { g->d.layout = (enum bitcut_layout)2; }
static void parts(struct bitcut_gemm *g) { g->a.prepared = g; }
static void too_wide(struct bitcut_gemm *g) { g->a.format = &formats[FORMAT_F64]; }
static void no_nan(struct bitcut_gemm *g) { g->d.format = &formats[FORMAT_E2M1]; }
static void misaligned(struct bitcut_gemm *g) { g->b.at = (const char *)g->b.at + 2; }
static void column_ld(struct bitcut_gemm *g)
{
    g->d.layout = BITCUT_COLUMN_MAJOR;
    g->d.ld = 1;
}
static void overlap(struct bitcut_gemm *g) { g->count = 2, g->d.stride = 3; }
static void same_d(struct bitcut_gemm *g) { g->count = 2; }
static void turned_c(struct bitcut_gemm *g)
{
    g->c = g->d;
    g->c.layout = BITCUT_COLUMN_MAJOR;
    g->beta = 0x3f800000;
}
static void missing(struct bitcut_gemm *g)
{
    static const void *const none[2] = { NULL, NULL };
    g->count = 2, g->d.stride = 4;
    g->a.each = none;
}

static const struct {
    void (*change)(struct bitcut_gemm *g);
    const char *text;
} refusals[] = {
    { open_everything, "required" },
    { no_recipe, "required" },
    { no_unit, "required" },
    { a_kernel, "requires a device" },
    { unit_and_kernel, "cannot be combined" },
    { too_short, "bitcut_gemm_init() first" },
    { too_long, "newer" },
    { scale, "0 to 60" },
    { dropped_term, "enumeration" },
    { promote, "negative" },
    { tile_k, "negative" },
    { slices, "negative" },
    { lanes, "negative" },
    { reduction, "enumeration" },
    { lane_twice, "lane_order" },
    { lane_beyond, "lane_order" },
    { many_listed, "lane_order" },
    { unroll, "negative" },
    { unroll_first, "unroll and partial-first cannot be combined" },
    { narrow, "negative" },
    { narrow_three, "narrow requires lanes and narrow to be powers of two" },
    { narrow_six, "narrow requires lanes and narrow to be powers of two" },
    { narrow_all, "fewer than lanes" },
    { narrow_down, "reduction=tree or reduction=halves" },
    { narrow_short, "narrow requires a round (unroll) with a chunk for each lane" },
    { narrow_in_lane, "narrow and remainder-in-lane cannot be combined" },
    { unroll_two, "whose only accumulator can start from a sum, such as plain; ootomo" },
    { layout, "enumeration" },
    { parts, "device" },
    { too_wide, "A cannot have the format f64" },
    { no_nan, "D cannot have the format e2m1" },
    { misaligned, "B is not aligned" },
    { column_ld, "column length 2" },
    { overlap, "overlap" },
    { same_d, "overlap" },
    { turned_c, "D and C share memory" },
    { missing, "A must not be NULL" },
};

START_TEST(refused)
{
    uint32_t a[4] = { 0 }, b[4] = { 0 }, d[8] = { 7, 7, 7, 7, 7, 7, 7, 7 };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char why[BITCUT_TEXT_MAX] = "";
        struct bitcut_gemm g = gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", NULL));
        gemm_set_dense(&g, d, 2, 2, 2, a, b, NULL);
        refusals[i].change(&g);
        ck_assert_msg(bitcut_gemm(NULL, &g, 1, why) == BITCUT_BAD_ARGUMENT, "row %zu", i);
        ck_assert_msg(strstr(why, refusals[i].text), "row %zu: %s", i, why);
        ck_assert_uint_eq(d[0], 7);
    }
}
END_TEST

/* What ran has nothing open, and gives the same. */
START_TEST(what_ran)
{
    uint32_t a[4] = { 0x3f800001, 0x40000003, 0, 0x3f8fffff }, d[4], again[4];
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_OOTOMO],
                                   unit_find("hopper/mma.m16n8k16.f32.f16", NULL)),
                       ran;
    gemm_set_dense(&g, d, 2, 2, 2, a, a, NULL);
    bitcut_gemm_init(&ran, sizeof ran);
    ck_assert_int_eq(bitcut_gemm(&ran, &g, 1, NULL), BITCUT_OK);
    ck_assert(ran.size == sizeof ran && ran.split_a == &splits[SPLIT_HALFHALF] &&
              ran.split_b == ran.split_a && ran.promote == 1 && ran.dropped_term == 0 &&
              ran.tile_k == 0 && ran.scale == 11 && ran.order.slices == 1 &&
              ran.order.lanes == 1 && !ran.high && !ran.low); /* the splits' own */
    ran.d.to = again;
    ck_assert_int_eq(bitcut_gemm(NULL, &ran, 1, NULL), BITCUT_OK);
    ck_assert_mem_eq(d, again, sizeof d);
    ran.size = 3;
    ck_assert_int_eq(bitcut_gemm(&ran, &g, 1, NULL), BITCUT_BAD_ARGUMENT);
}
END_TEST

/* `high` is of the first part, `low` of all others, of both operands. */
START_TEST(roundings_of_parts)
{
    const struct bitcut_rounding *up = &roundings[ROUND_RU], *down = &roundings[ROUND_RD];
    struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_BF16X6], unit_find("hopper/mma.m16n8k16.f32.bf16", NULL));
    struct gemm_plan p;
    g.high = up;
    g.low = down;
    ck_assert_int_eq(gemm_plan_on_unit(&p, &g, NULL), BITCUT_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_eq(p.split_a.part[i].rounding, i ? down : up);
        ck_assert_ptr_eq(p.split_b.part[i].rounding, i ? down : up);
    }
}
END_TEST

/* What each product runs on. */
START_TEST(units_of_products)
{
    const struct bitcut_unit *f16 = unit_find("hopper/mma.m16n8k16.f32.f16", NULL),
                             *e4m3 = unit_find("hopper/mma.m16n8k32.f32.e4m3", NULL),
                             *f32 = unit_find("fma/f32", NULL);
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_HALF_FP8], f16);
    g.dropped_term = 1;
    for (size_t i = 0; i < 4; i++)
        ck_assert_ptr_eq(bitcut_gemm_unit(&g, i), i < 3 ? e4m3 : f16);
    ck_assert_ptr_null(bitcut_gemm_unit(&g, 4));
    g.unit = f32; /* wider than f16: it takes all parts */
    for (size_t i = 0; i < 4; i++) ck_assert_ptr_eq(bitcut_gemm_unit(&g, i), f32);
    g.unit = unit_find("a100", &formats[FORMAT_F16]);
    ck_assert_ptr_null(bitcut_gemm_unit(&g, 0));
    g.unit = NULL;
    ck_assert_ptr_null(bitcut_gemm_unit(&g, 0));
    ck_assert_ptr_null(bitcut_gemm_unit(NULL, 0));
    g = gemm_of(&recipes[RECIPE_OOTOMO], f16);
    for (size_t i = 0; i < 4; i++)
        ck_assert_ptr_eq(bitcut_gemm_unit(&g, i), i < 3 ? f16 : NULL);
}
END_TEST

/* --- the order of k ------------------------------------------------------------------- */

/* Sequences by hand: k of each step, - for none, sequences divided by '|', or by '+' if one
   starts from the latest retained sum. */
static const struct {
    struct bitcut_order order;
    size_t k, step;
    const char *steps, *adds;
    int kept;
} orders[] = {
    { { 0 }, 5, 2, "0 1,2 3,4 -", "0", 1 },
    { { .slices = 2 }, 7, 2, "0 1,2 3|4 5,6 -", "01", 1 },
    { { .slices = 5 }, 3, 1, "0|1|2", "011", 1 },
    { { .slices = 2, .tile = 4 }, 13, 2, "0 1,2 3,4 5,6 7|8 9,10 11,12 -", "01", 1 },
    { { .tile = 4, .partial_first = true }, 9, 2, "0 -,1 2,3 4,5 6,7 8", "0", 1 },
    { { .tile = 3, .partial_first = true }, 9, 2, "0 -,1 2,3 4,5 6,7 8", "0", 1 },
    { { .lanes = 2 }, 5, 1, "0,2,4|1,3", "01", 1 },
    { { .lanes = 2, .chunk = 4 }, 9, 2, "0 1,2 3,8 -|4 5,6 7", "01", 1 },
    { { .lanes = 2, .chunk = 2, .tile = 4, .partial_first = true },
      7,
      1,
      "0,1,3,4|2,5,6",
      "01",
      1 },
    { { .slices = 2, .lanes = 2 }, 8, 1, "0,2|1,3|4,6|5,7", "0102", 2 },
    { { .slices = 3, .reduction = BITCUT_DESCENDING }, 6, 2, "4 5|2 3|0 1", "011", 1 },
    { { .slices = 7, .reduction = BITCUT_TREE }, 7, 1, "0|1|2|3|4|5|6", "0102012", 2 },
    { { .slices = 3, .lanes = 3, .reduction = BITCUT_TREE },
      9,
      1,
      "0|1|2|3|4|5|6|7|8",
      "011012012",
      2 },
    { { .lanes = 4 }, 2, 1, "0|1", "01", 1 },
    { { .slices = 2, .cut = 3 }, 10, 2, "0 1,2 3,4 5|6 7,8 9", "01", 1 },
    { { .slices = 3, .cut = 1 }, 8, 2, "0 1,2 -|3 4,5 -|6 7", "011", 1 },
    { { .slices = 2, .cut = 5, .partial_first = true },
      8,
      2,
      "0 -,1 2,3 4|5 -,6 7",
      "01",
      1 },
    { { .slices = 2, .cut = 7, .tile = 4, .partial_first = true },
      13,
      2,
      "0 1,2 -,3 4,5 6|7 8,9 10,11 12",
      "01",
      1 },
    { { .slices = 2, .cut = 5, .lanes = 2 }, 9, 2, "0 1,4 -|2 3|5 6|7 8", "0102", 2 },
    { { .cut = 100, .partial_first = true, .tile = 4 }, 5, 1, "0,1,2,3,4", "0", 1 },
    { { .slices = 3, .tile = 4, .balance_tail = 1 },
      11,
      1,
      "0,1,2,3|4,5,6,7|8,9,10",
      "011",
      1 },
    { { .slices = 3, .tile = 5, .balance_tail = 1 },
      12,
      1,
      "0,1,2,3,4|5,6,7,8|9,10,11",
      "011",
      1 },
    { { .slices = 2, .tile = 6, .balance_tail = 3 }, 9, 1, "0,1,2,3,4,5|6,7,8", "01", 1 },
    { { .slices = 2, .tile = 6, .balance_tail = 4 },
      9,
      2,
      "0 1,2 3|4 5,6 7,8 -",
      "01",
      1 },
    { { .slices = 2, .tile = 6, .balance_tail = 8 },
      9,
      2,
      "0 1,2 3,4 5|6 7,8 -",
      "01",
      1 },
    { { .slices = 2, .tile = 6, .balance_tail = 2 },
      12,
      2,
      "0 1,2 3,4 5|6 7,8 9,10 11",
      "01",
      1 },
    { { .slices = 3, .cut = 5, .balance_tail = 2, .lanes = 2 },
      11,
      1,
      "0,2,4|1,3|5,7|6,8|9|10",
      "010202",
      2 },
    { { .slices = 2, .tile = 6, .balance_tail = 2, .partial_first = true },
      10,
      4,
      "0 1 2 3,4 5 - -|6 7 8 9",
      "01",
      1 },
    { { .slices = 1, .tile = 2, .balance_tail = 2 }, 3, 1, "0,1,2", "0", 1 },
    { { .slices = 3 }, 0, 4, "", "", 0 },
    { { .lanes = 8, .reduction = BITCUT_HALVES },
      8,
      1,
      "0|4|2|6|1|5|3|7",
      "01020103",
      3 },
    { { .lanes = 3, .reduction = BITCUT_HALVES }, 3, 1, "0|2|1", "011", 1 },
    { { .lanes = 6, .reduction = BITCUT_HALVES }, 6, 1, "0|4|2|1|5|3", "011012", 2 },
    { { .lanes = 32, .reduction = BITCUT_HALVES }, 3, 1, "0|2|1", "011", 1 },
    { { .slices = 5, .reduction = BITCUT_HALVES }, 5, 1, "0|4|2|1|3", "01102", 2 },
    { { .slices = 2, .lanes = 2, .reduction = BITCUT_HALVES },
      8,
      1,
      "0,2|1,3|4,6|5,7",
      "0102",
      2 },
    { { .lanes = 3, .lane_order = { 0, 2, 1 } }, 4, 1, "0,3|2|1", "011", 1 },
    { { .lanes = 3, .lane_order = { 2, 0, 1 }, .reduction = BITCUT_DESCENDING },
      2,
      1,
      "1|0",
      "01",
      1 },
    { { .lanes = 2, .unroll = 8 }, 12, 1, "0,2,4,6|1,3,5,7+8,9,10,11", "010", 1 },
    { { .lanes = 2, .unroll = 8 }, 8, 1, "0,2,4,6|1,3,5,7", "01", 1 },
    { { .lanes = 2, .unroll = 8 }, 7, 1, "0,1,2,3,4,5,6", "0", 1 },
    { { .lanes = 2, .unroll = 100 }, 5, 2, "0 1,2 3,4 -", "0", 1 },
    { { .unroll = 2 }, 5, 1, "0,1,2,3,4", "0", 1 },
    { { .lanes = 2, .unroll = 3 }, 11, 2, "0 1,4 5|2 3,6 7+8 9,10 -", "010", 1 },
    { { .lanes = 2, .chunk = 8, .unroll = 4 }, 6, 1, "0,1,2,3+4,5", "00", 1 },
    { { .lanes = 3, .unroll = 4 }, 9, 1, "0,3,6|1,4,7|2,5+8", "0110", 1 },
    { { .slices = 2, .cut = 5, .lanes = 2, .unroll = 4 },
      10,
      1,
      "0,2|1,3+4|5,7|6,8+9",
      "010011",
      2 },
    { { .slices = 2, .tile = 6, .balance_tail = 2, .lanes = 2, .unroll = 3 },
      10,
      1,
      "0,2,4|1,3,5|6,8|7+9",
      "01011",
      2 },
    { { .slices = 2,
        .cut = 5,
        .lanes = 2,
        .unroll = 2,
        .reduction = BITCUT_DESCENDING },
      6,
      1,
      "5|1,3|0,2+4",
      "0011",
      2 },
    { { .lanes = 2, .unroll = 8, .remainder_in_lane = true },
      12,
      1,
      "0,2,4,6,8,9,10,11|1,3,5,7",
      "01",
      1 },
    { { .lanes = 3, .unroll = 4, .remainder_in_lane = true, .lane_order = { 2, 0, 1 } },
      9,
      1,
      "2,5|0,3,6,8|1,4,7",
      "011",
      1 },
    { { .lanes = 2, .unroll = 8, .remainder_in_lane = true }, 5, 1, "0,1,2,3,4", "0", 1 },
    { { .lanes = 4, .unroll = 4, .narrow = 2, .reduction = BITCUT_HALVES },
      11,
      1,
      "0,4|2,6+8|1,5|3,7+9+10",
      "0100110",
      2 },
    { { .lanes = 4, .unroll = 4, .narrow = 2, .reduction = BITCUT_TREE },
      10,
      1,
      "0,4|1,5+8|2,6|3,7+9",
      "010011",
      2 },
    { { .lanes = 4, .unroll = 4, .narrow = 2, .reduction = BITCUT_TREE },
      9,
      1,
      "0,4|1,5|2,6|3,7+8",
      "01020",
      2 },
    { { .lanes = 8, .unroll = 8, .narrow = 4, .reduction = BITCUT_HALVES },
      5,
      1,
      "0|2|1|3+4",
      "01020",
      2 },
    { { .lanes = 8, .unroll = 8, .narrow = 2, .narrow_apart = true, .reduction = BITCUT_TREE,
        .lane_order = { 0, 1, 4, 5, 2, 3, 6, 7 } },
      15,
      1,
      "0|1|4|5|2|3|6|7|8|9|10|11|12|13+14",
      "010201030103020",
      3 },
    { { .lanes = 4, .unroll = 4, .narrow = 1, .narrow_apart = true,
        .reduction = BITCUT_HALVES },
      7,
      1,
      "0|2|1|3|4|5|6",
      "0102021",
      2 },
    { { .lanes = 4, .unroll = 4, .narrow = 1, .narrow_apart = true,
        .reduction = BITCUT_HALVES },
      3,
      1,
      "0|1|2",
      "011",
      1 },
    { { .lanes = 4, .unroll = 8, .narrow = 1, .narrow_apart = true,
        .reduction = BITCUT_HALVES },
      15,
      1,
      "0,4|2,6|1,5|3,7|8|10|9|11|12|13|14",
      "01020103021",
      3 },
    { { .slices = 3, .cut = 4, .lanes = 2, .reduction = BITCUT_DESCENDING,
        .slices_ascending = true },
      9,
      1,
      "1,3|0,2|5,7|4,6|8",
      "01021",
      2 },
    { { .slices = 2, .cut = 6, .lanes = 4, .unroll = 4, .narrow = 1,
        .reduction = BITCUT_HALVES },
      11,
      1,
      "0|2|1|3+4,5|6|8|7|9+10",
      "0102001021",
      3 },
};

static void describe(char *steps, char *adds, const struct k_parts *x, size_t k,
                     size_t step)
{
    for (size_t s = 0; s < x->count; s++) {
        for (size_t i = x->first[s]; i < x->first[s + 1]; i++) {
            steps += sprintf(steps, "%s",
                             i > x->first[s]           ? ","
                             : k_parts_resumes(x, s) ? "+"
                             : s                       ? "|"
                                                       : "");
            for (size_t p = i * step; p < (i + 1) * step; p++) {
                const size_t at = x->element ? x->element[p] : p;
                steps += sprintf(steps, p > i * step ? " " : "");
                steps += at < k ? sprintf(steps, "%zu", at) : sprintf(steps, "-");
            }
        }
        *adds++ = (char)('0' + x->adds[s]);
    }
    *steps = *adds = 0;
}

START_TEST(orders_by_hand)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        char steps[200], adds[40];
        struct k_parts x;
        ck_assert_int_eq(k_parts_make(&x, &orders[i].order, orders[i].k, orders[i].step),
                         BITCUT_OK);
        describe(steps, adds, &x, orders[i].k, orders[i].step);
        ck_assert_str_eq(steps, orders[i].steps);
        ck_assert_str_eq(adds, orders[i].adds);
        ck_assert_int_eq(x.kept, orders[i].kept);
        k_parts_clear(&x);
    }
}
END_TEST

TEST_MAIN("gemm_matrices", formats_and_layouts, in_place, refused, what_ran,
          roundings_of_parts, units_of_products, orders_by_hand)
