/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k in words. */
#ifndef BITCUT_ANALYSIS_ORDER_ORDER_SENTENCE_H
#define BITCUT_ANALYSIS_ORDER_ORDER_SENTENCE_H

#include "lib/bitcut.h"

/* Write "k is cut into slices of 1408, which are added in order", for so many k. */
void order_text(char *text, size_t size, const struct bitcut_order *order, size_t k);

/* Write all that --split-k and --order say of one. */
void order_options(char *text, size_t size, const struct bitcut_order *order);

#endif
