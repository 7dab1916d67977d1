/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with small products, which measures their overhead: bytes allocated as zeros,
   and teams of threads started by OpenMP.  Prints what is too much for a call of 4 x 4.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define integer int
#include "tests/run/blas_types.h"
void sgemm_ F_GEMM;

enum { CALLS = 16, BYTES_MAX = 16384 };

static long teams, bytes;

/* In place of the C library's, and of GCC's OpenMP's. */
void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size)
{
    bytes += (long)(count * size);
    return __libc_calloc(count, size);
}

typedef void start(void (*work)(void *), void *context, unsigned threads, unsigned flags);
start GOMP_parallel;

void GOMP_parallel(void (*work)(void *), void *context, unsigned threads, unsigned flags)
{
    start *next;
    void *const symbol = dlsym(RTLD_NEXT, "GOMP_parallel");
    memcpy(&next, &symbol, sizeof next);
    teams++;
    next(work, context, threads, flags);
}

int main(void)
{
    static float a[16], b[16], c[16];
    const float one = 1, zero = 0;
    const int n = 4;
    for (int i = -1; i < CALLS; i++) {
        if (i == 0) teams = bytes = 0;
        sgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    }
    if (teams) printf("%ld teams in %d calls\n", teams, CALLS);
    if (bytes > (long)CALLS * BYTES_MAX)
        printf("%ld bytes of zeros a call\n", bytes / CALLS);
    return 0;
}
