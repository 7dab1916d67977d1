/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the points of studies: computed, read from files, and written to a file. */
#ifndef BITCUT_ANALYSIS_CLI_STUDY_LOG_H
#define BITCUT_ANALYSIS_CLI_STUDY_LOG_H

#include "analysis/study/study.h"

enum { LOG_STUDIES_MAX = 64, LOG_VERSION_MAX = 32 };

/* All points of one scale and seed.  Their file is JSON Lines with one row per line.  A
   row begins with "study", "scale", "seed", "point" and "rows" (the number of rows of the
   point), and ends with "version" (of bitcut, which computed it), "schema", and a digest
   (analysis/study/row_digest.h).  Rows are sorted by
   studies as in their table, then by points.  Files of parts therefore merge to the file
   of all points, byte for byte, and an incomplete point is recognized. */
struct study_log {
    bool begun; /* scale and seed are set */
    enum study_scale scale;
    uint64_t seed;
    char version[LOG_VERSION_MAX]; /* of rows that have one; "": none has */
    bool unversioned; /* some rows have none, as before 0.2.0; then none is written */
    struct study_points {
        json_t **rows; /* for each point an array, or NULL */
        size_t count;
    } of[LOG_STUDIES_MAX]; /* in the order of `studies` */
};

/* The scale named by --scale; small by default.  Prints what is wrong and returns an exit
   status. */
int study_scale_read(enum study_scale *scale, const char *name);

/* `version`: of the rows that the caller will add, or "". */
enum bitcut_status study_log_begin(struct study_log *book, enum study_scale scale,
                                   uint64_t seed, const char *version, struct fault *f);
void study_log_clear(struct study_log *book);

/* The points of a study. */
struct study_points *study_log_of(struct study_log *book, const struct study *study);

/* Add the points of a file.  An empty log takes the scale and seed of the first row. Rows
   of two versions of bitcut are refused; rows without a version are not.
   Incomplete points are left out; a point that occurs twice must be the same.  If `only`
   is not NULL, the file must have rows of that study alone and no incomplete point.
   Prints what is wrong, with the line if it is a line, and returns an exit status. */
int study_log_read(struct study_log *book, const struct study *only, const char *path);

/* A row with the first keys of a line, which the caller releases; `row` is not taken
   over. */
json_t *study_log_line(const struct study_log *book, const struct study *study, size_t at,
                       size_t count, json_t *row);

/* Write all available points to a file. */
enum bitcut_status study_log_write(const struct study_log *book, const char *path,
                                   struct fault *f);

/* All available rows of a study, an array that the caller releases, and the number of
   missing points. */
json_t *study_log_rows(size_t *missing, const struct study_points *points);

#endif
