/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of Intel AMX.  A tile has up to 16 rows of up to 64 bytes.  TDPBF16PS and
   TDPFP16PS compute D += A B: D is 16 x 16 of f32; A is 16 x 32 of 16-bit elements, with
   k along the rows; and row p of B has elements (2p, n) and (2p + 1, n) next to each
   other, for each column n.  Intel SDM volume 2, LDTILECFG, TILELOADD, TDPBF16PS,
   TDPFP16PS.  Only assembly accesses tiles, because not all compilers declare that their
   functions for these instructions read memory. */
#include "gpu/cpu/host_code.h"

#if HOST_HAS_CODE

#include <stdint.h>

enum { ROWS = 16, ROW_BYTES = 64, DEPTH = 32, TILES = 8 };

#define AMX __attribute__((target("amx-tile,amx-bf16")))

/* The memory that LDTILECFG reads.  Palette 1 has 8 tiles of 16 rows of 64 bytes. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

_Static_assert(sizeof(struct tile_configuration) == 64, "as LDTILECFG reads it");

AMX void host_amx_begin(void)
{
    struct tile_configuration x = { .palette = 1 };
    for (int i = 0; i < TILES; i++) x.row_bytes[i] = ROW_BYTES, x.rows[i] = ROWS;
    __asm__ volatile("ldtilecfg %0" : : "m"(x) : "memory");
}

AMX void host_amx_end(void) { __asm__ volatile("tilerelease" : : : "memory"); }

#define LOAD(tile, at, stride)                                                           \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile                                  \
                     :                                                                   \
                     : "r"(at), "r"((intptr_t)(stride))                                  \
                     : "memory")
#define STORE(tile, at, stride)                                                          \
    __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)"                              \
                     :                                                                   \
                     : "r"(at), "r"((intptr_t)(stride))                                  \
                     : "memory")

/* Tile 0 += tile 1 times tile 2.  Not every assembler supports the second instruction:
   VEX.128.F2.0F38.W0 5C /r. */
AMX static void multiply_bf16(void)
{
    __asm__ volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" : : : "memory");
}
AMX static void multiply_fp16(void)
{
    __asm__ volatile(".byte 0xc4, 0xe2, 0x6b, 0x5c, 0xc1" : : : "memory");
}

/* B of a fragment, row by row, in the order of its tile. */
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
    host_amx_begin();
    for (size_t f = 0; f < batch->count; f++) {
        pair_rows(pairs, b + f * DEPTH * ROWS);
        LOAD(0, c + f * ROWS * ROWS, ROW_BYTES);
        LOAD(1, a + f * ROWS * DEPTH, ROW_BYTES);
        LOAD(2, pairs, ROW_BYTES);
        multiply();
        STORE(0, d + f * ROWS * ROWS, ROW_BYTES);
    }
    host_amx_end();
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

#endif
