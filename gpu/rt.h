/* One name for what the runtimes of CUDA and HIP have alike, for code of a module that
   knows no instruction: errors, memory, streams, events, the current device.  Each is the
   runtime's own, with its contract.  HIP has the same under its own prefix, but for the
   three that come first: here alone is said what a name means.  C++. */
#ifndef BITCUT_GPU_RT_H
#define BITCUT_GPU_RT_H

#include <cuda_runtime.h> /* HIP: <hip/hip_runtime.h> */

#define RT(name) cuda##name /* HIP: hip##name */

/* clang-format off */
using rt_pointer = cudaPointerAttributes;                     /* hipPointerAttribute_t  */
constexpr auto RT_NO_CODE = cudaErrorNoKernelImageForDevice;  /* hipErrorNoBinaryForGpu */
constexpr auto RT_PAGEABLE = cudaDevAttrPageableMemoryAccess; /* hipDeviceAttribute...  */

using rt_error = RT(Error_t);
using rt_stream = RT(Stream_t);
using rt_event = RT(Event_t);

constexpr auto RT_SUCCESS      = RT(Success);
constexpr auto RT_NO_FUNCTION  = RT(ErrorInvalidDeviceFunction);
constexpr auto RT_TO_DEVICE    = RT(MemcpyHostToDevice);
constexpr auto RT_TO_HOST      = RT(MemcpyDeviceToHost);
constexpr auto RT_ON_DEVICE    = RT(MemcpyDeviceToDevice);
constexpr auto RT_OF_DEVICE    = RT(MemoryTypeDevice);
constexpr auto RT_OF_NOBODY    = RT(MemoryTypeUnregistered);
constexpr auto RT_SHARED_BYTES = RT(FuncAttributeMaxDynamicSharedMemorySize);
constexpr auto RT_NON_BLOCKING = RT(StreamNonBlocking);

#define rt_error_text    RT(GetErrorString)
#define rt_last_error    RT(GetLastError)
#define rt_function_set  RT(FuncSetAttribute)

#define rt_malloc        RT(Malloc)
#define rt_free          RT(Free)
#define rt_copy          RT(Memcpy)
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
