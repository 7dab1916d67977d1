/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM by the names of its recipe and of its unit, or chip. */
#ifndef BITCUT_TESTS_SAMPLING_NAMED_GEMM_H
#define BITCUT_TESTS_SAMPLING_NAMED_GEMM_H

#include "emu/gemm.h"
#include "tests/test.h"

static inline struct bitcut_gemm gemm_named(const char *recipe, const char *unit)
{
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find(recipe), NULL);
    const struct bitcut_format *const parts =
        g.recipe->split ? g.recipe->split->part[0].format : &formats[FORMAT_F16];
    g.unit = bitcut_unit_find(unit, parts);
    ck_assert(g.unit != NULL);
    return g;
}

#endif
