/* SPDX-License-Identifier: BSD-3-Clause */
/* Kit: record what the matrix instructions of an AMD Instinct card compute.  The kit is
   one file.  It needs a compiler and the driver, and no header of HIP:

     hipcc kit.hip -o kit && ./kit > out.jsonl

   Each instruction of the card (MI100: gfx908, MI200: gfx90a, MI300: gfx942) is issued
   alone, twice: on `samples`, which are dot products that distinguish the possible ways
   of summing, and on whole fragments of random encodings.  A line of the output holds the
   operands and results of one instruction as encodings.  `bitcut replay out.jsonl`
   compares them with the models; `bitcut fit out.jsonl` looks for a unit that gives them.
   Operands depend only on the seed (kit SEED).

   The rows of CDNA4 (gfx950) were never compiled here.  Sources: AMD matrix instruction
   calculator, for the position of a fragment in the registers; for CDNA4 the AMD blog
   "Matrix Core Programming on AMD CDNA3 and CDNA4".  C++14. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the runtime, as its headers of versions 5 to 7 have it ------------------------- */

struct dim3 {
    uint32_t x, y, z;
};

extern "C" {
int hipGetDeviceCount(int *count);
int hipSetDevice(int device);
int hipDeviceGetName(char *name, int size, int device);
int hipDriverGetVersion(int *version);
int hipRuntimeGetVersion(int *version);
int hipMalloc(void **at, size_t bytes);
int hipFree(void *at);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipDeviceSynchronize(void);
const char *hipGetErrorString(int status);
int hipLaunchKernel(const void *kernel, dim3 groups, dim3 items, void **arguments,
                    size_t shared_bytes, void *stream);
int __hipPushCallConfiguration(dim3 groups, dim3 items, size_t shared_bytes,
                               void *stream);
int __hipPopCallConfiguration(dim3 *groups, dim3 *items, size_t *shared_bytes,
                              void **stream);
}

enum { TO_DEVICE = 1, TO_HOST = 2, LANES = 64 };

static void complain(const char *where, const char *why)
{
    fprintf(stderr, "kit: %s: %s\n", where, why);
    exit(3);
}

static void check(int status, const char *call)
{
    if (status) complain(call, hipGetErrorString(status));
}

/* --- the table of instructions ------------------------------------------------------ */

#define GFX908 1
#define GFX90A 2
#define GFX942 4
#define GFX950 8
#define ALL    (GFX908 | GFX90A | GFX942 | GFX950)

/* The target for which the file is compiled; 0 on the host. */
#if defined(__gfx908__)
#define HERE GFX908
#elif defined(__gfx90a__)
#define HERE GFX90A
#elif defined(__gfx942__)
#define HERE GFX942
#elif defined(__gfx950__)
#define HERE GFX950
#else
#define HERE 0
#endif

typedef _Float16 half4_ __attribute__((ext_vector_type(4)));
typedef short short2_ __attribute__((ext_vector_type(2)));
typedef short short4_ __attribute__((ext_vector_type(4)));
typedef float float2_ __attribute__((ext_vector_type(2)));

/* X(group, shape, inputs, side, blocks, depth, type of an operand, format of a, of b, of
   c, builtin): D = A B + C of `blocks` products side x side x depth. */
