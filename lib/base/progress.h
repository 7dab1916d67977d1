/* SPDX-License-Identifier: BSD-3-Clause */
/* How long work reports its progress and learns that it should stop. */
#ifndef BITCUT_LIB_BASE_PROGRESS_H
#define BITCUT_LIB_BASE_PROGRESS_H

#include "lib/base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* `report`, if not NULL, is called with the fraction done so far, 0 to 1, by one thread
   at a time.  `stop`, if not NULL, is read at intervals; once it is set, the work ends
   early. */
struct progress {
    void (*report)(void *context, double part);
    void *context;
    const volatile sig_atomic_t *stop;
};

/* The flag that bitcut_stop_on() (lib/bitcut.h) has set in this thread, for public calls
   made in it: a progress that reports nothing. */
const struct progress *progress_of_thread(void);

/* All functions below accept a NULL progress. */
static inline void progress_report(const struct progress *p, size_t done, size_t total)
{
    if (p && p->report) p->report(p->context, (double)done / (double)total);
}

static inline bool progress_stopped(const struct progress *p)
{
    return p && p->stop && *p->stop;
}

/* The status of work that `progress` may have stopped early although the work returned
   BITCUT_OK. */
static inline enum bitcut_status progress_end(enum bitcut_status status,
                                              const struct progress *p, struct fault *f)
{
    return status == BITCUT_OK && progress_stopped(p)
               ? fault_set(f, BITCUT_UNSUPPORTED, "stopped")
               : status;
}

#endif
