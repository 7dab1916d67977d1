/* SPDX-License-Identifier: BSD-3-Clause */
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

struct bitcut_gemm gemm_of(const struct bitcut_recipe *recipe,
                           const struct bitcut_unit *unit)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = recipe;
    g.unit = unit;
    return g;
}

/* --- one output ------------------------------------------------------------------- */

static inline void tell(const struct job *job, enum watch_kind kind, int accumulator,
                        uint64_t before, uint64_t after)
{
    if (!job->watch) return;
    const struct watch_event e = {
        .kind = kind, .accumulator = accumulator, .before = before, .after = after
    };
    job->watch->see(job->watch->context, &e);
}

static void tell_instruction(const struct job *job, int t, const struct number *a,
                             const struct number *b, uint64_t before, uint64_t after)
{
    const struct watch_event e = { .kind = WATCH_INSTRUCTION,
                                   .term = t,
                                   .accumulator = job->plan->term[t].accumulator,
                                   .unit = job->plan->unit[t],
                                   .a = a,
                                   .b = b,
                                   .before = before,
                                   .after = after };
    job->watch->see(job->watch->context, &e);
}

/* What accumulator i holds, rounded to nearest if it is an integer of more bits. */
static uint32_t to_f32(const struct job *job, int i, uint64_t accumulator)
{
    const struct bitcut_format *c = job->schedule.sum[i];
    if (c == &formats[FORMAT_F32]) return (uint32_t)accumulator;
    if (format_decode(c, accumulator).kind == NUMBER_NAN) return job->schedule.nan;
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN], c,
                                           accumulator);
}

static uint32_t add32(const struct job *job, uint32_t a, uint32_t b)
{
    return job_fma(&job->schedule, a, F32_ONE, b);
}

static uint64_t from_f32(const struct job *job, int i, uint32_t x)
{
    return bitcut_format_convert(job->schedule.sum[i], &roundings[ROUND_RN],
                                 &formats[FORMAT_F32], x);
}

/* The register after accumulator 0 was promoted to it by a kernel that slips. */
static uint32_t promoted(const struct cell *x, const struct job *job,
                         const struct gemm_slips *s)
{
    const uint32_t v =
        f32_through(s->moved, &roundings[ROUND_RN], to_f32(job, 0, x->accumulator[0]));
    const uint32_t sum =
        s->replaces ? v
        : s->adds ? (uint32_t)fma_round(&formats[FORMAT_F32], s->adds, job->schedule.nan,
                                        x->master, F32_ONE, v)
                  : add32(job, x->master, v);
    return f32_through(s->held, &roundings[ROUND_RN], sum);
}

static void promote(struct cell *x, const struct job *job)
{
    const struct gemm_slips *s = job->plan->slips;
    const uint32_t before = x->master;
    x->master =
        s ? promoted(x, job, s) : add32(job, before, to_f32(job, 0, x->accumulator[0]));
    tell(job, WATCH_PROMOTION, 0, before, x->master);
    if (!s || !s->stays) x->accumulator[0] = 0;
    x->done = 0;
}

static void cell_start(struct cell *x, const struct job *job)
{
    const struct gemm_slips *s = job->plan->slips;
    *x = (struct cell){ 0 };
    if (s && s->start) x->accumulator[0] = from_f32(job, 0, s->start);
}

/* Accumulator i times 2^-s, rounded to nearest. */
static uint64_t scaled(const struct job *job, int i, uint64_t accumulator)
{
    const uint32_t factor = f32_power_of_two(-job->plan->scale);
    return from_f32(job, i, f32_multiply(to_f32(job, i, accumulator), factor));
}

/* What happens in a tile before term t. */
static void cell_prepare(struct cell *x, const struct job *job, int t)
{
    const struct gemm_plan *p = job->plan;
    const uint32_t from = job->schedule.zeroed_from;
    const int accumulator = p->term[t].accumulator;
    uint64_t *c = &x->accumulator[accumulator];
    if (p->term[t].scaled) {
        const uint64_t before = *c;
        *c = scaled(job, accumulator, before);
        tell(job, WATCH_SCALING, accumulator, to_f32(job, accumulator, before),
             to_f32(job, accumulator, *c));
    }
    if (t + 1 == p->terms && (to_f32(job, accumulator, *c) & 0x7fffffff) >= from) {
        tell(job, WATCH_ZEROING, accumulator, to_f32(job, accumulator, *c), 0);
        *c = 0;
    }
}

