/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the host's pageable memory and the device's memory.  The runtime copies
   pageable memory by one thread, through its own locked pages.  Several threads can read,
   write and touch memory several times as fast.  So each of a few workers has a stream
   and two locked buffers, and copies the pieces whose number leaves its remainder: the
   thread copies one buffer while the other is transferred.

   The threads of workers wait for the next copy.  Starting them, with cudaSetDevice() in
   each, takes as long as copying 50 MB. */
#include "gpu/cuda/cuda.cuh"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace
{

enum { WORKERS_MAX = 8, BUFFERS = 2, DEVICES_MAX = 16 }; /* others copy by the runtime */
/* Pieces are large, because calls of the runtime wait for each other; but each worker
   gets two pieces if possible. */
constexpr size_t PIECE = 2 << 20, PIECE_MIN = 256 << 10, LEAST = 4 << 20;

/* The data of a worker on a device: locked buffers, a stream, and for each buffer an
   event that shows that it is free. */
struct lane {
    char *buffer;
    rt_stream stream;
    rt_event there[BUFFERS];
};

struct transfer;

/* The lanes of a device, made at the first use and retained; one copy at a time uses
   them.  Devices share none: to free locked memory waits for the work of all devices.
   `state_lock` protects `copy` and all members after it. */
struct device_lanes {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char *buffers; /* NULL: no lanes */
    lane of[WORKERS_MAX];
    int workers;
    bool started[WORKERS_MAX]; /* whether a worker has a thread; worker 0 has none */
    pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t begins = PTHREAD_COND_INITIALIZER, ends = PTHREAD_COND_INITIALIZER;
    const transfer *copy;
    unsigned copies; /* number of copies that have begun          */
    int working;     /* number of threads that are not done       */
    rt_error status; /* first status that is not success          */
};
device_lanes lanes_of[DEVICES_MAX];

void lanes_clear(device_lanes &lanes)
{
    for (auto &x : lanes.of) {
        for (auto &event : x.there)
            if (event) rt_event_end(event);
        if (x.stream) rt_stream_end(x.stream);
        x = {};
    }
    if (lanes.buffers) cudaFreeHost(lanes.buffers);
    lanes.buffers = NULL;
    rt_last_error();
}

rt_error lane_make(lane *x, char *buffer)
{
    x->buffer = buffer;
    rt_error status = rt_stream_create(&x->stream, RT_NON_BLOCKING);
    for (int i = 0; i < BUFFERS && status == RT_SUCCESS; i++)
        status = cudaEventCreateWithFlags(&x->there[i], cudaEventDisableTiming);
    return status;
}

/* Make the buffers, streams and events of lanes on the current device; false: this
   fails. */
bool buffers_make(device_lanes &lanes)
{
    rt_error status = cudaHostAlloc((void **)&lanes.buffers,
                                    WORKERS_MAX * BUFFERS * PIECE, cudaHostAllocDefault);
    for (int i = 0; i < WORKERS_MAX && status == RT_SUCCESS; i++)
        status = lane_make(&lanes.of[i], lanes.buffers + i * BUFFERS * PIECE);
    if (status != RT_SUCCESS) lanes_clear(lanes);
    return status == RT_SUCCESS;
}

/* One copy, in pieces, and its workers.  It copies contiguous bytes, or lines with gaps;
   then a piece has whole lines. */
struct transfer {
    char *to;
    const char *from;
    size_t bytes, piece;
    size_t line, pitch; /* 0: contiguous         */
    cudaMemcpyKind kind;
    int device, workers;
};

/* A worker's progress through its pieces. */
struct way {
    const transfer &x;
    const lane &own;
    const int number;

    size_t start(int i) const { return (number + (size_t)i * x.workers) * x.piece; }
    bool has(int i) const { return start(i) < x.bytes; }
    size_t size(int i) const
    {
        const size_t left = x.bytes - start(i);
        return left < x.piece ? left : x.piece;
    }
    char *room(int i) const { return own.buffer + i % BUFFERS * PIECE; }
    rt_event event(int i) const { return own.there[i % BUFFERS]; }

    rt_error send(int i)
    {
        rt_error status = rt_event_wait(event(i)); /* for the piece before */
        if (status != RT_SUCCESS) return status;
        status = x.line ? send_lines(i) : send_bytes(i);
        return status == RT_SUCCESS ? rt_event_record(event(i), own.stream) : status;
    }
    rt_error send_bytes(int i)
    {
        memcpy(room(i), x.from + start(i), size(i));
        return cudaMemcpyAsync(x.to + start(i), room(i), size(i), x.kind, own.stream);
    }
    rt_error send_lines(int i)
    {
        const size_t first = start(i) / x.line, lines = size(i) / x.line;
        for (size_t j = 0; j < lines; j++)
            memcpy(room(i) + j * x.line, x.from + (first + j) * x.pitch, x.line);
        return cudaMemcpy2DAsync(x.to + first * x.pitch, x.pitch, room(i), x.line, x.line,
                                 lines, x.kind, own.stream);
    }
    rt_error ask(int i)
    {
        if (!has(i)) return RT_SUCCESS;
        const rt_error status =
            cudaMemcpyAsync(room(i), x.from + start(i), size(i), x.kind, own.stream);
        return status == RT_SUCCESS ? rt_event_record(event(i), own.stream) : status;
    }
    rt_error receive(int i)
    {
        const rt_error status = rt_event_wait(event(i));
        if (status != RT_SUCCESS) return status;
        memcpy(x.to + start(i), room(i), size(i));
        return ask(i + BUFFERS);
    }
    rt_error go()
    {
        const bool sends = x.kind == RT_TO_DEVICE;
        rt_error status = RT_SUCCESS;
        for (int i = 0; i < BUFFERS && !sends && status == RT_SUCCESS; i++)
            status = ask(i);
        for (int i = 0; has(i) && status == RT_SUCCESS; i++)
            status = sends ? send(i) : receive(i);
        const rt_error end = rt_stream_wait(own.stream);
        return status == RT_SUCCESS ? end : status;
    }
};

int workers_here()
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (int)processors;
}

