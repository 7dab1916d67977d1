/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix instructions (MFMA): registers to matrices and back.  The emulator's unit of the
   target computes the numbers.

   A fragment has `blocks` products m x n x k side by side.  Lane l holds `each` elements
   of A: row l % m of block l / (m k / each), for k from (l / m) each % k on.  The same
   holds for B with columns.  Register r of C and D in lane l is row V % m of block V / m,
   where V = 4 (64 / n) (r / 4) + 4 (l / n) + r % 4, and column l % n.  For f64, lanes are
   distributed over blocks first: l / m % blocks, then over k, and over rows of C and D,
   where register r begins at r (64 / n / blocks).  Source: AMD matrix instruction
   calculator. */
#include "emu/gfx9/wave.h"

#include "emu/engine.h"
#include "lib/number/bits.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    int m, n, k, blocks, each; /* each: number of elements of A or B in a lane */
    int element, sum;          /* bytes of an element of A or B, and of C or D */
};

static struct shape shape_of(const struct bitcut_unit *u)
{
    const int element = unit_part_bytes(u), sum = format_bytes(u->c);
    const char *blocks = strchr(u->name, '_');
    int count = 1;
    if (blocks && sscanf(blocks, "_%db", &count) != 1) count = 1;
    struct shape s = { u->m,
                       u->n,
                       u->k,
                       count,
                       u->m * u->k * count / LANES,
                       u->a == &formats[FORMAT_F64] ? 8 : element,
                       sum };
    return s;
}

/* Element e of a lane's registers. */
static uint64_t element(const struct wave *w, unsigned from, int l, int e, int bytes)
{
    if (bytes == 8) return (uint64_t)w->v[from + 1][l] << 32 | w->v[from][l];
    const int bit = 8 * bytes * e;
    const uint32_t x = w->v[from + (unsigned)bit / 32][l] >> bit % 32;
    return bytes == 4 ? x : x & ((1u << 8 * bytes) - 1);
}

void gfx9_find_units(struct gfx9_object *o)
{
    char name[128];
    for (const struct opcode *row = gfx9_matrix; row->name; row++) {
        if (!row->unit || !(row->targets & o->target->bit)) continue;
        snprintf(name, sizeof name, "%s/%s", o->target->units, row->unit);
        struct matrix_unit *to = &o->units[row->number];
        to->unit = unit_find(name, NULL);
        if (!to->unit) continue;
        const struct shape s = shape_of(to->unit);
        to->words = (uint8_t)(s.each * s.element / 4);
        to->sums = (uint8_t)(s.m * s.n * s.blocks / LANES * s.sum / 4);
        to->has_fast = fast_fragment_make(&to->fast, to->unit);
    }
}

/* Encodings of both operands, [block][line][k]. */
struct operands {
    uint64_t a[64 * UNIT_K_MAX], b[64 * UNIT_K_MAX];
};

static void take_lines(uint64_t *to, const struct wave *w, const struct shape *s,
                       int lines, unsigned from)
{
    const int parts = s->k / s->each;
    for (int l = 0; l < LANES; l++) {
        const int part = l / lines;
        const int block = s->sum == 8 ? part % s->blocks : part / parts;
        const int run = s->sum == 8 ? part / s->blocks : part % parts;
        uint64_t *line = to + (block * lines + l % lines) * s->k + run * s->each;
        for (int e = 0; e < s->each; e++) line[e] = element(w, from, l, e, s->element);
    }
}

/* The row, counted through all blocks, of a register's element of D. */
static int row_at(const struct shape *s, int r, int l)
{
    const int groups = LANES / s->n, part = l / s->n;
    if (s->sum == 8)
        return part % s->blocks * s->m + r * (groups / s->blocks) + part / s->blocks;
    return 4 * groups * (r / 4) + 4 * part + r % 4;
}

/* --- by the engine ---------------------------------------------------------------- */

enum { LINES_MAX = 64 }; /* in all blocks */

/* Lines of all blocks as numbers, [line][k]. */
struct numbers {
    struct number a[LINES_MAX * UNIT_K_MAX], b[LINES_MAX * UNIT_K_MAX];
};

static void take_numbers(struct numbers *to, const struct operands *x,
                         const struct bitcut_unit *u, const struct shape *s)
{
    for (int i = 0; i < s->blocks * s->m * s->k; i++)
        to->a[i] = unit_read(u, u->a, x->a[i]);
    for (int i = 0; i < s->blocks * s->n * s->k; i++)
        to->b[i] = unit_read(u, u->b, x->b[i]);
}

