/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/cpu/host_module.h"

#include "gpu/cpu/host_code.h"
#include "gpu/cpu/host_product.h"
#include "gpu/cpu/host_timer.h"
#include "gpu/cpu/host_units.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* --- single instructions ---------------------------------------------------------- */

#if HOST_HAS_CODE
#define CODE(name) name
#else
#define CODE(name) NULL
#endif

#define ROW(NAME, WHAT, M, N, K, UNIT, START)                                            \
    {                                                                                    \
        .name = NAME, .what = WHAT, .m = M, .n = N, .k = K, .a_bytes = 2, .b_bytes = 2,  \
        .c_bytes = 4, .architectures = UNIT, .variants = 1u << GPU_PLAIN,                \
        .launch = CODE(START)                                                            \
    }

static const struct gpu_instruction instructions[] = {
    ROW("tdpbf16ps.m16n16k32.f32.bf16", "TDPBF16PS, on whole tiles", 16, 16, 32,
        ON_AMX_BF16, host_amx_bf16),
    ROW("tdpfp16ps.m16n16k32.f32.f16", "TDPFP16PS, on whole tiles", 16, 16, 32,
        ON_AMX_FP16, host_amx_fp16),
    ROW("vdpbf16ps.m1n16k2.f32.bf16", "VDPBF16PS, on 16 lanes", 1, 16, 2, ON_AVX512_BF16,
        host_avx512_bf16),
    { 0 }
};

static int run(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
               enum gpu_variant variant, int device, char *fault)
{
    (void)device;
    (void)fault;
    return instruction->launch(instruction, batch, variant);
}

/* --- the device ------------------------------------------------------------------- */

/* The name of the processor: CPUID leaves 0x80000002 to 4. */
static void name_processor(char to[GPU_TEXT_MAX])
{
    enum { FIRST = 0x80000002u, PARTS = 3 };
    char name[PARTS * sizeof(struct cpuid) + 1] = "";
    for (uint32_t i = 0; i < PARTS; i++) {
        const struct cpuid part = host_system.ask(FIRST + i, 0);
        memcpy(name + i * sizeof part, &part, sizeof part);
    }
    snprintf(to, GPU_TEXT_MAX, "%s", *name ? name + strspn(name, " ") : "processor");
}

static int describe(struct gpu_device *to, int device, char *fault)
{
    struct gpu_device x = { .number = device, .runtime = "none" };
    struct utsname system;
    snprintf(fault, GPU_FAULT_MAX, "device %d does not exist", device);
    if (device > 0) return 1;
    x.architectures = host_units(fault, &host_system);
    if (!x.architectures) return 1;
    snprintf(x.lacks, sizeof x.lacks, "%s", fault);
    x.architecture = host_architectures;
    while (!(x.architecture->bit & x.architectures)) x.architecture++;
    name_processor(x.name);
    if (uname(&system) == 0)
        snprintf(x.driver, sizeof x.driver, "%s %s", system.sysname, system.release);
    *to = x;
    return 0;
}

/* --- the module ------------------------------------------------------------------- */

/* The memory of this process is the device's memory. */
static int reaches(const void *at, int device, char *fault)
{
    (void)at;
    (void)device;
    (void)fault;
    return 0;
}

static const struct gpu_family families[] = {
    { "units", "the processor's matrix units", instructions, host_kernels }, { 0 }
};

const struct gpu_module host_module = {
    .interface = GPU_INTERFACE,
    .name = "cpu",
    .what = "the matrix units of this machine's processor",
    .architectures = host_architectures,
    .families = families,
    .describe = describe,
    .run = run,
    .parts = host_parts,
    .split = host_split,
    .gemm = host_gemm,
    .prepare = host_prepare,
    .workspace = host_workspace,
    .start = host_start,
    .reaches = reaches,
    .timer = &host_timer,
};
