/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/choose.h"

#include "gpu/api/constraint.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* --- a device and a kernel as the models see them --------------------------------- */

/* Number for an SM since compute capability 7.0 and for a CU since CDNA. */
enum { MATRIX_CORES = 4 };

/* Limits that apply only to tiles that are not kernels are omitted. */
static struct tile_gpu gpu_of(const struct gpu_device *d)
{
    return (struct tile_gpu){ .units = d->units,
                              .registers = d->unit_registers,
                              .shared = d->unit_shared,
                              .shared_reserved = d->block_shared,
                              .matrix_cores = MATRIX_CORES,
                              .wave = d->wave,
                              .waves = d->wave ? d->unit_threads / d->wave : 0,
                              .groups = d->unit_blocks,
                              .products = d->products,
                              .shared_rate = d->shared_rate,
                              .cache_rate = d->cache_rate };
}

static struct tile tile_of(const struct gpu_kernel *k, const struct gpu_device *d)
{
    return (struct tile){ k->tile_m, k->tile_n, k->tile_k,
                          (int)divide_up((size_t)k->threads, (size_t)d->wave),
                          k->stages };
}

/* Whether clusters of the kernel add this number of slices. */
static bool adds_slices(const struct gpu_kernel *k, const struct bitcut_gemm *g,
                        int slices)
{
    return g->d.layout == BITCUT_ROW_MAJOR &&
           (!gemm_reads_c(g) || g->c.layout == BITCUT_ROW_MAJOR) &&
           gpu_adds_slices(k, g->m, g->n, slices);
}

static struct tile_costs costs_of(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    return (struct tile_costs){ .load = (uint64_t)k->load_bytes,
                                .read = (uint64_t)k->read_bytes,
                                .shared = (uint64_t)k->shared_bytes,
                                .registers = (uint64_t)k->registers,
                                .cluster_m = k->cluster_m,
                                .cluster_n = k->cluster_n,
                                .slices = adds_slices(k, g, g->order.slices)
                                              ? g->order.slices
                                              : 1 };
}

/* The number of terms, weighted by their time; a term of the parts' first format counts
   1.  The time of a product is proportional to the bytes of its parts. */
static int terms_of(const struct gpu_kernel *k)
{
    const int first = format_bytes(&formats[k->format]);
    const int other = k->low_format ? format_bytes(&formats[k->low_format]) : first;
    int bytes = 0;
    for (int i = 0; i < k->program.terms; i++)
        bytes += k->program.term[i].a ? other : first;
    return (int)divide_up((size_t)bytes, (size_t)first);
}

static struct tile_task task_of(const struct tile_model *model,
                                const struct gpu_device *device,
                                const struct gpu_kernel *like,
                                const struct bitcut_gemm *g)
{
    return (struct tile_task){
        .model = model,
        .gpu = gpu_of(device),
        .method = { .terms = terms_of(like),
                    .parts = like->program.parts,
                    .part_bytes = format_bytes(&formats[like->format]),
                    .accumulators = 1 },
        .problem = { g->m, g->n, g->k },
        .count = g->count,
        .slices = (uint64_t)g->order.slices,
    };
}

const struct tile_model *gpu_model(const struct gpu_device *device)
{
    const struct tile_gpu gpu = gpu_of(device);
    return tile_model_of(&gpu);
}

void gpu_kernel_judge(struct gpu_choice *choice, const struct gpu_kernel *k,
                      const struct gpu_device *device, const struct bitcut_gemm *g)
{
    const struct tile_task task = task_of(gpu_model(device), device, k, g);
    const struct tile tile = tile_of(k, device);
    const struct tile_costs costs = costs_of(k, g);
    choice->kernel = k;
    tile_judge(&choice->judged, &tile, &costs, &task);
}

/* --- ranking ---------------------------------------------------------------------- */