enum { SUMS_MAX = 32 /* largest number of elements of C or D in a lane */ };

/* Data too large for the stack of a thread. */
struct matrix_room {
    alignas(64) float known[LINES_MAX * FRAGMENT_COLUMNS];
    uint64_t c[SUMS_MAX * LANES], d[SUMS_MAX * LANES];
    struct operands operands;
    struct numbers numbers;
};

struct matrix_room *matrix_room_make(void)
{
    const size_t align = alignof(struct matrix_room);
    return aligned_alloc(align, (sizeof(struct matrix_room) + align - 1) / align * align);
}

/* The output in column j of a block's row; `row` is counted through all blocks. */
static uint64_t dot(const struct numbers *x, const struct bitcut_unit *u,
                    const struct shape *s, int row, int j, uint64_t c)
{
    const int column = row / s->m * s->n + j;
    return unit_dot(u, (struct lane){ x->a + row * s->k, NULL },
                    (struct lane){ x->b + column * s->k, NULL }, c);
}

/* --- by vector instructions ------------------------------------------------------- */

/* Whether all elements of an operand are finite.  No fast path handles others. */
static bool all_finite(const uint64_t *x, int count, const struct bitcut_format *format)
{
    bool finite = true;
    for (int i = 0; i < count; i++) finite &= format_is_finite(format, x[i]);
    return finite;
}

/* Whether a fast path accepts C: +0, or finite with a magnitude of at least
   2^FRAGMENT_MIN. */
static bool is_typical(uint32_t c)
{
    const uint32_t exponent = c >> 23 & 255;
    return c == 0 || (exponent >= FRAGMENT_MIN + 127 && exponent != 255);
}

static void put(void *to, int at, uint64_t x, int bytes)
{
    memcpy((char *)to + at * bytes, &x, (size_t)bytes);
}

/* Replace C of one block by D, [m][FRAGMENT_COLUMNS]. */
static void multiply_block(float *c, const struct fast_fragment *f,
                           const struct operands *x, const struct shape *s, int block)
{
    alignas(64) uint32_t a[FRAGMENT_ROWS * FRAGMENT_LINE];
    alignas(64) uint32_t b[FRAGMENT_DEPTH * FRAGMENT_COLUMNS];
    const int bytes = f->a_format.bytes;
    memset(a, 0, (size_t)(s->m * FRAGMENT_LINE * bytes));
    memset(b, 0, (size_t)(s->k * FRAGMENT_COLUMNS * bytes));
    for (int i = 0; i < s->m; i++)
        for (int p = 0; p < s->k; p++)
            put(a, i * FRAGMENT_LINE + p, x->a[(block * s->m + i) * s->k + p], bytes);
    for (int j = 0; j < s->n; j++)
        for (int p = 0; p < s->k; p++)
            put(b, p * FRAGMENT_COLUMNS + j, x->b[(block * s->n + j) * s->k + p], bytes);
    fast_fragment_run(f, c, a, b);
}

/* --- all outputs ------------------------------------------------------------------ */

/* Compute each output by the engine, except, if `fast`, outputs in room->known whose C
   was accepted and whose result is finite. */
static void finish(struct matrix_room *room, bool fast, const struct bitcut_unit *u,
                   const struct shape *s)
{
    bool taken = false;
    for (int r = 0; r < s->m * s->n * s->blocks / LANES; r++)
        for (int l = 0; l < LANES; l++) {
            const int row = row_at(s, r, l), at = r * LANES + l, j = l % s->n;
            uint64_t *const d = &room->d[at];
            if (fast && is_typical((uint32_t)room->c[at])) {
                *d = bits_of_float(room->known[row * FRAGMENT_COLUMNS + j]);
                if ((*d >> 23 & 255) != 255) continue;
            }
            if (!taken) take_numbers(&room->numbers, &room->operands, u, s);
            taken = true;
            *d = dot(&room->numbers, u, s, row, j, room->c[at]);
        }
}

