/* SPDX-License-Identifier: BSD-3-Clause */
/* The bits that splits retain: all significands of a binade compared with plain integers
   and the published constants, single values with MPFR, underflow with its closed forms.
 */
#include "analysis/split/retention.h"
#include "analysis/split/split_range.h"
#include "lib/number/equilibrate.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"
#include "tests/number/number_oracle.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define F(format)   &formats[format]
#define R(rounding) &roundings[rounding]

static struct bitcut_split split_make(int format, int high, int low, int parts, int scale)
{
    return (struct bitcut_split){ .name = "test",
                                  .what = "of this test",
                                  .scale = scale,
                                  .parts = parts,
                                  .part = { { F(format), R(high), 0, false },
                                            { F(format), R(low), 1, false } } };
}

/* --- a binade in integers ---------------------------------------------------------- */

/* Counts over the significands of a binade, and largest values, in ulps of x. */
struct census {
    uint64_t count, overflow, exact, bits, ulps, subnormal, zero, most;
    double rho, theta;
};

static int length(uint64_t x)
{
    int n = 0;
    while (x >> n) n++;
    return n;
}

/* x rounded to a multiple of 2^step. */
static uint64_t multiple(const struct bitcut_rounding *r, uint64_t x, int step)
{
    if (step <= 0) return x;
    const uint64_t unit = UINT64_C(1) << step, below = x & ~(unit - 1), rest = x - below;
    bool up = 2 * rest > unit;
    switch (r->direction) {
    case TO_ZERO: return below;
    case TO_NEAREST_AWAY: up |= 2 * rest == unit; break;
    case TO_NEAREST_EVEN: up |= 2 * rest == unit && below & unit; break;
    default: ck_abort_msg("%s is not stated here", r->name);
    }
    return up ? below + unit : below;
}

/* The low part of the residual `rest`, of exponent field e of x, both in ulps of x: a
   multiple of the last of the significand's bits, and of the smallest subnormal. */
static uint64_t low_part(const struct bitcut_split *s, uint64_t rest, int e)
{
    const int fraction_bits = s->part[0].format->fraction_bits,
              emin = 1 - s->part[0].format->bias;
    const int last = length(rest) - 1 - fraction_bits;
    const int smallest = emin - fraction_bits - s->scale - (e - 23);
    return multiple(s->part[1].rounding, rest, last > smallest ? last : smallest);
}

/* Whether a low part is not a normal number. */
static bool is_below_normal(const struct bitcut_split *s, uint64_t low, int e)
{
    const int emin = 1 - s->part[0].format->bias, normal = emin - s->scale - (e - 23);
    return low == 0 || length(low) <= normal;
}

/* Add the value 1.fraction 2^e, whose high part is a normal number. */
static void census_add(struct census *c, const struct bitcut_split *s, int e,
                       uint32_t fraction)
{
    const uint64_t x = UINT64_C(1) << 23 | fraction;
    const int emax =
        (1 << s->part[0].format->exponent_bits) - 2 - s->part[0].format->bias;
    const uint64_t high =
        multiple(s->part[0].rounding, x, 23 - s->part[0].format->fraction_bits);
    const uint64_t rest = high > x ? high - x : x - high;
    const uint64_t low = s->parts == 2 ? low_part(s, rest, e) : 0;
    const uint64_t error = rest > low ? rest - low : low - rest;
    c->count++;
    if (e + length(high) - 24 > emax) {
        c->overflow++;
        return;
    }
    c->exact += error == 0;
    c->bits += error ? (uint64_t)(24 - length(error)) : 24;
    c->ulps += error;
    c->subnormal += s->parts == 2 && rest && is_below_normal(s, low, e);
    c->zero += s->parts == 2 && rest && low == 0;
    if (error > c->most) c->most = error;
    c->rho = fmax(c->rho, (double)error / (double)x);
    c->theta = fmax(c->theta, (double)low / (double)x);
}

static struct census census_of(const struct bitcut_split *s, int e, uint32_t fractions)
{
    struct census c = { 0 };
    for (uint32_t i = 0; i < fractions; i++) census_add(&c, s, e, i);
    return c;
}

