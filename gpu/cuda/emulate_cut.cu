/* SPDX-License-Identifier: BSD-3-Clause */
/* CUT: sums of other units whose terms are aligned at an exponent and cut, on the
   device's FP32, FP64 and integer pipes.  A product is exact in FP32.  It is converted
   with truncation to units of the last retained bit; sums are integers.  Exponents are
   16-bit numbers, two in a register, so that a maximum over sums of two exponents takes
   half an instruction for each product.  Sums that drop no bits are FP64 sums of four
   products, or FP32 sums of two, with the errors of the additions.

   Launch: 256 threads for a tile, stages of k in shared memory. */
#include "gpu/cuda/emulate.cuh"

namespace
{

enum { CORE_THREADS = 256, PASSES = 4096 };

/* The exponent of a zero: the sum with any other exponent is below all alignment
   exponents. */
enum { NO_EXPONENT = -500, LEAST_EXPONENT = -100 };

enum { CUT_TILE = 64, CUT_K = 32, EACH = 4 };

/* How a sum is finished. */
enum finish { TO_F32, TO_FEWER, TO_F16, TWO_STAGE, PARITY, EXACT };

struct cut_stage {
    float a[CUT_TILE][CUT_K + 4], b[CUT_TILE][CUT_K + 4];
    int16_t ea[CUT_TILE][CUT_K + 8], eb[CUT_TILE][CUT_K + 8];
};

/* Find the exponents of the values; in wild lines every exponent is NO_EXPONENT. */
__global__ void exponents(emulate_operand x, int least)
{
    const size_t count = x.padded * x.length;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        const float v = x.value[i];
        const bool none = v == 0 || x.wild[i / x.length];
        x.exponent[i] =
            none ? NO_EXPONENT : max((__float_as_int(v) >> 23 & 255) - 127, least);
    }
}

/* Exact sums of two do not depend on exponents. */
template <finish FINISH, int L> constexpr bool has_exponents = FINISH != EXACT || L > 2;

template <bool EXPONENTS>
__device__ void cut_load(cut_stage *s, const emulate_chain &x, size_t i0, size_t j0,
                         size_t k)
{
    for (int i = threadIdx.x; i < CUT_TILE * CUT_K / 4; i += CORE_THREADS) {
        copy16(&s->a[i / 8][i % 8 * 4],
               x.a.value + (i0 + i / 8) * x.a.length + k + i % 8 * 4);
        copy16(&s->b[i / 8][i % 8 * 4],
               x.b.value + (j0 + i / 8) * x.b.length + k + i % 8 * 4);
    }
    if (!EXPONENTS) return;
    const int i = threadIdx.x;
    copy16(&s->ea[i / 4][i % 4 * 8],
           x.a.exponent + (i0 + i / 4) * x.a.length + k + i % 4 * 8);
    copy16(&s->eb[i / 4][i % 4 * 8],
           x.b.exponent + (j0 + i / 4) * x.b.length + k + i % 4 * 8);
}

/* 2^e as a normal float. */
__device__ float power(int e) { return __int_as_float((e + 127) << 23); }

__device__ int exponent_of(float c)
{
    return max((__float_as_int(c) >> 23 & 255) - 127, -126);
}

/* The numbers of a rule that the step needs, in registers. */
struct cut_numbers {
    int fraction, least, mask, span;
};

/* The largest integer that is at most x, |x| < 2^51. */
__device__ double floor_of(double x)
{
    constexpr double far = 0x1.8p52;
    return __dadd_rn(__dadd_rd(x, far), -far);
}

/* x without the bits that are 32 or more below its leading bit, rounded toward minus
   infinity. */
__device__ double leading_bits(double x)
{
    enum { EXPONENT = 0x7ff00000, HALF = 0x80000, DROPPED = 52 - 31 };
    const double far =
        __hiloint2double((__double2hiint(x) & EXPONENT) + (DROPPED << 20 | HALF), 0);
    return __dadd_rn(__dadd_rd(x, far), -far);
}

/* 2^e. */
__device__ double wide_power(int e) { return __hiloint2double((e + 1023) << 20, 0); }

/* The sum of products and c in two stages (emu/sum_two_stage.c).  `sum` is in units of
   2^(e - 24), where e is the exponent of the products.  First 32 bits below the larger
   exponent are retained, then 31 bits below the leading bit, or bits down to 2^-126; then
   the sum is rounded to nearest.  Bits that are shifted out are dropped toward minus
   infinity; binary64 can hold all remaining bits. */
