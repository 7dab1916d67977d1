/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems of tolerances whose matrices are drawn from a family. */
#ifndef BITCUT_TESTS_SAMPLING_DRAWN_PROBLEM_H
#define BITCUT_TESTS_SAMPLING_DRAWN_PROBLEM_H

#include "analysis/sampling/tolerance.h"
#include "lib/input/source.h"
#include "tests/sampling/named_gemm.h"

struct family {
    const char *input;
    size_t k;
    uint64_t seed;
};

static inline enum bitcut_status family_make(struct gemm_data *to, const void *context,
                                             size_t rows, size_t cols, uint64_t run,
                                             struct fault *f)
{
    const struct family *const x = context;
    struct input in;
    *to = (struct gemm_data){ 0 };
    ck_assert_int_eq(input_parse(&in, x->input, f), BITCUT_OK);
    ck_assert_int_eq(
        source_generate(&to->a, &in, INPUT_A, rows, x->k, x->seed + run, 1, f),
        BITCUT_OK);
    return source_generate(&to->b, &in, INPUT_B, x->k, cols, x->seed + run, 1, f);
}

static inline struct tolerance_problem question_of(const struct bitcut_gemm *g,
                                                   const struct family *x, size_t size)
{
    return (struct tolerance_problem){ .gemm = g,
                                       .source = { .make = family_make, .context = x },
                                       .m = size,
                                       .n = size,
                                       .k = x->k,
                                       .runs = 40,
                                       .alarm = 1e-6 };
}

static inline struct tolerance found(const struct tolerance_problem *q, int threads)
{
    struct tolerance t;
    ck_assert_int_eq(tolerance_find(&t, q, threads, NULL, NULL), BITCUT_OK);
    return t;
}

#endif
