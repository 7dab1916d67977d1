/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/exact/exact_problem.h"

#include "lib/exact/oracle.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* --- problems ----------------------------------------------------------------------- */

void *test_allocate(size_t count, size_t size)
{
    void *p = memory_allocate(count, size);
    ck_assert_ptr_nonnull(p);
    return p;
}

void problem_init(struct problem *p, const char *name, size_t m, size_t n, size_t k)
{
    *p = (struct problem){ .name = name, .m = m, .n = n, .k = k };
    p->a = test_allocate(m * k, sizeof *p->a);
    p->b = test_allocate(k * n, sizeof *p->b);
    p->want32 = test_allocate(m * n, sizeof *p->want32);
    p->want64 = test_allocate(m * n, sizeof *p->want64);
    p->magnitude = test_allocate(m * n, sizeof *p->magnitude);
}

void problem_clear(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->want32);
    free(p->want64);
    free(p->magnitude);
}

static double value_of(uint32_t bits) { return (double)float_of_bits(bits); }

static bool adds_c(const struct exact_update *u) { return (u->beta & 0x7fffffff) != 0; }

static double magnitude_of(const struct problem *p, size_t i, size_t j)
{
    const struct exact_update *u = p->update;
    double sum = 0;
    for (size_t q = 0; q < p->k; q++)
        sum += fabs(value_of(p->a[i * p->k + q]) * value_of(p->b[q * p->n + j]));
    if (u) sum *= fabs(value_of(u->alpha));
    if (u && adds_c(u)) sum += fabs(value_of(u->beta) * value_of(u->c[i * p->n + j]));
    return sum;
}

static uint64_t oracle_of(const struct problem *p, struct oracle *o, int format,
                          const uint32_t *row, const uint32_t *column, size_t at)
{
    const struct exact_update *u = p->update;
    if (!u) return oracle_dot(o, &formats[format], p->k, row, column);
    return oracle_update(o, &formats[format], p->k, row, column, u->alpha, u->beta,
                         u->c ? u->c[at] : 0);
}

void problem_solve(struct problem *p)
{
    struct oracle *o = test_allocate(1, sizeof *o);
    uint32_t *column = test_allocate(p->k, sizeof *column);
    oracle_init(o);
    for (size_t j = 0; j < p->n; j++) {
        for (size_t q = 0; q < p->k; q++) column[q] = p->b[q * p->n + j];
        for (size_t i = 0; i < p->m; i++) {
            const uint32_t *row = p->a + i * p->k;
            const size_t at = i * p->n + j;
            p->want32[at] = (uint32_t)oracle_of(p, o, FORMAT_F32, row, column, at);
            p->want64[at] = oracle_of(p, o, FORMAT_F64, row, column, at);
            p->magnitude[at] = magnitude_of(p, i, j);
        }
    }
    oracle_clear(o);
    free(o);
    free(column);
}

void problem_fill(struct problem *p, const struct hard_family *f, size_t m, size_t n,
                  size_t k, uint64_t *state)
{
    problem_init(p, f->name, m, n, k);
    hard_fill(p->a, p->b, f, m, n, k, state);
}

void problem_make(struct problem *p, const struct hard_family *f, size_t m, size_t n,
                  size_t k, uint64_t *state)
{
    problem_fill(p, f, m, n, k, state);
    problem_solve(p);
}

/* --- exact_ways to call
 * ------------------------------------------------------------------- */

const struct way exact_ways[WAYS] = {
    { "all outputs", 0, true, true, true },
    { "f32", 0, true, false, false },
    { "f64", 0, false, true, false },
    { "magnitude", 0, false, false, true },
    { "only double", ONLY_DOUBLE, true, true, false },
    { "double and magnitude", ONLY_DOUBLE, true, true, true },
    { "only dot2", ONLY_DOT2, true, true, true },
    { "only bins", ONLY_BINS, true, true, false },
    { "double then mpfr", ONLY_DOUBLE | ONLY_MPFR, true, false, true },
    { "only mpfr", ONLY_MPFR, true, true, false },
};

const struct setting plain_setting = { .threads = 1, .round = FE_TONEAREST };

