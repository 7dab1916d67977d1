/* GEMMs of matrices in the host's memory: they go to the device, and D comes back.  A
   large GEMM does so in panels of D, so that the device computes one while others are on
   their way: an output depends on its row of A and its column of B alone. */
#include "gpu/product.h"

#include "lib/size.h"

#include <stdlib.h>

/* --- memory on the device --------------------------------------------------------- */

/* Memory of the host, and its place on the device. */
struct copied {
    const struct gpu_memory *here;
    char *memory; /* to free */
    char *there;  /* of here->at */
    const void **each;
};

static rt_error reserve(struct copied *x, const struct gpu_memory *here)
{
    x->here = here;
    const rt_error status = rt_malloc((void **)&x->memory, here->bytes + GPU_ALIGNMENT);
    if (status == RT_SUCCESS) x->there = x->memory + (uintptr_t)here->at % GPU_ALIGNMENT;
    return status;
}

static const void *translated(const struct copied *x, const void *at)
{
    return at ? x->there + ((const char *)at - (const char *)x->here->at) : NULL;
}

/* The pointers that `from` has, as those on the device. */
static rt_error copy_pointers(struct copied *x, const void *const *from, size_t count)
{
    const size_t bytes = count * sizeof *from;
    const void **const each = malloc(bytes);
    if (!each) return RT_NO_MEMORY;
    for (size_t i = 0; i < count; i++) each[i] = translated(x, from[i]);
    rt_error status = rt_malloc((void **)&x->each, bytes);
    if (status == RT_SUCCESS) status = rt_copy(x->each, each, bytes, RT_TO_DEVICE);
    free(each);
    return status;
}

/* The matrix as it will be there; memory that is another's is the same. */
static rt_error translate(struct bitcut_matrix *m, struct copied *x,
                          const struct gpu_memory *here, const struct copied *other,
                          size_t count)
{
    rt_error status = RT_SUCCESS;
    if (other && other->here && other->here->at == here->at)
        x->here = here, x->there = other->there;
    else status = reserve(x, here);
    if (status != RT_SUCCESS) return status;
    if (m->each && count) {
        status = copy_pointers(x, m->each, count);
        m->each = x->each;
    } else {
        m->at = translated(x, m->at);
    }
    return status;
}

/* Free all copies, whatever happens; the first status that is no success. */
static rt_error copied_clear(struct copied *x, int count, rt_error first)
{
    for (int i = 0; i < count; i++) {
        const rt_error each = rt_free((void *)x[i].each), memory = rt_free(x[i].memory);
        if (first == RT_SUCCESS) first = each;
        if (first == RT_SUCCESS) first = memory;
    }
    return first;
}

/* --- panels ----------------------------------------------------------------------- */

/* How D is cut: in panels of `each` of its lines, which are those of an operand and of
   C. */
struct cutting {
    int operand;        /* 0: rows, of A; 1: columns, of B */
    size_t lines, each; /* each of 0 lines: D is not cut   */
};

/* Panels are whole tiles of all methods, and so large that each keeps the device busy. */
#ifndef PANEL_OUTPUTS
#define PANEL_OUTPUTS ((size_t)1 << 22)
#define PANEL_LINES   256
#endif
enum { PANELS_MOST = 4 };

static bool lies(const struct bitcut_matrix *x, enum bitcut_layout layout)
{
    return x->layout == layout && !x->each && !x->words;
}

static struct cutting cutting_of(const struct gpu_work *w)
{
    const struct bitcut_gemm *const g = &w->gemm;
    for (int operand = 0; operand < 2 && g->count == 1; operand++) {
        const enum bitcut_layout layout =
            operand ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
        const size_t lines = operand ? g->n : g->m, length = operand ? g->m : g->n;
        const size_t panels = smaller(PANELS_MOST, lines * length / PANEL_OUTPUTS);
        if (panels > 1 && lies(operand ? &g->b : &g->a, layout) &&
            !(operand ? g->a.words : g->b.words) && lies(&g->d, layout) &&
            (!gemm_reads_c(g) || lies(&g->c, layout)))
            return (struct cutting){ operand, lines,
                                     divide_up(divide_up(lines, panels), PANEL_LINES) *
                                         PANEL_LINES };
    }
    return (struct cutting){ 0, 0, 0 };
}

