/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/shard_option.h"

#include <stdio.h>
#include <string.h>

int shard_read(struct shard *shard, const char *text)
{
    unsigned at, count;
    char rest;
    *shard = SHARD_ALL;
    if (!text) return EXIT_GOOD;
    if (strspn(text, "0123456789/") != strlen(text) ||
        sscanf(text, "%8u/%8u%c", &at, &count, &rest) != 2 || at >= count)
        return complain("--shard", "must be I/N with I below N, for example 0/4");
    *shard = (struct shard){ at, count };
    return EXIT_GOOD;
}
