/* SPDX-License-Identifier: BSD-3-Clause */
/* Real matrix units: opening a module of kernels, and what it can run. */
#ifndef BITCUT_GPU_API_GPU_H
#define BITCUT_GPU_API_GPU_H

#include "gpu/module/module.h"
#include "lib/base/status.h"
#include "lib/gemm/recipe.h"

/* A row of the table of variants: what an instruction is given and what it computes.
   Whatever the variant, the caller's matrices are A[m][k], B[k][n] and C[m][n]. */
struct gpu_variant_row {
    const char *name, *what;
    bool negates_a, negates_b; /* D = -A B + C: the signs of one operand are flipped */
    bool ignores_c;            /* D = A B: C is not read                             */
};

/* By enum gpu_variant; ended by a row without a name. */
extern const struct gpu_variant_row gpu_variants[];

/* A row of the table of backends, whose names are in those of devices: "cuda", or
   "cuda:1" for the second, or "executor:gfx90a" for the first of an architecture. */
struct gpu_backend {
    const char *name, *what;
    const char *module;   /* its file's name; NULL: it is part of the program          */
    const char *compiler; /* that it is built by                                       */
    const char *tables;   /* the backend whose tables its module has; NULL: it has its
                             own                                                       */
    bool by_architecture; /* its devices are called after their architectures          */
    const struct gpu_module *own; /* that is part of the program; else NULL            */
    const char *was; /* its name in version 0.1, which is still read; NULL: the same   */
};

extern const struct gpu_backend gpu_backends[]; /* ended by a row without a name */

/* Whether the first `length` characters of a text are its name, or the one before. */
bool gpu_backend_is(const struct gpu_backend *backend, const char *text, size_t length);

/* The backend that the name of a device or of its kernels calls by its name in version
   0.1; NULL: none. */
const struct gpu_backend *gpu_backend_renamed(const char *device);

/* An open module. */
struct gpu {
    const struct gpu_module *module;
    void *handle;
};

/* Open a backend's module: its own, or the file in `folder`, or if that is NULL or ""
   beside the library, or where `make install` puts it.  Callers take the folder from the
   environment variable BITCUT_MODULES with secure_getenv().  This needs no device.
   BITCUT_UNSUPPORTED: there is no module, it cannot be loaded, or it is of another
   version.  *g is set only on success; gpu_close() ends it. */
enum bitcut_status gpu_open(struct gpu *g, const struct gpu_backend *backend,
                            const char *folder, struct fault *f);
void gpu_close(struct gpu *g);

/* Whether the backend's module is in that folder, or part of the program, whatever it is
   good for. */
bool gpu_is_built(const struct gpu_backend *backend, const char *folder);

/* What the device of that number is.  BITCUT_UNSUPPORTED with the driver's reason if
   there is none, or if it is of no architecture of the module's table. */
enum bitcut_status gpu_describe(struct gpu_device *device, const struct gpu *g,
                                int number, struct fault *f);

/* The first device from *number on that can be described, and in *number the next one's.
   Others, of another architecture or without code in the module, are passed over.
   BITCUT_UNSUPPORTED with the reason of *number: there is none. */
enum bitcut_status gpu_describe_next(struct gpu_device *device, const struct gpu *g,
                                     int *number, struct fault *f);

/* Open the module of the device that is called so, and describe it: gpu_open(),
   gpu_describe().  Without ":N" it is the first that can be described.
   BITCUT_BAD_ARGUMENT: no device is called so. */
enum bitcut_status gpu_open_device(struct gpu *g, struct gpu_device *device,
                                   const char *name, const char *folder,
                                   struct fault *f);

/* Whether the device that is called so is of a backend that is part of the program: its
   kernels compute where the process has its matrices. */
bool gpu_is_own(const char *name);

/* The architecture after `at`; the first for NULL; NULL at the end. */
const struct gpu_architecture *gpu_architecture_next(const struct gpu *g,
                                                     const struct gpu_architecture *at);

/* The module's instruction of that name, the part of a unit's name after the '/', or
   NULL. */
const struct gpu_instruction *gpu_find(const struct gpu *g, const char *name);

/* The instruction after `at`, through all families; the first for NULL; NULL at the
   end. */
const struct gpu_instruction *gpu_next(const struct gpu *g,
                                       const struct gpu_instruction *at);

/* The first architecture of a set that the device is of; NULL: it is of none. */
const struct gpu_architecture *gpu_architecture_for(const struct gpu_device *device,
                                                    unsigned set);

/* Whether the device has the instruction. */
bool gpu_has(const struct gpu_device *device, const struct gpu_instruction *instruction);

/* The unit that an instruction is on a device; NULL: the device has it not, or the table
   of units lacks it. */