/* --- all significands -------------------------------------------------------------- */

/* Compare what was counted over a whole binade with integers; not a bit may differ. */
static struct retention check_binade(const struct bitcut_split *s, int e)
{
    struct retention r;
    ck_assert_int_eq(retention_count(&r, s, e, 0, 1, 0, NULL, NULL), BITCUT_OK);
    const struct census c = census_of(s, e, SIGNIFICANDS);
    const double all = SIGNIFICANDS, finite = (double)(c.count - c.overflow);
    ck_assert_uint_eq(r.count, SIGNIFICANDS);
    const struct {
        const char *name;
        double got, want;
    } pairs[] = {
        { "exact", r.exact, (double)c.exact / all },
        { "bits", r.bits, (double)c.bits / all },
        { "max_ulp", r.max_ulp, (double)c.most },
        { "mean_ulp", r.mean_ulp, finite > 0 ? (double)c.ulps / finite : 0 },
        { "max_relative", r.max_relative, c.rho },
        { "max_low", r.max_low, c.theta },
        { "p_subnormal", r.p_subnormal, (double)c.subnormal / all },
        { "p_zero", r.p_zero, (double)c.zero / all },
        { "p_overflow", r.p_overflow, (double)c.overflow / all },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        ck_assert_msg(pairs[i].got == pairs[i].want,
                      "%s of %s, %s + %s, s = %d, exponent %d: got %a, want %a",
                      pairs[i].name, s->part[0].format->name, s->part[0].rounding->name,
                      s->part[1].rounding->name, s->scale, e, pairs[i].got,
                      pairs[i].want);
    return r;
}

/* Ootomo and Yokota, Tables 1 and 2, and what follows from their classes of mantissas. */
static const struct {
    int format, high, low, scale;
    double bits, exact, max_ulp, mean_ulp;
} constants[] = {
    { FORMAT_F16, ROUND_RN, ROUND_RN, 0, 23.75, 0.75, 1, 0.25 },   /* markidis */
    { FORMAT_F16, ROUND_RN, ROUND_RN, 11, 23.75, 0.75, 1, 0.25 },  /* halfhalf */
    { FORMAT_F16, ROUND_CUT, ROUND_RZ, 10, 23.25, 0.5, 3, 0.875 }, /* bitcut   */
    { FORMAT_F16, ROUND_CUT, ROUND_RN, 10, 23.375, 0.5, 2, 0.625 },
    { FORMAT_TF32, ROUND_RNA, ROUND_RNA, 0, 23.75, 0.75, 1, 0.25 }, /* tf32tf32 */
};

START_TEST(published_constants)
{
    const int rows = (int)(sizeof constants / sizeof constants[0]);
    if (test_step(2) > 1) return; /* other_binades counts one */
    for (int i = 0; i < rows; i += test_whole() ? 1 : 2) {
        const struct bitcut_split s = split_make(constants[i].format, constants[i].high,
                                                 constants[i].low, 2, constants[i].scale);
        const struct retention r = check_binade(&s, 0);
        ck_assert_msg(r.bits == constants[i].bits && r.exact == constants[i].exact &&
                          r.max_ulp == constants[i].max_ulp &&
                          r.mean_ulp == constants[i].mean_ulp && r.p_overflow == 0,
                      "row %d: %g bits, exact %g, max %g, mean %g ulp", i, r.bits,
                      r.exact, r.max_ulp, r.mean_ulp);
    }
}
END_TEST

/* One part, an eighth of it infinite: x from 61440 on.  And low parts that underflow. */
START_TEST(other_binades)
{
    static const int rows[] = { SPLIT_MARKIDIS, SPLIT_HALFHALF, SPLIT_BITCUT };
    const struct bitcut_split part = split_make(FORMAT_E5M2, ROUND_RN, ROUND_RN, 1, 0);
    const struct retention r = check_binade(&part, 15);
    ck_assert(r.p_overflow == 0.125 && r.max_low == 0);
    ck_assert(r.p_subnormal == 0 && r.p_zero == 0);
    for (int i = 0; i < 3; i++)
        for (int e = -14; test_long() && e <= 14; e++) check_binade(&splits[rows[i]], e);
}
END_TEST

/* --- single values ----------------------------------------------------------------- */

/* The sum of the parts that are not copies, each with its power of two; false if a part
   is not finite. */
static bool parts_sum(mpfr_ptr sum, const struct bitcut_split *s, uint32_t x)
{
    uint64_t part[SPLIT_PARTS_MAX];
    split_apply(part, s, x);
    mpfr_t term;
    mpfr_init2(term, 53);
    mpfr_set_zero(sum, 1);
    bool finite = true;
    for (int i = 0; i < s->parts; i++) {
        const struct value v = oracle_value(s->part[i].format, part[i]);
        finite &= v.kind == NUMBER_ZERO || v.kind == NUMBER_FINITE;
        mpfr_set_d(term, v.negative ? -v.magnitude : v.magnitude, MPFR_RNDN);
        mpfr_mul_2si(term, term, -s->scale * s->part[i].level, MPFR_RNDN);
        if (s->part[i].copy) continue;
        if (mpfr_add(sum, sum, term, MPFR_RNDN)) ck_abort_msg("sum of parts rounded");
    }
    mpfr_clear(term);
    return finite;
}

/* Compare one value with the exact sum of its parts. */
static void check_value(const struct bitcut_split *s, uint32_t x)
{
    const int e = (int)(x >> 23) - 127;
    int bits, want_bits = 24;
    double ulps;
    mpfr_t error;
    mpfr_init2(error, 600);
    const bool got = retention_of(&bits, &ulps, s, x), want = parts_sum(error, s, x);
    mpfr_sub_d(error, error, oracle_value(&formats[FORMAT_F32], x).magnitude, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
    mpfr_mul_2si(error, error, 23 - e, MPFR_RNDN);
    const double want_ulps = mpfr_get_d(error, MPFR_RNDN);
    if (!mpfr_zero_p(error)) want_bits = 23 - (int)(mpfr_get_exp(error) - 1);
    if (want_bits < 0) want_bits = 0;
    mpfr_clear(error);
    if (got != want) ck_abort_msg("%s of %08" PRIx32 ": overflow %d", s->name, x, !got);
    if (got && !(bits == want_bits && ulps == want_ulps))
        ck_abort_msg("%s of %08" PRIx32 ": got %d bits, %a ulps, want %d, %a", s->name, x,
                     bits, ulps, want_bits, want_ulps);
}

START_TEST(single_values)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_split *s = splits; s->name; s++) {
        for (uint32_t field = 1; field <= 254; field++)
            check_value(s, field << 23), check_value(s, field << 23 | 0x7fffff);
        for (int i = 0; i < test_cases(3000, 1000000); i++) {
            const uint64_t bits = test_bits(&rng);
            const uint32_t field = i % 2 ? 1 + (uint32_t)(bits >> 32) % 254
                                         : 95 + (uint32_t)(bits >> 32) % 50;
            check_value(s, field << 23 | (uint32_t)(bits & 0x7fffff));
        }
    }
}
END_TEST

