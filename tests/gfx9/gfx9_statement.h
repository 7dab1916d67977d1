/* SPDX-License-Identifier: BSD-3-Clause */
/* An independent definition of gfx9 instructions as functions of their operands, from the
   pseudocode of AMD's ISA documents ("CDNA3 ISA", "CDNA4 ISA", chapter 12): bit by bit,
   with floats by MPFR.  It shares no code with the executor. */
#ifndef BITCUT_TESTS_GFX9_GFX9_STATEMENT_H
#define BITCUT_TESTS_GFX9_GFX9_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* A lane of a vector instruction, or a scalar one. */
struct step {
    uint64_t s[3]; /* operands, of as many bits as their letter says; above, zeros */
    bool in;       /* a carry, a condition or scc */
    unsigned lane;
    uint64_t d;
    bool out; /* a carry, a condition or scc; set to what `in` was */
};

/* A row: an opcode's name and "result=operands", a letter each:
     d  32 bits      w  16 bits      f  f32, which may be negated, or its magnitude taken
     q  64 bits      h  f16, likewise
     k  16 bits of the instruction, extended by their sign; u by zeros
   and behind them, or alone, c: a bit, of lanes or scc.  A result of 16 bits leaves zeros
   in the rest of its register. */
struct statement {
    const char *name, *form;
    void (*does)(struct step *x);
};

/* The statement of an opcode; NULL: there is none. */
const struct statement *statement_find(const char *name);

/* A condition of v_cmp and v_cmpx: what its name says; false: it is no such name. */
bool statement_compares(char form[8], const char *name);
bool statement_condition(const char *name, uint64_t a, uint64_t b);

/* Packed f16 and f32, and mixes of them: fma(a, b, c), rounded to f16 or f32 encodings.
 */
uint32_t statement_fma32(uint32_t a, uint32_t b, uint32_t c);
uint32_t statement_fma16(uint32_t a, uint32_t b, uint32_t c);
uint32_t statement_add32(uint32_t a, uint32_t b);
uint32_t statement_add16(uint32_t a, uint32_t b);
uint32_t statement_multiply32(uint32_t a, uint32_t b);
uint32_t statement_multiply16(uint32_t a, uint32_t b);
uint32_t statement_narrow(uint32_t f32);
uint32_t statement_widen(uint32_t f16);

#endif
