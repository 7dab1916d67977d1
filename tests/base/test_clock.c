/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that work still takes, by hand. */
#include "lib/base/clock.h"
#include "tests/test.h"

START_TEST(time_left)
{
    static const struct {
        double seconds, part;
        const char *left;
    } cases[] = {
        { 10, 0.2, ", about 40 s left" },
        { 60, 0.1, ", about 9 min left" },
        { 99, 0.5, ", about 99 s left" },
        { 100, 0.5, ", about 2 min left" },
        { 36000, 0.5, ", about 10 h left" },
        { 5, 1, ", about 0 s left" },
        { 1, 0.5, "" }, /* too early to know */
        { 100, 0.001, "" },
        { 100, 0, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char left[60] = "?";
        describe_time_left(left, sizeof left, cases[i].seconds, cases[i].part);
        ck_assert_str_eq(left, cases[i].left);
    }
}
END_TEST

START_TEST(clocks)
{
    char date[DATE_MAX];
    const double before = seconds_now();
    date_today(date);
    ck_assert(seconds_now() >= before);
    ck_assert_uint_eq(strlen(date), strlen("2000-01-01"));
}
END_TEST

TEST_MAIN("clock", time_left, clocks)
