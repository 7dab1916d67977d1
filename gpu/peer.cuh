/* GEMMs of cuBLAS, to compare kernels with. */
#ifndef BITCUT_GPU_PEER_CUH
#define BITCUT_GPU_PEER_CUH

#include "gpu/gemm.cuh"

/* The table of peers for whole GEMMs. */
extern const struct gpu_peer peers[];

/* The table of those for batches. */
extern const struct gpu_batched_peer batched_peers[];

struct cublas; /* an open library, with a workspace of its own */

/* Open cuBLAS, of the CUDA that the module is built with, for work on `stream`.  *x is
   NULL, and the library's text says why, if it is not there. */
void cublas_open(struct cublas **x, struct gpu_library *library, cudaStream_t stream);
void cublas_close(struct cublas *x);

/* Operands of a peer, `count` of each: FP32, A m x k and B k x n, row-major without gaps;
   or their words.  D has no gaps either. */
struct peer_product {
    size_t count, m, n, k;
    const void *a, *b;
    size_t stride_a, stride_b; /* elements from one matrix, or its words, to the next */
    int scale;                 /* of the split                                        */
    float *d;
};

/* Start D = A B of every GEMM on the library's stream.  Another number than 0 with a line
   in fault. */
int cublas_start(const struct cublas *x, const struct gpu_peer *peer,
                 const struct peer_product *p, char *fault);

/* The same for D_i = A_i B_i: alpha is 1 and beta 0, and nothing is transposed. */
int cublas_start_batched(const struct cublas *x, const struct gpu_batched_peer *peer,
                         const struct gpu_batched *p, char *fault);

#endif
