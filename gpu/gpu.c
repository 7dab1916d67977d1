#define _POSIX_C_SOURCE 200809L

#include "gpu/gpu.h"

#include "lib/table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

const struct gpu_architecture gpu_architectures[] = {
    { "volta", "NVIDIA Volta", 70, 72 },
    { "turing", "NVIDIA Turing", 75, 75 },
    { "ampere", "NVIDIA Ampere", 80, 87 },
    { "ada", "NVIDIA Ada", 89, 89 },
    { "hopper", "NVIDIA Hopper", 90, 90 },
    { "blackwell", "NVIDIA Blackwell for data centres", 100, 103 },
    { "rtx-blackwell", "NVIDIA Blackwell for workstations", 120, 121 },
    { 0 }
};

/* --- opening ---------------------------------------------------------------------- */

static const char module_file[] = "bitcut-cuda.so", module_compiler[] = "nvcc";

static const char *modules_folder(void)
{
    const char *folder = getenv("BITCUT_MODULES");
    return folder && *folder ? folder : PKGLIBDIR;
}

static enum bitcut_status take_module(struct gpu *g, void *handle, struct fault *f)
{
    const struct gpu_module *module = dlsym(handle, GPU_MODULE_SYMBOL);
    if (!module)
        return fault_set(f, BITCUT_CANNOT, "%s is no module of bitcut", module_file);
    if (module->interface != GPU_INTERFACE)
        return fault_set(f, BITCUT_CANNOT,
                         "%s has interface %d, and this bitcut needs %d: build both from "
                         "one source",
                         module_file, module->interface, GPU_INTERFACE);
    *g = (struct gpu){ module, handle };
    return BITCUT_OK;
}

enum bitcut_status gpu_open(struct gpu *g, struct fault *f)
{
    char path[4096];
    const char *folder = modules_folder();
    const int length = snprintf(path, sizeof path, "%s/%s", folder, module_file);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0)
        return fault_set(f, BITCUT_CANNOT,
                         "no GPU backend: %s is not in %.100s (built only where %s is "
                         "found)",
                         module_file, folder, module_compiler);
    /* Kept once loaded: the CUDA runtime leaves work for the end of the process. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return fault_set(f, BITCUT_CANNOT, "no GPU backend: %.200s", dlerror());
    const enum bitcut_status status = take_module(g, handle, f);
    if (status != BITCUT_OK) dlclose(handle);
    return status;
}

void gpu_close(struct gpu *g)
{
    if (g->handle) dlclose(g->handle);
    *g = (struct gpu){ 0 };
}

/* --- what there is ---------------------------------------------------------------- */

enum bitcut_status gpu_describe(struct gpu_device *device, const struct gpu *g,
                                struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (g->module->describe(device, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "no device: %s", why);
}

const struct gpu_architecture *gpu_architecture_of(const struct gpu_device *device)
{
    const struct gpu_architecture *row = NULL;
    while ((row = table_next(TABLE(gpu_architectures), row)))
        if (row->least <= device->capability && device->capability <= row->most) break;
    return row;
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

static bool has(const struct gpu_device *device, int least, int most)
{
    return least <= device->capability && (device->capability <= most || !most);
}

bool gpu_has(const struct gpu_device *device, const struct gpu_instruction *instruction)
{
    return has(device, instruction->least, instruction->most);
}

enum bitcut_status gpu_run(const struct gpu_batch *batch, const struct gpu *g,
                           const struct gpu_instruction *instruction,
                           enum gpu_variant variant, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (g->module->run(batch, instruction, variant, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "%s", why);
}

/* --- whole GEMMs ------------------------------------------------------------------ */

const struct gpu_kernel *gpu_kernel_next(const struct gpu *g, const struct gpu_kernel *at)
{
    bool passed = !at;
    for (const struct gpu_family *f = g->module->families; f->name; f++)
        for (const struct gpu_kernel *k = f->kernels; k && k->name; k++) {
            if (passed) return k;
            passed = k == at;
        }
    return NULL;
}

bool gpu_kernel_fits(const struct gpu_device *device, const struct gpu_kernel *kernel)
{
    return has(device, kernel->least, kernel->most) &&
           kernel->shared_bytes <= device->shared_bytes;
}

static const int formats_of_words[GPU_FORMATS] = {
    [GPU_F16] = FORMAT_F16,
    [GPU_BF16] = FORMAT_BF16,
    [GPU_TF32] = FORMAT_TF32,
};

const char *gpu_format_name(enum gpu_format format)
{
    return formats[formats_of_words[format]].name;
}

static struct gpu_rounding rounding_of(const struct bitcut_rounding *r)
{
    return (struct gpu_rounding){ (int)r->direction, r->bit, (int)r->overflow, r->flush };
}

enum bitcut_status gpu_split_of(struct gpu_split *to, const struct bitcut_split *split,
                                struct fault *f)
{
    for (int i = 0; i < GPU_FORMATS; i++) {
        if (&formats[formats_of_words[i]] != split->format) continue;
        *to = (struct gpu_split){ (enum gpu_format)i, split->words, split->scale,
                                  rounding_of(split->high), rounding_of(split->low) };
        return BITCUT_OK;
    }
    return fault_set(f, BITCUT_BAD_ARGUMENT, "kernels have no words of %s",
                     split->format->name);
}

enum bitcut_status gpu_gemm_run(const struct gpu_gemm *gemm, const struct gpu *g,
                                const struct gpu_kernel *k, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (gemm->split.format != k->format || gemm->split.words != k->program.words)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes %d words of %s, not %d of %s",
                         k->name, k->program.words, gpu_format_name(k->format),
                         gemm->split.words, gpu_format_name(gemm->split.format));
    if (gemm->slices < 1 || gemm->slices > k->slices_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes 1 to %d slices of k", k->name,
                         k->slices_most);
    if (g->module->gemm(gemm, k, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "%s", why);
}

enum bitcut_status gpu_split_run(void *words, const struct gpu *g,
                                 const struct gpu_split *split,
                                 const struct gpu_operand *operand, size_t lines,
                                 size_t k, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (g->module->split(words, split, operand, lines, k, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "%s", why);
}