/* Run the instructions of a term in a k-step.  a and b are those of its words. */
static void cell_term(struct cell *x, const struct job *job, int t,
                      const struct number *a, const struct number *b)
{
    const struct bitcut_unit *u = job->plan->unit[t];
    const struct gemm_slips *slips = job->plan->slips;
    const int accumulator = job->plan->term[t].accumulator;
    uint64_t *c = &x->accumulator[accumulator];
    for (int k = 0; k < job->plan->k_step; k += u->k) {
        const uint64_t before = *c;
        *c = unit_dot(u, (struct lane){ a + k, NULL }, (struct lane){ b + k, NULL }, *c);
        if (slips && slips->kept)
            *c = from_f32(
                job, accumulator,
                f32_through(slips->kept, slips->kept_by, to_f32(job, accumulator, *c)));
        if (job->watch) tell_instruction(job, t, a + k, b + k, before, *c);
        if (accumulator == 0 && ++x->done == (size_t)job->plan->promote) promote(x, job);
    }
}

/* Run one k-step: the terms from `first` on that take turns, once each.  a and b are word
   0 of the operands, DEPTH numbers for each word of TILE lines. */
static void cell_step(struct cell *x, const struct job *job, int first,
                      const struct number *a, const struct number *b)
{
    for (int t = first; t < first + job->schedule.together; t++) {
        const struct recipe_term term = job->plan->term[t];
        cell_term(x, job, t, a + term.a * (TILE * DEPTH), b + term.b * (TILE * DEPTH));
    }
}

