/* SPDX-License-Identifier: BSD-3-Clause */
/* The encodings of gfx9's instructions from their fields (CDNA ISA documents, "Microcode
   Formats"), as input for the decoder. */
#ifndef BITCUT_TESTS_GFX9_GFX9_WORDS_H
#define BITCUT_TESTS_GFX9_GFX9_WORDS_H

#include "emu/gfx9/wave.h"

/* How operands of VOP1, VOP2 and VOPC are written: in a word, in the two of VOP3, or with
   parts of registers (SDWA). */
enum shape { IN_WORD, IN_TWO, IN_PARTS };

/* An instruction's fields; what its encoding has not is not looked at.  Operands as
   encoded: scalar registers and constants below 256, vector registers from there on. */
struct fields {
    enum encoding encoding;
    int number; /* of the opcode */
    enum shape shape;
    unsigned d, s[3];
    uint32_t literal;                   /* where an operand is 255 */
    uint32_t k;                         /* 16 bits of SOPK and SOPP */
    unsigned negated, magnitudes, high; /* bits of operands; of `high`, 8 the result's */
    unsigned carry; /* of two results the scalar one, in two words            */
    unsigned select[2], signs[2], to, rest; /* parts of operands, and of the result   */
    unsigned negated_high, high_high; /* of packed ones: for the high half            */
    unsigned accumulators; /* bits of operands; 4 C and D                           */
    unsigned offset[2], address, data[2], base; /* memory                             */
    bool has_offset, has_base;                  /* scalar loads: those of them        */
};

enum { LITERAL_OPERAND = 255 };

/* Into `word`, two of them and the literal; returns their number. */
int fields_encode(uint32_t word[3], const struct fields *f);

#endif
