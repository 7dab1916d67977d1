/* The tiles of Intel AMX.  A tile has up to 16 rows of up to 64 bytes.  TDPBF16PS and
   TDPFP16PS compute D += A B: D is 16 x 16 of f32; A 16 x 32 of 16-bit elements, k along
   the rows; and row p of B has elements (2p, n) and (2p + 1, n) side by side, for each
   column n.  Intel SDM volume 2, LDTILECFG, TILELOADD, TDPBF16PS, TDPFP16PS.

   Tiles are held by assembly alone: the functions of compilers do not all say that these
   instructions read memory. */
#include "gpu/host/host_code.h"

#if HOST_HAS_CODE

#include "lib/size.h"

#include <stdint.h>

enum { ROWS = 16, ROW_BYTES = 64, DEPTH = 32, TILES = 8 };

#define AMX __attribute__((target("amx-tile,amx-bf16")))

/* What LDTILECFG reads.  Palette 1 has 8 tiles of 16 rows of 64 bytes. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

_Static_assert(sizeof(struct tile_configuration) == 64, "as LDTILECFG reads it");

/* All tiles are whole. */
AMX static void tiles_configure(void)
{
    struct tile_configuration x = { .palette = 1 };
    for (int i = 0; i < TILES; i++) x.row_bytes[i] = ROW_BYTES, x.rows[i] = ROWS;
    __asm__ volatile("ldtilecfg %0" : : "m"(x) : "memory");
}

/* After this the system need not keep tiles for the thread. */
AMX static void tiles_release(void) { __asm__ volatile("tilerelease" : : : "memory"); }

#define LOAD(tile, at, stride)                                                           \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile                                  \
                     :                                                                   \
                     : "r"(at), "r"((intptr_t)(stride))                                  \
                     : "memory")
#define LOAD_ONCE(tile, at, stride)                                                      \
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #tile                                \
                     :                                                                   \
                     : "r"(at), "r"((intptr_t)(stride))                                  \
                     : "memory")
#define STORE(tile, at, stride)                                                          \
    __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)"                              \
                     :                                                                   \
                     : "r"(at), "r"((intptr_t)(stride))                                  \
                     : "memory")

/* Tile 0 += tile 1 times tile 2.  Not every assembler knows the second:
   VEX.128.F2.0F38.W0 5C /r. */
AMX static void multiply_bf16(void)
{
    __asm__ volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" : : : "memory");
}
AMX static void multiply_fp16(void)
{
    __asm__ volatile(".byte 0xc4, 0xe2, 0x6b, 0x5c, 0xc1" : : : "memory");
}

/* B of a fragment, row by row, as its tile has it. */
static void pair_rows(uint16_t to[DEPTH / 2][ROWS][2], const uint16_t *b)
{
    for (int p = 0; p < DEPTH / 2; p++)
        for (int n = 0; n < ROWS; n++)
            for (int odd = 0; odd < 2; odd++) to[p][n][odd] = b[(2 * p + odd) * ROWS + n];
}

AMX static void run(const struct gpu_batch *batch, void (*multiply)(void))
{
    const uint16_t *a = batch->a, *b = batch->b;
    const uint32_t *c = batch->c;
    uint32_t *d = batch->d;
    uint16_t pairs[DEPTH / 2][ROWS][2];
    tiles_configure();
    for (size_t f = 0; f < batch->count; f++) {
        pair_rows(pairs, b + f * DEPTH * ROWS);
        LOAD(0, c + f * ROWS * ROWS, ROW_BYTES);
        LOAD(1, a + f * ROWS * DEPTH, ROW_BYTES);
        LOAD(2, pairs, ROW_BYTES);
        multiply();
        STORE(0, d + f * ROWS * ROWS, ROW_BYTES);
    }
    tiles_release();
}

int host_amx_bf16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant)
{
    (void)row;
    (void)variant;
    run(batch, multiply_bf16);
    return 0;
}

int host_amx_fp16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant)
{
    (void)row;
    (void)variant;
    run(batch, multiply_fp16);
    return 0;
}

/* --- whole GEMMs ------------------------------------------------------------------ */

#define ZERO(tile) __asm__ volatile("tilezero %%tmm" #tile : : : "memory")
#define MULTIPLY(d, a, b)                                                                \
    __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #d : : : "memory")

/* Sums of a block, or +0. */
#define TAKE(tile, at, first)                                                            \
    if (first) ZERO(tile);                                                               \
    else LOAD(tile, at, sizeof(float[HOST_LINES]))
#define GIVE(tile, at) STORE(tile, at, sizeof(float[HOST_LINES]))

/* What is to be brought near meanwhile, a part at a time. */
struct fetch {
    const char *at;
    size_t stride, lines;
};

static inline struct fetch fetch_begin(const struct host_ahead *x, size_t parts)
{
    return (struct fetch){ x->at, x->stride, parts ? divide_up(x->lines, parts) : 0 };
}

static inline void fetch(struct fetch *x)
{
    for (size_t i = 0; i < x->lines; i++, x->at += x->stride)
        __builtin_prefetch(x->at, 0, 2);
}

/* Tiles 0 to 3 have the sums of a block, two by two; 4 and 5 are of A, 6 and 7 of B.  The
   panel of B is what stays in the L1 cache. */