static bool same_program(const struct gpu_program *x, const struct gpu_program *y)
{
    if (x->parts != y->parts || x->terms != y->terms || x->promote != y->promote)
        return false;
    for (int i = 0; i < x->terms; i++)
        if (x->term[i].a != y->term[i].a || x->term[i].b != y->term[i].b ||
            x->term[i].accumulator != y->term[i].accumulator)
            return false;
    return true;
}

bool gpu_kernel_alike(const struct gpu_kernel *x, const struct gpu_kernel *y)
{
    return x->matrices == y->matrices && !x->side_most == !y->side_most &&
           !strcmp(x->recipe, y->recipe) && !strcmp(x->instruction, y->instruction) &&
           x->format == y->format && x->low_format == y->low_format &&
           same_program(&x->program, &y->program);
}

static bool takes(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    return gpu_kernel_takes_sizes(k, g->m, g->n, g->k) &&
           g->order.slices <= k->slices_most;
}

size_t gpu_kernel_rank_by(struct gpu_choice choices[GPU_CHOICES_MAX],
                          const struct tile_model *model, const struct gpu *g,
                          const struct gpu_device *device, const struct gpu_kernel *like,
                          const struct bitcut_gemm *gemm)
{
    const struct tile_task task = task_of(model, device, like, gemm);
    const struct gpu_kernel *k = NULL, *kernel[GPU_CHOICES_MAX];
    struct tile tiles[GPU_CHOICES_MAX];
    struct tile_costs costs[GPU_CHOICES_MAX];
    struct tile_choice ranked[GPU_CHOICES_MAX];
    size_t count = 0;
    while ((k = gpu_kernel_next(g, k)) && count < GPU_CHOICES_MAX) {
        if (!k->tile_m || !gpu_kernel_alike(k, like) || !gpu_kernel_fits(device, k) ||
            !takes(k, gemm))
            continue;
        kernel[count] = k;
        tiles[count] = tile_of(k, device);
        costs[count++] = costs_of(k, gemm);
    }
    tile_rank(ranked, tiles, costs, count, &task);
    for (size_t i = 0; i < count; i++)
        choices[i] = (struct gpu_choice){ kernel[ranked[i].at], ranked[i] };
    return count;
}

size_t gpu_kernel_rank(struct gpu_choice choices[GPU_CHOICES_MAX], const struct gpu *g,
                       const struct gpu_device *device, const struct gpu_kernel *like,
                       const struct bitcut_gemm *gemm)
{
    return gpu_kernel_rank_by(choices, gpu_model(device), g, device, like, gemm);
}

/* --- the kernel of a GEMM --------------------------------------------------------- */

/* Whether the promotion is acceptable: the requested one, or with any_promotion a
   promotion at every 4th interval or more often. */
static bool promotes_as(const struct gpu_kernel *k, const struct bitcut_gemm *g,
                        int promote)
{
    enum { SELDOM = 4 };
    const int p = k->program.promote;
    return p == promote || (g->any_promotion && promote && p > promote &&
                            (int64_t)p <= (int64_t)SELDOM * promote);
}

/* Whether the kernel is a candidate: the named kernel, or any kernel of the recipe for
   such matrices. */
static bool is_meant(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    if (g->kernel) return !strcmp(k->name, g->kernel);
    return !strcmp(k->recipe, g->recipe->name) &&
           &formats[k->matrices] == matrix_format(&g->d);
}

/* Make the work of the GEMM by the kernel, with the kernel's own promotion if it is
   acceptable. */
static enum bitcut_status try_kernel(struct gpu_work *to, const struct gpu_device *device,
                                     const struct bitcut_gemm *g, int promote,
                                     const struct gpu_kernel *k, struct fault *f)
{
    struct bitcut_gemm own = *g;
    if (!own.kernel) {
        own.promote = promotes_as(k, g, promote) ? k->program.promote : promote;
        if (own.dropped_term == BITCUT_UNSET)
            own.dropped_term = g->recipe->keeps_dropped_term;
    }
    return gpu_work_make(to, &own, k, device, f);
}

