/* SPDX-License-Identifier: BSD-3-Clause */
/* The search through hypotheses, from the smallest changes of a recipe to the largest.
   Each hypothesis is tried on a few outputs. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_SEARCH_H
#define BITCUT_ANALYSIS_IDENTIFY_SEARCH_H

#include "analysis/identify/effort.h"
#include "analysis/identify/hypothesis.h"
#include "analysis/identify/prior.h"

enum { FINDINGS_MAX = 512, NEAR_MAX = 8, RECIPES_MAX = 64 };

struct finding {
    struct hypothesis h;
    size_t matched;  /* matching outputs of the block */
    int level;       /* the level at which it was tried */
    size_t turn;     /* its number among those tried */
    double distance; /* as in struct nearness */
    bool refused;    /* more outputs were compared, without success */
};

/* A recipe on a unit, and its distance from D without changes. */
struct basis {
    struct hypothesis h;
    double distance; /* as in struct nearness */
    bool far;        /* so far from D that only a coarse fault explains it */
    bool off;        /* so far that no order of sums explains it */
    bool first;      /* the nearest of its recipe that accumulates in f32 */
    bool recorded;   /* a unit recorded on hardware, or a scalar unit */
};

struct search {
    /* NULL; or whether the best finding, which does not give all of the block, explains
       the remaining outputs elsewhere: then the search ends. */
    bool (*settled)(const struct search *s, void *context);
    struct space *space;        /* to which suggested orders are added */
    const struct block *screen; /* outputs on which every hypothesis is tried */
    const struct block *traced; /* outputs whose rounding errors suggest orders */
    struct effort *effort;      /* what the search may do, and has done */
    bool as_they_are;           /* only recipes without any change */
    int threads;
    const struct progress *progress;
    const struct prior *prior;     /* which hypotheses are the likelier ones */
    const struct hypothesis *base; /* NULL; or a hypothesis whose values, recipe and unit
                                      included, are retained where they are not varied */
    bool keeps_order;              /* the order of the base is not varied */

    double distance[RECIPES_MAX]; /* of each recipe on its nearest unit, unchanged or with
                                     a fault that brings it nearer */
    double as_it_stands[RECIPES_MAX]; /* the same without a fault */
    bool first; /* changed parts are tried on one unit of a recipe only */
    size_t tried;
    bool failed;    /* memory ran out */
    bool cut_short; /* ended by the effort, by a stop, or by `dull` */
    bool dull;      /* set by the caller: too many hypotheses give all of this block, and
                       another block should be tried */
    /* the best, most outputs first, then the earliest */
    struct finding found[FINDINGS_MAX];
    size_t count;
    struct finding near[NEAR_MAX]; /* the nearest hypotheses with a change, by distance */
    size_t near_count;
};

/* Called for a hypothesis that gives all of the block: whether it is accepted, after
   comparing more outputs. */
typedef bool explain_accept(void *context, const struct finding *f);

/* Try one level after the other: every unchanged recipe on every unit; then changes on
   one axis, for one unit of each kind; the nearest of these changes on all units; then
   changes on one axis for all bases; changes on two axes for the nearest bases; and
   changes on two axes for all.  In every level the nearest recipes and units come first,
   until one is accepted; then the same changes are tried in all others.  With a base, all
   levels are tried for that base alone.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status explain_search(struct search *s, explain_accept *accept, void *context,
                                  struct fault *f);

#endif
