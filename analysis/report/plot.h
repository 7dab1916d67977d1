/* SPDX-License-Identifier: BSD-3-Clause */
/* Line plots in panels, drawn by gnuplot. */
#ifndef BITCUT_ANALYSIS_REPORT_PLOT_H
#define BITCUT_ANALYSIS_REPORT_PLOT_H

#include "analysis/study/study.h"

/* SVG for pages; PDF, with its fonts embedded, for papers.  A PDF with one panel has the
   width of a column, 8.6 cm; otherwise of both columns.  A small SVG has the width of a
   phone. */
enum plot_kind { PLOT_SVG, PLOT_PDF, PLOTS, PLOT_SMALL = PLOTS };

/* The bytes of a picture, and a 0 after them. */
struct picture {
    char *bytes;
    size_t size;
};

/* Draw `rows`, an array of objects, as described by `plot`.  Sets a picture whose bytes
   the caller frees, or no picture (NULL) if gnuplot is missing, fails, or is asked to
   stop.  The same rows give the same bytes with the same gnuplot.  Returns
   BITCUT_UNSUPPORTED if no temporary file or process can be created, or the picture
   cannot be read; BITCUT_NO_MEMORY. */
enum bitcut_status plot_draw(struct picture *picture, enum plot_kind kind,
                             const struct study_plot *plot, const char *title,
                             json_t *rows, const struct progress *progress,
                             struct fault *f);

/* Write the bytes of a picture to a file.  A failure leaves an existing file as it was.
   Returns the statuses of output_open() and output_commit(). */
enum bitcut_status picture_write(const char *path, const struct picture *p,
                                 struct fault *f);

#endif
