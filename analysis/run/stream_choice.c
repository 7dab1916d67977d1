/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/stream_choice.h"

#include "analysis/run/blas_product.h"

#include <pthread.h>

enum { SHAPES_MAX = 1024, OPERANDS = 4 };

/* The data on which the kernels of a graph depend. */
struct shape {
    int device;
    const struct run_configuration *configuration;
    size_t count, m, n, k;
    struct {
        enum bitcut_layout layout;
        size_t ld;
    } operand[OPERANDS];
    bool reads_c;
};

static struct shape shapes[SHAPES_MAX];
static size_t shapes_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A child of fork() cannot use its parent's GPU; the lock may be taken. */
static void begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    shapes_count = 0;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

static void enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
}

enum bitcut_status stream_choice(struct gpu_work *to, const struct run_gpu *gpu,
                                 const struct run_configuration *configuration,
                                 const struct bitcut_gemm *of, struct fault *f)
{
    const struct bitcut_gemm g = product_configured(&configuration->gemm, of);
    return gpu_work_recall(to, gpu->chosen, &gpu->gpu, &gpu->is, &g, f);
}

/* --- GEMMs that graphs leave ------------------------------------------------------ */

static struct shape shape_of(const struct run_gpu *gpu,
                             const struct run_configuration *configuration,
                             const struct bitcut_gemm *g)
{
    return (struct shape){ .device = gpu->is.number,
                           .configuration = configuration,
                           .count = g->count,
                           .m = g->m,
                           .n = g->n,
                           .k = g->k,
                           .operand = { { g->a.layout, g->a.ld },
                                        { g->b.layout, g->b.ld },
                                        { g->c.layout, g->c.ld },
                                        { g->d.layout, g->d.ld } },
                           .reads_c = gemm_reads_c(g) };
}

static bool same(const struct shape *x, const struct shape *y)
{
    bool yes = x->device == y->device && x->configuration == y->configuration &&
               x->count == y->count && x->m == y->m && x->n == y->n && x->k == y->k &&
               x->reads_c == y->reads_c;
    for (int i = 0; i < OPERANDS; i++)
        yes = yes && x->operand[i].layout == y->operand[i].layout &&
              x->operand[i].ld == y->operand[i].ld;
    return yes;
}

/* If there are more shapes than rows, graphs leave all of them. */
bool stream_choice_left(const struct run_gpu *gpu,
                        const struct run_configuration *configuration,
                        const struct bitcut_gemm *g)
{
    const struct shape asked = shape_of(gpu, configuration, g);
    enter();
    bool found = shapes_count == SHAPES_MAX;
    for (size_t i = 0; i < shapes_count && !found; i++) found = same(&shapes[i], &asked);
    pthread_mutex_unlock(&lock);
    return found;
}

void stream_choice_leave(const struct run_gpu *gpu,
                         const struct run_configuration *configuration,
                         const struct bitcut_gemm *g)
{
    if (stream_choice_left(gpu, configuration, g)) return;
    enter();
    if (shapes_count < SHAPES_MAX)
        shapes[shapes_count++] = shape_of(gpu, configuration, g);
    pthread_mutex_unlock(&lock);
}
