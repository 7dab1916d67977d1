/* The GEMMs on a GPU that lib/bitcut.h declares. */
#include "gpu/gemm_cuda.h"

#include "gpu/choose.h"
#include "lib/size.h"
#include "lib/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof((struct fault *)0)->text == BITCUT_TEXT_MOST, "a fault's line");

enum bitcut_status cuda_told(char *why, enum bitcut_status status, const struct fault *f)
{
    if (status != BITCUT_OK && why) memcpy(why, f->text, sizeof f->text);
    return status;
}

enum bitcut_status cuda_place(bool there, struct fault *f)
{
    if (there) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "no place for what is asked for");
}

/* --- the device ------------------------------------------------------------------- */

static enum bitcut_status open_cuda(struct bitcut_cuda *x, struct fault *f)
{
    enum bitcut_status status = gpu_open(&x->gpu, NULL, f);
    if (status != BITCUT_OK) return status;
    status = gpu_describe(&x->device, &x->architecture, &x->gpu, f);
    if (status != BITCUT_OK) gpu_close(&x->gpu);
    return status;
}

enum bitcut_status bitcut_cuda_open(struct bitcut_cuda **cuda, char *why)
{
    struct fault f;
    struct bitcut_cuda *x = malloc(sizeof *x);
    enum bitcut_status status = cuda_place(cuda, &f);
    if (status == BITCUT_OK)
        status = x ? open_cuda(x, &f) : fault_set(&f, BITCUT_NO_MEMORY, "no memory");
    if (status == BITCUT_OK) *cuda = x;
    else free(x);
    return cuda_told(why, status, &f);
}

void bitcut_cuda_close(struct bitcut_cuda *x)
{
    if (x) gpu_close(&x->gpu);
    free(x);
}

const char *bitcut_cuda_device(const struct bitcut_cuda *x) { return x->device.name; }

/* --- what a GEMM is --------------------------------------------------------------- */

/* A GEMM with all that its caller left open decided. */
struct choice {
    const struct gpu_kernel *kernel;
    struct gpu_gemm gemm;
};

static struct gpu_operand operand_of(const struct bitcut_cuda_operand *x, bool across)
{
    return (struct gpu_operand){ x->at,    x->ld,     across,
                                 x->words, x->stride, x->words_stride };
}

/* A row of A, or column of B, is a line: so it is B that lies across, unless turned. */
static struct gpu_gemm gemm_of(const struct bitcut_cuda_gemm *g, size_t count)
{
    return (struct gpu_gemm){
        .count = count,
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .alpha = g->alpha,
        .beta = g->beta,
        .a = operand_of(&g->a, g->a.transposed),
        .b = operand_of(&g->b, !g->b.transposed),
        .c = g->beta & 0x7fffffff ? g->c : NULL,
        .ldc = g->ldc,
        .stride_c = g->stride_c,
        .d = g->d,
        .ldd = g->ldd,
        .stride_d = g->stride_d,
        .slices = g->slices ? g->slices : 1,
    };
}

/* Whether the kernel does what the recipe's row says, without variation. */
static bool is_plain(const struct gpu_kernel *k, const struct bitcut_recipe *r)
{
    return !strcmp(k->recipe, r->name) && k->program.promote == r->promote &&
           k->program.terms == r->terms + r->keeps_low_low && !r->tile_k;
}

static enum bitcut_status choose_split(struct gpu_split *to,
                                       const struct bitcut_cuda_gemm *g,
                                       const struct gpu_kernel *k,
                                       const struct bitcut_recipe *recipe,
                                       struct fault *f)
{
    const struct bitcut_format *words = bitcut_format_find(gpu_format_name(k->format));
    const struct bitcut_split one = split_plain(words);
    const struct bitcut_split *own = recipe->split ? recipe->split : &one;
    const struct bitcut_split *split = g->split ? g->split : own;
    const enum bitcut_status status =
        recipe_takes(recipe, split, split, k->program.terms > recipe->terms, f);
    return status == BITCUT_OK ? gpu_split_of(to, split, g->equilibrate, f) : status;
}

