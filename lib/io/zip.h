/* SPDX-License-Identifier: BSD-3-Clause */
/* Zip archives: their members as streams.  .npz files and PyTorch's files are such
   archives. */
#ifndef BITCUT_LIB_IO_ZIP_H
#define BITCUT_LIB_IO_ZIP_H

#include "lib/io/stream.h"

/* An open archive.  The stream must outlive it. */
struct zip {
    struct stream *stream;
    unsigned char *directory; /* all entries of the central directory    */
    size_t bytes;             /* of the directory                        */
    uint64_t at;              /* where it begins in the file             */
    size_t count;             /* number of entries                       */
};

/* A member.  Its name is not ended by 0. */
struct zip_entry {
    const char *name;
    size_t name_length;
    unsigned method; /* 0: stored, 8: deflated                       */
    uint32_t crc;
    uint64_t packed, size; /* bytes in the file, and of the member   */
    uint64_t header;       /* where its local header begins          */
};

/* A deflated member of more than ZIP_FREE_BYTES bytes is refused if it has more than
   ZIP_RATIO_MAX times the bytes that it occupies in the file. */
#define ZIP_FREE_BYTES (UINT64_C(1) << 28)
enum { ZIP_RATIO_MAX = 64 };

/* Read the directory of the archive in `s`, a whole file.  Only its entries are kept in
   memory, which the file has.

   BITCUT_BAD_FILE: not a zip archive; one on several disks; an entry that is truncated,
   is encrypted, is compressed otherwise than by deflate, has a name that is empty or has
   a zero byte, or lies outside the file; a deflated member that claims too many bytes,
   see above, or more than deflate can compress, 1032 to 1.  Also the causes of
   stream_read(), and BITCUT_NO_MEMORY.  zip_close() frees the directory.

   Source: PKWARE, .ZIP File Format Specification 6.3.10, sections 4.3 to 4.5. */
enum bitcut_status zip_open(struct zip *z, struct stream *s, struct fault *f);
void zip_close(struct zip *z);

/* Step to the next entry.  *at is 0 at first.  False after the last one. */
bool zip_next(struct zip_entry *e, size_t *at, const struct zip *z);

/* Find the member with this name, of `length` characters.  BITCUT_BAD_FILE if there is
   none or more than one. */
enum bitcut_status zip_find(struct zip_entry *e, const struct zip *z, const char *name,
                            size_t length, struct fault *f);

/* Open a member as a stream, whose size is that of the member.  The last byte is read
   only if the checksum of all bytes is right; otherwise the read returns BITCUT_BAD_FILE.
   While it is open, neither the archive's stream nor another member may be read.
   BITCUT_BAD_FILE if the local header does not fit the directory; BITCUT_NO_MEMORY. */
enum bitcut_status zip_member_open(struct stream *s, const struct zip *z,
                                   const struct zip_entry *e, struct fault *f);
void zip_member_close(struct stream *s);

#endif
