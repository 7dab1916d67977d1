/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut replay: recorded sets compared with the unit table. */
#include "analysis/cli/command.h"
#include "analysis/cli/replay_paste.h"
#include "analysis/evidence/set_difference.h"
#include "analysis/evidence/set_find.h"
#include "analysis/evidence/variant.h"
#include "lib/base/threads.h"

#include <stdlib.h>

static const struct option_row options[] = { { 0 } };

/* The result for one set. */
struct outcome {
    bool done;
    json_t *row; /* NULL: it cannot be replayed, with the reason in `fault` */
    size_t outputs, mismatches;
    struct fault fault;
};

static json_t *describe(const char *folder, const struct set *s,
                        const struct fragments *x, const struct array *got,
                        const struct difference *d)
{
    return json_pack(
        "{s:o, s:s, s:s, s:I, s:I, s:o}", "set", json_text(folder), "unit", s->unit.name,
        "evidence", unit_evidence(&s->unit), "outputs", (json_int_t)d->outputs,
        "mismatches", (json_int_t)d->mismatches, "first",
        d->mismatches ? difference_json(&s->unit, x, s->shape, got, &s->d, d->first, 0)
                      : json_null());
}

/* x: the operands as the unit reads them. */
static void replay_fragments(struct outcome *o, const char *folder, const struct set *s,
                             const struct fragments *x, int threads,
                             const struct progress *progress)
{
    struct array got;
    if (array_init(&got, s->d.dims, s->d.dim, s->d.bytes, false, &o->fault)) return;
    if (fragments_run(&got, &s->unit, x, s->shape, threads, progress, &o->fault) ==
        BITCUT_OK) {
        const struct difference d = difference_of(&got, s);
        o->row = describe(folder, s, x, &got, &d);
        o->outputs = d.outputs;
        o->mismatches = d.mismatches;
    }
    array_clear(&got);
}

static void replay_set(struct outcome *o, const char *folder, const struct set *s,
                       int threads, const struct progress *progress)
{
    const struct fragments in = set_fragments(s);
    const struct gpu_variant_row *variant;
    struct variant_operands operands;
    if (variant_of(&variant, s, &o->fault) != BITCUT_OK ||
        variant_operands_make(&operands, &s->unit, variant, &in, &o->fault) != BITCUT_OK)
        return;
    replay_fragments(o, folder, s, &operands.x, threads, progress);
    variant_operands_clear(&operands);
}

static struct outcome replay_folder(const struct found *x, int threads,
                                    const struct progress *progress)
{
    struct outcome o = { .done = true };
    struct set s;
    if (found_read(&s, x, SET_KNOWN | SET_RECORDED, &o.fault) != BITCUT_OK) return o;
    replay_set(&o, x->folder, &s, threads, progress);
    set_clear(&s);
    return o;
}

/* All sets that are reported. */
struct total {
    size_t sets, outputs, mismatches;
    int status;
};

static void report(struct total *t, struct context *x, const char *folder,
                   const struct outcome *o)
{
    int status = o->mismatches ? EXIT_FOUND : EXIT_GOOD;
    if (o->row) emit_row(&x->emitter, o->row);
    else status = fail(folder, &o->fault);
    if (status > t->status) t->status = status;
    t->sets++;
    t->outputs += o->outputs;
    t->mismatches += o->mismatches;
}

/* Report the finished sets, up to the first unfinished one. */
static void report_done(struct total *t, struct context *x, const struct found_list *list,
                        const struct outcome *o)
{
    while (t->sets < list->count && o[t->sets].done)
        report(t, x, list->at[t->sets].folder, &o[t->sets]);
}

/* Many sets are distributed over the threads; for a few sets, the outputs of each are. */
static struct total replay_all(struct outcome *o, struct context *x,
                               const struct found_list *list)
{
    const int threads = threads_for(x->threads, list->count);
    const bool many = list->count > 1 && threads == threads_for(x->threads, SIZE_MAX);
    const struct progress quiet = { .stop = x->progress.stop };
    struct total t = { 0 };
#pragma omp parallel for schedule(dynamic) num_threads(many ? threads : 1)
    for (size_t i = 0; i < list->count; i++) {
        if (progress_stopped(&x->progress)) continue;
        const struct outcome now = replay_folder(&list->at[i], many ? 1 : x->threads,
                                                 many ? &quiet : &x->progress);
        if (!now.row && progress_stopped(&x->progress)) continue;
#pragma omp critical
        {
            o[i] = now;
            report_done(&t, x, list, o);
            if (many) progress_report(&x->progress, t.sets, list->count);
        }
    }
    return t;
}

/* Rows that were never reported, because an earlier set was stopped. */
static void drop(struct outcome *o, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++) json_decref(o[i].row);
}

static int replay_list(struct context *x, const struct found_list *list)
{
    static const struct fault stopped = { .status = BITCUT_UNSUPPORTED,
                                          .text = "stopped" };
    static const struct fault full = { .status = BITCUT_NO_MEMORY,
                                       .text = "not enough memory" };
    struct outcome *o = calloc(list->count, sizeof *o);
    if (!o) return fail("replay", &full);
    const struct total t = replay_all(o, x, list);
    drop(o, t.sets, list->count);
    free(o);
    if (list->count > 1 && !x->emitter.json)
        emit_row(&x->emitter,
                 json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "set", "total", "unit", "",
                           "evidence", "", "outputs", (json_int_t)t.outputs, "mismatches",
                           (json_int_t)t.mismatches, "first", ""));
    return t.sets < list->count ? fail("replay", &stopped) : t.status;
}

static int run(struct context *x)
{
    struct found_list list = { 0 };
    struct fault f;
    enum bitcut_status status = BITCUT_OK;
    if (x->operand_count == 0) return complain("replay", "requires at least one folder");
    for (int i = 0; i < x->operand_count; i++)
        if (replay_paste_is(x->operands[i]))
            return x->operand_count == 1
                       ? replay_paste(x, x->operands[i])
                       : complain(x->operands[i], "is a paste; replay takes it alone");
    for (int i = 0; i < x->operand_count && status == BITCUT_OK; i++)
        status = set_find(&list, x->operands[i], &x->progress, &f);
    const int result = status == BITCUT_OK ? replay_list(x, &list) : fail("replay", &f);
    found_clear(&list);
    return result;
}

const struct command command_replay = {
    .name = "replay",
    .what = "Compare recorded sets, or what kit/settle.py printed on a device, with the "
            "unit table, bit for bit",
    .run = run,
    .own = options,
    .operands = "SET...|PASTE",
    .operands_most = OPERANDS_MAX,
    .task = TASK_RECORD,
    .examples = {
        { "Compare a recording with the unit table",
          "bitcut replay data/h200/mma_m16n8k16_f16_f32" },
        { "Which units a GPU has, from what PyTorch computes there (settle.py)",
          "bitcut replay data/pastes/h200.txt" },
    },
};
