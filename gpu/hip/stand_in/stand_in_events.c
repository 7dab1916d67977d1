/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams and events of the replacement.  A call is complete when it returns.  So an
   event is the time at which it was recorded, and the time between two events was spent
   by this processor; it says nothing about a GPU. */
#include "gpu/hip/stand_in/stand_in.h"
#include "lib/base/clock.h"

#include <stdbool.h>
#include <stdlib.h>

struct event {
    double seconds;
    bool recorded;
};

/* The address of a stream identifies it. */
static int make(void **to, size_t bytes)
{
    *to = calloc(1, bytes);
    return *to ? HIP_SUCCESS : stand_in_note(HIP_OUT_OF_MEMORY, NULL);
}

int hipMemsetAsync(void *at, int byte, size_t bytes, void *stream)
{
    (void)stream;
    return hipMemset(at, byte, bytes);
}

int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    (void)flags;
    return make(stream, 1);
}

int hipStreamCreate(void **stream) { return hipStreamCreateWithFlags(stream, 0); }

int hipStreamSynchronize(void *stream)
{
    (void)stream;
    return HIP_SUCCESS;
}

int hipStreamDestroy(void *stream)
{
    free(stream);
    return HIP_SUCCESS;
}

int hipEventCreate(void **event) { return make(event, sizeof(struct event)); }

int hipEventRecord(void *event, void *stream)
{
    (void)stream;
    *(struct event *)event = (struct event){ seconds_now(), true };
    return HIP_SUCCESS;
}

int hipEventSynchronize(void *event)
{
    (void)event;
    return HIP_SUCCESS;
}

int hipEventElapsedTime(float *milliseconds, void *from, void *to)
{
    const struct event *a = from, *b = to;
    if (!a->recorded || !b->recorded) return stand_in_note(HIP_INVALID_HANDLE, NULL);
    *milliseconds = (float)(1000 * (b->seconds - a->seconds));
    return HIP_SUCCESS;
}

int hipEventDestroy(void *event)
{
    free(event);
    return HIP_SUCCESS;
}
