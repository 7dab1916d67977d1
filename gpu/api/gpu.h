/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware matrix units: opening a module of kernels, and running them. */
#ifndef BITCUT_GPU_API_GPU_H
#define BITCUT_GPU_API_GPU_H

#include "gpu/module/module.h"
#include "lib/base/status.h"
#include "lib/gemm/recipe.h"

/* A row of the table of variants: how the operands of an instruction are passed, and what
   it computes.  For every variant, the caller's matrices are A[m][k], B[k][n] and
   C[m][n]. */
struct gpu_variant_row {
    const char *name, *what;
    bool negates_a, negates_b; /* D = -A B + C: the signs of one operand are flipped */
    bool ignores_c;            /* D = A B: C is not read                             */
};

/* Indexed by enum gpu_variant; ended by a row without a name. */
extern const struct gpu_variant_row gpu_variants[];

/* A row of the table of backends.  Their names are the first parts of device names:
   "cuda"; "cuda:1" for the second device; "executor:gfx90a" for the first device of an
   architecture. */
struct gpu_backend {
    const char *name, *what;
    const char *module;   /* name of its file; NULL: it is part of the program         */
    const char *compiler; /* compiler that builds it                                   */
    const char *tables;   /* the backend whose tables its module has; NULL: its own    */
    bool by_architecture; /* whether its devices are named after their architectures   */
    const struct gpu_module *own; /* module that is part of the program; else NULL     */
    const char *was; /* its name in version 0.1, which is still accepted; NULL: the same
                        name                                                           */
};

extern const struct gpu_backend gpu_backends[]; /* ended by a row without a name */

/* Whether the first `length` characters of a text are the backend's name, or its name in
   version 0.1. */
bool gpu_backend_is(const struct gpu_backend *backend, const char *text, size_t length);

/* The backend that the name of a device or kernel refers to by its name in version 0.1;
   NULL: none. */
const struct gpu_backend *gpu_backend_renamed(const char *device);

/* An open module. */
struct gpu {
    const struct gpu_module *module;
    void *handle;
};

/* Open the module of a backend.  The module is part of the program, or a file in
   `folder`.  If `folder` is NULL or "", the file is in the folder of the library, or
   where `make install` puts it.  Callers take the folder from the environment variable
   BITCUT_MODULES by secure_getenv().  No device is needed.

   BITCUT_UNSUPPORTED: the module does not exist, cannot be loaded, or has another
   version.  *g is set only on success; gpu_close() frees it. */
enum bitcut_status gpu_open(struct gpu *g, const struct gpu_backend *backend,
                            const char *folder, struct fault *f);
void gpu_close(struct gpu *g);

/* Whether the module of the backend is in this folder, or part of the program, whether or
   not it can be used. */
bool gpu_is_built(const struct gpu_backend *backend, const char *folder);

/* Describe the device with this number.  BITCUT_UNSUPPORTED with the driver's reason if
   the device does not exist, or if its architecture is not in the module's table. */
enum bitcut_status gpu_describe(struct gpu_device *device, const struct gpu *g,
                                int number, struct fault *f);

/* Describe the first device from *number on that can be described, and set *number to the
   number after it.  Devices of another architecture, or without code in the module, are
   skipped.  BITCUT_UNSUPPORTED, with the reason for *number: there is no such device. */
enum bitcut_status gpu_describe_next(struct gpu_device *device, const struct gpu *g,
                                     int *number, struct fault *f);

/* Open the module of the device with this name, and describe the device: gpu_open(),
   gpu_describe().  A name without ":N" means the first device that can be described.
   BITCUT_BAD_ARGUMENT: it is not the name of a device. */
enum bitcut_status gpu_open_device(struct gpu *g, struct gpu_device *device,
                                   const char *name, const char *folder,
                                   struct fault *f);

/* Whether the device with this name belongs to a backend that is part of the program.
   Its kernels read the matrices in the memory of the process. */
bool gpu_is_own(const char *name);

/* The architecture after `at`; the first one for NULL; NULL at the end. */
const struct gpu_architecture *gpu_architecture_next(const struct gpu *g,
                                                     const struct gpu_architecture *at);

/* The module's instruction with this name, which is the part of a unit's name after the
   '/', or NULL. */
const struct gpu_instruction *gpu_find(const struct gpu *g, const char *name);

/* The instruction after `at`, over all families; the first one for NULL; NULL at the
   end. */
const struct gpu_instruction *gpu_next(const struct gpu *g,
                                       const struct gpu_instruction *at);

/* The first architecture of a set that the device has; NULL: none. */
const struct gpu_architecture *gpu_architecture_for(const struct gpu_device *device,
                                                    unsigned set);

/* Whether the device has the instruction. */
bool gpu_has(const struct gpu_device *device, const struct gpu_instruction *instruction);

/* The unit of an instruction on a device; NULL: the device does not have it, or the table
   of units lacks it. */
const struct bitcut_unit *gpu_unit(const struct gpu_instruction *instruction,
                                   const struct gpu_device *device);

/* Run a batch as gpu_module.run does.  BITCUT_UNSUPPORTED with the device's reason. */
enum bitcut_status gpu_run(const struct gpu_batch *batch, const struct gpu *g,
                           const struct gpu_device *device,
                           const struct gpu_instruction *instruction,
                           enum gpu_variant variant, struct fault *f);

