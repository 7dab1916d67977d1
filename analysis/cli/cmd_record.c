/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut record: results of a device, stored as sets or compared with the model. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/cli/command.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/terminal.h"
#include "analysis/evidence/recorder.h"
#include "analysis/evidence/set.h"
#include "analysis/evidence/set_difference.h"
#include "analysis/evidence/set_find.h"
#include "analysis/evidence/trial.h"
#include "analysis/evidence/variant.h"
#include "lib/io/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct record_options {
    struct option_texts units;
    const char *variant, *device;
    size_t random; /* outputs */
};

static const struct option_row options[] = {
    { "unit",
      "instruction (default: the instruction of the set; --random: all; may be "
      "repeated)",
      OPTION(record, units, TEXTS, "U") },
    { "variant",
      "how to issue the instruction (bitcut list variants; all is allowed "
      "with --random)",
      OPTION(record, variant, TEXT, "V") },
    { "random", "compare N random outputs of each instruction with the model",
      OPTION(record, random, COUNT, "N") },
    DEVICE_OPTION(record, "cuda"),
    { 0 }
};

static const struct fault stopped = { .status = BITCUT_UNSUPPORTED, .text = "stopped" };

/* --- random inputs ---------------------------------------------------------------- */

static void emit_trial(struct context *x, const struct trial *t,
                       const struct trial_result *result)
{
    emit_row(&x->emitter,
             json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "unit",
                       t->unit->name, "variant", t->variant->name, "device",
                       json_text(t->recorder->device.name), "driver",
                       t->recorder->device.driver, "date", json_today(), "seed",
                       json_seed(t->seed), "outputs", json_count(result->outputs),
                       "mismatches", json_count(result->mismatches), "digest",
                       json_encoding(result->digest, 64), "first", result->first));
}

