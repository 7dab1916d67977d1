/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of a program on the device of tests/gpu/device.c. */
#define _POSIX_C_SOURCE 200809L

#include "tests/gpu/device_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int stream_device(int *number, char *fault)
{
    const char *const named = getenv("MODEL_DEVICE");
    (void)fault;
    *number = named ? atoi(named) : 0;
    return 0;
}

static int stream_ask(uint64_t *capture, void *stream, char *fault)
{
    const struct model_stream *const s = stream;
    snprintf(fault, GPU_FAULT_MAX, "no such stream");
    if (!s) return 1;
    *capture = s->capture;
    return 0;
}

/* What would wait ends a program that captures a graph. */
static struct model_stream *running(void *stream)
{
    struct model_stream *const s = stream;
    if (s->capture) abort();
    return s;
}

static int stream_reserve(void **at, size_t bytes, void *stream, char *fault)
{
    struct model_stream *const s = stream;
    const size_t from = (s->used + 255) / 256 * 256;
    snprintf(fault, GPU_FAULT_MAX, "out of memory");
    if (s->full || bytes > s->bytes - from) return 1;
    if (s->capture) {
        s->given++;
        s->used = from + bytes; /* the graph's */
    } else s->reserved++;
    *at = s->memory + from;
    return 0;
}

static int stream_release(void *at, void *stream, char *fault)
{
    (void)at;
    (void)fault;
    ((struct model_stream *)stream)->released++;
    return 0;
}

static int stream_copy(const struct gpu_copy *x, int to_host, void *stream, char *fault)
{
    struct model_stream *const s = running(stream);
    (void)to_host;
    (void)fault;
    s->copies++;
    model_unlock(s);
    for (size_t i = 0; i < x->lines; i++)
        memcpy((char *)x->to + i * x->to_pitch, (const char *)x->from + i * x->from_pitch,
               x->bytes);
    model_lock(s);
    return 0;
}

static int stream_repeat(const struct gpu_copy *x, void *stream, char *fault)
{
    (void)fault;
    model_unlock(stream);
    for (size_t i = 0; i < x->lines; i++)
        memcpy((char *)x->to + i * x->to_pitch, x->from, x->bytes);
    model_lock(stream);
    return 0;
}

const struct gpu_streams model_streams = { stream_device,  stream_ask,  stream_reserve,
                                           stream_release, stream_copy, stream_repeat };

/* What it says of its instructions, and whether that is so. */
int model_claim(int device, int multiplier, char *fault)
{
    (void)device;
    snprintf(fault, GPU_FAULT_MAX, "%s adds otherwise",
             model_multipliers[multiplier].instruction);
    return model_has_fault("adds otherwise");
}