/* --- samples ----------------------------------------------------------------------- */

enum { SAMPLES = 100000 };

static struct retention sampled(const struct bitcut_split *s, int e, uint64_t seed,
                                int threads)
{
    struct retention r;
    memset(&r, 0xd0, sizeof r);
    ck_assert_int_eq(retention_count(&r, s, e, SAMPLES, seed, threads, NULL, NULL),
                     BITCUT_OK);
    ck_assert_uint_eq(r.count, SAMPLES);
    return r;
}

/* Six standard deviations of a share counted in a sample. */
static bool is_likely(double got, double p)
{
    return fabs(got - p) <= 6 * sqrt(p * (1 - p) / SAMPLES);
}

START_TEST(samples_are_of_the_binade)
{
    static const int rows[] = { SPLIT_MARKIDIS, SPLIT_HALFHALF, SPLIT_BITCUT,
                                SPLIT_HALF };
    for (int i = 0; i < 4; i++)
        for (int e = -14; e <= 2; e += 4) {
            const struct bitcut_split *s = &splits[rows[i]];
            const struct retention r = sampled(s, e, test_seed(), 1);
            const struct census c = census_of(s, e, 1 << 16);
            const double count = (double)c.count;
            ck_assert_msg(is_likely(r.exact, (double)c.exact / count) &&
                              is_likely(r.p_subnormal, (double)c.subnormal / count) &&
                              is_likely(r.p_zero, (double)c.zero / count),
                          "%s, exponent %d: exact %g, subnormal %g, zero %g", s->name, e,
                          r.exact, r.p_subnormal, r.p_zero);
            ck_assert(r.max_ulp <= (double)c.most && r.p_overflow == 0);
        }
}
END_TEST

