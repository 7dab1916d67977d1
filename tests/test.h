/* SPDX-License-Identifier: BSD-3-Clause */
/* Common definitions of all Check programs here: the runner, seeds, and a generator of
   test bits. */
#ifndef BITCUT_TESTS_TEST_H
#define BITCUT_TESTS_TEST_H

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

/* For each assertion that holds, Check notes its place by a system call; some tests have
   ten million.  Check reads the place only after a signal. */
#define _mark_point(file, line) ((void)(file), (void)(line))

/* Run the tests of the NULL-ended list through Check, reporting in TAP.  Returns the exit
   status: 0 only if all passed. */
int test_run(const char *suite, const TTest *const *tests);

/* The same after `setup`, which runs once: every test has its own copy of what it made. */
int test_run_after(const char *suite, const TTest *const *tests, void (*setup)(void));

#define TEST_MAIN(suite, ...)                                                                \
    int main(void)                                                                           \
    {                                                                                        \
        const TTest *const tests[] = { __VA_ARGS__, NULL };                                  \
        return test_run(suite, tests);                                                       \
    }

/* The seed of this run: BITCUT_SEED from the environment, or 1.  Printed once as a TAP
   comment, so that a failure can be repeated. */
uint64_t test_seed(void);

/* Whether BITCUT_LONG is set: `make check-long` sets it, and tests then do all they can. */
int test_long(void);

/* Whether BITCUT_WHOLE or BITCUT_LONG is set: all usual cases. */
bool test_whole(void);

/* Have the processor round by mode 0 to 7: a direction, and whether subnormals are
   flushed (x86: FTZ and DAZ).  Returns the direction, of <fenv.h>; fesetenv() ends it. */
int test_host_mode(int mode);

/* The number of cases of a kind: `most` with BITCUT_LONG (check-long); `usual` with
   BITCUT_WHOLE; by default an eighth of `usual`, but not below 2, and all of them if
   `most` is the same number.  BITCUT_BRIEF (slow builds: sanitizers, valgrind, emulated
   processors) takes an eighth of `usual`, or an Nth if its value is N > 1, at least 1. */
int test_cases(int usual, int most);

/* The step through a list of cases: 1, or `brief` with BITCUT_BRIEF. */
int test_step(int brief);

/* Whether column `at` of row `row` of a grid of cases is tried: with BITCUT_WHOLE and
   BITCUT_LONG all are, by default every second one, with BITCUT_BRIEF every fourth; other
   columns in each row. */
bool test_in_turn(int row, int at);

/* The next 64 random bits of a stream (SplitMix64; Steele, Lea, Flood 2014), and of these
   an integer from low to high. */
uint64_t test_bits(uint64_t *state);
int test_between(uint64_t *state, int low, int high);

#endif
