#define _POSIX_C_SOURCE 200809L /* setenv */
#include "analysis/device/blas.h"

#include "analysis/error/judge.h"
#include "emu/fast/simd.h"
#include "lib/clock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a library is found, and what it calls its functions. */
static const struct library {
    const char *file, *name, *set_threads, *kernels;
} libraries[] = {
    { "libopenblas.so.0", "OpenBLAS", "openblas_set_num_threads",
      "openblas_get_corename" },
    { "libblis.so.4", "BLIS", "bli_thread_set_num_threads", NULL },
    { NULL, NULL, NULL, NULL },
};

/* OpenBLAS's names of the processors whose kernels need what a level has. */
static const struct core {
    const char *level, *name;
} cores[] = { { "avx512", "SkylakeX" }, { "avx2", "Haswell" }, { NULL, NULL } };

typedef void sgemm_function(int order, int transpose_a, int transpose_b, int m, int n,
                            int k, float alpha, const float *a, int lda, const float *b,
                            int ldb, float beta, float *c, int ldc);
typedef void dgemm_function(int order, int transpose_a, int transpose_b, int m, int n,
                            int k, double alpha, const double *a, int lda,
                            const double *b, int ldb, double beta, double *c, int ldc);

enum { ROW_MAJOR = 101, AS_IT_IS = 111, REPEATS = 4 };

/* A function of a library; ISO C has no cast from an object to it. */
static void find(void *function, void *library, const char *name)
{
    void *const symbol = name ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
}

void blas_open(struct blas *s)
{
    *s = (struct blas){ .library = NULL };
    for (const struct core *c = cores; c->level; c++)
        if (!strcmp(c->level, simd_best()->name)) setenv("OPENBLAS_CORETYPE", c->name, 0);
    for (const struct library *l = libraries; l->file && !s->library; l++) {
        char *(*kernels)(void);
        s->library = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
        if (!s->library) continue;
        find(&s->multiply[BLAS_SINGLE], s->library, "cblas_sgemm");
        find(&s->multiply[BLAS_DOUBLE], s->library, "cblas_dgemm");
        find(&s->set_threads, s->library, l->set_threads);
        find(&kernels, s->library, l->kernels);
        snprintf(s->name, sizeof s->name, "%s%s%s", l->name, kernels ? " " : "",
                 kernels ? kernels() : "");
    }
}

void blas_close(struct blas *s)
{
    if (s->library) dlclose(s->library);
    *s = (struct blas){ .library = NULL };
}

/* [3][n][n]: A, B and room for D. */
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
    if (s->set_threads) s->set_threads(threads);
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
