/* The end of a split-K GEMM: D from the partial sums of its slices. */
#include "gpu/gemm.cuh"

namespace
{

struct arguments {
    const float *partial;
    int slices;
    size_t m, n;
    struct lines lines;
    float alpha, beta;
    const float *c; /* NULL: beta is zero */
    size_t ldc, stride_c;
    float *d;
    size_t ldd, stride_d;
};

/* Launch: any grid, matrices along y; a thread takes outputs a grid apart, and adds in
   the order of k. */
__global__ void add_slices(const arguments x)
{
    const size_t count = x.m * x.n, stride = (size_t)gridDim.x * blockDim.x;
    const size_t matrix = blockIdx.y;
    const float *partial = x.partial + matrix * x.slices * count;
    const struct lines lines = lines_of(x.lines, matrix);
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < count;
         e += stride) {
        const size_t i = e / x.n, j = e % x.n;
        float total = partial[e];
        for (int s = 1; s < x.slices; s++)
            total = __fadd_rn(total, partial[s * count + e]);
        total = lines_restore(total, lines, i, j);
        x.d[matrix * x.stride_d + i * x.ldd + j] =
            output_of(x.alpha, total, x.beta, x.c, matrix * x.stride_c + i * x.ldc + j);
    }
}

constexpr size_t BLOCK = 256, BLOCKS = 1024; /* threads of one; at most */

} // namespace

cudaError_t slices_add(const struct gpu_product *p, int slices)
{
    const arguments x = { (const float *)p->workspace,
                          slices,
                          p->m,
                          p->n,
                          p->lines,
                          p->alpha,
                          p->beta,
                          p->c,
                          p->ldc,
                          p->stride_c,
                          p->d,
                          p->ldd,
                          p->stride_d };
    const size_t blocks = divide_up(p->m * p->n, BLOCK);
    const dim3 grid((unsigned)(blocks < BLOCKS ? blocks : BLOCKS), (unsigned)p->count);
    add_slices<<<grid, BLOCK, 0, p->stream>>>(x);
    return cudaGetLastError();
}
