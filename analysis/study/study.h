/* SPDX-License-Identifier: BSD-3-Clause */
/* Studies: a question, the numbers that answer it, their figures, and the claims of
   papers about it. */
#ifndef BITCUT_ANALYSIS_STUDY_STUDY_H
#define BITCUT_ANALYSIS_STUDY_STUDY_H

#include "analysis/study/claim.h"
#include "gpu/api/tile.h"
#include "lib/base/progress.h"
#include "lib/base/shard.h"
#include "lib/base/status.h"

#include <jansson.h>

struct gemm_offload;
struct results;

/* The description of a GPU, with its name. */
struct study_gpu {
    const char *name;
    struct tile_gpu gpu;
};

/* The size of a study: `small` takes seconds; `paper` has the sizes of papers, up to n =
   4096. */
enum study_scale { STUDY_SMALL, STUDY_PAPER };

extern const struct table_row study_scales[]; /* by scale, ended by {0} */

/* The recorded data that were found; NULL: none. */
struct study_sources {
    const struct results *results; /* after results_derive() */
    json_t *libraries;             /* rows of data/libraries, an array of objects   */
    const struct study_gpu *gpus;  /* ended by an entry without a name */
};

enum { READS_RESULTS = 1, READS_LIBRARIES = 2, READS_GPUS = 4 };

/* Options for computing points of studies. */
struct study_run {
    enum study_scale scale;
    uint64_t seed;
    int threads;
    const struct progress *progress;
    const struct gemm_offload *offload; /* struct gemm_options */
    struct study_sources sources;
};

/* A point in progress: one of a study's independent parts, which are numbered from 0. */
struct study_point {
    size_t at;
    enum study_scale scale;
    uint64_t seed; /* the seed of this point */
    int threads;
    const struct progress *progress;
    const struct gemm_offload *offload;
    const struct study_sources *sources;
    json_t *rows; /* the rows so far */
};

/* Append a row to the point, and take it over.  Every row of a study has the same keys.
 */
void study_row(struct study_point *p, json_t *row);

/* How rows are drawn: a curve for each value of `series`, y against x, as lines, points
   or steps.  A study without a figure has y NULL.  Below the picture there may be a
   second one of the same series, for a quantity without which the first is misleading.
   Null values are not drawn.  Rows with the same values of the keys of `panels` share a
   panel; null matches every value, so such a row appears in all matching panels.  A panel
   has PANEL_SERIES_MAX series (analysis/report/plot_data.h); the remaining series go to
   another panel with the same name.  Rows of one series at one x that differ in `spread`
   are drawn as their median, with a bar from the smallest to the largest; or each row has
   the ends of its bar itself. */
struct study_plot {
    const char *x, *y, *series;
    const char *x_label, *y_label;
    bool x_log, y_log, points, steps;
    const char *below, *below_label; /* a second y, or NULL */
    bool below_log;
    const char *where;  /* the rows to draw, as for row_is(); NULL: all */
    const char *panels; /* keys, separated by blanks; NULL: one panel */
    const char *spread; /* the key that distinguishes repetitions of a value, or NULL */
    const char *low, *high; /* keys of the ends of a row's bar, or NULL           */
    const char *bars;       /* the meaning of marks and bars, in a sentence */
    const char *sees;       /* what to see, in a sentence; also without a figure */
};

/* The chapters of the report, each a question. */
enum study_chapter {
    CHAPTER_KEEPS,
    CHAPTER_UNDERFLOW,
    CHAPTER_UNIT,
    CHAPTER_DROPPED,
    CHAPTER_CHOICE,
    CHAPTER_BOUNDS,
    CHAPTER_USES,
    CHAPTER_FP64,
    CHAPTER_SPEED,
    CHAPTER_EVIDENCE,
    CHAPTERS
};

extern const struct table_row study_chapters[]; /* by chapter, ended by {0} */

/* A study as a row of its table. */
struct study {
    const char *name, *what;
    enum study_chapter chapter;
    const char *title;          /* a heading */
    const char *text;           /* the quantities, and what to see: plain paragraphs */
    const struct claim *claims; /* its claims, ended by {0} */
    bool threaded;     /* a point uses all threads; otherwise each thread has a point */
    unsigned reads;    /* its sources, READS_...; 0: none */
    const void *about; /* argument of `run` */
    struct study_plot plot;

    /* The number of its points, the same for every seed. */
    size_t (*points)(const struct study *study, enum study_scale scale);

    /* The work of a point, 1 or more, in proportion to the products of its GEMMs; NULL:
       all points have the same. */
    uint64_t (*work)(const struct study *study, enum study_scale scale, size_t at);

    /* Compute one point.  Its rows depend only on scale, seed, `at` and the sources. */
    enum bitcut_status (*run)(const struct study *study, struct study_point *p,
                              struct fault *f);

    /* Change a row that an earlier version wrote into what this one writes, and leave
       others as they are; NULL: rows are still the same. */
    void (*renew)(json_t *row);
};

/* `renew` of studies that count retained bits.  Version 0.1.0 left the implicit bit out,
   and its rows had no key "bits_of", which is 24 now.  Bits increase by the share of values
   of which any bit is retained, and each length by 1.  If all values of a binade round to
   2^e or more, the value 2^e itself also counts: 2^-23 of the values. */
void study_renew_bits(json_t *row);

/* All studies, in the order of the report. study_NAME is the row of a study, in the file
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
    ROW(fp64)                                                                            \
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

/* The claim after `claim`, or the first one for NULL, of all studies in their order; NULL
   at the end. study_of_claim() is its study. */
const struct claim *study_claim_next(const struct claim *claim);
const struct study *study_of_claim(const struct claim *claim);

/* The seed of a point: words 0 and 1 of block `at` of the stream that belongs to the name
   of the study (lib/number/rand.h; FNV-1a of its bytes). */
uint64_t study_seed(const struct study *study, size_t at, uint64_t seed);

/* Set mine[at], for each point, to whether it belongs to a shard.  Every point belongs to
   one shard.  Points are given out by decreasing work, each to the first shard with the
   least work, so that shards take similar times (the rule LPT of R. L. Graham, SIAM J.
   Appl. Math. 17, 1969).  If all points have the same work, shard i has every count-th
   point, beginning with point i.  BITCUT_NO_MEMORY. */
enum bitcut_status study_shard_points(bool *mine, const struct study *study,
                                      enum study_scale scale, struct shard shard,
                                      struct fault *f);

/* Compute the points of a study for which wanted[at] is true (NULL: all), in ascending
   order.  The rows of each point, an array, are handed over when the point and all
   earlier ones are done.  Returns the status of a failed point, or BITCUT_UNSUPPORTED if
   asked to stop; points handed over before are complete. */
enum bitcut_status study_compute(const struct study *study, const struct study_run *run,
                                 const bool *wanted,
                                 void (*take)(void *context, size_t at, json_t *rows),
                                 void *context, struct fault *f);

/* All rows of a study, one after the other: an array that the caller releases; NULL on
   failure. */
enum bitcut_status study_rows(json_t **rows, const struct study *study,
                              const struct study_run *run, struct fault *f);

#endif
