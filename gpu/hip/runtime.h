/* SPDX-License-Identifier: BSD-3-Clause */
/* The HIP runtime as this project uses it: its library, opened while the program runs,
   and the few calls whose binary interface is the same in ROCm 5, 6 and 7.  No header of
   HIP is needed; if there is one, tests/hip/hip_names.c compares the two.
   hipDeviceProp_t and hipPointerAttribute_t are not used, because they changed in ROCm 6;
   neither are attributes of devices, whose numbers changed. */
#ifndef BITCUT_GPU_HIP_RUNTIME_H
#define BITCUT_GPU_HIP_RUNTIME_H

#include "gpu/module/product.h"

/* hipError_t, hipMemcpyKind and hipPointer_attribute are passed as int; hipModule_t,
   hipFunction_t, hipStream_t, hipEvent_t and hipDeviceptr_t are pointers. */
struct hip_runtime {
    int (*hipGetDeviceCount)(int *count);
    int (*hipGetDevice)(int *device);
    int (*hipSetDevice)(int device);
    int (*hipDeviceGetName)(char *name, int size, int device);
    int (*hipDriverGetVersion)(int *version);
    int (*hipRuntimeGetVersion)(int *version);
    int (*hipMalloc)(void **at, size_t bytes);
    int (*hipFree)(void *at);
    int (*hipMemcpy)(void *to, const void *from, size_t bytes, int kind);
    int (*hipMemcpy2D)(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                       size_t bytes, size_t count, int kind);
    int (*hipMemset)(void *at, int byte, size_t bytes);
    int (*hipMemsetAsync)(void *at, int byte, size_t bytes, void *stream);
    int (*hipStreamCreateWithFlags)(void **stream, unsigned flags);
    int (*hipStreamSynchronize)(void *stream);
    int (*hipStreamDestroy)(void *stream);
    int (*hipEventCreate)(void **event);
    int (*hipEventRecord)(void *event, void *stream);
    int (*hipEventSynchronize)(void *event);
    int (*hipEventElapsedTime)(float *milliseconds, void *from, void *to);
    int (*hipEventDestroy)(void *event);
    int (*hipModuleLoadData)(void **module, const void *image);
    int (*hipModuleUnload)(void *module);
    int (*hipModuleGetFunction)(void **function, void *module, const char *name);
    int (*hipModuleLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, void *stream,
                                 void **parameters, void **extra);
    int (*hipDeviceSynchronize)(void);
    const char *(*hipGetErrorString)(int status);
    int (*hipGetLastError)(void);
    int (*hipPointerGetAttribute)(void *data, int attribute, void *at);
};

/* X(name) for each member. */
#define HIP_RUNTIME_NAMES(X)                                                             \
    X(hipGetDeviceCount)                                                                 \
    X(hipGetDevice)                                                                      \
    X(hipSetDevice)                                                                      \
    X(hipDeviceGetName)                                                                  \
    X(hipDriverGetVersion)                                                               \
    X(hipRuntimeGetVersion)                                                              \
    X(hipMalloc)                                                                         \
    X(hipFree)                                                                           \
    X(hipMemcpy)                                                                         \
    X(hipMemcpy2D)                                                                       \
    X(hipMemset)                                                                         \
    X(hipMemsetAsync)                                                                    \
    X(hipStreamCreateWithFlags)                                                          \
    X(hipStreamSynchronize)                                                              \
    X(hipStreamDestroy)                                                                  \
    X(hipEventCreate)                                                                    \
    X(hipEventRecord)                                                                    \
    X(hipEventSynchronize)                                                               \
    X(hipEventElapsedTime)                                                               \
    X(hipEventDestroy)                                                                   \
    X(hipModuleLoadData)                                                                 \
    X(hipModuleUnload)                                                                   \
    X(hipModuleGetFunction)                                                              \
    X(hipModuleLaunchKernel)                                                             \
    X(hipDeviceSynchronize)                                                              \
    X(hipGetErrorString)                                                                 \
    X(hipGetLastError)                                                                   \
    X(hipPointerGetAttribute)

/* Numbers of hipError_t and hipPointer_attribute, and two statuses of our own. */
enum {
    HIP_NO_BINARY = 209,
    HIP_NOT_FOUND = 500,
    HIP_DEVICE_POINTER = 3,
    HIP_DEVICE_ORDINAL = 9,
    HIP_NO_LIBRARY = 100001,
    HIP_NOT_COMPILED = 100002
};

/* The library, opened by the first call.  NULL if it is not found or lacks a function;
   hip_runtime_fault() returns the reason. */
const struct hip_runtime *hip_runtime(void);
const char *hip_runtime_fault(void);

/* Set *to, a pointer to a function, to the library's function of this name; false: there
   is none. */
bool hip_library_find(void *to, const char *name);

/* The libraries that a module opens: gpu/hip/library_hip.c,
   gpu/hip/library_executor.c. */
struct hip_library {
    const char *what;         /* name in messages: "the HIP runtime"                    */
    const char *const *names; /* tried in order, ended by NULL                          */
    bool beside;              /* whether they are in the folder of the module, not where
                                 the system has libraries                               */
    const char *const *peers; /* names of libraries with GEMMs on its devices, in the same
                                 way; an empty list: none                               */
};
extern const struct hip_library hip_library;

#endif
