/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers compared with published values, elementary functions with MPFR. */
#include "lib/number/bits.h"
#include "tests/test.h"

#include "lib/number/elementary.h"
#include "lib/number/format.h"
#include "lib/number/rand.h"
#include "lib/number/wide.h"

#include <math.h>
#include <mpfr.h>

static void check_words(const char *what, const uint32_t *got, const uint32_t *want,
                        int n)
{
    for (int i = 0; i < n; i++)
        if (got[i] != want[i])
            ck_abort_msg("%s: word %d: got 0x%08" PRIx32 ", want 0x%08" PRIx32, what, i,
                         got[i], want[i]);
}

/* --- Philox ------------------------------------------------------------------------- */

/* Random123 1.14, examples/kat_vectors, lines "philox4x32 10". */
START_TEST(philox_known_answers)
{
    /* clang-format off */
    static const struct {
        const char *what;
        uint32_t counter[4], key[2], output[4];
    } answer[] = {
        { "zeros", { 0, 0, 0, 0 }, { 0, 0 },
          { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { "ones", { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { "pi", { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof answer / sizeof answer[0]; i++) {
        uint32_t got[4];
        bitcut_philox(got, answer[i].counter, answer[i].key);
        check_words(answer[i].what, got, answer[i].output, 4);
    }
}
END_TEST

/* curand() after curand_init(seed, stream, first) of cuRAND 10.4 (CUDA 13.0), state
   curandStatePhilox4_32_10_t: the header's statement about the layout. */
START_TEST(streams_are_those_of_curand)
{
    /* clang-format off */
    static const struct {
        uint64_t seed, stream, first;
        uint32_t word[6];
    } answer[] = {
        { 1, 0, 0,
          { 0xe3e80670, 0xe50a0ebc, 0x95f222c0, 0xb615aa27, 0xac08141b, 0xdfc5ccbe } },
        { 0x123456789abcdef0, 5, 7,
          { 0xd6219286, 0x63f6cee6, 0xe463b929, 0x5ed79d8f, 0xfecbfd85, 0x7e0c43b7 } },
        { 42, 0xfedcba9876543210, 0x3fffffff,
          { 0x2247447d, 0x51efd540, 0xdd51fdd6, 0x5444be9e, 0x390290fa, 0x5385775f } },
        { 7, 3, 0x3fffffffffffff,
          { 0xc03d05b9, 0x59b80e45, 0xcb494bd2, 0x206cc15a, 0x6d337bb6, 0xa76ad90f } },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof answer / sizeof answer[0]; i++) {
        uint32_t got[6];
        rand_fill(got, 6, answer[i].seed, answer[i].stream, answer[i].first);
        check_words("rand_fill", got, answer[i].word, 6);
        for (uint64_t n = 0; n < 6; n++)
            got[n] = rand_word(answer[i].seed, answer[i].stream, answer[i].first + n);
        check_words("rand_word", got, answer[i].word, 6);
    }
}
END_TEST

/* A random integer of 0 to 64 bits. */
static uint64_t any_size(uint64_t *state)
{
    const uint64_t drop = test_bits(state) % 65;
    return drop == 64 ? 0 : test_bits(state) >> drop;
}

START_TEST(runs_do_not_depend_on_where_they_start)
{
    enum { MOST = 40 };
    uint64_t state = test_seed();
    for (int trial = 0; trial < 2000; trial++) {
        const uint64_t seed = test_bits(&state), stream = test_bits(&state);
        const uint64_t first = any_size(&state);
        const size_t count = (size_t)(test_bits(&state) % MOST);
        if (first > UINT64_MAX - MOST) continue;
        uint32_t run[MOST], word[MOST];
        rand_fill(run, count, seed, stream, first);
        for (size_t i = count; i-- > 0;) word[i] = rand_word(seed, stream, first + i);
        check_words("a run against single words", run, word, (int)count);
    }
}
END_TEST

START_TEST(helpers_are_exact)
{
    uint64_t state = test_seed();
    ck_assert_uint_eq(rand_bits(0x89abcdef, 0x01234567), 0x0123456789abcdef);
    for (int trial = 0; trial < 10000; trial++) {
        const uint64_t bits = test_bits(&state);
        const uint64_t n = any_size(&state) | (trial % 2 == 0);
        if (n == 0) continue;
        const uint64_t got = rand_below(bits, n);
        /* got is the largest integer with got / n <= bits / 2^64 */
        const bool fits = got < n &&
                          ((bitcut_uint128)got << 64) <= (bitcut_uint128)bits * n &&
                          ((bitcut_uint128)(got + 1) << 64) > (bitcut_uint128)bits * n;
        if (!fits)
            ck_abort_msg("rand_below(0x%" PRIx64 ", %" PRIu64 ") is %" PRIu64, bits, n,
                         got);
        const double u = rand_open(bits);
        if (!(u > 0 && u < 1 && rand_open(~bits) == 1 - u &&
              ldexp(u, 53) == (double)((bits >> 12 << 1) | 1)))
            ck_abort_msg("rand_open(0x%" PRIx64 ") is %a", bits, u);
    }
    ck_assert(rand_open(0) == 0x1p-53 && rand_open(UINT64_MAX) == 1 - 0x1p-53);
}
END_TEST

/* --- elementary functions ----------------------------------------------------------- */

enum { REFERENCE_BITS = 160 };

/* |got - want| in ulp of got, subnormals included. */
static double error_ulp(double got, const mpfr_t want)
{
    mpfr_t difference;
    mpfr_init2(difference, REFERENCE_BITS);
    mpfr_sub_d(difference, want, got, MPFR_RNDN);
    int e;
    frexp(got, &e);
    mpfr_mul_2si(difference, difference, 53 - (e < -1021 ? -1021 : e), MPFR_RNDN);
    const double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

static double uniform(uint64_t *state) { return rand_open(test_bits(state)); }

/* Any positive binary64; between 1/2 and 2; near 1. */
static double log_argument(uint64_t *state)
{
    const uint64_t kind = test_bits(state) % 3;
    if (kind == 1) return 0.5 + 1.5 * uniform(state);
    if (kind == 2) {
        const int closer = (int)(test_bits(state) % 45);
        return 1 + ldexp(uniform(state) - 0.5, -closer);
    }
    const double x = double_of_bits(test_bits(state) >> 1);
    return isfinite(x) && x > 0 ? x : 0x1p-1074;
}

static double exp_argument(uint64_t *state)
{
    const uint64_t kind = test_bits(state) % 3;
    if (kind == 1) return 2 * uniform(state) - 1;
    if (kind == 2) return -20 * uniform(state);
    return 1418 * uniform(state) - 708.3;
}

/* 2^-53 to 1 - 2^-53, a multiple of 2^-53: anywhere, near 0 or 1, or near 1/2. */
static double quantile_argument(uint64_t *state)
{
    const uint64_t kind = test_bits(state) % 4;
    double p = uniform(state);
    const int closer = (int)(test_bits(state) % 52);
    if (kind == 1) p = ldexp(p, -closer);
    if (kind == 2) p = 0.5 + ldexp(p - 0.5, -closer);
    p = ldexp(floor(ldexp(p, 53)), -53);
    if (p < 0x1p-53) p = 0x1p-53;
    return kind == 1 && test_bits(state) & 1 ? 1 - p : p;
}

/* z -= (Phi(z) - p) / phi(z): Newton's step towards the quantile of p. */
static void quantile_step(mpfr_t z, double p)
{
    mpfr_t phi, density, pi;
    mpfr_inits2(REFERENCE_BITS, phi, density, pi, (mpfr_ptr)NULL);
    mpfr_sqrt_ui(phi, 2, MPFR_RNDN);
    mpfr_div(phi, z, phi, MPFR_RNDN);
    mpfr_neg(phi, phi, MPFR_RNDN);
    mpfr_erfc(phi, phi, MPFR_RNDN);
    mpfr_div_ui(phi, phi, 2, MPFR_RNDN);
    mpfr_sub_d(phi, phi, p, MPFR_RNDN);
    mpfr_sqr(density, z, MPFR_RNDN);
    mpfr_div_si(density, density, -2, MPFR_RNDN);
    mpfr_exp(density, density, MPFR_RNDN);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul_ui(pi, pi, 2, MPFR_RNDN);
    mpfr_sqrt(pi, pi, MPFR_RNDN);
    mpfr_div(density, density, pi, MPFR_RNDN);
    mpfr_div(phi, phi, density, MPFR_RNDN);
    mpfr_sub(z, z, phi, MPFR_RNDN);
    mpfr_clears(phi, density, pi, (mpfr_ptr)NULL);
}

static void reference_log(mpfr_t y, double x)
{
    mpfr_set_d(y, x, MPFR_RNDN);
    mpfr_log(y, y, MPFR_RNDN);
}

static void reference_exp(mpfr_t y, double x)
{
    mpfr_set_d(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
}

/* The arguments of sine and cosine: the whole range; the neighbourhood of multiples of
   pi / 2, where a result is small. */
static double angle_argument(uint64_t *state)
{
    const double x = 8 * uniform(state);
    if (test_bits(state) % 2) return x;
    const double near = (double)(test_bits(state) % 5) * 0x1.921fb54442d18p+0;
    return fabs(near + ldexp(x - 4, -(int)(test_bits(state) % 60) - 3));
}

static void reference_sin(mpfr_t y, double x)
{
    mpfr_set_d(y, x, MPFR_RNDN);
    mpfr_sin(y, y, MPFR_RNDN);
}

static void reference_cos(mpfr_t y, double x)
{
    mpfr_set_d(y, x, MPFR_RNDN);
    mpfr_cos(y, y, MPFR_RNDN);
}

/* Newton from a start that an error of the tested function cannot move past 2^-20. */
static void reference_quantile(mpfr_t y, double p)
{
    mpfr_set_d(y, elementary_quantile(p) * (1 + 0x1p-20), MPFR_RNDN);
    for (int i = 0; i < 4; i++) quantile_step(y, p);
}

/* The functions, the errors that lib/number/elementary.h promises (the quantile's 2^-49
   is 8 ulp where its significand is largest), and digests of their bits. */
/* clang-format off */
static const struct function {
    const char *name;
    double (*function)(double);
    double (*argument)(uint64_t *state);
    void (*reference)(mpfr_t y, double x);
    double most_ulp;
    int trials;
    uint64_t digest;
} functions[] = {
    { .name = "log", .function = elementary_log, .argument = log_argument,
      .reference = reference_log, .most_ulp = 1, .trials = 20000,
      .digest = 0x276fa3fc417f5004 },
    { .name = "exp", .function = elementary_exp, .argument = exp_argument,
      .reference = reference_exp, .most_ulp = 1.25, .trials = 20000,
      .digest = 0xca297b5c6255528f },
    { .name = "sin", .function = elementary_sin, .argument = angle_argument,
      .reference = reference_sin, .most_ulp = 1.5, .trials = 20000, .digest = 0x02481d88b0032de2 },
    { .name = "cos", .function = elementary_cos, .argument = angle_argument,
      .reference = reference_cos, .most_ulp = 1.5, .trials = 20000, .digest = 0xfc1294d0b2f48538 },
    { .name = "quantile", .function = elementary_quantile, .argument = quantile_argument,
      .reference = reference_quantile, .most_ulp = 8, .trials = 1000,
      .digest = 0xa3648fcc20e62144 },
};
/* clang-format on */
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static void check_near(const struct function *f)
{
    const int trials = f->trials * test_cases(1, 50);
    uint64_t state = test_seed();
    mpfr_t want;
    mpfr_init2(want, REFERENCE_BITS);
    for (int i = 0; i < trials; i++) {
        const double x = f->argument(&state), got = f->function(x);
        f->reference(want, x);
        if (mpfr_zero_p(want) && got == 0) continue;
        const double error = error_ulp(got, want);
        if (!(error <= f->most_ulp))
            ck_abort_msg("%s(%a): got %a, want %a: %g ulp", f->name, x, got,
                         mpfr_get_d(want, MPFR_RNDN), error);
    }
    mpfr_clear(want);
}

START_TEST(functions_are_near_mpfr)
{
    for (int i = 0; i < FUNCTIONS; i++) check_near(&functions[i]);
}
END_TEST

/* FNV-1a of the results for arguments that do not depend on the seed of the run. */
static uint64_t results_digest(const struct function *f)
{
    uint64_t state = 20260101, digest = 0xcbf29ce484222325;
    for (int i = 0; i < 5000; i++) {
        const uint64_t bits = bits_of_double(f->function(f->argument(&state)));
        for (int byte = 0; byte < 8; byte++)
            digest = (digest ^ (bits >> 8 * byte & 0xff)) * 0x100000001b3;
    }
    return digest;
}

/* A changed bit on any host, compiler or library shows here. */
START_TEST(functions_have_the_recorded_bits)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        const uint64_t digest = results_digest(&functions[i]);
        if (digest != functions[i].digest)
            ck_abort_msg("%s: digest 0x%016" PRIx64 ", recorded 0x%016" PRIx64,
                         functions[i].name, digest, functions[i].digest);
    }
}
END_TEST

START_TEST(functions_at_their_ends)
{
    ck_assert(elementary_log(1) == 0);
    ck_assert(elementary_exp(0) == 1);
    ck_assert(elementary_exp(-746) == 0 && elementary_exp(-1e308) == 0);
    ck_assert(elementary_exp(-745) == 0x1p-1074);
    ck_assert(isinf(elementary_exp(709.79)) && isinf(elementary_exp(1e308)));
    ck_assert(isfinite(elementary_exp(709.78)));
    ck_assert(elementary_quantile(0.5) == 0);
    uint64_t state = test_seed();
    for (int i = 0; i < 10000; i++) {
        const double p = quantile_argument(&state), z = elementary_quantile(p);
        if (!(elementary_quantile(1 - p) == -z))
            ck_abort_msg("the quantiles of %a and 1 minus it are not opposite", p);
    }
}
END_TEST

TEST_MAIN("rand", philox_known_answers, streams_are_those_of_curand,
          runs_do_not_depend_on_where_they_start, helpers_are_exact,
          functions_are_near_mpfr, functions_have_the_recorded_bits,
          functions_at_their_ends)
