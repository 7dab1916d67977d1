/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences: what is added to them, and orders of k in words. */
#ifndef BITCUT_ANALYSIS_EXPLAIN_ORDER_SAY_H
#define BITCUT_ANALYSIS_EXPLAIN_ORDER_SAY_H

#include "lib/bitcut.h"

/* Add to a text, printf-style, as far as its `size` bytes reach. */
void say_more(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Write "k is cut into slices of 1408, which are added in order", for so many k. */
void order_text(char *text, size_t size, const struct bitcut_order *order, size_t k);

#endif