/* clang-format off */
#define PLAIN(NAME)         __builtin_amdgcn_mfma_##NAME(a, b, d, 0, 0, 0)
#define SCALED(NAME, A, B)  __builtin_amdgcn_mfma_scale_##NAME(a, b, d, A, B, 0, 0, 0, 0)
#define ROWS(X)                                                                          \
  X(MAI,     32x32x8,    f16,     32,  1,   8, half4_,   F16,  F16,  F32, PLAIN(f32_32x32x8f16))         \
  X(MAI,     32x32x4_2b, f16,     32,  2,   4, half4_,   F16,  F16,  F32, PLAIN(f32_32x32x4f16))         \
  X(MAI,     16x16x16,   f16,     16,  1,  16, half4_,   F16,  F16,  F32, PLAIN(f32_16x16x16f16))        \
  X(MAI,     16x16x4_4b, f16,     16,  4,   4, half4_,   F16,  F16,  F32, PLAIN(f32_16x16x4f16))         \
  X(MAI,     4x4x4_16b,  f16,      4, 16,   4, half4_,   F16,  F16,  F32, PLAIN(f32_4x4x4f16))           \
  X(MAI,     32x32x2,    f32,     32,  1,   2, float,    F32,  F32,  F32, PLAIN(f32_32x32x2f32))         \
  X(MAI,     16x16x4,    f32,     16,  1,   4, float,    F32,  F32,  F32, PLAIN(f32_16x16x4f32))         \
  X(MAI,     4x4x1_16b,  f32,      4, 16,   1, float,    F32,  F32,  F32, PLAIN(f32_4x4x1f32))           \
  X(CDNA1,   32x32x1_2b, f32,     32,  2,   1, float,    F32,  F32,  F32, PLAIN(f32_32x32x1f32))         \
  X(CDNA1,   16x16x1_4b, f32,     16,  4,   1, float,    F32,  F32,  F32, PLAIN(f32_16x16x1f32))         \
  X(CDNA12,  32x32x4,    bf16,    32,  1,   4, short2_,  BF16, BF16, F32, PLAIN(f32_32x32x4bf16))        \
  X(CDNA12,  32x32x2_2b, bf16,    32,  2,   2, short2_,  BF16, BF16, F32, PLAIN(f32_32x32x2bf16))        \
  X(CDNA12,  16x16x8,    bf16,    16,  1,   8, short2_,  BF16, BF16, F32, PLAIN(f32_16x16x8bf16))        \
  X(CDNA12,  16x16x2_4b, bf16,    16,  4,   2, short2_,  BF16, BF16, F32, PLAIN(f32_16x16x2bf16))        \
  X(CDNA12,  4x4x2_16b,  bf16,     4, 16,   2, short2_,  BF16, BF16, F32, PLAIN(f32_4x4x2bf16))          \
  X(CDNA234, 32x32x8,    bf16_1k, 32,  1,   8, short4_,  BF16, BF16, F32, PLAIN(f32_32x32x8bf16_1k))     \
  X(CDNA234, 32x32x4_2b, bf16_1k, 32,  2,   4, short4_,  BF16, BF16, F32, PLAIN(f32_32x32x4bf16_1k))     \
  X(CDNA234, 16x16x16,   bf16_1k, 16,  1,  16, short4_,  BF16, BF16, F32, PLAIN(f32_16x16x16bf16_1k))    \
  X(CDNA234, 16x16x4_4b, bf16_1k, 16,  4,   4, short4_,  BF16, BF16, F32, PLAIN(f32_16x16x4bf16_1k))     \
  X(CDNA234, 4x4x4_16b,  bf16_1k,  4, 16,   4, short4_,  BF16, BF16, F32, PLAIN(f32_4x4x4bf16_1k))       \
  X(CDNA234, 16x16x4,    f64,     16,  1,   4, double,   F64,  F64,  F64, PLAIN(f64_16x16x4f64))         \
  X(CDNA234, 4x4x4_4b,   f64,      4,  4,   4, double,   F64,  F64,  F64, PLAIN(f64_4x4x4f64))           \
  X(CDNA3,   32x32x4,    xf32,    32,  1,   4, float2_,  TF32, TF32, F32, PLAIN(f32_32x32x4_xf32))       \
  X(CDNA3,   16x16x8,    xf32,    16,  1,   8, float2_,  TF32, TF32, F32, PLAIN(f32_16x16x8_xf32))       \
  X(CDNA34,  32x32x16,   fp8_fp8, 32,  1,  16, long,     FP8,  FP8,  F32, PLAIN(f32_32x32x16_fp8_fp8))   \
  X(CDNA34,  32x32x16,   fp8_bf8, 32,  1,  16, long,     FP8,  BF8,  F32, PLAIN(f32_32x32x16_fp8_bf8))   \
  X(CDNA34,  32x32x16,   bf8_fp8, 32,  1,  16, long,     BF8,  FP8,  F32, PLAIN(f32_32x32x16_bf8_fp8))   \
  X(CDNA34,  32x32x16,   bf8_bf8, 32,  1,  16, long,     BF8,  BF8,  F32, PLAIN(f32_32x32x16_bf8_bf8))   \
  X(CDNA34,  16x16x32,   fp8_fp8, 16,  1,  32, long,     FP8,  FP8,  F32, PLAIN(f32_16x16x32_fp8_fp8))   \
  X(CDNA34,  16x16x32,   fp8_bf8, 16,  1,  32, long,     FP8,  BF8,  F32, PLAIN(f32_16x16x32_fp8_bf8))   \
  X(CDNA34,  16x16x32,   bf8_fp8, 16,  1,  32, long,     BF8,  FP8,  F32, PLAIN(f32_16x16x32_bf8_fp8))   \
  X(CDNA34,  16x16x32,   bf8_bf8, 16,  1,  32, long,     BF8,  BF8,  F32, PLAIN(f32_16x16x32_bf8_bf8))   \
  X(CDNA4,   32x32x16,   f16,     32,  1,  16, half8_,   F16,  F16,  F32, PLAIN(f32_32x32x16_f16))       \
  X(CDNA4,   32x32x16,   bf16,    32,  1,  16, bfloat8_, BF16, BF16, F32, PLAIN(f32_32x32x16_bf16))      \
  X(CDNA4,   16x16x32,   f16,     16,  1,  32, half8_,   F16,  F16,  F32, PLAIN(f32_16x16x32_f16))       \
  X(CDNA4,   16x16x32,   bf16,    16,  1,  32, bfloat8_, BF16, BF16, F32, PLAIN(f32_16x16x32_bf16))      \
  X(CDNA4,   32x32x64,   fp8_fp8, 32,  1,  64, int8_,    FP8,  FP8,  F32, SCALED(f32_32x32x64_f8f6f4, 0, 0)) \
  X(CDNA4,   32x32x64,   fp8_bf8, 32,  1,  64, int8_,    FP8,  BF8,  F32, SCALED(f32_32x32x64_f8f6f4, 0, 1)) \
  X(CDNA4,   32x32x64,   bf8_fp8, 32,  1,  64, int8_,    BF8,  FP8,  F32, SCALED(f32_32x32x64_f8f6f4, 1, 0)) \
  X(CDNA4,   32x32x64,   bf8_bf8, 32,  1,  64, int8_,    BF8,  BF8,  F32, SCALED(f32_32x32x64_f8f6f4, 1, 1)) \
  X(CDNA4,   16x16x128,  fp8_fp8, 16,  1, 128, int8_,    FP8,  FP8,  F32, SCALED(f32_16x16x128_f8f6f4, 0, 0)) \
  X(CDNA4,   16x16x128,  fp8_bf8, 16,  1, 128, int8_,    FP8,  BF8,  F32, SCALED(f32_16x16x128_f8f6f4, 0, 1)) \
  X(CDNA4,   16x16x128,  bf8_fp8, 16,  1, 128, int8_,    BF8,  FP8,  F32, SCALED(f32_16x16x128_f8f6f4, 1, 0)) \
  X(CDNA4,   16x16x128,  bf8_bf8, 16,  1, 128, int8_,    BF8,  BF8,  F32, SCALED(f32_16x16x128_f8f6f4, 1, 1))
/* clang-format on */

/* The groups: the targets that have a row. */
enum {
    MAI = ALL,
    CDNA1 = GFX908,
    CDNA12 = GFX908 | GFX90A,
    CDNA234 = GFX90A | GFX942 | GFX950,
    CDNA3 = GFX942,
    CDNA34 = GFX942 | GFX950,
    CDNA4 = GFX950
};

