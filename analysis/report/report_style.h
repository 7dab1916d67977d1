/* SPDX-License-Identifier: BSD-3-Clause */
/* The style of the page: its head up to the title. */
#ifndef BITCUT_ANALYSIS_REPORT_REPORT_STYLE_H
#define BITCUT_ANALYSIS_REPORT_REPORT_STYLE_H

extern const char report_style[];

/* The script that filters the table of claims.  Without it the table shows all claims,
   and no filters. */
extern const char report_script[];

#endif
