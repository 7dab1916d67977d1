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

/* --- areas ------------------------------------------------------------------------ */

/* A thread's part of D at a time is an area of blocks, up to AREA of them each way.  Of
   it the thread keeps all sums, and goes through k by as many steps as let the words of a
   panel of B stay in the L1 cache, while those of AREA panels of A are in the L2 cache.
 */
enum { AREA = 8, AREA_BYTES = 640 << 10, PANEL_BYTES = 24 << 10 };

/* Blocks of sums that a thread keeps for each of D: the accumulators, and what slices
   before give. */
static size_t kept_blocks(const struct gemm_plan *plan)
{
    return (size_t)plan->accumulators + (plan->order.slices > 1);
}

#if HOST_HAS_CODE

/* --- one GEMM --------------------------------------------------------------------- */

/* The code of each row, as they are listed above. */
#define AMX_CODE(RECIPE, ...)    &host_amx_code,
#define AVX512_CODE(RECIPE, ...) &host_avx512_code,
static const struct host_code *const codes[] = { HOST_RECIPES(AMX_CODE)
                                                     HOST_RECIPES(AVX512_CODE) };

/* An operand of one GEMM, in tiles. */
struct half {
    struct operand operand;
    const uint32_t *tiles;
    const uint32_t *largest; /* of its lines; NULL: they are not equilibrated */
};

/* One of a batch. */
struct product {
    const struct gpu_work *work;
    const struct host_code *code;
    struct half a, b;
    struct bitcut_gemm gemm;                           /* that one */
    struct host_chain chain[RECIPE_ACCUMULATORS_MOST]; /* without panels and pairs */
    size_t down, across;                               /* blocks of an area */
};

/* The terms of the accumulators, in their order. */
static void chains_set(struct product *p)
{
    const struct gpu_program *const program = &p->work->kernel->program;
    for (int c = 0; c < p->work->plan.accumulators; c++)
        p->chain[c] = (struct host_chain){ .a_step = host_step_elements(&p->a.operand),
                                           .b_step = host_step_elements(&p->b.operand) };
    for (int t = 0; t < program->terms; t++) {
        const struct recipe_term *const term = &program->term[t];
        struct host_chain *const chain = &p->chain[term->accumulator];
        chain->term[chain->terms].a = (size_t)term->a * 2 * HOST_TILE;
        chain->term[chain->terms++].b = (size_t)term->b * 2 * HOST_TILE;
    }
}

static const uint32_t *panel_at(const struct half *x, size_t panel)
{
    const struct operand *const operand = &x->operand;
    return x->tiles + panel * host_steps(operand) * host_step_elements(operand);
}

/* An area's place in D, in blocks, and its sums. */
struct area {
    size_t i, j, down, across;
    host_block *sums; /* [i][j][kept_blocks()] */
};

static host_block *kept_at(const struct area *x, const struct product *p, size_t i,
                           size_t j)
{
    return x->sums + (i * x->across + j) * kept_blocks(&p->work->plan);
}

/* All chains of an area over some pairs. */
static void area_multiply(const struct area *x, const struct product *p, size_t first,
                          size_t end, bool from_zero)
{
    for (size_t j = 0; j < x->across; j++)
        for (size_t i = 0; i < x->down; i++)
            for (int c = 0; c < p->work->plan.accumulators; c++) {
                struct host_chain chain = p->chain[c];
                chain.a = panel_at(&p->a, x->i + i);
                chain.b = panel_at(&p->b, x->j + j);
                chain.first = first;
                chain.end = end;
                p->code->multiply(kept_at(x, p, i, j)[c], &chain, from_zero);
            }
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
    const size_t pairs = p->code->pairs;
    const size_t steps = divide_up(divide_up(p->a.operand.k, 2), pairs);
    const size_t each = divide_up(steps, (size_t)plan->order.slices) * pairs;
    const size_t panel = PANEL_BYTES / sizeof(uint32_t) / p->chain[0].b_step;
    const size_t run = (panel ? panel : 1) * HOST_PAIRS;
    size_t slice = 0;
    do {
        const size_t end = smaller(slice + each, steps * pairs);
        size_t at = slice;
        do {
            const size_t next = smaller((at / run + 1) * run, end);
            area_multiply(x, p, at, next, at == slice);
            at = next;
        } while (at < end);
        area_fold(x, p, !slice);
        slice = end;
    } while (slice < steps * pairs);
}

/* --- outputs ---------------------------------------------------------------------- */

static uint32_t *element(const struct bitcut_matrix *x, size_t i, size_t j)
{
    uint32_t *const at = (uint32_t *)x->to;
    return x->layout == BITCUT_COLUMN_MAJOR ? at + j * x->ld + i : at + i * x->ld + j;
}

/* The part of a matrix that is a block's. */
struct part {
    const struct bitcut_matrix *matrix;
    size_t i, j, rows, cols;
};

/* Copy it to or from a block. */
static void part_copy(const struct part *x, host_block block, bool to_block)
{
    const bool turned = x->matrix->layout == BITCUT_COLUMN_MAJOR;
    for (size_t i = 0; i < x->rows; i++) {
        if (!turned) {
            uint32_t *const at = element(x->matrix, x->i + i, x->j);
            const size_t bytes = x->cols * sizeof *at;
            if (to_block) memcpy(block[i], at, bytes);
            else memcpy(at, block[i], bytes);
            continue;
        }
        for (size_t j = 0; j < x->cols; j++) {
            uint32_t *const at = element(x->matrix, x->i + i, x->j + j);
            if (to_block) memcpy(&block[i][j], at, sizeof *at);
            else memcpy(at, &block[i][j], sizeof *at);
        }
    }
}

