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

/* One for each of `capabilities` (gpu/cuda/cuda.cuh), in their order. */
static const struct gpu_architecture architectures[] = {
    /* clang-format off */
    { "sm_70",  "V100, Titan V",            "volta",         sm(70)  },
    { "sm_72",  "Jetson Xavier",            "volta",         sm(72)  },
    { "sm_75",  "T4, GeForce RTX 20",       "turing",        sm(75)  },
    { "sm_80",  "A100, A800, A30",          "ampere",        sm(80)  },
    { "sm_86",  "A2, A40, GeForce RTX 30",  "ampere",        sm(86)  },
    { "sm_87",  "Jetson Orin",              "ampere",        sm(87)  },
    { "sm_89",  "L4, L40S, GeForce RTX 40", "ada",           sm(89)  },
    { "sm_90a", "H100, H200, GH200",        "hopper",        sm(90)  },
    { "sm_100", "B200, GB200",              "blackwell",     sm(100) },
    { "sm_101", "Jetson Thor",              "blackwell",     sm(101) },
    { "sm_103", "B300, GB300",              "blackwell",     sm(103) },
    { "sm_120", "GeForce RTX 50",           "rtx-blackwell", sm(120) },
    { "sm_121", "GB10",                     "rtx-blackwell", sm(121) },
    {}
    /* clang-format on */
};

static const struct gpu_architecture *architecture_of(int capability)
{
    const struct gpu_architecture *row = architectures;
    while (row->name && row->bit != sm(capability)) row++;
    return row->name ? row : NULL;
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

static int capability_of(const cudaDeviceProp *p) { return 10 * p->major + p->minor; }

static void describe_unit(struct gpu_device *x, const cudaDeviceProp *p)
{
    int i = 0;
    while (capability_of(p) < rates[i].least) i++;
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

static rt_error describe_device(struct gpu_device *to, int device,
                                const cudaDeviceProp *p)
{
    struct gpu_device x = {};
    int driver = 0, runtime = 0;
    rt_error status = cudaDriverGetVersion(&driver);
    if (status == RT_SUCCESS) status = cudaRuntimeGetVersion(&runtime);
    if (status != RT_SUCCESS) return status;
    x.number = device;
    x.architecture = architecture_of(capability_of(p));
    x.shared_bytes = (int)p->sharedMemPerBlockOptin;
    describe_unit(&x, p);
    snprintf(x.name, sizeof x.name, "%s", p->name);
    snprintf(x.runtime, sizeof x.runtime, "CUDA %d.%d", runtime / 1000,
             runtime % 1000 / 10);
    describe_driver(x.driver, driver);
    *to = x;
    return status;
}

/* Code for another architecture may not run on it, and no unit is known to be its. */
static int check_architecture(const cudaDeviceProp *p, char *fault)
{
    if (architecture_of(capability_of(p))) return 0;
    snprintf(fault, GPU_FAULT_MOST,
             "%.100s has compute capability %d.%d, of no architecture known", p->name,
             p->major, p->minor);
    return 1;
}

static int describe(struct gpu_device *to, int device, char *fault)
{
    int count = 0;
    cudaDeviceProp properties;
    rt_error status = rt_device_count(&count);
    if (status != RT_SUCCESS) return fault_of(fault, status);
    if (device >= count) {
        snprintf(fault, GPU_FAULT_MOST, "there is no device %d: the last is %d", device,
                 count - 1);
        return 1;
    }
    status = cudaGetDeviceProperties(&properties, device);
    if (status == RT_SUCCESS && check_architecture(&properties, fault)) return 1;
    return fault_of(fault, status == RT_SUCCESS ? describe_device(to, device, &properties)
                                                : status);
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

static rt_error buffers_init(struct buffers *x, struct sizes s, size_t count)
{
    rt_error status = rt_malloc(&x->a, s.a * count);
    if (status == RT_SUCCESS) status = rt_malloc(&x->b, s.b * count);
    if (status == RT_SUCCESS) status = rt_malloc(&x->c, s.c * count);
    if (status == RT_SUCCESS) status = rt_malloc(&x->d, s.c * count);
    return status;
}

/* Free them all, whatever happens; the first status that is no success. */
static rt_error buffers_clear(struct buffers *x)
{
    void *const all[] = { x->d, x->c, x->b, x->a };
    rt_error first = RT_SUCCESS;
    for (void *one : all) {
        const rt_error status = rt_free(one);
        if (first == RT_SUCCESS) first = status;
    }
    return first;
}

/* Fragments first to first + count - 1 through the device. */
static rt_error run_chunk(const struct gpu_batch *batch, const struct buffers *x,
                          const struct gpu_instruction *i, enum gpu_variant variant,
                          size_t first, size_t count)
{
    const struct sizes s = sizes_of(i);
    const struct gpu_batch there = { x->d, x->a, x->b, x->c, count };
    const auto *a = (const char *)batch->a + first * s.a;
    const auto *b = (const char *)batch->b + first * s.b;
    const auto *c = (const char *)batch->c + first * s.c;
    auto *d = (char *)batch->d + first * s.c;
    rt_error status = rt_copy(x->a, a, count * s.a, RT_TO_DEVICE);
    if (status == RT_SUCCESS) status = rt_copy(x->b, b, count * s.b, RT_TO_DEVICE);
    if (status == RT_SUCCESS) status = rt_copy(x->c, c, count * s.c, RT_TO_DEVICE);
    if (status == RT_SUCCESS) status = (rt_error)i->launch(&there, variant);
    if (status == RT_SUCCESS) status = rt_device_wait();
    if (status == RT_SUCCESS) status = rt_copy(d, x->d, count * s.c, RT_TO_HOST);
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
    rt_error status = on.status;
    if (status == RT_SUCCESS) status = buffers_init(&x, s, chunk);
    for (size_t at = 0; at < batch->count && status == RT_SUCCESS; at += chunk) {
        const size_t left = batch->count - at;
        status = run_chunk(batch, &x, i, variant, at, left < chunk ? left : chunk);
    }
    const rt_error end = buffers_clear(&x);
    return fault_of(fault, status != RT_SUCCESS ? status : end);
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
    architectures, families,       describe,
    run,
    gemm_words,    gemm_split,     gemm_run,
    gemm_prepare,  gemm_workspace, gemm_start,
    gemm_reaches,  &timer
};