/* What is counted of a binade, by whichever way, is what retention_of() says of each of
   its values. */
START_TEST(samples_are_single_values)
{
    static const int exponents[] = { -100, -20, -15, -14, 3, 15, 100 };
    for (const struct bitcut_split *s = splits; s->name; s++)
        for (int i = 0; i < 7; i += test_step(3)) {
            const int e = exponents[i];
            const struct retention r = sampled(s, e, 5, 1);
            double most = 0;
            uint64_t exact = 0, kept = 0, finite = 0;
            struct hostfp mode;
            hostfp_enter(&mode);
            for (size_t j = 0; j < SAMPLES; j++) {
                const uint32_t x =
                    (uint32_t)(e + 127) << 23 | (rand_word(5, 0, j) & (SIGNIFICANDS - 1));
                int bits;
                double ulps;
                if (!retention_entered(&bits, &ulps, s, x)) continue;
                finite++;
                kept += (uint64_t)bits;
                exact += ulps == 0;
                most = fmax(most, ulps);
            }
            hostfp_leave(&mode);
            ck_assert_msg(r.bits == (double)kept / SAMPLES &&
                              (finite ? r.max_ulp == most : isnan(r.max_ulp)) &&
                              r.exact == (double)exact / SAMPLES &&
                              r.p_overflow == (double)(SAMPLES - finite) / SAMPLES,
                          "%s, exponent %d: bits %g, exact %g, max ulp %g, overflow %g",
                          s->name, e, r.bits, r.exact, r.max_ulp, r.p_overflow);
        }
}
END_TEST

/* Below 2^-14 no low part of the literal bit-cut underflows, and it keeps 12 bits: 24 of
   one value in 2^13, else 23 - floor(log2 v) where v, the last 13 bits, are cut. */
START_TEST(no_underflow_is_not_precision)
{
    struct retention r;
    for (int e = -20; e < -14; e++) {
        ck_assert_int_eq(
            retention_count(&r, &splits[SPLIT_BITCUT], e, 0, 1, 0, NULL, NULL),
            BITCUT_OK);
        ck_assert(r.count == SIGNIFICANDS && r.p_subnormal == 0 && r.p_zero == 0);
        ck_assert(r.bits == 12 - 0x1p-13);
    }
}
END_TEST

static bool is_same(const struct retention *a, const struct retention *b)
{
    return !memcmp(a, b, sizeof *a);
}

START_TEST(thread_counts)
{
    const struct bitcut_split *s = &splits[SPLIT_BITCUT];
    const struct retention one = sampled(s, -8, 5, 1), other = sampled(s, -8, 6, 1);
    ck_assert(!is_same(&one, &other));
    for (int threads = 0; threads <= 3; threads++) {
        const struct retention r = sampled(s, -8, 5, threads);
        ck_assert_msg(is_same(&r, &one), "%d threads", threads);
    }
}
END_TEST

START_TEST(host_modes)
{
    fenv_t host;
    fegetenv(&host);
    for (int i = 0; i < 3; i++) {
        const int e = i == 0 ? -126 : i == 1 ? -9 : 0;
        const struct retention want = sampled(&splits[SPLIT_BF16X2], e, 7, 1);
        for (int mode = 0; mode < 8; mode++) {
            test_host_mode(mode);
            const struct retention got = sampled(&splits[SPLIT_BF16X2], e, 7, 1);
            fesetenv(&host);
            ck_assert_msg(is_same(&got, &want), "mode %d, exponent %d", mode, e);
        }
    }
}
END_TEST

