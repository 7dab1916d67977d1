/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "lib/base/clock.h"

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
