/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/trial.h"

#include "analysis/evidence/sample.h"
#include "analysis/evidence/set.h"
#include "analysis/evidence/set_difference.h"
#include "analysis/evidence/variant.h"
#include "lib/base/threads.h"

/* Outputs at a time. */
enum { BATCH_OUTPUTS = 1 << 17 };

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* The sample class of a fragment: all classes for such a unit, one after the other. */
static const struct sample_class *class_of(const struct bitcut_unit *u, size_t fragment)
{
    size_t classes = 0;
    for (const struct sample_class *c = sample_classes; c->name; c++)
        classes += !c->scaled || u->scale;
    size_t left = fragment % classes;
    const struct sample_class *c = sample_classes;
    for (;; c++) {
        if (c->scaled && !u->scale) continue;
        if (left-- == 0) return c;
    }
}

/* Make the inputs of fragments `from` to from + s->shape.count - 1. */
static void fill(struct set *s, const struct trial *t, size_t from)
{
    const struct sample_arrays to = { &s->a, &s->b, &s->c, &s->scale_a, &s->scale_b };
#pragma omp parallel for schedule(static)                                                \
    num_threads(threads_for(t->threads, s->shape.count))
    for (size_t at = 0; at < s->shape.count; at++) {
        struct rng rng = rng_start(t->seed, from + at);
        sample_fragment(&to, t->unit, s->shape, at, class_of(t->unit, from + at), &rng);
    }
}

static uint64_t digest_elements(uint64_t digest, const struct array *a, size_t first,
                                size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        const uint64_t x = array_get(a, i);
        for (int byte = 0; byte < a->bytes; byte++)
            digest = (digest ^ (x >> (8 * byte) & 0xff)) * FNV_PRIME;
    }
    return digest;
}

static uint64_t digest_set(uint64_t digest, const struct set *s)
{
    const size_t a = s->shape.m * s->shape.k, b = s->shape.k * s->shape.n;
    const size_t c = s->shape.m * s->shape.n;
    for (size_t at = 0; at < s->shape.count; at++) {
        digest = digest_elements(digest, &s->a, at * a, a);
        digest = digest_elements(digest, &s->b, at * b, b);
        digest = digest_elements(digest, &s->c, at * c, c);
        digest = digest_elements(digest, &s->d, at * c, c);
    }
    return digest;
}

/* Compare the device's s->d with the model, on operands as the unit reads them; adds to
   result. */
static enum bitcut_status judge(struct trial_result *result, const struct set *s,
                                struct array *model, const struct trial *t,
                                const struct fragments *x, size_t from,
                                const struct progress *stop, struct fault *f)
{
    const enum bitcut_status status =
        fragments_run(model, t->unit, x, s->shape, t->threads, stop, f);
    if (status != BITCUT_OK) return status;
    const struct difference d = difference_of(model, s);
    if (d.mismatches && !result->mismatches)
        result->first =
            difference_json(t->unit, x, s->shape, model, &s->d, d.first, from);
    result->outputs += d.outputs;
    result->mismatches += d.mismatches;
    result->digest = digest_set(result->digest, s);
    return BITCUT_OK;
}

/* Record a filled batch into s->d and compare. */
static enum bitcut_status try_batch(struct trial_result *result, struct set *s,
                                    struct array *model, const struct trial *t,
                                    size_t from, const struct progress *stop,
                                    struct fault *f)
{
    const struct fragments x = set_fragments(s);
    struct variant_operands told;
    size_t repeats;
    enum bitcut_status status = recorder_run(&s->d, &repeats, t->recorder, t->instruction,
                                             t->variant, &x, s->shape, stop, f);
    if (status == BITCUT_OK)
        status = variant_operands_make(&told, t->unit, t->variant, &x, f);
    if (status != BITCUT_OK) return status;
    status = judge(result, s, model, t, &told.x, from, stop, f);
    variant_operands_clear(&told);
    return status;
}

/* Fragments `from` to from + count - 1. */
static enum bitcut_status run_batch(struct trial_result *result, const struct trial *t,
                                    size_t from, size_t count,
                                    const struct progress *stop, struct fault *f)
{
    const struct fragment_shape shape = { count, (size_t)t->instruction->m,
                                          (size_t)t->instruction->n,
                                          (size_t)t->instruction->k };
    struct set s;
    struct array model = { 0 };
    enum bitcut_status status = set_init(&s, t->unit, shape, true, f);
    if (status != BITCUT_OK) return status;
    status = array_init(&model, s.d.dims, s.d.dim, s.d.bytes, false, f);
    if (status == BITCUT_OK) {
        fill(&s, t, from);
        status = try_batch(result, &s, &model, t, from, stop, f);
    }
    array_clear(&model);
    set_clear(&s);
    return status;
}

enum bitcut_status trial_run(struct trial_result *result, const struct trial *t,
                             const struct progress *progress, struct fault *f)
{
    const size_t each = (size_t)t->instruction->m * (size_t)t->instruction->n;
    const size_t total = t->outputs / each + (t->outputs % each != 0);
    const size_t most = BATCH_OUTPUTS / each;
    const struct progress stop = { .stop = progress ? progress->stop : NULL };
    struct trial_result r = { .digest = FNV_BASIS };
    enum bitcut_status status = BITCUT_OK;
    for (size_t at = 0; at < total && status == BITCUT_OK; at += most) {
        const size_t count = total - at < most ? total - at : most;
        status = run_batch(&r, t, at, count, &stop, f);
        progress_report(progress, at + count, total);
    }
    if (!r.first) r.first = json_null();
    if (status == BITCUT_OK) *result = r;
    else json_decref(r.first);
    return status;
}
