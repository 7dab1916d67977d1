/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of kernels for Hopper: maps for TMA, and the blocks of a launch. */
#ifndef BITCUT_GPU_CUDA_START_SM90_CUH
#define BITCUT_GPU_CUDA_START_SM90_CUH

#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/row_sm90.cuh"
#include "gpu/cuda/sm90.cuh"

#include <atomic>

/* --- maps ------------------------------------------------------------------------- */

using encode_function = decltype(&cuTensorMapEncodeTiled);

/* The function is taken from the installed driver, so that nothing links with it.  NULL
   without a driver. */
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
static encode_function encode_known()
{
    static std::atomic<encode_function> known;
    if (!known) known = encode_find();
    return known;
}

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
    const encode_function encode = encode_known();
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
template <class R, auto KERNEL> static int clusters_most(int *clusters)
{
    static std::atomic<int> known[DEVICES_MAX];
    int device = 0;
    int status = cudaGetDevice(&device);
    if (status) return status;
    *clusters = device < DEVICES_MAX ? known[device].load() : 0;
    if (*clusters) return cudaSuccess;
    status = clusters_ask<R, KERNEL>(clusters);
    if (!status && device < DEVICES_MAX) known[device] = *clusters;
    return status;
}

#endif
