/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut_fit(): the outputs of a unit are explained by its own row, and every field of
   the row is among the reported values; an output with a changed bit is explained by no
   row, and the nearest row misses it; invalid arguments are refused. */
#include "emu/fragment.h"
#include "lib/bitcut.h"
#include "tests/test.h"

#include <string.h>

enum { COUNT = 40, M = 3, N = 2, K_MAX = 64 };

/* A recording with all of its arrays. */
struct recorded_set {
    uint64_t a[COUNT * M * K_MAX], b[COUNT * K_MAX * N], c[COUNT * M * N],
        d[COUNT * M * N], scale_a[COUNT * M * K_MAX], scale_b[COUNT * K_MAX * N];
    struct bitcut_recording r;
};

static struct array view(uint64_t *x, size_t rows, size_t cols)
{
    return (struct array){ .dims = 3,
                           .dim = { COUNT, rows, cols },
                           .count = COUNT * rows * cols,
                           .bytes = 8,
                           .data = x };
}

/* Encodings of numbers from 2^-below to 2: a 1 of the format with some exponent less. */
static void fill(uint64_t *x, size_t count, const struct bitcut_format *f, int below,
                 uint64_t *random)
{
    const struct bitcut_format *const f32 = bitcut_format_find("f32");
    const struct bitcut_rounding *const rn = bitcut_rounding_find("rn");
    for (size_t i = 0; i < count; i++) {
        const uint64_t sign = f->has_sign ? test_bits(random) & 0x80000000 : 0;
        const uint64_t value = sign |
                               (uint64_t)test_between(random, 127 - below, 127) << 23 |
                               (test_bits(random) & 0x7fffff);
        x[i] = bitcut_format_convert(f, rn, f32, value);
    }
}

static void set_make(struct recorded_set *s, const char *unit)
{
    const struct bitcut_unit *const u = bitcut_unit_find(unit, NULL);
    uint64_t random = test_seed();
    memset(s, 0, sizeof *s);
    ck_assert_msg(u && u->k <= K_MAX, "%s", unit);
    const size_t k = (size_t)u->k, blocks = u->scale ? k / (size_t)u->scale_block : 0;
    fill(s->a, COUNT * M * k, u->a, 9, &random);
    fill(s->b, COUNT * k * N, u->b, 9, &random);
    fill(s->c, COUNT * M * N, u->c, 20, &random);
    if (u->scale) {
        fill(s->scale_a, COUNT * M * blocks, u->scale, 3, &random);
        fill(s->scale_b, COUNT * blocks * N, u->scale, 3, &random);
    }
    const struct array a = view(s->a, M, k), b = view(s->b, k, N), c = view(s->c, M, N),
                       sa = view(s->scale_a, M, blocks), sb = view(s->scale_b, blocks, N);
    struct array d = view(s->d, M, N);
    const struct fragments x = { &a, &b, &c, u->scale ? &sa : NULL,
                                 u->scale ? &sb : NULL };
    ck_assert_int_eq(fragments_run(&d, u, &x, (struct fragment_shape){ COUNT, M, N, k },
                                   1, NULL, NULL),
                     BITCUT_OK);
    s->r = (struct bitcut_recording){ .size = sizeof s->r,
                                      .unit = u,
                                      .count = COUNT,
                                      .m = M,
                                      .n = N,
                                      .k = k,
                                      .blocks = blocks,
                                      .a = s->a,
                                      .b = s->b,
                                      .c = s->c,
                                      .d = s->d,
                                      .scale_a = u->scale ? s->scale_a : NULL,
                                      .scale_b = u->scale ? s->scale_b : NULL };
}

static struct bitcut_fit *fitted(struct bitcut_fit_report *report,
                                 const struct bitcut_recording *r, int threads)
{
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_fit *found = NULL;
    *report = (struct bitcut_fit_report){ .size = sizeof *report };
    ck_assert_msg(bitcut_fit(report, &found, r, threads, why) == BITCUT_OK, "%s", why);
    ck_assert(found && report->complete && report->tried && report->space > 1000000);
    return found;
}

static bool same_value(const struct bitcut_field *x, const struct bitcut_field *y)
{
    return x->kind == y->kind && !strcmp(x->text, y->text);
}

/* How many values the field at `index` of a group has, and whether the unit's is one, if
   it reads the field. */
static size_t values_of(bool *own, const struct bitcut_fit *found, int group,
                        size_t index, const struct bitcut_unit *u)
{
    const struct bitcut_table *const table = bitcut_table_find("units");
    struct bitcut_field value, of_unit;
    size_t count = 0;
    for (; bitcut_fit_value(&value, found, group, index, count); count++)
        for (size_t i = 0; bitcut_row_field(&of_unit, table, u, i); i++)
            *own |= !strcmp(of_unit.name, value.name) &&
                    (of_unit.kind == BITCUT_NULL || same_value(&of_unit, &value));
    return count;
}

/* The fields of a group; each has the value of the unit, or `one` value. */
static size_t fields_of(const struct bitcut_fit *found, int group, bool one,
                        const struct bitcut_unit *u)
{
    struct bitcut_field field;
    size_t index = 0;
    for (; bitcut_fit_field(&field, found, group, index); index++) {
        bool own = false;
        const size_t count = values_of(&own, found, group, index, u);
        ck_assert_msg(one ? count == 1 : own, "%s: %s", field.name, field.text);
        ck_assert(field.kind == BITCUT_TEXT && strlen(field.text));
    }
    return index;
}

