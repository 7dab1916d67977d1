/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing GEMMs on one stream of a device, for any runtime of a module. */
#include "gpu/module/product.h"
#include "lib/base/clock.h"
#include "lib/number/fma.h"

#include <stdlib.h>

/* Device memory that grows on request. */
struct buffer {
    void *at;
    size_t bytes;
};

/* A separate stream, and what runs on it or is read during a measurement; zero before it
   is begun. */
struct stopwatch {
    rt_stream stream;
    rt_event from, to;
    rt_event part[2]; /* ends of two successive parts of a loop           */
    struct peer_library *library;
    struct board *board;
};

struct gpu_session {
    int device;
    size_t count, m, n, k, bytes; /* bytes of an element  */
    struct buffer a, b, d;        /* matrices, one after the other */
    struct buffer each_a, each_b,
        each_d; /* addresses of the matrices, for entrants that take pointers */
    struct buffer parts_a, parts_b, workspace;
    struct bitcut_gemm gemm; /* D = A B on these matrices */
    struct stopwatch watch;
};

/* --- a stopwatch ------------------------------------------------------------------ */

static rt_error stopwatch_begin(struct stopwatch *s)
{
    rt_error status = rt_stream_create(&s->stream, RT_NON_BLOCKING);
    if (status == RT_SUCCESS) status = rt_event_create(&s->from);
    if (status == RT_SUCCESS) status = rt_event_create(&s->to);
    for (int i = 0; i < 2 && status == RT_SUCCESS; i++)
        status = rt_event_create(&s->part[i]);
    return status;
}

/* Free everything that was made. */
static void stopwatch_end(struct stopwatch *s)
{
    board_close(s->board);
    peer_close(s->library);
    for (int i = 0; i < 2; i++)
        if (s->part[i]) rt_event_end(s->part[i]);
    if (s->to) rt_event_end(s->to);
    if (s->from) rt_event_end(s->from);
    if (s->stream) rt_stream_end(s->stream);
}

/* --- a session -------------------------------------------------------------------- */

static rt_error buffer_reserve(struct buffer *x, size_t bytes)
{
    if (x->at && bytes <= x->bytes) return RT_SUCCESS;
    const rt_error status = rt_free(x->at);
    *x = (struct buffer){ 0 };
    if (status != RT_SUCCESS) return status;
    x->bytes = bytes;
    return rt_malloc(&x->at, bytes ? bytes : 1);
}

/* Fill `bytes` bytes by repeating the `given` bytes at `from`. */
static rt_error buffer_fill(struct buffer *x, size_t bytes, const void *from,
                            size_t given)
{
    size_t done = given < bytes ? given : bytes;
    rt_error status = buffer_reserve(x, bytes);
    if (status == RT_SUCCESS) status = rt_copy(x->at, from, done, RT_TO_DEVICE);
    while (done && done < bytes && status == RT_SUCCESS) {
        const size_t more = done < bytes - done ? done : bytes - done;
        status = rt_copy((char *)x->at + done, x->at, more, RT_ON_DEVICE);
        done += more;
    }
    return status;
}

/* Make pointers to `count` matrices of `bytes` each. */
static rt_error pointers_fill(struct buffer *x, const struct buffer *to, size_t count,
                              size_t bytes)
{
    const char **const from = malloc((count ? count : 1) * sizeof *from);
    if (!from) return RT_NO_MEMORY;
    for (size_t i = 0; i < count; i++) from[i] = (const char *)to->at + i * bytes;
    const rt_error status =
        buffer_fill(x, count * sizeof *from, from, count * sizeof *from);
    free(from);
    return status;
}

static struct bitcut_matrix matrix_of(const struct buffer *x,
                                      const struct bitcut_format *format, size_t rows,
                                      size_t columns)
{
    return (struct bitcut_matrix){
        .at = x->at, .format = format, .ld = columns, .stride = rows * columns
    };
}

