/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix instructions of the executor: every register of D compared with the definition
   of one output (tests/emu/spec.h).  The positions of the elements of A, B, C and D are
   those of AMD's matrix instruction calculator; the table below is from the calculator,
   from elements to positions. */
#include "tests/emu/spec.h"
#include "tests/gfx9/gfx9_bench.h"
#include "tests/test.h"

#include "emu/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- places ------------------------------------------------------------------------ */

struct spot {
    int lane, item; /* item: which element of the lane's */
};

/* Of a fragment: sides, k, blocks, elements of A or B in a lane. */
struct fragment_shape {
    int side, k, blocks, each;
    bool is_double;
};

/* A[i][k] of a block; of B the same with j for i. */
static struct spot spot_of_a(const struct fragment_shape *s, int block, int i, int k)
{
    if (s->is_double) return (struct spot){ 4 * block * (s->side == 4) + 16 * k + i, 0 };
    if (s->blocks > 1) return (struct spot){ s->side * block + i, k };
    return (struct spot){ s->side * (k / s->each) + i, k % s->each };
}

/* C and D[i][j] of a block. */
static struct spot spot_of_d(const struct fragment_shape *s, int block, int i, int j)
{
    if (s->is_double && s->side == 4) return (struct spot){ 16 * i + 4 * block + j, 0 };
    if (s->is_double) return (struct spot){ 16 * (i % 4) + j, i / 4 };
    switch (s->side) {
    case 32:
        return (struct spot){ 32 * (i / 4 % 2) + j, 16 * block + 4 * (i / 8) + i % 4 };
    case 16: return (struct spot){ 16 * (i / 4) + j, 4 * block + i % 4 };
    default: return (struct spot){ 4 * block + j, i };
    }
}

/* The shape by a mnemonic, v_mfma_f32_16x16x4f16 or f32_16x16x4_4b_f16.  The former do
   not tell blocks: a lane has four elements of A of 16 bits, two of CDNA1's bf16, one of
   f32 and f64, eight of a byte. */
static struct fragment_shape shape_read(const char *name, int bits)
{
    struct fragment_shape s = { .is_double = strstr(name, "v_mfma_f64"), .blocks = 1 };
    const size_t length = strlen(name);
    const bool old = !strcmp(name + length - 4, "bf16") && name[length - 5] != '_';
    const int least = bits > 16 ? 1 : bits == 8 ? 8 : old ? 2 : 4;
    ck_assert_int_eq(sscanf(name, "v_mfma_f%*d_%dx%*dx%d", &s.side, &s.k), 2);
    while (s.side * s.k * s.blocks < LANES * least) s.blocks *= 2;
    s.each = s.side * s.k * s.blocks / LANES;
    return s;
}

/* --- elements ---------------------------------------------------------------------- */

static uint64_t element_read(const struct machine *m, unsigned from, struct spot at,
                             int bits)
{
    const unsigned bit = (unsigned)(at.item * bits);
    const uint32_t *word = m->v[from + bit / 32];
    if (bits == 64) return (uint64_t)word[LANES + at.lane] << 32 | word[at.lane];
    const uint32_t x = word[at.lane] >> bit % 32;
    return bits == 32 ? x : x & ((1u << bits) - 1);
}

static void element_write(struct machine *m, unsigned to, struct spot at, int bits,
                          uint64_t x)
{
    const unsigned word = (unsigned)(at.item * bits / 32);
    m->v[to + word][at.lane] = (uint32_t)x;
    if (bits == 64) m->v[to + word + 1][at.lane] = (uint32_t)(x >> 32);
}

/* Any encoding now and then, else one of magnitude below 2. */
static uint64_t encoding_random(const struct bitcut_format *f, uint64_t *rng, bool any)
{
    const uint64_t x = test_bits(rng) & UINT64_MAX >> (64 - f->bits);
    const int top = f->pad + f->fraction_bits + f->exponent_bits - 1;
    return any && test_bits(rng) % 16 == 0 ? x : x & ~(UINT64_C(1) << top);
}

/* An operand's registers, of its format: any encodings, or such below 2; often zeros. */
static void operand_random(struct machine *m, unsigned from, unsigned words,
                           const struct bitcut_format *f, int bits, uint64_t *rng)
{
    const bool any = test_bits(rng) % 2, zeros = test_bits(rng) % 4 == 0;
    for (unsigned r = 0; r < words; r++)
        for (int l = 0; l < LANES; l++) {
            uint32_t x = 0;
            for (int b = 0; b < 32; b += bits < 32 ? bits : 32) {
                const uint32_t element = bits == 64
                                             ? (uint32_t)test_bits(rng) & 0xbfffffff
                                             : (uint32_t)encoding_random(f, rng, any);
                if (!zeros || test_bits(rng) % 2) x |= element << b;
            }
            m->v[from + r][l] = zeros && test_bits(rng) % 2 ? 0 : x;
        }
}

/* Accumulators now and then all so small that a product of zero may have a larger
   exponent in a unit that does not look. */
static void sums_random(struct machine *m, unsigned from, unsigned words, uint64_t *rng)
{
    if (test_bits(rng) % 2) return; /* what the machine has */
    for (unsigned r = 0; r < words; r++)
        for (int l = 0; l < LANES; l++)
            m->v[from + r][l] = (uint32_t)test_bits(rng) & 0xbfffffff & ~(1u << 29);
}

/* --- one instruction --------------------------------------------------------------- */

