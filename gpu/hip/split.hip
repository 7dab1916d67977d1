/* SPDX-License-Identifier: BSD-3-Clause */
/* The split pass: FP32 values are split into parts in one launch, bit for bit as by
   lib/number/split.c.

   Launch (struct hip_split): SPLIT_THREADS for SPLIT_LINES lines by SPLIT_K of k of one
   matrix.  A thread makes the parts of SPLIT_EACH consecutive k of one line, and stores
   all values of one part at once.  A transposed operand is read along its own rows and
   transposed in shared memory.  Positions of k beyond the operand are +0.  A block of
   equilibrated lines has all of their k; it reads them twice, first for the largest
   magnitudes.

   Exact: a part is round_pack() of lib/number/round.c for FP32 values; the residual is an
   FP32 subtraction and an FP32 multiplication, to nearest; gpu/hip/device.h scales. */
#include "gpu/hip/device.h"
#include "gpu/module/module.h"

enum { EACH = SPLIT_EACH, LINES = SPLIT_LINES, RUN = SPLIT_K };
static_assert(SPLIT_THREADS * EACH == LINES * RUN, "a value has one thread");

/* --- rounding --------------------------------------------------------------------- */

/* Properties of the formats of parts, as in lib/number/format.c: LIMIT is one above the
   largest magnitude.  FNUZ formats have neither -0 nor infinities; they have +0 and the
   NaN in their place. */
template <int BITS, int PAD, int FRACTION, int BIAS, uint32_t LIMIT, uint32_t NAN_,
          bool FNUZ, class PART>
struct format {
    typedef PART part;
    enum { bits = BITS, pad = PAD, fraction = FRACTION, bias = BIAS, step = 1 << PAD };
    static constexpr bool fnuz = FNUZ;
    static constexpr uint32_t limit = LIMIT, nan = NAN_;
    static DEVICE uint32_t zero(uint32_t sign) { return FNUZ ? 0 : sign; }
    /* Infinity, or the largest magnitude. */
    static DEVICE uint32_t beyond(uint32_t sign, bool infinite)
    {
        return FNUZ && infinite ? nan : sign | (infinite ? limit : limit - step);
    }
};
typedef format<16, 0, 10, 15, 0x7c00, 0x7e00, false, uint16_t> f16;
typedef format<16, 0, 7, 127, 0x7f80, 0x7fc0, false, uint16_t> bf16;
typedef format<32, 13, 10, 127, 0x7f800000, 0x7fc00000, false, uint32_t> tf32;
typedef format<8, 0, 3, 8, 0x80, 0x80, true, uint8_t> e4m3fnuz;
typedef format<8, 0, 2, 16, 0x80, 0x80, true, uint8_t> e5m2fnuz;

/* Bit 1 to 23 of the fraction field, from the top, which BY_BIT tests. */
DEVICE bool fraction_bit(uint32_t magnitude, int bit)
{
    return bit <= 23 && (magnitude >> (23 - bit) & 1);
}

/* The retained significand, increased by one step or not, depending on the bits below:
   step() of lib/number/round.c. */
DEVICE uint32_t round_kept(uint32_t significand, int drop, bool negative,
                           const struct hip_rounding &r)
{
    const uint32_t kept = significand >> drop, half = 1u << (drop - 1);
    const uint32_t rest = significand & (2 * half - 1);
    switch (r.direction) {
    case TO_NEAREST_EVEN: return kept + (rest > half || (rest == half && (kept & 1)));
    case TO_NEAREST_AWAY: return kept + (rest >= half);
    case TO_POSITIVE: return kept + (rest && !negative);
    case TO_NEGATIVE: return kept + (rest && negative);
    case TO_ODD: return kept | (rest != 0);
    case BY_BIT: return kept + (rest && fraction_bit(significand, r.bit));
    default: return kept;
    }
}

DEVICE bool overflows_to_infinity(bool negative, const struct hip_rounding &r)
{
    if (r.overflow != OVERFLOW_IEEE) return r.overflow == OVERFLOW_INF;
    return r.direction == TO_NEAREST_EVEN || r.direction == TO_NEAREST_AWAY ||
           r.direction == BY_BIT || r.direction == (negative ? TO_NEGATIVE : TO_POSITIVE);
}

