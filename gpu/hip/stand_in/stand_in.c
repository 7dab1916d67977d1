/* SPDX-License-Identifier: BSD-3-Clause */
/* A replacement for the HIP runtime: the calls of libamdhip64 that our programs make, on
   modelled devices.

   If it is linked or opened instead of the runtime, it runs HIP programs unchanged, each
   kernel in the executor (emu/gfx9/gfx9.h).  Device 0 is a gfx908, device 1 a gfx90a,
   device 2 a gfx942.  Calls return when their work is complete, so streams and events
   have nothing to order.

   Addresses of memory are device addresses, from GFX9_ADDRESS_FIRST on.  The host
   accesses this memory only by copies, and no address is used twice.  Memory is initially
   filled with ones, which are NaNs.

   The text of hipErrorLaunchFailure is the reason why the executor ended the last kernel
   of this thread.  gpu/hip/stand_in/stand_in_program.c handles kernels that are part of a
   program. */
#include "gpu/hip/stand_in/stand_in.h"

#include "emu/gfx9/gfx9.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The elements of hipModuleLaunchKernel's `extra`. */
#define LAUNCH_POINTER ((void *)(uintptr_t)1)
#define LAUNCH_SIZE    ((void *)(uintptr_t)2)
#define LAUNCH_END     ((void *)(uintptr_t)3)

enum { ALIGNMENT = 256, POINTER_DEVICE = 3, POINTER_ORDINAL = 9 };

/* --- state ------------------------------------------------------------------------ */

/* Device memory of all devices, guarded by a lock. */
struct buffers {
    struct gfx9_memory *at;
    int *device;
    size_t count, room;
    uint64_t next; /* next free address */
};

static struct buffers buffers = { .next = GFX9_ADDRESS_FIRST };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local int current;
static _Thread_local int latest;
static _Thread_local int explained; /* the status that `why` explains */
static _Thread_local char why[BITCUT_TEXT_MAX];

int stand_in_note(int status, const char *text)
{
    if (status != HIP_SUCCESS) latest = status;
    if (text) snprintf(why, sizeof why, "%s", text);
    if (text) explained = status;
    return status;
}

static int note(int status) { return stand_in_note(status, NULL); }

static int device_count(void)
{
    int count = 0;
    while (gfx9_targets[count].name) count++;
    return count;
}

/* --- devices ---------------------------------------------------------------------- */

int hipInit(unsigned flags) { return note(flags ? HIP_INVALID_VALUE : HIP_SUCCESS); }

int hipGetDeviceCount(int *count)
{
    *count = device_count();
    return HIP_SUCCESS;
}

int hipGetDevice(int *device)
{
    *device = current;
    return HIP_SUCCESS;
}

int hipSetDevice(int device)
{
    if (device < 0 || device >= device_count()) return note(HIP_INVALID_DEVICE);
    current = device;
    return HIP_SUCCESS;
}

int hipDeviceGetName(char *name, int size, int device)
{
    if (device < 0 || device >= device_count()) return note(HIP_INVALID_DEVICE);
    if (size > 0) snprintf(name, (size_t)size, "%s, executed", gfx9_targets[device].name);
    return HIP_SUCCESS;
}

int hipDriverGetVersion(int *version)
{
    *version = 0;
    return HIP_SUCCESS;
}

int hipRuntimeGetVersion(int *version)
{
    *version = 0;
    return HIP_SUCCESS;
}

int hipDeviceSynchronize(void) { return HIP_SUCCESS; }

/* --- errors ----------------------------------------------------------------------- */

const char *hipGetErrorString(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {
        { HIP_SUCCESS, "no error" },
        { HIP_INVALID_VALUE, "invalid argument" },
        { HIP_OUT_OF_MEMORY, "out of memory" },
        { HIP_INVALID_DEVICE_FUNCTION, "invalid device function" },
        { HIP_NO_DEVICE, "no ROCm-capable device is detected" },
        { HIP_INVALID_DEVICE, "invalid device ordinal" },
        { HIP_INVALID_IMAGE, "device kernel image is invalid" },
        { HIP_NO_BINARY, "no kernel image is available for execution on the device" },
        { HIP_INVALID_HANDLE, "invalid resource handle" },
        { HIP_NOT_FOUND, "named symbol not found" },
    };
    if (status && status == explained) return why;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].status == status) return texts[i].text;
    return "unknown error";
}

int hipGetLastError(void)
{
    const int status = latest;
    latest = HIP_SUCCESS;
    return status;
}

int hipPeekAtLastError(void) { return latest; }

/* --- memory ----------------------------------------------------------------------- */

/* Make room for one more. */
static bool grow(struct buffers *b)
{
    if (b->count < b->room) return true;
    const size_t room = b->room ? 2 * b->room : 64;
    struct gfx9_memory *at = realloc(b->at, room * sizeof *at);
    if (at) b->at = at;
    int *device = at ? realloc(b->device, room * sizeof *device) : NULL;
    if (device) b->device = device;
    if (device) b->room = room;
    return device != NULL;
}

