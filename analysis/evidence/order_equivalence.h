/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k that make no difference. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_ORDER_EQUIVALENCE_H
#define BITCUT_ANALYSIS_EVIDENCE_ORDER_EQUIVALENCE_H

#include "emu/unit.h"

/* Whether two sound rows that differ in `order` alone compute the same: the same products
   meet in the same sums of the same steps.  Adding is commutative, so nothing else
   matters. */
bool order_same(const struct bitcut_unit *x, const struct bitcut_unit *y);

#endif
