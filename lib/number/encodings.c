/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion and splitting of whole arrays of encodings, as lib/bitcut.h declares
   them. */
#include "lib/base/status.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"
#include "lib/number/round.h"
#include "lib/number/split.h"

#include <string.h>

/* Whether two numbers are equal: zeros only with the same sign, NaNs always. */
static bool same_number(const struct bitcut_format *f, uint64_t x,
                        const struct bitcut_format *g, uint64_t y)
{
    const struct number a = format_decode(f, x), b = format_decode(g, y);
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return a.kind == b.kind;
    return a.negative == b.negative && format_to_double(f, x) == format_to_double(g, y);
}

/* The bits that a format reads. */
static uint64_t of_format(const struct bitcut_format *f, uint64_t x)
{
    return x & (UINT64_MAX >> (64 - f->bits));
}

/* --- conversions ------------------------------------------------------------------ */

/* A conversion from one format to another by integers only.  The magnitude of a finite
   number, exponent field and fraction together, is an integer that grows with the value
   in both formats.  So a carry of the rounding goes into the exponent without further
   work. */
struct conversion {
    const struct bitcut_format *to, *from;
    const struct bitcut_rounding *rounding;
    int widen, drop; /* fraction bits that are appended first, and bits that are
                        cut                                                         */
    int64_t rebias;  /* difference of the exponent fields of `to` and `from`        */
    uint64_t odd, tie, up[2]; /* numbers added to a magnitude before the cut; `up` by
                                 sign */
    uint64_t least, span;     /* magnitudes from `least` on, `span` of them, are normal in
                                 both formats and do not overflow     */
    uint64_t special;      /* magnitudes from here on are infinities and NaN              */
    uint64_t zero[2], overflow[2], largest;
};

/* Whether both formats have a sign, an exponent and zeros, and whether one bit decides
   the rounding. */
static bool is_by_integers(const struct bitcut_format *to,
                           const struct bitcut_rounding *rounding,
                           const struct bitcut_format *from)
{
    return from->exponent_bits && from->special != SPECIAL_E8M0 && to->has_sign &&
           to->exponent_bits && rounding->direction != BY_BIT &&
           rounding->direction != STOCHASTIC &&
           rounding->flush != FLUSH_TINY;
}

static uint64_t ones(int n) { return n ? UINT64_MAX >> (64 - n) : 0; }

/* The number to add to a magnitude of this sign, so that cutting `drop` bits rounds it.
   For ties to even, one more is added if the last remaining bit is odd. */
static uint64_t before_cut(enum direction d, int drop, bool negative)
{
    if (!drop) return 0;
    switch (d) {
    case TO_NEAREST_EVEN: return ones(drop - 1);
    case TO_NEAREST_AWAY: return ones(drop - 1) + 1;
    case TO_POSITIVE: return negative ? 0 : ones(drop);
    case TO_NEGATIVE: return negative ? ones(drop) : 0;
    case TO_ZERO:
    case TO_ODD:
    case BY_BIT:
    case STOCHASTIC: break;
    }
    return 0;
}

/* The smallest magnitude that is not a finite number. */
static uint64_t first_special(const struct bitcut_format *f)
{
    const uint64_t all = ones(f->exponent_bits + f->fraction_bits);
    return f->special == SPECIAL_IEEE ? all - ones(f->fraction_bits)
           : f->special == SPECIAL_FN ? all
                                      : all + 1;
}

static struct conversion conversion_of(const struct bitcut_format *to,
                                       const struct bitcut_rounding *r,
                                       const struct bitcut_format *from)
{
    struct conversion c = { .to = to, .from = from, .rounding = r };
    const int more = to->fraction_bits - from->fraction_bits;
    c.widen = more > 0 ? more : 0;
    c.drop = more < 0 ? -more : 0;
    c.rebias = (int64_t)to->bias - from->bias;
    c.tie = c.drop && r->direction == TO_NEAREST_EVEN;
    c.odd = r->direction == TO_ODD;
    c.special = first_special(from);
    c.largest = format_largest(to, false) >> to->pad;
    const int64_t first = c.rebias < 0 ? 1 - c.rebias : 1,
                  last = (int64_t)(c.largest >> to->fraction_bits) - c.rebias;
    for (int i = 0; i < 2; i++) {
        struct unrounded huge = { .significand = 1, .exponent = 4096, .negative = i };
        c.up[i] = before_cut(r->direction, c.drop, i);
        c.zero[i] = format_zero(to, i);
        c.overflow[i] = round_pack(to, r, huge);
    }
    c.least = (uint64_t)first << from->fraction_bits;
    const uint64_t large = (uint64_t)last << from->fraction_bits,
                   end = large < c.special ? large : c.special;
    c.span = end > c.least ? end - c.least : 0;
    return c;
}

/* Convert a finite number other than zero, rounded anywhere in the range of `to`.  *same:
   the value is unchanged. */
