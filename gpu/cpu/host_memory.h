/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the tiles of whole GEMMs. */
#ifndef BITCUT_GPU_CPU_HOST_MEMORY_H
#define BITCUT_GPU_CPU_HOST_MEMORY_H

#include <stddef.h>

/* At least that many bytes, aligned to GPU_ALIGNMENT, for free(); NULL: there are none.  On
   large pages where the system has them: tiles are read in an order of their own, and
   each small page would have to be found again. */
void *host_reserve(size_t bytes);

#endif
