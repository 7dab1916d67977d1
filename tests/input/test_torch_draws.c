/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of draws: their operands are those of the generator, and others are refused. */
#include "lib/input/torch_draws.h"
#include "lib/input/torch_random.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* The numbers of the draws, one after the other. */
static uint32_t *drawn(uint64_t seed, const size_t *count, const bool *uniform, int draws)
{
    struct torch_generator g;
    struct hostfp saved;
    size_t all = 0;
    for (int i = 0; i < draws; i++) all += count[i];
    uint32_t *const x = malloc(all * sizeof *x);
    hostfp_enter(&saved);
    torch_seed(&g, seed);
    for (size_t i = 0, at = 0; i < (size_t)draws; at += count[i++])
        (uniform[i] ? torch_rand : torch_randn)(x + at, count[i], &g);
    hostfp_leave(&saved);
    return x;
}

START_TEST(operands_are_in_their_order)
{
    static const size_t count[] = { 250, 3 * 2 * 4 * 5, 7, 6 * 5 };
    static const bool uniform[] = { false, true, false, false };
    const uint32_t *const x = drawn(9, count, uniform, 4);
    const uint32_t *const b = x + 250, *const a = b + 120 + 7;
    struct matrix left, right;
    struct fault f;
    ck_assert_msg(torch_draws(&left, &right, "10x25, B  rand 3x2x4x5,7 ,A 6x5 T", 9, &f) !=
                      BITCUT_OK,
                  "the inner sizes differ");
    ck_assert_msg(torch_draws(&left, &right, "10x25, B  rand 3x2x4x5 T,7 ,A 6x5", 9, &f) ==
                      BITCUT_OK,
                  "%s", f.text);
    ck_assert(left.rows == 6 && left.cols == 5 && !left.is_batch);
    ck_assert(right.rows == 5 && right.cols == 4 && right.is_batch && right.count == 6);
    ck_assert(!memcmp(left.at, a, 30 * sizeof *a));
    for (size_t i = 0; i < 120; i++) {
        const size_t m = i / 20, row = i % 20 / 4, col = i % 4;
        ck_assert_uint_eq(right.at[i], b[m * 20 + col * 5 + row]);
    }
    matrix_clear(&left);
    matrix_clear(&right);
    free((void *)x);
}
END_TEST

START_TEST(other_texts_are_refused)
{
    static const char *const wrong[] = {
        "", "A", "A 2x2", "B 2x2", "A 2x2, B 2x2,", ",A 2x2, B 2x2", "A 2x2 B 2x2",
        "A 2x2, A 2x2, B 2x2", "A 2x2, B 3x2", "A 4, B 4x2", "A 0x2, B 2x2",
        "A 2x, B 2x2", "A -2x2, B 2x2", "A 2x2T, B 2x2", "A randx 2x2, B 2x2",
        "A 2x2, B 2x2, 5 T", "A 2x2x2, B 3x2x2", "A 2x2x2x2x2x2x2x2x2, B 2x2",
        "A 99999999999999999999x2, B 2x2", "A 268435457x1, B 1x1",
        "A 16384x16384, B 16384x1", "Arandn 2x2, B 2x2", "A 2X2, B 2x2",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct matrix a = { .rows = 1 }, b = { .rows = 2 };
        struct fault f = { .text = "" };
        ck_assert_msg(torch_draws(&a, &b, wrong[i], 1, &f) == BITCUT_BAD_ARGUMENT, "%s",
                      wrong[i]);
        ck_assert(*f.text && a.rows == 1 && b.rows == 2);
    }
}
END_TEST

TEST_MAIN("torch_draws", operands_are_in_their_order, other_texts_are_refused)
