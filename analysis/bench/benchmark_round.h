/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of a benchmark: its runners, their verification and timing, and their rows.
 */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_ROUND_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_ROUND_H

#include "analysis/bench/benchmark.h"

/* Microseconds of processor time per call; 0: unknown. */
struct host_cost {
    double start;  /* start a GEMM whose kernel was chosen before, as bitcut_gemm_start()
                      does */
    double choose; /* choose the kernel for its recipe */
    double launch; /* launch a kernel that does nothing */
};

/* A kernel or peer that takes part, and its results.  Times are for all GEMMs of a batch.
 */
struct runner {
    struct gpu_entrant entrant;
    const char *name, *split; /* split: NULL if matrices are read as they are */
    struct bitcut_gemm gemm;  /* for a kernel: the GEMM that its D must equal */
    /* ------------------------------------------------------------------ */
    size_t looked_at;            /* outputs compared with the exact result */
    double relres;               /* of these outputs */
    size_t compared, mismatches; /* outputs compared with a kernel's model */
    const char *fallback;        /* the peer with the same bits, or NULL */
    char fault[GPU_FAULT_MAX];  /* why it was not timed, or ""           */
    int repeats;                /* in each timing */
    double ms, ms_min, ms_max;  /* median, smallest and largest over the rounds */
    double ms_first, ms_last;   /* in the first round and in the last */
    int megahertz;              /* clock in the last round; 0: unknown */
    struct gpu_measurement loop; /* under load; zeros: not measured */
    int loop_repeats;
    struct host_cost host; /* for kernels with all parts */
    double peak;           /* products per second that its unit can compute; 0: unknown */
};

enum { RUNNERS_MAX = 512 };

enum { MEAN_PEERS_MAX = 8 };

/* Speed relative to each peer, over the shapes on which the kernel was timed. */
struct benchmark_mean {
    double sum[MEAN_PEERS_MAX];
    int timed[MEAN_PEERS_MAX]; /* number of these shapes on which the peer was timed as
                                  well */
    int shapes;
};

/* The workload that is being timed. */
struct benchmark_round {
    const struct benchmark *benchmark;
    struct kernel_shape shape;
    size_t count;
    const char *input;
    size_t done; /* earlier workloads, for progress */
    struct runner runner[RUNNERS_MAX];
    size_t runners;
    struct gpu_library library; /* the library of the peers */
    /* over the workloads of this batch size, by strides and by pointers */
    struct benchmark_mean mean[2];
};

static inline const struct gpu_timer *benchmark_timer(const struct benchmark *r)
{
    return r->recorder->gpu.module->timer;
}

/* Whether its GEMMs are large ones, computed from parts; otherwise they are small, and
   read as they are. */
static inline bool benchmark_is_large(const struct benchmark *r)
{
    return r->study->matrices == FORMAT_F32;
}

/* Whether the runner was timed; false for NULL. */
static inline bool runner_is_timed(const struct runner *r) { return r && !r->fault[0]; }

/* The difference of its slowest and fastest round, in percent of the median; it was
   timed. */
static inline double runner_spread(const struct runner *r)
{
    return 100 * (r->ms_max - r->ms_min) / r->ms;
}

/* The peer with the largest spread, if it is above BENCHMARK_UNSTEADY_PERCENT, or NULL.
 */
const struct runner *benchmark_round_unsteady(const struct benchmark_round *c);

/* Milliseconds of a batch under load; 0: not measured. */
static inline double runner_sustained(const struct runner *r)
{
    return runner_is_timed(r) && r->loop_repeats ? r->loop.milliseconds / r->loop_repeats
                                                 : 0;
}

/* The GEMM of the workload, for the tile model. */
struct bitcut_gemm benchmark_round_gemm(const struct benchmark_round *c, int slices);

/* The available peer after `at` that takes the study's matrices; the first one for NULL;
   NULL at the end. */
const struct gpu_peer *benchmark_round_peer(const struct benchmark_round *c,
                                            const struct gpu_peer *at);

/* Put all participants into c->runner, the peers first.  Returns BITCUT_UNSUPPORTED if
   there is no kernel. */
enum bitcut_status benchmark_round_enter(struct benchmark_round *c, struct fault *f);

/* Verify and time the runners, and set c->library. */
enum bitcut_status benchmark_round_run(struct benchmark_round *c, struct fault *f);

/* The row of a runner after its workload. */
json_t *benchmark_round_row(const struct benchmark_round *c, const struct runner *r);

/* For f16: add the ratios of the workload's first kernel to the mean of its addressing.
 */
void benchmark_round_add_to_mean(struct benchmark_round *c);

/* The row of the mean, by strides or by pointers, over at least one workload. */
json_t *benchmark_round_mean_row(const struct benchmark_round *c, bool pointers);

#endif
