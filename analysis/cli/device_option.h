/* The option --device, one spelling in every command: emulator, host, cuda, cuda:1, hip,
   executor:gfx90a (bitcut list devices). */
#ifndef BITCUT_ANALYSIS_CLI_DEVICE_OPTION_H
#define BITCUT_ANALYSIS_CLI_DEVICE_OPTION_H

#include "analysis/evidence/recorder.h"

/* The row of a command's options; OTHERWISE: what runs without it. */
#define DEVICE_OPTION(OTHERWISE)                                                         \
    {                                                                                    \
        "device", "cuda, cuda:1, ... (bitcut list devices; default " OTHERWISE ")",      \
            OPTION_TEXT, &device_name, "D"                                               \
    }

extern const char *device_name; /* NULL: the option was not given */

/* Whether it says the emulator, or nothing. */
bool device_is_emulator(void);

/* Open the device that it says, or without it the first of cuda, for `command`.  Prints
   and returns an exit status: of the emulator EXIT_USAGE. */
int device_open(struct recorder *r, const char *command);

#endif
