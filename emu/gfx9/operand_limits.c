/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers that instructions may name.  All register numbers are in the instruction.
   They are compared with the registers of a wave once, when it is decoded, so that
   execution need not check them again.

   The kinds of a row are a letter for the result, '=', and one letter for each operand:
   s: scalar registers, vcc, m0, exec; for an operand constants, too
   l: scalar registers or vcc, to which memory is loaded
   v: vector registers or accumulators
   k: as v, or a constant
   x: as v, or as s */
#include "emu/gfx9/wave.h"

#include <stdio.h>

static const char *const kinds[] = {
    [SOP2] = "s=ss", [SOPK] = "s=s",   [SOP1] = "s=s",     [SOPC] = "s=ss",
    [SOPP] = "s=",   [SMEM] = "l=ss",  [VOP2] = "v=xxx",   [VOP1] = "v=x",
    [VOPC] = "s=xx", [VOP3] = "v=xxx", [VOP3P] = "v=xxx",  [MUBUF] = "v=",
    [DS] = "v=vvv",  [FLAT] = "v=vvs", [GLOBAL] = "v=vvs",
};

const char *operands_kinds(const struct opcode *row)
{
    return row->kinds ? row->kinds : kinds[row->encoding];
}

/* --- what there is ---------------------------------------------------------------- */

enum {
    SGPR_LAST = SGPR_VCC + 1,
    INTEGERS = 128,
    INTEGERS_END = 209,
    VCCZ = 251,
    SCC = 253,
    LITERAL = 255,
    VECTORS = 256,
    ACCUMULATORS = VECTORS + VGPRS,
    REGISTERS_END = ACCUMULATORS + VGPRS
};

static bool is_constant(const struct instruction *i, unsigned o)
{
    return (INTEGERS <= o && o < INTEGERS_END) || is_fraction(o) ||
           (VCCZ <= o && o <= SCC) || (o == LITERAL && i->has_literal);
}

/* s0 to vcc; if `special`, also m0 and both halves of exec. */
static bool are_scalars(unsigned first, unsigned count, bool special)
{
    if (first + count <= SGPR_LAST + 1) return true;
    if (!special) return false;
    return (first == SGPR_M0 && count == 1) ||
           (first >= SGPR_EXEC && first + count <= SGPR_EXEC + 2);
}

static bool are_vectors(unsigned first, unsigned count)
{
    const unsigned end = first < ACCUMULATORS ? ACCUMULATORS : REGISTERS_END;
    return first >= VECTORS && first + count <= end;
}

static bool exists(const struct instruction *i, char kind, unsigned first, unsigned count,
                   bool result)
{
    switch (kind) {
    case 'l': return are_scalars(first, count, false);
    case 'v': return are_vectors(first, count);
    case 'k': return are_vectors(first, count) || is_constant(i, first);
    case 'x':
        if (first >= VECTORS) return are_vectors(first, count);
        break;
    default: break;
    }
    return are_scalars(first, count, true) || (!result && is_constant(i, first));
}

/* --- what there is not ------------------------------------------------------------ */

/* Write registers such as s[120:135], v7 or a[0:3]. */
static void describe(char *text, size_t size, unsigned first, unsigned count)
{
    const char file = first < VECTORS ? 's' : first < ACCUMULATORS ? 'v' : 'a';
    const unsigned number = first < VECTORS ? first : (first - VECTORS) % VGPRS;
    if (count == 1) snprintf(text, size, "%c%u", file, number);
    else snprintf(text, size, "%c[%u:%u]", file, number, number + count - 1);
}

static void refuse(char *why, size_t size, char kind, unsigned first, unsigned count,
                   bool result)
{
    char name[32];
    describe(name, sizeof name, first, count);
    const bool vector = first >= VECTORS;
    if (first >= REGISTERS_END) snprintf(why, size, "an operand is not a register");
    else if (vector && (kind == 's' || kind == 'l'))
        snprintf(why, size, "%s: this operand must be a scalar register", name);
    else if (vector)
        snprintf(why, size, "%s: the last register of a kernel is %c%d", name, name[0],
                 VGPRS - 1);
    else if (kind == 'v' || kind == 'k')
        snprintf(why, size, "scalar operand %u: this operand must be a vector register",
                 first);
    else if (first >= INTEGERS)
        snprintf(why, size, "scalar operand %u: %s", first,
                 result ? "a result must be a register" : "unknown constant");
    else snprintf(why, size, "%s: the last register of a kernel is s%d", name, SGPR_LAST);
}

/* Check one operand or the result; without registers there is nothing to check. */
static bool check(char *why, size_t size, const struct instruction *i, char kind,
                  unsigned first, unsigned count, bool result)
{
    const bool good = count == 0 || exists(i, kind, first, count, result);
    if (!good && why) refuse(why, size, kind, first, count, result);
    return good;
}

bool operands_exist(char *why, size_t size, const struct instruction *i)
{
    const struct opcode *row = i->opcode;
    const char *kind = operands_kinds(row);
    const unsigned mask = row->more & COMPARES ? i->d : i->carry;
    bool good = check(why, size, i, kind[0], i->d, i->d_count, true);
    for (int n = 0; kind[2 + n]; n++)
        good = good && check(why, size, i, kind[2 + n], i->s[n], i->s_count[n], false);
    if (row->act != act_vector) return good;
    if (row->more & (COMPARES | GIVES_CARRY))
        good = good && check(why, size, i, 's', mask, 2, true);
    if (row->more & TAKES_CARRY)
        good = good && check(why, size, i, 's', i->s[2], 2, false);
    return good;
}
