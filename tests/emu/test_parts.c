/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of parts of whole matrices are those of split_apply() for each element, for
   every split, also if parts are rounded by drawn bits. */
#include "emu/parts.h"
#include "lib/number/split.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES_MAX = 40, K_MAX = 50, AREA = LINES_MAX * K_MAX };

/* Any encoding, or a number near 1, or a special one. */
static uint32_t element(uint64_t *rng)
{
    static const uint32_t special[] = { 0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 1,
                                        0x807fffff };
    const uint32_t bits = (uint32_t)test_bits(rng);
    switch (test_between(rng, 0, 7)) {
    case 0: return bits;
    case 1: return special[test_between(rng, 0, 6)];
    default: return (bits & 0x80ffffff) | (uint32_t)test_between(rng, 55, 70) << 24;
    }
}

static void check(const struct bitcut_split *s, uint64_t *rng)
{
    static uint32_t x[AREA];
    static double value[SPLIT_PARTS_MAX][AREA];
    const size_t lines = (size_t)test_between(rng, 1, LINES_MAX),
                 k = (size_t)test_between(rng, 1, K_MAX);
    for (size_t at = 0; at < lines * k; at++) x[at] = element(rng);
    ck_assert(parts_values((double *[]){ value[0], value[1], value[2] }, s, x, lines, k));
    for (size_t at = 0; at < lines * k; at++) {
        uint64_t part[SPLIT_PARTS_MAX];
        split_apply(part, s, x[at]);
        for (int j = 0; j < s->parts; j++) {
            const double want = format_to_double(s->part[j].format, part[j]), got = value[j][at];
            ck_assert_msg(isnan(want) ? isnan(got) : want == got && !signbit(want) == !signbit(got),
                          "%s, %zu x %zu, element %zu 0x%08x, part %d: %a, want %a", s->name, lines,
                          k, at, (unsigned)x[at], j, got, want);
        }
    }
}

START_TEST(values_are_those_of_elements)
{
    uint64_t rng = test_seed();
    struct bitcut_split drawn = splits[SPLIT_BF16X2]; /* rounded by drawn bits */
    drawn.part[0].rounding = &roundings[ROUND_SR];
    drawn.seed = 5;
    for (int i = 0; i < test_cases(8, 100); i++) {
        check(&drawn, &rng);
        for (const struct bitcut_split *s = splits; s->name; s++) check(s, &rng);
    }
}
END_TEST

TEST_MAIN("parts", values_are_those_of_elements)