__device__ float two_stage(int sum, int e, float c, bool parity)
{
    const int own = exponent_of(c), top = max(e, own);
    double z = floor_of(sum * wide_power(8 - (top - e)));
    if (!parity || own >= top - 25)
        z = __fma_rn(floor_of(c * wide_power(24 - top)), 256, z);
    return __double2float_rn(leading_bits(z)) * power(-52) * power(top + 20);
}

/* Products are taken up to eight at a time. */
template <int L> constexpr int piece_of = L < 8 ? L : 8;

template <int L> struct values {
    float x[piece_of<L>];
    values() = default;
    __device__ explicit values(const float *from)
    {
        memcpy(x, __builtin_assume_aligned(from, 16), sizeof x);
    }
};

/* The larger of `most` and the sums of two exponents, separately for even and odd k. */
template <int L>
__device__ uint32_t largest_two(const int16_t *a, const int16_t *b, uint32_t most)
{
    constexpr int size = 2 * piece_of<L>;
#pragma unroll
    for (int at = 0; at < L; at += piece_of<L>) {
        uint32_t e[size / 4], f[size / 4];
        memcpy(e, __builtin_assume_aligned(a + at, size), size);
        memcpy(f, __builtin_assume_aligned(b + at, size), size);
#pragma unroll
        for (int l = 0; l < size / 4; l++) most = __viaddmax_s16x2(e[l], f[l], most);
    }
    return most;
}

/* The state of a step of one output.  `top` is the alignment exponent; with separate sums
   of even and odd k, each has its own. */
template <finish FINISH, int L> struct cut_step {
    /* Sums of more than 8 terms of 2^27 may not fit 31 bits, but half of such a sum
       does. */
    static constexpr bool joins = FINISH < TWO_STAGE, halved = joins && L > 8;
    int top, even, odd, sum, other;
    float scale, scale_odd;

    __device__ cut_step(const int16_t *a, const int16_t *b, float c, const cut_numbers &r)
    {
        const int emin = FINISH == TO_F16 ? -14 : -126;
        const int own = joins && c != 0 ? max(exponent_of(c), emin) : r.least;
        const uint32_t most =
            largest_two<L>(a, b, __byte_perm(max(own, r.least), 0, 0x1010));
        even = (int16_t)most, odd = (int)most >> 16, top = max(even, odd);
        scale = power(r.fraction - (FINISH == PARITY ? even : top));
        scale_odd = FINISH == PARITY ? power(r.fraction - odd) : scale;
        sum = joins ? __float2int_rz(c * scale) : 0;
        other = 0;
    }
    __device__ void add(const values<L> &x, const values<L> &y, int at)
    {
#pragma unroll
        for (int l = 0; l < piece_of<L>; l++) {
            const bool second = FINISH == PARITY ? l % 2 : halved && at >= L / 2;
            const int cut = __float2int_rz(
                __fmul_rn(__fmul_rn(x.x[l], y.x[l]), l % 2 ? scale_odd : scale));
            (second ? other : sum) += cut;
        }
    }
    /* If every product is zero, c is unchanged; it may be below the range of `scale`. */
    __device__ float end(float c, const cut_numbers &r) const
    {
        const float v = summed(c, r);
        return top > LEAST_EXPONENT ? v : __fadd_rn(c, 0.0f);
    }
    __device__ float summed(float c, const cut_numbers &r) const
    {
        if constexpr (FINISH == PARITY)
            return two_stage((sum >> min(31, top - even)) + (other >> min(31, top - odd)),
                             top, c, true);
        if constexpr (FINISH == TWO_STAGE) return two_stage(sum, top, c, false);
        const float unit = power(top - r.fraction);
        const long long wide = (long long)sum + other;
        if constexpr (FINISH == TO_F16) {
            const double exact = (halved ? (double)wide : (double)sum) * (double)unit;
            const float v = __half2float(__double2half(exact));
            return isinf(c) ? c : v == 0 ? 0 : v;
        }
        const float v = (halved ? __ll2float_rz(wide) : __int2float_rz(sum)) * unit;
        return FINISH == TO_FEWER ? __int_as_float(__float_as_int(v) & r.mask) : v;
    }
};

/* --- EXACT -------------------------------------------------------------------------- */

