/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole arrays of encodings: each element as by the function for one element, and changes
   counted by the values of encodings. */
#include "lib/number/split.h"
#include "tests/number/number_oracle.h"
#include "tests/test.h"

#include <string.h>

enum { COUNT = 1000 };

static uint64_t element(const void *array, int bytes, size_t i)
{
    uint8_t byte[8];
    uint64_t x = 0;
    memcpy(byte, (const char *)array + (size_t)bytes * i, (size_t)bytes);
    const union {
        uint16_t number;
        uint8_t low;
    } order = { 1 };
    for (int b = 0; b < bytes; b++)
        x |= (uint64_t)byte[b] << 8 * (order.low ? b : bytes - 1 - b);
    return x;
}

static bool same(struct value x, struct value y)
{
    if (x.kind == NUMBER_NAN || x.kind != y.kind) return x.kind == y.kind;
    if (x.negative != y.negative) return false;
    return x.kind == NUMBER_INF || x.magnitude == y.magnitude;
}

/* Every format to every other, by two rules: one of them keeps what overflows. */
static void check_pair(const struct bitcut_format *to, const struct bitcut_format *from,
                       const struct bitcut_rounding *rounding, uint64_t *rng)
{
    uint64_t got[COUNT], source[COUNT];
    size_t changed = SIZE_MAX, expected = 0;
    const int bytes = format_bytes(from), to_bytes = format_bytes(to);
    for (int i = 0; i < COUNT; i++) source[i] = test_bits(rng);
    ck_assert_int_eq(
        bitcut_format_convert_array(&changed, got, to, rounding, source, from, COUNT),
        BITCUT_OK);
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t x = element(source, bytes, i) & UINT64_MAX >> (64 - from->bits),
                       y = element(got, to_bytes, i);
        ck_assert_msg(y == bitcut_format_convert(to, rounding, from, x),
                      "%s to %s: 0x%" PRIx64 " gives 0x%" PRIx64, from->name, to->name, x,
                      y);
        expected += !same(oracle_value(from, x), oracle_value(to, y));
    }
    ck_assert_msg(changed == expected, "%s to %s: %zu changed, %zu should have",
                  from->name, to->name, changed, expected);
}

START_TEST(conversions)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_format *from = formats; from->name; from++)
        for (const struct bitcut_format *to = formats; to->name; to++) {
            check_pair(to, from, &roundings[ROUND_RN], &rng);
            check_pair(to, from, &roundings[ROUND_RN_SAT], &rng);
        }
}
END_TEST

/* --- the quick ways against the one for a single encoding ---------------------------- */

enum { LIST_MAX = 1 << 17 };

static size_t list_add(uint64_t *list, size_t n, const struct bitcut_format *f, uint64_t x)
{
    ck_assert_uint_lt(n, LIST_MAX);
    list[n] = x & UINT64_MAX >> (64 - f->bits);
    return n + 1;
}

/* All encodings of a format of at most 16 bits; of others all exponents and, of each, the
   fractions next to every place where another format ends, and next to half of its last
   place. */
static size_t list_make(uint64_t *list, const struct bitcut_format *f)
{
    size_t n = 0;
    for (uint64_t x = 0; f->bits <= 16 && x >> f->bits == 0; x++) n = list_add(list, n, f, x);
    const int all = 1 << f->exponent_bits, step = f->exponent_bits > 8 ? 5 : 1;
    for (int field = 0; f->bits > 16 && field < all; field += step)
        for (int cut = 0; cut <= f->fraction_bits; cut += cut < 24 ? 3 : 11)
            for (int by = -1; by <= 1; by++) {
                const uint64_t x = ((uint64_t)field << f->fraction_bits) +
                                   (UINT64_C(1) << cut) + (UINT64_C(3) << cut >> 1) +
                                   (uint64_t)by;
                n = list_add(list, n, f, x << f->pad);
                n = list_add(list, n, f, x << f->pad | UINT64_C(1) << (f->bits - 1));
            }
    return n;
}

static void element_put(void *array, int bytes, size_t i, uint64_t x)
{
    const uint8_t u1 = (uint8_t)x;
    const uint16_t u2 = (uint16_t)x;
    const uint32_t u4 = (uint32_t)x;
    const void *const from = bytes == 1   ? (const void *)&u1
                             : bytes == 2 ? (const void *)&u2
                             : bytes == 4 ? (const void *)&u4
                                          : (const void *)&x;
    memcpy((char *)array + (size_t)bytes * i, from, (size_t)bytes);
}

static bool same_value(const struct bitcut_format *f, uint64_t x,
                       const struct bitcut_format *g, uint64_t y)
{
    const struct number a = format_decode(f, x), b = format_decode(g, y);
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return a.kind == b.kind;
    return a.negative == b.negative && format_to_double(f, x) == format_to_double(g, y);
}

