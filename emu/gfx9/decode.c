/* SPDX-License-Identifier: BSD-3-Clause */
/* From code words to rows of the opcode table and their operands: CDNA ISA documents,
   "Microcode Formats". */
#include "emu/gfx9/wave.h"

#include <string.h>

/* --- rows ------------------------------------------------------------------------- */

static const struct opcode *const tables[] = { gfx9_scalar, gfx9_memory_scalar,
                                               gfx9_vector, gfx9_packed,
                                               gfx9_lds,    gfx9_global,
                                               gfx9_matrix, NULL };

const struct opcode *gfx9_opcode(enum encoding encoding, int number,
                                 const struct gfx9_target *target)
{
    for (const struct opcode *const *table = tables; *table; table++)
        for (const struct opcode *row = *table; row->name; row++)
            if (row->encoding == encoding && row->number == number &&
                (!row->targets || row->targets & target->bit))
                return row;
    return NULL;
}

/* --- encodings -------------------------------------------------------------------- */

/* An encoding: the bits that identify it, the position of its opcode, and its size in
   bytes. */
struct form {
    uint32_t mask, value;
    enum encoding encoding;
    int shift, bits, bytes;
};

/* The first form that matches is used. */
static const struct form forms[] = {
    /* clang-format off */
    { 0xfe000000, 0x7e000000, VOP1,  9,  8,  4 },
    { 0xfe000000, 0x7c000000, VOPC,  17, 8,  4 },
    { 0x80000000, 0x00000000, VOP2,  25, 6,  4 },
    { 0xff800000, 0xbf800000, SOPP,  16, 7,  4 },
    { 0xff800000, 0xbf000000, SOPC,  16, 7,  4 },
    { 0xff800000, 0xbe800000, SOP1,  8,  8,  4 },
    { 0xf0000000, 0xb0000000, SOPK,  23, 5,  4 },
    { 0xc0000000, 0x80000000, SOP2,  23, 7,  4 },
    { 0xfc000000, 0xc0000000, SMEM,  18, 8,  8 },
    { 0xff800000, 0xd3800000, VOP3P, 16, 7,  8 },
    { 0xfc000000, 0xd0000000, VOP3,  16, 10, 8 },
    { 0xfc000000, 0xe0000000, MUBUF, 18, 7,  8 },
    { 0xfc000000, 0xd8000000, DS,    17, 8,  8 },
    { 0xfc00c000, 0xdc000000, FLAT,  18, 7,  8 },
    { 0xfc00c000, 0xdc008000, GLOBAL, 18, 7, 8 },
    { 0 }
    /* clang-format on */
};

static const struct form *form_of(uint32_t word)
{
    const struct form *form = forms;
    while (form->bytes && (word & form->mask) != form->value) form++;
    return form->bytes ? form : NULL;
}

/* VOP3 repeats the short forms from these numbers on. */
enum { VOP3_OF_VOP2 = 0x100, VOP3_OF_VOP1 = 0x140, VOP3_OWN = 0x1c0 };

static const struct opcode *row_of(const struct form *form, int number,
                                   const struct gfx9_target *target)
{
    if (form->encoding != VOP3 || number >= VOP3_OWN)
        return gfx9_opcode(form->encoding, number, target);
    if (number >= VOP3_OF_VOP1) return gfx9_opcode(VOP1, number - VOP3_OF_VOP1, target);
    if (number >= VOP3_OF_VOP2) return gfx9_opcode(VOP2, number - VOP3_OF_VOP2, target);
    return gfx9_opcode(VOPC, number, target);
}

/* --- operands --------------------------------------------------------------------- */

enum { SDWA = 249, DPP = 250, LITERAL = 255 };

static uint32_t field(uint32_t word, int low, int bits)
{
    return word >> low & ((1u << bits) - 1);
}

/* fmamk, fmaak: one operand is a literal. */
static bool has_constant(const struct opcode *row)
{
    return !strncmp(row->name, "v_fmamk", 7) || !strncmp(row->name, "v_fmaak", 7);
}

/* The second word of VOP1, VOP2 and VOPC with parts of registers. */
static void decode_parts(struct instruction *to)
{
    const uint32_t w = to->word[1];
    to->parted = true;
    to->bytes = 8;
    to->s[0] = (uint16_t)(field(w, 0, 8) + (field(w, 23, 1) ? 0 : 256));
    if (field(w, 31, 1)) to->s[1] = (uint16_t)field(to->word[0], 9, 8);
    if (!to->opcode || to->opcode->act != act_vector || has_constant(to->opcode))
        to->cannot = "sub-dword addressing (SDWA)";
    to->part[0] = (struct part){ (uint8_t)field(w, 16, 3), field(w, 19, 1) };
    to->part[1] = (struct part){ (uint8_t)field(w, 24, 3), field(w, 27, 1) };
    to->negated = (uint8_t)(field(w, 20, 1) | field(w, 28, 1) << 1);
    to->magnitudes = (uint8_t)(field(w, 21, 1) | field(w, 29, 1) << 1);
    to->part[2] = to->result = (struct part){ 6, false };
    if (to->opcode && to->opcode->encoding == VOPC) {
        if (field(w, 15, 1)) to->d = (uint16_t)field(w, 8, 7);
        return;
    }
    to->result.select = (uint8_t)field(w, 8, 3);
    to->unused = (uint8_t)field(w, 11, 2);
    if (field(w, 13, 3)) to->cannot = "an output modifier (clamp, omod)";
}

