/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/engine_tile.h"

#include "emu/engine.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/rand.h"

#include <assert.h>
#include <string.h>

/* A tile is computed in pieces of k, so that its operands stay in cache for any k. */
enum { TILE = ENGINE_TILE, DEPTH = 512 };

/* Products that share a block scale, at least; so many scales has a line of a piece. */
enum { SCALE_BLOCK_MIN = 16, SCALES = DEPTH / SCALE_BLOCK_MIN };

/* State of one output during its computation. */
struct cell {
    uint64_t accumulator[RECIPE_ACCUMULATORS_MAX]; /* encodings of unit->c     */
    uint32_t master;                               /* FP32: sum of the promotions so
                                                      far                      */
    size_t i, j, k; /* the output, and the first k of the current k-step           */
    size_t done; /* instructions of accumulator 0 since the last promotion */
};

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

static void tell_instruction(const struct job *job, int t, const struct bitcut_unit *u,
                             struct lane a, struct lane b, uint64_t before,
                             uint64_t after)
{
    const struct watch_event e = { .kind = WATCH_INSTRUCTION,
                                   .term = t,
                                   .accumulator = job->plan->term[t].accumulator,
                                   .unit = u,
                                   .a = a.x,
                                   .b = b.x,
                                   .scale_a = a.scale,
                                   .scale_b = b.scale,
                                   .trace = job->watch->trace,
                                   .before = before,
                                   .after = after };
    job->watch->see(job->watch->context, &e);
}

/* The value of accumulator i in FP32, rounded to nearest if it is an integer with more
   bits; in a GEMM of integers, the s32 itself. */
static uint32_t to_f32(const struct job *job, int i, uint64_t accumulator)
{
    const struct bitcut_format *c = job->schedule.sum[i];
    if (c == &formats[FORMAT_F32] || job->plan->integer) return (uint32_t)accumulator;
    if (format_decode(c, accumulator).kind == NUMBER_NAN) return job->schedule.nan;
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN], c,
                                           accumulator);
}

static uint32_t add32(const struct job *job, uint32_t a, uint32_t b)
{
    if (job->plan->integer) return job_add_integers(job, a, b);
    return job_fma(&job->schedule, a, F32_ONE, b);
}

static uint64_t from_f32(const struct job *job, int i, uint32_t x)
{
    if (job->plan->integer) return x;
    return bitcut_format_convert(job->schedule.sum[i], &roundings[ROUND_RN],
                                 &formats[FORMAT_F32], x);
}

/* The register after the promotion of accumulator 0, in a kernel with faults. */
static uint32_t promoted_wrongly(const struct cell *x, const struct job *job,
                                 const struct gemm_faults *s)
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

/* The promotion of accumulator 0, which has not been cleared yet. */
static void tell_promotion(const struct job *job, const struct cell *x, uint32_t before)
{
    const struct promotion p =
        job_promotion(job, to_f32(job, 0, x->accumulator[0]), x->i, x->j, x->k);
    const struct watch_event e = { .kind = WATCH_PROMOTION,
                                   .before = before,
                                   .after = x->master,
                                   .factor = p.factor,
                                   .value = p.value,
                                   .factor_a = p.a,
                                   .factor_b = p.b };
    job->watch->see(job->watch->context, &e);
}

static void promote(struct cell *x, const struct job *job)
{
    const struct gemm_faults *s = job->plan->faults;
    const uint32_t before = x->master;
    x->master =
        s ? promoted_wrongly(x, job, s)
          : job_promote(job, to_f32(job, 0, x->accumulator[0]), before, x->i, x->j, x->k);
    if (job->watch) tell_promotion(job, x, before);
    if (!s || !s->stays) x->accumulator[0] = 0;
    x->done = 0;
}

static void cell_start(struct cell *x, const struct job *job)
{
    const struct gemm_faults *s = job->plan->faults;
    *x = (struct cell){ .i = x->i, .j = x->j };
    if (s && s->start) x->accumulator[0] = from_f32(job, 0, s->start);
}

/* Accumulator i times 2^-s, rounded to nearest. */
static uint64_t scaled(const struct job *job, int i, uint64_t accumulator)
{
    const uint32_t factor = f32_power_of_two(-job->plan->scale);
    return from_f32(job, i, f32_multiply(to_f32(job, i, accumulator), factor));
}

