/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong in kernels, as rows. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_FAULT_H
#define BITCUT_ANALYSIS_IDENTIFY_FAULT_H

#include "analysis/identify/hypothesis.h"

/* A row of a table of faults.  A fault has kinds, 0 to kinds(s) - 1: which term, which
   rounding.  One of the functions is NULL. */
struct kernel_fault {
    const char *name;
    const char *what;  /* "the product of ... is missing" */
    bool fine;         /* it changes a few ulps at most      */
    bool exact;        /* it changes the exact product: a kind is only
                          tried if that comes nearer to D         */
    bool of_ranges;    /* of k, by `alter`: maybe slices      */
    bool of_words;     /* it changes words once they are made: slow */
    bool of_promotion; /* only where sums are promoted          */
    bool of_store;     /* of how results come to their format   */
    size_t (*kinds)(const struct space *s); /* NULL: 1 */
    bool (*vary)(struct candidate *x, const struct space *s, int kind);
    bool (*alter)(struct candidate *x, const struct space *s, int kind);
    void (*describe)(char *text, size_t size, const struct candidate *x,
                     const struct space *s, int kind); /* NULL: `what` */
};

/* The families, each ended by a row whose name is NULL. */
extern const struct kernel_fault kernel_faults_terms[], kernel_faults_parts[],
    kernel_faults_epilogue[], kernel_faults_k[], kernel_faults_sums[],
    kernel_faults_layout[];

/* The row after `row`, of any family, or the first when it is NULL; NULL at the end. */
const struct kernel_fault *kernel_fault_next(const struct kernel_fault *row);

#endif
