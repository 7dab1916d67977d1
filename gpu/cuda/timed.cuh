/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on data of the host: memory of the device, and times of the starts of kernels. */
#ifndef BITCUT_GPU_CUDA_TIMED_CUH
#define BITCUT_GPU_CUDA_TIMED_CUH

#include "gpu/module/product.h"

#include <vector>

namespace
{

/* Memory of the device, for as long as the object exists. */
struct device_bytes {
    void *at = NULL;
    rt_error status;

    explicit device_bytes(size_t bytes) : status(rt_malloc(&at, bytes ? bytes : 1)) {}
    ~device_bytes() { rt_free(at); }
    device_bytes(const device_bytes &) = delete;
};

/* Events before and after each start. */
struct events {
    std::vector<rt_event> at;
    rt_error status = RT_SUCCESS;

    explicit events(int count)
    {
        for (int i = 0; i < count && status == RT_SUCCESS; i++) {
            at.push_back(NULL);
            status = rt_event_create(&at.back());
        }
    }
    ~events()
    {
        for (const rt_event e : at)
            if (e) rt_event_end(e);
    }
    events(const events &) = delete;
};

/* Call `start` once, and then between events. */
template <class Start>
int time_starts(double *milliseconds, int repeats, Start start)
{
    const events event(2 * repeats);
    int status = event.status;
    if (!status) status = start();
    if (!status) status = rt_device_wait();
    for (int i = 0; i < repeats && !status; i++) {
        status = rt_event_record(event.at[2 * i], NULL);
        if (!status) status = start();
        if (!status) status = rt_event_record(event.at[2 * i + 1], NULL);
    }
    if (!status) status = rt_device_wait();
    for (int i = 0; i < repeats && !status; i++) {
        float time = 0;
        status = rt_event_between(&time, event.at[2 * i], event.at[2 * i + 1]);
        milliseconds[i] = time;
    }
    return status;
}

} // namespace

#endif