/* Knuth's TwoSum, of products that are exact. */
static enum bitcut_status sum_plainly(const struct exact_sums_to *to, size_t m, size_t n,
                                      size_t k, const uint32_t *a, const uint32_t *b,
                                      void *context, struct fault *f)
{
    struct hostfp found;
    (void)context, (void)f;
    hostfp_enter(&found);
    for (size_t at = 0; at < m * n; at++) {
        double high = 0, low = 0, size = 0;
        for (size_t q = 0; q < k; q++) {
            const double x = value_of_float(a[at / n * k + q]);
            const double product = x * value_of_float(b[q * n + at % n]);
            const double sum = high + product, other = sum - high;
            low += (high - (sum - other)) + (product - other);
            high = sum;
            size += fabs(product);
        }
        if (to->high) to->high[at] = high;
        if (to->low) to->low[at] = low;
        to->size[at] = size;
    }
    hostfp_leave(&found);
    return BITCUT_OK;
}

const struct exact_sums plain_sums = { .compute = sum_plainly, .bytes = 1 << 14 };

/* Only layers that allow it may leave elements unsettled. */
static bool settles_all(const struct way *w)
{
    return w->layers == 0 || w->layers & (ONLY_BINS | ONLY_MPFR);
}

static bool uses_kernel(const struct way *w)
{
    return w->magnitude || w->layers == 0 || w->layers & (ONLY_DOUBLE | ONLY_DOT2);
}

/* MXCSR, or nothing. */
#ifdef __SSE2__
static unsigned control_get(void) { return _mm_getcsr(); }
static void control_set(unsigned control) { _mm_setcsr(control); }
#else
static unsigned control_get(void) { return 0; }
static void control_set(unsigned control) { (void)control; }
#endif

void problem_call(uint32_t *c32, uint64_t *c64, double *magnitude,
                  struct exact_counts *counts, const struct problem *p, unsigned layers,
                  const struct setting *s)
{
    const unsigned flush = 0x8040, flags = 0x3f; /* FTZ and DAZ; exceptions so far */
    const struct exact_options o = { .layers = layers,
                                     .kernel = s->kernel,
                                     .threads = s->threads,
                                     .update = p->update,
                                     .sums = s->sums };
    const unsigned found = control_get();
    fesetround(s->round);
    if (s->flush) control_set(control_get() | flush);
    const unsigned before = control_get();
    const int status =
        exact_gemm(c32, c64, magnitude, counts, &o, p->m, p->n, p->k, p->a, p->b, NULL);
    const unsigned changed = (control_get() ^ before) & ~flags;
    const bool kept = !changed && fegetround() == s->round;
    fesetround(FE_TONEAREST);
    control_set(found);
    ck_assert_int_eq(status, BITCUT_OK);
    ck_assert(kept);
}

/* --- comparing ---------------------------------------------------------------------- */

void problem_differ(const struct problem *p, const char *how, size_t at, const char *what,
                    uint64_t got, uint64_t want)
{
    const size_t i = at / p->n, j = at % p->n;
    for (size_t q = 0; q < p->k && q < 100; q++)
        printf("#   0x%08" PRIx32 " * 0x%08" PRIx32 "\n", p->a[i * p->k + q],
               p->b[q * p->n + j]);
    if (p->update)
        printf("#   times 0x%08" PRIx32 " + 0x%08" PRIx32 " * 0x%08" PRIx32 "\n",
               p->update->alpha, p->update->beta, p->update->c ? p->update->c[at] : 0);
    fflush(stdout);
    ck_abort_msg("%s, %s: %zu x %zu x %zu, element (%zu, %zu) of %s: got 0x%" PRIx64
                 ", want 0x%" PRIx64,
                 p->name, how, p->m, p->n, p->k, i, j, what, got, want);
}

/* How many elements were left unsettled: those that are NaN and should not be.  Any other
   difference ends the test. */
