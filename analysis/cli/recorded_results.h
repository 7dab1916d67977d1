/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded results: those that come with bitcut, and others. */
#ifndef BITCUT_ANALYSIS_CLI_RECORDED_RESULTS_H
#define BITCUT_ANALYSIS_CLI_RECORDED_RESULTS_H

#include "analysis/study/results.h"
#include "analysis/study/study.h"

/* Read each file *.jsonl of a folder of the program's data, until one is wrong.  That there
   is none, or that the folder cannot be read, is said of `what`; an `optional` folder may be
   missing.  Prints and returns an exit status. */
int recorded_folder(const char *folder, const char *what, bool optional,
                    int (*read)(void *to, const char *path), void *to);

/* Add what a file has.  Prints what is wrong and returns an exit status. */
int recorded_read_file(struct results *r, const char *path);

/* The same of all files of results that come with bitcut. */
int recorded_read_results(struct results *r);

/* What studies read of it, by `reads` (READS_RESULTS and so on): results, which *results
   holds and results_clear() ends, and rows about libraries, to be released.  What is not
   read is left NULL.  Prints what is wrong and returns an exit status. */
int recorded_sources(struct study_sources *to, struct results *results, unsigned reads);

/* Append the name and SHA-256 of a file, "file" and "sha256", to an array; the same of all
   kept files in the folder of that name ("results", "libraries").  Prints and returns an exit status. */
int recorded_digest_file(json_t *to, const char *path);
int recorded_digests(json_t *to, const char *folder);

#endif
