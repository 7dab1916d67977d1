/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/zip.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Fixed parts of records, and their signatures. */
enum { END_BYTES = 22, LOCATOR_BYTES = 20, END64_BYTES = 56, COMMENT_MAX = 0xffff };
enum { ENTRY_BYTES = 46, LOCAL_BYTES = 30, EXTRA_BYTES = 4, EXTRA_ZIP64 = 1 };
enum { END = 0x06054b50, LOCATOR = 0x07064b50, END64 = 0x06064b50 };
enum { ENTRY = 0x02014b50, LOCAL = 0x04034b50 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1, DEFLATE_RATIO = 1032, NAME_QUOTED = 40 };

static uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t x = 0;
    while (bytes-- > 0) x = x << 8 | at[bytes];
    return x;
}

static enum bitcut_status bad(struct fault *f, const char *what)
{
    return fault_set(f, BITCUT_BAD_FILE, "zip archive: %s", what);
}

static enum bitcut_status bad_entry(struct fault *f, const struct zip_entry *e,
                                    const char *what)
{
    const int length = e->name_length < NAME_QUOTED ? (int)e->name_length : NAME_QUOTED;
    return fault_set(f, BITCUT_BAD_FILE, "zip member '%.*s': %s", length, e->name, what);
}

/* --- the end of the directory ----------------------------------------------------- */

static enum bitcut_status read_at(void *to, size_t size, struct stream *s, uint64_t at,
                                  struct fault *f)
{
    const enum bitcut_status status = stream_seek(s, at, f);
    return status ? status : stream_read(to, size, s, f);
}

/* What the end says of the directory. */
struct end {
    uint64_t at; /* of this record */
    uint64_t entries, here, bytes, first, disk;
};

/* Find the last end record, which a comment may follow, in the last bytes of the file. */
static enum bitcut_status end_find(unsigned char end[END_BYTES], uint64_t *at,
                                   struct stream *s, struct fault *f)
{
    const size_t most = END_BYTES + COMMENT_MAX;
    const size_t size = s->size < most ? (size_t)s->size : most;
    if (size < END_BYTES) return bad(f, "the file is truncated");
    unsigned char *tail = memory_allocate(size, 1);
    if (!tail) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = read_at(tail, size, s, s->size - size, f);
    size_t i = size - END_BYTES + 1;
    while (!status && i-- > 0)
        if (little(tail + i, 4) == END &&
            little(tail + i + 20, 2) == size - END_BYTES - i)
            break;
    if (!status && i == SIZE_MAX)
        status = bad(f, "no directory at its end; the file is truncated");
    if (!status) {
        memcpy(end, tail + i, END_BYTES);
        *at = s->size - size + i;
    }
    free(tail);
    return status;
}

/* The same numbers with 64 bits, if the archive has them. */
static enum bitcut_status end64_read(struct end *e, struct stream *s, struct fault *f)
{
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    if (e->at < LOCATOR_BYTES) return BITCUT_OK;
    enum bitcut_status status =
        read_at(locator, sizeof locator, s, e->at - LOCATOR_BYTES, f);
    if (status || little(locator, 4) != LOCATOR) return status;
    const uint64_t at = little(locator + 8, 8);
    if (at > e->at - LOCATOR_BYTES || e->at - LOCATOR_BYTES - at < END64_BYTES)
        return bad(f, "the end of its directory lies outside the file");
    status = read_at(end, sizeof end, s, at, f);
    if (status) return status;
    if (little(end, 4) != END64) return bad(f, "no 64-bit end of its directory");
    *e = (struct end){ .at = at,
                       .disk = little(end + 16, 4) | little(end + 20, 4),
                       .here = little(end + 24, 8),
                       .entries = little(end + 32, 8),
                       .bytes = little(end + 40, 8),
                       .first = little(end + 48, 8) };
    return BITCUT_OK;
}

static enum bitcut_status end_read(struct end *e, struct stream *s, struct fault *f)
{
    unsigned char end[END_BYTES];
    uint64_t at = 0;
    enum bitcut_status status = end_find(end, &at, s, f);
    if (status) return status;
    *e = (struct end){ .at = at,
                       .disk = little(end + 4, 2) | little(end + 6, 2),
                       .here = little(end + 8, 2),
                       .entries = little(end + 10, 2),
                       .bytes = little(end + 12, 4),
                       .first = little(end + 16, 4) };
    status = end64_read(e, s, f);
    if (status) return status;
    if (e->disk || e->here != e->entries) return bad(f, "it has several disks");
    if (e->first > e->at || e->bytes > e->at - e->first ||
        e->entries > e->bytes / ENTRY_BYTES)
        return bad(f, "its directory lies outside the file");
    return BITCUT_OK;
}

/* --- entries ---------------------------------------------------------------------- */

/* The bytes of an entry's name, extra field and comment. */
static size_t entry_more(const unsigned char *at)
{
    return (size_t)(little(at + 28, 2) + little(at + 30, 2) + little(at + 32, 2));
}

