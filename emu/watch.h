/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the computation of one output, reported to an observer. */
#ifndef BITCUT_EMU_WATCH_H
#define BITCUT_EMU_WATCH_H

#include "emu/unit.h"

struct unit_trace;

enum watch_kind {
    WATCH_INSTRUCTION, /* accumulator = unit(a, b, before)                              */
    WATCH_BEGIN,       /* accumulator 0 starts from C or the bias: before, as after in its
                          format                                                        */
    WATCH_RESUME,      /* accumulator 0 starts from the last retained sum, which is no
                          longer retained: before, as after in its format               */
    WATCH_PROMOTION,   /* promoted sum = before + factor * value, rounded once, for
                          accumulator 0, which then becomes +0                          */
    WATCH_SCALING,     /* accumulator = before times 2^-s, where s is the scale of the
                          plan                                                          */
    WATCH_ZEROING,     /* accumulator = +0, whatever it was before                      */
    WATCH_START,       /* the sum of a lane starts with the last accumulator; or with the
                          promoted sum, if there is one accumulator and it is promoted  */
    WATCH_FOLD,        /* the sum becomes before times 2^-s + the accumulator; or + the
                          promoted sum, if this is accumulator 0 and it is promoted     */
    WATCH_JOIN,        /* C or the bias is added to the sum before                      */
    WATCH_SUM,         /* the sum is retained, in the format of sums; then accumulators
                          and the promoted sum become +0                                */
    WATCH_ADDITION,    /* the last two retained sums are added                          */
    WATCH_END          /* the only retained sum becomes the output                      */
};

/* An event.  Instructions have encodings of unit->c; all other events have FP32
   encodings. */
struct watch_event {
    enum watch_kind kind;
    int term, accumulator;          /* INSTRUCTION, SCALING, ZEROING, FOLD */
    const struct bitcut_unit *unit; /* INSTRUCTION: the unit,              */
    const struct number *a, *b;     /* and its operands, as the unit reads them */
    const struct number *scale_a, *scale_b; /* and their block scales, or NULL  */
    const struct unit_trace *trace;         /* and its computation              */
    uint64_t before, after;
    uint32_t factor, value; /* PROMOTION: the operands of the multiply-add,         */
    uint32_t factor_a, factor_b; /* which stand for factor_a factor_b times accumulator
                                    0                                                   */
};

/* `see` is called for each event, in the order of the events.  `trace` is overwritten
   with the computation of each instruction. */
struct gemm_watch {
    void (*see)(void *context, const struct watch_event *event);
    void *context;
    struct unit_trace *trace;
};

#endif
