/* SPDX-License-Identifier: BSD-3-Clause */
/* The tile of C that a group of threads should compute.  Candidates are evaluated and
   ranked here.  A tile model, a row of tile_models, defines what is good about a
   candidate.

   A GEMM of M x N x K is cut into tiles of T_M x T_N outputs.  A group (thread block,
   workgroup) computes one tile in steps of T_K, in W waves (warps, wavefronts).  With g =
   ceil(M / T_M) ceil(N / T_N) groups on U units, the busiest unit gets L = ceil(g / U)
   groups, and R of them fit into it at a time.  Slices of k and the GEMMs of a batch are
   groups as well.  In models with clusters, a cluster of groups counts as one group with
   the T_M rows and T_N columns of all its groups, on as many units.

   A model is a score, the product of factors, and the numbers that lead to it.
   Candidates come from a grid, or from existing kernels (gpu/api/choose.h). */
#ifndef BITCUT_GPU_API_TILE_H
#define BITCUT_GPU_API_TILE_H

#include "lib/number/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TILE_SIZE_MAX = 1 << 28, TILE_COUNT_MAX = 4096, TILE_FRAGMENT_MAX = 256 };

/* The properties of a GPU.  A unit is an SM or a CU.  All fields except the rates are at
   least 1; but shared_reserved may be 0 and is less than `shared`.  The fields of the
   first part are at most TILE_SIZE_MAX, the fields of the second part at most
   TILE_COUNT_MAX, and the sizes of a fragment at most TILE_FRAGMENT_MAX. */
struct tile_gpu {
    int units;
    int registers;       /* registers of a unit, 32 bits each                         */
    int shared;          /* bytes of shared memory of a unit                          */
    int shared_reserved; /* bytes of shared memory that each group costs beyond its own
                            use                                                       */

    int matrix_cores;     /* of a unit: number of waves that multiply at the same time */
    int wave;             /* threads of a wave: T_thread_num                 */
    int registers_thread; /* largest number of registers of a thread         */
    int waves, groups;    /* largest number that a unit holds at a time      */
    int group_threads;    /* largest number of threads of a group            */
    int fragment_m, fragment_n, fragment_k;

    /* Rates of a unit in one clock; 0: unknown. */
    int products;    /* products of 16-bit parts in its matrix cores            */
    int shared_rate; /* bytes to or from shared memory that cost the same time as
                        `products`                                              */
    int cache_rate;  /* bytes from the last-level cache while all units load    */
};

/* How a kernel computes a tile, and where it holds the data.  Numbers are 1 to 16. */
struct tile_method {
    int terms;            /* products of parts for each product of elements             */
    int parts;            /* parts of an element of A or B                              */
    int part_bytes;       /* bytes of a part                                            */
    int accumulators;     /* accumulator registers for each output                      */
    bool operands_shared; /* instructions read A and B from shared memory, as wgmma does,
                             so that only outputs are in registers                      */
};

extern const struct tile_method tile_legemm; /* LE-GEMM's (13) to (17) as printed     */

/* A candidate.  All fields are 1 to TILE_COUNT_MAX. */
struct tile {
    int m, n, k;
    int waves;  /* waves of a group that multiply                */
    int stages; /* buffers in shared memory; 1: no overlap       */
};

/* Resources of a group of a candidate. */
struct tile_costs {
    uint64_t load, read; /* bytes for one k: to shared memory, from it (0: unknown)   */
    uint64_t shared;     /* bytes of shared memory                                    */
    uint64_t registers;  /* registers of a thread                                     */
    int cluster_m, cluster_n; /* groups in a cluster: with tiles below each other, which
                                 share their loads of B, and next to each other, which
                                 share their loads of A; 1 or more                    */
    int slices; /* slices of k whose groups form one cluster, which adds them; 1 or
                   more                                                                 */
};

struct tile_problem {
    uint64_t m, n, k; /* 0 counts as 1; scores are exact up to TILE_PROBLEM_MAX each */
};

#define TILE_PROBLEM_MAX ((uint64_t)1 << 31)

/* The device, the method and the problem for which candidates are rated. */
struct tile_task {
    const struct tile_model *model;
    struct tile_gpu gpu;
    struct tile_method method;
    struct tile_problem problem;
    uint64_t count, slices; /* number of GEMMs in a batch, and of slices of k; 0 counts as
                               1                                           */
};

/* Limits that a candidate may exceed, by position in tile_limits. */
enum tile_limit {
    TILE_FRAGMENT,
    TILE_WAVES,
    TILE_PIPELINE,
    TILE_THREADS,
    TILE_SHARED,
    TILE_REGISTERS,
    TILE_FITS /* no limit is exceeded */
};

struct tile_limit_row {
    const char *name;
    const char *what; /* printf format with two unsigned long long: required, available */
};

extern const struct tile_limit_row tile_limits[]; /* ended by a row without a name */

/* The factors of a score.  tile_judge() computes the first two.  A model may lower the
   first, and defines the third. */
