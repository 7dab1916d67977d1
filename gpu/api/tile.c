/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/tile.h"

#include "lib/base/size.h"

const struct tile_limit_row tile_limits[] = {
    [TILE_FRAGMENT] = { "fragment", "%llu elements beyond whole fragments" },
    [TILE_WAVES] = { "waves", "%llu waves, but %llu fragments of C" },
    [TILE_PIPELINE] = { "pipeline", "%llu fragments of k required, the tile has %llu" },
    [TILE_THREADS] = { "threads", "%llu threads, a group can have %llu" },
    [TILE_SHARED] = { "shared", "%llu bytes in shared memory, a group can have %llu" },
    [TILE_REGISTERS] = { "registers",
                         "%llu registers a thread, including one for an address, "
                         "there are %llu" },
    [TILE_FITS] = { 0 },
};

static uint64_t some(uint64_t a) { return a ? a : 1; }

/* --- what a tile needs ------------------------------------------------------------ */

uint64_t tile_threads(const struct tile *t, const struct tile_gpu *gpu)
{
    return (uint64_t)t->waves * (uint64_t)gpu->wave;
}

uint64_t tile_outputs(const struct tile *t) { return (uint64_t)t->m * (uint64_t)t->n; }

uint64_t tile_elements(const struct tile *t)
{
    return (uint64_t)(t->m + t->n) * (uint64_t)t->k;
}

struct tile_costs tile_costs_of(const struct tile *t, const struct tile_gpu *gpu,
                                const struct tile_method *method)
{
    const uint64_t bytes = (uint64_t)(method->parts * method->part_bytes);
    const uint64_t load = (uint64_t)(t->m + t->n) * bytes;
    const uint64_t outputs = tile_outputs(t) * (uint64_t)method->accumulators;
    const uint64_t operands =
        method->operands_shared ? 0 : divide_up(tile_elements(t) * bytes, 4);
    return (struct tile_costs){
        .load = load,
        .shared = (uint64_t)t->stages * load * (uint64_t)t->k,
        .registers = divide_up(outputs + operands, tile_threads(t, gpu)),
        .cluster_m = 1,
        .cluster_n = 1,
        .slices = 1,
    };
}

/* --- what there is ---------------------------------------------------------------- */

static uint64_t group_threads(const struct tile_gpu *gpu)
{
    return smaller((uint64_t)gpu->group_threads,
                   (uint64_t)gpu->waves * (uint64_t)gpu->wave);
}

static uint64_t group_shared(const struct tile_gpu *gpu)
{
    return (uint64_t)(gpu->shared - gpu->shared_reserved);
}

static uint64_t thread_registers(const struct tile *t, const struct tile_gpu *gpu)
{
    return smaller((uint64_t)gpu->registers_thread,
                   (uint64_t)gpu->registers / tile_threads(t, gpu));
}

static void check_limits(struct tile_choice *c, const struct tile_gpu *gpu)
{
    const struct tile *t = &c->tile;
    const int m = gpu->fragment_m, n = gpu->fragment_n, k = gpu->fragment_k;
    const struct {
        uint64_t need, have;
    } limit[TILE_FITS] = {
        [TILE_FRAGMENT] = { (uint64_t)(t->m % m + t->n % n + t->k % k), 0 },
        [TILE_WAVES] = { (uint64_t)t->waves,
                         (uint64_t)(t->m / m) * (uint64_t)(t->n / n) },
        [TILE_PIPELINE] = { t->stages > 1 ? 2 : 1, (uint64_t)(t->k / k) },
        [TILE_THREADS] = { tile_threads(t, gpu), group_threads(gpu) },
        [TILE_SHARED] = { c->costs.shared, group_shared(gpu) },
        [TILE_REGISTERS] = { c->costs.registers + 1, thread_registers(t, gpu) },
    };
    c->limit = TILE_FRAGMENT;
    while (c->limit < TILE_FITS && limit[c->limit].need <= limit[c->limit].have)
        c->limit++;
    if (c->limit == TILE_FITS) return;
    c->need = limit[c->limit].need;
    c->have = limit[c->limit].have;
}

/* The number of groups that a unit holds at a time, at least one, because a group fits.
   A cost of 0 in a kernel's row is not limited. */
static uint64_t resident_groups(const struct tile_choice *c, const struct tile_gpu *gpu)
{
    const uint64_t threads = tile_threads(&c->tile, gpu);
    const uint64_t shared = c->costs.shared + (uint64_t)gpu->shared_reserved;
    uint64_t groups = (uint64_t)gpu->groups;
    groups = smaller(groups, (uint64_t)gpu->waves / some((uint64_t)c->tile.waves));
    groups = smaller(groups, (uint64_t)gpu->shared / some(shared));
    groups = smaller(groups, (uint64_t)gpu->registers / some(c->costs.registers * threads));
    return some(groups);
}

/* --- the score -------------------------------------------------------------------- */

/* The product, at most 2^62, so that later products fit 128 bits. */
static uint64_t product(uint64_t a, uint64_t b)
{
    const bitcut_uint128 most = (bitcut_uint128)1 << 62, all = (bitcut_uint128)a * b;
    return (uint64_t)(all < most ? all : most);
}

