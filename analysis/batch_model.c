#include "analysis/batch_model.h"

#include "lib/threads.h"

#include <stdlib.h>

enum { F16_NAN = 0x7fff };

/* The values as FP32. */
static uint32_t *widened(const uint16_t *from, size_t count, int threads)
{
    uint32_t *to = memory_allocate(count + 1, sizeof *to);
    if (!to) return NULL;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, count))
    for (size_t i = 0; i < count; i++)
        to[i] = (uint32_t)bitcut_format_convert(
            &formats[FORMAT_F32], &roundings[ROUND_RN], &formats[FORMAT_F16], from[i]);
    return to;
}

static uint16_t narrowed(uint32_t x)
{
    if ((x & 0x7fffffff) > 0x7f800000) return F16_NAN;
    return (uint16_t)bitcut_format_convert(&formats[FORMAT_F16], &roundings[ROUND_RN],
                                           &formats[FORMAT_F32], x);
}

static void narrow(uint16_t *to, const uint32_t *from, size_t count, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, count))
    for (size_t i = 0; i < count; i++) to[i] = narrowed(from[i]);
}

/* The FP32 side: D may be C. */
struct sizes {
    size_t count, m, n, k;
};

static enum bitcut_status run_all(uint32_t *d, const struct gemm *gemm, struct sizes s,
                                  const uint32_t *a, const uint32_t *b, int threads,
                                  struct fault *f)
{
    enum bitcut_status worst = BITCUT_OK;
    struct gemm one = *gemm;
    one.threads = 1;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, s.count))
    for (size_t i = 0; i < s.count; i++) {
        struct fault own;
        uint32_t *const at = d + i * s.m * s.n;
        const enum bitcut_status status =
            gemm_run(at, s.n, &one, s.m, s.n, s.k, a + i * s.m * s.k, s.k,
                     b + i * s.k * s.n, s.n, at, s.n, NULL, &own);
        if (status == BITCUT_OK) continue;
#pragma omp critical(batch_model)
        worst = status, *f = own;
    }
    return worst;
}

enum bitcut_status batch_model_run(uint16_t *d, const struct gemm *gemm, size_t count,
                                   size_t m, size_t n, size_t k, const uint16_t *a,
                                   const uint16_t *b, const uint16_t *c, int threads,
                                   struct fault *f)
{
    const bool reads_c = (gemm->beta & 0x7fffffff) != 0;
    uint32_t *const wide_a = widened(a, count * m * k, threads),
                    *const wide_b = widened(b, count * k * n, threads),
                    *const wide_d = reads_c ? widened(c, count * m * n, threads)
                                            : calloc(count * m * n + 1, sizeof *wide_d);
    enum bitcut_status status =
        wide_a && wide_b && wide_d
            ? run_all(wide_d, gemm, (struct sizes){ count, m, n, k }, wide_a, wide_b,
                      threads, f)
            : fault_set(f, BITCUT_NO_MEMORY, "no memory");
    if (status == BITCUT_OK) narrow(d, wide_d, count * m * n, threads);
    free(wide_d);
    free(wide_b);
    free(wide_a);
    return status;
}
