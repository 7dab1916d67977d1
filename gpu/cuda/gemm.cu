/* Whole GEMMs: the split pass and a kernel of the table, on the device's memory and on
   the host's. */
#include "gpu/cuda/gemm.cuh"

namespace
{

/* --- what lies where -------------------------------------------------------------- */

/* Of how many matrices words are made: of none if they are prepared, of one that all
   GEMMs share. */
size_t made(const struct gpu_work *w, const struct operand &x)
{
    if (x.matrix->words) return 0;
    return x.matrix->stride ? w->gemm.count : 1;
}

struct words words_of(const struct operand &x)
{
    const struct bitcut_matrix *m = x.matrix;
    const size_t own = m->stride ? words_stride(x) : 0;
    return { m->words, x.lines, words_row_bytes(format_of(x.split->word[0].format), x.k),
             m->words ? m->words_stride : own };
}

struct elements elements_of(const struct bitcut_matrix &x)
{
    return { (float *)x.to, x.ld, x.stride, x.layout == BITCUT_COLUMN_MAJOR };
}

/* The parts of a workspace: words of A and of B, unless they are prepared, and the
   kernel's. */
struct parts {
    size_t a, b, kernel; /* bytes */
};

struct gpu_product product_of(const struct gpu_work *w)
{
    const struct bitcut_gemm *g = &w->gemm;
    struct gpu_product p = {};
    p.count = g->count;
    p.m = g->m;
    p.n = g->n;
    p.k = g->k;
    p.a = words_of(operand_of(w, BITCUT_A));
    p.b = words_of(operand_of(w, BITCUT_B));
    p.scale = w->plan.scale;
    p.alpha = float_of(g->alpha);
    p.beta = float_of(g->beta);
    if (gemm_reads_c(g)) p.c = elements_of(g->c);
    p.d = elements_of(g->d);
    p.slices = w->plan.order.slices;
    return p;
}

struct parts parts_of(const struct gpu_work *w)
{
    const struct operand a = operand_of(w, BITCUT_A), b = operand_of(w, BITCUT_B);
    const struct gpu_product p = product_of(w);
    const auto workspace = w->kernel->workspace;
    return { made(w, a) * words_stride(a), made(w, b) * words_stride(b),
             workspace ? workspace(&p) : 0 };
}

size_t workspace_bytes(const struct gpu_work *w)
{
    if (!w->kernel->launch) return 0;
    const struct parts parts = parts_of(w);
    return parts.a + parts.b + parts.kernel;
}

/* --- starting --------------------------------------------------------------------- */

/* The words of an operand that are not there yet. */
rt_error words_make(struct words *to, char *at, const struct gpu_work *w,
                    enum bitcut_operand which, rt_stream stream)
{
    const struct operand x = operand_of(w, which);
    if (x.matrix->words) return RT_SUCCESS;
    to->at = at;
    return split_launch(at, x, made(w, x), stream);
}

rt_error product_start(const struct gpu_work *w, char *workspace, rt_stream stream)
{
    const struct parts parts = parts_of(w);
    struct gpu_product p = product_of(w);
    p.stream = stream;
    p.workspace = workspace + parts.a + parts.b;
    rt_error status = words_make(&p.a, workspace, w, BITCUT_A, stream);
    if (status == RT_SUCCESS)
        status = words_make(&p.b, workspace + parts.a, w, BITCUT_B, stream);
    p.lines = { words_largest(p.a.at, operand_of(w, BITCUT_A)),
                words_largest(p.b.at, operand_of(w, BITCUT_B)),
                p.a.stride / sizeof(uint32_t), p.b.stride / sizeof(uint32_t) };
    return status == RT_SUCCESS ? (rt_error)w->kernel->launch(&p) : status;
}

/* --- the host's memory ------------------------------------------------------------ */

/* Memory of the host, and where its copy is on the device. */
struct copied {
    const struct gpu_memory *here;
    char *memory; /* to free */
    char *there;  /* of here->at */
    const void **each;
};

rt_error copy_there(struct copied *x, const struct gpu_memory *here)
{
    x->here = here;
    const rt_error status = rt_malloc((void **)&x->memory, here->bytes + GPU_ALIGNMENT);
    if (status != RT_SUCCESS) return status;
    x->there = x->memory + (uintptr_t)here->at % GPU_ALIGNMENT;
    return rt_copy(x->there, here->at, here->bytes, RT_TO_DEVICE);
}

const void *translated(const struct copied *x, const void *at)
{
    return at ? x->there + ((const char *)at - (const char *)x->here->at) : NULL;
}

/* The pointers that `from` has, as those on the device. */
rt_error copy_pointers(struct copied *x, const void *const *from, size_t count)
{
    const size_t bytes = count * sizeof *from;
    const void **const each = new const void *[count];
    for (size_t i = 0; i < count; i++) each[i] = translated(x, from[i]);
    rt_error status = rt_malloc((void **)&x->each, bytes);
    if (status == RT_SUCCESS) status = rt_copy(x->each, each, bytes, RT_TO_DEVICE);
    delete[] each;
    return status;
}

/* The matrices there; memory that was copied for others is the same. */
rt_error matrix_there(struct bitcut_matrix *m, struct copied *x,
                      const struct gpu_memory *here, const struct copied *other,
                      size_t count)
{
    rt_error status = RT_SUCCESS;
    if (other && other->here && other->here->at == here->at)
        x->here = here, x->there = other->there;
    else status = copy_there(x, here);
    if (status != RT_SUCCESS) return status;
    if (m->each && count) {
        status = copy_pointers(x, m->each, count);
        m->each = x->each;
    } else {
        m->at = translated(x, m->at);
    }
    return status;
}

/* A workspace of ones: NaNs, so that reading what nothing wrote shows. */
rt_error run_started(const struct gpu_work *w)
{
    void *workspace = NULL;
    const size_t bytes = workspace_bytes(w);
    rt_error status = bytes ? rt_malloc(&workspace, bytes) : RT_SUCCESS;
    if (status == RT_SUCCESS && bytes) status = rt_fill(workspace, 0xff, bytes);
    if (status == RT_SUCCESS) status = work_start(w, workspace, NULL);
    if (status == RT_SUCCESS) status = rt_device_wait();
    const rt_error end = rt_free(workspace);
    return status == RT_SUCCESS ? end : status;
}

rt_error run_there(struct copied x[4], const struct gpu_work *w,
                   const struct gpu_memory memory[4])
{
    struct gpu_work there = *w;
    struct bitcut_gemm *g = &there.gemm;
    struct bitcut_matrix *const matrix[4] = { &g->a, &g->b, &g->c, &g->d };
    rt_error status = RT_SUCCESS;
    for (int i = 0; i < 4 && status == RT_SUCCESS; i++)
        if (memory[i].at)
            status = matrix_there(matrix[i], &x[i], &memory[i], i == 3 ? &x[2] : NULL,
                                  g->count);
    if (status == RT_SUCCESS) status = run_started(&there);
    if (status == RT_SUCCESS && memory[3].at)
        status = rt_copy(memory[3].at, x[3].there, memory[3].bytes, RT_TO_HOST);
    return status;
}

rt_error copied_clear(struct copied *x, int count, rt_error first)
{
    for (int i = 0; i < count; i++)
        for (void *at : { (void *)x[i].each, (void *)x[i].memory }) {
            const rt_error status = rt_free(at);
            if (first == RT_SUCCESS) first = status;
        }
    return first;
}

rt_error split_there(struct copied *x, void *words, const struct gpu_work *w,
                     enum bitcut_operand which)
{
    struct gpu_work there = *w;
    struct bitcut_matrix *const m = which == BITCUT_A ? &there.gemm.a : &there.gemm.b;
    const struct operand o = operand_of(&there, which);
    const size_t count = o.across ? o.k : o.lines, length = o.across ? o.lines : o.k;
    const struct gpu_memory from = { (void *)m->at,
                                     count && length
                                         ? ((count - 1) * m->ld + length) * sizeof(float)
                                         : 0 };
    const struct gpu_memory to = { words, words_bytes(o) };
    rt_error status = matrix_there(m, &x[0], &from, NULL, 1);
    if (status == RT_SUCCESS) status = copy_there(&x[1], &to);
    if (status == RT_SUCCESS) status = rt_fill(x[1].memory, 0xff, to.bytes);
    char *const at = x[1].memory; /* aligned */
    if (status == RT_SUCCESS) status = split_launch(at, o, 1, NULL);
    if (status == RT_SUCCESS) status = rt_device_wait();
    if (status == RT_SUCCESS) status = rt_copy(words, at, to.bytes, RT_TO_HOST);
    return status;
}

} // namespace

