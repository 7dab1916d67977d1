/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits: every row compared with an independent computation, and the constants of the
   f16 splits by counting significands. */
#include "lib/number/bits.h"
#include "lib/number/split.h"
#include "tests/number/f16_split.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define R(index) (&roundings[ROUND_##index])

/* --- constants: NUMERICS of the splits in the normal range ------------------------- */

/* A class of mantissas, by some of the bits that the high part leaves, and the length of
   the mantissa that two parts keep of it. */
struct length_row {
    uint32_t mask, bits;
    int length;
    double probability;
};

enum { M12 = 1 << 12, M11 = 1 << 11, M1 = 2, M0 = 1, LENGTH_ROWS = 6 };

/* Ootomo and Yokota, Tables 1 (RN, and RNA by their section 3.1) and 2 (RZ). */
static const struct length_row ootomo_rn[LENGTH_ROWS] = {
    { M12 | M11, 0, 23, 1. / 4 },
    { M12 | M11 | M0, M11, 23, 1. / 8 },
    { M12 | M11 | M0, M11 | M0, 22, 1. / 8 },
    { M12 | M11 | M0, M12 | M0, 22, 1. / 8 },
    { M12 | M11 | M0, M12, 23, 1. / 8 },
    { M12 | M11, M12 | M11, 23, 1. / 4 },
};
static const struct length_row ootomo_rz[LENGTH_ROWS] = {
    { M12 | M11, 0, 23, 1. / 4 },
    { M12 | M11 | M0, M11, 23, 1. / 8 },
    { M12 | M11 | M0, M11 | M0, 22, 1. / 8 },
    { M12 | M1, M12 | M1, 21, 1. / 4 },
    { M12 | M1 | M0, M12 | M0, 22, 1. / 8 },
    { M12 | M1 | M0, M12, 23, 1. / 8 },
};

/* What is expected of a split over all mantissas: the largest and mean error in ulp of
   the f32, the share of exact ones, the mean length, and theta = max 2^-s |low| / |x|. */
static const struct constants {
    int high, low, scale;
    double max_error, mean_error, exact, length, theta;
    const struct length_row *rows; /* NULL: not in the paper */
} constants[] = {
    { ROUND_CUT, ROUND_RZ, 10, 3, 0.875, 0.50, 22.25, 0x1p-10, ootomo_rz },
    { ROUND_CUT, ROUND_RN, 0, 2, 0.625, 0.50, 22.375, 0x1p-10, NULL },
    { ROUND_RN, ROUND_RZ, 0, 1, 0.25, 0.75, 22.75, 0x1p-11, NULL },
    { ROUND_RN, ROUND_RN, 11, 1, 0.25, 0.75, 22.75, 0x1p-11, ootomo_rn },
    { ROUND_RNA, ROUND_RNA, 0, 1, 0.25, 0.75, 22.75, 0x1p-11, ootomo_rn },
};

enum { CONSTANTS = sizeof constants / sizeof constants[0] };

/* What was counted. */
struct census {
    double max_error, sum_error, rho, theta;
    uint64_t exact, sum_length;
    uint64_t row[LENGTH_ROWS], wrong_length; /* against length_row */
};

static int length_of(double error) { return error == 0 ? 23 : 22 - ilogb(error); }

static void census_row(struct census *c, const struct length_row *rows, uint32_t mantissa,
                       int length)
{
    for (int i = 0; i < LENGTH_ROWS; i++)
        if ((mantissa & rows[i].mask) == rows[i].bits) {
            c->row[i]++;
            c->wrong_length += rows[i].length != length;
        }
}

