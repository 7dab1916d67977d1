/* The CUDA module: the device, copies to and from it, and the tables of the kernel
   files. */
#include "gpu/cuda/gemm.cuh"
#include "gpu/cuda/nvml.cuh"

#include <cstdio>

/* --- the device ------------------------------------------------------------------- */

/* The driver's version.  CUDA tells only its own; NVML tells the driver's. */
static void describe_driver(char text[GPU_TEXT_MOST], int cuda)
{
    struct nvml nvml = nvml_open();
    if (!nvml_driver(text, &nvml))
        snprintf(text, GPU_TEXT_MOST, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
    nvml_close(&nvml);
}

/* The units of an architecture, by its compute capabilities. */
static const struct {
    const char *name;
    int least, most;
} architectures[] = {
    { "volta", 70, 72 },           { "turing", 75, 75 },
    { "ampere", 80, 87 },          { "ada", 89, 89 },
    { "hopper", 90, 90 },          { "blackwell", 100, 103 },
    { "rtx-blackwell", 120, 121 },
};

static void describe_architecture(struct gpu_device *x)
{
    for (const auto &row : architectures)
        if (row.least <= x->capability && x->capability <= row.most)
            snprintf(x->architecture, sizeof x->architecture, "%s", row.name);
}

/* What a multiprocessor can do in a clock, from the first compute capability on: products
   of f16 or bf16 words, dense, by NVIDIA's whitepapers on each architecture. */
static const struct {
    int least, products;
} rates[] = { { 120, 512 }, { 90, 2048 }, { 86, 512 }, { 80, 1024 }, { 0, 512 } };

/* Bytes in a clock that fit the timings of all tiles on an H200 (gpu/tile_model.c): of
   shared memory 5/2 of the 128 that its banks have; of the L2 cache what comes if all
   load. */
enum { SHARED_RATE = 320, CACHE_RATE = 38 };

static void describe_unit(struct gpu_device *x, const cudaDeviceProp *p)
{
    int i = 0;
    while (x->capability < rates[i].least) i++;
    x->units = p->multiProcessorCount;
    x->unit_registers = p->regsPerMultiprocessor;
    x->unit_threads = p->maxThreadsPerMultiProcessor;
    x->unit_blocks = p->maxBlocksPerMultiProcessor;
    x->unit_shared = (int)p->sharedMemPerMultiprocessor;
    x->block_shared = (int)p->reservedSharedMemPerBlock;
    x->products = rates[i].products;
    x->shared_rate = SHARED_RATE;
    x->cache_rate = CACHE_RATE;
}

static cudaError_t describe_device(struct gpu_device *to, int device)
{
    struct gpu_device x = {};
    cudaDeviceProp properties;
    int driver = 0, runtime = 0;
    cudaError_t status = cudaGetDeviceProperties(&properties, device);
    if (status == cudaSuccess) status = cudaDriverGetVersion(&driver);
    if (status == cudaSuccess) status = cudaRuntimeGetVersion(&runtime);
    if (status != cudaSuccess) return status;
    x.number = device;
    x.capability = 10 * properties.major + properties.minor;
    x.shared_bytes = (int)properties.sharedMemPerBlockOptin;
    describe_architecture(&x);
    describe_unit(&x, &properties);
    snprintf(x.name, sizeof x.name, "%s", properties.name);
    snprintf(x.runtime, sizeof x.runtime, "CUDA %d.%d", runtime / 1000,
             runtime % 1000 / 10);
    describe_driver(x.driver, driver);
    *to = x;
    return status;
}

static int describe(struct gpu_device *to, int device, char *fault)
{
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) return fault_of(fault, status);
    if (device >= count) {
        snprintf(fault, GPU_FAULT_MOST, "there is no device %d: the last is %d", device,
                 count - 1);
        return 1;
    }
    return fault_of(fault, describe_device(to, device));
}

/* --- batches ---------------------------------------------------------------------- */

/* Bytes of the largest array on the device at a time. */
enum { CHUNK_MOST = 64 << 20 };

/* Bytes of one fragment of each array. */
struct sizes {
    size_t a, b, c;
};

static struct sizes sizes_of(const struct gpu_instruction *i)
{
    return { (size_t)i->m * i->k * i->a_bytes, (size_t)i->k * i->n * i->b_bytes,
             (size_t)i->m * i->n * i->c_bytes };
}

