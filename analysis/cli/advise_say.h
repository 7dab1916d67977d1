/* What `advise` found, in words. */
#ifndef BITCUT_ANALYSIS_CLI_ADVISE_SAY_H
#define BITCUT_ANALYSIS_CLI_ADVISE_SAY_H

#include "analysis/cli/emit.h"

extern const struct emit_line advise_lines[];

#endif