static enum bitcut_status no_kernel(const struct bitcut_gemm *g, struct fault *f)
{
    if (g->kernel)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown kernel \"%.*s\"",
                         text_fit(g->kernel, 100), g->kernel);
    if (matrix_format(&g->d) == &formats[FORMAT_F32])
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "no kernel implements recipe %s; see bitcut list kernels",
                         g->recipe->name);
    return fault_set(f, BITCUT_UNSUPPORTED,
                     "no kernel implements recipe %s for matrices in %s; use f32 (or f16 "
                     "for small matrices)",
                     g->recipe->name, matrix_format(&g->d)->name);
}

/* Report why no kernel computes the GEMM: no kernel is for the device; constraints that
   no kernel satisfies; or the fault *f of kernel `first`, the first kernel for the
   device.  A fault that does not name the kernel belongs to the GEMM, whatever the
   kernel. */
static enum bitcut_status no_choice(const struct gpu *gpu,
                                    const struct gpu_device *device,
                                    const struct bitcut_gemm *g, int promote,
                                    const struct gpu_kernel *first,
                                    enum bitcut_status status, struct fault *f)
{
    if (g->kernel || (g->unit && gpu_emulates(gpu))) return status;
    if (!first)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "no kernel for recipe %s runs on %.60s%s%.110s", g->recipe->name,
                         device->name, *device->lacks ? "; " : "", device->lacks);
    if (strncmp(f->text, first->name, strlen(first->name)) != 0) return status;
    const enum bitcut_status wish =
        gpu_constraint_fault(f, gpu, device, g, promote, try_kernel);
    return wish != BITCUT_OK ? wish : status;
}

/* Choose the requested kernel, or the first kernel that computes the GEMM.  A kernel with
   the promotion interval `promote` is preferred. */
static enum bitcut_status choose_bits(struct gpu_work *to, const struct gpu *gpu,
                                      const struct gpu_device *device,
                                      const struct bitcut_gemm *g, int promote,
                                      struct fault *f)
{
    const struct gpu_kernel *k = NULL, *first = NULL;
    struct gpu_work other;
    bool found = false, meant = false;
    enum bitcut_status status = no_kernel(g, f);
    while ((k = gpu_kernel_next(gpu, k))) {
        struct fault own;
        if (!is_meant(k, g)) continue;
        const enum bitcut_status tried = try_kernel(&other, device, g, promote, k, &own);
        meant = true;
        if (tried != BITCUT_OK && !found && !first) status = tried, *f = own;
        if (!first && gpu_kernel_fits(device, k)) first = k;
        if (tried != BITCUT_OK) continue;
        const bool exact = g->kernel || k->program.promote == promote;
        if (!found || exact) *to = other;
        found = true;
        if (exact) break;
    }
    if (found) return BITCUT_OK;
    return meant ? no_choice(gpu, device, g, promote, first, status, f) : status;
}

/* Whether the kernels differ only in their tile and their promotion; a kernel that splits
   in registers may also have another instruction with the same arithmetic. */
static bool are_alike(const struct gpu_kernel *x, const struct gpu_kernel *y,
                      const struct gpu_device *device)
{
    const struct bitcut_unit *const on_x = gpu_kernel_unit(x, device),
                                    *const on_y = gpu_kernel_unit(y, device);
    struct gpu_kernel same = *y;
    same.program.promote = x->program.promote;
    same.side_most = x->side_most;
    if (y->side_most && on_x && on_y && gpu_units_agree(on_x, on_y))
        same.instruction = x->instruction;
    return x->tile_m && y->tile_m && gpu_kernel_alike(x, &same);
}

/* Clocks of a launch beside that of the product: 4 us at 1.9 GHz. */
enum { LAUNCH = 7500 };

