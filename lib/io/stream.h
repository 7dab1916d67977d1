/* SPDX-License-Identifier: BSD-3-Clause */
/* Files to read: opened, their size known, every read whole or refused. */
#ifndef BITCUT_LIB_IO_STREAM_H
#define BITCUT_LIB_IO_STREAM_H

#include "lib/base/status.h"

#include <stdio.h>

/* An open file.  `size` is how many bytes it had when it was opened: readers hold the
   sizes a file declares against it before they allocate. */
struct stream {
    FILE *file;
    uint64_t size;
};

/* Open the regular file `path` for reading: a descriptor, and how many bytes the file
   has. It never waits.  -1, BITCUT_UNSUPPORTED with the system's reason: it is missing,
   unreadable, or a folder, pipe or device. */
int file_open(uint64_t *size, const char *path, struct fault *f);

/* The same as a stream; BITCUT_NO_MEMORY, too.  *s is set only on success. */
enum bitcut_status stream_open(struct stream *s, const char *path, struct fault *f);

/* The same for `size` bytes of memory, which must outlive the stream.  BITCUT_NO_MEMORY
   is the only failure. */
enum bitcut_status stream_open_memory(struct stream *s, const void *bytes, size_t size,
                                      struct fault *f);
void stream_close(struct stream *s);

/* Read exactly `size` bytes into `to`.  BITCUT_BAD_FILE if the file ends before,
   BITCUT_UNSUPPORTED if the system fails to read it. */
enum bitcut_status stream_read(void *to, size_t size, struct stream *s, struct fault *f);

/* All of the regular file `path`, of at most `most` bytes: *bytes, to be freed, has
   *size. Fails as stream_open() and stream_read(); BITCUT_BAD_FILE also if the file is
   larger, and BITCUT_NO_MEMORY.  Both are set only on success. */
enum bitcut_status stream_read_file(char **bytes, size_t *size, const char *path,
                                    size_t most, struct fault *f);

/* The fault of a read that gave less than was asked for, as stream_read() words it. */
enum bitcut_status stream_fault(const struct stream *s, struct fault *f);

#endif
