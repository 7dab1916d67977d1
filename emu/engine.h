/* SPDX-License-Identifier: BSD-3-Clause */
/* The generic engine: computes what a unit computes, for any row of the table.  It is the
   definition of every unit.  It reads the row and uses integers only.  The fast paths and
   the kernels are compared with it. */
#ifndef BITCUT_EMU_ENGINE_H
#define BITCUT_EMU_ENGINE_H

#include "emu/trace.h"
#include "emu/unit.h"

/* One operand of a dot product as the unit reads it: `x[k]` for every k of the
   instruction, and one scale for each unit->scale_block elements (NULL for a unit without
   scales). */
struct lane {
    const struct number *x;
    const struct number *scale;
};

/* The number as which the unit reads the encoding `encoding` of format `format` (unit->a
   or unit->b): flushed and converted as the row says.  Its fraction bits are the fraction
   bits of unit_operand_format(). */
struct number unit_read(const struct bitcut_unit *unit,
                        const struct bitcut_format *format, uint64_t encoding);

/* The format that defines the fraction bits of the numbers of unit_read(). */
const struct bitcut_format *unit_operand_format(const struct bitcut_unit *unit,
                                                const struct bitcut_format *format);

/* Fill to[0] to to[k - 1] with the indices 0 to k - 1 in the order in which they enter
   the blocks. */
void unit_order(int to[UNIT_K_MAX], int k, enum k_order order);

/* Compute one output of the instruction: D = the k products of a and b plus the
   accumulator c.  All unit->k products are computed; the caller pads a shorter dot
   product with +0, as kernels do.  c and the result are encodings of unit->c.  Every bit
   equals the unit's, NaN and zero signs included.  Cannot fail. */
uint64_t unit_dot(const struct bitcut_unit *unit, struct lane a, struct lane b,
                  uint64_t c);

/* Compute the same output and record its computation: *trace is overwritten.  Slower. */
uint64_t unit_trace(struct unit_trace *trace, const struct bitcut_unit *unit,
                    struct lane a, struct lane b, uint64_t c);

#endif
