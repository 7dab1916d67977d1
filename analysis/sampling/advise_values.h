/* SPDX-License-Identifier: BSD-3-Clause */
/* The bits that splits retain of the values of an operand. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_VALUES_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_VALUES_H

#include "analysis/accuracy/gemm_data.h"
#include "analysis/split/exponents.h"
#include "lib/base/record.h"

/* An operand and how it is read. */
struct advise_values {
    const char *name; /* "A"                                                           */
    struct exponents own,
        equilibrated; /* unscaled; with rows or columns scaled for f16 parts */
    int least, most;  /* exponents of `own`; most < least: none */
};

/* The fields: the number of values, in total and by exponent. */
extern const struct record_field advise_values_fields[];

/* Whether any value is finite and not 0. */
static inline bool advise_values_any(const struct advise_values *v)
{
    return v->most >= v->least;
}

/* The values of A of all products, also scaled by rows, or those of B, also scaled by
   columns.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status advise_values_take(struct advise_values *to,
                                      const struct gemm_data *of, size_t count, bool is_b,
                                      struct fault *f);
void advise_values_clear(struct advise_values *v);

/* What a split retains of the values with one exponent, or of all values. */
struct advise_retained {
    const char *operand;
    const struct bitcut_split *split;
    int scale_from, scale_to; /* range of scales with the same results */
    bool flush;               /* parts are read as by units that flush */
    int exponent;
    bool all; /* for all exponents */
    struct retention kept;
};

extern const struct record_field advise_retained_fields[];

struct advise_retained_list {
    struct advise_retained *at;
    size_t count, room;
};

/* Options of the computation. */
struct advise_how {
    int threads;
    const struct progress *progress;
};

/* Append what splits retain, by exponent and in total, for every row of the table.
   Splits with low parts are tried with every scale from 0 to 14; equal results are
   merged.  If a target has a unit that flushes parts, its reading is included as well. At
   most 2^14 values of an exponent are measured, evenly chosen. */
enum bitcut_status advise_values_keep(struct advise_retained_list *to,
                                      const struct advise_values *v,
                                      const char *const *target, size_t targets,
                                      const struct advise_how *how, struct fault *f);

/* The entry for all values together, with the scale of the split. */
enum bitcut_status advise_values_all(struct retention *to, const struct advise_values *v,
                                     const struct bitcut_split *split, bool flush,
                                     bool equilibrated, const struct advise_how *how,
                                     struct fault *f);

#endif
