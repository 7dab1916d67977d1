/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between the results of a kernel and the expected results. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_DIFFERENCE_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_DIFFERENCE_H

#include "analysis/verify/kernel_case.h"

/* Add a case, which the kernel and the models have computed, to *r.  The first mismatch
   of all cases is traced to its step, which runs the kernel again. */
enum bitcut_status kernel_difference_add(struct kernel_result *r, struct kernel_case *x,
                                         struct fault *f);

void kernel_failure_clear(struct kernel_failure *failure);

#endif
