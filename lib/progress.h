/* How long work reports how far it is and learns that it should stop. */
#ifndef BITCUT_LIB_PROGRESS_H
#define BITCUT_LIB_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* `report`, if not NULL, is called from one thread at a time with the part done so far, 0
   to 1.  `stop`, if not NULL, is looked at now and then; once it is set, work ends
   early. */
struct progress {
    void (*report)(void *context, double part);
    void *context;
    const volatile sig_atomic_t *stop;
};

/* Both take a NULL progress. */
static inline void progress_report(const struct progress *p, size_t done, size_t total)
{
    if (p && p->report) p->report(p->context, (double)done / (double)total);
}

static inline bool progress_stopped(const struct progress *p)
{
    return p && p->stop && *p->stop;
}

#endif
