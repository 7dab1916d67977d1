/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of answers and their tables: a table has every member, once and at its offset;
   no key occurs twice; every line prints something. */
#include "analysis/answers/answers.h"
#include "tests/test.h"

#include <string.h>

/* The bytes of a struct that no member of its table has, but for `size` and what aligns. */
static size_t bytes_missing(const struct record *r, const char **behind)
{
    size_t end = sizeof(size_t), missing = 0;
    *behind = "size";
    for (;;) {
        const struct record_field *next = NULL;
        for (const struct record_field *f = r->field; f->name; f++)
            if (f->member && f->offset >= end && (!next || f->offset < next->offset)) next = f;
        const size_t at = next ? next->offset : r->bytes;
        if (at - end >= sizeof(size_t)) return missing + at - end;
        if (!next) return missing;
        *behind = next->member;
        end = next->offset + next->bytes;
    }
}

/* The rows of a table, and those inside of them. */
static void check_rows(const char *name, const struct record_field *rows)
{
    for (const struct record_field *f = rows; f->name; f++) {
        ck_assert_msg(f->what && *f->what && f->unit, "%s: %s says nothing", name, f->name);
        ck_assert_msg(*f->name || f->member || f->of || f->names.rows || f->tell, "%s: a row of nothing",
                      name);
        for (const struct record_field *g = f + 1; g->name; g++)
            ck_assert_msg(!*f->name || strcmp(f->name, g->name), "%s: %s twice", name, f->name);
        if (f->of) check_rows(f->name, f->of);
    }
}

static void check_record(const struct record *r)
{
    const char *behind = "";
    const size_t missing = r->bytes ? bytes_missing(r, &behind) : 0;
    ck_assert_msg(missing == 0, "%s: no row has the %zu bytes behind %s", r->name, missing,
                  behind);
    check_rows(r->name, r->field);
    for (const struct record_field *f = r->field; f->name; f++)
        for (const struct record_field *g = f + 1; g->name; g++)
            ck_assert_msg(!f->member || !g->member || f->offset >= g->offset + g->bytes ||
                              g->offset >= f->offset + f->bytes,
                          "%s: %s lies on %s", r->name, f->member, g->member);
}

START_TEST(members)
{
    for (const struct record *r = answers; r->name; r++) check_record(r);
}
END_TEST

/* As callers without a compiler see it. */
START_TEST(told)
{
    struct bitcut_field f = { .name = "as it was" };
    size_t at = 77, count = 0;
    ck_assert(!bitcut_struct_member(&f, &at, "no struct", 0) && at == 77);
    while (bitcut_struct_member(&f, &at, "bitcut_tolerances", count)) count++;
    ck_assert_uint_ge(count, 30);
    ck_assert(bitcut_struct_member(&f, &at, "bitcut_tolerance_verdict", 5));
    ck_assert_str_eq(f.name, "worst_at");
    ck_assert_str_eq(f.text, "size_t[2]");
    ck_assert_uint_eq(at, offsetof(struct bitcut_tolerance_verdict, worst_at));
}
END_TEST

TEST_MAIN("answers", members, told)
