/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures and tables of what devices gave: recorded results, and how to draw them. */
#ifndef BITCUT_ANALYSIS_REPORT_FIGURE_H
#define BITCUT_ANALYSIS_REPORT_FIGURE_H

#include "analysis/study/results.h"
#include "analysis/study/study.h"

enum { FIGURE_SHAPES_MAX = 6, FIGURE_COLUMNS_MAX = 20, FIGURE_PRINTED_MAX = 8 };

/* A value that a paper prints, to stand beside the measured ones. */
struct printed {
    double x, y;
    const char *series; /* paper, table and GPU                                     */
    const char *group;  /* that it is drawn with, as results_derive() has it; NULL: all */
};

/* A row of the table of figures.  It takes the results of one kind; of `bench gpu`, but
   for means, those of a study, of some sets of shapes and of a part, that were timed and
   have a number on either axis. */
struct figure {
    const char *name, *what;
    enum study_chapter chapter;
    const char *title, *text; /* as of a study */
    const char *command;      /* that records what it takes */
    enum result_kind kind;
    const char *study, *part;                    /* NULL: any                    */
    const char *shapes[FIGURE_SHAPES_MAX];      /* ended by NULL; none: any     */
    bool roofs;                                  /* y is TFLOPS: below roofs     */
    struct study_plot plot;                      /* y NULL: a table              */
    const char *const *columns;                  /* of its rows, ended by NULL;
                                                    NULL: a plot's usual ones */
    json_t *(*rows)(json_t *taken);              /* instead of columns           */
    struct printed printed[FIGURE_PRINTED_MAX]; /* ended by zeros          */
};

extern const struct figure figures[]; /* ended by a row without a name */

/* The rows of a figure, of results that results_derive() has seen: an array of flat
   objects with the same keys, sorted by x, then roofs, and then what papers print.  Empty
   if the results have nothing for it.  To be released. */
json_t *figure_rows(const struct figure *figure, const struct results *results);

/* How the results that a figure takes were recorded: devices, versions, rounds, seeds and
   so on, as a text to be released. */
json_t *figure_origin(const struct figure *figure, const struct results *results);

#endif
