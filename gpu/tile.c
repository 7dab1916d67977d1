#include "gpu/tile.h"

#include "lib/wide.h"

const struct tile_method tile_legemm = { 3, 2, 2, 1, false };

const struct tile_limit_row tile_limits[] = {
    [TILE_FRAGMENT] = { "fragment", "%llu elements beyond whole fragments" },
    [TILE_WAVES] = { "waves", "%llu waves, but %llu fragments of C" },
    [TILE_PIPELINE] = { "pipeline", "needs %llu fragments of k, the tile has %llu" },
    [TILE_THREADS] = { "threads", "%llu threads, a group can have %llu" },
    [TILE_SHARED] = { "shared", "%llu bytes in shared memory, a group can have %llu" },
    [TILE_REGISTERS] = { "registers", "%llu registers a thread with one for an address, "
                                      "there are %llu" },
    [TILE_FITS] = { 0 },
};

const struct tile_factor_row tile_factors[] = {
    [TILE_BUSY] = { "busy", "the share of matrix cores at work (Eq. 12)" },
    [TILE_USEFUL] = { "useful", "the share of work that is no padding" },
    [TILE_RATIO] = { "ratio", "operations for a byte loaded (Eq. 15)" },
    [TILE_FACTORS] = { 0 },
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t ceiling(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* --- what a tile needs ------------------------------------------------------------ */

static uint64_t threads_of(const struct tile *t, const struct tile_gpu *gpu)
{
    return (uint64_t)t->waves * (uint64_t)gpu->wave;
}

static uint64_t outputs_of(const struct tile *t)
{
    return (uint64_t)t->m * (uint64_t)t->n;
}

/* Elements of A and of B that a step loads. */
static uint64_t operands_of(const struct tile *t)
{
    return (uint64_t)(t->m + t->n) * (uint64_t)t->k;
}

static uint64_t registers_of(const struct tile *t, const struct tile_gpu *gpu,
                             const struct tile_method *method)
{
    const uint64_t bytes = (uint64_t)(method->words * method->word_bytes);
    const uint64_t outputs = outputs_of(t) * (uint64_t)method->accumulators;
    const uint64_t operands =
        method->operands_shared ? 0 : ceiling(operands_of(t) * bytes, 4);
    return ceiling(outputs + operands, threads_of(t, gpu));
}

static void count_needs(struct tile_choice *c, const struct tile_gpu *gpu,
                        const struct tile_method *method)
{
    const struct tile *t = &c->tile;
    const double threads = (double)threads_of(t, gpu);
    c->memory = operands_of(t) * (uint64_t)(method->words * method->word_bytes);
    c->flops = 2 * (uint64_t)method->terms * outputs_of(t) * (uint64_t)t->k;
    c->work_dl = (double)(outputs_of(t) + operands_of(t)) / threads;
    c->work_cp = (double)outputs_of(t) / threads;
    c->shared = (uint64_t)t->stages * c->memory;
    c->registers = registers_of(t, gpu, method);
}

/* --- what there is ---------------------------------------------------------------- */

static uint64_t group_threads(const struct tile_gpu *gpu)
{
    return least((uint64_t)gpu->group_threads,
                 (uint64_t)gpu->waves * (uint64_t)gpu->wave);
}

static uint64_t group_shared(const struct tile_gpu *gpu)
{
    return (uint64_t)(gpu->shared - gpu->shared_reserved);
}

static uint64_t thread_registers(const struct tile *t, const struct tile_gpu *gpu)
{
    return least((uint64_t)gpu->registers_thread,
                 (uint64_t)gpu->registers / threads_of(t, gpu));
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
        [TILE_THREADS] = { threads_of(t, gpu), group_threads(gpu) },
        [TILE_SHARED] = { c->shared, group_shared(gpu) },
        [TILE_REGISTERS] = { c->registers + 1, thread_registers(t, gpu) },
    };
    c->limit = TILE_FRAGMENT;
    while (c->limit < TILE_FITS && limit[c->limit].need <= limit[c->limit].have)
        c->limit++;
    if (c->limit == TILE_FITS) return;
    c->need = limit[c->limit].need;
    c->have = limit[c->limit].have;
}

/* Groups that a unit holds at a time. */
static uint64_t resident_groups(const struct tile_choice *c, const struct tile_gpu *gpu)
{
    const uint64_t threads = threads_of(&c->tile, gpu);
    const uint64_t shared = c->shared + (uint64_t)gpu->shared_reserved;
    uint64_t groups = (uint64_t)gpu->groups;
    groups = least(groups, (uint64_t)gpu->waves / (uint64_t)c->tile.waves);
    groups = least(groups, (uint64_t)gpu->shared / shared);
    return least(groups, (uint64_t)gpu->registers / (c->registers * threads));
}

/* --- the score -------------------------------------------------------------------- */

/* Matrix cores of the busiest unit that have a wave. */
static uint64_t cores_at_work(const struct tile_choice *c, const struct tile_gpu *gpu)
{
    const uint64_t waves = least(c->busiest, c->resident) * (uint64_t)c->tile.waves;
    return least((uint64_t)gpu->matrix_cores, waves);
}

static void count_factors(struct tile_choice *c, const struct tile_gpu *gpu,
                          const struct tile_problem *p)
{
    const struct tile *t = &c->tile;
    const double slots = (double)gpu->units * (double)c->busiest;
    const double cores = (double)cores_at_work(c, gpu) / gpu->matrix_cores;
    const double steps = (double)ceiling(p->k, (uint64_t)t->k);
    const double computed =
        (double)c->groups * (double)outputs_of(t) * steps * (double)t->k;
    c->factor[TILE_BUSY] = (double)c->groups / slots * cores;
    c->factor[TILE_USEFUL] = (double)p->m * (double)p->n * (double)p->k / computed;
    c->factor[TILE_RATIO] = (double)c->flops / (double)c->memory;
    c->score = 1;
    for (int i = 0; i < TILE_FACTORS; i++) c->score *= c->factor[i];
}

void tile_judge(struct tile_choice *choice, const struct tile *tile,
                const struct tile_gpu *gpu, const struct tile_method *method,
                const struct tile_problem *problem)
{
    struct tile_choice c = { .tile = *tile };
    count_needs(&c, gpu, method);
    check_limits(&c, gpu);
    c.groups =
        ceiling(problem->m, (uint64_t)tile->m) * ceiling(problem->n, (uint64_t)tile->n);
    c.tlp = (double)c.groups * (double)threads_of(tile, gpu);
    c.busiest = ceiling(c.groups, (uint64_t)gpu->units);
    if (c.limit == TILE_FITS) c.resident = resident_groups(&c, gpu);
    else c.reason = TILE_BY_LIMIT;
    count_factors(&c, gpu, problem);
    *choice = c;
}

/* --- ranking ---------------------------------------------------------------------- */

/* The sign of a/b - c/d. */
static int compare_fractions(uint64_t a, bitcut_uint128 b, uint64_t c, bitcut_uint128 d)
{
    const bitcut_uint128 left = a * d, right = c * b;
    return (left > right) - (left < right);
}

/* What the score is divided by but for constants of the ranking: T_M T_N cancels. */
static bitcut_uint128 score_divisor(const struct tile_choice *c,
                                    const struct tile_problem *p)
{
    const struct tile *t = &c->tile;
    const uint64_t steps = ceiling(p->k, (uint64_t)t->k);
    return (bitcut_uint128)c->busiest * (steps * (uint64_t)t->k) *
           (uint64_t)(t->m + t->n);
}

static int compare_scores(const struct tile_choice *a, const struct tile_choice *b,
                          const struct tile_gpu *gpu, const struct tile_problem *p)
{
    return compare_fractions(cores_at_work(a, gpu), score_divisor(a, p),
                             cores_at_work(b, gpu), score_divisor(b, p));
}

static int compare_loads(const struct tile_choice *a, const struct tile_choice *b)
{
    return compare_fractions(
        outputs_of(&a->tile) + operands_of(&a->tile), (bitcut_uint128)a->tile.waves,
        outputs_of(&b->tile) + operands_of(&b->tile), (bitcut_uint128)b->tile.waves);
}

/* Whether `a` goes before `b`, an earlier candidate. */
static bool goes_before(const struct tile_choice *a, const struct tile_choice *b,
                        const struct tile_gpu *gpu, const struct tile_problem *p)
{
    if (a->limit != TILE_FITS || b->limit != TILE_FITS)
        return a->limit == TILE_FITS && b->limit != TILE_FITS;
    const int scores = compare_scores(a, b, gpu, p);
    return scores ? scores > 0 : compare_loads(a, b) < 0;
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
                        const struct tile_gpu *gpu, const struct tile_problem *p)
{
    if (c->limit != TILE_FITS) return;
    if (compare_scores(c, best, gpu, p)) {
        c->reason = TILE_BY_FACTOR;
        c->by = worst_factor(c, best);
    } else {
        c->reason = compare_loads(c, best) ? TILE_BY_LOAD : TILE_BY_ORDER;
    }
}

void tile_rank(struct tile_choice *choices, const struct tile *tiles, size_t count,
               const struct tile_gpu *gpu, const struct tile_method *method,
               const struct tile_problem *problem)
{
    for (size_t i = 0; i < count; i++) {
        struct tile_choice c;
        size_t at = i;
        tile_judge(&c, &tiles[i], gpu, method, problem);
        for (; at && goes_before(&c, &choices[at - 1], gpu, problem); at--)
            choices[at] = choices[at - 1];
        choices[at] = c;
    }
    for (size_t i = 1; i < count; i++) give_reason(&choices[i], choices, gpu, problem);
}

/* --- candidates ------------------------------------------------------------------- */

static int greater(int a, int b) { return a > b ? a : b; }

int tile_waves(int m, int n, const struct tile_gpu *gpu, const struct tile_method *method)
{
    enum { WAVE_ACCUMULATORS = 64 * 64 };
    const int fragments = greater(m / gpu->fragment_m * (n / gpu->fragment_n), 1);
    const int waves = (int)ceiling(
        (uint64_t)m * (uint64_t)n * (uint64_t)method->accumulators, WAVE_ACCUMULATORS);
    const int most = fragments < TILE_COUNT_MOST ? fragments : TILE_COUNT_MOST;
    return (int)least((uint64_t)greater(waves, gpu->matrix_cores), (uint64_t)most);
}

void tile_grid(struct tile tiles[TILE_GRID], const struct tile_gpu *gpu,
               const struct tile_method *method, int stages)
{
    for (int i = 0; i < TILE_GRID; i++) {
        const int m = 32 << i / 12, n = 32 << i / 3 % 4, k = gpu->fragment_k << i % 3;
        tiles[i] = (struct tile){ m, n, k, tile_waves(m, n, gpu, method), stages };
    }
}
