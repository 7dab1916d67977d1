/* SPDX-License-Identifier: BSD-3-Clause */
/* Many independent runs of something, on several threads. */
#ifndef BITCUT_ANALYSIS_ERROR_RUNS_H
#define BITCUT_ANALYSIS_ERROR_RUNS_H

#include "lib/progress.h"
#include "lib/status.h"

/* Call one(context, run, ...) for each run below the count, in any order, each once. What
   one of them fails with comes back; if `progress` asks to stop, BITCUT_CANNOT. */
enum bitcut_status
runs_do(size_t count,
        enum bitcut_status (*one)(void *context, size_t run, struct fault *f),
        void *context, int threads, const struct progress *progress, struct fault *f);

#endif
