/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that contain their kernels: the functions that a HIP compiler adds to main().

   A program registers a bundle of code objects, one for each target, and the names of its
   kernels.  A launch uses the bundle's code object for the current device, which is
   loaded when it is first needed.  Bundles have the format of clang's documentation
   ("Clang Offload Bundler"); compressed bundles, which clang makes on request, are not
   supported. */
#include "gpu/hip/stand_in/stand_in.h"

#include "emu/gfx9/gfx9.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS_MAX = 8, WRAPPER_MAGIC = 0x48495046 };

static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";
static const char compressed_magic[] = "CCOB";

/* The data that a program registers: a variable made by the compiler. */
struct wrapper {
    uint32_t magic, version;
    const char *bundle;
    void *unused;
};

struct kernel {
    const void *handle;
    const char *name; /* owned by the program */
    struct kernel *next;
};

struct program {
    const char *bundle;
    struct kernel *kernels;
    void *module[TARGETS_MAX]; /* for each device; NULL: not loaded */
    struct program *next;
};

/* All programs and libraries of the process, guarded by a lock. */
static struct program *programs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- bundles ------------------------------------------------------------------------ */

static uint64_t number_at(const char *at)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--) x = x << 8 | (unsigned char)at[i];
    return x;
}

/* Whether the name of an entry, such as hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-,
   belongs to the target: the text between the last '-' before features and the
   features. */
static bool is_of(const char *entry, size_t length, const char *target)
{
    const char *features = memchr(entry, ':', length);
    const size_t end = features ? (size_t)(features - entry) : length;
    const size_t wanted = strlen(target);
    return end > wanted && !memcmp(entry, "hip", 3) && entry[end - wanted - 1] == '-' &&
           !memcmp(entry + end - wanted, target, wanted);
}

/* The code object for the target; NULL: the bundle has none. */
static const char *code_for(const char *bundle, const char *target)
{
    const char *at = bundle + sizeof bundle_magic - 1;
    uint64_t left = number_at(at);
    for (at += 8; left; left--) {
        const uint64_t offset = number_at(at), length = number_at(at + 16);
        if (is_of(at + 24, length, target)) return bundle + offset;
        at += 24 + length;
    }
    return NULL;
}

/* --- modules ------------------------------------------------------------------------ */

/* Load the program's code for the current device. */
static int load(struct program *p, int device)
{
    if (!memcmp(p->bundle, compressed_magic, sizeof compressed_magic - 1))
        return stand_in_note(HIP_INVALID_IMAGE,
                             "the program's code objects are compressed, which the "
                             "stand-in does not read (--no-offload-compress)");
    if (memcmp(p->bundle, bundle_magic, sizeof bundle_magic - 1) != 0)
        return stand_in_note(HIP_INVALID_IMAGE, NULL);
    const char *code = code_for(p->bundle, gfx9_targets[device].name);
    return code ? hipModuleLoadData(&p->module[device], code)
                : stand_in_note(HIP_NO_BINARY, NULL);
}

/* The kernel that a handle represents, and its program. */
static const struct kernel *find(struct program **of, const void *handle)
{
    for (struct program *p = programs; p; p = p->next)
        for (const struct kernel *k = p->kernels; k; k = k->next)
            if (k->handle == handle) {
                *of = p;
                return k;
            }
    return NULL;
}

static int function_of(void **function, const void *handle)
{
    struct program *p = NULL;
    int device, status = HIP_SUCCESS;
    hipGetDevice(&device);
    pthread_mutex_lock(&lock);
    const struct kernel *k = find(&p, handle);
    if (!k) status = stand_in_note(HIP_INVALID_DEVICE_FUNCTION, NULL);
    else if (!p->module[device]) status = load(p, device);
    if (status == HIP_SUCCESS)
        status = hipModuleGetFunction(function, p->module[device], k->name);
    pthread_mutex_unlock(&lock);
    return status;
}

/* --- registration ------------------------------------------------------------------- */

/* The result is not checked: a program that cannot be registered has no kernels. */
void **__hipRegisterFatBinary(const void *wrapper)
{
    const struct wrapper *w = wrapper;
    struct program *p = w->magic == WRAPPER_MAGIC ? calloc(1, sizeof *p) : NULL;
    if (!p) return NULL;
    p->bundle = w->bundle;
    pthread_mutex_lock(&lock);
    p->next = programs;
    programs = p;
    pthread_mutex_unlock(&lock);
    return (void **)p;
}

void __hipRegisterFunction(void **program, const void *handle, char *kernel,
                           const char *name, unsigned threads, void *thread, void *block,
                           void *items, void *groups, int *wave)
{
    struct program *p = (struct program *)program;
    struct kernel *k = p ? malloc(sizeof *k) : NULL;
    (void)kernel, (void)threads, (void)thread, (void)block;
    (void)items, (void)groups, (void)wave;
    if (!k) return;
    pthread_mutex_lock(&lock);
    *k = (struct kernel){ handle, name, p->kernels };
    p->kernels = k;
    pthread_mutex_unlock(&lock);
}

void __hipUnregisterFatBinary(void **program)
{
    struct program *p = (struct program *)program, **at = &programs;
    if (!p) return;
    pthread_mutex_lock(&lock);
    while (*at && *at != p) at = &(*at)->next;
    if (*at) *at = p->next;
    pthread_mutex_unlock(&lock);
    for (int device = 0; device < TARGETS_MAX; device++)
        if (p->module[device]) hipModuleUnload(p->module[device]);
    for (struct kernel *k = p->kernels, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    free(p);
}

/* --- launches ----------------------------------------------------------------------- */

/* The launch configuration of <<< >>>, from before the arguments are evaluated until
   after the call. */
enum { CALLS_MAX = 16 };

static _Thread_local struct call {
    struct dim3 groups, items;
    size_t shared_bytes;
    void *stream;
} calls[CALLS_MAX];
static _Thread_local int call_count;

int __hipPushCallConfiguration(struct dim3 groups, struct dim3 items, size_t shared_bytes,
                               void *stream)
{
    if (call_count == CALLS_MAX) return stand_in_note(HIP_OUT_OF_MEMORY, NULL);
    calls[call_count++] = (struct call){ groups, items, shared_bytes, stream };
    return HIP_SUCCESS;
}

int __hipPopCallConfiguration(struct dim3 *groups, struct dim3 *items,
                              size_t *shared_bytes, void **stream)
{
    if (!call_count) return stand_in_note(HIP_INVALID_VALUE, NULL);
    const struct call *c = &calls[--call_count];
    *groups = c->groups;
    *items = c->items;
    *shared_bytes = c->shared_bytes;
    *stream = c->stream;
    return HIP_SUCCESS;
}

int hipLaunchKernel(const void *handle, struct dim3 groups, struct dim3 items,
                    void **parameters, size_t shared_bytes, void *stream)
{
    void *function;
    const int status = function_of(&function, handle);
    if (status != HIP_SUCCESS) return status;
    if (shared_bytes > UINT32_MAX) return stand_in_note(HIP_INVALID_VALUE, NULL);
    return hipModuleLaunchKernel(function, groups.x, groups.y, groups.z, items.x, items.y,
                                 items.z, (unsigned)shared_bytes, stream, parameters,
                                 NULL);
}
