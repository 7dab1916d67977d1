/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/stream_room.h"

#include <pthread.h>

/* Workspaces of the graphs that are being captured.  A new row replaces the oldest. */
enum { ROOMS_MAX = 64 };

struct room {
    int device;
    uint64_t capture; /* 0: the row is free */
    void *stream;     /* a graph may have several streams, with concurrent work */
    void *at;
    size_t bytes;
};

static struct room rooms[ROOMS_MAX];
static unsigned oldest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A child of fork() cannot use its parent's GPU; the lock may be taken. */
static void begin_child(void) { pthread_mutex_init(&lock, NULL); }

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

static void *reserve(size_t bytes, const struct room_of *of)
{
    char why[GPU_FAULT_MAX];
    void *at;
    return of->streams->reserve(&at, bytes, of->stream, why) == 0 ? at : NULL;
}

static struct room *find(const struct room_of *of)
{
    for (int i = 0; i < ROOMS_MAX; i++)
        if (rooms[i].capture == of->capture && rooms[i].device == of->device &&
            rooms[i].stream == of->stream)
            return &rooms[i];
    return NULL;
}

/* The lock is held. */
static void *room_in_graph(size_t bytes, const struct room_of *of)
{
    struct room *r = find(of);
    if (r && r->bytes >= bytes) return r->at;
    void *const at = reserve(bytes, of);
    if (!at) return NULL;
    if (!r) r = &rooms[oldest++ % ROOMS_MAX];
    *r = (struct room){ of->device, of->capture, of->stream, at, bytes };
    return at;
}

void *room_enter(size_t bytes, const struct room_of *of)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!of->capture) return reserve(bytes, of);
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    void *const at = room_in_graph(bytes, of);
    pthread_mutex_unlock(&lock);
    return at;
}

void room_leave(void *at, const struct room_of *of)
{
    char why[GPU_FAULT_MAX];
    if (at && !of->capture) of->streams->release(at, of->stream, why);
}
