#include "emu/gemm.h"

#include "emu/engine.h"
#include "emu/fast/fast_tile.h"
#include "emu/job.h"
#include "lib/bits.h"
#include "lib/equilibrate.h"
#include "lib/fma.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/threads.h"
#include "lib/view.h"

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
    size_t done; /* instructions of accumulator 0 since the last promotion */
};

/* --- making a recipe definite ----------------------------------------------------- */

/* Magnitudes from which values are zeroed, by enum recipe_zeroed. */
static const uint32_t zeroed_from[] = {
    [RECIPE_ZEROES_NOTHING] = 0x80000000,
    [RECIPE_ZEROES_NAN] = 0x7f800001,
    [RECIPE_ZEROES_NOT_FINITE] = 0x7f800000,
};

static struct plan schedule_make(const struct gemm_plan *g, const struct bitcut_unit *u,
                                 size_t steps)
{
    struct plan p = {
        .terms = g->terms,
        .last = g->accumulators - 1,
        .tile = g->tile_k ? divide_up((size_t)g->tile_k, (size_t)u->k) : steps,
        .promotes = g->promote || g->tile_k,
        .zeroed_from = zeroed_from[g->recipe->zeroed],
        .nan = u->c == &formats[FORMAT_F32] ? (uint32_t)u->nan : F32_NAN,
        .together = g->tile_k ? 1 : g->terms,
    };
    memcpy(p.term, g->term, sizeof p.term);
    return p;
}

struct bitcut_gemm gemm_of(const struct bitcut_recipe *recipe,
                           const struct bitcut_unit *unit)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = recipe;
    g.unit = unit;
    return g;
}

static enum bitcut_status check_words(const struct gemm_plan *p,
                                      const struct bitcut_split *split,
                                      const struct bitcut_unit *u, struct fault *f)
{
    if (u->a == u->b && format_holds(u->a, split->format)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "recipe %s has words of %s, but %s multiplies %s by %s; choose "
                     "another unit or split",
                     p->recipe->name, split->format->name, u->name, u->a->name,
                     u->b->name);
}

enum bitcut_status gemm_plan_on_unit(struct gemm_plan *to, const struct bitcut_gemm *g,
                                     struct fault *f)
{
    const struct bitcut_unit *u = g->unit;
    struct gemm_plan p;
    if (!g->recipe || !u)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a recipe and a unit are needed");
    if (u->scale)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s needs block scales; no recipe has them", u->name);
    enum bitcut_status status = gemm_plan_make(&p, g, u->a, f);
    if (status == BITCUT_OK) status = check_words(&p, &p.split_a, u, f);
    if (status == BITCUT_OK) status = check_words(&p, &p.split_b, u, f);
    if (status != BITCUT_OK) return status;
    if (u->c != &formats[FORMAT_F32] && u->c != &formats[FORMAT_F16])
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s accumulates in %s, not f32 or f16",
                         u->name, u->c->name);
    if (p.equilibrate && u->c != &formats[FORMAT_F32])
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "products of equilibrated lines overflow the %s sums of %s",
                         u->c->name, u->name);
    *to = p;
    return BITCUT_OK;
}

/* --- one output ------------------------------------------------------------------- */

static uint32_t to_f32(const struct job *job, uint64_t accumulator)
{
    const struct bitcut_format *c = job->unit->c;
    if (c == &formats[FORMAT_F32]) return (uint32_t)accumulator;
    if (format_decode(c, accumulator).kind == NUMBER_NAN) return job->plan.nan;
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN], c,
                                           accumulator);
}

static uint32_t add32(const struct plan *p, uint32_t a, uint32_t b)
{
    return job_fma(p, a, F32_ONE, b);
}

static void promote(struct cell *x, const struct job *job)
{
    x->master = add32(&job->plan, x->master, to_f32(job, x->accumulator[0]));
    x->accumulator[0] = 0;
    x->done = 0;
}

/* An accumulator times 2^-s, rounded to nearest. */
static uint64_t scaled(const struct job *job, uint64_t accumulator)
{
    const uint32_t factor = f32_power_of_two(-job->g->scale);
    return bitcut_format_convert(job->unit->c, &roundings[ROUND_RN], &formats[FORMAT_F32],
                                 f32_multiply(to_f32(job, accumulator), factor));
}

