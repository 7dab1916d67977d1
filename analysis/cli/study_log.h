/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of points of studies: computed, read from files, and written to one. */
#ifndef BITCUT_ANALYSIS_CLI_STUDY_LOG_H
#define BITCUT_ANALYSIS_CLI_STUDY_LOG_H

#include "analysis/study/study.h"

enum { LOG_STUDIES_MAX = 64 };

/* All points of one scale and seed.  A file of them is JSON Lines, a line a row, that
   begin with "study", "scale", "seed", "point" and "rows", how many rows the point has, and
   end with a digest (analysis/study/row_digest.h): by studies as in their table, then by
   points.  So files of parts merge to the file of all, byte for byte, and a point that
   was cut off is known. */
struct study_log {
    bool begun; /* scale and seed are known */
    enum study_scale scale;
    uint64_t seed;
    struct study_points {
        json_t **rows; /* of each point an array, or NULL */
        size_t count;
    } of[LOG_STUDIES_MAX]; /* by position in `studies` */
};

/* The scale that --scale names, small without it.  Prints what is wrong and returns an exit
   status. */
int study_scale_read(enum study_scale *scale, const char *name);

enum bitcut_status study_log_begin(struct study_log *book, enum study_scale scale,
                                   uint64_t seed, struct fault *f);
void study_log_clear(struct study_log *book);

/* Where a study's points are. */
struct study_points *study_log_of(struct study_log *book, const struct study *study);

/* Add the points of a file.  A book that has not begun takes the scale and seed of its
   first row.  Points that the file has in part are left out; one that is there twice must
   be the same.  If `only` is not NULL, the file has rows of that study alone and no point
   in part.  Prints what is wrong, with the line if it is one, and returns an exit status.
 */
int study_log_read(struct study_log *book, const struct study *only, const char *path);

/* A row with what a line of a file begins with, to be released; `row` is not taken. */
json_t *study_log_line(const struct study_log *book, const struct study *study, size_t at,
                       size_t count, json_t *row);

/* Write all points that are there to a file. */
enum bitcut_status study_log_write(const struct study_log *book, const char *path,
                                   struct fault *f);

/* All rows of a study that are there, an array to be released, and how many points are
   missing. */
json_t *study_log_rows(size_t *missing, const struct study_points *points);

#endif
