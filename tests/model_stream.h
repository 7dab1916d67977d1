/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the device simulated by tests/gpu/device.c, as a program sees them, and the
   device memory in them.  Only the device may access that memory, so it is locked
   otherwise. */
#ifndef BITCUT_TESTS_MODEL_STREAM_H
#define BITCUT_TESTS_MODEL_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

struct model_stream {
    uint64_t capture;      /* the graph that it captures, or 0                       */
    unsigned char *memory; /* whole pages                                            */
    bool open;             /* it is never locked: others have it, too                */
    size_t bytes, used;    /* `used` by the program and graphs; what is above it is free */
    bool full;             /* there is no more memory                                */
    bool idle;             /* what is started is counted, and not computed           */
    long starts, copies;
    long reserved, released; /* while it runs                                        */
    long given;              /* to graphs                                            */
};

/* Let somebody touch the memory. */
static inline void model_unlock(const struct model_stream *s)
{
    if (s && !s->open && mprotect(s->memory, s->bytes, PROT_READ | PROT_WRITE)) abort();
}

static inline void model_lock(const struct model_stream *s)
{
    if (s && !s->open && mprotect(s->memory, s->bytes, PROT_NONE)) abort();
}

#endif
