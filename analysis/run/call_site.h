/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a call comes from. */
#ifndef BITCUT_ANALYSIS_RUN_CALL_SITE_H
#define BITCUT_ANALYSIS_RUN_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>

/* Write what the code at an address is called: "liblapack.so.3:sgetrf2_+0x1a", or without
   a name that the file tells "program+0x1139", an offset into the file as loaded. */
void site_native(char *text, size_t size, const void *address);

/* Write the line of Python that the calling thread runs, "/home/me/train.py:12 step": the
   innermost one that is not of an installed package, and before it, if there is one and
   it is another, " < ": the innermost of all.  False, and nothing is written: the thread
   runs no Python, or that is older than 3.9.

   It takes the interpreter's lock, as a library that calls back does. */
bool site_python(char *text, size_t size);

#endif
