/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of an attention's O (bitcut_attention_judge() in lib/bitcut.h). */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_JUDGE_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_JUDGE_H

#include "lib/base/progress.h"
#include "lib/base/record.h"
#include "lib/base/status.h"

extern const struct record_field attention_error_fields[];

/* bitcut_attention_judge() with a progress. */
enum bitcut_status attention_judge(struct bitcut_attention_errors *to,
                                   const struct bitcut_attention *attention, int threads,
                                   const struct progress *progress, struct fault *f);

#endif
