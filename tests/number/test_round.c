/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounding and conversion.  There are two references: MPFR, and lists of all values of a
   format (tests/number/number_oracle.h).  MPFR first confirms the lists, at the edges of
   every format and on random operands, for every rule; the lists are then used for the
   wide sweeps. */
#include "lib/number/bits.h"
#include "tests/number/encoding_check.h"
#include "tests/number/sweep.h"
#include "tests/test.h"

#include <math.h>

/* The IEEE 754 rules and round to odd: the first rows of the table. */
enum { PLAIN_RULES = ROUND_ODD + 1, RULES = ROUND_FENG22 + 1 };

/* Plain row `index` with other flags. */
static struct bitcut_rounding rule_with(int index, enum overflow overflow,
                                        enum flush flush)
{
    struct bitcut_rounding r = roundings[index];
    r.overflow = overflow;
    r.flush = flush;
    return r;
}

/* All plain rows with all flags; of the kinds of flushing every third. */
enum { FLAGGED_RULES = PLAIN_RULES * 6 };

static void flagged_rules(struct bitcut_rounding rule[FLAGGED_RULES])
{
    for (int i = 0; i < FLAGGED_RULES; i++)
        rule[i] = rule_with(i / 6, (enum overflow)(i % 3),
                            i / 3 % 2 ? (enum flush)(1 + (i + i / 6) % 3) : FLUSH_NONE);
}

static double double_with(uint64_t sign_and_exponent, uint64_t fraction)
{
    return double_of_bits(sign_and_exponent << 52 | (fraction & 0xfffffffffffff));
}

/* A binary64 near some value of f: on it, on a middle, or one bit beside either. */
static double double_near(const struct bitcut_format *f, uint64_t *state)
{
    const uint64_t code = test_bits(state) % oracle_finite(f), kind = test_bits(state);
    const double low = oracle_magnitude(f, code), high = oracle_magnitude(f, code + 1);
    double x = kind & 1 ? low : isinf(high) ? low : low + (high - low) / 2;
    if (kind >> 1 & 1) x = nextafter(x, kind >> 2 & 1 ? INFINITY : 0);
    return kind >> 3 & 1 ? -x : x;
}

/* A binary64 with the exponent of some value of f, or a step outside its range. */
static double double_about(const struct bitcut_format *f, uint64_t *state)
{
    const int span = (1 << f->exponent_bits) + f->fraction_bits + 4;
    int exponent =
        1 - f->bias - f->fraction_bits - 2 + (int)(test_bits(state) % (unsigned)span);
    if (exponent < -1022) exponent = -1022;
    if (exponent > 1023) exponent = 1023;
    const uint64_t sign = test_bits(state) & 0x800;
    return double_with(sign | (uint64_t)(exponent + 1023), test_bits(state));
}

/* --- the oracles ------------------------------------------------------------------- */

static void compare_oracles(const struct ladder *l, double x)
{
    struct bitcut_rounding rule[FLAGGED_RULES];
    flagged_rules(rule);
    mpfr_t y;
    mpfr_init2(y, 53);
    mpfr_set_d(y, x, MPFR_RNDN);
    const struct place p = ladder_find(l, fabs(x));
    const bool just_below = p.code + 1 == UINT64_C(1) << l->format->fraction_bits;
    for (int i = 0; i < FLAGGED_RULES; i++) {
        if (rule[i].flush == FLUSH_TINY && just_below) continue; /* places are too coarse */
        const uint64_t want = oracle_round(l->format, &rule[i], y);
        const uint64_t got = oracle_choose(l->format, &rule[i], signbit(x) != 0, p);
        check_encoding(l->format, &rule[i], &formats[FORMAT_F64], bits_of_double(x), got,
                       want);
    }
    mpfr_clear(y);
}

