/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/split/exponents.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <stdlib.h>

/* The exponent of a value; infinities and NaN have one above EXPONENT_MAX; zeros have
   none. */
static int exponent_of(uint32_t x) { return (int)(x >> 23 & 0xff) + EXPONENT_MIN; }

static bool is_counted(uint32_t x)
{
    return !f32_is_zero(x) && exponent_of(x) <= EXPONENT_MAX;
}

static void count(struct exponents *to, const struct matrix *x, size_t *of)
{
    to->values = x->rows * x->cols;
    for (size_t i = 0; i < to->values; i++) {
        const uint32_t magnitude = x->at[i] & 0x7fffffff;
        to->zeros += f32_is_zero(magnitude);
        to->infinite += magnitude == 0x7f800000;
        to->nan += magnitude > 0x7f800000;
        if (is_counted(magnitude)) of[exponent_of(magnitude) - EXPONENT_MIN]++;
    }
}

enum bitcut_status exponents_sort(struct exponents *to, const struct matrix *x,
                                  struct fault *f)
{
    struct exponents e = { .at = NULL };
    size_t of[EXPONENTS] = { 0 };
    count(&e, x, of);
    for (int i = 0; i < EXPONENTS; i++) {
        e.from[i + 1] = e.from[i] + of[i];
        of[i] = e.from[i];
    }
    e.at = memory_allocate(e.from[EXPONENTS], sizeof *e.at);
    if (!e.at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exponents");
    for (size_t i = 0; i < e.values; i++)
        if (is_counted(x->at[i]))
            e.at[of[exponent_of(x->at[i]) - EXPONENT_MIN]++] = x->at[i];
    *to = e;
    return BITCUT_OK;
}

void exponents_clear(struct exponents *x)
{
    free(x->at);
    *x = (struct exponents){ .at = NULL };
}

bool exponents_range(int *least, int *most, const struct exponents *x)
{
    int low = EXPONENT_MIN, high = EXPONENT_MAX;
    if (!x->from[EXPONENTS]) return false;
    while (!exponents_count(x, low)) low++;
    while (!exponents_count(x, high)) high--;
    *least = low;
    *most = high;
    return true;
}

enum bitcut_status exponents_measure(struct retention *r, const struct exponents *x,
                                     int e, size_t most, const struct bitcut_split *split,
                                     bool flush, int threads,
                                     const struct progress *progress, struct fault *f)
{
    const size_t all = exponents_count(x, e);
    const uint32_t *const first = x->at + x->from[e - EXPONENT_MIN];
    struct retention_values v = { .e = e, .count = all, .at = first };
    uint32_t *chosen = NULL;
    if (!all) {
        *r = (struct retention){ .count = 0 };
        return BITCUT_OK;
    }
    if (most && most < all) {
        chosen = memory_allocate(most, sizeof *chosen);
        if (!chosen)
            return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for values");
        for (size_t i = 0; i < most; i++)
            chosen[i] = first[(size_t)((uint64_t)i * all / most)];
        v.count = most;
        v.at = chosen;
    }
    const enum bitcut_status status =
        retention_measure(r, split, flush, &v, threads, progress, f);
    if (status == BITCUT_OK) r->count = all;
    free(chosen);
    return status;
}
