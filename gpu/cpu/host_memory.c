/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE /* madvise() */

#include "gpu/cpu/host_memory.h"

#include "gpu/module/module.h"
#include "lib/base/size.h"

#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

/* Size of a large page on x86-64. */
enum { LARGE = 2 << 20 };

void *host_reserve(size_t bytes)
{
    const size_t unit = bytes < LARGE ? GPU_ALIGNMENT : LARGE;
    const size_t whole = (bytes / unit + 1) * unit;
    void *const at = aligned_alloc(unit, whole);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (at && unit == LARGE) (void)madvise(at, whole, MADV_HUGEPAGE);
#endif
    return at;
}
