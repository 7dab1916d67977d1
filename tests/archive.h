/* SPDX-License-Identifier: BSD-3-Clause */
/* Zip archives made in memory, for tests of their readers. */
#ifndef BITCUT_TESTS_ARCHIVE_H
#define BITCUT_TESTS_ARCHIVE_H

#include "tests/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { ARCHIVE_MAX = 1 << 17, ARCHIVE_DIRECTORY_MAX = 1 << 13 };

struct archive {
    unsigned char bytes[ARCHIVE_MAX], directory[ARCHIVE_DIRECTORY_MAX];
    size_t size, directory_size, directory_at, end_at;
    int count;
    bool wide; /* sizes and offsets have 64 bits, in extra fields */
};

static inline struct archive *archive_make(bool wide)
{
    struct archive *const a = calloc(1, sizeof *a);
    ck_assert(a != NULL);
    a->wide = wide;
    return a;
}

static inline void archive_put(unsigned char *to, size_t *at, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++) to[(*at)++] = (unsigned char)(x >> 8 * i);
}

/* Deflate without a header.  Returns the number of bytes. */
static inline size_t archive_deflate(unsigned char *to, size_t room, const void *from,
                                     size_t size)
{
    z_stream z = { 0 };
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)from;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static inline void archive_add(struct archive *a, const char *name, const void *data,
                               size_t size, bool deflated)
{
    unsigned char *const d = a->directory;
    const size_t length = strlen(name), header = a->size, room = ARCHIVE_MAX - header;
    const uint64_t crc = crc32(0, data, (uInt)size);
    size_t *const n = &a->size, *const m = &a->directory_size;
    size_t packed = size;
    unsigned char *const copy = malloc(size + 1000);
    ck_assert(copy != NULL);
    if (deflated) packed = archive_deflate(copy, size + 1000, data, size);
    else if (size) memcpy(copy, data, size);
    ck_assert(length + packed + 200 < room);
    archive_put(a->bytes, n, 0x04034b50, 4);
    archive_put(a->bytes, n, 45, 2);
    archive_put(a->bytes, n, 0, 2);
    archive_put(a->bytes, n, deflated ? 8 : 0, 2);
    archive_put(a->bytes, n, 0, 4);
    archive_put(a->bytes, n, crc, 4);
    archive_put(a->bytes, n, packed, 4);
    archive_put(a->bytes, n, size, 4);
    archive_put(a->bytes, n, length, 2);
    archive_put(a->bytes, n, 0, 2);
    memcpy(a->bytes + *n, name, length);
    *n += length;
    memcpy(a->bytes + *n, copy, packed);
    *n += packed;
    free(copy);
    ck_assert(*m + length + 100 < ARCHIVE_DIRECTORY_MAX);
    archive_put(d, m, 0x02014b50, 4);
    archive_put(d, m, 45, 2);
    archive_put(d, m, 45, 2);
    archive_put(d, m, 0, 2);
    archive_put(d, m, deflated ? 8 : 0, 2);
    archive_put(d, m, 0, 4);
    archive_put(d, m, crc, 4);
    archive_put(d, m, a->wide ? 0xffffffff : packed, 4);
    archive_put(d, m, a->wide ? 0xffffffff : size, 4);
    archive_put(d, m, length, 2);
    archive_put(d, m, a->wide ? 6 + 28 : 0, 2);
    archive_put(d, m, 0, 8);
    archive_put(d, m, 0, 2);
    archive_put(d, m, a->wide ? 0xffffffff : header, 4);
    memcpy(d + *m, name, length);
    *m += length;
    if (a->wide) {
        archive_put(d, m, 0x7777, 2); /* an extra field of another kind */
        archive_put(d, m, 2, 2);
        archive_put(d, m, 0, 2);
        archive_put(d, m, 1, 2);
        archive_put(d, m, 24, 2);
        archive_put(d, m, size, 8);
        archive_put(d, m, packed, 8);
        archive_put(d, m, header, 8);
    }
    a->count++;
}

/* Append the directory and its end. */
static inline void archive_end(struct archive *a, const char *comment)
{
    size_t *const n = &a->size;
    a->directory_at = *n;
    memcpy(a->bytes + *n, a->directory, a->directory_size);
    *n += a->directory_size;
    const size_t end64 = *n;
    if (a->wide) {
        archive_put(a->bytes, n, 0x06064b50, 4);
        archive_put(a->bytes, n, 44, 8);
        archive_put(a->bytes, n, 45, 2);
        archive_put(a->bytes, n, 45, 2);
        archive_put(a->bytes, n, 0, 8);
        archive_put(a->bytes, n, (uint64_t)a->count, 8);
        archive_put(a->bytes, n, (uint64_t)a->count, 8);
        archive_put(a->bytes, n, a->directory_size, 8);
        archive_put(a->bytes, n, a->directory_at, 8);
        archive_put(a->bytes, n, 0x07064b50, 4);
        archive_put(a->bytes, n, 0, 4);
        archive_put(a->bytes, n, end64, 8);
        archive_put(a->bytes, n, 1, 4);
    }
    a->end_at = *n;
    archive_put(a->bytes, n, 0x06054b50, 4);
    archive_put(a->bytes, n, 0, 4);
    archive_put(a->bytes, n, a->wide ? 0xffff : (uint64_t)a->count, 2);
    archive_put(a->bytes, n, a->wide ? 0xffff : (uint64_t)a->count, 2);
    archive_put(a->bytes, n, a->wide ? 0xffffffff : a->directory_size, 4);
    archive_put(a->bytes, n, a->wide ? 0xffffffff : a->directory_at, 4);
    archive_put(a->bytes, n, strlen(comment), 2);
    memcpy(a->bytes + *n, comment, strlen(comment));
    *n += strlen(comment);
}

#endif
