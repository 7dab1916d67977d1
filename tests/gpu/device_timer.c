/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing on the device of tests/gpu/device.c, by a clock of its own. */
#define _POSIX_C_SOURCE 200809L

#include "tests/gpu/device_parts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KERNEL_NS = 6, SPLIT_NS = 2, ENTRANTS_MAX = 64 };
enum { WATTS = 700, WATTS_MAX = 1000, MHZ = 1980, LOW_MHZ = 1500 };

static int sessions;

/* A session notes how often each entrant ran. */
struct gpu_session {
    struct bitcut_gemm gemm;
    int device;
    size_t bytes; /* of an element */
    char *a, *b, *d;
    struct gpu_entrant entrant[ENTRANTS_MAX];
    int runs[ENTRANTS_MAX], entrants;
    int strided;                /* runs of that peer */
    struct model_stream stream; /* for starts by others */
    void *workspace;
};

/* `bytes` bytes: the `given` at `from`, over and over. */
static char *repeated(const char *from, size_t given, size_t bytes)
{
    char *to = model_zeros(bytes, 1);
    for (size_t i = 0; to && from && i < bytes; i++) to[i] = from[i % given];
    return to;
}

static struct bitcut_matrix dense(void *at, const struct bitcut_format *format,
                                  size_t rows, size_t columns)
{
    return (struct bitcut_matrix){
        .at = at, .format = format, .ld = columns, .stride = rows * columns
    };
}

static int session_begin(struct gpu_session **session, struct gpu_library *library,
                         const struct bitcut_gemm *g, size_t distinct, int device,
                         char *fault)
{
    struct gpu_session *s = calloc(1, sizeof *s);
    const struct bitcut_format *f = g->a.format;
    snprintf(fault, GPU_FAULT_MAX, "no memory");
    if (!s) return 1;
    s->device = device;
    s->bytes = (size_t)f->bits / 8;
    const size_t a = g->m * g->k * s->bytes, b = g->k * g->n * s->bytes;
    s->a = repeated(g->a.at, distinct * a, g->count * a);
    s->b = repeated(g->b.at, distinct * b, g->count * b);
    s->d = model_zeros(g->count * g->m * g->n, s->bytes);
    s->gemm = *g;
    s->gemm.alpha = 0x3f800000;
    s->gemm.beta = 0;
    s->gemm.a = dense(s->a, f, g->m, g->k);
    s->gemm.b = dense(s->b, f, g->k, g->n);
    s->gemm.c = (struct bitcut_matrix){ 0 };
    s->gemm.d = dense(s->d, f, g->m, g->n);
    s->stream = (struct model_stream){ .open = true, .idle = true };
    library->here = !model_has_fault("no library");
    snprintf(library->text, GPU_TEXT_MAX, library->here ? "Peers 1.0" : "none: lost");
    sessions++;
    *session = s;
    return s->a && s->b && s->d ? 0 : 1;
}

static void session_end(struct gpu_session *s)
{
    free(s->workspace);
    free(s->d);
    free(s->b);
    free(s->a);
    free(s);
}

static int runs_before(struct gpu_session *s, const struct gpu_entrant *e)
{
    int i = 0;
    while (i < s->entrants &&
           (s->entrant[i].kernel != e->kernel || s->entrant[i].peer != e->peer ||
            s->entrant[i].part != e->part))
        i++;
    if (i == ENTRANTS_MAX) return 0;
    if (i == s->entrants) s->entrant[s->entrants++] = *e;
    return s->runs[i]++;
}

enum { UNSTEADY_RUNS = 5 };

/* Runs after each other take 2 % less than its time, its time, and 2 % more; as long as
   the device settles, one, two and three times it. */
static double jitter(struct gpu_session *s, const struct gpu_entrant *e)
{
    const int before = runs_before(s, e), turn = before % 3;
    const bool settles = model_has_fault("settles") ||
                         (model_has_fault("settles soon") && before < UNSTEADY_RUNS);
    return settles ? 1 + turn : 1 + (turn - 1) * 0.02;
}

static double large_milliseconds(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const struct bitcut_gemm *g = &s->gemm;
    const double products = (double)(g->count * g->m * g->n * g->k);
    const double parts_made = (double)(g->count * (g->m + g->n) * g->k);
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    const bool split_too = e->part != GPU_PRODUCT && (e->kernel || e->peer->split);
    const bool slow = e->kernel && !strstr(e->kernel->name, "large") &&
                      model_has_fault("large is fast");
    const double product = e->part == GPU_SPLIT ? 0
                           : own                ? own->ns
                                                : KERNEL_NS * (slow ? 2 : 1);
    return 1e-6 * (product * products + (split_too ? SPLIT_NS * parts_made : 0));
}

/* By pointers a kernel takes twice as long. */
static double small_milliseconds(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    const double ns = own ? own->ns : KERNEL_NS * (e->pointers ? 2 : 1);
    return 1e-6 * ns * (double)s->gemm.count;
}

/* Whether the peer at strides does not run: large ones, or again. */
static bool is_refused(struct gpu_session *s, const struct gpu_entrant *e)
{
    return e->peer && !strcmp(e->peer->name, "strided") &&
           ((model_has_fault("peer is small") && s->gemm.n > 8) ||
            (model_has_fault("peer tires") && s->strided++ > 0));
}