static void census_add(struct census *c, const struct bitcut_split *s,
                       const struct length_row *rows, const double *value, int exponent,
                       uint32_t mantissa)
{
    uint64_t part[SPLIT_PARTS_MAX];
    split_apply(part, s, f32_with(exponent, mantissa));
    const double x = ldexp(1 + mantissa * 0x1p-23, exponent);
    const double low = ldexp(value[part[1]], -s->scale);
    const double left = fabs(x - value[part[0]] - low);
    const double error = ldexp(left, 23 - exponent);
    c->max_error = fmax(c->max_error, error);
    c->rho = fmax(c->rho, left / x);
    c->theta = fmax(c->theta, fabs(low) / x);
    c->sum_error += error;
    c->exact += error == 0;
    c->sum_length += (uint64_t)length_of(error);
    if (rows) census_row(c, rows, mantissa, length_of(error));
}

static void census_merge(struct census *all, const struct census *part)
{
    all->max_error = fmax(all->max_error, part->max_error);
    all->rho = fmax(all->rho, part->rho);
    all->theta = fmax(all->theta, part->theta);
    all->sum_error += part->sum_error;
    all->exact += part->exact;
    all->sum_length += part->sum_length;
    all->wrong_length += part->wrong_length;
    for (int i = 0; i < LENGTH_ROWS; i++) all->row[i] += part->row[i];
}

/* All 2^23 mantissas of one exponent. */
static struct census census_take(const struct constants *k, int exponent)
{
    const struct bitcut_split s =
        f16_split(&roundings[k->high], &roundings[k->low], k->scale);
    struct census all = { 0 };
    double *value = f16_values();
#pragma omp parallel
    {
        struct census part = { 0 };
#pragma omp for
        for (int m = 0; m < MANTISSAS; m++)
            census_add(&part, &s, k->rows, value, exponent, (uint32_t)m);
#pragma omp critical
        census_merge(&all, &part);
    }
    free(value);
    return all;
}

/* rho and theta are least upper bounds: reached to within the step of the high part. */
static bool reaches(double x, double bound)
{
    return x <= bound && x >= bound * (1 - 0x1p-9);
}

static void check_constants(const struct constants *k, int exponent)
{
    const struct census c = census_take(k, exponent);
    ck_assert_msg(c.max_error == k->max_error &&
                      c.sum_error == k->mean_error * MANTISSAS &&
                      (double)c.exact == k->exact * MANTISSAS &&
                      (double)c.sum_length == k->length * MANTISSAS,
                  "%s + %s at exponent %d: max %g, mean %g ulp, exact %g, %g bits",
                  roundings[k->high].name, roundings[k->low].name, exponent, c.max_error,
                  c.sum_error / MANTISSAS, (double)c.exact / MANTISSAS,
                  (double)c.sum_length / MANTISSAS);
    ck_assert_msg(reaches(c.rho, k->max_error * 0x1p-23) && reaches(c.theta, k->theta),
                  "%s + %s at exponent %d: rho %a, theta %a", roundings[k->high].name,
                  roundings[k->low].name, exponent, c.rho, c.theta);
    for (int i = 0; k->rows && i < LENGTH_ROWS; i++)
        ck_assert_msg((double)c.row[i] == k->rows[i].probability * MANTISSAS,
                      "%s: row %d of the paper's table has %" PRIu64 " mantissas",
                      roundings[k->high].name, i + 1, c.row[i]);
    ck_assert_msg(c.wrong_length == 0, "%s: %" PRIu64 " mantissas of another length",
                  roundings[k->high].name, c.wrong_length);
}

START_TEST(constants_of_all_mantissas)
{
    for (int i = 0; i < test_cases(CONSTANTS, CONSTANTS); i += test_whole() ? 1 : 2) {
        check_constants(&constants[i], 0);
        if (test_long())
            for (int e = -1; e <= 4; e++) check_constants(&constants[i], e);
    }
}
END_TEST

/* --- small numbers ------------------------------------------------------------------ */

/* The largest error over a binade in ulp of the f32, from 2^13 patterns. */
static double max_error(const struct bitcut_split *s, const double *value, int exponent)
{
    struct census c = { 0 };
    for (uint32_t m = 0; m < 1 << 13; m++) census_add(&c, s, NULL, value, exponent, m);
    return c.max_error;
}

