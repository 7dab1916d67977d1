/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process under `bitcut run` knows: settings, call_log, places. */
#ifndef BITCUT_ANALYSIS_RUN_RUN_STATE_H
#define BITCUT_ANALYSIS_RUN_RUN_STATE_H

#include "analysis/run/call_log.h"
#include "lib/base/clock.h"

/* The settings; read by the constructor, or at the first use if that is earlier.  If they
   are wrong, products are the program's own. */
const struct run_settings *run_settings(void);

/* Print on standard error.  Nothing is printed if that was closed when the process began:
   a file of the program may have its number. */
__attribute__((format(printf, 1, 2))) void run_warn(const char *format, ...);

/* Say what is wrong with them in a line on standard error, once, if anything is: in the
   face of a product, not in every process that inherits them. */
void run_complain(void);

/* Where a call came from, and how it is computed. */
struct run_site {
    char where[PLACE_MAX_BYTES], native[PLACE_MAX_BYTES];
    const struct run_configuration *way;
};

/* Of a call from the code at `caller`. */
void run_site(struct run_site *to, const void *caller);

/* The lock of the call_log, and so of this library's own places in it; then the place for
   calls of a routine from a site, NULL: there is no call_log, or no room in it. */
void run_lock(void);
void run_unlock(void);
struct call_log_site *run_place(const char *routine, const struct run_site *site);

/* This process's call_log, or NULL: begun at the first use, by a child of fork() anew. */
struct call_log *run_call_log(void);

#endif
