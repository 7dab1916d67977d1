/* SPDX-License-Identifier: BSD-3-Clause */
/* Check that a kernel computes a GEMM, and decide everything that the GEMM leaves
   open. */
#include "gpu/api/gpu.h"

#include "emu/gemm.h"
#include "lib/gemm/plan.h"

/* --- what a kernel does ----------------------------------------------------------- */

static bool same_term(struct recipe_term x, struct recipe_term y)
{
    return x.a == y.a && x.b == y.b && x.accumulator == y.accumulator &&
           x.scaled == y.scaled;
}

/* Whether the kernel's terms are the terms of the recipe, with the product of low parts
   first or without it.  No kernel has tiles of k through which one term runs before the
   next. */
static bool implements(const struct gpu_kernel *k, const struct bitcut_recipe *r)
{
    const struct gpu_program *p = &k->program;
    const int extra = p->terms - r->terms, parts = r->split ? r->split->parts : 1;
    if (r->tile_k || p->parts != parts || extra < 0 || extra > 1) return false;
    if (extra && !same_term(r->dropped_term, p->term[0])) return false;
    for (int i = 0; i < r->terms; i++)
        if (!same_term(r->term[i], p->term[i + extra])) return false;
    return true;
}

/* Set the recipe and the unit of a GEMM from the kernel. */
static enum bitcut_status check_row(struct bitcut_gemm *g, const struct gpu_kernel *k,
                                    const struct gpu_device *device, struct fault *f)
{
    const struct bitcut_recipe *recipe = bitcut_recipe_find(k->recipe);
    const struct bitcut_unit *unit = gpu_kernel_unit(k, device);
    if (!gpu_kernel_fits(device, k))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s does not run on %.60s%s%.110s",
                         k->name, device->name, *device->lacks ? "; " : "",
                         device->lacks);
    if (!recipe || !unit)
        return fault_set(f, BITCUT_UNSUPPORTED, "%s refers to an unknown %s: %.100s",
                         k->name, unit ? "recipe" : "unit",
                         unit ? k->recipe : k->instruction);
    if (!implements(k, recipe))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s does not have the terms of recipe %s",
                         k->name, k->recipe);
    if (g->recipe && g->recipe != recipe)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s computes recipe %s, not %s", k->name,
                         k->recipe, g->recipe->name);
    if (g->unit && g->unit != unit && (k->low_format || !gpu_units_agree(g->unit, unit)))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s runs on %.70s, not %.70s", k->name,
                         bitcut_unit_name(unit), bitcut_unit_name(g->unit));
    g->recipe = recipe;
    g->unit = unit;
    return BITCUT_OK;
}

/* Whether the parts equal the parts of another split, except for the scale and the
   roundings.  All roundings after the first must be the same. */
static bool has_parts_of(const struct bitcut_split *s, const struct bitcut_split *other)
{
    if (s->parts != other->parts) return false;
    for (int i = 0; i < s->parts; i++)
        if (s->part[i].format != other->part[i].format ||
            s->part[i].level != other->part[i].level ||
            s->part[i].copy != other->part[i].copy ||
            (i && s->part[i].rounding != s->part[1].rounding))
            return false;
    return true;
}

/* Check a kernel with parts in two formats. */
static enum bitcut_status check_mixed(const struct gpu_kernel *k,
                                      const struct bitcut_split *s, struct fault *f)
{
    const struct bitcut_split *const own = bitcut_recipe_find(k->recipe)->split;
    for (int i = 0; i < (own ? own->parts : 1); i++)
        if (!own || own->part[i].format != &formats[i ? k->low_format : k->format])
            return fault_set(f, BITCUT_UNSUPPORTED,
                             "%s does not have the parts of recipe %s", k->name,
                             k->recipe);
    if (has_parts_of(s, own)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s requires the parts of split %s, not %s",
                     k->name, own->name, s->name);
}

/* Whether both splits make the same parts, except for the scale. */
static bool rounds_alike(const struct bitcut_split *x, const struct bitcut_split *y)
{
    bool alike = has_parts_of(x, y);
    for (int i = 0; i < x->parts && alike; i++)
        alike = x->part[i].rounding == y->part[i].rounding;
    return alike;
}

static enum bitcut_status check_split(const struct gpu_kernel *k,
                                      const struct bitcut_split *s, struct fault *f)
{
    const struct bitcut_format *parts = &formats[k->format];
    const struct split_part *high = &s->part[0];
    if (k->low_format) return check_mixed(k, s, f);
    if (!split_is_uniform(s))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s requires parts of one format, not %s and %s", k->name,
                         high->format->name, s->part[s->parts - 1].format->name);
    if (high->format != parts || s->parts != k->program.parts)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s requires %d parts in %s, not %d in %s", k->name,
                         k->program.parts, parts->name, s->parts, high->format->name);
    if (k->side_most) {
        const struct bitcut_split *const own = bitcut_recipe_find(k->recipe)->split;
        if (own && rounds_alike(s, own)) return BITCUT_OK;
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s requires the parts of recipe %s",
                         k->name, k->recipe);
    }
    if (!gpu_kernel_splits(k) &&
        (high->rounding->flush || high->rounding->overflow == OVERFLOW_SATURATE))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "%s reads values exactly; roundings that flush or saturate are not supported",
            k->name);
    return BITCUT_OK;
}