/* Products of a line in binary64, and the range of their exponents. */
template <int L> struct wide_values {
    double x[L];
    int span;
    wide_values() = default;
    __device__ wide_values(const float *from, const int16_t *exponent)
    {
        int low = 1000, high = -1000;
#pragma unroll
        for (int l = 0; l < L; l++) {
            const int e = exponent[l];
            x[l] = from[l];
            if (e != NO_EXPONENT) low = min(low, e), high = max(high, e);
        }
        span = max(high - low, 0);
    }
};

/* x + y rounded to nearest, and its error (TwoSum, Knuth). */
__device__ double two_sum(double *error, double x, double y)
{
    const double sum = __dadd_rn(x, y), back = __dsub_rn(sum, x);
    *error = __dadd_rn(__dsub_rn(x, __dsub_rn(sum, back)), __dsub_rn(y, back));
    return sum;
}

/* x + y rounded to odd; a sum of zero is +0 unless both are -0.  If both roundings are
   equal, the sum is exact; otherwise one of them is odd. */
__device__ double sum_to_odd(double x, double y)
{
    const double low = __dadd_rd(x, y), high = __dadd_ru(x, y);
    return __double2loint(low) & 1 ? low : high;
}
__device__ float sum_to_odd(float x, float y)
{
    const float low = __fadd_rd(x, y), high = __fadd_ru(x, y);
    return __float_as_int(low) & 1 ? low : high;
}

/* c and L products, added exactly and rounded once, to nearest.  Binary64 can hold their
   sum if the range of all their exponents is at most `span`.  Otherwise the errors of
   additions are added, the last ones rounded to odd (Boldo and Melquiond 2008), as in
   emu/fast/fast_rounded.inc. */
template <int L>
__device__ float exact_step(const wide_values<L> &a, const wide_values<L> &b, float c,
                            int span)
{
    double sum = __dmul_rn(a.x[0], b.x[0]);
    if (a.span + b.span <= span) {
#pragma unroll
        for (int l = 1; l < L; l++) sum = __fma_rn(a.x[l], b.x[l], sum);
        return __double2float_rn(sum_to_odd(sum, c));
    }
    double rest = 0, low, error;
#pragma unroll
    for (int l = 1; l < L; l++) {
        sum = two_sum(&error, sum, __dmul_rn(a.x[l], b.x[l]));
        rest = __dadd_rn(rest, error);
    }
    if (rest == 0) return __double2float_rn(sum_to_odd(sum, c));
    sum = two_sum(&low, sum, rest);
    sum = two_sum(&error, sum, c);
    return __double2float_rn(sum_to_odd(sum, sum_to_odd(error, low)));
}

/* c + a b rounded to nearest, and the rounded sum minus the exact one (TwoSum).  The
   product is exact in FP32. */
__device__ float add_product(float *error, float a, float b, float c)
{
    const float sum = __fmaf_rn(a, b, c), back = __fadd_rn(sum, -c);
    *error = __fadd_rn(__fmaf_rn(-a, b, back), __fadd_rn(__fadd_rn(sum, -back), -c));
    return sum;
}

/* c and two products, added exactly and rounded once, to nearest, for exponents of any
   range: the errors of both additions, added and rounded to odd, correct the sum (Boldo
   and Melquiond 2008).  Exact errors are +0, so that a sum of -0 remains -0. */
__device__ float exact_pair(const values<2> &a, const values<2> &b, float c)
{
    float first, second;
    const float sum = add_product(&first, a.x[0], b.x[0], c);
    const float d = add_product(&second, a.x[1], b.x[1], sum);
    return __fadd_rn(d, -sum_to_odd(first, second));
}