/* --- what the module has ---------------------------------------------------------- */

rt_error work_start(const struct gpu_work *w, void *workspace, rt_stream stream)
{
    if (!w->gemm.count || !w->gemm.m || !w->gemm.n) return RT_SUCCESS;
    return w->kernel->start ? (rt_error)w->kernel->start(w, stream)
                            : product_start(w, (char *)workspace, stream);
}

int gemm_run(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
             char *fault)
{
    struct copied x[4] = {};
    const on_device on(device);
    const rt_error status = on.status == RT_SUCCESS ? run_there(x, w, memory) : on.status;
    return fault_of(fault, copied_clear(x, 4, status));
}

int gemm_split(void *words, const struct gpu_work *w, enum bitcut_operand which,
               int device, char *fault)
{
    struct copied x[2] = {};
    const on_device on(device);
    const rt_error status =
        on.status == RT_SUCCESS ? split_there(x, words, w, which) : on.status;
    return fault_of(fault, copied_clear(x, 2, status));
}

size_t gemm_words(const struct gpu_work *w, enum bitcut_operand which)
{
    return words_bytes(operand_of(w, which));
}

int gemm_prepare(void *words, const struct gpu_work *w, enum bitcut_operand which,
                 int device, void *stream, char *fault)
{
    const on_device on(device);
    return fault_of(fault,
                    on.status == RT_SUCCESS
                        ? split_launch(words, operand_of(w, which), 1, (rt_stream)stream)
                        : on.status);
}

