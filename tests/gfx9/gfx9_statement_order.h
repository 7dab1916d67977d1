/* SPDX-License-Identifier: BSD-3-Clause */
/* Order in the definition of gfx9's instructions: of floats, and of integers by their
   bits. */
#ifndef BITCUT_TESTS_GFX9_GFX9_STATEMENT_ORDER_H
#define BITCUT_TESTS_GFX9_GFX9_STATEMENT_ORDER_H

#include "tests/gfx9/gfx9_statement_float.h"

enum { LESS = 1, EQUAL = 2, MORE = 4, UNORDERED = 8 };

int compare_floats(const struct layout *x, uint32_t a, uint32_t b);
int compare_integers(uint64_t a, uint64_t b, unsigned width, bool is_signed);

/* The one that is LESS or MORE, as `wanted` says, or b.  Of f32 v_min_f32 and v_max_f32
   in IEEE mode, and v_med3_f32, as the pseudocode has them. */
uint64_t choose(uint64_t a, uint64_t b, unsigned width, bool is_signed, int wanted);
uint32_t choose_float(uint32_t a, uint32_t b, int wanted);
uint32_t middle_float(uint32_t a, uint32_t b, uint32_t c);

/* v_cmp_class_f32: bits 0 and 1 signalling and quiet NaNs, 2 to 9 from -infinity up. */
bool has_class(uint32_t x, uint32_t mask);

#endif
