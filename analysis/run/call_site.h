/* SPDX-License-Identifier: BSD-3-Clause */
/* The position of a call in the program. */
#ifndef BITCUT_ANALYSIS_RUN_CALL_SITE_H
#define BITCUT_ANALYSIS_RUN_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>

/* Write the name of the code at an address: "liblapack.so.3:sgetrf2_+0x1a", or, if the
   file has no symbol for it, "program+0x1139" with an offset into the file as loaded. */
void site_native(char *text, size_t size, const void *address);

/* Write the line of Python that the calling thread runs, "/home/me/train.py:12 step": the
   innermost line outside installed packages, and, if the innermost line of all is another
   one, that line with " < " after it.  Returns false, and writes nothing, if the thread
   runs no Python, or a Python older than 3.9.  It takes the interpreter's lock, like a
   library that calls back. */
bool site_python(char *text, size_t size);

#endif
