/* SPDX-License-Identifier: BSD-3-Clause */
/* Elementary functions of binary32 against MPFR: random arguments of all sizes, special
   ones, and those whose results are closest to a tie. */
#include "lib/number/elementary32.h"

#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>

/* A function, and the exponents of arguments with results in range. */
struct function32 {
    const char *name;
    float (*of)(float x);
    int (*mpfr)(mpfr_t to, const mpfr_t x, mpfr_rnd_t mode);
    int least, most;
    bool positive;
};

static const struct function32 functions32[] = {
    { "exp2", elementary32_exp2, mpfr_exp2, -40, 7, false },
    { "exp", elementary32_exp, mpfr_exp, -40, 6, false },
    { "log", elementary32_log, mpfr_log, -149, 127, true },
};
enum { FUNCTIONS32 = 3 };

/* The correctly rounded result. */
static float correct(const struct function32 *f, float x)
{
    mpfr_t y, z;
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_inits2(24, y, z, (mpfr_ptr)0);
    mpfr_set_flt(z, x, MPFR_RNDN);
    mpfr_set_emin(-148), mpfr_set_emax(128);
    int ternary = f->mpfr(y, z, MPFR_RNDN);
    ternary = mpfr_check_range(y, ternary, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    const float result = mpfr_get_flt(y, MPFR_RNDN);
    mpfr_set_emin(emin), mpfr_set_emax(emax);
    mpfr_clears(y, z, (mpfr_ptr)0);
    return result;
}

static void check(const struct function32 *f, float x)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    const float got = f->of(x);
    hostfp_leave(&saved);
    const float want = correct(f, x);
    ck_assert_msg(
        bits_of_float(got) == bits_of_float(want) || (isnan(got) && isnan(want)),
        "%s(%a): got %a, want %a", f->name, (double)x, (double)got, (double)want);
}

START_TEST(random_arguments)
{
    uint64_t rng = test_seed();
    for (int i = 0; i < FUNCTIONS32; i++)
        for (int n = test_cases(200000, 20000000); n; n--) {
            const struct function32 *const f = &functions32[i];
            const float x = ldexpf(1 + (float)(test_bits(&rng) >> 41) * 0x1p-23f,
                                   test_between(&rng, f->least, f->most));
            check(f, f->positive || test_bits(&rng) & 1 ? x : -x);
        }
}
END_TEST

START_TEST(special_arguments)
{
    static const float x[] = { 0.0f,      -0.0f, 1,         -1,       2,        -126,
                               -127,      -149,  -149.5f,   -150,     -150.1f,  127,
                               128,       -200,  200,       88.72f,   88.73f,   -87.4f,
                               -103.9f,   -104,  0x1p-149f, 0x1p-24f, 0x1p-25f, -0x1p-25f,
                               -0x1p-26f, 1e30f, -1e30f,    3e-39f };
    for (int i = 0; i < FUNCTIONS32; i++) {
        for (size_t n = 0; n < sizeof x / sizeof *x; n++) check(&functions32[i], x[n]);
        check(&functions32[i], (float)INFINITY);
        check(&functions32[i], -(float)INFINITY);
        check(&functions32[i], (float)NAN);
    }
}
END_TEST

/* How close a result is to a tie, as a fraction of an ulp. */
static double closeness(const struct function32 *f, float x)
{
    mpfr_t y, z;
    mpfr_init2(y, 100);
    mpfr_init2(z, 24);
    mpfr_set_flt(z, x, MPFR_RNDN);
    f->mpfr(y, z, MPFR_RNDN);
    mpfr_mul_2si(y, y, 25 - (long)mpfr_get_exp(y), MPFR_RNDN); /* ties are odd integers */
    mpfr_frac(y, y, MPFR_RNDN);
    const double frac = fabs(mpfr_get_d(y, MPFR_RNDN));
    mpfr_clears(y, z, (mpfr_ptr)0);
    return frac < 0.5 ? frac : 1 - frac;
}

/* Arguments for which binary64 does not decide: results within 2^-16 ulp of a tie or of a
   value are searched among many, and there must be some. */
START_TEST(hard_arguments)
{
    enum { FEW = 100000 }; /* fewer have no such argument */
    const int wanted = test_cases(400000, 40000000), cases = wanted < FEW ? FEW : wanted;
    uint64_t rng = test_seed() + 1;
    int hard = 0;
    for (int i = 0; i < FUNCTIONS32; i++)
        for (int n = cases; n; n--) {
            const struct function32 *const f = &functions32[i];
            const float x = ldexpf(1 + (float)(test_bits(&rng) >> 41) * 0x1p-23f,
                                   test_between(&rng, -3, 4));
            if (closeness(f, x) > 0x1p-16) continue;
            check(f, x);
            hard++;
        }
    ck_assert_int_gt(hard, 3);
}
END_TEST

TEST_MAIN("elementary32", random_arguments, special_arguments, hard_arguments)
