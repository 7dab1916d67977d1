/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a run after the program has ended: the results of all its processes. */
#ifndef BITCUT_ANALYSIS_RUN_FOLDER_H
#define BITCUT_ANALYSIS_RUN_FOLDER_H

#include "analysis/run/call_log.h"

/* The sum over all processes.  Call sites are sorted by products, the largest first. */
struct run_total {
    size_t processes,
        ended; /* processes that wrote a log; those of them that ended normally */
    struct call_log_site **site;
    size_t sites;
    struct call_log_site *sum; /* sum of the numbers of all call sites */
    struct call_log_routine routine[CALL_LOG_ROUTINES_MAX];
    uint64_t counted; /* calls of these routines */
    uint64_t lost;
    bool takes[PRECISIONS]; /* precisions whose products a process computed, compared or
                               audited */
    char fault[BITCUT_TEXT_MAX];        /* error in the settings, or "" */
    char device[BITCUT_TEXT_MAX];       /* device opened by a process, or "" */
    char device_fault[BITCUT_TEXT_MAX]; /* why a device could not be opened, or "" */
    char libraries[1024];               /* libraries that have a BLAS, or "" */
};

/* Add up the logs in a folder; other files are ignored.  Returns BITCUT_BAD_FILE if a
   file has the suffix of a log and is no log; BITCUT_UNSUPPORTED, BITCUT_NO_MEMORY.  *to
   is set only on success, and run_total_clear() releases it. */
enum bitcut_status run_total_read(struct run_total *to, const char *folder,
                                  struct fault *f);
void run_total_clear(struct run_total *x);

/* Whether a process wrote a log there. */
bool run_folder_has_call_log(const char *folder);

/* Remove the folder and the files in it. */
void run_folder_remove(const char *folder);

#endif
