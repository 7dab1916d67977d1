#define _POSIX_C_SOURCE 200809L /* sysconf() */

#include "gpu/host/host_product.h"

#include "gpu/host/host_code.h"
#include "gpu/host/host_memory.h"
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

/* Outputs of so many bytes do not stay in caches anyway: they are written past them. */
enum { PAST_BYTES = 1 << 20 };

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
    size_t down, across; /* blocks of an area at most */
    size_t room;         /* bytes that a thread has for one */
};

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

/* An area: its place in D, in blocks, and what a thread keeps of it. */
struct area {
    size_t i, j, down, across;
    host_block *totals; /* [i][j]: slices that are folded */
    float *sums;        /* of a slice, by the code's places */
};

static uint32_t *element(const struct bitcut_matrix *x, size_t i, size_t j)
{
    uint32_t *const at = (uint32_t *)x->to;
    return x->layout == BITCUT_COLUMN_MAJOR ? at + j * x->ld + i : at + i * x->ld + j;
}

/* The run that begins with that step, of the area's panels; its pairs are still open. */
static struct host_run run_of(const struct area *x, const struct product *p, size_t step)
{
    const struct host_tiles *const a = &p->a.tiles, *const b = &p->b.tiles;
    const size_t next = step + a->run, steps = host_steps(a);
    const bool more = next < steps;
    return (struct host_run){
        .a = p->a.at + host_step_at(a, x->i, step),
        .b = p->b.at + host_step_at(b, x->j, step),
        .a_panel = host_step_at(a, 1, 0),
        .b_panel = host_step_at(b, 1, 0),
        .a_step = host_step_elements(a),
        .b_step = host_step_elements(b),
        .down = x->down,
        .across = x->across,
        .accumulators = p->work->plan.accumulators,
        .terms = p->terms,
        .sums = x->sums,
        .a_next = p->a.at + host_step_at(a, x->i, more ? next : step),
        .b_next = p->b.at + host_step_at(b, x->j, more ? next : step),
        .next_lines =
            more ? smaller(a->run, steps - next) * host_step_elements(a) / LINE_ELEMENTS
                 : 0,
    };
}

/* What a slice gave to each block. */
static void area_fold(const struct area *x, const struct product *p, bool first)
{
    const struct gemm_plan *const plan = &p->work->plan;
    const struct host_places at = p->code->places(x->down, plan->accumulators);
    for (size_t i = 0; i < x->down; i++)
        for (size_t j = 0; j < x->across; j++) {
            host_block slice;
            host_block *const total = &x->totals[i * x->across + j];
            host_block_fold(first ? *total : slice,
                            x->sums + i * at.block + j * at.column, &at,
                            plan->accumulators, plan->scale);
            if (!first) host_block_add(*total, slice);
        }
}

