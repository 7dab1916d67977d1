/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k as sentences. */
#ifndef BITCUT_ANALYSIS_ORDER_ORDER_SENTENCE_H
#define BITCUT_ANALYSIS_ORDER_ORDER_SENTENCE_H

#include "lib/bitcut.h"

/* Write a sentence such as "k is cut into slices of 1408, which are added in order", for
   this k. */
void order_text(char *text, size_t size, const struct bitcut_order *order, size_t k);

/* Write an order in the notation of --split-k and --order. */
void order_options(char *text, size_t size, const struct bitcut_order *order);

#endif
