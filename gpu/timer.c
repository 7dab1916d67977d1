/* Timing GEMMs on one stream of a device, whichever runtime a module has. */
#include "gpu/product.h"
#include "lib/fma.h"

#include <stdlib.h>

/* Bytes in the device's memory that grow when they are asked to. */
struct buffer {
    void *at;
    size_t bytes;
};

/* A stream of its own, and what runs on it or is read beside it; zero before it is
   begun. */
struct stopwatch {
    rt_stream stream;
    rt_event from, to;
    struct peer_library *library;
    struct board *board;
};

struct gpu_session {
    int device;
    size_t count, m, n, k, bytes; /* bytes: of an element */
    struct buffer a, b, d;        /* matrices, one after the other */
    struct buffer each_a, each_b,
        each_d; /* where each is, for those that take pointers */
    struct buffer words_a, words_b, workspace;
    struct bitcut_gemm gemm; /* D = A B there */
    struct stopwatch watch;
};

/* --- a stopwatch ------------------------------------------------------------------ */

static rt_error stopwatch_begin(struct stopwatch *s)
{
    rt_error status = rt_stream_create(&s->stream, RT_NON_BLOCKING);
    if (status == RT_SUCCESS) status = rt_event_create(&s->from);
    if (status == RT_SUCCESS) status = rt_event_create(&s->to);
    return status;
}

/* Whatever of it was made. */
static void stopwatch_end(struct stopwatch *s)
{
    board_close(s->board);
    peer_close(s->library);
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

/* `bytes` bytes: those at `from`, of which there are `given`, over and over. */
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

/* Pointers to `count` matrices of `bytes` each. */
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
    if (status == RT_SUCCESS) status = rt_device_wait(); /* the copies are there */
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
                                   &s->words_a, &s->words_b, &s->workspace };
    int before;
    device_enter(&before, s->device);
    stopwatch_end(&s->watch);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) rt_free(all[i]->at);
    device_leave(before);
    free(s);
}

/* On the session's device. */
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

static bool has_words(const struct gpu_entrant *e)
{
    return e->kernel ? e->kernel->launch != NULL : e->peer->split != NULL;
}

static bool takes_pointers(const struct gpu_entrant *e)
{
    return e->kernel ? e->pointers : e->peer->pointers;
}

static void words_set(struct bitcut_matrix *m, const struct buffer *words,
                      struct operand x)
{
    m->words = words->at;
    m->words_stride = words_stride(&x);
}

/* What it does, from words that are made before unless all of it is timed. */
static struct gpu_work work_of(const struct gpu_session *s, const struct gpu_entrant *e)
{
    struct gpu_work w = { .kernel = e->kernel, .gemm = s->gemm, .plan = e->plan };
    if (e->emulation) w.emulation = *e->emulation;
    if (has_words(e) && e->part != GPU_WHOLE) {
        words_set(&w.gemm.a, &s->words_a, operand_of(&w, BITCUT_A));
        words_set(&w.gemm.b, &s->words_b, operand_of(&w, BITCUT_B));
    }
    if (takes_pointers(e)) {
        w.gemm.a.each = (const void *const *)s->each_a.at;
        w.gemm.b.each = (const void *const *)s->each_b.at;
        w.gemm.d.each = (const void *const *)s->each_d.at;
    }
    return w;
}

static rt_error words_start(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const struct gpu_work w = work_of(s, e);
    const struct to_split of[] = {
        { s->words_a.at, operand_of(&w, BITCUT_A), s->count },
        { s->words_b.at, operand_of(&w, BITCUT_B), s->count },
    };
    return split_launch(of, 2, s->watch.stream);
}

static int product_of_peer(const struct gpu_session *s, const struct gpu_entrant *e,
                           char *fault)
{
    struct gpu_entrant product = *e;
    if (has_words(e)) {
        const rt_error status = e->part == GPU_WHOLE ? words_start(s, e) : RT_SUCCESS;
        if (status != RT_SUCCESS) return fault_of(fault, status);
        product.part = GPU_PRODUCT;
    }
    const struct gpu_work w = work_of(s, &product);
    return peer_start(s->watch.library, e->peer, &w, fault);
}

static int entrant_start(const struct gpu_session *s, const struct gpu_entrant *e,
                         char *fault)
{
    if (e->part == GPU_SPLIT) return fault_of(fault, words_start(s, e));
    if (!e->kernel) return product_of_peer(s, e, fault);
    const struct gpu_work w = work_of(s, e);
    return fault_of(fault, work_start(&w, s->workspace.at, s->watch.stream));
}

/* --- timing ----------------------------------------------------------------------- */

/* All that the entrant needs before it is timed; D is NaNs. */
static rt_error entrant_prepare(struct gpu_session *s, const struct gpu_entrant *e)
{
    struct gpu_work w = work_of(s, e);
    rt_error status = rt_fill_start(s->d.at, 0xff, s->d.bytes, s->watch.stream);
    if (has_words(e)) {
        const struct operand a = operand_of(&w, BITCUT_A), b = operand_of(&w, BITCUT_B);
        if (status == RT_SUCCESS)
            status = buffer_reserve(&s->words_a, s->count * words_stride(&a));
        if (status == RT_SUCCESS)
            status = buffer_reserve(&s->words_b, s->count * words_stride(&b));
    }
    w = work_of(s, e);
    if (e->kernel && status == RT_SUCCESS)
        status = buffer_reserve(&s->workspace, gemm_workspace(&w));
    return status == RT_SUCCESS && has_words(e) && e->part == GPU_PRODUCT
               ? words_start(s, e)
               : status;
}

/* Start the entrant once, and then `repeats` times from one event to the other; the clock
   is read while the device works. */
static int time_entrant(struct gpu_measurement *to, const struct gpu_session *s,
                        const struct gpu_entrant *e, int repeats, char *fault)
{
    const struct stopwatch *const w = &s->watch;
    float milliseconds = 0;
    int other = entrant_start(s, e, fault);
    if (other) return other;
    rt_error status = rt_stream_wait(w->stream);
    const double before = board_millijoules(w->board);
    if (status == RT_SUCCESS) status = rt_event_record(w->from, w->stream);
    for (int i = 0; i < repeats && status == RT_SUCCESS; i++)
        if ((other = entrant_start(s, e, fault))) return other;
    if (status == RT_SUCCESS) status = rt_event_record(w->to, w->stream);
    const int megahertz = board_megahertz(w->board);
    if (status == RT_SUCCESS) status = rt_event_wait(w->to);
    const double after = board_millijoules(w->board);
    if (status == RT_SUCCESS) status = rt_event_between(&milliseconds, w->from, w->to);
    *to = (struct gpu_measurement){ (double)milliseconds, after - before, megahertz };
    return fault_of(fault, status);
}

static int session_run(struct gpu_measurement *measurement, struct gpu_session *s,
                       const struct gpu_entrant *e, int repeats, char *fault)
{
    int before;
    rt_error status = device_enter(&before, s->device);
    if (status == RT_SUCCESS) status = entrant_prepare(s, e);
    int told = fault_of(fault, status);
    if (!told) told = time_entrant(measurement, s, e, repeats, fault);
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

const struct gpu_timer timer = { peers, session_begin, session_run, session_read,
                                 session_end };
