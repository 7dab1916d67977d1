#define _POSIX_C_SOURCE 200809L

#include "gpu/gpu.h"

#include "lib/table.h"
#include "lib/text.h"

#include <dlfcn.h>
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

static const char *modules_folder(const char *otherwise)
{
    const char *folder = getenv("BITCUT_MODULES");
    if (folder && *folder) return folder;
    return otherwise ? otherwise : PKGLIBDIR;
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

enum bitcut_status gpu_open(struct gpu *g, const char *otherwise, struct fault *f)
{
    char path[4096];
    const char *folder = modules_folder(otherwise);
    const int length = snprintf(path, sizeof path, "%s/%s", folder, module_file);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0)
        return fault_set(f, BITCUT_CANNOT,
                         "no GPU backend: %s is not in %.*s (built only where %s is "
                         "found; BITCUT_MODULES names another folder)",
                         module_file, text_fit(folder, 100), folder, module_compiler);
    struct stat about;
    if (stat(path, &about) || !S_ISREG(about.st_mode)) /* opening a pipe would wait */
        return fault_set(f, BITCUT_CANNOT, "%s is not a regular file", module_file);
    /* Kept once loaded: the CUDA runtime leaves work for the end of the process. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return fault_set(f, BITCUT_CANNOT, "no GPU backend: %s", dlerror());
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

static const struct gpu_architecture *architecture_of(const struct gpu_device *device)
{
    const struct gpu_architecture *row = NULL;
    while ((row = table_next(TABLE(gpu_architectures), row)))
        if (row->least <= device->capability && device->capability <= row->most) break;
    return row;
}

enum bitcut_status gpu_describe(struct gpu_device *device,
                                const struct gpu_architecture **architecture,
                                const struct gpu *g, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    struct gpu_device x;
    if (g->module->describe(&x, why) != 0)
        return fault_set(f, BITCUT_CANNOT, "no device: %s", why);
    const struct gpu_architecture *found = architecture_of(&x);
    if (!found)
        return fault_set(f, BITCUT_CANNOT,
                         "%.100s has compute capability %d.%d, of no architecture known",
                         x.name, x.capability / 10, x.capability % 10);
    *device = x;
    *architecture = found;
    return BITCUT_OK;
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

bool gpu_is_capable(const struct gpu_device *device, int least, int most)
{
    return least <= device->capability && (device->capability <= most || !most);
}

bool gpu_has(const struct gpu_device *device, const struct gpu_instruction *instruction)
{
    return gpu_is_capable(device, instruction->least, instruction->most);
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
    return gpu_is_capable(device, kernel->least, kernel->most) &&
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
                                bool equilibrate, struct fault *f)
{
    for (int i = 0; i < GPU_FORMATS; i++) {
        if (&formats[formats_of_words[i]] != split->format) continue;
        *to = (struct gpu_split){ .format = (enum gpu_format)i,
                                  .words = split->words,
                                  .scale = split->scale,
                                  .high = rounding_of(split->high),
                                  .low = rounding_of(split->low),
                                  .equilibrate = equilibrate };
        return BITCUT_OK;
    }
    return fault_set(f, BITCUT_BAD_ARGUMENT, "kernels have no words of %s",
                     split->format->name);
}

/* --- what a kernel takes ---------------------------------------------------------- */

static bool same_term(struct recipe_term x, struct gpu_term y)
{
    return x.a == y.a && x.b == y.b && x.accumulator == y.accumulator;
}

bool gpu_kernel_implements(const struct gpu_kernel *k, const struct bitcut_recipe *r)
{
    const struct gpu_recipe *p = &k->program;
    const int extra = p->terms - r->terms, words = r->split ? r->split->words : 1;
    if (r->tile_k || p->words != words || extra < 0 || extra > 1) return false;
    if (extra && !same_term(r->low_low, p->term[0])) return false;
    for (int i = 0; i < r->terms; i++)
        if (!same_term(r->term[i], p->term[i + extra])) return false;
    return true;
}

/* Bytes of `rows` rows of `cols` elements, from the first to the last. */
static bool matrix_bytes(size_t *bytes, size_t rows, size_t cols, size_t ld)
{
    size_t before;
    *bytes = 0;
    if (!rows || !cols) return true;
    return size_multiply(&before, rows - 1, ld) && before <= SIZE_MAX - cols &&
           size_multiply(bytes, before + cols, sizeof(uint32_t));
}

/* Bytes of an operand's words, for words of the widest format, and more than a run to
   spare for what follows them. */
static bool words_bytes(size_t *bytes, const struct gpu_split *s, size_t lines, size_t k)
{
    const size_t runs = k / GPU_WORDS_RUN + 2;
    return size_multiply(bytes, lines, runs) &&
           size_multiply(bytes, *bytes, (size_t)s->words * GPU_WORDS_RUN) &&
           size_multiply(bytes, *bytes, sizeof(uint32_t));
}

/* Whether the words of both operands and the slices have a size, all together. */
static bool workspace_fits(const struct gpu_gemm *g)
{
    enum { PARTS = 3 };
    const size_t most = SIZE_MAX / PARTS - GPU_ALIGNMENT;
    size_t a, b, slices;
    return words_bytes(&a, &g->split, g->m, g->k) && a <= most &&
           words_bytes(&b, &g->split, g->n, g->k) && b <= most &&
           matrix_bytes(&slices, g->m, g->n, g->n) &&
           size_multiply(&slices, slices, (size_t)g->slices) && slices <= most;
}

enum bitcut_status gpu_gemm_suits(const struct gpu_gemm *g, const struct gpu_kernel *k,
                                  struct fault *f)
{
    const size_t most = k->size_most ? k->size_most : SIZE_MAX;
    if (g->split.format != k->format || g->split.words != k->program.words)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes %d words of %s, not %d of %s",
                         k->name, k->program.words, gpu_format_name(k->format),
                         g->split.words, gpu_format_name(g->split.format));
    if (g->slices < 1 || g->slices > k->slices_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes 1 to %d slices of k", k->name,
                         k->slices_most);
    if (g->m > most || g->n > most || g->k > most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes m, n and k up to %zu", k->name,
                         most);
    if (!workspace_fits(g))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the workspace does not fit any memory");
    return BITCUT_OK;
}

