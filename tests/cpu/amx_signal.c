/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of AMX on any x86-64 processor.  A processor without AMX raises a signal, and
   the handler executes the instruction as described in Intel's manual (SDM volume 2:
   LDTILECFG, TILELOADD, TILELOADDT1, TILESTORED, TILEZERO, TILERELEASE, TDPBF16PS,
   TDPFP16PS), with the model for the arithmetic. */
#define _GNU_SOURCE /* REG_RAX */

#include "tests/cpu/amx_signal.h"

#include "gpu/cpu/host_code.h"

#if HOST_HAS_CODE

#include "emu/unit.h"
#include "gpu/cpu/host_units.h"
#include "lib/bitcut.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* --- the tiles -------------------------------------------------------------------- */

enum { TILES = 8, ROWS = 16, ROW_BYTES = 64 };

static _Thread_local struct {
    bool configured;
    uint16_t row_bytes[TILES];
    uint8_t rows[TILES];
    uint8_t tile[TILES][ROWS][ROW_BYTES];
} tiles;

/* What the manual makes an exception of ends the program. */
static void demand(bool holds)
{
    if (!holds) abort();
}

static void configure(const uint8_t *at)
{
    demand(at[0] == 1 && at[1] == 0);
    for (int i = 2; i < 16; i++) demand(!at[i]);
    for (int i = 32; i < 48; i++) demand(!at[i]);
    for (int i = 56; i < 64; i++) demand(!at[i]);
    memset(&tiles, 0, sizeof tiles);
    for (int i = 0; i < TILES; i++) {
        tiles.row_bytes[i] = (uint16_t)(at[16 + 2 * i] | at[17 + 2 * i] << 8);
        tiles.rows[i] = at[48 + i];
        demand(tiles.row_bytes[i] <= ROW_BYTES && tiles.rows[i] <= ROWS);
        demand(!tiles.row_bytes[i] == !tiles.rows[i]);
    }
    tiles.configured = true;
}

static void load(int tile, const uint8_t *at, int64_t stride)
{
    memset(tiles.tile[tile], 0, sizeof tiles.tile[tile]);
    for (int i = 0; i < tiles.rows[tile]; i++)
        memcpy(tiles.tile[tile][i], at + i * stride, tiles.row_bytes[tile]);
}

static void store(uint8_t *at, int64_t stride, int tile)
{
    for (int i = 0; i < tiles.rows[tile]; i++)
        memcpy(at + i * stride, tiles.tile[tile][i], tiles.row_bytes[tile]);
}

static uint64_t element(int tile, int row, int i, int bytes)
{
    uint64_t x = 0;
    memcpy(&x, &tiles.tile[tile][row][i * bytes], (size_t)bytes);
    return x;
}

/* d += a b: row i of a has the k of line i, row p of b elements 2p and 2p + 1 of each
   column. */
static void multiply(int d, int a, int b, const char *unit)
{
    static _Thread_local uint64_t x[ROWS * 32], y[32 * ROWS], z[ROWS * ROWS];
    const int m = tiles.rows[d], n = tiles.row_bytes[d] / 4, k = tiles.row_bytes[a] / 2;
    demand(d != a && d != b && a != b);
    demand(tiles.row_bytes[a] / 4 == tiles.rows[b] && tiles.rows[a] == m);
    demand(tiles.row_bytes[b] == tiles.row_bytes[d] && tiles.row_bytes[a] % 4 == 0);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++) x[i * k + p] = element(a, i, p, 2);
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++) y[p * n + j] = element(b, p / 2, 2 * j + p % 2, 2);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) z[i * n + j] = element(d, i, j, 4);
    demand(bitcut_mma(z, bitcut_unit_find(unit, NULL), 1, (size_t)m, (size_t)n, (size_t)k,
                      x, y, z, 1) == BITCUT_OK);
    memset(tiles.tile[d], 0, sizeof tiles.tile[d]);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) memcpy(&tiles.tile[d][i][4 * j], &z[i * n + j], 4);
}

/* --- instructions ----------------------------------------------------------------- */

