/* SPDX-License-Identifier: BSD-3-Clause */
/* Shards of studies: every point in one shard, and similar work in all. */
#include "analysis/study/study.h"
#include "tests/test.h"

#include <stdlib.h>

enum { SHARDS_MOST = 300 };

static uint64_t work_of(const struct study *s, enum study_scale scale, size_t at)
{
    return s->work ? s->work(s, scale, at) : 1;
}

/* Add a shard to owners[]; its work. */
static uint64_t take_shard(size_t *owners, const struct study *s, enum study_scale scale,
                           struct shard shard)
{
    const size_t points = s->points(s, scale);
    bool *const mine = calloc(points, sizeof *mine);
    uint64_t work = 0;
    struct fault f;
    ck_assert_int_eq(study_shard_points(mine, s, scale, shard, &f), BITCUT_OK);
    for (size_t at = 0; at < points; at++) {
        if (!mine[at]) continue;
        owners[at]++;
        work += work_of(s, scale, at);
        if (!s->work) ck_assert_uint_eq(at % shard.count, shard.at);
    }
    free(mine);
    return work;
}

/* The largest shard has at most the mean and one point more: it was the smallest when its
   last point was added. */
static void check_shards(const struct study *s, enum study_scale scale, size_t count)
{
    const size_t points = s->points(s, scale);
    size_t *const owners = calloc(points, sizeof *owners);
    uint64_t all = 0, most = 0, point_most = 0;
    for (size_t at = 0; at < points; at++) {
        const uint64_t work = work_of(s, scale, at);
        ck_assert_uint_ge(work, 1);
        all += work;
        if (work > point_most) point_most = work;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t work = take_shard(owners, s, scale, (struct shard){ i, count });
        if (work > most) most = work;
        if (i < points) ck_assert_msg(work, "%s: %zu/%zu is empty", s->name, i, count);
    }
    for (size_t at = 0; at < points; at++)
        ck_assert_msg(owners[at] == 1, "%s, %zu shards: point %zu is in %zu", s->name,
                      count, at, owners[at]);
    ck_assert_msg(most <= all / count + point_most, "%s: %zu shards are not balanced",
                  s->name, count);
    free(owners);
}

START_TEST(all_studies)
{
    static const size_t counts[] = { 1, 2, 3, 7, 8, 16, 64, 255, SHARDS_MOST };
    for (int i = 0; studies[i]; i++)
        for (int scale = STUDY_SMALL; scale <= STUDY_PAPER; scale++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                check_shards(studies[i], (enum study_scale)scale, counts[c]);
}
END_TEST

/* shard_offset() and shard_size() against their definition. */
START_TEST(numbers)
{
    for (size_t count = 1; count < 9; count++)
        for (size_t at = 0; at < count; at++)
            for (size_t first = 0; first < 20; first++)
                for (size_t length = 0; length < 20; length++) {
                    const struct shard s = { at, count };
                    size_t found = 0, nearest = first;
                    for (size_t i = first; i < first + length; i++)
                        found += i % count == at;
                    while (nearest % count != at) nearest++;
                    ck_assert_uint_eq(shard_size(s, first, length), found);
                    ck_assert_uint_eq(shard_offset(s, first), nearest - first);
                }
}
END_TEST

TEST_MAIN("study shards", all_studies, numbers)
