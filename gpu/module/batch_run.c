/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of single instructions on a device, in chunks. */
#include "gpu/module/product.h"

/* Largest size of an array on the device, in bytes. */
enum { CHUNK_MAX = 64 << 20 };

/* Bytes of one fragment of each array. */
struct sizes {
    size_t a, b, c;
};

static struct sizes sizes_of(const struct gpu_instruction *i)
{
    const size_t m = (size_t)i->m, n = (size_t)i->n, k = (size_t)i->k;
    return (struct sizes){ m * k * (size_t)i->a_bytes, k * n * (size_t)i->b_bytes,
                           m * n * (size_t)i->c_bytes };
}

static size_t chunk_of(struct sizes s)
{
    size_t most = s.a > s.b ? s.a : s.b;
    if (s.c > most) most = s.c;
    return CHUNK_MAX / most;
}

/* Arrays on the device. */
struct buffers {
    void *a, *b, *c, *d;
};

static rt_error buffers_init(struct buffers *x, struct sizes s, size_t count)
{
    rt_error status = rt_malloc(&x->a, s.a * count);
    if (status == RT_SUCCESS) status = rt_malloc(&x->b, s.b * count);
    if (status == RT_SUCCESS) status = rt_malloc(&x->c, s.c * count);
    if (status == RT_SUCCESS) status = rt_malloc(&x->d, s.c * count);
    return status;
}

/* Free all arrays, also after an error.  Returns the first status that is not success. */
static rt_error buffers_clear(struct buffers *x, rt_error first)
{
    void *const all[] = { x->d, x->c, x->b, x->a };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const rt_error status = rt_free(all[i]);
        if (first == RT_SUCCESS) first = status;
    }
    return first;
}

/* Run fragments first to first + count - 1 on the device. */
static rt_error run_chunk(const struct gpu_batch *batch, const struct buffers *x,
                          const struct gpu_instruction *i, enum gpu_variant variant,
                          size_t first, size_t count)
{
    const struct sizes s = sizes_of(i);
    const struct gpu_batch there = { x->d, x->a, x->b, x->c, count };
    const char *a = (const char *)batch->a + first * s.a;
    const char *b = (const char *)batch->b + first * s.b;
    const char *c = (const char *)batch->c + first * s.c;
    char *d = (char *)batch->d + first * s.c;
    rt_error status = rt_copy(x->a, a, count * s.a, RT_TO_DEVICE);
    if (status == RT_SUCCESS) status = rt_copy(x->b, b, count * s.b, RT_TO_DEVICE);
    if (status == RT_SUCCESS) status = rt_copy(x->c, c, count * s.c, RT_TO_DEVICE);
    if (status == RT_SUCCESS) status = (rt_error)i->launch(i, &there, variant);
    if (status == RT_SUCCESS) status = rt_device_wait();
    if (status == RT_SUCCESS) status = rt_copy(d, x->d, count * s.c, RT_TO_HOST);
    return status;
}

int batch_run(const struct gpu_batch *batch, const struct gpu_instruction *i,
              enum gpu_variant variant, int device, char *fault)
{
    const struct sizes s = sizes_of(i);
    const size_t most = chunk_of(s), chunk = batch->count < most ? batch->count : most;
    struct buffers x = { 0 };
    int before;
    if (!batch->count) return 0;
    rt_error status = device_enter(&before, device);
    if (status == RT_SUCCESS) status = buffers_init(&x, s, chunk);
    for (size_t at = 0; at < batch->count && status == RT_SUCCESS; at += chunk) {
        const size_t left = batch->count - at;
        status = run_chunk(batch, &x, i, variant, at, left < chunk ? left : chunk);
    }
    status = buffers_clear(&x, status);
    const int told = fault_of(fault, status);
    device_leave(before);
    return told;
}
