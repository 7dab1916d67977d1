/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of matrices computed by MPFR, and a comparison of the exact reference with
   them, for every kind of call and every kernel. */
#ifndef BITCUT_TESTS_EXACT_EXACT_PROBLEM_H
#define BITCUT_TESTS_EXACT_EXACT_PROBLEM_H

#include "lib/exact/exact.h"
#include "tests/exact/hard.h"

/* A product of matrices or an update, what MPFR says of it, and its magnitudes. */
struct problem {
    const char *name;
    size_t m, n, k;
    const struct exact_update *update; /* or NULL */
    uint32_t *a, *b, *want32;
    uint64_t *want64;
    double *magnitude;
};

/* Memory, which must be there; an m x n x k product without values, called `name`. */
void *test_allocate(size_t count, size_t size);
void problem_init(struct problem *p, const char *name, size_t m, size_t n, size_t k);
void problem_clear(struct problem *p);

/* What MPFR says of it, once its operands are set. */
void problem_solve(struct problem *p);

/* m x k times k x n of a family: not yet solved, and solved. */
void problem_fill(struct problem *p, const struct hard_family *f, size_t m, size_t n,
                  size_t k, uint64_t *state);
void problem_make(struct problem *p, const struct hard_family *f, size_t m, size_t n,
                  size_t k, uint64_t *state);

/* Fail at element `at`, where that is not what was wanted. */
void problem_differ(const struct problem *p, const char *how, size_t at, const char *what,
                    uint64_t got, uint64_t want);

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

enum { WAYS = 10 };

extern const struct way exact_ways[WAYS];

/* By how many threads, under which mode of the host. */
struct setting {
    const struct dgemm_kernel *kernel; /* NULL: the best                                */
    int threads;
    int round;  /* of fesetround()                                                      */
    bool flush; /* subnormal operands and results to zero, where the processor can      */
    const struct exact_sums *sums; /* NULL: none are made elsewhere                     */
};

extern const struct setting plain_setting; /* one thread, to nearest */

/* The sums, by another formula, of a few rows at a time. */
extern const struct exact_sums plain_sums;

/* exact_gemm() of p under the mode of s, which it must leave as it is. */
void problem_call(uint32_t *c32, uint64_t *c64, double *magnitude,
                  struct exact_counts *counts, const struct problem *p, unsigned layers,
                  const struct setting *s);

/* Solve p in one way and compare everything. */
void problem_check(const struct problem *p, const struct way *w, const struct setting *s);

/* In all ways, with every kernel that this processor has. */
void problem_check_all(const struct problem *p, int threads);

#endif
