/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "lib/base/clock.h"

#include <stdio.h>
#include <time.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void date_today(char text[DATE_MAX])
{
    const time_t now = time(NULL);
    struct tm utc;
    *text = 0;
    if (gmtime_r(&now, &utc)) strftime(text, DATE_MAX, "%Y-%m-%d", &utc);
}

/* Of less work than that nothing is known of the rest. */
enum { SECONDS_MIN = 2 };
#define PART_MIN 0.01

void describe_time_left(char *text, size_t size, double seconds, double part)
{
    *text = 0;
    if (seconds < SECONDS_MIN || !(part >= PART_MIN)) return;
    const double left = seconds / part * (1 - part);
    if (left < 100) snprintf(text, size, ", about %.0f s left", left);
    else if (left < 6000) snprintf(text, size, ", about %.0f min left", left / 60);
    else snprintf(text, size, ", about %.0f h left", left / 3600);
}
