/* SPDX-License-Identifier: BSD-3-Clause */
/* Files to read.  They are opened with a known size, and every read is complete or
   refused. */
#ifndef BITCUT_LIB_IO_STREAM_H
#define BITCUT_LIB_IO_STREAM_H

#include "lib/base/status.h"

#include <stdio.h>

/* An open file, or a part of one.  `size` is the number of its bytes when it was opened.
   Readers compare the sizes that a file declares with it before they allocate. */
struct stream {
    FILE *file;
    uint64_t size;
    /* read exactly `size` bytes in place of `file`, such as a compressed part of it;
       NULL: from `file` */
    enum bitcut_status (*read)(void *to, size_t size, void *context, struct fault *f);
    void *context;
};

/* Open the regular file `path` for reading.  Returns a descriptor, and sets *size to the
   number of bytes of the file.  It never waits.  On failure it returns -1, with
   BITCUT_UNSUPPORTED and the reason of the system: the file is missing, unreadable, or a
   folder, pipe or device. */
int file_open(uint64_t *size, const char *path, struct fault *f);

/* The same as a stream; also BITCUT_NO_MEMORY.  *s is set only on success. */
enum bitcut_status stream_open(struct stream *s, const char *path, struct fault *f);

/* The same for `size` bytes of memory, which must outlive the stream.  BITCUT_NO_MEMORY
   is the only failure. */
enum bitcut_status stream_open_memory(struct stream *s, const void *bytes, size_t size,
                                      struct fault *f);
void stream_close(struct stream *s);

/* Read exactly `size` bytes into `to`.  BITCUT_BAD_FILE if the file ends before,
   BITCUT_UNSUPPORTED if the system fails to read it. */
enum bitcut_status stream_read(void *to, size_t size, struct stream *s, struct fault *f);

/* Continue reading at this byte of the file.  BITCUT_BAD_FILE if the file is shorter,
   BITCUT_UNSUPPORTED if the system fails. */
enum bitcut_status stream_seek(struct stream *s, uint64_t at, struct fault *f);

/* Read all of the regular file `path`, which has at most `most` bytes.  *bytes has *size
   bytes; the caller frees it.  Fails as stream_open() and stream_read() do; also
   BITCUT_BAD_FILE if the file is larger, and BITCUT_NO_MEMORY.  Both outputs are set only
   on success. */
enum bitcut_status stream_read_file(char **bytes, size_t *size, const char *path,
                                    size_t most, struct fault *f);

/* The fault of a read that returned fewer bytes than requested, in the words of
   stream_read(). */
enum bitcut_status stream_fault(const struct stream *s, struct fault *f);

#endif