/* Two parts keep what they keep of normal numbers down to 2^(-2-s), with a cut high part
   one binade further, and no further. */
START_TEST(full_retention)
{
    double *value = f16_values();
    for (int i = 0; i < CONSTANTS; i++)
        for (int scale = 0; scale <= 11; scale++) {
            const struct constants *k = &constants[i];
            const struct bitcut_split s =
                f16_split(&roundings[k->high], &roundings[k->low], scale);
            const int last = (k->high == ROUND_CUT ? -3 : -2) - scale;
            for (int e = 3; e >= last; e--)
                ck_assert(max_error(&s, value, e) == k->max_error);
            ck_assert(max_error(&s, value, last - 1) > k->max_error);
        }
    free(value);
}
END_TEST

/* --- every row --------------------------------------------------------------------- */

static uint64_t expected_part(const struct ladder *l, const struct bitcut_rounding *r,
                              float x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const uint32_t bits = bits_of_float(x);
    const struct value v = oracle_value(f32, bits);
    if (v.kind == NUMBER_INF || v.kind == NUMBER_NAN)
        return oracle_special(l->format, r, v);
    struct place p = { .code = bits & 0x7fffffff, .side = SIDE_ON };
    if (l->magnitude) p = ladder_find(l, v.magnitude);
    p.bit = r->direction == BY_BIT && oracle_bit(f32, bits, r->bit);
    return oracle_choose(l->format, r, v.negative, p);
}

/* The value of a part, NaN and infinities too. */
static double value_of(const struct bitcut_format *f, uint64_t part)
{
    const struct value v = oracle_value(f, part);
    const double magnitude = v.kind == NUMBER_INF   ? INFINITY
                             : v.kind == NUMBER_NAN ? NAN
                                                    : v.magnitude;
    return v.negative ? -magnitude : magnitude;
}

/* The parts with the host's FP32 arithmetic for the residuals; l[i] has the values of
   part i's format. */
static void expected_parts(uint64_t part[SPLIT_PARTS_MAX], const struct ladder *l,
                           const struct bitcut_split *s, float x)
{
    float rest = x;
    for (int i = 0, level = 0; i < s->parts; i++) {
        const struct split_part *w = &s->part[i];
        const volatile float made_of =
            w->copy ? x * ldexpf(1, w->level * s->scale)
                    : rest * ldexpf(1, (w->level - level) * s->scale);
        part[i] = expected_part(&l[i], w->rounding, made_of);
        if (w->copy) continue;
        rest = made_of - (float)value_of(w->format, part[i]);
        level = w->level;
    }
}

static void check_parts(const struct ladder *l, const struct bitcut_split *s, uint32_t x)
{
    uint64_t got[SPLIT_PARTS_MAX] = { 1, 2, 3 }, want[SPLIT_PARTS_MAX] = { 1, 2, 3 };
    split_apply(got, s, x);
    expected_parts(want, l, s, float_of_bits(x));
    for (int i = 0; i < SPLIT_PARTS_MAX; i++)
        if (got[i] != want[i])
            ck_abort_msg("%s of 0x%08x (%a): part %d: got 0x%" PRIx64 ", want 0x%" PRIx64,
                         s->name, x, (double)float_of_bits(x), i, got[i], want[i]);
}

/* x and its parts' neighbours: ends of binades, the ends of the f16 and f32 ranges. */
static const uint32_t edges[] = {
    0,          1,          0x7fffff,   0x800000,   0x3f800000, 0x3f7fffff,
    0x337fffff, 0x33800000, 0x33000000, 0x33000001, 0x32ffffff, 0x387fffff,
    0x38800000, 0x38800001, 0x477fdfff, 0x477fe000, 0x477fe001, 0x477fefff,
    0x477ff000, 0x477ff001, 0x477fffff, 0x47800000, 0x47800001, 0x7f7f7fff,
    0x7f7f8000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
};

enum { EDGES = sizeof edges / sizeof edges[0] };

