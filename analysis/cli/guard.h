/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries without error status end the process in the way of the program: exit status 3
   and one line.  GMP, MPFR and Jansson's builders have no status for lack of memory.
   OpenMP has none for lack of memory or threads: it prints its own lines and calls
   exit(1), which would mean that a comparison failed. */
#ifndef BITCUT_ANALYSIS_CLI_GUARD_H
#define BITCUT_ANALYSIS_CLI_GUARD_H

/* Call it once, before any of these libraries is used.  From then on an allocation of
   GMP, MPFR or Jansson succeeds or ends the process, and so does exit() before
   guard_end().  Files begun by output_open() are then removed.  Standard error is
   buffered, and text that libraries leave in the buffer is dropped: the program flushes
   after each line. */
void guard_begin(void);

/* The program ends by itself now: stop guarding. */
void guard_end(void);

#endif
