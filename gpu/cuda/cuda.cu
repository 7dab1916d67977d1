/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA module: the device, and the tables of the kernel files. */
#include "gpu/cuda/emulate.cuh"
#include "gpu/cuda/gemm.cuh"
#include "gpu/cuda/nvml.cuh"

#include <atomic>
#include <cstdio>

/* --- the device ------------------------------------------------------------------- */

/* The version of the driver.  CUDA reports only its own version; NVML reports the
   driver's. */
static void describe_driver(char text[GPU_TEXT_MAX], int cuda)
{
    struct nvml nvml = nvml_open();
    if (!nvml_driver(text, &nvml))
        snprintf(text, GPU_TEXT_MAX, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
    nvml_close(&nvml);
}

/* One row for each of `capabilities` (gpu/cuda/cuda.cuh), in their order. */
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

/* Rates of a multiprocessor per clock, for compute capabilities from the given one on:
   products of f16 or bf16 parts, dense, from NVIDIA's whitepapers on each
   architecture. */
static const struct {
    int least, products;
} rates[] = { { 120, 512 }, { 90, 2048 }, { 86, 512 }, { 80, 1024 }, { 0, 512 } };

/* Bytes per clock that fit the timings of all tiles on an H200 (gpu/api/tile_model.c).
   Shared memory: 5/2 of the 128 bytes of its banks.  L2 cache: the rate while all
   multiprocessors load. */
enum { SHARED_RATE = 320, CACHE_RATE = 38, WARP = 32 };

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
    x->wave = WARP;
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
    x.architectures = x.architecture->bit;
    x.shared_bytes = (int)p->sharedMemPerBlockOptin;
    describe_unit(&x, p);
    snprintf(x.name, sizeof x.name, "%s", p->name);
    snprintf(x.runtime, sizeof x.runtime, "CUDA %d.%d", runtime / 1000,
             runtime % 1000 / 10);
    describe_driver(x.driver, driver);
    *to = x;
    return status;
}

/* Code for another architecture may not run on the device, and its units are unknown. */
static int check_architecture(const cudaDeviceProp *p, char *fault)
{
    if (architecture_of(capability_of(p))) return 0;
    snprintf(fault, GPU_FAULT_MAX,
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
        snprintf(fault, GPU_FAULT_MAX, "device %d does not exist; the last is %d",
                 device, count - 1);
        return 1;
    }
    status = cudaGetDeviceProperties(&properties, device);
    if (status == RT_SUCCESS && check_architecture(&properties, fault)) return 1;
    return fault_of(fault, status == RT_SUCCESS ? describe_device(to, device, &properties)
                                                : status);
}

/* --- memory ----------------------------------------------------------------------- */

/* Memory that the runtime does not know belongs to the host. */
static const char *why_unreached(const rt_pointer *x, int device, int pageable)
{
    if (x->type == RT_OF_NOBODY) return pageable ? NULL : "is in host memory";
    if (x->type == RT_OF_DEVICE && x->device != device)
        return "is in the memory of another device";
    return x->devicePointer ? NULL : "is in memory that the device cannot access";
}

/* Query the runtime about `at`.  A thread without a context cannot access anything, even
   on its current device.  Creating a context does not affect a graph that some stream
   captures. */
static rt_error ask_of(rt_pointer *x, const void *at)
{
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    const rt_error status = rt_pointer_get(x, at);
    if (status != RT_SUCCESS || x->devicePointer) return status;
    cudaThreadExchangeStreamCaptureMode(&mode);
    rt_free(NULL); /* creates the context */
    cudaThreadExchangeStreamCaptureMode(&mode);
    return rt_pointer_get(x, at);
}

/* Whether the device can read all memory of the host; queried once. */
static rt_error ask_pageable(int *pageable, int device)
{
    enum { UNKNOWN, NOT, PAGEABLE };
    static std::atomic<int> known[DEVICES_MAX];
    const bool kept = device < DEVICES_MAX;
    if (kept && known[device] != UNKNOWN) {
        *pageable = known[device] == PAGEABLE;
        return RT_SUCCESS;
    }
    const rt_error status = rt_device_ask(pageable, RT_PAGEABLE, device);
    if (kept && status == RT_SUCCESS) known[device] = *pageable ? PAGEABLE : NOT;
    return status;
}

int gemm_reaches(const void *at, int device, char *fault)
{
    rt_pointer x = {};
    int pageable = 0;
    const on_device on(device);
    rt_error status = on.status;
    if (status == RT_SUCCESS) status = ask_of(&x, at);
    if (status == RT_SUCCESS) status = ask_pageable(&pageable, device);
    if (status != RT_SUCCESS) return fault_of(fault, status);
    const char *why = why_unreached(&x, device, pageable);
    if (why) snprintf(fault, GPU_FAULT_MAX, "%s", why);
    return why != NULL;
}

/* --- what the program finds ------------------------------------------------------- */

/* HOPPER: whether there is code for sm_90a. */
static const struct gpu_family families[] = {
    { "mma", "mma.sync, by one warp, sm_70 and later", mma_sm80, NULL },
#ifdef HOPPER
    { "wgmma", "wgmma.mma_async, by one warpgroup, sm_90a", wgmma_sm90, NULL },
    { "sm90", "GEMMs by wgmma and TMA, sm_90a", NULL, gemm_sm90 },
    { "gemv", "GEMMs with a narrow D, sm_90a", NULL, gemv_sm90 },
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
    batch_run,
    gemm_parts,    gemm_split,     gemm_run,
    gemm_prepare,  gemm_workspace, gemm_start,
    gemm_reaches,  &timer,         emulation_counts,
    multipliers,   EMULATION_METHODS, emulation_claim, exact_sums, &streams,
#ifdef HOPPER
    fp64_kernels,  fp64_peers,     fp64_run, fp64_work_workspace, fp64_work_start,
#else
    NULL,          NULL,           NULL,     NULL,                NULL,
#endif
    attention_kernels, attention_run
};
