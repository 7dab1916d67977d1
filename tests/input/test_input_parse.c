/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of input families and pairs: how they are read, and the messages for invalid
   ones. */
#include "tests/test.h"

#include "lib/input/input.h"

#include <string.h>

static struct input parsed(const char *text)
{
    struct input in;
    struct fault f;
    if (input_parse(&in, text, &f)) ck_abort_msg("\"%s\": %s", text, f.text);
    return in;
}

START_TEST(texts_are_read)
{
    static const struct {
        const char *text, *name;
        double parameter[INPUT_PARAMETERS_MAX];
    } read[] = {
        { "urand", "urand", { -1, 1 } },
        { "urand(0,1)", "urand", { 0, 1 } },
        { "  urand (\t-2.5e-1 , +.5 ) ", "urand", { -0.25, 0.5 } },
        { "urand(7,7)", "urand", { 7, 7 } },
        { "nrand(0,0)", "nrand", { 0, 0 } },
        { "nrand(-1e38,1e37)", "nrand", { -1e38f, 1e37f } },
        { "exp_rand(-126,127)", "exp_rand", { -126, 127 } },
        { "const(0.1)", "const", { 0.1f } },
        { "zeros()", "zeros", { 0 } },
        { "zeros( )", "zeros", { 0 } },
        { "positive", "positive", { 0, 1 } },
        { "llm", "llm", { 0.5, 2.5 } },
        { "spatial", "spatial", { 0.1f } },
        { "randtlr", "randtlr", { 250, 0.5, 0 } },
        { "randtlr(16, 0.25, 1e3)", "randtlr", { 16, 0.25, 1000 } },
        { "gendot(1e30)", "gendot", { 1e30f } },
        { "specials(1000000000)", "specials", { 1e9 } },
    };
    for (size_t k = 0; k < sizeof read / sizeof read[0]; k++) {
        const struct input in = parsed(read[k].text);
        ck_assert_str_eq(in.family->name, read[k].name);
        for (int i = 0; i < INPUT_PARAMETERS_MAX; i++)
            ck_assert_msg(in.parameter[i] == read[k].parameter[i], "%s: %d: %a",
                          read[k].text, i, in.parameter[i]);
    }
    for (const struct input_family *p = inputs; p->name; p++)
        ck_assert_ptr_eq(parsed(p->name).family, p);
}
END_TEST

START_TEST(wrong_texts_are_explained)
{
    /* clang-format off */
    static const struct {
        const char *text, *fault;
    } wrong[] = {
        { "", "unknown input \"\"" },
        { "urnd", "unknown input \"urnd\"; did you mean urand, nrand?" },
        { "Urand", "unknown input \"Urand\"; did you mean urand, nrand?" },
        { "(0,1)", "unknown input \"\"" },
        { "exprand(1,2)",
          "unknown input \"exprand\"; did you mean exp_rand, urand, nrand?" },
        { "urand(1)", "urand takes 2 parameters (a, b), not 1" },
        { "urand()", "urand takes 2 parameters (a, b), not 0" },
        { "urand(1,2,3)", "urand takes 2 parameters (a, b), not 3" },
        { "gendot(1,2)", "gendot takes 1 parameter (condition), not 2" },
        { "zeros(0)", "zeros takes no parameters" },
        { "randtlr(1)", "randtlr takes 3 parameters (tile, decay, diagonal), not 1" },
        { "urand(0,1", "urand: missing ')'" },
        { "urand(", "urand: missing ')'" },
        { "urand(0,1)x", "urand: unexpected text \"x\"" },
        { "urand(0,1))", "urand: unexpected text \")\"" },
        { "urand 0,1", "urand: unexpected text \"0,1\"" },
        { "urand(,1)", "urand: expected a number for a, found \"\"" },
        { "urand(0,)", "urand: expected a number for b, found \"\"" },
        { "urand(0,one)", "urand: expected a number for b, found \"one\"" },
        { "urand(0 1,2)", "urand: expected a number for a, found \"0 1\"" },
        { "urand(0,0x10)", "urand: expected a number for b, found \"0x10\"" },
        { "urand(0,1e)", "urand: expected a number for b, found \"1e\"" },
        { "urand(0,nan)", "urand: b = nan must be within the range of FP32" },
        { "urand(-inf,0)", "urand: a = -inf must be within the range of FP32" },
        { "urand(0,4e38)", "urand: b = 4e38 must be within the range of FP32" },
        { "urand(2, 1)", "urand: a = 2 is greater than b = 1" },
        { "exp_rand(3,-3)", "exp_rand: a = 3 is greater than b = -3" },
        { "exp_rand(-127,0)", "exp_rand: a = -127 must be an integer from -126 to 127" },
        { "exp_rand(0,0.5)", "exp_rand: b = 0.5 must be an integer from -126 to 127" },
        { "ties(-14,15)", "ties: b = 15 must be an integer from -14 to 14" },
        { "nrand(0,-1)", "nrand: sigma = -1 must be a number from 0 to 1e37" },
        { "specials(0)", "specials: n = 0 must be an integer from 1 to 1000000000" },
        { "spatial(0)", "spatial: beta = 0 must be a number from 1e-6 to 1e6" },
        { "cauchy(1)", "cauchy: jitter = 1 must be a number from 0 to 0.9" },
        { "randtlr(0,1,0)", "randtlr: tile = 0 must be an integer from 1 to 1024" },
        { "gendot(1)", "gendot: condition = 1 must be a number from 2 to 1e30" },
        { "gendot(2e30)", "gendot: condition = 2e30 must be a number from 2 to 1e30" },
        { "const(1111111111111111111111111111111111111111111111111111111111111111)",
          "const: expected a number for value, found \"1111111111111111111111111111111111111111\"" },
        { "urand(1\n,2)", "urand: expected a number for a, found \"1?\"" },
    };
    /* clang-format on */
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        struct input in = { .family = NULL };
        struct fault f = { .text = "" };
        const enum bitcut_status status = input_parse(&in, wrong[k].text, &f);
        if (status != BITCUT_BAD_ARGUMENT || strcmp(f.text, wrong[k].fault) || in.family)
            ck_abort_msg("\"%s\": status %d, \"%s\"; want \"%s\"", wrong[k].text,
                         (int)status, f.text, wrong[k].fault);
        ck_assert_int_eq(input_parse(&in, wrong[k].text, NULL), BITCUT_BAD_ARGUMENT);
    }
}
END_TEST

START_TEST(pairs_are_read)
{
    struct input a = { .family = NULL }, b = { .family = NULL };
    struct fault f;
    for (const struct input_pair *p = input_pairs; p->name; p++) {
        if (input_pair_parse(&a, &b, p->name, &f))
            ck_abort_msg("%s: %s", p->name, f.text);
        const struct input want_a = parsed(p->a), want_b = parsed(p->b);
        ck_assert(a.family == want_a.family && b.family == want_b.family);
        for (int i = 0; i < INPUT_PARAMETERS_MAX; i++)
            ck_assert(a.parameter[i] == want_a.parameter[i] &&
                      b.parameter[i] == want_b.parameter[i]);
    }
    ck_assert_int_eq(input_pair_parse(&a, &b, "type5", &f), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text,
                     "unknown pair of inputs \"type5\"; did you mean type1, type2, "
                     "type3, type4?");
}
END_TEST

TEST_MAIN("input_parse", texts_are_read, wrong_texts_are_explained, pairs_are_read)
