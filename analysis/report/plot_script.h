/* SPDX-License-Identifier: BSD-3-Clause */
/* Scripts for gnuplot. */
#ifndef BITCUT_ANALYSIS_REPORT_PLOT_SCRIPT_H
#define BITCUT_ANALYSIS_REPORT_PLOT_SCRIPT_H

#include "analysis/report/plot_data.h"

#include <stdio.h>

/* The size and the purpose of a picture.  An em is the size of its letters.  Widths are
   indexed by the number of panels side by side. */
struct plot_form {
    const char *ending;   /* suffix of its file */
    const char *terminal; /* gnuplot's terminal, a format for printf() with width, height
                             and letters */
    double em;            /* size of letters, in the terminal's unit */
    double letters;       /* the same in the unit of the terminal's font sizes */
    double width[4], axes[4]; /* width of the picture and height of axes, in em */
    bool titled;
};

/* By enum plot_kind (plot.h). */
extern const struct plot_form plot_forms[];

/* Write the script that draws `d` in that form. */
void plot_write_script(FILE *to, const struct plot_data *d, const struct plot_form *form,
                       const char *title);

#endif