int hipMalloc(void **at, size_t bytes)
{
    int status = HIP_OUT_OF_MEMORY;
    void *memory = NULL;
    *at = NULL;
    if (!bytes) return HIP_SUCCESS;
    if (bytes <= SIZE_MAX - ALIGNMENT)
        memory =
            aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    pthread_mutex_lock(&lock);
    if (memory && grow(&buffers)) {
        memset(memory, 0xff, bytes);
        buffers.device[buffers.count] = current;
        struct gfx9_memory *m = &buffers.at[buffers.count++];
        *m = (struct gfx9_memory){ .at = memory, .bytes = bytes };
        buffers.next = gfx9_address_set(m, buffers.next);
        *at = (void *)(uintptr_t)m->address;
        status = HIP_SUCCESS;
    } else free(memory);
    pthread_mutex_unlock(&lock);
    return note(status);
}

/* The number of the buffer that contains an address, or SIZE_MAX; call under the lock. */
static size_t buffer_of(const void *at)
{
    for (size_t i = 0; i < buffers.count; i++)
        if ((uintptr_t)at - buffers.at[i].address < buffers.at[i].bytes) return i;
    return SIZE_MAX;
}

int hipFree(void *at)
{
    if (!at) return HIP_SUCCESS;
    pthread_mutex_lock(&lock);
    const size_t i = buffer_of(at);
    const bool good = i != SIZE_MAX && buffers.at[i].address == (uintptr_t)at;
    if (good) {
        free(buffers.at[i].at);
        buffers.count--;
        buffers.at[i] = buffers.at[buffers.count];
        buffers.device[i] = buffers.device[buffers.count];
    }
    pthread_mutex_unlock(&lock);
    return note(good ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

/* The host address of some bytes: the address itself, or in the device's buffer that
   contains all of them; NULL: no buffer does.  Host addresses are far from the first
   buffer. */
static void *locate(const void *at, size_t bytes)
{
    void *there = NULL;
    if ((uintptr_t)at < GFX9_ADDRESS_FIRST / 2) return (void *)(uintptr_t)at;
    pthread_mutex_lock(&lock);
    const size_t i = buffer_of(at);
    if (i != SIZE_MAX) {
        const struct gfx9_memory *const m = &buffers.at[i];
        const uintptr_t from = (uintptr_t)at - m->address;
        if (bytes <= m->bytes - from) there = (char *)m->at + from;
    }
    pthread_mutex_unlock(&lock);
    return there;
}

void *hipStandInMemory(const void *at) { return locate(at, 1); }

int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    (void)kind;
    if (!bytes) return HIP_SUCCESS;
    void *const there = locate(to, bytes);
    const void *const here = locate(from, bytes);
    if (!there || !here) return note(HIP_INVALID_VALUE);
    memmove(there, here, bytes);
    return HIP_SUCCESS;
}

int hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                size_t bytes, size_t count, int kind)
{
    int status = HIP_SUCCESS;
    for (size_t i = 0; i < count && status == HIP_SUCCESS; i++)
        status = hipMemcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch,
                           bytes, kind);
    return status;
}

int hipMemset(void *at, int byte, size_t bytes)
{
    if (!bytes) return HIP_SUCCESS;
    void *const there = locate(at, bytes);
    if (!there) return note(HIP_INVALID_VALUE);
    memset(there, byte, bytes);
    return HIP_SUCCESS;
}

int hipPointerGetAttribute(void *to, int attribute, void *at)
{
    pthread_mutex_lock(&lock);
    const size_t i = buffer_of(at);
    const int device = i == SIZE_MAX ? 0 : buffers.device[i];
    pthread_mutex_unlock(&lock);
    if (i == SIZE_MAX) return note(HIP_INVALID_VALUE);
    if (attribute == POINTER_DEVICE) memcpy(to, &at, sizeof at);
    else if (attribute == POINTER_ORDINAL) memcpy(to, &device, sizeof device);
    else return note(HIP_INVALID_VALUE);
    return HIP_SUCCESS;
}

/* --- modules ---------------------------------------------------------------------- */

/* A function is a kernel and its module; each kernel has one. */
struct function {
    struct module *module;
    const struct gfx9_kernel *kernel;
};

struct module {
    struct gfx9_object *object;
    struct function *functions;
    size_t count;
};

/* The size of an ELF file, from its table of sections, which linkers write last. */
static size_t image_bytes(const void *image)
{
    uint64_t at;
    uint16_t each, count;
    memcpy(&at, (const char *)image + 40, sizeof at);
    memcpy(&each, (const char *)image + 58, sizeof each);
    memcpy(&count, (const char *)image + 60, sizeof count);
    return at + (uint64_t)each * count;
}

int hipModuleUnload(void *module)
{
    struct module *m = module;
    gfx9_unload(m->object);
    free(m->functions);
    free(m);
    return HIP_SUCCESS;
}