/* The same for the preprocessor: a target's code has no code of other targets, and the
   host's code has none. */
#define ABSENT(...)
#define PRESENT(...) __VA_ARGS__
#if HERE
#define IF_MAI PRESENT
#else
#define IF_MAI ABSENT
#endif
#if HERE & GFX908
#define IF_CDNA1 PRESENT
#else
#define IF_CDNA1 ABSENT
#endif
#if HERE & (GFX908 | GFX90A)
#define IF_CDNA12 PRESENT
#else
#define IF_CDNA12 ABSENT
#endif
#if HERE & (GFX90A | GFX942 | GFX950)
#define IF_CDNA234 PRESENT
#else
#define IF_CDNA234 ABSENT
#endif
#if HERE & GFX942
#define IF_CDNA3 PRESENT
#else
#define IF_CDNA3 ABSENT
#endif
#if HERE & (GFX942 | GFX950)
#define IF_CDNA34 PRESENT
#else
#define IF_CDNA34 ABSENT
#endif
#if HERE & GFX950
#define IF_CDNA4 PRESENT
typedef _Float16 half8_ __attribute__((ext_vector_type(8)));
typedef __bf16 bfloat8_ __attribute__((ext_vector_type(8)));
typedef int int8_ __attribute__((ext_vector_type(8)));
#else
#define IF_CDNA4 ABSENT
#endif

/* --- the device --------------------------------------------------------------------- */

#define DEVICE inline __attribute__((device, always_inline))
#define KERNEL                                                                           \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void

/* Fragments of `count` products: a[side][depth], b[depth][side], c and d[side][side]. */
struct batch {
    void *d;
    const void *a, *b, *c;
    uint64_t count;
};

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
template <> struct encoding<8> {
    typedef uint64_t type;
};

/* C and D of a lane. */
template <class ELEMENT, int HELD> struct accumulator {
    typedef ELEMENT type __attribute__((ext_vector_type(HELD)));
};
template <> struct accumulator<double, 1> {
    typedef double type;
};

/* The position of a fragment: lane l has `each` elements of line l % SIDE of A and of B,
   in runs of at most 16 consecutive k, and `held` elements of column l % SIDE of D.
   Lanes are distributed over k first, and then over blocks; for f64 the other way
   round. */
template <int SIDE, int BLOCKS, int DEPTH, class OPERAND, class SUM> struct place {
    enum {
        side = SIDE,
        blocks = BLOCKS,
        depth = DEPTH,
        each = SIDE * DEPTH * BLOCKS / LANES,
        held = SIDE * SIDE * BLOCKS / LANES,
        parts = DEPTH / each, /* lanes that share a line */
        run = each < 16 ? each : 16,
        blocks_first = sizeof(SUM) == 8
    };
    typedef OPERAND operand;
    typedef typename encoding<sizeof(OPERAND) / each>::type element;
    typedef typename accumulator<SUM, held>::type sums;
    typedef typename encoding<sizeof(SUM)>::type sum;

    static DEVICE int block(int lane)
    {
        return blocks_first ? lane / SIDE % BLOCKS : lane / SIDE / parts;
    }
    static DEVICE int k(int lane, int e)
    {
        const int part = blocks_first ? lane / SIDE / BLOCKS : lane / SIDE % parts;
        return part * run + e % run + e / run * (run * parts);
    }
    /* The row of register r, counted through all blocks. */
    static DEVICE int line(int lane, int r)
    {
        const int groups = LANES / SIDE / BLOCKS;
        return blocks_first ? block(lane) * SIDE + r * groups + lane / SIDE / BLOCKS
                            : r / 4 * (4 * LANES / SIDE) + lane / SIDE * 4 + r % 4;
    }
};

/* A block without a fragment computes the last fragment. */
DEVICE uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

template <class I>
DEVICE typename I::operand operand_load(const void *from, uint64_t fragment, int lane,
                                        int line_step, int k_step)
{
    const typename I::element *x = (const typename I::element *)from +
                                   fragment * (I::side * I::depth) +
                                   lane % I::side * line_step;
    typename I::element e[I::each];
    typename I::operand operand;
#pragma unroll
    for (int i = 0; i < I::each; i++) e[i] = x[I::k(lane, i) * k_step];
    __builtin_memcpy(&operand, e, sizeof operand);
    return operand;
}

template <class I> DEVICE void run(const batch &x)
{
    const int lane = (int)__builtin_amdgcn_workitem_id_x(), column = lane % I::side;
    const uint64_t first = (uint64_t)__builtin_amdgcn_workgroup_id_x() * I::blocks;
    const uint64_t last = x.count - 1, at = earlier(first + I::block(lane), last);
    const typename I::operand a = operand_load<I>(x.a, at, lane, I::depth, 1);
    const typename I::operand b = operand_load<I>(x.b, at, lane, 1, I::side);
    typename I::sum e[I::held];
    typename I::sums d;
#pragma unroll
    for (int r = 0; r < I::held; r++) {
        const int line = I::line(lane, r);
        const uint64_t row =
            earlier(first + line / I::side, last) * I::side + line % I::side;
        e[r] = ((const typename I::sum *)x.c)[row * I::side + column];
    }
    __builtin_memcpy(&d, e, sizeof d);
    d = I::issue(a, b, d);
    __builtin_memcpy(e, &d, sizeof d);
#pragma unroll
    for (int r = 0; r < I::held; r++) {
        const int line = I::line(lane, r);
        const uint64_t f = first + line / I::side, row = f * I::side + line % I::side;
        if (f < x.count) ((typename I::sum *)x.d)[row * I::side + column] = e[r];
    }
}

typedef float sum_F32;
typedef double sum_F64;

