/* The exact reference against MPFR: every layer, kernel, number of threads and mode of
   the host, over families of inputs made to be hard. */
#include "lib/bits.h"
#include "tests/hard.h"
#include "tests/test.h"

#include "lib/exact.h"
#include "lib/fma.h"
#include "lib/oracle.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* --- problems ----------------------------------------------------------------------- */

/* A product of matrices or an update, what MPFR says of it, and its magnitudes. */
struct problem {
    const char *name;
    size_t m, n, k;
    const struct exact_update *update; /* or NULL */
    uint32_t *a, *b, *want32;
    uint64_t *want64;
    double *magnitude;
};

static void *allocate(size_t count, size_t size)
{
    void *p = memory_allocate(count, size);
    ck_assert_ptr_nonnull(p);
    return p;
}

static void problem_init(struct problem *p, const char *name, size_t m, size_t n,
                         size_t k)
{
    *p = (struct problem){ .name = name, .m = m, .n = n, .k = k };
    p->a = allocate(m * k, sizeof *p->a);
    p->b = allocate(k * n, sizeof *p->b);
    p->want32 = allocate(m * n, sizeof *p->want32);
    p->want64 = allocate(m * n, sizeof *p->want64);
    p->magnitude = allocate(m * n, sizeof *p->magnitude);
}

static void problem_clear(struct problem *p)
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

