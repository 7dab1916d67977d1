/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorded output, decoded once for all rows of a space. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_OUTPUT_H
#define BITCUT_ANALYSIS_FIT_FIT_OUTPUT_H

#include "analysis/evidence/sample.h"
#include "analysis/fit/fit_space.h"

/* The ways of reading operands: converted to each of three formats (`via`), with
   subnormals retained or flushed in each. */
enum { FLUSHES = INPUT_C + 1, READINGS = FLUSHES * 3 };

/* One recorded output, ready for every row of a space. */
struct observed {
    struct number *numbers; /* storage of all arrays below, one allocation */
    struct number *a[READINGS], *b[READINGS]; /* NULL: no row uses this reading */
    struct number *scale_a, *scale_b;         /* NULL for a unit without block scales */
    uint8_t alias[READINGS]; /* the first reading that gives the same numbers */
    bool c_subnormal;        /* flushing changes it */
    bool nan;                /* a NaN operand, or Inf times 0: every row gives a NaN */
    uint64_t c, d;           /* encodings of unit->c; d is the recorded one   */
    int rank;                /* priority: a lower rank decides more rows at once */
    size_t index;            /* index of the output in struct fit */
};

/* Decode the operands of `sample` in all readings of the space.  Returns false if memory
   runs out. */
bool observed_init(struct observed *o, const struct space *s, const struct sample *sample,
                   uint64_t d);
void observed_clear(struct observed *o);

/* The reading of the row: FLUSHES * (position of `via` in the space) + flush_inputs. */
int observed_reading(const struct space *s, const struct bitcut_unit *row);

/* The operands in that reading. */
struct lane observed_a(const struct observed *o, int reading);
struct lane observed_b(const struct observed *o, int reading);

/* The output of a row of the space. */
uint64_t observed_dot(const struct observed *o, const struct space *s,
                      const struct bitcut_unit *row);

#endif
