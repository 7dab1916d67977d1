/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from the environment: every variable, its errors, and the configuration of a
   call site. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/settings.h"
#include "lib/gemm/recipe.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct run_settings s;

static void clear(void)
{
    char name[SETTING_NAME_MAX];
    for (const struct setting *row = settings; row->name; row++) unsetenv(row->name);
    while (run_setting_unknown(name)) unsetenv(name);
}

/* Read the settings with those and no other variables. */
static enum bitcut_status read_with(const char *name, const char *value, struct fault *f)
{
    clear();
    if (name) setenv(name, value, 1);
    return run_settings_read(&s, f);
}

static void good(const char *name, const char *value)
{
    struct fault f;
    ck_assert_msg(read_with(name, value, &f) == BITCUT_OK, "%s=%s: %s", name, value,
                  f.text);
}

/* The same of what needs a folder. */
static void good_in_folder(const char *name, const char *value)
{
    struct fault f;
    clear();
    setenv("BITCUT_RUN_FOLDER", "/", 1);
    setenv(name, value, 1);
    ck_assert_msg(run_settings_read(&s, &f) == BITCUT_OK, "%s=%s: %s", name, value,
                  f.text);
}

START_TEST(defaults)
{
    good(NULL, NULL);
    ck_assert(s.configuration.original && !s.rules && !s.compares && !s.audits && s.python);
    ck_assert(!s.folder && !s.threads);
    ck_assert_str_eq(s.configuration.line, "original");
    for (const struct setting *row = settings; row->name; row++) { /* "" says nothing */
        good(row->name, "");
        ck_assert(s.configuration.original && !s.rules && !s.compares && !s.audits && s.python &&
                  !s.folder);
    }
}
END_TEST

START_TEST(each)
{
    good("BITCUT_RUN", "legemm@mi210,slices=2");
    ck_assert(!s.configuration.original && s.configuration.gemm.order.slices == 2);
    ck_assert_str_eq(s.configuration.gemm.recipe->name, "legemm");
    ck_assert(strstr(s.configuration.line, "legemm@cdna2/") && strstr(s.configuration.line, ",slices=2"));
    good("BITCUT_RUN", "original");
    ck_assert(s.configuration.original);
    good_in_folder("BITCUT_RUN_AGAINST", "original");
    ck_assert(s.compares && s.against.original && s.configuration.original);
    good_in_folder("BITCUT_RUN_AGAINST", "fp32@fma/f32");
    ck_assert(s.compares && !s.against.original);
    ck_assert_str_eq(s.against.line, "fp32@fma/f32");
    good_in_folder("BITCUT_RUN_AUDIT", "all");
    ck_assert(s.audits && s.percent == RUN_PERCENT_ALL);
    good_in_folder("BITCUT_RUN_AUDIT", "7");
    ck_assert(s.audits && s.percent == 7);
    good("BITCUT_RUN_THREADS", "3");
    ck_assert_int_eq(s.threads, 3);
    good("BITCUT_RUN_SITES", "native");
    ck_assert(!s.python);
    ck_assert(!s.keeps_order && s.configuration.gemm.any_slices);
    good("BITCUT_RUN_ORDER", "kept");
    ck_assert(s.keeps_order && !s.configuration.gemm.any_slices);
    good("BITCUT_RUN_FOLDER",
         "/nowhere/at/all"); /* a call_log says that it is not there */
    ck_assert_str_eq(s.folder, "/nowhere/at/all");
    good("BITCUT_RUN_FOLDER", ".."); /* wherever the program goes */
    ck_assert(s.folder[0] == '/' && !strstr(s.folder, ".."));
    memset(getenv("BITCUT_RUN_FOLDER"), 'x', 2);
    ck_assert_ptr_eq(strstr(s.folder, "xx"), NULL);
}
END_TEST

