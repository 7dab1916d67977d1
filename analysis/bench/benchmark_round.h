/* SPDX-License-Identifier: BSD-3-Clause */
/* One heat of a benchmark: its runners, how they are verified and timed, and their rows.
 */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_ROUND_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_ROUND_H

#include "analysis/bench/benchmark.h"

/* Microseconds that a call takes the host; 0: not known. */
struct host_cost {
    double start;  /* of a GEMM whose choice is remembered, as bitcut_gemm_start() does */
    double choose; /* the kernel for its recipe                                         */
    double launch; /* of a kernel that does nothing                                     */
};

/* One that takes part, and what is found of it.  A time is of all GEMMs of a batch. */
struct runner {
    struct gpu_entrant entrant;
    const char *name, *split; /* split: NULL where matrices are read as they are */
    struct bitcut_gemm gemm;  /* of a kernel: what its D must be          */
    /* ------------------------------------------------------------------ */
    size_t looked_at;            /* outputs                               */
    double relres;               /* of these                              */
    size_t compared, mismatches; /* of those beside a kernel's model      */
    const char *fallback;        /* the peer whose bits it gives, or NULL */
    char fault[GPU_FAULT_MAX];  /* why it was not timed, or ""           */
    int repeats;                 /* in each timing                        */
    double ms, ms_min, ms_max;   /* median of the rounds, and the ends    */
    double ms_first, ms_last;    /* of the first round and the last       */
    int megahertz;               /* in the last, 0: not known             */
    struct gpu_measurement loop; /* under load; zeros: there was none     */
    int loop_repeats;
    struct host_cost host; /* of all of a kernel */
    double peak;           /* products a second that its unit can make, 0: not known */
};

enum { RUNNERS_MAX = 512 };

enum { MEAN_PEERS_MAX = 8 };

/* How much faster than each peer, over the shapes on which the kernel was timed. */
struct benchmark_mean {
    double sum[MEAN_PEERS_MAX];
    int timed[MEAN_PEERS_MAX]; /* on so many of the shapes the peer, too */
    int shapes;
};

/* The workload that is raced now. */
struct benchmark_round {
    const struct benchmark *benchmark;
    struct kernel_shape shape;
    size_t count;
    const char *input;
    size_t done; /* workloads before, for progress */
    struct runner runner[RUNNERS_MAX];
    size_t runners;
    struct gpu_library library; /* what the peers are of */
    struct benchmark_mean
        mean[2]; /* over the workloads of this count, by strides, by pointers */
};

static inline const struct gpu_timer *benchmark_timer(const struct benchmark *r)
{
    return r->recorder->gpu.module->timer;
}

/* Whether its GEMMs are large ones, from words; else small ones, read as they are. */
static inline bool benchmark_is_large(const struct benchmark *r)
{
    return r->study->matrices == FORMAT_F32;
}

/* Whether the runner was timed; NULL was not. */
static inline bool runner_is_timed(const struct runner *r) { return r && !r->fault[0]; }

/* Milliseconds of a batch under load; 0: it did not run so. */
static inline double runner_sustained(const struct runner *r)
{
    return runner_is_timed(r) && r->loop_repeats ? r->loop.milliseconds / r->loop_repeats
                                                 : 0;
}

/* The GEMMs of the workload, as the tile model reads them. */
struct bitcut_gemm benchmark_round_gemm(const struct benchmark_round *c, int slices);

/* The peer after `at` that takes the study's matrices and is here; the first for NULL; NULL at the
   end. */
const struct gpu_peer *benchmark_round_peer(const struct benchmark_round *c,
                                            const struct gpu_peer *at);

/* All that take part, the peers first, into c->runner.  BITCUT_UNSUPPORTED: no kernel
 * does. */
enum bitcut_status benchmark_round_enter(struct benchmark_round *c, struct fault *f);

/* Verify and time the runners, and set c->library. */
enum bitcut_status benchmark_round_run(struct benchmark_round *c, struct fault *f);

/* The row of a runner, whose workload is finished. */
json_t *benchmark_round_row(const struct benchmark_round *c, const struct runner *r);

/* Add the ratios of the workload's first kernel to the mean of its addressing, of f16
 * alone.
 */
void benchmark_round_add_to_mean(struct benchmark_round *c);

/* The row of the mean by strides, or by pointers, over one workload or more. */
json_t *benchmark_round_mean_row(const struct benchmark_round *c, bool pointers);

#endif
