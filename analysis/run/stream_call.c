/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/run/stream_call.h"

#include "analysis/run/stream_choice.h"
#include "analysis/run/stream_room.h"
#include "gpu/api/start.h"

#include <stdlib.h>

static bool leave(struct stream_call *c, enum left_reason why)
{
    c->left = why;
    return false;
}

static const struct gpu_streams *streams_of(const struct stream_call *c)
{
    return c->gpu->gpu.module->streams;
}

/* --- batches by pointers ---------------------------------------------------------- */

enum { OPERANDS = 4 };

/* The matrices of a product: A, B, C, D. */
static const struct bitcut_matrix *operand(const struct bitcut_gemm *g, int i)
{
    const struct bitcut_matrix *const all[OPERANDS] = { &g->a, &g->b, &g->c, &g->d };
    return all[i];
}

static struct bitcut_matrix *operand_to(struct bitcut_gemm *g, int i)
{
    return (struct bitcut_matrix *)(uintptr_t)operand(g, i);
}

/* Read an array of pointers in stream order. */
static bool read_pointers(const void **to, struct stream_call *c, const void *from,
                          size_t count)
{
    char why[GPU_FAULT_MAX];
    const size_t bytes = count * sizeof *to;
    const struct gpu_copy copy = { to, from, bytes, bytes, bytes, 1 };
    if (streams_of(c)->copy(&copy, true, c->stream, why) == 0) return true;
    fault_set(&c->fault, BITCUT_UNSUPPORTED, "%s", why);
    return leave(c, LEFT_DEVICE);
}

/* Convert a batch by evenly spaced pointers to a batch by strides. */
static bool at_stride(struct bitcut_matrix *x, size_t count)
{
    const char *const first = x->each[0];
    const ptrdiff_t apart = count > 1 ? (const char *)x->each[1] - first : 0;
    if (apart < 0 || apart % (ptrdiff_t)sizeof(float)) return false;
    for (size_t i = 1; i < count; i++)
        if (x->each[i] != first + (ptrdiff_t)i * apart) return false;
    x->at = first;
    x->stride = (size_t)apart / sizeof(float);
    x->each = NULL;
    return true;
}

/* Convert all four matrices to strides, or none. */
static bool take_pointers(struct stream_call *c)
{
    struct bitcut_gemm *const g = &c->product.gemm;
    struct bitcut_gemm even;
    size_t all;
    if (!g->a.each) return true;
    if (c->capture) return leave(c, LEFT_CAPTURE);
    c->pointers = size_multiply(&all, g->count, OPERANDS)
                      ? memory_allocate(all, sizeof *c->pointers)
                      : NULL;
    if (!c->pointers) return leave(c, LEFT_MEMORY);
    for (int i = 0; i < OPERANDS; i++) {
        const void **const to = c->pointers + (size_t)i * g->count;
        if (i == 2) continue; /* C is D */
        if (!read_pointers(to, c, operand(g, i)->each, g->count)) return false;
        operand_to(g, i)->each = to;
    }
    g->c = g->d;
    even = *g;
    for (int i = 0; i < OPERANDS; i++)
        if (!at_stride(operand_to(&even, i), g->count)) return true;
    *g = even;
    return true;
}

/* --- the device ------------------------------------------------------------------- */

static bool ask(struct stream_call *c)
{
    char why[GPU_FAULT_MAX];
    if (streams_of(c)->ask(&c->capture, c->stream, why) == 0) return true;
    fault_set(&c->fault, BITCUT_UNSUPPORTED, "%s", why);
    return leave(c, LEFT_DEVICE);
}

bool stream_call_open(struct stream_call *c, const struct product *p)
{
    c->product = *p;
    c->gpu = run_gpu_current(&c->fault);
    if (!c->gpu) return leave(c, LEFT_DEVICE);
    if (ask(c) && take_pointers(c)) return true;
    c->gpu = NULL;
    return false;
}

/* GEMM i of the batch, or the whole batch if it is by strides. */
static struct bitcut_gemm part(const struct stream_call *c, size_t i)
{
    const struct bitcut_gemm *const g = &c->product.gemm;
    return g->a.each ? gemm_nth(g, i) : *g;
}

bool stream_call_choose(struct stream_call *c,
                        const struct run_configuration *configuration)
{
    const struct bitcut_gemm g = part(c, 0);
    if (c->capture && stream_choice_left(c->gpu, configuration, &g))
        return leave(c, LEFT_CAPTURE);
    if (stream_choice(&c->work, c->gpu, configuration, &g, &c->fault) != BITCUT_OK)
        return leave(c, LEFT_KERNEL);
    return true;
}

