/* SPDX-License-Identifier: BSD-3-Clause */
/* The bases of a search, recipes on units, and the order in which they are tried. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_SEARCH_BASIS_H
#define BITCUT_ANALYSIS_IDENTIFY_SEARCH_BASIS_H

#include "analysis/identify/search.h"

enum { BLOCKS = 2 }; /* a few outputs, and the screen */

/* State of the search through levels. */
struct walk {
    struct search *s;
    struct basis *basis; /* the nearest first */
    size_t bases;
    int level;
    struct block few;                /* a few outputs of the screen */
    uint32_t *scratch;               /* space for each thread */
    struct candidate_memory *memory; /* the same, for both blocks */
};

/* Every recipe on every unit, or the one base; each also with every fault that brings the
   exact product nearer to D.  False: no memory. */
bool bases_list(struct walk *w);

/* Sort the bases that were measured, the nearest first, and forget the others. */
void bases_sort(struct walk *w);

/* Mark the nearest basis of each recipe, and of each fault, that accumulates in f32. */
void bases_mark_first(struct walk *w);

/* Move some bases to the front.  Returns their number.
   - nearest: those of the nearest findings that give at least `least` outputs.
   - kinds: the nearest of similar bases.
   - likely: what libraries compute by default for such operands, on recorded units if
     there are any, at most BASES_LIKELY, the likeliest first. */
enum { BASES_LIKELY = 8 };
size_t bases_bring_nearest(struct walk *w, size_t least);
size_t bases_bring_kinds(struct walk *w);
size_t bases_bring_likely(struct walk *w);

#endif
