/* SPDX-License-Identifier: BSD-3-Clause */
/* Random fields of instructions, as compilers may write them. */
#include "tests/gfx9/gfx9_bench.h"
#include "tests/test.h"

#include <string.h>

/* --- random fields ----------------------------------------------------------------- */

/* A scalar operand: a register, vcc, exec, m0, a constant, or if that can be a literal.
 */
static unsigned scalar_random(uint64_t *rng, char letter, bool literal)
{
    const unsigned x = (unsigned)test_bits(rng) % 16;
    const bool whole = letter == 'q' || letter == 'w';
    if (x < 6) return (unsigned)test_between(rng, 0, 50) * 2;
    if (x < 7) return SGPR_VCC;
    if (x < 8) return SGPR_EXEC;
    if (x < 9 && letter != 'q') return (unsigned)test_between(rng, 0, 103);
    if (x < 11 && literal) return LITERAL_OPERAND;
    if (x < 12 && !whole) return (unsigned)test_between(rng, 240, 248);
    return (unsigned)test_between(rng, 128, 208);
}

/* A vector register that so many dwords begin at. */
static unsigned vector_random(uint64_t *rng, int dwords)
{
    return 256 + 2 * (unsigned)test_between(rng, 0, (VGPRS - dwords) / 2 - 1);
}

static unsigned destination_random(uint64_t *rng, int dwords)
{
    const unsigned r = 2 * (unsigned)test_between(rng, 0, 51);
    return dwords == 1 && test_bits(rng) % 2 ? r + 1 : r;
}

static int letters_of(char letters[4], const char *form)
{
    int n = 0;
    for (const char *at = strchr(form, '=') + 1; *at && *at != 'c'; at++)
        letters[n++] = *at;
    letters[n] = 0;
    return n;
}

static void scalar_fields(struct fields *f, const struct opcode *row, const char *form,
                          uint64_t *rng)
{
    char letters[4];
    const int count = letters_of(letters, form);
    f->d = destination_random(rng, form[0] == 'q' ? 2 : 1);
    if (test_bits(rng) % 16 == 0) f->d = SGPR_VCC + (f->d & 1);
    else if (test_bits(rng) % 16 == 0) f->d = SGPR_EXEC + (f->d & 1);
    f->k = (uint32_t)word_random(rng);
    f->s[0] = 0;
    f->literal = word_random(rng);
    for (int n = 0; n < count; n++) f->s[n] = scalar_random(rng, letters[n], true);
    if (row->encoding == SOPK) f->s[0] = f->d;
}

/* Signs, magnitudes and parts, where letters have them. */
static void modifiers_random(struct fields *f, const struct opcode *row,
                             const char *letters, uint64_t *rng)
{
    for (int n = 0; letters[n]; n++) {
        const bool is_float = letters[n] == 'f' || letters[n] == 'h';
        const uint64_t x = test_bits(rng);
        if (f->shape != IN_WORD && is_float) {
            f->negated |= (unsigned)(x & 1) << n;
            f->magnitudes |= (unsigned)(x >> 1 & 1) << n;
        }
        if (f->shape != IN_PARTS || n > 1) continue;
        f->select[n] = (unsigned)(x >> 2) % 7;
        f->signs[n] = !is_float && x >> 8 & 1;
    }
    if (f->shape == IN_PARTS) {
        f->to = (unsigned)test_bits(rng) % 7;
        f->rest = (unsigned)test_bits(rng) % 3;
    }
    if (row->more & GIVES_CARRY) f->magnitudes = 0;
}

/* Of 16 bits and only in two words: its operands may be high halves. */
static bool takes_halves(const struct opcode *row)
{
    return row->encoding == VOP3 && (row->more & HALVES || row->float_bits == 16);
}

/* A shape that the row has: of three operands in two words, of 64 bits in no parts. */
static enum shape shape_random(const struct opcode *row, const char *form, int count,
                               bool constant, uint64_t *rng)
{
    const bool parts = !strchr(form, 'q') && count && count < 3;
    const enum shape shape = (enum shape)(test_bits(rng) % 3);
    if (row->encoding == VOP3) return IN_TWO;
    return constant || (shape == IN_PARTS && !parts) ? IN_WORD : shape;
}

/* Operand n: the first, and in two words any, may be scalar; in parts a register. */
static unsigned operand_random(const struct fields *f, int n, char letter, bool literal,
                               uint64_t *rng)
{
    const bool scalar = n == 0 || (f->shape == IN_TWO && test_bits(rng) % 4 == 0);
    if (!scalar || test_bits(rng) % 2) return vector_random(rng, 2);
    const unsigned o = scalar_random(rng, letter, literal);
    return f->shape == IN_PARTS && o >= 128 ? 4 : o;
}

