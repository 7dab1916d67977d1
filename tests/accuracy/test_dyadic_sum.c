/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact sums in 128 bits and more, compared with GMP. */
#include "analysis/accuracy/dyadic_sum.h"
#include "tests/test.h"

/* A term between 2^-200 and 2^100: most do not fit, some fill all 128 bits. */
static struct term any_term(uint64_t *rng)
{
    const uint64_t high = test_bits(rng) & 1 ? test_bits(rng) : 0;
    return (struct term){ (bitcut_uint128)high << 64 |
                              test_bits(rng) >> test_bits(rng) % 64,
                          (int)(test_bits(rng) % 240) - 200, test_bits(rng) & 1 };
}

static void add(mpz_t to, struct term x, bool minus)
{
    const uint64_t limb[2] = { (uint64_t)x.significand, (uint64_t)(x.significand >> 64) };
    mpz_t y;
    mpz_init(y);
    mpz_import(y, 2, -1, sizeof limb[0], 0, 0, limb);
    mpz_mul_2exp(y, y, (mp_bitcnt_t)(DYADIC_UNIT + x.exponent));
    if (x.negative != minus) mpz_neg(y, y);
    mpz_add(to, to, y);
    mpz_clear(y);
}

static void check(const struct dyadic_sum *got, int unit, const mpz_t want)
{
    mpz_t x;
    mpz_init(x);
    dyadic_sum_get(x, got, unit);
    ck_assert_msg(mpz_cmp(x, want) == 0, "unit 2^%d: another sum", unit);
    mpz_clear(x);
}

static void sums_check(uint64_t *rng)
{
    static const uint32_t factor[] = { 0x3f800000, 0xbf9d70a4, 0x2f000001, 0x47123456 };
    const int unit = (int)(test_bits(rng) % 100) - 150;
    struct dyadic_sum one = { .near = 0 }, all = { .near = 0 };
    mpz_t want_one, want_all;
    mpz_inits(want_one, want_all, NULL);
    for (int i = 0; i < 60; i++) {
        const struct term x = any_term(rng);
        const bool minus = test_bits(rng) & 1;
        dyadic_sum_add(&one, unit, x, minus);
        add(want_one, x, minus);
        if (i % 5 == 1) {
            const int by = (int)(test_bits(rng) % 40) - 20;
            dyadic_sum_shift(&one, unit, by);
            if (mpz_sgn(want_one)) dyadic_shift(want_one, by);
        }
        if (i % 7 == 3) {
            const uint32_t f = factor[test_bits(rng) % 4];
            dyadic_sum_multiply(&one, unit, f);
            dyadic_multiply(want_one, f);
        }
        check(&one, unit, want_one);
        if (i % 10 != 9) continue;
        dyadic_sum_add_sum(&all, unit, &one, minus);
        (minus ? mpz_sub : mpz_add)(want_all, want_all, want_one);
        check(&all, unit, want_all);
        dyadic_sum_zero(&one);
        mpz_set_ui(want_one, 0);
    }
    mpz_clears(want_one, want_all, NULL);
}

START_TEST(sums_are_exact)
{
    uint64_t rng = test_seed();
    for (int n = 0; n < test_cases(500, 5000); n++) sums_check(&rng);
}
END_TEST

/* Many terms that fit, whose sum does not. */
START_TEST(sums_outgrow_their_unit)
{
    enum { UNIT = -100, TERMS = 3000 };
    const struct term x = { UINT64_MAX, UNIT + DYADIC_SUM_BITS - 64, true };
    struct dyadic_sum sum = { .near = 0 };
    mpz_t want;
    mpz_init(want);
    dyadic_sum_add(&sum, UNIT, x, false);
    dyadic_sum_shift(&sum, UNIT, 20);
    add(want, x, false);
    dyadic_shift(want, 20);
    check(&sum, UNIT, want);
    for (int i = 0; i < TERMS; i++) {
        dyadic_sum_add(&sum, UNIT, x, false);
        add(want, x, false);
    }
    check(&sum, UNIT, want);
    mpz_clear(want);
}
END_TEST

TEST_MAIN("dyadic_sum", sums_are_exact, sums_outgrow_their_unit)