/* Registers of its operands; c: from a constant below 256. */
struct registers {
    unsigned a, b, c, d;
    bool constant;
};

static unsigned file_register(unsigned encoded, bool accumulator)
{
    return encoded - 256 + (accumulator ? VGPRS : 0);
}

/* Whose C and D may be registers of one kind, and apart: what overlaps is another test.
 */
static struct registers registers_random(struct fields *f, const struct gfx9_target *t,
                                         const struct fragment_shape *s, uint64_t *rng)
{
    const uint64_t x = test_bits(rng);
    struct registers r = { .constant = x % 4 == 0 };
    f->s[0] = 256 + 2 * (unsigned)test_between(rng, 0, 30);
    f->s[1] = 256 + 2 * (unsigned)test_between(rng, 0, 30);
    f->s[2] = r.constant ? (s->is_double ? 128
                            : x & 16     ? 242
                                         : 128)
                         : 256 + 2 * (unsigned)test_between(rng, 35, 50);
    f->d =
        x & 32 && !r.constant ? f->s[2] : 256 + 2 * (unsigned)test_between(rng, 70, 90);
    f->accumulators = (unsigned)(x >> 8) & 7;
    if (t->accumulates_all) f->accumulators &= 3;
    const bool cd = t->accumulates_all || f->accumulators & 4;
    r.a = file_register(f->s[0], f->accumulators & 1);
    r.b = file_register(f->s[1], f->accumulators & 2);
    r.c = r.constant ? 0 : file_register(f->s[2], cd);
    r.d = file_register(f->d, cd);
    return r;
}

/* All of D in `want`, from `was`. */
static void multiply(struct machine *want, const struct machine *was,
                     const struct bitcut_unit *u, const struct fragment_shape *s,
                     const struct registers *r, uint64_t constant)
{
    const int bits = u->a->bits > 32 ? 64 : 8 * unit_part_bytes(u),
              wide = s->is_double ? 64 : 32;
    uint64_t a[SPEC_K_MAX], b[SPEC_K_MAX];
    for (int block = 0; block < s->blocks; block++)
        for (int i = 0; i < s->side; i++)
            for (int j = 0; j < s->side; j++) {
                const struct spot at = spot_of_d(s, block, i, j);
                for (int k = 0; k < s->k; k++) {
                    a[k] = element_read(was, r->a, spot_of_a(s, block, i, k), bits);
                    b[k] = element_read(was, r->b, spot_of_a(s, block, j, k), bits);
                }
                const uint64_t c =
                    r->constant ? constant : element_read(was, r->c, at, wide);
                element_write(want, r->d, at, wide, spec_dot(u, a, b, NULL, NULL, c));
            }
}

/* Of a unit that no model is known of it says so, and sets nothing. */
static void try_unknown(struct bench *b, const struct gfx9_target *t,
                        const struct opcode *row, const char *unit)
{
    static struct machine was;
    const struct fields f = {
        .encoding = VOP3P, .number = row->number, .d = 300, .s = { 256, 258, 128 }
    };
    uint32_t word[3] = { 0 };
    const int count = fields_encode(word, &f);
    memset(&was, 0, sizeof was);
    was.exec = ~0ull;
    bench_prepare(b, t, &was);
    bench_run(b, row, word, count);
    ck_assert(b->group.failed);
    ck_assert_msg(strstr(b->group.fault.text, "unknown unit"), "%s", unit);
    ck_assert_mem_eq(b->machine.v, was.v, sizeof was.v);
}

static void try_row(struct bench *b, const struct gfx9_target *t,
                    const struct opcode *row, uint64_t *rng)
{
    static struct machine was, want;
    char name[128];
    snprintf(name, sizeof name, "%s/%s", t->units, row->unit);
    const struct bitcut_unit *u = unit_find(name, NULL);
    if (!u) {
        try_unknown(b, t, row, name);
        return;
    }
    const int bits = u->a->bits > 32 ? 64 : 8 * unit_part_bytes(u);
    const struct fragment_shape s = shape_read(row->name, bits);
    struct fields f = { .encoding = VOP3P, .number = row->number };
    machine_random(&was, rng);
    was.exec = ~0ull;
    const struct registers r = registers_random(&f, t, &s, rng);
    const unsigned words = (unsigned)(s.each * bits / 32);
    operand_random(&was, r.a, words, u->a, bits, rng);
    operand_random(&was, r.b, words, u->b, bits, rng);
    if (!r.constant)
        sums_random(&was, r.c, (unsigned)(s.side * s.side * s.blocks / LANES), rng);
    uint32_t word[3] = { 0 };
    const int count = fields_encode(word, &f);
    bench_prepare(b, t, &was);
    bench_run(b, row, word, count);
    ck_assert_msg(!b->group.failed, "%s: %s", name, b->group.fault.text);
    want = was;
    want.pc = 8;
    multiply(&want, &was, u, &s, &r, f.s[2] == 242 ? 0x3f800000 : 0);
    bench_compare(&b->machine, &want, &was, row->name, &f);
}

START_TEST(test_matrix)
{
    struct bench *b = bench_make(1);
    uint64_t rng = test_seed();
    for (const struct gfx9_target *t = gfx9_targets; t->name; t++)
        for (const struct opcode *row = gfx9_matrix; row->name; row++)
            for (int n = 0; n < test_cases(4, 200); n++)
                if (row->unit && row->targets & t->bit) try_row(b, t, row, &rng);
    bench_free(b, 1);
}
END_TEST

TEST_MAIN("gfx9_matrix", test_matrix)
