/* SPDX-License-Identifier: BSD-3-Clause */
/* Open the library of the HIP runtime, and implement the names of gpu/module/rt.h by
   it. */
#define _GNU_SOURCE

#include "gpu/hip/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PATH_LENGTH_MAX = 4096 };

/* Set once, by open_library(). */
static struct {
    struct hip_runtime calls;
    void *handle;
    bool here;
    char fault[GPU_FAULT_MAX];
} library;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* The path of `name` in the folder of this module, or `name` itself. */
static void path_of(char path[PATH_LENGTH_MAX], const char *name)
{
    Dl_info about;
    int folder = 0;
    if (hip_library.beside && dladdr(&hip_library, &about) && about.dli_fname) {
        const char *slash = strrchr(about.dli_fname, '/');
        folder = slash ? (int)(slash + 1 - about.dli_fname) : 0;
    }
    snprintf(path, PATH_LENGTH_MAX, "%.*s%s", folder, folder ? about.dli_fname : "",
             name);
}

/* The library stays open until the end of the process, because the runtime's threads
   do. */
static void *open_first(void)
{
    void *handle = NULL;
    for (const char *const *name = hip_library.names; *name && !handle; name++) {
        char path[PATH_LENGTH_MAX];
        path_of(path, *name);
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    return handle;
}

/* ISO C has no conversion from an object's address to a function's address; POSIX has. */
static bool find(void *handle, const char *name, void *to)
{
    void *const at = dlsym(handle, name);
    memcpy(to, &at, sizeof at);
    if (!at)
        snprintf(library.fault, sizeof library.fault, "%s lacks %s", hip_library.what,
                 name);
    return at != NULL;
}

static void open_library(void)
{
    void *handle = open_first();
    if (!handle) {
        snprintf(library.fault, sizeof library.fault, "%s is not here: no %s",
                 hip_library.what, hip_library.names[0]);
        return;
    }
#define FIND(name) &&find(handle, #name, &library.calls.name)
    library.handle = handle;
    library.here = true HIP_RUNTIME_NAMES(FIND);
#undef FIND
}

const struct hip_runtime *hip_runtime(void)
{
    pthread_once(&opened, open_library);
    return library.here ? &library.calls : NULL;
}

const char *hip_runtime_fault(void) { return library.fault; }

bool hip_library_find(void *to, const char *name)
{
    return hip_runtime() && find(library.handle, name, to);
}

/* --- the names of gpu/module/rt.h ------------------------------------------------- */

/* Call a function of the runtime, if there is one. */
#define CALL(name, ...)                                                                  \
    const struct hip_runtime *hip = hip_runtime();                                       \
    return hip ? hip->name(__VA_ARGS__) : HIP_NO_LIBRARY

const char *rt_error_text(rt_error status)
{
    const struct hip_runtime *hip = hip_runtime();
    return hip ? hip->hipGetErrorString(status) : hip_runtime_fault();
}

rt_error rt_last_error(void) { CALL(hipGetLastError); }
rt_error rt_malloc(void **at, size_t bytes) { CALL(hipMalloc, at, bytes); }
rt_error rt_free(void *at)
{
    if (!at) return RT_SUCCESS;
    CALL(hipFree, at);
}
rt_error rt_copy(void *to, const void *from, size_t bytes, int kind)
{
    if (!bytes) return RT_SUCCESS;
    CALL(hipMemcpy, to, from, bytes, kind);
}
rt_error rt_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                       size_t bytes, size_t count, int kind)
{
    if (!bytes || !count) return RT_SUCCESS;
    CALL(hipMemcpy2D, to, to_pitch, from, from_pitch, bytes, count, kind);
}
rt_error rt_fill(void *at, int byte, size_t bytes) { CALL(hipMemset, at, byte, bytes); }
rt_error rt_device_count(int *count) { CALL(hipGetDeviceCount, count); }
rt_error rt_device_get(int *device) { CALL(hipGetDevice, device); }
rt_error rt_device_set(int device) { CALL(hipSetDevice, device); }
rt_error rt_device_wait(void) { CALL(hipDeviceSynchronize); }
rt_error rt_fill_start(void *at, int byte, size_t bytes, rt_stream stream)
{
    CALL(hipMemsetAsync, at, byte, bytes, stream);
}
rt_error rt_stream_create(rt_stream *stream, unsigned flags)
{
    CALL(hipStreamCreateWithFlags, stream, flags);
}
rt_error rt_stream_wait(rt_stream stream) { CALL(hipStreamSynchronize, stream); }
rt_error rt_stream_end(rt_stream stream) { CALL(hipStreamDestroy, stream); }
rt_error rt_event_create(rt_event *event) { CALL(hipEventCreate, event); }
rt_error rt_event_record(rt_event event, rt_stream stream)
{
    CALL(hipEventRecord, event, stream);
}
rt_error rt_event_wait(rt_event event) { CALL(hipEventSynchronize, event); }
rt_error rt_event_between(float *milliseconds, rt_event from, rt_event to)
{
    CALL(hipEventElapsedTime, milliseconds, from, to);
}
rt_error rt_event_end(rt_event event) { CALL(hipEventDestroy, event); }
