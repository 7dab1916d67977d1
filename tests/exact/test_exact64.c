/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact reference for binary64 operands compared with MPFR: every layer, kernel,
   number of threads and floating-point mode, over families of difficult inputs. */
#include "lib/exact/exact64.h"
#include "lib/exact/oracle.h"
#include "lib/number/bits.h"
#include "tests/exact/hard64.h"
#include "tests/test.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A product or an update, and what MPFR says of it. */
struct problem {
    const char *name;
    size_t m, n, k;
    const struct exact64_update *update; /* or NULL */
    double *a, *b, *high, *low, *magnitude;
};

/* The outputs of a call. */
struct outputs {
    double *high, *low, *magnitude;
    struct exact_counts counts;
};

static double *numbers(size_t count)
{
    double *p = memory_allocate(count, sizeof *p);
    ck_assert_ptr_nonnull(p);
    return p;
}

static void problem_init(struct problem *p, const char *name, size_t m, size_t n,
                         size_t k)
{
    *p = (struct problem){ .name = name, .m = m, .n = n, .k = k };
    p->a = numbers(m * k);
    p->b = numbers(k * n);
    p->high = numbers(m * n);
    p->low = numbers(m * n);
    p->magnitude = numbers(m * n);
}

static void problem_clear(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->high);
    free(p->low);
    free(p->magnitude);
}

/* What MPFR says: high and low, and the correctly rounded magnitude. */
static void problem_solve(struct problem *p)
{
    static const struct exact64_update product = { .alpha = 1 };
    const struct exact64_update *u = p->update ? p->update : &product;
    struct oracle *o = malloc(sizeof *o);
    double *column = numbers(p->k), *row = numbers(p->k);
    ck_assert_ptr_nonnull(o);
    oracle64_init(o);
    for (size_t j = 0; j < p->n; j++)
        for (size_t i = 0; i < p->m; i++) {
            const size_t at = i * p->n + j;
            const double c = u->c ? u->c[at] : 0;
            for (size_t q = 0; q < p->k; q++) {
                row[q] = p->a[i * p->k + q];
                column[q] = p->b[q * p->n + j];
            }
            const struct oracle_parts x =
                oracle64_update(o, p->k, row, column, u->alpha, u->beta, c);
            p->high[at] = double_of_bits(x.high);
            p->low[at] = double_of_bits(x.low);
            for (size_t q = 0; q < p->k; q++) {
                row[q] = fabs(row[q]);
                column[q] = fabs(column[q]);
            }
            const struct oracle_parts size = oracle64_update(
                o, p->k, row, column, fabs(u->alpha), fabs(u->beta), fabs(c));
            p->magnitude[at] = double_of_bits(size.high);
        }
    oracle_clear(o);
    free(o);
    free(column);
    free(row);
}

static void problem_make(struct problem *p, const struct hard64_family *f, size_t m,
                         size_t n, size_t k, uint64_t *state)
{
    problem_init(p, f->name, m, n, k);
    hard64_fill(p->a, p->b, f, m, n, k, state);
    problem_solve(p);
}

/* --- calls -------------------------------------------------------------------------- */

enum {
    ONLY_DOT2 = 1 << LAYER_DOT2,
    ONLY_BINS = 1 << LAYER_BINS,
    ONLY_MPFR = 1 << LAYER_MPFR
};

static const unsigned ways[] = { 0, ONLY_DOT2, ONLY_BINS, ONLY_MPFR,
                                 ONLY_DOT2 | ONLY_MPFR };

static void outputs_init(struct outputs *x, size_t count)
{
    x->high = numbers(count);
    x->low = numbers(count);
    x->magnitude = numbers(count);
}

static void outputs_clear(struct outputs *x)
{
    free(x->high);
    free(x->low);
    free(x->magnitude);
}

static void call(struct outputs *x, const struct problem *p,
                 const struct exact_options *o)
{
    const int status = exact64_gemm(x->high, x->low, x->magnitude, &x->counts, o,
                                    p->update, p->m, p->n, p->k, p->a, p->b, NULL);
    ck_assert_int_eq(status, BITCUT_OK);
}

