/* Whole GEMMs: the split pass and a kernel of the table, on the device's memory and on
   the host's. */
#include "gpu/gemm.cuh"

namespace
{

/* --- what lies where -------------------------------------------------------------- */

/* Of how many matrices words are made: of none if they are prepared, of one that all GEMMs
   share. */
size_t made(const struct gpu_gemm *g, const struct gpu_operand *x)
{
    if (x->words) return 0;
    return x->stride ? g->count : 1;
}

struct words words_of(const struct gpu_gemm *g, const struct gpu_operand *x, size_t lines)
{
    const size_t own = x->stride ? words_stride(&g->split, lines, g->k) : 0;
    return { x->words, lines, words_row_bytes(g->split.format, g->k),
             x->words ? x->words_stride : own };
}

/* The parts of a workspace: words of A and of B, unless they are prepared, and the
   kernel's. */
struct workspace {
    size_t a, b, kernel; /* bytes */
};

struct gpu_product product_of(const struct gpu_gemm *g)
{
    struct gpu_product p = {};
    p.count = g->count;
    p.m = g->m;
    p.n = g->n;
    p.k = g->k;
    p.a = words_of(g, &g->a, g->m);
    p.b = words_of(g, &g->b, g->n);
    p.scale = g->split.scale;
    p.alpha = float_of(g->alpha);
    p.beta = float_of(g->beta);
    p.c = is_zero(g->beta) ? NULL : (const float *)g->c;
    p.ldc = g->ldc;
    p.stride_c = g->stride_c;
    p.d = (float *)g->d;
    p.ldd = g->ldd;
    p.stride_d = g->stride_d;
    p.slices = g->slices;
    return p;
}

struct workspace workspace_of(const struct gpu_gemm *g, const struct gpu_kernel *kernel)
{
    const struct gpu_product p = product_of(g);
    return { made(g, &g->a) * words_stride(&g->split, g->m, g->k),
             made(g, &g->b) * words_stride(&g->split, g->n, g->k),
             kernel->workspace ? kernel->workspace(&p) : 0 };
}

/* --- starting --------------------------------------------------------------------- */

/* The words of an operand that are not there yet. */
cudaError_t words_make(struct words *to, char *at, const struct gpu_gemm *g,
                       const struct gpu_operand *x, cudaStream_t stream)
{
    if (x->words) return cudaSuccess;
    to->at = at;
    return split_launch(at, &g->split, x, made(g, x), to->lines, g->k, stream);
}

cudaError_t start_on(const struct gpu_gemm *g, const struct gpu_kernel *kernel,
                     char *workspace, cudaStream_t stream)
{
    const struct workspace parts = workspace_of(g, kernel);
    struct gpu_product p = product_of(g);
    if (!g->count || !g->m || !g->n) return cudaSuccess;
    p.stream = stream;
    p.workspace = workspace + parts.a + parts.b;
    cudaError_t status = words_make(&p.a, workspace, g, &g->a, stream);
    if (status == cudaSuccess)
        status = words_make(&p.b, workspace + parts.a, g, &g->b, stream);
    p.lines = { words_largest(p.a.at, &g->split, g->m, g->k),
                words_largest(p.b.at, &g->split, g->n, g->k),
                p.a.stride / sizeof(uint32_t), p.b.stride / sizeof(uint32_t) };
    return status == cudaSuccess ? (cudaError_t)kernel->launch(&p) : status;
}

/* --- the host's memory ------------------------------------------------------------ */

/* Arrays on the device, freed together. */
struct arrays {
    void *at[8];
    int count;
};

/* Bytes on the device, filled with those at `from` or, without it, with ones: NaNs, so
   that reading what nothing wrote shows. */
cudaError_t array_add(void **to, struct arrays *x, size_t bytes, const void *from)
{
    cudaError_t status = cudaMalloc(to, bytes ? bytes : 1);
    if (status != cudaSuccess) return status;
    x->at[x->count++] = *to;
    return from ? cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice)
                : cudaMemset(*to, 0xff, bytes);
}

cudaError_t arrays_clear(const struct arrays *x)
{
    cudaError_t first = cudaSuccess;
    for (int i = 0; i < x->count; i++) {
        const cudaError_t status = cudaFree(x->at[i]);
        if (first == cudaSuccess) first = status;
    }
    return first;
}