START_TEST(ends_of_the_range)
{
    const struct retention exact = sampled(&splits[SPLIT_F32], -126, 1, 1);
    ck_assert(exact.exact == 1 && exact.bits == 24 && exact.max_ulp == 0);
    const struct retention lost = sampled(&splits[SPLIT_BITCUT], -60, 1, 1);
    ck_assert(lost.exact == 0 && lost.bits == 0 && lost.max_relative == 1);
    ck_assert(lost.p_subnormal == 1 && lost.p_zero == 1 && lost.max_low == 0);
    const struct retention infinite = sampled(&splits[SPLIT_HALFHALF], 127, 1, 1);
    ck_assert(infinite.p_overflow == 1 && infinite.bits == 0 && infinite.exact == 0);
    ck_assert(isnan(infinite.max_ulp) && isnan(infinite.mean_ulp)); /* errors of none */
    ck_assert(isnan(infinite.max_relative) && isnan(infinite.max_low));
    ck_assert(infinite.p_subnormal == 0 && infinite.p_zero == 0);
}
END_TEST

START_TEST(stops)
{
    const struct bitcut_split *s = &splits[SPLIT_MARKIDIS];
    volatile sig_atomic_t flag = 1;
    const struct progress progress = { .stop = &flag };
    struct fault f = { 0 };
    struct retention r, before;
    memset(&r, 0xd0, sizeof r);
    before = r;
    ck_assert_int_eq(retention_count(&r, s, 0, 0, 1, 1, &progress, &f),
                     BITCUT_UNSUPPORTED);
    ck_assert_int_eq(f.status, BITCUT_UNSUPPORTED);
    ck_assert(is_same(&r, &before));
    flag = 0;
    ck_assert_int_eq(retention_count(&r, s, 0, 10, 1, 1, &progress, &f), BITCUT_OK);
    ck_assert_uint_eq(r.count, 10);
}
END_TEST

/* --- closed forms ------------------------------------------------------------------ */

/* Of two f16 parts: 2^-(e+s+3) of a binade has a low part below the normal range if the
   high one is rounded to nearest, 2^-(e+s+4) if it is cut; 2^-(e+s+14) has none if both
   are rounded alike. */
START_TEST(closed_forms_as_printed)
{
    static const int rows[] = { SPLIT_MARKIDIS, SPLIT_HALFHALF, SPLIT_BITCUT,
                                SPLIT_BITCUT_GRADUAL };
    for (int i = 0; i < 4; i++)
        for (int e = -14; e <= 14; e++) {
            const struct bitcut_split *s = &splits[rows[i]];
            const int cut = i >= 2;
            ck_assert(retention_p_subnormal(s, e) ==
                      fmin(1, ldexp(1, -(e + s->scale + 3 + cut))));
            ck_assert(retention_p_zero(s, e) == fmin(1, ldexp(1, -(e + s->scale + 14))));
        }
    ck_assert(retention_p_subnormal(&splits[SPLIT_HALF], -14) == 0);
    ck_assert(retention_p_zero(&splits[SPLIT_HALF], -14) == 0);
}
END_TEST

/* How far the closed forms are above the count at most, in patterns of the 13 bits that
   the high part leaves: a residual of 0 is not counted; a low part to nearest goes up to
   2^emin from half a step below, and to 0 from the middle of the first. */
static const struct {
    int format, high, low, scale;
    double subnormal, zero;
} forms[] = {
    { FORMAT_F16, ROUND_RN, ROUND_RN, 0, 6, 1 },
    { FORMAT_F16, ROUND_RN, ROUND_RN, 11, 6, 1 },
    { FORMAT_F16, ROUND_CUT, ROUND_RZ, 10, 1, 1 },
    { FORMAT_F16, ROUND_RZ, ROUND_RZ, 0, 1, 1 },
    { FORMAT_F16, ROUND_CUT, ROUND_RN, 0, 5, 0.5 },
    { FORMAT_F16, ROUND_RN, ROUND_RZ, 0, 2, 2 },
    { FORMAT_TF32, ROUND_RNA, ROUND_RNA, 0, 0, 0 },
};

