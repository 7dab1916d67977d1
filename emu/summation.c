#include "emu/summation.h"

#include <math.h>

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

double summation_roundoff(const struct bitcut_format *f, enum direction d)
{
    return ldexp(1, -f->fraction_bits - (d == TO_NEAREST_EVEN || d == TO_NEAREST_AWAY));
}