static int exponent_of(const struct half *x, size_t line)
{
    return equilibrate_exponent(x->operand.split, x->largest[line]);
}

/* The sums of equilibrated lines, restored. */
static void part_restore(const struct part *x, const struct product *p, host_block block)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            const int exponent =
                exponent_of(&p->a, x->i + i) + exponent_of(&p->b, x->j + j);
            const uint32_t sum = bits_of_float(block[i][j]);
            if (exponent) block[i][j] = float_of_bits(equilibrate_scale(sum, -exponent));
        }
}

static void part_finish(const struct part *x, const struct product *p, host_block sums)
{
    const struct bitcut_gemm *const g = &p->gemm;
    host_block c;
    if (p->a.largest) part_restore(x, p, sums);
    if (gemm_reads_c(g)) {
        struct part from = *x;
        from.matrix = &g->c;
        memset(c, 0, sizeof c);
        part_copy(&from, c, true);
    }
    host_block_finish(sums, float_of_bits(g->alpha), float_of_bits(g->beta),
                      gemm_reads_c(g) ? c : NULL);
    part_copy(x, sums, false);
}

static void area_finish(const struct area *x, const struct product *p)
{
    const struct bitcut_gemm *const g = &p->gemm;
    const int slices = p->work->plan.order.slices;
    for (size_t i = 0; i < x->down; i++)
        for (size_t j = 0; j < x->across; j++) {
            struct part part = { .matrix = &g->d,
                                 .i = (x->i + i) * HOST_LINES,
                                 .j = (x->j + j) * HOST_LINES };
            part.rows = smaller(g->m - part.i, HOST_LINES);
            part.cols = smaller(g->n - part.j, HOST_LINES);
            host_block *const sums = kept_at(x, p, i, j);
            part_finish(&part, p,
                        slices > 1 ? sums[p->work->plan.accumulators] : sums[0]);
        }
}

/* Areas by all processors.  The one of a thread is at most that of its sums. */
static void product_run(struct product *p, host_block *sums, int threads)
{
    const size_t rows = host_panels(&p->a.operand), cols = host_panels(&p->b.operand);
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

#endif

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

static size_t aligned(size_t bytes)
{
    return divide_up(bytes, GPU_ALIGNMENT) * GPU_ALIGNMENT;
}

static struct parts parts_of(const struct gpu_work *w)
{
    struct parts parts;
    size_t down, across;
    area_shape(&down, &across, w);
    parts.sums =
        (size_t)rooms() * down * across * kept_blocks(&w->plan) * sizeof(host_block);
    for (int i = 0; i < 2; i++) {
        const struct operand x = operand_of(w, i ? BITCUT_B : BITCUT_A);
        parts.tiles[i] = aligned(host_tiles_bytes(&x));
        parts.largest[i] = aligned(x.equilibrate ? x.lines * sizeof(uint32_t) : 0);
    }
    return parts;
}

size_t host_workspace(const struct gpu_work *w)
{
    const struct parts x = parts_of(w);
    return x.sums + x.tiles[0] + x.tiles[1] + x.largest[0] + x.largest[1];
}

#if HOST_HAS_CODE

/* Tiles of an operand of GEMM `one`, unless they are those of the one before. */
static void half_make(struct half *x, const struct gpu_work *w, size_t one, char *tiles,
                      char *largest)
{
    const bool across = x->operand.matrix == &w->gemm.b;
    const struct bitcut_matrix *const m = x->operand.matrix;
    const char *words = (const char *)m->words;
    if (one && !(words ? m->words_stride : m->stride)) return;
    x->tiles = (uint32_t *)tiles;
    if (words) {
        words += one * m->words_stride;
        x->largest = words_largest(words, &x->operand);
        host_tiles_take((uint32_t *)tiles, &x->operand, words, across);
        return;
    }
    x->largest = x->operand.equilibrate ? (uint32_t *)largest : NULL;
    if (x->largest) host_words_largest((uint32_t *)largest, &x->operand, one);
    host_tiles_make((uint32_t *)tiles, &x->operand, one, x->largest, across);
}

static void batch_run(const struct gpu_work *w, char *workspace)
{
    const struct parts parts = parts_of(w);
    char *const b_tiles = workspace + parts.tiles[0], *const sums =
                                                          b_tiles + parts.tiles[1];
    char *const largest = sums + parts.sums;
    struct product p = { .work = w,
                         .code = codes[w->kernel - host_kernels],
                         .a.operand = operand_of(w, BITCUT_A),
                         .b.operand = operand_of(w, BITCUT_B) };
    chains_set(&p);
    area_shape(&p.down, &p.across, w);
    for (size_t i = 0; i < w->gemm.count; i++) {
        p.gemm = gemm_nth(&w->gemm, i);
        half_make(&p.a, w, i, workspace, largest);
        half_make(&p.b, w, i, b_tiles, largest + parts.largest[0]);
        product_run(&p, (host_block *)sums, rooms());
    }
}

#endif

int host_start(const struct gpu_work *w, void *workspace, int device, void *stream,
               char *fault)
{
    (void)device;
    (void)stream;
    (void)fault;
#if HOST_HAS_CODE
    if (w->gemm.m && w->gemm.n) batch_run(w, workspace);
#else
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
