/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of instructions and the names of units: fragments_run() and bitcut_mma() on
   every unit compared with the independent definition of one output (tests/emu/spec.h),
   the errors of fragments_check(), and the instruction that a chip stands for. */
#include "emu/fragment.h"
#include "tests/emu/spec.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT(name) (&formats[FORMAT_##name])

/* --- batches ----------------------------------------------------------------------- */

/* The operands of a batch and room for its outputs. */
struct batch {
    struct array a, b, c, scale_a, scale_b, d;
};

static uint64_t ones(int bits) { return UINT64_MAX >> (64 - bits); }

/* Any encoding now and then, else one below 2 in magnitude. */
static uint64_t encoding_random(const struct bitcut_format *f, uint64_t *rng)
{
    const uint64_t x = test_bits(rng) & ones(f->bits);
    const int top = f->pad + f->fraction_bits + f->exponent_bits - 1;
    return test_bits(rng) % 64 ? x & ~(UINT64_C(1) << top) : x;
}

/* Elements of whole bytes, count x rows x cols of them; two dimensions if count is 0. */
static void array_make(struct array *x, const struct bitcut_format *f, size_t count,
                       size_t rows, size_t cols, uint64_t *rng)
{
    const size_t dims[] = { count, rows, cols };
    const int skip = count == 0;
    ck_assert_int_eq(array_init(x, 3 - skip, dims + skip, (f->bits + 7) / 8, false, NULL),
                     BITCUT_OK);
    for (size_t i = 0; i < x->count; i++) array_set(x, i, encoding_random(f, rng));
}

static void batch_make(struct batch *x, const struct bitcut_unit *u, size_t count,
                       size_t m, size_t n, uint64_t *rng)
{
    const size_t k = (size_t)u->k;
    *x = (struct batch){ 0 };
    array_make(&x->a, u->a, count, m, k, rng);
    array_make(&x->b, u->b, count, k, n, rng);
    array_make(&x->c, u->c, count, m, n, rng);
    array_make(&x->d, u->c, count, m, n, rng);
    if (!u->scale) return;
    const size_t blocks = k / (size_t)u->scale_block;
    array_make(&x->scale_a, u->scale, count, m, blocks, rng);
    array_make(&x->scale_b, u->scale, count, blocks, n, rng);
}

static void batch_clear(struct batch *x)
{
    array_clear(&x->a);
    array_clear(&x->b);
    array_clear(&x->c);
    array_clear(&x->d);
    array_clear(&x->scale_a);
    array_clear(&x->scale_b);
}

static struct fragments batch_view(const struct batch *x, const struct bitcut_unit *u)
{
    return (struct fragments){ &x->a, &x->b, &x->c, u->scale ? &x->scale_a : NULL,
                               u->scale ? &x->scale_b : NULL };
}

/* --- one output stated again ------------------------------------------------------- */

/* Elements first, first + stride, ... of an array. */
static void gather(uint64_t *to, size_t count, const struct array *x, size_t first,
                   size_t stride)
{
    for (size_t i = 0; i < count; i++) to[i] = array_get(x, first + i * stride);
}

static uint64_t output_spec(const struct bitcut_unit *u, const struct batch *x,
                            struct fragment_shape s, size_t at, size_t i, size_t j)
{
    uint64_t a[SPEC_K_MAX], b[SPEC_K_MAX], sa[SPEC_K_MAX], sb[SPEC_K_MAX];
    gather(a, s.k, &x->a, at * s.m * s.k + i * s.k, 1);
    gather(b, s.k, &x->b, at * s.k * s.n + j, s.n);
    if (u->scale) {
        const size_t blocks = s.k / (size_t)u->scale_block;
        gather(sa, blocks, &x->scale_a, at * s.m * blocks + i * blocks, 1);
        gather(sb, blocks, &x->scale_b, at * blocks * s.n + j, s.n);
    }
    return spec_dot(u, a, b, u->scale ? sa : NULL, u->scale ? sb : NULL,
                    array_get(&x->c, at * s.m * s.n + i * s.n + j));
}

static void print_row(const char *name, const struct array *x)
{
    printf("# %s:", name);
    for (size_t i = 0; i < x->count; i++) printf(" %" PRIx64, array_get(x, i));
    printf("\n");
}

