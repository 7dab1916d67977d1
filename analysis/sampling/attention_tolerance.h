/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a test of an attention kernel, which a correct kernel does not exceed,
   and how often such a test finds faults. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ATTENTION_TOLERANCE_H
#define BITCUT_ANALYSIS_SAMPLING_ATTENTION_TOLERANCE_H

#include "analysis/identify/attention_fault.h"
#include "analysis/sampling/attention_sample.h"
#include "lib/base/record.h"

/* bitcut_attention_tolerance() with a progress.  For each run, M is the largest error of
   its outputs relative to u times the mean of |V|, and N the norm of its errors relative
   to the norm of u times the mean of |V|.

   The limit of M is the larger of tail_limit() of all runs and 1.25 times the largest M;
   the limit of N likewise.  An attention with b times the outputs of a run has alarm / b
   in place of alarm: its errors exceed a limit no more often than those of b runs, with
   any dependence.  A limit is known if tail_is_light(); otherwise it is twice the largest
   error of the runs, a number without a probability. */
enum bitcut_status attention_tolerance(struct bitcut_attention_tolerances *to,
                                       const struct bitcut_attention *a,
                                       const struct bitcut_attention *other,
                                       const struct bitcut_attention_options *options,
                                       int threads, const struct progress *progress,
                                       struct fault *f);

enum bitcut_status attention_tolerance_judge(
    struct bitcut_attention_verdict *to, const struct bitcut_attention_tolerances *limits,
    const struct bitcut_attention *a, const struct bitcut_attention *other, int threads,
    const struct progress *progress, struct fault *f);

/* How many of some outputs may be infinite or NaN without need: as many as in the runs
   that would give so many outputs. */
size_t attention_wrong_limit(const struct bitcut_attention_tolerances *limits,
                             size_t outputs);

/* The verdict on some outputs of an attention; positions are those of the pair. */
void attention_verdict(struct bitcut_attention_verdict *to,
                       const struct bitcut_attention_tolerances *limits,
                       const struct attention_pair *x);

/* How often a test with given limits rejects a fault, in runs that were not those of the
   limits.  The first row is without a fault: its rejections are false alarms. */
struct attention_power {
    const struct attention_fault *fault;
    size_t runs;            /* runs in which the fault changes O */
    size_t component, norm; /* of these, rejected by this limit */
    size_t either;
};

enum { ATTENTION_POWER_MAX = 32 };

/* Set *count rows, one for each of attention_faults. */
enum bitcut_status
attention_power(struct attention_power row[ATTENTION_POWER_MAX], size_t *count,
                const struct bitcut_attention_tolerances *limits,
                const struct bitcut_attention *a, const struct bitcut_attention *other,
                const struct bitcut_attention_options *options, size_t runs, int threads,
                const struct progress *progress, struct fault *f);

extern const struct record_field attention_tolerance_fields[], attention_verdict_fields[],
    attention_power_fields[];

/* The answer of the command: limits, a verdict on a given O, and the power of the test.
 */
struct attention_tolerance_answer {
    const char *row, *other; /* other: NULL: exact attention */
    const struct bitcut_format *format_o;
    struct bitcut_attention_tolerances limits;
    bool judged;
    struct bitcut_attention_verdict verdict;
    size_t powers;
    struct attention_power power[ATTENTION_POWER_MAX];
};

extern const struct record_field attention_test_fields[];
extern const struct record_line attention_test_lines[];

#endif
