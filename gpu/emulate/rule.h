/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of an emulated GEMM for a device: how a unit adds, how parts are made,
   and which method computes each accumulator.  It has only numbers, copied from rows of
   the program, because a module has none of the program's symbols.  C and C++. */
#ifndef BITCUT_GPU_EMULATE_RULE_H
#define BITCUT_GPU_EMULATE_RULE_H

#include "lib/gemm/recipe.h"

/* The summations on which GEMMs run: emu/summation.h. */
enum rule_sum { RULE_FUSED, RULE_PAIRS, RULE_TWO_STAGE, RULE_SERIAL };

/* `fraction` of a sum that drops no bits, and the largest k of an instruction. */
enum { RULE_EXACT = 0x7fff, RULE_K_MAX = 64 };

/* The sign of a zero result: enum zero_sign (emu/unit.h). */
enum rule_zero { RULE_ZERO_POSITIVE, RULE_ZERO_SUM_POSITIVE, RULE_ZERO_IEEE };

/* The chain of one instruction for one output, as in struct bitcut_unit (emu/unit.h).
   Operands are values that FP32 can represent, so formats matter only where they are
   read. */
struct unit_rule {
    enum rule_sum sum;
    int k, block;               /* products of an instruction, and of a step       */
    uint8_t order[RULE_K_MAX];  /* which k of the instruction enters at each position */
    int fraction, align_min, sum_fraction, keep, keep_min;
    bool carried; /* whether sums are rounded to binary64            */
    bool parity, normalise, floor, c_last, flush_inputs;
    struct bitcut_format operand[2]; /* formats in which parts of A and of B are read;
                                        subnormal parts align by the smallest exponent of
                                        the format                                     */
    struct bitcut_format c, result;  /* f32 or f16; and the format of a step's result   */
    struct bitcut_rounding rounding;
    enum rule_zero zero;
    uint32_t nan; /* FP32 encoding of the NaN of an accumulator      */
};

/* A split, with copies of its rows. */
struct split_rule {
    int parts, scale;
    int target; /* for equilibrated lines: their largest magnitude is in [2^t, 2^(t+1)) */
    struct {
        struct bitcut_format format;
        struct bitcut_rounding rounding;
        int level;
        bool copy;
    } part[SPLIT_PARTS_MAX];
};

/* How a device computes the chain of an accumulator.  All methods give the same bits. */
enum chain_method {
    CHAIN_STEPS, /* step by step in integers; the definition (gpu/emulate/step.h)       */
    CHAIN_SIMT,  /* rounded products and sums, by FP32 operations of the device         */
    CHAIN_CUT,   /* aligned sums: exponents are compared, products are cut to integers  */
    CHAIN_TENSOR, /* aligned sums by a wider instruction of the device, where it can
                     compute them; other products are cut one by one */
    CHAIN_NATIVE, /* an instruction of the device that adds in the same way */
    CHAIN_METHODS
};

/* A row of a module's table of instructions by which it computes sums of other units. */
struct gpu_multiplier {
    const char *instruction; /* a row of its table of instructions; the unit depends on
                                the device's architecture                              */
    unsigned architectures;  /* architectures with the instruction and code for it: a set
                                of rows of its table                                     */
};

/* An emulated GEMM, with nothing open. */
struct gpu_emulation {
    struct split_rule a, b;
    struct unit_rule rule[RECIPE_ACCUMULATORS_MAX]; /* rule of each accumulator        */
    enum chain_method method[RECIPE_ACCUMULATORS_MAX];
    uint32_t nan;    /* NaN of the FP32 operations                                      */
    uint32_t zeroed; /* FP32 magnitudes from here on are cleared by a term              */
    int k_step;      /* k of a k-step                                                   */
    bool promotes;   /* whether accumulator 0 is the sum of its promotions              */
};

#endif
