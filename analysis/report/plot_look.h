/* SPDX-License-Identifier: BSD-3-Clause */
/* The look of curves. */
#ifndef BITCUT_ANALYSIS_REPORT_PLOT_LOOK_H
#define BITCUT_ANALYSIS_REPORT_PLOT_LOOK_H

#include "analysis/report/plot_data.h"

struct plot_look {
    const char *colour;
    int mark, dash; /* numbers of gnuplot */
};

/* The look of every series, look[d->series.groups].  A series has the look of the recipe
   in its name, the same in every figure; other series take looks that no recipe has.
   Variants of a recipe have its colour, with open marks and dashes.  Roofs are dashed:
   roofs of as many products look alike, and roofs of data sheets are lighter than
   recorded ones. */
void plot_choose_looks(struct plot_look *look, const struct plot_data *d);

/* Whether a recipe, split or peer with that name has its own look. */
bool plot_has_look(const char *name);

#endif
