/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of matrices in the memory of the host: they are copied to the device, and D is
   copied back.  A large GEMM is computed in panels of D, so that the device computes one
   panel while others are transferred.  This is possible because an output depends only on
   its row of A and its column of B. */
#include "gpu/module/product.h"

#include "lib/base/size.h"

#include <stdlib.h>

/* --- memory on the device --------------------------------------------------------- */

/* Memory of the host, and its copy on the device. */
struct copied {
    const struct gpu_memory *here;
    char *memory; /* memory to free */
    char *there;  /* copy of here->at */
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

/* Copy an array of pointers, translated to addresses on the device. */
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

/* Translate a matrix to its copy on the device.  If `other` has the same memory, its copy
   is used. */
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

/* Free all copies, also after an error.  Returns the first status that is not success. */
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

/* How D is divided.  Panels consist of lines of D, which are lines of one operand and of
   C.  The first panel is also divided in the other direction, into pieces by lines of the
   other operand, so that work begins before all of that operand is transferred. */
struct cutting {
    int operand; /* 0: panels are rows, from A; 1: panels are columns, from B */
    size_t lines, others;
    int panels, pieces; /* 1 each: D is not divided */
};

/* Panels are whole tiles for all methods, and large enough to keep the device busy.  The
   first and the last panel have half as many lines as the others, because nothing runs
   while they are transferred. */
#ifndef PANEL_OUTPUTS
#define PANEL_OUTPUTS ((size_t)1 << 22)
#define PANEL_LINES   256
#endif
enum { PANELS_MAX = 5, PIECES_MAX = 4 };

/* Lines of D, or of the other operand, from `first` on. */
struct part {
    size_t first, count;
};

/* The first line after `halves` half parts, if `lines` lines are divided into `parts`
   parts. */
static size_t halves_at(size_t lines, int halves, int parts)
{
    if (halves <= 0 || halves >= 2 * parts) return halves <= 0 ? 0 : lines;
    return lines * (size_t)halves / (2 * (size_t)parts) / PANEL_LINES * PANEL_LINES;
}

static struct part panel_at(const struct cutting *c, int i)
{
    const int parts = c->panels - 1;
    if (!parts) return (struct part){ 0, c->lines };
    const size_t first = halves_at(c->lines, 2 * i - 1, parts);
    return (struct part){ first, halves_at(c->lines, 2 * i + 1, parts) - first };
}

/* The number of pieces of panel i; only the first panel has more than one. */
static int pieces_of(const struct cutting *c, int i) { return i ? 1 : c->pieces; }

static struct part piece_at(const struct cutting *c, int i, int piece)
{
    const int pieces = pieces_of(c, i);
    const size_t first = halves_at(c->others, 2 * piece, pieces);
    return (struct part){ first, halves_at(c->others, 2 * piece + 2, pieces) - first };
}

static bool lies(const struct bitcut_matrix *x, enum bitcut_layout layout)
{
    return x->layout == layout && !x->each && !x->prepared;
}

/* Divide D into as many parts as are worthwhile; no part is empty. */
static struct cutting cut(int operand, size_t lines, size_t others, bool pieces)
{
    const size_t parts =
        smaller(lines / (2 * PANEL_LINES), lines * others / PANEL_OUTPUTS);
    struct cutting c = { operand, lines, others, 1, 1 };
    if (parts < 2) return c;
    c.panels = 1 + (int)smaller(PANELS_MAX - 1, parts);
    const size_t outputs = panel_at(&c, 0).count * others;
    const size_t most = smaller(outputs / (PANEL_OUTPUTS / 4), others / PANEL_LINES);
    if (pieces && most > 1) c.pieces = (int)smaller(PIECES_MAX, most);
    return c;
}

static struct cutting cutting_of(const struct gpu_work *w)
{
    const struct bitcut_gemm *const g = &w->gemm;
    for (int operand = 0; operand < 2 && g->count == 1; operand++) {
        const enum bitcut_layout layout =
            operand ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
        const struct bitcut_matrix *const other = operand ? &g->a : &g->b;
        if (lies(operand ? &g->b : &g->a, layout) && !other->prepared &&
            lies(&g->d, layout) && (!gemm_reads_c(g) || lies(&g->c, layout)))
            return cut(operand, operand ? g->n : g->m, operand ? g->m : g->n,
                       !other->each);
    }
    return (struct cutting){ 0, g->m, g->n, 1, 1 };
}

static size_t element_bytes(const struct bitcut_matrix *x)
{
    const int bits = x->format ? x->format->bits : 32;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

/* Whether the lines of D in an operand, not the lines of k, are contiguous in memory. */
static bool has_own_lines(const struct bitcut_matrix *x, int operand)
{
    return x->layout == (operand ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR);
}

static void advance(struct bitcut_matrix *x, size_t elements)
{
    if (x->at) x->at = (const char *)x->at + elements * element_bytes(x);
}

/* A piece of panel i, as a work whose matrices are on the device. */
static struct gpu_work part_of(const struct gpu_work *w, const struct cutting *c, int i,
                               int piece)
{
    struct gpu_work part = *w;
    struct bitcut_gemm *const g = &part.gemm;
    const struct part p = panel_at(c, i), q = piece_at(c, i, piece);
    struct bitcut_matrix *const other = c->operand ? &g->a : &g->b;
    if (c->panels == 1) return part;
    *(c->operand ? &g->n : &g->m) = p.count;
    *(c->operand ? &g->m : &g->n) = q.count;
    advance(c->operand ? &g->b : &g->a, p.first * (c->operand ? g->b.ld : g->a.ld));
    advance(other, q.first * (has_own_lines(other, 1 - c->operand) ? other->ld : 1));
    advance(&g->c, p.first * g->c.ld + q.first);
    advance(&g->d, p.first * g->d.ld + q.first);
    return part;
}

/* A range of memory: `count` lines, with `pitch` bytes from one to the next. */
struct range {
    size_t at, bytes, count, pitch;
};

static struct range whole_of(const struct gpu_memory *here)
{
    return (struct range){ 0, here->bytes, 1, 0 };
}

/* The range of whole lines of a matrix of the host, with `length` elements each. */
static struct range lines_of(const struct bitcut_matrix *m, const struct gpu_memory *here,
                             struct part lines, size_t length)
{
    const size_t bytes = element_bytes(m);
    const size_t at = (size_t)((const char *)m->at - (const char *)here->at);
    return (struct range){ at + lines.first * m->ld * bytes,
                           lines.count ? ((lines.count - 1) * m->ld + length) * bytes : 0,
                           1, 0 };
}

/* The range of some elements of each of `count` lines. */
static struct range across_of(const struct bitcut_matrix *m,
                              const struct gpu_memory *here, struct part elements,
                              size_t count)
{
    const size_t bytes = element_bytes(m);
    const size_t at = (size_t)((const char *)m->at - (const char *)here->at);
    return (struct range){ at + elements.first * bytes, elements.count * bytes, count,
                           m->ld * bytes };
}

/* --- there and back --------------------------------------------------------------- */

static rt_error bring(const struct copied *x, struct range r)
{
    char *const to = x->there + r.at;
    const char *const from = (const char *)x->here->at + r.at;
    return r.count == 1 ? copy_there(to, from, r.bytes)
                        : copy_lines_there(to, from, r.count, r.bytes, r.pitch);
}

static rt_error take(const struct copied *x, struct range r)
{
    return copy_back((char *)x->here->at + r.at, x->there + r.at, r.bytes);
}

/* A GEMM of the host, its memory, and its data on the device. */
struct visit {
    const struct gpu_work *here;
    struct gpu_work there;
    struct copied memory[4]; /* memory of A, B, C and D */
    struct cutting cutting;
    void *workspace;
    rt_event done[PANELS_MAX];
};

static const struct bitcut_matrix *matrix_of(const struct visit *v, int matrix)
{
    const struct bitcut_gemm *const g = &v->here->gemm;
    const struct bitcut_matrix *const all[] = { &g->a, &g->b, &g->c, &g->d };
    return all[matrix];
}

/* The range of panel i in the divided operand, C or D. */
static struct range panel_range(const struct visit *v, int matrix, int i)
{
    const struct cutting *const c = &v->cutting;
    const struct gpu_memory *const here = v->memory[matrix].here;
    if (c->panels == 1) return whole_of(here);
    return lines_of(matrix_of(v, matrix), here, panel_at(c, i),
                    matrix < 2 ? v->here->gemm.k : c->others);
}

/* The range of a piece of panel 0 in the other operand. */
static struct range piece_range(const struct visit *v, int piece)
{
    const struct cutting *const c = &v->cutting;
    const int operand = 1 - c->operand;
    const struct gpu_memory *const here = v->memory[operand].here;
    const struct bitcut_matrix *const m = matrix_of(v, operand);
    const size_t k = v->here->gemm.k;
    if (c->pieces == 1) return whole_of(here);
    const struct part lines = piece_at(c, 0, piece);
    return has_own_lines(m, operand) ? lines_of(m, here, lines, k)
                                     : across_of(m, here, lines, k);
}

/* Whether a part of the memory of D must be preserved: between lines, or between
   matrices. */
static bool keeps_d(const struct visit *v)
{
    const struct bitcut_matrix *const d = &v->here->gemm.d;
    return v->cutting.panels == 1 || d->ld != v->cutting.others;
}

/* Copy what panel i needs of all matrices, except the other operand, which is copied
   later. */
static rt_error panel_bring(struct visit *v, int i)
{
    rt_error status = RT_SUCCESS;
    for (int m = 0; m < 4 && status == RT_SUCCESS; m++) {
        const struct copied *const x = &v->memory[m];
        const bool other = m == 1 - v->cutting.operand;
        if (x->memory && !other && (m != 3 || keeps_d(v)))
            status = bring(x, panel_range(v, m, i));
    }
    return status;
}

/* Start panel i, piece by piece with the data of each piece, and record an event after
   it. */
static rt_error panel_start(struct visit *v, int i)
{
    const struct copied *const other = &v->memory[1 - v->cutting.operand];
    rt_error status = panel_bring(v, i);
    for (int j = 0; j < pieces_of(&v->cutting, i) && status == RT_SUCCESS; j++) {
        const struct gpu_work part = part_of(&v->there, &v->cutting, i, j);
        if (i == 0 && other->memory) status = bring(other, piece_range(v, j));
        if (status == RT_SUCCESS) status = work_start(&part, v->workspace, NULL);
    }
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

/* Reserve a workspace and D, filled with ones.  These are NaNs, so that elements that
   were never written are visible. */
static rt_error make_room(struct visit *v)
{
    size_t bytes = 0;
    for (int i = 0; i < v->cutting.panels; i++)
        for (int j = 0; j < pieces_of(&v->cutting, i); j++) {
            const struct gpu_work part = part_of(&v->there, &v->cutting, i, j);
            const size_t needs = gemm_workspace(&part);
            if (needs > bytes) bytes = needs;
        }
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
    const int panels = v->cutting.panels;
    rt_error status = RT_SUCCESS;
    for (int i = 0; i < 4 && status == RT_SUCCESS; i++)
        if (memory[i].at)
            status = translate(matrix[i], &v->memory[i], &memory[i],
                               i == 3 ? &v->memory[2] : NULL, g->count);
    if (status == RT_SUCCESS) status = make_room(v);
    for (int i = 0; i < panels && status == RT_SUCCESS; i++) status = panel_start(v, i);
    /* If D is C, it is unchanged until no failure is possible. */
    for (int i = 0; i < panels && !v->memory[3].memory && status == RT_SUCCESS; i++)
        status = rt_event_wait(v->done[i]);
    for (int i = 0; i < panels && status == RT_SUCCESS; i++) status = panel_end(v, i);
    return status == RT_SUCCESS ? rt_device_wait() : status;
}

static rt_error visit_end(struct visit *v, rt_error first)
{
    if (first != RT_SUCCESS) rt_device_wait(); /* work that was started may still run */
    for (int i = 0; i < PANELS_MAX; i++)
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

static rt_error split_there(struct copied *x, void *parts, const struct gpu_work *w,
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
    const struct gpu_memory to = { parts, gemm_parts(w, which) };
    rt_error status = translate(m, &x[0], &from, NULL, 1);
    if (status == RT_SUCCESS) status = bring(&x[0], whole_of(&from));
    if (status == RT_SUCCESS) status = reserve(&x[1], &to);
    if (status == RT_SUCCESS) status = rt_fill(x[1].memory, 0xff, to.bytes);
    const struct to_split of = { x[1].memory, o, 1 }; /* aligned */
    if (status == RT_SUCCESS) status = split_launch(&of, 1, NULL);
    if (status == RT_SUCCESS) status = rt_device_wait();
    if (status == RT_SUCCESS) status = copy_back(parts, of.parts, to.bytes);
    return status;
}

int gemm_split(void *parts, const struct gpu_work *w, enum bitcut_operand which,
               int device, char *fault)
{
    struct copied x[2] = { { 0 } };
    int before;
    rt_error status = device_enter(&before, device);
    if (status == RT_SUCCESS) status = split_there(x, parts, w, which);
    status = copied_clear(x, 2, status);
    const int told = fault_of(fault, status);
    device_leave(before);
    return told;
}
