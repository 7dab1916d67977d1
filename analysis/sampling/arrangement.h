/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k that make errors large: matrices with their products in another order. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ARRANGEMENT_H
#define BITCUT_ANALYSIS_SAMPLING_ARRANGEMENT_H

#include "analysis/accuracy/gemm_data.h"

/* By position along k; or by the share that the products of A and B have in |A||B|, of
   all rows and columns on average.  Partial sums of descending products are large from
   the start, so every later step rounds at their size. */
enum arrangement { AS_IS, REVERSED, DESCENDING, ASCENDING, ARRANGEMENTS };

/* The order for gemm_data_order(), of k numbers; under hostfp_enter().
   BITCUT_NO_MEMORY. */
enum bitcut_status arrange(size_t *at, const struct gemm_data *p, enum arrangement which,
                           struct fault *f);

#endif