/* General registers by their numbers. */
static const int registers[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15 };

/* An instruction of three bytes of VEX, an opcode and ModRM. */
struct code {
    const uint8_t *at;
    int prefix, opcode, vvvv; /* prefix: 0 none, 1 66, 2 F3, 3 F2 */
    int mode, reg, rm;        /* of ModRM */
    uint8_t *base;            /* of an operand in memory, and ... */
    int64_t index;            /* ... of one that has it */
    int length;
};

/* The operand in memory behind ModRM. */
static void decode_memory(struct code *x, const gregset_t r)
{
    const bool b = !(x->at[1] & 0x20), i = !(x->at[1] & 0x40);
    int base = x->rm | b << 3, scale = 0, index = 4;
    int32_t far = 0;
    if (x->rm == 4) {
        const uint8_t sib = x->at[x->length++];
        scale = sib >> 6, index = (sib >> 3 & 7) | i << 3, base = (sib & 7) | b << 3;
    }
    demand(x->mode || (base & 7) != 5);
    if (x->mode == 1) far = (int8_t)x->at[x->length++];
    if (x->mode == 2) memcpy(&far, x->at + x->length, 4), x->length += 4;
    x->base = (uint8_t *)(uintptr_t)r[registers[base]] + far;
    x->index = index == 4 ? 0 : (int64_t)((uint64_t)r[registers[index]] << scale);
}

static struct code decode(const uint8_t *at, const gregset_t r)
{
    struct code x = { .at = at, .length = 5 };
    demand(at[0] == 0xc4 && (at[1] & 0x1f) == 2 && !(at[2] & 0x84));
    x.prefix = at[2] & 3;
    x.vvvv = ~at[2] >> 3 & 15;
    x.opcode = at[3];
    x.mode = at[4] >> 6, x.reg = at[4] >> 3 & 7, x.rm = at[4] & 7;
    if (x.mode != 3) decode_memory(&x, r);
    return x;
}

static void execute(const struct code *x)
{
    const bool memory = x->mode != 3;
    demand(tiles.configured || x->opcode == 0x49);
    if (x->opcode == 0x49 && x->prefix == 0 && memory) configure(x->base + x->index);
    else if (x->opcode == 0x49 && x->prefix == 0) memset(&tiles, 0, sizeof tiles);
    else if (x->opcode == 0x49 && x->prefix == 3 && !memory)
        memset(tiles.tile[x->reg], 0, sizeof tiles.tile[x->reg]);
    else if (x->opcode == 0x4b && (x->prefix == 3 || x->prefix == 1))
        load(x->reg, x->base, x->index);
    else if (x->opcode == 0x4b && x->prefix == 2) store(x->base, x->index, x->reg);
    else if (x->opcode == 0x5c && !memory && x->prefix == 2)
        multiply(x->reg, x->rm, x->vvvv, "amx/tdpbf16ps.m16n16k32.f32.bf16");
    else if (x->opcode == 0x5c && !memory && x->prefix == 3)
        multiply(x->reg, x->rm, x->vvvv, "amx-fp16/tdpfp16ps.m16n16k32.f32.f16");
    else abort();
}

static void on_illegal(int signal, siginfo_t *about, void *context)
{
    ucontext_t *const c = context;
    (void)signal;
    (void)about;
    const struct code x = decode(
        (const uint8_t *)(uintptr_t)c->uc_mcontext.gregs[REG_RIP], c->uc_mcontext.gregs);
    execute(&x);
    c->uc_mcontext.gregs[REG_RIP] += x.length;
}

bool amx_runs(unsigned unit)
{
    const struct sigaction action = { .sa_sigaction = on_illegal,
                                      .sa_flags = SA_SIGINFO | SA_NODEFER };
    const bool has_tiles = host_system.ask(7, 0).edx >> 24 & 1;
    char why_not[GPU_FAULT_MAX];
    sigaction(SIGILL, &action, NULL);
    const bool here = host_units(why_not, &host_system) & unit;
    if (has_tiles && !here) printf("# skipped: %s\n", why_not);
    return here || !has_tiles;
}

#endif
