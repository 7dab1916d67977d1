/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/recorder.h"

#include "lib/base/table.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the device ------------------------------------------------------------------- */

enum bitcut_status recorder_open(struct recorder *r, const char *name, const char *folder,
                                 struct fault *f)
{
    return gpu_open_device(&r->gpu, &r->device, name, folder, f);
}

void recorder_close(struct recorder *r) { gpu_close(&r->gpu); }

/* The instruction part of a name, after the name of one of the device's architectures. */
static const char *instruction_of(const char *unit, const struct gpu_device *device)
{
    const struct gpu_architecture *a = device->architecture;
    for (; a->name; a++) {
        const size_t length = strlen(a->units);
        if (a->bit & device->architectures && !strncmp(unit, a->units, length) &&
            unit[length] == '/')
            return unit + length + 1;
    }
    return NULL;
}

enum bitcut_status recorder_find(const struct gpu_instruction **instruction,
                                 const struct recorder *r, const char *unit,
                                 struct fault *f)
{
    const struct gpu_device *const d = &r->device;
    const char *name = instruction_of(unit, d);
    if (!name)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "%.*s is not a unit of device %.60s (%s)%s%s",
                         text_fit(unit, 80), unit, d->name, d->architecture->units,
                         *d->lacks ? "; " : "", d->lacks);
    const struct gpu_instruction *found = gpu_find(&r->gpu, name);
    if (!found || !gpu_has(d, found))
        return fault_set(
            f, BITCUT_UNSUPPORTED,
            "%.*s is not an instruction of this module; see bitcut list instructions%s%s",
            text_fit(unit, 80), unit, *d->lacks ? "; " : "", d->lacks);
    *instruction = found;
    return BITCUT_OK;
}

static bool accepts(const struct gpu_instruction *instruction,
                    const struct gpu_variant_row *variant)
{
    return instruction->variants >> (variant - gpu_variants) & 1;
}

enum bitcut_status recorder_accepts(const struct gpu_instruction *instruction,
                                    const struct gpu_variant_row *variant,
                                    struct fault *f)
{
    char names[120] = "";
    const struct gpu_variant_row *row = NULL;
    if (accepts(instruction, variant)) return BITCUT_OK;
    while ((row = table_next(TABLE(gpu_variants), row)))
        if (accepts(instruction, row)) text_append(names, sizeof names, row->name);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s has no variant %s; choose one of %s",
                     instruction->name, variant->name, names);
}

/* --- running ---------------------------------------------------------------------- */

/* Outputs of the device at a time: the work between two checks of the progress. */
enum { OUTPUTS_AT_ONCE = 1 << 20 };

/* Fragments of the instruction's size, for smaller fragments of a batch. */
struct tiles {
    unsigned char *a, *b, *c, *d;
    size_t m, n, k;                   /* the instruction's shape        */
    size_t a_bytes, b_bytes, c_bytes; /* of an element                  */
    size_t most;                      /* fragments for which the arrays have space */
};