/* --- whole GEMMs ------------------------------------------------------------------ */

/* The kernel after `at`, over all families; the first one for NULL; NULL at the end. */
const struct gpu_kernel *gpu_kernel_next(const struct gpu *g,
                                         const struct gpu_kernel *at);

/* Whether the device has an architecture of the kernel and enough shared memory. */
bool gpu_kernel_fits(const struct gpu_device *device, const struct gpu_kernel *kernel);

/* Whether the kernel multiplies parts, which a split pass makes of FP32 matrices. */
static inline bool gpu_kernel_splits(const struct gpu_kernel *kernel)
{
    return kernel->matrices == FORMAT_F32 && !kernel->side_most;
}

/* Whether the kernel accepts pointers to matrices. */
static inline bool gpu_kernel_takes_pointers(const struct gpu_kernel *kernel)
{
    return kernel->matrices != FORMAT_F32;
}

/* Whether the kernel accepts these sizes. */
static inline bool gpu_kernel_takes_sizes(const struct gpu_kernel *kernel, size_t m,
                                          size_t n, size_t k)
{
    const size_t most = kernel->size_most ? kernel->size_most : SIZE_MAX;
    const size_t side = kernel->side_most ? kernel->side_most : SIZE_MAX;
    return m <= most && n <= most && k <= most && (m < n ? m : n) <= side;
}

/* The unit of the kernel on a device with one of its architectures; NULL: the table of
   units lacks it. */
const struct bitcut_unit *gpu_kernel_unit(const struct gpu_kernel *kernel,
                                          const struct gpu_device *device);

/* Whether the units have the same arithmetic, so that every recipe whose parts have one
   format gives the same bits on both: the same rule of sums, and the same k in an
   instruction.  wgmma and mma.sync of one architecture are examples. */
bool gpu_units_agree(const struct bitcut_unit *x, const struct bitcut_unit *y);

/* Whether devices can round, and start sums, as the plan or the GEMM asks.
   BITCUT_UNSUPPORTED: a part is rounded STOCHASTIC; or the order of k has an unrolled
   loop. */
enum bitcut_status gpu_plan_takes_rounding(const struct gemm_plan *p, struct fault *f);
enum bitcut_status gpu_takes_rounding(const struct bitcut_gemm *g, struct fault *f);

/* Make the work of a GEMM, which gemm_take() accepted, by the kernel on the device.
   Promotion and the product of low parts are the kernel's if they are left open.
   Addresses are not read, except whether prepared parts and pointers are NULL.  A fault
   begins with the kernel's name.

   BITCUT_UNSUPPORTED: the device cannot run the kernel; no table has its recipe or unit;
   its terms differ from the terms of its recipe; or the GEMM asks for another order of k,
   or for a unit with other arithmetic than the kernel's.  BITCUT_BAD_ARGUMENT: the kernel
   does not do what the GEMM asks for; it does not accept the parts, slices, sizes,
   formats, layouts or pointers; or the size of the workspace does not fit. */
enum bitcut_status gpu_work_make(struct gpu_work *to, const struct bitcut_gemm *gemm,
                                 const struct gpu_kernel *kernel,
                                 const struct gpu_device *device, struct fault *f);

/* The kernel of GEMMs that are emulated, on a unit that the device does not have. */
extern const struct gpu_kernel gpu_emulated;

/* Whether the module can emulate units. */
static inline bool gpu_emulates(const struct gpu *g) { return g->module->multipliers; }

/* Make the work of a GEMM, which gemm_take() accepted and which has a recipe and a unit,
   emulated on the device by a module that can.  Addresses are read as above.
   BITCUT_BAD_ARGUMENT: as bitcut_gemm(); there are prepared parts; or the size of the
   workspace does not fit.  BITCUT_UNSUPPORTED: as emulation_make(). */
enum bitcut_status gpu_work_emulate(struct gpu_work *to, const struct gpu *g,
                                    const struct gpu_device *device,
                                    const struct bitcut_gemm *gemm, struct fault *f);

/* The same by a plan of the GEMM that may have been changed, as for gemm_run_plan()
   (emu/gemm.h), but without faults. */
enum bitcut_status gpu_work_emulate_plan(struct gpu_work *to, const struct gpu *g,
                                         const struct gpu_device *device,
                                         const struct bitcut_gemm *gemm,
                                         const struct gemm_plan *plan, struct fault *f);

/* How the device computes the term at position `index` of the plan: "kernel", or the name
   of a method (gpu/emulate/emulation.h); NULL after the last term. */
const char *gpu_work_method(const struct gpu_work *work, size_t index);

/* Check the addresses of everything that the GEMM reads and writes:
   gemm_check_matrices(), and the same for prepared parts.  BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_work_check(const struct gpu_work *work, struct fault *f);

/* Run a checked GEMM as gpu_module.gemm does.  BITCUT_UNSUPPORTED with the device's
   reason. */
enum bitcut_status gpu_work_run(const struct gpu_work *work,
                                const struct gpu_memory memory[4], const struct gpu *g,
                                const struct gpu_device *device, struct fault *f);

/* Make parts as gpu_module.split does.  BITCUT_UNSUPPORTED with the device's reason. */
enum bitcut_status gpu_split_run(void *parts, const struct gpu_work *work,
                                 enum bitcut_operand operand, const struct gpu *g,
                                 const struct gpu_device *device, struct fault *f);

#endif
