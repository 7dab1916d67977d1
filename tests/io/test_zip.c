/* SPDX-License-Identifier: BSD-3-Clause */
/* Zip archives made here, stored and deflated, with 32 and 64 bits, and malformed ones.
 */
#include "lib/io/zip.h"
#include "tests/archive.h"
#include "tests/mutation.h"

static const size_t sizes[] = { 0, 1, 100, 20000, 16384, 16385 };
enum { MEMBERS = sizeof sizes / sizeof sizes[0], DATA_MAX = 20000 };

/* Bytes of a member, which deflate shortens. */
static void data_make(unsigned char *to, size_t size, size_t member)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)(i * i / 7 % 13 + member + (i % 11 == 0) * i);
}

static struct archive *archive_of(bool wide, bool deflated)
{
    static unsigned char data[DATA_MAX];
    struct archive *const a = archive_make(wide);
    for (size_t i = 0; i < MEMBERS; i++) {
        char name[40];
        data_make(data, sizes[i], i);
        snprintf(name, sizeof name, "folder/member %zu", i);
        archive_add(a, name, data, sizes[i], deflated);
    }
    archive_end(a, wide ? "a comment" : "");
    return a;
}

/* Read an archive's member in pieces of random sizes. */
static enum bitcut_status member_read(unsigned char *to, const struct zip *z,
                                      const struct zip_entry *e, uint64_t *state,
                                      struct fault *f)
{
    struct stream s;
    enum bitcut_status status = zip_member_open(&s, z, e, f);
    if (status) return status;
    ck_assert_uint_eq(s.size, e->size);
    for (size_t at = 0, n; at < e->size && !status; at += n) {
        n = 1 + test_bits(state) % 9000;
        if (n > e->size - at) n = e->size - at;
        status = stream_read(to + at, n, &s, f);
    }
    if (!status) ck_assert_int_eq(stream_read(to, 1, &s, f), BITCUT_BAD_FILE);
    zip_member_close(&s);
    return status;
}

START_TEST(members)
{
    static unsigned char want[DATA_MAX], got[DATA_MAX];
    uint64_t state = test_seed();
    for (int kind = 0; kind < 4; kind++) {
        struct archive *const a = archive_of(kind & 1, kind & 2);
        struct stream s;
        struct zip z;
        struct zip_entry e;
        struct fault f = { .text = "" };
        size_t count = 0;
        ck_assert(!stream_open_memory(&s, a->bytes, a->size, NULL));
        ck_assert_msg(!zip_open(&z, &s, &f), "kind %d: %s", kind, f.text);
        for (size_t at = 0; zip_next(&e, &at, &z); count++) {
            ck_assert_uint_eq(e.size, sizes[count]);
            ck_assert_msg(!member_read(got, &z, &e, &state, &f), "kind %d: %s", kind,
                          f.text);
            data_make(want, sizes[count], count);
            ck_assert_int_eq(memcmp(want, got, sizes[count]), 0);
        }
        ck_assert_uint_eq(count, MEMBERS);
        ck_assert(!zip_find(&e, &z, "folder/member 3", 15, &f));
        ck_assert_uint_eq(e.size, sizes[3]);
        ck_assert_int_eq(zip_find(&e, &z, "folder/member 9", 15, &f), BITCUT_BAD_FILE);
        ck_assert_ptr_nonnull(strstr(f.text, "'folder/member 9': not in the file"));
        zip_close(&z);
        stream_close(&s);
        free(a);
    }
}
END_TEST

/* --- malformed archives ----------------------------------------------------------- */

/* Open an archive and read all members. */
static enum bitcut_status read_all(const void *bytes, size_t size, uint64_t *state,
                                   struct fault *f)
{
    struct stream s;
    struct zip z = { .count = 77 };
    struct zip_entry e;
    enum bitcut_status status = stream_open_memory(&s, bytes, size, f);
    ck_assert_int_eq(status, BITCUT_OK);
    status = zip_open(&z, &s, f);
    if (status) ck_assert_uint_eq(z.count, 77);
    for (size_t at = 0; !status && zip_next(&e, &at, &z);) {
        /* what is claimed is bounded by the file */
        ck_assert(e.size <= 1032 * (uint64_t)size + 1031);
        unsigned char *const to = malloc(e.size ? e.size : 1);
        ck_assert(to != NULL);
        status = member_read(to, &z, &e, state, f);
        free(to);
    }
    if (z.count != 77) zip_close(&z);
    stream_close(&s);
    return status;
}

