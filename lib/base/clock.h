/* SPDX-License-Identifier: BSD-3-Clause */
/* Time. */
#ifndef BITCUT_LIB_BASE_CLOCK_H
#define BITCUT_LIB_BASE_CLOCK_H

/* Seconds on a clock that never goes back. */
double seconds_now(void);

/* Today's date in UTC, YYYY-MM-DD. */
enum { DATE_MAX = 16 };
void date_today(char text[DATE_MAX]);

#endif