/* A worker of a device, and the number of copies that began before it was started. */
struct worker {
    int device, number;
    unsigned copies;
};

/* The next copy after the first `seen` copies. */
const transfer *next_copy(device_lanes &lanes, unsigned *seen)
{
    pthread_mutex_lock(&lanes.state_lock);
    while (lanes.copies == *seen) pthread_cond_wait(&lanes.begins, &lanes.state_lock);
    *seen = lanes.copies;
    const transfer *const copy = lanes.copy;
    pthread_mutex_unlock(&lanes.state_lock);
    return copy;
}

void end_copy(device_lanes &lanes, rt_error status)
{
    pthread_mutex_lock(&lanes.state_lock);
    if (lanes.status == RT_SUCCESS) lanes.status = status;
    if (--lanes.working == 0) pthread_cond_signal(&lanes.ends);
    pthread_mutex_unlock(&lanes.state_lock);
}

void *work_on(void *context)
{
    const worker w = *(worker *)context;
    device_lanes &lanes = lanes_of[w.device];
    rt_error status = rt_device_set(w.device);
    unsigned seen = w.copies;
    free(context);
    for (;;) {
        const transfer &x = *next_copy(lanes, &seen);
        if (status != RT_SUCCESS) status = rt_device_set(w.device);
        end_copy(lanes, status == RT_SUCCESS ? way{ x, lanes.of[w.number], w.number }.go()
                                             : status);
    }
    return NULL;
}

