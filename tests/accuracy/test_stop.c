/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls that are stopped, at the start or while they run. */
#define _POSIX_C_SOURCE 200809L

#include "lib/bitcut.h"
#include "tests/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* Work of a tenth of a second at least for every call, on any processor. */
enum { SIDE = 1024, FRAGMENTS = 5000, M = 16, N = 8, K = 16 };

static volatile sig_atomic_t stop;

static struct {
    uint32_t *a, *b, *d;
    double *limit;
    uint64_t *fragment_a, *fragment_b, *fragment_d;
    struct bitcut_gemm gemm;
} x;

static void set_up(size_t side)
{
    uint64_t state = test_seed();
    const size_t count = side * side;
    x.a = malloc(count * sizeof *x.a);
    x.b = malloc(count * sizeof *x.b);
    x.d = calloc(count, sizeof *x.d);
    x.limit = malloc(count * sizeof *x.limit);
    x.fragment_a = calloc(FRAGMENTS * M * K, sizeof *x.fragment_a);
    x.fragment_b = calloc(FRAGMENTS * K * N, sizeof *x.fragment_b);
    x.fragment_d = calloc(FRAGMENTS * M * N, sizeof *x.fragment_d);
    ck_assert(x.a && x.b && x.d && x.limit && x.fragment_a && x.fragment_b &&
              x.fragment_d);
    for (size_t i = 0; i < count; i++) { /* 1 to 2, with a random sign */
        x.a[i] = 0x3f800000 | ((uint32_t)test_bits(&state) & 0x807fffff);
        x.b[i] = 0x3f800000 | ((uint32_t)test_bits(&state) & 0x807fffff);
    }
    bitcut_gemm_init(&x.gemm, sizeof x.gemm);
    ck_assert_int_eq(bitcut_gemm_read(&x.gemm, "ootomo@h100", NULL), BITCUT_OK);
    x.gemm.m = x.gemm.n = x.gemm.k = side;
    x.gemm.a.at = x.a;
    x.gemm.b.at = x.b;
    x.gemm.d.to = x.d;
}

static enum bitcut_status run_gemm(char *why)
{
    return bitcut_gemm(NULL, &x.gemm, 1, why);
}

static enum bitcut_status run_verify(char *why)
{
    struct bitcut_difference found = { .size = sizeof found };
    return bitcut_gemm_verify(&found, NULL, &x.gemm, 1, why);
}

static enum bitcut_status run_judge(char *why)
{
    double value;
    return bitcut_gemm_judge(&value, 1, &x.gemm, 0, 1, why);
}

static enum bitcut_status run_mma(char *why)
{
    strcpy(why, "stopped");
    return bitcut_mma(x.fragment_d, x.gemm.unit, FRAGMENTS, M, N, K, x.fragment_a,
                      x.fragment_b, x.fragment_d, 1);
}

static enum bitcut_status run_exact(char *why)
{
    const size_t side = x.gemm.m;
    strcpy(why, "stopped");
    return bitcut_exact_gemm(x.d, NULL, side, side, side, x.a, x.b, 1);
}

static enum bitcut_status run_budget(char *why)
{
    struct bitcut_part part;
    return bitcut_budget(&part, 1, &x.gemm, 0, 1, why);
}

static enum bitcut_status run_bound(char *why)
{
    return bitcut_bound(x.limit, &x.gemm, 0, NULL, 1, why);
}

static enum bitcut_status run_running(char *why)
{
    return bitcut_bound(x.limit, &x.gemm, 0, "running", 1, why);
}

static enum bitcut_status run_tolerance(char *why)
{
    struct bitcut_tolerances t = { .size = sizeof t };
    return bitcut_tolerance(&t, &x.gemm, NULL, 1, why);
}

static enum bitcut_status run_advise(char *why)
{
    struct bitcut_gemm any = x.gemm;
    any.recipe = NULL;
    any.unit = NULL;
    return bitcut_advise(NULL, NULL, &any, NULL, 1, why);
}

/* Says what it has found by then, which is not all. */
static enum bitcut_status run_explain(char *why)
{
    struct bitcut_explanation e = { .size = sizeof e };
    struct bitcut_gemm any = x.gemm;
    any.recipe = NULL;
    any.unit = NULL;
    const enum bitcut_status status = bitcut_explain(&e, NULL, &any, NULL, 1, why);
    if (status != BITCUT_OK || e.complete) return status;
    strcpy(why, "stopped");
    return BITCUT_UNSUPPORTED;
}

static enum bitcut_status run_fit(char *why)
{
    const struct bitcut_recording r = { .size = sizeof r,
                                        .unit = x.gemm.unit,
                                        .count = FRAGMENTS,
                                        .m = M,
                                        .n = N,
                                        .k = K,
                                        .a = x.fragment_a,
                                        .b = x.fragment_b,
                                        .c = x.fragment_d,
                                        .d = x.fragment_d };
    return bitcut_fit(NULL, NULL, &r, 1, why);
}

static enum bitcut_status run_split(char *why)
{
    double values[256];
    return bitcut_split_measure(values, 1, bitcut_split_find("bitcut-gradual"), NULL,
                                -127, 127, NULL, 0, 1, why);
}

static const struct {
    const char *name;
    enum bitcut_status (*run)(char *why);
} calls[] = {
    { "gemm", run_gemm },     { "verify", run_verify },   { "judge", run_judge },
    { "mma", run_mma },       { "exact", run_exact },     { "budget", run_budget },
    { "bound", run_bound },   { "running", run_running }, { "tolerance", run_tolerance },
    { "advise", run_advise }, { "explain", run_explain }, { "fit", run_fit },
    { "split", run_split },
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void must_stop(int i)
{
    char why[BITCUT_TEXT_MAX] = "";
    const enum bitcut_status status = calls[i].run(why);
    ck_assert_msg(status == BITCUT_UNSUPPORTED, "%s: status %d", calls[i].name, status);
    ck_assert_msg(!strcmp(why, "stopped"), "%s: %s", calls[i].name, why);
}

START_TEST(at_first)
{
    set_up(SIDE);
    stop = 1;
    ck_assert(!bitcut_stop_on(&stop));
    for (int i = 0; i < CALLS; i++) must_stop(i);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) ck_assert(!x.d[i]);
}
END_TEST

static void on_alarm(int number)
{
    (void)number;
    stop = 1;
}

START_TEST(while_running)
{
    const struct itimerval soon = { .it_value = { .tv_usec = 5000 } };
    set_up(SIDE);
    ck_assert(!sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, NULL));
    bitcut_stop_on(&stop);
    for (int i = 0; i < CALLS; i++) {
        stop = 0;
        ck_assert(!setitimer(ITIMER_REAL, &soon, NULL));
        must_stop(i);
    }
}
END_TEST

static void *run_elsewhere(void *to)
{
    *(enum bitcut_status *)to = run_gemm(NULL);
    return NULL;
}

START_TEST(of_this_thread)
{
    enum bitcut_status status = BITCUT_NO_MEMORY;
    pthread_t thread;
    set_up(16);
    stop = 1;
    bitcut_stop_on(&stop);
    ck_assert_int_eq(run_gemm(NULL), BITCUT_UNSUPPORTED);
    ck_assert(!pthread_create(&thread, NULL, run_elsewhere, &status));
    ck_assert(!pthread_join(thread, NULL));
    ck_assert_int_eq(status, BITCUT_OK);
    ck_assert(bitcut_stop_on(NULL) == &stop);
    ck_assert_int_eq(run_gemm(NULL), BITCUT_OK);
}
END_TEST

TEST_MAIN("stop", at_first, while_running, of_this_thread)