/* Whether tiles of this length are k-steps of the kernel.  Its k-steps are as long as the
   longest instruction of its terms. */
static bool is_k_step(int tile, const struct gpu_work *w)
{
    int m, n, k;
    struct gemm_plan plan;
    struct fault f;
    bitcut_unit_shape(&m, &n, &k, w->gemm.unit);
    if (tile <= k || !w->kernel->low_format) return tile <= k;
    return gemm_plan_on_unit(&plan, &w->gemm, &f) == BITCUT_OK && tile <= plan.k_step;
}

static bool is_plain_order(const struct bitcut_order *o, const struct gpu_work *w)
{
    return o->lanes == 1 && !o->partial_first && !o->cut && !o->balance_tail &&
           !o->partial_format &&
           (o->slices == 1 ||
            (o->reduction == BITCUT_ASCENDING && is_k_step(o->tile, w)));
}

static enum bitcut_status refuse_if(bool stochastic, struct fault *f)
{
    return !stochastic ? BITCUT_OK
                       : fault_set(f, BITCUT_UNSUPPORTED,
                                   "devices do not round by rule sr; use the emulator");
}

static enum bitcut_status refuse_sums(struct fault *f)
{
    return fault_set(f, BITCUT_UNSUPPORTED,
                     "devices round sums as the unit does (sum-rounding); use the "
                     "emulator");
}

enum bitcut_status gpu_plan_takes_rounding(const struct gemm_plan *p, struct fault *f)
{
    if (p->order.partial_store)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "devices do not round only the stored sums of slices "
                         "(partial-store); use the emulator");
    if (p->order.unroll)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "devices do not add remaining k to a sum of lanes (unroll); use "
                         "the emulator");
    if (p->sum_rounding) return refuse_sums(f);
    return refuse_if(split_is_stochastic(&p->split_a) || split_is_stochastic(&p->split_b),
                     f);
}

enum bitcut_status gpu_takes_rounding(const struct bitcut_gemm *g, struct fault *f)
{
    if (g->sum_rounding) return refuse_sums(f);
    return refuse_if((g->high && g->high->direction == STOCHASTIC) ||
                         (g->low && g->low->direction == STOCHASTIC),
                     f);
}

/* Check that the kernel computes by the plan. */
static enum bitcut_status check_plan(const struct gemm_plan *p, const struct gpu_work *w,
                                     struct fault *f)
{
    const struct gpu_kernel *k = w->kernel;
    enum bitcut_status status = gpu_plan_takes_rounding(p, f);
    if (status == BITCUT_OK) status = check_split(k, &p->split_a, f);
    if (status == BITCUT_OK) status = check_split(k, &p->split_b, f);
    if (status != BITCUT_OK) return status;
    if (p->terms != k->program.terms || p->tile_k)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s has %d terms and does not tile k",
                         k->name, k->program.terms);
    if (p->promote != k->program.promote)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s promotes every %d instructions (0: never), not every %d",
                         k->name, k->program.promote, p->promote);
    if (p->equilibrate && !gpu_kernel_splits(k))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not support equilibration",
                         k->name);
    if (!is_plain_order(&p->order, w))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "%s sums k in ascending order, in slices of whole k-steps",
                         k->name);
    if (p->order.slices > k->slices_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s supports 1 to %d slices of k",
                         k->name, k->slices_most);
    return BITCUT_OK;
}

/* --- what a kernel takes ---------------------------------------------------------- */

/* Bytes of an operand's parts, counted with the widest format, and with more than one run
   to spare for the data that follows them. */
static bool parts_bytes(size_t *bytes, const struct bitcut_split *s, size_t lines,
                        size_t k)
{
    const size_t runs = k / GPU_PARTS_RUN + 2;
    return size_multiply(bytes, lines, runs) &&
           size_multiply(bytes, *bytes, (size_t)s->parts * GPU_PARTS_RUN) &&
           size_multiply(bytes, *bytes, sizeof(uint32_t));
}

/* Whether the size of the parts of both operands and of the slices fits, all together. */
static bool workspace_fits(const struct gpu_work *w)
{
    enum { PARTS = 3 };
    const struct bitcut_gemm *g = &w->gemm;
    const size_t most = SIZE_MAX / PARTS - GPU_ALIGNMENT;
    size_t a, b, slices;
    return parts_bytes(&a, &w->plan.split_a, g->m, g->k) && a <= most &&
           parts_bytes(&b, &w->plan.split_b, g->n, g->k) && b <= most &&
           size_multiply(&slices, g->m, g->n) &&
           size_multiply(&slices, slices, sizeof(uint32_t)) &&
           size_multiply(&slices, slices, (size_t)w->plan.order.slices) && slices <= most;
}

