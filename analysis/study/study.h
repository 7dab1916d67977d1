/* Studies: a question, the numbers that answer it, and how to draw them. */
#ifndef BITCUT_ANALYSIS_STUDY_STUDY_H
#define BITCUT_ANALYSIS_STUDY_STUDY_H

#include "lib/progress.h"
#include "lib/status.h"

#include <jansson.h>

/* A study under way. */
struct study_run {
    uint64_t seed;
    int threads;
    const struct progress *progress;
    void (*row)(void *context,
                json_t *row); /* takes a row over; every row has the same keys */
    void *context;
};

/* How the rows are drawn: one line for each value of `series`, y against x, or its points
   alone.  A study without a figure has y NULL.  Below that picture there may be a second
   one of the same series, of what misleads without it.  A value of null is not drawn. */
struct study_plot {
    const char *x, *y, *series;
    const char *x_label, *y_label;
    bool x_log, y_log, points;
    const char *below, *below_label; /* another y, or NULL */
};

/* A study as a row of its table. */
struct study {
    const char *name, *what;
    const char *title; /* as a heading                                            */
    const char *text;  /* what is counted, and what to see: plain paragraphs       */
    enum bitcut_status (*run)(struct study_run *run, struct fault *f);
    struct study_plot plot;
};

/* All studies, in the order of the report: study_NAME is the row of each, in the file
   analysis/study_*.c that computes it. */
#define STUDIES(ROW) ROW(table1) ROW(table2) ROW(underflow) ROW(figure1)

#define STUDY_ROW(name) extern const struct study study_##name;
STUDIES(STUDY_ROW)
#undef STUDY_ROW

extern const struct study *const studies[]; /* ended by NULL */

#endif
