/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs by mma.sync, sm_80 and later: every recipe with one, two or three parts.

   Instruction: m16n8k16 (f16, bf16) or m16n8k8 (tf32).  Both take 32 bytes of k in a row
   of A or a column of B.  So tiles are counted in bytes of k, and the bytes of fragments
   are the same for all formats (PTX ISA, "Matrix fragments for mma.m16n8k16",
   ldmatrix). */
#include "gpu/cuda/gemm_sm80.cuh"
#include "gpu/cuda/mma.cuh"

namespace
{

/* --- fragments ------------------------------------------------------------------ */

__device__ void load_matrices(uint32_t &x0, uint32_t &x1, uint32_t &x2, uint32_t &x3,
                              const char *at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x0), "=r"(x1), "=r"(x2), "=r"(x3)
                 : "r"(shared_address(at)));
}

/* --- a warp's part ---------------------------------------------------------------- */

/* The part of a warp.  With promotion, accumulator 0 is the FP32 register, and the unit's
   accumulator starts from +0 in every k-step. */
template <class SHAPE> struct mma_part {
    using S = SHAPE;
    static constexpr int fragments_m = S::warp_m / 16, fragments_n = S::warp_n / 8;
    static constexpr const char *plainly = "mma.sync, no asynchronous copy",
                                *ahead = "mma.sync, cp.async";

    float sum[S::R::accumulators][fragments_m][fragments_n][4];
    uint32_t a[S::R::parts][fragments_m][4], b[S::R::parts][fragments_n][2];
    int lane, i0, j0; /* its position in the tile */

    __device__ void start()
    {
        const int warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        i0 = warp % S::warps_m * S::warp_m;
        j0 = warp / S::warps_m * S::warp_n;
#pragma unroll
        for (int s = 0; s < S::R::accumulators; s++)
#pragma unroll
            for (int i = 0; i < fragments_m; i++)
#pragma unroll
                for (int j = 0; j < fragments_n; j++)
#pragma unroll
                    for (int q = 0; q < 4; q++) sum[s][i][j][q] = 0;
    }

    /* Load the fragments of k-step `step` of a stage. */
    __device__ void load(const char *stage, int step)
    {
        const char *at_a = stage + S::layout::at(i0 + lane % 16, 2 * step + lane / 16);
        const char *at_b =
            stage + S::a_bytes +
            S::layout::at(j0 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2);
#pragma unroll
        for (int w = 0; w < S::R::parts; w++) {
#pragma unroll
            for (int i = 0; i < fragments_m; i++)
                load_matrices(a[w][i][0], a[w][i][1], a[w][i][2], a[w][i][3],
                              at_a + (w * S::tile_m + 16 * i) * S::line_bytes);
#pragma unroll
            for (int j = 0; j < fragments_n; j += 2)
                load_matrices(b[w][j][0], b[w][j][1], b[w][j + 1][0], b[w][j + 1][1],
                              at_b + (w * S::tile_n + 8 * j) * S::line_bytes);
        }
    }

    template <int A, int B, int TO> __device__ void multiply(term<A, B, TO>)
    {
#pragma unroll
        for (int i = 0; i < fragments_m; i++)
#pragma unroll
            for (int j = 0; j < fragments_n; j++) {
                float(&to)[4] = sum[TO][i][j];
                if constexpr (TO == 0 && S::R::promote) {
                    const float zero[4] = { 0, 0, 0, 0 };
                    float product[4];
                    mma<S::format>(product, a[A][i], b[B][j], zero);
#pragma unroll
                    for (int q = 0; q < 4; q++) to[q] = __fadd_rn(to[q], product[q]);
                } else {
                    mma<S::format>(to, a[A][i], b[B][j], to);
                }
            }
    }

    __device__ void steps(const char *stage)
    {
#pragma unroll
        for (int step = 0; step < S::tile_bytes / STEP_BYTES; step++) {
            load(stage, step);
            S::R::each([&](auto term) { multiply(term); });
        }
    }

    /* Fold the accumulators of an output into one. */
    __device__ float fold(int i, int j, int q, float unscale) const
    {
        float v = sum[S::R::accumulators - 1][i][j][q];
#pragma unroll
        for (int s = S::R::accumulators - 2; s >= 0; s--)
            v = __fmaf_rn(v, unscale, sum[s][i][j][q]);
        return v;
    }

    __device__ void store(const arguments &x, size_t at_i, size_t at_j, char *) const
    {
#pragma unroll
        for (int i = 0; i < fragments_m; i++)
#pragma unroll
            for (int j = 0; j < fragments_n; j++)
#pragma unroll
                for (int q = 0; q < 4; q += 2)
                    store_pair(x, fold(i, j, q, x.unscale), fold(i, j, q + 1, x.unscale),
                               at_i + i0 + 16 * i + lane / 4 + 4 * q,
                               at_j + j0 + 8 * j + 2 * (lane % 4));
    }
};

} // namespace

