/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the tiles of whole GEMMs. */
#ifndef BITCUT_GPU_CPU_HOST_MEMORY_H
#define BITCUT_GPU_CPU_HOST_MEMORY_H

#include <stddef.h>

/* At least this many bytes, aligned to GPU_ALIGNMENT, for free(); NULL: not enough
   memory.  Large pages are used where the system has them, because tiles are not read in
   the order of addresses, and each small page would need an address translation again. */
void *host_reserve(size_t bytes);

#endif
