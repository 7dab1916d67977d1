/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr() */

#include "gpu/api/gpu.h"

#include "gpu/cpu/host_module.h"
#include "gpu/emulate/emulation.h"
#include "lib/base/table.h"
#include "lib/base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct gpu_variant_row gpu_variants[] = {
    /* clang-format off */
    [GPU_PLAIN]        = { "plain",        "operands as they are",                           false, false, false },
    [GPU_A_REGISTERS]  = { "a-registers",  "A in registers, not in shared memory",           false, false, false },
    [GPU_A_TRANSPOSED] = { "a-transposed", "A column by column in shared memory",            false, false, false },
    [GPU_B_TRANSPOSED] = { "b-transposed", "B row by row in shared memory",                  false, false, false },
    [GPU_NEGATE_A]     = { "negate-a",     "A negated by the instruction: D = -A B + C",     true,  false, false },
    [GPU_NEGATE_B]     = { "negate-b",     "B negated by the instruction: D = A (-B) + C",   false, true,  false },
    [GPU_SCALE_D_0]    = { "scale-d-0",    "C not read by the instruction: D = A B",         false, false, true  },
    [GPU_VARIANTS]     = { 0 }
    /* clang-format on */
};

const struct gpu_backend gpu_backends[] = {
    /* clang-format off */
    { "cuda",     "NVIDIA GPUs, by the module bitcut-cuda.so",          "bitcut-cuda.so",     "nvcc",         NULL,  false, NULL,         NULL   },
    { "hip",      "AMD GPUs, by the module bitcut-hip.so",              "bitcut-hip.so",      "an AMD clang", NULL,  false, NULL,         NULL   },
    { "cpu",      "the matrix units of this machine's processor",       NULL,                 NULL,           NULL,  false, &host_module, "host" },
    { "executor", "AMD GPUs' own code, executed by a model of the GPU", "bitcut-executor.so", "an AMD clang", "hip", true,  NULL,         NULL   },
    { 0 }
    /* clang-format on */
};

/* --- opening ---------------------------------------------------------------------- */

enum { PATH_LENGTH_MAX = 4096 };

/* Whether `file` is in the folder of the library or program with this code; *folder is
   this folder. */
static bool is_beside(char folder[PATH_LENGTH_MAX], const char *file)
{
    char path[PATH_LENGTH_MAX];
    Dl_info about;
    if (!dladdr(gpu_backends, &about) || !about.dli_fname) return false;
    const char *slash = strrchr(about.dli_fname, '/');
    const int length = slash ? (int)(slash - about.dli_fname) : 0;
    if (length == 0 || length >= PATH_LENGTH_MAX) return false;
    snprintf(folder, PATH_LENGTH_MAX, "%.*s", length, about.dli_fname);
    return (size_t)snprintf(path, sizeof path, "%s/%s", folder, file) < sizeof path &&
           access(path, F_OK) == 0;
}

static const char *modules_folder(char own[PATH_LENGTH_MAX], const char *folder,
                                  const char *file)
{
    if (folder && *folder) return folder;
    return is_beside(own, file) ? own : PKGLIBDIR;
}

static enum bitcut_status take_module(struct gpu *g, void *handle, const char *file,
                                      struct fault *f)
{
    const struct gpu_module *module = dlsym(handle, GPU_MODULE_SYMBOL);
    if (!module)
        return fault_set(f, BITCUT_UNSUPPORTED, "%s is not a bitcut module", file);
    if (module->interface != GPU_INTERFACE)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "%s has interface version %d, but this bitcut requires %d; "
                         "build both from the same source",
                         file, module->interface, GPU_INTERFACE);
    *g = (struct gpu){ module, handle };
    return BITCUT_OK;
}

