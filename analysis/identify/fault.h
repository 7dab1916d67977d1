/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of kernels, as rows of tables. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_FAULT_H
#define BITCUT_ANALYSIS_IDENTIFY_FAULT_H

#include "analysis/identify/hypothesis.h"

/* A row of a table of faults.  A fault has variants, 0 to kinds(s) - 1, such as one for
   each term or rounding.  One of the functions is NULL. */
struct kernel_fault {
    const char *name;
    const char *what; /* such as "the product of ... is missing" */
    bool fine;        /* changes results by a few ulps at most */
    bool exact; /* changes the exact product: a variant is only tried if that comes nearer
                   to D */
    bool of_ranges;    /* belongs to ranges of k, by `alter`: possibly slices */
    bool of_parts;     /* changes parts after they are computed: slow */
    bool of_promotion; /* applies only where sums are promoted */
    bool of_store;     /* belongs to the rounding of results to their format */
    bool of_residual; /* the search does not try it, only the diagnosis by the residual */
    size_t (*kinds)(const struct space *s); /* NULL: 1 */
    bool (*vary)(struct candidate *x, const struct space *s, int kind);
    bool (*alter)(struct candidate *x, const struct space *s, int kind);
    void (*describe)(char *text, size_t size, const struct candidate *x,
                     const struct space *s, int kind); /* NULL: `what` */
};

/* The families of faults, each ended by a row whose name is NULL. */
extern const struct kernel_fault kernel_faults_terms[], kernel_faults_parts[],
    kernel_faults_epilogue[], kernel_faults_k[], kernel_faults_sums[],
    kernel_faults_layout[], kernel_faults_told[];

/* The row after `row` in any family, or the first row for NULL.  NULL at the end. */
const struct kernel_fault *kernel_fault_next(const struct kernel_fault *row);

#endif
