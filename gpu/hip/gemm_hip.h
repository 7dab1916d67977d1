/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of parts by MFMA: the core of the kernels of gpu/hip/gemm_rows.h.

   Instruction: v_mfma_f32_32x32x8f16 and similar ones: side x side of D and `depth` of k,
   by a wave of 64 lanes.  Launch (struct hip_gemm): a block of waves for each tile_m x
   tile_n of D, for each slice of k and matrix of a batch.  A wave has wave_m x wave_n of
   the tile, with all accumulators in registers.

   A stage in shared memory has, for each part of A and then of B, lines of tile_bytes of
   k, in slots of 8 bytes.  Slot s of a line is at s ^ (line / lines in 128 bytes), so
   that slots with the same s in 16 lines are in different banks.  Parts are loaded from
   memory through registers: either immediately before they are stored, or the next tile
   is loaded while one is multiplied (AHEAD).  They are stored into the only stage when
   all waves have read it, or into the other of two stages (BUFFERS).

   Exact: each output is computed by one lane in the order of the recipe, with as many
   k-steps as the slice has; no k-step is only padding.  Lines beyond m and n repeat the
   last line, and their outputs are dropped. */
#ifndef BITCUT_GPU_HIP_GEMM_HIP_H
#define BITCUT_GPU_HIP_GEMM_HIP_H

#include "gpu/hip/device.h"
#include "gpu/hip/gemm_program.h"
#include "gpu/hip/gemm_rows.h"
#include "gpu/hip/mfma_rows.h"

/* --- programs --------------------------------------------------------------------- */

#define PROGRAM_TERM(A, B, ACCUMULATOR) to.template multiply<A, B, ACCUMULATOR>();
#define PROGRAM_CLASS(NAME, PARTS, ACCUMULATORS, PROMOTE)                                \
    struct NAME {                                                                        \
        enum { parts = PARTS, accumulators = ACCUMULATORS, promote = PROMOTE };          \
        template <class T> static DEVICE void each(T &to) { TERMS_##NAME(PROGRAM_TERM) } \
    };
GEMM_PROGRAMS(PROGRAM_CLASS)

/* --- a kernel's shape ------------------------------------------------------------- */

/* Bytes of one load.  Starts and ends of slices are multiples of it. */
template <int BYTES> struct piece;
template <> struct piece<8> {
    typedef uint2_ type;
};
template <> struct piece<16> {
    typedef uint4_ type;
};

template <class INSTRUCTION, class PROGRAM, int TILE_M, int TILE_N, int TILE_K,
          int WAVE_M, int WAVE_N, int BUFFERS, bool AHEAD>
struct shape {
    typedef INSTRUCTION I;
    typedef PROGRAM P;
    enum {
        tile_m = TILE_M,
        tile_n = TILE_N,
        tile_bytes = TILE_K * I::element_bytes,
        wave_m = WAVE_M,
        wave_n = WAVE_N,
        waves_m = TILE_M / WAVE_M,
        waves_n = TILE_N / WAVE_N,
        threads = WAVE * waves_m * waves_n,
        fragments_m = WAVE_M / I::side,
        fragments_n = WAVE_N / I::side,
        step_bytes = I::depth * I::element_bytes,
        steps = tile_bytes / step_bytes,
        fragment_bytes = I::each * I::element_bytes,
        piece_bytes = step_bytes < 16 ? step_bytes : 16,
        pieces = tile_bytes / piece_bytes,
        a_each = P::parts * TILE_M * pieces / threads, /* pieces for each thread */
        b_each = P::parts * TILE_N * pieces / threads,
        buffers = BUFFERS,
        a_bytes = P::parts * TILE_M * tile_bytes, /* bytes of a stage */
        stage_bytes = P::parts * (TILE_M + TILE_N) * tile_bytes
    };
    static constexpr bool ahead = AHEAD;
    static_assert(P::parts * TILE_M * pieces % threads == 0, "whole loads of A");
    static_assert(P::parts * TILE_N * pieces % threads == 0, "whole loads of B");
    static_assert(BUFFERS * stage_bytes <= 65536, "the shared memory of a CU");
    static_assert(threads / WAVE * I::side * I::side * 4 <= BUFFERS * stage_bytes,
                  "a fragment of every wave in shared memory");
    static_assert(P::promote <= 1, "never, or every k-step");
};

/* The position of byte `at` of a line in a stage. */
template <int TILE_BYTES> DEVICE int place(int line, int at)
{
    enum { SLOT = 8, slots = TILE_BYTES / SLOT, lines = 128 / TILE_BYTES };
    return line * TILE_BYTES + (at / SLOT ^ (line / lines % slots)) * SLOT + at % SLOT;
}

/* --- from memory to shared memory ------------------------------------------------- */

/* The data that a thread loads of one operand: EACH pieces of LINES lines of each
   part. */
template <class S, int LINES, int EACH> struct carried {
    typedef typename piece<S::piece_bytes>::type part;
    part held[EACH];

    /* Load bytes [from, from + tile_bytes) of k that are before `end`. */
    DEVICE void fetch(const char *parts, uint64_t first, uint64_t lines,
                      uint64_t row_bytes, uint64_t from, uint64_t end)
    {
        const int at = (int)thread_x() % S::pieces * S::piece_bytes;
        const bool there = from + at < end;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int number = ((int)thread_x() + i * S::threads) / S::pieces;
            const uint64_t wanted = first + number % LINES;
            const uint64_t row = wanted < lines ? wanted : lines - 1;
            const char *source =
                parts + (number / LINES * lines + row) * row_bytes + from + at;
            held[i] = part(0);
            if (there) held[i] = *(const part *)source;
        }
    }

    DEVICE void put(char *stage) const
    {
        const int at = (int)thread_x() % S::pieces * S::piece_bytes;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int line = ((int)thread_x() + i * S::threads) / S::pieces;
#pragma unroll
            for (int b = 0; b < S::piece_bytes; b += 8) {
                const uint2_ slot = { held[i][b / 4], held[i][b / 4 + 1] };
                *(uint2_ *)(stage + place<S::tile_bytes>(line, at + b)) = slot;
            }
        }
    }
};

