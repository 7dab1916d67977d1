/* SPDX-License-Identifier: BSD-3-Clause */
/* The summations, in the independent definition (tests/emu/spec.h). */
#ifndef BITCUT_TESTS_EMU_SPEC_SUM_H
#define BITCUT_TESTS_EMU_SPEC_SUM_H

#include "tests/emu/spec_number.h"

/* A summation by its name.  `add` takes products, C behind them, and of a unit with block
   scales the scale of each product; it may change terms. */
struct spec_sum {
    const char *name;
    uint64_t (*add)(const struct bitcut_unit *u, struct term *terms,
                    const struct term *scales, int block);
    bool scales_groups; /* scales[i] is that of product i; if not, they are multiplied */
};

/* That of `name`, or NULL. */
const struct spec_sum *spec_sum_find(const char *name);

/* The values of n terms added exactly and rounded once. */
uint64_t spec_exact_sum(const struct bitcut_unit *u, const struct bitcut_rounding *r,
                        const struct term *terms, int n);

#endif
