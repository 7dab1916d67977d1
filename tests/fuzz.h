/* SPDX-License-Identifier: BSD-3-Clause */
/* What libFuzzer targets share. */
#ifndef BITCUT_TESTS_FUZZ_H
#define BITCUT_TESTS_FUZZ_H

#include "lib/base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void must(bool holds)
{
    if (!holds) abort();
}

/* A failure has one line that says why. */
static inline void fault_check(const struct fault *f, enum bitcut_status status)
{
    must(f->status == status && f->text[0] && strlen(f->text) < sizeof f->text);
    for (const char *c = f->text; *c; c++) must((unsigned char)*c >= 0x20 && *c != 0x7f);
}

#endif