/* Prepare the accumulator of term t at the start of its part of a tile. */
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

/* The operand from k on, with its block scales. */
static struct lane lane_from(const struct bitcut_unit *u, struct lane x, int k)
{
    return (struct lane){ x.x + k, u->scale ? x.scale + k / u->scale_block : NULL };
}

/* Set the position of the random bits of an instruction of term t: outputs 0 and 1 of
   Philox with the key of the seed and the counter { row, column, k of the first product,
   term }.  Further values of the instruction have the next positions. */
static void set_random(struct bitcut_unit *u, uint64_t *draws, const struct cell *x,
                       size_t k, int t)
{
    const uint32_t counter[] = { (uint32_t)x->i, (uint32_t)x->j, (uint32_t)k,
                                 (uint32_t)t },
                   key[] = { (uint32_t)u->rounding.seed,
                             (uint32_t)(u->rounding.seed >> 32) };
    uint32_t part[4];
    bitcut_philox(part, counter, key);
    u->rounding.position = rand_bits(part[0], part[1]);
    u->rounding.draws = draws;
    *draws = 0;
}

/* The accumulator c after one instruction. */
static uint64_t dot(const struct job *job, const struct bitcut_unit *u, struct lane a,
                    struct lane b, uint64_t c)
{
    return job->watch ? unit_trace(job->watch->trace, u, a, b, c) : unit_dot(u, a, b, c);
}

/* The same of a unit that rounds by rule sr.  The instruction begins at position p of all
   k in their order. */
static uint64_t stochastic_dot(const struct job *job, int t, const struct cell *x,
                               size_t p, struct lane a, struct lane b, uint64_t c)
{
    struct bitcut_unit u = *job->plan->unit[t];
    uint64_t draws;
    set_random(&u, &draws, x, job->parts.element ? job->parts.element[p] : p, t);
    const uint64_t d = dot(job, &u, a, b, c);
    if (job->watch) tell_instruction(job, t, &u, a, b, c, d);
    return d;
}

/* Run the instructions of a term in a k-step.  a and b are the operands of its parts. */
static void cell_term(struct cell *x, const struct job *job, int t, struct lane a,
                      struct lane b)
{
    const struct bitcut_unit *u = job->plan->unit[t];
    const struct gemm_faults *faults = job->plan->faults;
    const int accumulator = job->plan->term[t].accumulator;
    uint64_t *c = &x->accumulator[accumulator];
    for (int k = 0; k < job->plan->k_step; k += u->k) {
        const uint64_t before = *c;
        const struct lane from_a = lane_from(u, a, k), from_b = lane_from(u, b, k);
        *c = u->rounding.direction == STOCHASTIC
                 ? stochastic_dot(job, t, x, x->k + (size_t)k, from_a, from_b, before)
                 : dot(job, u, from_a, from_b, before);
        if (faults && faults->kept)
            *c = from_f32(
                job, accumulator,
                f32_through(faults->kept, faults->kept_by, to_f32(job, accumulator, *c)));
        if (job->watch && u->rounding.direction != STOCHASTIC)
            tell_instruction(job, t, u, from_a, from_b, before, *c);
        if (accumulator == 0 && ++x->done == (size_t)job->plan->promote) promote(x, job);
    }
}

/* Run one k-step: the terms from `first` on that are interleaved, once each.  a and b are
   part 0 of the operands, with DEPTH numbers for each part of TILE lines. */
static void cell_step(struct cell *x, const struct job *job, int first, struct lane a,
                      struct lane b)
{
    for (int t = first; t < first + job->schedule.together; t++) {
        const struct recipe_term term = job->plan->term[t];
        cell_term(x, job, t, (struct lane){ a.x + term.a * (TILE * DEPTH), a.scale },
                  (struct lane){ b.x + term.b * (TILE * DEPTH), b.scale });
    }
}

/* Fold the accumulators of a cell into one sum. */
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
   [part][line][DEPTH]. */
struct tile {
    size_t i0, j0, rows, cols;
    struct number *a, *b;
    struct number scale_a[TILE][SCALES], scale_b[TILE][SCALES];
    struct cell cell[TILE][TILE];
    int kept; /* retained sums of slices and lanes: struct k_parts */
    uint32_t sum[K_PARTS_KEPT_MAX][TILE][TILE];
};

