/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which a program adds the products of an output, found by running it on
   matrices made for that: after FPRev (Xie et al., arXiv 2411.00442). */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_H
#define BITCUT_ANALYSIS_ORDER_PROBE_H

#include "analysis/order/probe_search.h"
#include "analysis/order/probe_sizes.h"
#include "analysis/order/probe_units.h"
#include "lib/base/record.h"

enum { PROBE_SUMS_MAX = 8, PROBE_TEXT_MAX = 1000 };

/* What is known of the order. */
struct probe_result {
    bool found;                        /* an order gives every sum that was looked at */
    struct probe_guess guess;          /* that order                                  */
    struct probe_fit fit;              /* of it, on random data                       */
    size_t sum[PROBE_SUMS_MAX], sums; /* else: k of sums of neighbours, the first    */
    size_t first, first_below;         /* ... the product that product 0 meets first   */
    size_t m, n, k, positions, calls;  /* runs of the program                         */
    const struct bitcut_format *format;
    double seconds;                    /* that it took                                */
    char text[PROBE_TEXT_MAX];        /* what was found, in one or two sentences     */
};

/* Its fields and its line (lib/base/record.h). */
extern const struct record_field probe_fields[];
extern const struct record_line probe_lines[];

/* Probe the program, and run it once more on random data to compare with the units.
   BITCUT_BAD_ARGUMENT: sizes of 0, or k that the format cannot tell apart;
   BITCUT_UNSUPPORTED: the program's own fault, its D is not of a sum in FP32, or asked to
   stop; BITCUT_NO_MEMORY. */
enum bitcut_status probe_run(struct probe_result *r, const struct probe *p,
                             struct fault *f);

#endif
