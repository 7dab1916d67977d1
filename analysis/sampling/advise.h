/* SPDX-License-Identifier: BSD-3-Clause */
/* The recipe and chip that multiply given matrices accurately enough with the fewest
   products. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_H

#include "analysis/sampling/advise_values.h"
#include "analysis/sampling/norm_sample.h"
#include "emu/gemm.h"

/* The first chip of every architecture, into `target`.  Returns their number. */
enum { ADVISE_TARGETS_MAX = 64 };
size_t advise_targets(const char *target[ADVISE_TARGETS_MAX]);

/* The input, for one product or several.  Places are chips or units, as for unit_find(),
   and must be known. */
struct advise_problem {
    const struct gemm_data *of; /* A and B, each with at least one output and one product;
                                   and what `gemm` reads in addition */
    size_t pairs;
    uint32_t largest[2]; /* largest finite magnitudes of A and B in other data, or 0:
                            parts must hold these as well */
    const struct norm_sample_metric *metric;
    double want;                        /* required error in that metric */
    const struct bitcut_recipe *recipe; /* NULL: any recipe */
    const char *const *target;
    size_t targets; /* at most ADVISE_TARGETS_MAX */
    uint64_t seed;
    const char *input_a, *input_b; /* origin of the last pair, for the output; input_b is
                                      NULL: B is A transposed */
    const struct bitcut_quantizer *quantizer[2]; /* of A and B in every GEMM, or NULL */
    bool quantizers; /* also try each quantizer, for A and B, on units of its elements */
    const struct bitcut_format *format_d; /* format of D; NULL: f32 */
    const struct bitcut_gemm *gemm; /* the alpha, the beta, the start and the steps of the
                                       GEMM, whether it has a sparse A, a bias and
                                       factors, and the blocks of these; and the zero
                                       points of A and B, which their elements are less.
                                       NULL: D = A B */
    const char *options; /* options of the program for the same, or NULL */
    bool values; /* report the values, the bits that splits retain, and scales as well */
};

/* The zero point of A or of B.  A unit of integers reads elements with it, unless they
   are quantized. */
static inline int32_t advise_zero(const struct advise_problem *q, bool is_b)
{
    return !q->gemm ? 0 : is_b ? q->gemm->zero_b : q->gemm->zero_a;
}

/* A GEMM that is tried. */
struct advise_trial {
    /* must be first: the answer.  `checked` is NaN unless the second sample was computed;
       infinite values mean that parts overflow; `reaches`: it was checked, and `high` is
       at most the required error; `quantization` and `rounding` are NaN unless it was */
    struct bitcut_advice advice;
    const char *target;
    struct bitcut_gemm gemm; /* recipe, unit and variations */
    struct gemm_plan plan;
    const struct bitcut_quantizer *quantizer[2]; /* of A and B, or NULL */
    double tflops;   /* for A B there, by peak rates; 0: unknown */
    double products; /* products of two numbers, in all terms of all products; a sparse A
                        has half as many */
};

/* Its fields, those of quantized operands and those of a short D. */
extern const struct record_field advise_trial_fields[], advise_quantized_fields[],
    advise_short_fields[];

static inline bool advise_is_quantized(const struct advise_trial *t)
{
    return t->quantizer[0] || t->quantizer[1];
}

/* One choice of the scale of f16 parts: its error, and the bits that parts retain of A
   and of B. */
struct advise_scale {
    const struct bitcut_recipe *recipe;
    const struct bitcut_unit *unit;
    int scale;
    bool equilibrate;
    double error;
    struct retention kept[2];
};

extern const struct record_field advise_scale_fields[];

enum { ADVISE_WAYS = 3, ADVISE_SCALES_MAX = 2 * ADVISE_WAYS };

/* The answer.  It points into the problem's data. */
struct advise {
    struct advise_problem problem;
    size_t m, n, k; /* of the last product */
    size_t outputs, checks;     /* of all samples on which GEMMs were tried and checked */
    bool all;                   /* the first samples are all outputs */
    struct advise_trial *trial; /* in the order in which they were tried */
    size_t trials;
    const struct advise_trial *best[ADVISE_TARGETS_MAX]; /* the recommendation at each
                                                           target where a recipe runs */
    size_t bests;
    /* the best of these; NULL: none reaches the required error */
    const struct advise_trial *choice;
    struct advise_values values[2]; /* of A and B */
    struct advise_retained_list kept;
    struct advise_scale scale[ADVISE_SCALES_MAX]; /* for ootomo, then for legemm: 2^10,
                                                     2^11, and equilibrated */
    size_t scales;
};

/* Its fields (lib/base/record.h). */
extern const struct record_field advise_fields[];

/* The operands of every GEMM of a checked batch, or of its groups, that has an output and
   a product; at least one.  The caller frees *count elements with
   advise_clear_operands(); with any other status there are none.  BITCUT_BAD_ARGUMENT: no
   GEMM has an output and a product. */
enum bitcut_status advise_take_operands(struct gemm_data **of, size_t *count,
                                        const struct bitcut_gemm *g, int threads,
                                        struct fault *f);
void advise_clear_operands(struct gemm_data *of, size_t count);

/* Try recipes at every target until one reaches the required error in each product.
   Recipes with fewer products come first; among equal numbers of products the smallest
   error wins.  Equilibrated rows and columns are used only if no other recipe reaches it.
   A GEMM has the variations of its recipe's row; with f16 parts also the scales 2^10 and
   2^11, and equilibration.

   Errors are those of D, in its format, against what the whole GEMM of A and B as they
   are given is in exact arithmetic.  They include what quantization makes.  A recipe that
   the start, the steps, the factors or a sparse A do not fit is not tried.  Integers, of
   matrices with an integer format, are also multiplied on a unit of these integers.
   Quantized operands are not equilibrated; with quantizers given, scales are not
   compared.

   Each GEMM is computed on the first sample, with the bits of the whole result.  If it
   seems to reach the required error, it is computed on the second sample, which has to
   confirm it.  If nothing reaches it at a target, the best there is the GEMM with the
   smallest error.  The choice is the fastest by peak rates if any rate is known,
   otherwise the one with the fewest products; among equals the one with the smallest
   error.  The result depends on the seed, not on the number of threads.

   Returns BITCUT_NO_MEMORY, BITCUT_UNSUPPORTED if asked to stop, BITCUT_BAD_ARGUMENT if
   an element that is quantized is not finite, or a status of bitcut_gemm(); then there is
   nothing to clear. */
enum bitcut_status advise_find(struct advise *to, const struct advise_problem *q,
                               int threads, const struct progress *progress,
                               struct fault *f);
void advise_clear(struct advise *x);

/* The choice, or else the GEMM with the smallest error.  NULL: no recipe runs anywhere.
 */
const struct advise_trial *advise_best(const struct advise *x);

#endif