START_TEST(rules)
{
    good("BITCUT_RUN_RULES", "\n*train.py:*=legemm@mi210\n\nlib[a-m]*=original\n"
                             "x y:*=fp32@fma/f32,tile-k=3\n*=plain@v100");
    ck_assert_int_eq(s.rules, 4);
    ck_assert_str_eq(s.rule[0].pattern, "*train.py:*");
    ck_assert_str_eq(s.rule[2].pattern, "x y:*");
    static const struct {
        const char *site;
        int rule;
    } rows[] = {
        { "/home/me/train.py:12 step", 0 },
        { "/home/me/train.py:12 step < /usr/lib/x.py:3 y", 0 },
        { "liblapack.so.3:sgetrf2_+0x1a", 1 },
        { "libz.so:f+0x1", 3 },
        { "/a/b/lib/x y:1", 2 },
        { "/a/b/liba", 1 },
        { "", 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(run_settings_configuration(&s, rows[i].site, PRECISION_F32) ==
                          &s.rule[rows[i].rule].configuration,
                      "%s: not by rule %d", rows[i].site, rows[i].rule);
    good("BITCUT_RUN_RULES", "a=original");
    for (enum precision p = 0; p < PRECISIONS; p++) {
        ck_assert_ptr_eq(run_settings_configuration(&s, "b", p), &s.configuration);
        ck_assert_ptr_eq(run_settings_configuration(&s, "a", p),
                         &s.rule[0].configuration);
    }
}
END_TEST

static void takes(bool f32, bool f64)
{
    ck_assert(s.takes[PRECISION_F32] == f32 && s.takes[PRECISION_F64] == f64);
}

/* A scheme is for FP64 products, a recipe for FP32 products, the original for both. */
START_TEST(of_precisions)
{
    struct fault f;
    takes((good(NULL, NULL), true), false);
    takes((good("BITCUT_RUN", "plain@h100"), true), false);
    takes((good("BITCUT_RUN_RULES", "*=original"), true), false);
    takes((good("BITCUT_RUN", "ozimmu-h@h100,parts=6"), false), true);
    ck_assert_str_eq(s.configuration.line, "ozimmu-h@hopper/mma.m16n8k32.s32.s8,parts=6");
    ck_assert(run_settings_configuration(&s, "a", PRECISION_F64) == &s.configuration);
    ck_assert(run_settings_configuration(&s, "a", PRECISION_F32)->original);
    takes((good_in_folder("BITCUT_RUN_AGAINST", "fp64@fma/f64"), false), true);
    takes((good_in_folder("BITCUT_RUN_AGAINST", "plain@h100"), true), false);
    good("BITCUT_RUN_RULES", "a=gemmul8@h100\na=plain@h100\nb=plain@h100");
    takes(true, true);
    ck_assert(run_settings_configuration(&s, "a", PRECISION_F64) ==
              &s.rule[0].configuration);
    ck_assert(run_settings_configuration(&s, "a", PRECISION_F32) ==
              &s.rule[1].configuration);
    ck_assert(run_settings_configuration(&s, "b", PRECISION_F64) == &s.configuration);
    ck_assert_int_eq(read_with("BITCUT_RUN", "ozimmu-h@h100,parts=99", &f),
                     BITCUT_BAD_ARGUMENT);
    takes(true, true); /* both complain */
    clear();
    setenv("BITCUT_RUN_FOLDER", "/", 1);
    setenv("BITCUT_RUN_AUDIT", "all", 1);
    setenv("BITCUT_RUN", "ozimmu@h100", 1);
    ck_assert_int_eq(run_settings_read(&s, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text, "BITCUT_RUN_AUDIT audits FP32 products; it cannot be "
                             "combined with a scheme");
}
END_TEST

static const struct {
    const char *name, *value, *why;
} bad[] = {
    { "BITCUT_RUN", "legem@mi210",
      "BITCUT_RUN: unknown recipe \"legem\"; did you mean legemm" },
    { "BITCUT_RUN", "Original", "BITCUT_RUN: expected RECIPE@UNIT" },
    { "BITCUT_RUN_AGAINST", "x", "BITCUT_RUN_AGAINST: expected RECIPE@UNIT" },
    { "BITCUT_RUN_AUDIT", "some", "BITCUT_RUN_AUDIT: expected a whole number" },
    { "BITCUT_RUN_AUDIT", "-1", "BITCUT_RUN_AUDIT: expected a whole number" },
    { "BITCUT_RUN_THREADS", "1234567890", "BITCUT_RUN_THREADS: expected a whole number" },
    { "BITCUT_RUN_SITES", "python",
      "BITCUT_RUN_SITES: expected native, found \"python\"" },
    { "BITCUT_RUN_ORDER", "any", "BITCUT_RUN_ORDER: expected kept, found \"any\"" },
    { "BITCUT_RUN_AUDIT", "5", "BITCUT_RUN_AUDIT requires BITCUT_RUN_FOLDER" },
    { "BITCUT_RUN_AGAINST", "plain@a100",
      "BITCUT_RUN_AGAINST requires BITCUT_RUN_FOLDER" },
    { "BITCUT_RUN_RULE", "original", "BITCUT_RUN_RULE: unknown variable; did you mean " },
    { "BITCUT_RUNS", "original",
      "BITCUT_RUNS: unknown variable; did you mean BITCUT_RUN" },
    { "BITCUT_RUN_RULES", "legemm@mi210", "expected PATTERN=RECIPE@UNIT" },
    { "BITCUT_RUN_RULES", "=legemm@mi210", "expected PATTERN=" },
    { "BITCUT_RUN_RULES", "a=original\nb=legem@mi210", "unknown recipe \"legem\"" },
};

START_TEST(refused)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fault f = { .text = "" };
        ck_assert_msg(read_with(bad[i].name, bad[i].value, &f) == BITCUT_BAD_ARGUMENT,
                      "%s=%s: taken", bad[i].name, bad[i].value);
        ck_assert_msg(strstr(f.text, bad[i].why) != NULL, "%s=%s: says: %s", bad[i].name,
                      bad[i].value, f.text);
        ck_assert_msg(!strncmp(f.text, bad[i].name, strlen(bad[i].name)), "%s", f.text);
    }
}
END_TEST

/* What is wrong does not hide the others: the folder is where that is written down. */
START_TEST(others_taken)
{
    struct fault f;
    clear();
    setenv("BITCUT_RUN", "none", 1);
    setenv("BITCUT_RUN_RULES", "x", 1);
    setenv("BITCUT_RUN_FOLDER", "/", 1);
    setenv("BITCUT_RUN_THREADS", "5", 1);
    ck_assert_int_eq(run_settings_read(&s, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(!strncmp(f.text, "BITCUT_RUN: ", 12), "%s", f.text);
    ck_assert_str_eq(s.folder, "/");
    ck_assert_int_eq(s.threads, 5);
}
END_TEST

/* As many rules as there is room for, and one more; the longest pattern, and one longer.
 */
START_TEST(limits)
{
    static char list[(SETTINGS_RULES_MAX + 1) * 16];
    for (int i = 0; i < SETTINGS_RULES_MAX; i++)
        sprintf(list + strlen(list), "p%d=original\n", i);
    good("BITCUT_RUN_RULES", list);
    ck_assert_int_eq(s.rules, SETTINGS_RULES_MAX);
    strcat(list, "q=original");
    struct fault f;
    ck_assert_int_eq(read_with("BITCUT_RUN_RULES", list, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text, "BITCUT_RUN_RULES: too many rules, or a rule is too long");
    for (int more = 0; more < 2; more++) {
        char rule[PATTERN_MAX + 16];
        memset(rule, '*', sizeof rule);
        strcpy(rule + PATTERN_MAX - 1 + more, "=original");
        ck_assert_int_eq(read_with("BITCUT_RUN_RULES", rule, &f),
                         more ? BITCUT_BAD_ARGUMENT : BITCUT_OK);
    }
    static char endless[2000];
    memset(endless, 'x', sizeof endless - 1);
    endless[3] = '=';
    ck_assert_int_eq(read_with("BITCUT_RUN_RULES", endless, &f), BITCUT_BAD_ARGUMENT);
}
END_TEST

TEST_MAIN("settings", defaults, each, rules, of_precisions, refused, others_taken, limits)