START_TEST(lists_agree_with_mpfr)
{
    uint64_t state = test_seed();
    const int cases = test_cases(1500, 40000);
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_clear_flags();
    for (const struct bitcut_format *f = formats; f->name; f++) {
        if (!f->has_sign || f->exponent_bits + f->fraction_bits > LADDER_BITS) continue;
        struct ladder l;
        ladder_init(&l, f);
        const double largest = l.magnitude[l.finite - 1];
        const double next = l.magnitude[l.finite], least = l.magnitude[1];
        const double edges[] = {
            0, -0.0, largest, -largest, next, largest + (next - largest) / 2, least / 2,
            -least / 2, 0x1p300, -0x1p300, 0x1p-300, -0x1p-300
        };
        for (unsigned i = 0; i < sizeof edges / sizeof edges[0]; i++)
            compare_oracles(&l, edges[i]);
        for (int i = 0; i < cases; i++) {
            compare_oracles(&l, double_near(f, &state));
            compare_oracles(&l, double_about(f, &state));
        }
        ladder_clear(&l);
    }
    ck_assert(mpfr_get_emin() == emin && mpfr_get_emax() == emax && !mpfr_flags_save());
}
END_TEST

/* --- from f32 ---------------------------------------------------------------------- */

static void sweep_check(const struct sweep *s, uint64_t compared)
{
    for (int i = 0; i < s->targets * s->rules; i++) {
        const struct tally *t = &s->tally[i];
        const struct bitcut_format *to = s->target[i / s->rules].format;
        const struct bitcut_rounding *r = &s->rule[i % s->rules];
        ck_assert_uint_eq(t->compared, compared);
        if (t->different)
            check_encoding(to, r, &formats[FORMAT_F32], t->x, t->got, t->want);
    }
}

/* About as many inputs, evenly over all encodings. */
static void sweep_all(const struct bitcut_rounding *rule, int rules, int inputs)
{
    const uint32_t step = sweep_step(inputs);
    struct sweep s;
    sweep_init(&s, rule, rules);
    sweep_range(&s, 0, (uint64_t)1 << 32, step);
    sweep_check(&s, ((uint64_t)1 << 32) / step + 1);
    sweep_clear(&s);
}

START_TEST(f32_by_plain_rules)
{
    sweep_all(roundings, PLAIN_RULES, test_cases(1 << 20, 1 << 24));
}
END_TEST

START_TEST(f32_by_cut_and_feng)
{
    sweep_all(&roundings[ROUND_CUT], RULES - ROUND_CUT, test_cases(1 << 19, 1 << 24));
}
END_TEST

START_TEST(f32_with_flags)
{
    struct bitcut_rounding rule[FLAGGED_RULES];
    flagged_rules(rule);
    for (int i = 0; i < FLAGGED_RULES; i++) /* places are too coarse to tell what is tiny */
        if (rule[i].flush == FLUSH_TINY) rule[i].flush = FLUSH_SUBNORMAL;
    sweep_all(rule, FLAGGED_RULES, test_cases(1 << 17, 1 << 24));
}
END_TEST

/* --- from f64 and from the small formats ------------------------------------------- */

static void convert_double(const struct bitcut_format *to,
                           const struct bitcut_rounding *r, double x)
{
    const struct bitcut_format *f64 = &formats[FORMAT_F64];
    mpfr_t y;
    mpfr_init2(y, 53);
    mpfr_set_d(y, x, MPFR_RNDN);
    const uint64_t want = oracle_round(to, r, y), bits = bits_of_double(x);
    mpfr_clear(y);
    check_encoding(to, r, f64, bits, bitcut_format_convert(to, r, f64, bits), want);
}

START_TEST(f64_to_every_format)
{
    uint64_t state = test_seed();
    struct bitcut_rounding rule[FLAGGED_RULES];
    flagged_rules(rule);
    const int cases = test_cases(12000, 400000);
    for (const struct bitcut_format *f = formats; f->name; f++) {
        if (!f->has_sign) continue;
        for (int i = 0; i < cases; i++) {
            const struct bitcut_rounding *r = &rule[i % FLAGGED_RULES];
            convert_double(f, r, double_near(f, &state));
            convert_double(f, r, double_about(f, &state));
        }
    }
}
END_TEST

/* A tie of the narrow format hides behind a rounding to a wider one: rounded twice, to
   f32 or to the normal precision of the narrow format and then again, the result is
   wrong. */
