/* SPDX-License-Identifier: BSD-3-Clause */
/* Which matrix units this machine's processor has, and its system lets a program use. */
#ifndef BITCUT_GPU_CPU_HOST_UNITS_H
#define BITCUT_GPU_CPU_HOST_UNITS_H

#include "gpu/module/module.h"

/* Units, by their rows in host_architectures. */
enum host_unit { HOST_AMX_BF16, HOST_AMX_FP16, HOST_AVX512_BF16, HOST_UNITS };

/* Sets of them. */
enum {
    ON_AMX_BF16 = 1 << HOST_AMX_BF16,
    ON_AMX_FP16 = 1 << HOST_AMX_FP16,
    ON_AVX512_BF16 = 1 << HOST_AVX512_BF16,
    ON_AMX = ON_AMX_BF16 | ON_AMX_FP16,
    ON_ALL = ON_AMX | ON_AVX512_BF16
};

extern const struct gpu_architecture host_architectures[]; /* ended by {0} */

/* Registers of CPUID, in its order. */
struct cpuid {
    uint32_t eax, ebx, ecx, edx;
};

/* What is asked of the processor and of the system; a test asks something else. */
struct host_system {
    unsigned built; /* the units that the program has code for */

    /* What the processor says of itself: all zeros for a leaf that it has not. */
    struct cpuid (*ask)(uint32_t leaf, uint32_t part);

    /* The registers that the system keeps for each thread: XCR0, by XGETBV, which a
       processor has that says OSXSAVE. */
    uint64_t (*kept)(void);

    /* Ask the kernel to let this process use the tiles of AMX: 0, or an errno. */
    int (*allow_tiles)(void);
};

extern const struct host_system host_system; /* this machine */

/* The units there are, a set; and of each other one why not, as one line.  The kernel is
   asked for tiles only if nothing else is wrong with AMX, and once a call: what it has
   allowed stays so. */
unsigned host_units(char why_not[GPU_FAULT_MAX], const struct host_system *system);

#endif
