#include "emu/gemm.h"

#include "emu/engine.h"
#include "emu/fast.h"
#include "emu/job.h"
#include "lib/bits.h"
#include "lib/equilibrate.h"
#include "lib/fma.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/threads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The engine computes outputs in square tiles, a piece of k at a time, so that the
   operands of a tile stay in cache whatever k is. */
enum { TILE = 16, DEPTH = 512 };

/* One output in the middle of its computation. */
struct cell {
    uint64_t accumulator[RECIPE_ACCUMULATORS_MOST]; /* encodings of unit->c     */
    uint32_t master;                                /* FP32: promoted so far    */
    uint32_t total;                                 /* FP32: the slices so far  */
    size_t done; /* instructions of accumulator 0 since the last promotion */
};

/* --- making a recipe definite ----------------------------------------------------- */

/* Magnitudes from which values are zeroed, by enum recipe_zeroed. */
static const uint32_t zeroed_from[] = {
    [RECIPE_ZEROES_NOTHING] = 0x80000000,
    [RECIPE_ZEROES_NAN] = 0x7f800001,
    [RECIPE_ZEROES_NOT_FINITE] = 0x7f800000,
};

static struct plan plan_make(const struct gemm *g, struct k_cut cut)
{
    struct plan p = {
        .tile = g->tile_k ? divide_up((size_t)g->tile_k, (size_t)g->unit->k)
                          : cut.per_slice,
        .promotes = g->promote || g->tile_k,
        .zeroed_from = zeroed_from[g->recipe->zeroed],
        .nan = g->unit->c == &formats[FORMAT_F32] ? (uint32_t)g->unit->nan : F32_NAN,
    };
    if (g->low_low) p.term[p.terms++] = g->recipe->low_low;
    for (int i = 0; i < g->recipe->terms; i++) p.term[p.terms++] = g->recipe->term[i];
    for (int i = 0; i < p.terms; i++)
        if (p.term[i].accumulator > p.last) p.last = p.term[i].accumulator;
    p.together = g->tile_k ? 1 : p.terms;
    return p;
}

int gemm_terms(const struct gemm *g) { return g->recipe->terms + g->low_low; }

struct gemm gemm_of(const struct bitcut_recipe *recipe, const struct bitcut_unit *unit)
{
    return (struct gemm){
        .recipe = recipe,
        .unit = unit,
        .split = recipe->split ? *recipe->split : split_plain(unit->a),
        .low_low = recipe->keeps_low_low,
        .promote = recipe->promote,
        .tile_k = recipe->tile_k,
        .slices = 1,
        .alpha = F32_ONE,
    };
}

/* Whether what the recipe does between tiles can be done. */
static enum bitcut_status check_tiles(const struct gemm *g, struct fault *f)
{
    const struct bitcut_recipe *r = g->recipe;
    bool scales = false;
    for (int i = 0; i < r->terms; i++) scales |= r->term[i].scaled;
    if (!g->tile_k && (scales || r->zeroed))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s needs tiles of k, of 1 and more", r->name);
    if (g->promote && scales)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s scales its sums and promotes at the end of each tile, not "
                         "besides", r->name);
    return BITCUT_OK;
}

enum bitcut_status gemm_check(const struct gemm *g, struct fault *f)
{
    const struct bitcut_unit *u = g->unit;
    if (u->scale)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s needs block scales; no recipe has them", u->name);
    if (u->a != u->b || !format_holds(u->a, g->split.format))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "recipe %s has words of %s, but %s multiplies %s by %s; choose "
                         "another unit or split",
                         g->recipe->name, g->split.format->name, u->name, u->a->name,
                         u->b->name);
    if (u->c != &formats[FORMAT_F32] && u->c != &formats[FORMAT_F16])
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s accumulates in %s, not f32 or f16",
                         u->name, u->c->name);
    if (g->promote < 0 || g->tile_k < 0 || g->threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "counts cannot be negative");
    if (g->slices < 1)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "k has at least one slice");
    if (g->equilibrate && u->c != &formats[FORMAT_F32])
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "products of equilibrated lines overflow the %s sums of %s",
                         u->c->name, u->name);
    if (g->equilibrate && equilibrate_takes(&g->split, f) != BITCUT_OK)
        return BITCUT_BAD_ARGUMENT;
    const enum bitcut_status status = check_tiles(g, f);
    return status == BITCUT_OK ? recipe_takes(g->recipe, &g->split, &g->split, g->low_low, f)
                               : status;
}

