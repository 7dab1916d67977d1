/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures and tables of recorded results from devices. */
#ifndef BITCUT_ANALYSIS_REPORT_FIGURE_H
#define BITCUT_ANALYSIS_REPORT_FIGURE_H

#include "analysis/study/results.h"
#include "analysis/study/study.h"

enum { FIGURE_SHAPES_MAX = 6, FIGURE_COLUMNS_MAX = 20, FIGURE_PRINTED_MAX = 8 };

/* A value printed in a paper, drawn next to the measured values. */
struct printed {
    double x, y;
    const char *series; /* paper, table and GPU                                     */
    const char *group;  /* the group with which it is drawn, as in results_derive(); NULL:
                           all groups */
};

/* A row of the table of figures.  A figure takes the results of one kind.  For results of
   `bench gpu`, except means, it takes results of one study, some sets of shapes and one
   part, that were timed and have a number on each axis. */
struct figure {
    const char *name, *what;
    enum study_chapter chapter;
    const char *title, *text; /* as in a study */
    const char *command;      /* the command that records its results */
    enum result_kind kind;
    const char *study, *part;                    /* NULL: any                    */
    const char *shapes[FIGURE_SHAPES_MAX];      /* ended by NULL; none: any     */
    bool roofs;                                 /* y is TFLOPS; roofs are drawn */
    struct study_plot plot;                     /* y NULL: a table */
    const char *const *columns; /* columns of its rows, ended by NULL; NULL: the typical
                                   columns of a plot */
    json_t *(*rows)(json_t *taken);             /* computes rows in place of `columns` */
    struct printed printed[FIGURE_PRINTED_MAX]; /* ended by zeros          */
};

extern const struct figure figures[]; /* ended by a row without a name */

/* The rows of a figure, from results that passed results_derive(): an array of flat
   objects with the same keys, sorted by x, then roofs, then printed values of papers.
   Empty if there are no results for it.  The caller releases the array. */
json_t *figure_rows(const struct figure *figure, const struct results *results);

/* How the results of a figure were recorded: devices, versions, rounds, seeds and so on,
   as a text that the caller releases. */
json_t *figure_origin(const struct figure *figure, const struct results *results);

#endif
