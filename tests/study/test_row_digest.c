/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of rows: for any change in a file of rows, the wrong line is found. */
#include "analysis/study/row_digest.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "bitcut-study/1";

enum { ROWS = 5, TEXT_MAX = 2048 };

/* Rows like those of studies, with the digest if `digests`: their text and its size. */
static size_t rows_write(char text[TEXT_MAX], bool digests)
{
    size_t size = 0;
    for (int i = 0; i < ROWS; i++) {
        json_t *const row =
            json_pack("{s:s, s:i, s:f, s:n, s:s, s:s}", "study", "figure4", "point", i,
                      "relres", 8.4700678344654141e-8 * (i + 1), "words", "unit",
                      "h100 \"quoted\"", "schema", schema);
        if (digests) row_digest_set(row);
        char *const line = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(17));
        size += (size_t)snprintf(text + size, TEXT_MAX - size, "%s\n", line);
        ck_assert_uint_lt(size, TEXT_MAX);
        free(line);
        json_decref(row);
    }
    return size;
}

static enum bitcut_status check(size_t *line, const char *text, size_t size)
{
    struct fault f;
    return row_digests_check(line, text, size, schema, &f);
}

START_TEST(whole)
{
    char text[TEXT_MAX];
    size_t line, size = rows_write(text, true);
    ck_assert_int_eq(check(&line, text, size), BITCUT_OK);
    ck_assert_int_eq(check(&line, text, size - 1), BITCUT_OK); /* no last end of a line */
    ck_assert_int_eq(check(&line, text, 0), BITCUT_OK);
    size = rows_write(text, false); /* as they were before there were digests */
    ck_assert_int_eq(check(&line, text, size), BITCUT_OK);
}
END_TEST

/* FIPS 180-4 of the bytes in front of the digest, by sha256sum. */
START_TEST(known)
{
    json_t *const row = json_pack("{s:i, s:s}", "a", 1, "schema", schema);
    row_digest_set(row);
    row_digest_set(row); /* not of the digest that is there */
    ck_assert_str_eq(json_string_value(json_object_get(row, "digest")),
                     "45ef4d39f5c2fe1b");
    json_decref(row);
}
END_TEST

static size_t line_of(const char *text, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += text[i] == '\n';
    return line;
}

/* Every bit of every byte but the last, the end of the last line.  Where it is in the end
   of a line, two lines become one. */
START_TEST(flipped_bits)
{
    char text[TEXT_MAX];
    const size_t size = rows_write(text, true);
    for (size_t at = 0; at < size - 1; at++)
        for (int bit = 0; bit < 8; bit++) {
            size_t line;
            text[at] = (char)(text[at] ^ 1 << bit);
            ck_assert_msg(check(&line, text, size) == BITCUT_BAD_FILE,
                          "byte %zu, bit %d: taken", at, bit);
            text[at] = (char)(text[at] ^ 1 << bit);
            ck_assert_uint_eq(line, line_of(text, at));
        }
}
END_TEST

/* Bytes that change at random, lines that are cut, and parts that change places. */
START_TEST(damage)
{
    char text[TEXT_MAX], other[TEXT_MAX];
    uint64_t state = test_seed();
    const size_t size = rows_write(text, true);
    for (int i = 0; i < 4000; i++) {
        const size_t at = (size_t)test_between(&state, 0, (int)size - 40);
        const size_t bytes = (size_t)test_between(&state, 1, 32);
        size_t line, left = size;
        memcpy(other, text, size);
        switch (i % 3) {
        case 0:
            for (size_t b = 0; b < bytes; b++)
                other[at + b] = (char)test_between(&state, 1, 127);
            break;
        case 1:
            memmove(other + at, text + at + bytes, size - at - bytes);
            left -= bytes;
            break;
        case 2: memcpy(other + at, text + test_between(&state, 0, (int)size - 40), bytes);
        }
        if (left == size && !memcmp(other, text, size)) continue;
        ck_assert_msg(check(&line, other, left) == BITCUT_BAD_FILE,
                      "damage %d of %zu bytes at %zu: taken", i % 3, bytes, at);
    }
}
END_TEST

TEST_MAIN("row_digest", whole, known, flipped_bits, damage)
