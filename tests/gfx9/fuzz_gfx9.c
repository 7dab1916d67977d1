/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the executor: code objects made of any bytes, or the bytes
   themselves if they begin as an ELF file. clang -fsanitize=fuzzer,address,undefined. */
#include "tests/gfx9/gfx9_hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    hostile_run(bytes, size);
    return 0;
}
