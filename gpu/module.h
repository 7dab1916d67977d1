/* What the program and a module of GPU kernels agree on.

   A module is a shared object, built by a GPU compiler, that the program opens while it
   runs.  It exports one symbol, a struct gpu_module called GPU_MODULE_SYMBOL, and needs
   none of the program's: so a program without a GPU compiler's libraries works, and one
   package serves machines with and without a GPU.  C and C++ read this file alike. */
#ifndef BITCUT_GPU_MODULE_H
#define BITCUT_GPU_MODULE_H

#include <stddef.h>

/* Raised with every change of this file: a module of another number is refused. */
enum { GPU_INTERFACE = 1 };

#define GPU_MODULE_SYMBOL "bitcut_gpu_module"

/* Ways to issue one instruction, by position in gpu_variants (gpu/gpu.h). */
enum gpu_variant {
    GPU_PLAIN,
    GPU_A_REGISTERS,
    GPU_A_TRANSPOSED,
    GPU_B_TRANSPOSED,
    GPU_NEGATE_A,
    GPU_NEGATE_B,
    GPU_SCALE_D_0,
    GPU_VARIANTS
};

/* A batch of single instructions, as raw encodings without gaps: A[count][m][k],
   B[count][k][n], C and D[count][m][n]. */
struct gpu_batch {
    void *d;
    const void *a, *b, *c;
    size_t count;
};

/* A row of a table of instructions. */
struct gpu_instruction {
    const char *name, *what; /* a unit's name behind the '/': family.shape.output.input */
    int m, n, k;             /* shape                                                   */
    int a_bytes, b_bytes, c_bytes; /* of an element; D is as C                          */
    int least, most; /* compute capabilities (10 major + minor) that have it, 0 for most:
                        all from least on                                               */
    unsigned variants; /* those it has: bits 1u << GPU_PLAIN, ...                       */

    /* For the module alone: start the batch, whose arrays are in the device's memory.
       The module's own status, 0 if it has started. */
    int (*launch)(const struct gpu_batch *batch, enum gpu_variant variant);
};

/* A row of a module's table of families. */
struct gpu_family {
    const char *name, *what;
    const struct gpu_instruction *instructions; /* ended by a row without a name */
};

enum { GPU_TEXT_MOST = 256, GPU_FAULT_MOST = 200 };

struct gpu_device {
    char name[GPU_TEXT_MOST];    /* as the maker says: "NVIDIA H200"     */
    char driver[GPU_TEXT_MOST];  /* version of the driver                */
    char runtime[GPU_TEXT_MOST]; /* what the module was built with       */
    int capability;              /* compute capability, 10 major + minor */
};

/* What a module exports.  A function returns 0, or it returns another number and has
   written one line into fault[GPU_FAULT_MOST]. */
struct gpu_module {
    int interface; /* GPU_INTERFACE */
    const char *name, *what;
    const struct gpu_family *families; /* ended by a row without a name */

    /* Describe the device that run() uses: the first that the system shows. */
    int (*describe)(struct gpu_device *device, char *fault);

    /* Issue one instruction a fragment and wait: D[f] from A[f], B[f] and C[f] for every
       f < count.  The arrays are in the host's memory, any alignment that fits their
       elements; D is what the device gave, every bit, or undefined for another return
       than 0.  The device must have the instruction, and the instruction the variant. */
    int (*run)(const struct gpu_batch *batch, const struct gpu_instruction *instruction,
               enum gpu_variant variant, char *fault);
};

#endif
