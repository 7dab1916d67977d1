/* SPDX-License-Identifier: BSD-3-Clause */
/* What an audited call's operands and result tell: computed when the program has ended,
   from excerpts. */
#ifndef BITCUT_ANALYSIS_CLI_RUN_AUDIT_H
#define BITCUT_ANALYSIS_CLI_RUN_AUDIT_H

#include "analysis/cli/command.h"
#include "analysis/run/folder.h"

/* How a place is looked at. */
struct run_audit {
    const char *folder; /* with the excerpts                     */
    const char *want;   /* relative error that will do, as --want of advise; or NULL */
    bool advises;       /* say which recipe will do, too                             */
};

/* Add to a place's row: how many calls were watched, the exponents of their operands, the
   error of the results that the program got, whether they are those of bitcut gemm if
   they should be, and what `bitcut advise` says of all excerpts and of the values that
   were seen.  What there is nothing to say of is null.  Prints what is wrong with an
   excerpt, and goes on without it.  The outputs that are not those of bitcut gemm. */
size_t run_audit_add(json_t *row, const struct call_log_site *p,
                     const struct run_audit *how, struct context *x);

#endif
