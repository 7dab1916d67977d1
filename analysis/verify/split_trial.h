/* SPDX-License-Identifier: BSD-3-Clause */
/* The split pass of a device beside split_words(): every FP32 value, bit for bit. */
#ifndef BITCUT_ANALYSIS_VERIFY_SPLIT_TRIAL_H
#define BITCUT_ANALYSIS_VERIFY_SPLIT_TRIAL_H

#include "analysis/evidence/recorder.h"
#include "lib/number/apart.h"
#include "lib/number/split.h"

struct split_trial {
    const struct recorder *recorder;
    const struct bitcut_split *split; /* whose words the device makes       */
    bool equilibrate;                 /* in lines of WORDS_RUN elements     */
    uint64_t samples;                 /* values at random; 0: all of FP32   */
    uint64_t seed;
    int threads;
};

struct split_result {
    uint64_t compared, mismatches; /* words */
    char x[ENCODING_MAX];         /* of the first mismatch: the value, ...   */
    int word;                      /* ... which of its words, 0: the high one */
    struct apart bits;
};

/* Compare every word that the device makes with the model's.  BITCUT_BAD_ARGUMENT: the
   split, equilibrated, can overflow; BITCUT_UNSUPPORTED: the device failed, or asked to
   stop; BITCUT_NO_MEMORY. */
enum bitcut_status split_trial_run(struct split_result *result,
                                   const struct split_trial *trial,
                                   const struct progress *progress, struct fault *f);

#endif