static void beside_middle(const struct bitcut_format *f, uint64_t *state)
{
    const uint64_t code = test_bits(state) % (oracle_finite(f) - 1);
    const uint64_t kind = test_bits(state);
    const double low = oracle_magnitude(f, code), high = oracle_magnitude(f, code + 1);
    const double middle = low + (high - low) / 2;
    const double away[] = { middle * 0x1p-26, middle * 0x1p-51, (high - low) * 0x1p-12 };
    const double x = kind & 1 ? middle + away[kind % 3] : middle - away[kind % 3];
    for (int i = 0; i < PLAIN_RULES; i++)
        convert_double(f, &roundings[i], kind & 8 ? -x : x);
}

START_TEST(double_rounding_traps)
{
    uint64_t state = test_seed();
    for (const struct bitcut_format *f = formats; f->name; f++)
        for (int i = 0; f->has_sign && f->fraction_bits <= 22 && i < 3000; i++)
            beside_middle(f, &state);
}
END_TEST

static void convert_small(const struct ladder *l, const struct bitcut_format *from,
                          uint64_t encoding)
{
    const struct value x = oracle_value(from, encoding);
    const bool finite = x.kind == NUMBER_FINITE || x.kind == NUMBER_ZERO;
    struct place p = { .side = SIDE_ON };
    if (finite) p = ladder_find(l, x.magnitude);
    for (int i = 0; i < PLAIN_RULES; i++) {
        const struct bitcut_rounding *r = &roundings[i];
        const uint64_t want = finite ? oracle_choose(l->format, r, x.negative, p)
                                     : oracle_special(l->format, r, x);
        const uint64_t got = bitcut_format_convert(l->format, r, from, encoding);
        check_encoding(l->format, r, from, encoding, got, want);
    }
}

START_TEST(every_small_encoding_to_every_small_format)
{
    for (const struct bitcut_format *to = formats; to->name; to++) {
        if (!to->has_sign || to->exponent_bits + to->fraction_bits > LADDER_BITS)
            continue;
        struct ladder l;
        ladder_init(&l, to);
        for (const struct bitcut_format *from = formats; from->name; from++)
            for (uint64_t x = 0; from->bits <= 16 && x >> from->bits == 0; x++)
                convert_small(&l, from, x);
        ladder_clear(&l);
    }
}
END_TEST

/* --- round_pack and single values -------------------------------------------------- */

/* 64 bits with runs of zeros and ones, and perhaps a part below them, anywhere about the
   range of the format. */
static struct unrounded random_unrounded(const struct bitcut_format *f, uint64_t *state)
{
    const unsigned span = (1u << f->exponent_bits) + (unsigned)f->fraction_bits + 150;
    const uint64_t run = test_bits(state) % 64, kind = test_bits(state);
    uint64_t significand = test_bits(state) | (uint64_t)1 << 63;
    if (kind & 1) significand = significand >> run << run;
    if (kind & 2) significand |= ((uint64_t)1 << run) - 1;
    return (struct unrounded){
        .significand = significand,
        .exponent = (int)(test_bits(state) % span) - f->bias - f->fraction_bits - 130,
        .negative = kind >> 2 & 1,
        .sticky = kind >> 3 & 1,
    };
}

/* y = x, a quarter of its last bit standing for the part below; y has 66 bits. */
static void set_unrounded(mpfr_ptr y, struct unrounded x)
{
    mpfr_set_uj(y, x.significand, MPFR_RNDN);
    mpfr_mul_2ui(y, y, 2, MPFR_RNDN);
    mpfr_add_ui(y, y, x.sticky, MPFR_RNDN);
    mpfr_mul_2si(y, y, x.exponent - 2, MPFR_RNDN);
    if (x.negative) mpfr_neg(y, y, MPFR_RNDN);
}

