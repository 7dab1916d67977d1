/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of small GEMMs: D_i = alpha A_i B_i + beta C_i, all f16, as Lu et al. (2025)
   compute them on an MI210.

   Results.  An output is the chain of its MFMA over k-steps, ascending, from +0; the last
   k-step is padded with +0.  Then t = alpha sum; unless beta is zero, t = fma(beta, C,
   t); and D = t rounded to f16, to nearest even, with subnormals.  Two matrices never
   share a sum: blocks of 4x4x4 are separate, and rows, columns and k of a fragment that a
   matrix does not have are +0.

   Launch (struct hip_small): blocks of waves along x.  Each wave computes `gemms` GEMMs
   at a time, and then the GEMMs `step` later.  All lanes have equal work.  Direct: a lane
   reads four elements of a row of A and of a column of B for each k-step; other lanes
   read some of them too.  Staged: each lane loads the same number of groups of four
   elements, taken over all matrices that are computed at a time in the order of memory,
   through shared memory. */
#include "gpu/hip/batch_rows.h"
#include "gpu/hip/device.h"
#include "gpu/hip/mfma_rows.h"

MFMA_F16(MFMA_CLASS)

template <class INSTRUCTION, int SIZE, int WAVES, bool STAGED> struct small_shape {
    typedef INSTRUCTION I;
    enum {
        size = SIZE,
        waves = WAVES,
        tiles = SIZE / I::side,
        tiles_of_one = tiles * tiles,
        gemms = BATCH_GEMMS(SIZE),
        fragments = I::blocks > 1 ? 1 : tiles, /* fragments of a wave along m and along
                                                  n                             */
        fours = SIZE / 4,                      /* groups of four elements in a line */
        pitch = BATCH_PITCH(SIZE),
        stage_bytes = BATCH_SHARED(SIZE)
    };
    static constexpr bool staged = STAGED;
    static_assert(I::each == 4, "four elements of an operand in a lane");
    static_assert(I::blocks == 1 || I::blocks == gemms * tiles_of_one, "all blocks");
    static_assert(gemms * SIZE * fours % WAVE == 0, "whole fours for each lane");
};

/* --- memory ----------------------------------------------------------------------- */

DEVICE const _Float16 *matrix_at(const struct hip_panel &x, uint64_t i)
{
    return (const _Float16 *)(x.each ? x.each[i] : (const uint16_t *)x.at + i * x.stride);
}

/* Elements first to first + 3 of a line that has `count` elements, `step` apart; +0 for
   missing elements. */
DEVICE half4_ read_four(const _Float16 *line, uint64_t step, int first, int count)
{
    const _Float16 *at = line + first * step;
    half4_ v = { 0, 0, 0, 0 };
    if (step == 1 && first + 4 <= count && (uintptr_t)at % sizeof v == 0)
        return *(const half4_ *)at;
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (first + e < count) v[e] = at[e * step];
    return v;
}

/* --- what a lane has -------------------------------------------------------------- */

template <class S> struct small_lane {
    typedef typename S::I I;
    int lane, gemm, row, column, line, k; /* position of the first fragment; its GEMM
                                             among the GEMMs computed at a time      */

    DEVICE small_lane()
    {
        lane = (int)thread_x() % WAVE;
        const int block = I::blocks > 1 ? lane / I::side : 0;
        gemm = block / S::tiles_of_one;
        row = block % S::tiles_of_one / S::tiles * I::side;
        column = block % S::tiles * I::side;
        line = lane % I::side;
        k = I::blocks > 1 ? 0 : lane / I::side * I::each;
    }
};

/* Read four elements of k of a line of an operand of matrix i directly from memory. */
DEVICE half4_ direct_four(const struct hip_panel &x, uint64_t i, int line, int lines,
                          int p, int k)
{
    half4_ none = { 0, 0, 0, 0 };
    if (line >= lines) return none;
    return read_four(matrix_at(x, i) + line * x.line, x.along, p, k);
}

/* Load an operand of all matrices that are computed at a time into the wave's stage, with
   k along its lines. */
template <class S>
DEVICE void fill_stage(_Float16 *stage, const struct hip_panel &x, uint64_t first,
                       uint64_t count, int lines, int k)
{
    const bool turned = x.along != 1;
#pragma unroll 4 /* loads at a time: more would not fit registers */
    for (int i = 0; i < S::gemms * S::size * S::fours / WAVE; i++) {
        const int number = (int)thread_x() % WAVE + i * WAVE;
        const int gemm = number / (S::size * S::fours);
        const int across = number / S::fours % S::size, along = number % S::fours * 4;
        _Float16 *to = stage + gemm * 2 * S::size * S::pitch;
        half4_ v = { 0, 0, 0, 0 };
        if (first + gemm < count && across < (turned ? k : lines)) {
            const _Float16 *from =
                matrix_at(x, first + gemm) + across * (turned ? x.along : x.line);
            v = read_four(from, turned ? x.line : 1, along, turned ? lines : k);
        }
        if (!turned) *(half4_ *)(to + across * S::pitch + along) = v;
        else
#pragma unroll
            for (int e = 0; e < 4; e++) to[(along + e) * S::pitch + across] = v[e];
    }
}

