/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/device_option.h"

#include "analysis/cli/install_path.h"

#include <stdio.h>
#include <string.h>

static const char emulator[] = "emulator", first[] = "cuda";

bool device_is_emulator(const char *device)
{
    return !device || !strcmp(device, emulator);
}

const char *device_named(const char *device)
{
    return device_is_emulator(device) ? NULL : device;
}

void device_warn_renamed(const char *device)
{
    const struct gpu_backend *const old = device ? gpu_backend_renamed(device) : NULL;
    if (old) warn_renamed("--device", old->was, old->name);
}

bool device_is_host(const char *device) { return device && gpu_is_own(device); }

/* The length of the backend's name in the name of all its devices, such as cuda:all; 0:
   it is another name. */
static size_t backend_of_all(const char *device)
{
    const size_t length = strcspn(device, ":");
    return strcmp(device + length, ":all") ? 0 : length;
}

int device_open(struct recorder *r, const char *device, const char *command)
{
    char folder[PLACE_MAX];
    struct fault f;
    device_warn_renamed(device);
    if (device && device_is_emulator(device))
        return complain("--device", "cannot be the emulator; this command needs a GPU, "
                                    "for example --device cuda");
    if (device && backend_of_all(device))
        return complain("--device", "can be all devices of a backend where they take the "
                                    "emulator's place; this command needs one, for "
                                    "example --device cuda:1");
    if (recorder_open(r, device ? device : first, place_module(folder), &f) == BITCUT_OK)
        return EXIT_GOOD;
    return fail(device ? "--device" : command, &f);
}

/* Add the other devices of the first one's architecture to the group. */
static void add_others(struct emulating_device *d)
{
    struct gpu_offload_group *const g = &d->group;
    int number = d->recorder.device.number + 1;
    while (g->count < GPU_GROUP_MAX) {
        struct gpu_device *const next = &g->device[g->count];
        if (gpu_describe_next(next, &d->recorder.gpu, &number, NULL) != BITCUT_OK) return;
        if (next->architectures == d->recorder.device.architectures) g->count++;
    }
}

static void name_devices(struct emulating_device *d)
{
    const char *const one = d->recorder.device.name;
    const int more = d->group.count - 1;
    if (!more) snprintf(d->name, sizeof d->name, "%s", one);
    else
        snprintf(d->name, sizeof d->name, "%s and %d more device%s", one, more,
                 more == 1 ? "" : "s");
}

int emulating_device_open(struct emulating_device *d, struct context *x,
                          const char *device, const char *command)
{
    char backend[16];
    *d = (struct emulating_device){ .name = "" };
    if (device_is_emulator(device)) return EXIT_GOOD;
    const size_t all = backend_of_all(device);
    snprintf(backend, sizeof backend, "%.*s", (int)all, device);
    const int status = device_open(&d->recorder, all ? backend : device, command);
    if (status != EXIT_GOOD) return status;
    if (!gpu_emulates(&d->recorder.gpu))
        return complain("--device", "names a device whose module does not emulate units");
    d->group.device[0] = d->recorder.device;
    d->group.count = 1;
    if (all) add_others(d);
    name_devices(d);
    gpu_offload_group_init(&d->group, &d->recorder.gpu);
    x->offload = &d->group.offload;
    return EXIT_GOOD;
}

void emulating_device_close(struct emulating_device *d, struct context *x)
{
    x->offload = NULL;
    if (d->recorder.gpu.module) recorder_close(&d->recorder);
    d->recorder.gpu.module = NULL;
}

const char *emulating_device_name(const struct emulating_device *d)
{
    if (!d->group.count) return NULL;
    return gpu_offload_group_runs(&d->group) ? d->name : emulator;
}

void emulating_device_describe(json_t *row, const struct emulating_device *d)
{
    const char *const name = emulating_device_name(d);
    if (name) json_object_set_new(row, "device", json_text(name));
}
