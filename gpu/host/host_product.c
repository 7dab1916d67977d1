#include "gpu/host/host_product.h"

#include "gpu/host/host_code.h"
#include "gpu/host/host_recipes.h"
#include "gpu/host/host_units.h"
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

/* --- one GEMM --------------------------------------------------------------------- */

/* The code of a row: its sums, and the pairs of k of an instruction. */
struct code {
    host_sums *sums;
    size_t pairs;
};

#if HOST_HAS_CODE
#define AMX_CODE(RECIPE, ...)    { host_amx_sums, HOST_PAIRS },
#define AVX512_CODE(RECIPE, ...) { host_avx512_##RECIPE, 1 },
static const struct code codes[] = { HOST_RECIPES(AMX_CODE) HOST_RECIPES(AVX512_CODE) };
#else
static const struct code codes[sizeof host_kernels / sizeof *host_kernels];
#endif

/* An operand of one GEMM, in words and in tiles. */
struct half {
    struct operand operand;
    const void *words;
    const uint32_t *tiles;
    const uint32_t *largest; /* of its lines; NULL: they are not equilibrated */
};

/* One of a batch. */
struct product {
    const struct gpu_work *work;
    struct code code;
    struct half a, b;
    struct bitcut_gemm gemm; /* that one */
};

/* The elements of a word of a block, and the first of the block. */
static size_t word_elements(const struct operand *x) { return host_tiles(x) * HOST_TILE; }

static const uint32_t *block_at(const struct half *x, size_t block)
{
    const size_t words = (size_t)x->operand.split->words;
    return x->tiles + block * words * word_elements(&x->operand);
}

/* The accumulators of a slice folded into one, and added to the slices before.  Which NaN
   a NaN is does not matter yet. */
static void block_fold(host_block total, host_block sums[RECIPE_ACCUMULATORS_MOST],
                       const struct gemm_plan *plan, bool first)
{
    const float unscale = float_of_bits(f32_power_of_two(-plan->scale));
    for (int i = 0; i < HOST_SIDE; i++)
        for (int j = 0; j < HOST_SIDE; j++) {
            float v = sums[plan->accumulators - 1][i][j];
            for (int c = plan->accumulators - 2; c >= 0; c--)
                v = fmaf(v, unscale, sums[c][i][j]);
            total[i][j] = first ? v : total[i][j] + v;
        }
}

/* A block of sums over all slices. */
static void block_sums(host_block total, const struct product *p, size_t i, size_t j)
{
    const struct gemm_plan *const plan = &p->work->plan;
    const size_t steps = divide_up(divide_up(p->a.operand.k, 2), p->code.pairs);
    const size_t slices = (size_t)plan->order.slices, each = divide_up(steps, slices);
    struct host_slice s = { .program = &p->work->kernel->program,
                            .a = block_at(&p->a, i),
                            .b = block_at(&p->b, j),
                            .a_word = word_elements(&p->a.operand),
                            .b_word = word_elements(&p->b.operand) };
    host_block sums[RECIPE_ACCUMULATORS_MOST];
    size_t step = 0;
    do {
        const size_t end = steps - step < each ? steps : step + each;
        s.first = step * p->code.pairs;
        s.end = end * p->code.pairs;
        p->code.sums(sums, &s);
        block_fold(total, sums, plan, !step);
        step = end;
    } while (step < steps);
}

/* --- outputs ---------------------------------------------------------------------- */

/* The NaN of the processor's own. */
static const uint32_t own_nan = 0xffc00000;

static uint32_t *element(const struct bitcut_matrix *x, size_t i, size_t j)
{
    uint32_t *const at = (uint32_t *)x->to;
    return x->layout == BITCUT_COLUMN_MAJOR ? at + j * x->ld + i : at + i * x->ld + j;
}

static int exponent_of(const struct half *x, size_t line)
{
    return x->largest ? equilibrate_exponent(x->operand.split, x->largest[line]) : 0;
}

