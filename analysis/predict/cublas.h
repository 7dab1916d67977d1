/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of cuBLAS: the algorithm that it chooses, and what an algorithm computes. */
#ifndef BITCUT_ANALYSIS_PREDICT_CUBLAS_H
#define BITCUT_ANALYSIS_PREDICT_CUBLAS_H

#include "analysis/predict/prediction.h"

/* An algorithm of cublasLtMatmul, as cublasLtMatmulAlgoConfigGetAttribute() tells it. */
struct cublas_fields {
    uint32_t id;      /* family of kernels                                             */
    uint32_t tile;    /* number of the tile's size                                     */
    uint32_t stages;  /* number of the k of a stage, and of how many there are         */
    uint32_t splits;  /* slices of k; CUBLAS_STREAM_K: stream-K                        */
    uint32_t scheme;  /* how slices are added                                          */
    uint32_t swizzle; /* order of the tiles                                            */
    uint32_t custom;  /* variant of the kernel                                         */
    uint32_t inner;   /* number of the instruction's size                              */
    uint32_t cluster; /* number of the cluster's size                                  */
};

enum { CUBLAS_FIELDS_MAX = 9 };

#define CUBLAS_STREAM_K UINT32_MAX

/* Read fields from a line such as "id=66,stages=35,splits=9,scheme=2", in which others
   are 0, or from all nine numbers in the order above. */
enum bitcut_status cublas_fields_read(struct cublas_fields *to, const char *line,
                                      struct fault *f);

/* What the types of a call are for the rules. */
enum cublas_operands { CUBLAS_HALF, CUBLAS_FP8, CUBLAS_TF32, CUBLAS_FP32 };
struct cublas_types {
    const char *name; /* that of the row of the library's types                        */
    enum cublas_operands operands;
    size_t bytes;  /* of an element of A and B                                */
    bool is_short; /* whether D has 16 bits                                   */
    const char *recipe;
    const char *unit,
        *unit_8;   /* instruction of tensor cores with the usual k, and with 8 */
    int promote;   /* instructions between promotions; 0: none           */
    unsigned type; /* number of the types in the trees                   */
    bool is_other; /* whether the trees have another D, equal for sizes that
                      are multiples of 8                                 */
};
const struct cublas_types *cublas_types_of(const struct prediction *x);

/* Find the algorithm that is chosen for a call, from its sizes.  BITCUT_UNSUPPORTED: the
   recorded answers do not agree near these sizes. */
enum bitcut_status cublas_choose(struct cublas_fields *to, const struct prediction *x,
                                 struct fault *f);

#endif
