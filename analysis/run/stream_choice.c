#define _POSIX_C_SOURCE 200809L

#include "analysis/run/stream_choice.h"

#include "analysis/run/blas_product.h"
#include "gpu/choose.h"

#include <pthread.h>

enum { KEPT = 256, BEGAN_MOST = 1024 };

/* What one was chosen for, and the kernel: NULL, the row is free. */
struct kept {
    int device;
    const struct run_way *way;
    size_t count, m, n, k;
    const struct gpu_kernel *kernel;
};

struct began {
    int device;
    const struct run_way *way;
    const struct gpu_kernel *kernel;
};

static struct kept kept[KEPT];
static struct began began[BEGAN_MOST];
static size_t begun;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A child of fork() has no GPU of its parent's; the lock may be taken. */
static void begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    begun = 0;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

static void enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
}

/* --- which kernel ----------------------------------------------------------------- */

/* The row of such GEMMs, of these or of others. */
static struct kept *row_of(const struct kept *x)
{
    size_t h = x->count;
    h = (h * 0x9e3779b1 + x->m) * 0x9e3779b1 + x->n;
    h = (h * 0x9e3779b1 + x->k) * 0x9e3779b1 + (size_t)x->device;
    h = (h * 0x9e3779b1 + (uintptr_t)x->way) * 0x9e3779b1;
    return &kept[h / 65536 % KEPT];
}

static const struct gpu_kernel *look_up(const struct kept *x)
{
    enter();
    const struct kept *const r = row_of(x);
    const bool same = r->device == x->device && r->way == x->way &&
                      r->count == x->count && r->m == x->m && r->n == x->n &&
                      r->k == x->k;
    const struct gpu_kernel *const kernel = same ? r->kernel : NULL;
    pthread_mutex_unlock(&lock);
    return kernel;
}

static void write_down(const struct kept *x)
{
    enter();
    *row_of(x) = *x;
    pthread_mutex_unlock(&lock);
}

enum bitcut_status stream_choice(struct gpu_work *to, const struct run_gpu *gpu,
                                 const struct run_way *way, const struct bitcut_gemm *of,
                                 struct fault *f)
{
    struct kept x = { gpu->is.number, way, of->count, of->m, of->n, of->k, NULL };
    const struct bitcut_gemm asked = product_in_way(&way->gemm, of);
    struct bitcut_gemm g;
    if (gemm_take(&g, &asked, f) != BITCUT_OK) return f->status;
    x.kernel = look_up(&x);
    if (x.kernel && gpu_work_make(to, &g, x.kernel, &gpu->is, NULL) == BITCUT_OK)
        return BITCUT_OK;
    const enum bitcut_status status = gpu_work_choose(to, &gpu->gpu, &gpu->is, &g, f);
    if (status != BITCUT_OK || gpu_work_emulates(to)) return status;
    x.kernel = to->kernel;
    write_down(&x);
    return BITCUT_OK;
}

/* --- what began ------------------------------------------------------------------- */

bool stream_choice_began(const struct run_gpu *gpu, const struct run_way *way,
                         const struct gpu_work *work)
{
    bool found = false;
    enter();
    for (size_t i = 0; i < begun && !found; i++)
        found = began[i].device == gpu->is.number && began[i].way == way &&
                (!work || began[i].kernel == work->kernel);
    pthread_mutex_unlock(&lock);
    return found;
}

void stream_choice_begin(const struct run_gpu *gpu, const struct run_way *way,
                         const struct gpu_work *work)
{
    if (stream_choice_began(gpu, way, work)) return;
    enter();
    if (begun < BEGAN_MOST)
        began[begun++] = (struct began){ gpu->is.number, way, work->kernel };
    pthread_mutex_unlock(&lock);
}
