/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact reference compared with MPFR: every stage, kernel, number of threads and
   floating-point mode, over families of difficult inputs. */
#include "lib/exact/oracle.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/exact/exact_problem.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        const float x = float_of_bits(alpha) * double_of_bits(p->want64[i]);
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
            for (int i = 0; i < FACTORS; i += test_step(3)) {
                struct problem p;
                problem_make(&p, f, 5, 7, 8 + test_bits(&state) % 32, &state);
                uint32_t *c = test_allocate(p.m * p.n, sizeof *c);
                const uint32_t beta = test_bits(&state) % 2 ? F32_ONE
                                                  : factors[test_bits(&state) % FACTORS];
                fill_c(c, &p, factors[i], &state);
                const struct exact_update u = { factors[i], beta, beta << 1 ? c : NULL };
                p.update = &u;
                problem_solve(&p);
                problem_check_all(&p, 1 + i % 2);
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
    uint32_t *c = test_allocate(p.m * p.n, sizeof *c);
    for (size_t i = 0; i < p.m * p.n; i++) c[i] = p.a[i];
    const struct exact_update u = { 0x3eaaaaab, 0xc0490fdb, c };
    p.update = &u;
    problem_call(p.want32, p.want64, p.magnitude, &counts, &p, ONLY_DOUBLE | ONLY_DOT2,
                 &plain_setting);
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
            problem_check_all(&p, 1 + (round % 8 == 7));
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
            problem_check_all(&p, 1);
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
            for (int w = 0; w < WAYS; w++)
                problem_check(&p, &exact_ways[w], &plain_setting);
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
            problem_check_all(&p, 1 + (i == j));
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
                problem_check(&p, &exact_ways[w],
                              &(struct setting){ .round = rounds[i / 2],
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
        problem_call(p.want32, p.want64, sharp[i].magnitude ? p.magnitude : NULL, &counts,
                     &p, sharp[i].layers, &plain_setting);
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
    struct oracle *o = test_allocate(1, sizeof *o);
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
                problem_differ(&p, "mpfr_fma against mpfr_sum", 0, t->name, loop, sum);
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
    uint32_t *c = test_allocate(p.m * p.n, sizeof *c);
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
                     BITCUT_UNSUPPORTED);
    ck_assert_int_eq(fault.status, BITCUT_UNSUPPORTED);
    ck_assert_int_eq(seen.calls, 0);
    free(c);
    problem_clear(&p);
}
END_TEST

/* Calls, of panels of rows after one another; the second may fail. */
struct elsewhere {
    int calls, fails;
    size_t rows;
};

static enum bitcut_status sum_elsewhere(const struct exact_sums_to *to, size_t m,
                                        size_t n, size_t k, const uint32_t *a,
                                        const uint32_t *b, void *context, struct fault *f)
{
    struct elsewhere *x = context;
    x->rows += m;
    return ++x->calls == x->fails ? fault_set(f, BITCUT_UNSUPPORTED, "unplugged")
                                  : plain_sums.compute(to, m, n, k, a, b, NULL, f);
}

START_TEST(sums_from_elsewhere)
{
    uint64_t state = test_seed() + 11;
    struct problem p;
    problem_make(&p, hard_find("uniform"), 3 * TILE_ROWS + 1, 9, 50, &state);
    uint64_t *c = test_allocate(p.m * p.n, sizeof *c);
    for (int fails = 0; fails <= 2; fails += 2)
        for (size_t least = p.m * p.n * p.k; least <= p.m * p.n * p.k + 1; least++) {
            struct elsewhere x = { .fails = fails };
            const struct exact_sums sums = { sum_elsewhere, &x, least, 40000 };
            const struct exact_options o = { .threads = 2, .sums = &sums };
            struct fault fault = { .status = BITCUT_OK };
            const bool fall = fails && least == p.m * p.n * p.k;
            const enum bitcut_status status =
                exact_gemm(NULL, c, NULL, NULL, &o, p.m, p.n, p.k, p.a, p.b, &fault);
            ck_assert_int_eq(status, fall ? BITCUT_UNSUPPORTED : BITCUT_OK);
            ck_assert_int_eq(fault.status, status);
            if (fall) ck_assert_str_eq(fault.text, "unplugged");
            else ck_assert_mem_eq(c, p.want64, p.m * p.n * sizeof *c);
            if (least > p.m * p.n * p.k) ck_assert_int_eq(x.calls, 0);
            else ck_assert(x.calls > 1 && (fall ? x.calls == 2 : x.rows == p.m));
        }
    free(c);
    problem_clear(&p);
}
END_TEST

START_TEST(public_function)
{
    uint64_t state = test_seed() + 8;
    struct problem p;
    problem_make(&p, hard_find("ill-conditioned"), 40, 40, 30, &state);
    uint32_t *c32 = test_allocate(p.m * p.n, sizeof *c32);
    uint64_t *c64 = test_allocate(p.m * p.n, sizeof *c64);
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
        uint32_t *c32 = test_allocate(p.m * p.n, sizeof *c32);
        uint64_t *c64 = test_allocate(p.m * p.n, sizeof *c64);
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

TEST_MAIN("exact", all_alpha_beta, sharp_update, all_ways, long_sums, full_bins,
          tile_edges, host_modes, sharp_bounds, condition_numbers, oracle_state,
          progress_and_stop, sums_from_elsewhere, public_function, no_number_library)
