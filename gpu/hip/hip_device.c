/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of a HIP runtime. */
#include "gpu/hip/hip_tables.h"

#include <stdio.h>
#include <string.h>

const struct gpu_architecture hip_architectures[] = {
    { "gfx908", "Instinct MI100", "cdna1", ON_GFX908 },
    { "gfx90a", "Instinct MI210, MI250, MI250X", "cdna2", ON_GFX90A },
    { "gfx942", "Instinct MI300A, MI300X, MI325X", "cdna3", ON_GFX942 },
    { 0 }
};

/* CUs of the MI100, the MI210 and the MI300X, used only for the choice of a kernel.
   Attributes are not queried, because their numbers changed (gpu/hip/runtime.h). */
static const int units[HIP_TARGETS] = { 120, 104, 304 };

/* Properties of a CU (CDNA ISA documents): 64 KiB of LDS, 32 waves, and 4 waves at a time
   if a wave has 512 registers of 64 lanes, the largest number. */
enum { SHARED = 65536, WAVES = 32, LANES = 64, BLOCKS = 16, CU_REGISTERS = 131072 };

static void describe_unit(struct gpu_device *x, enum hip_target target)
{
    x->architecture = &hip_architectures[target];
    x->architectures = x->architecture->bit;
    x->shared_bytes = SHARED;
    x->units = units[target];
    x->unit_registers = CU_REGISTERS;
    x->unit_threads = WAVES * LANES;
    x->unit_blocks = BLOCKS;
    x->unit_shared = SHARED;
    x->wave = LANES;
}

/* Describe a version of HIP: 10^7 major + 10^5 minor + patch. */
static void describe_version(char text[GPU_TEXT_MAX], int version)
{
    snprintf(text, GPU_TEXT_MAX, "HIP %d.%d.%d", version / 10000000,
             version / 100000 % 100, version % 100000);
}

static rt_error describe_current(struct gpu_device *x, int device)
{
    const struct hip_runtime *hip = hip_runtime();
    enum hip_target target = GFX908;
    int driver = 0, runtime = 0;
    if (!hip) return HIP_NO_LIBRARY;
    rt_error status = hip_code_target(&target);
    if (status == RT_SUCCESS)
        status = hip->hipDeviceGetName(x->name, sizeof x->name, device);
    if (status == RT_SUCCESS) status = hip->hipDriverGetVersion(&driver);
    if (status == RT_SUCCESS) status = hip->hipRuntimeGetVersion(&runtime);
    if (status != RT_SUCCESS) return status;
    x->number = device;
    describe_unit(x, target);
    describe_version(x->driver, driver);
    describe_version(x->runtime, runtime);
    return status;
}

int hip_describe(struct gpu_device *to, int device, char *fault)
{
    struct gpu_device x = { 0 };
    int count = 0, before;
    rt_error status = rt_device_count(&count);
    if (status != RT_SUCCESS) return fault_of(fault, status);
    if (device >= count) {
        snprintf(fault, GPU_FAULT_MAX, "device %d does not exist; the last is %d",
                 device, count - 1);
        return 1;
    }
    status = device_enter(&before, device);
    if (status == RT_SUCCESS) status = describe_current(&x, device);
    const int told = fault_of(fault, status);
    device_leave(before);
    if (!told) *to = x;
    return told;
}

/* Why the device cannot access the memory at an address; NULL: it can.  Memory that the
   runtime does not know belongs to the host. */
static const char *why_unreached(const struct hip_runtime *hip, const void *at,
                                 int device)
{
    void *there = NULL;
    int owner = device;
    if (hip->hipPointerGetAttribute(&there, HIP_DEVICE_POINTER, (void *)at)) {
        hip->hipGetLastError();
        return "is in host memory";
    }
    if (hip->hipPointerGetAttribute(&owner, HIP_DEVICE_ORDINAL, (void *)at))
        hip->hipGetLastError();
    if (!there) return "is in memory that the device cannot access";
    return owner == device ? NULL : "is in the memory of another device";
}

int hip_reaches(const void *at, int device, char *fault)
{
    const struct hip_runtime *hip = hip_runtime();
    if (!hip) return fault_of(fault, HIP_NO_LIBRARY);
    const char *why = why_unreached(hip, at, device);
    if (why) snprintf(fault, GPU_FAULT_MAX, "%s", why);
    return why != NULL;
}