static void vector_fields(struct fields *f, const struct opcode *row, const char *form,
                          uint64_t *rng)
{
    char letters[4];
    const int count = letters_of(letters, form);
    const bool third = row->encoding == VOP2 && count == 3; /* the result, or a literal */
    const bool constant = third && strstr(row->name, "k_f32");
    const bool compares = form[0] == 'c', takes = form[strlen(form) - 1] == 'c';
    f->shape = shape_random(row, form, count, constant, rng);
    f->literal = word_random(rng);
    if (!count) f->d = 256;
    else if (!compares) f->d = vector_random(rng, 2);
    else f->d = f->shape == IN_WORD ? SGPR_VCC : destination_random(rng, 2);
    if (strstr(form, "c=") && !compares && f->shape == IN_TWO)
        f->carry = destination_random(rng, 2);
    f->s[0] = f->s[1] = f->s[2] = f->shape == IN_TWO ? 0 : 512;
    if (!count && f->shape != IN_TWO) f->s[0] = 256;
    for (int n = 0; n < count; n++)
        f->s[n] = operand_random(f, n, letters[n], f->shape == IN_WORD && !constant, rng);
    if (third) f->s[2] = constant ? LITERAL_OPERAND : f->d;
    if (takes) f->s[2] = f->shape == IN_TWO ? destination_random(rng, 2) : SGPR_VCC;
    modifiers_random(f, row, letters, rng);
    if (third) f->negated &= 3, f->magnitudes &= 3; /* not the result's */
    if (takes_halves(row))
        f->high = (unsigned)test_bits(rng) % (form[0] == 'h' ? 16 : 1u << count);
}

static void packed_fields(struct fields *f, const struct opcode *row, uint64_t *rng)
{
    const bool mixed = strstr(row->name, "mix"), move = strstr(row->name, "mov");
    const int count = row->s[2] ? 3 : 2;
    const uint64_t x = test_bits(rng);
    f->shape = IN_TWO;
    f->d = vector_random(rng, 2);
    f->high = (unsigned)x & ((1u << count) - 1);
    f->high_high = (unsigned)(x >> 3) & ((1u << count) - 1);
    f->negated = move ? 0 : (unsigned)(x >> 6) & ((1u << count) - 1);
    f->negated_high = move ? 0 : (unsigned)(x >> 9) & ((1u << count) - 1);
    f->s[2] = 0;
    for (int n = 0; n < count; n++) {
        const bool constant = !mixed && row->s[0] == 1;
        f->s[n] = test_bits(rng) % 3 ? vector_random(rng, 2)
                  : constant         ? scalar_random(rng, 'h', false)
                                     : 2 * (unsigned)test_between(rng, 0, 50);
    }
}

/* Offsets: of two accesses each its own, of one 16 bits in LDS, 13 with a sign in global
   memory and 12 in flat. */
static void offsets_random(struct fields *f, const struct access *a, uint32_t align,
                           uint64_t *rng)
{
    const bool lds = f->encoding == DS;
    const uint32_t x = (uint32_t)test_bits(rng), most = a->apart64 ? 2 : 8;
    f->offset[0] = a->twice ? x % most : x % 64 * align;
    f->offset[1] = a->twice ? x / 64 % most : lds ? x / 64 % 4 : 0;
    if (f->encoding == GLOBAL && x >> 31) f->offset[0] = (0x2000 - f->offset[0]) & 0x1fff;
}

/* Lanes' addresses in registers, inside of the memory of the access. */
static void addresses_random(struct machine *m, const struct fields *f, uint32_t align,
                             uint32_t room, uint64_t *rng, uint64_t memory)
{
    const bool scalar = f->base != 127; /* memory's address has registers of its own */
    if (scalar) {
        m->s[f->base] = (uint32_t)memory;
        m->s[f->base + 1] = (uint32_t)(memory >> 32);
    }
    for (int l = 0; l < LANES; l++) {
        const uint64_t at = (uint32_t)test_bits(rng) % (room / align) * align;
        const uint64_t from = f->encoding == DS ? 0 : 512 + (scalar ? 0 : memory);
        m->v[f->address][l] = (uint32_t)(from + at);
        if (f->encoding != DS && !scalar)
            m->v[f->address + 1][l] = (uint32_t)((from + at) >> 32);
    }
}

