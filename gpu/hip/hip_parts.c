/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that gpu/module/product.h requires of a module, except the split pass and
   the peers. */
#include "gpu/hip/runtime.h"

#include <stdio.h>

rt_error copy_there(void *to, const void *from, size_t bytes)
{
    return rt_copy(to, from, bytes, RT_TO_DEVICE);
}

rt_error copy_lines_there(void *to, const void *from, size_t count, size_t bytes,
                          size_t pitch)
{
    return rt_copy_lines(to, pitch, from, pitch, bytes, count, RT_TO_DEVICE);
}

rt_error copy_back(void *to, const void *from, size_t bytes)
{
    return rt_copy(to, from, bytes, RT_TO_HOST);
}

int fault_of(char *fault, rt_error status)
{
    if (status == RT_SUCCESS) return status;
    if (status == HIP_NO_LIBRARY)
        snprintf(fault, GPU_FAULT_MAX, "%s", hip_runtime_fault());
    else if (status == HIP_NO_BINARY || status == HIP_NOT_COMPILED)
        snprintf(fault, GPU_FAULT_MAX,
                 "no code for this device: it is not gfx908, gfx90a or gfx942, or "
                 "configure found no compiler for it");
    else snprintf(fault, GPU_FAULT_MAX, "%s", rt_error_text(status));
    if (status != HIP_NO_LIBRARY) rt_last_error();
    return status;
}

/* --- what there is none of: the HIP runtime tells nothing of the board ------------ */

const struct emulation_code emulation_code = { NULL, NULL, NULL };

struct board *board_open(void) { return NULL; }
void board_close(struct board *x) { (void)x; }
double board_millijoules(const struct board *x) { return (void)x, 0; }
double board_watts_most(const struct board *x) { return (void)x, 0; }
int board_megahertz(const struct board *x) { return (void)x, 0; }
int board_limits(const struct board *x) { return (void)x, -1; }
