/* Memory of a device to work in, in the order of a program's streams: one room a stream,
   that grows.  A graph that is captured keeps what it was given while the process lasts,
   as nobody tells when it runs for the last time. */
#ifndef BITCUT_ANALYSIS_RUN_STREAM_ROOM_H
#define BITCUT_ANALYSIS_RUN_STREAM_ROOM_H

#include "gpu/module.h"
#include "lib/status.h"

/* A stream of a program, on the device that is current. */
struct room_of {
    const struct gpu_streams *streams;
    int device;
    void *stream;
    struct gpu_stream is;
};

struct room;

/* The room of a stream, in *at: of *bytes, if there is so much memory, or of what *bytes
   becomes, which is `least` or more.  Of a stream that is capturing it is
   the one that this stream has in this graph already, or one of any stream if all work in
   it is done: nothing is allocated, and nothing waits.  NULL: there is none, or no memory.  One
   thread at a time has rooms: from here to room_leave(), in which the work is started. */
struct room *room_enter(void **at, size_t *bytes, size_t least, const struct room_of *of);

/* Work in the room was started, or in none (NULL). */
void room_leave(struct room *room, const struct room_of *of);

#endif
