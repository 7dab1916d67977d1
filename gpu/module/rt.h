/* SPDX-License-Identifier: BSD-3-Clause */
/* Common names for functions that the runtimes of CUDA and HIP share, for module code
   that does not depend on an instruction: errors, memory, streams, events, the current
   device.  Each name is a function of the runtime, with its contract.  C and C++.

   CUDA's names are its own functions.  HIP's names, if GPU_HIP is defined, are functions
   of gpu/hip/runtime.c, which call the functions found in the runtime's library.  So no
   header of HIP is needed, and one module works with every version of it. */
#ifndef BITCUT_GPU_MODULE_RT_H
#define BITCUT_GPU_MODULE_RT_H

#ifdef GPU_HIP

#include <stddef.h>

typedef int rt_error;    /* hipError_t  */
typedef void *rt_stream; /* hipStream_t */
typedef void *rt_event;  /* hipEvent_t  */

/* Numbers of hipError_t and hipMemcpyKind, and a flag of streams. */
enum { RT_SUCCESS = 0, RT_NO_MEMORY = 2 };
enum { RT_TO_DEVICE = 1, RT_TO_HOST = 2, RT_ON_DEVICE = 3 };
enum { RT_NON_BLOCKING = 1 };

const char *rt_error_text(rt_error status);
rt_error rt_last_error(void);

rt_error rt_malloc(void **at, size_t bytes);
rt_error rt_free(void *at);
rt_error rt_copy(void *to, const void *from, size_t bytes, int kind);
rt_error rt_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                       size_t bytes, size_t count, int kind);
rt_error rt_fill(void *at, int byte, size_t bytes);
rt_error rt_fill_start(void *at, int byte, size_t bytes, rt_stream stream);

rt_error rt_stream_create(rt_stream *stream, unsigned flags);
rt_error rt_stream_wait(rt_stream stream);
rt_error rt_stream_end(rt_stream stream);

rt_error rt_event_create(rt_event *event);
rt_error rt_event_record(rt_event event, rt_stream stream);
rt_error rt_event_wait(rt_event event);
rt_error rt_event_between(float *milliseconds, rt_event from, rt_event to);
rt_error rt_event_end(rt_event event);

rt_error rt_device_count(int *count);
rt_error rt_device_get(int *device);
rt_error rt_device_set(int device);
rt_error rt_device_wait(void);

#else

#include <cuda_runtime_api.h>

#define RT(name) cuda##name

/* clang-format off */
typedef struct cudaPointerAttributes rt_pointer;
typedef RT(Error_t)  rt_error;
typedef RT(Stream_t) rt_stream;
typedef RT(Event_t)  rt_event;

#define RT_NO_CODE       RT(ErrorNoKernelImageForDevice)
#define RT_PAGEABLE      RT(DevAttrPageableMemoryAccess)
#define RT_SUCCESS       RT(Success)
#define RT_NO_MEMORY     RT(ErrorMemoryAllocation)
#define RT_NO_FUNCTION   RT(ErrorInvalidDeviceFunction)
#define RT_TO_DEVICE     RT(MemcpyHostToDevice)
#define RT_TO_HOST       RT(MemcpyDeviceToHost)
#define RT_ON_DEVICE     RT(MemcpyDeviceToDevice)
#define RT_OF_DEVICE     RT(MemoryTypeDevice)
#define RT_OF_NOBODY     RT(MemoryTypeUnregistered)
#define RT_SHARED_BYTES  RT(FuncAttributeMaxDynamicSharedMemorySize)
#define RT_NON_BLOCKING  RT(StreamNonBlocking)

#define rt_error_text    RT(GetErrorString)
#define rt_last_error    RT(GetLastError)
#define rt_function_set  RT(FuncSetAttribute)

#define rt_malloc        RT(Malloc)
#define rt_free          RT(Free)
#define rt_copy          RT(Memcpy)
#define rt_copy_lines    RT(Memcpy2D)
#define rt_fill          RT(Memset)
#define rt_fill_start    RT(MemsetAsync)
#define rt_pointer_get   RT(PointerGetAttributes)

#define rt_stream_create RT(StreamCreateWithFlags)
#define rt_stream_wait   RT(StreamSynchronize)
#define rt_stream_end    RT(StreamDestroy)

#define rt_event_create  RT(EventCreate)
#define rt_event_record  RT(EventRecord)
#define rt_event_wait    RT(EventSynchronize)
#define rt_event_between RT(EventElapsedTime)
#define rt_event_end     RT(EventDestroy)

#define rt_device_count  RT(GetDeviceCount)
#define rt_device_get    RT(GetDevice)
#define rt_device_set    RT(SetDevice)
#define rt_device_ask    RT(DeviceGetAttribute)
#define rt_device_wait   RT(DeviceSynchronize)
/* clang-format on */

#endif

#endif