/* --- a turn of a wave ------------------------------------------------------------- */

template <class S> struct small_turn {
    typedef typename S::I I;
    typename I::sums sum[S::fragments][S::fragments];

    DEVICE void multiply(const half4_ a[S::fragments], const half4_ b[S::fragments])
    {
#pragma unroll
        for (int i = 0; i < S::fragments; i++)
#pragma unroll
            for (int j = 0; j < S::fragments; j++)
                sum[i][j] = I::issue(a[i], b[j], sum[i][j]);
    }

    DEVICE void run(const struct hip_small &x, const small_lane<S> &l, uint64_t first,
                    _Float16 *stage)
    {
        const bool here = first + l.gemm < x.count;
        const int m = here ? x.m : 0, n = here ? x.n : 0;
        const _Float16 *own = stage + l.gemm * 2 * S::size * S::pitch;
#pragma unroll
        for (int i = 0; i < S::fragments * S::fragments; i++)
            sum[i / S::fragments][i % S::fragments] = 0;
        for (int p = 0; p < x.k; p += I::depth) {
            half4_ a[S::fragments], b[S::fragments];
#pragma unroll
            for (int f = 0; f < S::fragments; f++) {
                const int i = l.row + l.line + f * I::side;
                const int j = l.column + l.line + f * I::side;
                if (S::staged) {
                    a[f] = *(const half4_ *)(own + i * S::pitch + p + l.k);
                    b[f] = *(const half4_ *)(own + (S::size + j) * S::pitch + p + l.k);
                } else {
                    a[f] = direct_four(x.a, first + l.gemm, i, m, p + l.k, x.k);
                    b[f] = direct_four(x.b, first + l.gemm, j, n, p + l.k, x.k);
                }
            }
            multiply(a, b);
        }
    }

    DEVICE void store(const struct hip_small &x, const small_lane<S> &l, uint64_t i) const
    {
        if (i >= x.count) return;
        _Float16 *d = (_Float16 *)matrix_at(x.d, i);
        const _Float16 *c = x.reads_c ? matrix_at(x.c, i) : d;
#pragma unroll
        for (int f = 0; f < S::fragments * S::fragments; f++)
#pragma unroll
            for (int q = 0; q < I::count; q++) {
                const int row = l.row + f / S::fragments * I::side + I::row(l.lane, q);
                const int column =
                    l.column + f % S::fragments * I::side + I::column(l.lane);
                if (row >= x.m || column >= x.n) continue;
                float t = x.alpha * sum[f / S::fragments][f % S::fragments][q];
                if (x.reads_c)
                    t = __builtin_fmaf(x.beta,
                                       (float)c[row * x.c.line + column * x.c.along], t);
                d[row * x.d.line + column * x.d.along] = (_Float16)with_own_nan(t);
            }
    }
};

template <class S> DEVICE void small_gemms(const struct hip_small &x, _Float16 *stages)
{
    const int wave = (int)thread_x() / WAVE;
    const small_lane<S> lane;
    _Float16 *stage = stages + wave * (S::stage_bytes / 2);
    uint64_t first = (block_x() * (uint64_t)S::waves + wave) * S::gemms;
    for (; first < x.count; first += x.step) {
        small_turn<S> turn;
        if (S::staged) {
            fill_stage<S>(stage, x.a, first, x.count, x.m, x.k);
            fill_stage<S>(stage + S::size * S::pitch, x.b, first, x.count, x.n, x.k);
            wave_wait();
        }
        turn.run(x, lane, first, stage);
        turn.store(x, lane, first + lane.gemm);
        if (S::staged) wave_wait(); /* all lanes have read the stage */
    }
}

#define SMALL_KERNEL(SHAPE, NAME, SIZE, WAVES, HOW, STAGED)                              \
    KERNEL(WAVE *WAVES) batch_mfma##NAME##_##SIZE##_##HOW(struct hip_small x)            \
    {                                                                                    \
        typedef small_shape<i##SHAPE##_f16, SIZE, WAVES, STAGED> S;                      \
        SHARED static __attribute__((                                                    \
            aligned(16))) _Float16 stages[STAGED ? WAVES * S::stage_bytes / 2 : 1];      \
        small_gemms<S>(x, stages);                                                       \
    }

BATCH_ROWS(SMALL_KERNEL)