static void count_groups(struct tile_choice *c, const struct tile_task *x)
{
    const struct tile *t = &c->tile;
    const int cluster_m = x->model->clusters ? c->costs.cluster_m : 1;
    const int cluster_n = x->model->clusters ? c->costs.cluster_n : 1;
    const uint64_t all_steps = divide_up(some(x->problem.k), (uint64_t)t->k);
    const uint64_t slices = smaller(some(x->slices), all_steps);
    const uint64_t together = x->model->clusters ? (uint64_t)c->costs.slices : 1;
    const uint64_t cluster = (uint64_t)(cluster_m * cluster_n) * together;
    const uint64_t units = some((uint64_t)x->gpu.units / cluster);
    const uint64_t rows = divide_up(some(x->problem.m), (uint64_t)(cluster_m * t->m));
    const uint64_t columns = divide_up(some(x->problem.n), (uint64_t)(cluster_n * t->n));
    c->steps = divide_up(all_steps, slices);
    c->groups = product(product(rows, columns),
                        product(some(x->count), divide_up(slices, together)));
    c->busiest = divide_up(c->groups, units);
    c->factor[TILE_BUSY] = (double)c->groups / ((double)units * (double)c->busiest);
    const double computed = (double)c->groups * (double)cluster *
                            (double)tile_outputs(t) * (double)c->steps * (double)t->k;
    c->factor[TILE_USEFUL] = (double)some(x->count) * (double)some(x->problem.m) *
                             (double)some(x->problem.n) * (double)some(x->problem.k) /
                             computed;
}

static void count_work(struct tile_choice *c, const struct tile_task *x)
{
    const struct tile *t = &c->tile;
    const double threads = (double)tile_threads(t, &x->gpu);
    c->memory = c->costs.load * (uint64_t)t->k;
    c->flops = 2 * (uint64_t)x->method.terms * tile_outputs(t) * (uint64_t)t->k;
    c->work_dl = (double)(tile_outputs(t) + tile_elements(t)) / threads;
    c->work_cp = (double)tile_outputs(t) / threads;
    c->tlp = (double)c->groups * threads;
}

void tile_judge(struct tile_choice *choice, const struct tile *tile,
                const struct tile_costs *costs, const struct tile_task *x)
{
    struct tile_choice c = { .tile = *tile, .limit = TILE_FITS };
    c.costs = costs ? *costs : tile_costs_of(tile, &x->gpu, &x->method);
    if (!costs) check_limits(&c, &x->gpu);
    count_groups(&c, x);
    count_work(&c, x);
    if (c.limit == TILE_FITS) c.resident = resident_groups(&c, &x->gpu);
    else c.reason = TILE_BY_LIMIT;
    x->model->judge(&c, x);
    c.score = 1;
    for (int i = 0; i < TILE_FACTORS; i++) c.score *= c.factor[i];
    *choice = c;
}

/* --- ranking ---------------------------------------------------------------------- */

static int compare_scores(const struct tile_choice *a, const struct tile_choice *b,
                          const struct tile_task *x)
{
    if (x->model->compare_scores) return x->model->compare_scores(a, b, x);
    return (a->score > b->score) - (a->score < b->score);
}

static int compare_loads(const struct tile_choice *a, const struct tile_choice *b,
                         const struct tile_task *x)
{
    return x->model->compare_loads ? x->model->compare_loads(a, b) : 0;
}

/* Whether `a` ranks before `b`, an earlier candidate. */
static bool goes_before(const struct tile_choice *a, const struct tile_choice *b,
                        const struct tile_task *x)
{
    if (a->limit != TILE_FITS || b->limit != TILE_FITS)
        return a->limit == TILE_FITS && b->limit != TILE_FITS;
    const int scores = compare_scores(a, b, x);
    return scores ? scores > 0 : compare_loads(a, b, x) > 0;
}

static enum tile_factor worst_factor(const struct tile_choice *c,
                                     const struct tile_choice *best)
{
    int worst = 0;
    for (int i = 1; i < TILE_FACTORS; i++)
        if (c->factor[i] * best->factor[worst] < c->factor[worst] * best->factor[i])
            worst = i;
    return (enum tile_factor)worst;
}

static void give_reason(struct tile_choice *c, const struct tile_choice *best,
                        const struct tile_task *x)
{
    if (c->limit != TILE_FITS) return;
    if (compare_scores(c, best, x)) {
        c->reason = TILE_BY_FACTOR;
        c->by = worst_factor(c, best);
    } else {
        c->reason = compare_loads(c, best, x) ? TILE_BY_LOAD : TILE_BY_ORDER;
    }
}

void tile_rank(struct tile_choice *choices, const struct tile *tiles,
               const struct tile_costs *costs, size_t count, const struct tile_task *x)
{
    for (size_t i = 0; i < count; i++) {
        struct tile_choice c;
        size_t at = i;
        tile_judge(&c, &tiles[i], costs ? &costs[i] : NULL, x);
        c.at = i;
        for (; at && goes_before(&c, &choices[at - 1], x); at--)
            choices[at] = choices[at - 1];
        choices[at] = c;
    }
    for (size_t i = 1; i < count; i++) give_reason(&choices[i], choices, x);
}

/* --- candidates ------------------------------------------------------------------- */

int tile_waves(int m, int n, const struct tile_gpu *gpu, const struct tile_method *method)
{
    enum { WAVE_ACCUMULATORS = 64 * 64 };
    const int fragments = larger_int(m / gpu->fragment_m * (n / gpu->fragment_n), 1);
    const int waves = (int)divide_up(
        (uint64_t)m * (uint64_t)n * (uint64_t)method->accumulators, WAVE_ACCUMULATORS);
    const int most = fragments < TILE_COUNT_MAX ? fragments : TILE_COUNT_MAX;
    return (int)smaller((uint64_t)larger_int(waves, gpu->matrix_cores), (uint64_t)most);
}

void tile_grid(struct tile tiles[TILE_GRID], const struct tile_gpu *gpu,
               const struct tile_method *method, int stages)
{
    for (int i = 0; i < TILE_GRID; i++) {
        const int m = 32 << i / 12, n = 32 << i / 3 % 4, k = gpu->fragment_k << i % 3;
        tiles[i] = (struct tile){ m, n, k, tile_waves(m, n, gpu, method), stages };
    }
}
