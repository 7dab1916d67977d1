/* SPDX-License-Identifier: BSD-3-Clause */
/* Truncated sums of other units on this device's matrix cores.

   NATIVE: a row whose sums are those of the instruction, so that is issued.

   TENSOR: the instruction M aligns blocks of l and c, and keeps f bits; the unit, with
   blocks of L and F bits, L 2^(f - F) = l.  Accumulators are kept times 2^(f - F), and
   each product enters as often: aligned at the exponent of that accumulator, M's last bit
   is the unit's, and so its sum is the unit's times 2^(f - F), as long as the exponent of
   c is not below those of the products (tests/emu/test_identity.c).  A bound on these, a
   product of two powers of two, is compared with every accumulator; outputs that it does
   not let pass are gathered, and computed one a lane, in integers: of each, products are
   exact in FP32 and are converted with truncation in units of the last bit kept.

   Launch: 512 threads for 128 x 128 outputs, 32 x 32 a warp; stages of 128 bytes of every
   line, two in flight.  Of 16 bytes of a line the fragments of mma.m16n8 hold one
   register a lane, for f16 and tf32 alike; with the same register in the place of the
   next 16 bytes each product is there twice. */
#include "gpu/cuda/emulate.cuh"

namespace
{

enum { TILE = 128, TILE_THREADS = 512, STAGE_BYTES = 128, CHUNKS = STAGE_BYTES / 16 };
constexpr unsigned ALL_LANES = 0xffffffff;

/* --- words -------------------------------------------------------------------------- */

#define MMA_PTX(SHAPE, WORD, A, B)                                                       \
    "mma.sync.aligned." SHAPE ".row.col.f32." WORD "." WORD ".f32 {%0,%1,%2,%3}, " A     \
    ", " B ", {%0,%1,%2,%3};"
#define MMA_ONE(SHAPE, WORD)                                                             \
    asm volatile(MMA_PTX(SHAPE, WORD, "{%4,%5}", "{%6}")                                 \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define MMA_TWO(SHAPE, WORD)                                                             \
    asm volatile(MMA_PTX(SHAPE, WORD, "{%4,%5,%6,%7}", "{%8,%9}")                        \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/* c += a b by the instruction over one or two times 16 bytes of k. */
template <int> struct word;
template <> struct word<FORMAT_F16> {
    using type = uint16_t;
    static __device__ type make(float x) { return __half_as_ushort(__float2half_rn(x)); }
    template <int TIMES>
    static __device__ void mma(float *c, const uint32_t *a, const uint32_t *b)
    {
        if constexpr (TIMES == 1) MMA_ONE("m16n8k8", "f16");
        else MMA_TWO("m16n8k16", "f16");
    }
};
template <> struct word<FORMAT_BF16> {
    using type = uint16_t;
    static __device__ type make(float x) { return (uint16_t)(__float_as_uint(x) >> 16); }
    template <int TIMES>
    static __device__ void mma(float *c, const uint32_t *a, const uint32_t *b)
    {
        if constexpr (TIMES == 1) MMA_ONE("m16n8k8", "bf16");
        else MMA_TWO("m16n8k16", "bf16");
    }
};
template <> struct word<FORMAT_TF32> {
    using type = uint32_t;
    static __device__ type make(float x) { return __float_as_uint(x); }
    template <int TIMES>
    static __device__ void mma(float *c, const uint32_t *a, const uint32_t *b)
    {
        if constexpr (TIMES == 1) MMA_ONE("m16n8k4", "tf32");
        else MMA_TWO("m16n8k8", "tf32");
    }
};

template <int FORMAT>
constexpr int stage_of = STAGE_BYTES / sizeof(typename word<FORMAT>::type);

/* The exponent of a word's value, as FP32 has it, but of f16 not below its least. */
template <int FORMAT> __device__ int exponent_field(float x)
{
    const int field = __float_as_int(x) >> 23 & 255;
    return FORMAT == FORMAT_F16 ? max(field, 127 - 14) : field;
}

/* --- what is derived of the values -------------------------------------------------- */

/* Where line `line` of 32 has its power: so that a lane reads those of its outputs at
   once. */
__device__ int power_place(int line, bool is_a)
{
    const int r = line & 31;
    return is_a ? (r & 7) * 4 + (r >> 4) * 2 + (r >> 3 & 1)
                : (r >> 1 & 3) * 8 + (r >> 3) * 2 + (r & 1);
}

enum { DERIVE_THREADS = 256, DERIVE_TILE = 32 };

/* Neighbours that are read or written at once. */
template <class T, int L>
struct alignas(sizeof(T) * L < 16 ? sizeof(T) * L : 16) aligned {
    T x[L];
};

/* One block of L values of a line: words; with POWER the power of two of its largest
   exponent, and `up` more, as bf16, 0 if all are zero; and of f16 a code of each word, 0
   of a zero and else above 32, so that only a sum of two that are not zero is above 65.
 */
template <int FORMAT, int L, bool POWER>
__device__ uint16_t derive_block(const emulate_operand &x, size_t line, size_t at, int up)
{
    using type = typename word<FORMAT>::type;
    const bool none = x.wild && x.wild[line];
    at += line * x.length;
    const auto values = *(const aligned<float, L> *)(x.value + at);
    aligned<type, L> words;
    aligned<uint8_t, L> codes;
    int most = 0;
#pragma unroll
    for (int k = 0; k < L; k++) {
        const float v = none ? 0 : values.x[k];
        const int field = v ? exponent_field<FORMAT>(v) : 0;
        words.x[k] = word<FORMAT>::make(v);
        codes.x[k] = field ? field - 127 + 15 + 32 : 0;
        most = max(most, field);
    }
    *(aligned<type, L> *)((type *)x.words + at) = words;
    if (POWER && FORMAT == FORMAT_F16) *(aligned<uint8_t, L> *)(x.code + at) = codes;
    return most ? (most + up) << 7 : 0;
}

/* Tiles of 32 lines and as many blocks: a warp reads along a line, powers are written
   along lines. */
template <int FORMAT, int L, bool POWER>
__global__ void __launch_bounds__(DERIVE_THREADS)
    derive(const __grid_constant__ emulate_operand x, int up, bool is_a)
{
    __shared__ __align__(16) uint16_t power[DERIVE_TILE][DERIVE_TILE + 8];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const size_t blocks = x.length / L, block = blockIdx.x * (size_t)DERIVE_TILE + lane;
    for (size_t i0 = blockIdx.y * (size_t)DERIVE_TILE; i0 < x.padded;
         i0 += gridDim.y * (size_t)DERIVE_TILE) {
        if (block < blocks)
#pragma unroll
            for (int line = warp; line < DERIVE_TILE; line += DERIVE_THREADS / 32)
                power[lane][power_place(line, is_a)] =
                    derive_block<FORMAT, L, POWER>(x, i0 + line, block * L, up);
        if (!POWER) continue;
        __syncthreads();
        const int row = threadIdx.x / 8, at = threadIdx.x % 8 * 4;
        const size_t b = blockIdx.x * (size_t)DERIVE_TILE + row;
        if (b < blocks)
            *(uint2 *)&x.power[b * x.padded + i0 + at] = *(const uint2 *)&power[row][at];
        __syncthreads();
    }
}

/* --- stages ------------------------------------------------------------------------- */

struct stage_of_words {
    unsigned char a[TILE][STAGE_BYTES], b[TILE][STAGE_BYTES];
};

/* Besides words: codes, with fewer bank conflicts by what is between lines, and powers.
 */
template <int FORMAT, int L> struct stage_of_tensor {
    static constexpr bool coded = FORMAT == FORMAT_F16;
    static constexpr int blocks = stage_of<FORMAT> / L;
    unsigned char a[TILE][STAGE_BYTES], b[TILE][STAGE_BYTES];
    uint8_t code_a[coded ? TILE : 1][80], code_b[coded ? TILE : 1][80];
    uint16_t power_a[blocks][TILE], power_b[blocks][TILE];
};

/* Where 16 bytes of a line are in a stage. */
__device__ int swizzled(int line, int chunk) { return (chunk ^ (line & 7)) * 16; }

template <class T>
__device__ const T *line_at(const void *words, size_t line, size_t length, size_t k)
{
    return (const T *)words + line * length + k;
}

template <int FORMAT, class STAGE>
__device__ void words_load(STAGE *s, const emulate_chain &x, size_t i0, size_t j0,
                           size_t k)
{
    using type = typename word<FORMAT>::type;
    for (int i = threadIdx.x; i < TILE * CHUNKS; i += TILE_THREADS) {
        const int line = i / CHUNKS, chunk = i % CHUNKS, each = 16 / sizeof(type);
        copy16(&s->a[line][swizzled(line, chunk)],
               line_at<type>(x.a.words, i0 + line, x.a.length, k + chunk * each));
        copy16(&s->b[line][swizzled(line, chunk)],
               line_at<type>(x.b.words, j0 + line, x.b.length, k + chunk * each));
    }
}

template <int FORMAT, int L>
__device__ void tensor_load(stage_of_tensor<FORMAT, L> *s, const emulate_chain &x,
                            size_t i0, size_t j0, size_t k)
{
    using stage = stage_of_tensor<FORMAT, L>;
    const int t = threadIdx.x;
    words_load<FORMAT>(s, x, i0, j0, k);
    if constexpr (stage::coded) {
        copy16(&s->code_a[t / 4][t % 4 * 16],
               x.a.code + (i0 + t / 4) * x.a.length + k + t % 4 * 16);
        copy16(&s->code_b[t / 4][t % 4 * 16],
               x.b.code + (j0 + t / 4) * x.b.length + k + t % 4 * 16);
    }
    if (t < stage::blocks * 16) {
        const int block = t / 16, at = t % 16 * 8;
        copy16(&s->power_a[block][at],
               x.a.power + (k / L + block) * x.a.padded + i0 + at);
        copy16(&s->power_b[block][at],
               x.b.power + (k / L + block) * x.b.padded + j0 + at);
    }
}

/* --- fragments ---------------------------------------------------------------------- */

__device__ void ldmatrix(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}

/* A warp's 32 x 32 outputs: register r = 16 mi + 4 ni + 2 h + e of a lane is row 16 mi +
   8 h + lane / 4, column 8 ni + lane % 4 * 2 + e. */
struct place {
    int lane, warp, g, t, i, j; /* i, j: the warp's first output in the tile */
};

__device__ place place_of()
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    return { lane, warp, lane >> 2, lane & 3, (warp >> 2) * 32, (warp & 3) * 32 };
}

__device__ void outputs_store(const emulate_chain &x, const place &p, size_t i0,
                              size_t j0, const float *c, const float *sum, float unit)
{
#pragma unroll
    for (int r = 0; r < 32; r++) {
        const size_t row = i0 + p.i + (r >> 4) * 16 + (r >> 1 & 1) * 8 + p.g,
                     column = j0 + p.j + (r >> 2 & 3) * 8 + p.t * 2 + (r & 1);
        if (row < x.a.lines && column < x.b.lines)
            x.result[row * x.b.lines + column] = chain_result(c[r] * unit, sum[r], x);
    }
}

/* --- TENSOR ------------------------------------------------------------------------- */

/* The largest sum of two codes of L. */
template <int L> __device__ int largest_code(const uint8_t *a, const uint8_t *b)
{
    uint32_t x[L / 4], y[L / 4], most = 0;
    memcpy(x, __builtin_assume_aligned(a, L), L);
    memcpy(y, __builtin_assume_aligned(b, L), L);
#pragma unroll
    for (int i = 0; i < L / 4; i++) {
        const uint32_t s = x[i] + y[i];
        most = __vmaxu2(most, __vmaxu2(s & 0x00ff00ff, s >> 8 & 0x00ff00ff));
    }
    return (int)max(most >> 16, most & 0xffff);
}

/* The values of L words. */
template <int FORMAT, int L> __device__ void values_of(float (&to)[L], const void *from)
{
    if constexpr (FORMAT == FORMAT_TF32) {
        memcpy(to, __builtin_assume_aligned(from, 4 * L), 4 * L);
    } else {
        uint32_t w[L / 2];
        memcpy(w, __builtin_assume_aligned(from, 2 * L), 2 * L);
#pragma unroll
        for (int i = 0; i < L / 2; i++) {
            if constexpr (FORMAT == FORMAT_F16) {
                const float2 v = __half22float2(*(const __half2 *)&w[i]);
                to[2 * i] = v.x, to[2 * i + 1] = v.y;
            } else {
                to[2 * i] = __uint_as_float(w[i] << 16);
                to[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000);
            }
        }
    }
}

/* One step of one output; c is times 2^(25 - F).  `field` is that of the alignment
   exponent, of an FP32 value so scaled. */
template <int L, int F>
__device__ float aligned_step(const float (&p)[L], float c, int field)
{
    constexpr int up = 25 - F;
    const int f = max(__float_as_int(c) >> 23 & 255, field);
    const float scale = __int_as_float((279 - f) << 23);
    int sum = __float2int_rz(c * __int_as_float((279 - up - f) << 23));
#pragma unroll
    for (int i = 0; i < L; i++) sum += __float2int_rz(__fmul_rn(p[i], scale));
    return __int2float_rz(sum) * __int_as_float((f - F) << 23);
}

template <int FORMAT, int L, int F, class STAGE>
__device__ float step_repaired(const STAGE &s, int row, int column, int k, float c)
{
    using type = typename word<FORMAT>::type;
    constexpr int up = 25 - F, each = 16 / sizeof(type);
    float x[L], y[L];
    int most = 0;
    values_of<FORMAT>(x, &s.a[row][swizzled(row, k / each) + k % each * sizeof(type)]);
    values_of<FORMAT>(y,
                      &s.b[column][swizzled(column, k / each) + k % each * sizeof(type)]);
    if constexpr (FORMAT == FORMAT_F16) {
        most = largest_code<L>(&s.code_a[row][k], &s.code_b[column][k]);
        most = most < 66 ? 0 : most + 33; /* 2 (15 + 32) less 127 */
    }
#pragma unroll
    for (int i = 0; i < L; i++) {
        if constexpr (FORMAT != FORMAT_F16) {
            const int e =
                (__float_as_int(x[i]) >> 23 & 255) + (__float_as_int(y[i]) >> 23 & 255);
            if (x[i] != 0 && y[i] != 0) most = max(most, e - 127);
        }
        x[i] = __fmul_rn(x[i], y[i]);
    }
    return most ? aligned_step<L, F>(x, c, most + up) : c;
}

/* Bit `id` of a lane's mask stands for this register: so that a row is 5 adjacent bits of
   the bit's number and the lane's. */
__device__ constexpr int register_of(int id)
{
    return (id & 1) << 1 | (id >> 1 & 1) << 4 | (id >> 2 & 1) | (id >> 3) << 2;
}

/* What is shared by a warp: accumulators before the step, and which of them to repair. */
struct repairs {
    float old[32][32];
    uint16_t order[1024];
};

template <int FORMAT, int L> struct tensor_memory {
    stage_of_tensor<FORMAT, L> stage[2];
    repairs warp[TILE_THREADS / 32];
};

/* A mask of the accumulators that the bound does not let pass. */
template <class STAGE>
__device__ unsigned mask_of(const STAGE &s, const place &p, int block, const float *c)
{
    const uint2 pv = *(const uint2 *)&s.power_a[block][p.i + p.g * 4];
    const uint4 qv = *(const uint4 *)&s.power_b[block][p.j + p.t * 8];
    const uint32_t pw[2] = { pv.x, pv.y }, qw[4] = { qv.x, qv.y, qv.z, qv.w };
    /* Sums of bits: the pipes of FP32 are less busy than those of integers. */
    float low = 8388608, high = 8388608;
#pragma unroll
    for (int id = 0; id < 32; id++) {
        const int r = register_of(id), i = (r >> 4) * 2 + (r >> 1 & 1),
                  j = (r >> 2 & 3) * 2 + (r & 1);
        const float x =
            __uint_as_float(i & 1 ? pw[i >> 1] & 0xffff0000 : pw[i >> 1] << 16);
        const float y =
            __uint_as_float(j & 1 ? qw[j >> 1] & 0xffff0000 : qw[j >> 1] << 16);
        if (fabsf(c[r]) < x * y) (id < 16 ? low : high) += (float)(1 << (id & 15));
    }
    return __byte_perm(__float_as_uint(low), __float_as_uint(high), 0x5410);
}

/* Compute the outputs in the masks of a warp's lanes, shared evenly; how many they are.
 */
template <int FORMAT, int L, int F, class STAGE>
__device__ int repair(repairs &w, const STAGE &s, const place &p, unsigned mask, int k)
{
    int end = __popc(mask);
#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
        const int x = __shfl_up_sync(ALL_LANES, end, i);
        if (p.lane >= i) end += x;
    }
    const int n = __shfl_sync(ALL_LANES, end, 31), each = (n + 31) >> 5;
    for (unsigned rest = mask; rest;) {
        const int id = 31 - __clz(rest);
        w.order[--end] = id * 32 + p.lane;
        rest ^= 1u << id;
    }
    __syncwarp();
    const int last = min(n, p.lane * each + each);
    for (int i = p.lane * each; i < last; i++) {
        const int id = w.order[i], row = p.i + (id >> 2 & 31),
                  column = p.j + (id & 3) * 2 + (id >> 7 & 1) + (id >> 8) * 8;
        float *const at = &w.old[0][id];
        *at = step_repaired<FORMAT, L, F>(s, row, column, k, *at);
    }
    __syncwarp();
    return n;
}

/* The fragments of block `h` of 16 bytes, in both places of an instruction: of a half the
   registers come from the lanes that have it. */
template <int HALVES>
__device__ void fragments_twice(uint32_t (&to)[2][4], const uint32_t (&from)[2][4],
                                int lane, int h, bool is_a)
{
    const int other = is_a ? 2 : 1, source = (lane & ~3) + h * 2 + (lane & 1);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int f = i >> 2, r = i & 3;
        if (HALVES == 1) to[f][r] = from[f][r];
        else if (r & other) to[f][r] = to[f][r & ~other];
        else to[f][r] = __shfl_sync(ALL_LANES, from[f][r], source);
    }
}

