/* SPDX-License-Identifier: BSD-3-Clause */
/* TENSOR: truncated sums of other units on this device's matrix cores.

   The instruction M aligns blocks of l products and c, and retains f bits.  The unit has
   blocks of L products and F bits, where L 2^(f - F) = l.  Accumulators are held
   multiplied by 2^(f - F), and each product enters 2^(f - F) times.  At the alignment
   exponent of such an accumulator, M's last bit is the unit's last bit, so M's sum is the
   unit's sum times 2^(f - F), as long as the exponent of c is not below the exponents of
   the products (tests/emu/test_identity.c).  A bound on these exponents, a product of two
   powers of two, is compared with every accumulator.  Outputs that fail this test are
   gathered, and computed one in each lane, in integers: their products are exact in FP32
   and are converted with truncation to units of the last retained bit.

   Launch: 512 threads for 128 x 128 outputs (gpu/cuda/emulate_parts.cuh), two stages in
   flight.  Each product enters twice if the registers for one 16 bytes of a line are also
   used for the next 16 bytes. */
#include "gpu/cuda/emulate_parts.cuh"

namespace
{

/* --- stages ------------------------------------------------------------------------- */

/* A stage has, in addition to the parts: codes, with padding between lines that avoids
   bank conflicts, and powers. */
template <int FORMAT, int L> struct stage_of_tensor {
    static constexpr bool coded = FORMAT == FORMAT_F16;
    static constexpr int blocks = stage_of<FORMAT> / L;
    unsigned char a[TILE][STAGE_BYTES], b[TILE][STAGE_BYTES];
    uint8_t code_a[coded ? TILE : 1][80], code_b[coded ? TILE : 1][80];
    uint16_t power_a[blocks][TILE], power_b[blocks][TILE];
};

template <int FORMAT, int L>
__device__ void tensor_load(stage_of_tensor<FORMAT, L> *s, const emulate_chain &x,
                            size_t i0, size_t j0, size_t k)
{
    using stage = stage_of_tensor<FORMAT, L>;
    const int t = threadIdx.x;
    parts_load<FORMAT>(s, x, i0, j0, k);
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

/* --- steps -------------------------------------------------------------------------- */

/* The largest sum of two codes over L products. */
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

/* The values of L parts. */
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

/* One step of one output; c is multiplied by 2^(25 - F).  `field` is the field of the
   alignment exponent in an FP32 value with this scale. */
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
    using type = typename part<FORMAT>::type;
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

/* The register for bit `id` of a lane's mask.  With this numbering, a row is 5 adjacent
   bits of the combined number of bit and lane. */
__device__ constexpr int register_of(int id)
{
    return (id & 1) << 1 | (id >> 1 & 1) << 4 | (id >> 2 & 1) | (id >> 3) << 2;
}

/* Data shared by a warp: the accumulators before the step, and which of them to
   recompute. */
struct repairs {
    float old[32][32];
    uint16_t order[1024];
};

template <int FORMAT, int L> struct tensor_memory {
    stage_of_tensor<FORMAT, L> stage[2];
    repairs warp[TILE_THREADS / 32];
};

/* A mask of the accumulators that fail the test of the bound. */
template <class STAGE>
__device__ unsigned mask_of(const STAGE &s, const place &p, int block, const float *c)
{
    const uint2 pv = *(const uint2 *)&s.power_a[block][p.i + p.g * 4];
    const uint4 qv = *(const uint4 *)&s.power_b[block][p.j + p.t * 8];
    const uint32_t pw[2] = { pv.x, pv.y }, qw[4] = { qv.x, qv.y, qv.z, qv.w };
    /* Sums of bits, because the FP32 pipes are less busy than the integer pipes. */
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

/* Compute the outputs in the masks of a warp's lanes, shared evenly among the lanes.
   Returns their number. */
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

/* The fragments of block `h` of 16 bytes, at both positions of an instruction.  For a
   half of a block, the registers come from the lanes that have it. */
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

/* Copy the accumulators in a lane's mask to shared memory for recomputation, and back. */
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

/* One step: the products of L k from `at` on in a stage, half h of the fragments.  The
   number of recomputed outputs is added to *repaired. */
template <int FORMAT, int L, int F, class STAGE>
__device__ __forceinline__ void tensor_step(float *c, unsigned long long *repaired,
                                            repairs &w, const STAGE &s, const place &p,
                                            const fragments &f, int h, int at)
{
    constexpr int halves = 16 / sizeof(typename part<FORMAT>::type) / L;
    fragments twice;
    fragments_twice<halves>(twice.a, f.a, p.lane, h, true);
    fragments_twice<halves>(twice.b, f.b, p.lane, h, false);
    const unsigned mask = mask_of(s, p, at / L, c);
    const bool any = __any_sync(ALL_LANES, mask);
    if (any) masked_put(w, p.lane, mask, c);
    fragments_multiply<FORMAT, 2>(c, twice);
    if (!any) return;
    *repaired += repair<FORMAT, L, F>(w, s, p, mask, at);
    masked_take(w, p.lane, mask, c);
}

template <int FORMAT, int L, int F>
__global__ void __launch_bounds__(TILE_THREADS, 1)
    tensor(const __grid_constant__ emulate_chain x)
{
    using type = typename part<FORMAT>::type;
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
        for (int r = 0; r < 32; r++) c[r] *= unit;
        events_apply<32>(c, sum, what, x);
#pragma unroll
        for (int r = 0; r < 32; r++) c[r] *= 1 / unit;
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
            fragments f; /* a[mi]: both halves twice; b: ni twice, ni + 1 twice */
            fragments_load(f, now, p, chunk, chunk);
#pragma unroll
            for (int h = 0; h < halves; h++) {
                const int at = chunk * each + h * L;
                if (h && k + at >= x.products) break;
                if (k + at == events.at) happen(events.take());
                tensor_step<FORMAT, L, F>(c, &repaired, w, now, p, f, h, at);
            }
        }
    }
    while (events.at != UINT32_MAX) happen(events.take());
    outputs_store(x, p, i0, j0, c, sum, unit);
    if (x.repaired && p.lane == 0) atomicAdd(x.repaired, repaired);
}

/* --- starting ----------------------------------------------------------------------- */

template <int FORMAT, int L, int F>
rt_error tensor_with(const emulate_chain &x, rt_stream stream)
{
    constexpr int bytes = sizeof(tensor_memory<FORMAT, L>);
    const rt_error status = rt_function_set(tensor<FORMAT, L, F>, RT_SHARED_BYTES, bytes);
    if (status != RT_SUCCESS) return status;
    derive_start<FORMAT, L>(x.a, 25 - F, true, stream);
    derive_start<FORMAT, L>(x.b, 0, false, stream);
    tensor<FORMAT, L, F><<<tiles_of(x), TILE_THREADS, bytes, stream>>>(x);
    return rt_last_error();
}

/* The code for each format, and for the block and bits of the unit. */
constexpr struct {
    int format, block, fraction;
    rt_error (*start)(const emulate_chain &x, rt_stream stream);
} tensors[] = {
    { FORMAT_F16, 8, 24, tensor_with<FORMAT_F16, 8, 24> },
    { FORMAT_F16, 4, 23, tensor_with<FORMAT_F16, 4, 23> },
    { FORMAT_BF16, 8, 24, tensor_with<FORMAT_BF16, 8, 24> },
    { FORMAT_TF32, 4, 24, tensor_with<FORMAT_TF32, 4, 24> },
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
