/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather the values of a chain from the matrices, in the order in which they are added,
   and find the largest magnitude of each line. */
#ifndef BITCUT_GPU_CUDA_EMULATE_GATHER_CUH
#define BITCUT_GPU_CUDA_EMULATE_GATHER_CUH

#include "gpu/cuda/emulate_view.cuh"

namespace
{

/* The largest finite magnitude of each line; one block computes one line. */
__global__ void largest(uint32_t *to, const __grid_constant__ view v, size_t k)
{
    uint32_t most = 0;
    for (size_t p = threadIdx.x; p < k; p += blockDim.x) {
        const uint32_t x = emulate_magnitude(view_get(v, blockIdx.x, p));
        if (x < EMULATE_INFINITY) most = max(most, x);
    }
    __shared__ uint32_t all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    atomicMax(&all, most);
    __syncthreads();
    if (threadIdx.x == 0) to[blockIdx.x] = all;
}

/* Typical values are rounded by integer operations on the encoding, in which the fraction
   carries into the exponent.  A value is typical if its magnitude is 0, or one of `range`
   encodings from `least` on.  The lowest `drop` bits are dropped after `add` is added,
   and with `even` the lowest bit that is retained.  If `range` is 0, no value is typical. */
struct typical_part {
    uint32_t least, range, add, even;
    int drop;
};

/* The source of the values of an operand. */
struct source {
    view matrix;
    size_t k;
    bool is_b;
    const uint32_t *largest; /* for equilibrated lines, or NULL         */
    struct split_rule split;
    struct typical_part typical[2]; /* of the first two parts                */
    float scale;                    /* of the second part, for typical values */
    const struct chain_run *run;
    uint32_t runs, products;
    const uint32_t *element; /* k at each position; NULL: the position itself, and none
                                from k on                                         */
    emulate_window window;
    int parts; /* FORMAT_... of the parts that are written instead of values; FORMAT_F32:
                  values are written                                              */
};

/* The k of a product of the chain, and its part. */
struct product_place {
    uint32_t k; /* NO_K: none, the product is +0    */
    int part;
};
constexpr uint32_t NO_K = UINT32_MAX;

/* The run that contains product p. */
__device__ const chain_run *run_of(const source &s, uint32_t p)
{
    uint32_t low = 0, high = s.runs;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (s.run[middle].from <= p) low = middle;
        else high = middle;
    }
    return s.run + low;
}

__device__ product_place place_of_product(const source &s, const unit_rule &rule,
                                          uint32_t p)
{
    if (p >= s.products) return { NO_K, 0 };
    const chain_run *const r = run_of(s, p);
    const uint32_t in = p - r->from,
                   place = r->at + in / rule.k * rule.k + rule.order[in % rule.k];
    const uint32_t k = s.element ? s.element[place] : place;
    return { k < s.k ? k : NO_K, s.is_b ? r->b : r->a };
}

/* Part `part` of any x.  With a constant number of the part, the fields of `s` are operands
   in constant memory. */
__device__ __forceinline__ uint32_t part_of(const split_rule &s, uint32_t x, int part)
{
    static_assert(SPLIT_PARTS_MAX == 3);
    return part == 0   ? emulate_part(&s, x, 0)
           : part == 1 ? emulate_part(&s, x, 1)
                       : emulate_part(&s, x, 2);
}

/* Round x in its encoding; false: it is not typical. */
__device__ __forceinline__ bool round_typical(uint32_t &part, const typical_part &t,
                                              uint32_t x)
{
    const uint32_t m = emulate_magnitude(x);
    part = (x + t.add + (x >> t.drop & t.even)) >> t.drop << t.drop;
    return m - t.least < t.range || (m == 0 && t.range);
}

/* Part `part` of x by the parts of typical values; false: some part is not typical. */
__device__ __forceinline__ bool typical_part_of(uint32_t &v, const source &s, uint32_t x,
                                                int part)
{
    const bool typical = round_typical(v, s.typical[0], x);
    if (part == 0) return typical;
    const uint32_t residual =
        emulate_multiply(emulate_add(x, v ^ EMULATE_SIGN), __float_as_uint(s.scale));
    return part == 1 && round_typical(v, s.typical[1], residual) && typical;
}

/* The value in the chain of element x of a line. */
__device__ __forceinline__ uint32_t value_of(const source &s, const unit_rule &rule,
                                             size_t line, uint32_t x, int part)
{
    if (s.largest)
        x = emulate_scale(x, emulate_exponent(s.split.target, s.largest[line]));
    uint32_t v;
    if (!typical_part_of(v, s, x, part)) v = part_of(s.split, x, part);
    return emulate_read(&rule, s.is_b, v);
}

/* Whether a method does not accept all values. */
__host__ __device__ inline bool is_limited(const emulate_window &w)
{
    return w.least > -149 || !w.specials;
}

/* Whether a method does not accept the value. */
__device__ bool is_outside(const emulate_window &w, uint32_t x)
{
    if (emulate_magnitude(x) == 0) return false;
    if (emulate_is_nan(x) || emulate_is_infinite(x)) return !w.specials;
    const int e = emulate_exponent_of(x);
    return e < w.least || e > w.most;
}