enum tile_factor { TILE_BUSY, TILE_USEFUL, TILE_RATE, TILE_FACTORS };

/* Why a candidate has its rank. */
enum tile_reason {
    TILE_BEST,
    TILE_BY_FACTOR, /* the factor by which it is worst, compared with the best   */
    TILE_BY_LOAD,   /* same score as the best, but more load                     */
    TILE_BY_ORDER,  /* same score and load as the best, but a later candidate    */
    TILE_BY_LIMIT   /* does not fit                                              */
};

/* A candidate and its rating by a model. */
struct tile_choice {
    struct tile tile;
    size_t at; /* its position among the candidates */
    struct tile_costs costs;
    enum tile_limit limit;       /* the first limit that it exceeds                   */
    uint64_t need, have;         /* required and available amount; 0 if it fits       */
    uint64_t groups;             /* g; number of clusters in models with clusters     */
    uint64_t busiest;            /* L                                                 */
    uint64_t resident;           /* R; 0 if the candidate does not fit                */
    uint64_t steps;              /* steps of a group                                  */
    uint64_t memory;             /* bytes loaded in a step                            */
    uint64_t flops;              /* operations in a step                              */
    double tlp;                  /* threads of the whole GEMM                         */
    double work_dl, work_cp;     /* elements that a thread holds, outputs that it
                                    computes                                          */
    double products_clocks, shared_clocks, cache_clocks; /* clocks of a step for each
                                                            resource alone            */
    double factor[TILE_FACTORS];
    double score;            /* product of the factors          */
    enum tile_reason reason; /* compared with the best of tile_rank() */
    enum tile_factor by;     /* for TILE_BY_FACTOR: the factor  */
};

struct tile_factor_row {
    const char *name, *what;
};

/* A number of struct tile_choice that a model shows. */
struct tile_detail {
    const char *name;
    size_t offset;
    bool counts; /* whether it is a uint64_t; else a double */
};

/* A row of the table of models. */
struct tile_model {
    const char *name, *what;
    struct tile_factor_row factor[TILE_FACTORS];
    const struct tile_detail *details; /* ended by a row without a name           */
    bool rates;                        /* whether it needs the rates and `read`   */
    bool clusters;                     /* whether it has clusters; else each group counts
                                          alone                                     */

    /* Set the model's own members of a choice: the clocks, the third factor, and changes
       of the first factor. */
    void (*judge)(struct tile_choice *choice, const struct tile_task *task);

    /* Compare two candidates by the score, and then by the load; > 0 if `a` is better.
       NULL: compare the scores as doubles, and not the load. */
    int (*compare_scores)(const struct tile_choice *a, const struct tile_choice *b,
                          const struct tile_task *task);
    int (*compare_loads)(const struct tile_choice *a, const struct tile_choice *b);
};

extern const struct tile_model tile_models[]; /* ended by a row without a name */
enum { TILE_MODEL_CLOCKS, TILE_MODEL_LEGEMM };

/* The first model whose requirements the GPU meets. */
const struct tile_model *tile_model_of(const struct tile_gpu *gpu);

/* The resources of a group in a kernel with this `method`; read is 0, and a cluster has
   one group. */
struct tile_costs tile_costs_of(const struct tile *tile, const struct tile_gpu *gpu,
                                const struct tile_method *method);

/* Rate one candidate.  `reason` is TILE_BEST, or TILE_BY_LIMIT if it does not fit.
   `costs` are the resources of an existing kernel, which fits; NULL: tile_costs_of(). */
void tile_judge(struct tile_choice *choice, const struct tile *tile,
                const struct tile_costs *costs, const struct tile_task *task);

/* Rate all candidates and write them to choices[count], the best first.  Candidates that
   do not fit come last, in their own order.  costs[count] or NULL as above. */
void tile_rank(struct tile_choice *choices, const struct tile *tiles,
               const struct tile_costs *costs, size_t count,
               const struct tile_task *task);

/* The default number of waves of a tile: one for every 64 x 64 accumulators, so that the
   load of a thread is the same for all large tiles, as LE-GEMM's paper requires; at least
   one for each matrix core of a unit; at most one for each fragment. */
int tile_waves(int m, int n, const struct tile_gpu *gpu,
               const struct tile_method *method);

/* The candidates without a table of kernels: T_M and T_N are 32, 64, 128 or 256, T_K is
   1, 2 or 4 fragments, and tile_waves() gives the waves. */
enum { TILE_GRID = 4 * 4 * 3 };
void tile_grid(struct tile tiles[TILE_GRID], const struct tile_gpu *gpu,
               const struct tile_method *method, int stages);

/* Threads of a group, outputs of a tile, and elements of A and of B that a step loads. */
uint64_t tile_threads(const struct tile *tile, const struct tile_gpu *gpu);
uint64_t tile_outputs(const struct tile *tile);
uint64_t tile_elements(const struct tile *tile);

#endif
