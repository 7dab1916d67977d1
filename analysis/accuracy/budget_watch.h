/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to an output on its way, as exact ledgers. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_WATCH_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_WATCH_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/dyadic.h"
#include "emu/trace.h"
#include "lib/gemm/order.h"

/* What a sum is made of: exact products, and errors. */
enum {
    BUDGET_SUM_PRODUCTS,
    BUDGET_SUM_ALIGNED,
    BUDGET_SUM_ACCUMULATED,
    BUDGET_SUM_PROMOTED,
    BUDGET_SUM_SLICED,
    BUDGET_SUM_ENTRIES
};

/* How far rounding may have moved a sum, by what was rounded where but not by how much it
   lost.  An event that loses bits below a place G moves it by less than G, or by half of
   it to nearest, and by no more than what is cut.  If what is lost is any part of G as
   likely as another, it moves it by G/2 toward one side on average, to nearest by none,
   and is within G/2 of that. */
struct drift {
    double most;    /* the sum of what events move at most  */
    double mean;    /* ... on average, with signs           */
    double squares; /* ... of (G/2)^2                       */
};

struct budget_sums {
    mpz_t entry[BUDGET_SUM_ENTRIES];
    struct drift drift;
};

/* An accumulator: its sums up to some instruction, and the products and what was cut
   since. */
struct running {
    struct budget_sums sums;
    struct wide products, cut;
    bool used; /* since */
    mpz_t now;
};

struct watcher {
    const struct gemm_plan *plan;
    struct running accumulator[RECIPE_ACCUMULATORS_MAX];
    struct budget_sums promoted,
        sum[K_PARTS_KEPT_MAX + 1]; /* the last one: not yet kept */
    int kept;
    size_t instructions;
    struct budget_event event;
    struct unit_trace trace;
    uint32_t total, d;
};

/* The drift of something times 2^by. */
void drift_shift(struct drift *d, int by);

/* An addition in FP32 with that result. */
void drift_f32(struct drift *d, uint32_t result);

/* A watcher of a GEMM by that plan, of one output; NULL: no memory. */
struct watcher *watcher_new(const struct gemm_plan *plan);
void watcher_free(struct watcher *w);

/* For struct gemm_watch, with the watcher as its context.  At the end sum[0] has the
   sums of `total`, unless there is an event. */
void watcher_see(void *context, const struct watch_event *e);

/* The output has no sum, unless that was known before. */
void watcher_end(struct watcher *w, const char *what, int term);

#endif
