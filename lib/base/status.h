/* SPDX-License-Identifier: BSD-3-Clause */
/* How functions that can fail say so: a status for the program, one sentence for
   people. */
#ifndef BITCUT_LIB_BASE_STATUS_H
#define BITCUT_LIB_BASE_STATUS_H

#include "lib/bitcut.h"

/* Why a call failed.  `text` is one line without a newline, naming the cause but not the
   file or the program: the caller knows those.  It is fit to print (lib/base/text.h).
   Valid only after a status other than BITCUT_OK. */
struct fault {
    enum bitcut_status status;
    char text[BITCUT_TEXT_MAX];
};

/* Fill *f (which may be NULL) printf-style and return `status`, so that a failing
   function can end with `return fault_set(...)`.  A text too long is cut between two
   characters. */
enum bitcut_status fault_set(struct fault *f, enum bitcut_status status,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The status, having copied the line of one that is not BITCUT_OK to `why`, an array of
   BITCUT_TEXT_MAX or NULL. */
enum bitcut_status fault_write(char *why, enum bitcut_status status,
                               const struct fault *f);

/* Whether a caller's struct, called `what`, has the size that this library has, or one
   that an older one had, 0: there was none.  BITCUT_BAD_ARGUMENT. */
enum bitcut_status struct_check(const char *what, size_t size, size_t own,
                                struct fault *f);
enum bitcut_status struct_check_since(const char *what, size_t size, size_t own,
                                      const size_t older[2], struct fault *f);

/* a * b, or false when the product does not fit a size_t. */
bool size_multiply(size_t *product, size_t a, size_t b);

/* Whether `rows` rows of `cols` elements of `size` bytes, whose beginnings are `ld` >=
   cols elements apart, can lie at `at`: a size_t has their bytes, and at is not NULL
   unless there are none. */
bool memory_holds(const void *at, size_t rows, size_t cols, size_t ld, size_t size);

/* malloc(count * size) that fails on overflow; NULL on failure.  A count or size of zero
   gives a pointer that may be freed. */
void *memory_allocate(size_t count, size_t size);

#endif
