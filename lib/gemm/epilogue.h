/* SPDX-License-Identifier: BSD-3-Clause */
/* The epilogue of a GEMM: the steps from the sum of an output to D (lib/bitcut.h). */
#ifndef BITCUT_LIB_GEMM_EPILOGUE_H
#define BITCUT_LIB_GEMM_EPILOGUE_H

#include "lib/base/status.h"
#include "lib/base/table.h"
#include "lib/number/split.h"

/* Room for the steps of any GEMM; "fused" stands for four of them at most, and FLOAT
   may come first. */
enum { EPILOGUE_STEPS_MAX = 4 * BITCUT_EPILOGUE_MAX + 1 };

/* The factors of A or B as FP32 encodings. */
struct scale_factors {
    uint32_t *at;        /* [line block][block of k], or NULL: all are 1 */
    size_t lines, depth; /* lines and k that share one; at least 1       */
    size_t blocks;       /* number of blocks of k                        */
};

/* The factor of a line at a k. */
static inline uint32_t scale_factor(const struct scale_factors *x, size_t line, size_t k)
{
    return x->at ? x->at[line / x->lines * x->blocks + k / x->depth] : 0x3f800000;
}

/* What the steps read.  Arrays hold FP32 encodings; C and the bias hold s32 encodings if
   steps on s32 sums, or the start of such sums, read them. */
struct epilogue_values {
    unsigned char step[EPILOGUE_STEPS_MAX]; /* without steps that change nothing        */
    enum bitcut_start start;
    enum bitcut_scaling scaling;
    uint32_t alpha, beta, scale_d, clamp_low, clamp_high, nan;
    bool integer; /* sums are s32, until BITCUT_STEP_FLOAT        */
    int32_t integer_alpha, integer_beta; /* if steps on s32 sums read them              */
    const struct bitcut_format *result; /* format of D                                  */
    uint32_t *c;                        /* row-major, or NULL                           */
    size_t ldc;
    uint32_t *bias; /* one for each column, or for each row, or NULL                    */
    bool bias_rows;
    struct scale_factors a, b;
    uint32_t *zero_rows, *zero_cols; /* what the zero points add to the sums of a row and
                                        of a column, modulo 2^32; NULL: nothing */
    int32_t zero_d;
    uint32_t *amax; /* of all outputs, updated by several threads                       */
};

/* An output in exact arithmetic, up to roundings of binary64: its value, and the same
   with the absolute values of all terms and factors. */
struct exact_output {
    double value, magnitude;
};

/* What a step gives in exact arithmetic: v, times each factor, plus x y, and then limited
   to [low, high].  All are FP32 encodings; an infinite limit is none. */
struct exact_step {
    int factors;
    uint32_t factor[3];
    bool adds, limits;
    uint32_t addend[2]; /* x and y */
    uint32_t low, high;
};

/* A bound on the computed v of an output: v differs from its exact value by at most
   `error`, and |v| is at most `size`.  With `least`, `error` counts only what roundings
   lose below the normal numbers of a format. */
struct output_bound {
    double error, size;
    bool least;
};

/* What a step reads besides v.  An operand that it needs must be there; C is +0 where
   beta is +-0. */
enum {
    READS_C = 1 << 0,
    NEEDS_BIAS = 1 << 1,
    NEEDS_A = 1 << 2,
    NEEDS_B = 1 << 3,
    NEEDS_FACTORS = 1 << 4, /* of A or of B */
    NEEDS_AMAX = 1 << 5,
    READS_ALPHA = 1 << 6,
    READS_SCALE_D = 1 << 7,
    READS_CLAMP = 1 << 8,
    READS_ZEROS = 1 << 9,
    READS_ZERO_D = 1 << 10
};

