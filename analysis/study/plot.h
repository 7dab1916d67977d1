/* Line plots as SVG, drawn by gnuplot. */
#ifndef BITCUT_ANALYSIS_STUDY_PLOT_H
#define BITCUT_ANALYSIS_STUDY_PLOT_H

#include "analysis/study/study.h"

/* Draw `rows`, an array of objects, as `plot` says: the text of an SVG picture to be
   freed, or NULL if gnuplot is not there, fails, or is asked to stop.  BITCUT_CANNOT: no
   temporary file can be had, or no process, or the picture cannot be read;
   BITCUT_NO_MEMORY. */
enum bitcut_status plot_svg(char **svg, const struct study_plot *plot, const char *title,
                            json_t *rows, const struct progress *progress,
                            struct fault *f);

#endif
