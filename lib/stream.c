#define _POSIX_C_SOURCE 200809L

#include "lib/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum bitcut_status stream_open(struct stream *s, const char *path, struct fault *f)
{
    struct stat about;
    if (stat(path, &about)) return fault_set(f, BITCUT_CANNOT, "%s", strerror(errno));
    if (!S_ISREG(about.st_mode)) /* before it is opened: opening a pipe would wait */
        return fault_set(f, BITCUT_CANNOT, "not a regular file");
    FILE *file = fopen(path, "rb");
    if (!file) return fault_set(f, BITCUT_CANNOT, "%s", strerror(errno));
    *s = (struct stream){ .file = file, .size = (uint64_t)about.st_size };
    return BITCUT_OK;
}

enum bitcut_status stream_open_memory(struct stream *s, const void *bytes, size_t size,
                                      struct fault *f)
{
    /* Only read, though the prototype of fmemopen() says nothing of that. */
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
    return fread(to, 1, size, s->file) == size ? BITCUT_OK : stream_fault(s, f);
}

enum bitcut_status stream_fault(const struct stream *s, struct fault *f)
{
    if (ferror(s->file)) return fault_set(f, BITCUT_CANNOT, "%s", strerror(errno));
    return fault_set(f, BITCUT_BAD_FILE, "the file ends too early");
}
