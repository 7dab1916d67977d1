/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k of correct kernels, for measuring the effect of the order. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ORDER_SET_H
#define BITCUT_ANALYSIS_SAMPLING_ORDER_SET_H

#include "lib/bitcut.h"

enum { ORDERS_MAX = 16 };

/* The order of g first, then the orders of the table that g can have for this k; of an
   FP64 GEMM by a scheme, other numbers of slices of k.  Returns
   their number, or 0 if memory runs out. g is a checked GEMM on a unit. */
size_t order_set(struct bitcut_order order[ORDERS_MAX], const struct bitcut_gemm *g,
                 size_t k);

#endif