/* The tile is stored after its numbers, in the memory of its thread, because the stack of
   a thread may be small. */
enum { TILE_BYTES = (sizeof(struct tile) + 63) / 64 * 64 };
_Static_assert(sizeof(struct number) % _Alignof(struct tile) == 0, "it is aligned there");

static size_t engine_numbers(const struct job *job)
{
    const int parts = job->a.count > job->b.count ? job->a.count : job->b.count;
    return (size_t)parts * TILE * DEPTH;
}

static void read_lines(struct number *to, const struct job *job, const struct parts *w,
                       size_t first, size_t lines, size_t from, size_t count)
{
    for (int j = 0; j < w->count; j++) {
        const struct bitcut_unit *u =
            gemm_plan_reader(job->plan, w == &job->b ? BITCUT_B : BITCUT_A, j);
        for (size_t i = 0; u && i < lines; i++)
            parts_read(to + ((size_t)j * TILE + i) * DEPTH, w, u, j, first + i, from,
                       count);
    }
}

/* Read the block scales of a piece of k that begins with k number `from`, if the unit has
   some.  Blocks of padding have the scale 1. */
static void read_scales(struct number to[TILE][SCALES], const struct job *job,
                        const struct scale_factors *x, size_t first, size_t lines,
                        size_t from)
{
    const struct bitcut_unit *u = job->unit;
    const size_t size = (size_t)u->scale_block;
    assert(!u->scale || size >= SCALE_BLOCK_MIN);
    for (size_t i = 0; u->scale && i < lines; i++)
        for (size_t p = 0; p < DEPTH / size; p++) {
            const size_t block = from / size + p;
            const uint32_t factor =
                block < x->blocks ? scale_factor(x, first + i, block * size) : F32_ONE;
            to[i][p] = format_decode(u->scale,
                                     bitcut_format_convert(u->scale, &roundings[ROUND_RN],
                                                           &formats[FORMAT_F32], factor));
        }
}

/* Advance every cell of a tile through k-steps [from, to), a piece that is read at once,
   with the interleaved terms from `first` on. */
static void tile_steps(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t k = (size_t)job->plan->k_step;
    read_lines(t->a, job, &job->a, t->i0, t->rows, from * k, (to - from) * k);
    read_lines(t->b, job, &job->b, t->j0, t->cols, from * k, (to - from) * k);
    read_scales(t->scale_a, job, &job->epilogue.a, t->i0, t->rows, from * k);
    read_scales(t->scale_b, job, &job->epilogue.b, t->j0, t->cols, from * k);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            for (size_t s = 0; s < to - from; s++) {
                const struct lane a = { t->a + i * DEPTH, t->scale_a[i] },
                                  b = { t->b + j * DEPTH, t->scale_b[j] };
                t->cell[i][j].k = (from + s) * k;
                cell_step(&t->cell[i][j], job, first,
                          lane_from(job->unit, a, (int)(s * k)),
                          lane_from(job->unit, b, (int)(s * k)));
            }
}

/* The same for any number of k-steps, including the preparation of the terms. */
static void tile_terms(struct tile *t, const struct job *job, size_t from, size_t to,
                       int first)
{
    const size_t steps = DEPTH / (size_t)job->plan->k_step;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) cell_prepare(&t->cell[i][j], job, first);
    for (size_t s = from; s < to; s += steps)
        tile_steps(t, job, s, smaller(s + steps, to), first);
}