/* A step: v after it, what it gives in exact arithmetic (NULL: v), and the bound after it
   (NULL: as before), for the exact value after it.

   Let e bound |v - V|, where V is exact.  The bounds are, with h(x) half an ulp of FP32
   at x, or half its smallest subnormal number below the normal numbers:
   - v f, with a factor whose computed value differs from f by at most d: e' = |f| e +
     d |v|, and the rounding adds h(|V f| + e').  A product of factors has d = h, again
   for each of its roundings.
   - v + c, with an addend whose computed value differs from c by at most d: e' = e + d,
     and the rounding adds h(|V + c| + e').  A multiply-add rounds once.
   - relu, clamp, saturate: e, because |f(v) - f(V)| <= |v - V|; |v| is within the limits.
   - round: h of the format of D is added.
   A value that may overflow has an infinite error.

   `integer` gives an s32 sum v after the step (NULL: s32 sums do not have the step).
   Source: Higham 2002, sections 2.2 and 3.1, applied to every operation. */
struct epilogue_step {
    const char *name, *what;
    uint32_t (*run)(const struct epilogue_values *x, uint32_t v, size_t i, size_t j);
    struct exact_step (*exact)(const struct epilogue_values *x, size_t i, size_t j);
    struct output_bound (*bound)(const struct epilogue_values *x, struct output_bound b,
                                 struct exact_output after, size_t i, size_t j);
    unsigned reads;
    int roundings, roundings_to_d; /* the most roundings to FP32, and to the format of D,
                                      that a term of v meets                        */
    uint32_t (*integer)(const struct epilogue_values *x, uint32_t v, size_t i, size_t j);
};

/* By enum bitcut_step; ended by a row whose name is NULL. */
enum { EPILOGUE_STEP_COUNT = BITCUT_STEP_ZERO_D + 1 };
extern const struct epilogue_step epilogue_steps[];

/* What accumulators start from. */
static inline bool start_is_c(enum bitcut_start start)
{
    return start == BITCUT_START_C || start == BITCUT_START_SLICE_C;
}

static inline bool start_is_bias(enum bitcut_start start)
{
    return start == BITCUT_START_BIAS || start == BITCUT_START_SLICE_BIAS;
}

/* The names of enum bitcut_scaling and enum bitcut_start, by value. */
extern const struct table_row scalings[], starts[];

/* A named list of steps. */
struct epilogue {
    const char *name, *what;
    unsigned char step[BITCUT_EPILOGUE_MAX];
    const char *source;
};

extern const struct epilogue epilogues[]; /* ended by a row whose name is NULL */

/* Room for every list of steps as text, with its 0. */
enum { EPILOGUE_TEXT_MAX = 160 };

/* Set the steps that a text names: a row of `epilogues`, or names of steps with "+"
   between.  False: a name is unknown, or there are too many steps. */
bool epilogue_read(unsigned char step[BITCUT_EPILOGUE_MAX], const char *text);

/* Write the text of a list: the name of a row if one has these steps; empty for no
   steps. */
void epilogue_write(char text[EPILOGUE_TEXT_MAX],
                    const unsigned char step[BITCUT_EPILOGUE_MAX]);

/* The steps of a GEMM that gemm_take() accepted, with those for which "fused" stands. */
void epilogue_of(unsigned char to[EPILOGUE_STEPS_MAX], const struct bitcut_gemm *g);

/* Whether a list has a step. */
bool epilogue_has(const unsigned char *steps, enum bitcut_step step);

/* Remove the steps that write amax of the caller's GEMM; they change no output. */
void epilogue_leave_amax(struct bitcut_gemm *g);

/* Remove the steps that make FP32 values of sums of integers.  FP32 sums can have the
   others if these come first. */
void epilogue_leave_integers(struct bitcut_gemm *g);

/* The same for s32 sums: BITCUT_STEP_ZEROS comes first if the list does not have it and
   there are zero points of A or B; then BITCUT_STEP_FLOAT if the list does not have it,
   and D has no integers or there are factors. */
void epilogue_of_integers(unsigned char to[EPILOGUE_STEPS_MAX],
                          const struct bitcut_gemm *g);

/* Write the list of a GEMM as epilogue_write() does.  Without steps it is "fused", after
   the steps that a GEMM of integers implies. */
void epilogue_name(char text[EPILOGUE_TEXT_MAX], const struct bitcut_gemm *g,
                   bool integer);

/* Check the epilogue of a GEMM of integers, or that of any other GEMM: the steps, the
   formats of C, bias and D, and alpha and beta.  BITCUT_BAD_ARGUMENT names what does not
   fit. */
