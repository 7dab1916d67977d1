/* What the files of GEMM kernels share: a GEMM whose operands are words. */
#ifndef BITCUT_GPU_GEMM_CUH
#define BITCUT_GPU_GEMM_CUH

#include "gpu/cuda.cuh"

/* The tables of kernels, one a file. */
extern const struct gpu_kernel gemm_sm80[], gemm_sm90[], gemm_wmma[];

/* Words of one operand in the device's memory, in the layout of gpu/module.h. */
struct words {
    const void *at;
    size_t lines, row_bytes; /* of a line */
};

/* D = alpha A B + beta C of words. */
struct gpu_product {
    size_t m, n, k;
    struct words a, b;
    int scale; /* of the split */
    float alpha, beta;
    const float *c; /* NULL: beta is zero */
    size_t ldc;
    float *d;
    size_t ldd;
    int slices;
    void *workspace;
    cudaStream_t stream;
};

constexpr size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

constexpr size_t format_bytes(enum gpu_format format)
{
    return format == GPU_TF32 ? 4 : 2;
}

/* Bytes of a line of one word. */
constexpr size_t words_row_bytes(enum gpu_format format, size_t k)
{
    return divide_up(k, GPU_WORDS_RUN) * GPU_WORDS_RUN * format_bytes(format);
}

/* Start the split pass on a stream. */
cudaError_t split_launch(void *words, const struct gpu_split *split,
                         const struct gpu_operand *operand, size_t lines, size_t k,
                         cudaStream_t stream);

/* What struct gpu_module declares, in gpu/gemm.cu. */
int split_run(void *words, const struct gpu_split *split,
              const struct gpu_operand *operand, size_t lines, size_t k, char *fault);
int gemm_run(const struct gpu_gemm *gemm, const struct gpu_kernel *kernel, char *fault);
size_t gemm_words(const struct gpu_split *split, size_t lines, size_t k);
int gemm_prepare(void *words, const struct gpu_split *split,
                 const struct gpu_operand *operand, size_t lines, size_t k, void *stream,
                 char *fault);
size_t gemm_workspace(const struct gpu_gemm *gemm, const struct gpu_kernel *kernel);
int gemm_start(const struct gpu_gemm *gemm, const struct gpu_kernel *kernel,
               void *workspace, void *stream, char *fault);

#endif