/* Compare d with the statement; how many outputs differ, the first one printed. */
static int outputs_compare(const struct bitcut_unit *u, const struct batch *x,
                           const struct array *d, struct fragment_shape s)
{
    int differ = 0;
    for (size_t o = 0; o < s.count * s.m * s.n; o++) {
        const size_t at = o / (s.m * s.n), i = o / s.n % s.m, j = o % s.n;
        const uint64_t got = array_get(d, o), want = output_spec(u, x, s, at, i, j);
        if (got == want || differ++) continue;
        printf("# %s, %zu x %zu x %zu x %zu, fragment %zu, output (%zu, %zu)\n", u->name,
               s.count, s.m, s.n, s.k, at, i, j);
        print_row("a", &x->a);
        print_row("b", &x->b);
        print_row("c", &x->c);
        printf("# got %" PRIx64 " = %a, want %" PRIx64 " = %a\n", got,
               format_to_double(u->c, got), want, format_to_double(u->c, want));
    }
    fflush(stdout); /* a failed check ends the process without it */
    return differ;
}

/* --- batches on every unit --------------------------------------------------------- */

static int batch_compare(const struct bitcut_unit *u, size_t count, size_t m, size_t n,
                         uint64_t *rng)
{
    struct batch x;
    struct fragment_shape s = { 0 };
    batch_make(&x, u, count, m, n, rng);
    const struct fragments f = batch_view(&x, u);
    ck_assert_int_eq(fragments_check(&s, u, &f, NULL), BITCUT_OK);
    ck_assert(s.count == (count ? count : 1) && s.m == m && s.n == n);
    ck_assert_uint_eq(s.k, (size_t)u->k);
    ck_assert_int_eq(fragments_run(&x.d, u, &f, s, 1, NULL, NULL), BITCUT_OK);
    const int differ = outputs_compare(u, &x, &x.d, s);
    for (size_t at = 0; at < s.count; at++)
        ck_assert_uint_eq(fragments_dot(u, &f, s, at, m - 1, 0),
                          array_get(&x.d, (at * m + m - 1) * n));
    batch_clear(&x);
    return differ;
}

START_TEST(batches)
{
    static const struct fragment_shape shapes[] = {
        { 3, 2, 3, 0 }, { 0, 4, 1, 0 }, { 1, 1, 5, 0 }, /* k is the unit's */
    };
    uint64_t rng = test_seed();
    int differ = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (int i = 0; i < test_cases(30, 300); i++)
            differ += batch_compare(u, shapes[i % 3].count, shapes[i % 3].m,
                                    shapes[i % 3].n, &rng);
    ck_assert_int_eq(differ, 0);
}
END_TEST

START_TEST(thread_counts)
{
    uint64_t rng = test_seed();
    const struct bitcut_unit *u = unit_find("mi210", FORMAT(F16));
    struct batch x;
    batch_make(&x, u, 23, 3, 5, &rng);
    const struct fragments f = batch_view(&x, u);
    const struct fragment_shape s = { 23, 3, 5, (size_t)u->k };
    for (int n = 0; n <= 5; n++) {
        memset(x.d.data, 0xd0, x.d.count * (size_t)x.d.bytes);
        ck_assert_int_eq(fragments_run(&x.d, u, &f, s, n, NULL, NULL), BITCUT_OK);
        ck_assert_msg(outputs_compare(u, &x, &x.d, s) == 0, "%d threads", n);
    }
    batch_clear(&x);
}
END_TEST

START_TEST(empty_batches)
{
    uint64_t rng = test_seed();
    const struct bitcut_unit *u = unit_find("h100", FORMAT(F16));
    for (int i = 0; i < 2; i++) {
        struct batch x;
        struct fragment_shape s;
        batch_make(&x, u, 2, i ? 0 : 3, i ? 3 : 0, &rng);
        const struct fragments f = batch_view(&x, u);
        ck_assert_int_eq(fragments_check(&s, u, &f, NULL), BITCUT_OK);
        ck_assert_uint_eq(s.m * s.n, 0);
        ck_assert_int_eq(fragments_run(&x.d, u, &f, s, 1, NULL, NULL), BITCUT_OK);
        batch_clear(&x);
    }
}
END_TEST

static void stop_now(void *context, double part)
{
    ck_assert(part > 0 && part <= 1);
    *(volatile sig_atomic_t *)context = 1;
}