/* The accumulators in a lane's mask, to where they are repaired and back. */
__device__ void masked_put(repairs &w, int lane, unsigned mask, const float *c)
{
#pragma unroll
    for (int id = 0; id < 32; id++)
        if (mask >> id & 1) w.old[id][lane] = c[register_of(id)];
}

__device__ void masked_take(const repairs &w, int lane, unsigned mask, float *c)
{
#pragma unroll
    for (int id = 0; id < 32; id++)
        if (mask >> id & 1) c[register_of(id)] = w.old[id][lane];
}

template <int FORMAT, int L, int F>
__global__ void __launch_bounds__(TILE_THREADS, 1)
    tensor(const __grid_constant__ emulate_chain x)
{
    using type = typename word<FORMAT>::type;
    constexpr int each = 16 / sizeof(type), halves = each / L, stage = stage_of<FORMAT>;
    constexpr float unit = 1.0f / (1 << (25 - F));
    extern __shared__ __align__(1024) char memory[];
    tensor_memory<FORMAT, L> &m = *(tensor_memory<FORMAT, L> *)memory;
    const place p = place_of();
    int ti, tj;
    tile_place(&ti, &tj, (int)(x.a.padded / TILE), (int)(x.b.padded / TILE));
    const size_t i0 = (size_t)ti * TILE, j0 = (size_t)tj * TILE;
    repairs &w = m.warp[p.warp];
    emulate_events events(x);
    float c[32], sum[32];
    unsigned long long repaired = 0;
#pragma unroll
    for (int r = 0; r < 32; r++) c[r] = sum[r] = 0;
    const auto happen = [&](uint32_t what) {
#pragma unroll
        for (int r = 0; r < 32; r++) {
            c[r] *= unit;
            event_apply(c[r], sum[r], what, x);
            c[r] *= 1 / unit;
        }
    };
    tensor_load<FORMAT, L>(&m.stage[0], x, i0, j0, 0);
    copy_commit();
    for (uint32_t k = 0, turn = 0; k < x.products; k += stage, turn ^= 1) {
        copy_wait<0>();
        __syncthreads();
        if (k + stage < x.products)
            tensor_load<FORMAT, L>(&m.stage[turn ^ 1], x, i0, j0, k + stage);
        copy_commit();
        const auto &now = m.stage[turn];
        const int chunks = (int)min((x.products - k + each - 1) / each, (uint32_t)CHUNKS);
#pragma unroll 1
        for (int chunk = 0; chunk < chunks; chunk++) {
            uint32_t fa[2][4],
                fb[2][4]; /* fa[mi]: its halves twice; fb: ni twice, ni + 1 twice */
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int ra = p.i + i * 16 + (p.lane & 15),
                          rb = p.j + i * 16 + (p.lane & 7) + (p.lane >> 4) * 8;
                ldmatrix(fa[i], &now.a[ra][swizzled(ra, chunk)]);
                ldmatrix(fb[i], &now.b[rb][swizzled(rb, chunk)]);
            }
#pragma unroll
            for (int h = 0; h < halves; h++) {
                const int at = chunk * each + h * L;
                if (h && k + at >= x.products) break;
                if (k + at == events.at) happen(events.take());
                uint32_t xa[2][4], xb[2][4];
                fragments_twice<halves>(xa, fa, p.lane, h, true);
                fragments_twice<halves>(xb, fb, p.lane, h, false);
                const unsigned mask = mask_of(now, p, at / L, c);
                const bool any = __any_sync(ALL_LANES, mask);
                if (any) masked_put(w, p.lane, mask, c);
#pragma unroll
                for (int i = 0; i < 8; i++)
                    word<FORMAT>::template mma<2>(c + i * 4, xa[i >> 2],
                                                  &xb[i >> 1 & 1][(i & 1) * 2]);
                if (!any) continue;
                repaired += repair<FORMAT, L, F>(w, now, p, mask, at);
                masked_take(w, p.lane, mask, c);
            }
        }
    }
    while (events.at != UINT32_MAX) happen(events.take());
    outputs_store(x, p, i0, j0, c, sum, unit);
    if (x.repaired && p.lane == 0) atomicAdd(x.repaired, repaired);
}

