/* SPDX-License-Identifier: BSD-3-Clause */
/* A result beside the exact one: its metrics, what its recipe allows, what is usual, and the
   verdict. */
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
    size_t m, n, k;
    double value[METRICS];
    char grade[VERDICT_MAX], verdict[VERDICT_MAX]; /* sentences                      */
    struct bound_result bound; /* what recipe and unit allow: only of a reference that is
                                  exact                                                 */
    struct typical_range usual; /* what error they usually have; no outputs: not known */
    double typical_range_find[2];
    const struct grade *standing;   /* to both                                         */
    struct error_bound error_bound; /* what the words of the recipe lose               */
    double share; /* of the recipe's limit that the worst output takes                  */
    size_t bins[HISTOGRAM_BINS]; /* ulp_histogram()                                     */
    struct exact_counts counts;  /* by which layer the reference was settled            */
    double seconds;              /* that it took                                        */
};

/* Its fields (lib/base/record.h): metrics first. */
extern const struct record_field judged_fields[];

/* Judge d, of g on a unit.  BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if asked to stop; what a
   device says.  Of the options `threads`, `progress` and `offload` are read. */
enum bitcut_status judged_find(struct judged *to, const struct bitcut_gemm *g,
                               const struct gemm_data *data, const struct matrix *d,
                               const struct reference *reference, uint64_t seed,
                               const struct gemm_options *options, struct fault *f);

/* Sentences (lib/base/record.h) on an answer that begins with a struct gemm_answer. */
extern const struct record_line judged_lines[];
record_describe judged_describe_grade;

#endif
