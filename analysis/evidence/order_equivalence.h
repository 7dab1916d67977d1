/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k that are equivalent. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_ORDER_EQUIVALENCE_H
#define BITCUT_ANALYSIS_EVIDENCE_ORDER_EQUIVALENCE_H

#include "emu/unit.h"

/* Whether two sound rows that differ only in `order` compute the same: the same products
   are added in the same sums of the same steps.  Addition is commutative, so nothing else
   matters. */
bool order_same(const struct bitcut_unit *x, const struct bitcut_unit *y);

#endif