const struct bitcut_unit *gpu_unit(const struct gpu_instruction *instruction,
                                   const struct gpu_device *device);

/* Run a batch as gpu_module.run says.  BITCUT_UNSUPPORTED with the device's reason. */
enum bitcut_status gpu_run(const struct gpu_batch *batch, const struct gpu *g,
                           const struct gpu_device *device,
                           const struct gpu_instruction *instruction,
                           enum gpu_variant variant, struct fault *f);

/* --- whole GEMMs ------------------------------------------------------------------ */

/* The kernel after `at`, through all families; the first for NULL; NULL at the end. */
const struct gpu_kernel *gpu_kernel_next(const struct gpu *g,
                                         const struct gpu_kernel *at);

/* Whether an architecture of the device is one of the kernel's, and its shared memory
   enough. */
bool gpu_kernel_fits(const struct gpu_device *device, const struct gpu_kernel *kernel);

/* Whether the kernel multiplies words, that a split pass makes of FP32 matrices. */
static inline bool gpu_kernel_splits(const struct gpu_kernel *kernel)
{
    return kernel->matrices == FORMAT_F32;
}

/* The unit that the kernel runs on, on a device of one of its architectures; NULL: the
   table of units lacks it. */
const struct bitcut_unit *gpu_kernel_unit(const struct gpu_kernel *kernel,
                                          const struct gpu_device *device);

/* Whether devices round as the plan or the GEMM says: BITCUT_UNSUPPORTED where a part is
   rounded STOCHASTIC. */
enum bitcut_status gpu_plan_takes_rounding(const struct gemm_plan *p, struct fault *f);
enum bitcut_status gpu_takes_rounding(const struct bitcut_gemm *g, struct fault *f);

/* The GEMM, which gemm_take() took, by the kernel on the device: promotion and low*low
   are the kernel's where they are left open.  Places are not read, but for whether words
   and pointers are NULL.  The fault begins with the kernel's name.  BITCUT_UNSUPPORTED:
   the device cannot run it, no table has its recipe or unit, its terms are not those of
   its recipe, the unit asked for is another, or so is the order of k;
   BITCUT_BAD_ARGUMENT: it does something else than asked for, or does not take the words,
   slices, sizes, formats, layouts or pointers, or what it needs beside the matrices has
   no size. */
enum bitcut_status gpu_work_make(struct gpu_work *to, const struct bitcut_gemm *gemm,
                                 const struct gpu_kernel *kernel,
                                 const struct gpu_device *device, struct fault *f);

/* The kernel of GEMMs that are emulated on a unit that the device does not have. */
extern const struct gpu_kernel gpu_emulated;

/* Whether the module can emulate. */
static inline bool gpu_emulates(const struct gpu *g) { return g->module->multipliers; }

/* The GEMM, which gemm_take() took and which has a recipe and a unit, emulated on the
   device by a module that can.  Places are read as above.  BITCUT_BAD_ARGUMENT: as
   bitcut_gemm(); there are words; what it needs beside the matrices has no size;
   BITCUT_UNSUPPORTED as emulation_make(). */
enum bitcut_status gpu_work_emulate(struct gpu_work *to, const struct gpu *g,
                                    const struct gpu_device *device,
                                    const struct bitcut_gemm *gemm, struct fault *f);

/* The same by a plan of the GEMM's that may have been changed, as gemm_run_plan()
   (emu/gemm.h) takes, but without slips. */
enum bitcut_status gpu_work_emulate_plan(struct gpu_work *to, const struct gpu *g,
                                         const struct gpu_device *device,
                                         const struct bitcut_gemm *gemm,
                                         const struct gemm_plan *plan, struct fault *f);

/* How the device computes the term at position `index` of the plan's: "kernel", or the
   name of a method (gpu/emulate/emulation.h); NULL from the last one on. */
const char *gpu_work_method(const struct gpu_work *work, size_t index);

/* Whether all that the GEMM reads and writes can be where it says: gemm_check_matrices(),
   and the same of words.  BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_work_check(const struct gpu_work *work, struct fault *f);

/* Run a checked GEMM as gpu_module.gemm says.  BITCUT_UNSUPPORTED with the device's
 * reason. */
enum bitcut_status gpu_work_run(const struct gpu_work *work,
                                const struct gpu_memory memory[4], const struct gpu *g,
                                const struct gpu_device *device, struct fault *f);

/* Make words as gpu_module.split says.  BITCUT_UNSUPPORTED with the device's reason. */
enum bitcut_status gpu_split_run(void *words, const struct gpu_work *work,
                                 enum bitcut_operand operand, const struct gpu *g,
                                 const struct gpu_device *device, struct fault *f);

#endif
