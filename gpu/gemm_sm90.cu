/* Kernels for whole GEMMs on Hopper: their launch, and the rows. */
#include "gpu/gemm_sm90.h"

#include "gpu/gemm_sm90.cuh"

/* --- the words -------------------------------------------------------------------- */

using encode_function = decltype(&cuTensorMapEncodeTiled);

/* From the driver that is there, so that nothing links with it.  NULL without one. */
static encode_function encode_find()
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const int status = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const int status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found,
                                               cudaEnableDefault, &result);
#endif
    return status || result != cudaDriverEntryPointSuccess ? nullptr
                                                           : (encode_function)found;
}

/* How to copy boxes of `box` lines and R::depth of k. */
template <class R>
static int words_map(CUtensorMap *map, const struct gemm_sm90_words *w, size_t lines,
                     size_t k, int box)
{
    static const encode_function encode = encode_find();
    constexpr size_t bytes = R::format::bytes;
    const cuuint64_t size[] = { k, lines, R::words };
    const cuuint64_t strides[] = { w->line_stride * bytes, w->word_stride * bytes };
    const cuuint32_t boxes[] = { R::depth, (cuuint32_t)box, 1 }, every[] = { 1, 1, 1 };
    const auto swizzle =
        R::row_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
    if (!encode) return cudaErrorNotSupported;
    return encode(map, R::format::tensor, 3, (void *)w->at, size, strides, boxes, every,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

/* --- the launch ------------------------------------------------------------------- */

static int divide_up(size_t a, size_t b) { return (int)(a / b + (a % b != 0)); }

template <class R> static struct output output_make(const struct gemm_sm90_job *job)
{
    struct output o = {};
    o.d = job->d;
    o.ldd = (long long)job->ldd;
    o.c = job->beta == 0 ? nullptr : job->c;
    o.ldc = (long long)job->ldc;
    o.m = (int)job->m;
    o.n = (int)job->n;
    o.blocks = divide_up(job->k, R::depth);
    o.clusters_m = divide_up(job->m, R::cluster * TILE_M);
    o.clusters_n = divide_up(job->n, R::n);
    o.promote = job->promote;
    o.alpha = job->alpha;
    o.beta = job->beta;
    o.fold = job->fold;
    o.pairs = job->ldd % 2 == 0 && (uintptr_t)job->d % sizeof(float2) == 0;
    return o;
}

/* Rows of a band, so that what `clusters` clusters compute at one time is a square. */
template <class R> static int band_of(int clusters)
{
    int band = 1;
    while ((band + 1) * (band + 1) * R::cluster * TILE_M <= clusters * R::n) band++;
    return band;
}

/* Clusters that run at one time: a block a multiprocessor.  0 without a device. */
template <class R> static int clusters_most()
{
    int device = 0, processors = 0;
    if (cudaGetDevice(&device) ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device))
        return 0;
    return processors / R::cluster;
}

template <class R>
static int kernel_start(const CUtensorMap &a, const CUtensorMap &b, struct output o,
                        cudaStream_t stream)
{
    const int most = clusters_most<R>(), tiles = o.clusters_m * o.clusters_n;
    const int status = cudaFuncSetAttribute(
        gemm_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize, R::shared_bytes);
    if (!most || status) return status ? status : cudaErrorNoDevice;
    cudaLaunchAttribute shape = {};
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim.x = R::cluster;
    shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)((tiles < most ? tiles : most) * R::cluster));
    config.blockDim = dim3(GROUPS * GROUP);
    config.dynamicSmemBytes = R::shared_bytes;
    config.stream = stream;
    config.attrs = &shape;
    config.numAttrs = 1;
    o.band = band_of<R>(most);
    return cudaLaunchKernelEx(&config, gemm_kernel<R>, a, b, o);
}

/* Tiles are counted, and their elements numbered, in an int. */
static bool sizes_fit(const struct gemm_sm90_job *job)
{
    constexpr size_t most = (size_t)1 << 30;
    return job->m <= most && job->n <= most && job->k <= most;
}

