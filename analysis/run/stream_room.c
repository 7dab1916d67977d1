#define _POSIX_C_SOURCE 200809L

#include "analysis/run/stream_room.h"

#include <pthread.h>
#include <stdbool.h>

enum { ROOMS_MOST = 64 };

struct room {
    int device;
    struct gpu_stream of; /* with `capture` it is that graph's */
    void *stream;         /* then, where that is captured      */
    void *at;             /* NULL: the row is free */
    size_t bytes;
    void *mark; /* behind the last work in it, or NULL */
};

static struct room rooms[ROOMS_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* No child of fork() has a GPU of its parent's. */
static void begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    for (int i = 0; i < ROOMS_MOST; i++) rooms[i] = (struct room){ .at = NULL };
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

/* --- which one -------------------------------------------------------------------- */

/* A graph may have several streams, with work side by side; while they are captured their
   handles tell them apart. */
static bool is_of(const struct room *r, const struct room_of *of)
{
    return r->at && r->device == of->device && r->of.capture == of->is.capture &&
           (of->is.capture ? r->stream == of->stream : r->of.id == of->is.id);
}

static struct room *find(const struct room_of *of)
{
    for (int i = 0; i < ROOMS_MOST; i++)
        if (is_of(&rooms[i], of)) return &rooms[i];
    return NULL;
}

static bool is_idle(const struct room *r, const struct room_of *of)
{
    char why[GPU_FAULT_MOST];
    int yes = 1;
    return !r->mark || (of->streams->passed(&yes, r->mark, why) == 0 && yes);
}

/* A free row; else that of another stream of this device that does nothing in its room,
   which is given back; else that of a graph, whose room is its own. */
static struct room *free_row(const struct room_of *of)
{
    char why[GPU_FAULT_MOST];
    struct room *graphs = NULL;
    for (int i = 0; i < ROOMS_MOST; i++)
        if (!rooms[i].at) return &rooms[i];
    for (int i = 0; i < ROOMS_MOST; i++) {
        struct room *const r = &rooms[i];
        if (r->of.capture) graphs = r;
        else if (r->device == of->device && is_idle(r, of)) {
            of->streams->release(r->at, of->stream, why);
            r->at = NULL;
            return r;
        }
    }
    if (graphs) graphs->at = NULL, graphs->mark = NULL;
    return graphs;
}

/* --- eager and captured ----------------------------------------------------------- */

/* Memory of so many bytes, or of the least. */
static void *reserve(size_t *bytes, size_t least, const struct room_of *of)
{
    char why[GPU_FAULT_MOST];
    void *at;
    if (of->streams->reserve(&at, *bytes, of->stream, why) == 0) return at;
    if (*bytes == least) return NULL;
    *bytes = least;
    return of->streams->reserve(&at, least, of->stream, why) == 0 ? at : NULL;
}

static struct room *grow(size_t bytes, size_t least, const struct room_of *of)
{
    char why[GPU_FAULT_MOST];
    struct room *r = find(of);
    if (r && r->bytes >= bytes) return r;
    if (!r) r = free_row(of);
    if (!r) return NULL;
    if (r->at) of->streams->release(r->at, of->stream, why);
    void *const mark = r->device == of->device ? r->mark : NULL;
    *r = (struct room){
        of->device, of->is, NULL, reserve(&bytes, least, of), bytes, mark
    };
    return r->at ? r : NULL;
}

/* The smallest of the device that will do, is no graph's, and in which nothing runs. */
static struct room *idle(size_t least, const struct room_of *of)
{
    struct room *found = NULL;
    for (int i = 0; i < ROOMS_MOST; i++) {
        struct room *const r = &rooms[i];
        if (r->at && r->device == of->device && !r->of.capture && r->bytes >= least &&
            (!found || r->bytes < found->bytes) && is_idle(r, of))
            found = r;
    }
    return found;
}

static struct room *keep(size_t least, const struct room_of *of)
{
    struct room *r = find(of);
    if (r) return r->bytes >= least ? r : NULL;
    r = idle(least, of);
    if (!r) return NULL;
    r->of.capture = of->is.capture;
    r->stream = of->stream;
    return r;
}

struct room *room_enter(void **at, size_t *bytes, size_t least, const struct room_of *of)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    struct room *const r = !*bytes          ? NULL
                           : of->is.capture ? keep(least, of)
                                            : grow(*bytes, least, of);
    *at = r ? r->at : NULL;
    *bytes = r ? r->bytes : 0;
    return r;
}

void room_leave(struct room *r, const struct room_of *of)
{
    char why[GPU_FAULT_MOST];
    /* Without a mark nobody would know when the room is free. */
    if (r && !of->is.capture && of->streams->mark(&r->mark, of->stream, why) != 0)
        r->at = NULL;
    pthread_mutex_unlock(&lock);
}