static void multiply(struct matrix_room *room, const struct matrix_unit *unit,
                     const struct shape *s)
{
    const struct bitcut_unit *u = unit->unit;
    const struct operands *x = &room->operands;
    const bool fast = unit->has_fast && all_finite(x->a, s->blocks * s->m * s->k, u->a) &&
                      all_finite(x->b, s->blocks * s->n * s->k, u->b);
    if (fast) {
        memset(room->known, 0, sizeof room->known);
        for (int r = 0; r < s->m * s->n * s->blocks / LANES; r++)
            for (int l = 0; l < LANES; l++)
                room->known[row_at(s, r, l) * FRAGMENT_COLUMNS + l % s->n] =
                    float_of_bits((uint32_t)room->c[r * LANES + l]);
        for (int block = 0; block < s->blocks; block++)
            multiply_block(room->known + block * s->m * FRAGMENT_COLUMNS, &unit->fast, x,
                           s, block);
    }
    finish(room, fast, u, s);
}

/* --- operands --------------------------------------------------------------------- */

/* Registers of A, B, C and D; if c is NO_REGISTER, C is a constant. */
struct fields {
    unsigned a, b, c, d, words, sums;
    uint32_t constant;
};

enum { NO_REGISTER = 2 * VGPRS };

static bool check(struct wave *w, const struct instruction *i, const struct fields *f)
{
    const bool even = w->group->object->target->even;
    const unsigned odd = (f->words > 1 ? f->a | f->b : 0) | f->d;
    if (i->word[0] >> 8 & 0x7f || i->word[1] >> 29)
        wave_fail(w, i, "unsupported: broadcast or permuted lanes (cbsz, abid, blgp)");
    else if (w->exec != ~0ull)
        wave_fail(w, i, "inactive lanes; the instruction multiplies all lanes");
    else if (even && odd & 1)
        wave_fail(w, i,
                  "the first register has an odd number; even alignment is required");
    return !w->group->failed && vector_ready(w, i, f->a, f->words) &&
           vector_ready(w, i, f->b, f->words) && vector_ready(w, i, f->d, f->sums) &&
           (f->c == NO_REGISTER || vector_ready(w, i, f->c, f->sums));
}

static bool check_set(struct wave *w, const struct instruction *i, const struct fields *f)
{
    static const char *const names[] = { "A", "B", "C" };
    const unsigned from[] = { f->a, f->b, f->c };
    const unsigned count[] = { f->words, f->words, f->c == NO_REGISTER ? 0 : f->sums };
    for (int n = 0; n < 3; n++)
        for (unsigned r = from[n]; r < from[n] + count[n]; r++) {
            const uint64_t unset = vector_unset(w, r, 1);
            if (!unset) continue;
            wave_fail(w, i, "%s in %c%u of lane %d is not initialised", names[n],
                      r < VGPRS ? 'v' : 'a', r % VGPRS, __builtin_ctzll(unset));
            return false;
        }
    return true;
}

/* Find the registers, and C if it is a constant. */
static bool take_fields(struct fields *to, struct wave *w, const struct instruction *i,
                        int sum_bytes)
{
    const bool constant = i->s[2] < 256;
    *to = (struct fields){ .a = i->s[0] - 256u,
                           .b = i->s[1] - 256u,
                           .c = constant ? NO_REGISTER : i->s[2] - 256u,
                           .d = i->d - 256u,
                           .words = i->s_count[0],
                           .sums = i->d_count };
    if (!check(w, i, to) || !check_set(w, i, to)) return false;
    if (constant) to->constant = scalar_read(w, i, i->s[2]);
    if (to->constant && sum_bytes == 8)
        wave_fail(w, i, "unsupported 64-bit constant other than 0");
    return !w->group->failed;
}

static void act_matrix(struct wave *w, const struct instruction *i)
{
    const struct matrix_unit *unit = &w->group->object->units[i->opcode->number];
    struct matrix_room *room = w->group->matrix;
    struct fields f;
    if (!unit->unit) {
        wave_fail(w, i, "unknown unit %s/%s", w->group->object->target->units,
                  i->opcode->unit);
        return;
    }
    const struct shape s = shape_of(unit->unit);
    if (!take_fields(&f, w, i, s.sum)) return;
    const unsigned wide = (unsigned)s.sum / 4, count = f.sums / wide;
    for (unsigned r = 0; r < count; r++)
        FOR_LANES room->c[r * LANES + (unsigned)l] =
            f.c == NO_REGISTER ? f.constant : element(w, f.c + wide * r, l, 0, s.sum);
    take_lines(room->operands.a, w, &s, s.m, f.a);
    take_lines(room->operands.b, w, &s, s.n, f.b);
    multiply(room, unit, &s);
    for (unsigned r = 0; r < f.sums; r++)
        FOR_LANES w->v[f.d + r][l] =
            (uint32_t)(room->d[r / wide * LANES + (unsigned)l] >> (r % wide ? 32 : 0));
    vector_unset_write(w, f.d, f.sums, ~0ull, 0, 0);
    w->group->counts.matrix++;
    w->group->counts.opcodes[i->opcode->number / 64] |= 1ull << i->opcode->number % 64;
    w->group->counts.products += (uint64_t)s.m * s.n * s.k * s.blocks;
}