/* Changes of the first entry (E), the last end record (D), the first local header (L),
   each of so many bytes at an offset. */
START_TEST(refusals)
{
    static const struct {
        char where;
        int at, bytes;
        uint64_t value;
        const char *fragment;
    } rows[] = {
        { 'D', 0, 4, 0, "no directory at its end" },
        { 'D', 4, 2, 1, "several disks" },
        { 'D', 6, 2, 1, "several disks" },
        { 'D', 8, 2, 5, "several disks" },
        { 'D', 10, 2, 7, "several disks" },
        { 'D', 8, 4, 0x00070007, "its directory is malformed" },
        { 'D', 8, 4, 0xffffffff, "its directory lies outside the file" },
        { 'D', 12, 4, 0xffffff, "its directory lies outside the file" },
        { 'D', 12, 4, 300, "its directory is malformed" },
        { 'D', 16, 4, 0xffffff, "its directory lies outside the file" },
        { 'D', 16, 4, 1, "its directory is malformed" },
        { 'D', 20, 2, 1, "no directory at its end" },
        { 'E', 0, 4, 0, "its directory is malformed" },
        { 'E', 8, 2, 1, "'folder/member 0': it is encrypted" },
        { 'E', 10, 2, 12, "unsupported compression" },
        { 'E', 10, 2, 0, "its sizes differ" },
        { 'E', 20, 4, 0xffffff, "lies outside the file" },
        { 'E', 20, 4, 0xffffffff, "bad extra field" },
        { 'E', 24, 4, 2064 + 1032, "claims too many bytes" },
        { 'E', 24, 4, 0x7fffffff, "claims too many bytes" },
        { 'E', 28, 2, 0, "bad name" },
        { 'E', 28, 2, 0xffff, "its directory is malformed" },
        { 'E', 30, 2, 0xffff, "its directory is malformed" },
        { 'E', 42, 4, 0xffffff, "lies outside the file" },
        { 'E', 46, 1, 0, "bad name" },
        { 'L', 0, 4, 0, "its header differs" },
        { 'L', 8, 2, 0, "its header differs" },
        { 'L', 26, 2, 3, "its header differs" },
        { 'L', 28, 2, 0xffff, "lies outside the file" },
    };
    uint64_t state = test_seed();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct archive *const a = archive_of(false, true);
        struct fault f = { .text = "" };
        size_t at = (size_t)rows[i].at + (rows[i].where == 'D'   ? a->end_at
                                          : rows[i].where == 'E' ? a->directory_at
                                                                 : 0);
        archive_put(a->bytes, &at, rows[i].value, rows[i].bytes);
        const enum bitcut_status status = read_all(a->bytes, a->size, &state, &f);
        ck_assert_msg(status == BITCUT_BAD_FILE && strstr(f.text, rows[i].fragment),
                      "%c + %d: status %d, got '%s', want '%s'", rows[i].where,
                      rows[i].at, status, f.text, rows[i].fragment);
        free(a);
    }
}
END_TEST

/* One deflated member with another size, checksum or contents than it has. */
START_TEST(contents)
{
    static unsigned char data[DATA_MAX];
    static const struct {
        int at; /* in the entry; -1: in the compressed data */
        int change;
        const char *fragment;
    } rows[] = { { 16, 1, "checksum is wrong" },
                 { 24, 1, "ends too early" },
                 { 24, -1, "longer than it claims" },
                 { -1, 0xff, "zip archive: " } };
    uint64_t state = test_seed();
    data_make(data, sizeof data, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct archive *const a = archive_make(false);
        struct fault f = { .text = "" };
        archive_add(a, "x", data, sizeof data, true);
        archive_end(a, "");
        if (rows[i].at < 0) a->bytes[31 + 50] ^= (unsigned char)rows[i].change;
        else {
            unsigned char *const at = a->bytes + a->directory_at + rows[i].at;
            *at = (unsigned char)(*at + rows[i].change);
        }
        ck_assert_int_eq(read_all(a->bytes, a->size, &state, &f), BITCUT_BAD_FILE);
        ck_assert_msg(strstr(f.text, rows[i].fragment), "row %zu: %s", i, f.text);
        free(a);
    }
}
END_TEST

