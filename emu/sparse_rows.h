/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs with a 2:4 sparse A: every row of A has its own rows of B. */
#ifndef BITCUT_EMU_SPARSE_ROWS_H
#define BITCUT_EMU_SPARSE_ROWS_H

#include "emu/job.h"

/* Compute D of a job with positions, as job_run() does.  job->a has the parts of the kept
   elements, job->b those of all k.  Rows that follow each other and have the same
   positions are computed together. */
enum bitcut_status sparse_rows_run(const struct job *job, int threads);

#endif