/* The outputs of a thread: rows 4 apart, columns 8 apart. */
template <finish FINISH, int L>
__device__ void cut_block(float (&c)[EACH][EACH], const cut_stage &s, int i1, int j1,
                          int at, const cut_numbers &r)
{
    if constexpr (FINISH == EXACT && L > 2) {
        wide_values<L> x[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            x[i] = wide_values<L>(&s.a[i1 + i * 4][at], &s.ea[i1 + i * 4][at]);
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const wide_values<L> y(&s.b[j1 + j * 8][at], &s.eb[j1 + j * 8][at]);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                c[i][j] = exact_step<L>(x[i], y, c[i][j], r.span);
        }
    } else if constexpr (L <= 8) {
        values<L> y[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) y[j] = values<L>(&s.b[j1 + j * 8][at]);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const values<L> x(&s.a[i1 + i * 4][at]);
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                if constexpr (FINISH == EXACT) {
                    c[i][j] = exact_pair(x, y[j], c[i][j]);
                } else {
                    cut_step<FINISH, L> step(&s.ea[i1 + i * 4][at], &s.eb[j1 + j * 8][at],
                                             c[i][j], r);
                    step.add(x, y[j], 0);
                    c[i][j] = step.end(c[i][j], r);
                }
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const int row = i1 + i * 4, column = j1 + j * 8;
                cut_step<FINISH, L> step(&s.ea[row][at], &s.eb[column][at], c[i][j], r);
#pragma unroll
                for (int l = 0; l < L; l += 8)
                    step.add(values<L>(&s.a[row][at + l]),
                             values<L>(&s.b[column][at + l]), l);
                c[i][j] = step.end(c[i][j], r);
            }
    }
}

/* The largest range of exponents of both operands for which binary64 holds L products. */
template <int L> __device__ int span_of(const struct unit_rule &r)
{
    constexpr int carries = L == 2 ? 1 : 2;
    return 53 - 2 - carries - r.operand[0].fraction_bits - r.operand[1].fraction_bits;
}

/* If c is added last, it is saved while a step begins with 0, */
__device__ __forceinline__ void cut_begin(float (&c)[EACH][EACH],
                                          float (&old)[EACH][EACH])
{
#pragma unroll
    for (int i = 0; i < EACH * EACH; i++)
        old[i / EACH][i % EACH] = c[i / EACH][i % EACH], c[i / EACH][i % EACH] = 0;
}

/* and is added at the end of the step. */
template <finish FINISH>
__device__ __forceinline__ void cut_end(float (&c)[EACH][EACH],
                                        const float (&old)[EACH][EACH])
{
#pragma unroll
    for (int i = 0; i < EACH * EACH; i++) {
        float &d = c[i / EACH][i % EACH];
        d = __fadd_rn(d, old[i / EACH][i % EACH]);
        if (FINISH == TO_F16) d = __half2float(__float2half_rn(d));
    }
}

__device__ __forceinline__ void cut_store(const emulate_chain &x, size_t i1, size_t j1,
                                          const float (&c)[EACH][EACH],
                                          const float (&sum)[EACH][EACH])
{
#pragma unroll
    for (int i = 0; i < EACH * EACH; i++) {
        const size_t row = i1 + i / EACH * 4, column = j1 + i % EACH * 8;
        if (row < x.a.lines && column < x.b.lines)
            x.result[row * x.b.lines + column] =
                chain_result(c[i / EACH][i % EACH], sum[i / EACH][i % EACH], x);
    }
}

/* A warp has 16 rows and 32 columns of the tile; a thread has rows 4 apart and columns 8
   apart. */
template <finish FINISH, int L, bool LAST>
__global__ void __launch_bounds__(CORE_THREADS, L > 8 ? 1 : 2)
    cut(const __grid_constant__ emulate_chain x)
{
    extern __shared__ __align__(1024) char memory[];
    cut_stage *const m = (cut_stage *)memory;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int i1 = (warp >> 1) * 16 + (lane >> 3), j1 = (warp & 1) * 32 + (lane & 7);
    int ti, tj;
    tile_place(&ti, &tj, (int)(x.a.padded / CUT_TILE), (int)(x.b.padded / CUT_TILE));
    const size_t i0 = (size_t)ti * CUT_TILE, j0 = (size_t)tj * CUT_TILE;
    const int least =
        FINISH < TWO_STAGE ? max(x.rule.align_min, (int)LEAST_EXPONENT) : LEAST_EXPONENT;
    const cut_numbers numbers = { x.rule.fraction, least,
                                  -1 << (23 - x.rule.result.fraction_bits),
                                  span_of<L>(x.rule) };
    emulate_events events(x);
    float c[EACH][EACH], sum[EACH][EACH], old[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH * EACH; i++)
        c[i / EACH][i % EACH] = sum[i / EACH][i % EACH] = 0;
    const auto happen = [&](uint32_t what) {
        events_apply<EACH * EACH>(&c[0][0], &sum[0][0], what, x);
    };
    constexpr bool exponents = has_exponents<FINISH, L>;
    cut_load<exponents>(&m[0], x, i0, j0, 0);
    copy_commit();
    for (uint32_t k = 0, turn = 0; k < x.products; k += CUT_K, turn ^= 1) {
        copy_wait<0>();
        __syncthreads();
        if (k + CUT_K < x.products)
            cut_load<exponents>(&m[turn ^ 1], x, i0, j0, k + CUT_K);
        copy_commit();
        const auto &now = m[turn];
        const int end = (int)min(x.products - k, (uint32_t)CUT_K);
#pragma unroll 1
        for (int at = 0; at < end; at += L) {
            const bool begins = LAST && (k + at) % x.rule.k == 0;
            if (k + at == events.at) happen(events.take());
            if (begins) cut_begin(c, old);
            cut_block<FINISH, L>(c, now, i1, j1, at, numbers);
            if (LAST && (k + at + L) % x.rule.k == 0) cut_end<FINISH>(c, old);
        }
    }
    while (events.at != UINT32_MAX) happen(events.take());
    cut_store(x, i0 + i1, j0 + j1, c, sum);
}