static size_t chunk_of(struct sizes s)
{
    size_t most = s.a > s.b ? s.a : s.b;
    if (s.c > most) most = s.c;
    return CHUNK_MOST / most;
}

/* Arrays on the device. */
struct buffers {
    void *a = NULL, *b = NULL, *c = NULL, *d = NULL;
};

static cudaError_t buffers_init(struct buffers *x, struct sizes s, size_t count)
{
    cudaError_t status = cudaMalloc(&x->a, s.a * count);
    if (status == cudaSuccess) status = cudaMalloc(&x->b, s.b * count);
    if (status == cudaSuccess) status = cudaMalloc(&x->c, s.c * count);
    if (status == cudaSuccess) status = cudaMalloc(&x->d, s.c * count);
    return status;
}

/* Free them all, whatever happens; the first status that is no success. */
static cudaError_t buffers_clear(struct buffers *x)
{
    void *const all[] = { x->d, x->c, x->b, x->a };
    cudaError_t first = cudaSuccess;
    for (void *one : all) {
        const cudaError_t status = cudaFree(one);
        if (first == cudaSuccess) first = status;
    }
    return first;
}

/* Fragments first to first + count - 1 through the device. */
static cudaError_t run_chunk(const struct gpu_batch *batch, const struct buffers *x,
                             const struct gpu_instruction *i, enum gpu_variant variant,
                             size_t first, size_t count)
{
    const struct sizes s = sizes_of(i);
    const struct gpu_batch there = { x->d, x->a, x->b, x->c, count };
    const auto *a = (const char *)batch->a + first * s.a;
    const auto *b = (const char *)batch->b + first * s.b;
    const auto *c = (const char *)batch->c + first * s.c;
    auto *d = (char *)batch->d + first * s.c;
    cudaError_t status = cudaMemcpy(x->a, a, count * s.a, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(x->b, b, count * s.b, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(x->c, c, count * s.c, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) status = (cudaError_t)i->launch(&there, variant);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
        status = cudaMemcpy(d, x->d, count * s.c, cudaMemcpyDeviceToHost);
    return status;
}

static int run(const struct gpu_batch *batch, const struct gpu_instruction *i,
               enum gpu_variant variant, int device, char *fault)
{
    const struct sizes s = sizes_of(i);
    const size_t most = chunk_of(s), chunk = batch->count < most ? batch->count : most;
    const on_device on(device);
    struct buffers x;
    if (!batch->count) return 0;
    cudaError_t status = on.status;
    if (status == cudaSuccess) status = buffers_init(&x, s, chunk);
    for (size_t at = 0; at < batch->count && status == cudaSuccess; at += chunk) {
        const size_t left = batch->count - at;
        status = run_chunk(batch, &x, i, variant, at, left < chunk ? left : chunk);
    }
    const cudaError_t end = buffers_clear(&x);
    return fault_of(fault, status != cudaSuccess ? status : end);
}

/* --- what the program finds ------------------------------------------------------- */

/* HOPPER: there is code for sm_90a. */
static const struct gpu_family families[] = {
    { "mma", "mma.sync, by one warp, sm_70 and later", mma_sm80, NULL },
#ifdef HOPPER
    { "wgmma", "wgmma.mma_async, by one warpgroup, sm_90a", wgmma_sm90, NULL },
    { "sm90", "GEMMs by wgmma and TMA, sm_90a", NULL, gemm_sm90 },
#endif
    { "sm80", "GEMMs by mma.sync, sm_80 and later", NULL, gemm_sm80 },
    { "wmma", "GEMMs by the warp matrix functions of CUDA C++, sm_80 and later", NULL,
      gemm_wmma },
    { "batch", "batches of small GEMMs of f16 matrices, sm_80 and later", NULL,
      batch_kernels },
    {}
};

extern "C" __attribute__((visibility("default")))
const struct gpu_module bitcut_gpu_module = {
    GPU_INTERFACE, "cuda",         "NVIDIA GPUs through CUDA",
    families,      describe,       run,
    gemm_words,    gemm_split,     gemm_run,
    gemm_prepare,  gemm_workspace, gemm_start,
    gemm_reaches,  &timer
};
