/* Which tile of C a group of threads should compute: the thread parallelism model of
   LE-GEMM (Zhang et al., Journal of Systems Architecture 160, 2025, 103336, section 4.2).

   A GEMM of M x N x K is cut into tiles of T_M x T_N outputs.  A group (thread block,
   workgroup) computes one tile in steps of T_K, in W waves (warps, wavefronts) of
   T_thread_num threads; W T_thread_num = Work_num.  The equations of the paper, in its
   letters, for its recipe (two f16 words an operand, three products):

   (12) T_TLP = phi(M N / (T_M T_N)) T_thread_num          threads of the whole GEMM
   (13) T_memory = 2 2 (T_M T_K + T_K T_N)                 bytes loaded in a step
   (14) T_flops = 3 2 (T_M T_N T_K)                        operations of a step
   (15) T_flops/memory = 3 T_M T_N / (2 (T_M + T_N))       (14) / (13)
   (16) Work_DL = (T_M T_N + T_M T_K + T_K T_N) / Work_num elements a thread holds
   (17) Work_CP = T_M T_N / Work_num                       outputs a thread computes

   phi turns groups into waves: phi(g) = g W.  The paper maximises (12) and (15) within
   what registers and shared memory allow.  As printed that does not decide: (12) alone
   takes the smallest tile, (15) the largest, and no capacity is stated.  This is the
   reading, the same for every GPU, that gives the paper's Table 2:

   a. "The number of activated threads is also limited by the supported number by the GPU
      hardware": of (12) counts the share of the matrix cores that it keeps at work.  With
      g = ceil(M / T_M) ceil(N / T_N) groups on U units of C matrix cores, the busiest
      unit gets L = ceil(g / U) groups, R of which fit into it at a time:
      busy = g / (U L) min(C, min(L, R) W) / C.
   b. Tiles at the edge are computed whole: useful = M N K / (g T_M T_N ceil(K/T_K) T_K).
   c. score = busy useful T_flops/memory.  Equal scores: the smaller Work_DL, which is
      also what chooses T_K, then the earlier candidate.
   d. (13) is one buffer and the pipeline of section 4.3 has two: `stages` times T_memory
      fit into the shared memory of a group.
   e. A thread's elements of (16) are in registers: an element of C is one of 32 bits, one
      of A or B with its residual is two f16 words, one register as well.  They are fewer
      than the thread's registers, as no equation counts an address.  It is (16) that is
      bounded: (17), which the text calls the "number of registers loaded by each thread",
      would let a 256 x 256 tile fill an A800 to the last register.
   f. (16) and (17) count one register an output, but Algorithm 1 has two accumulators.
      With both, 128 x 256 outputs are all 65536 registers of an A800: Table 2 needs the
      equations as they are printed, accumulators = 1.
   g. A pipeline loads one fragment from shared memory while it multiplies another, so
      with two or more stages T_K is at least two fragments.  Section 4.3 also names
      T_K = 16 for 128 x 256 tiles "on the AMD platform": that fits an MI210, its T_K = 32
      does not (98304 bytes of 65536), and Table 2 has 128 x 128 x 32 there.
   h. Candidates and W are not in the paper: tile_grid() says which are used.  Other
      sides than powers of two would do better: 192 x 192 x 32 on an A800. */
#ifndef BITCUT_GPU_TILE_H
#define BITCUT_GPU_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TILE_SIZE_MOST = 1 << 28, TILE_COUNT_MOST = 4096, TILE_FRAGMENT_MOST = 256 };

/* What a GPU has.  A unit is an SM or a CU.  All fields are at least 1, but
   shared_reserved may be 0 and is less than `shared`.  Those of the first half are at
   most TILE_SIZE_MOST, those of the second TILE_COUNT_MOST, a fragment's
   TILE_FRAGMENT_MOST. */
struct tile_gpu {
    int units;
    int registers;       /* of a unit, 32 bits each                                   */
    int shared;          /* bytes of shared memory of a unit                          */
    int shared_reserved; /* of these, bytes that each group costs beyond what it uses */

    int matrix_cores;     /* of a unit: waves that multiply at the same time */
    int wave;             /* threads of a wave: T_thread_num                 */
    int registers_thread; /* that a thread can have                          */
    int waves, groups;    /* that a unit holds at a time                     */
    int group_threads;    /* that a group can have                           */
    int fragment_m, fragment_n, fragment_k;
};