size_t gemm_workspace(const struct gpu_work *w) { return workspace_bytes(w); }

int gemm_start(const struct gpu_work *w, void *workspace, int device, void *stream,
               char *fault)
{
    const on_device on(device);
    return fault_of(fault, on.status == RT_SUCCESS
                               ? work_start(w, workspace, (rt_stream)stream)
                               : on.status);
}

/* Memory that the runtime does not know is the host's. */
static const char *why_unreached(const rt_pointer *x, int device, int pageable)
{
    if (x->type == RT_OF_NOBODY) return pageable ? NULL : "is in the host's memory";
    if (x->type == RT_OF_DEVICE && x->device != device)
        return "is in the memory of another device";
    return x->devicePointer ? NULL : "is in memory that the device does not reach";
}

int gemm_reaches(const void *at, int device, char *fault)
{
    rt_pointer x = {};
    int pageable = 0;
    const on_device on(device);
    rt_error status = on.status;
    if (status == RT_SUCCESS) status = rt_pointer_get(&x, at);
    if (status == RT_SUCCESS) status = rt_device_ask(&pageable, RT_PAGEABLE, device);
    if (status != RT_SUCCESS) return fault_of(fault, status);
    const char *why = why_unreached(&x, device, pageable);
    if (why) snprintf(fault, GPU_FAULT_MOST, "%s", why);
    return why != NULL;
}
