/* Timing on a stream of its own. */
#ifndef BITCUT_GPU_CUDA_STOPWATCH_CUH
#define BITCUT_GPU_CUDA_STOPWATCH_CUH

#include "gpu/cuda/nvml.cuh"
#include "gpu/cuda/peer.cuh"

/* Zero before it is begun. */
struct stopwatch {
    cudaStream_t stream;
    cudaEvent_t from, to;
    struct cublas *library; /* for work on the stream */
    struct nvml board;
};

/* Make the stream and the events. */
inline cudaError_t stopwatch_begin(struct stopwatch *s)
{
    cudaError_t status = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    if (status == cudaSuccess) status = cudaEventCreate(&s->from);
    if (status == cudaSuccess) status = cudaEventCreate(&s->to);
    return status;
}

/* Open what need not be there. */
inline void stopwatch_open(struct stopwatch *s, struct gpu_library *library)
{
    cublas_open(&s->library, library, s->stream);
    s->board = nvml_open();
}

/* Whatever of it was made. */
inline void stopwatch_end(struct stopwatch *s)
{
    nvml_close(&s->board);
    cublas_close(s->library);
    if (s->to) cudaEventDestroy(s->to);
    if (s->from) cudaEventDestroy(s->from);
    if (s->stream) cudaStreamDestroy(s->stream);
}

/* Call start(), which starts work on the stream, once, and then `repeats` times from one
   event to the other; the clock is read while the device works.  Anything but 0 that it
   returns ends this, its line in `fault`. */
template <class Start>
int stopwatch_run(struct gpu_measurement *to, struct stopwatch *s, int repeats,
                  Start start, char *fault)
{
    float milliseconds = 0;
    int other = start();
    cudaError_t status = cudaStreamSynchronize(s->stream);
    if (other) return other;
    const double before = nvml_millijoules(&s->board);
    if (status == cudaSuccess) status = cudaEventRecord(s->from, s->stream);
    for (int i = 0; i < repeats && status == cudaSuccess; i++)
        if ((other = start())) return other;
    if (status == cudaSuccess) status = cudaEventRecord(s->to, s->stream);
    const int megahertz = nvml_megahertz(&s->board);
    if (status == cudaSuccess) status = cudaEventSynchronize(s->to);
    const double after = nvml_millijoules(&s->board);
    if (status == cudaSuccess)
        status = cudaEventElapsedTime(&milliseconds, s->from, s->to);
    *to = { milliseconds, after - before, megahertz };
    return fault_of(fault, status);
}

#endif