/* Numbers that do not fit 32 bits are in the extra field 1, in this order. */
static bool wide_read(struct zip_entry *e, const unsigned char *extra, size_t bytes)
{
    uint64_t *const wide[] = { &e->size, &e->packed, &e->header };
    while (bytes >= EXTRA_BYTES) {
        size_t left = (size_t)little(extra + 2, 2);
        const uint64_t id = little(extra, 2);
        extra += EXTRA_BYTES, bytes -= EXTRA_BYTES;
        if (left > bytes) return false;
        for (int i = 0; i < 3 && id == EXTRA_ZIP64; i++) {
            if (*wide[i] != UINT32_MAX) continue;
            if (left < 8) return false;
            *wide[i] = little(extra, 8);
            extra += 8, bytes -= 8, left -= 8;
        }
        if (id == EXTRA_ZIP64) return true;
        extra += left, bytes -= left;
    }
    return e->size != UINT32_MAX && e->packed != UINT32_MAX && e->header != UINT32_MAX;
}

/* Take apart an entry.  False if its extra field is malformed. */
static bool entry_parse(struct zip_entry *e, const unsigned char *at)
{
    *e = (struct zip_entry){ .name = (const char *)at + ENTRY_BYTES,
                             .name_length = (size_t)little(at + 28, 2),
                             .method = (unsigned)little(at + 10, 2),
                             .crc = (uint32_t)little(at + 16, 4),
                             .packed = little(at + 20, 4),
                             .size = little(at + 24, 4),
                             .header = little(at + 42, 4) };
    return wide_read(e, at + ENTRY_BYTES + e->name_length, (size_t)little(at + 30, 2));
}

/* Why a member cannot be read, or NULL. */
static const char *entry_fault(const struct zip_entry *e, unsigned flags,
                               const struct zip *z)
{
    if (!e->name_length || memchr(e->name, 0, e->name_length)) return "bad name";
    if (flags & ENCRYPTED) return "it is encrypted";
    if (e->method != STORED && e->method != DEFLATED)
        return "unsupported compression; expected stored or deflated";
    if (e->header > z->at || z->at - e->header < LOCAL_BYTES ||
        z->at - e->header - LOCAL_BYTES < e->packed)
        return "it lies outside the file";
    if (e->method == STORED && e->size != e->packed) return "its sizes differ";
    if (e->method == DEFLATED &&
        (e->size / DEFLATE_RATIO > e->packed ||
         (e->size > ZIP_FREE_BYTES && e->size / ZIP_RATIO_MAX > e->packed)))
        return "it claims too many bytes for its compressed size";
    return NULL;
}

/* Check all entries, so that zip_next() need not, and drop what follows them. */
static enum bitcut_status entries_check(struct zip *z, struct fault *f)
{
    const unsigned char *at = z->directory, *const end = at + z->bytes;
    for (size_t i = 0; i < z->count; i++) {
        struct zip_entry e;
        const char *why;
        if (end - at < ENTRY_BYTES || little(at, 4) != ENTRY ||
            (size_t)(end - at) - ENTRY_BYTES < entry_more(at))
            return bad(f, "its directory is malformed");
        if (!entry_parse(&e, at)) return bad_entry(f, &e, "bad extra field");
        why = entry_fault(&e, (unsigned)little(at + 8, 2), z);
        if (why) return bad_entry(f, &e, why);
        at += ENTRY_BYTES + entry_more(at);
    }
    z->bytes = (size_t)(at - z->directory);
    return BITCUT_OK;
}

enum bitcut_status zip_open(struct zip *z, struct stream *s, struct fault *f)
{
    struct end e = { 0 };
    enum bitcut_status status = end_read(&e, s, f);
    if (status) return status;
    struct zip new = { .stream = s,
                       .directory = memory_allocate((size_t)e.bytes, 1),
                       .bytes = (size_t)e.bytes,
                       .at = e.first,
                       .count = (size_t)e.entries };
    if (!new.directory) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    status = read_at(new.directory, new.bytes, s, new.at, f);
    if (!status) status = entries_check(&new, f);
    if (status) zip_close(&new);
    else *z = new;
    return status;
}

void zip_close(struct zip *z)
{
    free(z->directory);
    *z = (struct zip){ 0 };
}

bool zip_next(struct zip_entry *e, size_t *at, const struct zip *z)
{
    const unsigned char *const here = z->directory + *at;
    if (*at == z->bytes) return false;
    entry_parse(e, here);
    *at += ENTRY_BYTES + entry_more(here);
    return true;
}

enum bitcut_status zip_find(struct zip_entry *e, const struct zip *z, const char *name,
                            size_t length, struct fault *f)
{
    struct zip_entry x;
    size_t found = 0;
    for (size_t at = 0; zip_next(&x, &at, z);) {
        if (x.name_length != length || memcmp(x.name, name, length)) continue;
        *e = x;
        found++;
    }
    if (found == 1) return BITCUT_OK;
    x.name = name, x.name_length = length;
    return bad_entry(f, &x, found ? "it occurs twice" : "not in the file");
}