/* clang-format off */
#define KERNEL_OF(GROUP, SHAPE, INPUTS, SIDE, BLOCKS, DEPTH, OPERAND, FA, FB, FC, CALL)  \
    IF_##GROUP(struct i##SHAPE##_##INPUTS                                                \
        : place<SIDE, BLOCKS, DEPTH, OPERAND, sum_##FC> {                                \
            static DEVICE sums issue(operand a, operand b, sums d) { return CALL; }      \
        };)                                                                              \
    KERNEL mfma_##SHAPE##_##INPUTS(batch x)                                              \
    {                                                                                    \
        (void)x;                                                                         \
        IF_##GROUP(run<i##SHAPE##_##INPUTS>(x);)                                         \
    }
/* clang-format on */

ROWS(KERNEL_OF)

/* Report the target for which the running code was compiled. */
KERNEL which(int *target) { *target = HERE; }

/* --- formats ------------------------------------------------------------------------ */

/* The meaning of an exponent field of ones: infinities and NaNs; a NaN if the fraction is
   all ones too; or a number, where the encoding of -0 is the NaN. */
enum special { IEEE, FN, FNUZ };

struct format {
    const char *name;
    int exponent_bits, fraction_bits, bias, pad; /* pad: bits below the fraction */
    special ones;
};

static const format F16 = { "f16", 5, 10, 15, 0, IEEE };
static const format BF16 = { "bf16", 8, 7, 127, 0, IEEE };
static const format TF32 = { "tf32", 8, 10, 127, 13, IEEE };
static const format F32 = { "f32", 8, 23, 127, 0, IEEE };
static const format F64 = { "f64", 11, 52, 1023, 0, IEEE };
static const format E4M3FNUZ = { "e4m3fnuz", 4, 3, 8, 0, FNUZ };
static const format E5M2FNUZ = { "e5m2fnuz", 5, 2, 16, 0, FNUZ };
static const format E4M3 = { "e4m3", 4, 3, 7, 0, FN };
static const format E5M2 = { "e5m2", 5, 2, 15, 0, IEEE };
/* The 8-bit formats of gfx942, and the formats that format_here() uses instead for
   gfx950. */
#define FP8 E4M3FNUZ
#define BF8 E5M2FNUZ

static const format *format_here(const format *f, int target)
{
    if (target != GFX950) return f;
    return f == &FP8 ? &E4M3 : f == &BF8 ? &E5M2 : f;
}

static int bytes_of(const format *f)
{
    return (1 + f->exponent_bits + f->fraction_bits + f->pad) / 8;
}
static int least_exponent(const format *f) { return 1 - f->bias; }
static int most_exponent(const format *f)
{
    return (1 << f->exponent_bits) - 1 - f->bias - (f->ones == IEEE);
}

/* Compose sign, exponent field and fraction. */
static uint64_t fields(const format *f, bool negative, uint64_t rest)
{
    if (f->ones == FNUZ && !rest) negative = false;
    return ((uint64_t)negative << (f->exponent_bits + f->fraction_bits) | rest) << f->pad;
}

/* The number with its leading bit at `exponent`, moved into the range, followed by the
   highest bits of `fraction`. */
static uint64_t number_at(const format *f, bool negative, int exponent, uint64_t fraction)
{
    const int least = least_exponent(f), below = least - f->fraction_bits;
    if (exponent < below) exponent = below;
    if (exponent > most_exponent(f)) exponent = most_exponent(f);
    fraction >>= 64 - f->fraction_bits;
    const uint64_t one = (uint64_t)1 << f->fraction_bits;
    if (exponent < least)
        return fields(f, negative, (one | fraction) >> (least - exponent));
    uint64_t rest = (uint64_t)(exponent + f->bias) << f->fraction_bits | fraction;
    if (f->ones == FN && rest == (one << f->exponent_bits) - 1) rest--;
    return fields(f, negative, rest);
}

static uint64_t negated(const format *f, uint64_t x)
{
    const uint64_t sign = (uint64_t)1 << (f->exponent_bits + f->fraction_bits + f->pad);
    return f->ones == FNUZ && !(x & ~sign) ? x : x ^ sign;
}

/* --- samples ------------------------------------------------------------------------ */

static uint64_t state;

/* Splitmix64.  If a call had two draws among its arguments, the result would depend on
   the compiler, so every draw is a separate statement. */
