/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs of matrices of the host and of the device: kernels of gpu/cuda/fp64_sm90.cu,
   and peers. */
#include "gpu/cuda/fp64_sm90.cuh"
#include "gpu/cuda/timed.cuh"

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

struct fp64_lines lines_of(const struct bitcut_matrix *x, size_t lines, bool contiguous)
{
    return { (const double *)x->at, lines, contiguous ? x->ld : 1,
             contiguous ? 1 : x->ld };
}

template <class T> fp64_elements<T> elements_of(const struct bitcut_matrix *x)
{
    const bool by_rows = x->layout == BITCUT_ROW_MAJOR;
    return { (T *)x->at, by_rows ? x->ld : 1, by_rows ? 1 : x->ld };
}

/* beta is +-0: C is not read. */
bool reads_c(const struct bitcut_gemm *g) { return g->beta_f64 != 0; }

struct fp64_product product_of(const struct gpu_fp64 *g)
{
    const struct bitcut_gemm *const of = &g->gemm;
    struct fp64_product p = {};
    p.m = of->m, p.n = of->n, p.k = of->k;
    p.a = lines_of(&of->a, of->m, of->a.layout == BITCUT_ROW_MAJOR);
    p.b = lines_of(&of->b, of->n, of->b.layout == BITCUT_COLUMN_MAJOR);
    p.alpha = of->alpha_f64, p.beta = of->beta_f64;
    if (reads_c(of)) p.c = elements_of<const double>(&of->c);
    p.d = elements_of<double>(&of->d);
    p.parts = of->parts;
    p.groups = g->kernel && g->kernel->groups;
    p.nearest = g->kernel && g->kernel->nearest;
    return p;
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
    const struct bitcut_gemm *const of = &g->gemm;
    const size_t count = of->m * of->n, bytes = count * sizeof(double),
                 of_a = of->m * of->k * sizeof(double), of_b = of->k * of->n * sizeof(double);
    const device_bytes a(of_a), b(of_b), c(reads_c(of) ? bytes : 0), d(bytes);
    for (const device_bytes *each : { &a, &b, &c, &d })
        if (each->status != RT_SUCCESS) return fault_of(fault, each->status);
    if (!count) return 0;
    struct gpu_fp64 there = *g;
    there.gemm.a.at = a.at, there.gemm.b.at = b.at;
    there.gemm.c.at = c.at, there.gemm.d.at = d.at;
    const struct fp64_product p = product_of(&there);
    rt_error status = copy_there(a.at, of->a.at, of_a);
    if (status == RT_SUCCESS) status = copy_there(b.at, of->b.at, of_b);
    if (status == RT_SUCCESS && reads_c(of)) status = copy_there(c.at, of->c.at, bytes);
    if (status == RT_SUCCESS) status = rt_fill(d.at, 0xff, bytes); /* NaNs */
    int told = fault_of(fault, status);
    if (!told && g->kernel)
        told = fault_of(fault, (rt_error)start_kernel(&p, milliseconds, repeats));
    else if (!told) told = start_peer(g, &p, milliseconds, repeats, fault);
    return told ? told : fault_of(fault, copy_back(of->d.to, d.at, bytes));
}

} // namespace

int fp64_run(const struct gpu_fp64 *g, double *milliseconds, int repeats, int device,
             char *fault)
{
    const on_device on(device);
    return on.status == RT_SUCCESS ? run(g, milliseconds, repeats, fault)
                                   : fault_of(fault, on.status);
}

size_t fp64_work_workspace(const struct gpu_fp64 *g, int device)
{
    const on_device on(device);
    const struct fp64_product p = product_of(g);
    return on.status == RT_SUCCESS && p.m && p.n ? fp64_workspace(&p) : 0;
}

int fp64_work_start(const struct gpu_fp64 *g, void *workspace, int device, void *stream,
                    char *fault)
{
    const on_device on(device);
    const struct fp64_product p = product_of(g);
    return fault_of(fault, on.status == RT_SUCCESS
                               ? (rt_error)fp64_start(&p, workspace, (cudaStream_t)stream)
                               : on.status);
}
