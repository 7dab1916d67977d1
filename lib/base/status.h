/* SPDX-License-Identifier: BSD-3-Clause */
/* How functions report failure: a status for the program, and one sentence for people. */
#ifndef BITCUT_LIB_BASE_STATUS_H
#define BITCUT_LIB_BASE_STATUS_H

#include "lib/bitcut.h"

/* Why a call failed.  `text` is one line without a newline.  It names the cause, but not
   the file or the program, which the caller knows.  It is fit to print (lib/base/text.h).
   It is valid only after a status other than BITCUT_OK. */
struct fault {
    enum bitcut_status status;
    char text[BITCUT_TEXT_MAX];
    const char *about; /* the option of the program, without dashes, whose value is wrong;
                          NULL: unknown */
};

/* Fill *f (which may be NULL) printf-style and return `status`, so that a failing
   function can end with `return fault_set(...)`.  A text that is too long is cut between
   two characters. */
enum bitcut_status fault_set(struct fault *f, enum bitcut_status status,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with BITCUT_BAD_ARGUMENT, for the value of an option of the program, which is
   named without dashes. */
enum bitcut_status fault_option(struct fault *f, const char *option, const char *format,
                                ...) __attribute__((format(printf, 3, 4)));

/* Set the option that a fault is about, unless the status is BITCUT_OK or the fault has
   one, and return the status. */
enum bitcut_status fault_about(struct fault *f, const char *option,
                               enum bitcut_status status);

/* Return the status.  If it is not BITCUT_OK, copy the text of the fault to `why`, an
   array of BITCUT_TEXT_MAX characters or NULL. */
enum bitcut_status fault_write(char *why, enum bitcut_status status,
                               const struct fault *f);

/* Check that a caller's struct, called `what` in the message, has the size `own` of this
   library, or one of the sizes `older` of earlier versions (0: unused).  Otherwise
   BITCUT_BAD_ARGUMENT. */
enum bitcut_status struct_check(const char *what, size_t size, size_t own,
                                struct fault *f);
enum bitcut_status struct_check_since(const char *what, size_t size, size_t own,
                                      const size_t older[2], struct fault *f);

/* Set *product to a * b; false if the product does not fit a size_t. */
bool size_multiply(size_t *product, size_t a, size_t b);

/* Whether `rows` rows of `cols` elements of `size` bytes can lie at `at`, where the
   starts of rows are `ld` >= cols elements apart: a size_t can count their bytes, and
   `at` is not NULL unless there are no elements. */
bool memory_holds(const void *at, size_t rows, size_t cols, size_t ld, size_t size);

/* malloc(count * size) that returns NULL on overflow and on failure.  A count or size of
   zero gives a pointer that may be freed. */
void *memory_allocate(size_t count, size_t size);

#endif
