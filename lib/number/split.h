/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits: how one FP32 value becomes two or three parts in shorter formats. */
#ifndef BITCUT_LIB_NUMBER_SPLIT_H
#define BITCUT_LIB_NUMBER_SPLIT_H

#include "lib/number/round.h"

enum { SPLIT_PARTS_MAX = 3 };

/* One part of a split.  It carries 2^(level s), where s is the scale of the split. */
struct split_part {
    const struct bitcut_format *format;
    const struct bitcut_rounding *rounding;
    int level;
    bool copy; /* copy of x, for products with low parts of its format; it does not belong
                  to the sum that approximates x                                    */
};

/* A row of the split table: x is approximately the sum of 2^(-level scale) w over the
   parts w that are not copies.  The first part, the high part, is x rounded.  Each
   further part is the residual of the parts before it, times 2^(level scale), rounded.
   The residual is computed as in a kernel: an FP32 subtraction to nearest (exact unless a
   part overflowed) and, from the level of one part to the level of the next, an FP32
   multiplication by a power of two (exact unless it overflows).  A copy is x times
   2^(level scale), rounded. */
struct bitcut_split {
    const char *name, *what;
    int scale; /* s */
    int parts; /* number of parts, 1 to SPLIT_PARTS_MAX */
    struct split_part part[SPLIT_PARTS_MAX]; /* the high part first, with level 0; levels
                                                increase from each part that is not a copy
                                                to the next                           */
    const char *source;
    uint64_t seed; /* of parts that are rounded STOCHASTIC */
};

/* The rows, by position: `&splits[SPLIT_BITCUT]`. */
enum {
    SPLIT_F32,
    SPLIT_HALF,
    SPLIT_MARKIDIS,
    SPLIT_FENG,
    SPLIT_FENG22,
    SPLIT_HALFHALF,
    SPLIT_BITCUT,
    SPLIT_BITCUT_GRADUAL,
    SPLIT_TF32,
    SPLIT_TF32TF32,
    SPLIT_BF16,
    SPLIT_BF16_DAZ,
    SPLIT_BF16X2,
    SPLIT_BF16X3,
    SPLIT_BF16X3_SCALED,
    SPLIT_TF32_RN,
    SPLIT_CUTLASS_TF32X2,
    SPLIT_CUTLASS_BF16X3,
    SPLIT_TRITON_TF32X2,
    SPLIT_HALF_E4M3,
    SPLIT_HALF_E5M2,
    SPLIT_HALF_S8
};

extern const struct bitcut_split splits[]; /* ended by a row whose name is NULL */

/* Whether the rows of two splits give the same parts for every x. */
bool split_same(const struct bitcut_split *x, const struct bitcut_split *y);

/* The name of a split, cut to `size`: the row that makes the same parts, its own row
   first; otherwise its own name and the changes, such as "halfhalf with high rz, scale
   9". */
void split_label(char *text, size_t size, const struct bitcut_split *split);

/* Compute the parts of x, an FP32 encoding; part[0] is the high part.  Entries beyond
   split->parts are unchanged.
   - NaN gives NaN in every part.
   - Inf gives an infinite high part (or the format's overflow) and NaN in the low parts,
     as Inf - Inf does.
   - A finite x whose high part overflowed to Inf has a low part of Inf with the other
     sign.
   - A finite x whose high part saturated may have an infinite low part.
   - Instead of infinity, a part may have the value that its rounding and format give;
     instead of NaN, an integer is 0. */
void split_apply(uint64_t part[SPLIT_PARTS_MAX], const struct bitcut_split *split,
                 uint32_t x);

/* Compute the parts of x at a position, such as its index along k.  A part j that is rounded
   STOCHASTIC takes the random bits of the seed of the split and of position 4 position + j
   (round_random()).  Other parts do not depend on the position.  split_apply() takes
   position 0. */
void split_apply_at(uint64_t part[SPLIT_PARTS_MAX], const struct bitcut_split *split,
                    uint32_t x, uint64_t position);

/* Whether a part is rounded STOCHASTIC. */
bool split_is_stochastic(const struct bitcut_split *split);

/* Whether a part is an integer, which has bits for x in one range only. */
bool split_is_fixed(const struct bitcut_split *split);

/* The number of parts that are not copies. */
int split_own_parts(const struct bitcut_split *split);

/* Whether all parts have the same format, none is a copy, each is one level above the one
   before, and all except the first are rounded alike.  Vector instructions and the
   kernels of devices make such parts. */
bool split_is_uniform(const struct bitcut_split *split);

/* The rounding of the second part; if the split has one part, the rounding of the
   first. */
static inline const struct bitcut_rounding *split_low(const struct bitcut_split *split)
{
    return split->part[split->parts > 1].rounding;
}

/* The plain conversion to one part in `format`, to nearest even: a split without a low
   part.  tf32 rounds to nearest with ties away, as cvt.rna.tf32.f32 does, which is the
   only rounding to nearest that PTX has for it before compute capability 9.0. */
struct bitcut_split split_plain(const struct bitcut_format *format);

#endif
