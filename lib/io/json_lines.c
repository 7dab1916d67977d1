/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/json_lines.h"

#include "lib/io/stream.h"

#include <stdlib.h>
#include <string.h>

static enum bitcut_status parse_line(const char *at, size_t length,
                                     enum bitcut_status (*take)(void *, json_t *,
                                                                struct fault *),
                                     void *context, struct fault *f)
{
    json_error_t error;
    json_t *row = json_loadb(at, length, JSON_REJECT_DUPLICATES, &error);
    if (row) return take(context, row, f);
    return fault_set(f, BITCUT_BAD_FILE, "%s", error.text);
}

enum bitcut_status json_lines_parse(size_t *line, const void *bytes, size_t size,
                                    enum bitcut_status (*take)(void *, json_t *,
                                                               struct fault *),
                                    void *context, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    const char *at = bytes;
    for (*line = 0; size && status == BITCUT_OK;) {
        const char *end = memchr(at, '\n', size);
        const size_t length = end ? (size_t)(end - at) : size;
        ++*line;
        if (length) status = parse_line(at, length, take, context, f);
        at += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return status;
}

enum bitcut_status json_lines_read(size_t *line, const char *path,
                                   enum bitcut_status (*take)(void *, json_t *,
                                                              struct fault *),
                                   void *context, struct fault *f)
{
    char *bytes;
    size_t size;
    *line = 0;
    enum bitcut_status status = stream_read_file(&bytes, &size, path, JSON_LINES_MAX, f);
    if (status != BITCUT_OK) return status;
    status = json_lines_parse(line, bytes, size, take, context, f);
    free(bytes);
    return status;
}
