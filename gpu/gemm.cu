/* Whole GEMMs: the split pass and a kernel of the table, on the device's memory and on
   the host's. */
#include "gpu/gemm.cuh"

#include <cstring>

namespace
{

float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* --- what lies where -------------------------------------------------------------- */

size_t aligned(size_t bytes) { return divide_up(bytes, 256) * 256; }

struct words words_of(const void *at, const struct gpu_gemm *g, size_t lines)
{
    return { at, lines, words_row_bytes(g->split.format, g->k) };
}

/* The parts of a workspace: words of A and of B, unless they are prepared, and the
   kernel's. */
struct workspace {
    size_t a, b, kernel; /* bytes */
};

size_t words_bytes(const struct gpu_split *split, size_t lines, size_t k)
{
    return lines * (split->words * words_row_bytes(split->format, k) +
                    (split->equilibrate ? sizeof(uint32_t) : 0));
}

struct gpu_product product_of(const struct gpu_gemm *g)
{
    struct gpu_product p = {};
    p.m = g->m;
    p.n = g->n;
    p.k = g->k;
    p.a = words_of(g->a.words, g, g->m);
    p.b = words_of(g->b.words, g, g->n);
    p.scale = g->split.scale;
    p.alpha = float_of(g->alpha);
    p.beta = float_of(g->beta);
    p.c = p.beta != 0 ? (const float *)g->c : NULL;
    p.ldc = g->ldc;
    p.d = (float *)g->d;
    p.ldd = g->ldd;
    p.slices = g->slices;
    return p;
}

struct workspace workspace_of(const struct gpu_gemm *g, const struct gpu_kernel *kernel)
{
    const struct gpu_product p = product_of(g);
    return { g->a.words ? 0 : aligned(words_bytes(&g->split, g->m, g->k)),
             g->b.words ? 0 : aligned(words_bytes(&g->split, g->n, g->k)),
             kernel->workspace ? kernel->workspace(&p) : 0 };
}

/* --- starting --------------------------------------------------------------------- */

cudaError_t start_on(const struct gpu_gemm *g, const struct gpu_kernel *kernel,
                     char *workspace, cudaStream_t stream)
{
    const struct workspace parts = workspace_of(g, kernel);
    struct gpu_product p = product_of(g);
    cudaError_t status = cudaSuccess;
    if (!g->m || !g->n) return status;
    p.stream = stream;
    p.workspace = workspace + parts.a + parts.b;
    if (!g->a.words) {
        p.a.at = workspace;
        status = split_launch(workspace, &g->split, &g->a, g->m, g->k, stream);
    }
    if (!g->b.words && status == cudaSuccess) {
        p.b.at = workspace + parts.a;
        status = split_launch(workspace + parts.a, &g->split, &g->b, g->n, g->k, stream);
    }
    p.lines = { words_largest(p.a.at, &g->split, g->m, g->k),
                words_largest(p.b.at, &g->split, g->n, g->k) };
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

/* Bytes from the first element of a matrix to its last. */
size_t matrix_bytes(size_t rows, size_t columns, size_t ld)
{
    return rows && columns ? ((rows - 1) * ld + columns) * sizeof(float) : 0;
}

cudaError_t operand_add(struct gpu_operand *to, struct arrays *x,
                        const struct gpu_operand *from, size_t lines, size_t k)
{
    const size_t bytes = from->across ? matrix_bytes(k, lines, from->ld)
                                      : matrix_bytes(lines, k, from->ld);
    return array_add((void **)&to->at, x, bytes, from->at);
}

cudaError_t gemm_there(struct arrays *x, const struct gpu_gemm *g,
                       const struct gpu_kernel *kernel)
{
    struct gpu_gemm there = *g;
    void *workspace = NULL;
    const size_t d_bytes = matrix_bytes(g->m, g->n, g->ldd);
    const struct workspace parts = workspace_of(g, kernel);
    cudaError_t status = operand_add(&there.a, x, &g->a, g->m, g->k);
    if (status == cudaSuccess) status = operand_add(&there.b, x, &g->b, g->n, g->k);
    if (status == cudaSuccess && float_of(g->beta) != 0)
        status = array_add((void **)&there.c, x, matrix_bytes(g->m, g->n, g->ldc), g->c);
    if (status == cudaSuccess) status = array_add((void **)&there.d, x, d_bytes, g->d);
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
    cudaError_t status = operand_add(&there, x, operand, lines, k);
    if (status == cudaSuccess) status = array_add(&to, x, bytes, NULL);
    if (status == cudaSuccess) status = split_launch(to, split, &there, lines, k, 0);
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
    return fault_of(fault,
                    split_launch(words, split, operand, lines, k, (cudaStream_t)stream));
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
