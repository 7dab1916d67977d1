/* Recorded outputs to be explained by a row. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_H
#define BITCUT_ANALYSIS_FIT_FIT_H

#include "analysis/fit/fit_output.h"
#include "analysis/evidence/set.h"

/* An output of an instruction as it was recorded. */
struct recorded {
    struct sample sample;
    uint64_t d;
};

/* The outputs to explain, in the order in which rows are tested. */
struct fit {
    struct space space;
    struct observed *outputs;
    size_t count;
};

/* All rows with the formats, k and block scales of `unit` are to be tested on `count` (at
   least 1) outputs.  BITCUT_BAD_ARGUMENT if k is more than an instruction's or there is
   no output; *fit is set only on success. */
enum bitcut_status fit_init(struct fit *fit, const struct bitcut_unit *unit,
                            const struct recorded *outputs, size_t count,
                            struct fault *f);

/* The same with at most `most` outputs of each set (0: all), spread evenly over it, as
   the unit sees them in the sets' variants, without NaNs of which only the sign was
   recorded. The sets must be of one instruction: BITCUT_BAD_ARGUMENT if not;
   BITCUT_BAD_FILE if a variant is unknown. */
enum bitcut_status fit_read(struct fit *fit, const struct set *sets, int set_count,
                            size_t most, struct fault *f);
void fit_clear(struct fit *fit);

/* Whether the row has the formats, k and block scales of the outputs. */
bool fit_is_for(const struct fit *fit, const struct bitcut_unit *row);

/* How many outputs the row, for which fit_is_for(), gives before the first that it does
   not, or fit->count. */
size_t fit_explains(const struct fit *fit, const struct bitcut_unit *row);

/* How many outputs it does not give. */
size_t fit_misses(const struct fit *fit, const struct bitcut_unit *row);

#endif