AMX static void multiply_one(host_block *sums, const struct host_run *x, bool first)
{
    const uint32_t *a = x->a + x->first / HOST_PAIRS * x->a_step;
    const uint32_t *b = x->b + x->first / HOST_PAIRS * x->b_step;
    const struct host_terms *const terms = x->terms;
    const size_t steps = (x->end - x->first) / HOST_PAIRS;
    struct fetch left = fetch_begin(&x->ahead[0], steps * (size_t)terms->count);
    struct fetch right = fetch_begin(&x->ahead[1], steps * (size_t)terms->count);
    TAKE(0, &sums[0][0][0], first);
    TAKE(1, &sums[0][0][HOST_SIDE], first);
    TAKE(2, &sums[0][HOST_SIDE][0], first);
    TAKE(3, &sums[0][HOST_SIDE][HOST_SIDE], first);
    for (size_t step = 0; step < steps; step++, a += x->a_step, b += x->b_step)
        for (int t = 0; t < terms->count; t++) {
            const uint32_t *const at = a + terms->at[t].a, *const bt = b + terms->at[t].b;
            LOAD_ONCE(4, at, ROW_BYTES);
            LOAD(6, bt, ROW_BYTES);
            MULTIPLY(0, 4, 6);
            LOAD(7, bt + HOST_TILE, ROW_BYTES);
            MULTIPLY(1, 4, 7);
            fetch(&left);
            LOAD_ONCE(5, at + HOST_TILE, ROW_BYTES);
            MULTIPLY(2, 5, 6);
            fetch(&right);
            MULTIPLY(3, 5, 7);
        }
    GIVE(0, &sums[0][0][0]);
    GIVE(1, &sums[0][0][HOST_SIDE]);
    GIVE(2, &sums[0][HOST_SIDE][0]);
    GIVE(3, &sums[0][HOST_SIDE][HOST_SIDE]);
}

/* Tiles 0 to 4 have the five sums of a quarter of a block, so that each word that is
   loaded meets up to three; 5 is of A, 6 and 7 of B.  The terms of an accumulator are in
   the order of the recipe; between accumulators there is none. */
AMX static void multiply_quarter(host_block *sums, const struct host_run *x, bool first,
                                 int i, int j, struct fetch ahead[2])
{
    const uint32_t *a =
        x->a + x->first / HOST_PAIRS * x->a_step + i / HOST_SIDE * HOST_TILE;
    const uint32_t *b =
        x->b + x->first / HOST_PAIRS * x->b_step + j / HOST_SIDE * HOST_TILE;
    TAKE(0, &sums[0][i][j], first);
    TAKE(1, &sums[1][i][j], first);
    TAKE(2, &sums[2][i][j], first);
    TAKE(3, &sums[3][i][j], first);
    TAKE(4, &sums[4][i][j], first);
    for (size_t pair = x->first; pair < x->end; pair += HOST_PAIRS) {
        LOAD(5, a + 2 * HOST_WORD, ROW_BYTES);
        LOAD(6, b + 2 * HOST_WORD, ROW_BYTES);
        MULTIPLY(4, 5, 6);
        LOAD(7, b + HOST_WORD, ROW_BYTES);
        MULTIPLY(3, 5, 7);
        LOAD(6, b, ROW_BYTES);
        MULTIPLY(2, 5, 6);
        LOAD(5, a + HOST_WORD, ROW_BYTES);
        MULTIPLY(1, 5, 6);
        MULTIPLY(2, 5, 7);
        LOAD(7, b + 2 * HOST_WORD, ROW_BYTES);
        MULTIPLY(3, 5, 7);
        fetch(&ahead[0]);
        LOAD(5, a, ROW_BYTES);
        MULTIPLY(0, 5, 6);
        MULTIPLY(2, 5, 7);
        LOAD(7, b + HOST_WORD, ROW_BYTES);
        MULTIPLY(1, 5, 7);
        fetch(&ahead[1]);
        a += x->a_step;
        b += x->b_step;
    }
    GIVE(0, &sums[0][i][j]);
    GIVE(1, &sums[1][i][j]);
    GIVE(2, &sums[2][i][j]);
    GIVE(3, &sums[3][i][j]);
    GIVE(4, &sums[4][i][j]);
}

AMX static void multiply_bf16x9(host_block *sums, const struct host_run *x, bool first)
{
    const size_t parts = 4 * (x->end - x->first) / HOST_PAIRS;
    struct fetch ahead[2] = { fetch_begin(&x->ahead[0], parts),
                              fetch_begin(&x->ahead[1], parts) };
    for (int j = 0; j < HOST_LINES; j += HOST_SIDE)
        for (int i = 0; i < HOST_LINES; i += HOST_SIDE)
            multiply_quarter(sums, x, first, i, j, ahead);
}

/* clang-format off */
const struct host_code host_amx_one = { HOST_PAIRS, 24 << 10, tiles_configure,
                                        multiply_one, tiles_release };
const struct host_code host_amx_bf16x9 = { HOST_PAIRS, 48 << 10, tiles_configure,
                                           multiply_bf16x9, tiles_release };
/* clang-format on */

#endif
