/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit-for-bit comparisons with the emulator: of a D, of kernels, of the split pass.
   Their answers, fields (lib/base/record.h) and sentences. */
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
    const struct bitcut_gemm *batch; /* the GEMMs of a batch, with their matrices in FP32;
                                        or NULL; `samples` must be 0 then */
    const struct code_result *code; /* the code that computed D, whose elements have its
                                       format; NULL: unknown */
    const struct matrix *expected; /* D to compare with in place of the emulator's, if its
                                      outputs have several computations; or NULL.  No
                                      batch and no samples then                       */
    const char *library; /* what a library computes, as a sentence; or NULL */
    size_t samples; /* number of outputs in random rows and columns; 0: all */
    uint64_t seed;
};

/* `found` has the number of outputs compared and the number that differ; its first
   position refers to the whole D. */
struct verified {
    struct gemm_answer gemm; /* must be first; m, n, k of the whole D */
    struct bitcut_difference found;
    size_t total;
    bool of_batch;
    size_t gemms, identical; /* GEMMs of a batch, and GEMMs whose outputs all agree */
    struct apart first;
    struct differing differing[DIFFERING_MAX];
    size_t listed;
    struct block part; /* the outputs compared; part.row is NULL: all */
    bool by_code;
    const char *code; /* the file of the code that computed D, and its counts */
    uint64_t instructions, matrix;
    struct brief_explanation explained; /* what computed D */
};

extern const struct record_field verified_fields[], verified_code_fields[];
extern const struct record_line verified_lines[];
record_describe verified_describe_verdict, verified_describe_first;

/* Append how many of the outputs that were compared differ: "12, 3.1 %", or "none". */
void verified_describe_differ(char *text, size_t size, size_t differ, size_t compared);

/* Compare D with the result of the emulator.  Budget and hypothesis are not set.  If the
   status is not BITCUT_OK, *what names the part that failed.  Statuses as for gemm_run().
 */
enum bitcut_status verified_find(struct verified *to, const char **what,
                                 const struct verify_problem *q,
                                 const struct gemm_options *options, struct fault *f);
void verified_clear(struct verified *v);

/* --- kernels, and the split pass -------------------------------------------------- */

/* What was compared, on which device, and when. */
struct verified_on {
    struct gemm_description gemm; /* must be first */
    const char *kernel, *device, *driver;
    char date[DATE_MAX];
    uint64_t seed;
};

extern const struct record_field verified_on_fields[];

struct verified_kernel {
    struct verified_on on; /* must be first */
    struct kernel_result result;
    struct brief_explanation explained;
};

extern const struct record_field verified_kernel_fields[];
extern const struct record_line verified_kernel_lines[];
extern const struct record_line verified_fp64_lines[]; /* for a kernel of FP64 GEMMs */

struct verified_split {
    struct verified_on on; /* must be first */
    struct split_result result;
    struct gemm_plan plan; /* the plan with the parts of A; on.gemm.plan */
};

extern const struct record_field verified_split_fields[];
extern const struct record_line verified_split_lines[];

#endif