/* Round the FP32 encoding x to a part by any rule; the result is the bits of the part. */
template <class F> DEVICE uint32_t round_part(uint32_t x, const struct hip_rounding &r)
{
    const uint32_t implicit = 1u << F::fraction;
    const bool negative = x >> 31;
    const uint32_t magnitude = x & 0x7fffffff, sign = (x >> 31) << (F::bits - 1);
    if (magnitude > 0x7f800000) return F::nan;
    if (magnitude == 0x7f800000)
        return F::beyond(sign, r.overflow != OVERFLOW_SATURATE);
    if (magnitude == 0) return F::zero(sign);
    const int field = (int)(magnitude >> 23);
    const uint32_t significand = (magnitude & 0x7fffff) | (field ? 1u << 23 : 0);
    const int exponent = (field ? field : 1) - 127 + F::bias; /* exponent field of the
                                                                 part              */
    const int below = exponent < 1 ? 1 - exponent : 0;
    const int drop = 23 - F::fraction + below;
    const uint32_t kept = round_kept(significand, drop < 26 ? drop : 26, negative, r);
    const bool before = r.flush == FLUSH_BEFORE && (below || !field);
    if (before || (kept < implicit && (r.flush || (F::fnuz && kept == 0))))
        return F::zero(sign);
    const uint32_t base = (uint32_t)(exponent + below - 1) << F::fraction;
    const uint32_t part = (base + kept) << F::pad;
    if (base + kept < F::limit >> F::pad) return sign | part;
    return F::beyond(sign, overflows_to_infinity(negative, r));
}

/* The part made of x; f16 to nearest even has an instruction. */
template <class F, bool NEAREST> struct rounded {
    static DEVICE uint32_t of(float x, const struct hip_rounding &r)
    {
        return round_part<F>(bits_as<uint32_t>(x), r);
    }
};
template <> struct rounded<f16, true> {
    static DEVICE uint32_t of(float x, const struct hip_rounding &)
    {
        return x == x ? bits_as<uint16_t>((_Float16)x) : f16::nan;
    }
};

DEVICE float value_of(f16, uint32_t part)
{
    return (float)bits_as<_Float16>((uint16_t)part);
}
DEVICE float value_of(bf16, uint32_t part) { return bits_as<float>(part << 16); }
DEVICE float value_of(tf32, uint32_t part) { return bits_as<float>(part); }

/* The residual of x after a part.  It is not used after a part of 8 bits, because kernels
   use one such part (gpu/hip/gemm_rows.h). */
template <class F> DEVICE float left_of(F, float x, uint32_t part)
{
    return x - value_of(F(), part);
}
DEVICE float left_of(e4m3fnuz, float, uint32_t) { return 0; }
DEVICE float left_of(e5m2fnuz, float, uint32_t) { return 0; }

/* --- a run of values -------------------------------------------------------------- */

template <class T> struct alignas(sizeof(T) * EACH) run_of {
    T at[EACH];
};

/* Make the parts of values x of line `line` from element p on. */
template <class F, bool NEAREST>
DEVICE void split_run(const struct hip_split &a, float (&x)[EACH], uint64_t line,
                      uint64_t p)
{
    typedef typename F::part part;
    const uint64_t run = (a.k + GPU_PARTS_RUN - 1) / GPU_PARTS_RUN * GPU_PARTS_RUN;
    if (p >= run) return;
    part *to = (part *)(a.parts + block_z() * a.prepared_stride) + line * run + p;
    for (int j = 0; j < a.count; j++, to += a.lines * run) {
        run_of<part> made;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const uint32_t w = rounded<F, NEAREST>::of(x[e], j ? a.low : a.high);
            made.at[e] = (part)w;
            x[e] = left_of(F(), x[e], w) * a.scale;
        }
        *(run_of<part> *)to = made;
    }
}

