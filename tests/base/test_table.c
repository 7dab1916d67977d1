/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of rows, and of pointers to rows. */
#include "lib/base/table.h"
#include "tests/test.h"

struct row {
    const char *name, *what;
    int value;
};

static const struct row rows[] = {
    { "ootomo", "one", 1 }, { "feng", "two", 2 }, { "ozaki", "three", 3 }, { 0 }
};

static const struct row *const pointers[] = { &rows[0], &rows[1], &rows[2], NULL };

enum { TABLES = 2 };

static const struct table tables[TABLES] = { { rows, sizeof rows[0] },
                                             { pointers, sizeof pointers[0] } };

static const struct row none = { 0 };
static const struct row *const no_pointer = NULL;

START_TEST(walked_in_order)
{
    for (int t = 0; t < TABLES; t++) {
        const struct row *row = NULL;
        for (int i = 0; i < 3; i++) {
            row = table_next(tables[t], row);
            ck_assert_ptr_eq(row, &rows[i]);
        }
        ck_assert_ptr_null(table_next(tables[t], row));
    }
}
END_TEST

START_TEST(nothing_in_an_empty_one)
{
    const struct table empty[] = { { &none, sizeof none },
                                   { &no_pointer, sizeof no_pointer } };
    for (int t = 0; t < TABLES; t++) {
        char near[40];
        ck_assert_ptr_null(table_next(empty[t], NULL));
        ck_assert_ptr_null(table_find(empty[t], "feng"));
        table_near(near, sizeof near, empty[t], "feng");
        ck_assert_str_eq(near, "");
    }
}
END_TEST

START_TEST(found_by_name)
{
    for (int t = 0; t < TABLES; t++) {
        ck_assert_ptr_eq(table_find(tables[t], "feng"), &rows[1]);
        ck_assert_ptr_eq(table_find(tables[t], "ozaki"), &rows[2]);
        ck_assert_ptr_null(table_find(tables[t], "Feng"));
        ck_assert_ptr_null(table_find(tables[t], ""));
        ck_assert_ptr_null(table_find(tables[t], NULL));
    }
}
END_TEST

/* The nearest first; as many as there is room for. */
START_TEST(near_names)
{
    static const struct {
        const char *name, *near;
        size_t size;
    } cases[] = { { "FENG", "feng", 40 },       { "otomo", "ootomo", 40 },
                  { "o", "ootomo, ozaki", 40 }, { "o", "", 8 },
                  { "markidis", "", 40 },       { "o", "ootomo", 13 } };
    for (int t = 0; t < TABLES; t++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            char near[40];
            table_near(near, cases[i].size, tables[t], cases[i].name);
            ck_assert_str_eq(near, cases[i].near);
        }
}
END_TEST

TEST_MAIN("table", walked_in_order, nothing_in_an_empty_one, found_by_name, near_names)
