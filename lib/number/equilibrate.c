/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/equilibrate.h"

#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <assert.h>

int equilibrate_target(const struct bitcut_split *s)
{
    int target = 14;
    for (int i = 0; i < s->parts; i++) {
        const struct split_part *w = &s->part[i];
        const int most =
            format_emax(w->format) - !format_is_integer(w->format) - w->level * s->scale;
        if ((i == 0 || w->copy) && most < target) target = most;
    }
    return target;
}

/* Number of powers of two by which an integer low part may exceed its emax.  Up to twice
   the limit it saturates by at most one unit; with rounding to nearest, the part before
   leaves at most half of its last bit. */
static int saturates_by(const struct bitcut_split *s, int part)
{
    if (part == 0 || !format_is_integer(s->part[part].format)) return 0;
    return 1 + round_is_nearest(s->part[part - 1].rounding);
}

/* Whether values below 2^(exponent + 1) have no low part that overflows.  Otherwise *part
   is the first low part that overflows, and *most is the largest power of two that it may
   be multiplied by. */
static bool low_parts_fit(int *part, int *most, const struct bitcut_split *s,
                          int exponent)
{
    int left = exponent; /* exponent of the residual of the parts before */
    for (int i = 0; i < s->parts; i++) {
        const struct split_part *w = &s->part[i];
        if (w->copy) continue;
        *part = i;
        *most = format_emax(w->format) + saturates_by(s, i) - left;
        if (w->level * s->scale > *most) return false;
        left -= w->format->fraction_bits;
    }
    return true;
}

enum bitcut_status equilibrate_takes(const struct bitcut_split *s, struct fault *f)
{
    int part, most;
    if (low_parts_fit(&part, &most, s, equilibrate_target(s))) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "equilibration limits the scale of low parts in %s to 2^%d",
                     s->part[part].format->name, most);
}

/* The exponent of a magnitude that is not 0. */
static int exponent_of(uint32_t magnitude)
{
    const int field = (int)(magnitude >> 23);
    return field ? field - 127 : -118 - __builtin_clz(magnitude);
}

bool equilibrate_spares(const struct bitcut_split *s, uint32_t largest)
{
    uint64_t part[SPLIT_PARTS_MAX];
    int at, most;
    if (largest == 0) return true;
    if (!low_parts_fit(&at, &most, s, exponent_of(largest))) return false;
    split_apply(part, s, largest);
    for (int i = 0; i < s->parts; i++) {
        const struct split_part *const w = &s->part[i];
        const int over = exponent_of(largest) + w->level * s->scale;
        if (format_decode(w->format, part[i]).kind >= NUMBER_INF ||
            ((i == 0 || w->copy) && over > format_emax(w->format)))
            return false;
    }
    return true;
}

uint32_t equilibrate_larger(uint32_t magnitude, uint32_t x)
{
    x &= 0x7fffffff;
    return x > magnitude && x < 0x7f800000 ? x : magnitude;
}

int equilibrate_exponent(const struct bitcut_split *split, uint32_t largest)
{
    return largest ? equilibrate_target(split) - exponent_of(largest) : 0;
}

/* The product is exact in binary64. */
uint32_t equilibrate_scale(uint32_t x, int exponent)
{
    assert(hostfp_entered());
    assert(-512 <= exponent && exponent <= 512);
    const double power = double_of_bits((uint64_t)(1023 + exponent) << 52);
    return bits_of_float((float)((double)float_of_bits(x) * power));
}
