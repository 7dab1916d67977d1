/* Timing on a stream of its own. */
#ifndef BITCUT_GPU_CUDA_STOPWATCH_CUH
#define BITCUT_GPU_CUDA_STOPWATCH_CUH

#include "gpu/cuda/nvml.cuh"
#include "gpu/cuda/peer.cuh"

/* Zero before it is begun. */
struct stopwatch {
    rt_stream stream;
    rt_event from, to;
    struct cublas *library; /* for work on the stream */
    struct nvml board;
};

/* Make the stream and the events. */
inline rt_error stopwatch_begin(struct stopwatch *s)
{
    rt_error status = rt_stream_create(&s->stream, RT_NON_BLOCKING);
    if (status == RT_SUCCESS) status = rt_event_create(&s->from);
    if (status == RT_SUCCESS) status = rt_event_create(&s->to);
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
    if (s->to) rt_event_end(s->to);
    if (s->from) rt_event_end(s->from);
    if (s->stream) rt_stream_end(s->stream);
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
    rt_error status = rt_stream_wait(s->stream);
    if (other) return other;
    const double before = nvml_millijoules(&s->board);
    if (status == RT_SUCCESS) status = rt_event_record(s->from, s->stream);
    for (int i = 0; i < repeats && status == RT_SUCCESS; i++)
        if ((other = start())) return other;
    if (status == RT_SUCCESS) status = rt_event_record(s->to, s->stream);
    const int megahertz = nvml_megahertz(&s->board);
    if (status == RT_SUCCESS) status = rt_event_wait(s->to);
    const double after = nvml_millijoules(&s->board);
    if (status == RT_SUCCESS) status = rt_event_between(&milliseconds, s->from, s->to);
    *to = { milliseconds, after - before, megahertz };
    return fault_of(fault, status);
}

#endif
