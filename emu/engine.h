/* SPDX-License-Identifier: BSD-3-Clause */
/* The generic engine: what a unit computes, for any row of the table.

   This is the definition of every unit.  It reads the row, uses integers only, and is
   what the fast paths and the kernels are compared with. */
#ifndef BITCUT_EMU_ENGINE_H
#define BITCUT_EMU_ENGINE_H

#include "emu/trace.h"
#include "emu/unit.h"

/* One operand of a dot product as the unit sees it: `x[k]` for every k of the
   instruction, and one scale for each unit->scale_block of them (NULL for a unit without
   scales). */
struct lane {
    const struct number *x;
    const struct number *scale;
};

/* The number that operand encoding `encoding` of format `format` (unit->a or unit->b) is
   to this unit: flushed and converted as the row says.  Fraction bits are those of
   unit_operand_format(). */
struct number unit_read(const struct bitcut_unit *unit,
                        const struct bitcut_format *format, uint64_t encoding);

/* The format whose fraction bits the numbers of unit_read() have. */
const struct bitcut_format *unit_operand_format(const struct bitcut_unit *unit,
                                                const struct bitcut_format *format);

/* Fill to[0] to to[k - 1] with 0 to k - 1 in the order in which they enter the blocks. */
void unit_order(int to[UNIT_K_MAX], int k, enum k_order order);

/* D = one output of the instruction: the k products of a and b (all unit->k of them; a
   shorter dot product is padded with +0 by the caller, as kernels do) and the accumulator
   c, an encoding of unit->c; returns an encoding of unit->c.  Every bit is that of the
   unit, NaN and zero signs included.  Cannot fail. */
uint64_t unit_dot(const struct bitcut_unit *unit, struct lane a, struct lane b,
                  uint64_t c);

/* The same output, and how it came about: *trace is set, whatever it held.  Slower. */
uint64_t unit_trace(struct unit_trace *trace, const struct bitcut_unit *unit,
                    struct lane a, struct lane b, uint64_t c);

#endif
