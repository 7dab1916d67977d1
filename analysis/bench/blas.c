/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/blas.h"

#include "analysis/accuracy/judge.h"
#include "gpu/cpu/blas_library.h"
#include "lib/base/clock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void sgemm_function(int order, int transpose_a, int transpose_b, int m, int n,
                            int k, float alpha, const float *a, int lda, const float *b,
                            int ldb, float beta, float *c, int ldc);
typedef void dgemm_function(int order, int transpose_a, int transpose_b, int m, int n,
                            int k, double alpha, const double *a, int lda,
                            const double *b, int ldb, double beta, double *c, int ldc);

enum { ROW_MAJOR = 101, AS_IT_IS = 111, REPEATS = 4 };

void blas_open(struct blas *s)
{
    static const enum blas_name names[] = { BLAS_OPENBLAS, BLAS_BLIS };
    *s = (struct blas){ .library = NULL };
    for (size_t i = 0; i < sizeof names / sizeof *names && !s->library; i++) {
        s->row = &blas_libraries[names[i]];
        s->library = blas_library_open(s->row);
    }
    if (!s->library) return;
    blas_library_describe(s->name, sizeof s->name, s->row, s->library, 0);
    blas_library_find(&s->multiply[BLAS_SINGLE], s->library, "cblas_sgemm");
    blas_library_find(&s->multiply[BLAS_DOUBLE], s->library, "cblas_dgemm");
}

void blas_close(struct blas *s)
{
    if (s->library) dlclose(s->library);
    *s = (struct blas){ .library = NULL };
}

/* [3][n][n]: A, B and space for D */
static void *operands(enum blas_type type, size_t n, const uint32_t *a, const uint32_t *b)
{
    const size_t count = n * n, bytes = type == BLAS_SINGLE ? 4 : 8;
    void *const memory = calloc(count, 3 * bytes);
    for (size_t i = 0; memory && i < 2 * count; i++) {
        float x;
        memcpy(&x, i < count ? &a[i] : &b[i - count], sizeof x);
        if (type == BLAS_SINGLE) ((float *)memory)[i] = x;
        else ((double *)memory)[i] = x;
    }
    return memory;
}

static void multiply(const struct blas *s, enum blas_type type, size_t n, void *memory)
{
    const int size = (int)n;
    if (type == BLAS_SINGLE) {
        const float *a = memory, *b = a + n * n;
        ((sgemm_function *)s->multiply[type])(ROW_MAJOR, AS_IT_IS, AS_IT_IS, size, size,
                                              size, 1, a, size, b, size, 0,
                                              (float *)memory + 2 * n * n, size);
    } else {
        const double *a = memory, *b = a + n * n;
        ((dgemm_function *)s->multiply[type])(ROW_MAJOR, AS_IT_IS, AS_IT_IS, size, size,
                                              size, 1, a, size, b, size, 0,
                                              (double *)memory + 2 * n * n, size);
    }
}

enum bitcut_status blas_rate(double *rate, const struct blas *s, enum blas_type type,
                             size_t n, const uint32_t *a, const uint32_t *b, int threads,
                             struct fault *f)
{
    *rate = 0;
    if (!s->multiply[type] || n > INT_MAX) return BITCUT_OK;
    void *const memory = operands(type, n, a, b);
    if (!memory) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the BLAS");
    blas_library_thread(s->row, s->library, threads);
    for (int i = 0; i < REPEATS; i++) {
        const double start = seconds_now();
        multiply(s, type, n, memory);
        const double now = (double)n * (double)n * (double)n / (seconds_now() - start);
        if (now > *rate) *rate = now;
    }
    free(memory);
    return BITCUT_OK;
}

void blas_describe(json_t *row, const struct blas *s, double rate, double peer)
{
    if (!(peer > 0)) return;
    json_object_set_new(row, "blas_fraction", json_real(rate / peer));
    json_object_set_new(row, "blas_products_per_second", json_real(peer));
    json_object_set_new(row, "blas", json_string(s->name));
}
