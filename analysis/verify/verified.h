/* SPDX-License-Identifier: BSD-3-Clause */
/* What is compared with the emulator bit for bit: a D, kernels, the split pass.  Their
   answers, fields (lib/base/record.h) and sentences. */
#ifndef BITCUT_ANALYSIS_VERIFY_VERIFIED_H
#define BITCUT_ANALYSIS_VERIFY_VERIFIED_H

#include "analysis/identify/difference.h"
#include "analysis/identify/explain.h"
#include "analysis/sampling/judged.h"
#include "analysis/verify/code_gemm.h"
#include "analysis/verify/kernel_trial.h"
#include "analysis/verify/split_trial.h"
#include "lib/base/clock.h"

/* --- a D -------------------------------------------------------------------------- */

struct verify_problem {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct gemm_data *data;
    const struct matrix *d;
    const struct code_result *code; /* that has made D, whose elements have its format; NULL:
                                       nothing is known of that                          */
    size_t samples; /* outputs at most, of rows and columns at random; 0: all */
    uint64_t seed;
};

/* `found` has the number of outputs compared, and of those that differ; the first of them
   is a place of the whole D. */
struct verified {
    struct gemm_answer gemm; /* first; m, n, k of all of D */
    struct bitcut_difference found;
    size_t total;
    struct apart first;
    struct differing differing[DIFFERING_MAX];
    size_t listed;
    struct block part; /* the outputs compared; part.row is NULL: all          */
    bool by_code;
    const char *code; /* the file of what made D, and what that did            */
    uint64_t instructions, matrix;
    char hypothesis[SENTENCE_MAX]; /* what computed D; "": not known */
};

extern const struct record_field verified_fields[], verified_code_fields[];
extern const struct record_line verified_lines[];
record_describe verified_describe_verdict, verified_describe_first;

/* Compare D with what the emulator makes of the rest.  Nothing is said of budget and
   hypothesis.  Unless BITCUT_OK comes back, *what failed.  As gemm_run(). */
enum bitcut_status verified_find(struct verified *to, const char **what,
                                 const struct verify_problem *q,
                                 const struct gemm_options *options, struct fault *f);
void verified_clear(struct verified *v);

/* --- kernels, and the split pass -------------------------------------------------- */

/* What ran, and when. */
struct verified_on {
    struct gemm_description gemm; /* first */
    const char *kernel, *device, *driver;
    char date[DATE_MAX];
    uint64_t seed;
};

extern const struct record_field verified_on_fields[];

struct verified_kernel {
    struct verified_on on; /* first */
    struct kernel_result result;
    char hypothesis[SENTENCE_MAX];
};

extern const struct record_field verified_kernel_fields[];
extern const struct record_line verified_kernel_lines[];

struct verified_split {
    struct verified_on on; /* first */
    struct split_result result;
    struct gemm_plan plan; /* whose words A has; on.gemm.plan */
};

extern const struct record_field verified_split_fields[];
extern const struct record_line verified_split_lines[];

#endif