/* --- rows and columns ------------------------------------------------------------- */

/* Number of rows or columns of a matrix in memory, and elements in each. */
struct lines {
    size_t count, length;
};

static struct lines lines_of(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    return x->layout == BITCUT_ROW_MAJOR ? (struct lines){ rows, cols }
                                         : (struct lines){ cols, rows };
}

/* Rows and columns of operand i. */
static struct lines shape(const struct bitcut_gemm *g, int i)
{
    return lines_of(operand(g, i), i == 1 ? g->k : g->m, i == 0 ? g->k : g->n);
}

/* Initialize C. */
static bool repeat_line(struct stream_call *c)
{
    char why[GPU_FAULT_MAX];
    const struct bitcut_matrix *const d = &c->product.gemm.d;
    const struct lines lines = shape(&c->product.gemm, 3);
    const struct gpu_copy copy = { .to = d->to,
                                   .from = c->line,
                                   .to_pitch = sizeof(float) * d->ld,
                                   .bytes = sizeof(float) * lines.length,
                                   .lines = lines.count };
    if (!c->line || c->repeated) return true;
    c->repeated = streams_of(c)->repeat(&copy, c->stream, why) == 0;
    if (!c->repeated) fault_set(&c->fault, BITCUT_UNSUPPORTED, "%s", why);
    return c->repeated;
}

/* --- starting --------------------------------------------------------------------- */

/* GEMMs of a batch are computed together in at most this much workspace, unless one needs
   more. */
enum { TOGETHER_BYTES = 256 << 20 };

/* The preferred workspace for the batch, in bytes. */
static size_t good_bytes(const struct stream_call *c, size_t one)
{
    const size_t count = c->work.gemm.count;
    const size_t most = one && one < TOGETHER_BYTES ? TOGETHER_BYTES / one : 1;
    return one * (gpu_work_emulates(&c->work) ? 1 : count < most ? count : most);
}

static bool is_aligned(const void *at) { return (uintptr_t)at % GPU_ALIGNMENT == 0; }

static enum bitcut_status start_in(struct stream_call *c, void *at, size_t bytes)
{
    enum bitcut_status status = repeat_line(c) ? BITCUT_OK : BITCUT_UNSUPPORTED;
    const size_t parts = c->product.gemm.a.each ? c->product.gemm.count : 1;
    const struct gpu_room room = { .workspace = at, .bytes = bytes, .stream = c->stream };
    for (size_t i = 0; i < parts && status == BITCUT_OK; i++) {
        const struct bitcut_gemm g = part(c, i);
        c->work.gemm.a.at = g.a.at, c->work.gemm.b.at = g.b.at;
        c->work.gemm.c.at = g.c.at, c->work.gemm.d.to = g.d.to;
        status = gpu_work_start(&c->work, &c->gpu->gpu, &c->gpu->is, &room, &c->fault);
        if (i && status == BITCUT_BAD_ARGUMENT) status = BITCUT_UNSUPPORTED;
    }
    return status;
}

/* Workspace of `good` bytes, or of fewer, but at least `least`: from the program, or from
   the stream.  A graph gets `good` bytes or none, so that its kernels are always the
   same.  NULL: there is none. */
static void *work_room(size_t *bytes, size_t least, size_t good, struct stream_call *c,
                       const struct room_of *of)
{
    const bool own = is_aligned(c->workspace) && c->workspace_bytes >= least;
    void *at;
    *bytes = good;
    if (!least) return NULL;
    if (own && c->workspace_bytes >= good) return c->workspace;
    at = room_enter(good, of);
    if (at || c->capture) return at;
    *bytes = own ? c->workspace_bytes : least;
    return own ? c->workspace : least < good ? room_enter(least, of) : NULL;
}

enum bitcut_status stream_call_start(struct stream_call *c,
                                     const struct run_configuration *configuration)
{
    const struct room_of of = { streams_of(c), c->gpu->is.number, c->stream, c->capture };
    const struct bitcut_gemm first = part(c, 0);
    const size_t least = gpu_work_workspace(&c->work, &c->gpu->gpu);
    enum bitcut_status status = BITCUT_BAD_ARGUMENT;
    size_t bytes;
    void *const at = work_room(&bytes, least, good_bytes(c, least), c, &of);
    if (at || !least) {
        status = start_in(c, at, bytes);
        if (status == BITCUT_BAD_ARGUMENT) leave(c, LEFT_KERNEL);
    } else leave(c, c->capture ? LEFT_CAPTURE : LEFT_MEMORY);
    if (at != c->workspace) room_leave(at, &of);
    if (c->capture && status != BITCUT_OK)
        stream_choice_leave(c->gpu, configuration, &first);
    return status;
}

