/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/test.h"

#include "lib/base/threads.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

const size_t threads_grain = 1;

int test_run(const char *suite, const TTest *const *tests)
{
    return test_run_after(suite, tests, NULL);
}

int test_run_after(const char *suite, const TTest *const *tests, void (*setup)(void))
{
    Suite *s = suite_create(suite);
    TCase *c = tcase_create(suite);
    tcase_set_timeout(c, 0);
    if (setup) tcase_add_unchecked_fixture(c, setup, NULL);
    for (; *tests; tests++) tcase_add_test(c, *tests);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_set_tap(r, "-");
    printf("# seed %" PRIu64 "\n", test_seed());
    fflush(stdout);
    srunner_run_all(r, CK_SILENT);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}

uint64_t test_seed(void)
{
    const char *text = getenv("BITCUT_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

int test_long(void) { return getenv("BITCUT_LONG") != NULL; }

/* Small numbers of cases are often one of each kind, so they are not divided by default. */
enum { PART = 8, FEW = 2 };

static int larger_of(int a, int b) { return a > b ? a : b; }
static int smaller_of(int a, int b) { return a < b ? a : b; }

bool test_whole(void) { return test_long() || getenv("BITCUT_WHOLE"); }

int test_cases(int usual, int most)
{
    if (test_long()) return most;
    const char *const brief = getenv("BITCUT_BRIEF");
    if (brief) {
        const int part = atoi(brief) > 1 ? atoi(brief) : 8;
        return usual / part + (usual < part);
    }
    if (usual == most || test_whole()) return usual;
    return larger_of(usual / PART, smaller_of(usual, FEW));
}

int test_step(int brief) { return getenv("BITCUT_BRIEF") && !test_long() ? brief : 1; }

bool test_in_turn(int row, int at)
{
    if (test_long()) return true;
    if (getenv("BITCUT_BRIEF")) return (row + at) % 4 == 0;
    return test_whole() || (row + at) % 2 == 0;
}

uint64_t test_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int test_host_mode(int mode)
{
    static const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    ck_assert_int_eq(fesetround(modes[mode % 4]), 0);
#if defined(__SSE2__)
    if (mode / 4) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    return modes[mode % 4];
}

int test_between(uint64_t *state, int low, int high)
{
    return low + (int)(test_bits(state) % (uint64_t)(high - low + 1));
}
