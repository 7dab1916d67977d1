/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_words.h"

static int with_literal(uint32_t word[3], const struct fields *f, int operands)
{
    for (int n = 0; n < operands; n++)
        if (f->s[n] == LITERAL_OPERAND) {
            word[1] = f->literal;
            return 2;
        }
    return 1;
}

static int encode_scalar(uint32_t word[3], const struct fields *f)
{
    const uint32_t number = (uint32_t)f->number;
    switch (f->encoding) {
    case SOP2:
        word[0] = 0x80000000 | number << 23 | f->d << 16 | f->s[1] << 8 | f->s[0];
        return with_literal(word, f, 2);
    case SOP1:
        word[0] = 0xbe800000 | f->d << 16 | number << 8 | f->s[0];
        return with_literal(word, f, 1);
    case SOPC:
        word[0] = 0xbf000000 | number << 16 | f->s[1] << 8 | f->s[0];
        return with_literal(word, f, 2);
    case SOPK:
        word[0] = 0xb0000000 | number << 23 | f->d << 16 | (f->k & 0xffff);
        return 1;
    default: word[0] = 0xbf800000 | number << 16 | (f->k & 0xffff); return 1;
    }
}

/* The second word of SDWA; an operand below 256 is a scalar register. */
static uint32_t parts_of(const struct fields *f)
{
    uint32_t w = f->s[0] & 255;
    if (f->encoding == VOPC) w |= f->d == SGPR_VCC ? 0 : f->d << 8 | 1u << 15;
    else w |= f->to << 8 | f->rest << 11;
    for (unsigned n = 0; n < 2; n++)
        w |= (f->select[n] | f->signs[n] << 3 | (f->negated >> n & 1) << 4 |
              (f->magnitudes >> n & 1) << 5 | (f->s[n] < 256 ? 1u : 0) << 7)
             << (16 + 8 * n);
    return w;
}

static int encode_short(uint32_t word[3], const struct fields *f)
{
    const uint32_t number = (uint32_t)f->number;
    const bool parts = f->shape == IN_PARTS;
    const uint32_t first = parts ? 249 : f->s[0], second = (f->s[1] & 255) << 9;
    switch (f->encoding) {
    case VOP1: word[0] = 0x7e000000 | (f->d & 255) << 17 | number << 9 | first; break;
    case VOPC: word[0] = 0x7c000000 | number << 17 | second | first; break;
    default: word[0] = number << 25 | (f->d & 255) << 17 | second | first; break;
    }
    if (!parts) return with_literal(word, f, f->encoding == VOP2 ? 3 : 1);
    word[1] = parts_of(f);
    return 2;
}

static int encode_long(uint32_t word[3], const struct fields *f)
{
    static const int from[] = { [VOP2] = 0x100, [VOP1] = 0x140, [VOPC] = 0, [VOP3] = 0 };
    const uint32_t number = (uint32_t)(f->number + from[f->encoding]);
    word[0] = 0xd0000000 | number << 16 | f->high << 11 | f->magnitudes << 8 |
              f->carry << 8 | (f->d & 255);
    const bool own = f->encoding == VOP2 && f->s[2] == f->d; /* the result: not written */
    word[1] = f->s[0] | f->s[1] << 9 | (own ? 0 : f->s[2]) << 18 | f->negated << 29;
    return 2;
}

/* Matrix instructions have accumulators where others have halves. */
static int encode_packed(uint32_t word[3], const struct fields *f)
{
    word[0] = 0xd3800000 | (uint32_t)f->number << 16 | (f->accumulators >> 2 & 1) << 15 |
              (f->high_high >> 2 & 1) << 14 | f->high << 11 | f->negated_high << 8 |
              (f->d & 255);
    word[1] = f->s[0] | f->s[1] << 9 | f->s[2] << 18 | f->negated << 29 |
              (f->high_high & 3) << 27 | (f->accumulators & 3) << 27;
    return 2;
}

static int encode_memory(uint32_t word[3], const struct fields *f)
{
    const uint32_t number = (uint32_t)f->number;
    switch (f->encoding) {
    case DS:
        word[0] = 0xd8000000 | (f->accumulators & 1) << 25 | number << 17 |
                  f->offset[1] << 8 | f->offset[0];
        word[1] = f->address | f->data[0] << 8 | f->data[1] << 16 | f->d << 24;
        break;
    case SMEM:
        word[0] = 0xc0000000 | number << 18 | (f->has_offset ? 1u : 0) << 17 |
                  (f->has_base ? 1u : 0) << 14 | f->d << 6 | f->address >> 1;
        word[1] = (f->offset[0] & 0x1fffff) | f->base << 25;
        break;
    case MUBUF: word[0] = 0xe0000000 | number << 18, word[1] = 0; break;
    default:
        word[0] = 0xdc000000 | (f->encoding == GLOBAL ? 0x8000 : 0) | number << 18 |
                  (f->offset[0] & 0x1fff);
        word[1] = f->address | f->data[0] << 8 | (f->accumulators & 1) << 23 | f->d << 24;
        if (f->encoding == GLOBAL) word[1] |= f->base << 16;
        break;
    }
    return 2;
}

int fields_encode(uint32_t word[3], const struct fields *f)
{
    switch (f->encoding) {
    case SOP2:
    case SOPK:
    case SOP1:
    case SOPC:
    case SOPP: return encode_scalar(word, f);
    case VOP1:
    case VOP2:
    case VOPC: return f->shape == IN_TWO ? encode_long(word, f) : encode_short(word, f);
    case VOP3: return encode_long(word, f);
    case VOP3P: return encode_packed(word, f);
    default: return encode_memory(word, f);
    }
}
