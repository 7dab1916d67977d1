/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a process under `bitcut run`: settings, log, call sites. */
#ifndef BITCUT_ANALYSIS_RUN_RUN_STATE_H
#define BITCUT_ANALYSIS_RUN_RUN_STATE_H

#include "analysis/run/call_log.h"
#include "analysis/run/original.h"
#include "lib/base/clock.h"

/* The settings, read by the constructor, or at the first use if that is earlier.  If they
   are invalid, all products are computed by the program's own library. */
const struct run_settings *run_settings(void);

/* Print on standard error.  Nothing is printed if it was closed when the process began:
   its number may belong to a file of the program. */
__attribute__((format(printf, 1, 2))) void run_warn(const char *format, ...);

/* If the settings are invalid, print why in a line on standard error, once.  It is called
   at a product, so that processes without products do not print it. */
void run_complain(void);

/* The position of a call, and the configuration that computes it. */
struct run_site {
    char where[PLACE_MAX_BYTES], native[PLACE_MAX_BYTES];
    const struct run_configuration *configuration;
};

/* The same for a call of the routine from the code at `caller`. */
void run_site(struct run_site *to, const struct routine *routine, const void *caller);

/* The lock of the log and of this library's entries in it; then the entry for calls of a
   routine from a call site.  NULL: there is no log, or no room in it. */
void run_lock(void);
void run_unlock(void);
struct call_log_site *run_place(const struct routine *routine,
                                const struct run_site *site);

/* The log of this process, or NULL.  It is begun at the first use, and again by a child
   of fork(). */
struct call_log *run_call_log(void);

#endif