/* Whether the device can compute the GEMMs by the kernel. */
static enum bitcut_status choose_kernel(struct choice *to, const struct bitcut_cuda *x,
                                        const struct bitcut_cuda_gemm *g, size_t count,
                                        const struct gpu_kernel *k, struct fault *f)
{
    const struct bitcut_recipe *recipe = bitcut_recipe_find(k->recipe);
    struct choice choice = { k, gemm_of(g, count) };
    if (!gpu_kernel_fits(&x->device, k))
        return fault_set(f, BITCUT_CANNOT, "%.100s cannot run %s", x->device.name,
                         k->name);
    if (!recipe || !gpu_kernel_implements(k, recipe))
        return fault_set(f, BITCUT_CANNOT, "%s does not compute recipe %s", k->name,
                         k->recipe);
    if (g->recipe && g->recipe != recipe)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s computes recipe %s, not %s", k->name,
                         k->recipe, g->recipe->name);
    enum bitcut_status status = choose_split(&choice.gemm.split, g, k, recipe, f);
    if (status == BITCUT_OK) status = gpu_gemm_suits(&choice.gemm, k, f);
    if (status == BITCUT_OK) *to = choice;
    return status;
}

/* The kernel asked for, or the first that fits; the fault is that of the last tried. */
static enum bitcut_status choose_bits(struct choice *to, const struct bitcut_cuda *x,
                                      const struct bitcut_cuda_gemm *g, size_t count,
                                      struct fault *f)
{
    const struct gpu_kernel *k = NULL;
    if (!g->recipe && !g->kernel)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "neither recipe nor kernel");
    enum bitcut_status status =
        g->kernel ? fault_set(f, BITCUT_BAD_ARGUMENT, "there is no kernel %.*s",
                              text_fit(g->kernel, 100), g->kernel)
                  : fault_set(f, BITCUT_CANNOT, "there is no kernel for recipe %s",
                              g->recipe->name);
    while ((k = gpu_kernel_next(&x->gpu, k))) {
        if (g->kernel ? strcmp(k->name, g->kernel) != 0 : !is_plain(k, g->recipe))
            continue;
        status = choose_kernel(to, x, g, count, k, f);
        if (status == BITCUT_OK) break;
    }
    return status;
}

/* The kernel asked for, or the best of those with the bits of the first that fits. */
static enum bitcut_status choose(struct choice *to, const struct bitcut_cuda *x,
                                 const struct bitcut_cuda_gemm *g, size_t count,
                                 struct fault *f)
{
    struct gpu_choice ranked[GPU_CHOICES_MOST];
    if (!x || !g) return fault_set(f, BITCUT_BAD_ARGUMENT, "no device or GEMM");
    const enum bitcut_status status = choose_bits(to, x, g, count, f);
    if (status == BITCUT_OK && !g->kernel &&
        gpu_kernel_rank(ranked, &x->gpu, &x->device, to->kernel, &to->gemm))
        to->kernel = ranked[0].kernel;
    return status;
}

enum bitcut_status bitcut_gemm_cuda_kernel(char *name, char *unit,
                                           const struct bitcut_cuda *x,
                                           const struct bitcut_cuda_gemm *g, char *why)
{
    struct choice c;
    struct fault f;
    enum bitcut_status status = cuda_place(name && unit, &f);
    if (status == BITCUT_OK) status = choose(&c, x, g, 1, &f);
    if (status != BITCUT_OK) return cuda_told(why, status, &f);
    snprintf(name, BITCUT_TEXT_MOST, "%s", c.kernel->name);
    snprintf(unit, BITCUT_TEXT_MOST, "%s/%s", x->architecture->name,
             c.kernel->instruction);
    return BITCUT_OK;
}

/* What one GEMM needs. */
static size_t workspace_bytes(const struct bitcut_cuda *x, const struct choice *c)
{
    struct gpu_gemm one = c->gemm;
    one.count = 1;
    return x->gpu.module->workspace(&one, c->kernel);
}

enum bitcut_status bitcut_gemm_cuda_workspace(size_t *bytes, const struct bitcut_cuda *x,
                                              const struct bitcut_cuda_gemm *g, char *why)
{
    struct choice c;
    struct fault f;
    enum bitcut_status status = cuda_place(bytes, &f);
    if (status == BITCUT_OK) status = choose(&c, x, g, 1, &f);
    if (status == BITCUT_OK) *bytes = workspace_bytes(x, &c);
    return cuda_told(why, status, &f);
}

/* --- checks ----------------------------------------------------------------------- */

