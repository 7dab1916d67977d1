/* SPDX-License-Identifier: BSD-3-Clause */
/* Single MFMA: D = A B + C by one wave, operands and accumulators in registers.

   Launch: blocks of one wave.  Each takes a fragment for every block of the instruction,
   issues the instruction, and takes the next fragments.  Nothing else is computed:
   encodings are copied from memory into registers and back, so every bit of D is the
   device's.  gpu/hip/device.h defines the position of a fragment in the registers. */
#include "gpu/hip/device.h"
#include "gpu/hip/mfma_rows.h"

template <int BYTES> struct encoding;
template <> struct encoding<1> {
    typedef uint8_t type;
};
template <> struct encoding<2> {
    typedef uint16_t type;
};
template <> struct encoding<4> {
    typedef uint32_t type;
};

/* The elements of A in a lane, or of B with step = N. */
template <class I>
DEVICE typename I::operand operand_load(const void *from, uint64_t fragment, int lane,
                                        int line_step, int step)
{
    typedef typename encoding<I::element_bytes>::type element;
    typename I::operand x;
    const int at = I::blocks > 1 ? 0 : lane / I::side * I::each;
    const element *x0 = (const element *)from + fragment * (I::side * I::depth) +
                        lane % I::side * line_step + at * step;
    element e[I::each];
#pragma unroll
    for (int i = 0; i < I::each; i++) e[i] = x0[i * step];
    __builtin_memcpy(&x, e, sizeof x);
    return x;
}

DEVICE uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

template <class I> DEVICE void run(const struct hip_batch &x)
{
    enum { outputs = I::side * I::side };
    const int lane = (int)thread_x(), own = I::blocks > 1 ? lane / I::side : 0;
    const uint64_t last = x.count - 1; /* a block without a fragment computes, too */
    for (uint64_t first = block_x() * (uint64_t)I::blocks; first < x.count;
         first += x.groups * I::blocks) {
        const uint64_t at = earlier(first + own, last);
        const typename I::operand a = operand_load<I>(x.a, at, lane, I::depth, 1);
        const typename I::operand b = operand_load<I>(x.b, at, lane, 1, I::side);
        typename I::sums d;
#pragma unroll
        for (int q = 0; q < I::count; q++) {
            const uint64_t f = earlier(first + I::block(lane, q), last);
            const int place = I::row(lane, q) * I::side + I::column(lane);
            d[q] = ((const float *)x.c)[f * outputs + place];
        }
        d = I::issue(a, b, d);
#pragma unroll
        for (int q = 0; q < I::count; q++) {
            const uint64_t f = first + I::block(lane, q);
            const int place = I::row(lane, q) * I::side + I::column(lane);
            if (f < x.count) ((float *)x.d)[f * outputs + place] = d[q];
        }
    }
}

#define MFMA_KERNEL(SHAPE, INPUT, ...)                                                   \
    KERNEL(WAVE) mfma_##SHAPE##_f32_##INPUT(struct hip_batch x)                          \
    {                                                                                    \
        run<i##SHAPE##_##INPUT>(x);                                                      \
    }
#define MFMA(SHAPE, INPUT, ...)                                                          \
    MFMA_CLASS(SHAPE, INPUT, __VA_ARGS__)                                                \
    MFMA_KERNEL(SHAPE, INPUT)

MFMA_F16(MFMA)
MFMA_F32(MFMA)
#ifdef __gfx908__
MFMA_F32_BLOCKS(MFMA)
#endif
#if defined(__gfx908__) || defined(__gfx90a__)
MFMA_BF16(MFMA)
#endif
#ifdef __gfx90a__
MFMA_BF16_1K(MFMA, bf16_1k)
#endif
#ifdef __gfx942__
MFMA_BF16_1K(MFMA, bf16)
MFMA_XF32(MFMA)
MFMA_FP8(MFMA, fp8, fp8)
MFMA_FP8(MFMA, fp8, bf8)
MFMA_FP8(MFMA, bf8, fp8)
MFMA_FP8(MFMA, bf8, bf8)
#endif
