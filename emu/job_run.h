/* SPDX-License-Identifier: BSD-3-Clause */
/* The outputs of a job, tile by tile, on several threads. */
#ifndef BITCUT_EMU_JOB_RUN_H
#define BITCUT_EMU_JOB_RUN_H

#include "emu/job.h"

/* Compute rows job->row to job->m - 1 of D.  BITCUT_UNSUPPORTED if asked to stop;
   BITCUT_NO_MEMORY. */
enum bitcut_status job_run(const struct job *job, int threads);

#endif
