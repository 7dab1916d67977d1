/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a conversion gave the expected encoding. */
#ifndef BITCUT_TESTS_NUMBER_ENCODING_CHECK_H
#define BITCUT_TESTS_NUMBER_ENCODING_CHECK_H

#include "lib/number/format.h"
#include "lib/number/round.h"
#include "tests/test.h"

#include <inttypes.h>

/* Fail with all that is needed to repeat it.  Check notes every assertion that it passes,
   which is too slow for millions: compare first. */
static inline void check_encoding(const struct bitcut_format *to,
                                  const struct bitcut_rounding *r,
                                  const struct bitcut_format *from, uint64_t x,
                                  uint64_t got, uint64_t want)
{
    if (got == want) return;
    ck_abort_msg(
        "%s 0x%" PRIx64 " (%a) to %s by %s (overflow %d, flush %d): got 0x%" PRIx64
        " (%a), want 0x%" PRIx64 " (%a)",
        from->name, x, format_to_double(from, x), to->name, r->name, (int)r->overflow,
        r->flush, got, format_to_double(to, got), want, format_to_double(to, want));
}

#endif
