#define _POSIX_C_SOURCE 200809L /* sysconf() */

#include "gpu/host/host_product.h"

#include "gpu/host/host_code.h"
#include "gpu/host/host_recipes.h"
#include "gpu/host/host_units.h"
#include "gpu/host/host_words.h"
#include "lib/bits.h"
#include "lib/equilibrate.h"
#include "lib/fma.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the rows --------------------------------------------------------------------- */

enum { SLICES_MOST = 65535 };

/* Of m, n and k, so that the bytes of a workspace can be counted. */
#define SIZE_MOST ((size_t)1 << 31)

#define TERM(A, B, ACCUMULATOR) { A, B, ACCUMULATOR, false },
#define COUNT(...)              +1

#define KERNEL(FAMILY, WHAT, INSTRUCTION, UNIT, RECIPE, WORDS)                           \
    { .name = FAMILY "." #RECIPE ".bf16",                                                \
      .what = WHAT,                                                                      \
      .recipe = #RECIPE,                                                                 \
      .instruction = INSTRUCTION,                                                        \
      .matrices = FORMAT_F32,                                                            \
      .format = FORMAT_BF16,                                                             \
      .program = { WORDS,                                                                \
                   0 HOST_TERMS_##RECIPE(COUNT),                                         \
                   { HOST_TERMS_##RECIPE(TERM) },                                        \
                   0 },                                                                  \
      .cluster_m = 1,                                                                    \
      .cluster_n = 1,                                                                    \
      .slices_most = SLICES_MOST,                                                        \
      .size_most = SIZE_MOST,                                                            \
      .architectures = UNIT },

#define AMX_KERNEL(RECIPE, WORDS, ACCUMULATORS)                                          \
    KERNEL("amx", "TDPBF16PS, blocks of 16 x 16", "tdpbf16ps.m16n16k32.f32.bf16",        \
           ON_AMX_BF16, RECIPE, WORDS)
#define AVX512_KERNEL(RECIPE, WORDS, ACCUMULATORS)                                       \
    KERNEL("avx512", "VDPBF16PS, blocks of 16 x 16", "vdpbf16ps.m1n16k2.f32.bf16",       \
           ON_AVX512_BF16, RECIPE, WORDS)

/* Where a recipe has several, the first that the processor can run is the faster one. */
const struct gpu_kernel host_kernels[] = { HOST_RECIPES(AMX_KERNEL)
                                               HOST_RECIPES(AVX512_KERNEL){ 0 } };

static size_t aligned(size_t bytes)
{
    return divide_up(bytes, GPU_ALIGNMENT) * GPU_ALIGNMENT;
}

#if HOST_HAS_CODE

/* --- one GEMM --------------------------------------------------------------------- */

/* The code of each row, as they are listed above. */
static const struct host_code *const codes[] = { &host_amx_one,    &host_amx_one,
                                                 &host_amx_one,    &host_amx_bf16x9,
                                                 &host_avx512_any, &host_avx512_any,
                                                 &host_avx512_any, &host_avx512_any };

/* A thread's part of D at a time is an area of blocks, up to AREA of them each way, whose
   sums it keeps.  It goes through k a run at a time: of that the words of one panel stay
   in the L1 cache, and those of the area's panels, with the sums, in the L2 cache. */
enum { AREA = 8, AREA_BYTES = 640 << 10 };

/* Elements of a cache line. */
enum { LINE_ELEMENTS = 16 };

/* An operand of one GEMM. */
struct half {
    struct host_tiles tiles;
    const uint32_t *at;
    const uint32_t *largest; /* of its lines; NULL: they are not equilibrated */
};

/* One of a batch. */
struct product {
    const struct gpu_work *work;
    const struct host_code *code;
    struct half a, b;
    struct bitcut_gemm gemm; /* that one */
    struct host_terms terms[RECIPE_ACCUMULATORS_MOST];
    size_t down, across; /* blocks of an area */
};

/* Blocks of sums that a thread keeps for each of D: the accumulators, and what slices
   before give. */
static size_t kept_blocks(const struct gemm_plan *plan)
{
    return (size_t)plan->accumulators + (plan->order.slices > 1);
}

static void terms_set(struct host_terms terms[RECIPE_ACCUMULATORS_MOST],
                      const struct gpu_program *program)
{
    for (int t = 0; t < program->terms; t++) {
        const struct recipe_term *const term = &program->term[t];
        struct host_terms *const to = &terms[term->accumulator];
        to->at[to->count].a = (size_t)term->a * HOST_WORD;
        to->at[to->count++].b = (size_t)term->b * HOST_WORD;
    }
}

/* An area's place in D, in blocks, and its sums. */
struct area {
    size_t i, j, down, across;
    host_block *sums; /* [i][j][kept_blocks()] */
};

/* Pairs of a run of steps, that all chains of an area go through before those of the
   next. */
struct run {
    size_t step, first, end; /* its first step, and pairs from there on          */
    size_t next;             /* steps of the run after it; 0: outputs come after it */
    bool from_zero;
};

static host_block *kept_at(const struct area *x, const struct product *p, size_t i,
                           size_t j)
{
    return x->sums + (i * x->across + j) * kept_blocks(&p->work->plan);
}

static uint32_t *element(const struct bitcut_matrix *x, size_t i, size_t j)
{
    uint32_t *const at = (uint32_t *)x->to;
    return x->layout == BITCUT_COLUMN_MAJOR ? at + j * x->ld + i : at + i * x->ld + j;
}

/* The share of one of `shares` blocks of what the next run needs of a panel. */
static struct host_ahead ahead_in(const struct half *x, size_t panel,
                                  const struct run *run, size_t share, size_t shares)
{
    const struct host_tiles *const tiles = &x->tiles;
    const size_t lines = run->next * host_step_elements(tiles) / LINE_ELEMENTS;
    const size_t each = divide_up(lines, shares);
    const uint32_t *const at = x->at + host_step_at(tiles, panel, run->step + tiles->run);
    return (struct host_ahead){ (const char *)(at + each * share * LINE_ELEMENTS),
                                LINE_ELEMENTS * sizeof *at, each };
}

/* A half of the lines of a block of D. */
static struct host_ahead ahead_out(const struct bitcut_matrix *d, size_t i, size_t j,
                                   size_t half)
{
    const size_t along = half * LINE_ELEMENTS;
    const bool turned = d->layout == BITCUT_COLUMN_MAJOR;
    const uint32_t *const at =
        element(d, i + (turned ? along : 0), j + (turned ? 0 : along));
    return (struct host_ahead){ (const char *)at, d->ld * sizeof *at, HOST_LINES };
}

/* Block (i, j) of an area. */
static void block_multiply(const struct area *x, const struct product *p,
                           const struct run *run, size_t i, size_t j)
{
    const size_t row = x->i + i, col = x->j + j;
    struct host_run to = { .a = p->a.at + host_step_at(&p->a.tiles, row, run->step),
                           .b = p->b.at + host_step_at(&p->b.tiles, col, run->step),
                           .a_step = host_step_elements(&p->a.tiles),
                           .b_step = host_step_elements(&p->b.tiles),
                           .first = run->first,
                           .end = run->end,
                           .accumulators = p->work->plan.accumulators,
                           .terms = p->terms };
    if (run->next) {
        to.ahead[0] = ahead_in(&p->a, row, run, j, x->across);
        to.ahead[1] = ahead_in(&p->b, col, run, i, x->down);
    } else
        for (size_t half = 0; half < 2; half++)
            to.ahead[half] =
                ahead_out(&p->gemm.d, row * HOST_LINES, col * HOST_LINES, half);
    p->code->multiply(kept_at(x, p, i, j), &to, run->from_zero);
}

/* All blocks of an area over some pairs. */
static void area_multiply(const struct area *x, const struct product *p,
                          const struct run *run)
{
    for (size_t j = 0; j < x->across; j++)
        for (size_t i = 0; i < x->down; i++) block_multiply(x, p, run, i, j);
}

/* What a slice gave to each block: to block 0, and if there are several, the last kept.
 */
static void area_fold(const struct area *x, const struct product *p, bool first)
{
    const struct gemm_plan *const plan = &p->work->plan;
    for (size_t i = 0; i < x->down; i++)
        for (size_t j = 0; j < x->across; j++) {
            host_block *const sums = kept_at(x, p, i, j), *const total =
                                                              sums + plan->accumulators;
            host_block_fold(sums, plan->accumulators, plan->scale);
            if (plan->order.slices == 1) continue;
            if (first) memcpy(*total, *sums, sizeof *total);
            else host_block_add(*total, *sums);
        }
}

/* The sums of an area over all slices. */
static void area_sums(const struct area *x, const struct product *p)
{
    const struct gemm_plan *const plan = &p->work->plan;
    const size_t all = host_steps(&p->a.tiles), length = p->a.tiles.run;
    const size_t unit = p->code->pairs;
    const size_t units = divide_up(divide_up(p->gemm.k, 2), unit);
    const size_t pairs = units * unit;
    const size_t each = divide_up(units, (size_t)plan->order.slices) * unit;
    size_t slice = 0;
    do {
        const size_t end = smaller(slice + each, pairs);
        size_t at = slice;
        do {
            struct run run = { .step = at / HOST_PAIRS / length * length,
                               .from_zero = at == slice };
            const size_t begin = run.step * HOST_PAIRS;
            const size_t next = smaller(begin + length * HOST_PAIRS, end);
            run.first = at - begin;
            run.end = next - begin;
            if (run.step + length < all)
                run.next = smaller(length, all - run.step - length);
            area_multiply(x, p, &run);
            at = next;
        } while (at < end);
        area_fold(x, p, !slice);
        slice = end;
    } while (slice < pairs);
}

/* --- outputs ---------------------------------------------------------------------- */

/* A row of an area's blocks, and its part of D. */
struct strip {
    host_block *blocks;
    size_t apart; /* from one block to the next */
    size_t i, j, rows, cols;
};

static float *strip_at(const struct strip *x, size_t i, size_t j)
{
    return &x->blocks[j / HOST_LINES * x->apart][i][j % HOST_LINES];
}

/* Copy it to or from a matrix of D's size, line by line through all blocks, so that each
   page is met once. */
static void strip_copy(const struct strip *x, const struct bitcut_matrix *matrix,
                       bool to_blocks)
{
    if (matrix->layout == BITCUT_ROW_MAJOR)
        for (size_t i = 0; i < x->rows; i++)
            for (size_t j = 0; j < x->cols; j += HOST_LINES) {
                void *const there = element(matrix, x->i + i, x->j + j);
                const size_t bytes = smaller(x->cols - j, HOST_LINES) * sizeof(float);
                if (to_blocks) memcpy(strip_at(x, i, j), there, bytes);
                else memcpy(there, strip_at(x, i, j), bytes);
            }
    else
        for (size_t j = 0; j < x->cols; j++) {
            uint32_t *const there = element(matrix, x->i, x->j + j);
            for (size_t i = 0; i < x->rows; i++)
                if (to_blocks) *strip_at(x, i, j) = float_of_bits(there[i]);
                else there[i] = bits_of_float(*strip_at(x, i, j));
        }
}

/* Exponents that lines were scaled by, for up to so many lines. */
static const float *exponents_of(float to[AREA * HOST_LINES], const struct half *x,
                                 size_t first, size_t lines)
{
    if (!x->largest) return NULL;
    for (size_t i = 0; i < lines; i++)
        to[i] =
            (float)equilibrate_exponent(x->tiles.operand.split, x->largest[first + i]);
    return to;
}

/* Totals become outputs. */
static void strip_finish(const struct strip *x, const struct product *p)
{
    const struct bitcut_gemm *const g = &p->gemm;
    float rows[AREA * HOST_LINES], cols[AREA * HOST_LINES];
    host_block c[AREA];
    struct host_output to = { .alpha = float_of_bits(g->alpha),
                              .beta = float_of_bits(g->beta),
                              .rows = exponents_of(rows, &p->a, x->i, x->rows),
                              .cols = exponents_of(cols, &p->b, x->j, x->cols) };
    struct strip from = *x;
    from.blocks = c;
    from.apart = 1;
    if (gemm_reads_c(g)) strip_copy(&from, &g->c, true);
    for (size_t j = 0; j * HOST_LINES < x->cols; j++) {
        to.c = gemm_reads_c(g) ? &c[j] : NULL;
        host_block_finish(x->blocks[j * x->apart], &to);
        if (to.cols) to.cols += HOST_LINES;
    }
    strip_copy(x, &g->d, false);
}

static void area_finish(const struct area *x, const struct product *p)
{
    const struct gemm_plan *const plan = &p->work->plan;
    struct strip s = { .apart = kept_blocks(plan), .j = x->j * HOST_LINES };
    s.cols = smaller(p->gemm.n - s.j, x->across * HOST_LINES);
    for (size_t i = 0; i < x->down; i++) {
        s.blocks =
            kept_at(x, p, i, 0) + (plan->order.slices > 1 ? plan->accumulators : 0);
        s.i = (x->i + i) * HOST_LINES;
        s.rows = smaller(p->gemm.m - s.i, HOST_LINES);
        strip_finish(&s, p);
    }
}

/* Areas by all processors.  The one of a thread is at most that of its sums. */
static void product_run(struct product *p, host_block *sums, int threads)
{
    const size_t rows = host_panels(&p->a.tiles), cols = host_panels(&p->b.tiles);
    const size_t down = divide_up(rows, p->down), across = divide_up(cols, p->across);
    const size_t each = p->down * p->across * kept_blocks(&p->work->plan);
#pragma omp parallel num_threads(smaller_int(threads, threads_for(0, down *across)))
    {
        struct hostfp saved;
        struct area x = { .sums = sums + (size_t)threads_number() * each };
        hostfp_enter(&saved);
        p->code->begin();
#pragma omp for schedule(dynamic, 1)
        for (size_t n = 0; n < down * across; n++) {
            x.i = n / across * p->down;
            x.j = n % across * p->across;
            x.down = smaller(rows - x.i, p->down);
            x.across = smaller(cols - x.j, p->across);
            area_sums(&x, p);
            area_finish(&x, p);
        }
        p->code->end();
        hostfp_leave(&saved);
    }
}

/* --- a batch ---------------------------------------------------------------------- */

/* Threads that have room for sums: what the machine could ever use, as a workspace is of
   one size however many there are when it is used. */
static int rooms(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    return processors < 1              ? 1
           : processors < THREADS_MOST ? (int)processors
                                       : THREADS_MOST;
}

/* The blocks of an area of a GEMM. */
static void area_shape(size_t *down, size_t *across, const struct gpu_work *w)
{
    const size_t most = AREA_BYTES / sizeof(host_block) / kept_blocks(&w->plan);
    *down = smaller(divide_up(w->gemm.m, HOST_LINES), AREA);
    *across = smaller(divide_up(w->gemm.n, HOST_LINES), AREA);
    while (*down * *across > most) *across = divide_up(*across, 2);
}

/* The parts of a workspace, one after the other: bytes. */
struct parts {
    size_t tiles[2], largest[2], sums; /* of one matrix; magnitudes that no prepared words
                                          have; of all threads */
};

static struct host_tiles tiles_of(const struct gpu_work *w, enum bitcut_operand which)
{
    const size_t run = codes[w->kernel - host_kernels]->run;
    struct host_tiles x = { operand_of(w, which), which == BITCUT_B, 0 };
    x.run = run / sizeof(uint32_t) / host_step_elements(&x);
    return x;
}

static struct parts parts_of(const struct gpu_work *w)
{
    struct parts parts;
    size_t down, across;
    area_shape(&down, &across, w);
    parts.sums =
        (size_t)rooms() * down * across * kept_blocks(&w->plan) * sizeof(host_block);
    for (int i = 0; i < 2; i++) {
        const struct host_tiles x = tiles_of(w, i ? BITCUT_B : BITCUT_A);
        const size_t lines = x.operand.equilibrate ? x.operand.lines : 0;
        parts.tiles[i] = aligned(host_tiles_bytes(&x));
        parts.largest[i] = aligned(lines * sizeof(uint32_t));
    }
    return parts;
}

/* Tiles of an operand of GEMM `one`, unless they are those of the one before. */
static void half_make(struct half *x, size_t one, char *tiles, char *largest)
{
    const struct operand *const o = &x->tiles.operand;
    const struct bitcut_matrix *const m = o->matrix;
    const char *words = (const char *)m->words;
    if (one && !(words ? m->words_stride : m->stride)) return;
    x->at = (uint32_t *)tiles;
    if (words) {
        words += one * m->words_stride;
        x->largest = words_largest(words, o);
        host_tiles_take((uint32_t *)tiles, &x->tiles, words);
        return;
    }
    x->largest = o->equilibrate ? (uint32_t *)largest : NULL;
    if (x->largest) host_words_largest((uint32_t *)largest, o, one);
    host_tiles_make((uint32_t *)tiles, &x->tiles, one, x->largest);
}

static void batch_run(const struct gpu_work *w, char *workspace)
{
    const struct parts parts = parts_of(w);
    char *const b_tiles = workspace + parts.tiles[0], *const sums =
                                                          b_tiles + parts.tiles[1];
    char *const largest = sums + parts.sums;
    struct product p = { .work = w,
                         .code = codes[w->kernel - host_kernels],
                         .a.tiles = tiles_of(w, BITCUT_A),
                         .b.tiles = tiles_of(w, BITCUT_B) };
    terms_set(p.terms, &w->kernel->program);
    area_shape(&p.down, &p.across, w);
    for (size_t i = 0; i < w->gemm.count; i++) {
        p.gemm = gemm_nth(&w->gemm, i);
        half_make(&p.a, i, workspace, largest);
        half_make(&p.b, i, b_tiles, largest + parts.largest[0]);
        product_run(&p, (host_block *)sums, rooms());
    }
}

#endif

size_t host_workspace(const struct gpu_work *w)
{
#if HOST_HAS_CODE
    const struct parts x = parts_of(w);
    return x.sums + x.tiles[0] + x.tiles[1] + x.largest[0] + x.largest[1];
#else
    (void)w;
    return 0;
#endif
}

int host_start(const struct gpu_work *w, void *workspace, int device, void *stream,
               char *fault)
{
    (void)device;
    (void)stream;
    (void)fault;
#if HOST_HAS_CODE
    if (w->gemm.m && w->gemm.n) batch_run(w, workspace);
#else
    (void)w;
    (void)workspace;
#endif
    return 0;
}

/* The matrices are where the processor reads them. */
int host_gemm(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
              char *fault)
{
    const size_t bytes = aligned(host_workspace(w));
    void *const workspace = aligned_alloc(GPU_ALIGNMENT, bytes + GPU_ALIGNMENT);
    (void)memory;
    snprintf(fault, GPU_FAULT_MOST, "no memory for a workspace of %zu bytes", bytes);
    const int status = workspace ? host_start(w, workspace, device, NULL, fault) : 1;
    free(workspace);
    return status;
}

/* --- words ------------------------------------------------------------------------ */

size_t host_words(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct operand x = operand_of(w, which);
    return words_bytes(&x);
}

int host_prepare(void *words, const struct gpu_work *w, enum bitcut_operand which,
                 int device, void *stream, char *fault)
{
    const struct operand x = operand_of(w, which);
    (void)device;
    (void)stream;
    (void)fault;
    host_words_make(words, &x, 0);
    return 0;
}

int host_split(void *words, const struct gpu_work *w, enum bitcut_operand which,
               int device, char *fault)
{
    return host_prepare(words, w, which, device, NULL, fault);
}
