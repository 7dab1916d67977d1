/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries with GEMMs for this machine's processor, to compare with.  The program opens
   them while it runs, where the dynamic linker finds them, and never links them. */
#ifndef BITCUT_GPU_CPU_BLAS_LIBRARY_H
#define BITCUT_GPU_CPU_BLAS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A row of the table of libraries. */
struct blas_library {
    const char *name;
    const char *files[4];    /* file names, the newest first, ended by NULL             */
    const char *set_threads; /* its function of an int that sets the number of threads;
                                NULL: it uses OpenMP's threads                          */
    const char *threads;     /* its function that returns the number of threads, or
                                NULL                                                    */

    /* Write the version and the kernels that the library chose, as far as it reports
       them. */
    void (*describe)(char *text, size_t size, void *handle);
};

/* Their rows. */
enum blas_name { BLAS_OPENBLAS, BLAS_BLIS, BLAS_MKL, BLAS_ONEDNN, BLAS_LIBRARIES };

extern const struct blas_library blas_libraries[]; /* ended by a row without a name */

/* Open a library; NULL: it is not installed.  dlclose() closes it.  Environment variables
   that it reads are set before, unless they are set already: kernels for this processor,
   if OpenBLAS does not recognise the processor; and a short time after which idle threads
   sleep, so that they leave the processors to the next benchmark. */
void *blas_library_open(const struct blas_library *library);

/* Set a pointer to the function of this name, or to NULL.  ISO C has no cast from an
   object pointer to a function pointer. */
void blas_library_find(void *function, void *handle, const char *name);

/* Set the number of threads of the library. */
void blas_library_thread(const struct blas_library *library, void *handle, int threads);

/* Write "OpenBLAS 0.3.21 Cooperlake", and " (64 threads)" if the number differs from
   `threads`; 0: the number is not compared. */
void blas_library_describe(char *text, size_t size, const struct blas_library *library,
                           void *handle, int threads);

#endif
