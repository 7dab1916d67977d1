/* SPDX-License-Identifier: BSD-3-Clause */
/* Shards: parts of numbered work that are done apart, for example on several machines. */
#ifndef BITCUT_LIB_BASE_SHARD_H
#define BITCUT_LIB_BASE_SHARD_H

#include <stddef.h>

/* The shard with index `at`, below `count`, of `count` shards. */
struct shard {
    size_t at, count;
};

#define SHARD_ALL ((struct shard){ 0, 1 })

/* Every count-th number belongs to a shard, beginning with number `at`.  shard_offset()
   is the distance from `first` to the first number from there on that belongs to it;
   shard_size() counts the shard's numbers from `first` to first + count - 1. */
static inline size_t shard_offset(struct shard s, size_t first)
{
    return (s.at + s.count - first % s.count) % s.count;
}

static inline size_t shard_size(struct shard s, size_t first, size_t count)
{
    const size_t offset = shard_offset(s, first);
    return offset < count ? (count - offset - 1) / s.count + 1 : 0;
}

#endif
