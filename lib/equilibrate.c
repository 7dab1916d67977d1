#include "lib/equilibrate.h"

#include "lib/bits.h"
#include "lib/hostfp.h"

#include <assert.h>

int equilibrate_target(const struct bitcut_format *words)
{
    enum { MOST = 14 };
    const int below_largest = format_emax(words) - 1;
    return below_largest < MOST ? below_largest : MOST;
}

enum bitcut_status equilibrate_takes(const struct bitcut_split *s, struct fault *f)
{
    const int growth = s->scale - s->format->fraction_bits; /* of each next word */
    if (equilibrate_target(s->format) + (s->words - 1) * growth <= format_emax(s->format))
        return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "equilibrated lines need low words of %s times 2^%d at most",
                     s->format->name, s->format->fraction_bits + 1);
}

uint32_t equilibrate_larger(uint32_t magnitude, uint32_t x)
{
    x &= 0x7fffffff;
    return x > magnitude && x < 0x7f800000 ? x : magnitude;
}

int equilibrate_exponent(const struct bitcut_format *words, uint32_t largest)
{
    if (largest == 0) return 0;
    const int field = (int)(largest >> 23);
    const int exponent = field ? field - 127 : -118 - __builtin_clz(largest);
    return equilibrate_target(words) - exponent;
}

/* The product is exact in binary64. */
uint32_t equilibrate_scale(uint32_t x, int exponent)
{
    assert(hostfp_entered());
    assert(-512 <= exponent && exponent <= 512);
    const double power = double_of_bits((uint64_t)(1023 + exponent) << 52);
    return bits_of_float((float)((double)float_of_bits(x) * power));
}