static void differ(const struct problem *p, const struct exact_options *o, size_t at,
                   const char *what, double got, double want)
{
    for (size_t q = 0; q < p->k && q < 100; q++)
        printf("#   %a * %a\n", p->a[at / p->n * p->k + q], p->b[q * p->n + at % p->n]);
    if (p->update)
        printf("#   times %a + %a * %a\n", p->update->alpha, p->update->beta,
               p->update->c ? p->update->c[at] : 0);
    fflush(stdout);
    ck_abort_msg(
        "%s, layers %u, kernel %s, threads %d: %zu x %zu x %zu, element %zu of %s: "
        "got %a (0x%016" PRIx64 "), want %a (0x%016" PRIx64 ")",
        p->name, o->layers, o->kernel ? o->kernel->name : "best", o->threads, p->m, p->n,
        p->k, at, what, got, bits_of_double(got), want, bits_of_double(want));
}

static bool same(double x, double y) { return bits_of_double(x) == bits_of_double(y); }

/* Near the largest number, one may be infinite. */
static bool magnitude_agrees(double got, double want, size_t k)
{
    const double large = 0x1.fffffffffp1023, error = ((double)k + 8) * 0x1p-53;
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
    if (got > large || want > large) return got > large && want > large;
    return fabs(got - want) <= error * want + 0x1p-1074;
}

/* Compare the outputs of a call with MPFR.  Elements that no layer had to settle are
   NaN. */
static void compare(const struct outputs *x, const struct problem *p,
                    const struct exact_options *o)
{
    const uint64_t quiet = 0x7ff8000000000000;
    uint64_t unsettled = 0, settled = 0;
    for (size_t at = 0; at < p->m * p->n; at++) {
        const bool nan = bits_of_double(x->high[at]) == quiet;
        if (nan && isnan(x->low[at])) {
            ck_assert_uint_eq(bits_of_double(x->low[at]), quiet);
            unsettled++;
        } else {
            if (!same(x->high[at], p->high[at]))
                differ(p, o, at, "high", x->high[at], p->high[at]);
            if (!same(x->low[at], p->low[at]))
                differ(p, o, at, "low", x->low[at], p->low[at]);
        }
        const double size = p->magnitude[at], got = x->magnitude[at];
        if (!magnitude_agrees(got, size, p->k))
            differ(p, o, at, "the magnitudes", got, size);
    }
    ck_assert_uint_eq(x->counts.unsettled[EXACT_F64], unsettled);
    for (int layer = 0; layer < LAYERS; layer++) {
        settled += x->counts.settled[EXACT_F64][layer];
        if (o->layers && !(o->layers >> layer & 1))
            ck_assert_uint_eq(x->counts.settled[EXACT_F64][layer], 0);
    }
    ck_assert_uint_eq(settled + unsettled, p->m * p->n);
    if (o->layers != ONLY_DOT2) ck_assert_uint_eq(unsettled, 0);
}

/* In all ways, with every kernel that this processor has.  The magnitudes and what a
   layer settles are the same. */
static void check_all(const struct problem *p, int threads)
{
    struct outputs first, x;
    const size_t count = p->m * p->n;
    outputs_init(&first, count);
    outputs_init(&x, count);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        struct exact_options o = { .layers = ways[w], .threads = threads };
        call(w ? &x : &first, p, &o);
        compare(w ? &x : &first, p, &o);
        const struct exact_counts counts = w ? x.counts : first.counts;
        for (o.kernel = dgemm_kernels; o.kernel->name; o.kernel++) {
            if (!o.kernel->supported() || (ways[w] && ways[w] != ONLY_DOT2)) continue;
            call(&x, p, &o);
            compare(&x, p, &o);
            ck_assert_mem_eq(&x.counts, &counts, sizeof counts);
            for (size_t at = 0; at < count; at++)
                if (!same(x.magnitude[at], first.magnitude[at]) &&
                    !isnan(first.magnitude[at]))
                    differ(p, &o, at, "other magnitudes", x.magnitude[at],
                           first.magnitude[at]);
        }
    }
    outputs_clear(&first);
    outputs_clear(&x);
}