template <class R> static bool promotion_fits(const struct gemm_sm90_job *job)
{
    if constexpr (R::promote) return job->promote > 0 && job->promote % R::promote == 0;
    else return job->promote == 0;
}

template <class R>
static int gemm_launch(const struct gemm_sm90_job *job, cudaStream_t stream)
{
    if (!sizes_fit(job) || !promotion_fits<R>(job)) return cudaErrorInvalidValue;
    if (job->m == 0 || job->n == 0) return cudaSuccess;
    CUtensorMap a = {}, b = {};
    int status = cudaSuccess;
    if (job->k) status = words_map<R>(&a, &job->a, job->m, job->k, TILE_M);
    if (job->k && !status) status = words_map<R>(&b, &job->b, job->n, job->k, R::b_lines);
    return status ? status : kernel_start<R>(a, b, output_make<R>(job), stream);
}

/* --- the rows --------------------------------------------------------------------- */

#define ROW(RECIPE, FORMAT, TERMS, PROMOTE, N, ROW_BYTES, STAGES, CLUSTER)               \
    {                                                                                    \
        RECIPE,                                                                          \
        #FORMAT,                                                                         \
        terms_##TERMS::words,                                                            \
        format_##FORMAT::bytes,                                                          \
        PROMOTE,                                                                         \
        TILE_M,                                                                          \
        N,                                                                               \
        ROW_BYTES / format_##FORMAT::bytes,                                              \
        STAGES,                                                                          \
        CLUSTER,                                                                         \
        gemm_launch<                                                                     \
            row<format_##FORMAT, terms_##TERMS, PROMOTE, N, ROW_BYTES, STAGES, CLUSTER>> \
    },

const struct gemm_sm90 gemm_sm90[] = {
    /* clang-format off */
    /*  recipe         format terms    promote  n   row stages cluster */
    ROW("plain",       f16,   plain,    0,     128, 128,   6,   2)
    ROW("plain",       f16,   plain,    0,     256, 128,   4,   2)
    ROW("plain",       bf16,  plain,    0,     256, 128,   4,   2)
    ROW("plain",       tf32,  plain,    0,     256, 128,   4,   2)
    ROW("markidis",    f16,   markidis, 0,     256,  64,   4,   2)
    ROW("feng",        f16,   markidis, 0,     256,  64,   4,   2)
    ROW("ootomo",      f16,   ootomo,   0,     128, 128,   3,   2)
    ROW("ootomo",      f16,   ootomo,   0,     192,  64,   5,   2)
    ROW("ootomo",      f16,   ootomo,   1,     128, 128,   3,   2)
    ROW("ootomo",      f16,   ootomo,   4,      64, 128,   4,   2)
    ROW("ootomo",      f16,   ootomo,   4,     128, 128,   3,   2)
    ROW("ootomo-tf32", tf32,  ootomo,   1,     128, 128,   3,   2)
    ROW("ootomo-tf32", tf32,  ootomo,   4,     128, 128,   3,   2)
    ROW("legemm",      f16,   legemm,   0,      64, 128,   4,   2)
    ROW("legemm",      f16,   legemm,   0,     128, 128,   3,   2)
    ROW("legemm",      f16,   legemm,   0,     192,  64,   5,   2)
    ROW("legemm",      f16,   legemm,   4,     128, 128,   3,   2)
    ROW("tf32x3",      tf32,  x3,       0,     128, 128,   3,   2)
    ROW("tf32x3",      tf32,  x3,       0,     256,  64,   4,   2)
    ROW("bf16x3",      bf16,  x3,       0,     256,  64,   4,   2)
    ROW("bf16x6",      bf16,  x6,       0,     256,  64,   3,   2)
    ROW("bf16x9",      bf16,  x9,       0,      64, 128,   3,   2)
    {}
    /* clang-format on */
};