/* The sums of an area over all slices. */
static void area_sums(const struct area *x, const struct product *p)
{
    const struct gemm_plan *const plan = &p->work->plan;
    const size_t length = p->a.tiles.run;
    const size_t unit = p->code->pairs;
    const size_t units = divide_up(divide_up(p->gemm.k, 2), unit);
    const size_t pairs = units * unit;
    const size_t each = divide_up(units, (size_t)plan->order.slices) * unit;
    size_t slice = 0;
    do {
        const size_t end = smaller(slice + each, pairs);
        size_t at = slice;
        do {
            const size_t step = at / HOST_PAIRS / length * length;
            const size_t begin = step * HOST_PAIRS;
            const size_t next = smaller(begin + length * HOST_PAIRS, end);
            struct host_run run = run_of(x, p, step);
            run.first = at - begin;
            run.end = next - begin;
            run.from_zero = at == slice;
            p->code->multiply(&run);
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
    size_t i, j, rows, cols;
};

static float *strip_at(const struct strip *x, size_t i, size_t j)
{
    return &x->blocks[j / HOST_LINES][i][j % HOST_LINES];
}

/* C of a strip, as blocks. */
static void strip_read(const struct strip *x, const struct bitcut_matrix *c)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            *strip_at(x, i, j) = float_of_bits(*element(c, x->i + i, x->j + j));
}

/* D of a strip: line by line through all blocks, so that each page is met once. */
static void strip_write(const struct strip *x, const struct bitcut_matrix *d, bool past)
{
    if (d->layout == BITCUT_ROW_MAJOR)
        for (size_t i = 0; i < x->rows; i++)
            for (size_t j = 0; j < x->cols; j += HOST_LINES)
                host_write(element(d, x->i + i, x->j + j), strip_at(x, i, j),
                           smaller(x->cols - j, HOST_LINES), past);
    else
        for (size_t j = 0; j < x->cols; j++) {
            float line[HOST_LINES];
            for (size_t i = 0; i < x->rows; i++) line[i] = *strip_at(x, i, j);
            host_write(element(d, x->i, x->j + j), line, x->rows, past);
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
    const struct strip from = { c, x->i, x->j, x->rows, x->cols };
    struct host_output to = { .alpha = float_of_bits(g->alpha),
                              .beta = float_of_bits(g->beta),
                              .rows = exponents_of(rows, &p->a, x->i, x->rows),
                              .cols = exponents_of(cols, &p->b, x->j, x->cols) };
    if (gemm_reads_c(g)) strip_read(&from, &g->c);
    for (size_t j = 0; j * HOST_LINES < x->cols; j++) {
        to.c = gemm_reads_c(g) ? (const host_block *)&c[j] : NULL;
        host_block_finish(x->blocks[j], &to);
        if (to.cols) to.cols += HOST_LINES;
    }
    strip_write(x, &g->d, g->m * g->n * sizeof(float) >= PAST_BYTES);
}

static void area_finish(const struct area *x, const struct product *p)
{
    struct strip s = { .j = x->j * HOST_LINES };
    s.cols = smaller(p->gemm.n - s.j, x->across * HOST_LINES);
    for (size_t i = 0; i < x->down; i++) {
        s.blocks = x->totals + i * x->across;
        s.i = (x->i + i) * HOST_LINES;
        s.rows = smaller(p->gemm.m - s.i, HOST_LINES);
        strip_finish(&s, p);
    }
}

/* Areas by all threads, each with its room for the totals and the sums of one. */
static void product_run(struct product *p, char *rooms, int threads)
{
    const size_t rows = host_panels(&p->a.tiles), cols = host_panels(&p->b.tiles);
    const size_t down = divide_up(rows, p->down), across = divide_up(cols, p->across);
#pragma omp parallel num_threads(smaller_int(threads, threads_for(0, down *across)))
    {
        struct hostfp saved;
        struct area x;
        x.totals = (host_block *)(rooms + (size_t)threads_number() * p->room);
        x.sums = (float *)(x.totals + p->down * p->across);
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
        host_written();
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

/* The areas of a GEMM. */
static void areas_set(struct product *p, const struct gpu_work *w)
{
    const size_t accumulators = (size_t)w->plan.accumulators;
    const size_t most = AREA_BYTES / sizeof(host_block) / accumulators;
    p->down = smaller(divide_up(w->gemm.m, HOST_LINES), AREA);
    p->across = smaller(divide_up(w->gemm.n, HOST_LINES), AREA);
    while (p->down * p->across > most) p->down = divide_up(p->down, 2);
    p->room = p->across *
              (p->down * sizeof(host_block) +
               p->code->places(p->down, w->plan.accumulators).column * sizeof(float));
}

/* The parts of a workspace, one after the other: bytes. */
struct parts {
    size_t tiles[2], largest[2], rooms; /* of one matrix; magnitudes that no prepared
                                           words have; of all threads */
};

static struct host_tiles tiles_of(const struct product *p, enum bitcut_operand which)
{
    struct host_tiles x = { operand_of(p->work, which), which == BITCUT_B, 0 };
    x.run = p->code->run / sizeof(uint32_t) / host_step_elements(&x);
    return x;
}

static struct product product_of(const struct gpu_work *w)
{
    struct product p = { .work = w, .code = codes[w->kernel - host_kernels] };
    p.a.tiles = tiles_of(&p, BITCUT_A);
    p.b.tiles = tiles_of(&p, BITCUT_B);
    terms_set(p.terms, &w->kernel->program);
    areas_set(&p, w);
    return p;
}

static struct parts parts_of(const struct product *p)
{
    struct parts parts = { .rooms = (size_t)rooms() * p->room };
    for (int i = 0; i < 2; i++) {
        const struct host_tiles *const x = i ? &p->b.tiles : &p->a.tiles;
        const size_t lines = x->operand.equilibrate ? x->operand.lines : 0;
        parts.tiles[i] = aligned(host_tiles_bytes(x));
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
    struct product p = product_of(w);
    const struct parts parts = parts_of(&p);
    char *const b_tiles = workspace + parts.tiles[0];
    char *const threads = b_tiles + parts.tiles[1], *const largest =
                                                        threads + parts.rooms;
    for (size_t i = 0; i < w->gemm.count; i++) {
        p.gemm = gemm_nth(&w->gemm, i);
        half_make(&p.a, i, workspace, largest);
        half_make(&p.b, i, b_tiles, largest + parts.largest[0]);
        product_run(&p, threads, rooms());
    }
}

#endif

size_t host_workspace(const struct gpu_work *w)
{
#if HOST_HAS_CODE
    const struct product p = product_of(w);
    const struct parts x = parts_of(&p);
    return x.rooms + x.tiles[0] + x.tiles[1] + x.largest[0] + x.largest[1];
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
    const size_t bytes = host_workspace(w);
    void *const workspace = host_reserve(bytes);
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
