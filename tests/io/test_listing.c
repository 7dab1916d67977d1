/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of table rows: every kind of field, independent of the locale. */
#include "lib/io/listing.h"
#include "tests/test.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

struct row {
    const char *name, *what;
    int count;
};

static const struct row rows[] = { { "first", "a row", 3 }, { "empty", "", 0 }, { 0 } };

static void describe(struct field_writer *w, const void *of)
{
    const struct row *row = of;
    write_integer_field(w, "integer", -row->count);
    write_real_field(w, "whole", 448);
    write_real_field(w, "real", 0.1);
    write_real_field(w, "large", 1e300);
    write_flag_field(w, "flag", row->count > 0);
    write_text_field(w, "text", "a b");
    write_text_field(w, "nothing", NULL);
    write_format_field(w, "format", &formats[FORMAT_F16]);
    write_line_field(w, "line", "%dx%d", 2, 3);
    write_list_field(w, "numbers", BITCUT_NUMBERS);
    for (int i = 0; i < row->count; i++) write_item_field(w, "%d", i);
    write_list_field(w, "texts", BITCUT_TEXTS);
    write_item_field(w, "%s=%d", "x", row->count);
}

static const struct bitcut_table table = { "table", "rows", ROWS(rows), describe };

static void fields_check(void)
{
    static const struct {
        const char *name;
        enum bitcut_kind kind;
        const char *first, *empty;
    } want[] = {
        { "integer", BITCUT_NUMBER, "-3", "0" },
        { "whole", BITCUT_NUMBER, "448.0", "448.0" },
        { "real", BITCUT_NUMBER, "0.10000000000000001", "0.10000000000000001" },
        { "large", BITCUT_NUMBER, "1.0000000000000001e+300", "1.0000000000000001e+300" },
        { "flag", BITCUT_BOOL, "true", "false" },
        { "text", BITCUT_TEXT, "a b", "a b" },
        { "nothing", BITCUT_NULL, "", "" },
        { "format", BITCUT_TEXT, "f16", "f16" },
        { "line", BITCUT_TEXT, "2x3", "2x3" },
        { "numbers", BITCUT_NUMBERS, "0\n1\n2\n", "" },
        { "texts", BITCUT_TEXTS, "x=3\n", "x=0\n" },
    };
    const size_t count = sizeof want / sizeof want[0];
    for (int row = 0; row < 2; row++) {
        struct bitcut_field got = { .name = "unchanged" };
        for (size_t i = 0; i < count; i++) {
            ck_assert(bitcut_row_field(&got, &table, &rows[row], i));
            ck_assert_str_eq(got.name, want[i].name);
            ck_assert_int_eq(got.kind, want[i].kind);
            ck_assert_str_eq(got.text, row ? want[i].empty : want[i].first);
        }
        got.name = "unchanged";
        ck_assert(!bitcut_row_field(&got, &table, &rows[row], count));
        ck_assert_str_eq(got.name, "unchanged");
    }
}

START_TEST(kinds)
{
    ck_assert_ptr_eq(bitcut_row_next(&table, NULL), &rows[0]);
    ck_assert_ptr_eq(bitcut_row_next(&table, &rows[0]), &rows[1]);
    ck_assert_ptr_null(bitcut_row_next(&table, &rows[1]));
    ck_assert_str_eq(bitcut_row_name(&rows[0]), "first");
    ck_assert_str_eq(bitcut_row_what(&rows[0]), "a row");
    fields_check();
}
END_TEST

START_TEST(locales)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8" };
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!setlocale(LC_ALL, names[i])) continue;
        any = true;
        fields_check();
    }
    setlocale(LC_ALL, "C");
    if (!any) puts("# no locale with a decimal comma here");
}
END_TEST

/* A text that is too long ends early, whole lines of a list or not. */
static void describe_long(struct field_writer *w, const void *of)
{
    (void)of;
    write_list_field(w, "list", BITCUT_TEXTS);
    for (int i = 0; i < BITCUT_FIELD_MAX; i++) write_item_field(w, "%d", i);
    write_line_field(w, "line", "%*d", 2 * BITCUT_FIELD_MAX, 1);
}

START_TEST(too_long)
{
    const struct bitcut_table longer = { "long", "", ROWS(rows), describe_long };
    struct bitcut_field got;
    for (size_t i = 0; i < 2; i++) {
        ck_assert(bitcut_row_field(&got, &longer, rows, i));
        ck_assert_uint_eq(strlen(got.text), BITCUT_FIELD_MAX - 1);
    }
}
END_TEST

/* Every field of the library's tables has room to spare. */
START_TEST(room)
{
    const struct bitcut_table *t = NULL;
    while ((t = bitcut_table_next(t))) {
        const void *row = NULL;
        struct bitcut_field f;
        while ((row = bitcut_row_next(t, row)))
            for (size_t i = 0; bitcut_row_field(&f, t, row, i); i++)
                ck_assert_msg(strlen(f.text) < BITCUT_FIELD_MAX / 2, "%s: %s",
                              bitcut_row_name(row), f.name);
    }
}
END_TEST

TEST_MAIN("listing", kinds, locales, too_long, room)
