/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs of matrices of the host: kernels of gpu/cuda/fp64_sm90.cu, and peers. */
#include "gpu/cuda/fp64_sm90.cuh"

#include <vector>

/* --- the rows --------------------------------------------------------------------- */

/* m and n are counted in an int, and digits have at least one bit up to this k. */
static constexpr size_t SIZE_MOST = (size_t)1 << 29;

#define ROW(SCHEME, WHAT, GROUPS, NEAREST)                                               \
    {                                                                                    \
        "sm90." SCHEME ".s8.128x256x128.4", WHAT, SCHEME, "wgmma.m64n8k32.s32.s8",       \
            SLICE_PARTS_MAX, SIZE_MOST, sm(90), GROUPS, NEAREST                          \
    }

const struct gpu_fp64_kernel fp64_kernels[] = {
    ROW("ozimmu-ef", "wgmma, TMA, clusters of 2; products of differences of slices", true,
        false),
    ROW("ozimmu", "wgmma, TMA, clusters of 2", false, false),
    ROW("ozimmu-h", "wgmma, TMA, clusters of 2", true, true),
    {}
};

/* --- a GEMM of the host ----------------------------------------------------------- */

namespace
{

/* Memory of the device, for as long as the object exists. */
struct device_bytes {
    void *at = NULL;
    rt_error status;

    explicit device_bytes(size_t bytes) : status(rt_malloc(&at, bytes ? bytes : 1)) {}
    ~device_bytes() { rt_free(at); }
    device_bytes(const device_bytes &) = delete;
};

/* Events before and after each start. */
struct events {
    std::vector<rt_event> at;
    rt_error status = RT_SUCCESS;

    explicit events(int count)
    {
        for (int i = 0; i < count && status == RT_SUCCESS; i++) {
            at.push_back(NULL);
            status = rt_event_create(&at.back());
        }
    }
    ~events()
    {
        for (const rt_event e : at)
            if (e) rt_event_end(e);
    }
    events(const events &) = delete;
};

struct fp64_product product_of(const struct gpu_fp64 *g, const double *a, const double *b,
                               const double *c, double *d)
{
    struct fp64_product p = {};
    p.m = g->m, p.n = g->n, p.k = g->k;
    p.a = { a, g->m, g->k, 1 };
    p.b = { b, g->n, 1, g->n };
    p.alpha = g->alpha, p.beta = g->beta;
    if (g->c) p.c = { c, g->n, 1 };
    p.d = { d, g->n, 1 };
    p.parts = g->parts;
    p.groups = g->kernel && g->kernel->groups;
    p.nearest = g->kernel && g->kernel->nearest;
    return p;
}

/* Call `start` once, and then between events. */
template <class Start>
int time_starts(double *milliseconds, int repeats, Start start)
{
    const events event(2 * repeats);
    int status = event.status;
    if (!status) status = start();
    if (!status) status = rt_device_wait();
    for (int i = 0; i < repeats && !status; i++) {
        status = rt_event_record(event.at[2 * i], NULL);
        if (!status) status = start();
        if (!status) status = rt_event_record(event.at[2 * i + 1], NULL);
    }
    if (!status) status = rt_device_wait();
    for (int i = 0; i < repeats && !status; i++) {
        float time = 0;
        status = rt_event_between(&time, event.at[2 * i], event.at[2 * i + 1]);
        milliseconds[i] = time;
    }
    return status;
}

int start_kernel(const struct fp64_product *p, double *milliseconds, int repeats)
{
    const device_bytes workspace(fp64_workspace(p));
    if (workspace.status != RT_SUCCESS) return workspace.status;
    return time_starts(milliseconds, repeats,
                       [&] { return fp64_start(p, workspace.at, NULL); });
}

int start_peer(const struct gpu_fp64 *g, const struct fp64_product *p,
               double *milliseconds, int repeats, char *fault)
{
    struct fp64_library *library = NULL;
    int told = fp64_library_open(&library, g->peer, fault);
    if (!told)
        told = fault_of(fault, (rt_error)time_starts(milliseconds, repeats, [&] {
                            return fp64_library_start(library, p);
                        }));
    fp64_library_close(library);
    return told;
}

int run(const struct gpu_fp64 *g, double *milliseconds, int repeats, char *fault)
{
    const size_t count = g->m * g->n, bytes = count * sizeof(double),
                 of_a = g->m * g->k * sizeof(double), of_b = g->k * g->n * sizeof(double);
    const device_bytes a(of_a), b(of_b), c(g->c ? bytes : 0), d(bytes);
    for (const device_bytes *each : { &a, &b, &c, &d })
        if (each->status != RT_SUCCESS) return fault_of(fault, each->status);
    if (!count) return 0;
    const struct fp64_product p = product_of(g, (const double *)a.at, (const double *)b.at,
                                             (const double *)c.at, (double *)d.at);
    rt_error status = copy_there(a.at, g->a, of_a);
    if (status == RT_SUCCESS) status = copy_there(b.at, g->b, of_b);
    if (status == RT_SUCCESS && g->c) status = copy_there(c.at, g->c, bytes);
    if (status == RT_SUCCESS) status = rt_fill(d.at, 0xff, bytes); /* NaNs */
    int told = fault_of(fault, status);
    if (!told && g->kernel)
        told = fault_of(fault, (rt_error)start_kernel(&p, milliseconds, repeats));
    else if (!told) told = start_peer(g, &p, milliseconds, repeats, fault);
    return told ? told : fault_of(fault, copy_back(g->d, d.at, bytes));
}

} // namespace

int fp64_run(const struct gpu_fp64 *g, double *milliseconds, int repeats, int device,
             char *fault)
{
    const on_device on(device);
    return on.status == RT_SUCCESS ? run(g, milliseconds, repeats, fault)
                                   : fault_of(fault, on.status);
}
