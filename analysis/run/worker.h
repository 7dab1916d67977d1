/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that computes large products, independent of the program's threads. */
#ifndef BITCUT_ANALYSIS_RUN_WORKER_H
#define BITCUT_ANALYSIS_RUN_WORKER_H

/* Call work(context, threads) and wait until it is done.  It runs in a thread of this
   library, one call after the other, with `threads` as requested (0: all processors), but
   at most as many as the system allowed at first.  If this thread cannot be created, the
   work runs in the caller with one thread.

   The reason is OpenMP: it keeps a team for every thread that has used it, and after a
   fork the child hangs in a team of another thread.  The worker's team stays in the
   parent with the worker, and the child creates a new one.  For the same reason it does
   not matter whether the caller is in a team, has a small stack, or handles signals: the
   worker blocks all signals. */
void worker_call(void (*work)(void *context, int threads), void *context, int threads);

#endif
