/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that opens its cuBLAS by itself and looks its routines up by the handle, and
   other uses of dlsym(), which must not change.  With WRAPPER it is a library that
   replaces a routine of cuBLAS, which it looks up; with NUMBER it is a library with that
   number, and with the numbers of the libraries after it. */
#define _GNU_SOURCE /* RTLD_NEXT, RTLD_DEFAULT */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(NUMBER)

int late_number(void) { return NUMBER; }

int late_next(void)
{
    int (*f)(void);
    void *const symbol = dlsym(RTLD_NEXT, "late_number");
    if (!symbol) return -1;
    memcpy(&f, &symbol, sizeof f);
    return f();
}

#elif defined(WRAPPER)

typedef int sgemm(void *, int, int, int, int, int, const float *, const float *, int,
                  const float *, int, const float *, float *, int);

int wrapped;

int cublasSgemm_v2(void *h, int ta, int tb, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta,
                   float *c, int ldc)
{
    sgemm *f;
    void *const library = dlopen("./libcublas.so", RTLD_NOW | RTLD_LOCAL);
    void *const symbol = dlsym(library, "cublasSgemm_v2");
    memcpy(&f, &symbol, sizeof f);
    wrapped++;
    return f(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

#else

#include "tests/run/cublas_call.h"

int late_number(void);
int late_next(void);
int late_number(void) { return 0; }

typedef int sgemm(void *, int, int, int, int, int, const float *, const float *, int,
                  const float *, int, const float *, float *, int);
typedef long calls(const char *name);

#define CHECK(x)                                                                         \
    if (!(x)) printf("line %d: %s\n", __LINE__, #x)

static struct model_stream stream;
static struct stub_handle handle = { .stream = &stream };

/* A 1 x 1 product by what is found in a library: the calls of its routine. */
static long multiply(void *library, void *account)
{
    static const float x[] = { 3, 5, 0 };
    const float one = 1, zero = 0;
    float got;
    sgemm *f;
    calls *count;
    void *symbol = dlsym(library, "cublasSgemm_v2");
    CHECK(symbol != NULL && dlerror() == NULL);
    memcpy(&f, &symbol, sizeof f);
    symbol = dlsym(account, "stub_calls");
    memcpy(&count, &symbol, sizeof count);
    const long before = count("cublasSgemm_v2");
    if (!stream.memory) stream = stream_make(1 << 16);
    float *const a = stream_take(&stream, 4), *const b = stream_take(&stream, 4),
                 *const c = stream_take(&stream, 4);
    stream_put(&stream, a, &x[0], 4), stream_put(&stream, b, &x[1], 4);
    CHECK(f(&handle, 0, 0, 1, 1, 1, &one, a, 1, b, 1, &zero, c, 1) == 0);
    stream_get(&stream, &got, c, 4);
    CHECK(got == 15);
    return count("cublasSgemm_v2") - before;
}

/* What is not asked of a library, or not a routine that is taken, is found as ever. */
static void others(void *library)
{
    Dl_info info;
    int (*f)(void);
    void *symbol = dlsym(library, "cublasNothing_v2");
    const char *const error = dlerror();
    CHECK(!symbol && error && strstr(error, "cublasNothing_v2"));
    CHECK(dlerror() == NULL);
    symbol = dlsym(library, "cublasGetStream_v2");
    CHECK(symbol && dladdr(symbol, &info) && strstr(info.dli_fname, "libcublas.so"));
    symbol = dlsym(RTLD_NEXT, "late_number");
    memcpy(&f, &symbol, sizeof f);
    CHECK(f() == 1);
    symbol = dlsym(RTLD_DEFAULT, "late_number");
    memcpy(&f, &symbol, sizeof f);
    CHECK(f() == 0);
    CHECK(late_next() == 2); /* of the first library: the second's */
}

/* late LIBRARY [ACCOUNT [FIRST]]: opens the first one before; prints how often the
   library of the account was called, and the wrapper. */
int main(int argc, char **argv)
{
    void *const first = argc > 3 ? dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) : NULL,
                *const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL),
                *const account =
                    argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : library;
    CHECK(argc <= 3 || first);
    if (!library || !account) return printf("%s\n", dlerror()), 1;
    const long called = multiply(library, account);
    const int *const wrapped = dlsym(library, "wrapped");
    if (argc == 2) others(library);
    printf("%ld %d\n", called, wrapped ? *wrapped : 0);
    return 0;
}

#endif