START_TEST(stop)
{
    uint64_t rng = test_seed();
    const struct bitcut_unit *u = unit_find("h100", FORMAT(F16));
    struct batch x;
    struct fragment_shape s;
    struct fault fault = { 0 };
    volatile sig_atomic_t flag = 0;
    const struct progress progress = { stop_now, (void *)(uintptr_t)&flag, &flag };
    batch_make(&x, u, 4, 1, 1, &rng);
    const struct fragments f = batch_view(&x, u);
    ck_assert_int_eq(fragments_check(&s, u, &f, NULL), BITCUT_OK);
    ck_assert_int_eq(fragments_run(&x.d, u, &f, s, 1, &progress, &fault),
                     BITCUT_UNSUPPORTED);
    ck_assert_int_eq(fault.status, BITCUT_UNSUPPORTED);
    ck_assert_int_eq(flag, 1);
    batch_clear(&x);
}
END_TEST

/* --- the public call --------------------------------------------------------------- */

enum { COUNT = 3, ROWS = 2, COLS = 3, OUTPUTS = COUNT * ROWS * COLS };

/* A batch of 64-bit elements, as bitcut_mma() takes them. */
static void wide_batch_make(struct batch *x, const struct bitcut_unit *u, uint64_t *rng)
{
    batch_make(x, u, COUNT, ROWS, COLS, rng);
    struct array *const narrow[] = { &x->a, &x->b, &x->c, &x->d };
    for (int i = 0; i < 4; i++) {
        struct array wide;
        ck_assert_int_eq(array_init(&wide, 3, narrow[i]->dim, 8, false, NULL), BITCUT_OK);
        for (size_t j = 0; j < wide.count; j++)
            array_set(&wide, j, array_get(narrow[i], j));
        array_clear(narrow[i]);
        *narrow[i] = wide;
    }
}

static enum bitcut_status mma(uint64_t *d, const struct bitcut_unit *u,
                              const struct batch *x, const uint64_t *c, size_t k,
                              int threads)
{
    return bitcut_mma(d, u, COUNT, ROWS, COLS, k, x->a.data, x->b.data, c, threads);
}

/* Into an array of its own, then over C. */
static int mma_compare(const struct bitcut_unit *u, uint64_t *rng)
{
    struct batch x;
    uint64_t over[OUTPUTS];
    const size_t k = (size_t)u->k;
    wide_batch_make(&x, u, rng);
    memcpy(over, x.c.data, sizeof over);
    ck_assert_int_eq(mma(x.d.data, u, &x, x.c.data, k, 1), BITCUT_OK);
    ck_assert_int_eq(mma(over, u, &x, over, k, 1), BITCUT_OK);
    ck_assert_msg(!memcmp(over, x.d.data, sizeof over), "%s: D over C", u->name);
    const int differ =
        outputs_compare(u, &x, &x.d, (struct fragment_shape){ COUNT, ROWS, COLS, k });
    batch_clear(&x);
    return differ;
}

START_TEST(public_call)
{
    uint64_t rng = test_seed() + 1;
    int differ = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (!u->scale) differ += mma_compare(u, &rng);
    ck_assert_int_eq(differ, 0);
}
END_TEST

/* A unit, and what is wrong: k, the thread count, or a bit in an element. */
static const struct {
    const char *unit;
    int k_more, threads, array; /* array 0 to 2: `bit` is set in a, b or c */
    uint64_t bit;
    enum bitcut_status status;
} calls[] = {
    { "hopper/mma.m16n8k16.f32.f16", 0, 1, 0, 0, BITCUT_OK },
    { "hopper/mma.m16n8k16.f32.f16", 1, 1, 0, 0, BITCUT_BAD_ARGUMENT },
    { "hopper/mma.m16n8k16.f32.f16", -1, 1, 0, 0, BITCUT_BAD_ARGUMENT },
    { "hopper/mma.m16n8k16.f32.f16", 0, -1, 0, 0, BITCUT_BAD_ARGUMENT },
    { "hopper/mma.m16n8k16.f32.f16", 0, 1, 0, 0x10000, BITCUT_BAD_ARGUMENT },
    { "hopper/mma.m16n8k16.f32.f16", 0, 1, 1, UINT64_C(1) << 63, BITCUT_BAD_ARGUMENT },
    { "hopper/mma.m16n8k16.f32.f16", 0, 1, 2, UINT64_C(1) << 32, BITCUT_BAD_ARGUMENT },
    { "hopper/mma.m16n8k16.f32.f16", 0, 1, 2, UINT64_C(1) << 31, BITCUT_OK },
    { "hopper/mma.m16n8k16.f16.f16", 0, 1, 2, 0x10000, BITCUT_BAD_ARGUMENT },
    { "hopper/mma.m16n8k8.f32.tf32", 0, 1, 0, 1, BITCUT_OK },
    { "hopper/mma.m8n8k4.f64.f64", 0, 1, 1, UINT64_C(1) << 63, BITCUT_OK },
    { "blackwell/tcgen05.m128n8k32.f32.e2m1", 0, 1, 1, 0x10, BITCUT_BAD_ARGUMENT },
    { "rtx-blackwell/mma.m16n8k64.mxf4.f32.e2m1", 0, 1, 0, 0, BITCUT_BAD_ARGUMENT },
};