static uint64_t compare32(const struct problem *p, const char *how, const uint32_t *got)
{
    uint64_t nans = 0;
    for (size_t at = 0; got && at < p->m * p->n; at++) {
        const uint32_t want = p->want32[at];
        if (got[at] == want) continue;
        if (got[at] != 0x7fc00000) problem_differ(p, how, at, "f32", got[at], want);
        nans++;
    }
    return nans;
}

static uint64_t compare64(const struct problem *p, const char *how, const uint64_t *got)
{
    uint64_t nans = 0;
    for (size_t at = 0; got && at < p->m * p->n; at++) {
        const uint64_t want = p->want64[at];
        if (got[at] == want) continue;
        if (got[at] != 0x7ff8000000000000)
            problem_differ(p, how, at, "f64", got[at], want);
        nans++;
    }
    return nans;
}

static void compare_magnitudes(const struct problem *p, const char *how,
                               const double *got)
{
    for (size_t at = 0; got && at < p->m * p->n; at++) {
        const uint64_t bits = bits_of_double(got[at]);
        const uint64_t want = bits_of_double(p->magnitude[at]);
        const bool nans = isnan(got[at]) && isnan(p->magnitude[at]);
        if (bits != want && !nans)
            problem_differ(p, how, at, "the magnitudes", bits, want);
    }
}

/* The counts of one target add up to all elements, `left` of them unsettled, none settled
   by a layer that was not asked.  Of an update the fast layers leave also NaNs. */
static void compare_counts(const struct problem *p, const char *how,
                           const struct exact_counts *counts, unsigned layers, int target,
                           bool asked, uint64_t left)
{
    const unsigned may = layers ? layers : ONLY_DOUBLE | ONLY_DOT2 | ONLY_BINS;
    uint64_t sum = counts->unsettled[target];
    for (int layer = 0; layer < LAYERS; layer++)
        if (may >> layer & 1) sum += counts->settled[target][layer];
        else ck_assert_uint_eq(counts->settled[target][layer], 0);
    const bool right =
        p->update ? counts->unsettled[target] >= left : counts->unsettled[target] == left;
    if (sum != asked * p->m * p->n || !right)
        ck_abort_msg("%s, %s, target %d: %zu x %zu elements, %" PRIu64 " counted; "
                     "%" PRIu64 " said unsettled, %" PRIu64 " are",
                     p->name, how, target, p->m, p->n, sum, counts->unsettled[target],
                     left);
}

void problem_check(const struct problem *p, const struct way *w, const struct setting *s)
{
    const size_t count = p->m * p->n;
    uint32_t *c32 = w->f32 ? test_allocate(count, sizeof *c32) : NULL;
    uint64_t *c64 = w->f64 ? test_allocate(count, sizeof *c64) : NULL;
    double *magnitude = w->magnitude ? test_allocate(count, sizeof *magnitude) : NULL;
    struct exact_counts counts;
    problem_call(c32, c64, magnitude, &counts, p, w->layers, s);

    char how[100];
    snprintf(how, sizeof how, "%s, kernel %s, threads %d, rounding %d, flush %d%s",
             w->what, s->kernel ? s->kernel->name : "best", s->threads, s->round,
             s->flush, s->sums ? ", sums from elsewhere" : "");
    const uint64_t left32 = compare32(p, how, c32), left64 = compare64(p, how, c64);
    compare_magnitudes(p, how, magnitude);
    compare_counts(p, how, &counts, w->layers, EXACT_F32, w->f32, left32);
    compare_counts(p, how, &counts, w->layers, EXACT_F64, w->f64, left64);
    if (settles_all(w)) ck_assert_uint_eq(left32 + left64, 0);
    free(c32);
    free(c64);
    free(magnitude);
}

void problem_check_all(const struct problem *p, int threads)
{
    for (const struct way *w = exact_ways; w < exact_ways + WAYS; w++) {
        struct setting s = plain_setting;
        s.threads = threads;
        if (!uses_kernel(w)) problem_check(p, w, &s);
        for (s.kernel = dgemm_kernels; uses_kernel(w) && s.kernel->name; s.kernel++)
            if (s.kernel->supported()) problem_check(p, w, &s);
        s.kernel = NULL;
        s.sums = &plain_sums;
        problem_check(p, w, &s);
    }
}