/* Compute a tile of k, or a whole slice: every term, and the promotion at the end. */
static void tile_of_k(struct tile *t, const struct job *job, size_t from, size_t to)
{
    for (int first = 0; first < job->plan->terms; first += job->schedule.together)
        tile_terms(t, job, from, to, first);
    const bool adds =
        job->schedule.promotes && !(job->plan->faults && job->plan->faults->forgets);
    for (size_t i = 0; i < t->rows && adds; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (t->cell[i][j].done) promote(&t->cell[i][j], job);
}

static bool starts_in_accumulator(const struct job *job)
{
    return job->plan->start == BITCUT_START_C || job->plan->start == BITCUT_START_BIAS;
}

/* The sum of a sequence of a cell. */
static uint32_t cell_sum(const struct cell *x, const struct job *job, bool first)
{
    const uint32_t v = cell_fold(x, job);
    if (!first || !job->plan->start || starts_in_accumulator(job)) return v;
    const uint32_t sum = add32(job, v, job_start(job, x->i, x->j));
    tell(job, WATCH_JOIN, 0, v, sum);
    return sum;
}

/* Add the last retained sums of a cell to its sum of a sequence, as many as the order
   says, and retain the result in their place. */
static void cell_keep(struct tile *t, const struct job *job, size_t i, size_t j,
                      size_t sequence)
{
    const int adds = job->parts.adds[sequence];
    const uint32_t own = cell_sum(&t->cell[i][j], job, sequence == job->first);
    uint32_t v = job_sum(job, sequence, 0, own);
    tell(job, WATCH_SUM, 0, own, v);
    for (int n = 1; n <= adds; n++) {
        const uint32_t before = v;
        v = job_sum(job, sequence, n, add32(job, t->sum[t->kept - n][i][j], v));
        tell(job, WATCH_ADDITION, 0, before, v);
    }
    t->sum[t->kept - adds][i][j] = v;
    cell_start(&t->cell[i][j], job);
}

/* Start accumulator 0 of every cell from the sum that was retained last, or else from C
   or the bias. */
static void start_cells(struct tile *t, const struct job *job, bool resumes)
{
    t->kept -= resumes;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) {
            struct cell *const x = &t->cell[i][j];
            const uint32_t start =
                resumes ? t->sum[t->kept][i][j] : job_start(job, x->i, x->j);
            x->accumulator[0] = from_f32(job, 0, start);
            tell(job, resumes ? WATCH_RESUME : WATCH_BEGIN, 0, start,
                 to_f32(job, 0, x->accumulator[0]));
        }
}

/* Compute one lane of a slice for every cell of a tile. */
static void tile_sequence(struct tile *t, const struct job *job, size_t sequence)
{
    const size_t from = job->parts.first[sequence], to = job->parts.first[sequence + 1];
    const bool resumes = k_parts_resumes(&job->parts, sequence);
    if (resumes || (sequence == job->first && starts_in_accumulator(job)))
        start_cells(t, job, resumes);
    for (size_t s = from; s < to; s += job->schedule.tile)
        tile_of_k(t, job, s, smaller(s + job->schedule.tile, to));
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) cell_keep(t, job, i, j, sequence);
    t->kept += 1 - job->parts.adds[sequence];
}

/* The sum of an output without products. */
static uint32_t empty_sum(const struct cell *x, const struct job *job)
{
    const uint32_t start = job_start(job, x->i, x->j);
    return starts_in_accumulator(job) ? to_f32(job, 0, from_f32(job, 0, start)) : start;
}

static void tile_run(const struct job *job, struct number *scratch, size_t i0, size_t j0,
                     size_t rows, size_t cols)
{
    struct tile *const t = (void *)(scratch + 2 * engine_numbers(job));
    t->i0 = i0, t->j0 = j0, t->rows = rows, t->cols = cols, t->kept = 0;
    t->a = scratch, t->b = scratch + engine_numbers(job);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            struct cell *const x = &t->cell[i][j];
            x->i = i0 + i, x->j = j0 + j;
            cell_start(x, job);
            t->sum[0][i][j] = empty_sum(x, job);
        }
    for (size_t s = 0; s < job->parts.count; s++) tile_sequence(t, job, s);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const uint32_t sum = t->sum[0][i][j];
            const float total = float_of_bits(sum);
            job_finish(job, i0 + i, j0 + j, &total, 1);
            tell(job, WATCH_END, 0, sum, job->d[(i0 + i) * job->ldd + j0 + j]);
        }
}

size_t engine_tile_bytes(const struct job *job)
{
    return 2 * engine_numbers(job) * sizeof(struct number) + TILE_BYTES;
}

void engine_run(const struct job *job, struct number *scratch, size_t i0, size_t j0,
                size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i += TILE)
        for (size_t j = 0; j < cols && !progress_stopped(job->progress); j += TILE)
            tile_run(job, scratch, i0 + i, j0 + j, smaller(TILE, rows - i),
                     smaller(TILE, cols - j));
}