/* --- a wave's part ---------------------------------------------------------------- */

/* The part of a wave.  With promotion, accumulator 0 is the FP32 register, and the unit's
   accumulator starts from +0 in every k-step. */
template <class S> struct part {
    typedef typename S::I I;
    typedef typename S::P P;

    typename I::sums sum[P::accumulators][S::fragments_m][S::fragments_n];
    typename I::operand a[P::parts][S::fragments_m], b[P::parts][S::fragments_n];
    int lane, i0, j0; /* its position in the tile */

    DEVICE void start()
    {
        const int wave = (int)thread_x() / WAVE;
        lane = (int)thread_x() % WAVE;
        i0 = wave % S::waves_m * S::wave_m;
        j0 = wave / S::waves_m * S::wave_n;
#pragma unroll
        for (int s = 0; s < P::accumulators; s++)
#pragma unroll
            for (int i = 0; i < S::fragments_m; i++)
#pragma unroll
                for (int j = 0; j < S::fragments_n; j++) sum[s][i][j] = 0;
    }

    /* Load the fragments of k-step `step` of a stage. */
    DEVICE void load(const char *stage, int step)
    {
        const int at = step * S::step_bytes + lane / I::side * S::fragment_bytes;
        const int line_a = i0 + lane % I::side, line_b = j0 + lane % I::side;
#pragma unroll
        for (int w = 0; w < P::parts; w++) {
#pragma unroll
            for (int i = 0; i < S::fragments_m; i++)
                a[w][i] =
                    *(const typename I::operand *)(stage + place<S::tile_bytes>(
                                                               w * S::tile_m + line_a +
                                                                   I::side * i,
                                                               at));
#pragma unroll
            for (int j = 0; j < S::fragments_n; j++)
                b[w][j] = *(
                    const typename I::operand *)(stage + S::a_bytes +
                                                 place<S::tile_bytes>(
                                                     w * S::tile_n + line_b + I::side * j,
                                                     at));
        }
    }

    /* Add part A times part B to an accumulator. */
    template <int A, int B, int TO> DEVICE void multiply()
    {
#pragma unroll
        for (int i = 0; i < S::fragments_m; i++)
#pragma unroll
            for (int j = 0; j < S::fragments_n; j++) {
                typename I::sums &to = sum[TO][i][j];
                if (TO == 0 && P::promote) {
                    const typename I::sums zero = 0;
                    to = to + I::issue(a[A][i], b[B][j], zero);
                } else {
                    to = I::issue(a[A][i], b[B][j], to);
                }
            }
    }

    /* Run the k-steps of a stage, `bytes` of k. */
    DEVICE void steps(const char *stage, uint64_t bytes)
    {
        if (bytes >= S::tile_bytes) {
#pragma unroll
            for (int step = 0; step < S::steps; step++) {
                load(stage, step);
                P::each(*this);
            }
            return;
        }
        for (int step = 0; step * S::step_bytes < (int)bytes; step++) {
            load(stage, step);
            P::each(*this);
        }
    }

    /* Fold the accumulators of a fragment of D into one. */
    DEVICE typename I::sums fold(int i, int j, float unscale) const
    {
        typename I::sums v = sum[P::accumulators - 1][i][j];
#pragma unroll
        for (int s = P::accumulators - 2; s >= 0; s--)
#pragma unroll
            for (int q = 0; q < I::count; q++)
                v[q] = __builtin_fmaf(v[q], unscale, sum[s][i][j][q]);
        return v;
    }

    /* Call what(value, row, column) for the outputs of the tile at (at_i, at_j) that D
       has, fragment by fragment through `own`, the wave's part of shared memory, so that
       lanes have adjacent outputs of a row. */
    template <class What>
    DEVICE void each(const struct hip_gemm &x, float *own, uint64_t at_i, uint64_t at_j,
                     What what) const
    {
#pragma unroll
        for (int i = 0; i < S::fragments_m; i++)
#pragma unroll
            for (int j = 0; j < S::fragments_n; j++) {
                const typename I::sums v = fold(i, j, x.unscale);
#pragma unroll
                for (int q = 0; q < I::count; q++)
                    own[I::row(lane, q) * I::side + I::column(lane)] = v[q];
                wave_wait();
#pragma nounroll
                for (int at = lane; at < I::side * I::side; at += WAVE) {
                    const uint64_t row = at_i + i0 + I::side * i + at / I::side;
                    const uint64_t column = at_j + j0 + I::side * j + at % I::side;
                    if (row < x.m && column < x.n) what(own[at], row, column);
                }
                wave_wait();
            }
    }

    DEVICE void store(const struct hip_gemm &x, float *own, uint64_t matrix,
                      uint64_t at_i, uint64_t at_j) const
    {
        if (x.partial) {
            float *to = x.partial + block_z() * x.m * x.n;
            each(x, own, at_i, at_j, [&](float v, uint64_t i, uint64_t j) {
                to[i * x.n + j] = v;
            });
        } else {
            each(x, own, at_i, at_j, [&](float v, uint64_t i, uint64_t j) {
                output_store(x.output, v, matrix, i, j);
            });
        }
    }
};