START_TEST(closed_forms_and_counts)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct bitcut_split s =
            split_make(forms[i].format, forms[i].high, forms[i].low, 2, forms[i].scale);
        double most_subnormal = 0, most_zero = 0;
        for (int e = -14; e <= 2; e++) {
            const struct census c = census_of(&s, e, 1 << 14); /* what follows repeats */
            const double patterns = 0x1p13 / (double)c.count;
            const double subnormal =
                0x1p13 * retention_p_subnormal(&s, e) - (double)c.subnormal * patterns;
            const double zero =
                0x1p13 * retention_p_zero(&s, e) - (double)c.zero * patterns;
            most_subnormal = fmax(most_subnormal, subnormal);
            most_zero = fmax(most_zero, zero);
            ck_assert_msg(subnormal >= 0 && zero >= 0,
                          "row %zu, exponent %d: %g and %g patterns away", i, e,
                          subnormal, zero);
        }
        ck_assert_msg(fabs(most_subnormal - forms[i].subnormal) < 0x1p-60 &&
                          fabs(most_zero - forms[i].zero) < 0x1p-60,
                      "row %zu: up to %g and %g patterns away", i, most_subnormal,
                      most_zero);
    }
}
END_TEST

/* Of splits with any scale: where there is theory samples agree with it, and where no
   value is left to have an error there is neither. */
START_TEST(theory_where_it_holds)
{
    static const int scales[] = { BITCUT_UNSET, 0, 8, 11, 24, 40, 60 };
    enum { SAMPLES_HERE = 1 << 12, SCALES = sizeof scales / sizeof *scales };
    size_t held = 0, lost = 0;
    for (int i = 0; splits[i / SCALES].name; i++) {
        struct bitcut_split s = splits[i / SCALES];
        if (scales[i % SCALES] != BITCUT_UNSET) s.scale = scales[i % SCALES];
        for (int e = -48; e <= 16; e += 4)
            for (int zero = 0; zero < 2; zero++) {
                struct retention r;
                ck_assert_int_eq(
                    retention_count(&r, &s, e, SAMPLES_HERE, 1, 1, NULL, NULL),
                    BITCUT_OK);
                const double p = !retention_has_theory(&s, e) ? (double)NAN
                                 : zero                       ? retention_p_zero(&s, e)
                                        : retention_p_subnormal(&s, e),
                             got = zero ? r.p_zero : r.p_subnormal,
                             far = 6 * 0x1p-13 + 5 * sqrt(p * (1 - p) / SAMPLES_HERE);
                ck_assert_msg(isnan(p) || fabs(p - got) <= far,
                              "%s, scale %d, exponent %d: %s %g, counted %g", s.name,
                              s.scale, e, zero ? "p_zero" : "p_subnormal", p, got);
                ck_assert_msg(isnan(r.max_ulp) == (r.p_overflow == 1),
                              "%s, scale %d, exponent %d: max_ulp %g", s.name, s.scale, e,
                              r.max_ulp);
                ck_assert(r.p_overflow < 1 || s.parts < 2 || isnan(p));
                held += !isnan(p) && s.parts > 1;
                lost += r.p_overflow == 1;
            }
    }
    ck_assert_msg(held > 500 && lost > 100, "%zu with theory, %zu lost", held, lost);
}
END_TEST

/* All values of a binade, of splits of one and two parts: where there is theory the mean
   of the retained bits is near it, and where it does not hold there is none. */
