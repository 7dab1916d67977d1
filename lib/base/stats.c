/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/stats.h"

#include <math.h>
#include <stdlib.h>

size_t doubles_finite(double *x, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i])) x[kept++] = x[i];
    return kept;
}

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

void doubles_sort(double *x, size_t count) { qsort(x, count, sizeof *x, compare); }

static void swap(double *x, double *y)
{
    const double z = *x;
    *x = *y;
    *y = z;
}

/* The value that would be x[n] if x were sorted.  Reorders x (Hoare 1961). */
static double nth(double *x, size_t count, size_t n)
{
    size_t from = 0, to = count; /* it is in [from, to) */
    while (to - from > 1) {
        const double pivot = x[from + (to - from - 1) / 2];
        size_t low = from, high = to - 1;
        for (;; low++, high--) {
            while (x[low] < pivot) low++;
            while (x[high] > pivot) high--;
            if (low >= high) break;
            swap(&x[low], &x[high]);
        }
        if (n <= high) to = high + 1;
        else from = high + 1;
    }
    return x[from];
}

double doubles_median(double *x, size_t count)
{
    return count ? nth(x, count, count / 2) : (double)NAN;
}
