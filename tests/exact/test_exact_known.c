/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact reference, and MPFR as its own reference, on products and updates computed by
   hand. */
#include "lib/number/fma.h"
#include "tests/exact/exact_problem.h"
#include "tests/test.h"

#include <string.h>

/* Sums known by hand: what MPFR is held to. */
static const struct {
    const char *what;
    size_t k;
    uint32_t a[3], b[3], want32;
    uint64_t want64;
} known[] = {
    /* clang-format off */
    { "empty", 0, { 0 }, { 0 }, 0, 0 },
    { "1 * 1", 1, { 0x3f800000 }, { 0x3f800000 }, 0x3f800000, 0x3ff0000000000000 },
    { "-0 - 0", 2, { 0, 0x80000000 }, { 0x80000000, 0x3f800000 }, 0x80000000,
      0x8000000000000000 },
    { "-0 + 0", 2, { 0, 0 }, { 0x80000000, 0x3f800000 }, 0, 0 },
    { "1 - 1", 2, { 0x3f800000, 0x3f800000 }, { 0x3f800000, 0xbf800000 }, 0, 0 },
    { "1 + 2^-24", 2, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 }, 0x3f800000,
      0x3ff0000010000000 },
    { "1 + 2^-23 + 2^-24", 3, { 0x3f800000, 0x34000000, 0x33800000 },
      { 0x3f800000, 0x3f800000, 0x3f800000 }, 0x3f800002, 0x3ff0000030000000 },
    { "1 + 2^-24 + 2^-298", 3, { 0x3f800000, 0x33800000, 1 },
      { 0x3f800000, 0x3f800000, 1 }, 0x3f800001, 0x3ff0000010000000 },
    { "-1 - 2^-24 + 2^-298", 3, { 0xbf800000, 0xb3800000, 1 },
      { 0x3f800000, 0x3f800000, 1 }, 0xbf800000, 0xbff0000010000000 },
    { "1 + 2^-53", 2, { 0x3f800000, 0x25000000 }, { 0x3f800000, 0x3f800000 }, 0x3f800000,
      0x3ff0000000000000 },
    { "1 + 2^-53 + 2^-149", 3, { 0x3f800000, 0x25000000, 1 },
      { 0x3f800000, 0x3f800000, 0x3f800000 }, 0x3f800000, 0x3ff0000000000001 },
    { "2^-149", 1, { 1 }, { 0x3f800000 }, 1, 0x36a0000000000000 },
    { "2^-150", 1, { 1 }, { 0x3f000000 }, 0, 0x3690000000000000 },
    { "-2^-150", 1, { 0x80000001 }, { 0x3f000000 }, 0x80000000, 0xb690000000000000 },
    { "2^-150 + 2^-298", 2, { 1, 1 }, { 0x3f000000, 1 }, 1, 0x3690000000000000 },
    { "3 * 2^-150", 1, { 3 }, { 0x3f000000 }, 2, 0x36a8000000000000 },
    { "2^-126 - 2^-150", 2, { 0x00800000, 1 }, { 0x3f800000, 0xbf000000 }, 0x00800000,
      0x380fffffe0000000 },
    { "largest", 1, { 0x7f7fffff }, { 0x3f800000 }, 0x7f7fffff, 0x47efffffe0000000 },
    { "2^128 - 2^103", 2, { 0x7f7fffff, 0x73000000 }, { 0x3f800000, 0x3f800000 },
      0x7f800000, 0x47effffff0000000 },
    { "2^128 - 2^103 - 2^-298", 3, { 0x7f7fffff, 0x73000000, 0x80000001 },
      { 0x3f800000, 0x3f800000, 1 }, 0x7f7fffff, 0x47effffff0000000 },
    { "2^254 - 2^254", 2, { 0x7f000000, 0xff000000 }, { 0x7f000000, 0x7f000000 }, 0, 0 },
    { "inf", 2, { 0x7f800000, 0x3f800000 }, { 0x00000001, 0xff7fffff }, 0x7f800000,
      0x7ff0000000000000 },
    { "-inf - inf", 2, { 0x7f800000, 0xff800000 }, { 0xbf800000, 0x7f800000 }, 0xff800000,
      0xfff0000000000000 },
    { "inf - inf", 2, { 0x7f800000, 0x7f800000 }, { 0x3f800000, 0xbf800000 }, 0x7fc00000,
      0x7ff8000000000000 },
    { "inf * 0 + 1", 2, { 0x7f800000, 0x3f800000 }, { 0x80000000, 0x3f800000 },
      0x7fc00000, 0x7ff8000000000000 },
    { "NaN * 0", 1, { 0xffc00001 }, { 0 }, 0x7fc00000, 0x7ff8000000000000 },
    { "signaling NaN + inf", 2, { 0x7f800001, 0x7f800000 }, { 0x3f800000, 0x3f800000 },
      0x7fc00000, 0x7ff8000000000000 },
    /* clang-format on */
};

START_TEST(known_sums)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct problem p;
        problem_init(&p, known[i].what, 1, 1, known[i].k);
        memcpy(p.a, known[i].a, p.k * sizeof *p.a);
        memcpy(p.b, known[i].b, p.k * sizeof *p.b);
        problem_solve(&p);
        if (p.want32[0] != known[i].want32 || p.want64[0] != known[i].want64)
            ck_abort_msg("%s: MPFR says 0x%08" PRIx32 " and 0x%016" PRIx64, known[i].what,
                         p.want32[0], p.want64[0]);
        problem_check_all(&p, 1);
        problem_clear(&p);
    }
}
END_TEST