static void problem_solve(struct problem *p)
{
    struct oracle *o = allocate(1, sizeof *o);
    uint32_t *column = allocate(p->k, sizeof *column);
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

/* m x k times k x n of a family; not yet solved. */
static void problem_fill(struct problem *p, const struct hard_family *f, size_t m,
                         size_t n, size_t k, uint64_t *state)
{
    problem_init(p, f->name, m, n, k);
    hard_fill(p->a, p->b, f, m, n, k, state);
}

static void problem_make(struct problem *p, const struct hard_family *f, size_t m,
                         size_t n, size_t k, uint64_t *state)
{
    problem_fill(p, f, m, n, k, state);
    problem_solve(p);
}

/* --- ways to call ------------------------------------------------------------------- */

/* Which layers may settle which outputs. */
struct way {
    const char *what;
    unsigned layers;
    bool f32, f64, magnitude;
};

enum {
    ONLY_DOUBLE = 1 << LAYER_DOUBLE,
    ONLY_DOT2 = 1 << LAYER_DOT2,
    ONLY_BINS = 1 << LAYER_BINS,
    ONLY_MPFR = 1 << LAYER_MPFR
};

static const struct way ways[] = {
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

enum { WAYS = sizeof ways / sizeof ways[0] };

/* Only layers that allow it may leave elements unsettled. */
static bool settles_all(const struct way *w)
{
    return w->layers == 0 || w->layers & (ONLY_BINS | ONLY_MPFR);
}

static bool uses_kernel(const struct way *w)
{
    return w->magnitude || w->layers == 0 || w->layers & (ONLY_DOUBLE | ONLY_DOT2);
}

/* By how many threads, under which mode of the host. */
struct setting {
    const struct dgemm_kernel *kernel; /* NULL: the best                                */
    int threads;
    int round;  /* of fesetround()                                                      */
    bool flush; /* subnormal operands and results to zero, where the processor can      */
};

static const struct setting plain = { .threads = 1, .round = FE_TONEAREST };

/* MXCSR, or nothing. */
#ifdef __SSE2__
static unsigned control_get(void) { return _mm_getcsr(); }
static void control_set(unsigned control) { _mm_setcsr(control); }
#else
static unsigned control_get(void) { return 0; }
static void control_set(unsigned control) { (void)control; }
#endif

/* exact_gemm() of p under the mode of s, which it must leave as it is. */
static void call(uint32_t *c32, uint64_t *c64, double *magnitude,
                 struct exact_counts *counts, const struct problem *p, unsigned layers,
                 const struct setting *s)
{
    const unsigned flush = 0x8040, flags = 0x3f; /* FTZ and DAZ; exceptions so far */
    const struct exact_options o = { .layers = layers, .kernel = s->kernel,
                                     .threads = s->threads, .update = p->update };
    const unsigned found = control_get();
    fesetround(s->round);
    if (s->flush) control_set(control_get() | flush);
    const unsigned before = control_get();
    const int status = exact_gemm(c32, c64, magnitude, counts, &o, p->m, p->n, p->k, p->a,
                                  p->b, NULL);
    const unsigned changed = (control_get() ^ before) & ~flags;
    const bool kept = !changed && fegetround() == s->round;
    fesetround(FE_TONEAREST);
    control_set(found);
    ck_assert_int_eq(status, BITCUT_OK);
    ck_assert(kept);
}

/* --- comparing ---------------------------------------------------------------------- */

static void differ(const struct problem *p, const char *how, size_t at, const char *what,
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
        if (got[at] != 0x7fc00000) differ(p, how, at, "f32", got[at], want);
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
        if (got[at] != 0x7ff8000000000000) differ(p, how, at, "f64", got[at], want);
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
        if (bits != want && !nans) differ(p, how, at, "the magnitudes", bits, want);
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
    const bool right = p->update ? counts->unsettled[target] >= left
                                 : counts->unsettled[target] == left;
    if (sum != asked * p->m * p->n || !right)
        ck_abort_msg("%s, %s, target %d: %zu x %zu elements, %" PRIu64 " counted; "
                     "%" PRIu64 " said unsettled, %" PRIu64 " are",
                     p->name, how, target, p->m, p->n, sum, counts->unsettled[target],
                     left);
}

/* Solve p in one way and compare everything. */
static void check(const struct problem *p, const struct way *w, const struct setting *s)
{
    const size_t count = p->m * p->n;
    uint32_t *c32 = w->f32 ? allocate(count, sizeof *c32) : NULL;
    uint64_t *c64 = w->f64 ? allocate(count, sizeof *c64) : NULL;
    double *magnitude = w->magnitude ? allocate(count, sizeof *magnitude) : NULL;
    struct exact_counts counts;
    call(c32, c64, magnitude, &counts, p, w->layers, s);

    char how[100];
    snprintf(how, sizeof how, "%s, kernel %s, threads %d, rounding %d, flush %d", w->what,
             s->kernel ? s->kernel->name : "best", s->threads, s->round, s->flush);
    const uint64_t left32 = compare32(p, how, c32), left64 = compare64(p, how, c64);
    compare_magnitudes(p, how, magnitude);
    compare_counts(p, how, &counts, w->layers, EXACT_F32, w->f32, left32);
    compare_counts(p, how, &counts, w->layers, EXACT_F64, w->f64, left64);
    if (settles_all(w)) ck_assert_uint_eq(left32 + left64, 0);
    free(c32);
    free(c64);
    free(magnitude);
}

/* In all ways, with every kernel that this processor has. */
static void check_ways(const struct problem *p, int threads)
{
    for (const struct way *w = ways; w < ways + WAYS; w++) {
        struct setting s = plain;
        s.threads = threads;
        if (!uses_kernel(w)) check(p, w, &s);
        for (s.kernel = dgemm_kernels; uses_kernel(w) && s.kernel->name; s.kernel++)
            if (s.kernel->supported()) check(p, w, &s);
    }
}

/* --- tests -------------------------------------------------------------------------- */

/* Sums known by hand: what MPFR is held to. */
static const struct {
    const char *what;
    size_t k;
    uint32_t a[3], b[3], want32;
    uint64_t want64;
} known[] = {
    { "empty", 0, { 0 }, { 0 }, 0, 0 },
    { "1 * 1", 1, { 0x3f800000 }, { 0x3f800000 }, 0x3f800000, 0x3ff0000000000000 },
    { "-0 - 0", 2, { 0, 0x80000000 }, { 0x80000000, 0x3f800000 }, 0x80000000,
      0x8000000000000000 },
    { "-0 + 0", 2, { 0, 0 }, { 0x80000000, 0x3f800000 }, 0, 0 },
    { "1 - 1", 2, { 0x3f800000, 0x3f800000 }, { 0x3f800000, 0xbf800000 }, 0, 0 },
    { "1 + 2^-24", 2, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 }, 0x3f800000,
      0x3ff0000010000000 },
    { "1 + 2^-23 + 2^-24", 3, { 0x3f800000, 0x34000000, 0x33800000 },
      { 0x3f800000, 0x3f800000, 0x3f800000 }, 0x3f800002, 0x3ff0000030000000 },
    { "1 + 2^-24 + 2^-298", 3, { 0x3f800000, 0x33800000, 1 },
      { 0x3f800000, 0x3f800000, 1 }, 0x3f800001, 0x3ff0000010000000 },
    { "-1 - 2^-24 + 2^-298", 3, { 0xbf800000, 0xb3800000, 1 },
      { 0x3f800000, 0x3f800000, 1 }, 0xbf800000, 0xbff0000010000000 },
    { "1 + 2^-53", 2, { 0x3f800000, 0x25000000 }, { 0x3f800000, 0x3f800000 }, 0x3f800000,
      0x3ff0000000000000 },
    { "1 + 2^-53 + 2^-149", 3, { 0x3f800000, 0x25000000, 1 },
      { 0x3f800000, 0x3f800000, 0x3f800000 }, 0x3f800000, 0x3ff0000000000001 },
    { "2^-149", 1, { 1 }, { 0x3f800000 }, 1, 0x36a0000000000000 },
    { "2^-150", 1, { 1 }, { 0x3f000000 }, 0, 0x3690000000000000 },
    { "-2^-150", 1, { 0x80000001 }, { 0x3f000000 }, 0x80000000, 0xb690000000000000 },
    { "2^-150 + 2^-298", 2, { 1, 1 }, { 0x3f000000, 1 }, 1, 0x3690000000000000 },
    { "3 * 2^-150", 1, { 3 }, { 0x3f000000 }, 2, 0x36a8000000000000 },
    { "2^-126 - 2^-150", 2, { 0x00800000, 1 }, { 0x3f800000, 0xbf000000 }, 0x00800000,
      0x380fffffe0000000 },
    { "largest", 1, { 0x7f7fffff }, { 0x3f800000 }, 0x7f7fffff, 0x47efffffe0000000 },
    { "2^128 - 2^103", 2, { 0x7f7fffff, 0x73000000 }, { 0x3f800000, 0x3f800000 },
      0x7f800000, 0x47effffff0000000 },
    { "2^128 - 2^103 - 2^-298", 3, { 0x7f7fffff, 0x73000000, 0x80000001 },
      { 0x3f800000, 0x3f800000, 1 }, 0x7f7fffff, 0x47effffff0000000 },
    { "2^254 - 2^254", 2, { 0x7f000000, 0xff000000 }, { 0x7f000000, 0x7f000000 }, 0, 0 },
    { "inf", 2, { 0x7f800000, 0x3f800000 }, { 0x00000001, 0xff7fffff }, 0x7f800000,
      0x7ff0000000000000 },
    { "-inf - inf", 2, { 0x7f800000, 0xff800000 }, { 0xbf800000, 0x7f800000 }, 0xff800000,
      0xfff0000000000000 },
    { "inf - inf", 2, { 0x7f800000, 0x7f800000 }, { 0x3f800000, 0xbf800000 }, 0x7fc00000,
      0x7ff8000000000000 },
    { "inf * 0 + 1", 2, { 0x7f800000, 0x3f800000 }, { 0x80000000, 0x3f800000 },
      0x7fc00000, 0x7ff8000000000000 },
    { "NaN * 0", 1, { 0xffc00001 }, { 0 }, 0x7fc00000, 0x7ff8000000000000 },
    { "signaling NaN + inf", 2, { 0x7f800001, 0x7f800000 }, { 0x3f800000, 0x3f800000 },
      0x7fc00000, 0x7ff8000000000000 },
};

START_TEST(known_sums)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct problem p;
        problem_init(&p, known[i].what, 1, 1, known[i].k);
        memcpy(p.a, known[i].a, p.k * sizeof *p.a);
        memcpy(p.b, known[i].b, p.k * sizeof *p.b);
        problem_solve(&p);
        if (p.want32[0] != known[i].want32 || p.want64[0] != known[i].want64)
            ck_abort_msg("%s: MPFR says 0x%08" PRIx32 " and 0x%016" PRIx64, known[i].what,
                         p.want32[0], p.want64[0]);
        check_ways(&p, 1);
        problem_clear(&p);
    }
}
END_TEST

