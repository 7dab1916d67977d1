/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */
#include "gpu/cpu/host_timer.h"
#include "gpu/cpu/host_memory.h"

#include "gpu/cpu/host_peak.h"
#include "gpu/cpu/host_peers.h"
#include "gpu/cpu/host_product.h"
#include "gpu/module/layout.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/fma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Memory that grows on request and is then written to, so that no page of it is allocated
   during a measurement. */
struct buffer {
    void *at;
    size_t bytes;
};

struct gpu_session {
    struct bitcut_gemm gemm; /* D = A B, matrices one after the other */
    size_t d_bytes;          /* bytes of all D */
    struct buffer a, b, d, parts_a, parts_b, workspace;
    struct host_libraries libraries;
};

/* --- memory ----------------------------------------------------------------------- */

static int no_memory(char *fault, size_t bytes)
{
    snprintf(fault, GPU_FAULT_MAX, "not enough memory for %zu bytes", bytes);
    return 1;
}

static int buffer_reserve(struct buffer *x, size_t bytes, char *fault)
{
    if (x->at && bytes <= x->bytes) return 0;
    free(x->at);
    *x = (struct buffer){ host_reserve(bytes), bytes };
    if (!x->at) return no_memory(fault, bytes);
    memset(x->at, 0, bytes);
    return 0;
}

/* Fill with `count` matrices of `bytes` each, repeating `distinct` matrices. */
static int buffer_fill(struct buffer *x, size_t count, size_t bytes, const void *from,
                       size_t distinct, char *fault)
{
    if (buffer_reserve(x, count * bytes, fault)) return 1;
    for (size_t i = 0; i < count && bytes; i++)
        memcpy((char *)x->at + i * bytes, (const char *)from + i % distinct * bytes,
               bytes);
    return 0;
}

/* --- a session -------------------------------------------------------------------- */

static struct bitcut_matrix matrix_of(const struct buffer *x, size_t rows, size_t columns)
{
    return (struct bitcut_matrix){ .at = x->at,
                                   .format = &formats[FORMAT_F32],
                                   .ld = columns,
                                   .stride = rows * columns };
}

static int session_init(struct gpu_session *s, const struct bitcut_gemm *g,
                        size_t distinct, char *fault)
{
    const size_t element = sizeof(float);
    s->d_bytes = g->count * g->m * g->n * element;
    if (buffer_fill(&s->a, g->count, g->m * g->k * element, g->a.at, distinct, fault) ||
        buffer_fill(&s->b, g->count, g->k * g->n * element, g->b.at, distinct, fault) ||
        buffer_reserve(&s->d, s->d_bytes, fault))
        return 1;
    s->gemm = *g;
    s->gemm.alpha = F32_ONE;
    s->gemm.beta = 0;
    s->gemm.a = matrix_of(&s->a, g->m, g->k);
    s->gemm.b = matrix_of(&s->b, g->k, g->n);
    s->gemm.d = matrix_of(&s->d, g->m, g->n);
    return 0;
}

static void session_end(struct gpu_session *s)
{
    struct buffer *const all[] = { &s->a,       &s->b,       &s->d,
                                   &s->parts_a, &s->parts_b, &s->workspace };
    host_libraries_close(&s->libraries);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
    free(s);
}

/* All kernels and peers have FP32 matrices. */
static int session_begin(struct gpu_session **session, struct gpu_library *library,
                         const struct bitcut_gemm *g, size_t distinct, int device,
                         char *fault)
{
    struct gpu_session *const s = calloc(1, sizeof *s);
    (void)device;
    if (!s) return no_memory(fault, sizeof *s);
    if (session_init(s, g, distinct, fault)) {
        session_end(s);
        return 1;
    }
    host_libraries_open(&s->libraries, library, threads_for(0, SIZE_MAX));
    *session = s;
    return 0;
}

/* --- one run of an entrant -------------------------------------------------------- */

static bool has_parts(const struct gpu_entrant *e) { return e->kernel || e->peer->split; }

/* The work of an entrant, on existing parts if `made`. */
static struct gpu_work work_of(const struct gpu_session *s, const struct gpu_entrant *e,
                               bool made)
{
    struct gpu_work w = { .kernel = e->kernel, .gemm = s->gemm, .plan = e->plan };
    if (!made) return w;
    const struct operand a = operand_of(&w, BITCUT_A), b = operand_of(&w, BITCUT_B);
    const size_t stride_a = prepared_stride(&a), stride_b = prepared_stride(&b);
    w.gemm.a.prepared = s->parts_a.at, w.gemm.a.prepared_stride = stride_a;
    w.gemm.b.prepared = s->parts_b.at, w.gemm.b.prepared_stride = stride_b;
    return w;
}