static enum bitcut_status check_matrix(const char *name, const void *at, size_t rows,
                                       size_t cols, size_t ld, struct fault *f)
{
    size_t bytes;
    if (ld < cols)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: leading dimension %zu is below the row length, %zu", name,
                         ld, cols);
    if (!matrix_bytes(&bytes, rows, cols, ld))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not fit any memory", name);
    if (bytes && !at) return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is missing", name);
    if ((uintptr_t)at % sizeof(uint32_t))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is not aligned to 4 bytes", name);
    return BITCUT_OK;
}

enum bitcut_status gpu_operand_check(const char *name, const struct gpu_operand *x,
                                     size_t lines, size_t k, struct fault *f)
{
    if (x->words) return BITCUT_OK;
    return x->across ? check_matrix(name, x->at, k, lines, x->ld, f)
                     : check_matrix(name, x->at, lines, k, x->ld, f);
}

bool gpu_outputs_apart(size_t count, size_t stride, size_t m, size_t n, size_t ld)
{
    if (count < 2 || !m || !n) return true;
    return stride >= (m - 1) * ld + n || (stride >= n && (ld - n) / stride >= count - 1);
}

enum bitcut_status gpu_gemm_check(const struct gpu_gemm *g, const struct gpu_kernel *k,
                                  struct fault *f)
{
    const bool reads_c = (g->beta & 0x7fffffff) != 0;
    enum bitcut_status status = gpu_gemm_suits(g, k, f);
    if (status == BITCUT_OK) status = gpu_operand_check("A", &g->a, g->m, g->k, f);
    if (status == BITCUT_OK) status = gpu_operand_check("B", &g->b, g->n, g->k, f);
    if (status == BITCUT_OK && reads_c)
        status = check_matrix("C", g->c, g->m, g->n, g->ldc, f);
    if (status == BITCUT_OK) status = check_matrix("D", g->d, g->m, g->n, g->ldd, f);
    if (status == BITCUT_OK && reads_c && g->c && g->c == g->d && g->ldc != g->ldd)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "D is C with another leading dimension");
    return status;
}

/* --- running ---------------------------------------------------------------------- */

enum bitcut_status gpu_gemm_run(const struct gpu_gemm *gemm, const struct gpu *g,
                                const struct gpu_kernel *k, struct fault *f)
{
    char why[GPU_FAULT_MOST];
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
