/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of what libraries compute: every row is a GEMM that the emulator supports,
   with the parts that it names, and every row marked as measured has a recorded result
   with its recipe and unit.  BITCUT_DATA names the data folder. */
#include "emu/framework.h"
#include "emu/gemm.h"
#include "lib/base/table.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(rows_are_gemms)
{
    for (const struct framework *x = frameworks; x->name; x++) {
        struct gemm_plan plan;
        struct fault f;
        if (!x->unit) continue;
        const struct bitcut_unit *const u = table_find(TABLE(units), x->unit);
        ck_assert_msg(u != NULL, "%s: no unit %s", x->name, x->unit);
        struct bitcut_gemm g = gemm_of(x->recipe, u);
        g.split_a = g.split_b = x->split;
        ck_assert_msg(gemm_plan_on_unit(&plan, &g, &f) == BITCUT_OK, "%s: %s", x->name,
                      f.text);
        ck_assert_msg(!x->split || split_same(&plan.split_a, x->split), "%s: words of %s",
                      x->name, plan.split_a.name);
    }
}
END_TEST

/* The file that a source begins with, and a 0. */
static void file_of(char path[4096], const struct framework *x)
{
    static const char folder[] = "data/";
    const char *const data = getenv("BITCUT_DATA");
    const char *const from = x->source + strlen(folder);
    ck_assert_msg(!strncmp(x->source, folder, strlen(folder)), "%s: no data", x->name);
    snprintf(path, 4096, "%s/%.*s", data ? data : "data", (int)strcspn(from, ";"), from);
}

START_TEST(measured_rows_have_records)
{
    int measured = 0;
    for (const struct framework *x = frameworks; x->name; x++) {
        static char line[1 << 16];
        char path[4096], words[512];
        bool found = false;
        if (x->known != KNOWN_MEASURED) continue;
        file_of(path, x);
        snprintf(words, sizeof words, "\"recipe\":\"%s\",\"unit\":\"%s\"",
                 x->recipe->name, x->unit);
        FILE *const file = fopen(path, "r");
        ck_assert_msg(file != NULL, "%s: %s", x->name, path);
        while (!found && fgets(line, sizeof line, file)) found = strstr(line, words);
        fclose(file);
        ck_assert_msg(found, "%s: %s has no %s", x->name, path, words);
        measured++;
    }
    ck_assert_int_gt(measured, 0);
}
END_TEST

TEST_MAIN("framework", rows_are_gemms, measured_rows_have_records)