enum { GATHER_TILE = 32, GATHER_ROWS = 8, GATHER_EACH = GATHER_TILE / GATHER_ROWS };

/* The encodings of a thread's elements of a tile, whose first line is i0, read along the
   direction that is contiguous in the matrix; missing elements are 0. */
template <bool F32>
__device__ void tile_read(uint32_t (&to)[GATHER_EACH], const source &s,
                          const product_place *places, bool lines_first, size_t i0,
                          int lines)
{
    const void *const from = view_start(s.matrix);
    const int x = threadIdx.x;
    const size_t step = lines_first ? s.matrix.along : s.matrix.across,
                 first =
                     i0 * s.matrix.across +
                     (lines_first ? x * s.matrix.across : places[x].k * s.matrix.along);
#pragma unroll
    for (int n = 0; n < GATHER_EACH; n++) {
        const int y = threadIdx.y + n * GATHER_ROWS, line = lines_first ? x : y;
        const uint32_t k = places[lines_first ? y : x].k;
        const size_t i = first + (lines_first ? k : (uint32_t)y) * step;
        to[n] = 0;
        if (k != NO_K && line < lines)
            to[n] = F32 ? ((const uint32_t *)from)[i] : view_encoding(s.matrix, from, i);
    }
}

/* Write four values, or their parts, at element `at` of an operand.  Parts represent them
   exactly. */
__device__ void write_four(const emulate_operand &to, int parts, size_t at,
                           const uint32_t (&v)[4])
{
    if (parts == FORMAT_F32) {
        *(uint4 *)(to.value + at) = make_uint4(v[0], v[1], v[2], v[3]);
    } else if (parts == FORMAT_TF32) {
        *(uint4 *)((uint32_t *)to.parts + at) = make_uint4(v[0], v[1], v[2], v[3]);
    } else if (parts == FORMAT_BF16) {
        *(uint2 *)((uint16_t *)to.parts + at) =
            make_uint2(__byte_perm(v[0], v[1], 0x7632), __byte_perm(v[2], v[3], 0x7632));
    } else {
        const __half2 x[] = {
            __floats2half2_rn(__uint_as_float(v[0]), __uint_as_float(v[1])),
            __floats2half2_rn(__uint_as_float(v[2]), __uint_as_float(v[3]))
        };
        uint2 two;
        memcpy(&two, x, sizeof two);
        *(uint2 *)((uint16_t *)to.parts + at) = two;
    }
}

/* Tiles of lines and products; a block takes a column of them.  They are written along
   the direction that is contiguous in the chain.  F32: the matrix has FP32 elements. */
template <bool F32>
__global__ void __launch_bounds__(GATHER_TILE *GATHER_ROWS, 4)
    gather(const __grid_constant__ source s, const __grid_constant__ unit_rule rule,
           emulate_operand to)
{
    __shared__ uint32_t tile[GATHER_TILE][GATHER_TILE + 1]; /* [product][line] */
    __shared__ product_place places[GATHER_TILE];
    const size_t p0 = blockIdx.x * (size_t)GATHER_TILE;
    const int x = threadIdx.x;
    const bool lines_first = s.matrix.along != 1;
    const bool limited = is_limited(s.window);
    if (threadIdx.y == 0) places[x] = place_of_product(s, rule, (uint32_t)(p0 + x));
    __syncthreads();
    for (size_t i0 = blockIdx.y * (size_t)GATHER_TILE; i0 < to.padded;
         i0 += gridDim.y * (size_t)GATHER_TILE) {
        uint32_t read[GATHER_EACH];
        const int lines =
            i0 < to.lines ? (int)min(to.lines - i0, (size_t)GATHER_TILE) : 0;
        tile_read<F32>(read, s, places, lines_first, i0, lines);
#pragma unroll
        for (int n = 0; n < GATHER_EACH; n++) {
            const int y = threadIdx.y + n * GATHER_ROWS, line = lines_first ? x : y,
                      product = lines_first ? y : x;
            const product_place at = places[product];
            uint32_t v = 0;
            if (at.k != NO_K && line < lines)
                v = value_of(s, rule, i0 + line,
                             F32 ? read[n] : emulate_decode(&s.matrix.format, read[n]),
                             at.part);
            if (limited && is_outside(s.window, v)) atomicOr(&to.wild[i0 + line], 1);
            tile[product][line] = v;
        }
        __syncthreads();
        if (to.across) {
#pragma unroll
            for (int y = threadIdx.y; y < GATHER_TILE; y += GATHER_ROWS)
                ((uint32_t *)to.value)[(p0 + y) * to.padded + i0 + x] = tile[y][x];
        } else {
            const int thread = threadIdx.y * GATHER_TILE + x, line = thread / 8,
                      p = thread % 8 * 4;
            const uint32_t v[] = { tile[p][line], tile[p + 1][line], tile[p + 2][line],
                                   tile[p + 3][line] };
            write_four(to, s.parts, (i0 + line) * to.length + p0 + p, v);
        }
        __syncthreads();
    }
}

} // namespace

#endif
