/* SPDX-License-Identifier: BSD-3-Clause */
/* What gemm and verify say of an FP64 GEMM by a scheme. */
#ifndef BITCUT_ANALYSIS_FP64_FP64_ANSWER_H
#define BITCUT_ANALYSIS_FP64_FP64_ANSWER_H

#include "analysis/accuracy/judge.h"
#include "analysis/fp64/worst_inputs.h"
#include "emu/fp64/fp64_gemm.h"
#include "lib/base/record.h"

enum { FP64_EXPLANATION_MAX = 200 };

struct fp64_answer {
    const struct bitcut_scheme *scheme;
    const struct bitcut_unit *unit;
    struct fp64_choice by; /* how D is computed */
    int products; /* products of parts that the unit computes for each product of A B */
    size_t m, n, k, count;
    bool is_batch; /* whether there are `count` GEMMs */
    double alpha, beta;
    const char *input_a, *input_b; /* origin of A and B: a family or a file */
    bool seeded;                   /* whether A or B was drawn with `seed`  */
    uint64_t seed;
    double seconds, products_per_second; /* of the computation; NaN: not measured */
    const char *device, *kernel;         /* what computed; NULL: the emulator */

    bool judged; /* whether D was compared with the exact result; of a batch, the D with
                    the largest componentwise error, GEMM `largest`           */
    size_t largest;
    const struct reference *reference;
    double value[METRICS]; /* in units of u = 2^-53 */
    double dgemm;          /* backward_max of FP64 multiply-adds on the same data */
    double bound_most;     /* the largest bound of an output, u |A||B|; infinite: there is
                              an output without a bound                     */
    double share;          /* largest part of its bound that an output takes */
    size_t bins[HISTOGRAM_BINS];

    const struct worst_inputs *worst; /* the search that found A and B, or NULL */

    const struct budget_answer *budget; /* NULL: none was requested */

    bool compared; /* whether D was compared with the emulator's */
    struct bitcut_difference difference;
    char explanation[FP64_EXPLANATION_MAX]; /* what computed D instead, as a sentence */
};

/* The number of products of parts: those of slices, or one for each modulus and the first
   product of the accurate mode. */
int fp64_products(const struct bitcut_scheme *s, int parts);

/* The answer about a GEMM with a scheme, which is computed so. */
struct fp64_answer fp64_answer_of(const struct bitcut_gemm *g,
                                  const struct fp64_choice *by);

/* Compare D of g, or of the batch, with the exact result.  Returns BITCUT_NO_MEMORY, or
   BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status fp64_answer_judge(struct fp64_answer *to, const struct bitcut_gemm *g,
                                     const struct reference *reference,
                                     const struct gemm_options *options, struct fault *f);

/* Every output of one GEMM, m x n; errors, bounds and limits in u |A||B|, u = 2^-53. */
struct fp64_outputs {
    double *exact, *error; /* the exact result; the error of D                     */
    double *plain;         /* the error of FP64 multiply-adds                      */
    double *bound;         /* scheme_bound(); infinite: none is known              */
    double *limit;         /* the largest error of an FP64 GEMM (judge64_grade())  */
};

/* fp64_answer_judge() for one GEMM, with its outputs, which fp64_outputs_clear() frees.
   They are set on success only. */
enum bitcut_status fp64_outputs_judge(struct fp64_outputs *outputs,
                                      struct fp64_answer *to, const struct bitcut_gemm *g,
                                      const struct reference *reference,
                                      const struct gemm_options *options,
                                      struct fault *f);
void fp64_outputs_clear(struct fp64_outputs *x);

extern const struct record_field fp64_setup_fields[], fp64_gemm_fields[],
    fp64_verify_fields[], fp64_error_fields[];
record_describe fp64_describe_scheme, fp64_describe_parts, fp64_describe_matrices,
    fp64_describe_componentwise, fp64_describe_relative;
extern const struct record_line fp64_gemm_lines[], fp64_verify_lines[];

#endif
