/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the safetensors reader; seeds are in corpus/safetensors.  clang
   -fsanitize=fuzzer,address,undefined with the sources of lib. */
#include "lib/io/safetensors.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = { NULL, "only", "f32", "e4m3" };
    for (int i = 0; i < 4; i++) {
        struct stream s;
        struct tensor t;
        struct fault f = { .status = BITCUT_OK, .text = "" };
        if (!size || stream_open_memory(&s, bytes, size, &f)) return 0;
        const enum bitcut_status status = safetensors_read(&t, &s, names[i], &f);
        if (status) {
            must(status == BITCUT_BAD_FILE && f.status == status && f.text[0]);
            for (const char *c = f.text; *c; c++)
                must((unsigned char)*c >= 0x20 && *c != 0x7f);
        } else {
            must(t.array.count * (size_t)t.array.bytes < size);
            tensor_clear(&t);
        }
        stream_close(&s);
    }
    return 0;
}