static int try_variant(struct context *x, const struct trial *t)
{
    struct trial_result result;
    struct fault f;
    terminal_label(t->instruction->name);
    if (trial_run(&result, t, &x->progress, &f) != BITCUT_OK)
        return fail(progress_stopped(&x->progress) ? "record" : t->unit->name, &f);
    emit_trial(x, t, &result);
    return result.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* The requested variants (NULL: all) that the instruction has. */
static int try_variants(struct context *x, struct trial *t,
                        const struct gpu_variant_row *wanted)
{
    int worst = EXIT_GOOD;
    for (t->variant = gpu_variants; t->variant->name; t->variant++) {
        struct fault unused;
        if (wanted && wanted != t->variant) continue;
        if (recorder_accepts(t->instruction, t->variant, &unused) != BITCUT_OK) continue;
        const int status = try_variant(x, t);
        if (status > worst) worst = status;
        if (status == EXIT_CANNOT) break;
    }
    return worst;
}

/* Every instruction of the device that has a row in the unit table. */
static int try_all(struct context *x, struct trial *t,
                   const struct gpu_variant_row *wanted)
{
    int worst = EXIT_GOOD;
    t->instruction = NULL;
    while ((t->instruction = gpu_next(&t->recorder->gpu, t->instruction))) {
        t->unit = gpu_unit(t->instruction, &t->recorder->device);
        if (!t->unit) continue;
        const int status = try_variants(x, t, wanted);
        if (status > worst) worst = status;
        if (status == EXIT_CANNOT) break;
    }
    return worst;
}

static int try_named(struct context *x, struct trial *t,
                     const struct gpu_variant_row *wanted)
{
    const struct record_options *const o = x->own;
    int worst = EXIT_GOOD;
    for (int i = 0; i < o->units.count && worst != EXIT_CANNOT; i++) {
        struct fault f;
        t->unit = table_find(TABLE(units), o->units.text[i]);
        if (recorder_find(&t->instruction, t->recorder, t->unit->name, &f) != BITCUT_OK)
            return fail("--unit", &f);
        if (wanted && recorder_accepts(t->instruction, wanted, &f) != BITCUT_OK)
            return fail("--variant", &f);
        const int status = try_variants(x, t, wanted);
        if (status > worst) worst = status;
    }
    return worst;
}

static int run_random(struct context *x, const struct recorder *r,
                      const struct gpu_variant_row *wanted)
{
    const struct record_options *const o = x->own;
    struct trial t = {
        .recorder = r, .seed = x->seed, .outputs = o->random, .threads = x->threads
    };
    return o->units.count ? try_named(x, &t, wanted) : try_all(x, &t, wanted);
}

/* --- sets ------------------------------------------------------------------------- */

/* A set in progress: what is read, recorded and computed. */
struct recording {
    struct set set;
    const char *unit; /* replaces the set's unit; NULL: the set's unit */
    const struct gpu_instruction *instruction;
    const struct gpu_variant_row *variant;
    size_t repeats_differ;
    struct difference difference;
    json_t *first; /* the first mismatch, or null */
};

/* Read the set and check that the device can record it; `wanted` is NULL for the set's
   own variant. */
static enum bitcut_status prepare(struct recording *g, const struct recorder *r,
                                  const struct found *from,
                                  const struct gpu_variant_row *wanted, struct fault *f)
{
    enum bitcut_status status = found_read(&g->set, from, SET_OPERANDS, f);
    if (status != BITCUT_OK) return status;
    g->variant = wanted;
    if (!wanted) status = variant_of(&g->variant, &g->set, f);
    if (status == BITCUT_OK && g->unit) {
        const struct fragments x = set_fragments(&g->set);
        const struct bitcut_unit *u = table_find(TABLE(units), g->unit);
        g->set.unit = *u;
        g->set.known = true;
        status = fragments_check(&g->set.shape, u, &x, f);
    }
    if (status == BITCUT_OK)
        status = recorder_find(&g->instruction, r, g->set.unit.name, f);
    if (status == BITCUT_OK) status = recorder_accepts(g->instruction, g->variant, f);
    return status;
}

static enum bitcut_status record(struct recording *g, const struct recorder *r,
                                 const struct progress *progress, struct fault *f)
{
    struct set *s = &g->set;
    const struct fragments in = set_fragments(s);
    array_clear(&s->d);
    s->recorded = false;
    enum bitcut_status status =
        array_init(&s->d, s->c.dims, s->c.dim, s->c.bytes, s->c.floating, f);
    if (status == BITCUT_OK)
        status = recorder_run(&s->d, &g->repeats_differ, r, g->instruction, g->variant,
                              &in, s->shape, progress, f);
    s->recorded = status == BITCUT_OK;
    return status;
}

/* Compute the model's result, if there is a model; x: the operands as the unit reads
   them. */
static enum bitcut_status judge(struct recording *g, const struct fragments *x,
                                const struct context *context, struct fault *f)
{
    const struct set *s = &g->set;
    struct array model;
    enum bitcut_status status =
        array_init(&model, s->d.dims, s->d.dim, s->d.bytes, false, f);
    if (status != BITCUT_OK) return status;
    status = fragments_run(&model, &s->unit, x, s->shape, context->threads,
                           &context->progress, f);
    if (status == BITCUT_OK) g->difference = difference_of(&model, s);
    if (g->difference.mismatches)
        g->first =
            difference_json(&s->unit, x, s->shape, &model, &s->d, g->difference.first, 0);
    array_clear(&model);
    return status;
}

static enum bitcut_status compare(struct recording *g, const struct context *x,
                                  struct fault *f)
{
    const struct fragments in = set_fragments(&g->set);
    struct variant_operands operands;
    if (!g->set.known) return BITCUT_OK;
    enum bitcut_status status =
        variant_operands_make(&operands, &g->set.unit, g->variant, &in, f);
    if (status != BITCUT_OK) return status;
    status = judge(g, &operands.x, x, f);
    variant_operands_clear(&operands);
    return status;
}

/* Add the keys of the recording to meta.json; other keys stay. */
static void sign_meta(json_t *meta, const struct recording *g, const struct recorder *r)
{
    static const char *const parts[] = { "arch",   "family", "shape",
                                         "output", "input",  "variant" };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        json_object_del(meta, parts[i]);
    if (g->unit) json_object_set_new(meta, "unit", json_string(g->set.unit.name));
    if (g->variant != &gpu_variants[GPU_PLAIN])
        json_object_set_new(meta, "variant", json_string(g->variant->name));
    json_object_set_new(meta, "device", json_text(r->device.name));
    const struct gpu_architecture *a =
        gpu_architecture_for(&r->device, g->instruction->architectures);
    json_object_set_new(meta, "architecture", json_string(a->name));
    json_object_set_new(meta, "driver", json_text(r->device.driver));
    json_object_set_new(meta, "runtime", json_text(r->device.runtime));
    json_object_set_new(meta, "date", json_today());
    json_object_set_new(meta, "origin", json_string("recorded on the device"));
    json_object_set_new(meta, "repeats_differ", json_count(g->repeats_differ));
}

static void emit_recording(struct context *x, const char *folder, const char *output,
                           const struct recording *g, const struct recorder *r)
{
    const struct set *s = &g->set;
    emit_row(&x->emitter,
             json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:O, s:o}", "set",
                       json_text(folder), "unit", s->unit.name, "variant",
                       g->variant->name, "device", json_text(r->device.name), "outputs",
                       json_count(s->d.count), "mismatches",
                       s->known ? json_count(g->difference.mismatches) : json_null(),
                       "repeats_differ", json_count(g->repeats_differ), "first", g->first,
                       "written", json_text(output)));
}

