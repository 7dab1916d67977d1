/* SPDX-License-Identifier: BSD-3-Clause */
/* Studies: a problem, the numbers that answer it, how to draw them, and what papers say
   of it. */
#ifndef BITCUT_ANALYSIS_STUDY_STUDY_H
#define BITCUT_ANALYSIS_STUDY_STUDY_H

#include "analysis/study/claim.h"
#include "gpu/api/tile.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"

#include <jansson.h>

struct gemm_offload;
struct results;

/* A GPU's description and its name. */
struct study_gpu {
    const char *name;
    struct tile_gpu gpu;
};

/* How large a study is: `small` in seconds, `paper` with the sizes of papers, up to n =
   4096. */
enum study_scale { STUDY_SMALL, STUDY_PAPER };

extern const struct table_row study_scales[]; /* by scale, ended by {0} */

/* What was recorded, as far as it was found: NULL, there is none. */
struct study_sources {
    const struct results *results; /* that results_derive() has seen                */
    json_t *libraries;             /* rows of data/libraries, an array of objects   */
    const struct study_gpu *gpus;  /* ended by one without a name                   */
};

enum { READS_RESULTS = 1, READS_LIBRARIES = 2, READS_GPUS = 4 };

/* How points of studies are computed. */
struct study_run {
    enum study_scale scale;
    uint64_t seed;
    int threads;
    const struct progress *progress;
    const struct gemm_offload *offload; /* struct gemm_options */
    struct study_sources sources;
};

/* A point under way: one of a study's independent parts, which are numbered from 0. */
struct study_point {
    size_t at;
    enum study_scale scale;
    uint64_t seed; /* this point's own */
    int threads;
    const struct progress *progress;
    const struct gemm_offload *offload;
    const struct study_sources *sources;
    json_t *rows; /* so far */
};

/* Append a row to those of the point, and take it over; every row of a study has the same
   keys. */
void study_row(struct study_point *p, json_t *row);

/* How the rows are drawn: one line for each value of `series`, y against x, its points
   alone, or steps.  What has no figure has y NULL.  Below that picture there may be a
   second one of the same series, of what misleads without it.  A value of null is not
   drawn.

   The rows of each value of the keys of `panels` have a panel of their own; null is every
   value, so that such a row is in all panels that it fits.  A panel has PANEL_SERIES_MAX
   series (analysis/report/plot_data.h); the others go to one more of the same name.  Rows
   of one series at one x differ in `spread` and are drawn as their median, with a bar
   from the least to the largest; or each row has the ends of its bar itself. */
struct study_plot {
    const char *x, *y, *series;
    const char *x_label, *y_label;
    bool x_log, y_log, points, steps;
    const char *below, *below_label; /* another y, or NULL                             */
    bool below_log;
    const char *where;      /* the rows that it draws, as row_is(); NULL: all */
    const char *panels;     /* keys, with blanks between; NULL: one panel     */
    const char *spread;     /* the key that tells draws of a value apart, or NULL     */
    const char *low, *high; /* keys of the ends of a row's bar, or NULL           */
    const char *bars;       /* what marks and such bars are, in a sentence        */
    const char *sees; /* what to see, in a sentence; also where there is no figure */
};

/* The chapters of the report, each a problem. */
enum study_chapter {
    CHAPTER_KEEPS,
    CHAPTER_UNDERFLOW,
    CHAPTER_UNIT,
    CHAPTER_DROPPED,
    CHAPTER_CHOICE,
    CHAPTER_BOUNDS,
    CHAPTER_USES,
    CHAPTER_SPEED,
    CHAPTER_EVIDENCE,
    CHAPTERS
};

extern const struct table_row study_chapters[]; /* by chapter, ended by {0} */

/* A study as a row of its table. */
struct study {
    const char *name, *what;
    enum study_chapter chapter;
    const char *title; /* as a heading                                          */
    const char *text;  /* what is counted, and what to see: plain paragraphs    */
    const struct claim *claims; /* what it judges; ended by {0} */
    bool threaded;     /* a point keeps all threads busy; else each has a point */
    unsigned reads;    /* which sources, READS_...; 0: none                     */
    const void *about; /* of `run`'s own                                        */
    struct study_plot plot;

    /* How many points it has, the same for every seed. */
    size_t (*points)(const struct study *study, enum study_scale scale);

    /* Compute one: its rows depend on scale, seed, `at` and the sources alone. */
    enum bitcut_status (*run)(const struct study *study, struct study_point *p,
                              struct fault *f);

    /* Change a row that an earlier version wrote into what this one writes, and leave
       others as they are; NULL: rows are still the same. */
    void (*renew)(json_t *row);
};

/* `renew` of studies that count retained bits.  Up to 0.1.0 they left the implicit bit
   out, and rows had no key "bits_of", which is 24 now: bits rise by the share of values
   of which any bit is retained, and each length by 1.  Of a binade whose values all
   round to 2^e or more, the value 2^e itself counts as one of these: 2^-23 of them. */
void study_renew_bits(json_t *row);

/* All studies, in the order of the report: study_NAME is the row of each, in the file
   analysis/study/study_*.c that computes it. */
#define STUDIES(ROW)                                                                     \
    ROW(table1)                                                                          \
    ROW(table2)                                                                          \
    ROW(figure1)                                                                         \
    ROW(figure4)                                                                         \
    ROW(figure5)                                                                         \
    ROW(underflow)                                                                       \
    ROW(figure9)                                                                         \
    ROW(figure11)                                                                        \
    ROW(figure13)                                                                        \
    ROW(dropped)                                                                         \
    ROW(legemm)                                                                          \
    ROW(histogram)                                                                       \
    ROW(scale)                                                                           \
    ROW(layers)                                                                          \
    ROW(tile)                                                                            \
    ROW(rounding)                                                                        \
    ROW(promotion)                                                                       \
    ROW(slices)                                                                          \
    ROW(xf32)                                                                            \
    ROW(mi200)                                                                           \
    ROW(flush)                                                                           \
    ROW(cdna)                                                                            \
    ROW(libraries)                                                                       \
    ROW(recorded)

#define STUDY_ROW(name) extern const struct study study_##name;
STUDIES(STUDY_ROW)
#undef STUDY_ROW

extern const struct study *const studies[]; /* ended by NULL */

/* The claim after `claim`, or the first when it is NULL, of all studies in their order;
   NULL at the end.  study_of_claim() is whose it is. */
const struct claim *study_claim_next(const struct claim *claim);
const struct study *study_of_claim(const struct claim *claim);

/* The seed of a point: words 0 and 1 of block `at` of the stream that the name of the
   study gives (lib/number/rand.h; FNV-1a of its bytes). */
uint64_t study_seed(const struct study *study, size_t at, uint64_t seed);

/* Compute the points of a study for which wanted[at] is true (NULL: all), in ascending
   order, and hand over the rows of each, an array, when it and all before it are there.
   What a point fails with comes back, and BITCUT_UNSUPPORTED if asked to stop: then what
   was handed over is whole. */
enum bitcut_status study_compute(const struct study *study, const struct study_run *run,
                                 const bool *wanted,
                                 void (*take)(void *context, size_t at, json_t *rows),
                                 void *context, struct fault *f);

/* All rows of a study, one after the other: an array to be released; NULL on failure. */
enum bitcut_status study_rows(json_t **rows, const struct study *study,
                              const struct study_run *run, struct fault *f);

#endif
