/* Instructions of the processor's matrix units: the code that only such a processor runs,
   in files of its own, so that the rest of the program is for any processor. */
#ifndef BITCUT_GPU_HOST_HOST_CODE_H
#define BITCUT_GPU_HOST_HOST_CODE_H

#include "gpu/module.h"

/* Whether the compiler can make it: for x86-64, with both instruction sets. */
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<avx512bf16intrin.h>) &&                                               \
    (__has_include(<amxbf16intrin.h>) || __has_include(<amxintrin.h>))
#define HOST_HAS_CODE 1
#endif
#endif
#ifndef HOST_HAS_CODE
#define HOST_HAS_CODE 0
#endif

/* Batches of single instructions, as gpu_instruction.launch says: 0.  Only where the unit
   is there. */
int host_amx_bf16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
int host_amx_fp16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
int host_avx512_bf16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                     enum gpu_variant variant);

#endif
