/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the error of a GEMM comes from: exact parts that add up to it. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_H

#include "emu/gemm.h"
#include "lib/base/size.h"

#include <gmp.h>

/* The parts of an error.  Each part is the difference of two exact values.  The first
   value is alpha A B + beta C, the last one is D, so the parts add up to the error.  The
   comment of a part names the step between the two values.  With a bias, factors, a start
   or other steps, the first value is the exact value of all steps, as for
   bitcut_gemm_judge().  A limit (relu, clamp, saturate) applies to both values of a
   difference. */
enum budget_part {
    BUDGET_REPRESENTATION, /* parts of a split in place of A and B, with unlimited
                              exponents */
    BUDGET_UNDERFLOW,    /* parts with their smallest exponent, as the unit reads them */
    BUDGET_SATURATION,   /* parts with their largest value */
    BUDGET_DROPPED,      /* only the products in the recipe */
    BUDGET_ALIGNMENT,    /* bits that units cut from terms before adding them */
    BUDGET_ACCUMULATION, /* sums rounded to accumulators */
    BUDGET_PROMOTION,    /* accumulators added to FP32 sums, and to each other */
    BUDGET_SLICES,       /* sums of lanes and slices added */
    BUDGET_EPILOGUE, /* rows and columns scaled back, each step rounded to FP32, and for
                        alpha A B + beta C the rounding of D to its format */
    /* with a bias, factors, a start or other steps: */
    BUDGET_FACTORS, /* factors of A and B on elements and at promotions */
    BUDGET_START,   /* C or the bias from which sums start, and its addition to a slice */
    BUDGET_RESULT,  /* roundings to the format of D, by steps and the last one */
    /* of an FP64 GEMM by a scheme, with BUDGET_DROPPED, BUDGET_SLICES and BUDGET_EPILOGUE
       (analysis/fp64/scheme_budget.h): */
    BUDGET_REPRESENTATION_A, /* the parts in place of A */
    BUDGET_REPRESENTATION_B, /* the parts in place of B */
    BUDGET_UNIT,      /* sums of products of parts that a floating-point unit rounds */
    BUDGET_OVERFLOW,  /* integers beyond s32, or beyond the range of the residues */
    BUDGET_ADDITIONS, /* FP64 operations that add products of parts, or residues */
    BUDGET_PARTS
};

/* The kinds of GEMMs whose error has a part: all FP32 GEMMs; those with a bias, factors,
   a start or other steps; FP64 GEMMs by a scheme. */
enum budget_kind { BUDGET_OF_FP32 = 1, BUDGET_OF_STEPS = 2, BUDGET_OF_SCHEMES = 4 };

struct budget_row {
    const char *name, *what;
    unsigned kinds; /* enum budget_kind */
};

extern const struct budget_row budget_rows[BUDGET_PARTS + 1]; /* by part; ended by NULL */

/* The kinds that a GEMM is of. */
unsigned budget_kinds(const struct bitcut_gemm *g);

/* Whether a part may differ from 0. */
static inline bool budget_has_part(const struct bitcut_gemm *g, enum budget_part part)
{
    return budget_rows[part].kinds & budget_kinds(g);
}

/* Whether a part with this largest magnitude is listed, or BUDGET_PARTS, the error
   itself: parts of GEMMs with steps are not if they are 0. */
static inline bool budget_lists(int part, bool is_f64, double most)
{
    if (part == BUDGET_PARTS) return true;
    const unsigned kinds = budget_rows[part].kinds;
    if (is_f64) return kinds & BUDGET_OF_SCHEMES;
    return kinds & BUDGET_OF_FP32 || (kinds & BUDGET_OF_STEPS && !(most == 0));
}

/* Why an output has no finite sum. */
struct budget_event {
    const char *what; /* NULL: the sum is finite */
    int term;         /* term of the recipe; -1: none */
    size_t at;        /* instructions done before the event */
};

/* The error budget of one output. */
struct budget_output {
    struct budget_event event;
    double part[BUDGET_PARTS], error; /* rounded to nearest in binary64 */
    char *exact[BUDGET_PARTS];        /* as "m*2^e", if asked for; else NULL */
    double size; /* |alpha| |A| |B| + |beta c|, or the magnitudes of all steps' terms */
    /* the next three are NaN with a bias, factors, a start or other steps, and in FP64 */
    double drift; /* bound on what rounding moved D by: everything except the error of
                     parts and of dropped products */
    double drift_mean;   /* mean movement by rounding, by a model (budget_watch.h) */
    double drift_spread; /* root of the sum of squares around that mean */
    double value;        /* alpha A B + beta C, or the exact value of all steps */
    uint32_t d;          /* FP32 encoding                       */
    const struct bitcut_format *format; /* format of D; NULL: f32 */
    bool is_f64; /* whether the GEMM is an FP64 GEMM, whose D is d64 */
    double d64;
};

/* The binary logarithm of u, the unit roundoff of D. */
int budget_unit_exponent(const struct budget_output *x);

/* The exact sums for which the parts of a row of A and a column of B stand. */
struct budget_stages;

/* The factors of a row of A or a column of B, FP32 encodings: factor i of the blocks of
   `depth` k (0: all k) is at[i stride].  at NULL: there are none. */
struct line_factors {
    const uint32_t *at;
    size_t stride, depth;
};