/* --- NATIVE ------------------------------------------------------------------------- */

/* An instruction takes TIMES 16 bytes of k. */
template <int FORMAT, int TIMES>
__global__ void __launch_bounds__(TILE_THREADS, 1)
    native(const __grid_constant__ emulate_chain x)
{
    using type = typename word<FORMAT>::type;
    constexpr int each = 16 / sizeof(type), stage = stage_of<FORMAT>;
    extern __shared__ __align__(1024) char memory[];
    auto *const m = (stage_of_words *)memory;
    const place p = place_of();
    int ti, tj;
    tile_place(&ti, &tj, (int)(x.a.padded / TILE), (int)(x.b.padded / TILE));
    const size_t i0 = (size_t)ti * TILE, j0 = (size_t)tj * TILE;
    emulate_events events(x);
    float c[32], sum[32];
#pragma unroll
    for (int r = 0; r < 32; r++) c[r] = sum[r] = 0;
    const auto happen = [&](uint32_t what) {
#pragma unroll
        for (int r = 0; r < 32; r++) event_apply(c[r], sum[r], what, x);
    };
    words_load<FORMAT>(&m[0], x, i0, j0, 0);
    copy_commit();
    words_load<FORMAT>(&m[1], x, i0, j0, stage < x.a.length ? stage : 0);
    copy_commit();
    for (uint32_t k = 0, turn = 0; k < x.products;
         k += stage, turn = turn == 2 ? 0 : turn + 1) {
        copy_wait<1>();
        __syncthreads();
        const uint32_t next = k + 2 * stage, to = turn == 0 ? 2 : turn - 1;
        if (next < x.products) words_load<FORMAT>(&m[to], x, i0, j0, next);
        copy_commit();
        const auto &now = m[turn];
        const int chunks = (int)min((x.products - k + each - 1) / each, (uint32_t)CHUNKS);
#pragma unroll 1
        for (int chunk = 0; chunk < chunks; chunk += TIMES) {
            uint32_t fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int ra = p.i + i * 16 + (p.lane & 15),
                          rb = p.j + i * 16 + (p.lane & 7) + (p.lane >> 4) * 8,
                          ca = chunk + (TIMES == 2) * (p.lane >> 4),
                          cb = chunk + (TIMES == 2) * (p.lane >> 3 & 1);
                ldmatrix(fa[i], &now.a[ra][swizzled(ra, ca)]);
                ldmatrix(fb[i], &now.b[rb][swizzled(rb, cb)]);
            }
            if (k + chunk * each == events.at) happen(events.take());
#pragma unroll
            for (int i = 0; i < 8; i++)
                word<FORMAT>::template mma<TIMES>(c + i * 4, fa[i >> 2],
                                                  &fb[i >> 1 & 1][(i & 1) * 2]);
        }
    }
    while (events.at != UINT32_MAX) happen(events.take());
    outputs_store(x, p, i0, j0, c, sum, 1);
}

