/* Real matrix units: opening a module of kernels, and what it can run. */
#ifndef BITCUT_GPU_GPU_H
#define BITCUT_GPU_GPU_H

#include "gpu/module.h"
#include "lib/recipe.h"
#include "lib/status.h"

/* A row of the table of variants: what an instruction is given and what it computes.
   Whatever the variant, the caller's matrices are A[m][k], B[k][n] and C[m][n]. */
struct gpu_variant_row {
    const char *name, *what;
    bool negates_a, negates_b; /* D = -A B + C: the signs of one operand are flipped */
    bool ignores_c;            /* D = A B: C is not read                             */
};

/* By enum gpu_variant; ended by a row without a name. */
extern const struct gpu_variant_row gpu_variants[];

/* A row of the table of architectures. */
struct gpu_architecture {
    const char *name, *what; /* the part of a unit's name before the '/' */
    int least, most;         /* its compute capabilities                 */
};

extern const struct gpu_architecture gpu_architectures[]; /* ended likewise */

/* An open module. */
struct gpu {
    const struct gpu_module *module;
    void *handle;
};

/* Open the module in the folder that the environment variable BITCUT_MODULES names, or
   else in `otherwise`, or if that is NULL where `make install` puts it.  This needs no device.
   BITCUT_CANNOT: there is no module, it cannot be loaded, or it is of another version.  *g
   is set only on success; gpu_close() ends it. */
enum bitcut_status gpu_open(struct gpu *g, const char *otherwise, struct fault *f);
void gpu_close(struct gpu *g);

/* What device there is, and its architecture.  BITCUT_CANNOT with the driver's reason if
   there is none, or if the table does not have its architecture. */
enum bitcut_status gpu_describe(struct gpu_device *device,
                                const struct gpu_architecture **architecture,
                                const struct gpu *g, struct fault *f);

/* The module's instruction of that name, the part of a unit's name after the '/', or
   NULL. */
const struct gpu_instruction *gpu_find(const struct gpu *g, const char *name);

/* The instruction after `at`, through all families; the first for NULL; NULL at the
   end. */
const struct gpu_instruction *gpu_next(const struct gpu *g,
                                       const struct gpu_instruction *at);

/* Whether the device's compute capability is from `least` to `most`, or for a `most` of 0
   from `least` on. */
bool gpu_is_capable(const struct gpu_device *device, int least, int most);

/* Whether the device has the instruction. */
bool gpu_has(const struct gpu_device *device, const struct gpu_instruction *instruction);

/* Run a batch as gpu_module.run says.  BITCUT_CANNOT with the device's reason. */
enum bitcut_status gpu_run(const struct gpu_batch *batch, const struct gpu *g,
                           const struct gpu_instruction *instruction,
                           enum gpu_variant variant, struct fault *f);

/* --- whole GEMMs ------------------------------------------------------------------ */

/* The kernel after `at`, through all families; the first for NULL; NULL at the end. */
const struct gpu_kernel *gpu_kernel_next(const struct gpu *g,
                                         const struct gpu_kernel *at);

/* Whether the device's compute capability is one of the kernel's, and its shared memory
   enough. */
bool gpu_kernel_fits(const struct gpu_device *device, const struct gpu_kernel *kernel);

/* The name of a format of words, as formats have it. */
const char *gpu_format_name(enum gpu_format format);

/* A split as the module takes it, of equilibrated lines or not.  BITCUT_BAD_ARGUMENT: no
   device has words of its format. */
enum bitcut_status gpu_split_of(struct gpu_split *to, const struct bitcut_split *split,
                                bool equilibrate, struct fault *f);

/* Whether the kernel's terms are the recipe's, with low*low first or without it.  No
   kernel has tiles of k that a term runs through before the next. */
bool gpu_kernel_implements(const struct gpu_kernel *kernel,
                           const struct bitcut_recipe *recipe);

/* Whether the kernel takes the GEMM's split, slices and sizes, and all that it needs
   beside the matrices has a size.  BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_gemm_suits(const struct gpu_gemm *gemm,
                                  const struct gpu_kernel *kernel, struct fault *f);

/* Whether an operand called `name` can be read: its leading dimension is not below the
   row length, its bytes have a size, and `at` is there and aligned, or words are.
   BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_operand_check(const char *name, const struct gpu_operand *operand,
                                     size_t lines, size_t k, struct fault *f);

/* Whether no two of `count` matrices of D at a stride have an element in common: they lie
   one after the other, or side by side.  ld >= n. */
bool gpu_outputs_apart(size_t count, size_t stride, size_t m, size_t n, size_t ld);

/* gpu_gemm_suits(), and the same of all matrices; D is C only with its leading
   dimension. */
enum bitcut_status gpu_gemm_check(const struct gpu_gemm *gemm,
                                  const struct gpu_kernel *kernel, struct fault *f);

/* Run a checked GEMM as gpu_module.gemm says.  BITCUT_CANNOT with the device's reason. */
enum bitcut_status gpu_gemm_run(const struct gpu_gemm *gemm, const struct gpu *g,
                                const struct gpu_kernel *kernel, struct fault *f);

/* Make words as gpu_module.split says.  BITCUT_CANNOT with the device's reason. */
enum bitcut_status gpu_split_run(void *words, const struct gpu *g,
                                 const struct gpu_split *split,
                                 const struct gpu_operand *operand, size_t lines,
                                 size_t k, struct fault *f);

#endif
