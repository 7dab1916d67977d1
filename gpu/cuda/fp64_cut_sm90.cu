/* SPDX-License-Identifier: BSD-3-Clause */
/* From FP64 operands to planes of slices (gpu/cuda/fp64_sm90.cuh).

   Launch: blocks of 256 threads for tiles of 32 lines and 128 of k of A (z = 0) and B (z =
   1), which loop over lines.  Blocks with the same lines follow each other, so that they
   write whole lines of the planes.  First they find the largest magnitude of each line, then they
   cut: a thread cuts four elements of a line at a time, and writes four bytes of each
   plane.  Where the lines of an operand are not contiguous, a tile goes through shared
   memory.  All operations are those of emu/fp64/cut.c. */
#include "gpu/cuda/fp64_sm90.cuh"

namespace
{

enum { LANES = 32, WARPS = 8, TILE_LINES = 32, TILE_K = 128, FOUR = 4 };
enum { NARROW = 9 };     /* slices in 64 bits             */
enum { FILLING = 4096 }; /* blocks that fill a device */

/* An operand with its planes. */
struct cut_of {
    struct fp64_lines from;
    struct fp64_planes to;
};

struct cut_job {
    struct cut_of operand[2];
    size_t k;
    int parts, width;
    bool differences;
};

/* --- the largest magnitude of each line ------------------------------------------- */

/* NaN counts as infinity and more if elements are truncated, and not at all otherwise. */
template <bool NEAREST> __device__ uint64_t magnitude(double x)
{
    const uint64_t bits = (uint64_t)__double_as_longlong(x) & ~((uint64_t)1 << 63);
    return NEAREST && bits > (uint64_t)FP64_FIELD_MAX << FP64_FRACTION ? 0 : bits;
}

/* The largest of a thread's elements: of line `line` + 8 i for each i, or of line `line`
   alone, where lanes have different lines. */
template <bool NEAREST>
__global__ void __launch_bounds__(LANES *WARPS)
    largest_kernel(const __grid_constant__ cut_job job)
{
    const cut_of &x = job.operand[blockIdx.z];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const size_t first = (size_t)blockIdx.x * TILE_LINES;
    const size_t step = (size_t)gridDim.y * TILE_K;
    if (first >= x.from.lines) return;
    if (x.from.k_stride == 1) {
        for (size_t line = first + warp; line < first + TILE_LINES; line += WARPS) {
            uint64_t most = 0;
            if (line >= x.from.lines) return;
            for (size_t k = (size_t)blockIdx.y * TILE_K; k < job.k; k += step)
#pragma unroll
                for (int i = 0; i < TILE_K; i += LANES)
                    if (k + i + lane < job.k)
                        most = max(most, magnitude<NEAREST>(
                                             x.from.at[line * x.from.line_stride + k + i +
                                                       lane]));
            for (int i = LANES / 2; i; i /= 2)
                most = max(most, (uint64_t)__shfl_xor_sync(~0u, most, i));
            if (lane == 0) atomicMax((unsigned long long *)&x.to.largest[line], most);
        }
        return;
    }
    __shared__ uint64_t found[WARPS][LANES];
    uint64_t most = 0;
    if (first + lane < x.from.lines)
        for (size_t k = (size_t)blockIdx.y * TILE_K; k < job.k; k += step)
#pragma unroll
            for (int i = 0; i < TILE_K; i += WARPS)
                if (k + i + warp < job.k)
                    most = max(most, magnitude<NEAREST>(
                                         x.from.at[(first + lane) * x.from.line_stride +
                                                   (k + i + warp) * x.from.k_stride]));
    found[warp][lane] = most;
    __syncthreads();
    if (warp || first + lane >= x.from.lines) return;
    for (int i = 1; i < WARPS; i++) most = max(most, found[i][lane]);
    atomicMax((unsigned long long *)&x.to.largest[first + lane], most);
}

/* --- cuts ------------------------------------------------------------------------- */

/* Four elements' slices, a byte each. */
template <int PARTS> using four_slices = uint32_t[PARTS];

__device__ void put_byte(uint32_t &to, uint32_t byte, int q) { to |= byte << 8 * q; }

/* cut_line_truncated() of emu/fp64/cut.c.  The significand is shifted as in its 128 bits.
   Up to NARROW slices need only the first 64 bits. */
template <int PARTS>
__device__ void cut_truncated(four_slices<PARTS> &d, const double (&x)[FOUR],
                              uint64_t largest, const cut_job &job)
{
    const int field = (int)(largest >> FP64_FRACTION),
              scale = field ? min(field + 1, FP64_FIELD_MAX) : 0;
    uint32_t negative = 0;
#pragma unroll
    for (int q = 0; q < FOUR; q++) {
        const uint64_t bits = (uint64_t)__double_as_longlong(x[q]);
        const int own = (int)(bits >> FP64_FRACTION & FP64_FIELD_MAX), shift = scale - own;
        const uint64_t top = (bits << (64 - FP64_FRACTION) >> 1) |
                             (uint64_t)(own > 0) << 63;
        uint64_t high = shift < 64 ? top >> shift : 0, low = 0;
        if (PARTS > NARROW && shift > 0 && shift < 128)
            low = shift < 64 ? top << (64 - shift) : top >> (shift - 64);
#pragma unroll
        for (int s = 0; s < PARTS; s++) {
            put_byte(d[s], (uint32_t)(high >> (64 - job.width)), q);
            high <<= job.width;
            if (PARTS > NARROW) high |= low >> (64 - job.width), low <<= job.width;
        }
        put_byte(negative, x[q] > 0 ? 0 : 0xff, q);
    }
#pragma unroll
    for (int s = 0; s < PARTS; s++) d[s] = __vsub4(d[s] ^ negative, negative);
}

/* digit_of() of emu/fp64/cut.c: the low byte of the conversion to s32, which saturates. */
__device__ uint32_t digit_of(double x, double inverse)
{
    return (uint32_t)__double2int_rz(__dmul_rn(x, inverse)) & 0xff;
}

/* cut_line_nearest(). */
template <int PARTS>
__device__ void cut_nearest(four_slices<PARTS> &d, const double (&x)[FOUR],
                            uint64_t largest, const cut_job &job)
{
    const int e = fp64_exponent_above(__longlong_as_double((long long)largest));
#pragma unroll
    for (int q = 0; q < FOUR; q++) {
        double shift = ldexp(1.5, 53 - job.width + e), rest = x[q],
               inverse = ldexp(1.0, job.width - 1 - e);
#pragma unroll
        for (int s = 0; s < PARTS; s++) {
            const double rounded = __dsub_rn(__dadd_rn(rest, shift), shift);
            rest = __dsub_rn(rest, rounded);
            put_byte(d[s], digit_of(rounded, inverse), q);
            shift = ldexp(shift, -job.width);
            inverse = ldexp(inverse, job.width);
        }
    }
}

/* --- planes ----------------------------------------------------------------------- */

/* Write the slices of four elements, and their differences: of A slice i less slice j, of
   B slice j less slice i. */
template <int PARTS>
__device__ void planes_write(const cut_job &job, size_t line, size_t p,
                             const four_slices<PARTS> &d)
{
    const cut_of &x = job.operand[blockIdx.z];
    const size_t plane = x.from.lines * x.to.row_bytes;
    uint8_t *to = x.to.at + line * x.to.row_bytes + p;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
        if (i < job.parts) *(uint32_t *)to = d[i], to += plane;
    if (!job.differences) return;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
#pragma unroll
        for (int j = i + 1; j < PARTS - i; j++)
            if (j < job.parts - i) {
                *(uint32_t *)to =
                    blockIdx.z ? __vsub4(d[j], d[i]) : __vsub4(d[i], d[j]);
                to += plane;
            }
}

/* Four elements of a line from p on; beyond k they are zero. */
__device__ void elements_read(double (&x)[FOUR], const cut_job &job, size_t line,
                              size_t p)
{
    const struct fp64_lines &from = job.operand[blockIdx.z].from;
#pragma unroll
    for (int q = 0; q < FOUR; q++)
        x[q] = p + q < job.k ? from.at[line * from.line_stride + p + q] : 0;
}

/* A tile of an operand whose lines are not contiguous. */
struct shared_tile {
    double at[TILE_LINES][TILE_K + 1];
};

__device__ void tile_read(shared_tile &to, const cut_job &job, size_t first, size_t k)
{
    const struct fp64_lines &from = job.operand[blockIdx.z].from;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    __syncthreads();
#pragma unroll
    for (int p = warp; p < TILE_K; p += WARPS)
        to.at[lane][p] = first + lane < from.lines && k + p < job.k
                             ? from.at[(first + lane) * from.line_stride +
                                       (k + p) * from.k_stride]
                             : 0;
    __syncthreads();
}

/* A tile from line `first` and from k on. */
template <int PARTS, bool NEAREST>
__device__ void cut_tile(shared_tile &tile, const cut_job &job, size_t first, size_t k)
{
    const cut_of &x = job.operand[blockIdx.z];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const bool contiguous = x.from.k_stride == 1;
    const size_t p = k + FOUR * lane;
    if (!contiguous) tile_read(tile, job, first, k);
    for (int i = warp; i < TILE_LINES; i += WARPS) {
        const size_t line = first + i;
        double v[FOUR];
        four_slices<PARTS> d = {};
        if (line >= x.from.lines || p >= x.to.row_bytes) continue;
        if (contiguous) elements_read(v, job, line, p);
        else
#pragma unroll
            for (int q = 0; q < FOUR; q++) v[q] = tile.at[i][FOUR * lane + q];
        if (NEAREST) cut_nearest<PARTS>(d, v, x.to.largest[line], job);
        else cut_truncated<PARTS>(d, v, x.to.largest[line], job);
        planes_write<PARTS>(job, line, p, d);
    }
}

template <int PARTS, bool NEAREST>
__global__ void __launch_bounds__(LANES *WARPS, PARTS > NARROW ? 2 : 5)
    cut_kernel(const __grid_constant__ cut_job job)
{
    __shared__ shared_tile tile;
    const size_t lines = job.operand[blockIdx.z].from.lines;
    for (size_t first = (size_t)blockIdx.y * TILE_LINES; first < lines;
         first += (size_t)gridDim.y * TILE_LINES)
        cut_tile<PARTS, NEAREST>(tile, job, first, (size_t)blockIdx.x * TILE_K);
}

template <bool NEAREST> int cut_start(const cut_job &job, size_t lines, cudaStream_t stream)
{
    const unsigned tiles = (unsigned)divide_up(lines, TILE_LINES), most = BLOCKS_MAX - 1;
    const unsigned ks = (unsigned)divide_up(job.k, TILE_K),
                   enough = tiles < FILLING ? FILLING / tiles : 1;
    const dim3 of_largest(tiles, ks < enough ? ks : enough, 2),
        of_cut(ks, tiles < most ? tiles : most, 2);
    largest_kernel<NEAREST><<<of_largest, LANES * WARPS, 0, stream>>>(job);
    const int status = cudaGetLastError();
    if (status) return status;
    if (job.parts > NARROW)
        cut_kernel<SLICE_PARTS_MAX, NEAREST><<<of_cut, LANES * WARPS, 0, stream>>>(job);
    else cut_kernel<NARROW, NEAREST><<<of_cut, LANES * WARPS, 0, stream>>>(job);
    return cudaGetLastError();
}

} // namespace

int fp64_cut(const struct fp64_product *p, const struct slice_program *program,
             const struct fp64_areas *areas, cudaStream_t stream)
{
    const cut_job job = { { { p->a, areas->a }, { p->b, areas->b } },
                          p->k,
                          program->parts,
                          program->width,
                          program->differences };
    const size_t lines = p->m > p->n ? p->m : p->n;
    if (!p->k) return cudaSuccess;
    return p->nearest ? cut_start<true>(job, lines, stream)
                      : cut_start<false>(job, lines, stream);
}
