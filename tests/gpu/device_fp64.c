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

static struct bitcut_matrix matrix(const double *at)
{
    return (struct bitcut_matrix){ .at = at, .format = bitcut_format_find("f64") };
}

int model_fp64(const struct gpu_fp64 *g, double *milliseconds, int repeats, int device,
               char *fault)
{
    const struct gpu_fp64_kernel *const k = g->kernel;
    struct bitcut_gemm gemm;
    char why[BITCUT_TEXT_MAX];
    (void)device;
    if (model_refuse(fault)) return 1;
    bitcut_gemm_init(&gemm, sizeof gemm);
    gemm.scheme = bitcut_scheme_find(k->scheme);
    gemm.unit = bitcut_unit_find("hopper/" INSTRUCTION, NULL);
    gemm.parts = g->parts > 1 && !strncmp(k->name, "liar", 4) ? g->parts - 1 : g->parts;
    gemm.m = g->m, gemm.n = g->n, gemm.k = g->k;
    gemm.alpha_f64 = g->alpha, gemm.beta_f64 = g->beta;
    gemm.a = matrix(g->a);
    gemm.b = matrix(g->b);
    gemm.c = matrix(g->c);
    gemm.d.to = g->d;
    gemm.d.format = bitcut_format_find("f64");
    for (int i = 0; i < repeats; i++) milliseconds[i] = 1;
    if (bitcut_gemm(NULL, &gemm, 1, why) == BITCUT_OK) return 0;
    snprintf(fault, GPU_FAULT_MAX, "%.190s", why);
    return 1;
}
