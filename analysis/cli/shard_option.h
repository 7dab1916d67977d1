/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --shard, with the same values in every command: 0/4 to 3/4. */
#ifndef BITCUT_ANALYSIS_CLI_SHARD_OPTION_H
#define BITCUT_ANALYSIS_CLI_SHARD_OPTION_H

#include "analysis/cli/command.h"
#include "lib/base/shard.h"

/* The row of the option, for `shard` in the command's struct, NULL if it was not given.
   PARTS are the parts of the work that are dealt out to shards. */
#define SHARD_OPTION(COMMAND, PARTS)                                                     \
    {                                                                                    \
        "shard", "do shard I of N shards of the " PARTS " (0/4 to 3/4 do all)",          \
            OPTION(COMMAND, shard, TEXT, "I/N")                                          \
    }

/* Read "2/8": the third of eight.  NULL: SHARD_ALL.  Prints what is wrong and returns an
   exit status. */
int shard_read(struct shard *shard, const char *text);

#endif