static struct k_cut k_cut_make(const struct gemm *g, size_t k)
{
    const size_t steps = divide_up(k, (size_t)g->unit->k);
    return (struct k_cut){ steps, divide_up(steps, (size_t)g->slices) };
}

/* --- one output ------------------------------------------------------------------- */

static uint32_t to_f32(const struct gemm *g, const struct plan *p, uint64_t accumulator)
{
    if (g->unit->c == &formats[FORMAT_F32]) return (uint32_t)accumulator;
    if (format_decode(g->unit->c, accumulator).kind == NUMBER_NAN) return p->nan;
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN],
                                           g->unit->c, accumulator);
}

/* a b is exact in binary64; its sum with c, rounded to odd there, is rounded once to
   binary32 (Boldo and Melquiond 2008).  The error of the sum is TwoSum's. */
static uint32_t fma32(const struct plan *p, uint32_t a, uint32_t b, uint32_t c)
{
    const double product = (double)float_of_bits(a) * (double)float_of_bits(b), z = float_of_bits(c);
    double sum = product + z;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (z - back);
    if (!(error - error == 0)) /* NaN and Inf */
        return (uint32_t)fma_round(&formats[FORMAT_F32], &roundings[ROUND_RN], p->nan, a,
                                   b, c);
    uint64_t bits = bits_of_double(sum);
    if (error != 0 && !(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
    sum = double_of_bits(bits);
    return bits_of_float((float)sum);
}

static uint32_t add32(const struct plan *p, uint32_t a, uint32_t b)
{
    return fma32(p, a, F32_ONE, b);
}

static void promote(struct cell *x, const struct gemm *g, const struct plan *p)
{
    x->master = add32(p, x->master, to_f32(g, p, x->accumulator[0]));
    x->accumulator[0] = 0;
    x->done = 0;
}

/* An accumulator times 2^-s, rounded to nearest. */
static uint64_t scaled(const struct gemm *g, const struct plan *p, uint64_t accumulator)
{
    const uint32_t factor = f32_power_of_two(-g->split.scale);
    return bitcut_format_convert(g->unit->c, &roundings[ROUND_RN], &formats[FORMAT_F32],
                                 f32_multiply(to_f32(g, p, accumulator), factor));
}

/* What happens in a tile before term t. */
static void cell_prepare(struct cell *x, const struct gemm *g, const struct plan *p,
                         int t)
{
    uint64_t *c = &x->accumulator[p->term[t].accumulator];
    if (p->term[t].scaled) *c = scaled(g, p, *c);
    if (t + 1 == p->terms && (to_f32(g, p, *c) & 0x7fffffff) >= p->zeroed_from) *c = 0;
}

/* Run one k-step: the terms from `first` on that take turns, once each.  a and b are word
   0 of the operands, DEPTH numbers for each word of TILE lines. */
static void cell_step(struct cell *x, const struct gemm *g, const struct plan *p,
                      int first, const struct number *a, const struct number *b)
{
    for (int t = first; t < first + p->together; t++) {
        const struct recipe_term term = p->term[t];
        uint64_t *c = &x->accumulator[term.accumulator];
        *c = unit_dot(g->unit, (struct lane){ a + term.a * (TILE * DEPTH), NULL },
                      (struct lane){ b + term.b * (TILE * DEPTH), NULL }, *c);
        if (term.accumulator == 0 && ++x->done == (size_t)g->promote) promote(x, g, p);
    }
}

/* The end of a slice: fold the accumulators and add to the slices before. */
static void cell_fold(struct cell *x, const struct gemm *g, const struct plan *p,
                      bool first)
{
    uint32_t v = to_f32(g, p, x->accumulator[p->last]);
    if (p->last == 0 && p->promotes) v = x->master;
    for (int i = p->last - 1; i >= 0; i--) {
        const uint32_t below =
            i == 0 && p->promotes ? x->master : to_f32(g, p, x->accumulator[i]);
        v = fma32(p, v, f32_power_of_two(-g->split.scale), below);
    }
    *x = (struct cell){ .total = first ? v : add32(p, x->total, v) };
}

uint32_t job_fma(const struct job *job, uint32_t a, uint32_t b, uint32_t c)
{
    return fma32(&job->plan, a, b, c);
}

void job_finish(const struct job *job, size_t i, size_t j, const float *total,
                size_t count)
{
    assert(hostfp_entered());
    const uint32_t alpha = job->g->alpha, nan = job->plan.nan;
    uint32_t *d = job->d + i * job->ldd + j;
    memcpy(d, total, count * sizeof *d);
    for (size_t p = 0; job->g->equilibrate && p < count; p++)
        d[p] = equilibrate_scale(d[p], -job->a.exponents[i] - job->b.exponents[j + p]);
    for (size_t p = 0; p < count; p++)
        if ((d[p] & 0x7fffffff) > 0x7f800000) d[p] = nan;
    for (size_t p = 0; alpha != F32_ONE && p < count; p++)
        d[p] = fma32(&job->plan, alpha, d[p], (alpha ^ d[p]) & 0x80000000u);
    for (size_t p = 0; job->c && p < count; p++)
        d[p] = fma32(&job->plan, job->g->beta, job->c[i * job->ldc + j + p], d[p]);
}

/* --- tiles of the engine ---------------------------------------------------------- */

/* A rectangle of at most TILE x TILE outputs, and the numbers of a piece of its operands:
   [word][line][DEPTH]. */
struct tile {
    size_t i0, j0, rows, cols;
    struct number *a, *b;
    struct cell cell[TILE][TILE];
};

static size_t engine_numbers(const struct job *job)
{
    return (size_t)job->g->split.words * TILE * DEPTH;
}

static void read_lines(struct number *to, const struct job *job, const struct words *w,
                       size_t first, size_t lines, size_t from, size_t count)
{
    for (int j = 0; j < w->count; j++)
        for (size_t i = 0; i < lines; i++)
            words_read(to + ((size_t)j * TILE + i) * DEPTH, w, job->g->unit, j, first + i,
                       from, count);
}

/* Advance every cell of a tile through k-steps [from, to), a piece that is read at once,
   by the terms from `first` on that take turns. */
static void tile_steps(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t k = (size_t)job->g->unit->k;
    read_lines(t->a, job, &job->a, t->i0, t->rows, from * k, (to - from) * k);
    read_lines(t->b, job, &job->b, t->j0, t->cols, from * k, (to - from) * k);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            for (size_t s = 0; s < to - from; s++)
                cell_step(&t->cell[i][j], job->g, &job->plan, first,
                          t->a + i * DEPTH + s * k, t->b + j * DEPTH + s * k);
}

/* The same for any number of k-steps, and what happens before. */
static void tile_terms(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t steps = DEPTH / (size_t)job->g->unit->k;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            cell_prepare(&t->cell[i][j], job->g, &job->plan, first);
    for (size_t s = from; s < to; s += steps)
        tile_steps(t, job, s, smaller(s + steps, to), first);
}

/* A tile of k, or all of a slice: every term, and the promotion at the end. */
static void tile_of_k(struct tile *t, const struct job *job, size_t from, size_t to)
{
    const struct plan *p = &job->plan;
    for (int first = 0; first < p->terms; first += p->together)
        tile_terms(t, job, from, to, first);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (p->promotes && t->cell[i][j].done) promote(&t->cell[i][j], job->g, p);
}

/* One slice of every cell of a tile: k-steps [from, to), then the fold. */
static void tile_slice(struct tile *t, const struct job *job, size_t from, size_t to)
{
    for (size_t s = from; s < to; s += job->plan.tile)
        tile_of_k(t, job, s, smaller(s + job->plan.tile, to));
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            cell_fold(&t->cell[i][j], job->g, &job->plan, from == 0);
}

static void tile_run(const struct job *job, struct number *scratch, size_t i0, size_t j0,
                     size_t rows, size_t cols)
{
    struct tile t = { .i0 = i0,
                      .j0 = j0,
                      .rows = rows,
                      .cols = cols,
                      .a = scratch,
                      .b = scratch + engine_numbers(job) };
    for (size_t s = 0; s < job->cut.steps; s += job->cut.per_slice)
        tile_slice(&t, job, s, smaller(s + job->cut.per_slice, job->cut.steps));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const float total = float_of_bits(t.cell[i][j].total);
            job_finish(job, i0 + i, j0 + j, &total, 1);
        }
}

/* Any rectangle of outputs. */
static void engine_run(const struct job *job, struct number *scratch, size_t i0,
                       size_t j0, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i += TILE)
        for (size_t j = 0; j < cols && !progress_stopped(job->progress); j += TILE)
            tile_run(job, scratch, i0 + i, j0 + j, smaller(TILE, rows - i),
                     smaller(TILE, cols - j));
}