/* --- accumulators ----------------------------------------------------------------- */

void act_accumulator(struct wave *w, const struct instruction *i)
{
    const unsigned to = i->d - 256u;
    w->group->counts.vector++;
    if (!vector_ready(w, i, to, 1)) return;
    if (i->s[0] < 256) {
        const uint32_t x = scalar_read(w, i, i->s[0]);
        const uint64_t unset = scalar_unset(w, i->s[0], 1) ? ~0ull : 0;
        FOR_LANES if (w->exec >> l & 1) w->v[to][l] = x;
        vector_unset_write(w, to, 1, w->exec, unset, unset);
        return;
    }
    const unsigned from = i->s[0] - 256u;
    if (!vector_ready(w, i, from, 1)) return;
    FOR_LANES if (w->exec >> l & 1) w->v[to][l] = w->v[from][l];
    vector_unset_write(w, to, 1, w->exec, w->unset[from][0], w->unset[from][1]);
}

/* --- the table -------------------------------------------------------------------- */

#define ROW(NUMBER, NAME, UNIT, TARGETS)                                                 \
    {                                                                                    \
        .encoding = VOP3P, .number = NUMBER, .name = "v_mfma_" NAME, .act = act_matrix,  \
        .unit = "mfma." UNIT, .kinds = "v=vvk", .targets = TARGETS                       \
    }
#define OLD (TARGET_GFX908 | TARGET_GFX90A)