static uint64_t bits()
{
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static int between(int low, int high)
{
    return low + (int)((bits() >> 33) % (uint64_t)(high - low + 1));
}
static bool one_in(int n) { return between(1, n) == 1; }
static bool any_sign() { return one_in(2); }

static uint64_t any(const format *f)
{
    return bits() >> (63 - f->exponent_bits - f->fraction_bits) << f->pad;
}
static uint64_t near_to(const format *f, int exponent)
{
    const bool negative = any_sign();
    return number_at(f, negative, exponent, bits());
}
static uint64_t anywhere(const format *f)
{
    return near_to(f, between(least_exponent(f) - f->fraction_bits, most_exponent(f)));
}
static uint64_t zero(const format *f) { return fields(f, any_sign(), 0); }

/* Zero, or a limit of the subnormal or of the normal numbers. */
static uint64_t limit(const format *f)
{
    const int least = least_exponent(f);
    const int ends[] = { least - f->fraction_bits, least - 1, least, most_exponent(f) };
    const int i = between(0, 4);
    const bool negative = any_sign();
    const uint64_t fraction = one_in(2) ? 0 : ~(uint64_t)0;
    return i == 4 ? fields(f, negative, 0) : number_at(f, negative, ends[i], fraction);
}

/* An infinity or a NaN. */
static uint64_t not_finite(const format *f)
{
    const uint64_t one = (uint64_t)1 << f->fraction_bits;
    const bool negative = any_sign(), infinite = one_in(2);
    const uint64_t fraction = bits() >> (64 - f->fraction_bits);
    if (f->ones == FNUZ) return one << f->exponent_bits;
    if (f->ones == FN) return fields(f, negative, (one << f->exponent_bits) - 1);
    return fields(f, negative,
                  (one << f->exponent_bits) - one + (infinite ? 0 : fraction));
}

enum { DEPTH_MAX = 128 };

/* A dot product of `depth` products and c. */
struct sample {
    int depth;
    const format *fa, *fb, *fc;
    uint64_t a[DEPTH_MAX], b[DEPTH_MAX], c;
};

static int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* The exponent of the first factor of a product of about 2^exponent: any exponent that
   both formats can hold. */
static int share_of(const sample *s, int exponent)
{
    const int least = least_exponent(s->fa) - s->fa->fraction_bits;
    const int low = clamp(exponent - most_exponent(s->fb), least, most_exponent(s->fa));
    const int high = clamp(exponent - least_exponent(s->fb) + s->fb->fraction_bits, low,
                           most_exponent(s->fa));
    return between(low, high);
}

/* Set a product of about 2^exponent, with normal factors if possible. */
static void put(sample *s, int k, int exponent)
{
    const int least = least_exponent(s->fa), most = most_exponent(s->fa);
    const int low = clamp(exponent - most_exponent(s->fb), least, most);
    const int high = clamp(exponent - least_exponent(s->fb), low, most);
    const int first = between(low, high);
    s->a[k] = near_to(s->fa, first);
    s->b[k] = near_to(s->fb, exponent - first);
}

/* Set the product 2^exponent with this sign. */
static void put_power(sample *s, int k, bool negative, int exponent)
{
    const int first = share_of(s, exponent);
    s->a[k] = number_at(s->fa, negative, first, 0);
    s->b[k] = number_at(s->fb, false, exponent - first, 0);
}

static int any_place(const sample *s) { return between(0, s->depth - 1); }

/* The kinds of samples.  Each kind tests another property of a unit: aligning, cutting,
   rounding, flushing, and the order of these. */
static void ordinary(sample *s)
{
    for (int k = 0; k < s->depth; k++) put(s, k, between(-4, 0));
    s->c = near_to(s->fc, between(-4, 4));
}
static void of_any_bits(sample *s)
{
    for (int k = 0; k < s->depth; k++) s->a[k] = any(s->fa);
    for (int k = 0; k < s->depth; k++) s->b[k] = any(s->fb);
    s->c = any(s->fc);
}
static void wide(sample *s)
{
    for (int k = 0; k < s->depth; k++) s->a[k] = anywhere(s->fa);
    for (int k = 0; k < s->depth; k++) s->b[k] = anywhere(s->fb);
    s->c = anywhere(s->fc);
}
static void wide_c(sample *s)
{
    ordinary(s);
    s->c = near_to(s->fc, between(-40, 40));
}
static void with_limits(sample *s)
{
    ordinary(s);
    for (int k = 0; k < s->depth; k++) {
        if (one_in(4)) s->a[k] = limit(s->fa);
        if (one_in(4)) s->b[k] = limit(s->fb);
    }
    if (one_in(4)) s->c = limit(s->fc);
    for (int left = between(0, 3); left > 0; left--) {
        const int k = any_place(s), where = between(0, 2);
        if (where == 0) s->c = not_finite(s->fc);
        if (where == 1) s->a[k] = not_finite(s->fa);
        if (where == 2) s->b[k] = not_finite(s->fb);
    }
}
static void nothing(sample *s)
{
    for (int k = 0; k < s->depth; k++) s->a[k] = zero(s->fa);
    for (int k = 0; k < s->depth; k++) s->b[k] = zero(s->fb);
    s->c = zero(s->fc);
}
/* Few products, and c, far apart. */
static void sparse(sample *s)
{
    const int span = s->fc->fraction_bits + 4;
    nothing(s);
    for (int left = between(1, 3); left > 0; left--) {
        const int k = any_place(s);
        put(s, k, between(-span, span));
    }
    if (one_in(2)) s->c = near_to(s->fc, between(-span, span));
}
/* Two products that cancel, above others that do not. */
static void cancelling(sample *s)
{
    const int from = any_place(s), to = any_place(s), exponent = between(0, 40);
    nothing(s);
    for (int k = 0; k < s->depth; k++)
        if (one_in(3)) put(s, k, between(-30, 2));
    if (one_in(2)) s->c = near_to(s->fc, between(-30, 2));
    put(s, from, exponent);
    if (to == from) return;
    s->a[to] = negated(s->fa, s->a[from]);
    s->b[to] = s->b[from];
}
/* c is larger than products of one sign: which bits of them are cut, and in which
   direction. */
static void under_c(sample *s)
{
    const bool negative = any_sign(), opposite = any_sign();
    const int exponent = between(0, s->fc->fraction_bits + 6);
    ordinary(s);
    for (int k = 0; k < s->depth; k++) {
        const int first = between(-3, 0);
        s->a[k] = number_at(s->fa, negative, first, bits());
    }
    for (int k = 0; k < s->depth; k++) s->b[k] = number_at(s->fb, false, 0, bits());
    s->c = number_at(s->fc, opposite, exponent, one_in(2) ? 0 : ~(uint64_t)0);
}
/* Products of zero, all of one sign or of any sign, and c of zero; or only c. */
static void signed_zeros(sample *s)
{
    const bool same = one_in(2), negative = any_sign(), first = one_in(2);
    const int c = between(0, 3), below = s->fc->fraction_bits;
    for (int k = 0; k < s->depth; k++) {
        const bool sign = same ? negative : any_sign();
        const int exponent = one_in(2) ? between(-4, 4) : most_exponent(s->fb);
        const uint64_t fraction = bits();
        s->a[k] = fields(s->fa, !first && sign, 0);
        s->b[k] =
            number_at(s->fb, (first || s->fa->ones == FNUZ) && sign, exponent, fraction);
    }
    s->c = fields(s->fc, c == 0 ? !negative : negative, 0);
    if (c == 2) s->c = near_to(s->fc, least_exponent(s->fc) + between(-below, 16));
    if (c == 3) s->c = anywhere(s->fc);
}
/* Positions, in bits below the top, that a unit may retain in a sum beyond its result's
   bits. */
static int gap_of(const sample *s)
{
    const bool more = !one_in(4);
    return more ? between(30, 33) : s->fc->fraction_bits + between(-1, 2);
}
/* A sum and a tie of it, or the neighbour of a tie, where c or a product is largest, a
   power of two or not.  `below`: the tie has the other sign. */
static void tie(sample *s, bool c_leads, bool power, bool below)
{
    const int top = between(-2, c_leads ? 30 : 12), half = top - s->fc->fraction_bits - 1;
    const int k = any_place(s);
    const bool negative = any_sign(), small_sign = any_sign();
    const int small = one_in(4) ? half - between(1, 16) : top - gap_of(s);
    nothing(s);
    if (!one_in(8)) put_power(s, (k + 2) % s->depth, small_sign, small);
    put_power(s, (k + 1) % s->depth, below ? !negative : negative,
              half - (below && power));
    if (c_leads) s->c = number_at(s->fc, negative, top, power ? 0 : bits());
    else put_power(s, k, negative, top);
}
static void halfway(sample *s)
{
    const bool c_leads = one_in(2), power = one_in(2);
    tie(s, c_leads, power, one_in(2));
}
/* A tie of c that a term breaks at the position where bits end; one lower below a power
   of two. */
static void c_tied(sample *s)
{
    const bool below = one_in(2);
    tie(s, true, below, below);
}

/* Terms about as far below the largest term as bits are retained. */
static void aligned(sample *s)
{
    const int top = between(-8, 8), gap = gap_of(s), few = between(1, 4);
    nothing(s);
    for (int k = 0; k < s->depth; k++)
        if (one_in(few)) put(s, k, top - gap + between(-2, 2));
    s->c = near_to(s->fc, top);
    if (one_in(3)) return;
    put(s, any_place(s), top);
    s->c = near_to(s->fc, top - gap + between(-2, 2));
}
/* The largest products, or products of a subnormal factor, cancel, and small products
   remain where bits end. */
static void residue(sample *s)
{
    const bool low = one_in(3);
    const int first = any_place(s), second = (first + between(1, 3)) % s->depth;
    const int most =
        (low ? least_exponent(s->fa) : most_exponent(s->fa)) + most_exponent(s->fb);
    const int top = clamp(most - between(0, 2), -1000, most_exponent(s->fc));
    nothing(s);
    put(s, first, top);
    if (low)
        s->a[first] =
            near_to(s->fa, least_exponent(s->fa) - between(1, s->fa->fraction_bits));
    if (low) s->b[first] = near_to(s->fb, top - least_exponent(s->fa));
    if (second != first) {
        s->a[second] = negated(s->fa, s->a[first]);
        s->b[second] = s->b[first];
    }
    for (int left = between(1, 2); left > 0; left--) {
        const int k = (second + left) % s->depth, exponent = top - gap_of(s);
        const bool negative = any_sign(), wider = one_in(2);
        if (k == first || k == second) continue;
        put_power(s, k, negative, exponent);
        if (wider) s->b[k] ^= (uint64_t)1 << s->fb->pad;
    }
    if (one_in(3)) s->c = near_to(s->fc, top - gap_of(s));
}
/* Sums below the smallest normal number, where units may retain fewer bits: one product,
   and small products at the end of these bits. */
static void bottom(sample *s)
{
    const int least = least_exponent(s->fc), ulp = least - s->fc->fraction_bits;
    const int sum = one_in(2) ? ulp - 1 : between(ulp, least - 1),
              end = least - gap_of(s);
    nothing(s);
    for (int left = between(1, 4); left > 0; left--) {
        const int k = any_place(s), exponent = end + between(-3, 1);
        put_power(s, k, any_sign(), exponent);
    }
    const int k = any_place(s);
    put_power(s, k, any_sign(), sum);
    if (one_in(4)) s->c = near_to(s->fc, between(ulp, least + 3));
}
/* Sums about the smallest number. */
static void tiny(sample *s)
{
    const int least = least_exponent(s->fc), low = least - s->fc->fraction_bits;
    nothing(s);
    for (int k = 0; k < s->depth; k++)
        if (one_in(2)) put(s, k, between(low - 4, least + 2));
    if (one_in(2)) s->c = near_to(s->fc, between(low, least + 1));
}
/* Subnormal operands against ordinary ones. */
static void subnormal(sample *s)
{
    const bool first = one_in(2);
    const int c = between(0, 2), least = least_exponent(s->fc);
    ordinary(s);
    for (int k = 0; k < s->depth; k++)
        if (first) s->a[k] = near_to(s->fa, least_exponent(s->fa) - between(1, 3));
        else s->b[k] = near_to(s->fb, least_exponent(s->fb) - between(1, 3));
    if (c == 0) s->c = zero(s->fc);
    if (c == 1) s->c = near_to(s->fc, least - between(0, 3));
}
/* Sums about the largest number, half of them of one sign. */
static void huge(sample *s)
{
    const int most = most_exponent(s->fc), low = one_in(2) ? s->fc->fraction_bits : 2;
    const bool negative = any_sign();
    const uint64_t fraction = one_in(2) ? ~(uint64_t)0 : bits();
    nothing(s);
    for (int k = 0; k < s->depth; k++) put(s, k, most - low + between(-2, 2));
    s->c = number_at(s->fc, negative, most - between(0, 1), fraction);
    if (one_in(2)) return;
    const uint64_t sign_a = negated(s->fa, 0), sign_b = negated(s->fb, 0);
    for (int k = 0; k < s->depth; k++) {
        s->a[k] &= ~sign_a;
        s->b[k] = negative ? s->b[k] | sign_b : s->b[k] & ~sign_b;
    }
}

/* Positions where bits end show most differences, so these kinds are more frequent. */
static void (*const kinds[])(sample *) = {
    ordinary,   of_any_bits, wide,    wide_c,  with_limits, nothing, signed_zeros, sparse,
    cancelling, under_c,     halfway, aligned, residue,     bottom,  c_tied,       tiny,
    subnormal,  huge,        residue, bottom,  c_tied,      residue, bottom,       c_tied,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- the host's side ---------------------------------------------------------------- */

struct row {
    int targets;
    const char *shape, *inputs;
    int side, blocks, depth;
    const format *a, *b, *c;
    const void *kernel;
};

#define ROW_OF(GROUP, SHAPE, INPUTS, SIDE, BLOCKS, DEPTH, OPERAND, FA, FB, FC, CALL)     \
    { GROUP, #SHAPE, #INPUTS, SIDE, BLOCKS,                                              \
      DEPTH, &FA,    &FB,     &FC,  (const void *)mfma_##SHAPE##_##INPUTS },
static const row rows[] = { ROWS(ROW_OF) };

static const struct {
    int bit;
    const char *name, *units;
} targets[] = {
    { GFX908, "gfx908", "cdna1" },
    { GFX90A, "gfx90a", "cdna2" },
    { GFX942, "gfx942", "cdna3" },
    { GFX950, "gfx950", "cdna4" },
};

/* The data that all lines contain. */
static struct {
    int target;
    const char *architecture, *units;
    char device[256];
    int driver, runtime;
    uint64_t seed;
} here;

/* Matrices of encodings, [count][rows][columns], on the host and on the device. */
struct matrices {
    uint64_t count;
    int rows, columns, bytes; /* bytes of an element  */
    unsigned char *at;
    void *device;
};

static void *allocate(size_t bytes)
{
    void *at = calloc(bytes, 1);
    if (!at) complain("memory", "is not sufficient");
    return at;
}

static size_t size_of(const matrices &x)
{
    return x.count * (size_t)(x.rows * x.columns * x.bytes);
}

static matrices matrices_make(uint64_t count, int rows, int columns, const format *f)
{
    matrices x = { count, rows, columns, bytes_of(f), NULL, NULL };
    x.at = (unsigned char *)allocate(size_of(x));
    check(hipMalloc(&x.device, size_of(x)), "hipMalloc");
    return x;
}

static void matrices_free(const matrices &x)
{
    free(x.at);
    check(hipFree(x.device), "hipFree");
}

static unsigned char *element(const matrices &x, uint64_t matrix, int i, int j)
{
    const uint64_t row = matrix * (uint64_t)x.rows + (uint64_t)i;
    return x.at + (row * (uint64_t)x.columns + (uint64_t)j) * (uint64_t)x.bytes;
}

/* These cards are used in hosts with little-endian processors. */
static void set(const matrices &x, uint64_t matrix, int i, int j, uint64_t encoding)
{
    memcpy(element(x, matrix, i, j), &encoding, (size_t)x.bytes);
}

/* A, B, C and D of one instruction. */
struct recording {
    const row *instruction;
    const char *what;
    bool diagonal; /* whether a row of A, a column of B and an element of C form a
                      sample                                                     */
    matrices x[4];
};

static void issue(const recording &r)
{
    const row &i = *r.instruction;
    batch of = { r.x[3].device, r.x[0].device, r.x[1].device, r.x[2].device,
                 r.x[0].count };
    void *arguments[] = { &of };
    const uint64_t blocks = (uint64_t)i.blocks;
    const dim3 groups = { (uint32_t)((of.count + blocks - 1) / blocks), 1, 1 };
    const dim3 items = { LANES, 1, 1 };
    for (int m = 0; m < 4; m++)
        check(hipMemcpy(r.x[m].device, r.x[m].at, size_of(r.x[m]), TO_DEVICE),
              "hipMemcpy");
    check(hipLaunchKernel(i.kernel, groups, items, arguments, 0, NULL), i.shape);
    check(hipDeviceSynchronize(), i.shape);
    check(hipMemcpy(r.x[3].at, r.x[3].device, size_of(r.x[3]), TO_HOST), "hipMemcpy");
}

/* --- the output --------------------------------------------------------------------- */

/* The unit's name: bf16_1k only if there are other instructions for bf16. */
static void print_name(const row &i)
{
    char inputs[16];
    snprintf(inputs, sizeof inputs, "%s", i.inputs);
    if (!strcmp(inputs, "bf16_1k") && here.target != GFX90A) inputs[4] = 0;
    if (!strncmp(inputs + 1, "p8_", 3) || !strncmp(inputs + 1, "f8_", 3)) inputs[3] = '.';
    printf("%s/mfma.%s.%s.%s", here.units, i.shape, i.c->name, inputs);
}

static void print_text(const char *text)
{
    for (; *text; text++)
        if (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\') putchar(*text);
}

static void print_element(const matrices &x, uint64_t matrix, int i, int j)
{
    const unsigned char *e = element(x, matrix, i, j);
    for (int b = x.bytes - 1; b >= 0; b--) printf("%02x", e[b]);
}

/* Print the lines of a matrix that belong to the sample `line`, or all lines if it is
   negative. */
static void print_part(const matrices &x, uint64_t matrix, bool by_row, bool by_column,
                       int line)
{
    for (int i = 0; i < x.rows; i++)
        for (int j = 0; j < x.columns; j++)
            if (line < 0 || ((!by_row || i == line) && (!by_column || j == line)))
                print_element(x, matrix, i, j);
}

/* Print encodings from the highest digit on: of whole fragments, or of samples, each as a
   fragment with one row and one column. */
static void print_matrices(const recording &r, int which)
{
    static const char *const names[] = { "A", "B", "C", "D" };
    const matrices &x = r.x[which];
    const bool by_row = which != 1, by_column = which != 0;
    const int side = r.diagonal ? r.instruction->side : 1;
    printf(",\"%s\":{\"shape\":[%llu,%d,%d],\"hex\":\"", names[which],
           (unsigned long long)(x.count * (uint64_t)side),
           r.diagonal && by_row ? 1 : x.rows, r.diagonal && by_column ? 1 : x.columns);
    for (uint64_t m = 0; m < x.count; m++)
        for (int line = 0; line < side; line++)
            print_part(x, m, by_row, by_column, r.diagonal ? line : -1);
    printf("\"}");
}

static void print_line(const recording &r, uint64_t repeats_differ)
{
    const row &i = *r.instruction;
    printf("{\"unit\":\"");
    print_name(i);
    printf("\",\"what\":\"%s\",\"a\":\"%s\",\"b\":\"%s\",\"c\":\"%s\"", r.what,
           format_here(i.a, here.target)->name, format_here(i.b, here.target)->name,
           i.c->name);
    printf(",\"origin\":\"recorded by the kit\",\"device\":\"");
    print_text(here.device);
    printf("\",\"architecture\":\"%s\",\"driver\":\"%d\",\"runtime\":\"%d\"",
           here.architecture, here.driver, here.runtime);
    printf(",\"seed\":%llu,\"repeats_differ\":%llu", (unsigned long long)here.seed,
           (unsigned long long)repeats_differ);
    for (int m = 0; m < 4; m++) print_matrices(r, m);
    printf("}\n");
}

/* --- recording ---------------------------------------------------------------------- */

/* Number of samples of all kinds, and outputs of whole fragments. */
enum { SAMPLES = 128 * KINDS, OUTPUTS = 4096 };

static void fill(const recording &r)
{
    const row &i = *r.instruction;
    sample s = { i.depth,
                 format_here(i.a, here.target),
                 format_here(i.b, here.target),
                 i.c,
                 { 0 },
                 { 0 },
                 0 };
    for (uint64_t m = 0; m < r.x[0].count; m++)
        for (int line = 0; line < i.side; line++) {
            const uint64_t sample_at = m * (uint64_t)i.side + (uint64_t)line;
            kinds[r.diagonal ? sample_at % KINDS : m % 2](&s);
            for (int k = 0; k < i.depth; k++) set(r.x[0], m, line, k, s.a[k]);
            for (int k = 0; k < i.depth; k++) set(r.x[1], m, k, line, s.b[k]);
            for (int j = 0; j < i.side; j++)
                set(r.x[2], m, line, j, j == line ? s.c : near_to(i.c, between(-4, 4)));
        }
}

/* The number of encodings of D that differ from `first`. */
static uint64_t differing(const matrices &d, const unsigned char *first)
{
    const size_t bytes = (size_t)d.bytes;
    uint64_t count = 0;
    for (size_t at = 0; at < size_of(d); at += bytes)
        count += memcmp(d.at + at, first + at, bytes) != 0;
    return count;
}

static void record(const row &i, const char *what, int outputs, bool diagonal)
{
    const int held = diagonal ? i.side : i.side * i.side;
    const uint64_t count = (uint64_t)((outputs + held - 1) / held);
    const recording r = {
        &i,
        what,
        diagonal,
        { matrices_make(count, i.side, i.depth, format_here(i.a, here.target)),
          matrices_make(count, i.depth, i.side, format_here(i.b, here.target)),
          matrices_make(count, i.side, i.side, i.c),
          matrices_make(count, i.side, i.side, i.c) }
    };
    unsigned char *first = (unsigned char *)allocate(size_of(r.x[3]));
    fill(r);
    issue(r);
    memcpy(first, r.x[3].at, size_of(r.x[3]));
    issue(r);
    print_line(r, differing(r.x[3], first));
    free(first);
    for (int m = 0; m < 4; m++) matrices_free(r.x[m]);
}

/* Run `which`, and find the reported target in the table. */
static void find_target()
{
    void *at;
    void *arguments[] = { &at };
    const dim3 one = { 1, 1, 1 }, items = { LANES, 1, 1 };
    check(hipMalloc(&at, sizeof here.target), "hipMalloc");
    check(hipLaunchKernel((const void *)which, one, items, arguments, 0, NULL),
          "the device");
    check(hipDeviceSynchronize(), "the device");
    check(hipMemcpy(&here.target, at, sizeof here.target, TO_HOST), "hipMemcpy");
    check(hipFree(at), "hipFree");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i].bit == here.target) {
            here.architecture = targets[i].name;
            here.units = targets[i].units;
        }
    if (!here.units)
        complain("the device", "has no matrix instructions known to the kit");
}

/* A number that is the whole text. */
static uint64_t number_of(const char *text)
{
    char *end;
    const unsigned long long x = strtoull(text, &end, 0);
    if (!*text || *end || *text == '-') complain(text, "is not a number");
    return x;
}

static void find_device(uint64_t device)
{
    int count = 0;
    check(hipGetDeviceCount(&count), "hipGetDeviceCount");
    if (device >= (uint64_t)count) complain("the device", "unknown device number");
    check(hipSetDevice((int)device), "hipSetDevice");
    check(hipDeviceGetName(here.device, sizeof here.device, (int)device),
          "hipDeviceGetName");
    check(hipDriverGetVersion(&here.driver), "hipDriverGetVersion");
    check(hipRuntimeGetVersion(&here.runtime), "hipRuntimeGetVersion");
    find_target();
}

int main(int arguments, char **argument)
{
    if (arguments > 3) complain("usage", "kit [SEED [DEVICE]] > out.jsonl");
    here.seed = arguments > 1 ? number_of(argument[1]) : 1;
    find_device(arguments > 2 ? number_of(argument[2]) : 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(rows[i].targets & here.target)) continue;
        state = here.seed * 0x2545f4914f6cdd1d + i;
        fprintf(stderr, "%s %s\n", rows[i].shape, rows[i].inputs);
        record(rows[i], "samples", SAMPLES, true);
        record(rows[i], "fragments", OUTPUTS, false);
    }
    if (fflush(stdout) || ferror(stdout)) complain("the output", "cannot be written");
    return 0;
}