/* Value p of a line, 0 beyond its end. */
DEVICE float value_at(const struct hip_split &a, uint64_t line, uint64_t p)
{
    const float *from = a.from + block_z() * a.stride;
    if (p >= a.k || line >= a.lines) return 0;
    return from[a.across ? p * a.ld + line : line * a.ld + p];
}

/* Read the values of this thread: EACH of `line` from `p` on, among the lines from
   `first` and the run from `start` of the block. */
DEVICE void read_run(float (&x)[EACH], const struct hip_split &a, uint64_t first,
                     uint64_t start, int line, int p)
{
    SHARED static float tile[RUN][LINES + 1]; /* as an argument it would be a flat
                                                 address                               */
    if (!a.across) {
#pragma unroll
        for (int e = 0; e < EACH; e++) x[e] = value_at(a, first + line, start + p + e);
        return;
    }
    block_wait(); /* all threads have read the data of the last run */
    for (int at = (int)thread_x(); at < RUN * LINES; at += SPLIT_THREADS)
        tile[at / LINES][at % LINES] =
            value_at(a, first + at % LINES, start + at / LINES);
    block_wait();
#pragma unroll
    for (int e = 0; e < EACH; e++) x[e] = tile[p + e][line];
}

/* --- equilibration ---------------------------------------------------------------- */

DEVICE uint32_t larger(uint32_t magnitude, uint32_t other)
{
    return other < 0x7f800000 && other > magnitude ? other : magnitude;
}

/* The largest finite magnitude of the thread's line.  The threads of the line find it
   together and store it after the parts. */
DEVICE uint32_t find_largest(const struct hip_split &a, uint64_t first, int line, int p)
{
    SHARED static uint32_t found[LINES][RUN / EACH];
    uint32_t mine = 0;
    float x[EACH];
    for (uint64_t start = 0; start < a.k; start += RUN) {
        read_run(x, a, first, start, line, p);
#pragma unroll
        for (int e = 0; e < EACH; e++)
            mine = larger(mine, bits_as<uint32_t>(x[e]) & 0x7fffffff);
    }
    found[line][p / EACH] = mine;
    block_wait();
#pragma unroll
    for (int e = 0; e < RUN / EACH; e++) mine = larger(mine, found[line][e]);
    if (p == 0 && first + line < a.lines)
        ((uint32_t *)(a.parts + block_z() * a.prepared_stride +
                      a.largest_at))[first + line] = mine;
    return mine;
}

/* --- the kernels ------------------------------------------------------------------ */

template <class F, bool NEAREST> DEVICE void split(const struct hip_split &a)
{
    const uint64_t first = block_x() * (uint64_t)LINES;
    const int line = (int)thread_x() / (RUN / EACH),
              p = (int)thread_x() % (RUN / EACH) * EACH;
    int exponent = 0;
    float x[EACH];
    if (a.largest) exponent = line_exponent(find_largest(a, first, line, p), a.target);
    for (uint64_t start = block_y() * (uint64_t)RUN; start < a.k;
         start += a.blocks * (uint64_t)RUN) {
        read_run(x, a, first, start, line, p);
        if (a.largest) {
#pragma unroll
            for (int e = 0; e < EACH; e++) x[e] = scale_once(x[e], exponent);
        }
        if (first + line < a.lines) split_run<F, NEAREST>(a, x, first + line, start + p);
    }
}

KERNEL(SPLIT_THREADS) split_f16_nearest(struct hip_split a) { split<f16, true>(a); }
KERNEL(SPLIT_THREADS) split_f16(struct hip_split a) { split<f16, false>(a); }
KERNEL(SPLIT_THREADS) split_bf16(struct hip_split a) { split<bf16, false>(a); }
KERNEL(SPLIT_THREADS) split_tf32(struct hip_split a) { split<tf32, false>(a); }
#ifdef __gfx942__
KERNEL(SPLIT_THREADS) split_e4m3fnuz(struct hip_split a) { split<e4m3fnuz, false>(a); }
KERNEL(SPLIT_THREADS) split_e5m2fnuz(struct hip_split a) { split<e5m2fnuz, false>(a); }
#endif