START_TEST(public_statuses)
{
    uint64_t rng = test_seed() + 2;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct batch x;
        uint64_t d[OUTPUTS], before[OUTPUTS];
        const struct bitcut_unit *u = unit_find(calls[i].unit, NULL);
        wide_batch_make(&x, u, &rng);
        struct array *const arrays[] = { &x.a, &x.b, &x.c };
        struct array *changed = arrays[calls[i].array];
        const size_t last = changed->count - 1;
        array_set(changed, last, array_get(changed, last) | calls[i].bit);
        memset(before, 0xd0, sizeof before);
        memcpy(d, before, sizeof d);
        const enum bitcut_status status =
            mma(d, u, &x, x.c.data, (size_t)(u->k + calls[i].k_more), calls[i].threads);
        ck_assert_msg(status == calls[i].status, "row %zu: status %d", i, (int)status);
        ck_assert_int_eq(!memcmp(d, before, sizeof d), status != BITCUT_OK);
        batch_clear(&x);
    }
}
END_TEST

/* --- what fragments_check() refuses ------------------------------------------------ */

enum array_name { ARRAY_A, ARRAY_B, ARRAY_C, SCALE_A, SCALE_B, ARRAYS };

static struct array *array_of(struct batch *x, enum array_name name)
{
    struct array *const arrays[ARRAYS] = { &x->a, &x->b, &x->c, &x->scale_a,
                                           &x->scale_b };
    return arrays[name];
}

/* An array of the nvf4 unit with dimension `dim` (-1: none) one longer, or with `dims`
   dimensions, or elements of `bytes`, or `bit` set in its last element. */
static const struct {
    enum array_name array;
    int dim, dims, bytes;
    uint64_t bit;
    const char *text[2]; /* parts of the message */
} refusals[] = {
    { ARRAY_A, 0, 0, 0, 0, { "B ", "4 x 64" } }, /* A says how many there are */
    { ARRAY_A, 1, 0, 0, 0, { "C ", "x 4 x" } },
    { ARRAY_A, 2, 0, 0, 0, { "A ", "x 64" } },
    { ARRAY_A, -1, 1, 0, 0, { "A", "3-D" } },
    { ARRAY_A, -1, 4, 0, 0, { "A", "3-D" } },
    { ARRAY_A, -1, 0, 2, 0, { "A ", "bytes" } },
    { ARRAY_A, -1, 0, 0, 0x10, { "A: ","e2m1" } },
    { ARRAY_B, 0, 0, 0, 0, { "B ", "3 x 64" } },
    { ARRAY_B, 1, 0, 0, 0, { "B ", "x 64" } },
    { ARRAY_B, 2, 0, 0, 0, { "C ", "x 3" } },
    { ARRAY_B, -1, 1, 0, 0, { "B", "3-D" } },
    { ARRAY_B, -1, 4, 0, 0, { "B", "3-D" } },
    { ARRAY_B, -1, 0, 4, 0, { "B ", "bytes" } },
    { ARRAY_B, -1, 0, 0, 0x80, { "B: ", "e2m1" } },
    { ARRAY_C, 0, 0, 0, 0, { "C ", "3 x 3 x 2" } },
    { ARRAY_C, 1, 0, 0, 0, { "C ", "3 x 3 x 2" } },
    { ARRAY_C, 2, 0, 0, 0, { "C ", "3 x 3 x 2" } },
    { ARRAY_C, -1, 1, 0, 0, { "C", "3-D" } },
    { ARRAY_C, -1, 0, 8, 0, { "C ", "bytes" } },
    { SCALE_A, 0, 0, 0, 0, { "the scale of A ", "3 x 3 x 4" } },
    { SCALE_A, 1, 0, 0, 0, { "the scale of A ", "3 x 3 x 4" } },
    { SCALE_A, 2, 0, 0, 0, { "the scale of A ", "3 x 3 x 4" } },
    { SCALE_A, -1, 0, 2, 0, { "the scale of A ", "bytes" } },
    { SCALE_A, -1, 0, 0, 0x80, { "the scale of A: ", "ue4m3" } },
    { SCALE_B, 1, 0, 0, 0, { "the scale of B ", "3 x 4 x 2" } },
    { SCALE_B, 2, 0, 0, 0, { "the scale of B ", "3 x 4 x 2" } },
    { SCALE_B, -1, 1, 0, 0, { "the scale of B", "3-D" } },
    { SCALE_B, -1, 0, 0, 0x80, { "the scale of B: ", "ue4m3" } },
};

