/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries of GEMMs on this machine's processor, to compare with: opened while the
   program runs where the dynamic linker finds them, and never linked. */
#ifndef BITCUT_GPU_CPU_BLAS_LIBRARY_H
#define BITCUT_GPU_CPU_BLAS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A row of the table of libraries. */
struct blas_library {
    const char *name;
    const char *files[4];    /* the newest first, ended by NULL                         */
    const char *set_threads; /* its function of an int; NULL: it takes OpenMP's threads */
    const char *threads;     /* its function that says how many there are, or NULL      */

    /* Write a version, and which kernels it chose, as far as the library says. */
    void (*describe)(char *text, size_t size, void *handle);
};

/* Their rows. */
enum blas_name { BLAS_OPENBLAS, BLAS_BLIS, BLAS_MKL, BLAS_ONEDNN, BLAS_LIBRARIES };

extern const struct blas_library blas_libraries[]; /* ended by a row without a name */

/* Open a library; NULL: it is not here.  dlclose() ends it.  What it reads of the
   environment is set before, unless it is set already: kernels for this processor, which
   OpenBLAS does not choose where it does not know the processor; threads that soon sleep
   when nothing is to do, so that they leave the processors to what is timed next. */
void *blas_library_open(const struct blas_library *library);

/* Set a pointer to the function of that name, or to NULL; ISO C has no cast from an
   object to a function. */
void blas_library_find(void *function, void *handle, const char *name);

/* Have it use so many threads. */
void blas_library_thread(const struct blas_library *library, void *handle, int threads);

/* "OpenBLAS 0.3.21 Cooperlake", and " (64 threads)" where it has another number than
   `threads`; 0: that is not asked. */
void blas_library_describe(char *text, size_t size, const struct blas_library *library,
                           void *handle, int threads);

#endif
