/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/split/split_range.h"

#include "analysis/split/retention.h"

enum { SAMPLES = 2048, LEAST = -126, MOST = 127 };

static enum bitcut_status measure(struct retention *to, const struct bitcut_split *s,
                                  bool flush, int e, struct fault *f)
{
    const struct retention_values sample = { .e = e, .count = SAMPLES, .seed = 1 };
    return retention_measure(to, s, flush, &sample, 1, NULL, f);
}

enum bitcut_status split_range_find(struct split_range *to, const struct bitcut_split *s,
                                    bool flush, struct fault *f)
{
    struct split_range range = { 0, 0 };
    struct retention one, r;
    enum bitcut_status status = measure(&one, s, flush, 0, f);
    for (int e = -1; status == BITCUT_OK && e >= LEAST; e--) {
        status = measure(&r, s, flush, e, f);
        if (status != BITCUT_OK || r.bits < one.bits - 1.0 / 16) break;
        range.least = e;
    }
    for (int e = 1; status == BITCUT_OK && e <= MOST; e++) {
        status = measure(&r, s, flush, e, f);
        if (status != BITCUT_OK || r.p_overflow >= 0.5) break;
        range.most = e;
    }
    if (status == BITCUT_OK) *to = range;
    return status;
}