/* Updates alpha (a[0] b[0] + a[1] b[1]) + beta c known by hand. */
static const struct {
    const char *what;
    uint32_t alpha, a[2], b[2], beta, c, want32;
    uint64_t want64;
} known_updates[] = {
    /* clang-format off */
    { "-2 (3 + 4) + 0.5 * 8", 0xc0000000, { 0x40400000, 0x40800000 }, { 0x3f800000, 0x3f800000 },
      0x3f000000, 0x41000000, 0xc1200000, 0xc024000000000000 },
    /* 3 (1 + 2^-24): 3 times the sum rounded is 3, the product rounded once is not */
    { "3 (1 + 2^-24)", 0x40400000, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 },
      0, 0, 0x40400001, 0x4008000018000000 },
    /* a tie of FP32 that the last factor of C decides */
    { "1 + 2^-24 + 2^-298", F32_ONE, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 },
      1, 1, 0x3f800001, 0x3ff0000010000000 },
    { "1 + 2^-24 - 2^-298", F32_ONE, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 },
      0x80000001, 1, 0x3f800000, 0x3ff0000010000000 },
    { "smallest and largest", 1, { 1, 0 }, { 1, 0 }, 0, 0, 0, 0x2400000000000000 },
    { "2^127 (2^127 2^127)", 0x7f000000, { 0x7f000000, 0 }, { 0x7f000000, 0 }, 0, 0,
      0x7f800000, 0x57c0000000000000 },
    { "2 (2^127 2) - 4 2^127", 0x40000000, { 0x7f000000, 0 }, { 0x40000000, 0 },
      0xc0800000, 0x7f000000, 0, 0 },
    { "cancels", 0x40000000, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0xbf800000, 0x40c00000, 0, 0 },
    { "-0 * 3", 0x80000000, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0, 0x7fc00000, 0x80000000,
      0x8000000000000000 },
    { "-0 * 3, beta = -0", 0x80000000, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0x80000000,
      0x7f800000, 0x80000000, 0x8000000000000000 },
    { "0 * -3", 0, { 0xc0400000, 0 }, { 0x3f800000, 0 }, 0, 0, 0x80000000, 0x8000000000000000 },
    { "-1 * +0", 0xbf800000, { 0, 0 }, { 0, 0 }, 0, 0, 0x80000000, 0x8000000000000000 },
    { "-1 * -0", 0xbf800000, { 0x80000000, 0x80000000 }, { 0, 0 }, 0, 0, 0, 0 },
    { "-0 - 0", 0xbf800000, { 0, 0 }, { 0, 0 }, 0x3f800000, 0x80000000, 0x80000000,
      0x8000000000000000 },
    { "-0 + 0", 0xbf800000, { 0, 0 }, { 0, 0 }, 0x3f800000, 0, 0, 0 },
    { "0 * 3 + 5", 0, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0x3f800000, 0x40a00000, 0x40a00000,
      0x4014000000000000 },
    { "inf * 3", 0x7f800000, { 0xc0400000, 0 }, { 0x3f800000, 0 }, 0, 0, 0xff800000,
      0xfff0000000000000 },
    { "inf * 0", 0x7f800000, { 0, 0 }, { 0, 0 }, 0, 0, 0x7fc00000, 0x7ff8000000000000 },
    { "0 * inf", 0, { 0x7f800000, 0 }, { 0x3f800000, 0x3f800000 }, 0, 0, 0x7fc00000,
      0x7ff8000000000000 },
    { "-2 * inf", 0xc0000000, { 0x7f800000, 0 }, { 0x3f800000, 0 }, 0x3f800000, 0x3f800000,
      0xff800000, 0xfff0000000000000 },
    { "inf - inf", 0x3f800000, { 0x7f800000, 0 }, { 0x3f800000, 0 }, 0xbf800000, 0x7f800000,
      0x7fc00000, 0x7ff8000000000000 },
    { "1 + NaN", 0x3f800000, { 0x3f800000, 0 }, { 0x3f800000, 0 }, 0x3f800000, 0xff800001,
      0x7fc00000, 0x7ff8000000000000 },
    { "NaN * 1", 0x7fc00000, { 0x3f800000, 0 }, { 0x3f800000, 0 }, 0, 0, 0x7fc00000,
      0x7ff8000000000000 },
    { "NaN beta * 0", 0x3f800000, { 0x3f800000, 0 }, { 0x3f800000, 0 }, 0xffc00000, 0,
      0x7fc00000, 0x7ff8000000000000 },
    /* clang-format on */
};

