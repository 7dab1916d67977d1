/* Recorded results: those that come with bitcut, and others. */
#ifndef BITCUT_ANALYSIS_CLI_KEPT_RESULTS_H
#define BITCUT_ANALYSIS_CLI_KEPT_RESULTS_H

#include "analysis/study/results.h"
#include "analysis/study/study.h"

/* Add what a file has.  Prints what is wrong and returns an exit status. */
int kept_read_file(struct results *r, const char *path);

/* The same of all files of results that come with bitcut. */
int kept_read_results(struct results *r);

/* What studies read of it, by `reads` (READS_RESULTS and so on): results, which *results
   holds and results_clear() ends, and rows about libraries, to be released.  What is not
   there is left NULL; a file that is broken is an error.  Prints and returns an exit
   status. */
int kept_sources(struct study_sources *to, struct results *results, unsigned reads);

#endif