enum bitcut_status epilogue_check_sums(const struct bitcut_gemm *g, bool integer,
                                       struct fault *f);

/* Whether a matrix that may be left out is given. */
static inline bool matrix_is_given(const struct bitcut_matrix *x)
{
    return x->at || x->each;
}

/* Whether a GEMM has factors of A or of B, or a bias. */
bool gemm_has_scales(const struct bitcut_gemm *g);
bool gemm_has_bias(const struct bitcut_gemm *g);

/* Whether a GEMM has zero points of A or B. */
static inline bool gemm_has_zeros(const struct bitcut_gemm *g)
{
    return g->zero_a || g->zero_b;
}

/* The k that share a factor; 0: all of them, or there are no factors. */
size_t factor_depth(const struct bitcut_scales *x);

/* The number of factors for so many lines, and for so many k. */
size_t factor_lines(const struct bitcut_scales *x, size_t lines);
size_t factor_blocks(const struct bitcut_scales *x, size_t k);

/* Whether factors are applied at promotions. */
bool gemm_scales_promotions(const struct bitcut_gemm *g);

/* Whether the GEMM does anything that is not D = alpha A B + beta C, rounded once to the
   format of D. */
bool gemm_is_extended(const struct bitcut_gemm *g);

/* Check that the values of steps, start and scaling are known. */
enum bitcut_status epilogue_check(const struct bitcut_gemm *g, struct fault *f);

/* Check that the GEMM has every operand that steps, start and scaling read, except C, and
   that they read every operand that it has.  BITCUT_BAD_ARGUMENT says which one is missing
   or not read. */
enum bitcut_status epilogue_check_operands(const struct bitcut_gemm *g, struct fault *f);

/* Gather what the epilogue and the scaling of GEMM i of g read, a GEMM whose operands
   were checked.  `nan` is the NaN of results; `integer` that sums are s32.  False: no
   memory; epilogue_clear() frees what was gathered. */
bool epilogue_make(struct epilogue_values *x, const struct bitcut_gemm *g, size_t i,
                   uint32_t nan, bool integer, int threads);

/* Gather what zero points of A and B add to the sums of the single GEMM g, whose operands
   are rounded to these formats.  False: no memory. */
bool epilogue_take_zeros(struct epilogue_values *x, const struct bitcut_gemm *g,
                         const struct split_part *a, const struct split_part *b,
                         int threads);
void epilogue_clear(struct epilogue_values *x);

/* Apply the steps to outputs (i, j) to (i, j + count - 1), whose sums are in d.  The
   calling thread is in the mode of hostfp_enter(). */
void epilogue_run(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                  size_t count);

/* The addend of an output that accumulators start from: beta c, or the bias; +0 where
   they start from nothing. */
uint32_t epilogue_start(const struct epilogue_values *x, size_t i, size_t j);

/* What is added to the exact sum of output (i, j) before all steps: beta c or the bias if
   accumulators or the first slice start from it, else nothing. */
struct exact_step epilogue_exact_start(const struct epilogue_values *x, size_t i,
                                       size_t j);

/* The exact value of output (i, j) whose exact sum is v: the start and all steps; and
   after the start alone.  The calling thread is in the mode of hostfp_enter(). */
struct exact_output epilogue_exact(const struct epilogue_values *x, struct exact_output v,
                                   size_t i, size_t j);
struct exact_output epilogue_started(const struct epilogue_values *x,
                                     struct exact_output v, size_t i, size_t j);

/* The bound after all steps, from the bound b of the sum whose exact value, with the
   start, is v.  The calling thread is in the mode of hostfp_enter(). */
struct output_bound epilogue_bound(const struct epilogue_values *x, struct output_bound b,
                                   struct exact_output v, size_t i, size_t j);

/* The relative error of D after these steps, an upper bound for |v - V| / (the magnitude
   of V, struct exact_output), for a sum whose own relative error is `before` and a D of
   the format `result`; except what roundings lose below the normal numbers.  Each
   rounding multiplies by at most 1 + u. */
double epilogue_relative(const unsigned char *step, const struct bitcut_format *result,
                         double before);

#endif
