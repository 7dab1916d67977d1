/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/device_option.h"

#include "analysis/cli/install_path.h"

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

int device_open(struct recorder *r, const char *device, const char *command)
{
    char folder[PLACE_MAX];
    struct fault f;
    device_warn_renamed(device);
    if (device && device_is_emulator(device))
        return complain("--device", "cannot be the emulator; this command needs a GPU, "
                                    "for example --device cuda");
    if (recorder_open(r, device ? device : first, place_module(folder), &f) == BITCUT_OK)
        return EXIT_GOOD;
    return fail(device ? "--device" : command, &f);
}

int emulating_device_open(struct emulating_device *d, struct context *x,
                          const char *device, const char *command)
{
    *d = (struct emulating_device){ .offload = { .runs = 0 } };
    if (device_is_emulator(device)) return EXIT_GOOD;
    const int status = device_open(&d->recorder, device, command);
    if (status != EXIT_GOOD) return status;
    if (!gpu_emulates(&d->recorder.gpu))
        return complain("--device", "names a device whose module does not emulate units");
    gpu_offload_init(&d->offload, &d->recorder.gpu, &d->recorder.device);
    x->offload = &d->offload.offload;
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
    if (!d->offload.gpu) return NULL;
    return d->offload.runs ? d->recorder.device.name : emulator;
}

void emulating_device_describe(json_t *row, const struct emulating_device *d)
{
    const char *const name = emulating_device_name(d);
    if (name) json_object_set_new(row, "device", json_text(name));
}