/* --- copies for inspection -------------------------------------------------------- */

/* The number of matrices of an operand. */
static size_t matrices(const struct bitcut_gemm *g, int i)
{
    const struct bitcut_matrix *const x = operand(g, i);
    return x->each || x->stride ? g->count : 1;
}

/* Copy all of an operand between CPU memory and device memory. */
static bool copy_operand(struct stream_call *c, int i, bool to_host)
{
    const struct bitcut_gemm *const g = &c->product.gemm;
    const struct lines lines = shape(g, i);
    const size_t bytes = sizeof(float) * lines.length;
    for (size_t n = 0; n < matrices(g, i); n++) {
        char why[GPU_FAULT_MAX];
        struct bitcut_gemm one = gemm_nth(g, n), host = gemm_nth(&c->seen.gemm, n);
        void *const there = operand(&one, i)->to, *const here = operand(&host, i)->to;
        const size_t pitch = sizeof(float) * operand(&one, i)->ld;
        const struct gpu_copy copy =
            to_host ? (struct gpu_copy){ here, there, bytes, pitch, bytes, lines.count }
                    : (struct gpu_copy){ there, here, pitch, bytes, bytes, lines.count };
        if (streams_of(c)->copy(&copy, to_host, c->stream, why) == 0) continue;
        fault_set(&c->fault, BITCUT_UNSUPPORTED, "%s", why);
        return false;
    }
    return true;
}

/* Whether C of the product is in D's memory. */
static bool is_in_place(const struct bitcut_gemm *g)
{
    return g->c.at == g->d.at && g->c.each == g->d.each;
}

/* Elements of all matrices of an operand; of C only if it is read, and is not D. */
static bool elements(size_t *count, const struct bitcut_gemm *g, int i)
{
    const struct lines lines = shape(g, i);
    *count = 0;
    if (i == 2 && (!gemm_reads_c(g) || is_in_place(g))) return true;
    return size_multiply(count, lines.count, lines.length) &&
           size_multiply(count, *count, matrices(g, i)) && *count < SIZE_MAX / OPERANDS;
}

/* The same product in CPU memory, with contiguous matrices, one after the other. */
static bool make_room(struct stream_call *c)
{
    const struct bitcut_gemm *const g = &c->product.gemm;
    size_t count[OPERANDS], all = 0;
    for (int i = 0; i < OPERANDS; all += count[i++])
        if (!elements(&count[i], g, i)) return false;
    c->memory = memory_allocate(all, sizeof *c->memory);
    if (!c->memory) return false;
    uint32_t *at = c->memory;
    c->seen = c->product;
    for (int i = 0; i < OPERANDS; at += count[i++]) {
        struct bitcut_matrix *const x = operand_to(&c->seen.gemm, i);
        const struct lines lines = shape(g, i);
        *x = (struct bitcut_matrix){ .to = at,
                                     .layout = x->layout,
                                     .ld = lines.length,
                                     .stride = matrices(g, i) > 1
                                                   ? lines.count * lines.length
                                                   : 0 };
    }
    if (is_in_place(g)) c->seen.gemm.c = c->seen.gemm.d;
    return true;
}

const struct product *stream_call_see(struct stream_call *c)
{
    const bool reads = gemm_reads_c(&c->product.gemm);
    if (c->memory) return &c->seen;
    if (!make_room(c)) {
        fault_set(&c->fault, BITCUT_NO_MEMORY, "not enough memory");
        return NULL;
    }
    if (repeat_line(c) && copy_operand(c, 0, true) && copy_operand(c, 1, true) &&
        (!reads || copy_operand(c, is_in_place(&c->product.gemm) ? 3 : 2, true)))
        return &c->seen;
    free(c->memory);
    c->memory = NULL;
    return NULL;
}

bool stream_call_fetch(struct stream_call *c) { return copy_operand(c, 3, true); }

bool stream_call_give(struct stream_call *c) { return copy_operand(c, 3, false); }

void stream_call_close(struct stream_call *c)
{
    free(c->memory);
    free(c->pointers);
    c->memory = NULL;
    c->pointers = NULL;
}
