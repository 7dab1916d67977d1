/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a kernel of gpu/cuda/gemm_sm90.cuh, which follow from its formats, its
   recipe, its tile and its cluster. */
#ifndef BITCUT_GPU_CUDA_ROW_SM90_CUH
#define BITCUT_GPU_CUDA_ROW_SM90_CUH

#include "gpu/cuda/recipe.cuh"

constexpr int WARP = 32, GROUP = 128, CONSUMERS = 2, GROUPS = 1 + CONSUMERS;
constexpr int INSTRUCTION_M = 64, INSTRUCTION_K_BYTES = 32;
constexpr int TILE_M = CONSUMERS * INSTRUCTION_M;
constexpr int CLUSTER_MAX = 8; /* blocks, supported on every device of this
                                  architecture                               */

/* Registers of a thread.  A block starts with 168 for each thread; the loading warpgroup
   gives registers to the multiplying ones. */
constexpr int START_REGISTERS = 168, PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240;

/* Parts in a stage of DEPTH of k.  The first part has the format FORMAT, the other parts
   LOW.  An instruction takes 32 bytes of a line.  A k-step has the k of the instruction
   that takes most k; other instructions run several times in it. */
template <class FORMAT, class LOW, class RECIPE, int DEPTH> struct row_parts {
    static __host__ __device__ constexpr int bytes(int part)
    {
        return part ? LOW::bytes : FORMAT::bytes;
    }
    static __host__ __device__ constexpr int row_bytes(int part)
    {
        return DEPTH * bytes(part);
    }
    static constexpr int least_bytes =
        LOW::bytes < FORMAT::bytes ? LOW::bytes : FORMAT::bytes;
    static constexpr int step_k = INSTRUCTION_K_BYTES / least_bytes;

    /* How often a term runs in a k-step, and how often all terms of accumulator 0 run. */
    static __host__ __device__ constexpr int times(recipe_term t)
    {
        return bytes(t.a) / least_bytes;
    }
    static __host__ __device__ constexpr int promoted()
    {
        int count = 0;
        for (const recipe_term t : RECIPE::at) count += t.accumulator ? 0 : times(t);
        return count;
    }

    /* The offset of the lines of a part, in a stage with `lines` lines. */
    static __host__ __device__ constexpr int at(int part, int lines)
    {
        return lines * (part ? row_bytes(0) + (part - 1) * row_bytes(1) : 0);
    }

    /* Bytes that instructions read of an element of a line, for all terms. */
    static __host__ __device__ constexpr int read_bytes_all()
    {
        int all = 0;
        for (const recipe_term t : RECIPE::at) all += bytes(t.a);
        return all;
    }
};

/* A stage has DEPTH of k, and no promotion interval extends beyond it. */
template <class FORMAT, class LOW, class RECIPE, int TILE_N, int DEPTH, int STAGES,
          int CLUSTER_M, int CLUSTER_N>
struct row : row_parts<FORMAT, LOW, RECIPE, DEPTH> {
    using format = FORMAT;
    using low = LOW;
    using recipe = RECIPE;
    using in = row_parts<FORMAT, LOW, RECIPE, DEPTH>;
    static constexpr int parts = RECIPE::parts, accumulators = RECIPE::accumulators;
    static constexpr int promote = RECIPE::promote, n = TILE_N, stages = STAGES,
                         depth = DEPTH;
    static constexpr int cluster_m = CLUSTER_M, cluster_n = CLUSTER_N,
                         cluster = CLUSTER_M * CLUSTER_N;
    static constexpr int peers = CLUSTER_M + CLUSTER_N - 1; /* blocks in a row or a
                                                               column               */

    /* Number of slices of k whose tiles one cluster can have, so that it adds them.  This
       is only for blocks that share no parts, because a cluster then needs no other
       blocks than one tile's slices, and small clusters find room in more of the
       device. */
    static constexpr int slices_together = cluster == 1 ? CLUSTER_MAX : 0;
    static constexpr int registers = TILE_N / 2;     /* registers of an accumulator, in a
                                                        thread                         */
    static constexpr int steps = DEPTH / in::step_k; /* k-steps of a stage; k-steps issued
                                                        at once:                       */
    static constexpr int together = promote ? promote / in::promoted() : steps;
    static constexpr int a_bytes = in::at(parts, TILE_M), b_bytes = in::at(parts, TILE_N);
    static constexpr int a_lines = TILE_M / CLUSTER_N, b_lines = TILE_N / CLUSTER_M;
    static constexpr int stage_bytes = a_bytes + b_bytes;

    /* Bytes for one k.  An instruction reads 64 lines of A and all lines of B, for every
       term. */
    static constexpr int load_bytes = stage_bytes / DEPTH;
    static constexpr int read_bytes =
        CONSUMERS * (INSTRUCTION_M + TILE_N) * in::read_bytes_all();

    /* The ring, a full and an empty barrier for each stage, and room to align the
       ring. */
    static constexpr int alignment = 1024;
    static constexpr int shared_bytes = STAGES * (stage_bytes + 16) + alignment;

    static_assert(in::row_bytes(0) == 64 || in::row_bytes(0) == 128);
    static_assert(in::row_bytes(1) == 64 || in::row_bytes(1) == 128);
    static_assert(promote % in::promoted() == 0 && steps % together == 0);
    static_assert(a_lines % 8 == 0 && b_lines % 8 == 0 && b_lines <= 256);
    static_assert(shared_bytes <= 227 * 1024);
    static_assert(TILE_M * TILE_N * (int)sizeof(float) <= STAGES * stage_bytes);
};

/* Whether parts after the first have another format, and so other maps. */
template <class R> constexpr bool is_mixed = R::format::parts != R::low::parts;

#endif
