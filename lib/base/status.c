/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/status.h"

#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_texts[] = {
    [BITCUT_OK] = "success",
    [BITCUT_BAD_ARGUMENT] = "invalid argument",
    [BITCUT_BAD_FILE] = "malformed file",
    [BITCUT_UNSUPPORTED] = "unavailable or unsupported file or device",
    [BITCUT_NO_MEMORY] = "not enough memory",
};

const char *bitcut_status_text(enum bitcut_status status)
{
    const size_t known = sizeof status_texts / sizeof status_texts[0];
    return (size_t)status < known ? status_texts[status] : "unknown status";
}

static void fault_fill(struct fault *f, enum bitcut_status status, const char *option,
                       const char *format, va_list arguments)
{
    enum { MOST = sizeof f->text - 1 };
    char text[MOST + 2] = ""; /* one more byte, to see where a character ends */
    vsnprintf(text, sizeof text, format, arguments);
    text[text_fit(text, MOST)] = 0;
    text_clean(text); /* quoted from a hostile file */
    memcpy(f->text, text, strlen(text) + 1);
    f->status = status;
    f->about = option;
}

enum bitcut_status fault_set(struct fault *f, enum bitcut_status status,
                             const char *format, ...)
{
    va_list arguments;
    if (!f) return status;
    va_start(arguments, format);
    fault_fill(f, status, NULL, format, arguments);
    va_end(arguments);
    return status;
}

enum bitcut_status fault_option(struct fault *f, const char *option, const char *format,
                                ...)
{
    va_list arguments;
    if (!f) return BITCUT_BAD_ARGUMENT;
    va_start(arguments, format);
    fault_fill(f, BITCUT_BAD_ARGUMENT, option, format, arguments);
    va_end(arguments);
    return BITCUT_BAD_ARGUMENT;
}

enum bitcut_status fault_about(struct fault *f, const char *option,
                               enum bitcut_status status)
{
    if (f && status != BITCUT_OK && !f->about) f->about = option;
    return status;
}

enum bitcut_status fault_write(char *why, enum bitcut_status status,
                               const struct fault *f)
{
    if (status != BITCUT_OK && why) memcpy(why, f->text, sizeof f->text);
    return status;
}

enum bitcut_status struct_check_since(const char *what, size_t size, size_t own,
                                      const size_t older[2], struct fault *f)
{
    if (size == own || (size && (size == older[0] || size == older[1]))) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "the size of %s is %zu bytes; this library expects %zu", what, size,
                     own);
}

enum bitcut_status struct_check(const char *what, size_t size, size_t own,
                                struct fault *f)
{
    return struct_check_since(what, size, own, (const size_t[2]){ 0, 0 }, f);
}

bool size_multiply(size_t *product, size_t a, size_t b)
{
    if (a && b > SIZE_MAX / a) return false;
    *product = a * b;
    return true;
}

bool memory_holds(const void *at, size_t rows, size_t cols, size_t ld, size_t size)
{
    size_t before, bytes;
    if (!rows || !cols) return true;
    return at && ld >= cols && size_multiply(&before, rows - 1, ld) &&
           before <= SIZE_MAX - cols && size_multiply(&bytes, before + cols, size);
}

void *memory_allocate(size_t count, size_t size)
{
    size_t bytes;
    if (!size_multiply(&bytes, count, size)) return NULL;
    return malloc(bytes ? bytes : 1);
}
