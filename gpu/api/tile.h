/* SPDX-License-Identifier: BSD-3-Clause */
/* Which tile of C a group of threads should compute: candidates are counted and ranked
   here, what is good about one is said by a tile model, a row of tile_models.

   A GEMM of M x N x K is cut into tiles of T_M x T_N outputs.  A group (thread block,
   workgroup) computes one tile in steps of T_K, in W waves (warps, wavefronts).  With
   g = ceil(M / T_M) ceil(N / T_N) groups on U units the busiest unit gets
   L = ceil(g / U) groups, R of which fit into it at a time.  Slices of k and the GEMMs
   of a batch are groups as well; a cluster of groups is one of that many T_M rows and T_N
   columns on so many units as one, where a model knows clusters.

   A model is a score, the product of factors, and what it counted on the way.  Candidates
   come from a grid, or from kernels that exist (gpu/api/choose.h). */
#ifndef BITCUT_GPU_API_TILE_H
#define BITCUT_GPU_API_TILE_H

#include "lib/number/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TILE_SIZE_MAX = 1 << 28, TILE_COUNT_MAX = 4096, TILE_FRAGMENT_MAX = 256 };

/* What a GPU has.  A unit is an SM or a CU.  All fields but the rates are at least 1, but
   shared_reserved may be 0 and is less than `shared`.  Those of the first part are at
   most TILE_SIZE_MAX, those of the second TILE_COUNT_MAX, a fragment's
   TILE_FRAGMENT_MAX. */
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

    /* Rates of a unit in a clock; 0: not known. */
    int products;    /* of 16-bit words that its matrix cores make              */
    int shared_rate; /* bytes to or from shared memory that cost as much        */
    int cache_rate;  /* bytes that come from the last cache, all units loading  */
};

/* What a kernel does with a tile, and what of it is kept where.  Numbers are 1 to 16. */
struct tile_method {
    int terms;            /* products of words an element                               */
    int words;            /* of an element of A or B                                    */
    int word_bytes;       /* of a word                                                  */
    int accumulators;     /* registers an output                                        */
    bool operands_shared; /* instructions read A and B from shared memory, as wgmma
                             does: only outputs are in registers                        */
};

extern const struct tile_method tile_legemm; /* as LE-GEMM's (13) to (17) are printed */

/* A candidate.  All fields are 1 to TILE_COUNT_MAX. */
struct tile {
    int m, n, k;
    int waves;  /* of a group, those that multiply               */
    int stages; /* buffers in shared memory; 1: nothing overlaps */
};

/* What a group of a candidate takes. */
struct tile_costs {
    uint64_t load, read; /* bytes for one k: to shared memory, from it (0: not known) */
    uint64_t shared;     /* bytes of shared memory                                    */
    uint64_t registers;  /* of a thread                                               */
    int cluster_m, cluster_n; /* groups with tiles below each other that share what they
                            load of B, and beside each other, of A: 1 or more         */
    int slices; /* of k whose groups are in one cluster, which adds them: 1 or more     */
};

struct tile_problem {
    uint64_t m, n, k; /* 0 counts as 1; scores are exact to TILE_PROBLEM_MAX each */
};

#define TILE_PROBLEM_MAX ((uint64_t)1 << 31)

/* By what and for what candidates are judged. */
struct tile_task {
    const struct tile_model *model;
    struct tile_gpu gpu;
    struct tile_method method;
    struct tile_problem problem;
    uint64_t count, slices; /* GEMMs of a batch, parts of k; 0 counts as 1 */
};

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

/* The factors of a score.  The first two are what tile_judge() counts; a model may lower
   the first and says what the third is. */
enum tile_factor { TILE_BUSY, TILE_USEFUL, TILE_RATE, TILE_FACTORS };

/* Why a choice stands where it does. */
enum tile_reason {
    TILE_BEST,
    TILE_BY_FACTOR, /* the factor that it loses most by against the best         */
    TILE_BY_LOAD,   /* the score of the best, but more load                      */
    TILE_BY_ORDER,  /* the score and the load of the best, but a later candidate */
    TILE_BY_LIMIT   /* does not fit                                              */
};

