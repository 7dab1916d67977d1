/* SPDX-License-Identifier: BSD-3-Clause */
/* Results and rows of studies for tests: made by hand, and those that come with bitcut.
 */
#ifndef BITCUT_TESTS_STUDY_SAMPLE_RESULTS_H
#define BITCUT_TESTS_STUDY_SAMPLE_RESULTS_H

#include "analysis/study/results.h"
#include "analysis/study/study.h"
#include "lib/base/status.h"

/* A line of `bench gpu` for an m x n x k GEMM; `more` (a JSON object) changes it. */
json_t *sample_bench_row(const char *name, size_t m, size_t n, size_t k, double ms,
                         const char *more);

/* Read rows, which are released, as the file that they would be. */
enum bitcut_status sample_read_rows(struct results *r, size_t *line, json_t *rows,
                                    struct fault *f);

/* The same, which must succeed, and what follows from them. */
struct results sample_results_of(json_t *rows);

/* All results in data/results, and what follows from them. */
void sample_read_kept(struct results *r);

/* The rows of a study in data/studies as readers have them; an empty array: it has none.
 */
json_t *sample_study_rows(const struct study *study);

#endif
