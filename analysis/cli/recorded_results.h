/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded results: results that come with bitcut, and results of the user. */
#ifndef BITCUT_ANALYSIS_CLI_RECORDED_RESULTS_H
#define BITCUT_ANALYSIS_CLI_RECORDED_RESULTS_H

#include "analysis/study/results.h"
#include "analysis/study/study.h"

/* Call `read` for each file *.jsonl of a folder of the program's data, until one is
   wrong.  A missing folder, and a folder that cannot be read, are reported as `what`; an
   `optional` folder may be missing.  Prints messages and returns an exit status. */
int recorded_folder(const char *folder, const char *what, bool optional,
                    int (*read)(void *to, const char *path), void *to);

/* Add the results in a file.  Prints what is wrong and returns an exit status. */
int recorded_read_file(struct results *r, const char *path);

/* The same for all files of results that come with bitcut. */
int recorded_read_results(struct results *r);

/* Read the sources of a study, selected by `reads` (READS_RESULTS and so on): results,
   which *results holds and results_clear() releases, and rows about libraries, which the
   caller releases.  Other sources stay NULL.  Prints what is wrong and returns an exit
   status. */
int recorded_sources(struct study_sources *to, struct results *results, unsigned reads);

/* Append the name and the SHA-256 of a file, "file" and "sha256", to an array; or of all
   files that come with bitcut in the folder with that name ("results", "libraries").
   Prints messages and returns an exit status. */
int recorded_digest_file(json_t *to, const char *path);
int recorded_digests(json_t *to, const char *folder);

#endif