/* --- tests -------------------------------------------------------------------------- */

START_TEST(all_ways)
{
    const int rounds = test_cases(4, 60);
    uint64_t state = test_seed(), dots = 0;
    for (int round = 0; round < rounds; round++)
        for (const struct hard64_family *f = hard64_families; f->name; f++) {
            const size_t m = 10 + test_bits(&state) % 16, n = 10 + test_bits(&state) % 16;
            struct problem p;
            problem_make(&p, f, m, n, 12 + test_bits(&state) % 64, &state);
            check_all(&p, 1 + round % 2);
            dots += p.m * p.n;
            problem_clear(&p);
        }
    printf("# %" PRIu64 " dot products in every way\n", dots);
}
END_TEST

/* Factors of all sizes and kinds. */
static const double factors[] = {
    1,        -1,        3,          0.5,       -0x1.921fb54442d18p1,
    DBL_MAX,  0x1p-1074, -0x1p-1074, 0x1p-1022, 0,
    -0.0,     INFINITY,  -INFINITY,  NAN,       0x1.0000000000001p0,
    0x1p-300, 0x1.8p400
};

enum { FACTORS = sizeof factors / sizeof factors[0] };

/* A C near what cancels alpha A B, of another product, or any encoding. */
static void fill_c(double *c, const struct problem *p, double alpha, uint64_t *state)
{
    for (size_t i = 0; i < p->m * p->n; i++) {
        const double x = alpha * p->high[i];
        const uint64_t random = test_bits(state);
        c[i] = random % 4 > 1    ? double_of_bits(bits_of_double(-x) + (random >> 8 & 1))
               : random % 4 == 1 ? -x * 0x1p-70
                                 : double_of_bits(test_bits(state));
    }
}

START_TEST(all_alpha_beta)
{
    const int rounds = test_cases(1, 8);
    uint64_t state = test_seed() + 1;
    for (int round = 0; round < rounds; round++)
        for (const struct hard64_family *f = hard64_families; f->name; f++)
            for (int i = 0; i < FACTORS; i++) {
                struct problem p;
                problem_make(&p, f, 5, 7, 12 + test_bits(&state) % 32, &state);
                double *c = numbers(p.m * p.n);
                const double beta =
                    test_bits(&state) % 2 ? 1 : factors[test_bits(&state) % FACTORS];
                fill_c(c, &p, factors[i], &state);
                const struct exact64_update u = { factors[i], beta,
                                                  beta == 0 ? NULL : c };
                p.update = &u;
                problem_solve(&p);
                check_all(&p, 1 + i % 2);
                problem_clear(&p);
                free(c);
            }
}
END_TEST

/* Shapes around those of tiles and micro-tiles, and empty ones; and lengths around those
   of packing and of the oracle. */
START_TEST(edges)
{
    static const size_t rows[] = { 0, 1, 2, 3, 7, TILE_ROWS + 1 };
    static const size_t cols[] = { 0, 1, 4, 5, 17, TILE_COLS + 1 };
    static const size_t lengths[] = { TILE_DEPTH - 1,      TILE_DEPTH,   TILE_DEPTH + 1,
                                      ORACLE_TERMS - 1,    ORACLE_TERMS, ORACLE_TERMS + 1,
                                      2 * ORACLE_TERMS + 1 };
    uint64_t state = test_seed() + 2;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            struct problem p;
            problem_make(&p, hard64_find(j % 2 ? "uniform" : "pattern"), rows[i], cols[j],
                         (size_t)(j % 3), &state);
            check_all(&p, 1 + (i == j));
            problem_clear(&p);
        }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (const struct hard64_family *f = hard64_families; f->name; f++) {
            struct problem p;
            problem_make(&p, f, 2, 2, lengths[i], &state);
            check_all(&p, 1);
            problem_clear(&p);
        }
}
END_TEST