/* A candidate and all that a model says of it. */
struct tile_choice {
    struct tile tile;
    size_t at; /* its position among the candidates */
    struct tile_costs costs;
    enum tile_limit limit;       /* the first that it breaks                          */
    uint64_t need, have;         /* what it needs, what there is; 0 if it fits        */
    uint64_t groups;             /* g; of clusters, where the model knows them        */
    uint64_t busiest;            /* L                                                 */
    uint64_t resident;           /* R; 0 if the candidate does not fit                */
    uint64_t steps;              /* of a group                                        */
    uint64_t memory;             /* bytes loaded in a step                            */
    uint64_t flops;              /* operations of a step                              */
    double tlp;                  /* threads of the whole GEMM                         */
    double work_dl, work_cp;     /* elements that a thread holds, outputs it computes */
    double products_clocks, shared_clocks, cache_clocks; /* of a step, each alone     */
    double factor[TILE_FACTORS];
    double score;            /* their product                   */
    enum tile_reason reason; /* against the best of tile_rank() */
    enum tile_factor by;     /* for TILE_BY_FACTOR              */
};

struct tile_factor_row {
    const char *name, *what;
};

/* A number of struct tile_choice that a model shows. */
struct tile_detail {
    const char *name;
    size_t offset;
    bool counts; /* it is an uint64_t, else a double */
};

/* A row of the table of models. */
struct tile_model {
    const char *name, *what;
    struct tile_factor_row factor[TILE_FACTORS];
    const struct tile_detail *details; /* ended by one without a name             */
    bool rates;                        /* it needs the rates and `read`           */
    bool clusters;                     /* it knows clusters; else each group is one */

    /* Set what is the model's own of a choice: the clocks, the third factor, and what
       changes the first. */
    void (*judge)(struct tile_choice *choice, const struct tile_task *task);

    /* What comes first, > 0 if `a` does: by the score, and then by the load.  NULL: as
       the doubles compare, and not by the load. */
    int (*compare_scores)(const struct tile_choice *a, const struct tile_choice *b,
                          const struct tile_task *task);
    int (*compare_loads)(const struct tile_choice *a, const struct tile_choice *b);
};

extern const struct tile_model tile_models[]; /* ended by a row without a name */
enum { TILE_MODEL_CLOCKS, TILE_MODEL_LEGEMM };

/* The first model whose needs the GPU meets. */
const struct tile_model *tile_model_of(const struct tile_gpu *gpu);

/* What a group would take in a kernel by `method`; read is 0, a cluster one group. */
struct tile_costs tile_costs_of(const struct tile *tile, const struct tile_gpu *gpu,
                                const struct tile_method *method);

/* Judge one candidate; `reason` is TILE_BEST, or TILE_BY_LIMIT if it does not fit.
   `costs` are those of a kernel that runs, and so fits; NULL: tile_costs_of(). */
void tile_judge(struct tile_choice *choice, const struct tile *tile,
                const struct tile_costs *costs, const struct tile_task *task);

/* Judge all candidates into choices[count], the best first.  Those that do not fit come
   last, in their own order.  costs[count] or NULL as above. */
void tile_rank(struct tile_choice *choices, const struct tile *tiles,
               const struct tile_costs *costs, size_t count,
               const struct tile_task *task);

/* The waves that a tile gets without a better reason: one for every 64 x 64 accumulators,
   so that the workload of a thread is the same for all large tiles, as LE-GEMM's paper
   wants; at least one for each matrix core of a unit; at most one for each fragment. */
int tile_waves(int m, int n, const struct tile_gpu *gpu,
               const struct tile_method *method);

/* The candidates without a table of kernels: T_M and T_N are 32, 64, 128 or 256, T_K is
   1, 2 or 4 fragments, waves by tile_waves(). */
enum { TILE_GRID = 4 * 4 * 3 };
void tile_grid(struct tile tiles[TILE_GRID], const struct tile_gpu *gpu,
               const struct tile_method *method, int stages);

/* Threads of a group, outputs of a tile, elements of A and of B that a step loads. */
uint64_t tile_threads(const struct tile *tile, const struct tile_gpu *gpu);
uint64_t tile_outputs(const struct tile *tile);
uint64_t tile_elements(const struct tile *tile);

#endif
