/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs on the device of tests/gpu/device.c, by the emulator. */
#include "tests/gpu/device_parts.h"

#include <stdio.h>
#include <string.h>

#define INSTRUCTION "wgmma.m64n8k32.s32.s8"

enum { NEW_BIT = 1u << 1 };

/* The liar has one part less than it is asked for. */
const struct gpu_fp64_kernel model_fp64_kernels[] = {
    { "model.ozimmu-ef.s8", "", "ozimmu-ef", INSTRUCTION, 18, 1 << 20, NEW_BIT, true, false },
    { "model.ozimmu-h.s8", "", "ozimmu-h", INSTRUCTION, 9, 1 << 20, NEW_BIT, true, true },
#ifndef HONEST
    { "liar.ozimmu.s8", "", "ozimmu", INSTRUCTION, 18, 1 << 20, NEW_BIT, false, false },
    { "liar.noname.s8", "", "noname", INSTRUCTION, 18, 1 << 20, NEW_BIT, false, false },
    { "liar.unit.s8", "", "ozimmu", "wgmma.m1n1k1", 18, 1 << 20, NEW_BIT, false, false },
#endif
    { 0 }
};

/* By the emulator, on the unit of the kernel.  Rows are those of this copy of the tables.
 */
static int compute(const struct gpu_fp64 *g, char *fault)
{
    const struct gpu_fp64_kernel *const k = g->kernel;
    struct bitcut_gemm gemm = g->gemm;
    char why[BITCUT_TEXT_MAX];
    gemm.scheme = bitcut_scheme_find(k->scheme);
    gemm.a.format = gemm.b.format = gemm.d.format = bitcut_format_find("f64");
    gemm.c.format = gemm.d.format;
    gemm.unit = bitcut_unit_find("hopper/" INSTRUCTION, NULL);
    if (gemm.parts > 1 && !strncmp(k->name, "liar", 4)) gemm.parts--;
    if (bitcut_gemm(NULL, &gemm, 1, why) == BITCUT_OK) return 0;
    snprintf(fault, GPU_FAULT_MAX, "%.190s", why);
    return 1;
}

int model_fp64(const struct gpu_fp64 *g, double *milliseconds, int repeats, int device,
               char *fault)
{
    if (model_refuse(fault) || compute(g, fault)) return 1;
    for (int i = 0; i < repeats; i++) milliseconds[i] = 1;
    if (model_fault_on(device)->spoil_gemm && model_is_faulty(g->kernel->name))
        model_fault_on(device)->spoil_gemm(&g->gemm);
    return 0;
}

size_t model_fp64_workspace(const struct gpu_fp64 *g, int device)
{
    (void)device;
    return 1024 * (size_t)g->gemm.parts;
}

int model_fp64_start(const struct gpu_fp64 *g, void *workspace, int device, void *stream,
                     char *fault)
{
    (void)stream;
    if (model_refuse(fault)) return 1;
    memset(workspace, 0xff, model_fp64_workspace(g, device));
    return compute(g, fault);
}