/* The caller's rounding mode and flushing change nothing. */
START_TEST(host_modes)
{
    uint64_t state = test_seed() + 3;
    for (const struct hard64_family *f = hard64_families; f->name; f++) {
        struct problem p;
        problem_make(&p, f, 12, 12, 16, &state);
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
            for (int mode = 0; mode < 8; mode++) {
                const struct exact_options o = { .layers = ways[w],
                                                 .threads = 1 + (mode % 4 == 3) };
                struct outputs x;
                fenv_t before;
                outputs_init(&x, p.m * p.n);
                fegetenv(&before);
                const int direction = test_host_mode(mode);
                call(&x, &p, &o);
                const int after = fegetround();
                fesetenv(&before);
                ck_assert_int_eq(after, direction);
                compare(&x, &p, &o);
                outputs_clear(&x);
            }
        problem_clear(&p);
    }
}
END_TEST

/* How many of ten thousand elements the fast layer may leave to slow ones. */
static const struct {
    const char *family;
    bool update;
    uint64_t most;
} sharp[] = {
    { "uniform", false, 20 },      { "uniform", true, 20 },
    { "wide", false, 20 },         { "wide", true, 20 },
    { "wider", false, 20 },        { "integer", false, 0 },
    { "long integer", false, 0 },  { "long integer", true, 0 },
    { "negative zero", false, 0 },
};

START_TEST(sharp_bounds)
{
    uint64_t state = test_seed() + 4;
    for (size_t i = 0; i < sizeof sharp / sizeof sharp[0]; i++) {
        struct problem p;
        struct outputs x;
        const struct exact_options o = { .layers = ONLY_DOT2, .threads = 1 };
        problem_init(&p, sharp[i].family, 100, 100, 500);
        hard64_fill(p.a, p.b, hard64_find(sharp[i].family), p.m, p.n, p.k, &state);
        const struct exact64_update u = { -3, 5, p.a };
        if (sharp[i].update) p.update = &u;
        outputs_init(&x, p.m * p.n);
        call(&x, &p, &o);
        const uint64_t left = x.counts.unsettled[EXACT_F64];
        printf("# %s: %" PRIu64 " of 10000 left\n", sharp[i].family, left);
        fflush(stdout);
        ck_assert_uint_le(left, sharp[i].most);
        outputs_clear(&x);
        problem_clear(&p);
    }
}
END_TEST

/* Elements whose errors are close to their bound, and elements whose sums are wrong: a
   bound that is too small proves wrong remainders. */
START_TEST(weak_bounds)
{
    static const char *const families[] = { "one-sided", "ill-conditioned",
                                            "tie of low" };
    const int rounds = test_cases(4000, 20000);
    uint64_t state = test_seed() + 5;
    for (int f = 0; f < 3; f++) {
        uint64_t settled = 0;
        for (int round = 0; round < rounds; round++) {
            const struct exact_options o = { .layers = ONLY_DOT2, .threads = 1 };
            const double c = double_of_bits(0x3ff0000000000000 | test_bits(&state) >> 12);
            const struct exact64_update u = { round % 4 == 1 ? 1 : c, 1, &c };
            struct problem p;
            struct outputs x;
            problem_make(&p, hard64_find(families[f]), 1, 1, 12 + test_bits(&state) % 100,
                         &state);
            if (round % 4 == 1 || (round % 4 == 2 && f)) {
                p.update = &u;
                problem_solve(&p);
            }
            outputs_init(&x, 1);
            call(&x, &p, &o);
            compare(&x, &p, &o);
            settled += x.counts.settled[EXACT_F64][LAYER_DOT2];
            outputs_clear(&x);
            problem_clear(&p);
        }
        printf("# %s: %" PRIu64 " of %d settled by dot2\n", families[f], settled, rounds);
    }
}
END_TEST

/* Values alpha (a[0] b[0] + a[1] b[1]) + beta c computed by hand: what MPFR and the
   layers are held to. */