/* Lines of D from `first` on. */
struct panel {
    size_t first, count;
};

static int panels_of(const struct cutting *c)
{
    return c->each ? (int)divide_up(c->lines, c->each) : 1;
}

static struct panel panel_at(const struct cutting *c, int i)
{
    const size_t first = (size_t)i * c->each;
    return (struct panel){ first, smaller(c->each, c->lines - first) };
}

static size_t element_bytes(const struct bitcut_matrix *x)
{
    const int bits = x->format ? x->format->bits : 32;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

/* The part of a work whose matrices are on the device. */
static struct gpu_work part_of(const struct gpu_work *w, const struct cutting *c, int i)
{
    struct gpu_work part = *w;
    struct bitcut_gemm *const g = &part.gemm;
    const struct panel p = panel_at(c, i);
    struct bitcut_matrix *const cut[] = { c->operand ? &g->b : &g->a, &g->c, &g->d };
    if (!c->each) return part;
    *(c->operand ? &g->n : &g->m) = p.count;
    for (int j = 0; j < 3; j++)
        if (cut[j]->at)
            cut[j]->at =
                (const char *)cut[j]->at + p.first * cut[j]->ld * element_bytes(cut[j]);
    return part;
}

/* Bytes of a memory. */
struct range {
    size_t at, bytes;
};

/* What panel i has of the memory of a matrix of the host, whose lines have so many
   elements; all of it where D is not cut. */
static struct range range_of(const struct bitcut_matrix *m, const struct gpu_memory *here,
                             size_t length, const struct cutting *c, int i)
{
    const struct panel p = panel_at(c, i);
    const size_t bytes = element_bytes(m);
    if (!c->each) return (struct range){ 0, here->bytes };
    return (struct range){ (size_t)((const char *)m->at - (const char *)here->at) +
                               p.first * m->ld * bytes,
                           ((p.count - 1) * m->ld + length) * bytes };
}

/* --- there and back --------------------------------------------------------------- */

static rt_error bring(const struct copied *x, struct range r)
{
    return copy_there(x->there + r.at, (const char *)x->here->at + r.at, r.bytes);
}

static rt_error take(const struct copied *x, struct range r)
{
    return copy_back((char *)x->here->at + r.at, x->there + r.at, r.bytes);
}

/* A GEMM of the host's, its memory, and what is on the device. */
struct visit {
    const struct gpu_work *here;
    struct gpu_work there;
    struct copied memory[4]; /* of A, B, C and D */
    struct cutting cutting;
    void *workspace;
    rt_event done[PANELS_MOST];
};

static size_t length_of(const struct visit *v, int matrix)
{
    const struct bitcut_gemm *const g = &v->here->gemm;
    return matrix < 2 ? g->k : v->cutting.operand ? g->m : g->n;
}

static struct range panel_range(const struct visit *v, int matrix, int i)
{
    const struct bitcut_gemm *const g = &v->here->gemm;
    const struct bitcut_matrix *const m[] = { &g->a, &g->b, &g->c, &g->d };
    return range_of(m[matrix], v->memory[matrix].here, length_of(v, matrix), &v->cutting,
                    i);
}

/* Whether what is in the memory of D stays in part: between lines, or between matrices.
 */
static bool keeps_d(const struct visit *v)
{
    const struct bitcut_matrix *const d = &v->here->gemm.d;
    return !v->cutting.each || d->ld != length_of(v, 3);
}

/* What panel i needs that is not there yet, its work, and an event behind it. */
static rt_error panel_start(struct visit *v, int i)
{
    rt_error status = RT_SUCCESS;
    for (int m = 0; m < 4 && status == RT_SUCCESS; m++) {
        const struct copied *const x = &v->memory[m];
        const bool shared = m < 2 && v->cutting.each && m != v->cutting.operand;
        if (!x->memory || (m == 3 && !keeps_d(v))) continue;
        if (!shared) status = bring(x, panel_range(v, m, i));
        else if (i == 0) status = bring(x, (struct range){ 0, x->here->bytes });
    }
    const struct gpu_work part = part_of(&v->there, &v->cutting, i);
    if (status == RT_SUCCESS) status = work_start(&part, v->workspace, NULL);
    if (status == RT_SUCCESS) status = rt_event_create(&v->done[i]);
    return status == RT_SUCCESS ? rt_event_record(v->done[i], NULL) : status;
}

static rt_error panel_end(struct visit *v, int i)
{
    rt_error status = rt_event_wait(v->done[i]);
    if (status == RT_SUCCESS && v->memory[3].here)
        status = take(&v->memory[3], panel_range(v, 3, i));
    return status;
}

/* A workspace of ones, and such a D: NaNs, so that what nothing wrote shows. */
static rt_error make_room(struct visit *v)
{
    const struct gpu_work part = part_of(&v->there, &v->cutting, 0);
    const size_t bytes = gemm_workspace(&part);
    const struct copied *const d = &v->memory[3];
    rt_error status = bytes ? rt_malloc(&v->workspace, bytes) : RT_SUCCESS;
    if (status == RT_SUCCESS && bytes) status = rt_fill(v->workspace, 0xff, bytes);
    return status == RT_SUCCESS && d->memory && !keeps_d(v)
               ? rt_fill(d->memory, 0xff, d->here->bytes)
               : status;
}

static rt_error visit_device(struct visit *v, const struct gpu_memory memory[4])
{
    struct bitcut_gemm *const g = &v->there.gemm;
    struct bitcut_matrix *const matrix[4] = { &g->a, &g->b, &g->c, &g->d };
    const int panels = panels_of(&v->cutting);
    rt_error status = RT_SUCCESS;
    for (int i = 0; i < 4 && status == RT_SUCCESS; i++)
        if (memory[i].at)
            status = translate(matrix[i], &v->memory[i], &memory[i],
                               i == 3 ? &v->memory[2] : NULL, g->count);
    if (status == RT_SUCCESS) status = make_room(v);
    for (int i = 0; i < panels && status == RT_SUCCESS; i++) status = panel_start(v, i);
    /* Where D is C it stays what it is until nothing can fail. */
    for (int i = 0; i < panels && !v->memory[3].memory && status == RT_SUCCESS; i++)
        status = rt_event_wait(v->done[i]);
    for (int i = 0; i < panels && status == RT_SUCCESS; i++) status = panel_end(v, i);
    return status == RT_SUCCESS ? rt_device_wait() : status;
}

static rt_error visit_end(struct visit *v, rt_error first)
{
    if (first != RT_SUCCESS) rt_device_wait(); /* what was started may still run */
    for (int i = 0; i < PANELS_MOST; i++)
        if (v->done[i]) rt_event_end(v->done[i]);
    const rt_error workspace = rt_free(v->workspace);
    return copied_clear(v->memory, 4, first == RT_SUCCESS ? workspace : first);
}

/* --- what the module has ---------------------------------------------------------- */

int gemm_run(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
             char *fault)
{
    struct visit v = { .here = w, .there = *w, .cutting = cutting_of(w) };
    int before;
    rt_error status = device_enter(&before, device);
    if (status == RT_SUCCESS) status = visit_device(&v, memory);
    status = visit_end(&v, status);
    const int told = fault_of(fault, status);
    device_leave(before);
    return told;
}

static rt_error split_there(struct copied *x, void *words, const struct gpu_work *w,
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
    const struct gpu_memory to = { words, gemm_words(w, which) };
    rt_error status = translate(m, &x[0], &from, NULL, 1);
    if (status == RT_SUCCESS) status = bring(&x[0], (struct range){ 0, from.bytes });
    if (status == RT_SUCCESS) status = reserve(&x[1], &to);
    if (status == RT_SUCCESS) status = rt_fill(x[1].memory, 0xff, to.bytes);
    char *const at = x[1].memory; /* aligned */
    if (status == RT_SUCCESS) status = split_launch(at, &o, 1, NULL);
    if (status == RT_SUCCESS) status = rt_device_wait();
    if (status == RT_SUCCESS) status = copy_back(words, at, to.bytes);
    return status;
}

int gemm_split(void *words, const struct gpu_work *w, enum bitcut_operand which,
               int device, char *fault)
{
    struct copied x[2] = { { 0 } };
    int before;
    rt_error status = device_enter(&before, device);
    if (status == RT_SUCCESS) status = split_there(x, words, w, which);
    status = copied_clear(x, 2, status);
    const int told = fault_of(fault, status);
    device_leave(before);
    return told;
}
