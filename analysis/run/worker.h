/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that computes large products, whatever threads the program has. */
#ifndef BITCUT_ANALYSIS_RUN_WORKER_H
#define BITCUT_ANALYSIS_RUN_WORKER_H

/* Call work(context, threads) and wait until it is done: in a thread of this library's
   own, one call after the other, with `threads` as asked (0: all processors), but no more
   than the system let it start at first; or, if there cannot be such a thread, here and
   with one.

   OpenMP keeps a team for every thread that has used it, and what a fork leaves in the
   child of another thread's team hangs.  The worker's team stays behind with the worker:
   the child makes a new one.  Nor does it matter that the caller is itself of a team, has
   a small stack, or handles signals: the worker blocks all. */
void worker_call(void (*work)(void *context, int threads), void *context, int threads);

#endif
