/* SPDX-License-Identifier: BSD-3-Clause */
/* How what a kernel computed differs from what it should. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_DIFFERENCE_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_DIFFERENCE_H

#include "analysis/verify/kernel_case.h"

/* Add a case, which the kernel and the models have run, to *r; the first mismatch of all
   is followed back, which runs the kernel again. */
enum bitcut_status kernel_difference_add(struct kernel_result *r, struct kernel_case *x,
                                         struct fault *f);

void kernel_failure_clear(struct kernel_failure *failure);

#endif
