/* SPDX-License-Identifier: BSD-3-Clause */
/* Malicious code objects, made of any bytes: kernels of every row of the tables with any
   operands, descriptors and notes with any contents, and damaged files. */
#ifndef BITCUT_TESTS_GFX9_GFX9_HOSTILE_H
#define BITCUT_TESTS_GFX9_GFX9_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

/* Make a code object of the bytes and run its kernels, twice with memory elsewhere. Calls
   abort(), having said why, unless every answer is a result or one line, and what the
   kernel stored is the same both times: it depends on no address of the host.  Returns
   whether a kernel has ended well. */
int hostile_run(const uint8_t *bytes, size_t size);

#endif
