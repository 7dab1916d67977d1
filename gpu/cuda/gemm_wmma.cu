/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs by the warp matrix functions of CUDA C++ (mma.h), sm_80 and later, which papers
   use as a baseline.

   m16n16k16 of f16 is two instructions m16n8k16, next to each other.  It is unspecified
   which element of a fragment a register holds, but it is the same for all fragments of
   one type.  So accumulators are promoted and folded register by register, and go to D
   through shared memory. */
#include "gpu/cuda/gemm_sm80.cuh"

#include <mma.h>

namespace
{

constexpr int SIDE = 16; /* side of every fragment */

template <class SHAPE> struct wmma_part {
    using S = SHAPE;
    using sums =
        nvcuda::wmma::fragment<nvcuda::wmma::accumulator, SIDE, SIDE, SIDE, float>;
    static constexpr int fragments_m = S::warp_m / SIDE, fragments_n = S::warp_n / SIDE;
    static constexpr int ld = S::line_bytes / (int)sizeof(half);
    static constexpr const char *plainly = "wmma, no asynchronous copy",
                                *ahead = "wmma, cp.async";
    static_assert(S::format == FORMAT_F16 && S::line_bytes % CHUNK == 0);
    static_assert(S::threads / 32 * SIDE * SIDE * sizeof(float) <= S::shared_bytes);

    sums sum[S::R::accumulators][fragments_m][fragments_n];
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, SIDE, SIDE, SIDE, half,
                           nvcuda::wmma::row_major>
        a[S::R::parts][fragments_m];
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, SIDE, SIDE, SIDE, half,
                           nvcuda::wmma::col_major>
        b[S::R::parts][fragments_n];
    int warp, i0, j0; /* its position in the tile */

    __device__ void start()
    {
        warp = threadIdx.x / 32;
        i0 = warp % S::warps_m * S::warp_m;
        j0 = warp / S::warps_m * S::warp_n;
#pragma unroll
        for (int s = 0; s < S::R::accumulators; s++)
#pragma unroll
            for (int i = 0; i < fragments_m; i++)
#pragma unroll
                for (int j = 0; j < fragments_n; j++)
                    nvcuda::wmma::fill_fragment(sum[s][i][j], 0);
    }

    /* Load COUNT fragments of each part, for k-step `step`, with LINES lines in a
       part. */
    template <int LINES, class F, int COUNT>
    static __device__ void load(F (&to)[S::R::parts][COUNT], const char *parts, int first,
                                int step)
    {
#pragma unroll
        for (int w = 0; w < S::R::parts; w++)
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const int line = w * LINES + first + SIDE * i;
                const char *at = parts + line * S::line_bytes + step * STEP_BYTES;
                nvcuda::wmma::load_matrix_sync(to[w][i], (const half *)at, ld);
            }
    }

    template <int A, int B, int TO> __device__ void multiply(term<A, B, TO>)
    {
#pragma unroll
        for (int i = 0; i < fragments_m; i++)
#pragma unroll
            for (int j = 0; j < fragments_n; j++) {
                sums &to = sum[TO][i][j];
                if constexpr (TO == 0 && S::R::promote) {
                    sums product;
                    nvcuda::wmma::fill_fragment(product, 0);
                    nvcuda::wmma::mma_sync(product, a[A][i], b[B][j], product);
#pragma unroll
                    for (int q = 0; q < product.num_elements; q++)
                        to.x[q] = __fadd_rn(to.x[q], product.x[q]);
                } else {
                    nvcuda::wmma::mma_sync(to, a[A][i], b[B][j], to);
                }
            }
    }

    __device__ void steps(const char *stage)
    {
#pragma unroll
        for (int step = 0; step < S::tile_bytes / STEP_BYTES; step++) {
            load<S::tile_m>(a, stage, i0, step);
            load<S::tile_n>(b, stage + S::a_bytes, j0, step);
            S::R::each([&](auto term) { multiply(term); });
        }
    }

    /* Fold the accumulators of a fragment of D into the last one. */
    __device__ sums &fold(int i, int j, float unscale)
    {
        sums &v = sum[S::R::accumulators - 1][i][j];
#pragma unroll
        for (int s = S::R::accumulators - 2; s >= 0; s--)
#pragma unroll
            for (int q = 0; q < v.num_elements; q++)
                v.x[q] = __fmaf_rn(v.x[q], unscale, sum[s][i][j].x[q]);
        return v;
    }

    __device__ void store(const arguments &x, size_t at_i, size_t at_j, char *shared)
    {
        float *mine = (float *)shared + warp * SIDE * SIDE;
        const int lane = threadIdx.x % 32;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < fragments_m; i++)
#pragma unroll
            for (int j = 0; j < fragments_n; j++) {
                nvcuda::wmma::store_matrix_sync(mine, fold(i, j, x.unscale), SIDE,
                                                nvcuda::wmma::mem_row_major);
                __syncwarp();
#pragma unroll
                for (int at = 2 * lane; at < SIDE * SIDE; at += 64)
                    store_pair(x, mine[at], mine[at + 1],
                               at_i + i0 + SIDE * i + at / SIDE,
                               at_j + j0 + SIDE * j + at % SIDE);
                __syncwarp();
            }
    }
};

} // namespace

#define ROW(RECIPE, TERMS, M, N, K, WARP_M, WARP_N, STAGES)                              \
    row_of<wmma_part<shape<FORMAT_F16, TERMS, M, N, K, WARP_M, WARP_N, STAGES, padded>>>(   \
        "wmma." RECIPE ".f16." #M "x" #N "x" #K "." #STAGES, RECIPE)

const struct gpu_kernel gemm_wmma[] = {
    /* clang-format off */
    /* recipe, terms, tile m, n, k, warp m, n, stages */
    ROW("plain",    one,           128, 128, 32, 64, 32, 1),
    ROW("markidis", four,          128, 128, 32, 64, 32, 1),
    ROW("ootomo",   main_last<1>,  128, 128, 32, 64, 32, 1),
    ROW("legemm",   main_first<0>, 128, 128, 32, 64, 32, 1),
    {}
    /* clang-format on */
};
