/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of Python that test by the limits of a tolerance. */
#include "analysis/sampling/python_lines.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/sampling/named_gemm.h"
#include "tests/test.h"

#include <string.h>

START_TEST(lines_of_python)
{
    struct bitcut_gemm g = gemm_named("ootomo", "h100");
    struct tolerance_problem q = { .gemm = &g, .m = 4, .n = 4, .k = 1 << 22 };
    struct tolerance t = { .limits = { .bound = 16,
                                       .limit = 2,
                                       .known = true,
                                       .with_underflow = 4,
                                       .norm_limit = 1,
                                       .norm_known = true,
                                       .slack = 3,
                                       .bound_atol = 1,
                                       .atol = 0.5 },
                           .sums = 0x1p-6 };
    char line[PYTHON_LINES][PYTHON_LINE_MAX];
    ck_assert_int_eq(python_lines(line, &python_libraries[0], &t, &q, true), 4);
    ck_assert_str_eq(line[0], "exact, size = A.astype('f8') @ B.astype('f8'), "
                              "abs(A.astype('f8')) @ abs(B.astype('f8'))");
    /* (2 + 2^-6) 2^-24 = 1.2014e-7, and 0.51 % on top */
    ck_assert_str_eq(line[1],
                     "assert (abs(D.astype('f8') - exact) <= 1.21e-07 * size).all()");
    ck_assert_str_eq(line[3], "np.testing.assert_allclose(D.astype('f8'), exact, rtol=0, "
                              "atol=0.503)");
    /* 4 + 2^-6 with what underflows, which two lines have */
    t.limits.known = t.limits.norm_known = false;
    t.limits.norm_with_underflow = 3;
    t.bound.low.of_a = 1;
    t.bound.from = 0.5;
    ck_assert_int_eq(python_lines(line, &python_libraries[0], &t, &q, true), 6);
    ck_assert_str_eq(line[2], "rest = 1.01 * (a @ small(b, 0.503))");
    ck_assert_str_eq(line[3], "assert (abs(D.astype('f8') - exact) <= 2.41e-07 * size + "
                              "rest).all()");
    ck_assert(strstr(line[4], " <= 1.81e-07 * ") &&
              strstr(line[4], " + np.linalg.norm(rest)"));
    g.alpha = bits_of_float(-2);
    g.beta = F32_ONE;
    q.two = true;
    t.limits.slack = 100;
    ck_assert_int_eq(python_lines(line, &python_libraries[1], &t, &q, false), 2);
    ck_assert_str_eq(line[0], "size = 2 * ((A.double()).abs() @ (B.double()).abs()) + "
                              "(C.double()).abs()");
    ck_assert_str_eq(
        line[1], "assert ((D.double() - D2.double()).abs() <= 9.59e-07 * size).all()");
}
END_TEST

TEST_MAIN("Python lines", lines_of_python)