/* --- the job ---------------------------------------------------------------------- */

/* How outputs are shared among threads: tiles of the engine, or of a fast path. */
struct grid {
    size_t rows, cols, across, tiles;
    size_t engine_bytes, thread_bytes; /* of scratch: the engine's, all of a thread's */
};

static struct grid grid_make(const struct job *job)
{
    struct grid x = { .rows = job->kernels ? FAST_ROWS : TILE,
                      .cols = job->kernels ? FAST_COLUMNS : TILE };
    x.across = divide_up(job->n, x.cols);
    x.tiles = divide_up(job->m, x.rows) * x.across;
    x.engine_bytes = 2 * engine_numbers(job) * sizeof(struct number);
    x.thread_bytes = x.engine_bytes + (job->kernels ? fast_scratch_bytes(job) : 0);
    return x;
}

/* A tile by a fast path, and the lines that it cannot do by the engine. */
static void fast_run(const struct job *job, const struct grid *x, char *scratch,
                     size_t i0, size_t j0, size_t rows, size_t cols)
{
    struct number *numbers = (struct number *)(void *)scratch;
    if (!fast_tile(job, scratch + x->engine_bytes, i0, j0)) {
        engine_run(job, numbers, i0, j0, rows, cols);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        if (words_special(&job->a, job->g->unit, i0 + i))
            engine_run(job, numbers, i0 + i, j0, 1, cols);
    for (size_t j = 0; j < cols; j++)
        if (words_special(&job->b, job->g->unit, j0 + j))
            engine_run(job, numbers, i0, j0 + j, rows, 1);
}

static void grid_run(const struct job *job, const struct grid *x, char *scratch,
                     size_t at)
{
    const size_t i0 = at / x->across * x->rows, j0 = at % x->across * x->cols;
    const size_t rows = smaller(x->rows, job->m - i0),
                 cols = smaller(x->cols, job->n - j0);
    struct hostfp saved;
    hostfp_enter(&saved);
    if (job->kernels) fast_run(job, x, scratch, i0, j0, rows, cols);
    else engine_run(job, (struct number *)(void *)scratch, i0, j0, rows, cols);
    hostfp_leave(&saved);
}

/* All tiles; BITCUT_CANNOT if asked to stop. */
static enum bitcut_status job_run(const struct job *job, int threads)
{
    enum { ALIGNMENT = 64 };
    const struct grid x = grid_make(job);
    const int count = threads_for(threads, x.tiles);
    size_t done = 0;
    char *memory = memory_allocate((size_t)count + 1, x.thread_bytes + ALIGNMENT);
    if (!memory) return BITCUT_NO_MEMORY;
    char *const scratch = memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT);
#pragma omp parallel for schedule(dynamic) num_threads(count)
    for (size_t t = 0; t < x.tiles; t++) {
        if (progress_stopped(job->progress)) continue;
        grid_run(job, &x, scratch + (size_t)threads_number() * x.thread_bytes, t);
        size_t now;
#pragma omp atomic capture
        now = ++done;
        if (threads_first()) progress_report(job->progress, now, x.tiles);
    }
    free(memory);
    return progress_stopped(job->progress) ? BITCUT_CANNOT : BITCUT_OK;
}