START_TEST(every_row)
{
    uint64_t state = test_seed();
    for (const struct bitcut_split *s = splits; s->name; s++) {
        struct ladder l[SPLIT_PARTS_MAX];
        for (int i = 0; i < s->parts; i++) {
            const struct bitcut_format *f = s->part[i].format;
            l[i] = (struct ladder){ .format = f };
            if (f->exponent_bits + f->fraction_bits <= LADDER_BITS) ladder_init(&l[i], f);
        }
        for (int i = 0; i < EDGES; i++) {
            check_parts(l, s, edges[i]);
            check_parts(l, s, edges[i] | 0x80000000);
        }
        for (int i = 0; i < test_cases(60000, 5000000); i++) {
            const uint64_t bits = test_bits(&state);
            const uint32_t near_f16 = f32_with((int)(bits >> 58) - 40, bits & 0x7fffff);
            check_parts(l, s,
                        i % 2 ? (uint32_t)bits : near_f16 | (bits >> 26 & 1u) << 31);
        }
        for (int i = 0; i < s->parts; i++) ladder_clear(&l[i]);
    }
}
END_TEST

/* The parts of -x are the negated parts of x; only a residual of 0 has no sign, as in any
   subtraction to nearest. */
START_TEST(sign_symmetry)
{
    uint64_t state = test_seed();
    for (const struct bitcut_split *s = splits; s->name; s++)
        for (int i = 0; i < 20000; i++) {
            const uint32_t x = (uint32_t)test_bits(&state) & 0x7fffffff;
            uint64_t plus[SPLIT_PARTS_MAX], minus[SPLIT_PARTS_MAX];
            split_apply(plus, s, x);
            split_apply(minus, s, x | 0x80000000);
            for (int j = 0; j < s->parts; j++) {
                const struct bitcut_format *f = s->part[j].format;
                const uint64_t sign = (uint64_t)1 << (f->bits - 1);
                const bool same =
                    plus[j] == 0 || oracle_value(f, plus[j]).kind == NUMBER_NAN;
                const uint64_t magnitude = minus[j] & (sign - 1);
                const uint64_t negative = f->special == SPECIAL_INTEGER
                                              ? (2 * sign - plus[j]) % (2 * sign)
                                              : plus[j] ^ sign;
                if (minus[j] != negative && !(same && magnitude == plus[j]))
                    ck_abort_msg("%s of +-0x%08x: part %d: 0x%" PRIx64 " and 0x%" PRIx64,
                                 s->name, x, j, plus[j], minus[j]);
            }
        }
}
END_TEST

/* --- single values ----------------------------------------------------------------- */