/* fmamk, fmaak: a literal among three operands; fmac: the result is also an operand. */
static void place_third(struct instruction *to)
{
    const struct opcode *row = to->opcode;
    if (!row || row->s[2] == 0 || row->encoding != VOP2) return;
    to->s[2] = to->d;
    if (!strncmp(row->name, "v_fmamk", 7)) to->s[2] = to->s[1], to->s[1] = LITERAL;
    if (!strncmp(row->name, "v_fmaak", 7)) to->s[2] = LITERAL;
}

/* Whether the result is in scalar registers. */
static bool sets_scalar(const struct opcode *row)
{
    return row && operands_kinds(row)[0] == 's';
}

static void decode_short(struct instruction *to, enum encoding encoding)
{
    const uint32_t w = to->word[0];
    to->s[0] = (uint16_t)field(w, 0, 9);
    to->s[1] = (uint16_t)(256 + field(w, 9, 8));
    to->d = (uint16_t)(field(w, 17, 8) + (sets_scalar(to->opcode) ? 0 : 256));
    if (encoding == VOPC) to->d = SGPR_VCC;
    to->carry = to->s[2] = SGPR_VCC;
    place_third(to);
    if (to->s[0] == SDWA) decode_parts(to);
    if (to->s[0] == DPP) to->bytes = 8, to->cannot = "data-parallel primitives (DPP)";
}

/* op_sel of VOP3 selects high halves of operands, and of a result whose low half is
   unchanged. */
static void decode_halves(struct instruction *to, uint32_t high)
{
    if (!to->opcode || !(to->opcode->more & HALVES || to->opcode->float_bits == 16)) {
        to->cannot = "a selected register half (op_sel)";
        return;
    }
    to->parted = true;
    for (int n = 0; n < 3; n++) to->part[n].select = high >> n & 1 ? 5 : 6;
    to->result.select = high >> 3 & 1 ? 5 : 6;
    to->unused = 2;
}

static void decode_long(struct instruction *to)
{
    const uint32_t w = to->word[0], v = to->word[1];
    const struct opcode *row = to->opcode;
    const bool two = row && row->more & GIVES_CARRY;
    to->d = (uint16_t)(field(w, 0, 8) + (sets_scalar(row) ? 0 : 256));
    for (int n = 0; n < 3; n++) to->s[n] = (uint16_t)field(v, 9 * n, 9);
    if (row && row->s[2] && row->encoding == VOP2) to->s[2] = to->d;
    to->negated = (uint8_t)field(v, 29, 3);
    to->carry = (uint16_t)field(w, 8, 7);
    if (!two) to->magnitudes = (uint8_t)field(w, 8, 3);
    if (field(w, 15, 1) || field(v, 27, 2))
        to->cannot = "an output modifier (clamp, omod)";
    if (!two && field(w, 11, 4)) decode_halves(to, field(w, 11, 4));
}

/* The number of a vector register, as the number of an accumulator. */
static uint16_t accumulator(unsigned o, bool is)
{
    return (uint16_t)(is && o >= 256 && o < 512 ? o + VGPRS : o);
}

/* v_accvgpr: 0 reads accumulators, 1 writes them, 2 does both. */
static void place_accumulators(struct instruction *to)
{
    if (!to->opcode || to->opcode->act != act_accumulator) return;
    to->d = accumulator(to->d, to->opcode->more > 0);
    to->s[0] = accumulator(to->s[0], to->opcode->more != 1);
}

/* A, B, C and D of a matrix instruction, and the number of their registers. */
static void decode_matrix(struct instruction *to, const struct gfx9_object *o)
{
    const struct matrix_unit *unit = &o->units[to->opcode->number];
    const bool sums = o->target->accumulates_all || field(to->word[0], 15, 1);
    to->s[0] = accumulator(to->s[0], field(to->word[1], 27, 1));
    to->s[1] = accumulator(to->s[1], field(to->word[1], 28, 1));
    to->s[2] = accumulator(to->s[2], sums);
    to->d = accumulator(to->d, sums);
    to->s_count[0] = to->s_count[1] = unit->words;
    to->s_count[2] = to->d_count = unit->sums;
}

static void decode_packed(struct instruction *to, const struct gfx9_object *o)
{
    to->d = (uint16_t)(256 + field(to->word[0], 0, 8));
    for (int n = 0; n < 3; n++) to->s[n] = (uint16_t)field(to->word[1], 9 * n, 9);
    if (to->opcode && to->opcode->unit) decode_matrix(to, o);
}

/* --- memory ------------------------------------------------------------------------- */