static void pack_random(const struct bitcut_format *f, const struct bitcut_rounding *r,
                        uint64_t *state)
{
    const struct unrounded x = random_unrounded(f, state);
    mpfr_t y;
    mpfr_init2(y, 66);
    set_unrounded(y, x);
    const uint64_t got = round_pack(f, r, x), want = oracle_round(f, r, y);
    mpfr_clear(y);
    if (got == want) return;
    ck_abort_msg("%c0x%016" PRIx64
                 "%s 2^%d to %s by %s (overflow %d, flush %d): got 0x%" PRIx64
                 ", want 0x%" PRIx64,
                 x.negative ? '-' : '+', x.significand, x.sticky ? " and a part" : "",
                 x.exponent, f->name, r->name, (int)r->overflow, r->flush, got, want);
}

START_TEST(sticky_significands)
{
    uint64_t state = test_seed();
    struct bitcut_rounding rule[FLAGGED_RULES];
    flagged_rules(rule);
    const int cases = test_cases(12000, 400000);
    for (const struct bitcut_format *f = formats; f->name; f++)
        for (int i = 0; f->has_sign && i < cases; i++)
            pack_random(f, &rule[i % FLAGGED_RULES], &state);
}
END_TEST

/* Results that the standards and vendors print, from a binary64. */
static const struct {
    const char *to, *rule;
    double x;
    uint64_t want;
} published[] = {
    /* clang-format off */
    { "f16",      "rn",  0x1.ffdffffffffffp15, 0x7bff }, /* below 65520            */
    { "f16",      "rn",  65520,                0x7c00 },
    { "f16",      "rna", 65520,                0x7c00 },
    { "f16",      "odd", 1e9,                  0x7bff },
    { "f16",      "rz",  1e9,                  0x7bff },
    { "f16",      "ru",  -1e9,                 0xfbff },
    { "f16",      "rd",  -1e9,                 0xfc00 },
    { "f16",      "cut", 65536,                0x7c00 },
    { "f16",      "cut", 65535,                0x7bff },
    { "f16",      "cut", -0x1.ffp-15,          0x8000 },
    { "f16",      "rn",  0x1p-25,              0x0000 },
    { "f16",      "rna", -0x1p-25,             0x8001 },
    { "f16",      "rn",  0x1.0000000000001p-25, 0x0001 },
    { "f16",      "odd", 0x1p-1000,            0x0001 },
    { "f16",      "rn",  0x1.ffep-15,          0x0400 }, /* up to the least normal */
    { "bf16",     "rn",  0x1.01p0,             0x3f80 },
    { "bf16",     "rna", 0x1.01p0,             0x3f81 },
    { "tf32",     "rna", 0x1.002p0,            0x3f802000 },
    { "tf32",     "rn",  0x1.002p0,            0x3f800000 },
    { "e8m13",    "rz",  0x1.0007ffp0,         0x3f800000 },
    { "e4m3",     "rn",  464,                  0x7e },   /* the tie above 448      */
    { "e4m3",     "rn",  464.0000001,          0x7f },   /* no Inf: NaN            */
    { "e4m3",     "rn",  -465,                 0xff },
    { "e4m3",     "rz",  1e9,                  0x7e },
    { "e5m2",     "rn",  61440,                0x7c },
    { "e5m2",     "rz",  61440,                0x7b },
    { "e4m3fnuz", "rn",  248,                  0x80 },
    { "e4m3fnuz", "rn",  247,                  0x7f },
    { "e4m3fnuz", "rn",  -0x1p-20,             0x00 },   /* no -0                  */
    { "e2m1",     "rn",  5,                    0x6 },    /* 4 and 6: to even       */
    { "e2m1",     "rn",  1e9,                  0x7 },
    { "e2m1",     "rn",  -1e9,                 0xf },
    { "e2m3",     "rn",  7.75,                 0x1f },
    { "e3m2",     "rn",  -100,                 0x3f },
    { "f32",      "rn",  0x1.000001p0,         0x3f800000 },
    { "f32",      "rn",  0x1.fffffefffffffp127, 0x7f7fffff },
    { "f32",      "rn",  0x1.ffffffp127,       0x7f800000 },
    /* clang-format on */
};

