/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process under `bitcut run` knows: settings, ledger, places. */
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
    const struct run_way *way;
};

/* Of a call from the code at `caller`. */
void run_site(struct run_site *to, const void *caller);

/* The lock of the ledger, and so of this library's own places in it; then the place for
   calls of a routine from a site, NULL: there is no ledger, or no room in it. */
void run_lock(void);
void run_unlock(void);
struct ledger_place *run_place(const char *routine, const struct run_site *site);

/* This process's ledger, or NULL: begun at the first use, by a child of fork() anew. */
struct ledger *run_ledger(void);

#endif
