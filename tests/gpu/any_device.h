/* SPDX-License-Identifier: BSD-3-Clause */
/* Common definitions for tests of one device, whose module is tests/gpu/device.c or, with
   DEVICE_MODULES set, a module in that folder. */
#ifndef BITCUT_TESTS_GPU_ANY_DEVICE_H
#define BITCUT_TESTS_GPU_ANY_DEVICE_H

#include "gpu/api/gpu.h"
#include "tests/gpu/model_device.h"

#include <math.h>

static struct gpu gpu;
static struct gpu_device on;

static inline void open_device(void)
{
    struct fault f;
    const char *const modules = getenv("DEVICE_MODULES");
    if (gpu_open_device(&gpu, &on, "cuda", modules ? modules : models, &f) != BITCUT_OK)
        ck_abort_msg("%s", f.text);
}

/* How long a test may go on, in seconds. */
static inline double seconds_most(void)
{
    const char *text = getenv("BITCUT_SECONDS");
    return text ? strtod(text, NULL) : INFINITY;
}

#endif