static inline uint32_t line_factor(const struct line_factors *x, size_t k)
{
    return x->at ? x->at[x->depth ? k / x->depth * x->stride : 0] : 0x3f800000;
}

/* A row of A, a column of B, each contiguous, an element of C and of the bias, and the
   factors.  They take the place of the matrices of the GEMM. */
struct budget_lines {
    const uint32_t *a, *b;
    size_t k;
    uint32_t c, bias;
    struct line_factors factors_a, factors_b;
    const struct budget_stages *stages; /* NULL: computed on demand */
    const uint8_t *kept; /* positions of the kept elements of a 2:4 sparse row of A, whose
                            other elements are +-0; NULL: it is dense */
};

/* The budget of one output of g, a GEMM on a unit, by its plan.  With `texts` the exact
   parts are set as well, which budget_clear() frees.  Returns BITCUT_NO_MEMORY if memory
   runs out. */
enum bitcut_status budget_one(struct budget_output *to, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, const struct budget_lines *x,
                              bool texts, struct fault *f);
void budget_clear(struct budget_output *x);

/* Signed mean, root mean square and largest magnitude; NaN if there are no outputs. */
struct budget_statistics {
    double mean, rms, most;
};

/* Units of the statistics: u |A||B|, u the unit roundoff of the format of D (2^-24 for
   f32), or ulps of the exact value in this format. */
enum budget_measure { BUDGET_U, BUDGET_ULP, BUDGET_MEASURES };

/* The budgets of many outputs: statistics of each part, followed by the statistics of the
   error. */
struct budget_summary {
    struct budget_statistics part[BUDGET_PARTS + 1][BUDGET_MEASURES];
    size_t total;   /* outputs of D                                               */
    size_t outputs; /* outputs computed: all, or this many spread evenly over D */
    size_t without; /* computed outputs without a finite sum, which are in no statistic */
    size_t first;   /* the first of these, i n + j; `total` if there is none */
    struct budget_event event; /* and the reason */
    bool is_f64;               /* whether the GEMM is an FP64 GEMM */
    /* output with the largest error in u |A||B|; `total` if there is none */
    size_t worst;
};

/* The most outputs of a piece. */
enum { BUDGET_PIECE_MAX = 1024 };

/* Outputs that are computed together: `from` to `to` of a sample of the m x n outputs,
   and their lines.  Line i < m is row i of A, the others are the columns of B. */
struct budget_piece {
    size_t m, n, from, to;
    struct spread_evenly sample;
    void *const *line; /* [m + n]: as budget_work.line made it; NULL: no output has it */
};

/* The lines of output t of the sample. */
static inline size_t budget_row(const struct budget_piece *x, size_t t)
{
    return spread_place(&x->sample, t) / x->n;
}
static inline size_t budget_column(const struct budget_piece *x, size_t t)
{
    return x->m + spread_place(&x->sample, t) % x->n;
}

/* How the budgets of the outputs of a GEMM are computed. */
struct budget_work {
    size_t m, n, k;
    bool is_f64;
    unsigned kinds;   /* budget_kinds()                                                 */
    bool copies_rows; /* whether a row of A takes memory, as a column of B always does */
    const void *context;

    /* What the budgets of all outputs in a line need of it.  NULL: no memory.  `release`
       frees it. */
    void *(*line)(const void *context, size_t line);
    void (*release)(void *line);

    /* Prepare the outputs of a piece, whose lines are made; NULL: nothing to prepare.
       False: no memory. */
    bool (*start)(const void *context, const struct budget_piece *x, int threads,
                  const struct progress *progress);

    /* The budget of output t of the sample, of the piece that was prepared last. */
    enum bitcut_status (*output)(struct budget_output *to, const void *context,
                                 const struct budget_piece *x, size_t t, struct fault *f);
};

/* Compute the budgets of all outputs if m n k is at most 2^27, otherwise of outputs with
   about that many products, spread evenly.  If progress asks to stop, the result has the
   outputs done until then.  The result does not depend on the number of threads.  Returns
   BITCUT_NO_MEMORY, or the status of an output. */
enum bitcut_status budget_summarize(struct budget_summary *to,
                                    const struct budget_work *w, int threads,
                                    const struct progress *progress, struct fault *f);

struct gemm_data;

/* The matrices of one GEMM: FP32 encodings, row-major and contiguous. */
struct budget_matrices {
    const uint32_t *a, *b, *c; /* c: NULL if beta is +-0 */
    size_t m, n, k;
    const struct gemm_data *extra; /* its bias and factors, or NULL: there are none */
    const uint8_t *kept; /* positions of the kept elements of a sparse A, m x k/2; NULL:
                            it is dense */
};

/* The budget of a GEMM on a unit, by its plan, as budget_summarize() computes it. */
enum bitcut_status budget_gemm(struct budget_summary *to, const struct bitcut_gemm *g,
                               const struct gemm_plan *plan,
                               const struct budget_matrices *x, int threads,
                               const struct progress *progress, struct fault *f);

/* The budget of output (i, j). */
enum bitcut_status budget_at(struct budget_output *to, const struct bitcut_gemm *g,
                             const struct gemm_plan *plan,
                             const struct budget_matrices *x, size_t i, size_t j,
                             struct fault *f);

#endif
