/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/progress.h"

/* Thread-local memory that exists when a thread begins.  The thread-local memory of a
   library that is opened later is allocated at its first use, and the process aborts if
   that allocation fails. */
static _Thread_local struct progress thread_progress
    __attribute__((tls_model("initial-exec")));

const volatile sig_atomic_t *bitcut_stop_on(const volatile sig_atomic_t *stop)
{
    const volatile sig_atomic_t *const before = thread_progress.stop;
    thread_progress.stop = stop;
    return before;
}

const struct progress *progress_of_thread(void) { return &thread_progress; }