#define f16  FORMAT_F16
#define bf16 FORMAT_BF16
#define tf32 FORMAT_TF32

#define ROW(RECIPE, TERMS, FORMAT, M, N, K, WARP_M, WARP_N, STAGES)                      \
    row_of<mma_part<shape<FORMAT, TERMS, M, N, K, WARP_M, WARP_N, STAGES>>>(             \
        "sm80." RECIPE "." #FORMAT "." #M "x" #N "x" #K "." #STAGES, RECIPE)

const struct gpu_kernel gemm_sm80[] = {
    /* clang-format off */
    /* recipe, terms, format, tile m, n, k, warp m, n, stages.  The rows of a recipe:
       large tiles, tiles that fit the shared memory of every device, small tiles, and the
       kernel without asynchronous copy. */
    ROW("plain",       one,           f16,  128, 256, 64, 64, 64, 3),
    ROW("plain",       one,           f16,  128, 256, 32, 64, 64, 3),
    ROW("plain",       one,           f16,   64,  64, 32, 32, 32, 3),
    ROW("plain",       one,           bf16, 128, 256, 64, 64, 64, 3),
    ROW("plain",       one,           bf16, 128, 256, 32, 64, 64, 3),
    ROW("plain",       one,           bf16,  64,  64, 32, 32, 32, 3),
    ROW("plain",       one,           tf32, 128, 256, 32, 64, 64, 3),
    ROW("plain",       one,           tf32, 128, 256, 16, 64, 64, 3),
    ROW("plain",       one,           tf32,  64,  64, 16, 32, 32, 3),
    ROW("markidis",    four,          f16,  128, 128, 32, 64, 32, 3),
    ROW("markidis",    four,          f16,   64,  64, 32, 32, 32, 3),
    ROW("feng",        four,          f16,  128, 128, 32, 64, 32, 3),
    ROW("feng",        four,          f16,   64,  64, 32, 32, 32, 3),
    ROW("ootomo",      main_last<1>,  f16,  128, 128, 64, 64, 32, 2),
    ROW("ootomo",      main_last<1>,  f16,  128, 128, 32, 64, 32, 3),
    ROW("ootomo",      main_last<1>,  f16,   64,  64, 32, 32, 32, 3),
    ROW("ootomo",      main_last<1>,  f16,  128, 128, 32, 64, 32, 1),
    ROW("ootomo-tf32", main_last<1>,  tf32, 128, 128, 32, 64, 32, 2),
    ROW("ootomo-tf32", main_last<1>,  tf32, 128, 128, 16, 64, 32, 3),
    ROW("ootomo-tf32", main_last<1>,  tf32,  64,  64, 16, 32, 32, 3),
    ROW("legemm",      main_first<0>, f16,  128, 128, 64, 64, 32, 3),
    ROW("legemm",      main_first<0>, f16,  128, 128, 32, 64, 32, 3),
    ROW("legemm",      main_first<0>, f16,   64,  64, 32, 32, 32, 3),
    ROW("legemm",      main_first<0>, f16,  128, 128, 32, 64, 32, 1),
    ROW("tf32x3",      three<0>,      tf32, 128, 256, 16, 64, 64, 3),
    ROW("tf32x3",      three<0>,      tf32, 128, 128, 16, 64, 32, 3),
    ROW("tf32x3",      three<0>,      tf32,  64,  64, 16, 32, 32, 3),
    ROW("bf16x3",      three<0>,      bf16, 128, 256, 32, 64, 64, 3),
    ROW("bf16x3",      three<0>,      bf16, 128, 128, 32, 64, 32, 3),
    ROW("bf16x3",      three<0>,      bf16,  64,  64, 32, 32, 32, 3),
    ROW("bf16x6",      six<0>,        bf16, 128, 256, 32, 64, 64, 2),
    ROW("bf16x6",      six<0>,        bf16, 128, 128, 32, 64, 32, 2),
    ROW("bf16x6",      six<0>,        bf16,  64,  64, 32, 32, 32, 2),
    ROW("bf16x9",      nine<0>,       bf16, 128,  64, 32, 32, 32, 2),
    ROW("bf16x9",      nine<0>,       bf16,  64,  64, 32, 32, 32, 2),
    {}
    /* clang-format on */
};