START_TEST(published_values)
{
    for (unsigned i = 0; i < sizeof published / sizeof published[0]; i++) {
        const struct bitcut_format *to = bitcut_format_find(published[i].to);
        const struct bitcut_rounding *r = bitcut_rounding_find(published[i].rule);
        const struct bitcut_format *f64 = &formats[FORMAT_F64];
        ck_assert(to && r);
        const uint64_t x = bits_of_double(published[i].x);
        check_encoding(to, r, f64, x, bitcut_format_convert(to, r, f64, x),
                       published[i].want);
    }
    ck_assert_ptr_null(bitcut_rounding_find("nearest"));
}
END_TEST

/* Integers that do not fit: modulo 2^bits, the largest of the sign, or the end of the
   range. */
START_TEST(integers_too_large)
{
    static const struct {
        int format;
        struct unrounded x;
        uint64_t wrapped, largest, end;
    } cases[] = {
        { FORMAT_S32, { 0x80000000, 0, false, false }, 0x80000000, 0x7fffffff, 0x7fffffff },
        { FORMAT_S32, { 0x80000000, 0, true, false }, 0x80000000, 0x80000001, 0x80000000 },
        { FORMAT_S32, { 0x80000001, 0, true, false }, 0x7fffffff, 0x80000001, 0x80000000 },
        { FORMAT_S32, { 0x100000005, 0, false, false }, 5, 0x7fffffff, 0x7fffffff },
        { FORMAT_S32, { 3, 31, false, false }, 0x80000000, 0x7fffffff, 0x7fffffff },
        { FORMAT_S32, { 3, 64, true, false }, 0, 0x80000001, 0x80000000 },
        { FORMAT_S8, { 0xff, -1, false, false }, 0x80, 0x7f, 0x7f }, /* 127.5, to even */
        { FORMAT_S8, { 0x81, 0, true, false }, 0x7f, 0x81, 0x80 },
        { FORMAT_S8, { 0x101, -1, true, false }, 0x80, 0x81, 0x80 }, /* -128.5, to even */
        { FORMAT_S16, { 0x8000, 0, true, false }, 0x8000, 0x8001, 0x8000 },
        { FORMAT_S16, { 0x1fe02, 0, false, false }, 0xfe02, 0x7fff, 0x7fff },
        { FORMAT_U8, { 0x1ff, -1, false, false }, 0, 0xff, 0xff }, /* 255.5, to even */
        { FORMAT_U8, { 1, 0, true, false }, 0xff, 0, 0 },
        { FORMAT_U8, { 1, -1, true, false }, 0, 0, 0 },
        { FORMAT_U8, { 0x1fe, 0, true, false }, 2, 0, 0 },
    };
    struct bitcut_rounding wraps = roundings[ROUND_RN], ends = wraps;
    wraps.overflow = OVERFLOW_WRAP;
    ends.overflow = OVERFLOW_RANGE;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct bitcut_format *f = &formats[cases[i].format];
        ck_assert_uint_eq(round_pack(f, &wraps, cases[i].x), cases[i].wrapped);
        ck_assert_uint_eq(round_pack(f, &roundings[ROUND_RN], cases[i].x),
                          cases[i].largest);
        ck_assert_uint_eq(round_pack(f, &ends, cases[i].x), cases[i].end);
    }
}
END_TEST

/* Inf by every rule: Inf where the target has one, unless the rule saturates. */
START_TEST(infinities)
{
    struct bitcut_rounding rule[FLAGGED_RULES];
    flagged_rules(rule);
    for (const struct bitcut_format *to = formats; to->name; to++)
        for (const struct bitcut_format *from = formats; from->name; from++) {
            if (!to->has_sign || from->special != SPECIAL_IEEE) continue;
            for (int i = 0; i < 2 * FLAGGED_RULES; i++) {
                const struct bitcut_rounding *r = &rule[i / 2];
                const struct value x = { .kind = NUMBER_INF, .negative = i % 2 };
                const uint64_t bits = oracle_special(from, &roundings[ROUND_RN], x);
                const uint64_t got = bitcut_format_convert(to, r, from, bits);
                check_encoding(to, r, from, bits, got, oracle_special(to, r, x));
            }
        }
}
END_TEST

