/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of studies that come with bitcut: rows at the sizes of papers, which take hours to
   compute. */
#ifndef BITCUT_ANALYSIS_CLI_RECORDED_STUDIES_H
#define BITCUT_ANALYSIS_CLI_RECORDED_STUDIES_H

#include "analysis/cli/study_log.h"

/* Their scale and seed. */
enum { RECORDED_SCALE = STUDY_PAPER, RECORDED_SEED = 1 };

/* The files STUDY.jsonl in the folder `studies` of the program's data, as `bitcut study
   STUDY --scale paper -o STUDY.jsonl` writes them. */
struct recorded_studies {
    struct study_log log;
    json_t *files; /* for each study with a file, by its name: an array with the file's
                      name and SHA-256, from recorded_digest_file() */
};

/* Read all files; the folder may be missing.  Prints what is wrong and returns an exit
   status. recorded_studies_clear() has to be called after any status. */
int recorded_studies_read(struct recorded_studies *recorded);
void recorded_studies_clear(struct recorded_studies *recorded);

/* Complain about stored rows of a study whose keys differ from those of rows[0], a row of
   the same study: another version of bitcut wrote them.  Prints messages and returns an
   exit status. */
int recorded_studies_check(struct recorded_studies *recorded, const struct study *study,
                           json_t *rows);

#endif
