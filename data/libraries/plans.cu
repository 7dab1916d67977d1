/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuBLASLt chooses for a product, and the bits that it gives; row-major D = A B.

       nvcc -O2 -arch=sm_90 -o plans plans.cu -lcublas -lcublasLt
       plans run [SAMPLES] < shapes        the first algorithm of the heuristic, and D
       plans shapes SEED COUNT < kinds     COUNT random shapes of each kind, for `run`
       plans trees < shapes                the algorithm, and in which order it adds
       plans ask SEED SECONDS < kinds      the algorithm alone, for random shapes
       plans layers LAST < layers          the algorithm alone, for all m up to LAST

   A line of `shapes` is: type layout epilogue m n k batch.  Layouts are those of
   cblas_sgemm with row-major matrices: NT has B stored n x k, as a linear layer of PyTorch.
   The epilogue is `none` or `bias` (one number for each column of D).  `run` prints the line
   again, the nine fields of the algorithm, the digest of 64 outputs by cublasLtMatmul, and
   that by cublasGemmEx (cublasGemmStridedBatchedEx), `=` if it is the same, `-` if there is
   none.  Outputs are those in rows floor(i (m - 1) / 7) and columns floor(j (n - 1) / 7) of
   the last batch, i and j from 0 to 7; the digest is FNV-1a of their encodings as
   little-endian words of 32 bits.  The file SAMPLES gets these words.

   `trees` multiplies a matrix of ones and one that has M at place i of k, -M at j and small
   numbers elsewhere, for pairs (i, j).  The number of small numbers in the output tells how
   many are added before M and -M meet.  A line has the shape, the fields, `all` if the pairs
   are all with i < j, or `some` if they are (0, j), (1, j), (j - 1, j) and (j, k - 1) for j
   from 1, and these counts, with `x n` for n repetitions of a step to the count before.

   A line of `kinds` is: type layout epilogue batch, and of `layers`: type layout epilogue n k.
   `ask` and `layers` write binary codes to standard output, 16 bits for each shape, and the
   table of codes to standard error.  `ask` goes round by round: ROUND shapes of each kind.

   An element of A, B or the bias is made of mix(index + 0x9e3779b9 which), with which = 1 for
   A, 2 for B, 3 for the bias; index is (batch m + row) k + k-th for A, (batch n + column) k +
   k-th for B and the column for the bias. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

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

/* PyTorch 2.11 gives cuBLAS and cuBLASLt 32 MiB on compute capability 9.0. */
static const size_t WORKSPACE = (size_t)32 << 20;
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
    { "f16.f16", F16, F16, CUBLAS_COMPUTE_32F, 0, 1 },
    { "bf16.f32", BF16, F32, CUBLAS_COMPUTE_32F, 0, 1 },
    { "bf16.bf16", BF16, BF16, CUBLAS_COMPUTE_32F, 0, 1 },
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

static __global__ void take(uint32_t *words, const void *d, int bytes, int m, int n, int batch)
{
    const size_t row = (size_t)(threadIdx.x / 8) * (size_t)(m - 1) / 7,
                 column = (size_t)(threadIdx.x % 8) * (size_t)(n - 1) / 7,
                 at = ((size_t)(batch - 1) * m + row) * n + column;
    words[threadIdx.x] =
        bytes == 2 ? (uint32_t)((const uint16_t *)d)[at] : ((const uint32_t *)d)[at];
}

static uint32_t digest(const uint32_t words[64])
{
    uint32_t x = 0x811c9dc5u;
    for (int i = 0; i < 256; i++) x = (x ^ (words[i / 4] >> i % 4 * 8 & 255)) * 0x01000193u;
    return x;
}

/* --- run -------------------------------------------------------------------------- */

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

static uint32_t read_words(uint32_t words[64], const struct device *x, const struct shape *s)
{
    take<<<1, 64>>>(x->words, x->d, s->type->out.bytes, s->m, s->n, s->batch);
    MUST(cudaMemcpy(words, x->words, 256, cudaMemcpyDeviceToHost));
    return digest(words);
}

