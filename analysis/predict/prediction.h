/* SPDX-License-Identifier: BSD-3-Clause */
/* What a library will compute for a GEMM: one or several computations, and the outputs of
   each. */
#ifndef BITCUT_ANALYSIS_PREDICT_PREDICTION_H
#define BITCUT_ANALYSIS_PREDICT_PREDICTION_H

#include "lib/base/record.h"
#include "lib/base/status.h"

/* Outputs in rows `row` to row + rows - 1 and columns `col` to col + cols - 1. */
struct predicted_part {
    size_t row, rows, col, cols;
    int computation;
};

struct prediction {
    struct bitcut_prediction answer; /* must be first; written by prediction_finish() */
    const struct library *library;
    const struct library_chip *chip;
    const struct library_types *types;
    const struct library_call *made; /* the call of the program, or NULL */
    const char *function;    /* what it calls                                     */
    int threads;             /* of the library, 1 or more                             */
    const char *fields; /* of the algorithm that the library chooses, or NULL; set before
                           predict_find()                                             */
    size_t lost;        /* the last k that the library leaves out                     */
    bool learned; /* the algorithm is by decision trees, which are wrong for some calls */
    struct bitcut_gemm call; /* the GEMM; its recipe, unit and variations are not read */
    struct bitcut_gemm computation[BITCUT_PREDICTED_MAX]; /* recipe, unit, variations */
    size_t computations;
    struct predicted_part *part; /* a later part replaces earlier ones where they overlap;
                                    of a transposed prediction, rows are columns      */
    size_t parts, room;
    bool transposed; /* set by a rule that describes the transpose of D, before it adds
                        parts                                                         */
};

/* The computation with the recipe, the unit and the variations of a GEMM, which is added if
   it is new.  A rule has at most BITCUT_PREDICTED_MAX. */
int prediction_computation(struct prediction *x, const struct bitcut_gemm *g);

/* Add a part.  BITCUT_NO_MEMORY. */
enum bitcut_status prediction_add(struct prediction *x, struct predicted_part part,
                                  struct fault *f);

/* Count the outputs of each computation, and write the answer, without its size. */
enum bitcut_status prediction_finish(struct prediction *x, struct fault *f);

/* The computation of every output of a row of D: [n].  Returns the first row after it that
   may differ. */
size_t prediction_row(unsigned char *computation, const struct prediction *x, size_t row);

/* For rules that cover D = alpha A B + beta C alone: BITCUT_UNSUPPORTED if the call has a
   bias or steps; if alpha is 0 or not finite; or if beta is not finite. */
enum bitcut_status prediction_check_update(const struct prediction *x, struct fault *f);

/* For rules that cover D = A B alone: also if alpha is not 1, or beta not 0. */
enum bitcut_status prediction_check_product(const struct prediction *x, struct fault *f);

void prediction_clear(struct prediction *x);

#endif