static uint64_t convert_finite(bool *same, const struct conversion *c, uint64_t magnitude,
                               bool negative)
{
    const int bits = c->from->fraction_bits;
    const uint64_t implicit = UINT64_C(1) << c->to->fraction_bits;
    int64_t e = (int64_t)(magnitude >> bits);
    uint64_t s = magnitude & ones(bits);
    if (e) s |= UINT64_C(1) << bits;
    else {
        const int up = bits - highest_bit(s);
        s <<= up, e = 1 - up;
    }
    e += c->rebias;
    const int64_t below = e < 1 ? 1 - e : 0;
    const int drop = c->drop + below > 63 ? 63 : (int)(c->drop + below);
    s <<= c->widen;
    const uint64_t rest = s & ones(drop), tie = c->rounding->direction == TO_NEAREST_EVEN;
    uint64_t kept = s >> drop;
    if (rest)
        kept += (rest + before_cut(c->rounding->direction, drop, negative) + (tie & kept)) >>
                drop;
    kept |= c->odd & (rest != 0);
    kept += (uint64_t)(e + below - 1) << c->to->fraction_bits;
    *same = false;
    if (kept > c->largest) return c->overflow[negative];
    if (kept == 0 || (c->rounding->flush == FLUSH_SUBNORMAL && kept < implicit) ||
        (c->rounding->flush == FLUSH_BEFORE && below))
        return c->zero[negative];
    *same = rest == 0;
    return kept << c->to->pad | (uint64_t)negative << (c->to->bits - 1);
}

/* Convert a magnitude in the range in which only the last bits are cut. */
static uint64_t convert_normal(bool *same, const struct conversion *c, uint64_t magnitude,
                               bool negative)
{
    const uint64_t r = (magnitude + ((uint64_t)c->rebias << c->from->fraction_bits))
                       << c->widen,
                   kept = r >> c->drop, lost = (r & ones(c->drop)) != 0,
                   y = (r + c->up[negative] + (kept & c->tie)) >> c->drop | (c->odd & lost);
    *same = !lost;
    return y << c->to->pad | (uint64_t)negative << (c->to->bits - 1);
}

/* Convert any element. */
static inline uint64_t convert_any(bool *same, const struct conversion *c, uint64_t x)
{
    const struct bitcut_format *const f = c->from;
    const uint64_t magnitude = x >> f->pad & ones(f->exponent_bits + f->fraction_bits);
    const bool negative = f->has_sign && x >> (f->bits - 1);
    if (magnitude - c->least < c->span)
        return convert_normal(same, c, magnitude, negative);
    if (magnitude && magnitude < c->special)
        return convert_finite(same, c, magnitude, negative);
    if (magnitude == 0 && !(negative && f->special == SPECIAL_FNUZ)) {
        *same = !negative || c->zero[1] != c->zero[0];
        return c->zero[negative];
    }
    const uint64_t y = bitcut_format_convert(c->to, c->rounding, f, x);
    *same = same_number(f, x, c->to, y);
    return y;
}

/* Number of elements of at most 32 bits that are converted at a time.  The loops have no
   branches, so that compilers vectorise them. */
enum { CHUNK = 32 };

static void chunk_read(uint32_t x[CHUNK], const void *array, int bytes)
{
    if (bytes == 1)
        for (int i = 0; i < CHUNK; i++) x[i] = ((const uint8_t *)array)[i];
    else if (bytes == 2)
        for (int i = 0; i < CHUNK; i++) x[i] = ((const uint16_t *)array)[i];
    else memcpy(x, array, CHUNK * sizeof *x);
}

static void chunk_write(void *array, int bytes, const uint32_t x[CHUNK])
{
    if (bytes == 1)
        for (int i = 0; i < CHUNK; i++) ((uint8_t *)array)[i] = (uint8_t)x[i];
    else if (bytes == 2)
        for (int i = 0; i < CHUNK; i++) ((uint16_t *)array)[i] = (uint16_t)x[i];
    else memcpy(array, x, CHUNK * sizeof *x);
}

/* Convert the elements outside the range of the loop below one by one.  Before, the loop
   counted the `x` that `lost` marks.  Returns the number of further elements whose value
   changed. */
static size_t chunk_mend(uint32_t y[CHUNK], const struct conversion *c,
                         const uint32_t x[CHUNK], const uint32_t lost[CHUNK])
{
    const struct bitcut_format *const f = c->from;
    const uint64_t bits = ones(f->bits), mask = ones(f->exponent_bits + f->fraction_bits);
    size_t more = 0;
    for (int i = 0; i < CHUNK; i++) {
        bool same;
        if (((x[i] & bits) >> f->pad & mask) - c->least < c->span) continue;
        y[i] = (uint32_t)convert_any(&same, c, x[i] & bits);
        more += (size_t)!same - lost[i];
    }
    return more;
}