/* What the entrant computes; a peer that has no split reads numbers as they are. */
static int compute_entrant(struct gpu_session *s, const struct gpu_entrant *e,
                           char *fault)
{
    const struct peer_own *own = e->peer ? e->peer->own : NULL;
    struct gpu_work w = { .kernel = own ? own->like : e->kernel,
                          .gemm = s->gemm,
                          .plan = e->plan };
    if (e->emulation) w.emulation = *e->emulation;
    if (own && !w.plan.split_a.parts) {
        w.plan.split_a = *bitcut_split_find(s->bytes == 2 ? "half" : "f32");
        w.plan.split_b = w.plan.split_a;
    }
    if (own) w.plan.order.slices = 1;
    if (own && (!own->like || is_refused(s, e))) {
        snprintf(fault, GPU_FAULT_MAX, "not supported");
        return 1;
    }
    return own ? model_emulate(&w) != BITCUT_OK : model_gemm(&w, NULL, s->device, fault);
}

/* Under load, of large ones: at its time, but slower where something holds it back, of
   which peers have more. */
static struct gpu_measurement loaded(double ms, const struct gpu_entrant *e,
                                     const struct gpu_loop *loop)
{
    const bool hot = model_has_fault("hot"), capped = model_has_fault("capped");
    const double slower = hot || capped                ? e->kernel ? 1.25 : 1.5
                          : model_has_fault("settles") ? 2
                                                       : 1;
    struct gpu_measurement x = { .milliseconds = ms * slower,
                                 .board_watts_most = WATTS_MAX,
                                 .megahertz = hot || capped ? LOW_MHZ : MHZ,
                                 .reads = loop->reads,
                                 .at_power = capped ? loop->reads : hot,
                                 .at_heat = hot ? loop->reads : 0 };
    x.board_watts = WATTS;
    if (model_has_fault("no board")) x = (struct gpu_measurement){ .milliseconds = ms };
    if (model_has_fault("full")) x.reads = 0, x.board_watts_most = WATTS;
    return x;
}

/* DEVICE_ORDER names a file that gets who ran, and how often before it was timed. */
static void note_run(const struct gpu_entrant *e, const struct gpu_loop *loop)
{
    const char *path = getenv("DEVICE_ORDER");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s.%d %d %d %d\n", e->kernel ? e->kernel->name : e->peer->name,
            (int)e->part, loop->warm, loop->repeats, loop->reads);
    fclose(file);
}

static int session_run(struct gpu_measurement *measurement, struct gpu_session *s,
                       const struct gpu_entrant *e, const struct gpu_loop *loop,
                       char *fault)
{
    const bool small = s->bytes == 2;
    const double ms =
        loop->repeats * (small ? small_milliseconds(s, e) : large_milliseconds(s, e));
    note_run(e, loop);
    memset(s->d, 0xff, s->gemm.count * s->gemm.m * s->gemm.n * s->bytes);
    if (model_fault()->spoil == model_interrupt && sessions == 2 && e->part == GPU_SPLIT)
        raise(SIGTERM);
    if (e->part != GPU_SPLIT && compute_entrant(s, e, fault) != 0) return 1;
    *measurement = !small && loop->warm > 1
                       ? loaded(ms, e, loop)
                       : (struct gpu_measurement){
                             .milliseconds = small ? ms : ms * jitter(s, e),
                             .megahertz = MHZ,
                         };
    return 0;
}

static int session_read(void *to, struct gpu_session *s, size_t i, size_t rows,
                        char *fault)
{
    const size_t row = s->gemm.n * s->bytes;
    (void)fault;
    memcpy(to, s->d + i * row, rows * row);
    return 0;
}

/* For starts by others; by pointers there is one of each. */
static int session_place(struct gpu_place *to, struct gpu_session *s,
                         const struct gpu_entrant *e, char *fault)
{
    struct gpu_work w = { .kernel = e->kernel, .gemm = s->gemm, .plan = e->plan };
    const size_t bytes = model_workspace(&w);
    snprintf(fault, GPU_FAULT_MAX, "no memory");
    free(s->workspace);
    s->workspace = aligned_alloc(GPU_ALIGNMENT,
                                 bytes / GPU_ALIGNMENT * GPU_ALIGNMENT + GPU_ALIGNMENT);
    if (e->pointers) {
        static const void *each[3];
        each[0] = s->a, each[1] = s->b, each[2] = s->d;
        w.gemm.a = (struct bitcut_matrix){ .each = &each[0], .format = s->gemm.a.format };
        w.gemm.b = (struct bitcut_matrix){ .each = &each[1], .format = s->gemm.b.format };
        w.gemm.d = (struct bitcut_matrix){ .each = &each[2], .format = s->gemm.d.format };
    }
    *to = (struct gpu_place){ w.gemm, s->workspace, bytes, &s->stream };
    return s->workspace ? 0 : 1;
}

/* Takes half as long as a slow start. */
static int session_start_empty(struct gpu_session *s, char *fault)
{
    const struct timespec slow = { 0, 500L * SLOW_MICROSECONDS };
    snprintf(fault, GPU_FAULT_MAX, "nothing cannot be launched");
    if (model_has_fault("starts slowly")) nanosleep(&slow, NULL);
    return model_has_fault("launches nothing") || ++s->stream.starts > QUEUE;
}

static int session_wait(struct gpu_session *s, char *fault)
{
    (void)fault;
    s->stream.starts = 0;
    return 0;
}

const struct gpu_timer model_timer = { .peers = model_peers,
                                       .begin = session_begin,
                                       .run = session_run,
                                       .read = session_read,
                                       .place = session_place,
                                       .start_empty = session_start_empty,
                                       .wait = session_wait,
                                       .end = session_end };
