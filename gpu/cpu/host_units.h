/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix units that this machine's processor has and its system allows programs to
   use. */
#ifndef BITCUT_GPU_CPU_HOST_UNITS_H
#define BITCUT_GPU_CPU_HOST_UNITS_H

#include "gpu/module/module.h"

/* Units, by their rows in host_architectures. */
enum host_unit { HOST_AMX_BF16, HOST_AMX_FP16, HOST_AVX512_BF16, HOST_UNITS };

/* Sets of units. */
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

/* Queries of the processor and of the system; a test replaces them. */
struct host_system {
    unsigned built; /* the units for which the program has code */

    /* CPUID; all zeros for a leaf that the processor does not have. */
    struct cpuid (*ask)(uint32_t leaf, uint32_t part);

    /* XCR0, by XGETBV: the registers that the system saves for each thread.  Called only
       if the processor reports OSXSAVE. */
    uint64_t (*kept)(void);

    /* Ask the kernel to allow this process to use the tiles of AMX.  Returns 0, or an
       errno. */
    int (*allow_tiles)(void);
};

extern const struct host_system host_system; /* this machine */

/* The available units, as a set; and for each other unit the first reason why it is not
   available, as one line.  The kernel is asked for tiles only if AMX is otherwise
   available, and once per call; its permission is permanent. */
unsigned host_units(char why_not[GPU_FAULT_MAX], const struct host_system *system);

#endif