/* --- members ---------------------------------------------------------------------- */

struct member {
    struct stream *from;
    uint64_t packed, left; /* bytes of the file that are not read, and of the member */
    uLong crc, want;
    bool deflated, ended;
    z_stream z;
    unsigned char piece[1 << 14];
};

/* Read from the file what the inflater takes next. */
static enum bitcut_status refill(struct member *m, struct fault *f)
{
    const size_t size = m->packed < sizeof m->piece ? (size_t)m->packed : sizeof m->piece;
    if (m->z.avail_in) return BITCUT_OK;
    const enum bitcut_status status = stream_read(m->piece, size, m->from, f);
    if (status) return status;
    m->packed -= size;
    m->z.next_in = m->piece;
    m->z.avail_in = (uInt)size;
    return BITCUT_OK;
}

/* Inflate at most `size` bytes.  *done: how many. */
static enum bitcut_status inflate_some(size_t *done, unsigned char *to, size_t size,
                                       struct member *m, struct fault *f)
{
    const uInt room = size < 1 << 30 ? (uInt)size : 1 << 30;
    const enum bitcut_status status = refill(m, f);
    if (status) return status;
    m->z.next_out = to;
    m->z.avail_out = room;
    const int result = m->ended ? Z_BUF_ERROR : inflate(&m->z, Z_NO_FLUSH);
    *done = room - m->z.avail_out;
    m->ended |= result == Z_STREAM_END;
    if (result == Z_MEM_ERROR) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (*done || (result == Z_OK && m->packed)) return BITCUT_OK;
    return bad(f, m->ended ? "a member ends too early" : "malformed compressed data");
}

/* Check that the compressed data end with the member, and its checksum. */
static enum bitcut_status end_check(struct member *m, struct fault *f)
{
    unsigned char none;
    while (m->deflated && !m->ended) {
        const enum bitcut_status status = refill(m, f);
        if (status) return status;
        m->z.next_out = &none;
        m->z.avail_out = 0;
        const int result = inflate(&m->z, Z_NO_FLUSH);
        m->ended = result == Z_STREAM_END;
        if (!m->ended && (result != Z_OK || m->z.avail_in || !m->packed))
            return bad(f, "a member is longer than it claims");
    }
    if (m->crc != m->want) return bad(f, "a member's checksum is wrong");
    return BITCUT_OK;
}

static enum bitcut_status member_read(void *to, size_t size, void *context,
                                      struct fault *f)
{
    struct member *const m = context;
    unsigned char *at = to;
    if (size > m->left) return bad(f, "a member is truncated");
    for (size_t done = 0; size; at += done, size -= done) {
        enum bitcut_status status = BITCUT_OK;
        done = size < 1 << 30 ? size : 1 << 30;
        if (m->deflated) status = inflate_some(&done, at, size, m, f);
        else status = stream_read(at, done, m->from, f);
        if (status) return status;
        m->crc = crc32(m->crc, at, (uInt)done);
        m->left -= done;
        if (!m->left) return end_check(m, f);
    }
    return BITCUT_OK;
}

/* Go to the data of a member, after its local header. */
static enum bitcut_status data_seek(const struct zip *z, const struct zip_entry *e,
                                    struct fault *f)
{
    unsigned char local[LOCAL_BYTES];
    enum bitcut_status status = read_at(local, sizeof local, z->stream, e->header, f);
    if (status) return status;
    const uint64_t name = little(local + 26, 2), more = name + little(local + 28, 2);
    if (little(local, 4) != LOCAL || little(local + 8, 2) != e->method ||
        name != e->name_length)
        return bad_entry(f, e, "its header differs from the directory");
    if (z->at - e->header - LOCAL_BYTES - e->packed < more)
        return bad_entry(f, e, "it lies outside the file");
    return stream_seek(z->stream, e->header + LOCAL_BYTES + more, f);
}

enum bitcut_status zip_member_open(struct stream *s, const struct zip *z,
                                   const struct zip_entry *e, struct fault *f)
{
    const enum bitcut_status status = data_seek(z, e, f);
    if (status) return status;
    struct member *const m = calloc(1, sizeof *m);
    if (!m) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    *m = (struct member){ .from = z->stream,
                          .packed = e->packed,
                          .left = e->size,
                          .crc = crc32(0, NULL, 0),
                          .want = e->crc,
                          .deflated = e->method == DEFLATED };
    if (m->deflated && inflateInit2(&m->z, -MAX_WBITS) != Z_OK) {
        free(m);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    }
    *s = (struct stream){ .size = e->size, .read = member_read, .context = m };
    return BITCUT_OK;
}

void zip_member_close(struct stream *s)
{
    struct member *const m = s->context;
    if (m->deflated) inflateEnd(&m->z);
    free(m);
    *s = (struct stream){ 0 };
}
