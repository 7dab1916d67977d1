/* SPDX-License-Identifier: BSD-3-Clause */
/* A result compared with the exact result: its metrics, the bounds of its recipe, the
   typical range, and the verdict. */
#ifndef BITCUT_ANALYSIS_SAMPLING_JUDGED_H
#define BITCUT_ANALYSIS_SAMPLING_JUDGED_H

#include "analysis/accuracy/bound_run.h"
#include "analysis/accuracy/budget_answer.h"
#include "analysis/accuracy/gemm_data.h"
#include "analysis/sampling/typical_range.h"
#include "emu/gemm_sentence.h"

enum { VERDICT_MAX = 600 };

struct judged {
    const struct reference *reference;
    bool graded; /* whether D is compared with an FP32 GEMM: D = alpha A B + beta C alone,
                    and not on a unit of integers */
    size_t m, n, k;
    double value[METRICS];
    char grade[VERDICT_MAX], verdict[VERDICT_MAX]; /* sentences                      */
    struct bound_result bound; /* bound of recipe and unit; only for an exact reference */
    struct typical_range usual; /* typical error; no outputs: unknown */
    double typical_range_find[2];
    const struct grade *standing;   /* grade relative to both */
    struct error_bound error_bound; /* error of the recipe's parts */
    double share; /* largest part of the recipe's limit that an output takes */
    size_t bins[HISTOGRAM_BINS]; /* ulp_histogram()                                     */
    /* number of values settled by each stage of the reference */
    struct exact_counts counts;
    double seconds; /* time for the reference */
};

/* The fields (lib/base/record.h): metrics first. */
extern const struct record_field judged_fields[];

/* Compare d, computed as g on a unit.  If g has a bias, factors, a start or other steps,
   `data` has what they read, and the reference must be exact.  Of the options, `threads`,
   `progress` and `offload` are read.  Returns BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if
   asked to stop; a status of the device. */
enum bitcut_status judged_find(struct judged *to, const struct bitcut_gemm *g,
                               const struct gemm_data *data, const struct matrix *d,
                               const struct reference *reference, uint64_t seed,
                               const struct gemm_options *options, struct fault *f);

/* Sentences (lib/base/record.h) about an answer that begins with a struct gemm_answer. */
extern const struct record_line judged_lines[];
record_describe judged_describe_grade;

#endif