/* --- the kernel ------------------------------------------------------------------- */

/* A block's tile and its position in k. */
template <class S> struct block {
    carried<S, S::tile_m, S::a_each> a;
    carried<S, S::tile_n, S::b_each> b;
    const char *parts_a, *parts_b;
    uint64_t i0, j0, end;

    DEVICE void fetch(const struct hip_gemm &x, uint64_t from)
    {
        a.fetch(parts_a, i0, x.m, x.row_bytes, from, end);
        b.fetch(parts_b, j0, x.n, x.row_bytes, from, end);
    }
    DEVICE void put(char *stage) const
    {
        a.put(stage);
        b.put(stage + S::a_bytes);
    }
};

/* Compute all tiles of the block's slice, from byte `from` of k on. */
template <class S>
DEVICE void run_tiles(part<S> &w, block<S> &t, char *stages, const struct hip_gemm &x,
                      uint64_t from)
{
    int now = 0;
    if (from >= t.end) return;
    t.fetch(x, from);
    t.put(stages);
    block_wait();
    for (; from < t.end; from += S::tile_bytes) {
        const int other = S::buffers == 2 ? S::stage_bytes - now : 0;
        const uint64_t next = from + S::tile_bytes;
        const bool more = next < t.end;
        if (S::ahead && more) t.fetch(x, next);
        if (!S::ahead && S::buffers == 2 && more) {
            t.fetch(x, next);
            t.put(stages + other);
        }
        w.steps(stages + now, t.end - from);
        if (S::buffers == 1) block_wait(); /* all waves have read the stage */
        if (!S::ahead && S::buffers == 1 && more) t.fetch(x, next);
        if ((S::ahead || S::buffers == 1) && more) t.put(stages + other);
        block_wait();
        now = other;
    }
}

template <class S> DEVICE void gemm(const struct hip_gemm &x, char *stages)
{
    const uint32_t z = block_z();
    const uint64_t matrix = z * x.slice_reciprocal >> 32, slice = z - matrix * x.slices;
    const uint64_t from = slice * x.slice_bytes, to = from + x.slice_bytes;
    part<S> w;
    block<S> t;
    t.i0 = (x.first_m + (uint64_t)block_y()) * S::tile_m;
    t.j0 = block_x() * (uint64_t)S::tile_n;
    t.end = to < x.k_bytes ? to : x.k_bytes;
    t.parts_a = x.a + matrix * x.a_stride;
    t.parts_b = x.b + matrix * x.b_stride;
    w.start();
    run_tiles(w, t, stages, x, from);
    w.store(x, (float *)stages + thread_x() / WAVE * (S::I::side * S::I::side), matrix,
            t.i0, t.j0);
}

#define GEMM_KERNEL(FAMILY, SIDE, DEPTH, INPUT, RECIPE, PROGRAM, M, N, K, WAVE_M,        \
                    WAVE_N, PIPELINE, BUFFERS, AHEAD, MORE)                              \
    KERNEL(WAVE *M / WAVE_M * N / WAVE_N)                                                \
    FAMILY##_##RECIPE##_##INPUT##_##M##x##N##x##K##_##PIPELINE##MORE(struct hip_gemm x)  \
    {                                                                                    \
        typedef shape<i##SIDE##x##SIDE##x##DEPTH##_##INPUT, PROGRAM, M, N, K, WAVE_M,    \
                      WAVE_N, BUFFERS, AHEAD>                                            \
            S;                                                                           \
        SHARED static                                                                    \
            __attribute__((aligned(16))) char stages[BUFFERS * S::stage_bytes];          \
        gemm<S>(x, stages);                                                              \
    }

#endif
