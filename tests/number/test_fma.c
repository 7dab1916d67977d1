/* SPDX-License-Identifier: BSD-3-Clause */
/* Fused multiply-add compared with mpfr_fma, the FP32 operations of an epilogue, and
   their independence of the caller's floating-point mode. */
#define _POSIX_C_SOURCE 200809L

#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "lib/number/split.h"
#include "tests/number/number_oracle.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>


enum { NAN_HERE = 0xdead }; /* the `nan` handed to fma_round: any bits may be asked for */

/* Enough for a product of two binary64 numbers and a third: 2^-2148 to 2^2049. */
enum { EXACT_BITS = 4200 };

/* Three operands, and a number that holds any sum of products of them. */
struct operands {
    mpfr_t a, b, c, exact;
};

static void set_value(mpfr_ptr y, const struct bitcut_format *f, uint64_t encoding)
{
    const struct value x = oracle_value(f, encoding);
    if (x.kind == NUMBER_NAN) mpfr_set_nan(y);
    else if (x.kind == NUMBER_INF) mpfr_set_inf(y, 1);
    else mpfr_set_d(y, x.magnitude, MPFR_RNDN);
    if (x.negative) mpfr_neg(y, y, MPFR_RNDN);
}

static void operands_init(struct operands *m, const struct bitcut_format *f, uint64_t a,
                          uint64_t b, uint64_t c)
{
    mpfr_inits2(53, m->a, m->b, m->c, (mpfr_ptr)0);
    mpfr_init2(m->exact, EXACT_BITS);
    set_value(m->a, f, a);
    set_value(m->b, f, b);
    set_value(m->c, f, c);
}

static void operands_clear(struct operands *m)
{
    mpfr_clears(m->a, m->b, m->c, m->exact, (mpfr_ptr)0);
}

/* a * b + c: exactly by mpfr_fma, then rounded once by MPFR.  The sign of an exact zero
   is that of rounding to nearest for every rule, as the contract of fma_round says. */
static uint64_t expected(const struct bitcut_format *f, const struct bitcut_rounding *r,
                         uint64_t a, uint64_t b, uint64_t c)
{
    struct operands m;
    operands_init(&m, f, a, b, c);
    uint64_t encoding = NAN_HERE;
    if (mpfr_fma(m.exact, m.a, m.b, m.c, MPFR_RNDN))
        ck_abort_msg("mpfr_fma was not exact");
    if (mpfr_inf_p(m.exact))
        encoding = oracle_special(
            f, r, (struct value){ NUMBER_INF, mpfr_signbit(m.exact) != 0, 0 });
    else if (!mpfr_nan_p(m.exact)) encoding = oracle_round(f, r, m.exact);
    operands_clear(&m);
    return encoding;
}

static void check_fma(const struct bitcut_format *f, const struct bitcut_rounding *r,
                      uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t want = expected(f, r, a, b, c);
    const uint64_t got = fma_round(f, r, NAN_HERE, a, b, c);
    if (got == want) return;
    ck_abort_msg("%s fma by %s: 0x%" PRIx64 " * 0x%" PRIx64 " + 0x%" PRIx64
                 " (%a * %a + %a): "
                 "got 0x%" PRIx64 ", want 0x%" PRIx64,
                 f->name, r->name, a, b, c, format_to_double(f, a),
                 format_to_double(f, b), format_to_double(f, c), got, want);
}

static uint64_t random_encoding(const struct bitcut_format *f, uint64_t *state)
{
    return test_bits(state) >> (64 - f->bits) >> f->pad << f->pad;
}

static uint64_t finite_encoding(const struct bitcut_format *f, uint64_t *state)
{
    const uint64_t sign = (test_bits(state) & 1) << (f->bits - 1);
    const uint64_t code = test_bits(state) % oracle_finite(f);
    return code || f->special != SPECIAL_FNUZ ? sign | code << f->pad : 0;
}

/* A c near a b or -a b, or about as large as the last bit of a b, or the converse: sums
   that cancel and sums that are almost ties. */