static int record_set(struct context *x, const struct recorder *r,
                      const struct gpu_variant_row *wanted, const struct found *from,
                      const char *output)
{
    const struct record_options *const o = x->own;
    struct recording g = { .unit = o->units.text[0], .first = json_null() };
    struct fault f;
    const char *at = from->folder;
    enum bitcut_status status = prepare(&g, r, from, wanted, &f);
    if (status == BITCUT_OK) status = record(&g, r, &x->progress, &f);
    if (status == BITCUT_OK) status = compare(&g, x, &f);
    if (status == BITCUT_OK) {
        at = output;
        sign_meta(g.set.meta, &g, r);
        status = set_write(output, &g.set, &f);
    }
    if (status == BITCUT_OK) emit_recording(x, from->folder, output, &g, r);
    json_decref(g.first);
    set_clear(&g.set);
    if (status != BITCUT_OK) return fail(at, &f);
    return g.difference.mismatches || g.repeats_differ ? EXIT_FOUND : EXIT_GOOD;
}

/* --- output folders --------------------------------------------------------------- */

/* The sets that the operands name, and the folder to which each is written. */
struct plan {
    struct found_list sets;
    char **output;
};

/* The last component of a folder's path, without trailing slashes. */
static const char *last_part(size_t *length, const char *folder)
{
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/') end--;
    size_t start = end;
    while (start > 0 && folder[start - 1] != '/') start--;
    *length = end - start;
    return folder + start;
}

/* The folder for a set: -o itself if the set is the only operand; its name in -o if it is
   one of several operands; its path below the operand if it was found in an operand. */
static char *place(const struct context *x, const char *operand, const char *set)
{
    size_t length;
    const char *name = last_part(&length, set);
    if (strcmp(operand, set)) {
        name = set + strlen(operand);
        while (*name == '/') name++;
        length = strlen(name);
    } else if (x->operand_count == 1) {
        return strdup(x->output);
    }
    const size_t size = strlen(x->output) + length + 2;
    char *path = memory_allocate(size, 1);
    if (path) snprintf(path, size, "%s/%.*s", x->output, (int)length, name);
    return path;
}

static void plan_clear(struct plan *p)
{
    for (size_t i = 0; p->output && i < p->sets.count; i++) free(p->output[i]);
    free(p->output);
    found_clear(&p->sets);
}

