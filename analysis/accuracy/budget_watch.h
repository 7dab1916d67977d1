/* SPDX-License-Identifier: BSD-3-Clause */
/* An exact account of the errors of one output during its computation. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_WATCH_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_WATCH_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/dyadic_sum.h"
#include "emu/trace.h"
#include "lib/gemm/order.h"

/* The entries of a sum: exact products, and errors by kind. */
enum {
    BUDGET_SUM_PRODUCTS,
    BUDGET_SUM_ALIGNED,
    BUDGET_SUM_ACCUMULATED,
    BUDGET_SUM_PROMOTED,
    BUDGET_SUM_SLICED,
    BUDGET_SUM_FACTORS, /* factors at promotions */
    BUDGET_SUM_START,   /* C or the bias, as sums have it */
    BUDGET_SUM_ENTRIES
};

/* A bound on how far rounding moved a sum.  It is computed from the places at which bits
   were rounded, not from the actual loss.  Dropping bits below a place G moves the sum by
   less than G, or by at most G/2 if it rounds to nearest, and never by more than the
   dropped bits.  If all dropped values are equally likely, the mean movement is G/2
   toward one side, or 0 for rounding to nearest, with a deviation of at most G/2. */
struct drift {
    double most;    /* sum of the largest movements */
    double mean;    /* sum of the mean movements, with signs */
    double squares; /* sum of (G/2)^2 */
};

struct budget_sums {
    struct dyadic_sum entry[BUDGET_SUM_ENTRIES];
    struct drift drift;
};

/* An accumulator: its sums.  If it was `used` since they were settled, they lack the
   roundings to `now`, an encoding of `format`. */
struct running {
    struct budget_sums sums;
    bool used;
    const struct bitcut_format *format;
    uint64_t now;
};

struct watcher {
    const struct gemm_plan *plan;
    int unit; /* of all sums (analysis/accuracy/dyadic_sum.h) */
    struct running accumulator[RECIPE_ACCUMULATORS_MAX];
    struct budget_sums promoted,
        sum[K_PARTS_KEPT_MAX + 1]; /* the last entry: not yet retained */
    int kept;
    size_t instructions;
    struct budget_event event;
    struct unit_trace trace;
    uint32_t total, d;
};

/* Multiply a drift by 2^by. */
void drift_shift(struct drift *d, int by);

/* Add the drift of an FP32 addition with that result. */
void drift_f32(struct drift *d, uint32_t result);

/* A watcher of one output of a GEMM with that plan, whose sums have this unit.  Returns
   NULL if memory runs out. */
struct watcher *watcher_new(const struct gemm_plan *plan, int unit);
void watcher_free(struct watcher *w);

/* The function for struct gemm_watch, with the watcher as its context and the watcher's
   `trace` as its trace.  At the end sum[0]
   has the sums of `total`, unless there is an event. */
void watcher_see(void *context, const struct watch_event *e);

/* The output has no products: its sum is the start. */
void watcher_empty(struct watcher *w);

/* Record that the output has no finite sum, unless an event was recorded before. */
void watcher_end(struct watcher *w, const char *what, int term);

#endif
