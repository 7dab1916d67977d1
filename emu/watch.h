/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to one output on its way, told to whoever watches. */
#ifndef BITCUT_EMU_WATCH_H
#define BITCUT_EMU_WATCH_H

#include "emu/unit.h"

enum watch_kind {
    WATCH_INSTRUCTION, /* accumulator = unit(a, b, before)                              */
    WATCH_PROMOTION,   /* the promoted sum is before + accumulator 0, which is then +0  */
    WATCH_SCALING,     /* accumulator = before times 2^-s, s the scale of the plan      */
    WATCH_ZEROING,     /* accumulator = +0, whatever it was                             */
    WATCH_START,       /* the sum of a lane is the last accumulator, or if there is but
                          one and it is promoted, the promoted sum                      */
    WATCH_FOLD,        /* ... becomes before times 2^-s + the accumulator, or if that is
                          0 and promoted, the promoted sum                              */
    WATCH_SUM,         /* ... is kept, in the format that sums have; then accumulators and
                          the promoted sum are +0                                       */
    WATCH_ADDITION,    /* the one kept last and the one before it become one            */
    WATCH_END          /* the only one that is kept becomes the output                  */
};

/* An event.  Instructions have encodings of unit->c, all others FP32 encodings. */
struct watch_event {
    enum watch_kind kind;
    int term, accumulator;          /* INSTRUCTION, SCALING, ZEROING, FOLD */
    const struct bitcut_unit *unit; /* INSTRUCTION ...                     */
    const struct number *a, *b;     /* ... its operands, as the unit reads them */
    uint64_t before, after;
};

/* `see` is called for each event in the order in which they happen. */
struct gemm_watch {
    void (*see)(void *context, const struct watch_event *event);
    void *context;
};

#endif
