/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of a caller, by the CUDA runtime.  In a process, a stream of one copy of the
   runtime is valid in all copies, and so is the current device. */
#include "gpu/cuda/cuda.cuh"

#include <atomic>
#include <mutex>
#include <new>

namespace
{

/* Calls that do not affect a graph are allowed while some stream captures one, if the
   thread declares that it knows. */
struct knowing {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    knowing() { cudaThreadExchangeStreamCaptureMode(&mode); }
    ~knowing() { cudaThreadExchangeStreamCaptureMode(&mode); }
};

int device(int *number, char *fault) { return fault_of(fault, rt_device_get(number)); }

/* The graph that a stream captures, and its number; 0: it does not capture. */
rt_error capture_of(unsigned long long *id, cudaGraph_t *graph, rt_stream stream)
{
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
#if CUDART_VERSION >= 13000
    const rt_error status =
        cudaStreamGetCaptureInfo(stream, &capturing, id, graph, nullptr, nullptr, nullptr);
#else
    const rt_error status =
        cudaStreamGetCaptureInfo_v2(stream, &capturing, id, graph, nullptr, nullptr);
#endif
    if (capturing == cudaStreamCaptureStatusNone) *id = 0;
    return status;
}

int ask(uint64_t *capture, void *stream, char *fault)
{
    unsigned long long id = 0;
    cudaGraph_t graph;
    const rt_error status = capture_of(&id, &graph, (rt_stream)stream);
    if (status == RT_SUCCESS) *capture = id;
    return fault_of(fault, status);
}

/* --- memory ----------------------------------------------------------------------- */

/* Memory of a graph, which its last user puts into a list. */
struct graph_memory {
    void *at;
    std::atomic<graph_memory *> *unused;
    graph_memory *next;
};

/* Memory of a device.  Between calls the pool retains a part of the device's memory, for
   all streams together; cudaMalloc() takes it back when memory is short. */
struct device_pool {
    std::once_flag once;
    rt_error status;
    cudaMemPool_t pool;
    rt_stream graphs; /* stream in whose order the memory of graphs is allocated and
                         freed                                                    */
    std::atomic<graph_memory *> unused;
} pools[DEVICES_MAX];

constexpr int KEPT_SHARE = 64; /* 1/64 of the device's memory is retained */

rt_error pool_make(device_pool *p, int number)
{
    cudaMemPoolProps props = {};
    int no = 0;
    size_t unused, all = 0;
    props.allocType = cudaMemAllocationTypePinned;
    props.location = { cudaMemLocationTypeDevice, number };
    rt_error status = cudaMemGetInfo(&unused, &all);
    uint64_t kept = all / KEPT_SHARE;
    if (status == RT_SUCCESS) status = cudaMemPoolCreate(&p->pool, &props);
    if (status == RT_SUCCESS)
        status = cudaMemPoolSetAttribute(p->pool, cudaMemPoolAttrReleaseThreshold, &kept);
    /* No stream waits for another stream because of memory. */
    if (status == RT_SUCCESS)
        status =
            cudaMemPoolSetAttribute(p->pool, cudaMemPoolReuseAllowInternalDependencies, &no);
    return status == RT_SUCCESS ? rt_stream_create(&p->graphs, RT_NON_BLOCKING) : status;
}

/* The pool of the current device. */
rt_error pool_of(device_pool **p)
{
    int number;
    const rt_error status = rt_device_get(&number);
    if (status != RT_SUCCESS) return status;
    if (number >= DEVICES_MAX) return cudaErrorInvalidDevice;
    *p = &pools[number];
    std::call_once((*p)->once, [&] { (*p)->status = pool_make(*p, number); });
    return (*p)->status;
}

/* Called when nothing uses the memory any more.  It must not call CUDA functions. */
void CUDART_CB put_unused(void *of)
{
    graph_memory *const m = (graph_memory *)of;
    m->next = m->unused->load();
    while (!m->unused->compare_exchange_weak(m->next, m)) {}
}

void free_unused(device_pool *p)
{
    graph_memory *next;
    for (graph_memory *m = p->unused.exchange(nullptr); m; m = next) {
        next = m->next;
        cudaFreeAsync(m->at, p->graphs);
        delete m;
    }
}

/* Let the graph own the memory. */
rt_error give(cudaGraph_t graph, graph_memory *m)
{
    cudaUserObject_t object;
    rt_error status =
        cudaUserObjectCreate(&object, m, put_unused, 1, cudaUserObjectNoDestructorSync);
    if (status != RT_SUCCESS) {
        put_unused(m);
        return status;
    }
    status = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    if (status != RT_SUCCESS) cudaUserObjectRelease(object, 1);
    return status;
}

/* The memory exists before the graph runs, on any stream. */
rt_error reserve_in_graph(void **at, size_t bytes, cudaGraph_t graph, device_pool *p)
{
    graph_memory *const m = new (std::nothrow) graph_memory{ nullptr, &p->unused, nullptr };
    if (!m) return RT_NO_MEMORY;
    rt_error status = cudaMallocFromPoolAsync(&m->at, bytes, p->pool, p->graphs);
    if (status != RT_SUCCESS) {
        delete m;
        return status;
    }
    *at = m->at;
    status = rt_stream_wait(p->graphs);
    const rt_error given = give(graph, m);
    return status == RT_SUCCESS ? given : status;
}

int reserve(void **at, size_t bytes, void *stream, char *fault)
{
    const knowing now;
    device_pool *p;
    unsigned long long capture = 0;
    cudaGraph_t graph;
    rt_error status = pool_of(&p);
    if (status == RT_SUCCESS) status = capture_of(&capture, &graph, (rt_stream)stream);
    if (status != RT_SUCCESS) return fault_of(fault, status);
    free_unused(p);
    status = capture ? reserve_in_graph(at, bytes, graph, p)
                     : cudaMallocFromPoolAsync(at, bytes, p->pool, (rt_stream)stream);
    return fault_of(fault, status);
}

int release(void *at, void *stream, char *fault)
{
    const knowing now;
    unsigned long long capture = 0;
    cudaGraph_t graph;
    const rt_error status = capture_of(&capture, &graph, (rt_stream)stream);
    if (status != RT_SUCCESS || capture) return fault_of(fault, status);
    return fault_of(fault, cudaFreeAsync(at, (rt_stream)stream));
}

/* --- copies ----------------------------------------------------------------------- */

int copy(const struct gpu_copy *x, int to_host, void *stream, char *fault)
{
    const knowing now;
    rt_error status =
        cudaMemcpy2DAsync(x->to, x->to_pitch, x->from, x->from_pitch, x->bytes, x->lines,
                          to_host ? RT_TO_HOST : RT_TO_DEVICE, (rt_stream)stream);
    if (status == RT_SUCCESS) status = rt_stream_wait((rt_stream)stream);
    return fault_of(fault, status);
}

/* Each time copy as many lines as exist, which doubles them. */
int repeat(const struct gpu_copy *x, void *stream, char *fault)
{
    char *const to = (char *)x->to;
    rt_error status =
        cudaMemcpyAsync(to, x->from, x->bytes, RT_ON_DEVICE, (rt_stream)stream);
    for (size_t n = 1; n < x->lines && status == RT_SUCCESS; n *= 2)
        status = cudaMemcpy2DAsync(to + n * x->to_pitch, x->to_pitch, to, x->to_pitch,
                                   x->bytes, n < x->lines - n ? n : x->lines - n,
                                   RT_ON_DEVICE, (rt_stream)stream);
    return fault_of(fault, status);
}

} // namespace

const struct gpu_streams streams = { device, ask, reserve, release, copy, repeat };
