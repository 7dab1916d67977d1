#include "gpu/choose.h"

#include <math.h>
#include <string.h>

const struct gpu_factor_row gpu_factors[] = {
    [GPU_BUSY] = { "busy", "the share of multiprocessors at work" },
    [GPU_USEFUL] = { "useful", "the share of work that is no padding" },
    [GPU_RATE] = { "rate", "the share of time that a busy multiprocessor multiplies" },
    [GPU_FACTORS] = { 0 },
};

/* --- one kernel ------------------------------------------------------------------- */

/* How many of `each` hold `count`. */
static double pieces(size_t count, int each)
{
    return count ? ceil((double)count / each) : 1;
}

static double outputs(const struct gpu_kernel *k)
{
    return (double)k->tile_m * k->tile_n;
}

/* Blocks that a unit holds at a time: one at least, as the kernel runs. */
static double resident(const struct gpu_kernel *k, const struct gpu_device *d)
{
    double blocks = d->unit_blocks;
    blocks = fmin(blocks, floor((double)d->unit_threads / k->threads));
    blocks = fmin(blocks,
                  floor((double)d->unit_registers / ((double)k->registers * k->threads)));
    blocks =
        fmin(blocks, floor((double)d->unit_shared / (k->shared_bytes + d->block_shared)));
    return fmax(blocks, 1);
}

/* Bytes of one k that come from the cache: a block of a cluster loads its part of B. */
static double cache_bytes(const struct gpu_kernel *k)
{
    const double own = k->tile_m + (double)k->tile_n / k->cluster;
    return k->load_bytes * own / (k->tile_m + k->tile_n);
}

static void count_clocks(struct gpu_choice *c, const struct gpu_device *d)
{
    const struct gpu_kernel *k = c->kernel;
    const double halves = k->format == FORMAT_TF32 ? 2 : 1;
    c->products = k->tile_k * k->program.terms * outputs(k) * halves / d->products;
    c->shared = k->tile_k * ((double)k->load_bytes + k->read_bytes) / d->shared_rate;
    c->cache = k->tile_k * cache_bytes(k) / d->cache_rate;
}

static double step_clocks(const struct gpu_choice *c)
{
    const double multiplying = c->products + c->shared;
    return c->kernel->stages > 1 ? fmax(multiplying, c->cache) : multiplying + c->cache;
}

static double end_clocks(const struct gpu_choice *c, const struct gpu_device *d)
{
    return sizeof(float) * outputs(c->kernel) / d->cache_rate;
}

void gpu_kernel_judge(struct gpu_choice *choice, const struct gpu_kernel *k,
                      const struct gpu_device *d, const struct bitcut_gemm *g)
{
    struct gpu_choice c = { .kernel = k };
    const double rows = pieces(g->m, k->cluster * k->tile_m);
    const double columns = pieces(g->n, k->tile_n), all_steps = pieces(g->k, k->tile_k);
    const double slices = fmin(fmax(g->order.slices, 1), all_steps);
    const double units = fmax(floor((double)d->units / k->cluster), 1);
    const double count = fmax((double)g->count, 1);
    c.steps = ceil(all_steps / slices);
    c.tiles = count * rows * columns * slices;
    c.busiest = ceil(c.tiles / units);
    c.resident = resident(k, d);
    count_clocks(&c, d);
    const double multiplying = c.busiest * c.steps * c.products;
    const double all = c.busiest * c.steps * step_clocks(&c) +
                       ceil(c.busiest / c.resident) * end_clocks(&c, d);
    const double computed = c.tiles * k->cluster * outputs(k) * c.steps * k->tile_k;
    c.factor[GPU_BUSY] = c.tiles / (units * c.busiest);
    c.factor[GPU_USEFUL] = count * fmax((double)g->m, 1) * fmax((double)g->n, 1) *
                           fmax((double)g->k, 1) / computed;
    c.factor[GPU_RATE] = multiplying / all;
    c.score = 1;
    for (int i = 0; i < GPU_FACTORS; i++) c.score *= c.factor[i];
    *choice = c;
}

/* --- ranking ---------------------------------------------------------------------- */

static bool same_program(const struct gpu_program *x, const struct gpu_program *y)
{
    if (x->words != y->words || x->terms != y->terms || x->promote != y->promote)
        return false;
    for (int i = 0; i < x->terms; i++)
        if (x->term[i].a != y->term[i].a || x->term[i].b != y->term[i].b ||
            x->term[i].accumulator != y->term[i].accumulator)
            return false;
    return true;
}

bool gpu_kernel_alike(const struct gpu_kernel *x, const struct gpu_kernel *y)
{
    return x->matrices == y->matrices && !strcmp(x->recipe, y->recipe) &&
           !strcmp(x->instruction, y->instruction) && x->format == y->format &&
           same_program(&x->program, &y->program);
}

static bool takes(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    const size_t most = k->size_most ? k->size_most : SIZE_MAX;
    return g->m <= most && g->n <= most && g->k <= most &&
           g->order.slices <= k->slices_most;
}

size_t gpu_kernel_rank(struct gpu_choice choices[GPU_CHOICES_MOST], const struct gpu *g,
                       const struct gpu_device *device, const struct gpu_kernel *like,
                       const struct bitcut_gemm *gemm)
{
    const struct gpu_kernel *k = NULL;
    size_t count = 0;
    while ((k = gpu_kernel_next(g, k)) && count < GPU_CHOICES_MOST) {
        struct gpu_choice c;
        size_t at = count;
        if (!k->tile_m || !gpu_kernel_alike(k, like) || !gpu_kernel_fits(device, k) ||
            !takes(k, gemm))
            continue;
        gpu_kernel_judge(&c, k, device, gemm);
        for (; at && c.score > choices[at - 1].score; at--) choices[at] = choices[at - 1];
        choices[at] = c;
        count++;
    }
    return count;
}

enum gpu_factor gpu_factor_worst(const struct gpu_choice *c,
                                 const struct gpu_choice *best)
{
    int worst = 0;
    for (int i = 1; i < GPU_FACTORS; i++)
        if (c->factor[i] * best->factor[worst] < c->factor[worst] * best->factor[i])
            worst = i;
    return (enum gpu_factor)worst;
}