static enum bitcut_status tiles_init(struct tiles *t, const struct gpu_instruction *i,
                                     size_t count, struct fault *f)
{
    struct tiles x = { .m = (size_t)i->m,
                       .n = (size_t)i->n,
                       .k = (size_t)i->k,
                       .a_bytes = (size_t)i->a_bytes,
                       .b_bytes = (size_t)i->b_bytes,
                       .c_bytes = (size_t)i->c_bytes };
    x.most = OUTPUTS_AT_ONCE / (x.m * x.n);
    if (x.most > count) x.most = count;
    x.a = memory_allocate(x.most, x.m * x.k * x.a_bytes);
    x.b = memory_allocate(x.most, x.k * x.n * x.b_bytes);
    x.c = memory_allocate(x.most, x.m * x.n * x.c_bytes);
    x.d = memory_allocate(x.most, x.m * x.n * x.c_bytes);
    *t = x;
    return x.a && x.b && x.c && x.d ? BITCUT_OK
                                    : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

static void tiles_clear(struct tiles *t)
{
    free(t->d);
    free(t->c);
    free(t->b);
    free(t->a);
}

/* One matrix of `rows` x `columns` elements, repeated to fill another. */
static void repeat(unsigned char *to, size_t to_rows, size_t to_columns,
                   const unsigned char *from, size_t rows, size_t columns, size_t bytes)
{
    for (size_t i = 0; i < to_rows; i++)
        for (size_t j = 0; j < to_columns; j++)
            memcpy(to + (i * to_columns + j) * bytes,
                   from + (i % rows * columns + j % columns) * bytes, bytes);
}

static const unsigned char *element(const struct array *a, size_t i)
{
    return (const unsigned char *)a->data + i * (size_t)a->bytes;
}

/* Copy fragment `at` of the batch to fragment `to` of the tiles. */
static void tile_fill(const struct tiles *t, size_t to, const struct fragments *x,
                      struct fragment_shape s, size_t at)
{
    repeat(t->a + to * t->m * t->k * t->a_bytes, t->m, t->k,
           element(x->a, at * s.m * s.k), s.m, s.k, t->a_bytes);
    repeat(t->b + to * t->k * t->n * t->b_bytes, t->k, t->n,
           element(x->b, at * s.k * s.n), s.k, s.n, t->b_bytes);
    repeat(t->c + to * t->m * t->n * t->c_bytes, t->m, t->n,
           element(x->c, at * s.m * s.n), s.m, s.n, t->c_bytes);
}

/* Copy its D, m x n elements, to `to`.  Returns the number of repetitions that are not
   the same. */
static size_t tile_take(unsigned char *to, const struct tiles *t, size_t from,
                        struct fragment_shape s)
{
    const unsigned char *d = t->d + from * t->m * t->n * t->c_bytes;
    size_t differ = 0;
    for (size_t i = 0; i < t->m; i++)
        for (size_t j = 0; j < t->n; j++) {
            const unsigned char *one = d + (i * t->n + j) * t->c_bytes;
            unsigned char *first = to + (i % s.m * s.n + j % s.n) * t->c_bytes;
            if (i < s.m && j < s.n) memcpy(first, one, t->c_bytes);
            else differ += memcmp(first, one, t->c_bytes) != 0;
        }
    return differ;
}

static enum bitcut_status check_fit(const struct gpu_instruction *i,
                                    const struct fragments *x, struct fragment_shape s,
                                    struct fault *f)
{
    if (s.k != (size_t)i->k || s.m > (size_t)i->m || s.n > (size_t)i->n || !s.m || !s.n)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "fragments of %zu x %zu x %zu exceed the shape of %s, %d x %d x %d", s.m, s.n,
            s.k, i->name, i->m, i->n, i->k);
    if (x->scale_a)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "block scales are not supported by recording kernels");
    if (x->a->bytes != i->a_bytes || x->b->bytes != i->b_bytes ||
        x->c->bytes != i->c_bytes)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "elements of A, B, C have %d, %d, %d bytes; %s requires %d, %d, %d",
            x->a->bytes, x->b->bytes, x->c->bytes, i->name, i->a_bytes, i->b_bytes,
            i->c_bytes);
    return BITCUT_OK;
}

/* Compute fragments `at` to `at` + count - 1; adds to *differ. */
static enum bitcut_status run_tiles(struct array *d, size_t *differ,
                                    const struct tiles *t, const struct recorder *r,
                                    const struct gpu_instruction *instruction,
                                    enum gpu_variant variant, const struct fragments *x,
                                    struct fragment_shape s, size_t at, size_t count,
                                    struct fault *f)
{
    const struct gpu_batch batch = { t->d, t->a, t->b, t->c, count };
    unsigned char *to = (unsigned char *)d->data + at * s.m * s.n * t->c_bytes;
    for (size_t i = 0; i < count; i++) tile_fill(t, i, x, s, at + i);
    const enum bitcut_status status = gpu_run(&batch, &r->gpu, &r->device, instruction, variant, f);
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        *differ += tile_take(to + i * s.m * s.n * t->c_bytes, t, i, s);
    return status;
}

enum bitcut_status recorder_run(struct array *d, size_t *repeats_differ,
                                const struct recorder *r,
                                const struct gpu_instruction *instruction,
                                const struct gpu_variant_row *variant,
                                const struct fragments *x, struct fragment_shape s,
                                const struct progress *progress, struct fault *f)
{
    const enum gpu_variant number = (enum gpu_variant)(variant - gpu_variants);
    struct tiles t;
    size_t differ = 0;
    enum bitcut_status status = check_fit(instruction, x, s, f);
    if (status != BITCUT_OK) return status;
    status = tiles_init(&t, instruction, s.count, f);
    for (size_t at = 0; at < s.count && status == BITCUT_OK; at += t.most) {
        const size_t left = s.count - at, count = left < t.most ? left : t.most;
        status = progress_stopped(progress) ? fault_set(f, BITCUT_UNSUPPORTED, "stopped")
                                            : run_tiles(d, &differ, &t, r, instruction,
                                                        number, x, s, at, count, f);
        progress_report(progress, at + count, s.count);
    }
    tiles_clear(&t);
    if (status == BITCUT_OK) *repeats_differ = differ;
    return status;
}
