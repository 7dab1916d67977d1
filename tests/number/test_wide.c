/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact sums compared with integers of GMP. */
#include "lib/number/wide.h"
#include "tests/test.h"

#include <gmp.h>
#include <stdlib.h>

enum { TERMS_MAX = 300 };

static uint64_t below(uint64_t *state, uint64_t n) { return test_bits(state) % n; }

/* A nonzero significand of 1 to 128 bits: any bits, one bit, or a run of ones. */
static bitcut_uint128 random_significand(uint64_t *state)
{
    const bitcut_uint128 any = (bitcut_uint128)test_bits(state) << 64 | test_bits(state);
    const int length = 1 + (int)below(state, 128);
    const bitcut_uint128 top = (bitcut_uint128)1 << (length - 1);
    switch (below(state, 4)) {
    case 0: return top;
    case 1: return top | (top - 1);
    default: return top | (any & (top - 1));
    }
}

static struct term random_term(uint64_t *state, int lowest, int span)
{
    return (struct term){ .significand = below(state, 20) ? random_significand(state) : 0,
                          .exponent = lowest + (int)below(state, (uint64_t)span),
                          .negative = below(state, 2) };
}

static void set_uint128(mpz_t z, bitcut_uint128 x)
{
    const uint64_t limb[2] = { (uint64_t)x, (uint64_t)(x >> 64) };
    mpz_import(z, 2, -1, sizeof limb[0], 0, 0, limb);
}

/* sum += term / 2^lowest, lowest not above the exponent of the term. */
static void add_term(mpz_t sum, const struct term *t, int lowest)
{
    mpz_t x;
    mpz_init(x);
    set_uint128(x, t->significand);
    mpz_mul_2exp(x, x, (mp_bitcnt_t)(t->exponent - lowest));
    if (t->negative) mpz_sub(sum, sum, x);
    else mpz_add(sum, sum, x);
    mpz_clear(x);
}

/* What wide_value() owes for sum * 2^lowest: the top 64 bits, the rest as sticky. */
static struct unrounded expected(const mpz_t sum, int lowest)
{
    struct unrounded u = { .significand = 0 };
    if (mpz_sgn(sum) == 0) return u;
    mpz_t top;
    mpz_init(top);
    mpz_abs(top, sum);
    const long length = (long)mpz_sizeinbase(top, 2);
    u.negative = mpz_sgn(sum) < 0;
    u.exponent = lowest + (int)length - 64;
    u.sticky = (long)mpz_scan1(top, 0) < length - 64;
    if (length > 64) mpz_tdiv_q_2exp(top, top, (mp_bitcnt_t)(length - 64));
    else mpz_mul_2exp(top, top, (mp_bitcnt_t)(64 - length));
    mpz_export(&u.significand, NULL, -1, sizeof u.significand, 0, 0, top);
    mpz_clear(top);
    return u;
}

static void check_value(const char *what, long index, struct unrounded got,
                        struct unrounded want)
{
    if (got.significand == want.significand && got.negative == want.negative &&
        got.sticky == want.sticky &&
        (got.significand == 0 || got.exponent == want.exponent))
        return;
    ck_abort_msg("%s %ld: got %c0x%016" PRIx64 "%s 2^%d, want %c0x%016" PRIx64 "%s 2^%d",
                 what, index, got.negative ? '-' : '+', got.significand,
                 got.sticky ? "+" : "", got.exponent, want.negative ? '-' : '+',
                 want.significand, want.sticky ? "+" : "", want.exponent);
}

/* wide_sum() of the terms; and the same through wide_add() one by one, with the value
   after every addition. */
static void check_sum(const char *what, long index, const struct term *terms, int n)
{
    int lowest = INT32_MAX, highest = INT32_MIN;
    for (int i = 0; i < n; i++) {
        if (terms[i].exponent < lowest) lowest = terms[i].exponent;
        if (terms[i].exponent + 127 > highest) highest = terms[i].exponent + 127;
    }
    mpz_t sum;
    mpz_init(sum);
    struct wide w;
    wide_clear(&w, lowest, highest);
    for (int i = 0; i < n; i++) {
        add_term(sum, &terms[i], lowest);
        wide_add(&w, terms[i].negative, terms[i].significand, terms[i].exponent);
        if (n < 20 || i == n - 1)
            check_value(what, index, wide_value(&w), expected(sum, lowest));
    }
    check_value(what, index, wide_sum(terms, n), expected(sum, lowest));
    mpz_clear(sum);
}

START_TEST(random_sums)
{
    static const int spans[] = { 1, 2, 30, 64, 65, 130, 600, 4000 };
    uint64_t state = test_seed();
    struct term terms[TERMS_MAX];
    for (long i = 0; i < test_cases(40000, 2000000); i++) {
        const int span = spans[i % 8];
        const int n = 1 + (int)below(&state, i % 50 ? 12 : TERMS_MAX);
        const int lowest = -2148 + (int)below(&state, (uint64_t)(4097 - span));
        for (int j = 0; j < n; j++) terms[j] = random_term(&state, lowest, span);
        check_sum("random sum", i, terms, n);
    }
}
END_TEST

