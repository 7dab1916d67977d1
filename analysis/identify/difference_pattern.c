/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/difference_pattern.h"

#include "lib/number/bits.h"

#include <stdlib.h>

/* --- sizes of differences --------------------------------------------------------- */

/* Integers that increase by one from each number of a format to the next. */
static int64_t along(const struct bitcut_format *format, uint32_t x)
{
    const uint64_t narrow = bitcut_format_convert(format, &roundings[ROUND_RN],
                                                  &formats[FORMAT_F32], x),
                   sign = (uint64_t)1 << (format->bits - 1);
    const int64_t magnitude = (int64_t)(narrow & (sign - 1));
    return narrow & sign ? -magnitude - 1 : magnitude;
}

uint64_t spread_distance(const struct bitcut_format *format, uint32_t d, uint32_t h)
{
    if (d == h) return 0;
    if (!f32_is_finite(d) || !f32_is_finite(h)) return UINT64_MAX;
    const int64_t apart = along(format, d) - along(format, h);
    return (uint64_t)(apart < 0 ? -apart : apart);
}

static int bin_of(const struct bitcut_format *format, uint32_t d, uint32_t h)
{
    const uint64_t apart = spread_distance(format, d, h);
    if (d == h) return 0;
    return apart == UINT64_MAX ? SPREAD_BINS - 1 : 64 - __builtin_clzll(apart | 1);
}

/* --- periods ---------------------------------------------------------------------- */

static bool repeats(const unsigned char *line, size_t count, size_t period)
{
    for (size_t i = 0; i + period < count; i++)
        if (line[i] != line[i + period]) return false;
    return true;
}

/* A period that occurs three times.  A period of 1 means only that all rows or columns
   are alike. */
static size_t period_of(const unsigned char *line, size_t count)
{
    if (repeats(line, count, 1)) return 0;
    for (size_t p = 2; p <= count / 3; p++)
        if (repeats(line, count, p)) return p;
    return 0;
}

enum bitcut_status spread_find(struct spread *s, const struct pair_of *x,
                               const struct bitcut_format *format, struct fault *f)
{
    unsigned char *const row = calloc(x->m + 1, 1), *const col = calloc(x->n + 1, 1);
    struct spread now = { .row_period = 0 };
    for (size_t i = 0; row && col && i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            const size_t at = i * x->n + j;
            const int bin = bin_of(format, x->d[at], x->h[at]);
            now.bin[bin]++;
            row[i] |= bin != 0;
            col[j] |= bin != 0;
        }
    if (row && col) {
        now.row_period = period_of(row, x->m);
        now.col_period = period_of(col, x->n);
        *s = now;
    }
    const enum bitcut_status status =
        row && col ? BITCUT_OK
                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for differences");
    free(row);
    free(col);
    return status;
}