static void copy_rows(uint32_t *to, size_t ld_to, const uint32_t *from, size_t ld_from,
                      size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * ld_to, from + i * ld_from, cols * sizeof *to);
}

/* Operands and a separate D, so that D may be C and a stopped run leaves it alone. */
static enum bitcut_status job_prepare(struct job *job, size_t k, const uint32_t *a,
                                      size_t lda, const uint32_t *b, size_t ldb,
                                      int threads)
{
    const struct gemm *g = job->g;
    const size_t length = job->cut.steps * (size_t)g->unit->k;
    size_t count;
    if (!size_multiply(&count, job->m, job->n) ||
        !(job->d = memory_allocate(count, sizeof *job->d)))
        return BITCUT_NO_MEMORY;
    job->ldd = job->n;
    const struct words_rule rule = { g->unit, &g->split, job->splits, g->equilibrate };
    const enum bitcut_status status =
        words_make(&job->a, &rule, (struct words_source){ a, lda, false }, job->m, k,
                   length, threads);
    if (status != BITCUT_OK) return status;
    return words_make(&job->b, &rule, (struct words_source){ b, ldb, true }, job->n, k,
                      length, threads);
}

/* Which kernels compute a job: those of the level asked for, if they take the unit. */
static enum bitcut_status choose_kernels(struct job *job, struct fault *f)
{
    const struct simd_level *level = job->g->simd;
    const enum bitcut_status status = level ? BITCUT_OK : simd_choose(&level, f);
    if (status != BITCUT_OK) return status;
    job->splits = level->kernels;
    job->kernels = fast_takes(job->g->unit) ? level->kernels : NULL;
    return BITCUT_OK;
}

