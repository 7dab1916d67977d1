/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of an audited call, computed from its excerpts after the program has ended.
 */
#ifndef BITCUT_ANALYSIS_CLI_RUN_AUDIT_H
#define BITCUT_ANALYSIS_CLI_RUN_AUDIT_H

#include "analysis/cli/command.h"
#include "analysis/run/folder.h"

/* Options for a call site. */
struct run_audit {
    const char *folder; /* folder of the excerpts */
    const char *want;   /* required relative error, as for --want of advise; or NULL */
    bool advises;       /* recommend a recipe as well */
};

/* Add to the row of a call site: the number of watched calls, the exponents of their
   operands, the errors of the results that the program got, whether these results equal
   bitcut gemm where they should, and the advice of `bitcut advise` for all excerpts and
   observed values.  Keys without a value are null.  If an excerpt is wrong, prints why
   and goes on without it.  Returns the number of outputs that differ from bitcut gemm. */
size_t run_audit_add(json_t *row, const struct call_log_site *p,
                     const struct run_audit *how, struct context *x);

#endif
