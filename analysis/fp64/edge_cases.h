/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by a scheme at the ends of the range: NaN, infinities, the largest numbers
   and subnormals, where IEEE 754 says what A B is. */
#ifndef BITCUT_ANALYSIS_FP64_EDGE_CASES_H
#define BITCUT_ANALYSIS_FP64_EDGE_CASES_H

#include "emu/fp64/scheme.h"
#include "lib/base/record.h"

enum { EDGE_CASES = 8 };

/* What a scheme makes of a case. */
struct edge_result {
    const char *what;
    double d, exact; /* exact: A B, rounded once                                  */
    double loss;     /* |D - E| in u |A||B|, u = 2^-53; 0: D and E are the same NaN or
                        infinity; infinite: only one of them is                    */
    bool correct;    /* whether the loss is at most 1000 times that of ordinary numbers,
                        or 1000 u if that is less                                  */
};

/* Compute a dot product of every case on the unit of `job`, whose matrices and sizes are
   not read. */
enum bitcut_status edge_cases_run(struct edge_result to[EDGE_CASES],
                                  const struct fp64_job *job, struct fault *f);

extern const struct record_field edge_result_fields[];

#endif
