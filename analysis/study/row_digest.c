/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/row_digest.h"

#include "lib/io/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line ends with HEAD, the digits, and TAIL. */
enum { DIGITS = 16 };
static const char head[] = ",\"digest\":\"", tail[] = "\"}";
enum { END = sizeof head - 1 + DIGITS + sizeof tail - 1 };

static void digest_of(char digest[DIGITS + 1], const char *text, size_t size)
{
    char whole[SHA256_TEXT];
    sha256_of(whole, text, size);
    snprintf(digest, DIGITS + 1, "%.*s", DIGITS, whole);
}

void row_digest_set(json_t *row)
{
    char digest[DIGITS + 1];
    json_object_del(row, "digest");
    char *const line = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!line) return;
    digest_of(digest, line, strlen(line) - 1);
    json_object_set_new(row, "digest", json_string(digest));
    free(line);
}

static bool ends_with(const char *line, size_t length, const char *end)
{
    const size_t bytes = strlen(end);
    return length >= bytes && !memcmp(line + length - bytes, end, bytes);
}

static bool is_whole(const char *line, size_t length)
{
    char end[END + 1] = "", digest[DIGITS + 1];
    if (length < END) return false;
    digest_of(digest, line, length - END);
    snprintf(end, sizeof end, "%s%s%s", head, digest, tail);
    return ends_with(line, length, end);
}

enum bitcut_status row_digests_check(size_t *line, const char *text, size_t size,
                                     const char *schema, struct fault *f)
{
    bool any_old = false, any_new = false;
    char old[80];
    snprintf(old, sizeof old, "\"schema\":\"%s\"}", schema);
    for (*line = 0; size;) {
        const char *const end = memchr(text, '\n', size);
        const size_t length = end ? (size_t)(end - text) : size;
        ++*line;
        const bool is_old = ends_with(text, length, old);
        any_old |= is_old;
        any_new |= length && !is_old;
        if ((length && !is_old && !is_whole(text, length)) || (any_old && any_new))
            return fault_set(f, BITCUT_BAD_FILE,
                             "the row was changed (wrong or missing digest); delete the "
                             "line to compute its point again");
        text += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return BITCUT_OK;
}