/* Start the thread of a worker, which handles no signals and ends with the process. */
bool worker_start(int device, int number)
{
    worker *const w = (worker *)malloc(sizeof *w);
    pthread_t thread;
    sigset_t all, before;
    if (!w) return false;
    *w = { device, number, lanes_of[device].copies };
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = !pthread_create(&thread, NULL, work_on, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_detach(thread);
    else free(w);
    return started;
}

/* Make the lanes on the current device, and start their threads; false: this fails. */
bool lanes_make(device_lanes &lanes, int device)
{
    if (lanes.buffers) return true;
    lanes.workers = workers_here();
    if (!buffers_make(lanes)) return false;
    for (int i = 1; i < lanes.workers; i++) lanes.started[i] = worker_start(device, i);
    return true;
}

void begin_copy(device_lanes &lanes, const transfer &x)
{
    pthread_mutex_lock(&lanes.state_lock);
    lanes.copy = &x;
    lanes.copies++;
    lanes.status = RT_SUCCESS;
    lanes.working = 0;
    for (int i = 1; i < x.workers; i++) lanes.working += lanes.started[i];
    pthread_cond_broadcast(&lanes.begins);
    pthread_mutex_unlock(&lanes.state_lock);
}

rt_error wait_for_copy(device_lanes &lanes)
{
    pthread_mutex_lock(&lanes.state_lock);
    while (lanes.working) pthread_cond_wait(&lanes.ends, &lanes.state_lock);
    const rt_error status = lanes.status;
    pthread_mutex_unlock(&lanes.state_lock);
    return status;
}

/* The calling thread is worker 0, and each worker without a thread. */
rt_error go(device_lanes &lanes, const transfer &x)
{
    rt_error status = RT_SUCCESS;
    begin_copy(lanes, x);
    for (int i = 0; i < x.workers; i++) {
        if (lanes.started[i]) continue;
        const rt_error own = way{ x, lanes.of[i], i }.go();
        if (status == RT_SUCCESS) status = own;
    }
    const rt_error others = wait_for_copy(lanes);
    return status == RT_SUCCESS ? others : status;
}

/* Whether the runtime has locked this memory itself. */
bool is_locked(const void *at)
{
    rt_pointer x = {};
    const rt_error status = rt_pointer_get(&x, at);
    if (status != RT_SUCCESS) rt_last_error();
    return status == RT_SUCCESS && x.type != RT_OF_NOBODY;
}

size_t piece_of(size_t bytes, int workers)
{
    const size_t each = bytes / ((size_t)workers * BUFFERS);
    return each < PIECE_MIN ? PIECE_MIN : each > PIECE ? PIECE : each;
}

/* Copy by the runtime. */
rt_error copy_alone(const transfer &x)
{
    return x.line ? rt_copy_lines(x.to, x.pitch, x.from, x.pitch, x.line,
                                  x.bytes / x.line, x.kind)
                  : rt_copy(x.to, x.from, x.bytes, x.kind);
}

rt_error copy(transfer x)
{
    const void *const here = x.kind == RT_TO_DEVICE ? x.from : x.to;
    rt_error status = rt_device_get(&x.device);
    if (status != RT_SUCCESS) return status;
    if (x.bytes < LEAST || x.line > PIECE_MIN || x.device >= DEVICES_MAX ||
        is_locked(here))
        return copy_alone(x);
    device_lanes &lanes = lanes_of[x.device];
    pthread_mutex_lock(&lanes.lock);
    if (lanes_make(lanes, x.device)) {
        x.workers = lanes.workers;
        x.piece = piece_of(x.bytes, x.workers);
        if (x.line) x.piece -= x.piece % x.line;
        status = go(lanes, x);
    } else {
        status = copy_alone(x);
    }
    pthread_mutex_unlock(&lanes.lock);
    return status;
}

} // namespace

rt_error copy_there(void *to, const void *from, size_t bytes)
{
    return copy({ (char *)to, (const char *)from, bytes, 0, 0, 0, RT_TO_DEVICE, 0, 0 });
}

rt_error copy_back(void *to, const void *from, size_t bytes)
{
    return copy({ (char *)to, (const char *)from, bytes, 0, 0, 0, RT_TO_HOST, 0, 0 });
}

rt_error copy_lines_there(void *to, const void *from, size_t count, size_t bytes,
                          size_t pitch)
{
    if (!count || !bytes) return RT_SUCCESS;
    return copy({ (char *)to, (const char *)from, count * bytes, 0, bytes, pitch,
                  RT_TO_DEVICE, 0, 0 });
}
