/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the readers of zip archives, of .npz and of PyTorch's files; seeds
   are in corpus/archive.  clang -fsanitize=fuzzer,address,undefined with the sources of
   lib. */
#include "lib/io/npy.h"
#include "lib/io/torch.h"
#include "tests/fuzz.h"

/* A small member may be deflated 1032 to 1: that allocation is to fail, not to end the
   program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

static void reading_failed(const struct fault *f, enum bitcut_status status)
{
    must(status == BITCUT_BAD_FILE || status == BITCUT_NO_MEMORY);
    fault_check(f, status);
}

/* Read every member as an array, and the whole as a file of PyTorch. */
static void read_members(const struct zip *z)
{
    struct zip_entry e;
    struct tensor t;
    struct fault f;
    for (size_t at = 0, n = 0; n < 8 && zip_next(&e, &at, z); n++) {
        struct stream s;
        enum bitcut_status status = zip_member_open(&s, z, &e, &f);
        if (!status) {
            status = npy_read_tensor(&t, &s, &f);
            if (!status) tensor_clear(&t);
            zip_member_close(&s);
        }
        if (status) reading_failed(&f, status);
    }
    if (!torch_is(z)) return;
    const enum bitcut_status status = torch_read(&t, z, NULL, &f);
    if (status) reading_failed(&f, status);
    else tensor_clear(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct stream s;
    struct zip z;
    struct fault f = { .status = BITCUT_OK, .text = "" };
    if (!size || stream_open_memory(&s, bytes, size, &f)) return 0;
    const enum bitcut_status status = zip_open(&z, &s, &f);
    if (status) reading_failed(&f, status);
    else {
        read_members(&z);
        zip_close(&z);
    }
    stream_close(&s);
    return 0;
}
