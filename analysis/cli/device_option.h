/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --device, with the same values in every command: emulator, cpu, cuda,
   cuda:1, hip, executor:gfx90a (bitcut list devices), and cuda:all where a device
   emulates units. */
#ifndef BITCUT_ANALYSIS_CLI_DEVICE_OPTION_H
#define BITCUT_ANALYSIS_CLI_DEVICE_OPTION_H

#include "analysis/cli/command.h"
#include "analysis/evidence/recorder.h"
#include "gpu/api/offload_group.h"

/* The row of the option, for `device` in the command's struct; NULL means that the option
   was not given.  OTHERWISE describes the default. */
#define DEVICE_OPTION(COMMAND, OTHERWISE)                                                \
    {                                                                                    \
        "device",                                                                        \
            "cpu, cuda, cuda:1, ... (bitcut list devices; default " OTHERWISE ")",      \
            OPTION(COMMAND, device, TEXT, "D")                                           \
    }

/* Whether the value is the emulator, or absent. */
bool device_is_emulator(const char *device);

/* The value, or NULL for the emulator. */
const char *device_named(const char *device);

/* Print a line to standard error if the device was given by its name in version 0.1.
   NULL has no such name. */
void device_warn_renamed(const char *device);

/* Whether the value is the CPU. */
bool device_is_host(const char *device);

/* Open the named device, or the first CUDA device by default, for `command`.  Prints
   messages and returns an exit status: EXIT_USAGE for the emulator. */
int device_open(struct recorder *r, const char *device, const char *command);

/* A device that emulates units, or all such devices of a backend.  All zeros: there is
   none. */
struct emulating_device {
    struct recorder recorder; /* the first device */
    struct gpu_offload_group group;
    char name[300]; /* of the devices */
};

/* Set x->offload to the device of --device, if it was given, or to all devices of the
   first one's architecture for a name such as cuda:all.  Prints messages and returns
   an exit status: EXIT_USAGE for a device that does not emulate units.
   emulating_device_close() has to be called after any status. */
int emulating_device_open(struct emulating_device *d, struct context *x,
                          const char *device, const char *command);
void emulating_device_close(struct emulating_device *d, struct context *x);

/* What computed: the device or the emulator; NULL if --device was not given. */
const char *emulating_device_name(const struct emulating_device *d);

/* If --device names a device, add to a row what computed: the device or the emulator. */
void emulating_device_describe(json_t *row, const struct emulating_device *d);

#endif