/* --- NATIVE by a kernel for words --------------------------------------------------- */

/* The current device; `processors` it has. */
unsigned architecture_now(int *processors)
{
    int device = 0, major = 0, minor = 0;
    *processors = 0;
    if (rt_device_get(&device) ||
        rt_device_ask(&major, cudaDevAttrComputeCapabilityMajor, device) ||
        rt_device_ask(&minor, cudaDevAttrComputeCapabilityMinor, device) ||
        rt_device_ask(processors, cudaDevAttrMultiProcessorCount, device))
        return 0;
    return sm(10 * major + minor);
}

#ifdef HOPPER
/* The kernel that multiplies such words on this device, with the largest tile of which
   there are as many as processors, or else the smallest; NULL: there is none. */
const struct gpu_kernel *plain_kernel(const emulate_chain &x, int format)
{
    const struct gpu_kernel *found = NULL;
    int processors;
    const unsigned here = architecture_now(&processors);
    for (const struct gpu_kernel *k = gemm_sm90; k->name; k++) {
        if (!(k->architectures & here) || k->format != format ||
            strcmp(k->recipe, "plain") != 0 || k->program.promote)
            continue;
        found = k;
        if (divide_up(x.a.lines, k->tile_m) * divide_up(x.b.lines, k->tile_n) >=
            (size_t)processors)
            break;
    }
    return found;
}
#else
const struct gpu_kernel *plain_kernel(const emulate_chain &, int) { return NULL; }
#endif

