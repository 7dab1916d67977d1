/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k that make errors large: arrangements of the products of given matrices. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ARRANGEMENT_H
#define BITCUT_ANALYSIS_SAMPLING_ARRANGEMENT_H

#include "analysis/accuracy/gemm_data.h"
#include "analysis/fp64/dense.h"

/* By position along k; or by the share of the products in |A||B|, on average over all
   rows and columns.  With descending products partial sums are large from the start, so
   every later step rounds at their size. */
enum arrangement { AS_IS, REVERSED, DESCENDING, ASCENDING, ARRANGEMENTS };

/* The order for gemm_data_order(), k numbers.  The caller is under hostfp_enter().
   Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status arrange(size_t *at, const struct gemm_data *p, enum arrangement which,
                           struct fault *f);
enum bitcut_status arrange64(size_t *at, const struct dense *p, enum arrangement which,
                             struct fault *f);

#endif
