/* SPDX-License-Identifier: BSD-3-Clause */
/* How lines look. */
#ifndef BITCUT_ANALYSIS_REPORT_PLOT_LOOK_H
#define BITCUT_ANALYSIS_REPORT_PLOT_LOOK_H

#include "analysis/report/plot_data.h"

struct plot_look {
    const char *colour;
    int mark, dash; /* gnuplot's numbers */
};

/* The look of every series, look[d->series.groups]: that of the recipe that its name has,
   in every figure the same; others take what no recipe has.  Variants of a recipe have
   its colour, with open marks and dashes.  Roofs are dashed, those of as many products
   alike, and those of data sheets lighter than recorded ones. */
void plot_choose_looks(struct plot_look *look, const struct plot_data *d);

/* Whether a recipe, split or peer of that name has a look of its own. */
bool plot_has_look(const char *name);

#endif
