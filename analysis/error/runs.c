/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/error/runs.h"

#include "lib/threads.h"

enum bitcut_status
runs_do(size_t count,
        enum bitcut_status (*one)(void *context, size_t run, struct fault *f),
        void *context, int threads, const struct progress *progress, struct fault *f)
{
    enum bitcut_status first = BITCUT_OK;
    size_t done = 0;
    (void)threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_for(threads, count))
    for (size_t run = 0; run < count; run++) {
        struct fault own;
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status = one(context, run, &own);
#pragma omp critical(runs)
        {
            if (status != BITCUT_OK && first == BITCUT_OK) {
                first = status;
                if (f) *f = own;
            }
            progress_report(progress, ++done, count);
        }
    }
    if (first == BITCUT_OK && progress_stopped(progress))
        return fault_set(f, BITCUT_CANNOT, "stopped");
    return first;
}
