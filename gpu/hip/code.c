/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/hip/code.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>

enum { DEVICES_MAX = 64, OBJECTS_MAX = 16, NAME_LENGTH_MAX = 128 };

/* The objects loaded on each device.  They are changed only under the lock. */
static struct loaded {
    bool here;
    enum hip_target target;
    void *object[OBJECTS_MAX];
    int count;
} devices[DEVICES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Load all objects of a target, or none. */
static rt_error load(struct loaded *x, const struct hip_runtime *hip,
                     enum hip_target target)
{
    rt_error status = RT_SUCCESS;
    x->target = target;
    x->count = 0;
    for (const void *const *o = hip_objects[target]; *o && x->count < OBJECTS_MAX; o++) {
        status = hip->hipModuleLoadData(&x->object[x->count], *o);
        if (status != RT_SUCCESS) break;
        x->count++;
    }
    if (status == RT_SUCCESS) return x->count ? RT_SUCCESS : HIP_NO_BINARY;
    while (x->count) hip->hipModuleUnload(x->object[--x->count]);
    return status;
}

/* A device refuses objects of another target, so it accepts the objects of at most one
   target. */
static rt_error load_any(struct loaded *x, const struct hip_runtime *hip)
{
    rt_error status = HIP_NO_BINARY;
    for (int target = 0; target < HIP_TARGETS && status != RT_SUCCESS; target++) {
        const rt_error own = load(x, hip, (enum hip_target)target);
        if (own != HIP_NO_BINARY) status = own;
        if (own != RT_SUCCESS) hip->hipGetLastError();
    }
    x->here = status == RT_SUCCESS;
    return status;
}

/* The objects loaded on the current device. */
static rt_error loaded_here(const struct loaded **to, const struct hip_runtime *hip)
{
    int device = 0;
    rt_error status = hip->hipGetDevice(&device);
    if (status == RT_SUCCESS && device >= DEVICES_MAX) status = HIP_NOT_COMPILED;
    if (status != RT_SUCCESS) return status;
    pthread_mutex_lock(&lock);
    struct loaded *x = &devices[device];
    if (!x->here) status = load_any(x, hip);
    pthread_mutex_unlock(&lock);
    *to = x;
    return status;
}

rt_error hip_code_target(enum hip_target *target)
{
    const struct hip_runtime *hip = hip_runtime();
    const struct loaded *x = NULL;
    if (!hip) return HIP_NO_LIBRARY;
    const rt_error status = loaded_here(&x, hip);
    if (status == RT_SUCCESS) *target = x->target;
    return status;
}

/* --- starting --------------------------------------------------------------------- */

static rt_error find(void **function, const struct loaded *x, const char *kernel,
                     const struct hip_runtime *hip)
{
    char name[NAME_LENGTH_MAX];
    int i = 0;
    for (; kernel[i] && i + 1 < NAME_LENGTH_MAX; i++)
        name[i] = (char)(isalnum((unsigned char)kernel[i]) ? kernel[i] : '_');
    name[i] = 0;
    for (int o = 0; o < x->count; o++) {
        if (hip->hipModuleGetFunction(function, x->object[o], name) == RT_SUCCESS)
            return RT_SUCCESS;
        hip->hipGetLastError();
    }
    return HIP_NOT_COMPILED;
}

rt_error hip_code_start(const char *kernel, const struct hip_launch *l,
                        const void *arguments, size_t bytes)
{
    const struct hip_runtime *hip = hip_runtime();
    const struct loaded *x = NULL;
    void *function = NULL;
    void *const buffer = (void *)1, *const size = (void *)2, *const end = (void *)3;
    void *extra[] = { buffer, (void *)arguments, size, &bytes, end };
    if (!hip) return HIP_NO_LIBRARY;
    rt_error status = loaded_here(&x, hip);
    if (status == RT_SUCCESS) status = find(&function, x, kernel, hip);
    if (status != RT_SUCCESS) return status;
    return hip->hipModuleLaunchKernel(function, l->x, l->y, l->z, l->threads, 1, 1, 0,
                                      l->stream, NULL, extra);
}
