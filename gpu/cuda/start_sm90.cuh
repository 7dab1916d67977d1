/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of kernels for Hopper: maps for TMA, and the blocks of a launch. */
#ifndef BITCUT_GPU_CUDA_START_SM90_CUH
#define BITCUT_GPU_CUDA_START_SM90_CUH

#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/row_sm90.cuh"
#include "gpu/cuda/sm90.cuh"

#include <atomic>

/* --- the driver -------------------------------------------------------------------- */

/* A function of the driver of CUDA 12.0, taken from the installed driver, so that nothing
   links with it.  NULL without a driver. */
static void *driver_find(const char *name)
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const int status = cudaGetDriverEntryPointByVersion(name, &found, 12000,
                                                        cudaEnableDefault, &result);
#else
    const int status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    return status || result != cudaDriverEntryPointSuccess ? nullptr : found;
}
#define DRIVER_FUNCTION(NAME, FUNCTION)                                                   \
    static decltype(&FUNCTION) NAME()                                                    \
    {                                                                                    \
        static std::atomic<decltype(&FUNCTION)> known;                                   \
        if (!known) known = (decltype(&FUNCTION))driver_find(#FUNCTION);                 \
        return known;                                                                    \
    }
DRIVER_FUNCTION(encode_known, cuTensorMapEncodeTiled)
DRIVER_FUNCTION(context_id_known, cuCtxGetId)

/* The number of the thread's context, which no other context of the process has; 0: it is
   not known. */
static unsigned long long context_now()
{
    const auto get = context_id_known();
    unsigned long long id = 0;
    return get && get(NULL, &id) == CUDA_SUCCESS ? id + 1 : 0;
}

/* --- maps ------------------------------------------------------------------------- */

/* Parts of one format in lines of row_bytes; they are copied in boxes of box_lines lines
   and box_k of k. */
struct lines_of_parts {
    CUtensorMapDataType type;
    const char *at;
    size_t lines, row_bytes, parts;
    int bytes, box_lines, box_k;
};

/* Make the map for copying from `slices` slices of k elements and `bytes` each, for
   `matrices` matrices at a distance of `stride` bytes. */
[[maybe_unused]] static int parts_map(CUtensorMap *map, const struct lines_of_parts &w, size_t k,
                     size_t slices, size_t bytes, size_t matrices, size_t stride)
{
    const cuuint64_t size[] = { k, w.lines, w.parts, slices, matrices };
    const cuuint64_t strides[] = { w.row_bytes, w.lines * w.row_bytes, bytes, stride };
    const cuuint32_t boxes[] = { (cuuint32_t)w.box_k, (cuuint32_t)w.box_lines, 1, 1, 1 };
    const cuuint32_t every[] = { 1, 1, 1, 1, 1 };
    const auto swizzle =
        w.box_k * w.bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
    const auto encode = encode_known();
    if (!encode) return cudaErrorNotSupported;
    return encode(map, w.type, 5, (void *)w.at, size, strides, boxes, every,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

/* Tiles, and their elements, are counted in an int. */
constexpr size_t DIMENSION_MAX = (size_t)1 << 30;

/* --- blocks ----------------------------------------------------------------------- */

/* The number of rows of a band such that the outputs computed by `clusters` clusters at
   one time form a square. */
template <class R> static int band_of(int clusters)
{
    int band = 1;
    while ((band + 1) * (band + 1) * R::cluster_m * TILE_M <=
           clusters * R::cluster_n * R::n)
        band++;
    return band;
}

/* The number of clusters of a kernel that run at one time, with its shared memory. */
template <class R, auto KERNEL> static int clusters_ask(int *clusters)
{
    const launch_config config({ dim3(R::cluster), GROUPS * GROUP, R::shared_bytes,
                                 dim3(R::cluster), NULL, false });
    const int status =
        cudaOccupancyMaxActiveClusters(clusters, KERNEL, &config.is);
    return status           ? status
           : *clusters == 0 ? (int)cudaErrorInvalidConfiguration
                            : (int)cudaSuccess;
}

/* The same, queried once for each device. */
template <class R, auto KERNEL> static int clusters_most(int *clusters, int device)
{
    static std::atomic<int> known[DEVICES_MAX];
    *clusters = device < DEVICES_MAX ? known[device].load() : 0;
    if (*clusters) return cudaSuccess;
    const int status = clusters_ask<R, KERNEL>(clusters);
    if (!status && device < DEVICES_MAX) known[device] = *clusters;
    return status;
}

/* Let the kernel have its shared memory, and get the number of its clusters.  The setting
   belongs to the context; a device may have several contexts in succession. */
template <class R, auto KERNEL> static int kernel_set(int *clusters)
{
    static std::atomic<unsigned long long> set[DEVICES_MAX]; /* contexts */
    const unsigned long long context = context_now();
    int device = 0, status = cudaGetDevice(&device);
    if (status) return status;
    const bool kept = context && device < DEVICES_MAX;
    if (!kept || set[device] != context)
        status = cudaFuncSetAttribute(
            KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, R::shared_bytes);
    if (!status && kept) set[device] = context;
    return status ? status : clusters_most<R, KERNEL>(clusters, device);
}

#endif
