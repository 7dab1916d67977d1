/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a run, when the program has ended: what all its processes have done. */
#ifndef BITCUT_ANALYSIS_RUN_FOLDER_H
#define BITCUT_ANALYSIS_RUN_FOLDER_H

#include "analysis/run/call_log.h"

/* Of all processes; places by products, the most first. */
struct run_total {
    size_t processes,
        ended; /* that wrote a call_log; those of them that came to their end */
    struct call_log_site **place;
    size_t places;
    struct call_log_site *sum; /* of their numbers */
    struct call_log_routine routine[CALL_LOG_ROUTINES_MAX];
    uint64_t counted; /* calls of these */
    uint64_t lost;
    char fault[BITCUT_TEXT_MAX];        /* of settings, or "" */
    char device[BITCUT_TEXT_MAX];       /* that a process opened, or "" */
    char device_fault[BITCUT_TEXT_MAX]; /* why one could not, or "" */
    char libraries[1024];                /* that have a BLAS, or "" */
};

/* Add up the call_logs of a folder; other files are left alone.  Files that are no
   call_logs though they are called so are BITCUT_BAD_FILE; BITCUT_UNSUPPORTED,
   BITCUT_NO_MEMORY. *to is set only on success, and run_total_clear() ends it. */
enum bitcut_status run_total_read(struct run_total *to, const char *folder,
                                  struct fault *f);
void run_total_clear(struct run_total *x);

/* Whether a process has written a call_log there. */
bool run_folder_has_call_log(const char *folder);

/* Remove the folder and the files in it. */
void run_folder_remove(const char *folder);

#endif
