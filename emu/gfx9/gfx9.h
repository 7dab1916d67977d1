/* SPDX-License-Identifier: BSD-3-Clause */
/* Executor of AMD code objects: kernels compiled for gfx908, gfx90a and gfx942 run on the
   CPU, instruction by instruction.

   It supports only what clang generates for GEMM, split and recording kernels.  Another
   opcode, or an unsupported form of an opcode, ends the run with its name and address.
   Matrix instructions are the emulator's units, bit for bit.  FP32 is IEEE 754 to nearest
   with subnormals, which the kernel's descriptor must request.  None of it was compared
   with AMD hardware by us.

   It finds faults that hardware would not report: accesses outside of every buffer,
   misaligned accesses, uses of uninitialised values that affect a result or an address,
   uses of registers before s_waitcnt has waited for their load, and races in LDS.  It
   models neither hazards that s_nop avoids, nor time. */
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
    const char *units;    /* part of the names of its units before the '/'             */
    unsigned machine;     /* number in the flags of its code objects (EF_AMDGPU_MACH)  */
    unsigned bit;         /* its bit in sets of targets                                */
    bool packs_items;     /* whether x, y and z of a work-item are in v0, ten bits each */
    bool accumulates_all; /* whether C and D of matrix instructions are always AGPRs, and
                             only these instructions access AGPRs                      */
    bool even;            /* whether operands of several registers begin at an even one */
};

extern const struct gfx9_target gfx9_targets[]; /* ended by a row without a name */

/* The arguments of a kernel: offset and size of each in their segment, in bytes, and
   whether it is the address of a buffer. */
enum { GFX9_ARGUMENTS_MAX = 64 };

struct gfx9_argument {
    uint32_t offset, bytes;
    bool address;
};

struct gfx9_kernel {
    const char *name;
    uint64_t descriptor;            /* an address of the object */
    uint32_t segment_bytes;         /* size of all arguments, hidden ones included */
    uint32_t items_most;            /* largest number of work-items in a work-group for
                                       which it was compiled; 0: not stated          */
    uint32_t hidden;                /* offsets of arguments that the runtime fills in */
    bool has_hidden, counts_blocks; /* whether it has hidden arguments, and those of
                                       version 5                          */
    int arguments;                  /* at most GFX9_ARGUMENTS_MAX */
    const struct gfx9_argument *argument;
};

struct gfx9_object;
struct bitcut_unit;

/* Read a code object: an ELF file for one of the targets.  BITCUT_BAD_ARGUMENT: the file
   is not a code object, or it is damaged, or parts of it overlap that must not.
   BITCUT_UNSUPPORTED: it is for another machine, or there is not enough memory.  Time and
   memory are proportional to `bytes`: if a segment is longer than its bytes in the file,
   its zeros are not stored.  *to is set only on success; gfx9_unload() frees it. */
enum bitcut_status gfx9_load(struct gfx9_object **to, const void *file, size_t bytes,
                             struct fault *f);
void gfx9_unload(struct gfx9_object *object);

const struct gfx9_target *gfx9_target_of(const struct gfx9_object *object);

/* The target of a code object, found by its header alone; NULL: no target. */
const struct gfx9_target *gfx9_target_peek(const void *file, size_t bytes);

/* The kernel after `at`; the first one for NULL; NULL at the end. */
const struct gfx9_kernel *gfx9_kernel_next(const struct gfx9_object *object,
                                           const struct gfx9_kernel *at);
const struct gfx9_kernel *gfx9_kernel_find(const struct gfx9_object *object,
                                           const char *name);

/* Memory that a kernel may access: its address on the host, and the address at which the
   kernel sees it.  Kernels see no addresses of the host. */
struct gfx9_memory {
    void *at;
    size_t bytes;
    uint64_t address;
};

/* The address of the first buffer, above all addresses of processes. */
#define GFX9_ADDRESS_FIRST (1ull << 60)

/* Give a buffer an address.  Returns an address for the next buffer, with a gap between
   the two. */
uint64_t gfx9_address_set(struct gfx9_memory *m, uint64_t address);

/* What a launch has executed. */
struct gfx9_counts {
    uint64_t instructions; /* executed by a wave: the ones below, and scalar ones     */
    uint64_t vector, matrix, branches, barriers, waits;
    uint64_t lds, lds_read, lds_written;          /* instructions; bytes               */
    uint64_t lds_cycles, lds_least;               /* with and without bank conflicts   */
    uint64_t global, global_read, global_written; /* instructions; bytes               */
    uint64_t products;                            /* products of matrix instructions   */
    uint64_t
        opcodes[2]; /* bit i % 64 of opcodes[i / 64]: matrix instruction i was executed */
};

/* A row of the table of counters. */
struct gfx9_counter {
    const char *name;
    size_t at; /* offset in struct gfx9_counts */
};

extern const struct gfx9_counter gfx9_counters[]; /* ended by a row without a name */

uint64_t gfx9_count(const struct gfx9_counts *counts, const struct gfx9_counter *row);
void gfx9_counts_add(struct gfx9_counts *to, const struct gfx9_counts *counts);

/* The units of the matrix instructions that a launch has executed; one that the unit
   table lacks is omitted.  Returns their number. */
enum { GFX9_UNITS_MAX = 128 };
size_t gfx9_units_executed(const struct bitcut_unit *to[GFX9_UNITS_MAX],
                           const struct gfx9_object *object,
                           const struct gfx9_counts *counts);

struct gfx9_launch {
    const struct gfx9_object *object;
    const struct gfx9_kernel *kernel;
    uint32_t groups[3], items[3]; /* number of work-groups, and of work-items in each */
    uint32_t lds_bytes;           /* in addition to the LDS that the kernel declares */
    const void *arguments;        /* in the layout of the kernel's segment, without hidden
                                     ones                                                   */
    size_t argument_bytes;
    const struct gfx9_memory *memory;
    size_t memories;
    int threads;    /* 0: all processors */
    double seconds; /* time limit of the run; 0: none; exceeding it is
                       BITCUT_UNSUPPORTED                                        */
    const struct progress *progress; /* or NULL; if it stops the run, the result is
                                        BITCUT_UNSUPPORTED                         */
};

/* Run a kernel and wait for it.  Work-groups run in parallel, and the waves of a group
   alternate; any number of threads gives the same results.  *counts, which may be NULL,
   is set on success.

   BITCUT_BAD_ARGUMENT: the kernel does not accept the sizes or arguments.
   BITCUT_UNSUPPORTED: the kernel does something that it must not do.  The fault describes
   the first work-group that does it: kernel, opcode, the instruction's offset from the
   start of the kernel, and the reason.  Memory then holds the results so far. */
enum bitcut_status gfx9_run(struct gfx9_counts *counts, const struct gfx9_launch *launch,
                            struct fault *f);

/* Call `each` with the address in the object and the mnemonic of every instruction of the
   code, NULL for an instruction without a row, until it returns false. */
void gfx9_list(const struct gfx9_object *object,
               bool (*each)(void *with, size_t at, const char *mnemonic), void *with);

#endif
