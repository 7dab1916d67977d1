#define _POSIX_C_SOURCE 200809L /* setenv */
#include "analysis/sgemm.h"

#include "emu/simd.h"

#include <dlfcn.h>
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

enum { ROW_MAJOR = 101, AS_IT_IS = 111 };

/* A function of a library; ISO C has no cast from an object to it. */
static void find(void *function, void *library, const char *name)
{
    void *const symbol = name ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
}

void sgemm_open(struct sgemm *s)
{
    *s = (struct sgemm){ .library = NULL };
    for (const struct core *c = cores; c->level; c++)
        if (!strcmp(c->level, simd_best()->name)) setenv("OPENBLAS_CORETYPE", c->name, 0);
    for (const struct library *l = libraries; l->file && !s->library; l++) {
        char *(*kernels)(void);
        s->library = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
        if (!s->library) continue;
        find(&s->multiply, s->library, "cblas_sgemm");
        find(&s->set_threads, s->library, l->set_threads);
        find(&kernels, s->library, l->kernels);
        snprintf(s->name, sizeof s->name, "%s%s%s", l->name, kernels ? " " : "",
                 kernels ? kernels() : "");
    }
}

void sgemm_close(struct sgemm *s)
{
    if (s->library) dlclose(s->library);
    *s = (struct sgemm){ .library = NULL };
}

void sgemm_run(const struct sgemm *s, float *d, size_t n, const float *a, const float *b,
               int threads)
{
    const int size = (int)n;
    sgemm_function *multiply = (sgemm_function *)s->multiply;
    if (s->set_threads) s->set_threads(threads);
    multiply(ROW_MAJOR, AS_IT_IS, AS_IT_IS, size, size, size, 1, a, size, b, size, 0, d,
             size);
}
