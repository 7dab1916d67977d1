/* Kernels for whole GEMMs on Hopper: their launch, and the rows. */
#include "gpu/cuda/gemm_sm90.cuh"

#include <atomic>
#include <cmath>

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

/* How to copy boxes of `box` lines and R::depth of k, from `slices` slices of k elements
   and `bytes` each, the first of which begins `from` bytes into a line, of `matrices`
   matrices. */
template <class R>
static int words_map(CUtensorMap *map, const struct words *w, size_t from, size_t k,
                     size_t slices, size_t bytes, size_t matrices, int box)
{
    static std::atomic<encode_function> known;
    const size_t stride = matrices > 1 ? w->stride : w->row_bytes; /* 0 is no stride */
    const cuuint64_t size[] = { k, w->lines, R::words, slices, matrices };
    const cuuint64_t strides[] = { w->row_bytes, w->lines * w->row_bytes, bytes, stride };
    const cuuint32_t boxes[] = { R::depth, (cuuint32_t)box, 1, 1, 1 };
    const cuuint32_t every[] = { 1, 1, 1, 1, 1 };
    const auto swizzle =
        R::row_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
    if (!known) known = encode_find();
    const encode_function encode = known;
    if (!encode) return cudaErrorNotSupported;
    return encode(map, R::format::tensor, 5, (char *)w->at + from, size, strides, boxes,
                  every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

/* Both maps of an operand: nothing is read by one that no slice needs. */
template <class R>
static int sources_make(struct sources *to, const struct words *w, size_t count, size_t k,
                        const k_cut &cut, int box)
{
    const size_t body = cut.slices - 1, start = body * cut.slice_bytes;
    const size_t each = cut.slice_bytes / R::format::bytes;
    const size_t matrices = w->stride ? count : 1;
    int status = cudaSuccess;
    to->step = w->stride != 0;
    if (body)
        status =
            words_map<R>(&to->of[0], w, 0, each, body, cut.slice_bytes, matrices, box);
    if (k && !status)
        status = words_map<R>(&to->of[1], w, start, k - start / R::format::bytes, 1,
                              w->row_bytes, matrices, box);
    return status;
}

/* --- the launch ------------------------------------------------------------------- */

/* Sums are the D of what makes them. */
template <class R>
static struct output output_make(const struct gpu_product *p, const k_cut &cut)
{
    struct output o = {};
    const size_t last = cut.bytes - (cut.slices - 1) * cut.slice_bytes;
    const bool partial = makes_sums(p, cut);
    o.d = partial ? (float *)p->workspace : p->d.at;
    o.ldd = (long long)(partial ? p->n : p->d.ld);
    o.slice_stride = (long long)(p->m * p->n);
    o.stride_d = partial ? cut.slices * o.slice_stride : (long long)p->d.stride;
    o.c = partial ? NULL : p->c.at;
    o.ldc = (long long)p->c.ld;
    o.stride_c = (long long)p->c.stride;
    o.m = (int)p->m;
    o.n = (int)p->n;
    o.slices = cut.slices;
    o.count = (int)p->count;
    o.blocks[0] = (int)divide_up(cut.slice_bytes, R::row_bytes);
    o.blocks[1] = (int)divide_up(last, R::row_bytes);
    o.clusters_m = (int)divide_up(p->m, R::cluster * TILE_M);
    o.clusters_n = (int)divide_up(p->n, R::n);
    o.alpha = partial ? 1 : p->alpha;
    o.beta = p->beta;
    o.fold = ldexpf(1, -p->scale);
    o.lines = partial ? lines{} : p->lines;
    o.pairs = o.ldd % 2 == 0 && (o.count == 1 || o.stride_d % 2 == 0) &&
              (uintptr_t)o.d % sizeof(float2) == 0;
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
static int kernel_start(const sources &a, const sources &b, struct output o,
                        cudaStream_t stream)
{
    const int most = clusters_most<R>();
    const int tiles = o.count * o.slices * o.clusters_m * o.clusters_n;
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
static constexpr size_t SIZE_MOST = (size_t)1 << 30;

template <class R> static int launch(const struct gpu_product *p)
{
    sources a = {}, b = {};
    const k_cut cut = cut_of(p, R::format::words);
    int status = sources_make<R>(&a, &p->a, p->count, p->k, cut, TILE_M);
    if (!status) status = sources_make<R>(&b, &p->b, p->count, p->k, cut, R::b_lines);
    if (!status) status = kernel_start<R>(a, b, output_make<R>(p, cut), p->stream);
    return status || !makes_sums(p, cut) ? status : sums_add(p, cut.slices);
}

/* --- the rows --------------------------------------------------------------------- */

/* The instruction of a word's format. */
static constexpr const char *instruction_f16 = "wgmma.m64n8k16.f32.f16";
static constexpr const char *instruction_bf16 = "wgmma.m64n8k16.f32.bf16";
static constexpr const char *instruction_tf32 = "wgmma.m64n8k8.f32.tf32";

template <class R>
static constexpr struct gpu_kernel row_of(const char *name, const char *recipe,
                                          const char *instruction)
{
    struct gpu_kernel k = {};
    k.name = name;
    k.what = "wgmma, TMA, clusters of 2";
    k.recipe = recipe;
    k.instruction = instruction;
    k.matrices = FORMAT_F32;
    k.format = R::format::words;
    k.program = R::recipe::row;
    k.tile_m = TILE_M;
    k.tile_n = R::n;
    k.tile_k = R::depth;
    k.stages = R::stages;
    k.threads = GROUPS * GROUP;
    k.shared_bytes = R::shared_bytes;
    k.registers = START_REGISTERS;
    k.cluster = R::cluster;
    k.load_bytes = R::load_bytes;
    k.read_bytes = R::read_bytes;
    k.slices_most = SLICES_MOST;
    k.size_most = SIZE_MOST;
    k.architectures = sm(90);
    k.workspace = sums_bytes<R::format::words>;
    k.launch = launch<R>;
    return k;
}

#define ROW(RECIPE, TERMS, FORMAT, N, K, STAGES, MORE)                                   \
    row_of<row<format_##FORMAT, TERMS, N, K, STAGES, 2>>(                                \
        "sm90." RECIPE "." #FORMAT ".128x" #N "x" #K "." #STAGES MORE, RECIPE,           \
        instruction_##FORMAT)

const struct gpu_kernel gemm_sm90[] = {
    /* clang-format off */
    /* recipe, terms, format, tile n, k, stages, promotion where it is not the recipe's;
       of a recipe the program first that bench gpu takes */
    ROW("plain",       one,           f16,  256, 64, 4, ""),
    ROW("plain",       one,           f16,  192, 64, 5, ""),
    ROW("plain",       one,           f16,  128, 64, 6, ""),
    ROW("plain",       one,           f16,   64, 64, 8, ""),
    ROW("plain",       one,           bf16, 256, 64, 4, ""),
    ROW("plain",       one,           bf16, 192, 64, 5, ""),
    ROW("plain",       one,           bf16, 128, 64, 6, ""),
    ROW("plain",       one,           bf16,  64, 64, 8, ""),
    ROW("plain",       one,           tf32, 256, 32, 4, ""),
    ROW("plain",       one,           tf32, 128, 32, 6, ""),
    ROW("plain",       one,           tf32,  64, 32, 8, ""),
    ROW("markidis",    four,          f16,  256, 32, 4, ""),
    ROW("markidis",    four,          f16,  192, 32, 5, ""),
    ROW("markidis",    four,          f16,  128, 64, 3, ""),
    ROW("markidis",    four,          f16,   64, 64, 4, ""),
    ROW("feng",        four,          f16,  256, 32, 4, ""),
    ROW("feng",        four,          f16,  192, 32, 5, ""),
    ROW("feng",        four,          f16,  128, 64, 3, ""),
    ROW("feng",        four,          f16,   64, 64, 4, ""),
    ROW("ootomo",      main_last<4>,  f16,  128, 64, 3, ".promote4"),
    ROW("ootomo",      main_last<4>,  f16,   96, 64, 4, ".promote4"),
    ROW("ootomo",      main_last<4>,  f16,   64, 64, 4, ".promote4"),
    ROW("ootomo",      main_last<1>,  f16,  128, 64, 3, ""),
    ROW("ootomo",      main_last<1>,  f16,   96, 64, 4, ""),
    ROW("ootomo",      main_last<1>,  f16,   64, 64, 4, ""),
    ROW("ootomo",      main_last<0>,  f16,  192, 32, 5, ".promote0"),
    ROW("ootomo",      main_last<0>,  f16,  128, 64, 3, ".promote0"),
    ROW("ootomo",      main_last<0>,  f16,   64, 64, 4, ".promote0"),
    ROW("ootomo-tf32", main_last<4>,  tf32, 128, 32, 3, ".promote4"),
    ROW("ootomo-tf32", main_last<4>,  tf32,  64, 32, 4, ".promote4"),
    ROW("ootomo-tf32", main_last<1>,  tf32, 128, 32, 3, ""),
    ROW("ootomo-tf32", main_last<1>,  tf32,  64, 32, 4, ""),
    ROW("legemm",      main_first<0>, f16,  192, 32, 5, ""),
    ROW("legemm",      main_first<0>, f16,  128, 64, 3, ""),
    ROW("legemm",      main_first<0>, f16,   64, 64, 4, ""),
    ROW("legemm",      main_first<4>, f16,  128, 64, 3, ".promote4"),
    ROW("legemm",      main_first<4>, f16,   64, 64, 4, ".promote4"),
    ROW("tf32x3",      three,         tf32, 256, 16, 4, ""),
    ROW("tf32x3",      three,         tf32, 128, 32, 3, ""),
    ROW("tf32x3",      three,         tf32,  64, 32, 4, ""),
    ROW("bf16x3",      three,         bf16, 256, 32, 4, ""),
    ROW("bf16x3",      three,         bf16, 192, 32, 5, ""),
    ROW("bf16x3",      three,         bf16, 128, 64, 3, ""),
    ROW("bf16x3",      three,         bf16,  64, 64, 4, ""),
    ROW("bf16x6",      six,           bf16, 256, 32, 3, ""),
    ROW("bf16x6",      six,           bf16, 192, 32, 3, ""),
    ROW("bf16x6",      six,           bf16, 128, 32, 4, ""),
    ROW("bf16x6",      six,           bf16,  64, 64, 3, ""),
    ROW("bf16x9",      nine<0>,       bf16,  80, 32, 5, ""),
    ROW("bf16x9",      nine<0>,       bf16,  64, 64, 3, ""),
    ROW("bf16x9",      nine<4>,       bf16,  64, 64, 3, ".promote4"),
    ROW("bf16x9",      nine<1>,       bf16,  64, 64, 3, ".promote1"),
    {}
    /* clang-format on */
};