/* Whether the file is in the folder, or may be, if this is unknown; *path is its path. */
static bool find_file(char path[PATH_LENGTH_MAX], const char *folder, const char *file)
{
    const int length = snprintf(path, PATH_LENGTH_MAX, "%s/%s", folder, file);
    return length >= 0 && length < PATH_LENGTH_MAX &&
           (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

/* The message of the loader begins with the name of what it cannot load: the module's
   path, or a library that the module needs, such as the CUDA runtime. */
static enum bitcut_status load_fault(const char *path, const char *file, const char *why,
                                     struct fault *f)
{
    if (!strncmp(why, path, strlen(path)))
        return fault_set(f, BITCUT_UNSUPPORTED, "no GPU backend: %s", why);
    return fault_set(
        f, BITCUT_UNSUPPORTED,
        "no GPU backend: %s (required by %s; set LD_LIBRARY_PATH to its folder)", why,
        file);
}

bool gpu_is_built(const struct gpu_backend *backend, const char *folder)
{
    char path[PATH_LENGTH_MAX], own[PATH_LENGTH_MAX];
    return backend->own ||
           find_file(path, modules_folder(own, folder, backend->module),
                     backend->module);
}

enum bitcut_status gpu_open(struct gpu *g, const struct gpu_backend *backend,
                            const char *folder, struct fault *f)
{
    char path[PATH_LENGTH_MAX], own[PATH_LENGTH_MAX];
    const char *file = backend->module;
    if (backend->own) {
        *g = (struct gpu){ backend->own, NULL };
        return BITCUT_OK;
    }
    folder = modules_folder(own, folder, file);
    if (!find_file(path, folder, file))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "no GPU backend: %s not found in %.*s (built only with %s; "
                         "BITCUT_MODULES sets another folder)",
                         file, text_fit(folder, 100), folder, backend->compiler);
    struct stat about;
    if (stat(path, &about))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s: %s", file, strerror(errno));
    if (!S_ISREG(about.st_mode)) /* opening a pipe would wait */
        return fault_set(f, BITCUT_UNSUPPORTED, "%s is not a regular file", file);
    /* The module stays loaded, because the CUDA runtime does work at the end of the
       process. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return load_fault(path, file, dlerror(), f);
    const enum bitcut_status status = take_module(g, handle, file, f);
    if (status != BITCUT_OK) dlclose(handle);
    return status;
}

void gpu_close(struct gpu *g)
{
    if (g->handle) dlclose(g->handle);
    *g = (struct gpu){ 0 };
}

/* --- what there is ---------------------------------------------------------------- */

/* The number in a text of digits, 0 to 9999; -1: not such a number. */
static int number_of(const char *text)
{
    const size_t length = strspn(text, "0123456789");
    return length < 1 || length > 4 || text[length] ? -1 : atoi(text);
}

static enum bitcut_status no_such_name(const char *name, struct fault *f)
{
    return fault_set(
        f, BITCUT_BAD_ARGUMENT,
        "unknown device \"%.*s\"; use cpu, cuda, cuda:1, ... (see bitcut list devices)",
        text_fit(name, 100), name);
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return name && strlen(name) == length && !strncmp(name, text, length);
}

bool gpu_backend_is(const struct gpu_backend *b, const char *text, size_t length)
{
    return is_name(b->name, text, length) || is_name(b->was, text, length);
}

const struct gpu_backend *gpu_backend_renamed(const char *device)
{
    const struct gpu_backend *row = NULL;
    while ((row = table_next(TABLE(gpu_backends), row)))
        if (is_name(row->was, device, strcspn(device, ":/"))) break;
    return row;
}

/* Find the backend of a device's name, and the text after its ':', or NULL. */
static enum bitcut_status parse(const struct gpu_backend **backend, const char **which,
                                const char *name, struct fault *f)
{
    const size_t length = strcspn(name, ":");
    const struct gpu_backend *row = NULL;
    while ((row = table_next(TABLE(gpu_backends), row)))
        if (gpu_backend_is(row, name, length)) break;
    if (!row) return no_such_name(name, f);
    *backend = row;
    *which = name[length] ? name + length + 1 : NULL;
    return BITCUT_OK;
}

enum bitcut_status gpu_describe(struct gpu_device *device, const struct gpu *g,
                                int number, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    struct gpu_device x;
    if (g->module->describe(&x, number, why) != 0)
        return fault_set(f, BITCUT_UNSUPPORTED, "no device: %s", why);
    *device = x;
    return BITCUT_OK;
}

static const struct gpu_architecture *find_architecture(const struct gpu *g,
                                                        const char *name)
{
    const struct gpu_architecture *a = NULL;
    while ((a = gpu_architecture_next(g, a)))
        if (!strcmp(a->name, name)) break;
    return a;
}

enum { DEVICES_MAX = 64 }; /* upper limit of the devices of a machine */

enum bitcut_status gpu_describe_next(struct gpu_device *device, const struct gpu *g,
                                     int *number, struct fault *f)
{
    enum bitcut_status status = gpu_describe(device, g, *number, f);
    while (status != BITCUT_OK && ++*number < DEVICES_MAX)
        status = gpu_describe(device, g, *number, NULL);
    ++*number;
    return status;
}

/* Describe the first device, or if `a` is not NULL the first device of this
   architecture. */
static enum bitcut_status describe_first(struct gpu_device *device, const struct gpu *g,
                                         const struct gpu_architecture *a,
                                         struct fault *f)
{
    struct gpu_device x;
    int number = 0;
    enum bitcut_status status = gpu_describe_next(&x, g, &number, f);
    const bool some = status == BITCUT_OK;
    while (status == BITCUT_OK && a && x.architecture != a)
        status = gpu_describe_next(&x, g, &number, NULL);
    if (status == BITCUT_OK) *device = x;
    return status == BITCUT_OK || !some
               ? status
               : fault_set(f, BITCUT_UNSUPPORTED, "no device has architecture %s",
                           a->name);
}

/* Describe the device that `which` names; NULL: the first. */
static enum bitcut_status describe_named(struct gpu_device *device, const struct gpu *g,
                                         const char *which, const char *name,
                                         struct fault *f)
{
    const int number = which ? number_of(which) : -1;
    const struct gpu_architecture *a =
        number < 0 && which ? find_architecture(g, which) : NULL;
    if (number >= 0) return gpu_describe(device, g, number, f);
    return a || !which ? describe_first(device, g, a, f) : no_such_name(name, f);
}

enum bitcut_status gpu_open_device(struct gpu *g, struct gpu_device *device,
                                   const char *name, const char *folder,
                                   struct fault *f)
{
    struct gpu x;
    const struct gpu_backend *backend = NULL;
    const char *which = NULL;
    enum bitcut_status status = parse(&backend, &which, name, f);
    if (status == BITCUT_OK) status = gpu_open(&x, backend, folder, f);
    if (status != BITCUT_OK) return status;
    status = describe_named(device, &x, which, name, f);
    if (status == BITCUT_OK) *g = x;
    else gpu_close(&x);
    return status;
}

bool gpu_is_own(const char *name)
{
    const struct gpu_backend *backend;
    const char *which;
    return parse(&backend, &which, name, NULL) == BITCUT_OK && backend->own;
}

const struct gpu_architecture *gpu_architecture_next(const struct gpu *g,
                                                     const struct gpu_architecture *at)
{
    const struct gpu_architecture *next = at ? at + 1 : g->module->architectures;
    return next->name ? next : NULL;
}

const struct gpu_instruction *gpu_find(const struct gpu *g, const char *name)
{
    const struct gpu_instruction *at = NULL;
    while ((at = gpu_next(g, at)))
        if (!strcmp(at->name, name)) break;
    return at;
}

const struct gpu_instruction *gpu_next(const struct gpu *g,
                                       const struct gpu_instruction *at)
{
    bool passed = !at;
    for (const struct gpu_family *f = g->module->families; f->name; f++)
        for (const struct gpu_instruction *i = f->instructions; i && i->name; i++) {
            if (passed) return i;
            passed = i == at;
        }
    return NULL;
}

const struct gpu_architecture *gpu_architecture_for(const struct gpu_device *device,
                                                    unsigned set)
{
    const struct gpu_architecture *a = device->architecture;
    const unsigned both = device->architectures & set;
    while (both && !(a->bit & both)) a++;
    return both ? a : NULL;
}

bool gpu_has(const struct gpu_device *device, const struct gpu_instruction *instruction)
{
    return instruction->architectures & device->architectures;
}

/* The unit of the instruction with this name, on these architectures. */
static const struct bitcut_unit *unit_called(const char *instruction,
                                             unsigned architectures,
                                             const struct gpu_device *device)
{
    char name[GPU_TEXT_MAX];
    const struct gpu_architecture *a = gpu_architecture_for(device, architectures);
    if (!a) return NULL;
    snprintf(name, sizeof name, "%s/%s", a->units, instruction);
    return bitcut_unit_find(name, NULL);
}

const struct bitcut_unit *gpu_unit(const struct gpu_instruction *instruction,
                                   const struct gpu_device *device)
{
    return unit_called(instruction->name, instruction->architectures, device);
}

enum bitcut_status gpu_run(const struct gpu_batch *batch, const struct gpu *g,
                           const struct gpu_device *device,
                           const struct gpu_instruction *instruction,
                           enum gpu_variant variant, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (g->module->run(batch, instruction, variant, device->number, why) == 0)
        return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
}

/* --- whole GEMMs ------------------------------------------------------------------ */

const struct gpu_kernel *gpu_kernel_next(const struct gpu *g, const struct gpu_kernel *at)
{
    bool passed = !at;
    if (at && at[1].name) return at + 1;
    for (const struct gpu_family *f = g->module->families; f->name; f++)
        for (const struct gpu_kernel *k = f->kernels; k && k->name; k++) {
            if (passed) return k;
            passed = k == at;
        }
    return NULL;
}

bool gpu_kernel_fits(const struct gpu_device *device, const struct gpu_kernel *kernel)
{
    return (kernel->architectures & device->architectures) &&
           kernel->shared_bytes <= device->shared_bytes;
}

const struct bitcut_unit *gpu_kernel_unit(const struct gpu_kernel *kernel,
                                          const struct gpu_device *device)
{
    return kernel->instruction
               ? unit_called(kernel->instruction, kernel->architectures, device)
               : bitcut_unit_find("fma/f32", NULL);
}

bool gpu_units_agree(const struct bitcut_unit *x, const struct bitcut_unit *y)
{
    struct unit_rule x_rule, y_rule;
    int m, n, x_k, y_k;
    if (x == y) return true;
    bitcut_unit_shape(&m, &n, &x_k, x);
    bitcut_unit_shape(&m, &n, &y_k, y);
    return x_k == y_k && unit_rule_make(&x_rule, x) && unit_rule_make(&y_rule, y) &&
           unit_rule_same(&x_rule, &y_rule);
}

/* --- running ---------------------------------------------------------------------- */

enum bitcut_status gpu_work_run(const struct gpu_work *work,
                                const struct gpu_memory memory[4], const struct gpu *g,
                                const struct gpu_device *device, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (g->module->gemm(work, memory, device->number, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
}

enum bitcut_status gpu_split_run(void *parts, const struct gpu_work *work,
                                 enum bitcut_operand operand, const struct gpu *g,
                                 const struct gpu_device *device, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (!g->module->split)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "the module of this device has no kernels");
    if (g->module->split(parts, work, operand, device->number, why) == 0)
        return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
}