/* A small file that claims a large member is refused before anything is allocated: more
   than deflate can compress, or more than ZIP_RATIO_MAX to 1 beyond ZIP_FREE_BYTES. */
START_TEST(bombs)
{
    static unsigned char zeros[1 << 20];
    struct archive *const a = archive_make(false);
    struct fault f = { .text = "" };
    struct stream s;
    struct zip z;
    archive_add(a, "x", zeros, sizeof zeros, true);
    archive_end(a, "");
    const size_t packed = a->directory_at - 31;
    const uint64_t claims[] = { packed * 1032 + 1032, 0xfffffffe };
    for (int i = 0; i < 2; i++) {
        size_t at = a->directory_at + 24;
        archive_put(a->bytes, &at, claims[i], 4);
        ck_assert(!stream_open_memory(&s, a->bytes, a->size, NULL));
        ck_assert_int_eq(zip_open(&z, &s, &f), BITCUT_BAD_FILE);
        ck_assert_ptr_nonnull(strstr(f.text, "claims too many bytes"));
        stream_close(&s);
    }
    /* 5 MB that claim 64 times as much and a little more, and exactly as much */
    const uint64_t large = 5 << 20, limit = large * ZIP_RATIO_MAX;
    unsigned char *const file = calloc(1, large + 200);
    ck_assert(file != NULL && limit > ZIP_FREE_BYTES);
    for (int over = 0; over < 2; over++) {
        size_t at = large + 31, end = at + 47;
        memcpy(file + at, a->bytes + a->directory_at, 47);
        memcpy(file + end, a->bytes + a->end_at, 22);
        size_t field = at + 20;
        archive_put(file, &field, large, 4);
        archive_put(file, &field, limit + (over ? 64 : 0), 4);
        field = end + 16;
        archive_put(file, &field, at, 4);
        ck_assert(!stream_open_memory(&s, file, end + 22, NULL));
        ck_assert_int_eq(zip_open(&z, &s, &f), over ? BITCUT_BAD_FILE : BITCUT_OK);
        if (!over) zip_close(&z);
        stream_close(&s);
    }
    free(file);
    free(a);
}
END_TEST

START_TEST(twice)
{
    struct archive *const a = archive_make(false);
    struct fault f = { .text = "" };
    struct stream s;
    struct zip z;
    struct zip_entry e;
    archive_add(a, "same", "1", 1, false);
    archive_add(a, "same", "2", 1, false);
    archive_end(a, "");
    ck_assert(!stream_open_memory(&s, a->bytes, a->size, NULL));
    ck_assert(!zip_open(&z, &s, &f));
    ck_assert_int_eq(zip_find(&e, &z, "same", 4, &f), BITCUT_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(f.text, "it occurs twice"));
    zip_close(&z);
    stream_close(&s);
    free(a);
}
END_TEST

/* An archive without its last bytes is refused. */
START_TEST(cut)
{
    uint64_t state = test_seed();
    struct archive *const a = archive_of(true, true);
    const int step = test_step(17);
    for (size_t size = 1; size < a->size; size += (size_t)step) {
        struct fault f = { .text = "" };
        unsigned char *const exact = malloc(size);
        ck_assert(exact != NULL);
        memcpy(exact, a->bytes, size);
        mutation_refused(read_all(exact, size, &state, &f), &f, "cut", (int)size);
        free(exact);
    }
    free(a);
}
END_TEST

START_TEST(changed)
{
    uint64_t state = test_seed();
    int read = 0;
    const int rounds = test_cases(8000, 400000);
    for (int i = 0; i < rounds; i++) {
        struct archive *const a = archive_make(i & 1);
        struct fault f = { .text = "" };
        size_t size;
        archive_add(a, "one", "some text, some text, some text", 31, i & 2);
        archive_add(a, "two", "a", 1, i & 4);
        archive_end(a, "");
        unsigned char *const file = mutation_make(&size, a->bytes, a->size, &state);
        if (size) {
            const enum bitcut_status status = read_all(file, size, &state, &f);
            if (status) mutation_refused(status, &f, "zip", i);
            read += status == BITCUT_OK;
        }
        free(file);
        free(a);
    }
    printf("# %d of %d changed archives were read\n", read, rounds);
}
END_TEST

TEST_MAIN("zip", members, refusals, contents, bombs, twice, cut, changed)
