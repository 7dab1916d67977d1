/* SPDX-License-Identifier: BSD-3-Clause */
/* The code objects that the build made for the targets that configure found: files
   gpu/hip/NAME.TARGET.hsaco in the folder that is compiled in. */
#include "gpu/hip/code.h"

/* Page-aligned, as ELF segments require. */
#define OBJECT(name, target)                                                             \
    __asm__(".pushsection .rodata\n"                                                     \
            ".balign 4096\n"                                                             \
            ".local hip_" #name "_" #target "\n"                                         \
            "hip_" #name "_" #target ":\n"                                               \
            ".incbin \"gpu/hip/" #name "." #target ".hsaco\"\n"                          \
            ".popsection\n");                                                            \
    extern const char hip_##name##_##target[] __attribute__((visibility("hidden")));
#define LISTED(name, target) hip_##name##_##target,

/* The smallest object first, because it shows whether a device accepts the target's
   code. */
#define OBJECTS(X, target)                                                               \
    X(sums, target)                                                                      \
    X(mfma, target)                                                                      \
    X(split, target)                                                                     \
    X(gemm_f16, target)                                                                  \
    X(gemm_bf16, target)                                                                 \
    X(batch, target)

static const void *const none[] __attribute__((unused)) = { NULL };

#ifdef HIP_GFX908
OBJECTS(OBJECT, gfx908)
static const void *const of_gfx908[] = { OBJECTS(LISTED, gfx908) NULL };
#else
#define of_gfx908 none
#endif
#ifdef HIP_GFX90A
OBJECTS(OBJECT, gfx90a)
static const void *const of_gfx90a[] = { OBJECTS(LISTED, gfx90a) NULL };
#else
#define of_gfx90a none
#endif
#ifdef HIP_GFX942
OBJECTS(OBJECT, gfx942)
OBJECT(gemm_fp8, gfx942)
static const void *const of_gfx942[] = { OBJECTS(LISTED, gfx942) LISTED(gemm_fp8, gfx942)
                                             NULL };
#else
#define of_gfx942 none
#endif

const void *const *const hip_objects[HIP_TARGETS] = { of_gfx908, of_gfx90a, of_gfx942 };