enum { ZERO = 128 /* the constant 0 */, NO_SCALAR = 127 };

/* The register pair of the base, and the register of the offset if there is one. */
static void decode_scalar_load(struct instruction *to)
{
    const uint32_t x = to->word[0], y = to->word[1];
    const bool has_constant = field(x, 17, 1), has_register = field(x, 14, 1);
    to->d = (uint16_t)field(x, 6, 7);
    to->s[0] = (uint16_t)(2 * field(x, 0, 6));
    to->s[1] = (uint16_t)(has_register   ? field(y, 25, 7)
                          : has_constant ? ZERO
                                         : field(y, 0, 7));
}

/* Whether data is in accumulators.  A bit of the instruction says so, except on
   gfx908. */
static bool has_accumulators(bool bit, const struct gfx9_target *target)
{
    return bit && !target->accumulates_all;
}

/* The address, one or two registers of data, and the destination of a load. */
static void decode_lds(struct instruction *to, const struct gfx9_target *target)
{
    const uint32_t y = to->word[1];
    const bool accumulators = has_accumulators(field(to->word[0], 25, 1), target);
    to->s[0] = (uint16_t)(256 + field(y, 0, 8));
    for (int n = 1; n < 3; n++)
        to->s[n] = accumulator(256 + field(y, 8 * n, 8), accumulators);
    to->d = accumulator(256 + field(y, 24, 8), accumulators);
    if (field(to->word[0], 16, 1)) to->cannot = "global data share (gds)";
}

/* The address, the data, and a scalar base, without which the address is a register pair;
   and the destination of a load. */
static void decode_global(struct instruction *to, const struct gfx9_target *target)
{
    const uint32_t y = to->word[1];
    const bool accumulators = has_accumulators(field(y, 23, 1), target);
    const bool flat = !to->opcode || to->opcode->encoding == FLAT;
    const unsigned base = field(y, 16, 7);
    to->s[0] = (uint16_t)(256 + field(y, 0, 8));
    to->s[1] = accumulator(256 + field(y, 8, 8), accumulators);
    to->s[2] = (uint16_t)(flat || base == NO_SCALAR ? ZERO : base);
    to->d = accumulator(256 + field(y, 24, 8), accumulators);
    if (to->s[2] != ZERO) to->s_count[0] = 1;
}

/* --- all ---------------------------------------------------------------------------- */

static bool takes_literal(const struct instruction *x, enum encoding encoding)
{
    const uint32_t w = x->word[0];
    if (x->parted) return false;
    switch (encoding) {
    case SOP2:
    case SOPC: return field(w, 0, 8) == LITERAL || field(w, 8, 8) == LITERAL;
    case SOP1: return field(w, 0, 8) == LITERAL;
    case VOP1:
    case VOPC: return field(w, 0, 9) == LITERAL;
    case VOP2: return x->s[0] == LITERAL || x->s[1] == LITERAL || x->s[2] == LITERAL;
    default: return false;
    }
}

static void decode_scalar(struct instruction *to, enum encoding encoding)
{
    const uint32_t w = to->word[0];
    to->s[0] = (uint16_t)field(w, 0, 8);
    to->s[1] = (uint16_t)field(w, 8, 8);
    to->d = (uint16_t)field(w, 16, 7);
    if (encoding == SOPK) to->s[0] = to->d;
}

static void decode_operands(struct instruction *to, enum encoding encoding,
                            const struct gfx9_object *o)
{
    const struct opcode *row = to->opcode;
    to->d_count = row ? (uint8_t)row->d : 0;
    for (int n = 0; n < 3; n++) to->s_count[n] = row ? (uint8_t)row->s[n] : 0;
    switch (encoding) {
    case SOP2:
    case SOPK:
    case SOP1:
    case SOPC: decode_scalar(to, encoding); break;
    case VOP2:
    case VOP1:
    case VOPC: decode_short(to, encoding); break;
    case VOP3: decode_long(to); break;
    case VOP3P: decode_packed(to, o); break;
    case SMEM: decode_scalar_load(to); break;
    case DS: decode_lds(to, o->target); break;
    case FLAT:
    case GLOBAL: decode_global(to, o->target); break;
    default: break;
    }
    place_accumulators(to);
    to->has_literal = takes_literal(to, encoding);
    if (to->has_literal) to->literal = to->word[1], to->bytes = 8;
}

void gfx9_decode(struct instruction *to, const struct gfx9_object *o, uint64_t address)
{
    *to = (struct instruction){ .offset = (uint32_t)address, .bytes = 4 };
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *at = gfx9_bytes_at(o, address + 4 * i, 4, true);
        if (at) memcpy(&to->word[i], at, sizeof *to->word);
    }
    const struct form *form = form_of(to->word[0]);
    if (form) {
        const int number = (int)field(to->word[0], form->shift, form->bits);
        to->bytes = (uint8_t)form->bytes;
        to->opcode = row_of(form, number, o->target);
        decode_operands(to, form->encoding, o);
    }
    to->refused = !to->opcode || to->cannot || !operands_exist(NULL, 0, to);
}