/* Bytes from the first element of a batch's first matrix to the last one's last. */
size_t matrices_bytes(size_t count, size_t stride, size_t rows, size_t columns, size_t ld)
{
    return count && rows && columns
               ? ((count - 1) * stride + (rows - 1) * ld + columns) * sizeof(float)
               : 0;
}

cudaError_t operand_add(struct gpu_operand *to, struct arrays *x, size_t count,
                        const struct gpu_operand *from, size_t lines, size_t k)
{
    const size_t rows = from->across ? k : lines, columns = from->across ? lines : k;
    const size_t bytes = matrices_bytes(count, from->stride, rows, columns, from->ld);
    return array_add((void **)&to->at, x, bytes, from->at);
}

cudaError_t gemm_there(struct arrays *x, const struct gpu_gemm *g,
                       const struct gpu_kernel *kernel)
{
    struct gpu_gemm there = *g;
    void *workspace = NULL;
    const size_t c_bytes = matrices_bytes(g->count, g->stride_c, g->m, g->n, g->ldc);
    const size_t d_bytes = matrices_bytes(g->count, g->stride_d, g->m, g->n, g->ldd);
    const struct workspace parts = workspace_of(g, kernel);
    cudaError_t status = operand_add(&there.a, x, g->count, &g->a, g->m, g->k);
    if (status == cudaSuccess)
        status = operand_add(&there.b, x, g->count, &g->b, g->n, g->k);
    if (status == cudaSuccess) status = array_add((void **)&there.d, x, d_bytes, g->d);
    if (g->c == g->d) there.c = there.d;
    else if (status == cudaSuccess && !is_zero(g->beta))
        status = array_add((void **)&there.c, x, c_bytes, g->c);
    if (status == cudaSuccess)
        status = array_add(&workspace, x, parts.a + parts.b + parts.kernel, NULL);
    if (status == cudaSuccess) status = start_on(&there, kernel, (char *)workspace, 0);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
        status = cudaMemcpy(g->d, there.d, d_bytes, cudaMemcpyDeviceToHost);
    return status;
}

cudaError_t split_there(struct arrays *x, void *words, const struct gpu_split *split,
                        const struct gpu_operand *operand, size_t lines, size_t k)
{
    struct gpu_operand there = *operand;
    void *to = NULL;
    const size_t bytes = words_bytes(split, lines, k);
    cudaError_t status = operand_add(&there, x, 1, operand, lines, k);
    if (status == cudaSuccess) status = array_add(&to, x, bytes, NULL);
    if (status == cudaSuccess) status = split_launch(to, split, &there, 1, lines, k, 0);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
        status = cudaMemcpy(words, to, bytes, cudaMemcpyDeviceToHost);
    return status;
}

} // namespace

/* --- what the module has ---------------------------------------------------------- */

int gemm_run(const struct gpu_gemm *g, const struct gpu_kernel *kernel, char *fault)
{
    struct arrays x = {};
    const cudaError_t status = gemm_there(&x, g, kernel), end = arrays_clear(&x);
    return fault_of(fault, status != cudaSuccess ? status : end);
}

int split_run(void *words, const struct gpu_split *split,
              const struct gpu_operand *operand, size_t lines, size_t k, char *fault)
{
    struct arrays x = {};
    const cudaError_t status = split_there(&x, words, split, operand, lines, k);
    const cudaError_t end = arrays_clear(&x);
    return fault_of(fault, status != cudaSuccess ? status : end);
}

size_t gemm_words(const struct gpu_split *split, size_t lines, size_t k)
{
    return words_bytes(split, lines, k);
}

int gemm_prepare(void *words, const struct gpu_split *split,
                 const struct gpu_operand *operand, size_t lines, size_t k, void *stream,
                 char *fault)
{
    return fault_of(
        fault, split_launch(words, split, operand, 1, lines, k, (cudaStream_t)stream));
}

size_t gemm_workspace(const struct gpu_gemm *g, const struct gpu_kernel *kernel)
{
    const struct workspace parts = workspace_of(g, kernel);
    return parts.a + parts.b + parts.kernel;
}

int gemm_start(const struct gpu_gemm *g, const struct gpu_kernel *kernel, void *workspace,
               void *stream, char *fault)
{
    return fault_of(fault, start_on(g, kernel, (char *)workspace, (cudaStream_t)stream));
}