static const void *scalar(const struct type *t, int value)
{
    static float reals[2] = { 0, 1 };
    static int integers[2] = { 0, 1 };
    return t->compute == CUBLAS_COMPUTE_32I ? (const void *)&integers[value]
                                            : (const void *)&reals[value];
}

static int heavy_run(const struct device *x, const struct shape *s)
{
    const struct type *const t = s->type;
    return cublasGemmStridedBatchedEx(
        x->heavy, s->tb ? CUBLAS_OP_T : CUBLAS_OP_N, s->ta ? CUBLAS_OP_T : CUBLAS_OP_N, s->n,
        s->m, s->k, scalar(t, 1), x->b, t->in.type, s->tb ? s->k : s->n,
        (long long)s->n * s->k, x->a, t->in.type, s->ta ? s->m : s->k, (long long)s->m * s->k,
        scalar(t, 0), x->d, t->out.type, s->n, (long long)s->m * s->n, s->batch, t->compute,
        CUBLAS_GEMM_DEFAULT);
}

static int heavy_single(const struct device *x, const struct shape *s)
{
    const struct type *const t = s->type;
    return cublasGemmEx(x->heavy, s->tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                        s->ta ? CUBLAS_OP_T : CUBLAS_OP_N, s->n, s->m, s->k, scalar(t, 1), x->b,
                        t->in.type, s->tb ? s->k : s->n, x->a, t->in.type,
                        s->ta ? s->m : s->k, scalar(t, 0), x->d, t->out.type, s->n, t->compute,
                        CUBLAS_GEMM_DEFAULT);
}

/* Results of the last matrices are not left where the next are expected. */
static void clear_output(const struct device *x, const struct shape *s)
{
    MUST(cudaMemsetAsync(x->d, 0x5a,
                         (size_t)s->batch * s->m * s->n * s->type->out.bytes));
}

static void run_shape(const struct device *x, const struct shape *s, const char *line,
                      FILE *samples)
{
    const size_t rows_a = (size_t)s->m * s->batch, rows_b = (size_t)s->n * s->batch;
    struct call c = describe(s, x->bias);
    cublasLtMatmulAlgo_t algorithm;
    uint32_t words[64], other[64];
    fill<<<1024, 256>>>(x->a, s->type->in, rows_a, s->m, s->k, s->ta, 1);
    fill<<<1024, 256>>>(x->b, s->type->in, rows_b, s->n, s->k, !s->tb, 2);
    if (s->bias) fill<<<64, 256>>>(x->bias, s->type->out, 1, 1, s->n, 0, 3);
    clear_output(x, s);
    if (!choose(&algorithm, x->light, &c, x->limits)) {
        printf("%s\tnone\n", line);
    } else {
        const fields f = fields_of(&algorithm);
        const int status = cublasLtMatmul(x->light, c.how, scalar(s->type, 1), x->b, c.b, x->a,
                                          c.a, scalar(s->type, 0), x->d, c.d, x->d, c.d,
                                          &algorithm, x->workspace, WORKSPACE, 0);
        const uint32_t ours = read_words(words, x, s);
        if (samples) fwrite(words, 4, 64, samples);
        printf("%s\t", line);
        for (int i = 0; i < FIELDS; i++) printf("%s%u", i ? "," : "", f[i]);
        if (status) printf("\tstatus%d", status);
        else printf("\t%08x", ours);
        int heavy = 1;
        if (!s->bias && s->type->gemm_ex) {
            clear_output(x, s);
            heavy = s->batch > 1 ? heavy_run(x, s) : heavy_single(x, s);
        }
        if (heavy) printf("\t-\n");
        else if (read_words(other, x, s) == ours) printf("\t=\n");
        else printf("\t%08x\n", digest(other));
    }
    MUST(cudaGetLastError());
    forget(&c);
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

static int run(const char *path)
{
    struct device x;
    struct shape s;
    char line[256];
    FILE *const samples = path ? fopen(path, "wb") : NULL;
    open_device(&x);
    header();
    while (next_shape(&s, line)) run_shape(&x, &s, line, samples);
    if (samples) fclose(samples);
    return 0;
}

/* --- trees ------------------------------------------------------------------------ */

struct pair {
    int i, j;
};

/* rows x columns elements as in fill(): row r has `big` at pairs[r].i, -big at pairs[r].j,
   and `small` elsewhere; all `one` without pairs */
static __global__ void mask(void *to, int bytes, size_t rows, size_t columns, int turned,
                            const struct pair *pairs, uint32_t big, uint32_t small)
{
    const size_t count = rows * columns, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const size_t row = i / columns, column = i % columns,
                     at = turned ? column * rows + row : i;
        uint32_t x = small;
        if (pairs && (int)column == pairs[row].i) x = big;
        if (pairs && (int)column == pairs[row].j) x = big | 1u << (8 * bytes - 1);
        if (bytes == 2) ((uint16_t *)to)[at] = (uint16_t)x;
        if (bytes == 4) ((uint32_t *)to)[at] = x;
    }
}