static const struct {
    const char *what;
    double alpha, a[2], b[2], beta, c, high, low, magnitude;
} known[] = {
    /* clang-format off */
    { "3 * 4 + 5 * 6", 1, { 3, 5 }, { 4, 6 }, 0, 0, 42, 0, 42 },
    { "-2 (3 + 4) + 0.5 * 8", -2, { 3, 4 }, { 1, 1 }, 0.5, 8, -10, 0, 18 },
    { "1 + 2^-53", 1, { 1, 0x1p-53 }, { 1, 1 }, 0, 0, 1, 0x1p-53, 1 },
    { "1 + 2^-52 + 2^-53", 1, { 1 + 0x1p-52, 0x1p-53 }, { 1, 1 }, 0, 0,
      1 + 0x1p-51, -0x1p-53, 1 + 0x1p-51 },
    { "(1 + 2^-52)^2 - 1", 1, { 1 + 0x1p-52, -1 }, { 1 + 0x1p-52, 1 }, 0, 0,
      0x1p-51, 0x1p-104, 2 + 0x1p-51 },
    { "1 + 2^-53 + 2^-1074", 1, { 1, 0x1p-53 }, { 1, 1 }, 0x1p-1074, 1,
      1 + 0x1p-52, -0x1p-53, 1 + 0x1p-52 },
    { "2^-537 2^-537 / 2", 1, { 0x1p-537, 0 }, { 0x1p-538, 0 }, 0, 0, 0, 0, 0 },
    { "3 2^-538 2^-537", 1, { 3 * 0x1p-538, 0 }, { 0x1p-537, 0 }, 0, 0, 0x1p-1073, 0,
      0x1p-1073 },
    { "-2^-1080 rounds to -0", 1, { -0x1p-540, 0 }, { 0x1p-540, 0 }, 0, 0, -0.0, 0, 0 },
    { "2^1000 2^-2148", 0x1p1000, { 0x1p-1074, 0 }, { 0x1p-1074, 0 }, 0, 0, 0, 0, 0 },
    { "2^2000 2^-1000", 0x1p-1000, { 0x1p1000, 0 }, { 0x1p1000, 0 }, 0, 0, 0x1p1000, 0,
      0x1p1000 },
    { "2^2000 - 2^2000", 1, { 0x1p1000, -0x1p1000 }, { 0x1p1000, 0x1p1000 }, 1, 3, 3, 0,
      (double)INFINITY },
    { "largest", 1, { DBL_MAX, 0x1p969 }, { 1, 1 }, 0, 0, DBL_MAX, 0x1p969, DBL_MAX },
    { "beyond", 1, { DBL_MAX, 0x1p970 }, { 1, 1 }, 0, 0, (double)INFINITY, 0,
      (double)INFINITY },
    { "-0 - 0", 1, { -0.0, 0 }, { 1, -1 }, 0, 0, -0.0, 0, 0 },
    { "-0 + 0", 1, { -0.0, 0 }, { 1, 1 }, 0, 0, 0, 0, 0 },
    { "-1 * +0, beta = -0", -1, { 0, 0 }, { 0, 0 }, -0.0, 0, -0.0, 0, 0 },
    { "-0 - 0 by C", -1, { 0, 0 }, { 0, 0 }, 1, -0.0, -0.0, 0, 0 },
    { "cancels with C", 2, { 3, 0 }, { 1, 0 }, -0.5, 12, 0, 0, 12 },
    { "0 * 3 + 5", 0, { 3, 0 }, { 1, 0 }, 1, 5, 5, 0, 5 },
    { "inf - inf", 1, { INFINITY, 0 }, { 1, 1 }, -1, INFINITY, NAN, 0, NAN },
    { "-2 inf", -2, { INFINITY, 1 }, { 1, 1 }, 1, 1, -INFINITY, 0, INFINITY },
    { "inf * 0", 1, { INFINITY, 1 }, { 0, 1 }, 0, 0, NAN, 0, NAN },
    { "0 * inf", 0, { INFINITY, 0 }, { 1, 1 }, 0, 0, NAN, 0, NAN },
    /* clang-format on */
};