static bool has_unit(const struct bitcut_fit *found, const struct bitcut_unit *u)
{
    size_t i = 0;
    while (bitcut_fit_unit(found, i) && bitcut_fit_unit(found, i) != u) i++;
    return bitcut_fit_unit(found, i) == u;
}

static const char *const taken[] = { "hopper/mma.m16n8k16.f32.f16",
                                     "cdna2/mfma.32x32x8.f32.f16",
                                     "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1",
                                     "ampere/mma.m16n8k8.f32.tf32" };

static void find(struct recorded_set *s, const char *unit)
{
    struct bitcut_fit_report r, again;
    set_make(s, unit);
    struct bitcut_fit *const found = fitted(&r, &s->r, 0);
    ck_assert_msg(r.unit_survives && has_unit(found, s->r.unit), "%s", unit);
    ck_assert(r.survivors && r.groups && !r.near && !r.misses);
    ck_assert_uint_eq(r.outputs, COUNT * M * N);
    ck_assert_uint_gt(fields_of(found, BITCUT_FIT_ALL, false, s->r.unit), 8);
    ck_assert_uint_eq(fields_of(found, BITCUT_FIT_NEAREST, true, s->r.unit), 0);
    ck_assert_uint_eq(fields_of(found, (int)r.groups, true, s->r.unit), 0);
    ck_assert_uint_eq(fields_of(found, -3, true, s->r.unit), 0);
    bitcut_fit_close(found);
    s->r.outputs = COUNT;
    bitcut_fit_close(fitted(&r, &s->r, 1));
    bitcut_fit_close(fitted(&again, &s->r, 3));
    ck_assert(r.outputs == COUNT && r.survivors == again.survivors);
    ck_assert(r.tried == again.tried && r.groups == again.groups);
}

START_TEST(finds_the_unit)
{
    static struct recorded_set s;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) find(&s, taken[i]);
}
END_TEST

/* A bit in the middle of the significand: nothing rounds so. */
START_TEST(says_the_nearest)
{
    static struct recorded_set s;
    struct bitcut_fit_report r;
    set_make(&s, taken[0]);
    s.d[77] ^= 1 << 12;
    struct bitcut_fit *const found = fitted(&r, &s.r, 0);
    ck_assert(!r.unit_survives && !r.survivors && !r.groups && r.near);
    ck_assert(r.misses == 1 && r.explains_first < r.outputs &&
              !bitcut_fit_unit(found, 0));
    ck_assert_uint_gt(fields_of(found, BITCUT_FIT_NEAREST, true, s.r.unit), 8);
    ck_assert_uint_eq(fields_of(found, BITCUT_FIT_ALL, false, s.r.unit), 0);
    bitcut_fit_close(found);
}
END_TEST

static void refused(const struct bitcut_recording *r, const char *why)
{
    char text[BITCUT_TEXT_MAX] = "";
    struct bitcut_fit *found = NULL;
    ck_assert_int_eq(bitcut_fit(NULL, &found, r, 0, text), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(!found && strstr(text, why), "%s: %s", why, text);
    ck_assert_int_eq(bitcut_fit(NULL, NULL, r, 0, NULL), BITCUT_BAD_ARGUMENT);
}

/* One thing is wrong. */
START_TEST(refuses)
{
    static struct recorded_set s;
    set_make(&s, taken[0]);
    const struct bitcut_recording good = s.r;
    refused(NULL, "bytes");
    s.r.size--, refused(&s.r, "bytes"), s.r = good;
    s.r.unit = NULL, refused(&s.r, "unknown unit"), s.r = good;
    s.r.k--, refused(&s.r, "hopper/mma.m16n8k16.f32.f16 requires 16"), s.r = good;
    s.r.blocks++, refused(&s.r, "16 in 1 blocks"), s.r = good;
    s.r.count = 0, refused(&s.r, "no outputs"), s.r = good;
    s.r.a = NULL, refused(&s.r, "A must not be NULL"), s.r = good;
    s.r.d = NULL, refused(&s.r, "D must not be NULL"), s.r = good;
    s.r.count = SIZE_MAX, refused(&s.r, "A must not be NULL"), s.r = good;
    s.r.scale_b = s.b, refused(&s.r, "takes no block scales"), s.r = good;
    s.b[5] = 0x10000, refused(&s.r, "B: element 5 is 0x10000"), s.b[5] = 0;
    ck_assert_int_eq(bitcut_fit(NULL, NULL, &s.r, -1, NULL), BITCUT_BAD_ARGUMENT);
    struct bitcut_fit_report small = { .size = sizeof small - 1 };
    ck_assert_int_eq(bitcut_fit(&small, NULL, &s.r, 0, NULL), BITCUT_BAD_ARGUMENT);
    set_make(&s, taken[2]);
    s.r.scale_b = NULL, refused(&s.r, "the scale of B must not be NULL");
}
END_TEST

TEST_MAIN("bitcut_fit", finds_the_unit, says_the_nearest, refuses)