/* Convert a chunk.  Returns the number of elements whose value changed. */
static size_t convert_chunk(uint32_t y[CHUNK], const struct conversion *c,
                            const uint32_t x[CHUNK])
{
    const struct bitcut_format *const f = c->from, *const t = c->to;
    const int sign = f->has_sign ? f->bits - 1 : 0, shift = t->bits - 1, pad = f->pad,
              to_pad = t->pad, drop = c->drop, widen = c->widen;
    const uint32_t mask = (uint32_t)ones(f->exponent_bits + f->fraction_bits),
                   signs = f->has_sign, least = (uint32_t)c->least,
                   span = (uint32_t)c->span, tie = (uint32_t)c->tie,
                   odd = (uint32_t)c->odd, cut = (uint32_t)ones(drop),
                   up = (uint32_t)c->up[0], turn = (uint32_t)(c->up[0] ^ c->up[1]),
                   rebias = (uint32_t)((uint64_t)c->rebias << f->fraction_bits);
    uint32_t lost[CHUNK], changed = 0, outside = 0;
    for (int i = 0; i < CHUNK; i++) {
        const uint32_t m = x[i] >> pad & mask, negative = x[i] >> sign & signs,
                       r = (m + rebias) << widen, kept = r >> drop;
        lost[i] = (r & cut) != 0;
        outside |= m - least >= span;
        changed += lost[i];
        y[i] = ((r + (up ^ (turn & -negative)) + (kept & tie)) >> drop | (odd & lost[i]))
                   << to_pad |
               negative << shift;
    }
    return changed + (outside ? chunk_mend(y, c, x, lost) : 0);
}

/* Convert the chunks of an array, a whole number of them. */
static size_t convert_chunks(const struct conversion *c, char *to, const char *from,
                             size_t count)
{
    const size_t bytes = (size_t)format_bytes(c->to),
                 from_bytes = (size_t)format_bytes(c->from);
    size_t other = 0;
    for (size_t i = 0; i < count; i += CHUNK) {
        uint32_t x[CHUNK], y[CHUNK];
        chunk_read(x, from + i * from_bytes, (int)from_bytes);
        other += convert_chunk(y, c, x);
        chunk_write(to + i * bytes, (int)bytes, y);
    }
    return other;
}

/* Convert elements of any size one by one. */
static size_t convert_singly(const struct conversion *c, char *to, const char *from,
                             size_t count)
{
    const int bytes = format_bytes(c->to), from_bytes = format_bytes(c->from);
    size_t other = 0;
    for (size_t i = 0; i < count; i++) {
        bool same;
        encoding_put(
            to, bytes, i,
            convert_any(&same, c, of_format(c->from, encoding_get(from, from_bytes, i))));
        other += !same;
    }
    return other;
}

static size_t convert_integers(const struct conversion *c, char *to, const char *from,
                               size_t count)
{
    const size_t bytes = (size_t)format_bytes(c->to),
                 from_bytes = (size_t)format_bytes(c->from),
                 whole = bytes > 4 || from_bytes > 4 ? 0 : count - count % CHUNK;
    if (!count) return 0; /* the arrays may be NULL */
    return convert_chunks(c, to, from, whole) +
           convert_singly(c, to + whole * bytes, from + whole * from_bytes, count - whole);
}

/* The same for any pair of formats and any rounding: the definition. */
static size_t convert_each(void *to_array, const struct bitcut_format *to,
                           const struct bitcut_rounding *rounding, const void *from_array,
                           const struct bitcut_format *from, size_t count)
{
    const int bytes = format_bytes(to), from_bytes = format_bytes(from);
    size_t other = 0;
    struct bitcut_rounding at = *rounding;
    for (size_t i = 0; i < count; i++) {
        at.position = i;
        const uint64_t x = of_format(from, encoding_get(from_array, from_bytes, i)),
                       y = bitcut_format_convert(to, &at, from, x);
        other += !same_number(from, x, to, y);
        encoding_put(to_array, bytes, i, y);
    }
    return other;
}

enum bitcut_status bitcut_format_convert_array(size_t *changed, void *to_array,
                                               const struct bitcut_format *to,
                                               const struct bitcut_rounding *rounding,
                                               const void *from_array,
                                               const struct bitcut_format *from,
                                               size_t count)
{
    if (!to || !rounding || !from || (count && (!to_array || !from_array)))
        return BITCUT_BAD_ARGUMENT;
    size_t other;
    if (is_by_integers(to, rounding, from)) {
        const struct conversion c = conversion_of(to, rounding, from);
        other = convert_integers(&c, to_array, from_array, count);
    } else other = convert_each(to_array, to, rounding, from_array, from, count);
    if (changed) *changed = other;
    return BITCUT_OK;
}

enum bitcut_status bitcut_split_array(void *const array[3],
                                      const struct bitcut_split *split, const uint32_t *x,
                                      size_t count)
{
    if (!split || !array || (count && !x)) return BITCUT_BAD_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        uint64_t part[SPLIT_PARTS_MAX];
        split_apply_at(part, split, x[i], i);
        for (int w = 0; w < split->parts; w++)
            if (array[w])
                encoding_put(array[w], format_bytes(split->part[w].format), i, part[w]);
    }
    return BITCUT_OK;
}
