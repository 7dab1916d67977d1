/* SPDX-License-Identifier: BSD-3-Clause */
/* Device workspace in the order of a program's stream. */
#ifndef BITCUT_ANALYSIS_RUN_STREAM_ROOM_H
#define BITCUT_ANALYSIS_RUN_STREAM_ROOM_H

#include "gpu/module/module.h"

#include <stdbool.h>

/* A stream of a program, on the current device. */
struct room_of {
    const struct gpu_streams *streams;
    int device;
    void *stream;
    uint64_t capture; /* the graph that it captures, or 0 */
};

/* Workspace of `bytes` bytes, valid until room_leave(); in a graph it is valid as long as
   the graph, and later calls on the same stream get the same memory if it is large
   enough.  NULL: there is none. */
void *room_enter(size_t bytes, const struct room_of *of);
void room_leave(void *at, const struct room_of *of);

#endif
