/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --device, one spelling in every command: emulator, cpu, cuda, cuda:1, hip,
   executor:gfx90a (bitcut list devices). */
#ifndef BITCUT_ANALYSIS_CLI_DEVICE_OPTION_H
#define BITCUT_ANALYSIS_CLI_DEVICE_OPTION_H

#include "analysis/cli/command.h"
#include "analysis/evidence/recorder.h"
#include "gpu/api/offload.h"

/* The row of a command's options, for `device` in its struct, NULL: the option was not
   given; OTHERWISE: what runs without it. */
#define DEVICE_OPTION(COMMAND, OTHERWISE)                                                \
    {                                                                                    \
        "device",                                                                        \
            "cpu, cuda, cuda:1, ... (bitcut list devices; default " OTHERWISE ")",      \
            OPTION(COMMAND, device, TEXT, "D")                                           \
    }

/* Whether it says the emulator, or nothing. */
bool device_is_emulator(const char *device);

/* Say on standard error if a device has its name of version 0.1; NULL has none. */
void device_warn_renamed(const char *device);

/* Whether it says the host. */
bool device_is_host(const char *device);

/* Open the device that it says, or without it the first of cuda, for `command`.  Prints
   and returns an exit status: of the emulator EXIT_USAGE. */
int device_open(struct recorder *r, const char *device, const char *command);

/* A device that computes in the emulator's place.  All zeros: there is none. */
struct emulating_device {
    struct recorder recorder;
    struct gpu_offload offload;
};

/* Have x->offload be the device that --device says, if it says one.  Prints and returns
   an exit status: of a device that emulates nothing EXIT_USAGE.  emulating_device_close()
   ends it, whatever that is. */
int emulating_device_open(struct emulating_device *d, struct context *x,
                          const char *device, const char *command);
void emulating_device_close(struct emulating_device *d, struct context *x);

/* What computed, the device or the emulator; NULL: --device says none. */
const char *emulating_device_name(const struct emulating_device *d);

/* Say in a row what computed, the device or the emulator, if --device says a device. */
void emulating_device_describe(json_t *row, const struct emulating_device *d);

#endif