static uint64_t addend_near(const struct bitcut_format *f, uint64_t a, uint64_t b,
                            uint64_t *state)
{
    const int last = f->fraction_bits + 1;
    const int scale[] = { 0, 0, 1, -1, last, -last };
    struct operands m;
    operands_init(&m, f, a, b, 0);
    mpfr_mul(m.exact, m.a, m.b, MPFR_RNDN);
    mpfr_mul_2si(m.exact, m.exact, scale[test_bits(state) % 6], MPFR_RNDN);
    if (test_bits(state) & 1) mpfr_neg(m.exact, m.exact, MPFR_RNDN);
    uint64_t c = random_encoding(f, state);
    if (mpfr_number_p(m.exact))
        c = oracle_round(f, &roundings[test_bits(state) & 1 ? ROUND_RZ : ROUND_ODD],
                         m.exact);
    operands_clear(&m);
    return c;
}

/* The formats tested by every rule; the others only to nearest. */
static bool is_main(const struct bitcut_format *f)
{
    return f == &formats[FORMAT_F16] || f == &formats[FORMAT_BF16] ||
           f == &formats[FORMAT_F32] || f == &formats[FORMAT_F64];
}

static const struct bitcut_rounding *rule_at(const struct bitcut_format *f, int i)
{
    return &roundings[is_main(f) ? i % (ROUND_ODD + 1) : ROUND_RN];
}

START_TEST(random_operands)
{
    uint64_t state = test_seed();
    for (const struct bitcut_format *f = formats; f->name; f++) {
        const int usual = is_main(f) ? 60000 : 6000,
                  cases = test_cases(usual, 30 * usual);
        for (int i = 0; f->has_sign && i < cases; i++) {
            const uint64_t a = random_encoding(f, &state), b = random_encoding(f, &state);
            check_fma(f, rule_at(f, i), a, b, random_encoding(f, &state));
            check_fma(f, rule_at(f, i), a, b, addend_near(f, a, b, &state));
        }
    }
}
END_TEST

/* The encodings at which something changes, of either sign, in all triples. */
enum { EDGES = 24 };

static void edges(uint64_t edge[EDGES], const struct bitcut_format *f)
{
    const uint64_t step = (uint64_t)1 << f->pad, normal = step << f->fraction_bits;
    const uint64_t one = (uint64_t)f->bias << f->fraction_bits << f->pad;
    const uint64_t largest = format_largest(f, false);
    const uint64_t positive[EDGES / 2] = {
        0, step, 2 * step, normal - step, normal, normal + step, one - step, one,
        one + step, largest, format_infinity(f, false), format_nan(f)
    };
    for (int i = 0; i < EDGES; i++)
        edge[i] = (positive[i / 2] | (uint64_t)(i % 2) << (f->bits - 1)) &
                  UINT64_MAX >> (64 - f->bits);
}

START_TEST(edge_operands)
{
    for (const struct bitcut_format *f = formats; f->name; f++) {
        if (!f->has_sign) continue;
        uint64_t edge[EDGES];
        edges(edge, f);
        for (int i = 0; i < EDGES * EDGES * EDGES; i++)
            for (int r = 0; r < (is_main(f) ? ROUND_ODD + 1 : 1); r++)
                check_fma(f, &roundings[r], edge[i % EDGES], edge[i / EDGES % EDGES],
                          edge[i / EDGES / EDGES]);
    }
}
END_TEST

/* Rules with flags, on finite operands: the result, and only it, is flushed; overflow
   gives what the flag says. */
START_TEST(flagged_rules)
{
    uint64_t state = test_seed();
    for (const struct bitcut_format *f = formats; f->name; f++)
        for (int i = 0; f->has_sign && i < 4000; i++) {
            struct bitcut_rounding r = roundings[i % (ROUND_ODD + 1)];
            r.flush = (enum flush)(i / 8 % 3);
            r.overflow = (enum overflow)(i / 16 % 3);
            const uint64_t a = finite_encoding(f, &state), b = finite_encoding(f, &state);
            check_fma(f, &r, a, b, addend_near(f, a, b, &state));
        }
}
END_TEST

/* c so far from the product that only its being there can be seen. */
START_TEST(far_apart)
{
    uint64_t state = test_seed();
    for (int i = 0; i < 20000; i++) {
        const int row =
            (const int[]){ FORMAT_F32, FORMAT_F64, FORMAT_BF16, FORMAT_F16 }[i % 4];
        const struct bitcut_format *f = &formats[row];
        const uint64_t sign = (test_bits(&state) & 1) << (f->bits - 1);
        const uint64_t tiny = sign | (1 + test_bits(&state) % 3);
        const uint64_t one = (uint64_t)f->bias << f->fraction_bits;
        const uint64_t big = random_encoding(f, &state);
        check_fma(f, rule_at(f, i / 4), big, one, tiny);
        check_fma(f, rule_at(f, i / 4), tiny, one + test_bits(&state) % 4, big);
        check_fma(f, rule_at(f, i / 4), tiny, tiny ^ (test_bits(&state) & 1), big);
    }
}
END_TEST

