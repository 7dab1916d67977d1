/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device is told of a GEMM that it emulates: how a unit adds, how words are made,
   and which method computes each accumulator.  Numbers alone, of rows that are the
   program's: a module has none of its symbols.  C and C++. */
#ifndef BITCUT_GPU_EMULATE_RULE_H
#define BITCUT_GPU_EMULATE_RULE_H

#include "lib/gemm/recipe.h"

/* The summations that GEMMs run on: emu/summation.h. */
enum rule_sum { RULE_FUSED, RULE_PAIRS, RULE_TWO_STAGE, RULE_SERIAL };

/* `fraction` of a sum that drops nothing; and k of an instruction at most. */
enum { RULE_EXACT = 0x7fff, RULE_K_MAX = 64 };

/* The sign of a zero result: enum zero_sign (emu/unit.h). */
enum rule_zero { RULE_ZERO_POSITIVE, RULE_ZERO_SUM_POSITIVE, RULE_ZERO_IEEE };

/* One instruction's chain for one output, as struct bitcut_unit (emu/unit.h) has it.
   Operands are values that FP32 holds, so formats matter where they are read alone. */
struct unit_rule {
    enum rule_sum sum;
    int k, block;               /* products of an instruction, and of a step       */
    uint8_t order[RULE_K_MAX]; /* which k of the instruction enters at each place */
    int fraction, align_min, sum_fraction, keep, keep_min;
    bool carried; /* sums are held in binary64                       */
    bool parity, normalise, floor, c_last, flush_inputs;
    struct bitcut_format operand[2]; /* what words of A and of B are read as: subnormal
                                       ones align by its least exponent                */
    struct bitcut_format c, result;  /* f32 or f16; and what a step's result fits       */
    struct bitcut_rounding rounding;
    enum rule_zero zero;
    uint32_t nan; /* FP32 encoding of the NaN of an accumulator      */
};

/* A split, whose rows are copied. */
struct split_rule {
    int words, scale;
    int target; /* of equilibrated lines: their largest magnitude is in [2^t, 2^(t+1)) */
    struct {
        struct bitcut_format format;
        struct bitcut_rounding rounding;
        int level;
        bool copy;
    } word[SPLIT_WORDS_MAX];
};

/* How a device computes the chain of an accumulator.  All give the same bits. */
enum chain_method {
    CHAIN_STEPS, /* step by step in integers, the definition (gpu/emulate/step.h)       */
    CHAIN_SIMT,  /* rounded products and sums, by the device's own FP32 operations      */
    CHAIN_CUT,   /* aligned sums: exponents compared, products cut to integers          */
    CHAIN_TENSOR, /* aligned sums by a wider instruction of the device, where it computes
                     them; the others are cut one by one */
    CHAIN_NATIVE, /* an instruction of the device that adds alike */
    CHAIN_METHODS
};

/* A row of a module's table of instructions by which it computes sums of other units. */
struct gpu_multiplier {
    const char *instruction; /* a row of its table of instructions: the unit on each
                                device's architecture                                  */
    unsigned architectures; /* that have it and code for it: a set of rows of its table */
};

/* A GEMM to be emulated, with nothing open. */
struct gpu_emulation {
    struct split_rule a, b;
    struct unit_rule rule[RECIPE_ACCUMULATORS_MAX]; /* of each accumulator ...         */
    enum chain_method method[RECIPE_ACCUMULATORS_MAX];
    uint32_t nan;    /* of the FP32 operations                                          */
    uint32_t zeroed; /* FP32 magnitudes that a term zeroes, this and more               */
    int k_step;      /* k of a k-step                                                   */
    bool promotes;   /* accumulator 0 is what was promoted of it                        */
};

#endif
