/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of cuBLASLt and their operands, for plans.cu and plan_trees.cu.

   A line of standard input names a call: type layout epilogue m n k batch.  Layouts are those of
   cblas_sgemm with row-major matrices: NT has B stored n x k, as a linear layer of PyTorch.
   The epilogue is `none` or `bias` (one number for each column of D). */
#ifndef PLANS_CUH
#define PLANS_CUH

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <array>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/* Bytes: PyTorch 2.11 gives cuBLAS 32 MiB on compute capability 9.0.  The environment
   variable PLANS_WORKSPACE replaces it. */
static const size_t WORKSPACE = getenv("PLANS_WORKSPACE")
                                    ? (size_t)strtoull(getenv("PLANS_WORKSPACE"), NULL, 10)
                                    : (size_t)32 << 20;
static const size_t BUFFER = (size_t)1 << 30;

/* An element: its sign in the highest bit, one of `binades` exponents from `exponent`. */
struct format {
    cudaDataType_t type;
    int bytes, fraction_bits, exponent, binades;
};
static const struct format F16 = { CUDA_R_16F, 2, 10, 12, 4 },
                           BF16 = { CUDA_R_16BF, 2, 7, 124, 4 },
                           F32 = { CUDA_R_32F, 4, 23, 124, 4 },
                           E4M3 = { CUDA_R_8F_E4M3, 1, 3, 4, 4 },
                           S8 = { CUDA_R_8I, 1, 7, 0, 1 }, S32 = { CUDA_R_32I, 4, 31, 0, 1 };

static const struct type {
    const char *name;
    struct format in, out;
    cublasComputeType_t compute;
    int fast;    /* fast accumulation of FP8            */
    int gemm_ex; /* whether cublasGemmEx has this type  */
} types[] = {
    { "f16.f32", F16, F32, CUBLAS_COMPUTE_32F, 0, 1 },
    { "f16", F16, F16, CUBLAS_COMPUTE_32F, 0, 1 },
    { "bf16.f32", BF16, F32, CUBLAS_COMPUTE_32F, 0, 1 },
    { "bf16", BF16, BF16, CUBLAS_COMPUTE_32F, 0, 1 },
    { "e4m3.bf16", E4M3, BF16, CUBLAS_COMPUTE_32F, 0, 0 },
    { "e4m3.f32", E4M3, F32, CUBLAS_COMPUTE_32F, 0, 0 },
    { "e4m3fast.bf16", E4M3, BF16, CUBLAS_COMPUTE_32F, 1, 0 },
    { "tf32", F32, F32, CUBLAS_COMPUTE_32F_FAST_TF32, 0, 1 },
    { "f32", F32, F32, CUBLAS_COMPUTE_32F, 0, 1 },
    { "s8.s32", S8, S32, CUBLAS_COMPUTE_32I, 0, 1 },
};

struct shape {
    const struct type *type;
    int ta, tb, bias, m, n, k, batch;
};

#define MUST(call)                                                                         \
    do {                                                                                   \
        const int must_status = (int)(call);                                               \
        if (must_status) {                                                                 \
            fprintf(stderr, "plans: line %d: status %d\n", __LINE__, must_status);         \
            exit(3);                                                                       \
        }                                                                                  \
    } while (0)

/* lowbias32 of Chris Wellons, hash-prospector */
static __host__ __device__ uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* --- the call --------------------------------------------------------------------- */

struct call {
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t a, b, d;
};

