/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets that are lines of a file: read like the same set in a folder, or refused. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/evidence/set.h"
#include "analysis/evidence/set_find.h"
#include "lib/number/rand.h"
#include "tests/scratch.h"

#define UNIT "\"unit\": \"cdna2/mfma.32x32x4_2b.f32.f16\""
#define A    "\"A\": {\"shape\": [2, 1, 4], \"hex\": \"3c004000bc0000013c007bff80000001\"}"
#define B    "\"B\": {\"shape\": [2, 4, 1], \"hex\": \"3c003c003c003c003c003c003c003c00\"}"
#define C    "\"C\": {\"shape\": [2, 1, 1], \"hex\": \"3f800000c0000000\"}"
#define D    "\"D\": {\"shape\": [2, 1, 1], \"hex\": \"0123456789abcdef\"}"
#define ROW  "{" UNIT ", \"what\": \"x\", " A ", " B ", " C ", " D "}"

static void write_lines(const struct scratch *s, const char *text)
{
    scratch_write(s->path, text, strlen(text));
}

START_TEST(lines_are_sets)
{
    const struct scratch s = scratch_make();
    struct found_list list = { 0 };
    struct set set;
    struct fault f;
    char name[80];
    write_lines(&s, "\n" ROW "\n\n" ROW);
    ck_assert_int_eq(set_find(&list, s.path, NULL, &f), BITCUT_OK);
    ck_assert_uint_eq(list.count, 2);
    snprintf(name, sizeof name, "%s:2", s.path);
    ck_assert_str_eq(list.at[0].folder, name);
    snprintf(name, sizeof name, "%s:4", s.path);
    ck_assert_str_eq(list.at[1].folder, name);
    found_clear(&list);
    ck_assert_msg(set_read(&set, name, SET_KNOWN | SET_RECORDED, &f) == BITCUT_OK, "%s",
                  f.text);
    ck_assert_str_eq(set.unit.name, "cdna2/mfma.32x32x4_2b.f32.f16");
    ck_assert_uint_eq(set.shape.count, 2);
    ck_assert_int_eq(set.a.bytes, 2);
    ck_assert_uint_eq(array_get(&set.a, 0), 0x3c00);
    ck_assert_uint_eq(array_get(&set.a, 7), 1);
    ck_assert_uint_eq(array_get(&set.c, 1), 0xc0000000);
    ck_assert_int_eq(set.d.bytes, 4);
    ck_assert_uint_eq(array_get(&set.d, 0), 0x01234567);
    ck_assert_uint_eq(array_get(&set.d, 1), 0x89abcdef);
    ck_assert_str_eq(json_string_value(json_object_get(set.meta, "what")), "x");
    ck_assert(!json_object_get(set.meta, "A") && !json_object_get(set.meta, "D"));
    set_clear(&set);
    scratch_remove(&s);
}
END_TEST

START_TEST(wrong_lines_are_refused)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        { "[1]", "expected a JSON object" },
        { "{", "column 1: string or '}' expected near end of file" },
        { "{}", "missing key \"unit\"" },
        { "{\"unit\": \"none\"}",
          "unknown unit \"none\", and key \"a\" with a format is missing" },
        { "{" UNIT ", " A ", " B ", " C "}", "missing key \"D\"" },
        { "{" UNIT ", " A ", " B ", " C ", \"D\": 1}",
          "\"D\": \"shape\" does not match the number of digits of \"hex\"" },
        { "{" UNIT ", " A ", " B ", " C
          ", \"D\": {\"shape\": [2, 1, 1], \"hex\": \"0123456\"}}",
          "\"D\": \"shape\" does not match the number of digits of \"hex\"" },
        { "{" UNIT ", " A ", " B ", " C ", \"D\": {\"shape\": [99999999999, 9999999999], "
          "\"hex\": \"0123456701234567\"}}",
          "\"D\": \"shape\" does not match the number of digits of \"hex\"" },
        { "{" UNIT ", " A ", " B ", " C
          ", \"D\": {\"shape\": [2, 1, 1], \"hex\": \"0123456x01234567\"}}",
          "\"D\": \"hex\" contains a character that is not a hexadecimal digit" },
    };
    const struct scratch s = scratch_make();
    char name[80];
    snprintf(name, sizeof name, "%s:1", s.path);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct set set;
        struct fault f;
        write_lines(&s, wrong[i].text);
        ck_assert_int_eq(set_read(&set, name, SET_RECORDED, &f), BITCUT_BAD_FILE);
        ck_assert_str_eq(f.text, wrong[i].why);
    }
    scratch_remove(&s);
}
END_TEST

START_TEST(lines_that_are_not_there)
{
    const struct scratch s = scratch_make();
    struct set set;
    struct fault f;
    struct found_list list = { 0 };
    char name[80];
    write_lines(&s, ROW);
    snprintf(name, sizeof name, "%s:2", s.path);
    ck_assert_int_eq(set_read(&set, name, SET_RECORDED, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, "the file does not have this line");
    write_lines(&s, "\n\n");
    ck_assert_int_eq(set_find(&list, s.path, NULL, &f), BITCUT_OK);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.at[0].fault.text, "the file is empty");
    found_clear(&list);
    write_lines(&s, "\na\nb\n");
    ck_assert_int_eq(set_find(&list, s.path, NULL, &f), BITCUT_OK);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.at[0].folder, s.path);
    ck_assert_str_eq(list.at[0].fault.text,
                     "not a folder with meta.json, and line 2 is not a JSON object");
    found_clear(&list);
    scratch_remove(&s);
}
END_TEST

/* Any bytes are a set or are refused with a reason. */
START_TEST(damaged_lines)
{
    enum { TRIES = 4000 };
    const uint64_t seed = 17;
    const struct scratch s = scratch_make();
    int read = 0;
    char name[80];
    snprintf(name, sizeof name, "%s:1", s.path);
    printf("# seed %llu\n", (unsigned long long)seed);
    struct rng rng = rng_start(seed, 0);
    for (int i = 0; i < TRIES; i++) {
        char text[] = ROW;
        struct set set;
        struct fault f = { 0 };
        for (int n = 1 + (int)(rng_bits(&rng) % 3); n > 0; n--) {
            const size_t at = rng_bits(&rng) % (sizeof text - 1);
            text[at] = (char)(32 + rng_bits(&rng) % 95);
        }
        scratch_write(s.path, text, sizeof text - 1);
        if (set_read(&set, name, 0, &f) == BITCUT_OK) {
            read++;
            set_clear(&set);
        } else {
            ck_assert(f.text[0]);
        }
    }
    ck_assert(read > 0 && read < TRIES);
    scratch_remove(&s);
}
END_TEST

TEST_MAIN("set_line", lines_are_sets, wrong_lines_are_refused, lines_that_are_not_there,
          damaged_lines)
