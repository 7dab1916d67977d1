/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/accuracy/sample_comparison.h"

#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/number/number_oracle.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define F32 (&formats[FORMAT_F32])
#define RN  (&roundings[ROUND_RN])

void update_exact(mpfr_ptr sum, mpfr_ptr size, const struct comparison *x, size_t at)
{
    const double alpha = float_of_bits(x->alpha), beta = float_of_bits(x->beta);
    mpfr_mul_d(sum, sum, alpha, MPFR_RNDN);
    mpfr_mul_d(size, size, fabs(alpha), MPFR_RNDN);
    if (beta == 0) return;
    const double term = beta * (double)float_of_bits(x->c[at]);
    mpfr_add_d(sum, sum, term, MPFR_RNDN);
    mpfr_add_d(size, size, fabs(term), MPFR_RNDN);
}

static void product_exact(struct sample *s, size_t i, size_t j)
{
    const struct comparison *x = &s->x;
    mpfr_t sum, size, term;
    mpfr_inits2(EXACT_BITS, sum, size, term, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, x->k ? -1 : 1); /* stays -0 if every term is */
    mpfr_set_zero(size, 1);
    for (size_t k = 0; k < x->k; k++) {
        mpfr_set_flt(term, float_of_bits(x->a[i * x->k + k]), MPFR_RNDN);
        mpfr_mul_d(term, term, (double)float_of_bits(x->b[k * x->n + j]), MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_abs(term, term, MPFR_RNDN);
        mpfr_add(size, size, term, MPFR_RNDN);
    }
    const size_t at = i * x->n + j;
    update_exact(sum, size, x, at);
    s->exact32[at] = mpfr_number_p(sum)  ? (uint32_t)oracle_round(F32, RN, sum)
                     : mpfr_nan_p(sum)   ? 0x7fc00000
                     : mpfr_signbit(sum) ? 0xff800000
                                         : 0x7f800000;
    s->exact64[at] = bits_of_double(mpfr_get_d(sum, MPFR_RNDN));
    s->magnitude[at] = mpfr_get_d(size, MPFR_RNDN);
    mpfr_clears(sum, size, term, (mpfr_ptr)NULL);
}

uint32_t fma_chain(const struct sample *s, size_t at)
{
    float sum = 0;
    for (size_t k = 0; k < s->x.k; k++)
        sum = fmaf(float_of_bits(s->a[at / s->x.n * s->x.k + k]),
                   float_of_bits(s->b[k * s->x.n + at % s->x.n]), sum);
    if (s->x.alpha != F32_ONE) sum *= float_of_bits(s->x.alpha);
    if (s->x.beta) sum = fmaf(float_of_bits(s->x.beta), float_of_bits(s->c[at]), sum);
    return bits_of_float(sum);
}

/* What an FP32 loop may commit: 4 u times the root of the squares of all that it rounds,
   or what it does commit. */
static double limit_exact(const struct sample *s, size_t at)
{
    const struct comparison *x = &s->x;
    const double alpha = float_of_bits(x->alpha), beta = float_of_bits(x->beta);
    mpfr_t sum, square, term;
    mpfr_inits2(EXACT_BITS, sum, square, term, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(square, 1);
    for (size_t k = 0; k < x->k; k++) {
        mpfr_set_flt(term, float_of_bits(x->a[at / x->n * x->k + k]), MPFR_RNDN);
        mpfr_mul_d(term, term, alpha * float_of_bits(x->b[k * x->n + at % x->n]),
                   MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_fma(square, sum, sum, square, MPFR_RNDN);
    }
    if (alpha != 1) mpfr_fma(square, sum, sum, square, MPFR_RNDN);
    mpfr_add_d(sum, sum, beta == 0 ? 0 : beta * float_of_bits(s->c[at]), MPFR_RNDN);
    if (beta != 0) mpfr_fma(square, sum, sum, square, MPFR_RNDN);
    mpfr_sqrt(square, square, MPFR_RNDN);
    mpfr_set_flt(term, float_of_bits(fma_chain(s, at)), MPFR_RNDN);
    mpfr_sub_d(term, term, double_of_bits(s->exact64[at]), MPFR_RNDN);
    const double loop = fabs(mpfr_get_d(term, MPFR_RNDN));
    const double limit = ldexp(mpfr_get_d(square, MPFR_RNDN), -22);
    mpfr_clears(sum, square, term, (mpfr_ptr)NULL);
    return isfinite(loop) && loop > limit ? loop : limit;
}

void sample_update(struct sample *s, size_t m, size_t n, size_t k, uint32_t alpha,
                   uint32_t beta)
{
    s->x = (struct comparison){ .m = m,
                                .n = n,
                                .k = k,
                                .a = s->a,
                                .b = s->b,
                                .d = s->d,
                                .reference32 = s->exact32,
                                .reference64 = s->exact64,
                                .magnitude = s->magnitude,
                                .row_norm = s->row_norm,
                                .col_norm = s->col_norm,
                                .alpha = alpha,
                                .beta = beta,
                                .c = s->c,
                                .limit = s->limit };
    line_norms(s->row_norm, s->col_norm, &s->x, 1);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            product_exact(s, i, j);
            s->limit[i * n + j] = limit_exact(s, i * n + j);
        }
    memcpy(s->d, s->exact32, sizeof s->d);
}

void sample_make(struct sample *s, size_t m, size_t n, size_t k)
{
    sample_update(s, m, n, k, F32_ONE, 0);
}

bool is_close(double got, double want, double size)
{
    return got == want || fabs(got - want) <= 1e-12 * size;
}

static void print_sample(const struct sample *s)
{
    printf("# %zu x %zu x %zu\n", s->x.m, s->x.n, s->x.k);
    for (size_t i = 0; i < s->x.m * s->x.n; i++)
        printf("# D %08" PRIx32 " (%a), C %a\n", s->d[i], format_to_double(F32, s->d[i]),
               double_of_bits(s->exact64[i]));
    fflush(stdout); /* a failed check ends the process without it */
}

void sample_check(const struct sample *s, const double want[METRICS])
{
    double got[METRICS];
    metrics_run(got, &s->x);
    for (int i = 0; i < METRICS; i++) {
        const double size = i == METRIC_ULP_BIAS ? want[METRIC_ULP_MEAN] : fabs(want[i]);
        if (i == METRIC_GRADE && want[i] == GRADE_EITHER) continue;
        if (!s->x.limit && i >= METRIC_GRADE && i <= METRIC_NORMWISE_LIMIT) {
            ck_assert_msg(isnan(got[i]), "%s: %g without limits", metrics[i].name,
                          got[i]);
            continue;
        }
        if (is_close(got[i], want[i], size)) continue;
        print_sample(s);
        ck_abort_msg("%s: got %.17g, want %.17g", metrics[i].name, got[i], want[i]);
    }
}

static uint32_t exponents(uint64_t *rng, int low, int high)
{
    const uint64_t bits = test_bits(rng);
    return (uint32_t)(bits >> 63) << 31 |
           (uint32_t)(test_between(rng, low, high) + 127) << 23 |
           (uint32_t)(bits & 0x7fffff);
}

static uint32_t fill_normal(uint64_t *rng) { return exponents(rng, -2, 2); }
static uint32_t fill_wide(uint64_t *rng) { return exponents(rng, -60, 50); }
static uint32_t fill_tiny(uint64_t *rng) { return exponents(rng, -80, -60); }

static uint32_t fill_integer(uint64_t *rng)
{
    return bits_of_float((float)test_between(rng, -2, 2));
}

uint32_t (*const sample_fills[FILLS])(uint64_t *rng) = { fill_normal, fill_wide,
                                                         fill_tiny, fill_integer };

void sample_draw(struct sample *s, uint64_t *rng, int round, int least)
{
    uint32_t (*const fill)(uint64_t *) = sample_fills[round % FILLS];
    const size_t m = (size_t)test_between(rng, least, SIDE);
    const size_t n = (size_t)test_between(rng, least, SIDE);
    const size_t k = (size_t)test_between(rng, least, INNER);
    for (size_t i = 0; i < m * k; i++) s->a[i] = fill(rng);
    for (size_t i = 0; i < k * n; i++) s->b[i] = fill(rng);
    for (size_t i = 0; i < m * n; i++) s->c[i] = fill(rng);
    if (round % (2 * FILLS) < FILLS) sample_make(s, m, n, k);
    else
        sample_update(s, m, n, k, sample_fills[0](rng),
                      round % 3 ? sample_fills[0](rng) : 0);
}

void sample_perturb(struct sample *s, uint64_t *rng)
{
    const int bits = test_between(rng, 0, 20), every = test_between(rng, 1, 4);
    for (size_t i = 0; i < s->x.m * s->x.n; i++) {
        const uint32_t steps = (uint32_t)test_between(rng, 0, 1 << bits);
        if (test_between(rng, 1, every) > 1 || (s->d[i] & 0x7fffffff) > 0x7e000000)
            continue;
        if (s->d[i] & 0x7fffffff && test_between(rng, 0, 1)) s->d[i] -= 1;
        else s->d[i] += steps;
    }
}
