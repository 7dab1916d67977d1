/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields (lib/base/record.h) of a struct fitted (fitted.h), including the fields of
   bitcut_fit_report, and of its parts; the fields printed for one answer; and the columns
   printed for several. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_FIELDS_H
#define BITCUT_ANALYSIS_FIT_FIT_FIELDS_H

#include "lib/base/record.h"

extern const struct record_field fit_fields[], fit_nearest_fields[], fit_next_fields[],
    fit_alone_fields[], fit_table_fields[];

#endif
