/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound of an FP64 GEMM by a scheme compared with the errors of D. */
#ifndef BITCUT_ANALYSIS_FP64_BOUND_CHECK_H
#define BITCUT_ANALYSIS_FP64_BOUND_CHECK_H

#include "analysis/fp64/scheme_bound.h"
#include "lib/base/record.h"

/* One pair of matrices. */
struct bound_check {
    const struct bitcut_scheme *scheme;
    const char *input_a, *input_b;
    size_t compared, outputs; /* outputs: those that have a limit */
    size_t violations;        /* outputs with an error above it   */
    double limit, limit_max;  /* median and largest limit, in u |A||B| */
    double observed, ratio;   /* largest error in u |A||B|; largest error / limit */
    double tightness;         /* median limit / error; NaN: no errors */
    size_t worst_at[2];       /* row and column of the output nearest to its limit */
    double worst_error, worst_limit;
    struct scheme_terms terms; /* of that limit; all in u |A||B| */
};

extern const struct record_field bound_check_fields[];

/* Several pairs. */
struct bound_checks {
    const struct bound_check *check;
    size_t count;
};

extern const struct record_line bound_checks_lines[];

/* Whether an output of any pair exceeds its limit, as none should. */
bool bound_checks_broken(const struct bound_checks *x);

/* Compare D of g, one GEMM, which is computed so.  BITCUT_UNSUPPORTED: k is in slices,
   for which there is no bound, or asked to stop.  BITCUT_NO_MEMORY. */
enum bitcut_status bound_check_find(struct bound_check *to, const struct bitcut_gemm *g,
                                    const struct fp64_choice *by,
                                    const struct gemm_options *options, struct fault *f);

#endif
