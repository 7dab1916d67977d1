/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the .npy reader; seeds are in corpus/npy. clang
   -fsanitize=fuzzer,address,undefined with the sources of lib. */
#include "lib/io/npy.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct array a = { .dims = -1 };
    struct fault f = { .status = BITCUT_OK, .text = "" };
    const enum bitcut_status status = npy_read_memory(&a, bytes, size, &f);
    if (status) {
        must(status == BITCUT_BAD_FILE && a.dims == -1 && !a.data);
        fault_check(&f, status);
        return 0;
    }
    size_t count = 1;
    must(a.dims >= 0 && a.dims <= ARRAY_DIMS_MAX);
    for (int i = 0; i < a.dims; i++) count *= a.dim[i];
    must(count == a.count && count * (size_t)a.bytes < size); /* the file had all of it */
    for (size_t i = 0; i < count; i++) array_set(&a, i, ~array_get(&a, i));
    array_clear(&a);
    return 0;
}
