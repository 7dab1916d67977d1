/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor time that a program spends in the calls that start GEMMs on a device. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_HOST_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_HOST_H

#include "analysis/bench/benchmark_round.h"

/* Measure r->host of a kernel in the session, after all its parts were timed.  The times
   are medians over bursts of calls that fit the queue of a stream, after one burst that
   is not counted; the device finishes its work between bursts.  What fails is not
   measured: 0. */
void host_cost_measure(struct runner *r, struct gpu_session *session,
                       const struct benchmark *benchmark);

#endif
