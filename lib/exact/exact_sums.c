/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums that another processor computes, for panels of as many rows as memory holds. */
#include "lib/base/size.h"
#include "lib/exact/exact_tile.h"

#include <stdlib.h>
#include <string.h>

enum { SUMS = 3 };

bool panel_init(struct exact_job *job)
{
    const size_t most = job->sums->bytes / (SUMS * sizeof *job->high) / job->n;
    const size_t tiles = most / job->grid.tile_rows;
    job->panel_rows =
        smaller(tiles ? tiles : 1, divide_up(job->m, job->grid.tile_rows)) * job->grid.tile_rows;
    size_t count;
    if (!size_multiply(&count, job->panel_rows, job->n)) return false;
    job->high = memory_allocate(count, SUMS * sizeof *job->high);
    job->low = job->high ? job->high + count : NULL;
    job->size = job->high ? job->low + count : NULL;
    return job->high;
}

void panel_clear(struct exact_job *job) { free(job->high); }

const struct exact_sums *exact_sums_for(const struct exact_sums *sums, size_t m, size_t n,
                                        size_t k)
{
    size_t outputs, terms;
    const bool few = sums && size_multiply(&outputs, m, n) &&
                     size_multiply(&terms, outputs, k) && terms < sums->least;
    return few ? NULL : sums;
}

enum bitcut_status panel_compute(const struct exact_job *job, struct fault *f)
{
    const bool settles = job->c32 || job->c64; /* otherwise only the magnitudes are
                                                  needed                               */
    const struct exact_sums_to to = { .high = settles ? job->high : NULL,
                                      .low = settles ? job->low : NULL,
                                      .size = job->size };
    return job->sums->compute(&to, job->grid.rows, job->n, job->k,
                              job->a + job->grid.first * job->k, job->b, job->sums->context,
                              f);
}

void panel_take(struct exact_tile *t)
{
    const struct exact_job *const job = t->job;
    struct dgemm_sums *const sums = &t->worker->dgemm.sums;
    for (size_t i = 0; i < t->rows; i++) {
        const size_t from = (t->row - job->grid.first + i) * job->n + t->col;
        const size_t to = i * TILE_COLS, bytes = t->cols * sizeof *job->high;
        memcpy(sums->high + to, job->high + from, bytes);
        memcpy(sums->low + to, job->low + from, bytes);
        memcpy(sums->size + to, job->size + from, bytes);
    }
}
