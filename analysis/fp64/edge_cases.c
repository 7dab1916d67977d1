/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/edge_cases.h"

#include "lib/exact/exact64.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"

#include <math.h>

enum { K = 16 };

/* A row of A and a column of B; uniform numbers before a case changes them. */
struct vectors {
    double a[K], b[K];
};

static void scale(struct vectors *x, int a, int b)
{
    for (int p = 0; p < K; p++) {
        x->a[p] = ldexp(x->a[p], a);
        x->b[p] = ldexp(x->b[p], b);
    }
}

static void make_nan(struct vectors *x) { x->a[5] = NAN; }
static void make_infinity(struct vectors *x) { x->a[5] = INFINITY; }

static void make_invalid(struct vectors *x)
{
    x->a[5] = INFINITY;
    x->b[5] = 0;
}

static void make_largest(struct vectors *x)
{
    scale(x, 1023, -300);
    x->a[5] = 0x1.8p1023;
}

static void make_large(struct vectors *x) { scale(x, 975, -300); }
static void make_subnormal(struct vectors *x) { scale(x, -1030, 600); }

/* B is larger where A is subnormal, so that all products count. */
static void make_mixed(struct vectors *x)
{
    scale(x, -1020, 600);
    for (int p = 1; p < K; p += 2) {
        x->a[p] = ldexp(x->a[p], -8);
        x->b[p] = ldexp(x->b[p], 8);
    }
}

static void make_apart(struct vectors *x) { scale(x, 900, -900); }

static const struct edge_case {
    const char *what;
    void (*make)(struct vectors *x);
} cases[EDGE_CASES] = {
    { "NaN in A", make_nan },
    { "infinity in A", make_infinity },
    { "infinity in A times zero in B", make_invalid },
    { "A from 2^1023 on, B near 2^-300", make_largest },
    { "A near 2^975, B near 2^-300", make_large },
    { "subnormal row of A, B near 2^600", make_subnormal },
    { "subnormal beside normal elements of A", make_mixed },
    { "A near 2^900, B near 2^-900", make_apart },
};

static void draw(struct vectors *x)
{
    struct rng r = rng_start(1, 0);
    for (int p = 0; p < K; p++) {
        x->a[p] = 2 * rand_open(rng_bits(&r)) - 1;
        x->b[p] = 2 * rand_open(rng_bits(&r)) - 1;
    }
}

static double loss_of(double d, double high, double low, double magnitude)
{
    if (isfinite(d) && isfinite(high)) return fabs((d - high) - low) / magnitude * 0x1p53;
    return d == high || (isnan(d) && isnan(high)) ? 0 : (double)INFINITY;
}

static enum bitcut_status run(struct edge_result *to, const struct fp64_job *job,
                              const struct vectors *x, struct fault *f)
{
    struct fp64_job one = *job;
    double low, magnitude;
    one.m = one.n = 1;
    one.k = K;
    one.a = x->a, one.b = x->b, one.c = NULL;
    one.d = &to->d;
    enum bitcut_status status = job->scheme->run(&one, f);
    if (status == BITCUT_OK)
        status = exact64_gemm(&to->exact, &low, &magnitude, NULL, NULL, NULL, 1, 1, K,
                              x->a, x->b, f);
    if (status == BITCUT_OK) to->loss = loss_of(to->d, to->exact, low, magnitude);
    return status;
}

enum bitcut_status edge_cases_run(struct edge_result to[EDGE_CASES],
                                  const struct fp64_job *job, struct fault *f)
{
    struct edge_result ordinary;
    struct vectors x;
    struct hostfp saved;
    hostfp_enter(&saved);
    draw(&x);
    enum bitcut_status status = run(&ordinary, job, &x, f);
    for (int i = 0; i < EDGE_CASES && status == BITCUT_OK; i++) {
        draw(&x);
        cases[i].make(&x);
        to[i].what = cases[i].what;
        status = run(&to[i], job, &x, f);
        to[i].correct = to[i].loss <= 1000 * fmax(1, ordinary.loss);
    }
    hostfp_leave(&saved);
    return status;
}

/* clang-format off */
#define OF(place, key, unit, what) RECORD_INNER(struct edge_result, place, key, unit, what)

const struct record_field edge_result_fields[] = {
    OF(what, "case", "", "the row of A and the column of B"),
    OF(d, "d", "", "D of the scheme"),
    OF(exact, "exact", "", "the exact result, rounded once"),
    OF(loss, "loss", "u |A||B|", "distance of D from the exact result; infinite if only one of them is a number"),
    OF(correct, "correct", "", "whether the loss is at most 1000 times that of ordinary numbers, or 1000 u"),
    { 0 }
};
/* clang-format on */
