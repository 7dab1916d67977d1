/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which a program adds the products of an output, found by running it on
   special matrices, after FPRev (Xie et al., arXiv 2411.00442). */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_H
#define BITCUT_ANALYSIS_ORDER_PROBE_H

#include "analysis/order/probe_search.h"
#include "analysis/order/probe_sizes.h"
#include "analysis/order/probe_units.h"
#include "lib/base/record.h"

enum { PROBE_SUMS_MAX = 8, PROBE_TEXT_MAX = 1000 };

/* The result of a probe. */
struct probe_result {
    bool found;               /* one order gives every sum that was observed */
    struct probe_guess guess; /* that order */
    struct probe_fit fit;     /* its agreement on random data */
    size_t sum[PROBE_SUMS_MAX],
        sums;                  /* if not found: k of the first sums of neighbours */
    size_t first, first_below; /* if not found: the product that product 0 meets first */
    size_t m, n, k, positions, calls; /* calls: runs of the program */
    const struct bitcut_format *format;
    double seconds;            /* time that the probe took */
    char text[PROBE_TEXT_MAX]; /* the result, in one or two sentences */
};

/* The fields and the line (lib/base/record.h). */
extern const struct record_field probe_fields[];
extern const struct record_line probe_lines[];

/* Probe the program, and run it once more on random data for comparison with the units.
   Returns
   - BITCUT_BAD_ARGUMENT: a size is 0, or the format cannot distinguish that many k;
   - BITCUT_UNSUPPORTED: the program failed, its D is no FP32 sum, or asked to stop;
   - BITCUT_NO_MEMORY. */
enum bitcut_status probe_run(struct probe_result *r, const struct probe *p,
                             struct fault *f);

#endif