static rt_error session_init(struct gpu_session *s, const struct bitcut_gemm *g,
                             size_t distinct)
{
    const size_t a = s->m * s->k * s->bytes, b = s->k * s->n * s->bytes,
                 d = s->m * s->n * s->bytes;
    rt_error status = stopwatch_begin(&s->watch);
    if (status == RT_SUCCESS)
        status = buffer_fill(&s->a, s->count * a, g->a.at, distinct * a);
    if (status == RT_SUCCESS)
        status = buffer_fill(&s->b, s->count * b, g->b.at, distinct * b);
    if (status == RT_SUCCESS) status = buffer_reserve(&s->d, s->count * d);
    if (status == RT_SUCCESS) status = pointers_fill(&s->each_a, &s->a, s->count, a);
    if (status == RT_SUCCESS) status = pointers_fill(&s->each_b, &s->b, s->count, b);
    if (status == RT_SUCCESS) status = pointers_fill(&s->each_d, &s->d, s->count, d);
    if (status == RT_SUCCESS) status = rt_device_wait(); /* the copies are complete */
    s->gemm = *g;
    s->gemm.alpha = F32_ONE;
    s->gemm.beta = 0;
    s->gemm.a = matrix_of(&s->a, g->a.format, s->m, s->k);
    s->gemm.b = matrix_of(&s->b, g->a.format, s->k, s->n);
    s->gemm.d = matrix_of(&s->d, g->a.format, s->m, s->n);
    return status;
}

static void session_end(struct gpu_session *s)
{
    struct buffer *const all[] = { &s->a,       &s->b,       &s->d,
                                   &s->each_a,  &s->each_b,  &s->each_d,
                                   &s->parts_a, &s->parts_b, &s->workspace };
    int before;
    device_enter(&before, s->device);
    stopwatch_end(&s->watch);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) rt_free(all[i]->at);
    device_leave(before);
    free(s);
}

/* Start the session on its device. */
static int session_start(struct gpu_session *s, struct gpu_library *library,
                         const struct bitcut_gemm *g, size_t distinct, char *fault)
{
    int before;
    rt_error status = device_enter(&before, s->device);
    if (status == RT_SUCCESS) status = session_init(s, g, distinct);
    const int told = fault_of(fault, status);
    if (!told) peer_open(&s->watch.library, library, s->watch.stream);
    if (!told) s->watch.board = board_open();
    device_leave(before);
    return told;
}

static int session_begin(struct gpu_session **session, struct gpu_library *library,
                         const struct bitcut_gemm *g, size_t distinct, int device,
                         char *fault)
{
    struct gpu_session *const s = calloc(1, sizeof *s);
    if (!s) return fault_of(fault, RT_NO_MEMORY);
    s->device = device;
    s->count = g->count;
    s->m = g->m;
    s->n = g->n;
    s->k = g->k;
    s->bytes = (size_t)g->a.format->bits / 8;
    const int told = session_start(s, library, g, distinct, fault);
    if (told) session_end(s);
    else *session = s;
    return told;
}

/* --- one start of an entrant ------------------------------------------------------ */

static bool has_parts(const struct gpu_entrant *e)
{
    return e->kernel ? e->kernel->launch != NULL : e->peer->split != NULL;
}

static bool takes_pointers(const struct gpu_entrant *e)
{
    return e->kernel ? e->pointers : e->peer->pointers;
}

static void parts_set(struct bitcut_matrix *m, const struct buffer *parts,
                      struct operand x)
{
    m->prepared = parts->at;
    m->prepared_stride = prepared_stride(&x);
}

/* The work of an entrant, on parts that are made before unless the whole GEMM is
   timed. */
static struct gpu_work work_of(const struct gpu_session *s, const struct gpu_entrant *e)
{
    struct gpu_work w = { .kernel = e->kernel, .gemm = s->gemm, .plan = e->plan };
    if (e->emulation) w.emulation = *e->emulation;
    if (has_parts(e) && e->part != GPU_WHOLE) {
        parts_set(&w.gemm.a, &s->parts_a, operand_of(&w, BITCUT_A));
        parts_set(&w.gemm.b, &s->parts_b, operand_of(&w, BITCUT_B));
    }
    if (takes_pointers(e)) {
        w.gemm.a.each = (const void *const *)s->each_a.at;
        w.gemm.b.each = (const void *const *)s->each_b.at;
        w.gemm.d.each = (const void *const *)s->each_d.at;
    }
    return w;
}

static rt_error parts_start(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const struct gpu_work w = work_of(s, e);
    const struct to_split of[] = {
        { s->parts_a.at, operand_of(&w, BITCUT_A), s->count },
        { s->parts_b.at, operand_of(&w, BITCUT_B), s->count },
    };
    return split_launch(of, 2, s->watch.stream);
}