static void check_list(const uint64_t *list, size_t count, const struct bitcut_format *to,
                       const struct bitcut_rounding *r, const struct bitcut_format *from)
{
    static uint64_t source[LIST_MAX], got[LIST_MAX];
    const int bytes = format_bytes(to);
    size_t changed, expected = 0;
    for (size_t i = 0; i < count; i++) element_put(source, format_bytes(from), i, list[i]);
    ck_assert_int_eq(bitcut_format_convert_array(&changed, got, to, r, source, from, count),
                     BITCUT_OK);
    for (size_t i = 0; i < count; i++) {
        struct bitcut_rounding rounding = *r;
        rounding.position = i; /* of random bits */
        const uint64_t want = bitcut_format_convert(to, &rounding, from, list[i]);
        ck_assert_msg(element(got, bytes, i) == want,
                      "%s to %s by %s: 0x%" PRIx64 " gives 0x%" PRIx64 ", not 0x%" PRIx64,
                      from->name, to->name, r->name, list[i], element(got, bytes, i), want);
        expected += !same_value(from, list[i], to, want);
    }
    ck_assert_msg(changed == expected, "%s to %s by %s: %zu changed, not %zu", from->name,
                  to->name, r->name, changed, expected);
}

/* All formats to all, by all roundings; in a short test a part of the pairs of long ones. */
START_TEST(every_rounding)
{
    static uint64_t list[LIST_MAX];
    int at = (int)(test_seed() % 64);
    for (const struct bitcut_format *from = formats; from->name; from++) {
        const size_t count = list_make(list, from);
        for (const struct bitcut_format *to = formats; to->name; to++)
            for (const struct bitcut_rounding *r = roundings; r->name; r++)
                if (count <= 1024 || at++ % 64 < test_cases(8, 64))
                    check_list(list, count, to, r, from);
    }
}
END_TEST

START_TEST(splits_of_arrays)
{
    uint64_t rng = test_seed() + 1;
    uint32_t x[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = (uint32_t)test_bits(&rng);
    for (const struct bitcut_split *s = splits; s->name; s++) {
        uint64_t part[SPLIT_PARTS_MAX][COUNT], untouched[COUNT];
        void *const array[SPLIT_PARTS_MAX] = { part[0], part[1], part[2] };
        memset(part, 0xa5, sizeof part);
        memset(untouched, 0xa5, sizeof untouched);
        ck_assert_int_eq(bitcut_split_array(array, s, x, COUNT), BITCUT_OK);
        for (int w = 0; w < SPLIT_PARTS_MAX; w++) {
            const int bytes = w < s->parts ? format_bytes(s->part[w].format) : 0;
            for (size_t i = 0; i < COUNT && bytes; i++) {
                uint64_t one[SPLIT_PARTS_MAX];
                bitcut_split_apply(one, s, x[i]);
                ck_assert_msg(element(part[w], bytes, i) == one[w],
                              "%s: part %d of 0x%08x", s->name, w, x[i]);
            }
            const size_t used = (size_t)bytes * COUNT;
            ck_assert(!memcmp((char *)part[w] + used, untouched, sizeof part[w] - used));
        }
        void *const low_alone[SPLIT_PARTS_MAX] = { NULL, part[1], NULL };
        ck_assert_int_eq(bitcut_split_array(low_alone, s, x, COUNT), BITCUT_OK);
    }
}
END_TEST

START_TEST(refused)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const struct bitcut_rounding *const rn = &roundings[ROUND_RN];
    uint32_t x[2] = { 0 };
    void *const none[SPLIT_PARTS_MAX] = { NULL };
    size_t changed = 7;
    ck_assert_int_eq(bitcut_format_convert_array(&changed, NULL, f32, rn, x, f32, 1),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_format_convert_array(&changed, x, NULL, rn, x, f32, 1),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_format_convert_array(&changed, x, f32, NULL, x, f32, 1),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_format_convert_array(&changed, x, f32, rn, NULL, f32, 1),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_uint_eq(changed, 7);
    ck_assert_int_eq(bitcut_format_convert_array(&changed, NULL, f32, rn, NULL, f32, 0),
                     BITCUT_OK);
    ck_assert_uint_eq(changed, 0);
    ck_assert_int_eq(bitcut_split_array(none, NULL, x, 1), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_split_array(NULL, splits, x, 1), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_split_array(none, splits, NULL, 1), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_split_array(none, splits, NULL, 0), BITCUT_OK);
}
END_TEST

TEST_MAIN("encodings", conversions, every_rounding, splits_of_arrays, refused)