static const struct {
    int split;
    uint32_t x;
    uint64_t part[SPLIT_PARTS_MAX];
} single[] = {
    /* clang-format off */
    { SPLIT_BITCUT,         0x387fffff, { 0x0000, 0x2bff } }, /* 2^-14: all low */
    { SPLIT_BITCUT_GRADUAL, 0x387fffff, { 0x03ff, 0x03ff } }, /* subnormal high */
    { SPLIT_BITCUT,         0x38800000, { 0x0400, 0x0000 } }, /* 2^-14 */
    { SPLIT_BITCUT_GRADUAL, 0x38800000, { 0x0400, 0x0000 } },
    { SPLIT_BITCUT,         0xb3800000, { 0x8000, 0x8400 } }, /* -2^-24 */
    { SPLIT_BITCUT_GRADUAL, 0xb3800000, { 0x8001, 0x0000 } },
    { SPLIT_BITCUT,         0x477fffff, { F16_MAX, 0x77ff } }, /* below 2^16 */
    { SPLIT_BITCUT_GRADUAL, 0x477fffff, { F16_MAX, 0x77ff } },
    { SPLIT_BITCUT,         0x47800000, { F16_INF, 0xfc00 } }, /* 2^16: Inf, x - Inf */
    { SPLIT_BITCUT_GRADUAL, 0x47800000, { F16_MAX, 0x7800 } }, /* left: 32 */
    { SPLIT_BITCUT_GRADUAL, 0x7f7fffff, { F16_MAX, F16_INF } }, /* scaling overflows */
    { SPLIT_HALFHALF,       0x477fefff, { F16_MAX, 0x7800 } }, /* below 65520 */
    { SPLIT_HALFHALF,       0x477ff000, { F16_INF, 0xfc00 } }, /* 65520 */
    { SPLIT_HALFHALF,       0x7f800000, { F16_INF, 0x7e00 } }, /* Inf: Inf - Inf */
    { SPLIT_BITCUT,         0xff800000, { 0xfc00, 0x7e00 } },
    { SPLIT_MARKIDIS,       0xffc12345, { 0x7e00, 0x7e00 } },
    { SPLIT_MARKIDIS,       0x80000000, { 0x8000, 0x0000 } },
    { SPLIT_MARKIDIS,       0x3f802001, { 0x3c01, 0x0002 } }, /* low part subnormal */
    { SPLIT_FENG,           0x3f800004, { 0x3c01, 0x93ff } }, /* bit 21: up */
    { SPLIT_FENG,           0x3f800002, { 0x3c00, 0x0004 } },
    { SPLIT_FENG22,         0x3f800002, { 0x3c01, 0x9400 } }, /* bit 22: up */
    { SPLIT_FENG22,         0x3f800004, { 0x3c00, 0x0008 } },
    { SPLIT_FENG,           0x00400004, { 0x0001, 0x8001 } }, /* of the field */
    { SPLIT_FENG,           0x80400002, { 0x8000, 0x8000 } },
    { SPLIT_FENG22,         0x80000002, { 0x8001, 0x0001 } },
    { SPLIT_FENG22,         0x00400001, { 0x0000, 0x0000 } },
    { SPLIT_TF32TF32,       0x3f801000, { 0x3f802000, 0xba000000 } }, /* tie: away */
    { SPLIT_BF16X2,         0x3f808000, { 0x3f80, 0x3b80 } }, /* tie: to even */
    { SPLIT_BF16X3,         0x3f800101, { 0x3f80, 0x3800, 0x3400 } },
    { SPLIT_BF16X3_SCALED,  0x3f800101, { 0x3f80, 0x3c00, 0x3c00 } },
    { SPLIT_HALF,           0x3f801000, { 0x3c00 } },
    { SPLIT_TF32,           0x3f801000, { 0x3f802000 } },
    { SPLIT_BF16,           0x3f808000, { 0x3f80 } },
    { SPLIT_F32,            0x12345678, { 0x12345678 } },
    { SPLIT_HALF_E4M3,      0x3f800800, { 0x3c00, 0x30, 0x38 } }, /* 1, 2^-12 2^11, 1 */
    { SPLIT_HALF_E5M2,      0x3f800800, { 0x3c00, 0x38, 0x3c } },
    { SPLIT_HALF_E4M3,      0x3b000000, { 0x1800, 0x00, 0x01 } }, /* 2^-9: the least */
    { SPLIT_HALF_E5M2,      0x3b000000, { 0x1800, 0x00, 0x18 } },
    { SPLIT_HALF_E4M3,      0x47000800, { 0x7800, 0x7e, 0x7e } }, /* 2^15 + 8: too large */
    { SPLIT_HALF_E5M2,      0x47000800, { 0x7800, 0x74, 0x78 } },
    { SPLIT_HALF_E4M3,      0xff800000, { 0xfc00, 0x7f, 0xfe } }, /* -Inf: NaN, saturated */
    { SPLIT_HALF_E5M2,      0x7f800000, { F16_INF, 0x7f, 0x7b } },
    { SPLIT_HALF_E5M2,      0x80000000, { 0x8000, 0x00, 0x80 } },
    /* clang-format on */
};

