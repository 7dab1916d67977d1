#include "analysis/cli/device_option.h"

#include "analysis/cli/command.h"
#include "analysis/cli/place.h"

#include <string.h>

static const char emulator[] = "emulator", first[] = "cuda";

const char *device_name;

bool device_is_emulator(void) { return !device_name || !strcmp(device_name, emulator); }

int device_open(struct recorder *r, const char *command)
{
    char folder[PLACE_MOST];
    struct fault f;
    if (device_name && device_is_emulator())
        return complain("--device", "the emulator does not do here; a GPU, such as cuda");
    if (recorder_open(r, device_name ? device_name : first, place_module(folder), &f) ==
        BITCUT_OK)
        return EXIT_GOOD;
    return fail(device_name ? "--device" : command, &f);
}
