/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the host's pageable memory and the device's memory.  The runtime copies
   pageable memory by one thread, through its own locked pages.  Several threads can read,
   write and touch memory several times as fast.  So each of a few workers has a stream
   and two locked buffers, and copies the pieces whose number leaves its remainder: the
   thread copies one buffer while the other is transferred. */
#include "gpu/cuda/cuda.cuh"

#include <pthread.h>
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

/* The lanes of a device, made at the first use and retained; one copy at a time uses
   them.  Devices share none: to free locked memory waits for the work of all devices. */
struct device_lanes {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char *buffers; /* NULL: no lanes */
    lane of[WORKERS_MAX];
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

/* Make the lanes on the current device; false: this fails. */
bool lanes_make(device_lanes &lanes)
{
    if (lanes.buffers) return true;
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

struct worker {
    const transfer *of;
    int number;
    pthread_t thread;
    rt_error status;
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

void *work_on(void *context)
{
    worker *const w = (worker *)context;
    w->status = rt_device_set(w->of->device);
    if (w->status == RT_SUCCESS)
        w->status = way{ *w->of, lanes_of[w->of->device].of[w->number], w->number }.go();
    return NULL;
}

/* If no further thread can be started, the calling thread copies. */
rt_error go(const transfer &x)
{
    worker workers[WORKERS_MAX] = {};
    bool started[WORKERS_MAX];
    rt_error status = RT_SUCCESS;
    for (int i = 0; i < x.workers; i++) {
        workers[i].of = &x;
        workers[i].number = i;
        started[i] = i && !pthread_create(&workers[i].thread, NULL, work_on, &workers[i]);
    }
    for (int i = 0; i < x.workers; i++)
        if (!started[i]) work_on(&workers[i]);
    for (int i = 0; i < x.workers; i++) {
        if (started[i]) pthread_join(workers[i].thread, NULL);
        if (status == RT_SUCCESS) status = workers[i].status;
    }
    return status;
}

/* Whether the runtime has locked this memory itself. */
bool is_locked(const void *at)
{
    rt_pointer x = {};
    const rt_error status = rt_pointer_get(&x, at);
    if (status != RT_SUCCESS) rt_last_error();
    return status == RT_SUCCESS && x.type != RT_OF_NOBODY;
}

int workers_here()
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1              ? 1
           : processors > WORKERS_MAX ? WORKERS_MAX
                                       : (int)processors;
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
    x.workers = workers_here();
    x.piece = piece_of(x.bytes, x.workers);
    if (x.line) x.piece -= x.piece % x.line;
    device_lanes &lanes = lanes_of[x.device];
    pthread_mutex_lock(&lanes.lock);
    status = lanes_make(lanes) ? go(x) : copy_alone(x);
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
