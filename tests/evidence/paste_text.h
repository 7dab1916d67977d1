/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of pastes for tests.  BITCUT_DATA names the data folder. */
#ifndef BITCUT_TESTS_EVIDENCE_PASTE_TEXT_H
#define BITCUT_TESTS_EVIDENCE_PASTE_TEXT_H

#include "analysis/evidence/paste.h"
#include "lib/io/sha256.h"
#include "lib/io/stream.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

/* --- the recorded paste ----------------------------------------------------------- */

/* The text of a file of data/pastes, which the caller frees. */
static inline char *text_of(const char *name)
{
    const char *data = getenv("BITCUT_DATA");
    char path[4096], *bytes, *text;
    size_t size;
    struct fault f;
    snprintf(path, sizeof path, "%s/pastes/%s", data ? data : "data", name);
    ck_assert_msg(stream_read_file(&bytes, &size, path, PASTE_BYTES_MAX, &f) == BITCUT_OK,
                  "%s: %s", path, f.text);
    text = calloc(size + 1, 1);
    memcpy(text, bytes, size);
    free(bytes);
    return text;
}

static inline struct paste read_text(const char *text)
{
    struct paste p;
    struct fault f = { .text = "" };
    ck_assert_msg(paste_read(&p, text, strlen(text), &f) == BITCUT_OK, "%s", f.text);
    return p;
}

static inline void refused(const char *text, const char *why)
{
    struct paste p;
    struct fault f = { .text = "" };
    ck_assert_msg(paste_read(&p, text, strlen(text), &f) == BITCUT_BAD_FILE,
                  "accepted: %.200s", text);
    ck_assert_msg(strstr(f.text, why) != NULL, "\"%s\" instead of \"%s\"", f.text, why);
}

/* Append a record with its checksum. */
static inline void add_record(char *text, const char *record)
{
    char digest[SHA256_TEXT];
    sha256_of(digest, record, strlen(record));
    snprintf(text + strlen(text), TEXT_MAX - strlen(text), "%s sum=%.8s\n", record, digest);
}

static inline void add_begin(char *text, size_t count)
{
    char record[200];
    snprintf(record, sizeof record, "settle:begin version=1 count=%zu device=test", count);
    *text = 0;
    add_record(text, record);
}

static inline void add_end(char *text, size_t count)
{
    char record[200];
    snprintf(record, sizeof record, "settle:end count=%zu", count);
    add_record(text, record);
}

static inline void write_paste(char text[TEXT_MAX], const struct paste *p)
{
    add_begin(text, p->count);
    for (size_t i = 0; i < p->count; i++) {
        const size_t length = strlen(text);
        paste_write(text + length, TEXT_MAX - length - 1, &p->at[i]);
        strcat(text, "\n");
    }
    add_end(text, p->count);
}

#endif