/* What happens in a tile before term t. */
static void cell_prepare(struct cell *x, const struct job *job, int t)
{
    const struct plan *p = &job->plan;
    uint64_t *c = &x->accumulator[p->term[t].accumulator];
    if (p->term[t].scaled) *c = scaled(job, *c);
    if (t + 1 == p->terms && (to_f32(job, *c) & 0x7fffffff) >= p->zeroed_from) *c = 0;
}

/* Run one k-step: the terms from `first` on that take turns, once each.  a and b are word
   0 of the operands, DEPTH numbers for each word of TILE lines. */
static void cell_step(struct cell *x, const struct job *job, int first,
                      const struct number *a, const struct number *b)
{
    for (int t = first; t < first + job->plan.together; t++) {
        const struct recipe_term term = job->plan.term[t];
        uint64_t *c = &x->accumulator[term.accumulator];
        *c = unit_dot(job->unit, (struct lane){ a + term.a * (TILE * DEPTH), NULL },
                      (struct lane){ b + term.b * (TILE * DEPTH), NULL }, *c);
        if (term.accumulator == 0 && ++x->done == (size_t)job->g->promote)
            promote(x, job);
    }
}

/* The accumulators of a cell folded into one. */
static uint32_t cell_fold(const struct cell *x, const struct job *job)
{
    const struct plan *p = &job->plan;
    uint32_t v = to_f32(job, x->accumulator[p->last]);
    if (p->last == 0 && p->promotes) v = x->master;
    for (int i = p->last - 1; i >= 0; i--) {
        const uint32_t below =
            i == 0 && p->promotes ? x->master : to_f32(job, x->accumulator[i]);
        v = job_fma(p, v, f32_power_of_two(-job->g->scale), below);
    }
    return v;
}

/* --- tiles of the engine ---------------------------------------------------------- */

/* A rectangle of at most TILE x TILE outputs, and the numbers of a piece of its operands:
   [word][line][DEPTH]. */
struct tile {
    size_t i0, j0, rows, cols;
    struct number *a, *b;
    struct cell cell[TILE][TILE];
    int kept; /* sums of slices and lanes: struct k_parts */
    uint32_t sum[K_PARTS_KEPT_MOST][TILE][TILE];
};

static size_t engine_numbers(const struct job *job)
{
    const int words = job->a.count > job->b.count ? job->a.count : job->b.count;
    return (size_t)words * TILE * DEPTH;
}

static void read_lines(struct number *to, const struct job *job, const struct words *w,
                       size_t first, size_t lines, size_t from, size_t count)
{
    for (int j = 0; j < w->count; j++)
        for (size_t i = 0; i < lines; i++)
            words_read(to + ((size_t)j * TILE + i) * DEPTH, w, job->unit, j, first + i,
                       from, count);
}

/* Advance every cell of a tile through k-steps [from, to), a piece that is read at once,
   by the terms from `first` on that take turns. */
static void tile_steps(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t k = (size_t)job->unit->k;
    read_lines(t->a, job, &job->a, t->i0, t->rows, from * k, (to - from) * k);
    read_lines(t->b, job, &job->b, t->j0, t->cols, from * k, (to - from) * k);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            for (size_t s = 0; s < to - from; s++)
                cell_step(&t->cell[i][j], job, first,
                          t->a + i * DEPTH + s * k, t->b + j * DEPTH + s * k);
}

/* The same for any number of k-steps, and what happens before. */
static void tile_terms(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t steps = DEPTH / (size_t)job->unit->k;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            cell_prepare(&t->cell[i][j], job, first);
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
            if (p->promotes && t->cell[i][j].done) promote(&t->cell[i][j], job);
}

/* The sum of a cell and the last `adds` of those kept of it; which takes their place. */
static void cell_keep(struct tile *t, const struct job *job, size_t i, size_t j, int adds)
{
    uint32_t v = cell_fold(&t->cell[i][j], job);
    for (int n = 1; n <= adds; n++) v = add32(&job->plan, t->sum[t->kept - n][i][j], v);
    t->sum[t->kept - adds][i][j] = v;
    t->cell[i][j] = (struct cell){ 0 };
}

/* One lane of a slice of every cell of a tile. */
static void tile_sequence(struct tile *t, const struct job *job, size_t sequence)
{
    const size_t from = job->parts.first[sequence], to = job->parts.first[sequence + 1];
    const int adds = job->parts.adds[sequence];
    for (size_t s = from; s < to; s += job->plan.tile)
        tile_of_k(t, job, s, smaller(s + job->plan.tile, to));
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) cell_keep(t, job, i, j, adds);
    t->kept += 1 - adds;
}

