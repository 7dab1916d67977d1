/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/split_trial.h"

#include "emu/fast/simd.h"
#include "emu/parts.h"
#include "lib/number/equilibrate.h"
#include "lib/number/rand.h"

#include <stdlib.h>
#include <string.h>

/* Values on the device at a time, as rows of one run: parts then have the order of the
   values on both sides. */
enum { LINES = 1 << 18, VALUES = LINES * PARTS_RUN };

/* parts.h stores elements in runs as well. */
_Static_assert((int)PARTS_RUN % (int)GPU_PARTS_RUN == 0, "rows without padding");

struct values {
    uint32_t *x;
    unsigned char *device; /* parts, with one array after the other for each number */
    struct parts_rule rule;
    struct gpu_work work; /* with rows of one run, as A */
};

/* Bytes of the parts of `count` values before this part. */
static size_t parts_begin(const struct bitcut_split *s, int part, size_t count)
{
    size_t bytes = 0;
    for (int i = 0; i < part; i++) bytes += (size_t)format_bytes(s->part[i].format);
    return bytes * count;
}

static enum bitcut_status values_init(struct values *v, const struct split_trial *t,
                                      struct fault *f)
{
    const struct simd_level *level;
    *v = (struct values){ .rule = { .operand = t->split->part[0].format,
                                    .split = t->split,
                                    .equilibrate = t->equilibrate } };
    enum bitcut_status status =
        t->equilibrate ? equilibrate_takes(t->split, f) : BITCUT_OK;
    if (status == BITCUT_OK) status = simd_choose(&level, f);
    if (status != BITCUT_OK) return status;
    v->rule.kernels = level->kernels;
    v->work.plan = (struct gemm_plan){ .split_a = *t->split,
                                       .equilibrate = t->equilibrate,
                                       .target = equilibrate_target(t->split) };
    v->x = memory_allocate(VALUES, sizeof *v->x);
    v->device = memory_allocate(
        parts_begin(t->split, t->split->parts, VALUES) + LINES * sizeof(uint32_t), 1);
    return v->x && v->device ? BITCUT_OK
                             : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

static void values_clear(struct values *v)
{
    free(v->device);
    free(v->x);
}

/* The number of rows for that many values. */
static size_t lines_of(size_t count) { return (count + PARTS_RUN - 1) / PARTS_RUN; }

/* The rows of `count` values from `first` on. */
static void values_fill(struct values *v, const struct split_trial *t, uint64_t first,
                        size_t count)
{
    const size_t filled = lines_of(count) * PARTS_RUN;
    if (t->samples) rand_fill(v->x, filled, t->seed, 0, first);
    for (size_t i = 0; !t->samples && i < filled; i++) v->x[i] = (uint32_t)(first + i);
}

static uint32_t part_at(const void *parts, size_t i, int bytes)
{
    switch (bytes) {
    case 1: return ((const uint8_t *)parts)[i];
    case 2: return ((const uint16_t *)parts)[i];
    default: return ((const uint32_t *)parts)[i];
    }
}

static void compare_part(struct split_result *r, const struct values *v, int part,
                         const void *model, const void *device, size_t count)
{
    const struct bitcut_format *format = v->rule.split->part[part].format;
    const int bytes = format_bytes(format);
    r->compared += count;
    if (!memcmp(model, device, count * (size_t)bytes)) return;
    for (size_t i = 0; i < count; i++) {
        const uint32_t want = part_at(model, i, bytes), got = part_at(device, i, bytes);
        if (want == got || r->mismatches++) continue;
        encoding_said(r->x, &formats[FORMAT_F32], v->x[i]);
        r->part = part;
        r->bits = apart_of(format, want, got);
    }
}

static enum bitcut_status try_values(struct split_result *r, const struct values *v,
                                     const struct split_trial *t, size_t count,
                                     struct fault *f)
{
    const struct parts_source source = { v->x, PARTS_RUN, false };
    const size_t lines = lines_of(count);
    struct parts model;
    struct gpu_work w = v->work;
    w.gemm.a = (struct bitcut_matrix){ .at = v->x,
                                       .format = &formats[FORMAT_F32],
                                       .ld = PARTS_RUN };
    w.gemm.m = lines;
    w.gemm.k = PARTS_RUN;
    enum bitcut_status status = gpu_split_run(v->device, &w, BITCUT_A, &t->recorder->gpu,
                                              &t->recorder->device, f);
    if (status != BITCUT_OK) return status;
    if (parts_make(&model, &v->rule, source, lines, PARTS_RUN, PARTS_RUN, t->threads) !=
        BITCUT_OK)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (int j = 0; j < model.count; j++)
        compare_part(r, v, j, model.at[j],
                     v->device + parts_begin(t->split, j, lines * PARTS_RUN), count);
    parts_clear(&model);
    return BITCUT_OK;
}

enum bitcut_status split_trial_run(struct split_result *result,
                                   const struct split_trial *t,
                                   const struct progress *progress, struct fault *f)
{
    const uint64_t all = t->samples ? t->samples : (uint64_t)1 << 32;
    struct split_result r = { 0 };
    struct values v;
    enum bitcut_status status = values_init(&v, t, f);
    for (uint64_t at = 0; at < all && status == BITCUT_OK; at += VALUES) {
        const size_t count = all - at < VALUES ? (size_t)(all - at) : VALUES;
        progress_report(progress, (size_t)at, (size_t)all);
        values_fill(&v, t, at, count);
        status = progress_stopped(progress)
                     ? fault_set(f, BITCUT_UNSUPPORTED, "stopped")
                     : try_values(&r, &v, t, count, f);
    }
    values_clear(&v);
    if (status == BITCUT_OK) *result = r;
    return status;
}