/* Updates alpha (a[0] b[0] + a[1] b[1]) + beta c known by hand. */
static const struct {
    const char *what;
    uint32_t alpha, a[2], b[2], beta, c, want32;
    uint64_t want64;
} known_updates[] = {
    /* clang-format off */
    { "-2 (3 + 4) + 0.5 * 8", 0xc0000000, { 0x40400000, 0x40800000 }, { 0x3f800000, 0x3f800000 },
      0x3f000000, 0x41000000, 0xc1200000, 0xc024000000000000 },
    /* 3 (1 + 2^-24): 3 times the sum rounded is 3, the product rounded once is not */
    { "3 (1 + 2^-24)", 0x40400000, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 },
      0, 0, 0x40400001, 0x4008000018000000 },
    /* a tie of FP32 that the last factor of C decides */
    { "1 + 2^-24 + 2^-298", F32_ONE, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 },
      1, 1, 0x3f800001, 0x3ff0000010000000 },
    { "1 + 2^-24 - 2^-298", F32_ONE, { 0x3f800000, 0x33800000 }, { 0x3f800000, 0x3f800000 },
      0x80000001, 1, 0x3f800000, 0x3ff0000010000000 },
    { "smallest and largest", 1, { 1, 0 }, { 1, 0 }, 0, 0, 0, 0x2400000000000000 },
    { "2^127 (2^127 2^127)", 0x7f000000, { 0x7f000000, 0 }, { 0x7f000000, 0 }, 0, 0,
      0x7f800000, 0x57c0000000000000 },
    { "2 (2^127 2) - 4 2^127", 0x40000000, { 0x7f000000, 0 }, { 0x40000000, 0 },
      0xc0800000, 0x7f000000, 0, 0 },
    { "cancels", 0x40000000, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0xbf800000, 0x40c00000, 0, 0 },
    { "-0 * 3", 0x80000000, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0, 0x7fc00000, 0x80000000,
      0x8000000000000000 },
    { "-0 * 3, beta = -0", 0x80000000, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0x80000000,
      0x7f800000, 0x80000000, 0x8000000000000000 },
    { "0 * -3", 0, { 0xc0400000, 0 }, { 0x3f800000, 0 }, 0, 0, 0x80000000, 0x8000000000000000 },
    { "-1 * +0", 0xbf800000, { 0, 0 }, { 0, 0 }, 0, 0, 0x80000000, 0x8000000000000000 },
    { "-1 * -0", 0xbf800000, { 0x80000000, 0x80000000 }, { 0, 0 }, 0, 0, 0, 0 },
    { "-0 - 0", 0xbf800000, { 0, 0 }, { 0, 0 }, 0x3f800000, 0x80000000, 0x80000000,
      0x8000000000000000 },
    { "-0 + 0", 0xbf800000, { 0, 0 }, { 0, 0 }, 0x3f800000, 0, 0, 0 },
    { "0 * 3 + 5", 0, { 0x40400000, 0 }, { 0x3f800000, 0 }, 0x3f800000, 0x40a00000, 0x40a00000,
      0x4014000000000000 },
    { "inf * 3", 0x7f800000, { 0xc0400000, 0 }, { 0x3f800000, 0 }, 0, 0, 0xff800000,
      0xfff0000000000000 },
    { "inf * 0", 0x7f800000, { 0, 0 }, { 0, 0 }, 0, 0, 0x7fc00000, 0x7ff8000000000000 },
    { "0 * inf", 0, { 0x7f800000, 0 }, { 0x3f800000, 0x3f800000 }, 0, 0, 0x7fc00000,
      0x7ff8000000000000 },
    { "-2 * inf", 0xc0000000, { 0x7f800000, 0 }, { 0x3f800000, 0 }, 0x3f800000, 0x3f800000,
      0xff800000, 0xfff0000000000000 },
    { "inf - inf", 0x3f800000, { 0x7f800000, 0 }, { 0x3f800000, 0 }, 0xbf800000, 0x7f800000,
      0x7fc00000, 0x7ff8000000000000 },
    { "1 + NaN", 0x3f800000, { 0x3f800000, 0 }, { 0x3f800000, 0 }, 0x3f800000, 0xff800001,
      0x7fc00000, 0x7ff8000000000000 },
    { "NaN * 1", 0x7fc00000, { 0x3f800000, 0 }, { 0x3f800000, 0 }, 0, 0, 0x7fc00000,
      0x7ff8000000000000 },
    { "NaN beta * 0", 0x3f800000, { 0x3f800000, 0 }, { 0x3f800000, 0 }, 0xffc00000, 0,
      0x7fc00000, 0x7ff8000000000000 },
    /* clang-format on */
};

START_TEST(known_alpha_beta)
{
    for (size_t i = 0; i < sizeof known_updates / sizeof known_updates[0]; i++) {
        const struct exact_update u = { known_updates[i].alpha, known_updates[i].beta,
                                        &known_updates[i].c };
        struct problem p;
        problem_init(&p, known_updates[i].what, 1, 1, 2);
        p.update = &u;
        memcpy(p.a, known_updates[i].a, 2 * sizeof *p.a);
        memcpy(p.b, known_updates[i].b, 2 * sizeof *p.b);
        problem_solve(&p);
        if (p.want32[0] != known_updates[i].want32 ||
            p.want64[0] != known_updates[i].want64)
            ck_abort_msg("%s: MPFR says 0x%08" PRIx32 " and 0x%016" PRIx64,
                         known_updates[i].what, p.want32[0], p.want64[0]);
        problem_check_all(&p, 1);
        problem_clear(&p);
    }
}
END_TEST

TEST_MAIN("exact known", known_sums, known_alpha_beta)