enum { ALL_PAIRS = 256 };

static std::vector<struct pair> pairs_of(int k)
{
    std::vector<struct pair> p;
    if (k <= ALL_PAIRS) {
        for (int i = 0; i < k; i++)
            for (int j = i + 1; j < k; j++) p.push_back({ i, j });
        return p;
    }
    for (int j = 1; j < k; j++) {
        p.push_back({ 0, j });
        p.push_back({ j == 1 ? 0 : 1, j });
        p.push_back({ j - 1, j });
        p.push_back({ j == k - 1 ? 0 : j, k - 1 });
    }
    return p;
}

/* One, a large and a small number, for which large + k small = large */
static void numbers_of(const struct format *f, uint32_t *one, uint32_t *big, uint32_t *small)
{
    *one = f->type == CUDA_R_16F ? 0x3c00 : f->type == CUDA_R_16BF ? 0x3f80 : 0x3f800000;
    *big = f->type == CUDA_R_16F ? 0x7800 : f->type == CUDA_R_16BF ? 0x5f80 : 0x5f800000;
    *small = f->type == CUDA_R_16F ? 1 : *one;
}

static double value_of(const struct format *f, uint32_t x)
{
    if (f->type == CUDA_R_32F || f->type == CUDA_R_16BF) {
        const uint32_t wide = f->bytes == 2 ? x << 16 : x;
        float y;
        memcpy(&y, &wide, sizeof y);
        return y;
    }
    const int exponent = (int)(x >> 10 & 31);
    const double fraction = (double)(x & 1023) + (exponent ? 1024 : 0);
    return (x >> 15 ? -1 : 1) * fraction * (double)(1 << (exponent ? exponent - 1 : 0)) / 16777216;
}

static void print_counts(const std::vector<int> &counts)
{
    for (size_t i = 0; i < counts.size();) {
        const int step = i ? counts[i] - counts[i - 1] : 0;
        size_t n = 1;
        while (i && i + n < counts.size() && counts[i + n] - counts[i + n - 1] == step) n++;
        if (n > 2) printf(" %dx%zu", step, n);
        else n = 1, printf(" %d", counts[i]);
        i += n;
    }
}

static void tree_of(const struct device *x, const struct shape *s, const char *line)
{
    const struct type *const t = s->type;
    const std::vector<struct pair> pairs = pairs_of(s->k);
    const int columns = s->n >= s->m, wide = columns ? s->n : s->m;
    uint32_t one, big, small;
    struct call c = describe(s, x->bias);
    cublasLtMatmulAlgo_t algorithm;
    struct pair *on_device;
    std::vector<int> counts;
    const size_t out = t->out.bytes;
    std::vector<char> d(wide * out);
    numbers_of(&t->in, &one, &big, &small);
    if (!choose(&algorithm, x->light, &c, x->limits)) return;
    MUST(cudaMalloc(&on_device, wide * sizeof *on_device));
    mask<<<256, 256>>>(columns ? x->a : x->b, t->in.bytes, columns ? s->m : s->n, s->k, 0, NULL,
                       0, one);
    for (size_t first = 0; first < pairs.size(); first += wide) {
        std::vector<struct pair> now(wide, { 0, 1 });
        for (int i = 0; i < wide && first + i < pairs.size(); i++) now[i] = pairs[first + i];
        MUST(cudaMemcpy(on_device, now.data(), wide * sizeof now[0], cudaMemcpyHostToDevice));
        mask<<<256, 256>>>(columns ? x->b : x->a, t->in.bytes, wide, s->k,
                           columns ? !s->tb : s->ta, on_device, big, small);
        MUST(cublasLtMatmul(x->light, c.how, scalar(t, 1), x->b, c.b, x->a, c.a, scalar(t, 0),
                            x->d, c.d, x->d, c.d, &algorithm, x->workspace, WORKSPACE, 0));
        /* the first row of D, or the first column */
        MUST(cudaMemcpy2D(d.data(), out, x->d, columns ? out : out * s->n, out, wide,
                          cudaMemcpyDeviceToHost));
        for (int i = 0; i < wide && first + i < pairs.size(); i++) {
            uint32_t word = 0;
            memcpy(&word, &d[i * out], out);
            counts.push_back((int)(value_of(&t->out, word) *
                                   (t->in.type == CUDA_R_16F ? 16777216 : 1)));
        }
    }
    const fields f = fields_of(&algorithm);
    printf("%s\t", line);
    for (int i = 0; i < FIELDS; i++) printf("%s%u", i ? "," : "", f[i]);
    printf("\t%s", s->k <= ALL_PAIRS ? "all" : "some");
    print_counts(counts);
    putchar('\n');
    fflush(stdout);
    MUST(cudaFree(on_device));
    forget(&c);
}