static int product_of_peer(const struct gpu_session *s, const struct gpu_entrant *e,
                           char *fault)
{
    struct gpu_entrant product = *e;
    if (has_parts(e)) {
        const rt_error status = e->part == GPU_WHOLE ? parts_start(s, e) : RT_SUCCESS;
        if (status != RT_SUCCESS) return fault_of(fault, status);
        product.part = GPU_PRODUCT;
    }
    const struct gpu_work w = work_of(s, &product);
    return peer_start(s->watch.library, e->peer, &w, fault);
}

static int entrant_start(const struct gpu_session *s, const struct gpu_entrant *e,
                         char *fault)
{
    if (e->part == GPU_SPLIT) return fault_of(fault, parts_start(s, e));
    if (!e->kernel) return product_of_peer(s, e, fault);
    const struct gpu_work w = work_of(s, e);
    return fault_of(fault, work_start(&w, s->workspace.at, s->watch.stream));
}

/* --- timing ----------------------------------------------------------------------- */

/* Prepare everything that the entrant needs before it is timed; D is NaNs. */
static rt_error entrant_prepare(struct gpu_session *s, const struct gpu_entrant *e)
{
    struct gpu_work w = work_of(s, e);
    rt_error status = rt_fill_start(s->d.at, 0xff, s->d.bytes, s->watch.stream);
    if (has_parts(e)) {
        const struct operand a = operand_of(&w, BITCUT_A), b = operand_of(&w, BITCUT_B);
        if (status == RT_SUCCESS)
            status = buffer_reserve(&s->parts_a, s->count * prepared_stride(&a));
        if (status == RT_SUCCESS)
            status = buffer_reserve(&s->parts_b, s->count * prepared_stride(&b));
    }
    w = work_of(s, e);
    if (e->kernel && status == RT_SUCCESS)
        status = buffer_reserve(&s->workspace, gemm_workspace(&w));
    return status == RT_SUCCESS && has_parts(e) && e->part == GPU_PRODUCT
               ? parts_start(s, e)
               : status;
}

static int start_often(const struct gpu_session *s, const struct gpu_entrant *e,
                       int count, char *fault)
{
    int told = 0;
    for (int i = 0; i < count && !told; i++) told = entrant_start(s, e, fault);
    return told;
}

/* A step of the counter of energy: its new value, and when that value was read. */
struct energy_step {
    double millijoules, seconds;
};

/* The readings of the board while a loop ran. */
struct board_reads {
    int megahertz[GPU_READS_MAX], clocks; /* clocks that were available */
    int limits, at_power, at_heat;
    int steps; /* of the counter of energy, which advances every 20 to 100 ms */
    struct energy_step first, last;
};

/* Only at a step does the counter's value belong to a known time. */
static void energy_read(struct board_reads *to, const struct board *board)
{
    const struct energy_step now = { board_millijoules(board), seconds_now() };
    if (now.millijoules == to->last.millijoules) return;
    if (to->steps++ == 0) to->first = now;
    to->last = now;
}

static double watts(const struct board_reads *x)
{
    const double seconds = x->last.seconds - x->first.seconds;
    return x->steps < 2 ? 0
                        : (x->last.millijoules - x->first.millijoules) / seconds / 1e3;
}

static void board_read(struct board_reads *to, const struct board *board)
{
    const int megahertz = board_megahertz(board), limits = board_limits(board);
    energy_read(to, board);
    if (megahertz > 0) to->megahertz[to->clocks++] = megahertz;
    if (limits < 0) return;
    to->limits++;
    to->at_power += (limits & GPU_LIMIT_POWER) != 0;
    to->at_heat += (limits & GPU_LIMIT_HEAT) != 0;
}

static int by_size(const void *p, const void *q)
{
    return *(const int *)p - *(const int *)q;
}

static int median_megahertz(struct board_reads *x)
{
    qsort(x->megahertz, (size_t)x->clocks, sizeof *x->megahertz, by_size);
    return x->clocks ? x->megahertz[x->clocks / 2] : 0;
}

/* Start the repeats, part after part, up to the event w->to.  The end of a part is waited
   for when the next one has been started, and the board is read while that one runs.  So
   the device does not wait if a read (up to 5 ms on an H200) and the starts of a part
   take less time than a part. */
