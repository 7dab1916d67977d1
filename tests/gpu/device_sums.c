/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of exact references on the device of tests/gpu/device.c. */
#include "tests/gpu/device_parts.h"

#include "lib/exact/exact_sums.h"
#include "lib/number/bits.h"

#include <math.h>

/* Sums of exact references, as lib/exact/dgemm.h has them. */
int model_sums(const struct exact_sums_to *to, size_t m, size_t n, size_t k,
               const uint32_t *a, const uint32_t *b, int device, char *fault)
{
    (void)device;
    if (model_refuse(fault)) return 1;
    for (size_t at = 0; at < m * n; at++) {
        double high = 0, low = 0, size = 0, squares = 0;
        for (size_t p = 0; p < k; p++) {
            const double x = value_of_float(a[at / n * k + p]);
            const double y = value_of_float(b[p * n + at % n]);
            const double sum = fma(x, y, high), z = sum - high;
            low += (high - (sum - z)) + fma(x, y, -z);
            high = sum;
            size = fma(fabs(x), fabs(y), size);
            squares += sum * sum;
        }
        if (to->high) to->high[at] = high;
        if (to->low) to->low[at] = low;
        if (to->size) to->size[at] = size;
        if (to->squares) to->squares[at] = squares;
    }
    if (to->low && m && n && model_has_fault("flips")) to->low[0] += to->size[0];
    return 0;
}
