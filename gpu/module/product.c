/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs in device memory: the split pass, and a kernel of the table. */
#include "gpu/module/product.h"

#include <stdlib.h>
#include <string.h>

/* --- the current device ----------------------------------------------------------- */

rt_error device_enter(int *before, int device)
{
    int now = 0;
    *before = -1;
    rt_error status = rt_device_get(&now);
    if (status != RT_SUCCESS || now == device) return status;
    status = rt_device_set(device);
    if (status == RT_SUCCESS) *before = now;
    return status;
}

void device_leave(int before)
{
    if (before >= 0) rt_device_set(before);
}

/* --- operands --------------------------------------------------------------------- */

static struct parts parts_of(const struct operand *x)
{
    const struct bitcut_matrix *m = x->matrix;
    const size_t own = m->stride ? prepared_stride(x) : 0;
    return (struct parts){ m->prepared, x->lines, parts_line_bytes(x),
                           parts_low_line_bytes(x), m->prepared ? m->prepared_stride : own };
}

/* --- what lies where -------------------------------------------------------------- */

static struct elements elements_of(const struct bitcut_matrix *x)
{
    return (struct elements){ x->to, x->ld, x->stride, x->layout == BITCUT_COLUMN_MAJOR };
}

/* The areas of a workspace: parts of A and of B, unless they are prepared, and the
   kernel's area. */
struct areas {
    size_t a, b, kernel; /* bytes */
};

static struct gpu_product product_of(const struct gpu_work *w)
{
    const struct bitcut_gemm *g = &w->gemm;
    const struct operand a = operand_of(w, BITCUT_A), b = operand_of(w, BITCUT_B);
    struct gpu_product p = {
        .kernel = w->kernel,
        .count = g->count,
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .a = parts_of(&a),
        .b = parts_of(&b),
        .scale = w->plan.scale,
        .alpha = float_of(g->alpha),
        .beta = float_of(g->beta),
        .d = elements_of(&g->d),
        .slices = w->plan.order.slices,
    };
    if (gemm_reads_c(g)) p.c = elements_of(&g->c);
    return p;
}

static struct areas areas_of(const struct gpu_work *w)
{
    const struct operand a = operand_of(w, BITCUT_A), b = operand_of(w, BITCUT_B);
    const struct gpu_product p = product_of(w);
    return (struct areas){ parts_made(w, &a) * prepared_stride(&a),
                           parts_made(w, &b) * prepared_stride(&b),
                           w->kernel->workspace ? w->kernel->workspace(&p) : 0 };
}

size_t gemm_workspace(const struct gpu_work *w)
{
    if (gpu_work_emulates(w)) return emulation_code.workspace(w);
    if (!w->kernel->launch) return 0;
    const struct areas areas = areas_of(w);
    return areas.a + areas.b + areas.kernel;
}

size_t gemm_parts(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct operand x = operand_of(w, which);
    return parts_bytes(&x);
}

/* --- starting --------------------------------------------------------------------- */

/* Set where the parts that do not exist yet will be: the parts of A at the start of the
   workspace, the parts of B after them. */
static void parts_place(struct gpu_product *p, const struct gpu_work *w, char *workspace)
{
    const struct operand a = operand_of(w, BITCUT_A), b = operand_of(w, BITCUT_B);
    if (!a.matrix->prepared)
        p->a.at = workspace,
        p->split[p->splits++] = (struct to_split){ workspace, a, parts_made(w, &a) };
    workspace += parts_made(w, &a) * prepared_stride(&a);
    if (!b.matrix->prepared)
        p->b.at = workspace,
        p->split[p->splits++] = (struct to_split){ workspace, b, parts_made(w, &b) };
}

/* Make these parts, unless the kernel makes them. */
static rt_error parts_make(struct gpu_product *p)
{
    if (p->kernel->splits && p->kernel->splits(p)) return RT_SUCCESS;
    const int count = p->splits;
    p->splits = 0;
    p->behind_split = count && p->k; /* there are lines and matrices */
    return split_launch(p->split, count, p->stream);
}

static rt_error product_start(const struct gpu_work *w, char *workspace, rt_stream stream)
{
    const struct operand a = operand_of(w, BITCUT_A), b = operand_of(w, BITCUT_B);
    const struct areas areas = areas_of(w);
    struct gpu_product p = product_of(w);
    p.stream = stream;
    p.workspace = workspace + areas.a + areas.b;
    parts_place(&p, w, workspace);
    const rt_error status = parts_make(&p);
    p.lines = (struct lines){ parts_largest(p.a.at, &a), parts_largest(p.b.at, &b),
                              p.a.stride / sizeof(uint32_t),
                              p.b.stride / sizeof(uint32_t), w->plan.target };
    return status == RT_SUCCESS ? (rt_error)w->kernel->launch(&p) : status;
}

/* Start an emulated GEMM, by a kernel if one computes it in this workspace. */
static rt_error emulated_start(const struct gpu_work *w, void *workspace,
                               rt_stream stream)
{
    struct gpu_work own;
    if (emulation_code.by_kernel && emulation_code.by_kernel(&own, w) &&
        gemm_workspace(&own) <= emulation_code.workspace(w))
        return product_start(&own, workspace, stream);
    return emulation_code.start(w, workspace, stream);
}

rt_error work_start(const struct gpu_work *w, void *workspace, rt_stream stream)
{
    if (!w->gemm.count || !w->gemm.m || !w->gemm.n) return RT_SUCCESS;
    if (gpu_work_emulates(w)) return emulated_start(w, workspace, stream);
    return w->kernel->start ? (rt_error)w->kernel->start(w, stream)
                            : product_start(w, workspace, stream);
}

/* --- what the module has ---------------------------------------------------------- */

int gemm_prepare(void *parts, const struct gpu_work *w, enum bitcut_operand which,
                 int device, void *stream, char *fault)
{
    const struct to_split of = { parts, operand_of(w, which), 1 };
    int before;
    rt_error status = device_enter(&before, device);
    if (status == RT_SUCCESS) status = split_launch(&of, 1, (rt_stream)stream);
    const int told = fault_of(fault, status);
    device_leave(before);
    return told;
}

int gemm_start(const struct gpu_work *w, void *workspace, int device, void *stream,
               char *fault)
{
    int before;
    rt_error status = device_enter(&before, device);
    if (status == RT_SUCCESS) status = work_start(w, workspace, (rt_stream)stream);
    const int told = fault_of(fault, status);
    device_leave(before);
    return told;
}
