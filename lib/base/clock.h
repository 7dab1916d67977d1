/* SPDX-License-Identifier: BSD-3-Clause */
/* Time. */
#ifndef BITCUT_LIB_BASE_CLOCK_H
#define BITCUT_LIB_BASE_CLOCK_H

#include <stddef.h>

/* Seconds on a clock that never goes back. */
double seconds_now(void);

/* Today's date in UTC, YYYY-MM-DD. */
enum { DATE_MAX = 16 };
void date_today(char text[DATE_MAX]);

/* Write how long work takes that has done `part` of it, 0 to 1, in so many seconds:
   ", about 40 s left", or nothing as long as too little is done to know. */
void describe_time_left(char *text, size_t size, double seconds, double part);

#endif