/* Make the parts of all matrices of an operand. */
static int operand_split(const struct buffer *to, const struct gpu_work *w,
                         enum bitcut_operand which, char *fault)
{
    const struct operand x = operand_of(w, which);
    int told = 0;
    for (size_t i = 0; i < w->gemm.count && !told; i++) {
        struct gpu_work one = *w;
        one.gemm = gemm_nth(&w->gemm, i);
        told = host_prepare((char *)to->at + i * prepared_stride(&x), &one, which, 0,
                            NULL, fault);
    }
    return told;
}

static int split_run(const struct gpu_session *s, const struct gpu_entrant *e,
                     char *fault)
{
    const struct gpu_work w = work_of(s, e, false);
    const int told = operand_split(&s->parts_a, &w, BITCUT_A, fault);
    return told ? told : operand_split(&s->parts_b, &w, BITCUT_B, fault);
}

static int entrant_run(struct gpu_session *s, const struct gpu_entrant *e, char *fault)
{
    const bool whole = e->part == GPU_WHOLE;
    if (e->part == GPU_SPLIT) return split_run(s, e, fault);
    if (e->kernel) {
        const struct gpu_work w = work_of(s, e, !whole);
        return host_start(&w, s->workspace.at, 0, NULL, fault);
    }
    const int told = whole && has_parts(e) ? split_run(s, e, fault) : 0;
    const struct gpu_work w = work_of(s, e, has_parts(e));
    return told ? told : host_peer_run(&s->libraries, e->peer, &w, fault);
}

/* --- timing ----------------------------------------------------------------------- */

/* Prepare everything that the entrant needs before it is timed; D is NaNs. */
static int entrant_prepare(struct gpu_session *s, const struct gpu_entrant *e,
                           char *fault)
{
    struct gpu_work w = work_of(s, e, false);
    memset(s->d.at, 0xff, s->d_bytes);
    if (has_parts(e)) {
        const struct operand a = operand_of(&w, BITCUT_A), b = operand_of(&w, BITCUT_B);
        if (buffer_reserve(&s->parts_a, w.gemm.count * prepared_stride(&a), fault) ||
            buffer_reserve(&s->parts_b, w.gemm.count * prepared_stride(&b), fault))
            return 1;
    }
    w = work_of(s, e, has_parts(e) && e->part != GPU_WHOLE);
    if (e->kernel && buffer_reserve(&s->workspace, host_workspace(&w), fault)) return 1;
    return e->part == GPU_PRODUCT ? split_run(s, e, fault) : 0;
}

static int run_often(struct gpu_session *s, const struct gpu_entrant *e, int count,
                     char *fault)
{
    int told = 0;
    for (int i = 0; i < count && !told; i++) told = entrant_run(s, e, fault);
    return told;
}

/* Threads of libraries spin for a while after their work. */
static void let_sleep(void)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    nanosleep(&pause, NULL);
}

static int session_run(struct gpu_measurement *to, struct gpu_session *s,
                       const struct gpu_entrant *e, const struct gpu_loop *loop,
                       char *fault)
{
    int told = entrant_prepare(s, e, fault);
    let_sleep();
    if (!told) told = run_often(s, e, loop->warm, fault);
    const double from = seconds_now();
    if (!told) told = run_often(s, e, loop->repeats, fault);
    *to = (struct gpu_measurement){ .milliseconds = 1e3 * (seconds_now() - from) };
    return told;
}

static int session_read(void *to, struct gpu_session *s, size_t i, size_t rows,
                        char *fault)
{
    const size_t row = s->gemm.n * sizeof(float);
    (void)fault;
    memcpy(to, (const char *)s->d.at + i * row, rows * row);
    return 0;
}

static int session_place(struct gpu_place *to, struct gpu_session *s,
                         const struct gpu_entrant *e, char *fault)
{
    if (entrant_prepare(s, e, fault)) return 1;
    *to = (struct gpu_place){ .gemm = work_of(s, e, e->part != GPU_WHOLE).gemm,
                              .workspace = s->workspace.at,
                              .bytes = s->workspace.bytes };
    return 0;
}

/* --- peaks ------------------------------------------------------------------------ */

static double peak(const struct gpu_kernel *kernel)
{
    return host_peak(kernel ? kernel->architectures : 0);
}

const struct gpu_timer host_timer = { .peers = host_peers,
                                      .absent = host_peer_absent,
                                      .begin = session_begin,
                                      .run = session_run,
                                      .read = session_read,
                                      .place = session_place,
                                      .end = session_end,
                                      .peak = peak };