/* Clocks of all units for the sums of `slices` slices in the workspace: a launch in which
   a thread reads 16 slices of an output at a time (700 clocks). Sums are written and
   read, and D is written, at a quarter of the rate of the L2 cache. The numbers fit
   timings of an H200 (data/h200/slices.jsonl). */
static double sums_clocks(const struct gpu_kernel *k, const struct gpu_device *device,
                          const struct bitcut_gemm *g, int slices)
{
    enum { SOME = 16, READ = 700 };
    const double outputs = (double)g->count * (double)g->m * (double)g->n;
    const double bytes = sizeof(float) * outputs * (2 * slices + 1);
    if (slices < 2 || adds_slices(k, g, slices)) return 0;
    return LAUNCH + ceil(slices / (double)SOME) * READ +
           4 * bytes / ((double)device->units * device->cache_rate);
}

/* Bytes per clock from the memory of the device: half of the rate of the L2 cache. */
static double memory_rate(const struct gpu_device *device)
{
    return (double)device->units * device->cache_rate / 2;
}

/* Clocks of the split pass: it reads every value and writes its parts, which the product
   reads again. */
static double split_clocks(const struct gpu_kernel *k, const struct gpu_device *device,
                           const struct bitcut_gemm *g)
{
    const double values = (double)g->count * (double)(g->m + g->n) * (double)g->k;
    const int parts = k->program.parts * format_bytes(&formats[k->format]);
    return LAUNCH + values * ((int)sizeof(float) + 2 * parts) / memory_rate(device);
}

/* Clocks of a kernel that splits in registers, with this number of slices: its blocks
   load their lines of A and B, and the additions of a slice follow each other. */
static double narrow_clocks(const struct gpu_kernel *k, const struct gpu_device *device,
                            const struct bitcut_gemm *g, int slices)
{
    const size_t shorter = smaller(g->m, g->n), longer = g->m + g->n - shorter;
    const double tiles = (double)divide_up(shorter, (size_t)k->tile_m),
                 blocks = (double)divide_up(longer, (size_t)k->tile_n);
    const double values = ((double)longer * tiles + (double)shorter * blocks) *
                          (double)g->k * (double)g->count;
    const double chain =
        (double)k->chain_clocks * (double)g->k / k->tile_k / (slices > 1 ? slices : 1);
    return fmax(sizeof(float) * values / memory_rate(device), chain);
}

/* The share of the device's rate that a kernel reaches with this number of slices,
   including the split pass and the launch that adds them; infinity: no products. */
static double score_of(const struct gpu_kernel *k, const struct gpu_device *device,
                       const struct bitcut_gemm *g, int slices)
{
    struct gpu_choice c;
    struct bitcut_gemm as = *g;
    as.order.slices = slices;
    const struct tile_task task = task_of(gpu_model(device), device, k, &as);
    const double products = (double)g->count * (double)g->m * (double)g->n *
                            (double)g->k * task.method.terms * task.method.part_bytes / 2;
    const double share = products / ((double)device->units * device->products);
    gpu_kernel_judge(&c, k, device, &as);
    if (!gpu_model(device)->rates) return k->side_most ? INFINITY : c.judged.score;
    if (k->side_most)
        return share > 0 ? share / narrow_clocks(k, device, g, slices) : INFINITY;
    const double more = sums_clocks(k, device, g, slices) + split_clocks(k, device, g);
    return share > 0 ? 1 / (1 / c.judged.score + more / share) : c.judged.score;
}

/* The next number of slices to try: each up to 16, then only numbers whose tiles fill the
   units once or twice; 0: no more. */
