/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls by which a program has GEMMs on a device cost its processor. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_HOST_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_HOST_H

#include "analysis/bench/benchmark_round.h"

/* Measure r->host of a kernel, all of which was timed, in the session: medians over
   bursts of calls that the queue of a stream has room for, after one that counts for
   nothing; the device does what is started between them.  What fails there is not
   measured: 0. */
void host_cost_measure(struct runner *r, struct gpu_session *session,
                       const struct benchmark *benchmark);

#endif
