/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut_split_measure(): the results for an array equal those of its values one by one;
   rows of exponents add up to the last row; NULL stands for all values of an exponent;
   invalid arguments are refused. */
#include "analysis/split/retention.h"
#include "lib/bitcut.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { VALUES = 5000, LEAST = -30, MOST = 17, ROWS = MOST - LEAST + 1, NAMES = 21 };

static size_t at(const char *name)
{
    size_t p = 0;
    while (bitcut_split_measure_name(p) && strcmp(bitcut_split_measure_name(p), name))
        p++;
    ck_assert_msg(bitcut_split_measure_name(p), "%s", name);
    return p;
}

/* Values of all exponents, a zero, an infinity and two NaN among them. */
static void fill(uint32_t x[VALUES])
{
    uint64_t random = test_seed();
    for (size_t i = 0; i < VALUES; i++) x[i] = (uint32_t)test_bits(&random) & 0x807fffff;
    for (size_t i = 0; i < VALUES; i++)
        x[i] |= (uint32_t)test_between(&random, 127 + LEAST, 127 + MOST) << 23;
    x[7] = 0x80000000;
    x[9] = 0x7f800000;
    x[11] = x[12] = 0x7fc00001;
}

static void measured(double *values, const char *split, const uint32_t *x, int from,
                     int to, int threads)
{
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_msg(bitcut_split_measure(values, NAMES, bitcut_split_find(split), NULL,
                                       from, to, x, x ? VALUES : 0, threads,
                                       why) == BITCUT_OK,
                  "%s", why);
}

/* One by one. */
static void check_row(const double *row, const char *split, const uint32_t x[VALUES],
                      int from, int to)
{
    size_t count = 0, exact = 0, bits_kept = 0;
    double most = (double)NAN; /* of values that overflow there is none */
    for (size_t i = 0; i < VALUES; i++) {
        const int e = (int)(x[i] >> 23 & 0xff) - 127;
        int bits;
        double ulps;
        if (e < from || e > to || !(x[i] & 0x7fffffff)) continue;
        count++;
        const bool finite = retention_of(&bits, &ulps, bitcut_split_find(split), x[i]);
        bits_kept += finite ? (size_t)bits : 0;
        exact += finite && ulps == 0;
        if (finite) most = fmax(most, ulps);
    }
    ck_assert(row[at("count")] == (double)count);
    if (!count) {
        ck_assert(isnan(row[at("bits")]));
        return;
    }
    const double tiny = 1e-12;
    ck_assert(fabs(row[at("exact")] - (double)exact / (double)count) <= tiny);
    ck_assert(fabs(row[at("bits")] - (double)bits_kept / (double)count) <= 24 * tiny);
    ck_assert(row[at("max_ulp")] == most || (isnan(row[at("max_ulp")]) && isnan(most)));
    ck_assert(isnan(row[at("p_zero_theory")]) && isnan(row[NAMES - 1]));
}

START_TEST(array_is_its_values)
{
    static const char *const names[] = { "halfhalf", "bitcut", "bf16x3" };
    static uint32_t x[VALUES];
    double values[(ROWS + 1) * NAMES], again[(ROWS + 1) * NAMES];
    fill(x);
    for (size_t s = 0; s < sizeof names / sizeof names[0]; s++) {
        measured(values, names[s], x, LEAST, MOST, 0);
        for (int e = LEAST; e <= MOST; e++)
            check_row(values + (e - LEAST) * NAMES, names[s], x, e, e);
        const double *const all = values + ROWS * NAMES;
        check_row(all, names[s], x, LEAST, MOST);
        ck_assert(all[at("zeros")] == 1 && all[at("infinite")] == 1 &&
                  all[at("nan")] == 2);
        measured(again, names[s], x, LEAST, MOST, 3);
        ck_assert(!memcmp(values, again, sizeof values));
    }
}
END_TEST

START_TEST(all_values_of_an_exponent)
{
    double values[2 * NAMES];
    struct retention r;
    const struct bitcut_split *const split = bitcut_split_find("halfhalf");
    measured(values, "halfhalf", NULL, -3, -3, 0);
    ck_assert_int_eq(retention_count(&r, split, -3, 0, 1, 0, NULL, NULL), BITCUT_OK);
    for (int row = 0; row < 2; row++) {
        const double *const v = values + row * NAMES;
        ck_assert(v[at("count")] == SIGNIFICANDS && v[at("exact")] == r.exact);
        ck_assert(v[at("bits")] == r.bits && v[at("rho")] == r.max_relative);
    }
    ck_assert(values[at("p_zero_theory")] == retention_p_zero(split, -3));
}
END_TEST

START_TEST(unit_flushes)
{
    const uint32_t x[1] = {
        0x38800800
    }; /* 2^-14 (1 + 2^-12): the low part is subnormal */
    double values[2][2 * NAMES];
    const char *const units[] = { "cdna3/mfma.32x32x8.f32.f16",
                                  "cdna2/mfma.32x32x8.f32.f16" };
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(bitcut_split_measure(
                             values[i], NAMES, bitcut_split_find("halfhalf"),
                             bitcut_unit_find(units[i], NULL), -14, -14, x, 1, 0, NULL),
                         BITCUT_OK);
    ck_assert(values[0][at("p_flushed")] == 0 && values[1][at("p_flushed")] == 1);
}
END_TEST

START_TEST(refuses)
{
    const struct bitcut_split *const s = bitcut_split_find("halfhalf");
    const uint32_t x[1] = { 0 };
    double v[3 * NAMES];
    const struct {
        double *values;
        const struct bitcut_split *split;
        int from, to, threads;
        size_t elements;
        const char *why;
    } rows[] = {
        { v, NULL, 0, 1, 0, 1, "the split must not" }, { v, s, -128, 1, 0, 1, "-127 <=" },
        { v, s, 0, 128, 0, 1, "-127 <=" },   { v, s, 1, 0, 0, 1, "-127 <=" },
        { v, s, 0, 1, -1, 1, "threads" },    { v, s, 0, 1, 0, SIZE_MAX, "the number of values" },
        { NULL, s, 0, 1, 0, 1, "the result must not" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char why[BITCUT_TEXT_MAX] = "";
        ck_assert_int_eq(bitcut_split_measure(rows[i].values, NAMES, rows[i].split, NULL,
                                              rows[i].from, rows[i].to, x,
                                              rows[i].elements, rows[i].threads, why),
                         BITCUT_BAD_ARGUMENT);
        ck_assert_msg(strstr(why, rows[i].why), "%s: %s", rows[i].why, why);
    }
}
END_TEST

TEST_MAIN("bitcut_split_measure", array_is_its_values, all_values_of_an_exponent,
          unit_flushes, refuses)
