/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/summation.h"

#define ROW(name) &sum_##name,

const struct summation *const summations[] = { SUMMATIONS(ROW) NULL };

unsigned summation_reads(const struct bitcut_unit *u)
{
    const bool exact =
        (u->summation->reads & READS_FRACTION) && u->fraction == FRACTION_EXACT;
    return exact ? u->summation->reads_exact : u->summation->reads;
}

bool summation_aligns(const struct bitcut_unit *u)
{
    return summation_reads(u) & READS_FLOOR;
}