enum bitcut_status gemm_run(uint32_t *d, size_t ldd, const struct gemm *g, size_t m,
                            size_t n, size_t k, const uint32_t *a, size_t lda,
                            const uint32_t *b, size_t ldb, const uint32_t *c, size_t ldc,
                            const struct progress *progress, struct fault *f)
{
    const bool add_c = (g->beta & 0x7fffffff) != 0;
    if (lda < k || ldb < n || ldd < n || (add_c && ldc < n))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a leading dimension is below the row length");
    if (add_c && !c && m && n)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "beta is not zero but C is missing");
    const struct k_cut cut = k_cut_make(g, k);
    struct job job = { .g = g,
                       .plan = plan_make(g, cut),
                       .cut = cut,
                       .m = m,
                       .n = n,
                       .c = add_c ? c : NULL,
                       .ldc = ldc,
                       .progress = progress };
    enum bitcut_status status = choose_kernels(&job, f);
    if (status != BITCUT_OK || m == 0 || n == 0) return status;
    status = job_prepare(&job, k, a, lda, b, ldb, g->threads);
    if (status == BITCUT_OK) status = job_run(&job, g->threads);
    if (status == BITCUT_OK) copy_rows(d, ldd, job.d, job.ldd, m, n);
    if (status == BITCUT_NO_MEMORY)
        fault_set(f, status, "out of memory for the operands");
    if (status == BITCUT_CANNOT) fault_set(f, status, "stopped");
    words_clear(&job.a);
    words_clear(&job.b);
    free(job.d);
    return status;
}

/* Whether a matrix can be where it is said to be; one of a GEMM without outputs is not
   looked at. */
static bool is_there(const uint32_t *at, size_t rows, size_t cols, size_t ld)
{
    return memory_holds(at, rows, cols, ld, sizeof *at);
}

/* A GEMM as its rows say, if it can be executed. */
static enum bitcut_status run_public(uint32_t *d, size_t ldd,
                                     const struct bitcut_recipe *recipe,
                                     const struct bitcut_unit *unit, bool equilibrate,
                                     size_t m, size_t n, size_t k, uint32_t alpha,
                                     const uint32_t *a, size_t lda, const uint32_t *b,
                                     size_t ldb, uint32_t beta, const uint32_t *c,
                                     size_t ldc, int threads)
{
    const bool reads_c = (beta & 0x7fffffff) != 0;
    if (!recipe || !unit) return BITCUT_BAD_ARGUMENT;
    struct gemm g = gemm_of(recipe, unit);
    g.equilibrate = equilibrate;
    g.alpha = alpha;
    g.beta = beta;
    g.threads = threads;
    const enum bitcut_status status = gemm_check(&g, NULL);
    if (status != BITCUT_OK) return status;
    if (m && n &&
        (!is_there(a, m, k, lda) || !is_there(b, k, n, ldb) || !is_there(d, m, n, ldd) ||
         (reads_c && !is_there(c, m, n, ldc))))
        return BITCUT_BAD_ARGUMENT;
    return gemm_run(d, ldd, &g, m, n, k, a, lda, b, ldb, c, ldc, NULL, NULL);
}

enum bitcut_status bitcut_gemm(uint32_t *d, size_t ldd,
                               const struct bitcut_recipe *recipe,
                               const struct bitcut_unit *unit, size_t m, size_t n,
                               size_t k, uint32_t alpha, const uint32_t *a, size_t lda,
                               const uint32_t *b, size_t ldb, uint32_t beta,
                               const uint32_t *c, size_t ldc, int threads)
{
    return run_public(d, ldd, recipe, unit, false, m, n, k, alpha, a, lda, b, ldb, beta,
                      c, ldc, threads);
}

enum bitcut_status bitcut_gemm_equilibrated(
    uint32_t *d, size_t ldd, const struct bitcut_recipe *recipe,
    const struct bitcut_unit *unit, size_t m, size_t n, size_t k, uint32_t alpha,
    const uint32_t *a, size_t lda, const uint32_t *b, size_t ldb, uint32_t beta,
    const uint32_t *c, size_t ldc, int threads)
{
    return run_public(d, ldd, recipe, unit, true, m, n, k, alpha, a, lda, b, ldb, beta, c,
                      ldc, threads);
}
