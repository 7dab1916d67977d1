/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut-hip.so: AMD GPUs through the HIP runtime, in any version. */
#include "gpu/hip/hip_tables.h"

HIP_MODULE("hip", "AMD GPUs through HIP", NULL);
