/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/fault.h"

static const struct defect *const families[] = { defects_terms,    defects_words,
                                                 defects_epilogue, defects_k,
                                                 defects_lines,    defects_sums };

const struct defect *defect_next(const struct defect *row)
{
    const size_t count = sizeof families / sizeof *families;
    if (!row) return families[0];
    if (row[1].name) return row + 1;
    for (size_t i = 0; i + 1 < count; i++)
        for (const struct defect *d = families[i]; d->name; d++)
            if (d == row) return families[i + 1];
    return NULL;
}
