/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_NOCTTY, fdopen() */

#include "lib/io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The type of the file is checked before it is opened, because opening some devices has
   an effect, and again after it, because the name may mean another file by then.
   O_NONBLOCK: opening a pipe does not wait. */
int file_open(uint64_t *size, const char *path, struct fault *f)
{
    struct stat about;
    int file = -1;
    bool known = stat(path, &about) == 0;
    if (known && S_ISREG(about.st_mode)) {
        file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        known = file >= 0 && fstat(file, &about) == 0;
    }
    if (known && S_ISREG(about.st_mode)) {
        *size = (uint64_t)about.st_size;
        return file;
    }
    fault_set(f, BITCUT_UNSUPPORTED, "%s",
              known ? "not a regular file" : strerror(errno));
    if (file >= 0) close(file);
    return -1;
}

enum bitcut_status stream_open(struct stream *s, const char *path, struct fault *f)
{
    uint64_t size;
    const int descriptor = file_open(&size, path, f);
    if (descriptor < 0) return BITCUT_UNSUPPORTED;
    FILE *file = fdopen(descriptor, "rb");
    if (!file) {
        close(descriptor);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a stream");
    }
    *s = (struct stream){ .file = file, .size = size };
    return BITCUT_OK;
}

enum bitcut_status stream_open_memory(struct stream *s, const void *bytes, size_t size,
                                      struct fault *f)
{
    /* Only read, although the prototype of fmemopen() does not say so. */
    FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "rb");
    if (!file) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a stream");
    *s = (struct stream){ .file = file, .size = size };
    return BITCUT_OK;
}

void stream_close(struct stream *s)
{
    fclose(s->file);
    *s = (struct stream){ 0 };
}

enum bitcut_status stream_read(void *to, size_t size, struct stream *s, struct fault *f)
{
    if (s->read) return s->read(to, size, s->context, f);
    return fread(to, 1, size, s->file) == size ? BITCUT_OK : stream_fault(s, f);
}

enum bitcut_status stream_seek(struct stream *s, uint64_t at, struct fault *f)
{
    if (at > s->size) return fault_set(f, BITCUT_BAD_FILE, "the file is truncated");
    if (fseeko(s->file, (off_t)at, SEEK_SET) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", strerror(errno));
}

/* Read all of a stream, from its beginning. */
static enum bitcut_status read_all(char **bytes, struct stream *s, size_t most,
                                   struct fault *f)
{
    if (s->size > most)
        return fault_set(f, BITCUT_BAD_FILE, "the file is larger than %zu bytes", most);
    char *all = memory_allocate((size_t)s->size, 1);
    if (!all) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    const enum bitcut_status status = stream_read(all, (size_t)s->size, s, f);
    if (status == BITCUT_OK) *bytes = all;
    else free(all);
    return status;
}

enum bitcut_status stream_read_file(char **bytes, size_t *size, const char *path,
                                    size_t most, struct fault *f)
{
    struct stream s;
    enum bitcut_status status = stream_open(&s, path, f);
    if (status != BITCUT_OK) return status;
    status = read_all(bytes, &s, most, f);
    if (status == BITCUT_OK) *size = (size_t)s.size;
    stream_close(&s);
    return status;
}

enum bitcut_status stream_fault(const struct stream *s, struct fault *f)
{
    if (ferror(s->file)) return fault_set(f, BITCUT_UNSUPPORTED, "%s", strerror(errno));
    return fault_set(f, BITCUT_BAD_FILE, "the file is truncated");
}
