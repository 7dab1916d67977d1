/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of libamdhip64 that the replacement provides, each with the binary interface
   of ROCm 5, 6 and 7; the contracts are HIP's.  hipError_t, hipMemcpyKind and
   hipPointer_attribute are ints here; modules, functions and streams are pointers. */
#ifndef BITCUT_GPU_HIP_STAND_IN_STAND_IN_H
#define BITCUT_GPU_HIP_STAND_IN_STAND_IN_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of hipError_t. */
enum hip_error {
    HIP_SUCCESS = 0,
    HIP_INVALID_VALUE = 1,
    HIP_OUT_OF_MEMORY = 2,
    HIP_INVALID_DEVICE_FUNCTION = 98,
    HIP_NO_DEVICE = 100,
    HIP_INVALID_DEVICE = 101,
    HIP_INVALID_IMAGE = 200,
    HIP_NO_BINARY = 209,
    HIP_INVALID_HANDLE = 400,
    HIP_NOT_FOUND = 500,
    HIP_LAUNCH_FAILURE = 719
};

/* Return the status, and store it for hipGetLastError().  If `why` is not NULL,
   hipGetErrorString() returns it for this status from now on in this thread. */
int stand_in_note(int status, const char *why);

/* --- devices, errors, memory: gpu/hip/stand_in/stand_in.c ------------------------- */

int hipInit(unsigned flags);
int hipGetDeviceCount(int *count);
int hipGetDevice(int *device);
int hipSetDevice(int device);
int hipDeviceGetName(char *name, int size, int device);
int hipDriverGetVersion(int *version);
int hipRuntimeGetVersion(int *version);
int hipDeviceSynchronize(void);
const char *hipGetErrorString(int status);
int hipGetLastError(void);
int hipPeekAtLastError(void);
int hipMalloc(void **at, size_t bytes);
int hipFree(void *at);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipMemset(void *at, int byte, size_t bytes);
int hipPointerGetAttribute(void *to, int attribute, void *at);

/* --- streams and events, which have nothing to wait for: stand_in_events.c -------- */

int hipMemsetAsync(void *at, int byte, size_t bytes, void *stream);
int hipStreamCreate(void **stream);
int hipStreamCreateWithFlags(void **stream, unsigned flags);
int hipStreamSynchronize(void *stream);
int hipStreamDestroy(void *stream);
int hipEventCreate(void **event);
int hipEventRecord(void *event, void *stream);
int hipEventSynchronize(void *event);
int hipEventElapsedTime(float *milliseconds, void *from, void *to);
int hipEventDestroy(void *event);

/* --- modules and their kernels ------------------------------------------------------ */

int hipModuleLoadData(void **module, const void *image);
int hipModuleUnload(void *module);
int hipModuleGetFunction(void **function, void *module, const char *name);
int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared_bytes, void *stream,
                          void **parameters, void **extra);

/* Not part of HIP: counts of all launches since the last call, or since the start; the
   names and numbers of struct gfx9_counts.  Returns how many counts there are, at most
   `most`. */
int hipStandInCounts(const char **names, uint64_t *values, int most);

/* Not part of HIP: the host address of the byte at a device address, for models of
   libraries that compute on a device; NULL: no memory contains it. */
void *hipStandInMemory(const void *at);

/* --- kernels in the program itself: gpu/hip/stand_in/stand_in_program.c ----------- */

struct dim3 {
    uint32_t x, y, z;
};

/* Functions to which a HIP compiler translates <<< >>>, and functions that it calls
   before main() and at the end; `handle` is the address that represents a kernel on the
   host.  They are defined by clang's lib/CodeGen/CGCUDANV.cpp. */
void **__hipRegisterFatBinary(const void *wrapper);
void __hipRegisterFunction(void **program, const void *handle, char *kernel,
                           const char *name, unsigned threads, void *thread, void *block,
                           void *items, void *groups, int *wave);
void __hipUnregisterFatBinary(void **program);
int __hipPushCallConfiguration(struct dim3 groups, struct dim3 items, size_t shared_bytes,
                               void *stream);
int __hipPopCallConfiguration(struct dim3 *groups, struct dim3 *items,
                              size_t *shared_bytes, void **stream);
int hipLaunchKernel(const void *handle, struct dim3 groups, struct dim3 items,
                    void **parameters, size_t shared_bytes, void *stream);

#endif
