/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled, never run: the calls of gpu/hip/runtime.h as declared in the headers of HIP,
   with its replacements for types, and the numbers that it names. */
#define __HIP_PLATFORM_AMD__ 1

#include "gpu/hip/runtime.h"

#include <hip/hip_runtime_api.h>

/* What is passed as an int or as a pointer. */
_Static_assert(sizeof(hipError_t) == sizeof(int), "a status");
_Static_assert(sizeof(hipMemcpyKind) == sizeof(int), "a direction");
_Static_assert(sizeof(hipPointer_attribute) == sizeof(int), "an attribute");
_Static_assert(__builtin_types_compatible_p(hipDevice_t, int), "a device");
_Static_assert(sizeof(hipModule_t) == sizeof(void *), "a code object");
_Static_assert(sizeof(hipFunction_t) == sizeof(void *), "a kernel");
_Static_assert(sizeof(hipStream_t) == sizeof(void *), "a stream");
_Static_assert(sizeof(hipEvent_t) == sizeof(void *), "an event");
_Static_assert(__builtin_types_compatible_p(hipDeviceptr_t, void *), "an address");

/* The call has these parameters, and the member of our table as many words of them. */
#define SAME(name, result, ...)                                                          \
    _Static_assert(                                                                      \
        __builtin_types_compatible_p(__typeof__(&name), result(*)(__VA_ARGS__)), #name); \
    _Static_assert(sizeof(((struct hip_runtime *)0)->name) == sizeof(&name), #name);

SAME(hipGetDeviceCount, hipError_t, int *)
SAME(hipGetDevice, hipError_t, int *)
SAME(hipSetDevice, hipError_t, int)
SAME(hipDeviceGetName, hipError_t, char *, int, hipDevice_t)
SAME(hipDriverGetVersion, hipError_t, int *)
SAME(hipRuntimeGetVersion, hipError_t, int *)
SAME(hipMalloc, hipError_t, void **, size_t)
SAME(hipFree, hipError_t, void *)
SAME(hipMemcpy, hipError_t, void *, const void *, size_t, hipMemcpyKind)
SAME(hipMemcpy2D, hipError_t, void *, size_t, const void *, size_t, size_t, size_t,
     hipMemcpyKind)
SAME(hipMemset, hipError_t, void *, int, size_t)
SAME(hipMemsetAsync, hipError_t, void *, int, size_t, hipStream_t)
SAME(hipStreamCreateWithFlags, hipError_t, hipStream_t *, unsigned)
SAME(hipStreamSynchronize, hipError_t, hipStream_t)
SAME(hipStreamDestroy, hipError_t, hipStream_t)
SAME(hipEventCreate, hipError_t, hipEvent_t *)
SAME(hipEventRecord, hipError_t, hipEvent_t, hipStream_t)
SAME(hipEventSynchronize, hipError_t, hipEvent_t)
SAME(hipEventElapsedTime, hipError_t, float *, hipEvent_t, hipEvent_t)
SAME(hipEventDestroy, hipError_t, hipEvent_t)
SAME(hipModuleLoadData, hipError_t, hipModule_t *, const void *)
SAME(hipModuleUnload, hipError_t, hipModule_t)
SAME(hipModuleGetFunction, hipError_t, hipFunction_t *, hipModule_t, const char *)
SAME(hipModuleLaunchKernel, hipError_t, hipFunction_t, unsigned, unsigned, unsigned,
     unsigned, unsigned, unsigned, unsigned, hipStream_t, void **, void **)
SAME(hipDeviceSynchronize, hipError_t, void)
SAME(hipGetErrorString, const char *, hipError_t)
SAME(hipGetLastError, hipError_t, void)
SAME(hipPointerGetAttribute, hipError_t, void *, hipPointer_attribute, hipDeviceptr_t)

/* Each name of the list is checked above. */
#define COUNT(name) +1
_Static_assert(0 HIP_RUNTIME_NAMES(COUNT) == 27, "a name of the list is not compared");

_Static_assert((int)hipSuccess == RT_SUCCESS, "");
_Static_assert((int)hipErrorOutOfMemory == RT_NO_MEMORY, "");
_Static_assert(hipStreamNonBlocking == RT_NON_BLOCKING, "");
_Static_assert((int)hipMemcpyDeviceToDevice == RT_ON_DEVICE, "");
_Static_assert((int)hipErrorNoBinaryForGpu == HIP_NO_BINARY, "");
_Static_assert((int)hipErrorNotFound == HIP_NOT_FOUND, "");
_Static_assert((int)hipMemcpyHostToDevice == RT_TO_DEVICE, "");
_Static_assert((int)hipMemcpyDeviceToHost == RT_TO_HOST, "");
_Static_assert((int)HIP_POINTER_ATTRIBUTE_DEVICE_POINTER == HIP_DEVICE_POINTER, "");
_Static_assert((int)HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL == HIP_DEVICE_ORDINAL, "");