START_TEST(known_alpha_beta)
{
    for (size_t i = 0; i < sizeof known_updates / sizeof known_updates[0]; i++) {
        const struct exact_update u = { known_updates[i].alpha, known_updates[i].beta,
                                        &known_updates[i].c };
        struct problem p;
        problem_init(&p, known_updates[i].what, 1, 1, 2);
        p.update = &u;
        memcpy(p.a, known_updates[i].a, 2 * sizeof *p.a);
        memcpy(p.b, known_updates[i].b, 2 * sizeof *p.b);
        problem_solve(&p);
        if (p.want32[0] != known_updates[i].want32 ||
            p.want64[0] != known_updates[i].want64)
            ck_abort_msg("%s: MPFR says 0x%08" PRIx32 " and 0x%016" PRIx64,
                         known_updates[i].what, p.want32[0], p.want64[0]);
        check_ways(&p, 1);
        problem_clear(&p);
    }
}
END_TEST

/* Factors of all sizes and kinds. */
static const uint32_t factors[] = {
    F32_ONE,    0xbf800000, 0x40400000, 0x3f000000, 0x3eaaaaab, 0xc0490fdb,
    0x7f7fffff, 0x00000001, 0x80000001, 0x00800000, 0,          0x80000000,
    0x7f800000, 0xff800000, 0x7fc00000, 0x3f800001
};