/* --- the heuristic alone ---------------------------------------------------------- */

/* Fields that do not decide the order of nvjet (66) or of any kernel are 0. */
static fields deciding(fields x)
{
    x[SWIZZLE] = x[INNER] = x[CLUSTER] = 0;
    if (x[ID] == 66) x[TILE] = 0;
    return x;
}

struct codes {
    std::mutex lock;
    std::map<fields, uint16_t> code;
};

static uint16_t code_of(struct codes *all, std::map<fields, uint16_t> *mine, const fields &x)
{
    const auto known = mine->find(x);
    if (known != mine->end()) return known->second;
    std::lock_guard<std::mutex> hold(all->lock);
    const auto added = all->code.emplace(x, (uint16_t)(all->code.size() + 1));
    mine->emplace(x, added.first->second);
    return added.first->second;
}

static uint16_t ask_one(cublasLtHandle_t light, cublasLtMatmulPreference_t limits,
                        const struct shape *s, struct codes *all,
                        std::map<fields, uint16_t> *mine)
{
    cublasLtMatmulAlgo_t algorithm;
    struct call c = describe(s, (const void *)256);
    const uint16_t code = choose(&algorithm, light, &c, limits)
                              ? code_of(all, mine, deciding(fields_of(&algorithm)))
                              : 0;
    forget(&c);
    return code;
}

/* An octave, and a number in it, rounded up to a multiple of `grain`. */
static int size_of(uint32_t h, int octaves, int first, int grain)
{
    const int octave = first + (int)((h >> 16) % (uint32_t)octaves),
              size = (1 << octave) + (int)((h & 0xffff) << octave >> 16);
    return (size + grain - 1) / grain * grain;
}

/* The shape at `index` of the random ones: m of any size, n and k multiples of 64, 8 or 1, and
   of 16 for types of 8 bits; smaller for batches. */
static void random_shape(struct shape *s, uint32_t seed, uint32_t index)
{
    static const int grains[8] = { 64, 8, 8, 8, 64, 8, 8, 1 };
    const int least = s->type->in.bytes == 1 ? 16 : 1, less = s->batch > 1 ? 2 : 0;
    const uint32_t h = mix(index + 0x9e3779b9u * seed);
    const int of_n = grains[h & 7], of_k = grains[h >> 3 & 7];
    s->m = size_of(mix(h + 1), 13 - less, 0, 1);
    s->n = size_of(mix(h + 2), 13 - less, 0, of_n > least ? of_n : least);
    s->k = size_of(mix(h + 3), 11 - less, 3, of_k > least ? of_k : least);
}

