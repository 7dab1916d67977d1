/* SPDX-License-Identifier: BSD-3-Clause */
/* Explaining recorded outputs of a caller, as declared in lib/bitcut.h. */
#include "analysis/fit/fit_answer.h"
#include "lib/base/size.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>

/* --- input ------------------------------------------------------------------------ */

enum { IN_A, IN_B, IN_C, OUT_D, SCALE_A, SCALE_B, ARRAYS };

/* The arrays of a recording. */
struct batch {
    struct array at[ARRAYS];
    struct fragment_shape shape;
};

static struct fragments operands(const struct batch *x, const struct bitcut_unit *u)
{
    return (struct fragments){ &x->at[IN_A], &x->at[IN_B], &x->at[IN_C],
                               u->scale ? &x->at[SCALE_A] : NULL,
                               u->scale ? &x->at[SCALE_B] : NULL };
}

static size_t blocks_of(const struct bitcut_unit *u)
{
    return u->scale ? (size_t)(u->k / u->scale_block) : 0;
}

static enum bitcut_status check_sizes(const struct bitcut_recording *r, struct fault *f)
{
    const struct bitcut_unit *const u = r->unit;
    if (r->k != (size_t)u->k || r->blocks != blocks_of(u))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "k is %zu in %zu blocks with scales; %s requires %d in %zu",
                         r->k, r->blocks, u->name, u->k, blocks_of(u));
    if (!u->scale && (r->scale_a || r->scale_b))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes no block scales", u->name);
    return BITCUT_OK;
}

static enum bitcut_status batch_take(struct batch *to, const struct bitcut_recording *r,
                                     struct fault *f)
{
    const struct bitcut_unit *const u = r->unit;
    const size_t m = r->m, n = r->n, k = r->k, blocks = r->blocks;
    const struct {
        const char *name;
        const uint64_t *data;
        const struct bitcut_format *format;
        size_t rows, cols;
    } arrays[ARRAYS] = {
        [IN_A] = { "A", r->a, u->a, m, k },
        [IN_B] = { "B", r->b, u->b, k, n },
        [IN_C] = { "C", r->c, u->c, m, n },
        [OUT_D] = { "D", r->d, u->c, m, n },
        [SCALE_A] = { "the scale of A", r->scale_a, u->scale, m, blocks },
        [SCALE_B] = { "the scale of B", r->scale_b, u->scale, blocks, n },
    };
    enum bitcut_status status = check_sizes(r, f);
    to->shape = (struct fragment_shape){ r->count, m, n, k };
    for (int i = 0; i < (u->scale ? ARRAYS : SCALE_A) && status == BITCUT_OK; i++)
        status =
            fragments_take(&to->at[i], arrays[i].name, arrays[i].data, arrays[i].format,
                           r->count, arrays[i].rows, arrays[i].cols, f);
    return status;
}

static enum bitcut_status check(const struct bitcut_recording *r, int threads,
                                struct fault *f)
{
    const enum bitcut_status status =
        struct_check("recordings", r ? r->size : 0, sizeof *r, f);
    if (status != BITCUT_OK) return status;
    if (!r->unit || threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown unit or invalid thread count");
    return BITCUT_OK;
}

/* --- output ----------------------------------------------------------------------- */

/* The position in `fields` of field number `index` among those that a group reads; or
   FIELD_COUNT. */
static int field_at(const struct group *g, size_t index)
{
    int f = 0;
    for (; f < FIELD_COUNT; f++)
        if (g->set[f] && index-- == 0) break;
    return f;
}

bool bitcut_fit_field(struct bitcut_field *to, const struct bitcut_fit *a, int group,
                      size_t index)
{
    const struct group g = answer_group(a, group);
    const int field = field_at(&g, index);
    if (field == FIELD_COUNT) return false;
    to->name = fields[field].name;
    to->kind = BITCUT_TEXT;
    group_text(to->text, sizeof to->text, &g, field);
    return true;
}

bool bitcut_fit_value(struct bitcut_field *to, const struct bitcut_fit *a, int group,
                      size_t index, size_t place)
{
    const struct group g = answer_group(a, group);
    const int field = field_at(&g, index);
    if (field == FIELD_COUNT) return false;
    uint64_t set = g.set[field];
    while (place > 0 && set) set &= set - 1, place--;
    if (!set) return false;
    group_value(to, &g, field, set);
    return true;
}

const struct bitcut_unit *bitcut_fit_unit(const struct bitcut_fit *a, size_t index)
{
    size_t i = 0;
    while (i < index && a->table[i]) i++;
    return a->table[i];
}

/* --- the call --------------------------------------------------------------------- */

static enum bitcut_status
fit_take_batch(struct fit *fit, const struct bitcut_recording *r, struct fault *f)
{
    struct batch batch;
    enum bitcut_status status = batch_take(&batch, r, f);
    if (status != BITCUT_OK) return status;
    const struct fragments x = operands(&batch, r->unit);
    const size_t all = batch.at[OUT_D].count,
                 used = smaller(all, r->outputs ? r->outputs : 1000);
    status = fit_check(r->unit, used, f);
    if (status != BITCUT_OK) return status;
    struct recorded *const outputs = memory_allocate(used, sizeof *outputs);
    if (!outputs)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the outputs");
    for (size_t i = 0; i < used; i++)
        fit_take(&outputs[i], r->unit, &x, &batch.at[OUT_D], batch.shape,
                 fit_place(i, used, all));
    status = fit_init(fit, r->unit, outputs, used, f);
    free(outputs);
    return status;
}

static enum bitcut_status find(struct bitcut_fit **found,
                               struct bitcut_fit_report *report,
                               const struct bitcut_recording *r, int threads,
                               struct fault *f)
{
    struct fit fit;
    struct bitcut_fit *const a = calloc(1, sizeof *a);
    if (!a) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the result");
    enum bitcut_status status = fit_take_batch(&fit, r, f);
    if (status == BITCUT_OK)
        status = answer_find(a, &fit, r->unit, threads, progress_of_thread(), f);
    if (status == BITCUT_OK && report) *report = a->found.report;
    if (status == BITCUT_OK && found) *found = a;
    else bitcut_fit_close(a);
    return status;
}

void bitcut_fit_close(struct bitcut_fit *a)
{
    if (a) answer_clear(a);
    free(a);
}

enum bitcut_status bitcut_fit(struct bitcut_fit_report *report, struct bitcut_fit **found,
                              const struct bitcut_recording *recording, int threads,
                              char *why)
{
    struct hostfp saved;
    struct fault f;
    enum bitcut_status status =
        report ? struct_check("reports", report->size, sizeof *report, &f) : BITCUT_OK;
    if (status == BITCUT_OK) status = check(recording, threads, &f);
    hostfp_enter(
        &saved); /* host doubles count rows and select the outputs that are used */
    if (status == BITCUT_OK) status = find(found, report, recording, threads, &f);
    hostfp_leave(&saved);
    return fault_write(why, status, &f);
}