static bool list_functions(struct module *m)
{
    const struct gfx9_kernel *k = NULL;
    while ((k = gfx9_kernel_next(m->object, k))) m->count++;
    m->functions = memory_allocate(m->count, sizeof *m->functions);
    for (size_t i = 0; m->functions && i < m->count; i++) {
        k = gfx9_kernel_next(m->object, k);
        m->functions[i] = (struct function){ m, k };
    }
    return m->functions != NULL;
}

int hipModuleLoadData(void **module, const void *image)
{
    if (memcmp(image, "\177ELF", 4) != 0) return note(HIP_INVALID_IMAGE);
    const size_t bytes = image_bytes(image);
    struct fault f;
    if (gfx9_target_peek(image, bytes) != &gfx9_targets[current])
        return note(HIP_NO_BINARY);
    struct module *m = calloc(1, sizeof *m);
    if (!m) return note(HIP_OUT_OF_MEMORY);
    if (gfx9_load(&m->object, image, bytes, &f) != BITCUT_OK) {
        free(m);
        return note(HIP_INVALID_IMAGE);
    }
    if (!list_functions(m)) {
        hipModuleUnload(m);
        return note(HIP_OUT_OF_MEMORY);
    }
    *module = m;
    return HIP_SUCCESS;
}

int hipModuleGetFunction(void **function, void *module, const char *name)
{
    struct module *m = module;
    for (size_t i = 0; i < m->count; i++)
        if (!strcmp(m->functions[i].kernel->name, name)) {
            *function = &m->functions[i];
            return HIP_SUCCESS;
        }
    return note(HIP_NOT_FOUND);
}

/* --- launches --------------------------------------------------------------------- */

enum { SEGMENT_MAX = 4096 };

/* Fill the segment of arguments from pointers to each argument, or from `extra`. */
static bool take_arguments(uint8_t segment[SEGMENT_MAX], size_t *bytes,
                           const struct gfx9_kernel *k, void **each, void **extra)
{
    const void *from = NULL;
    *bytes = 0;
    for (int i = 0; each && i < k->arguments; i++) {
        const struct gfx9_argument a = k->argument[i];
        if (a.offset > SEGMENT_MAX || a.bytes > SEGMENT_MAX - a.offset) return false;
        memcpy(segment + a.offset, each[i], a.bytes);
        if (a.offset + a.bytes > *bytes) *bytes = a.offset + a.bytes;
    }
    if (each || !extra) return each || !k->arguments;
    for (; *extra != LAUNCH_END; extra += 2)
        if (*extra == LAUNCH_POINTER) from = extra[1];
        else if (*extra == LAUNCH_SIZE) memcpy(bytes, extra[1], sizeof *bytes);
        else return false;
    if (!from || *bytes > SEGMENT_MAX) return false;
    memcpy(segment, from, *bytes);
    return true;
}

/* The buffers of the current device, for a launch; NULL: no memory. */
static struct gfx9_memory *own_buffers(size_t *count)
{
    pthread_mutex_lock(&lock);
    struct gfx9_memory *own = memory_allocate(buffers.count + 1, sizeof *own);
    *count = 0;
    for (size_t i = 0; own && i < buffers.count; i++)
        if (buffers.device[i] == current) own[(*count)++] = buffers.at[i];
    pthread_mutex_unlock(&lock);
    return own;
}

/* --- counts ----------------------------------------------------------------------- */

static struct gfx9_counts counted; /* guarded by `lock` */

static void count_launch(const struct gfx9_counts *done)
{
    pthread_mutex_lock(&lock);
    gfx9_counts_add(&counted, done);
    pthread_mutex_unlock(&lock);
}

int hipStandInCounts(const char **names, uint64_t *values, int most)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    for (const struct gfx9_counter *row = gfx9_counters; row->name && n < most; row++) {
        names[n] = row->name;
        values[n++] = gfx9_count(&counted, row);
    }
    counted = (struct gfx9_counts){ 0 };
    pthread_mutex_unlock(&lock);
    return n;
}

int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared_bytes, void *stream,
                          void **parameters, void **extra)
{
    const struct function *fn = function;
    uint8_t segment[SEGMENT_MAX] = { 0 };
    struct gfx9_launch launch = { .object = fn->module->object,
                                  .kernel = fn->kernel,
                                  .groups = { grid_x, grid_y, grid_z },
                                  .items = { block_x, block_y, block_z },
                                  .lds_bytes = shared_bytes,
                                  .arguments = segment };
    struct fault f;
    (void)stream;
    if (!take_arguments(segment, &launch.argument_bytes, fn->kernel, parameters, extra))
        return note(HIP_INVALID_VALUE);
    struct gfx9_memory *own = own_buffers(&launch.memories);
    if (!own) return note(HIP_OUT_OF_MEMORY);
    launch.memory = own;
    struct gfx9_counts done;
    const enum bitcut_status status = gfx9_run(&done, &launch, &f);
    free(own);
    if (status == BITCUT_OK) {
        count_launch(&done);
        return HIP_SUCCESS;
    }
    return stand_in_note(HIP_LAUNCH_FAILURE, f.text);
}
