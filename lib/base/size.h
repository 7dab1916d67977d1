/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and counts, and the smaller and the larger of two numbers. */
#ifndef BITCUT_LIB_BASE_SIZE_H
#define BITCUT_LIB_BASE_SIZE_H

#include <stddef.h>

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static inline int smaller_int(int a, int b) { return a < b ? a : b; }
static inline int larger_int(int a, int b) { return a > b ? a : b; }

/* b only if it is larger; so the result is never a NaN from b. */
static inline double larger_double(double a, double b) { return b > a ? b : a; }

/* `count` samples of a larger number of things, spread evenly: sample i is at position i
 * stride. */
struct spread_evenly {
    size_t count;
    double stride;
};

/* All of them, or `most` if that is less, but at least one if there are any. */
static inline struct spread_evenly spread_evenly(size_t all, double most)
{
    const size_t count = (double)all <= most ? all : (size_t)larger_double(1, most);
    return (struct spread_evenly){ count, count ? (double)all / (double)count : 1 };
}

static inline size_t spread_place(const struct spread_evenly *s, size_t i)
{
    return (size_t)((double)i * s->stride);
}

/* a / b, rounded up. */
static inline size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

/* The number of blocks of `size` that cover `count`; one block if `size` is 0. */
static inline size_t block_count(size_t count, size_t size)
{
    return size ? divide_up(count, size) : 1;
}

#endif
