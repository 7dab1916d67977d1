/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries that bitcut-executor.so opens. */
#include "gpu/hip/runtime.h"

static const char *const names[] = { "bitcut-gfx9.so", NULL };
static const char *const no_peers[] = { NULL };
const struct hip_library hip_library = { "the executor", names, true, no_peers };
