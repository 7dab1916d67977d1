/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), used to compare files. */
#ifndef BITCUT_LIB_IO_SHA256_H
#define BITCUT_LIB_IO_SHA256_H

#include "lib/base/status.h"

enum { SHA256_TEXT = 65 };

/* The digest of `size` bytes as 64 hexadecimal digits in lower case, and a 0. */
void sha256_of(char text[SHA256_TEXT], const void *bytes, size_t size);

/* The same for the regular file `path`.  Fails as stream_read_file() does. */
enum bitcut_status sha256_of_file(char text[SHA256_TEXT], const char *path,
                                  struct fault *f);

#endif