/* The accumulators of a cell folded into one. */
static uint32_t cell_fold(const struct cell *x, const struct job *job)
{
    const int last = job->plan->accumulators - 1;
    const bool promotes = job->schedule.promotes;
    uint32_t v = to_f32(job, last, x->accumulator[last]);
    if (last == 0 && promotes) v = x->master;
    tell(job, WATCH_START, last, v, v);
    for (int i = last - 1; i >= 0; i--) {
        const uint32_t from = v, below = i == 0 && promotes
                                             ? x->master
                                             : to_f32(job, i, x->accumulator[i]);
        v = job_fma(&job->schedule, v, f32_power_of_two(-job->plan->scale), below);
        tell(job, WATCH_FOLD, i, from, v);
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

/* It lies behind its numbers, in memory of its thread: the thread's stack may be small. */
enum { TILE_BYTES = (sizeof(struct tile) + 63) / 64 * 64 };
_Static_assert(sizeof(struct number) % _Alignof(struct tile) == 0, "it is aligned there");

static size_t engine_numbers(const struct job *job)
{
    const int words = job->a.count > job->b.count ? job->a.count : job->b.count;
    return (size_t)words * TILE * DEPTH;
}

static void read_lines(struct number *to, const struct job *job, const struct words *w,
                       size_t first, size_t lines, size_t from, size_t count)
{
    for (int j = 0; j < w->count; j++) {
        const struct bitcut_unit *u =
            gemm_plan_reader(job->plan, w == &job->b ? BITCUT_B : BITCUT_A, j);
        for (size_t i = 0; u && i < lines; i++)
            words_read(to + ((size_t)j * TILE + i) * DEPTH, w, u, j, first + i, from,
                       count);
    }
}

/* Advance every cell of a tile through k-steps [from, to), a piece that is read at once,
   by the terms from `first` on that take turns. */
static void tile_steps(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t k = (size_t)job->plan->k_step;
    read_lines(t->a, job, &job->a, t->i0, t->rows, from * k, (to - from) * k);
    read_lines(t->b, job, &job->b, t->j0, t->cols, from * k, (to - from) * k);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            for (size_t s = 0; s < to - from; s++)
                cell_step(&t->cell[i][j], job, first, t->a + i * DEPTH + s * k,
                          t->b + j * DEPTH + s * k);
}

/* The same for any number of k-steps, and what happens before. */
static void tile_terms(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t steps = DEPTH / (size_t)job->plan->k_step;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) cell_prepare(&t->cell[i][j], job, first);
    for (size_t s = from; s < to; s += steps)
        tile_steps(t, job, s, smaller(s + steps, to), first);
}

/* A tile of k, or all of a slice: every term, and the promotion at the end. */
static void tile_of_k(struct tile *t, const struct job *job, size_t from, size_t to)
{
    for (int first = 0; first < job->plan->terms; first += job->schedule.together)
        tile_terms(t, job, from, to, first);
    const bool adds =
        job->schedule.promotes && !(job->plan->slips && job->plan->slips->forgets);
    for (size_t i = 0; i < t->rows && adds; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (t->cell[i][j].done) promote(&t->cell[i][j], job);
}

/* The sum of a cell and the last `adds` of those kept of it; which takes their place. */
static void cell_keep(struct tile *t, const struct job *job, size_t i, size_t j, int adds)
{
    const uint32_t own = cell_fold(&t->cell[i][j], job);
    uint32_t v = job_sum(job, own);
    tell(job, WATCH_SUM, 0, own, v);
    for (int n = 1; n <= adds; n++) {
        const uint32_t before = v;
        v = job_sum(job, add32(job, t->sum[t->kept - n][i][j], v));
        tell(job, WATCH_ADDITION, 0, before, v);
    }
    t->sum[t->kept - adds][i][j] = v;
    cell_start(&t->cell[i][j], job);
}

/* One lane of a slice of every cell of a tile. */
static void tile_sequence(struct tile *t, const struct job *job, size_t sequence)
{
    const size_t from = job->parts.first[sequence], to = job->parts.first[sequence + 1];
    const int adds = job->parts.adds[sequence];
    for (size_t s = from; s < to; s += job->schedule.tile)
        tile_of_k(t, job, s, smaller(s + job->schedule.tile, to));
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) cell_keep(t, job, i, j, adds);
    t->kept += 1 - adds;
}

static void tile_run(const struct job *job, struct number *scratch, size_t i0, size_t j0,
                     size_t rows, size_t cols)
{
    struct tile *const t = (void *)(scratch + 2 * engine_numbers(job));
    t->i0 = i0, t->j0 = j0, t->rows = rows, t->cols = cols, t->kept = 0;
    t->a = scratch, t->b = scratch + engine_numbers(job);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) cell_start(&t->cell[i][j], job);
    memset(t->sum[0], 0, sizeof t->sum[0]);
    for (size_t s = 0; s < job->parts.count; s++) tile_sequence(t, job, s);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const uint32_t sum = t->sum[0][i][j];
            const float total = float_of_bits(sum);
            job_finish(job, i0 + i, j0 + j, &total, 1);
            tell(job, WATCH_END, 0, sum, job->d[(i0 + i) * job->ldd + j0 + j]);
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
    x.engine_bytes = 2 * engine_numbers(job) * sizeof(struct number) + TILE_BYTES;
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
        if (words_special(&job->a, i0 + i)) engine_run(job, numbers, i0 + i, j0, 1, cols);
    for (size_t j = 0; j < cols; j++)
        if (words_special(&job->b, j0 + j)) engine_run(job, numbers, i0, j0 + j, rows, 1);
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

/* Memory for a job's threads, which is kept if the job says so. */
static char *scratch_take(const struct job *job, size_t threads, size_t bytes)
{
    struct gemm_scratch *const kept = job->scratch;
    size_t all;
    if (!kept || !size_multiply(&all, threads, bytes))
        return memory_allocate(threads, bytes);
    if (all > kept->bytes) {
        free(kept->at);
        kept->at = memory_allocate(threads, bytes);
        kept->bytes = kept->at ? all : 0;
    }
    return kept->at;
}

/* Tile t by one of the threads, in its scratch, and what is done by now. */
static void run_tile(const struct job *job, const struct grid *x, char *scratch, size_t t,
                     int thread, size_t *done)
{
    size_t now;
    if (progress_stopped(job->progress)) return;
    grid_run(job, x, scratch + (size_t)thread * x->thread_bytes, t);
#pragma omp atomic capture
    now = ++*done;
    if (thread == 0) progress_report(job->progress, now, x->tiles);
}

/* All tiles; BITCUT_CANNOT if asked to stop.  A team of one thread would wake nobody by a
   system call each time. */
static enum bitcut_status job_run(const struct job *job, int threads)
{
    enum { ALIGNMENT = 64 };
    const struct grid x = grid_make(job);
    const int count = threads_for(threads, x.tiles);
    size_t done = 0;
    char *memory = scratch_take(job, (size_t)count + 1, x.thread_bytes + ALIGNMENT);
    if (!memory) return BITCUT_NO_MEMORY;
    char *const scratch = memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT);
    if (count == 1) {
        for (size_t t = 0; t < x.tiles; t++) run_tile(job, &x, scratch, t, 0, &done);
    } else {
#pragma omp parallel for schedule(dynamic) num_threads(count)
        for (size_t t = 0; t < x.tiles; t++)
            run_tile(job, &x, scratch, t, threads_number(), &done);
    }
    if (!job->scratch) free(memory);
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

static struct words_rule rule_of(const struct job *job, const struct side *s)
{
    return (struct words_rule){ s->columns ? job->unit->b : job->unit->a, s->split,
                                job->splits, job->plan->equilibrate };
}

/* The words of an operand.  A and B as row-major FP32 are read where they are; what is
   not, or not in its order, is copied first. */
static enum bitcut_status operand_make(struct words *to, const struct job *job,
                                       const struct side *s, size_t k, int threads)
{
    const size_t length = job->parts.steps * (size_t)job->plan->k_step;
    const struct words_rule rule = rule_of(job, s);
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
    const enum bitcut_status status =
        words_make(to, &rule, source, s->lines, direct ? k : length, length, threads);
    if (status == BITCUT_OK && job->plan->slips && job->plan->slips->respell)
        words_respell(to, job->plan->slips, s->columns ? BITCUT_B : BITCUT_A, all.element,
                      k);
    free(own);
    return status;
}

/* The same, or the words that are kept; which the job then only borrows. */
static enum bitcut_status operand_take(struct words *to, struct kept_words *kept,
                                       const struct job *job, const struct side *s,
                                       size_t k, int threads)
{
    const size_t length = job->parts.steps * (size_t)job->plan->k_step;
    const struct words_rule rule = rule_of(job, s);
    if (!kept || job->parts.element) return operand_make(to, job, s, k, threads);
    if (!words_serve(kept, &rule, s->view.at, s->lines, k, length)) {
        words_clear(&kept->words);
        kept->operand = NULL;
        const enum bitcut_status status = operand_make(&kept->words, job, s, k, threads);
        if (status != BITCUT_OK) return status;
        *kept = (struct kept_words){ kept->words, *s->split, rule.operand,
                                     s->view.at,  s->lines,  k,
                                     rule.equilibrate };
    }
    *to = kept->words;
    return BITCUT_OK;
}

static void operand_end(struct words *w, const struct kept_words *kept)
{
    if (!kept || w->at[0] != kept->words.at[0]) words_clear(w);
}

void gemm_words_clear(struct gemm_words *w)
{
    words_clear(&w->a.words);
    words_clear(&w->b.words);
    *w = (struct gemm_words){ 0 };
}

/* Operands, C, and a separate D, so that D may be C and a stopped run leaves it alone. */
static enum bitcut_status job_prepare(struct job *job, const struct bitcut_gemm *g,
                                      size_t i, int threads)
{
    const struct view va = view_of(&g->a, i, g->m, g->k, false),
                      vb = view_of(&g->b, i, g->k, g->n, true);
    const struct side a = { &g->a, &job->plan->split_a, va, g->m, false },
                      b = { &g->b, &job->plan->split_b, vb, g->n, true };
    size_t count;
    if (!size_multiply(&count, job->m, job->n) ||
        !(job->d = memory_allocate(count, sizeof *job->d)))
        return BITCUT_NO_MEMORY;
    if (gemm_reads_c(g)) {
        const struct view c = view_of(&g->c, i, g->m, g->n, false);
        job->c = view_gather(&c, &(struct gathering){ g->m, g->n, g->n, NULL, false },
                             threads);
        if (!job->c) return BITCUT_NO_MEMORY;
    }
    const enum bitcut_status status =
        operand_take(&job->a, job->keep_a, job, &a, g->k, threads);
    return status == BITCUT_OK
               ? operand_take(&job->b, job->keep_b, job, &b, g->k, threads)
               : status;
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
    operand_end(&job.a, job.keep_a);
    operand_end(&job.b, job.keep_b);
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

/* GEMM i, unless one has failed. */
static void run_nth(enum bitcut_status *worst, const struct bitcut_gemm *g, size_t i,
                    const struct job *job, int threads)
{
    enum bitcut_status now;
#pragma omp atomic read
    now = *worst;
    if (now != BITCUT_OK) return;
    now = run_one(g, i, job, threads);
    if (now == BITCUT_OK) return;
#pragma omp atomic write
    *worst = now;
}

static enum bitcut_status run_all(const struct bitcut_gemm *g, const struct job *job,
                                  int threads)
{
    const int team = are_small(g) ? threads_for(threads, g->count) : 1;
    enum bitcut_status worst = BITCUT_OK;
    if (team == 1) {
        for (size_t i = 0; i < g->count; i++) run_nth(&worst, g, i, job, threads);
        return worst;
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(team)
    for (size_t i = 0; i < g->count; i++) run_nth(&worst, g, i, job, 1);
    return worst;
}

/* Whether there is more than words that are respelled: only the engine does that. */
static bool slips_in_sums(const struct gemm_slips *s)
{
    return s && (s->start || s->kept || s->moved || s->held || s->adds || s->stays ||
                 s->replaces || s->forgets);
}

/* Which kernels compute a job: those of the level asked for, if they take the unit and it
   takes all words. */
static enum bitcut_status choose_kernels(struct job *job, const struct simd_level *level,
                                         struct fault *f)
{
    const enum bitcut_status status = level ? BITCUT_OK : simd_choose(&level, f);
    if (status != BITCUT_OK) return status;
    job->splits = level->kernels;
    if (!job->watch && gemm_unit_takes_words(job->unit, job->plan) &&
        fast_takes(job->unit) && !slips_in_sums(job->plan->slips))
        job->kernels = level->kernels;
    return BITCUT_OK;
}

/* Whether there are as many products as a device is offered, and nothing that only the
   engine does. */
static bool is_for_device(const struct bitcut_gemm *g, const struct gemm_plan *plan,
                          const struct gemm_options *o)
{
    const double products = (double)g->m * (double)g->n * (double)g->k;
    return o->offload && !o->watch && !plan->slips && g->count && products > 0 &&
           products >= o->offload->least;
}

/* One after the other; *took is false: none of them. */
static enum bitcut_status run_on_device(bool *took, const struct bitcut_gemm *g,
                                        const struct gemm_plan *plan,
                                        const struct gemm_options *o, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *took = true;
    for (size_t i = 0; i < g->count && *took && status == BITCUT_OK; i++) {
        const struct bitcut_gemm one = gemm_nth(g, i);
        status = progress_stopped(o->progress)
                     ? fault_set(f, BITCUT_CANNOT, "stopped")
                     : o->offload->run(took, &one, plan, o->offload->context, f);
        progress_report(o->progress, i + 1, g->count);
    }
    return status;
}

enum bitcut_status gemm_run_plan(const struct bitcut_gemm *g,
                                 const struct gemm_plan *plan,
                                 const struct gemm_options *o, struct fault *f)
{
    if (is_for_device(g, plan, o)) {
        bool took;
        const enum bitcut_status there = run_on_device(&took, g, plan, o, f);
        if (took) return there;
    }
    struct job job = { .plan = plan,
                       .unit = g->unit,
                       .alpha = g->alpha,
                       .beta = g->beta,
                       .m = g->m,
                       .n = g->n,
                       .ldd = g->n,
                       .ldc = g->n,
                       .watch = o->watch,
                       .scratch = g->count == 1 && o->threads == 1 ? o->scratch : NULL,
                       .keep_a = o->words ? &o->words->a : NULL,
                       .keep_b = o->words ? &o->words->b : NULL,
                       .progress = o->progress };
    enum bitcut_status status = choose_kernels(&job, o->simd, f);
    if (status != BITCUT_OK || !g->m || !g->n || !g->count) return status;
    status = k_parts_make(&job.parts, &plan->order, g->k, (size_t)plan->k_step);
    job.schedule = schedule_make(plan, g->unit, job.parts.steps);
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
    return status == BITCUT_OK ? gemm_run_plan(g, &plan, o, f) : status;
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

const struct bitcut_unit *bitcut_gemm_unit(const struct bitcut_gemm *gemm, size_t index)
{
    struct bitcut_gemm g;
    struct gemm_plan plan;
    if (gemm_take(&g, gemm, NULL) != BITCUT_OK ||
        gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK)
        return NULL;
    return index < (size_t)plan.terms ? plan.unit[index] : NULL;
}

enum bitcut_status gemm_call(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                             const struct gemm_options *options, char *why)
{
    struct bitcut_gemm g;
    struct gemm_plan plan;
    struct fault f;
    enum bitcut_status status = gemm_check_place(ran, &f);
    if (status == BITCUT_OK) status = gemm_take(&g, gemm, &f);
    if (status == BITCUT_OK) status = check_public(&g, options->threads, &f);
    if (status == BITCUT_OK) status = gemm_run(&g, options, &f);
    if (status != BITCUT_OK) return fault_tell(why, status, &f);
    gemm_plan_on_unit(&plan, &g, NULL);
    gemm_settle(&g, &plan);
    gemm_give(ran, &g);
    return status;
}

enum bitcut_status bitcut_gemm(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                               int threads, char *why)
{
    return gemm_call(
        ran, gemm,
        &(struct gemm_options){ .threads = threads, .progress = progress_of_thread() },
        why);
}
