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
    size_t ldc;
    float *d;
    size_t ldd;
};

/* Launch: any grid; a thread takes outputs a grid apart, and adds in the order of k. */
__global__ void add_slices(const arguments x)
{
    const size_t count = x.m * x.n, stride = (size_t)gridDim.x * blockDim.x;
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < count;
         e += stride) {
        const size_t i = e / x.n, j = e % x.n;
        float total = x.partial[e];
        for (int s = 1; s < x.slices; s++)
            total = __fadd_rn(total, x.partial[s * count + e]);
        total = lines_restore(total, x.lines, i, j);
        x.d[i * x.ldd + j] = output_of(x.alpha, total, x.beta, x.c, i * x.ldc + j);
    }
}

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
                          p->d,
                          p->ldd };
    add_slices<<<1024, 256, 0, p->stream>>>(x);
    return cudaGetLastError();
}