static void memory_fields(struct fields *f, const struct opcode *row, struct machine *m,
                          bool accumulators, uint64_t *rng, uint64_t memory)
{
    struct access a = { .bytes = 4, .reads = true };
    const bool moves = !access_read(&a, row->name); /* between lanes */
    const uint32_t align = a.bytes < 4                        ? a.bytes
                           : f->encoding == DS && a.bytes > 4 ? 8
                                                              : 4;
    const uint32_t most = a.bytes * (a.apart64 ? 3 * 64 : 24) + 1024;
    f->address = (unsigned)test_between(rng, 0, 60) * 2;
    if (!a.reads || moves) f->data[0] = (unsigned)test_between(rng, 64, 100);
    if (a.twice && !a.reads) f->data[1] = f->data[0] + 8;
    if (a.reads) f->d = (unsigned)test_between(rng, 0, 240);
    f->accumulators = accumulators && !moves && test_bits(rng) % 2;
    f->base = f->encoding == GLOBAL && test_bits(rng) % 2
                  ? 2 * (unsigned)test_between(rng, 0, 50)
                  : 127;
    offsets_random(f, &a, align, rng);
    if (moves)
        for (int l = 0; l < LANES; l++) m->v[f->address][l] = word_random(rng);
    else addresses_random(m, f, align, MEMORY_BYTES - most, rng, memory);
}

/* From 1024 bytes behind the beginning of memory. */
static void load_fields(struct fields *f, const struct opcode *row, struct machine *m,
                        uint64_t *rng, uint64_t memory)
{
    struct access a;
    if (!access_read(&a, row->name)) return;
    const uint64_t x = test_bits(rng), from = memory + 1024;
    const uint32_t offset = 4 * (uint32_t)test_between(rng, 0, 100);
    f->address = 2 * (unsigned)test_between(rng, 0, 20);
    f->base = (unsigned)test_between(rng, 60, 70);
    f->d = 4 * (unsigned)test_between(rng, 0, 20);
    f->has_offset = x & 1;
    f->has_base = f->has_offset && x & 2;
    f->offset[0] = !f->has_offset ? f->base
                   : x & 4        ? offset
                                  : (0x200000 - offset) & 0x1fffff;
    m->s[f->address] = (uint32_t)from, m->s[f->address + 1] = (uint32_t)(from >> 32);
    m->s[f->base] = 4 * (uint32_t)test_between(rng, 0, 100);
    if (!f->has_base && f->has_offset) f->base = 0;
}

/* In some lanes operands that are the same, or of the other sign, or zeros. */
static void relate_operands(struct machine *m, const struct fields *f, uint64_t *rng)
{
    for (int n = 1; n < 3; n++)
        for (int l = 0; l < LANES; l++) {
            const uint64_t kind = test_bits(rng) % 16;
            const uint32_t sign = kind & 1 ? 0x80000000 : 0;
            if (f->s[0] < 256 || f->s[n] < 256 || f->s[n] >= 512 || kind > 3) continue;
            if (kind > 1) m->v[f->s[0] - 256][l] = test_bits(rng) % 2 ? 0x80000000 : 0;
            m->v[f->s[n] - 256][l] = m->v[f->s[0] - 256][l] ^ sign;
        }
}

/* --- all --------------------------------------------------------------------------- */

static const char *form_of(char room[8], const char *name)
{
    const struct statement *row = statement_find(name);
    if (row) return row->form;
    return statement_compares(room, name) ? room : NULL;
}

/* Between lanes and scalar registers, and of accumulators. */
static void lane_fields(struct fields *f, const struct opcode *row, uint64_t *rng)
{
    const bool to_scalar =
        strstr(row->name, "readlane") || strstr(row->name, "readfirst");
    f->shape = row->encoding == VOP1 ? IN_WORD : IN_TWO;
    f->s[1] = f->s[2] = 0;
    f->d = to_scalar ? destination_random(rng, 1) : vector_random(rng, 1);
    f->s[0] = vector_random(rng, 1);
    if (strstr(row->name, "writelane") ||
        (strstr(row->name, "accvgpr_write") && test_bits(rng) % 2))
        f->s[0] = scalar_random(rng, 'd', false);
    if (strstr(row->name, "elane")) f->s[1] = scalar_random(rng, 'd', false);
}

void fields_random(struct fields *f, const struct opcode *row,
                   const struct gfx9_target *target, struct machine *m, uint64_t *rng,
                   uint64_t memory)
{
    char room[8];
    const char *form = form_of(room, row->name);
    const enum encoding e = row->encoding;
    *f = (struct fields){ .encoding = e, .number = row->number, .s = { 512, 512, 512 } };
    if (e == MUBUF) return;
    if (e == SOPP)
        f->k = strstr(row->name, "branch") || strstr(row->name, "wait")
                   ? (uint32_t)test_bits(rng)
                   : 0;
    else if (e <= SOPP)
        scalar_fields(f, row,
                      form                         ? form
                      : strstr(row->name, "getpc") ? "q="
                                                   : "q=q",
                      rng);
    else if (e == SMEM) load_fields(f, row, m, rng, memory);
    else if (e >= DS) memory_fields(f, row, m, !target->accumulates_all, rng, memory);
    else if (strstr(row->name, "lane") || strstr(row->name, "accvgpr"))
        lane_fields(f, row, rng);
    else if (e == VOP3P) packed_fields(f, row, rng);
    else vector_fields(f, row, form, rng), relate_operands(m, f, rng);
}
