/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of studies that come with bitcut: those at the sizes of papers, which take hours
   to compute. */
#ifndef BITCUT_ANALYSIS_CLI_RECORDED_STUDIES_H
#define BITCUT_ANALYSIS_CLI_RECORDED_STUDIES_H

#include "analysis/cli/study_log.h"

/* Of which scale and seed they are. */
enum { RECORDED_SCALE = STUDY_PAPER, RECORDED_SEED = 1 };

/* The files STUDY.jsonl in the folder `studies` of the program's data, as `bitcut study
   STUDY --scale paper -o STUDY.jsonl` writes them. */
struct recorded_studies {
    struct study_log log;
    json_t *files; /* of each study that has one, by its name: an array with the file's
                      name and SHA-256, as recorded_digest_file() says them */
};

/* Read all; the folder may be missing.  Prints what is wrong and returns an exit status;
   also then recorded_studies_clear() ends it. */
int recorded_studies_read(struct recorded_studies *kept);
void recorded_studies_clear(struct recorded_studies *kept);

/* Complain of kept rows of a study that have other keys than rows[0], one of the same
   study: another version of bitcut wrote them.  Prints and returns an exit status. */
int recorded_studies_check(struct recorded_studies *kept, const struct study *study,
                           json_t *rows);

#endif
