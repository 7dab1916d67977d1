/* Streams of a caller, by the CUDA runtime: a stream of one runtime in a process is one
   of all, as is the current device. */
#include "gpu/cuda/cuda.cuh"

namespace
{

/* What has nothing to do with a graph is allowed while some stream captures one, if the
   thread says that it knows. */
struct knowing {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    knowing() { cudaThreadExchangeStreamCaptureMode(&mode); }
    ~knowing() { cudaThreadExchangeStreamCaptureMode(&mode); }
};

int device(int *number, char *fault) { return fault_of(fault, rt_device_get(number)); }

rt_error capture_of(unsigned long long *id, rt_stream stream)
{
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    const rt_error status = cudaStreamGetCaptureInfo(stream, &capturing, id);
    if (capturing == cudaStreamCaptureStatusNone) *id = 0;
    return status;
}

int ask(struct gpu_stream *to, void *stream, char *fault)
{
    unsigned long long id = 0, capture = 0;
    rt_error status = capture_of(&capture, (rt_stream)stream);
    if (status == RT_SUCCESS && !capture)
        status = cudaStreamGetId((rt_stream)stream, &id);
    if (status == RT_SUCCESS) *to = { id, capture };
    return fault_of(fault, status);
}

int reserve(void **at, size_t bytes, void *stream, char *fault)
{
    const knowing now;
    return fault_of(fault, cudaMallocAsync(at, bytes, (rt_stream)stream));
}

int release(void *at, void *stream, char *fault)
{
    const knowing now;
    return fault_of(fault, cudaFreeAsync(at, (rt_stream)stream));
}

int mark(void **at, void *stream, char *fault)
{
    rt_error status = RT_SUCCESS;
    if (!*at) status = cudaEventCreateWithFlags((rt_event *)at, cudaEventDisableTiming);
    if (status == RT_SUCCESS) status = rt_event_record((rt_event)*at, (rt_stream)stream);
    return fault_of(fault, status);
}

int passed(int *yes, void *mark, char *fault)
{
    const knowing now;
    const rt_error status = cudaEventQuery((rt_event)mark);
    *yes = status == RT_SUCCESS;
    if (status != cudaErrorNotReady) return fault_of(fault, status);
    rt_last_error();
    return 0;
}

int copy(const struct gpu_copy *x, int to_host, void *stream, char *fault)
{
    const knowing now;
    rt_error status =
        cudaMemcpy2DAsync(x->to, x->to_pitch, x->from, x->from_pitch, x->bytes, x->lines,
                          to_host ? RT_TO_HOST : RT_TO_DEVICE, (rt_stream)stream);
    if (status == RT_SUCCESS) status = rt_stream_wait((rt_stream)stream);
    return fault_of(fault, status);
}

/* Each time so many lines as there are. */
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

const struct gpu_streams streams = { device, ask,    reserve, release,
                                     mark,   passed, copy,    repeat };
