/* SPDX-License-Identifier: BSD-3-Clause */
/* Line plots in panels, drawn by gnuplot. */
#ifndef BITCUT_ANALYSIS_REPORT_PLOT_H
#define BITCUT_ANALYSIS_REPORT_PLOT_H

#include "analysis/study/study.h"

/* SVG for pages; PDF, its fonts inside, for papers: as wide as a column of 8.6 cm where
   it is of one panel, else as both columns.  A small SVG is as wide as a phone. */
enum plot_kind { PLOT_SVG, PLOT_PDF, PLOTS, PLOT_SMALL = PLOTS };

/* The bytes of a picture, and a 0 after them. */
struct picture {
    char *bytes;
    size_t size;
};

/* Draw `rows`, an array of objects, as `plot` says: a picture whose bytes are to be
   freed, or none (NULL) if gnuplot is not there, fails, or is asked to stop.  The same
   rows give the same bytes with the same gnuplot.  BITCUT_UNSUPPORTED: no temporary file
   can be had, or no process, or the picture cannot be read; BITCUT_NO_MEMORY. */
enum bitcut_status plot_draw(struct picture *picture, enum plot_kind kind,
                             const struct study_plot *plot, const char *title,
                             json_t *rows, const struct progress *progress,
                             struct fault *f);

#endif