static enum bitcut_status check_sizes(const struct gpu_work *w, struct fault *f)
{
    const struct gpu_kernel *k = w->kernel;
    const struct bitcut_gemm *g = &w->gemm;
    if (!gpu_kernel_takes_sizes(k, g->m, g->n, g->k))
        return k->side_most
                   ? fault_set(f, BITCUT_BAD_ARGUMENT, "%s supports m or n up to %zu",
                               k->name, k->side_most)
                   : fault_set(f, BITCUT_BAD_ARGUMENT, "%s supports m, n and k up to %zu",
                               k->name, k->size_most);
    if (gpu_kernel_splits(k) && !workspace_fits(w))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the workspace exceeds the address space");
    return BITCUT_OK;
}

/* Set the format and leading dimension of a matrix, if the kernel accepts it. */
static enum bitcut_status check_matrix(struct bitcut_matrix *x, const char *name,
                                       size_t rows, size_t cols,
                                       const struct gpu_kernel *k, struct fault *f)
{
    const struct bitcut_format *takes = &formats[k->matrices];
    if (x->prepared && gpu_kernel_splits(k)) return BITCUT_OK;
    if (matrix_format(x) != takes)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s requires A, B, C and D in %s, but %s is in %s", k->name,
                         takes->name, name, matrix_format(x)->name);
    if (x->prepared || (x->each && !gpu_kernel_takes_pointers(k)))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s accepts no %s", k->name,
                         x->prepared ? "prepared operands" : "pointers to matrices");
    x->format = takes;
    x->ld = matrix_ld(x, rows, cols);
    return BITCUT_OK;
}

static enum bitcut_status check_matrices(struct bitcut_gemm *g,
                                         const struct gpu_kernel *k, struct fault *f)
{
    const bool reads_c = gemm_reads_c(g);
    enum bitcut_status status = check_matrix(&g->a, "A", g->m, g->k, k, f);
    if (status == BITCUT_OK) status = check_matrix(&g->b, "B", g->k, g->n, k, f);
    if (status == BITCUT_OK) status = check_matrix(&g->d, "D", g->m, g->n, k, f);
    if (status == BITCUT_OK && reads_c)
        status = check_matrix(&g->c, "C", g->m, g->n, k, f);
    return status;
}

/* Decide everything that is left open. */
static enum bitcut_status make(struct gpu_work *w, struct fault *f)
{
    const struct gpu_kernel *k = w->kernel;
    struct bitcut_gemm *g = &w->gemm;
    if (g->promote == BITCUT_UNSET) g->promote = k->program.promote;
    if (g->dropped_term == BITCUT_UNSET)
        g->dropped_term = k->program.terms > g->recipe->terms;
    enum bitcut_status status =
        gemm_plan_make(&w->plan, g, &formats[k->format], &formats[k->format], f);
    if (status == BITCUT_OK) status = check_plan(&w->plan, w, f);
    if (status == BITCUT_OK) status = check_sizes(w, f);
    return status == BITCUT_OK ? check_matrices(g, k, f) : status;
}

enum bitcut_status gpu_work_make(struct gpu_work *to, const struct bitcut_gemm *gemm,
                                 const struct gpu_kernel *k,
                                 const struct gpu_device *device, struct fault *f)
{
    struct gpu_work w = { .kernel = k, .gemm = *gemm };
    enum bitcut_status status = check_row(&w.gemm, k, device, f);
    if (status == BITCUT_OK) status = make(&w, f);
    if (status == BITCUT_OK) *to = w;
    return status;
}

/* --- where it is ------------------------------------------------------------------ */

static enum bitcut_status check_parts(const char *name, const struct bitcut_matrix *x,
                                      size_t count, struct fault *f)
{
    size_t bytes;
    if (!x->prepared) return BITCUT_OK;
    if (count && (x->prepared_stride % GPU_ALIGNMENT ||
                  !size_multiply(&bytes, count - 1, x->prepared_stride)))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "%s: the stride of prepared operands must be a multiple of %d below 2^64",
            name, GPU_ALIGNMENT);
    if ((uintptr_t)x->prepared % GPU_ALIGNMENT)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is not aligned to %d bytes", name,
                         GPU_ALIGNMENT);
    return BITCUT_OK;
}

enum bitcut_status gpu_work_check(const struct gpu_work *w, struct fault *f)
{
    const struct bitcut_gemm *g = &w->gemm;
    enum bitcut_status status = gemm_check_matrices(g, false, f);
    if (status == BITCUT_OK) status = check_parts("A", &g->a, g->count, f);
    return status == BITCUT_OK ? check_parts("B", &g->b, g->count, f) : status;
}