/* *x with other dimensions or elements, as a row of `refusals` says. */
static void array_change(struct array *x, size_t row)
{
    struct array y;
    size_t dim[4] = { x->dim[0], x->dim[1], x->dim[2], 1 };
    if (refusals[row].dim >= 0) dim[refusals[row].dim]++;
    ck_assert_int_eq(array_init(&y, refusals[row].dims ? refusals[row].dims : 3, dim,
                                refusals[row].bytes ? refusals[row].bytes : x->bytes,
                                false, NULL),
                     BITCUT_OK);
    array_set(&y, y.count - 1, refusals[row].bit);
    array_clear(x);
    *x = y;
}

static void check_refused(const struct bitcut_unit *u, const struct fragments *x,
                          const char *first, const char *second)
{
    struct fault f = { 0 };
    struct fragment_shape s = { 7, 7, 7, 7 };
    ck_assert_msg(fragments_check(&s, u, x, &f) == BITCUT_BAD_ARGUMENT, "%s %s: accepted",
                  first, second);
    ck_assert_int_eq(f.status, BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(f.text, first) && strstr(f.text, second), "%s %s: %s", first,
                  second, f.text);
    ck_assert(s.count == 7 && s.m == 7 && s.n == 7 && s.k == 7);
}

START_TEST(check_refuses)
{
    const struct bitcut_unit *u =
        unit_find("blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1", NULL);
    uint64_t rng = test_seed() + 3;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct batch x;
        batch_make(&x, u, 3, 3, 2, &rng);
        array_change(array_of(&x, refusals[i].array), i);
        const struct fragments f = batch_view(&x, u);
        check_refused(u, &f, refusals[i].text[0], refusals[i].text[1]);
        batch_clear(&x);
    }
}
END_TEST

START_TEST(scales_are_for_units_with_scales)
{
    const struct bitcut_unit *scaled =
        unit_find("rtx-blackwell/mma.m16n8k32.mxf8f6f4.f32.e4m3", NULL);
    const struct bitcut_unit *plain =
        unit_find("rtx-blackwell/mma.m16n8k32.f32.e4m3", NULL);
    uint64_t rng = test_seed() + 4;
    struct batch x;
    struct fragment_shape s;
    batch_make(&x, scaled, 2, 3, 4, &rng);
    struct fragments f = batch_view(&x, scaled);
    ck_assert_int_eq(fragments_check(&s, scaled, &f, NULL), BITCUT_OK);
    check_refused(plain, &f, "no block scales", "");
    f.scale_a = NULL;
    check_refused(scaled, &f, "requires block scales", "");
    check_refused(plain, &f, "no block scales", "");
    f.scale_a = &x.scale_a;
    f.scale_b = NULL;
    check_refused(scaled, &f, "requires block scales", "");
    f.scale_a = NULL;
    ck_assert_int_eq(fragments_check(&s, plain, &f, NULL), BITCUT_OK);
    batch_clear(&x);
}
END_TEST

TEST_MAIN("fragment", batches, thread_counts, empty_batches, stop, public_call,
          public_statuses, check_refuses, scales_are_for_units_with_scales)