/* Every a and b of 8-bit formats with every 11th c. */
START_TEST(all_small)
{
    static const int rows[] = { FORMAT_E5M2, FORMAT_E4M3, FORMAT_E4M3FNUZ };
    const uint64_t step = test_long() ? 1 : 11 * (uint64_t)test_step(7);
    for (int i = 0; i < 3; i++) {
        const struct bitcut_format *f = &formats[rows[i]];
        for (uint64_t a = 0; a < 256; a++)
            for (uint64_t b = a; b < 256; b++)
                for (uint64_t c = (a + b) % step; c < 256; c += step)
                    check_fma(f, &roundings[ROUND_RN], a, b, c);
    }
}
END_TEST

/* --- FP32 -------------------------------------------------------------------------- */

static uint32_t cuda_nan(float y) { return isnan(y) ? 0x7fffffff : bits_of_float(y); }

/* Against the host's arithmetic: IEEE 754 to nearest, a NaN as CUDA gives it. */
static void check_f32(uint32_t a, uint32_t b, uint32_t c)
{
    const volatile float x = float_of_bits(a), y = float_of_bits(b);
    const uint32_t got[3] = { f32_add(a, b), f32_multiply(a, b), f32_fma(a, b, c) };
    const uint32_t want[3] = { cuda_nan(x + y), cuda_nan(x * y),
                               cuda_nan(fmaf(x, y, float_of_bits(c))) };
    for (int i = 0; i < 3; i++)
        if (got[i] != want[i])
            ck_abort_msg("f32_%s of 0x%08x 0x%08x 0x%08x: got 0x%08x, want 0x%08x",
                         (const char *[]){ "add", "multiply", "fma" }[i], a, b, c, got[i],
                         want[i]);
}

START_TEST(f32_operations)
{
    uint64_t state = test_seed(), edge[EDGES];
    edges(edge, &formats[FORMAT_F32]);
    for (int i = 0; i < EDGES * EDGES; i++)
        check_f32((uint32_t)edge[i % EDGES], (uint32_t)edge[i / EDGES], 0x80000000);
    for (int i = 0; i < test_cases(400000, 20000000); i++) {
        const uint64_t x = test_bits(&state), y = test_bits(&state);
        uint32_t b = (uint32_t)(x >> 32);
        if (y >> 63) b = (b & 0x807fffff) | ((uint32_t)x & 0x7f800000);
        check_f32((uint32_t)x, b, (uint32_t)y);
    }
}
END_TEST

START_TEST(signs_of_zero)
{
    const uint32_t plus = 0, minus = 0x80000000, one = 0x3f800000, minus_one = 0xbf800000;
    const uint32_t least = 1, minus_least = 0x80000001;
    ck_assert_uint_eq(f32_multiply(plus, one), 0);
    ck_assert_uint_eq(f32_multiply(plus, minus_one), 0x80000000);
    ck_assert_uint_eq(f32_multiply(minus, minus_one), 0);
    ck_assert_uint_eq(f32_multiply(minus, plus), 0x80000000);
    ck_assert_uint_eq(f32_multiply(least, least), 0);
    ck_assert_uint_eq(f32_multiply(minus_least, least), 0x80000000);
    ck_assert_uint_eq(f32_add(minus, minus), 0x80000000);
    ck_assert_uint_eq(f32_add(minus, plus), 0);
    ck_assert_uint_eq(f32_add(one, minus_one), 0);
    ck_assert_uint_eq(f32_fma(minus_one, plus, minus), 0x80000000);
    ck_assert_uint_eq(f32_fma(minus_one, one, one), 0);
    ck_assert_uint_eq(f32_fma(0x7fc00000, one, one), 0x7fffffff);
    ck_assert_uint_eq(f32_fma(0x7f800000, plus, one), 0x7fffffff);
}
END_TEST

START_TEST(powers_of_two)
{
    for (int e = -149; e <= 127; e++)
        ck_assert_uint_eq(f32_power_of_two(e), bits_of_float(ldexpf(1, e)));
}
END_TEST

/* --- the host's mode --------------------------------------------------------------- */

