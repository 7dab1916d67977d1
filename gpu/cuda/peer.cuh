/* GEMMs of cuBLAS, to compare kernels with. */
#ifndef BITCUT_GPU_CUDA_PEER_CUH
#define BITCUT_GPU_CUDA_PEER_CUH

#include "gpu/cuda/gemm.cuh"

/* The table of peers. */
extern const struct gpu_peer peers[];

struct cublas; /* an open library, with a workspace of its own */

/* Open cuBLAS, of the CUDA that the module is built with, for work on `stream`.  *x is
   NULL, and the library's text says why, if it is not there. */
void cublas_open(struct cublas **x, struct gpu_library *library, cudaStream_t stream);
void cublas_close(struct cublas *x);

/* Start D = A B of the work, or of its words where the peer has a split, on the library's
   stream.  Another number than 0 with a line in fault. */
int cublas_start(const struct cublas *x, const struct gpu_peer *peer,
                 const struct gpu_work *work, char *fault);

#endif
