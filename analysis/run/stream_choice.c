#define _POSIX_C_SOURCE 200809L

#include "analysis/run/stream_choice.h"

#include "analysis/run/blas_product.h"

#include <pthread.h>

enum { BEGAN_MOST = 1024 };

struct began {
    int device;
    const struct run_way *way;
    const struct gpu_kernel *kernel;
};

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

enum bitcut_status stream_choice(struct gpu_work *to, const struct run_gpu *gpu,
                                 const struct run_way *way, const struct bitcut_gemm *of,
                                 struct fault *f)
{
    const struct bitcut_gemm g = product_in_way(&way->gemm, of);
    return gpu_work_recall(to, gpu->chosen, &gpu->gpu, &gpu->is, &g, f);
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