START_TEST(single_values)
{
    for (unsigned i = 0; i < sizeof single / sizeof single[0]; i++) {
        const struct bitcut_split *s = &splits[single[i].split];
        const uint64_t *want = single[i].part;
        uint64_t part[SPLIT_PARTS_MAX] = { 0 };
        ck_assert_int_eq(bitcut_split_apply(part, s, single[i].x), s->parts);
        for (int j = 0; j < SPLIT_PARTS_MAX; j++)
            ck_assert_msg(part[j] == want[j],
                          "%s of 0x%08x: part %d: got 0x%" PRIx64 ", want 0x%" PRIx64,
                          s->name, single[i].x, j, part[j], want[j]);
    }
}
END_TEST

/* Literal and gradual bit-cut are one split where f16 has normal numbers. */
START_TEST(bitcut_rows_agree_on_normal_numbers)
{
    uint64_t state = test_seed();
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = test_bits(&state);
        const uint32_t x =
            f32_with((int)(bits >> 32 & 0xffff) % 30 - 14, bits & 0x7fffff) |
            (uint32_t)(bits >> 63) << 31;
        uint64_t a[SPLIT_PARTS_MAX], b[SPLIT_PARTS_MAX];
        split_apply(a, &splits[SPLIT_BITCUT], x);
        split_apply(b, &splits[SPLIT_BITCUT_GRADUAL], x);
        if (a[0] != b[0] || a[1] != b[1])
            ck_abort_msg("0x%08x: literal 0x%" PRIx64 " 0x%" PRIx64 ", gradual 0x%" PRIx64
                         " 0x%" PRIx64,
                         x, a[0], a[1], b[0], b[1]);
    }
}
END_TEST

START_TEST(names_and_plain)
{
    static const char *const names[] = { "half",           "markidis", "feng",
                                         "halfhalf",       "tf32tf32", "bitcut",
                                         "bitcut-gradual", "bf16x2",   "bf16x3" };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_msg(bitcut_split_find(names[i]), "no split %s", names[i]);
    ck_assert_ptr_null(bitcut_split_find("ootomo"));
    for (const struct bitcut_format *f = formats; f->name; f++) {
        const struct bitcut_split s = split_plain(f);
        ck_assert(s.part[0].format == f && s.parts == 1);
        if (f->special == SPECIAL_INTEGER) continue; /* to the range of the format */
        ck_assert(s.part[0].rounding == (f == &formats[FORMAT_TF32] ? R(RNA) : R(RN)));
    }
}
END_TEST

/* A row that was changed is called what it is: another row, or with what was changed. */
START_TEST(labels)
{
    static const struct {
        int row, scale, high;
        const char *label;
    } of[] = {
        { SPLIT_MARKIDIS, 0, ROUND_RN, "markidis" },
        { SPLIT_MARKIDIS, 11, ROUND_RN, "halfhalf" },
        { SPLIT_HALFHALF, 11, ROUND_RZ, "halfhalf with high rz" },
        { SPLIT_HALFHALF, 9, ROUND_RZ, "halfhalf with high rz, scale 2^9" },
        { SPLIT_HALF, 60, ROUND_RZ, "half with high rz" },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct bitcut_split s = splits[of[i].row];
        char text[60], cut[12];
        s.scale = of[i].scale;
        s.part[0].rounding = &roundings[of[i].high];
        split_label(text, sizeof text, &s);
        ck_assert_str_eq(text, of[i].label);
        split_label(cut, sizeof cut, &s);
        ck_assert_int_eq(strncmp(cut, text, sizeof cut - 1), 0);
        ck_assert_uint_le(strlen(cut), sizeof cut - 1);
    }
    for (const struct bitcut_split *s = splits; s->name; s++) {
        char text[60];
        split_label(text, sizeof text, s);
        ck_assert_str_eq(text, s->name);
    }
}
END_TEST

TEST_MAIN("split", constants_of_all_mantissas, full_retention, every_row, sign_symmetry,
          single_values, bitcut_rows_agree_on_normal_numbers, names_and_plain, labels)
