/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/run_device.h"

#include "analysis/run/run_state.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct {
    struct gpu gpu;
    struct gpu_device is;
    struct gpu_offload offload;
    struct gpu_chosen *chosen; /* choices of the program's own kernels */
    bool tried, open, failed;
} device;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A device opened by a parent process cannot be used in its child, by the driver of the
   GPU. */
static void begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    device.tried = device.open = device.failed = false;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

static enum bitcut_status open_it(const char *name, struct fault *f)
{
    const enum bitcut_status status =
        gpu_open_device(&device.gpu, &device.is, name, run_settings()->modules, f);
    if (status != BITCUT_OK) return status;
    if (gpu_emulates(&device.gpu)) {
        gpu_offload_init(&device.offload, &device.gpu, &device.is);
        return BITCUT_OK;
    }
    if (!gpu_is_own(name))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "the module of this device does not emulate units");
    if (!device.chosen)
        device.chosen = gpu_chosen_make(); /* otherwise it is the parent's */
    if (!device.chosen) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    gpu_offload_init_kernels(&device.offload, &device.gpu, &device.is, device.chosen);
    return BITCUT_OK;
}

static void write_down(const char *name, const char *fault)
{
    struct call_log *const l = run_settings()->folder ? run_call_log() : NULL;
    if (!l) return;
    run_lock();
    snprintf(l->device, sizeof l->device, "%.200s", name);
    snprintf(l->device_fault, sizeof l->device_fault, "%s", fault);
    run_unlock();
}

static void try_once(const char *name)
{
    struct fault f = { .status = BITCUT_OK, .text = "" };
    device.tried = true;
    device.open = open_it(name, &f) == BITCUT_OK;
    write_down(device.open ? device.is.name : "", f.text);
    if (!device.open)
        run_warn(
            "bitcut: run: %s: %s; process %ld emulates without it and gives the same "
            "bits\n",
            name, f.text, (long)getpid());
}

void run_device_failed(const struct fault *f)
{
    pthread_mutex_lock(&lock);
    if (!device.failed)
        run_warn("bitcut: run: %s; process %ld emulates such products without it and "
                 "gives the same bits\n",
                 f->text, (long)getpid());
    device.failed = true;
    write_down(device.is.name, f->text);
    pthread_mutex_unlock(&lock);
}

/* Read once: settings do not change. */
static bool is_own;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static void ask_own(void) { is_own = gpu_is_own(run_settings()->device); }

bool run_device_is_own(void)
{
    if (!*run_settings()->device) return false;
    pthread_once(&own_once, ask_own);
    return is_own;
}

struct gpu_offload *run_device(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *const name = run_settings()->device;
    if (!*name) return NULL;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    if (!device.tried) try_once(name);
    struct gpu_offload *const found = device.open ? &device.offload : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}