static int next_slices(const struct gpu_kernel *k, const struct gpu_device *device,
                       const struct bitcut_gemm *g, int slices)
{
    enum { EACH = 16, ROUNDS = 2 };
    const size_t steps = divide_up(g->k, (size_t)k->tile_k);
    const size_t tiles = divide_up(g->m, (size_t)(k->tile_m * k->cluster_m)) *
                         divide_up(g->n, (size_t)(k->tile_n * k->cluster_n)) * g->count;
    const size_t most = smaller(smaller((size_t)k->slices_most, steps),
                                GPU_COUNT_MAX / (g->count ? g->count : 1));
    const size_t units = (size_t)(device->units / (k->cluster_m * k->cluster_n));
    size_t next = (size_t)slices + 1;
    for (size_t i = 1; next > EACH && i <= ROUNDS; i++)
        if (tiles && i * units / tiles >= next) {
            next = i * units / tiles;
            break;
        } else if (i == ROUNDS) {
            return 0;
        }
    return next <= most ? (int)next : 0;
}

/* Slices of a kernel that splits in registers: four in each block of a cluster, so that
   two warps take turns in each; or one for each chunk, if there are few.  More slices are
   not faster, because there are more totals to add. */
static int narrow_slices(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    enum { IN_BLOCK = 4 };
    const size_t shorter = smaller(g->m, g->n), longer = g->m + g->n - shorter;
    const size_t blocks = divide_up(shorter, (size_t)k->tile_m) *
                          divide_up(longer, (size_t)k->tile_n) * g->count;
    const size_t chunks = divide_up(g->k, (size_t)GPU_NARROW_K);
    const size_t slices = chunks <= GPU_NARROW_WARPS
                              ? chunks
                              : IN_BLOCK * (size_t)gpu_narrow_cluster(blocks, g->k);
    return (int)smaller(slices ? slices : 1, (size_t)k->slices_most);
}

/* The best slices of k for a kernel: the requested ones, or any with any_slices.  *score
   is their score. */
static int best_slices(const struct gpu_kernel *k, const struct gpu_device *device,
                       const struct bitcut_gemm *g, double *score)
{
    const bool any = g->any_slices && g->order.slices <= 1 && gpu_model(device)->rates;
    int best = any && k->side_most ? narrow_slices(k, g) : g->order.slices;
    *score = score_of(k, device, g, best);
    if (k->side_most) return best;
    for (int s = best; any && (s = next_slices(k, device, g, s));) {
        const double other = score_of(k, device, g, s);
        if (other > *score) *score = other, best = s;
    }
    return best;
}

/* Choose the best kernel among the kernels with these bits, or with other acceptable
   promotions and slices. */
static void choose_tile(struct gpu_work *to, const struct gpu *gpu,
                        const struct gpu_device *device, const struct bitcut_gemm *g,
                        int promote)
{
    const struct gpu_kernel *const first = to->kernel, *k = NULL;
    double best = -1;
    while ((k = gpu_kernel_next(gpu, k))) {
        struct bitcut_gemm own = *g;
        struct gpu_work other;
        double score;
        if (!are_alike(first, k, device) || !promotes_as(k, g, promote) ||
            try_kernel(&other, device, g, promote, k, NULL) != BITCUT_OK)
            continue;
        own.order.slices = best_slices(k, device, &other.gemm, &score);
        if (score <= best || try_kernel(&other, device, &own, promote, k, NULL)) continue;
        best = score;
        *to = other;
    }
}

enum bitcut_status gpu_work_choose(struct gpu_work *to, const struct gpu *gpu,
                                   const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f)
{
    struct bitcut_gemm g;
    enum bitcut_status status = gemm_take_plain(&g, gemm, "a device", f);
    if (status != BITCUT_OK) return status;
    if (!g.recipe && !g.kernel)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a recipe or a kernel is required");
    status = gpu_takes_rounding(&g, f);
    if (status != BITCUT_OK) return status;
    const int promote =
        g.promote != BITCUT_UNSET || g.kernel ? g.promote : g.recipe->promote;
    status = choose_bits(to, gpu, device, &g, promote, f);
    if (status == BITCUT_OK && !g.kernel) choose_tile(to, gpu, device, &g, promote);
    if (status != BITCUT_OK && g.unit && gpu_emulates(gpu))
        status = gpu_work_emulate(to, gpu, device, &g, f);
    return status;
}