const struct opcode gfx9_matrix[] = {
    /* clang-format off */
    ROW(0x40, "f32_32x32x1f32",      "32x32x1_2b.f32.f32",   OLD),
    ROW(0x41, "f32_16x16x1f32",      "16x16x1_4b.f32.f32",   OLD),
    ROW(0x42, "f32_4x4x1f32",        "4x4x1_16b.f32.f32",    OLD),
    ROW(0x44, "f32_32x32x2f32",      "32x32x2.f32.f32",      OLD),
    ROW(0x45, "f32_16x16x4f32",      "16x16x4.f32.f32",      OLD),
    ROW(0x48, "f32_32x32x4f16",      "32x32x4_2b.f32.f16",   OLD),
    ROW(0x49, "f32_16x16x4f16",      "16x16x4_4b.f32.f16",   OLD),
    ROW(0x4a, "f32_4x4x4f16",        "4x4x4_16b.f32.f16",    OLD),
    ROW(0x4c, "f32_32x32x8f16",      "32x32x8.f32.f16",      OLD),
    ROW(0x4d, "f32_16x16x16f16",     "16x16x16.f32.f16",     OLD),
    ROW(0x63, "f32_32x32x4bf16_1k",  "32x32x4_2b.f32.bf16_1k", TARGET_GFX90A),
    ROW(0x64, "f32_16x16x4bf16_1k",  "16x16x4_4b.f32.bf16_1k", TARGET_GFX90A),
    ROW(0x65, "f32_4x4x4bf16_1k",    "4x4x4_16b.f32.bf16_1k",  TARGET_GFX90A),
    ROW(0x66, "f32_32x32x8bf16_1k",  "32x32x8.f32.bf16_1k",    TARGET_GFX90A),
    ROW(0x67, "f32_16x16x16bf16_1k", "16x16x16.f32.bf16_1k",   TARGET_GFX90A),
    ROW(0x68, "f32_32x32x2bf16",     "32x32x2_2b.f32.bf16",  OLD),
    ROW(0x69, "f32_16x16x2bf16",     "16x16x2_4b.f32.bf16",  OLD),
    ROW(0x6b, "f32_4x4x2bf16",       "4x4x2_16b.f32.bf16",   OLD),
    ROW(0x6c, "f32_32x32x4bf16",     "32x32x4.f32.bf16",     OLD),
    ROW(0x6d, "f32_16x16x8bf16",     "16x16x8.f32.bf16",     OLD),
    ROW(0x6e, "f64_16x16x4f64",      "16x16x4.f64.f64",      TARGET_GFX90A),
    ROW(0x6f, "f64_4x4x4f64",        "4x4x4_4b.f64.f64",     TARGET_GFX90A),

    ROW(0x3e, "f32_16x16x8_xf32",    "16x16x8.f32.xf32",     TARGET_GFX942),
    ROW(0x3f, "f32_32x32x4_xf32",    "32x32x4.f32.xf32",     TARGET_GFX942),
    ROW(0x40, "f32_32x32x1_2b_f32",  "32x32x1_2b.f32.f32",   TARGET_GFX942),
    ROW(0x41, "f32_16x16x1_4b_f32",  "16x16x1_4b.f32.f32",   TARGET_GFX942),
    ROW(0x42, "f32_4x4x1_16b_f32",   "4x4x1_16b.f32.f32",    TARGET_GFX942),
    ROW(0x44, "f32_32x32x2_f32",     "32x32x2.f32.f32",      TARGET_GFX942),
    ROW(0x45, "f32_16x16x4_f32",     "16x16x4.f32.f32",      TARGET_GFX942),
    ROW(0x48, "f32_32x32x4_2b_f16",  "32x32x4_2b.f32.f16",   TARGET_GFX942),
    ROW(0x49, "f32_16x16x4_4b_f16",  "16x16x4_4b.f32.f16",   TARGET_GFX942),
    ROW(0x4a, "f32_4x4x4_16b_f16",   "4x4x4_16b.f32.f16",    TARGET_GFX942),
    ROW(0x4c, "f32_32x32x8_f16",     "32x32x8.f32.f16",      TARGET_GFX942),
    ROW(0x4d, "f32_16x16x16_f16",    "16x16x16.f32.f16",     TARGET_GFX942),
    ROW(0x5d, "f32_32x32x4_2b_bf16", "32x32x4_2b.f32.bf16",  TARGET_GFX942),
    ROW(0x5e, "f32_16x16x4_4b_bf16", "16x16x4_4b.f32.bf16",  TARGET_GFX942),
    ROW(0x5f, "f32_4x4x4_16b_bf16",  "4x4x4_16b.f32.bf16",   TARGET_GFX942),
    ROW(0x60, "f32_32x32x8_bf16",    "32x32x8.f32.bf16",     TARGET_GFX942),
    ROW(0x61, "f32_16x16x16_bf16",   "16x16x16.f32.bf16",    TARGET_GFX942),
    ROW(0x6e, "f64_16x16x4_f64",     "16x16x4.f64.f64",      TARGET_GFX942),
    ROW(0x6f, "f64_4x4x4_4b_f64",    "4x4x4_4b.f64.f64",     TARGET_GFX942),
    ROW(0x70, "f32_16x16x32_bf8_bf8", "16x16x32.f32.bf8.bf8", TARGET_GFX942),
    ROW(0x71, "f32_16x16x32_bf8_fp8", "16x16x32.f32.bf8.fp8", TARGET_GFX942),
    ROW(0x72, "f32_16x16x32_fp8_bf8", "16x16x32.f32.fp8.bf8", TARGET_GFX942),
    ROW(0x73, "f32_16x16x32_fp8_fp8", "16x16x32.f32.fp8.fp8", TARGET_GFX942),
    ROW(0x74, "f32_32x32x16_bf8_bf8", "32x32x16.f32.bf8.bf8", TARGET_GFX942),
    ROW(0x75, "f32_32x32x16_bf8_fp8", "32x32x16.f32.bf8.fp8", TARGET_GFX942),
    ROW(0x76, "f32_32x32x16_fp8_bf8", "32x32x16.f32.fp8.bf8", TARGET_GFX942),
    ROW(0x77, "f32_32x32x16_fp8_fp8", "32x32x16.f32.fp8.fp8", TARGET_GFX942),

    { .encoding = VOP3P, .number = 0x58, .name = "v_accvgpr_read_b32",
      .act = act_accumulator, .kinds = "v=v", .d = 1, .s = { 1 }, .more = 0 },
    { .encoding = VOP3P, .number = 0x59, .name = "v_accvgpr_write_b32",
      .act = act_accumulator, .d = 1, .s = { 1 }, .more = 1 },
    { 0 }
    /* clang-format on */
};
