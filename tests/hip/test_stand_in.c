/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the simulated HIP runtime: addresses belong to the device, each is used once,
   and copies reach no byte outside a buffer. */
#include "emu/gfx9/gfx9.h"
#include "gpu/hip/stand_in/stand_in.h"
#include "tests/test.h"

#include <string.h>

enum { BYTES = 1000, KIND = 4 /* hipMemcpyDefault */ };

static char *allocate(size_t bytes)
{
    void *at = NULL;
    ck_assert_int_eq(hipMalloc(&at, bytes), HIP_SUCCESS);
    ck_assert_uint_ge((uintptr_t)at, GFX9_ADDRESS_FIRST);
    return at;
}

START_TEST(test_copies)
{
    char *const a = allocate(BYTES), *const b = allocate(BYTES);
    char here[BYTES], there[BYTES];
    for (int n = 0; n < BYTES; n++) here[n] = (char)(3 * n);
    ck_assert_int_eq(hipMemcpy(a, here, BYTES, KIND), HIP_SUCCESS);
    ck_assert_int_eq(hipMemcpy(b, a, BYTES, KIND), HIP_SUCCESS);
    ck_assert_int_eq(hipMemset(b + 10, 7, 5), HIP_SUCCESS);
    ck_assert_int_eq(hipMemcpy(there, b + 1, BYTES - 1, KIND), HIP_SUCCESS);
    memset(here + 10, 7, 5);
    ck_assert_mem_eq(there, here + 1, BYTES - 1);
    ck_assert_ptr_nonnull(hipStandInMemory(b + BYTES - 1));
    ck_assert_ptr_null(hipStandInMemory(b + BYTES));
    ck_assert_int_eq(hipFree(a), HIP_SUCCESS);
    ck_assert_int_eq(hipFree(b), HIP_SUCCESS);
}
END_TEST

START_TEST(test_outside)
{
    char *const a = allocate(BYTES);
    char here[2 * BYTES] = { 0 };
    ck_assert_int_eq(hipMemcpy(a, here, BYTES + 1, KIND), HIP_INVALID_VALUE);
    ck_assert_int_eq(hipMemcpy(a + BYTES, here, 1, KIND), HIP_INVALID_VALUE);
    ck_assert_int_eq(hipMemcpy(here, a - 1, 2, KIND), HIP_INVALID_VALUE);
    ck_assert_int_eq(hipMemset(a + 1, 0, BYTES), HIP_INVALID_VALUE);
    ck_assert_int_eq(hipFree(a + 1), HIP_INVALID_VALUE);
    ck_assert_int_eq(hipFree(a), HIP_SUCCESS);
    ck_assert_int_eq(hipFree(a), HIP_INVALID_VALUE);
    ck_assert_int_eq(hipMemcpy(here, a, 1, KIND), HIP_INVALID_VALUE);
    char *const b = allocate(BYTES);
    ck_assert_ptr_ne(a, b);
    ck_assert_int_eq(hipFree(b), HIP_SUCCESS);
}
END_TEST

TEST_MAIN("stand_in", test_copies, test_outside)
