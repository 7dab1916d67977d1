/* SPDX-License-Identifier: BSD-3-Clause */
/* What gnuplot is told. */
#ifndef BITCUT_ANALYSIS_REPORT_PLOT_SCRIPT_H
#define BITCUT_ANALYSIS_REPORT_PLOT_SCRIPT_H

#include "analysis/report/plot_data.h"

#include <stdio.h>

/* How large a picture is and what it is for.  An em is the size of its letters; widths
   are by how many panels stand side by side. */
struct plot_form {
    const char *ending;       /* of its file                                           */
    const char *terminal;     /* gnuplot's, as printf() takes width, height and letters */
    double em;                /* of letters, in the terminal's unit                    */
    double letters;           /* in the unit that the terminal has for them            */
    double width[4], axes[4]; /* of the picture, and the height of axes, in em     */
    bool titled;
};

/* By enum plot_kind (plot.h). */
extern const struct plot_form plot_forms[];

/* Write what draws `d` as a picture of that form. */
void plot_write_script(FILE *to, const struct plot_data *d, const struct plot_form *form,
                       const char *title);

#endif
