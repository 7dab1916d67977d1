/* SPDX-License-Identifier: BSD-3-Clause */
/* The split pass of a device compared with split_apply(): every FP32 value, bit for bit.
 */
#ifndef BITCUT_ANALYSIS_VERIFY_SPLIT_TRIAL_H
#define BITCUT_ANALYSIS_VERIFY_SPLIT_TRIAL_H

#include "analysis/evidence/recorder.h"
#include "lib/number/apart.h"
#include "lib/number/split.h"

struct split_trial {
    const struct recorder *recorder;
    const struct bitcut_split *split; /* the split that the device computes */
    bool equilibrate;                 /* in rows of PARTS_RUN elements */
    uint64_t samples;                 /* number of random values; 0: all of FP32 */
    uint64_t seed;
    int threads;
};

struct split_result {
    uint64_t compared, mismatches; /* parts */
    char x[ENCODING_MAX];          /* of the first mismatch: the value, */
    int part;                      /* and the index of its part, 0: the high part */
    struct apart bits;
};

/* Compare every part that the device computes with the model.  Returns
   BITCUT_BAD_ARGUMENT if the equilibrated split can overflow; BITCUT_UNSUPPORTED if the
   device failed, or if asked to stop; BITCUT_NO_MEMORY. */
enum bitcut_status split_trial_run(struct split_result *result,
                                   const struct split_trial *trial,
                                   const struct progress *progress, struct fault *f);

#endif