/* The terms and their opposites in another order: zero; with one bit more, that bit. */
START_TEST(cancellation)
{
    uint64_t state = test_seed();
    struct term terms[TERMS_MAX];
    for (long i = 0; i < test_cases(20000, 1000000); i++) {
        const int n = 1 + (int)below(&state, 8), span = i % 2 ? 100 : 4000;
        for (int j = 0; j < n; j++) {
            terms[j] = random_term(&state, -2000, span);
            terms[2 * n - 1 - j] = terms[j];
            terms[2 * n - 1 - j].negative = !terms[j].negative;
        }
        check_value("cancellation to zero", i, wide_sum(terms, 2 * n),
                    (struct unrounded){ .significand = 0 });
        terms[2 * n] = (struct term){ .significand = 1,
                                      .exponent = -2000 + (int)below(&state, 4000),
                                      .negative = below(&state, 2) };
        check_value("cancellation to one bit", i, wide_sum(terms, 2 * n + 1),
                    (struct unrounded){ .significand = (uint64_t)1 << 63,
                                        .exponent = terms[2 * n].exponent - 63,
                                        .negative = terms[2 * n].negative });
    }
}
END_TEST

/* 2^a - 2^b and its negative for a and b around every limb boundary, and the same with a
   bit far below: borrows through all limbs, and sticky. */
START_TEST(borrows)
{
    for (int a = 1; a < 260; a++)
        for (int b = 0; b < a; b++)
            for (int negative = 0; negative < 2; negative++) {
                const struct term terms[3] = {
                    { .significand = 1, .exponent = a, .negative = negative },
                    { .significand = 1, .exponent = b, .negative = !negative },
                    { .significand = 1, .exponent = -3000, .negative = a % 2 },
                };
                check_sum("difference of powers of two", 1000 * a + b, terms, 2);
                check_sum("the same with 2^-3000", 1000 * a + b, terms, 3);
            }
}
END_TEST

/* Every length of a significand at every shift within a limb, alone. */
START_TEST(single_terms)
{
    for (int length = 1; length <= 128; length++)
        for (int shift = 0; shift < 64; shift++)
            for (int kind = 0; kind < 3; kind++) {
                const bitcut_uint128 top = (bitcut_uint128)1 << (length - 1);
                const struct term terms[2] = {
                    { .significand = kind == 0   ? top
                                     : kind == 1 ? top | 1
                                                 : top | (top - 1),
                      .exponent = 64 + shift,
                      .negative = shift % 2 },
                    { .significand = 0, .exponent = 0 },
                };
                check_sum("single term", 1000 * length + shift, terms, 1);
                check_sum("single term over a zero", 1000 * length + shift, terms, 2);
            }
}
END_TEST

/* The contract of wide_clear(): magnitudes below 2^(highest + 63) at the last bit of
   every width, on both sides of zero. */
START_TEST(capacity)
{
    const bitcut_uint128 most = ((bitcut_uint128)1 << 63) - 1;
    for (int highest = 0; highest <= 6293; highest++)
        for (int negative = 0; negative < 2; negative++) {
            struct wide w;
            mpz_t sum;
            mpz_init(sum);
            wide_clear(&w, 0, highest);
            const struct term t[2] = {
                { .significand = most, .exponent = highest, .negative = negative },
                { .significand = highest > 0, .exponent = 0, .negative = negative },
            };
            for (int i = 0; i < 2; i++) {
                wide_add(&w, t[i].negative, t[i].significand, t[i].exponent);
                add_term(sum, &t[i], 0);
            }
            check_value("capacity", highest, wide_value(&w), expected(sum, 0));
            mpz_clear(sum);
        }
}
END_TEST

/* Many terms of one size: carries beyond the highest bit of a term. */
START_TEST(long_sums)
{
    struct wide w;
    mpz_t sum;
    mpz_init(sum);
    for (int width = 24; width <= 128; width += 13) {
        const struct term t = { .significand = (~(bitcut_uint128)0) >> (128 - width),
                                .exponent = -width,
                                .negative = width % 2 };
        wide_clear(&w, -width, -1);
        mpz_set_ui(sum, 0);
        for (int i = 0; i < 100000; i++) {
            wide_add(&w, t.negative, t.significand, t.exponent);
            add_term(sum, &t, -width);
        }
        check_value("long sum", width, wide_value(&w), expected(sum, -width));
    }
    mpz_clear(sum);
}
END_TEST

START_TEST(zeros)
{
    const struct unrounded zero = { .significand = 0 };
    const struct term terms[2] = {
        { .significand = 0, .exponent = -9999, .negative = true },
        { .significand = 0, .exponent = 9999 }
    };
    check_value("sum of nothing", 0, wide_sum(terms, 0), zero);
    check_value("sum of zeros", 0, wide_sum(terms, 2), zero);
}
END_TEST

TEST_MAIN("wide", random_sums, cancellation, borrows, single_terms, capacity, long_sums,
          zeros)