static void tile_run(const struct job *job, struct number *scratch, size_t i0, size_t j0,
                     size_t rows, size_t cols)
{
    struct tile t;
    t.i0 = i0, t.j0 = j0, t.rows = rows, t.cols = cols, t.kept = 0;
    t.a = scratch, t.b = scratch + engine_numbers(job);
    memset(t.cell, 0, sizeof t.cell);
    memset(t.sum[0], 0, sizeof t.sum[0]);
    for (size_t s = 0; s < job->parts.count; s++) tile_sequence(&t, job, s);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const float total = float_of_bits(t.sum[0][i][j]);
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
        if (words_special(&job->a, job->unit, i0 + i))
            engine_run(job, numbers, i0 + i, j0, 1, cols);
    for (size_t j = 0; j < cols; j++)
        if (words_special(&job->b, job->unit, j0 + j))
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

/* --- one GEMM --------------------------------------------------------------------- */

/* The rows of A or the columns of B. */
struct side {
    const struct bitcut_matrix *x;
    const struct bitcut_split *split;
    struct view view;
    size_t lines;
    bool columns;
};

/* The words of an operand.  A and B as row-major FP32 are read where they are; what is
   not, or not in its order, is copied first. */
static enum bitcut_status operand_make(struct words *to, const struct job *job,
                                       const struct side *s, size_t k, int threads)
{
    const size_t length = job->parts.steps * (size_t)job->unit->k;
    const struct words_rule rule = { job->unit, s->split, job->splits,
                                     job->g->equilibrate };
    const struct gathering all = { s->lines, k, length, job->parts.element, s->columns };
    const bool direct = s->view.format == &formats[FORMAT_F32] && !all.element &&
                        s->x->layout == BITCUT_ROW_MAJOR;
    uint32_t *const own = direct ? NULL : view_gather(&s->view, &all, threads);
    if (!direct && !own) return BITCUT_NO_MEMORY;
    const struct words_source source =
        direct ? (struct words_source){ (const uint32_t *)(const void *)s->view.at,
                                        s->columns ? s->view.along : s->view.across,
                                        s->columns }
               : (struct words_source){ own, s->columns ? s->lines : length, s->columns };
    const enum bitcut_status status = words_make(to, &rule, source, s->lines,
                                                 direct ? k : length, length, threads);
    free(own);
    return status;
}

/* Operands, C, and a separate D, so that D may be C and a stopped run leaves it alone. */
static enum bitcut_status job_prepare(struct job *job, const struct bitcut_gemm *g,
                                      size_t i, int threads)
{
    const struct side a = { &g->a, &job->g->split_a, view_of(&g->a, i, g->m, g->k, false),
                            g->m, false },
                      b = { &g->b, &job->g->split_b, view_of(&g->b, i, g->k, g->n, true),
                            g->n, true };
    size_t count;
    if (!size_multiply(&count, job->m, job->n) ||
        !(job->d = memory_allocate(count, sizeof *job->d)))
        return BITCUT_NO_MEMORY;
    if (gemm_reads_c(g)) {
        const struct view c = view_of(&g->c, i, g->m, g->n, false);
        job->c = view_gather(&c, &(struct gathering){ g->m, g->n, g->n, NULL, false }, threads);
        if (!job->c) return BITCUT_NO_MEMORY;
    }
    const enum bitcut_status status = operand_make(&job->a, job, &a, g->k, threads);
    return status == BITCUT_OK ? operand_make(&job->b, job, &b, g->k, threads) : status;
}

static void store(const struct bitcut_gemm *g, size_t i, const struct job *job)
{
    const struct view d = view_of(&g->d, i, g->m, g->n, false);
    const bool whole = d.format == &formats[FORMAT_F32] && d.along == 1;
    for (size_t line = 0; line < g->m; line++) {
        const uint32_t *const from = job->d + line * g->n;
        uint32_t *const to = (uint32_t *)(uintptr_t)d.at + (whole ? line * d.across : 0);
        if (whole) memcpy(to, from, g->n * sizeof *to);
        for (size_t p = 0; !whole && p < g->n; p++) view_set(&d, line, p, from[p]);
    }
}

/* GEMM i of a batch, of a job that is the same for all. */
static enum bitcut_status run_one(const struct bitcut_gemm *g, size_t i,
                                  const struct job *same, int threads)
{
    struct job job = *same;
    enum bitcut_status status = job_prepare(&job, g, i, threads);
    if (status == BITCUT_OK) status = job_run(&job, threads);
    if (status == BITCUT_OK) store(g, i, &job);
    words_clear(&job.a);
    words_clear(&job.b);
    free(job.d);
    free(job.c);
    return status;
}

/* --- all of them ------------------------------------------------------------------ */

/* GEMMs of fewer products are shared among threads whole. */
static bool are_small(const struct bitcut_gemm *g)
{
    return g->count > 1 && (double)g->m * (double)g->n * (double)g->k < 1 << 21;
}

static enum bitcut_status run_all(const struct bitcut_gemm *g, const struct job *job,
                                  int threads)
{
    const bool small = are_small(g);
    enum bitcut_status worst = BITCUT_OK;
#pragma omp parallel for schedule(dynamic, 16) if (small)                                \
    num_threads(threads_for(threads, g->count))
    for (size_t i = 0; i < g->count; i++) {
        enum bitcut_status now;
#pragma omp atomic read
        now = worst;
        if (now != BITCUT_OK) continue;
        now = run_one(g, i, job, small ? 1 : threads);
        if (now == BITCUT_OK) continue;
#pragma omp atomic write
        worst = now;
    }
    return worst;
}

/* Which kernels compute a job: those of the level asked for, if they take the unit. */
static enum bitcut_status choose_kernels(struct job *job, const struct simd_level *level,
                                         struct fault *f)
{
    const enum bitcut_status status = level ? BITCUT_OK : simd_choose(&level, f);
    if (status != BITCUT_OK) return status;
    job->splits = level->kernels;
    job->kernels = fast_takes(job->unit) ? level->kernels : NULL;
    return BITCUT_OK;
}

static enum bitcut_status run_plan(const struct bitcut_gemm *g,
                                   const struct gemm_plan *plan,
                                   const struct gemm_options *o, struct fault *f)
{
    struct job job = { .g = plan,
                       .unit = g->unit,
                       .alpha = g->alpha,
                       .beta = g->beta,
                       .m = g->m,
                       .n = g->n,
                       .ldd = g->n,
                       .ldc = g->n,
                       .progress = o->progress };
    enum bitcut_status status = choose_kernels(&job, o->simd, f);
    if (status != BITCUT_OK || !g->m || !g->n || !g->count) return status;
    status = k_parts_make(&job.parts, &plan->order, g->k, (size_t)g->unit->k);
    job.plan = schedule_make(plan, g->unit, job.parts.steps);
    if (status == BITCUT_OK) status = run_all(g, &job, o->threads);
    if (status == BITCUT_NO_MEMORY)
        fault_set(f, status, "out of memory for the operands");
    if (status == BITCUT_CANNOT) fault_set(f, status, "stopped");
    k_parts_clear(&job.parts);
    return status;
}

enum bitcut_status gemm_run(const struct bitcut_gemm *g, const struct gemm_options *o,
                            struct fault *f)
{
    struct gemm_plan plan;
    enum bitcut_status status = gemm_plan_on_unit(&plan, g, f);
    if (status == BITCUT_OK) status = gemm_check_matrices(g, true, f);
    return status == BITCUT_OK ? run_plan(g, &plan, o, f) : status;
}

/* Whether a caller's GEMM can be emulated as it is. */
static enum bitcut_status check_public(const struct bitcut_gemm *g, int threads,
                                       struct fault *f)
{
    if (g->kernel)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a kernel runs on a device; here it needs its unit instead");
    if (g->a.words || g->b.words)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "words are a device's");
    if (threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "counts cannot be negative");
    return BITCUT_OK;
}

enum bitcut_status bitcut_gemm(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                               int threads, char *why)
{
    struct bitcut_gemm g;
    struct gemm_plan plan;
    struct fault f;
    enum bitcut_status status = gemm_check_place(ran, &f);
    if (status == BITCUT_OK) status = gemm_take(&g, gemm, &f);
    if (status == BITCUT_OK) status = check_public(&g, threads, &f);
    if (status == BITCUT_OK)
        status = gemm_run(&g, &(struct gemm_options){ .threads = threads }, &f);
    if (status != BITCUT_OK) return fault_tell(why, status, &f);
    gemm_plan_on_unit(&plan, &g, NULL);
    gemm_settle(&g, &plan);
    gemm_give(ran, &g);
    return status;
}
