/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields (lib/base/record.h) of a struct fitted (fitted.h), which those of
   bitcut_fit_report are among, and of its parts; those that people read of one answer,
   and of several in a table. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_FIELDS_H
#define BITCUT_ANALYSIS_FIT_FIT_FIELDS_H

#include "lib/base/record.h"

extern const struct record_field fit_fields[], fit_nearest_fields[], fit_next_fields[],
    fit_alone_fields[], fit_table_fields[];

#endif
