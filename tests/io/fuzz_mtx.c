/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the Matrix Market reader; seeds are in corpus/mtx. clang
   -fsanitize=fuzzer,address,undefined with the sources of lib. */
#include "lib/io/decimal.h"
#include "lib/io/mtx.h"
#include "tests/fuzz.h"

/* A few bytes may declare 1 GiB: that allocation is to fail, not to end the program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

/* The text of an element is read as the same element. */
static void element_check(uint32_t x)
{
    char text[DECIMAL_MAX];
    uint32_t back = ~x;
    decimal_write(text, x);
    must(strlen(text) < sizeof text && decimal_read(&back, text) && back == x);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct matrix m = { 7, 8, NULL };
    struct fault f = { .status = BITCUT_OK, .text = "" };
    const enum bitcut_status status = mtx_read_memory(&m, bytes, size, &f);
    if (status) {
        must(status == BITCUT_BAD_FILE || status == BITCUT_NO_MEMORY);
        must(m.rows == 7 && m.cols == 8 && !m.at);
        fault_check(&f, status);
        return 0;
    }
    const size_t count = m.rows * m.cols, most = 1000;
    for (size_t i = 0; i < count; i += count / most + 1) element_check(m.at[i]);
    if (count) element_check(m.at[count - 1]);
    matrix_clear(&m);
    return 0;
}
