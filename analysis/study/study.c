/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/study.h"

#include "analysis/sampling/sampling.h"
#include "analysis/split/retention.h"
#include "lib/base/threads.h"
#include "lib/number/rand.h"

#include <stdlib.h>
#include <string.h>

const struct table_row study_scales[] = {
    [STUDY_SMALL] = { "small", "small sizes, up to some hundreds; takes seconds" },
    [STUDY_PAPER] = { "paper", "the sizes of papers, n up to 16384, and more seeds" },
    { 0 }
};

void study_row(struct study_point *p, json_t *row)
{
    json_array_append_new(p->rows, row);
}

static double number_of(const json_t *row, const char *key, double without)
{
    const json_t *x = json_object_get(row, key);
    return json_is_number(x) ? json_number_value(x) : without;
}

void study_renew_bits(json_t *row)
{
    static const char *const lengths[] = { "len_printed", "len_least", "len_most", NULL };
    json_t *const bits = json_object_get(row, "bits");
    if (json_object_get(row, "bits_of")) return;
    const double share = number_of(row, "prob", 1 - number_of(row, "p_overflow", 0));
    if (json_is_real(bits) && json_real_value(bits) > 0)
        json_real_set(bits, json_real_value(bits) + share);
    for (const char *const *key = lengths; *key; key++) {
        json_t *const length = json_object_get(row, *key);
        if (json_is_real(length)) json_real_set(length, json_real_value(length) + 1);
        if (json_is_integer(length))
            json_integer_set(length, json_integer_value(length) + 1);
    }
    json_object_set_new(row, "bits_of", json_integer(SIGNIFICAND_BITS));
}

/* FNV-1a, 64 bits. */
static uint64_t name_stream(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h;
}

uint64_t study_seed(const struct study *study, size_t at, uint64_t seed)
{
    uint32_t words[4];
    rand_block(words, seed, name_stream(study->name), at);
    return rand_bits(words[0], words[1]);
}

/* --- shards ----------------------------------------------------------------------- */

struct heavy_point {
    uint64_t work;
    size_t at;
};

/* Decreasing work; points of the same work in their order. */
static int compare_work(const void *a, const void *b)
{
    const struct heavy_point *const x = a, *const y = b;
    if (x->work != y->work) return x->work > y->work ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static size_t least_of(const uint64_t *load, size_t count)
{
    size_t least = 0;
    for (size_t i = 1; i < count; i++)
        if (load[i] < load[least]) least = i;
    return least;
}

enum bitcut_status study_shard_points(bool *mine, const struct study *study,
                                      enum study_scale scale, struct shard shard,
                                      struct fault *f)
{
    const size_t points = study->points(study, scale);
    const size_t used =
        shard.count < points ? shard.count : points; /* others are empty */
    struct heavy_point *const order = memory_allocate(points, sizeof *order);
    uint64_t *const load = memory_allocate(used, sizeof *load);
    if (order && load) {
        for (size_t at = 0; at < points; at++)
            order[at] =
                (struct heavy_point){ study->work ? study->work(study, scale, at) : 1,
                                      at };
        qsort(order, points, sizeof *order, compare_work);
        memset(load, 0, used * sizeof *load);
        for (size_t i = 0; i < points; i++) {
            const size_t to = least_of(load, used);
            load[to] += order[i].work;
            mine[order[i].at] = to == shard.at;
        }
    }
    const bool done = order && load;
    free(order);
    free(load);
    return done ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

/* --- computing -------------------------------------------------------------------- */

/* Points that are computed concurrently: requested points from `first` on. */
struct batch {
    const struct study *study;
    const struct study_run *run;
    const size_t *at;
    json_t **rows; /* for each point */
    int threads;   /* for one point */
};

static enum bitcut_status compute_one(void *context, size_t i, struct fault *f)
{
    const struct batch *b = context;
    const struct progress quiet = { .stop = b->run->progress ? b->run->progress->stop
                                                             : NULL };
    struct study_point p = { .at = b->at[i],
                             .scale = b->run->scale,
                             .seed = study_seed(b->study, b->at[i], b->run->seed),
                             .threads = b->threads,
                             .progress = &quiet,
                             .offload = b->run->offload,
                             .sources = &b->run->sources,
                             .rows = json_array() };
    const enum bitcut_status status = b->study->run(b->study, &p, f);
    if (status == BITCUT_OK) b->rows[i] = p.rows;
    else json_decref(p.rows);
    return status;
}

/* Hand over the finished points, up to the first unfinished one. */
static void hand_over(const struct batch *b, size_t count,
                      void (*take)(void *context, size_t at, json_t *rows), void *context)
{
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        whole &= b->rows[i] != NULL;
        if (whole) take(context, b->at[i], b->rows[i]);
        else json_decref(b->rows[i]);
    }
}

/* The next requested points, at most `most`, into at[].  Returns their number. */
static size_t next_points(size_t *at, size_t most, size_t *from, size_t points,
                          const bool *wanted)
{
    size_t count = 0;
    for (; *from < points && count < most; ++*from)
        if (!wanted || wanted[*from]) at[count++] = *from;
    return count;
}

enum bitcut_status study_compute(const struct study *study, const struct study_run *run,
                                 const bool *wanted,
                                 void (*take)(void *context, size_t at, json_t *rows),
                                 void *context, struct fault *f)
{
    const size_t points = study->points(study, run->scale);
    const size_t side = study->threaded ? 1 : (size_t)threads_for(run->threads, points);
    const struct progress quiet = { .stop = run->progress ? run->progress->stop : NULL };
    enum bitcut_status status = BITCUT_OK;
    size_t at[THREADS_MAX], from = 0, count;
    while (status == BITCUT_OK &&
           (count = next_points(at, side, &from, points, wanted))) {
        json_t *rows[THREADS_MAX] = { NULL };
        struct batch b = { study, run, at, rows, study->threaded ? run->threads : 1 };
        status = runs_do(count, compute_one, &b, study->threaded ? 1 : run->threads,
                         &quiet, f);
        hand_over(&b, count, take, context);
        progress_report(run->progress, from, points);
    }
    return status;
}

static void append(void *context, size_t at, json_t *rows)
{
    (void)at;
    json_array_extend(context, rows);
    json_decref(rows);
}

enum bitcut_status study_rows(json_t **rows, const struct study *study,
                              const struct study_run *run, struct fault *f)
{
    json_t *all = json_array();
    const enum bitcut_status status = study_compute(study, run, NULL, append, all, f);
    *rows = status == BITCUT_OK ? all : NULL;
    if (status != BITCUT_OK) json_decref(all);
    return status;
}
