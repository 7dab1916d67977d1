/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of the error of a GEMM, as programs in PyTorch print them.  A statistic with
   all its digits is a checksum of D: another rounding or order of k gives other digits.
 */
#ifndef BITCUT_ANALYSIS_IDENTIFY_STATISTIC_H
#define BITCUT_ANALYSIS_IDENTIFY_STATISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All outputs of a GEMM or a batch, FP32 encodings. */
struct statistic_data {
    const uint32_t *d;     /* the results */
    const uint32_t *exact; /* A B in binary64, rounded to FP32 */
    size_t count;
};

/* The statistics, by position in `statistics`.  An error is D - exact, in FP32. */
enum { STATISTIC_RMS, STATISTIC_MAX, STATISTIC_MEAN, STATISTIC_LARGEST, STATISTICS };

/* A row of the table of statistics.  `of` runs under hostfp_enter().  The result is NaN
   if an output is NaN.  Sums have the order of torch.sum on a CPU with AVX2 (ATen,
   aten/src/ATen/native/cpu/SumKernel.cpp), which PyTorch uses below STATISTIC_ORDER_MAX
   numbers; above, its order depends on the threads. */
struct statistic {
    const char *name, *what;
    double (*of)(const struct statistic_data *x);
    double slack; /* error of the sum if the order is unknown, relative to the rms */
};

#define STATISTIC_ORDER_MAX 32768

extern const struct statistic statistics[STATISTICS + 1]; /* ended by a NULL name */

/* A published number. */
struct published {
    bool given;
    double value, half; /* half: half a unit of the last digit that is printed */
};

/* Read a decimal number such as 0.0021, -1.5e-07 or 3: at most 63 characters, finite.
   False for any other text; *p is set only on success. */
bool published_read(struct published *p, const char *text);

/* The statistics of x, each rounded as PyTorch does. */
void statistics_of(double value[STATISTICS], const struct statistic_data *x);

/* Whether our value of a statistic of `count` numbers has all printed digits of p.  A
   number that was not given agrees.  NaN does not agree. */
bool statistic_agrees(int statistic, const struct published *p,
                      const double value[STATISTICS], size_t count);

/* |value / published - 1|; INFINITY if the published number is 0 and ours is not, or if
   ours is NaN. */
double statistic_miss(const struct published *p, double value);

#endif