struct words words_of(const emulate_operand &x, int format)
{
    const size_t row_bytes = x.length * word_bytes(format);
    return { x.words, x.lines, row_bytes, row_bytes, 0 };
}

/* The chain, on which nothing happens, as the product of its words. */
rt_error native_by_kernel(const emulate_chain &x, const struct gpu_kernel *kernel,
                          rt_stream stream)
{
    struct gpu_product p = {};
    p.kernel = kernel;
    p.count = 1;
    p.m = x.a.lines;
    p.n = x.b.lines;
    p.k = x.products;
    p.a = words_of(x.a, kernel->format);
    p.b = words_of(x.b, kernel->format);
    p.alpha = 1;
    p.d.at = x.result;
    p.d.ld = x.b.lines;
    p.slices = 1;
    p.stream = stream;
    return (rt_error)kernel->launch(&p);
}

/* --- starting ----------------------------------------------------------------------- */

unsigned tiles_of(const emulate_chain &x)
{
    return (unsigned)(x.a.padded / TILE * (x.b.padded / TILE));
}

template <int FORMAT, int L, bool POWER>
void derive_start(const emulate_operand &x, int up, bool is_a, rt_stream stream)
{
    const size_t tiles = x.padded / DERIVE_TILE;
    const dim3 grid((unsigned)divide_up(x.length / L, (size_t)DERIVE_TILE),
                    (unsigned)(tiles < GRID_Y_MOST ? tiles : GRID_Y_MOST));
    derive<FORMAT, L, POWER><<<grid, DERIVE_THREADS, 0, stream>>>(x, up, is_a);
}