/* x >= 2^-127, as the exponent field of a power of two, 0xff too large for any. */
static unsigned power_of_two(int rule, double x)
{
    const bool nearest = rule == ROUND_RN || rule == ROUND_RNA;
    const bool cut = !nearest && rule != ROUND_RU;
    int exponent;
    const double half = frexp(x, &exponent); /* 1/2 <= half < 1 */
    const bool up = nearest ? half >= 0.75 : rule == ROUND_RU && half > 0.5;
    const unsigned field = (unsigned)(exponent - 1 + 127) + up;
    return field >= 0xff ? cut ? 0xfe : 0xff : field;
}

static void check_unsigned(const struct bitcut_format *to, int rule, uint64_t x,
                           uint64_t want)
{
    const struct bitcut_rounding *r = &roundings[rule];
    const struct bitcut_format *from = &formats[FORMAT_F32];
    check_encoding(to, r, from, x, bitcut_format_convert(to, r, from, x), want);
}

/* An FP32 value that is no NaN, by one rule. */
static void convert_unsigned(int rule, uint64_t x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32], *e4m3 = &formats[FORMAT_E4M3];
    const struct value v = oracle_value(f32, x);
    const bool negative = v.kind != NUMBER_ZERO && x >> 31;
    const uint64_t e = bitcut_format_convert(e4m3, &roundings[rule], f32, x & 0x7fffffff);
    const uint64_t power = negative || v.kind == NUMBER_INF ? 0xff
                           : v.magnitude < 0x1p-127          ? 0
                                                    : power_of_two(rule, v.magnitude);
    check_unsigned(&formats[FORMAT_UE4M3], rule, x, negative ? 0x7f : e);
    check_unsigned(&formats[FORMAT_UE8M0], rule, x, power);
}

/* Formats without a sign: ue4m3 has the magnitudes of e4m3, ue8m0 the powers of two. */
START_TEST(unsigned_formats)
{
    const uint32_t step = sweep_step(test_cases(1 << 18, 1 << 22));
    for (uint64_t x = 0; x < (uint64_t)1 << 32; x += step)
        for (int i = 0; i < PLAIN_RULES; i++)
            if ((x & 0x7fffffff) <= 0x7f800000) convert_unsigned(i, x);
    check_unsigned(&formats[FORMAT_UE8M0], ROUND_RN_SAT, 0x7f800000, 0xfe);
    check_unsigned(&formats[FORMAT_UE8M0], ROUND_RN_SAT, 0xff800000, 0xff);
    check_unsigned(&formats[FORMAT_UE8M0], ROUND_RN_SAT, 0, 0);
    check_unsigned(&formats[FORMAT_UE4M3], ROUND_RN_SAT, 0x80000000, 0);
}
END_TEST

/* All encodings of a small format, about 2^18 of another. */
static void check_nans(const struct bitcut_format *to, const struct bitcut_format *from)
{
    const uint64_t last = UINT64_MAX >> (64 - from->bits);
    const uint64_t step = from->bits <= 16 ? 1 : last >> 18;
    const bool none =
        !to->nan && to->special != SPECIAL_INTEGER; /* there 0 stands for it */
    const uint64_t want = none ? oracle_finite(to) - 1 : to->nan;
    for (uint64_t x = 0, i = 0; i <= last / step; x += step, i++) {
        const struct bitcut_rounding *r = &roundings[i % RULES];
        if (oracle_value(from, x).kind == NUMBER_NAN)
            check_encoding(to, r, from, x, bitcut_format_convert(to, r, from, x), want);
    }
}

/* Any NaN gives the quiet NaN of the target, whatever its sign and payload. */
START_TEST(every_nan_is_quiet)
{
    for (const struct bitcut_format *to = formats; to->name; to++)
        for (const struct bitcut_format *from = formats; from->name; from++)
            check_nans(to, from);
}
END_TEST

TEST_MAIN("round", lists_agree_with_mpfr, f32_by_plain_rules, f32_by_cut_and_feng,
          f32_with_flags, f64_to_every_format, double_rounding_traps,
          every_small_encoding_to_every_small_format, sticky_significands,
          published_values, integers_too_large, infinities, unsigned_formats,
          every_nan_is_quiet)