/* Answers for `count` shapes that `make` sets from their index, by all processors. */
template <typename Make>
static void ask_all(uint16_t *to, size_t count, struct codes *all, Make make)
{
    std::vector<std::thread> threads;
    const unsigned workers = std::thread::hardware_concurrency();
    for (unsigned w = 0; w < workers; w++)
        threads.emplace_back([=] {
            cublasLtHandle_t light;
            std::map<fields, uint16_t> mine;
            MUST(cublasLtCreate(&light));
            const cublasLtMatmulPreference_t limits = preference();
            for (size_t i = w; i < count; i += workers) {
                struct shape s;
                make(&s, i);
                to[i] = ask_one(light, limits, &s, all, &mine);
            }
            cublasLtDestroy(light);
        });
    for (std::thread &t : threads) t.join();
}

static void print_codes(const struct codes *all)
{
    for (const auto &x : all->code) {
        fprintf(stderr, "%u\t", x.second);
        for (int i = 0; i < FIELDS; i++) fprintf(stderr, "%s%u", i ? "," : "", x.first[i]);
        fputc('\n', stderr);
    }
}

static int trees(void)
{
    struct device x;
    struct shape s;
    char line[256];
    open_device(&x);
    header();
    while (next_shape(&s, line)) tree_of(&x, &s, line);
    return 0;
}

static std::vector<struct shape> read_kinds(void)
{
    char name[32], turns[8], epilogue[16];
    int batch;
    std::vector<struct shape> kinds;
    while (scanf("%31s %7s %15s %d", name, turns, epilogue, &batch) == 4) {
        struct shape kind;
        if (!read_type(&kind, name, turns, epilogue)) exit(2);
        kind.batch = batch;
        kinds.push_back(kind);
    }
    return kinds;
}

static int shapes(uint32_t seed, size_t count)
{
    const std::vector<struct shape> kinds = read_kinds();
    for (size_t i = 0; i < count * kinds.size(); i++) {
        struct shape s = kinds[i % kinds.size()];
        random_shape(&s, seed, (uint32_t)i);
        printf("%s %c%c %s %d %d %d %d\n", s.type->name, "NT"[s.ta], "NT"[s.tb],
               s.bias ? "bias" : "none", s.m, s.n, s.k, s.batch);
    }
    return 0;
}

enum { ROUND = 16384 };

static int ask(uint32_t seed, time_t seconds)
{
    const time_t end = time(NULL) + seconds;
    const std::vector<struct shape> kinds = read_kinds();
    struct codes all;
    std::vector<uint16_t> answers(ROUND);
    header();
    for (size_t round = 0;; round++)
        for (const struct shape &kind : kinds) {
            if (time(NULL) >= end) {
                print_codes(&all);
                return 0;
            }
            ask_all(answers.data(), ROUND, &all, [=](struct shape *s, size_t i) {
                *s = kind;
                random_shape(s, seed, (uint32_t)(round * ROUND + i));
            });
            fwrite(answers.data(), 2, ROUND, stdout);
        }
}

static int layers(size_t last)
{
    char name[32], turns[8], epilogue[16];
    int n, k;
    struct codes all;
    std::vector<struct shape> kinds;
    header();
    while (scanf("%31s %7s %15s %d %d", name, turns, epilogue, &n, &k) == 5) {
        struct shape kind;
        if (!read_type(&kind, name, turns, epilogue)) return 2;
        kind.n = n;
        kind.k = k;
        kinds.push_back(kind);
    }
    std::vector<uint16_t> answers(kinds.size() * last);
    const struct shape *const first = kinds.data();
    ask_all(answers.data(), answers.size(), &all, [=](struct shape *s, size_t i) {
        *s = first[i / last];
        s->m = (int)(i % last) + 1;
    });
    fwrite(answers.data(), 2, answers.size(), stdout);
    print_codes(&all);
    return 0;
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    const unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0,
                        second = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    if (!strcmp(what, "run")) return run(argc > 2 ? argv[2] : NULL);
    if (!strcmp(what, "trees")) return trees();
    if (!strcmp(what, "shapes") && argc == 4) return shapes((uint32_t)first, second);
    if (!strcmp(what, "ask") && argc == 4) return ask((uint32_t)first, (time_t)second);
    if (!strcmp(what, "layers") && argc == 3) return layers(first);
    fprintf(stderr,
            "use: plans run [SAMPLES] | trees | shapes SEED COUNT | ask SEED SECONDS | "
            "layers LAST\n");
    return 2;
}