static int run_parts(struct board_reads *reads, const struct gpu_session *s,
                     const struct gpu_entrant *e, const struct gpu_loop *loop,
                     char *fault)
{
    const struct stopwatch *const w = &s->watch;
    int begun = 0;
    for (int i = 0; i < loop->reads; i++) {
        const int to = (int)((long long)loop->repeats * (i + 1) / loop->reads);
        const int told = start_often(s, e, to - begun, fault);
        if (told) return told;
        const rt_event end = i + 1 < loop->reads ? w->part[i % 2] : w->to;
        rt_error status = rt_event_record(end, w->stream);
        if (status == RT_SUCCESS && i) status = rt_event_wait(w->part[(i - 1) % 2]);
        if (status != RT_SUCCESS) return fault_of(fault, status);
        board_read(reads, w->board);
        begun = to;
    }
    return 0;
}

/* The measurement of a loop that ran between the events. */
static struct gpu_measurement measured(struct board_reads *reads, const struct board *b,
                                       double milliseconds)
{
    return (struct gpu_measurement){ .milliseconds = milliseconds,
                                     .board_watts = watts(reads),
                                     .board_watts_most = board_watts_most(b),
                                     .megahertz = median_megahertz(reads),
                                     .reads = reads->limits,
                                     .at_power = reads->at_power,
                                     .at_heat = reads->at_heat };
}

static int time_entrant(struct gpu_measurement *to, const struct gpu_session *s,
                        const struct gpu_entrant *e, const struct gpu_loop *loop,
                        char *fault)
{
    const struct stopwatch *const w = &s->watch;
    struct board_reads reads = { 0 };
    float milliseconds = 0;
    int told = start_often(s, e, loop->warm, fault);
    if (told) return told;
    rt_error status = rt_stream_wait(w->stream);
    reads.last.millijoules = board_millijoules(w->board);
    if (status == RT_SUCCESS) status = rt_event_record(w->from, w->stream);
    if (status != RT_SUCCESS) return fault_of(fault, status);
    if ((told = run_parts(&reads, s, e, loop, fault))) return told;
    status = rt_event_wait(w->to);
    if (status == RT_SUCCESS) status = rt_event_between(&milliseconds, w->from, w->to);
    *to = measured(&reads, w->board, (double)milliseconds);
    return fault_of(fault, status);
}

static int session_run(struct gpu_measurement *measurement, struct gpu_session *s,
                       const struct gpu_entrant *e, const struct gpu_loop *loop,
                       char *fault)
{
    int before;
    rt_error status = device_enter(&before, s->device);
    if (status == RT_SUCCESS) status = entrant_prepare(s, e);
    int told = fault_of(fault, status);
    if (!told) told = time_entrant(measurement, s, e, loop, fault);
    device_leave(before);
    return told;
}

static int session_read(void *to, struct gpu_session *s, size_t i, size_t rows,
                        char *fault)
{
    const size_t row = s->n * s->bytes;
    int before;
    rt_error status = device_enter(&before, s->device);
    if (status == RT_SUCCESS)
        status = rt_copy(to, (const char *)s->d.at + i * row, rows * row, RT_TO_HOST);
    device_leave(before);
    return fault_of(fault, status);
}

/* --- starts by others ------------------------------------------------------------- */

static int session_place(struct gpu_place *to, struct gpu_session *s,
                         const struct gpu_entrant *e, char *fault)
{
    int before;
    rt_error status = device_enter(&before, s->device);
    if (status == RT_SUCCESS) status = entrant_prepare(s, e);
    if (status == RT_SUCCESS) status = rt_stream_wait(s->watch.stream);
    device_leave(before);
    const struct gpu_work w = work_of(s, e);
    *to = (struct gpu_place){ w.gemm, s->workspace.at, s->workspace.bytes,
                              s->watch.stream };
    if (takes_pointers(e)) to->gemm.a.at = to->gemm.b.at = to->gemm.d.at = NULL;
    return fault_of(fault, status);
}

#ifdef GPU_HIP
#define START_EMPTY NULL
#else
#define START_EMPTY session_start_empty

static int session_start_empty(struct gpu_session *s, char *fault)
{
    int before;
    rt_error status = device_enter(&before, s->device);
    if (status == RT_SUCCESS) status = empty_start(s->watch.stream);
    device_leave(before);
    return fault_of(fault, status);
}
#endif

static int session_wait(struct gpu_session *s, char *fault)
{
    return fault_of(fault, rt_stream_wait(s->watch.stream));
}

const struct gpu_timer timer = { .peers = peers,
                                 .begin = session_begin,
                                 .run = session_run,
                                 .read = session_read,
                                 .place = session_place,
                                 .start_empty = START_EMPTY,
                                 .wait = session_wait,
                                 .end = session_end };