static enum bitcut_status check_aligned(const char *name, const void *at, size_t bytes,
                                        struct fault *f)
{
    if (bytes && !at) return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: missing", name);
    if ((uintptr_t)at % GPU_ALIGNMENT)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: not aligned to %d bytes", name,
                         GPU_ALIGNMENT);
    return BITCUT_OK;
}

/* Whether the last matrix of a batch ends where 64 bits can tell, each being `rows` rows
   from 0 to the end of the last. */
static bool batch_fits(size_t count, size_t stride, size_t rows, size_t cols, size_t ld)
{
    size_t before, bytes;
    const size_t end = rows && cols ? (rows - 1) * ld + cols : 0;
    return size_multiply(&before, count - 1, stride) && before <= SIZE_MAX - end &&
           size_multiply(&bytes, before + end, sizeof(uint32_t));
}

static enum bitcut_status check_operand(const char *name, const struct gpu_operand *o,
                                        size_t lines, size_t k, size_t count,
                                        struct fault *f)
{
    size_t bytes;
    if (!o->words)
        return batch_fits(count, o->stride, o->across ? k : lines, o->across ? lines : k,
                          o->ld)
                   ? BITCUT_OK
                   : fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not fit any memory",
                               name);
    if (o->words_stride % GPU_ALIGNMENT ||
        !size_multiply(&bytes, count - 1, o->words_stride))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: the stride of words is no multiple of %d below 2^64", name,
                         GPU_ALIGNMENT);
    return check_aligned(name, o->words, 1, f);
}

/* Strides of a batch that is good without them. */
static enum bitcut_status check_batch(const struct gpu_gemm *g, struct fault *f)
{
    if (!g->count) return BITCUT_OK;
    enum bitcut_status status = check_operand("A", &g->a, g->m, g->k, g->count, f);
    if (status == BITCUT_OK) status = check_operand("B", &g->b, g->n, g->k, g->count, f);
    if (status != BITCUT_OK) return status;
    if (g->c && !batch_fits(g->count, g->stride_c, g->m, g->n, g->ldc))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "C does not fit any memory");
    if (!batch_fits(g->count, g->stride_d, g->m, g->n, g->ldd))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "D does not fit any memory");
    if (!gpu_outputs_apart(g->count, g->stride_d, g->m, g->n, g->ldd))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the matrices of D overlap");
    if (g->c && g->c == g->d && g->count > 1 && g->stride_c != g->stride_d)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "D is C with another stride");
    return BITCUT_OK;
}

static enum bitcut_status check_workspace(const struct bitcut_cuda *x,
                                          const struct choice *c, const void *workspace,
                                          size_t bytes, struct fault *f)
{
    const size_t needed = workspace_bytes(x, c);
    if (bytes < needed)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a workspace of %zu bytes, not of %zu",
                         bytes, needed);
    return check_aligned("workspace", workspace, needed, f);
}

/* --- starting --------------------------------------------------------------------- */

static const void *behind(const void *at, size_t bytes)
{
    return at ? (const char *)at + bytes : NULL;
}

static void operand_advance(struct gpu_operand *x, size_t count)
{
    if (x->words) x->words = behind(x->words, count * x->words_stride);
    else x->at = behind(x->at, count * x->stride * sizeof *x->at);
}

/* What is left behind the first `count` GEMMs. */
static void gemm_advance(struct gpu_gemm *g, size_t count)
{
    operand_advance(&g->a, count);
    operand_advance(&g->b, count);
    g->c = behind(g->c, count * g->stride_c * sizeof *g->c);
    if (g->d) g->d += count * g->stride_d;
}

/* As many GEMMs at a time as the workspace has room for and a kernel takes. */
static size_t count_at_a_time(const struct bitcut_cuda *x, const struct choice *c,
                              size_t bytes)
{
    const size_t each = workspace_bytes(x, c), slices = (size_t)c->gemm.slices;
    const size_t most = GPU_COUNT_MOST / slices, room = each ? bytes / each : most;
    return room < most ? room : most;
}

