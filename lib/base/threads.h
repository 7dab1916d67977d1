/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads: OpenMP if the build has it, otherwise one thread. */
#ifndef BITCUT_LIB_BASE_THREADS_H
#define BITCUT_LIB_BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* The largest number of threads ever used, whatever a caller asks for. */
enum { THREADS_MAX = 256 };

/* The number of threads to use for `work` independent pieces if a caller asks for
   `threads`; 0 or less means all processors.  The result is at least 1, and never more
   than the number of pieces or THREADS_MAX. */
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

/* The least work of a thread, in nanoseconds: the start of a thread takes some
   microseconds, and milliseconds if all processors are busy.  Tests define it as 1, so
   that small work has several threads, too. */
extern const size_t threads_grain;

/* The same for pieces that take about `nanoseconds` each.  In integers: the caller's
   floating-point exceptions may be enabled. */
static inline int threads_for_work(int threads, size_t pieces, size_t nanoseconds)
{
    const size_t least = threads_grain / (nanoseconds ? nanoseconds : 1);
    return threads_for(threads, least ? pieces / least : pieces);
}

/* From now on, let "all processors" mean this number of threads in the calling thread; 0
   or less: no change.  Returns the previous number. */
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

/* The number of the calling thread in its team, from 0. */
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
