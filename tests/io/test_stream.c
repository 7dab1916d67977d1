/* SPDX-License-Identifier: BSD-3-Clause */
/* Complete reads, or none; and changes of a file after it was opened. */
#define _XOPEN_SOURCE 700

#include "lib/io/stream.h"
#include "tests/scratch.h"

#include <errno.h>
#include <fcntl.h>

START_TEST(sizes_and_bytes)
{
    const struct scratch s = scratch_make();
    struct stream from;
    char got[8];
    scratch_write(s.path, "a\0c\xff", 4);
    for (int file = 0; file < 2; file++) {
        ck_assert_int_eq(file ? stream_open(&from, s.path, NULL)
                              : stream_open_memory(&from, "a\0c\xff", 4, NULL),
                         BITCUT_OK);
        ck_assert_uint_eq(from.size, 4);
        ck_assert_int_eq(stream_read(got, 3, &from, NULL), BITCUT_OK);
        ck_assert_int_eq(memcmp(got, "a\0c", 3), 0);
        ck_assert_int_eq(stream_read(got, 0, &from, NULL), BITCUT_OK);
        ck_assert_int_eq(stream_read(got, 1, &from, NULL), BITCUT_OK);
        ck_assert_int_eq((unsigned char)got[0], 0xff);
        stream_close(&from);
        ck_assert_ptr_null(from.file);
    }
    scratch_remove(&s);
}
END_TEST

START_TEST(nothing)
{
    struct stream from;
    struct fault f;
    char got[1];
    ck_assert_int_eq(stream_open_memory(&from, NULL, 0, NULL), BITCUT_OK);
    ck_assert_uint_eq(from.size, 0);
    ck_assert_int_eq(stream_read(got, 1, &from, &f), BITCUT_BAD_FILE);
    stream_close(&from);
}
END_TEST

/* A file that somebody cuts short after it was opened. */
START_TEST(shrunk)
{
    const struct scratch s = scratch_make();
    struct stream from;
    struct fault f;
    char got[4];
    scratch_write(s.path, "1234", 4);
    ck_assert_int_eq(stream_open(&from, s.path, NULL), BITCUT_OK);
    ck_assert_int_eq(truncate(s.path, 2), 0);
    ck_assert_int_eq(stream_read(got, 4, &from, &f), BITCUT_BAD_FILE);
    ck_assert_str_eq(f.text, "the file is truncated");
    stream_close(&from);
    scratch_remove(&s);
}
END_TEST

/* A read that the system refuses: the descriptor has become that of a folder. */
START_TEST(refused)
{
    const struct scratch s = scratch_make();
    struct stream from;
    struct fault f;
    char got[4];
    scratch_write(s.path, "1234", 4);
    ck_assert_int_eq(stream_open(&from, s.path, NULL), BITCUT_OK);
    const int folder = open(s.folder, O_RDONLY);
    ck_assert(folder >= 0 && dup2(folder, fileno(from.file)) >= 0);
    close(folder);
    ck_assert_int_eq(stream_read(got, 4, &from, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, strerror(EISDIR));
    stream_close(&from);
    scratch_remove(&s);
}
END_TEST

/* Whole files, none larger than asked for. */
START_TEST(whole_files)
{
    const struct scratch s = scratch_make();
    struct fault f;
    char *bytes = NULL;
    size_t size = 99;
    scratch_write(s.path, "1\n34", 4);
    ck_assert_int_eq(stream_read_file(&bytes, &size, s.path, 3, &f), BITCUT_BAD_FILE);
    ck_assert_str_eq(f.text, "the file is larger than 3 bytes");
    ck_assert_int_eq(stream_read_file(&bytes, &size, s.folder, 3, &f),
                     BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, "not a regular file");
    ck_assert(!bytes && size == 99);
    ck_assert_int_eq(stream_read_file(&bytes, &size, s.path, 4, &f), BITCUT_OK);
    ck_assert(size == 4 && !memcmp(bytes, "1\n34", 4));
    free(bytes);
    scratch_remove(&s);
}
END_TEST

TEST_MAIN("stream", sizes_and_bytes, nothing, shrunk, refused, whole_files)