enum { FACTORS = sizeof factors / sizeof factors[0] };

/* A C near what cancels alpha A B, of another product, or any encoding. */
static void fill_c(uint32_t *c, const struct problem *p, uint32_t alpha, uint64_t *state)
{
    for (size_t i = 0; i < p->m * p->n; i++) {
        const float x = value_of(alpha) * double_of_bits(p->want64[i]);
        const uint64_t random = test_bits(state);
        c[i] = random % 3 ? bits_of_float(-x) + (uint32_t)(random >> 8 & 1)
                          : (uint32_t)(random >> 32);
    }
}

START_TEST(all_alpha_beta)
{
    const int rounds = test_cases(1, 8);
    uint64_t state = test_seed() + 9;
    for (int round = 0; round < rounds; round++)
        for (const struct hard_family *f = hard_families; f->name; f++)
            for (int i = 0; i < FACTORS; i++) {
                struct problem p;
                problem_make(&p, f, 5, 7, 8 + test_bits(&state) % 32, &state);
                uint32_t *c = allocate(p.m * p.n, sizeof *c);
                const uint32_t beta = test_bits(&state) % 2 ? F32_ONE
                                                  : factors[test_bits(&state) % FACTORS];
                fill_c(c, &p, factors[i], &state);
                const struct exact_update u = { factors[i], beta, beta << 1 ? c : NULL };
                p.update = &u;
                problem_solve(&p);
                check_ways(&p, 1 + i % 2);
                problem_clear(&p);
                free(c);
            }
}
END_TEST

/* The fast layers settle most updates of what they settle most products of. */
START_TEST(sharp_update)
{
    uint64_t state = test_seed() + 10;
    struct problem p;
    struct exact_counts counts;
    problem_fill(&p, hard_find("uniform"), 100, 100, 500, &state);
    uint32_t *c = allocate(p.m * p.n, sizeof *c);
    for (size_t i = 0; i < p.m * p.n; i++) c[i] = p.a[i];
    const struct exact_update u = { 0x3eaaaaab, 0xc0490fdb, c };
    p.update = &u;
    call(p.want32, p.want64, p.magnitude, &counts, &p, ONLY_DOUBLE | ONLY_DOT2, &plain);
    printf("# %" PRIu64 " and %" PRIu64 " of 10000 left\n", counts.unsettled[EXACT_F32],
           counts.unsettled[EXACT_F64]);
    ck_assert_uint_le(counts.unsettled[EXACT_F32], 0);
    ck_assert_uint_le(counts.unsettled[EXACT_F64], 20);
    ck_assert_uint_ge(counts.settled[EXACT_F32][LAYER_DOUBLE], 9900);
    free(c);
    problem_clear(&p);
}
END_TEST