template <finish FINISH, int L, bool LAST = false>
rt_error cut_with(const emulate_chain &x, rt_stream stream)
{
    constexpr int bytes = 2 * sizeof(cut_stage);
    const rt_error status = rt_function_set(cut<FINISH, L, LAST>, RT_SHARED_BYTES, bytes);
    if (status != RT_SUCCESS) return status;
    if (has_exponents<FINISH, L>) {
        exponents<<<PASSES, CORE_THREADS, 0, stream>>>(x.a, 1 - x.rule.operand[0].bias);
        exponents<<<PASSES, CORE_THREADS, 0, stream>>>(x.b, 1 - x.rule.operand[1].bias);
    }
    cut<FINISH, L, LAST><<<(unsigned)(x.a.padded / CUT_TILE * (x.b.padded / CUT_TILE)),
                           CORE_THREADS, bytes, stream>>>(x);
    return rt_last_error();
}

constexpr struct {
    enum finish finish;
    int block;
    bool last;
    rt_error (*start)(const emulate_chain &x, rt_stream stream);
} cuts[] = {
    { TO_F32, 4, false, cut_with<TO_F32, 4> },
    { TO_F32, 8, false, cut_with<TO_F32, 8> },
    { TO_F32, 16, false, cut_with<TO_F32, 16> },
    { TO_F32, 32, false, cut_with<TO_F32, 32> },
    { TO_F32, 8, true, cut_with<TO_F32, 8, true> },
    { TO_F32, 16, true, cut_with<TO_F32, 16, true> },
    { TO_FEWER, 16, false, cut_with<TO_FEWER, 16> },
    { TO_FEWER, 32, false, cut_with<TO_FEWER, 32> },
    { TO_F16, 4, false, cut_with<TO_F16, 4> },
    { TO_F16, 8, false, cut_with<TO_F16, 8> },
    { TO_F16, 16, false, cut_with<TO_F16, 16> },
    { TO_F16, 32, false, cut_with<TO_F16, 32> },
    { TO_F16, 8, true, cut_with<TO_F16, 8, true> },
    { TO_F16, 16, true, cut_with<TO_F16, 16, true> },
    { TWO_STAGE, 4, false, cut_with<TWO_STAGE, 4> },
    { TWO_STAGE, 8, false, cut_with<TWO_STAGE, 8> },
    { PARITY, 16, false, cut_with<PARITY, 16> },
    { EXACT, 2, false, cut_with<EXACT, 2> },
    { EXACT, 4, false, cut_with<EXACT, 4> },
};

enum finish finish_of(const struct unit_rule &r)
{
    if (r.fraction == RULE_EXACT) return EXACT;
    if (r.sum == RULE_TWO_STAGE) return r.parity ? PARITY : TWO_STAGE;
    if (r.result.bits == 16) return TO_F16;
    return r.result.fraction_bits == 23 ? TO_F32 : TO_FEWER;
}

} // namespace

rt_error cut_start(const emulate_chain &x, rt_stream stream)
{
    const enum finish finish = finish_of(x.rule);
    for (const auto &code : cuts)
        if (code.finish == finish && code.block == x.rule.block &&
            code.last == x.rule.c_last)
            return code.start(x, stream);
    return RT_NO_FUNCTION;
}