static enum bitcut_status start(const struct bitcut_cuda *x, const struct choice *c,
                                void *workspace, size_t bytes, void *stream,
                                struct fault *f)
{
    char why[GPU_FAULT_MOST];
    const size_t most = count_at_a_time(x, c, bytes);
    struct gpu_gemm now = c->gemm;
    for (size_t left = c->gemm.count; left; left -= now.count) {
        now.count = left < most ? left : most;
        if (x->gpu.module->start(&now, c->kernel, workspace, stream, why) != 0)
            return fault_set(f, BITCUT_CANNOT, "%s: %s", c->kernel->name, why);
        gemm_advance(&now, now.count);
    }
    return BITCUT_OK;
}

enum bitcut_status bitcut_gemm_cuda_batch(const struct bitcut_cuda *x,
                                          const struct bitcut_cuda_gemm *g, size_t count,
                                          void *workspace, size_t bytes, void *stream,
                                          char *why)
{
    struct choice c;
    struct fault f;
    enum bitcut_status status = choose(&c, x, g, count, &f);
    if (status == BITCUT_OK) status = gpu_gemm_check(&c.gemm, c.kernel, &f);
    if (status == BITCUT_OK) status = check_batch(&c.gemm, &f);
    if (status == BITCUT_OK) status = check_workspace(x, &c, workspace, bytes, &f);
    if (status == BITCUT_OK) status = start(x, &c, workspace, bytes, stream, &f);
    return cuda_told(why, status, &f);
}

enum bitcut_status bitcut_gemm_cuda(const struct bitcut_cuda *x,
                                    const struct bitcut_cuda_gemm *g, void *workspace,
                                    size_t bytes, void *stream, char *why)
{
    return bitcut_gemm_cuda_batch(x, g, 1, workspace, bytes, stream, why);
}

/* --- words ------------------------------------------------------------------------ */

/* One operand of a GEMM: what its words are made of. */
struct source {
    const char *name;
    struct gpu_operand operand;
    struct gpu_split split;
    size_t lines, k;
};

static enum bitcut_status choose_source(struct source *to, const struct bitcut_cuda *x,
                                        const struct bitcut_cuda_gemm *g,
                                        enum bitcut_operand which, struct fault *f)
{
    struct choice c;
    const enum bitcut_status status = choose(&c, x, g, 1, f);
    if (status != BITCUT_OK) return status;
    *to = which == BITCUT_A ? (struct source){ "A", c.gemm.a, c.gemm.split, g->m, g->k }
                            : (struct source){ "B", c.gemm.b, c.gemm.split, g->n, g->k };
    to->operand.words = NULL;
    return BITCUT_OK;
}

static size_t words_bytes(const struct bitcut_cuda *x, const struct source *s)
{
    const size_t bytes = x->gpu.module->words(&s->split, s->lines, s->k);
    return divide_up(bytes, GPU_ALIGNMENT) * GPU_ALIGNMENT;
}

enum bitcut_status bitcut_gemm_cuda_words(size_t *bytes, const struct bitcut_cuda *x,
                                          const struct bitcut_cuda_gemm *g,
                                          enum bitcut_operand which, char *why)
{
    struct source s;
    struct fault f;
    enum bitcut_status status = cuda_place(bytes, &f);
    if (status == BITCUT_OK) status = choose_source(&s, x, g, which, &f);
    if (status == BITCUT_OK) *bytes = words_bytes(x, &s);
    return cuda_told(why, status, &f);
}

static enum bitcut_status prepare(void *words, const struct bitcut_cuda *x,
                                  const struct source *s, void *stream, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    enum bitcut_status status =
        gpu_operand_check(s->name, &s->operand, s->lines, s->k, f);
    if (status == BITCUT_OK) status = check_aligned("words", words, words_bytes(x, s), f);
    if (status != BITCUT_OK) return status;
    if (x->gpu.module->prepare(words, &s->split, &s->operand, s->lines, s->k, stream,
                               why))
        return fault_set(f, BITCUT_CANNOT, "%s", why);
    return BITCUT_OK;
}

enum bitcut_status bitcut_gemm_cuda_prepare(void *words, const struct bitcut_cuda *x,
                                            const struct bitcut_cuda_gemm *g,
                                            enum bitcut_operand which, void *stream,
                                            char *why)
{
    struct source s;
    struct fault f;
    enum bitcut_status status = choose_source(&s, x, g, which, &f);
    if (status == BITCUT_OK) status = prepare(words, x, &s, stream, &f);
    return cuda_told(why, status, &f);
}