static cublasLtMatrixLayout_t layout(const struct format *format, int rows, int columns,
                                     int turned, int batch)
{
    cublasLtMatrixLayout_t l;
    const int64_t stride = (int64_t)rows * columns;
    MUST(cublasLtMatrixLayoutCreate(&l, format->type, turned ? columns : rows,
                                    turned ? rows : columns, turned ? columns : rows));
    if (batch > 1) {
        MUST(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                              sizeof batch));
        MUST(cublasLtMatrixLayoutSetAttribute(
            l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    }
    return l;
}

/* What is row-major here is the transpose of what is column-major there: D' = B' A'. */
static struct call describe(const struct shape *s, const void *bias)
{
    const int op_a = s->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
              op_b = s->tb ? CUBLAS_OP_T : CUBLAS_OP_N, epilogue = CUBLASLT_EPILOGUE_BIAS;
    const signed char fast = (signed char)s->type->fast;
    struct call c;
    MUST(cublasLtMatmulDescCreate(&c.how, s->type->compute,
                                  s->type->compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I
                                                                         : CUDA_R_32F));
    MUST(cublasLtMatmulDescSetAttribute(c.how, CUBLASLT_MATMUL_DESC_TRANSA, &op_b,
                                        sizeof op_b));
    MUST(cublasLtMatmulDescSetAttribute(c.how, CUBLASLT_MATMUL_DESC_TRANSB, &op_a,
                                        sizeof op_a));
    if (fast)
        MUST(cublasLtMatmulDescSetAttribute(c.how, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                            sizeof fast));
    if (s->bias) {
        MUST(cublasLtMatmulDescSetAttribute(c.how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                            sizeof epilogue));
        MUST(cublasLtMatmulDescSetAttribute(c.how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                            sizeof bias));
    }
    c.b = layout(&s->type->in, s->n, s->k, s->tb, s->batch);
    c.a = layout(&s->type->in, s->k, s->m, s->ta, s->batch);
    c.d = layout(&s->type->out, s->n, s->m, 0, s->batch);
    return c;
}

static void forget(struct call *c)
{
    cublasLtMatrixLayoutDestroy(c->a);
    cublasLtMatrixLayoutDestroy(c->b);
    cublasLtMatrixLayoutDestroy(c->d);
    cublasLtMatmulDescDestroy(c->how);
}

static cublasLtMatmulPreference_t preference(void)
{
    cublasLtMatmulPreference_t p;
    MUST(cublasLtMatmulPreferenceCreate(&p));
    MUST(cublasLtMatmulPreferenceSetAttribute(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &WORKSPACE, sizeof WORKSPACE));
    return p;
}

/* The first algorithm; false if there is none. */
static bool choose(cublasLtMatmulAlgo_t *algorithm, cublasLtHandle_t light,
                   const struct call *c, cublasLtMatmulPreference_t limits)
{
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    const int status = cublasLtMatmulAlgoGetHeuristic(light, c->how, c->b, c->a, c->d, c->d,
                                                      limits, 1, &found, &count);
    if (status || !count || found.state) return false;
    *algorithm = found.algo;
    return true;
}

enum { ID, TILE, STAGES, SPLITS, SCHEME, SWIZZLE, CUSTOM, INNER, CLUSTER, FIELDS };
typedef std::array<uint32_t, FIELDS> fields;

static fields fields_of(const cublasLtMatmulAlgo_t *algorithm)
{
    static const struct {
        cublasLtMatmulAlgoConfigAttributes_t what;
        size_t bytes;
    } told[FIELDS] = {
        { CUBLASLT_ALGO_CONFIG_ID, 4 },
        { CUBLASLT_ALGO_CONFIG_TILE_ID, 4 },
        { CUBLASLT_ALGO_CONFIG_STAGES_ID, 4 },
        { CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4 },
        { CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4 },
        { CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4 },
        { CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4 },
        { CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2 },
        { CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2 },
    };
    fields x{};
    for (int i = 0; i < FIELDS; i++) {
        size_t written;
        if (cublasLtMatmulAlgoConfigGetAttribute(algorithm, told[i].what, &x[i], told[i].bytes,
                                                 &written))
            x[i] = 0;
    }
    return x;
}

/* --- values and outputs ----------------------------------------------------------- */

static __device__ uint32_t encoding(const struct format f, uint32_t h)
{
    const uint32_t fraction = h & ((1u << f.fraction_bits) - 1),
                   exponent = f.exponent + (h >> 24) % (uint32_t)f.binades;
    return h >> 31 << (8 * f.bytes - 1) | exponent << f.fraction_bits | fraction;
}

/* rows x columns elements; element (r, c) has index r columns + c and is stored there, or, if
   `turned`, in each batch of `height` rows as its transpose */
static __global__ void fill(void *to, const struct format f, size_t rows, size_t height,
                            size_t columns, int turned, uint32_t which)
{
    const size_t count = rows * columns, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const size_t row = i / columns, column = i % columns, batch = row / height,
                     at = turned ? (batch * columns + column) * height + row % height : i;
        const uint32_t x = encoding(f, mix((uint32_t)i + 0x9e3779b9u * which));
        if (f.bytes == 1) ((uint8_t *)to)[at] = (uint8_t)x;
        if (f.bytes == 2) ((uint16_t *)to)[at] = (uint16_t)x;
        if (f.bytes == 4) ((uint32_t *)to)[at] = x;
    }
}

/* --- a device ------------------------------------------------------------------------- */

struct device {
    cublasHandle_t heavy;
    cublasLtHandle_t light;
    cublasLtMatmulPreference_t limits;
    char *a, *b, *d, *bias, *workspace;
    uint32_t *words;
};

static void open_device(struct device *x)
{
    MUST(cublasCreate(&x->heavy));
    MUST(cublasLtCreate(&x->light));
    MUST(cudaMalloc(&x->a, BUFFER));
    MUST(cudaMalloc(&x->b, BUFFER));
    MUST(cudaMalloc(&x->d, BUFFER));
    MUST(cudaMalloc(&x->bias, 1 << 20));
    MUST(cudaMalloc(&x->workspace, WORKSPACE));
    MUST(cudaMalloc(&x->words, 256));
    MUST(cublasSetWorkspace(x->heavy, x->workspace, WORKSPACE));
    x->limits = preference();
}

static void header(void)
{
    cudaDeviceProp about;
    int driver = 0;
    char day[16];
    const time_t now = time(NULL);
    MUST(cudaGetDeviceProperties(&about, 0));
    MUST(cudaDriverGetVersion(&driver));
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    fprintf(stderr, "# cublasLt %zu, %s, CUDA driver %d, %s, workspace %zu\n",
            cublasLtGetVersion(), about.name, driver, day, WORKSPACE);
}

static const void *scalar(const struct type *t, int value)
{
    static float reals[2] = { 0, 1 };
    static int integers[2] = { 0, 1 };
    return t->compute == CUBLAS_COMPUTE_32I ? (const void *)&integers[value]
                                            : (const void *)&reals[value];
}

static bool read_type(struct shape *s, const char *name, const char *turns,
                      const char *epilogue)
{
    s->type = NULL;
    for (const struct type &t : types)
        if (!strcmp(t.name, name)) s->type = &t;
    s->ta = turns[0] == 'T';
    s->tb = turns[1] == 'T';
    s->bias = !strcmp(epilogue, "bias");
    s->batch = 1;
    return s->type != NULL;
}

/* The next shape on standard input, and its line. */
static bool next_shape(struct shape *s, char line[256])
{
    char name[32], turns[8], epilogue[16];
    int batch;
    if (!fgets(line, 256, stdin)) return false;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%31s %7s %15s %d %d %d %d", name, turns, epilogue, &s->m, &s->n, &s->k,
               &batch) != 7 ||
        !read_type(s, name, turns, epilogue)) {
        fprintf(stderr, "plans: %s: no shape\n", line);
        exit(2);
    }
    s->batch = batch;
    return true;
}

#endif