START_TEST(known_values)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct exact64_update u = { known[i].alpha, known[i].beta, &known[i].c };
        struct problem p;
        problem_init(&p, known[i].what, 1, 1, 2);
        memcpy(p.a, known[i].a, 2 * sizeof *p.a);
        memcpy(p.b, known[i].b, 2 * sizeof *p.b);
        p.update = &u;
        problem_solve(&p);
        const double high =
            isnan(known[i].high) ? double_of_bits(0x7ff8000000000000) : known[i].high;
        if (!same(p.high[0], high) || !same(p.low[0], known[i].low) ||
            (!same(p.magnitude[0], known[i].magnitude) && !isnan(known[i].magnitude)))
            ck_abort_msg("%s: MPFR says %a, %a and %a", known[i].what, p.high[0],
                         p.low[0], p.magnitude[0]);
        check_all(&p, 1);
        problem_clear(&p);
    }
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
    uint64_t state = test_seed() + 6;
    struct problem p;
    struct outputs x;
    struct seen seen = { .ascending = true };
    volatile sig_atomic_t stop = 0;
    const struct progress progress = { .report = see, .context = &seen, .stop = &stop };
    const struct exact_options o = { .progress = &progress, .threads = 2 };
    struct fault fault;
    problem_make(&p, hard64_find("uniform"), 2 * TILE_ROWS, 10, 2, &state);
    outputs_init(&x, p.m * p.n);
    call(&x, &p, &o);
    compare(&x, &p, &o);
    ck_assert(seen.calls > 1 && seen.ascending && seen.part == 1);
    stop = 1;
    seen.calls = 0;
    ck_assert_int_eq(
        exact64_gemm(x.high, NULL, NULL, NULL, &o, NULL, p.m, p.n, p.k, p.a, p.b, &fault),
        BITCUT_UNSUPPORTED);
    ck_assert_int_eq(fault.status, BITCUT_UNSUPPORTED);
    ck_assert_int_eq(seen.calls, 0);
    outputs_clear(&x);
    problem_clear(&p);
}
END_TEST

/* Each output may be missing. */
START_TEST(some_outputs)
{
    uint64_t state = test_seed() + 7;
    struct problem p;
    problem_make(&p, hard64_find("far"), 30, 30, 20, &state);
    const size_t bytes = p.m * p.n * sizeof(double);
    for (int which = 0; which < 8; which++) {
        double *const out[3] = { numbers(p.m * p.n), numbers(p.m * p.n),
                                 numbers(p.m * p.n) };
        const int status = exact64_gemm(
            which & 1 ? out[0] : NULL, which & 2 ? out[1] : NULL,
            which & 4 ? out[2] : NULL, NULL, NULL, NULL, p.m, p.n, p.k, p.a, p.b, NULL);
        ck_assert_int_eq(status, BITCUT_OK);
        if (which & 1) ck_assert_mem_eq(out[0], p.high, bytes);
        if (which & 2) ck_assert_mem_eq(out[1], p.low, bytes);
        for (size_t at = 0; which & 4 && at < p.m * p.n; at++)
            ck_assert(fabs(out[2][at] - p.magnitude[at]) <=
                      30 * 0x1p-53 * p.magnitude[at]);
        for (int i = 0; i < 3; i++) free(out[i]);
    }
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
    uint64_t state = test_seed() + 8;
    for (const struct hard64_family *f = hard64_families; f->name; f++) {
        const struct exact_options o = { .threads = 2 };
        struct problem p;
        struct outputs x;
        problem_make(&p, f, 10, 10, 30, &state);
        outputs_init(&x, p.m * p.n);
        mp_set_memory_functions(refuse, refuse_more, NULL);
        call(&x, &p, &o);
        mp_set_memory_functions(NULL, NULL, NULL);
        compare(&x, &p, &o);
        outputs_clear(&x);
        problem_clear(&p);
    }
}
END_TEST

TEST_MAIN("exact64", known_values, all_ways, all_alpha_beta, edges, host_modes,
          sharp_bounds, weak_bounds, progress_and_stop, some_outputs, no_number_library)