/* A million dot products in `make check-long`. */
START_TEST(all_ways)
{
    const int rounds = test_cases(8, 80);
    uint64_t state = test_seed(), dots = 0;
    for (int round = 0; round < rounds; round++)
        for (const struct hard_family *f = hard_families; f->name; f++) {
            const size_t m = 20 + test_bits(&state) % 16, n = 20 + test_bits(&state) % 16;
            struct problem p;
            problem_make(&p, f, m, n, 8 + test_bits(&state) % 64, &state);
            check_ways(&p, 1 + (round % 8 == 7));
            dots += p.m * p.n;
            problem_clear(&p);
        }
    printf("# %" PRIu64 " dot products in every way\n", dots);
}
END_TEST

/* Lengths around those of packing and of the oracle. */
START_TEST(long_sums)
{
    static const size_t lengths[] = { TILE_DEPTH - 1,   TILE_DEPTH,   TILE_DEPTH + 1,
                                      ORACLE_TERMS - 1, ORACLE_TERMS, ORACLE_TERMS + 1,
                                      2 * ORACLE_TERMS + 1 };
    uint64_t state = test_seed() + 1;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (const struct hard_family *f = hard_families; f->name; f++) {
            struct problem p;
            problem_make(&p, f, 3, 3, lengths[i], &state);
            check_ways(&p, 1);
            problem_clear(&p);
        }
}
END_TEST

/* The largest significands, all in one bin, which holds 2^15 of them. */
START_TEST(full_bins)
{
    static const size_t lengths[] = { 1 << 15, (1 << 15) + 1, 3 << 15 };
    static const uint32_t full[] = { 0x3fffffff, 0xbfffffff };
    for (int i = 0; i < 3; i++)
        for (int f = 0; f < 2; f++) {
            struct problem p;
            problem_init(&p, "full bins", 1, 1, lengths[i]);
            for (size_t q = 0; q < p.k; q++) p.a[q] = full[0];
            for (size_t q = 0; q < p.k; q++) p.b[q] = full[f];
            problem_solve(&p);
            for (int w = 0; w < WAYS; w++) check(&p, &ways[w], &plain);
            problem_clear(&p);
        }
}
END_TEST

/* Shapes around those of tiles and micro-tiles, and empty ones. */
START_TEST(tile_edges)
{
    static const size_t rows[] = { 0, 1, 2, 3, 5, 7, TILE_ROWS, TILE_ROWS + 1 };
    static const size_t cols[] = { 0, 1, 4, 5, 15, 17, TILE_COLS, TILE_COLS + 1 };
    const struct hard_family *f = hard_find("pattern");
    uint64_t state = test_seed() + 2;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            struct problem p;
            problem_make(&p, f, rows[i], cols[j], (size_t)(j % 3), &state);
            check_ways(&p, 1 + (i == j));
            problem_clear(&p);
        }
}
END_TEST