template <int FORMAT, int L, int F>
rt_error tensor_with(const emulate_chain &x, rt_stream stream)
{
    constexpr int bytes = sizeof(tensor_memory<FORMAT, L>);
    const rt_error status = rt_function_set(tensor<FORMAT, L, F>, RT_SHARED_BYTES, bytes);
    if (status != RT_SUCCESS) return status;
    derive_start<FORMAT, L, true>(x.a, 25 - F, true, stream);
    derive_start<FORMAT, L, true>(x.b, 0, false, stream);
    tensor<FORMAT, L, F><<<tiles_of(x), TILE_THREADS, bytes, stream>>>(x);
    return rt_last_error();
}

template <int FORMAT, int TIMES>
rt_error native_with(const emulate_chain &x, rt_stream stream)
{
    constexpr int bytes = 3 * sizeof(stage_of_words);
    const struct gpu_kernel *const kernel =
        TIMES == 2 && !x.events ? plain_kernel(x, FORMAT) : NULL;
    const rt_error status =
        rt_function_set(native<FORMAT, TIMES>, RT_SHARED_BYTES, bytes);
    if (status != RT_SUCCESS) return status;
    derive_start<FORMAT, 8, false>(x.a, 0, true, stream);
    derive_start<FORMAT, 8, false>(x.b, 0, false, stream);
    if (kernel) return native_by_kernel(x, kernel, stream);
    native<FORMAT, TIMES><<<tiles_of(x), TILE_THREADS, bytes, stream>>>(x);
    return rt_last_error();
}