/* A number that depends on every bit of the results of many operations. */
static uint64_t digest(uint64_t seed)
{
    uint64_t state = seed, sum = 0;
    for (int i = 0; i < 4000; i++) {
        const struct bitcut_format *f = &formats[i % (FORMAT_E2M1 + 1)];
        const struct bitcut_rounding *r = &roundings[i % (ROUND_FENG22 + 1)];
        const uint64_t a = random_encoding(f, &state), b = random_encoding(f, &state);
        const uint64_t x = fma_round(f, r, NAN_HERE, a, b, random_encoding(f, &state));
        uint64_t part[SPLIT_PARTS_MAX] = { 0 };
        split_apply(part, &splits[i % (SPLIT_BF16X3_SCALED + 1)],
                    (uint32_t)test_bits(&state));
        for (int j = 0; j < SPLIT_PARTS_MAX; j++)
            sum = sum * 0x9e3779b97f4a7c15 + part[j];
        sum = sum * 0x9e3779b97f4a7c15 + x;
        sum = sum * 0x9e3779b97f4a7c15 +
              bitcut_format_convert(f, r, &formats[FORMAT_F32], test_bits(&state) >> 32);
    }
    return sum;
}

START_TEST(host_modes_change_nothing)
{
    struct hostfp saved;
    const uint64_t want = digest(test_seed());
    hostfp_enter(&saved);
    for (int mode = 0; mode < 8; mode++) {
        test_host_mode(mode);
        const uint64_t got = digest(test_seed());
        hostfp_leave(&saved);
        ck_assert_msg(got == want,
                      "host mode %d changes bits: digest 0x%" PRIx64 ", want 0x%" PRIx64,
                      mode, got, want);
    }
}
END_TEST

/* Inside: to nearest, subnormals kept.  Afterwards: what the caller had. */
START_TEST(hostfp_saves_and_restores)
{
    struct hostfp outer, inner;
    hostfp_enter(&outer);
    for (int mode = 0; mode < 8; mode++) {
        const int direction = test_host_mode(mode);
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(FE_DIVBYZERO);
        hostfp_enter(&inner);
        const volatile double third = 3, least = 0x1p-1074, half_ulp = 0x1.8p-53;
        const volatile double kept = least + least;
        const volatile double up = 1 + half_ulp, down = -1 - half_ulp / 2;
        const int rounding_inside = fegetround();
        const volatile double inexact = 1 / third;
        (void)inexact;
        hostfp_leave(&inner);
        const int rounding = fegetround(), flags = fetestexcept(FE_ALL_EXCEPT);
        const volatile double lost = least + least;
        hostfp_leave(&outer);
        ck_assert_int_eq(rounding_inside, FE_TONEAREST);
        ck_assert(kept == 0x1p-1073 && up == 1 + 0x1p-52 && down == -1);
        ck_assert_int_eq(rounding, direction);
        ck_assert_int_eq(flags, FE_DIVBYZERO);
#if defined(__SSE2__)
        ck_assert((lost == 0) == (mode / 4 == 1));
#else
        (void)lost;
#endif
    }
}
END_TEST

/* What relies on the mode says so when it is another one. */
START_TEST(hostfp_is_asserted)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    ck_assert(hostfp_entered());
    hostfp_truncate();
    ck_assert(!hostfp_entered());
    hostfp_default();
    ck_assert(hostfp_entered());
    hostfp_leave(&saved);
    for (int mode = 1; mode < 4; mode++) {
        test_host_mode(mode);
        const bool entered = hostfp_entered();
        hostfp_leave(&saved);
        ck_assert(!entered);
    }
}
END_TEST

static void need_truncate(void) { hostfp_default(); }

static void need_default(void)
{
    hostfp_truncate();
    hostfp_truncate();
}

static void need_enter(void)
{
    test_host_mode(3);
    (void)elementary_log(2);
}

/* Whether a process that does it, after hostfp_enter(), is aborted. */
static bool aborts(void (*act)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        struct hostfp saved;
        close(STDERR_FILENO); /* the assertion's text */
        hostfp_enter(&saved);
        act();
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGABRT;
}

START_TEST(hostfp_misused)
{
    ck_assert(aborts(need_truncate));
    ck_assert(aborts(need_default));
    ck_assert(aborts(need_enter));
}
END_TEST

TEST_MAIN("fma", random_operands, edge_operands, flagged_rules, far_apart, all_small,
          f32_operations, signs_of_zero, powers_of_two, host_modes_change_nothing,
          hostfp_saves_and_restores, hostfp_is_asserted, hostfp_misused)
