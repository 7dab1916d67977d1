/* SPDX-License-Identifier: BSD-3-Clause */
/* Common definitions for tests of the library's calls on a device: tests/gpu/device.c as
   the device, and its memory. */
#ifndef BITCUT_TESTS_GPU_MODEL_DEVICE_H
#define BITCUT_TESTS_GPU_MODEL_DEVICE_H

#include "lib/number/fma.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char models[] = "tests/.libs";

static struct bitcut_device *device;

static inline void device_open(void)
{
    char why[BITCUT_TEXT_MAX] = "";
    setenv("BITCUT_MODULES", models, 1);
    if (bitcut_device_open(&device, "cuda", why) != BITCUT_OK) ck_abort_msg("%s", why);
}

/* The main() of a program of such tests, which are skipped without a shared library. */
#define DEVICE_TEST_MAIN(suite, ...)                                                     \
    int main(void)                                                                       \
    {                                                                                    \
        const TTest *const tests[] = { __VA_ARGS__, NULL };                              \
        if (!access("tests/.libs/bitcut-cuda.so", F_OK)) return test_run(suite, tests);  \
        puts("1..0 # SKIP no shared library");                                           \
        return 0;                                                                        \
    }

/* Bytes aligned to 256 before a guard, which nobody may write. */
struct block {
    unsigned char *at;
    size_t bytes;
};

enum { GUARD = 64, FILL = 0xa5 };

static inline struct block block_make(size_t bytes)
{
    struct block x = { NULL, bytes };
    const size_t whole = (bytes + GUARD + 255) / 256 * 256;
    ck_assert((x.at = aligned_alloc(256, whole)) != NULL);
    memset(x.at, FILL, bytes + GUARD);
    return x;
}

static inline void block_end(const struct block *x)
{
    for (size_t i = 0; i < GUARD; i++) ck_assert_uint_eq(x->at[x->bytes + i], FILL);
    free(x->at);
}

/* `count` GEMMs of one element each, 1 x 1 into d[]. */
static inline struct bitcut_gemm ones(size_t count, const uint32_t *one, uint32_t *d)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("ootomo");
    g.count = count;
    g.m = g.n = g.k = 1;
    g.a.at = g.b.at = one;
    g.d = (struct bitcut_matrix){ .to = d, .stride = 1 };
    return g;
}

#endif