/* Code by the format, and for TENSOR by the blocks and bits of the unit, for NATIVE by
   the times 16 bytes that an instruction takes. */
constexpr struct {
    int format, block, fraction;
    rt_error (*start)(const emulate_chain &x, rt_stream stream);
} tensors[] = {
    { FORMAT_F16, 8, 24, tensor_with<FORMAT_F16, 8, 24> },
    { FORMAT_F16, 4, 23, tensor_with<FORMAT_F16, 4, 23> },
    { FORMAT_BF16, 8, 24, tensor_with<FORMAT_BF16, 8, 24> },
    { FORMAT_TF32, 4, 24, tensor_with<FORMAT_TF32, 4, 24> },
};

constexpr struct {
    int format, times;
    rt_error (*start)(const emulate_chain &x, rt_stream stream);
} natives[] = {
    { FORMAT_F16, 2, native_with<FORMAT_F16, 2> },
    { FORMAT_F16, 1, native_with<FORMAT_F16, 1> },
    { FORMAT_BF16, 2, native_with<FORMAT_BF16, 2> },
    { FORMAT_BF16, 1, native_with<FORMAT_BF16, 1> },
    { FORMAT_TF32, 2, native_with<FORMAT_TF32, 2> },
    { FORMAT_TF32, 1, native_with<FORMAT_TF32, 1> },
};

} // namespace

rt_error tensor_start(const emulate_chain &x, rt_stream stream)
{
    const int format = format_of(x.rule.operand);
    for (const auto &code : tensors)
        if (code.format == format && code.block == x.rule.block &&
            code.fraction == x.rule.fraction)
            return code.start(x, stream);
    return RT_NO_FUNCTION;
}

rt_error native_start(const emulate_chain &x, rt_stream stream)
{
    const int format = format_of(x.rule.operand);
    const int times = x.rule.block * (int)word_bytes(format) / 16;
    for (const auto &code : natives)
        if (code.format == format && code.times == times) return code.start(x, stream);
    return RT_NO_FUNCTION;
}