/* Add the sets that one operand names. */
static enum bitcut_status plan_operand(struct plan *p, const struct context *x,
                                       const char *operand, struct fault *f)
{
    const size_t before = p->sets.count;
    const enum bitcut_status status = set_find(&p->sets, operand, &x->progress, f);
    char **output = realloc(p->output, (p->sets.count + 1) * sizeof *output);
    bool whole = output != NULL;
    if (output) p->output = output;
    for (size_t i = before; output && i < p->sets.count; i++) {
        output[i] = place(x, operand, p->sets.at[i].folder);
        whole &= output[i] != NULL;
    }
    if (!output) p->sets.count = before;
    return whole ? status : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

/* A file or folder of a plan: an output, or an input set. */
struct planned {
    struct output_identity is;
    const char *output; /* NULL: it is read */
};

static int by_identity(const void *x, const void *y)
{
    const struct planned *const a = x, *const b = y;
    const int order = output_identity_compare(&a->is, &b->is);
    return order ? order : !a->output - !b->output; /* outputs first */
}

/* Check that no set is written over another set, read or written, and that all folders
   can be written. */
static int check_plan(const struct plan *p)
{
    const size_t count = 2 * p->sets.count;
    int status = EXIT_GOOD;
    struct planned *all = memory_allocate(count, sizeof *all);
    if (!all)
        return fail("record", &(struct fault){ .status = BITCUT_NO_MEMORY,
                                               .text = "not enough memory" });
    for (size_t i = 0; i < count; i++) {
        all[i].output = i % 2 ? NULL : p->output[i / 2];
        output_identify(&all[i].is, i % 2 ? p->sets.at[i / 2].folder : all[i].output);
    }
    qsort(all, count, sizeof *all, by_identity);
    for (size_t i = 1; i < count && status == EXIT_GOOD; i++) {
        if (!all[i - 1].output || output_identity_compare(&all[i - 1].is, &all[i].is))
            continue;
        status = complain(all[i - 1].output,
                          all[i].output
                              ? "is the output folder of two sets"
                              : "is also an input set; choose another folder for -o");
    }
    free(all);
    for (size_t i = 0; i < p->sets.count && status == EXIT_GOOD; i++) {
        struct fault f;
        if (output_check_folder(p->output[i], &f) != BITCUT_OK)
            status = fail(p->output[i], &f);
    }
    return status;
}

static int plan_make(struct plan *p, const struct context *x)
{
    enum bitcut_status status = BITCUT_OK;
    struct fault f;
    for (int i = 0; i < x->operand_count && status == BITCUT_OK; i++)
        status = plan_operand(p, x, x->operands[i], &f);
    return status == BITCUT_OK ? check_plan(p) : fail("record", &f);
}

static int run_sets(struct context *x, const struct recorder *r,
                    const struct gpu_variant_row *wanted, const struct plan *p)
{
    int worst = EXIT_GOOD;
    for (size_t i = 0; i < p->sets.count; i++) {
        const struct found *set = &p->sets.at[i];
        if (progress_stopped(&x->progress)) return fail("record", &stopped);
        const int status = set->fault.status != BITCUT_OK
                               ? fail(set->folder, &set->fault)
                               : record_set(x, r, wanted, set, p->output[i]);
        if (status > worst) worst = status;
        if (status == EXIT_CANNOT && progress_stopped(&x->progress)) break;
    }
    return worst;
}

/* --- the command ------------------------------------------------------------------ */

/* Errors of the command line that do not depend on the device. */
static int check(const struct context *x)
{
    const struct record_options *const o = x->own;
    for (int i = 0; i < o->units.count; i++)
        if (!table_find(TABLE(units), o->units.text[i]))
            return fail_unit(o->units.text[i], false);
    if (o->random)
        return x->operand_count ? complain("--random", "cannot be combined with sets")
               : x->output      ? complain("--random", "cannot be combined with -o")
                                : EXIT_GOOD;
    if (x->operand_count == 0)
        return complain("record", "requires at least one set or --random");
    if (!x->output) return complain("-o", "is required");
    if (o->units.count > 1) return complain("--unit", "can be given only once with sets");
    return EXIT_GOOD;
}

/* The requested variant: NULL for all, and for sets without the option. */
static int find_variant(const struct gpu_variant_row **variant,
                        const struct record_options *o)
{
    const bool all = o->random && o->variant && !strcmp(o->variant, "all");
    *variant = o->random ? &gpu_variants[GPU_PLAIN] : NULL;
    if (all) *variant = NULL;
    else if (o->variant) *variant = table_find(TABLE(gpu_variants), o->variant);
    if (all || !o->variant || *variant) return EXIT_GOOD;
    return fail_unknown("--variant", o->variant, TABLE(gpu_variants));
}

static int run_on_device(struct context *x, const struct gpu_variant_row *wanted,
                         const struct plan *plan)
{
    const struct record_options *const o = x->own;
    struct recorder r;
    int status = device_open(&r, o->device, "record");
    if (status != EXIT_GOOD) return status;
    status = o->random ? run_random(x, &r, wanted) : run_sets(x, &r, wanted, plan);
    recorder_close(&r);
    return status;
}

static int run(struct context *x)
{
    const struct gpu_variant_row *wanted;
    struct plan plan = { 0 };
    int status = find_variant(&wanted, x->own);
    if (status == EXIT_GOOD) status = check(x);
    if (status == EXIT_GOOD) status = plan_make(&plan, x);
    if (status == EXIT_GOOD) status = run_on_device(x, wanted, &plan);
    plan_clear(&plan);
    return status;
}

const struct command command_record = {
    .name = "record",
    .what = "Run fragments on a device and record the results, or compare them with the "
            "model",
    .run = run,
    .own = options,
    .own_size = sizeof(struct record_options),
    .operands = "[SET...]",
    .operands_most = OPERANDS_MAX,
    .output = "folder of the sets to write",
    .task = TASK_RECORD,
    .examples = {
        { "Compare random outputs of an instruction with its model",
          "bitcut record --unit hopper/mma.m16n8k16.f32.f16 --random 100000 --device "
          "cuda" },
        { "Run recorded inputs on another GPU",
          "bitcut record data/h200/mma_m16n8k16_f16_f32 --device cuda -o sets" },
    },
};
