/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that opens a library which uses a BLAS, with RTLD_LOCAL; and before it the
   BLAS, if that is named: then nothing declares that the library needs the BLAS. */
#define _DEFAULT_SOURCE

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_LOCAL))
        return printf("%s\n", dlerror()), 1;
    void *const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*multiply)(float *, const float *, const float *, int, float);
    float (*first)(void);
    if (!library) return printf("%s\n", dlerror()), 1;
    void *symbol = dlsym(library, "user_multiply");
    memcpy(&multiply, &symbol, sizeof symbol);
    symbol = dlsym(library, "user_first");
    memcpy(&first, &symbol, sizeof symbol);
    float a[4] = { 1, 2, 3, 4 }, b[4] = { 5, 6, 7, 8 }, c[4] = { 1, 1, 1, 1 };
    multiply(c, a, b, 2, 1); /* here */
    if (c[0] != 25 || c[1] != 36 || c[2] != 33 || c[3] != 48)
        printf("%g\n", (double)c[0]);
    multiply(c, a, b, 2, 0); /* by the library: nothing but C */
    if (c[0] != 50 || c[1] != 72 || c[2] != 66 || c[3] != 96)
        printf("%g\n", (double)c[0]);
    if (first() != 130) printf("first %g\n", (double)first());
    return 0;
}
