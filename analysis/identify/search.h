/* SPDX-License-Identifier: BSD-3-Clause */
/* The search through hypotheses: from those that change least to those that change most,
   each tried on a few outputs. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_SEARCH_H
#define BITCUT_ANALYSIS_IDENTIFY_SEARCH_H

#include "analysis/identify/hypothesis.h"

enum { FINDINGS_MAX = 512, NEAR_MAX = 8, RECIPES_MAX = 64 };

struct finding {
    struct hypothesis h;
    size_t matched;  /* outputs of the block             */
    int level;       /* at which it was tried            */
    size_t turn;     /* its place among those tried      */
    double distance; /* struct nearness's                */
    bool refused;    /* more outputs were looked at      */
};

/* A recipe on a unit, and how near it comes as it stands. */
struct basis {
    struct hypothesis h;
    double distance; /* struct nearness's                                             */
    bool far;        /* so far from D that only a coarse fault makes D of it           */
    bool off;        /* so far that no order of sums makes D of it                     */
    bool first;      /* the nearest of its recipe that accumulates in f32              */
    bool recorded;   /* a unit as it was recorded on hardware, or of scalars            */
};

struct search {
    /* NULL; or whether the best of what was found, which does not give all of the block,
       is what gives the rest: then there is no more search. */
    bool (*settled)(const struct search *s, void *context);
    const struct space *space;
    const struct block *screen; /* every hypothesis is tried on it       */
    double end;                 /* by seconds_now(), the search ends     */
    bool as_they_are;           /* recipes without any change, and no more */
    int threads;
    const struct progress *progress;
    const struct hypothesis *base; /* NULL; or one of which all is kept that does not
                                      vary, recipe and unit among it */

    double distance[RECIPES_MAX]; /* of each recipe on its nearest unit, as it stands or
                                      with a fault that brings it nearer             */
    double as_it_stands[RECIPES_MAX]; /* ... without a fault                        */
    bool first; /* words that are changed are tried on one unit of a recipe       */
    size_t tried;
    bool cut_short; /* for want of time, by a stop, or as what follows says */
    bool dull;      /* set by the caller: too much gives all of this block, and another
                       one should be tried                                            */
    struct finding found[FINDINGS_MAX]; /* the best, most outputs first, then the
                                            earliest                                    */
    size_t count;
    struct finding near[NEAR_MAX]; /* the nearest of those with a change, by distance */
    size_t near_count;
};

/* Whether a hypothesis that gives all of the block is accepted; more outputs may be
   looked at. */
typedef bool explain_accept(void *context, const struct finding *f);

/* Try level after level: every recipe on every unit as it stands; then one axis at a
   time for one unit of each kind, and what came nearest there on all units; then one axis
   at a time for all, and two for the nearest of them, and two for all; in every level the
   nearest recipes and units first, up to those among which one is accepted, and what
   changes the same in all others.  With a base all of it for that one alone.
   BITCUT_NO_MEMORY. */
enum bitcut_status explain_search(struct search *s, explain_accept *accept, void *context,
                                  struct fault *f);

#endif
