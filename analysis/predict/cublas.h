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
    bool learned;     /* by decision trees, which are wrong for some calls             */
};

enum { CUBLAS_FIELDS_MAX = 9 };

#define CUBLAS_STREAM_K UINT32_MAX

/* A scheme: slices are added in D. */
enum { CUBLAS_IN_PLACE = 1 };

/* Read fields from a line such as "id=66,stages=35,splits=9,scheme=2", in which others
   are 0, or from all nine numbers in the order above. */
enum bitcut_status cublas_fields_read(struct cublas_fields *to, const char *line,
                                      struct fault *f);

/* What the types of a call are for the rules. */
enum cublas_operands { CUBLAS_HALF, CUBLAS_FP8, CUBLAS_TF32, CUBLAS_FP32, CUBLAS_INT8 };
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

/* A call of cuBLAS. */
struct cublas_call {
    struct bitcut_gemm g; /* sizes, layouts, alpha, beta, the bias, the factors */
    bool is_small;  /* whether the workspace has 1 MiB, not 32 MiB                  */
    bool adds_c;    /* whether it is cublasGemmEx, which adds beta C                */
    bool bias_is_c; /* whether the bias is the C of cublasGemmEx, with a beta of 1  */
};

/* Predict a call for x->call; x->fields has its algorithm, or NULL. */
enum bitcut_status cublas_predict_call(struct prediction *x,
                                       const struct cublas_call *call, struct fault *f);

/* Whether a call has a bias, or a C or factors of the product. */
bool cublas_has_bias(const struct cublas_call *c);
bool cublas_has_c(const struct cublas_call *c);

/* Add the epilogue of a call with these fields to *g, its computation without C and
   alpha. `told`: the fields as they were given; NULL: the sizes determined them. */
enum bitcut_status cublas_add(struct bitcut_gemm *g, const struct cublas_call *c,
                              const struct cublas_types *types,
                              const struct cublas_fields *fields, const char *told,
                              struct fault *f);

/* Find the algorithm that is chosen for a call, from its sizes.  BITCUT_UNSUPPORTED: the
   recorded answers do not determine it. */
enum bitcut_status cublas_choose(struct cublas_fields *to,
                                 const struct cublas_types *types,
                                 const struct cublas_call *call, struct fault *f);

#endif
