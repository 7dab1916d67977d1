/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that end the process, or cannot say that memory ran out, made to end it as the
   program does: exit status 3 and one line.

   GMP, MPFR above it, and Jansson's builders have no status for memory that cannot be had;
   nor has OpenMP for that or for threads that cannot be started: it writes lines of its
   own and calls exit(1), which would say that a comparison failed. */
#ifndef BITCUT_ANALYSIS_CLI_GUARD_H
#define BITCUT_ANALYSIS_CLI_GUARD_H

/* Call it once, before any of them is used.  From here on an allocation of GMP, MPFR or
   Jansson succeeds or ends the process, and so does exit() before guard_end().  Files
   begun by output_open() are then removed.  Standard error is buffered, and
   what others leave in it is dropped: who writes there flushes. */
void guard_begin(void);

/* The program ends by itself now. */
void guard_end(void);

#endif
