/* SPDX-License-Identifier: BSD-3-Clause */
/* Executor of AMD code objects: kernels compiled for gfx908, gfx90a and gfx942 run on the
   CPU, instruction by instruction.

   It is narrow: what clang makes of GEMM, split and recording kernels.  Another opcode,
   or a form of an opcode that is not here, ends the run with its name and place.  Matrix
   instructions are those of the emulator's units, to the bit; FP32 is IEEE 754 to nearest
   with subnormals, which the kernel's descriptor must ask for.  None of it was compared
   with AMD hardware by us.

   It finds what hardware would not tell: accesses outside of every buffer or misaligned,
   values that nothing has set where they decide something, registers used before what
   loads them was waited for, and races at LDS.  It does not know of hazards that s_nop
   keeps apart, nor of time. */
#ifndef BITCUT_EMU_GFX9_GFX9_H
#define BITCUT_EMU_GFX9_GFX9_H

#include "lib/base/progress.h"
#include "lib/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of the table of targets. */
struct gfx9_target {
    const char *name, *what;
    const char *units;    /* the part of its units' names before the '/'               */
    unsigned machine;     /* in the flags of its code objects (EF_AMDGPU_MACH)         */
    unsigned bit;         /* in sets of targets                                        */
    bool packs_items;     /* x, y and z of a work-item are in v0, ten bits each        */
    bool accumulates_all; /* C and D of matrix instructions are always AGPRs, and only
                             those instructions reach AGPRs                            */
    bool even;            /* operands of several registers begin at an even one        */
};

extern const struct gfx9_target gfx9_targets[]; /* ended by a row without a name */

/* What a kernel takes as its arguments: offset and bytes of each in their segment, and
   whether it is the address of a buffer. */
enum { GFX9_ARGUMENTS_MAX = 64 };

struct gfx9_argument {
    uint32_t offset, bytes;
    bool address;
};

struct gfx9_kernel {
    const char *name;
    uint64_t descriptor;            /* an address of the object */
    uint32_t segment_bytes;         /* of all arguments, hidden ones included */
    uint32_t items_most;            /* work-items of a work-group that it was compiled
                                       for; 0: it does not say                       */
    uint32_t hidden;                /* where those begin that the runtime fills in */
    bool has_hidden, counts_blocks; /* hidden ones; as version 5 has them */
    int arguments;                  /* GFX9_ARGUMENTS_MAX at most */
    const struct gfx9_argument *argument;
};

struct gfx9_object;

/* Read a code object: an ELF file of one of the targets.  BITCUT_BAD_ARGUMENT: it is
   none, or damaged, or parts of it that are to be apart overlap; BITCUT_UNSUPPORTED:
   another machine's, or no memory.  Time and memory are in proportion to `bytes`: of a
   segment that is longer than its bytes in the file, no zeros are kept.  *to is set only
   on success; gfx9_unload() ends it. */
enum bitcut_status gfx9_load(struct gfx9_object **to, const void *file, size_t bytes,
                             struct fault *f);
void gfx9_unload(struct gfx9_object *object);

const struct gfx9_target *gfx9_target_of(const struct gfx9_object *object);

/* The target that a code object is for, by its header alone; NULL: of none. */
const struct gfx9_target *gfx9_target_peek(const void *file, size_t bytes);

/* The kernel after `at`; the first for NULL; NULL at the end. */
const struct gfx9_kernel *gfx9_kernel_next(const struct gfx9_object *object,
                                           const struct gfx9_kernel *at);
const struct gfx9_kernel *gfx9_kernel_find(const struct gfx9_object *object,
                                           const char *name);

/* Memory that a kernel may touch: where it lies, and the address by which the kernel sees
   it.  Kernels see no addresses of the host. */
struct gfx9_memory {
    void *at;
    size_t bytes;
    uint64_t address;
};

/* The address of the first buffer: above all that processes have. */
#define GFX9_ADDRESS_FIRST (1ull << 60)

/* Give a buffer an address; returns one for the next, with a gap between that no buffer
   has. */
uint64_t gfx9_address_set(struct gfx9_memory *m, uint64_t address);

/* What a launch has done. */
struct gfx9_counts {
    uint64_t instructions; /* executed by a wave: those below, and scalar ones        */
    uint64_t vector, matrix, branches, barriers, waits;
    uint64_t lds, lds_read, lds_written;          /* instructions; bytes               */
    uint64_t lds_cycles, lds_least;               /* with and without bank conflicts   */
    uint64_t global, global_read, global_written; /* instructions; bytes               */
    uint64_t products;                            /* of matrix instructions            */
};

/* A row of their table. */
struct gfx9_counter {
    const char *name;
    size_t at; /* in struct gfx9_counts */
};

extern const struct gfx9_counter gfx9_counters[]; /* ended by a row without a name */

uint64_t gfx9_count(const struct gfx9_counts *counts, const struct gfx9_counter *row);
void gfx9_counts_add(struct gfx9_counts *to, const struct gfx9_counts *counts);

struct gfx9_launch {
    const struct gfx9_object *object;
    const struct gfx9_kernel *kernel;
    uint32_t groups[3], items[3]; /* work-groups, and work-items of each */
    uint32_t lds_bytes;           /* beside those that the kernel names  */
    const void *arguments; /* as the kernel's segment has them, hidden ones left out */
    size_t argument_bytes;
    const struct gfx9_memory *memory;
    size_t memories;
    int threads;    /* 0: all processors */
    double seconds; /* that the run may take, 0: any; more is BITCUT_UNSUPPORTED */
    const struct progress *progress; /* or NULL; stopping it is BITCUT_UNSUPPORTED */
};

/* Run a kernel and wait.  Work-groups run in parallel, the waves of one by turns; any
   number of threads gives the same.  *counts, which may be NULL, is set on success.
   BITCUT_BAD_ARGUMENT: sizes or arguments that the kernel does not take.
   BITCUT_UNSUPPORTED: something that it may not do, of the first work-group that does it:
   kernel, opcode, the instruction's offset from the kernel's beginning, and why; memory
   holds what was done until then. */
enum bitcut_status gfx9_run(struct gfx9_counts *counts, const struct gfx9_launch *launch,
                            struct fault *f);

/* Call `each` with the address in the object and the mnemonic of every instruction of the
   code, NULL for one that no row has; until it returns false. */
void gfx9_list(const struct gfx9_object *object,
               bool (*each)(void *with, size_t at, const char *mnemonic), void *with);

#endif
