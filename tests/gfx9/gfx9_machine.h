/* SPDX-License-Identifier: BSD-3-Clause */
/* An independent definition of a gfx9 wave: the effect of an instruction with given
   fields, from the definitions of opcodes (tests/gfx9/gfx9_statement.h) and the ISA
   documents' chapters on operands, modifiers and memory. */
#ifndef BITCUT_TESTS_GFX9_GFX9_MACHINE_H
#define BITCUT_TESTS_GFX9_GFX9_MACHINE_H

#include "tests/gfx9/gfx9_statement.h"
#include "tests/gfx9/gfx9_words.h"

enum { MEMORY_BYTES = 4096 };

struct machine {
    uint32_t v[2 * VGPRS][LANES];
    uint32_t s[SGPRS]; /* but exec */
    uint64_t exec;
    bool scc, ended, waiting;
    uint64_t pc;
    uint8_t lds[MEMORY_BYTES], memory[MEMORY_BYTES];
};

/* What a memory instruction's name says. */
struct access {
    bool reads, twice, apart64, is_signed, half, high, flat, scalar;
    uint32_t bytes;
};

bool access_read(struct access *to, const char *name);

/* The value of an operand for a letter of a statement's form, before parts and signs. */
uint64_t machine_operand(const struct machine *x, const struct fields *f, int n,
                         char letter, int lane);

/* Execute an instruction by its name; false: there is no statement of it.  `image` is
   where pc counts from, `memory` the address of memory[0]. */
bool machine_step(struct machine *x, const char *name, const struct fields *f,
                  uint64_t image, uint64_t memory);

#endif