START_TEST(bits_of_theory)
{
    static const int rows[] = {
        SPLIT_HALF,     SPLIT_MARKIDIS,       SPLIT_HALFHALF,
        SPLIT_BITCUT,   SPLIT_BITCUT_GRADUAL, SPLIT_CUTLASS_TF32X2,
        SPLIT_TF32TF32, SPLIT_BF16X2,         SPLIT_TF32
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    double farthest = 0;
    size_t held = 0;
    for (int i = 0; i < ROWS; i++)
        for (int e = -42; e <= 15; e += test_whole() ? 1 : 2) {
            const struct bitcut_split *const s = &splits[rows[i]];
            const double theory = retention_bits(s, false, e);
            struct retention r;
            if (isnan(theory)) continue;
            ck_assert_int_eq(retention_count(&r, s, e, 0, 1, 0, NULL, NULL), BITCUT_OK);
            farthest = fmax(farthest, fabs(theory - r.bits));
            held++;
            ck_assert_msg(fabs(theory - r.bits) <= 0x1p-9,
                          "%s, exponent %d: %.9g, counted %.9g", s->name, e, theory,
                          r.bits);
        }
    ck_assert_msg(held > 60 && farthest > 0,
                  "%zu with theory, up to %g away", held, farthest);
    ck_assert(fabs(retention_bits(&splits[SPLIT_MARKIDIS], false, 8) - 23.75) < 0x1p-9);
    ck_assert(fabs(retention_bits(&splits[SPLIT_BITCUT], false, 0) - 23.25) < 0x1p-9);
    ck_assert(isnan(retention_bits(&splits[SPLIT_HALFHALF], false, -15)) &&
              isnan(retention_bits(&splits[SPLIT_HALFHALF], true, 0)) &&
              isnan(retention_bits(&splits[SPLIT_HALFHALF], false, 15)) &&
              isnan(retention_bits(&splits[SPLIT_BF16X3], false, 0)) &&
              isnan(retention_bits(&splits[SPLIT_HALF_S8], false, 0)));
    ck_assert(!retention_has_theory(&splits[SPLIT_HALF], 0));
}
END_TEST

/* --- equilibrated lines ------------------------------------------------------------- */

/* The largest value of a line is in the binade of t: all that two parts can keep is kept
   down to t + 1 + s binades below it, and no further. */
START_TEST(equilibrated_binades)
{
    static const int rows[] = { SPLIT_MARKIDIS, SPLIT_HALFHALF, SPLIT_BITCUT };
    if (test_step(2) > 1) return;
    for (int i = 0; i < 3; i += test_whole() ? 1 : 2) {
        const struct bitcut_split *s = &splits[rows[i]];
        const int t = equilibrate_target(s), last = t - (t + 1 + s->scale);
        const double all = check_binade(s, t).bits;
        ck_assert(check_binade(s, last).bits == all);
        ck_assert(check_binade(s, last - 1).bits < all);
    }
}
END_TEST

/* --- the range ------------------------------------------------------------------------
 */

/* The first exponent at which the closed form of the bits is that of exponent 0. */
static int least_by_theory(const struct bitcut_split *s)
{
    int e = 0;
    while (e > -126 && retention_bits(s, false, e - 1) == retention_bits(s, false, 0))
        e--;
    return e;
}

START_TEST(ranges)
{
    static const struct {
        int row, least, most;
        bool flush;
    } ranges[] = {
        { SPLIT_HALF, -14, 15, false },     { SPLIT_MARKIDIS, -1, 15, false },
        { SPLIT_HALFHALF, -12, 15, false }, { SPLIT_BITCUT, -11, 15, false },
        { SPLIT_F32, -126, 127, false },    { SPLIT_HALF, -14, 15, true },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct bitcut_split *s = &splits[ranges[i].row];
        struct split_range r;
        struct fault f;
        ck_assert_int_eq(split_range_find(&r, s, ranges[i].flush, &f), BITCUT_OK);
        ck_assert_msg(r.least == ranges[i].least && r.most == ranges[i].most,
                      "%s: %d to %d", s->name, r.least, r.most);
        if (s->parts == 2) ck_assert_int_eq(r.least, least_by_theory(s));
    }
}
END_TEST

TEST_MAIN("retention", published_constants, other_binades, single_values,
          samples_are_of_the_binade, samples_are_single_values,
          no_underflow_is_not_precision, thread_counts, host_modes, ends_of_the_range,
          stops, closed_forms_as_printed, closed_forms_and_counts, theory_where_it_holds,
          bits_of_theory, equilibrated_binades, ranges)
