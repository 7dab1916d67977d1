/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/run/call.h"

#include "analysis/run/run_device.h"
#include "analysis/run/worker.h"
#include "lib/base/threads.h"

/* Products below this size are computed by the calling thread. */
#define SMALL 2097152.0

struct computation {
    const struct product *product;
    const struct bitcut_gemm *configuration;
    bool compared; /* compared with the device's result */
    enum bitcut_status status;
    struct fault fault;
    struct gpu_offload *device; /* or NULL */
    size_t on_device;
};

/* Whether the device is used for any part: for a large FP32 product, or, if it is the
   CPU, for every FP32 product that is not compared with it. */
static bool is_for_device(const struct computation *c)
{
    const struct product *const p = c->product;
    if (c->configuration->scheme) return false;
    return run_device_is_own()
               ? !c->compared
               : product_count(p) >= (double)p->gemm.count * GEMM_OFFLOAD_MIN;
}

/* Compute a GEMM of the product on the device, and count it. */
static enum bitcut_status run_counted(bool *took, const struct bitcut_gemm *g,
                                      const struct gemm_plan *plan, void *context,
                                      struct fault *f)
{
    struct computation *const c = context;
    const struct gemm_offload *const to = &c->device->offload;
    const enum bitcut_status status = to->run(took, g, plan, to->context, f);
    c->on_device += *took;
    return status;
}

static void compute_on(void *context, int threads)
{
    struct computation *const c = context;
    c->device = is_for_device(c) ? run_device() : NULL;
    struct gemm_offload counted = { .run = run_counted,
                                    .context = c,
                                    .least = c->device ? c->device->offload.least : 0 };
    struct gemm_options options = { .threads = threads,
                                    .progress = progress_of_thread(),
                                    .offload = c->device ? &counted : NULL };
    /* For the CPU's own kernels: OpenMP allocates memory, and ends the process if there
       is none. */
    const int before = c->device ? threads_limit(threads) : 0;
    c->status = product_compute(c->product, c->configuration, &options, &c->fault);
    if (c->device && c->status == BITCUT_UNSUPPORTED) {
        run_device_failed(&c->fault);
        c->on_device = 0;
        options.offload = NULL;
        c->status = product_compute(c->product, c->configuration, &options, &c->fault);
    }
    if (c->device) threads_limit(before);
}

static enum bitcut_status compute_in(struct call *t, const struct product *p,
                                     const struct run_configuration *configuration,
                                     bool compared, struct fault *f)
{
    struct computation c = { .product = p,
                             .configuration = &configuration->gemm,
                             .compared = compared };
    if (product_count(p) < SMALL) compute_on(&c, 1);
    else worker_call(compute_on, &c, run_settings()->threads);
    t->on_device += c.on_device;
    if (c.status != BITCUT_OK) *f = c.fault;
    return c.status;
}

enum bitcut_status call_compute(struct call *t, const struct product *p,
                                const struct run_configuration *configuration,
                                struct fault *f)
{
    return compute_in(t, p, configuration, false, f);
}

enum bitcut_status call_compute_other(struct call *t, const struct product *p,
                                      const struct run_configuration *configuration,
                                      struct fault *f)
{
    return compute_in(t, p, configuration, true, f);
}

/* --- where it is ------------------------------------------------------------------ */

const struct product *call_see(struct call *t)
{
    if (!t->there) return t->seen = t->product;
    if (t->there->capture || !t->there->gpu) return NULL;
    t->seen = stream_call_see(t->there);
    if (!t->seen) t->fault = t->there->fault;
    return t->seen;
}

bool call_fetch(struct call *t)
{
    if (!t->there || stream_call_fetch(t->there)) return true;
    t->fault = t->there->fault;
    return false;
}

bool call_give(struct call *t)
{
    if (!t->there || stream_call_give(t->there)) return true;
    t->fault = t->there->fault;
    return false;
}