/* The caller's rounding mode and flushing change nothing and are left alone. */
START_TEST(host_modes)
{
    static const int rounds[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    const size_t side = (size_t)test_cases(40, 40);
    uint64_t state = test_seed() + 3;
    for (const struct hard_family *f = hard_families; f->name; f++) {
        struct problem p;
        problem_make(&p, f, side, side, 16, &state);
        for (int w = 0; w < WAYS; w++)
            for (int i = 0; i < 8; i++)
                check(&p, &ways[w], &(struct setting){ .round = rounds[i / 2],
                                                       .flush = i % 2,
                                                       .threads = 1 + (i % 4 == 3) });
        problem_clear(&p);
    }
}
END_TEST

/* How many of ten thousand elements a fast layer alone may leave: a bound that is too
   wide proves nothing wrong, but wastes time. */
static const struct {
    const char *family;
    unsigned layers;
    bool magnitude; /* summed, else bounded by norms */
    int target;
    uint64_t most;
} sharp[] = {
    { "uniform", ONLY_DOUBLE, true, EXACT_F32, 40 },
    { "wide", ONLY_DOUBLE, true, EXACT_F32, 10 },
    { "pattern", ONLY_DOUBLE, true, EXACT_F32, 10 },
    { "special", ONLY_DOUBLE, true, EXACT_F32, 0 },
    { "half", ONLY_DOUBLE, true, EXACT_F32, 10 },
    { "integer", ONLY_DOUBLE, true, EXACT_F64, 0 },
    { "negative zero", ONLY_DOUBLE, true, EXACT_F64, 0 },
    { "uniform", ONLY_DOUBLE, false, EXACT_F32, 60 },
    { "wide", ONLY_DOUBLE, false, EXACT_F32, 150 },
    { "special", ONLY_DOUBLE, false, EXACT_F32, 0 },
    { "integer", ONLY_DOUBLE, false, EXACT_F64, 0 },
    { "negative zero", ONLY_DOUBLE, false, EXACT_F64, 0 },
    { "uniform", ONLY_DOT2, false, EXACT_F64, 0 },
    { "wide", ONLY_DOT2, false, EXACT_F64, 0 },
    { "half", ONLY_DOT2, false, EXACT_F64, 0 },
    { "integer", ONLY_DOT2, false, EXACT_F64, 0 },
};

START_TEST(sharp_bounds)
{
    uint64_t state = test_seed() + 4;
    for (size_t i = 0; i < sizeof sharp / sizeof sharp[0]; i++) {
        struct problem p;
        struct exact_counts counts;
        problem_fill(&p, hard_find(sharp[i].family), 100, 100, 500, &state);
        call(p.want32, p.want64, sharp[i].magnitude ? p.magnitude : NULL, &counts, &p,
             sharp[i].layers, &plain);
        const uint64_t left = counts.unsettled[sharp[i].target];
        printf("# %s, layers %u: %" PRIu64 " of 10000 left\n", sharp[i].family,
               sharp[i].layers, left);
        fflush(stdout);
        ck_assert_uint_le(left, sharp[i].most);
        problem_clear(&p);
    }
}
END_TEST

/* The ill-conditioned family is what it says. */
START_TEST(condition_numbers)
{
    uint64_t state = test_seed() + 5;
    double worst = 0;
    struct problem p;
    problem_make(&p, hard_find("ill-conditioned"), 200, 200, 30, &state);
    for (size_t i = 0; i < p.n; i++) {
        const double c = double_of_bits(p.want64[i * p.n + i]);
        if (c != 0) worst = fmax(worst, 2 * p.magnitude[i * p.n + i] / fabs(c));
    }
    problem_clear(&p);
    printf("# condition numbers up to %.1e\n", worst);
    ck_assert(worst > 1e29);
}
END_TEST

/* The loop of mpfr_fma() agrees with mpfr_sum(), but for the sign of a zero; both work
   whatever the state of MPFR is, and leave it alone. */
START_TEST(oracle_state)
{
    const mpfr_flags_t flags = MPFR_FLAGS_ERANGE | MPFR_FLAGS_INEXACT;
    uint64_t state = test_seed() + 6;
    struct oracle *o = allocate(1, sizeof *o);
    oracle_init(o);
    for (const struct hard_family *f = hard_families; f->name; f++)
        for (size_t k = 10; k < 3000; k += 705) {
            const struct bitcut_format *t = &formats[k % 2 ? FORMAT_F64 : FORMAT_F32];
            const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
            struct problem p;
            problem_fill(&p, f, 1, 1, k, &state);
            mpfr_set_emin(-5);
            mpfr_set_emax(7);
            mpfr_flags_restore(flags, MPFR_FLAGS_ALL);
            const uint64_t sum = oracle_dot(o, t, k, p.a, p.b);
            const uint64_t loop = oracle_fma_loop(o, t, k, p.a, p.b);
            ck_assert(mpfr_get_emin() == -5 && mpfr_get_emax() == 7);
            ck_assert_uint_eq(mpfr_flags_save(), flags);
            mpfr_set_emin(emin);
            mpfr_set_emax(emax);
            if (sum != loop && ((sum | loop) & ~format_zero(t, true)) != 0)
                differ(&p, "mpfr_fma against mpfr_sum", 0, t->name, loop, sum);
            problem_clear(&p);
        }
    oracle_clear(o);
    free(o);
}
END_TEST

/* What a progress callback saw. */
struct seen {
    int calls;
    double part;
    bool ascending;
};

static void see(void *context, double part)
{
    struct seen *seen = context;
    seen->ascending &= part > seen->part;
    seen->part = part;
    seen->calls++;
}

START_TEST(progress_and_stop)
{
    uint64_t state = test_seed() + 7;
    struct problem p;
    problem_fill(&p, hard_find("uniform"), 2 * TILE_ROWS, 10, 2, &state);
    uint32_t *c = allocate(p.m * p.n, sizeof *c);
    struct seen seen = { .ascending = true };
    volatile sig_atomic_t stop = 0;
    const struct progress progress = { .report = see, .context = &seen, .stop = &stop };
    struct exact_options o = { .progress = &progress };
    for (o.threads = 1; o.threads <= 2; o.threads++) {
        seen = (struct seen){ .ascending = true };
        const int status =
            exact_gemm(c, NULL, NULL, NULL, &o, p.m, p.n, p.k, p.a, p.b, NULL);
        ck_assert_int_eq(status, BITCUT_OK);
        ck_assert(seen.calls > 1 && seen.ascending && seen.part == 1);
    }
    stop = 1;
    seen.calls = 0;
    struct fault fault;
    ck_assert_int_eq(exact_gemm(c, NULL, NULL, NULL, &o, p.m, p.n, p.k, p.a, p.b, &fault),
                     BITCUT_CANNOT);
    ck_assert_int_eq(fault.status, BITCUT_CANNOT);
    ck_assert_int_eq(seen.calls, 0);
    free(c);
    problem_clear(&p);
}
END_TEST

START_TEST(public_function)
{
    uint64_t state = test_seed() + 8;
    struct problem p;
    problem_make(&p, hard_find("ill-conditioned"), 40, 40, 30, &state);
    uint32_t *c32 = allocate(p.m * p.n, sizeof *c32);
    uint64_t *c64 = allocate(p.m * p.n, sizeof *c64);
    for (int threads = 0; threads < 4; threads++) {
        memset(c32, 0, p.m * p.n * sizeof *c32);
        memset(c64, 0, p.m * p.n * sizeof *c64);
        ck_assert_int_eq(bitcut_exact_gemm(c32, c64, p.m, p.n, p.k, p.a, p.b, threads),
                         BITCUT_OK);
        ck_assert_int_eq(memcmp(c32, p.want32, p.m * p.n * sizeof *c32), 0);
        ck_assert_int_eq(memcmp(c64, p.want64, p.m * p.n * sizeof *c64), 0);
    }
    free(c32);
    free(c64);
    problem_clear(&p);
}
END_TEST

static void *refuse(size_t size)
{
    ck_abort_msg("GMP is asked for %zu bytes", size);
    return NULL;
}

static void *refuse_more(void *memory, size_t before, size_t size)
{
    (void)memory;
    (void)before;
    return refuse(size);
}

/* GMP, and MPFR by it, would abort a program that the library has no right to end. */
START_TEST(no_number_library)
{
    uint64_t state = test_seed() + 9;
    for (const struct hard_family *h = hard_families; h->name; h++) {
        struct problem p;
        problem_make(&p, h, 20, 20, 30, &state);
        uint32_t *c32 = allocate(p.m * p.n, sizeof *c32);
        uint64_t *c64 = allocate(p.m * p.n, sizeof *c64);
        mp_set_memory_functions(refuse, refuse_more, NULL);
        ck_assert_int_eq(bitcut_exact_gemm(c32, c64, p.m, p.n, p.k, p.a, p.b, 2),
                         BITCUT_OK);
        mp_set_memory_functions(NULL, NULL, NULL);
        ck_assert_int_eq(memcmp(c64, p.want64, p.m * p.n * sizeof *c64), 0);
        free(c32);
        free(c64);
        problem_clear(&p);
    }
}
END_TEST

TEST_MAIN("exact", known_sums, known_alpha_beta, all_alpha_beta, sharp_update, all_ways,
          long_sums, full_bins, tile_edges, host_modes,
          sharp_bounds, condition_numbers, oracle_state, progress_and_stop,
          public_function, no_number_library)
