/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads: OpenMP when the build has it, one thread when not. */
#ifndef BITCUT_LIB_BASE_THREADS_H
#define BITCUT_LIB_BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* More threads than this are never used, whatever a caller asks for. */
enum { THREADS_MAX = 256 };

/* How many threads to use for `work` independent pieces when a caller asks for `threads`:
   0 or less is all processors; never more than pieces or THREADS_MAX, at least 1. */
static inline int threads_for(int threads, size_t work)
{
#ifdef _OPENMP
    int n = threads > 0 ? threads : omp_get_max_threads();
    if (n > THREADS_MAX) n = THREADS_MAX;
    if ((size_t)n > work) n = (int)work;
    return n > 0 ? n : 1;
#else
    (void)threads;
    (void)work;
    return 1;
#endif
}

/* Have all processors be so many threads from now on, for the calling thread; 0 or less:
   leave it.  Returns how many they were. */
static inline int threads_limit(int threads)
{
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    if (threads > 0) omp_set_num_threads(threads);
    return before;
#else
    (void)threads;
    return 1;
#endif
}

/* Which of a team's threads this is, from 0. */
static inline int threads_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* Whether this is the thread that reports progress. */
static inline bool threads_first(void) { return threads_number() == 0; }

#endif