/* alpha times the sum, restored where lines were equilibrated, plus beta C. */
static uint32_t output_of(const struct product *p, size_t i, size_t j, float sum)
{
    const struct bitcut_gemm *const g = &p->gemm;
    const int exponent = exponent_of(&p->a, i) + exponent_of(&p->b, j);
    uint32_t d = bits_of_float(sum);
    if (exponent) d = equilibrate_scale(d, -exponent);
    if ((d & 0x7fffffff) > 0x7f800000) d = own_nan;
    if (g->alpha != F32_ONE)
        d = f32_fused(own_nan, g->alpha, d, (g->alpha ^ d) & 0x80000000u);
    return gemm_reads_c(g) ? f32_fused(own_nan, g->beta, *element(&g->c, i, j), d) : d;
}

static void block_run(const struct product *p, size_t block_i, size_t block_j)
{
    const struct bitcut_gemm *const g = &p->gemm;
    const size_t i0 = block_i * HOST_SIDE, j0 = block_j * HOST_SIDE;
    const size_t rows = smaller(g->m - i0, HOST_SIDE);
    const size_t cols = smaller(g->n - j0, HOST_SIDE);
    host_block total;
    block_sums(total, p, block_i, block_j);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            *element(&g->d, i0 + i, j0 + j) = output_of(p, i0 + i, j0 + j, total[i][j]);
}

/* Blocks by all processors. */
static void product_run(const struct product *p)
{
    const size_t down = host_blocks(&p->a.operand), across = host_blocks(&p->b.operand);
#pragma omp parallel num_threads(threads_for(0, down *across))
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(dynamic, 1)
        for (size_t n = 0; n < down * across; n++) block_run(p, n / across, n % across);
        hostfp_leave(&saved);
    }
}

/* --- a batch ---------------------------------------------------------------------- */

/* The parts of a workspace: words of all matrices of A and of B, unless they are
   prepared, and tiles of one of each. */
struct parts {
    size_t words[2], tiles[2]; /* bytes */
};

static struct parts parts_of(const struct gpu_work *w)
{
    struct parts parts;
    for (int i = 0; i < 2; i++) {
        const struct operand x = operand_of(w, i ? BITCUT_B : BITCUT_A);
        parts.words[i] = words_made(w, &x) * words_stride(&x);
        parts.tiles[i] = host_packed_bytes(&x);
    }
    return parts;
}

size_t host_workspace(const struct gpu_work *w)
{
    const struct parts x = parts_of(w);
    return x.words[0] + x.words[1] + x.tiles[0] + x.tiles[1];
}

/* An operand of GEMM `one`: its words, which are made if they are not there yet. */
static struct half half_of(const struct gpu_work *w, enum bitcut_operand which,
                           size_t one, char *words, char *tiles)
{
    struct half x = { .operand = operand_of(w, which), .tiles = (uint32_t *)tiles };
    const struct bitcut_matrix *const m = x.operand.matrix;
    const size_t made = words_made(w, &x.operand);
    if (m->words) x.words = (const char *)m->words + one * m->words_stride;
    else {
        char *const at = words + (made > 1 ? one * words_stride(&x.operand) : 0);
        if (one < made) host_words_make(at, &x.operand, one);
        x.words = at;
    }
    x.largest = words_largest(x.words, &x.operand);
    host_pack((uint32_t *)tiles, &x.operand, x.words, which == BITCUT_B);
    return x;
}

int host_start(const struct gpu_work *w, void *workspace, int device, void *stream,
               char *fault)
{
    const struct parts parts = parts_of(w);
    char *const words = workspace, *const tiles = words + parts.words[0] + parts.words[1];
    (void)device;
    (void)stream;
    (void)fault;
    if (!w->gemm.m || !w->gemm.n) return 0;
    for (size_t i = 0; i < w->gemm.count; i++) {
        struct product p = { .work = w,
                             .code = codes[w->kernel - host_kernels],
                             .gemm = gemm_nth(&w->gemm, i) };
        p.a = half_of(w, BITCUT_A, i, words, tiles);
        p.b = half_of(w, BITCUT_B, i, words + parts.words[0], tiles + parts.tiles[0]);
        product_run(&p);
    }
    return 0;
}

/* The matrices are where the processor reads them. */
int host_gemm(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
              char *fault)
{
    const size_t bytes = divide_up(host_workspace(w), GPU_ALIGNMENT) * GPU_ALIGNMENT;
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
