/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries that bitcut-hip.so opens. */
#include "gpu/hip/runtime.h"

static const char *const names[] = { "libamdhip64.so", "libamdhip64.so.7",
                                     "libamdhip64.so.6", "libamdhip64.so.5", NULL };
static const char *const peer_names[] = { "librocblas.so",   "librocblas.so.5",
                                          "librocblas.so.4", "librocblas.so.3",
                                          "librocblas.so.0", NULL };
const struct hip_library hip_library = { "the HIP runtime", names, false, peer_names };
