/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs to compute, and an independent definition of their results: parts, k-steps,
   promotion, folding, slices and epilogue from the prose of lib/number/split.h and
   lib/gemm/recipe.h, instructions by tests/emu/spec.h, FP32 operations exact in MPFR and
   rounded once. */
#ifndef BITCUT_TESTS_EMU_GEMM_PROBLEM_H
#define BITCUT_TESTS_EMU_GEMM_PROBLEM_H

#include "emu/gemm.h"

#define F32 (&formats[FORMAT_F32])
#define RN  (&roundings[ROUND_RN])

enum {
    ONE = 0x3f800000,
    SIGN = (int)0x80000000,
    INFINITE = 0x7f800000,
    A_NAN = 0x7fc12345
};

static inline uint32_t power_of_two(int exponent)
{
    return (uint32_t)(exponent + 127) << 23;
}

static inline bool is_zero(uint32_t x) { return (x & 0x7fffffff) == 0; }

/* --- what is asked for ------------------------------------------------------------- */

/* A GEMM with nothing left open, but sizes and matrices. */
struct asked {
    const struct bitcut_recipe *recipe;
    const struct bitcut_unit *unit;
    struct bitcut_split split_a, split_b;
    bool equilibrate, dropped_term;
    int promote, tile_k;
    const struct bitcut_rounding *sum_rounding; /* NULL: as in the unit's row */
    int round_seed;
    struct bitcut_order order;
    uint32_t alpha, beta;
    int threads;
    unsigned char epilogue[BITCUT_EPILOGUE_MAX];
    enum bitcut_start start;
    enum bitcut_scaling scaling;
    struct asked_factors {
        bool there;
        size_t lines, depth; /* 0: all */
    } scale_a, scale_b;
    bool has_bias, bias_rows;
    uint32_t scale_d, clamp_low, clamp_high;
    const struct bitcut_format *result; /* of D; NULL: f32 */
    enum bitcut_sparsity sparsity;
    bool has_positions; /* read only of a sparse A that is not compressed */
};

/* As the recipe's row says. */
struct asked asked_of(const struct bitcut_recipe *r, const struct bitcut_unit *u);

/* The same as it is given to the library: what is as in the row may be left open. */
struct bitcut_gemm asked_given(const struct asked *g);

/* What the library says of it, without matrices. */
enum bitcut_status asked_check(const struct asked *g, struct fault *f);

/* --- matrices ---------------------------------------------------------------------- */

enum { SIDE = 40, LINE_LENGTH_MAX = 64, ROW_MAX = SIDE + 4 };

/* Matrices to compute with, all row-major. */
struct problem {
    size_t m, n, k, lda, ldb, ldc, ldd;
    uint32_t a[SIDE * ROW_MAX], b[SIDE * ROW_MAX], c[SIDE * ROW_MAX];
    uint32_t d[SIDE * ROW_MAX]; /* memory for D in any format */
    bool in_place;              /* D is C                     */
    uint32_t bias[ROW_MAX];
    uint32_t factor_a[SIDE * LINE_LENGTH_MAX], factor_b[LINE_LENGTH_MAX * SIDE]; /* FP32 */
    uint8_t scale_a[SIDE * LINE_LENGTH_MAX], scale_b[LINE_LENGTH_MAX * SIDE]; /* of units */
    uint32_t amax;
    uint8_t positions[SIDE * LINE_LENGTH_MAX]; /* of a sparse A, in rows of `ldp` */
    size_t ldp;
};

struct shape {
    size_t m, n, k;
};

/* A class of values. */
struct input_class {
    const char *name;
    uint32_t (*fill)(uint64_t *rng);
};

enum { CLASSES = 7 };
extern const struct input_class input_classes[CLASSES];

/* Matrices of a class or of two, with gaps between their rows. */
void gemm_problem_fill(struct problem *p, struct shape shape,
                       const struct input_class *class, uint64_t *rng);

/* Make A sparse as `g` says: with positions other elements are NaN, otherwise +-0.  k is a
   multiple of 4. */
void gemm_problem_thin(struct problem *p, const struct asked *g, uint64_t *rng);

/* --- both sides -------------------------------------------------------------------- */

/* What is wanted in place of D: D with its m x n elements computed. */
void gemm_problem_solve(uint32_t *want, const struct asked *g, const struct problem *p);

/* What follows the sum v of output (i, j): all steps. */
uint32_t statement_finish(const struct asked *g, const struct problem *p, uint32_t v,
                          size_t i, size_t j);

/* What the first sum of an output starts from, or what is added to it. */
uint32_t statement_start(const struct asked *g, const struct problem *p, size_t i,
                         size_t j);

/* The factors of a row of A and a column of B at k; 1 where there is none. */
uint32_t statement_factor_a(const struct asked *g, const struct problem *p, size_t i,
                            size_t k);
uint32_t statement_factor_b(const struct asked *g, const struct problem *p, size_t j,
                            size_t k);

/* The encoding of a result in D's format. */
uint32_t statement_result(const struct asked *g, uint32_t v);

/* FP32 arithmetic of the statement: exact in MPFR, rounded once. */
uint32_t statement_multiply(const struct asked *g, uint32_t a, uint32_t b);
uint32_t statement_add(const struct asked *g, uint32_t a, uint32_t b);
uint32_t statement_multiply_add(const struct asked *g, uint32_t a, uint32_t b,
                                uint32_t c);
uint64_t statement_convert(const struct bitcut_format *to, const struct bitcut_format *from,
                           uint64_t x);

/* Bytes of an element of D. */
static inline size_t result_bytes(const struct asked *g)
{
    return g->result ? (size_t)g->result->bits / 8 : 4;
}

/* The GEMM with its matrices, and run by the library. */
struct bitcut_gemm gemm_posed(const struct asked *g, uint32_t *d, const struct problem *p,
                              const uint32_t *c);
enum bitcut_status gemm_problem_run(uint32_t *d, const struct asked *g,
                                    const struct problem *p, const uint32_t *c);

/* Fail, with the first difference, unless both sides are the same in all of D's
   storage. */
void gemm_problem_check(const struct asked *g, struct problem *p);

#endif
