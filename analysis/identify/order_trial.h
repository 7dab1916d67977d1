/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k tried on outputs that no order so far gives. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ORDER_TRIAL_H
#define BITCUT_ANALYSIS_IDENTIFY_ORDER_TRIAL_H

#include "analysis/identify/explain.h"

enum { COVER_UNITS_MAX = 4 };

/* State of the search. */
struct cover {
    struct explanation *e;
    const struct explain_options *o;
    struct effort *effort;                   /* of trying orders */
    struct effort compare;                   /* of computing orders on all of D */
    struct hypothesis unit[COVER_UNITS_MAX]; /* recipes on units, without changes */
    size_t units;
    size_t m, n;
    uint8_t *gives; /* [m][n]: bit i: order i gives this output */
    struct hypothesis h[CLASS_ORDERS_MAX];
    size_t rank[CLASS_ORDERS_MAX]; /* orders that were tried before it */
    size_t count;
    double chance; /* the share of outputs that an order gives by chance */
};

static inline bool is_open(const struct cover *c, size_t i, size_t j)
{
    return !c->gives[i * c->n + j];
}

enum { TRIAL_MAX = 96 };

/* Outputs without an order, on which orders are tried: first on a few of them. */
struct order_trial {
    struct cover *c;
    struct block few, all;
    struct candidate_memory *memory; /* of both, for each thread */
    size_t open_few, open_all; /* outputs of both that no order gives */
};

/* How many of the open outputs of a block a candidate gives, and how many of these follow
   each other without another open output between them. */
struct given {
    size_t count, run;
};

/* The best order so far. */
struct best {
    struct hypothesis h;
    struct bitcut_order order;
    struct given all;
    size_t tried, rank;            /* orders that were tried; and before it */
    size_t few_given, few_outputs; /* of all orders that were tried, and outputs */
};

/* The share of outputs that an order gives by chance, from the orders that were tried. */
double order_chance(const struct best *b);

/* Whether the best order does not give its outputs by chance; `most`: and gives two
   thirds of the outputs of the trial, which may belong to several orders, or all of them
   if they are few. */
bool is_enough(const struct best *b, const struct order_trial *t, bool most);

/* The trial of a block.  Returns BITCUT_NO_MEMORY; only after BITCUT_OK there is
   something to clear. */
enum bitcut_status order_trial_take(struct order_trial *t, struct cover *c,
                                    const struct block *b, struct fault *f);
void order_trial_clear(struct order_trial *t);

/* Try orders until one gives most of the trial: orders like those that were found, orders
   that the rounding errors of the block suggest, and the orders of the space.  The order
   *best need not be in the space.  Returns false if memory runs out. */
bool order_trial_run(struct best *best, const struct order_trial *t,
                     const struct block *b);

#endif