/* What a kernel does with a tile, and what of it is kept where.  Numbers are 1 to 16. */
struct tile_method {
    int terms;            /* products of words: the 3 of (14)                           */
    int words;            /* of an element of A or B: the first 2 of (13)               */
    int word_bytes;       /* the second 2 of (13)                                       */
    int accumulators;     /* registers an output: 1 in (16) and (17)                    */
    bool operands_shared; /* instructions read A and B from shared memory, as wgmma
                             does: only outputs are in registers                        */
};

extern const struct tile_method tile_legemm; /* as (13) to (17) are printed */

/* A candidate.  All fields are 1 to TILE_COUNT_MOST. */
struct tile {
    int m, n, k;
    int waves;  /* of a group, those that multiply               */
    int stages; /* buffers in shared memory; 1: nothing overlaps */
};

struct tile_problem {
    uint64_t m, n, k; /* 1 to TILE_PROBLEM_MOST each */
};

#define TILE_PROBLEM_MOST ((uint64_t)1 << 31)

/* What a candidate may break, by position in tile_limits. */
enum tile_limit {
    TILE_FRAGMENT,
    TILE_WAVES,
    TILE_PIPELINE,
    TILE_THREADS,
    TILE_SHARED,
    TILE_REGISTERS,
    TILE_FITS /* none of these */
};

struct tile_limit_row {
    const char *name;
    const char *what; /* for printf: need, have as unsigned long long */
};

extern const struct tile_limit_row tile_limits[]; /* ended by a row without a name */

/* The factors of the score, by position in tile_factors. */
enum tile_factor { TILE_BUSY, TILE_USEFUL, TILE_RATIO, TILE_FACTORS };

struct tile_factor_row {
    const char *name, *what;
};

extern const struct tile_factor_row tile_factors[]; /* ended likewise */

/* Why a choice stands where it does. */
enum tile_reason {
    TILE_BEST,
    TILE_BY_FACTOR, /* the factor that it loses most by against the best         */
    TILE_BY_LOAD,   /* the score of the best, but more load                      */
    TILE_BY_ORDER,  /* the score and the load of the best, but a later candidate */
    TILE_BY_LIMIT   /* does not fit                                              */
};

/* A candidate and all that the model says of it. */
struct tile_choice {
    struct tile tile;
    enum tile_limit limit;       /* the first that it breaks                        */
    uint64_t need, have;         /* what it needs, what there is; 0 if it fits      */
    uint64_t memory;             /* (13)                                            */
    uint64_t flops;              /* (14)                                            */
    double work_dl, work_cp;     /* (16), (17)                                      */
    uint64_t shared;             /* bytes a group uses: stages T_memory             */
    uint64_t registers;          /* a thread uses, by (e), rounded up               */
    uint64_t groups;             /* g                                               */
    uint64_t busiest;            /* L                                               */
    uint64_t resident;           /* R; 0 if the candidate does not fit              */
    double tlp;                  /* (12), of whole tiles                            */
    double factor[TILE_FACTORS]; /* busy is 0 if it does not fit; the ratio is (15) */
    double score;                /* their product                                   */
    enum tile_reason reason;     /* against the best of tile_rank()                 */
    enum tile_factor by;         /* for TILE_BY_FACTOR                              */
};

/* Judge one candidate; `reason` is TILE_BEST, or TILE_BY_LIMIT if it does not fit. */
void tile_judge(struct tile_choice *choice, const struct tile *tile,
                const struct tile_gpu *gpu, const struct tile_method *method,
                const struct tile_problem *problem);

/* Judge all candidates into choices[count], the best first.  Those that do not fit come
   last, in their own order.  Scores are compared exactly, as fractions. */
void tile_rank(struct tile_choice *choices, const struct tile *tiles, size_t count,
               const struct tile_gpu *gpu, const struct tile_method *method,
               const struct tile_problem *problem);

/* The waves that a tile gets without a better reason: one for every 64 x 64 accumulators,
   so that the workload of a thread (17) is the same for all large tiles, as the paper
   wants; at least one for each matrix core of a unit; at most one for each fragment. */
int tile_waves(int m, int n, const struct tile_gpu *gpu,
               const struct tile_method *method);

/* The candidates without a table of kernels: T_M and T_N are 32, 64, 128 or 256, T_K is
   1, 2 or 4 fragments, waves by tile_waves(). */
enum { TILE_GRID = 4 * 4 * 3 };
void tile_grid(struct tile tiles[TILE_GRID], const struct tile_gpu *gpu,
               const struct tile_method *method, int stages);

#endif
