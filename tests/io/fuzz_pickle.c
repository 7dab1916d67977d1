/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the reader of pickles: the name, a zero byte, and the pickle.
   clang -fsanitize=fuzzer,address,undefined with the sources of lib. */
#include "lib/io/pickle.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *const end = size ? memchr(bytes, 0, size) : NULL;
    struct pickle_tensor t = { .dims = -1 };
    struct fault f = { .status = BITCUT_OK, .text = "" };
    if (!end) return 0;
    const enum bitcut_status status =
        pickle_find(&t, end + 1, size - (size_t)(end + 1 - bytes),
                    end > bytes ? (const char *)bytes : NULL, &f);
    if (status) {
        must(status == BITCUT_BAD_FILE && f.status == status && f.text[0] &&
             t.dims == -1);
        for (const char *c = f.text; *c; c++)
            must((unsigned char)*c >= 0x20 && *c != 0x7f);
        return 0;
    }
    must(t.dims >= 0 && t.dims <= ARRAY_DIMS_MAX && t.type);
    must(memchr(t.key, 0, sizeof t.key) != NULL);
    return 0;
}
