/* Threads: OpenMP when the build has it, one thread when not. */
#ifndef BITCUT_LIB_THREADS_H
#define BITCUT_LIB_THREADS_H

#include <stdbool.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* How many threads a caller's `threads` means: 0 is all processors. */
static inline int threads_wanted(int threads)
{
#ifdef _OPENMP
    return threads > 0 ? threads : omp_get_max_threads();
#else
    (void)threads;
    return 1;
#endif
}

/* Whether this is the thread that reports progress. */
static inline bool threads_first(void)
{
#ifdef _OPENMP
    return omp_get_thread_num() == 0;
#else
    return true;
#endif
}

#endif
