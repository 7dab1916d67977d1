/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/run_gpu.h"

#include "analysis/run/run_state.h"
#include "lib/base/table.h"

#include <pthread.h>
#include <stdio.h>

enum { DEVICES_MAX = 64 };

static struct {
    bool tried;
    struct gpu gpu; /* no module: it cannot be opened */
    struct fault fault;
    struct {
        bool tried, open;
        struct run_gpu gpu;
        struct fault fault;
    } device[DEVICES_MAX];
} all;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A device opened by a parent process cannot be used in its child, by the driver of the
   GPU. */
static void begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    all.tried = false;
    for (int i = 0; i < DEVICES_MAX; i++) all.device[i].tried = false;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

/* --- the module ------------------------------------------------------------------- */

static enum bitcut_status open_module(struct gpu *to, struct fault *f)
{
    struct gpu g;
    const enum bitcut_status status =
        gpu_open(&g, table_find(TABLE(gpu_backends), "cuda"), run_settings()->modules, f);
    if (status != BITCUT_OK) return status;
    if (!g.module->streams) {
        gpu_close(&g);
        return fault_set(
            f, BITCUT_UNSUPPORTED,
            "the module of this device does not support the streams of another program");
    }
    *to = g;
    return BITCUT_OK;
}

static const struct gpu *module(struct fault *f)
{
    if (!all.tried) {
        all.tried = true;
        all.gpu = (struct gpu){ 0 };
        open_module(&all.gpu, &all.fault);
    }
    if (all.gpu.module) return &all.gpu;
    *f = all.fault;
    return NULL;
}

/* --- a device --------------------------------------------------------------------- */

static void write_down(const char *name)
{
    struct call_log *const l = run_settings()->folder ? run_call_log() : NULL;
    if (!l) return;
    run_lock();
    snprintf(l->device, sizeof l->device, "%.200s", name);
    run_unlock();
}

static enum bitcut_status open_device(struct run_gpu *x, int number, struct fault *f)
{
    const enum bitcut_status status = gpu_describe(&x->is, &x->gpu, number, f);
    if (status != BITCUT_OK) return status;
    if (!x->chosen) x->chosen = gpu_chosen_make(); /* otherwise it is the parent's */
    return x->chosen ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

/* The lock is held. */
static const struct run_gpu *device(int number, const struct gpu *g, struct fault *f)
{
    if (number < 0 || number >= DEVICES_MAX)
        return fault_set(f, BITCUT_UNSUPPORTED, "device number %d is too large", number),
               NULL;
    if (!all.device[number].tried) {
        struct run_gpu x = { .gpu = *g, .chosen = all.device[number].gpu.chosen };
        struct fault *const why = &all.device[number].fault;
        all.device[number].tried = true;
        all.device[number].open = open_device(&x, number, why) == BITCUT_OK;
        all.device[number].gpu = x;
        if (all.device[number].open) write_down(x.is.name);
    }
    if (all.device[number].open) return &all.device[number].gpu;
    *f = all.device[number].fault;
    return NULL;
}

const struct run_gpu *run_gpu_current(struct fault *f)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct run_gpu *found = NULL;
    char why[GPU_FAULT_MAX];
    int number;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    const struct gpu *const g = module(f);
    if (g && g->module->streams->device(&number, why) != 0)
        fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
    else if (g) found = device(number, g, f);
    pthread_mutex_unlock(&lock);
    return found;
}
