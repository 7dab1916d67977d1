/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut probe: how well vectors distinguish a unit from its mutants, and making such
   vectors. */
#include "analysis/cli/command.h"
#include "analysis/evidence/directed.h"
#include "analysis/evidence/field_json.h"
#include "analysis/evidence/set.h"
#include "analysis/evidence/set_difference.h"
#include "analysis/evidence/set_find.h"
#include "analysis/evidence/variant.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"
#include "lib/io/output.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe_options {
    bool mutants;
    const char *unit;
};

static const struct option_row options[] = {
    { "mutants",
      "print the kill matrix: for each unit and mutant, the number of vectors that "
      "detect it",
      OPTION(probe, mutants, FLAG, NULL) },
    { "unit", "only this unit (bitcut list units)", OPTION(probe, unit, TEXT, "U") },
    { 0 }
};

enum { UNITS_MAX = 512 };

/* The effect of vectors on the mutants of a unit. */
struct kills {
    const struct bitcut_unit *unit;
    struct mutant mutant[MUTANTS_MAX];
    size_t noticed[MUTANTS_MAX]; /* outputs that differ from the mutant's */
    int count;
    bool has_ideal; /* mutant_ideal() */
    struct bitcut_unit ideal;
    size_t ideal_noticed;
    size_t outputs;
    bool done;
};

/* The units to process, in the order in which they are printed. */
struct kills_list {
    struct kills *at;
    int count, printed;
    int status; /* the worst of the units printed */
};

static void kills_init(struct kills *k, const struct bitcut_unit *u)
{
    *k = (struct kills){ .unit = u };
    k->count = mutants_list(k->mutant, u);
    k->has_ideal = mutant_ideal(&k->ideal, u);
}

/* --- the matrix ------------------------------------------------------------------- */

static bool is_survivor(const struct kills *k, int i)
{
    return !k->mutant[i].proof && k->noticed[i] == 0;
}

/* Steps of one field: the number of outputs that detect each; "=" for a mutant proved
   equivalent. */
static json_t *cell(const struct kills *k, const struct field *f)
{
    char text[160] = "";
    for (int i = 0; i < k->count; i++) {
        if (k->mutant[i].field != f) continue;
        const char *const between = *text ? "/" : "";
        if (k->mutant[i].proof) text_add(text, sizeof text, "%s=", between);
        else text_add(text, sizeof text, "%s%zu", between, k->noticed[i]);
    }
    return json_string(text);
}

static json_t *mutant_row(const struct kills *k, int i)
{
    const struct mutant *m = &k->mutant[i];
    return json_pack("{s:s, s:o, s:o, s:I, s:o}", "field", m->field->name, "from",
                     field_json(m->field, k->unit, field_get(m->field, k->unit)), "to",
                     field_json(m->field, k->unit, m->value), "noticed",
                     (json_int_t)k->noticed[i], "proof",
                     m->proof ? json_string(m->proof->what) : json_null());
}

static void emit_kills(struct emitter *e, const struct kills *k)
{
    int proved = 0, surviving = 0;
    for (int i = 0; i < k->count; i++) {
        proved += k->mutant[i].proof != NULL;
        surviving += is_survivor(k, i);
    }
    json_t *row = json_pack("{s:s, s:I, s:i, s:i, s:i, s:i}", "unit", k->unit->name,
                            "vectors", (json_int_t)k->outputs, "mutants", k->count,
                            "killed", k->count - proved - surviving, "proved", proved,
                            "surviving", surviving);
    json_object_set_new(row, "ideal",
                        k->has_ideal ? json_integer((json_int_t)k->ideal_noticed)
                                     : json_null());
    if (e->json) {
        json_t *list = json_array();
        for (int i = 0; i < k->count; i++) json_array_append_new(list, mutant_row(k, i));
        json_object_set_new(row, "matrix", list);
    } else {
        for (const struct field *f = fields; f->name; f++)
            json_object_set_new(row, f->name, cell(k, f));
    }
    emit_row(e, row);
}

static int kills_status(const struct kills *k)
{
    for (int i = 0; i < k->count; i++)
        if (is_survivor(k, i)) return EXIT_FOUND;
    return EXIT_GOOD;
}

static void print_next(struct kills_list *list, struct context *x)
{
    const struct probe_options *const o = x->own;
    const struct kills *k = &list->at[list->printed++];
    if (!o->mutants || !k->unit) return; /* it failed, or was stopped */
    emit_kills(&x->emitter, k);
    if (kills_status(k) > list->status) list->status = kills_status(k);
}

/* --- vectors from sets ------------------------------------------------------------ */

/* Add to *noticed the number of outputs of a set that the unit does not give for operands
   `in`. */
static enum bitcut_status count_one(size_t *noticed, struct array *got,
                                    const struct bitcut_unit *u, const struct set *s,
                                    const struct fragments *in, const struct context *x,
                                    struct fault *f)
{
    const struct progress quiet = { .stop = x->progress.stop };
    const enum bitcut_status status =
        fragments_run(got, u, in, s->shape, x->threads, &quiet, f);
    if (status == BITCUT_OK) *noticed += difference_of(got, s).mismatches;
    return status;
}

/* The same for each mutant and for the ideal unit. */
static enum bitcut_status count_noticed(struct kills *k, const struct set *s,
                                        const struct fragments *in,
                                        const struct context *x, struct fault *f)
{
    struct array got;
    enum bitcut_status status =
        array_init(&got, s->d.dims, s->d.dim, s->d.bytes, false, f);
    if (status != BITCUT_OK) return status;
    for (int i = 0; i < k->count && status == BITCUT_OK; i++)
        status = count_one(&k->noticed[i], &got, &k->mutant[i].unit, s, in, x, f);
    if (status == BITCUT_OK && k->has_ideal)
        status = count_one(&k->ideal_noticed, &got, &k->ideal, s, in, x, f);
    k->outputs += got.count;
    array_clear(&got);
    return status;
}

static enum bitcut_status add_set(struct kills *k, const struct set *s,
                                  const struct context *x, struct fault *f)
{
    const struct fragments in = set_fragments(s);
    const struct gpu_variant_row *variant;
    struct variant_operands operands;
    enum bitcut_status status = variant_of(&variant, s, f);
    if (status == BITCUT_OK)
        status = variant_operands_make(&operands, &s->unit, variant, &in, f);
    if (status != BITCUT_OK) return status;
    status = count_noticed(k, s, &operands.x, x, f);
    variant_operands_clear(&operands);
    return status;
}

/* The entry of a unit, found or added. */
static struct kills *kills_of(struct kills_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (!strcmp(list->at[i].unit->name, name)) return &list->at[i];
    struct kills *k = &list->at[list->count++];
    kills_init(k, table_find(TABLE(units), name));
    return k;
}

static enum bitcut_status from_set(struct kills_list *list, const struct found *x,
                                   const struct context *context, struct fault *f)
{
    const struct probe_options *const o = context->own;
    struct set s;
    enum bitcut_status status = found_read(&s, x, SET_KNOWN | SET_RECORDED, f);
    if (status != BITCUT_OK) return status;
    if (!o->unit || !strcmp(s.unit.name, o->unit))
        status = add_set(kills_of(list, s.unit.name), &s, context, f);
    set_clear(&s);
    return status;
}

/* Combine all sets on the command line by unit.  No unit is complete before all sets are.
 */
static int from_sets(struct kills_list *list, const struct context *x)
{
    static const struct fault stopped = { .status = BITCUT_UNSUPPORTED,
                                          .text = "stopped" };
    struct found_list sets = { 0 };
    struct fault f;
    int worst = EXIT_GOOD;
    for (int i = 0; i < x->operand_count; i++)
        if (set_find(&sets, x->operands[i], &x->progress, &f) != BITCUT_OK)
            worst = fail("probe", &f);
    for (size_t i = 0; i < sets.count && !progress_stopped(&x->progress); i++) {
        if (from_set(list, &sets.at[i], x, &f) != BITCUT_OK &&
            !progress_stopped(&x->progress))
            worst = fail(sets.at[i].folder, &f);
        progress_report(&x->progress, i + 1, sets.count);
    }
    found_clear(&sets);
    if (!progress_stopped(&x->progress)) return worst;
    list->count = 0;
    return fail("probe", &stopped);
}

/* --- directed vectors ------------------------------------------------------------- */

/* The units to process: the requested one, or the first with each behaviour. */
static int choose_units(const struct bitcut_unit **list, const char *only)
{
    int n = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        bool known = false;
        for (int i = 0; i < n && !only; i++) known |= field_same(list[i], u);
        if (only ? strcmp(u->name, only) : known) continue;
        assert(n < UNITS_MAX);
        list[n++] = u;
    }
    return n;
}

static enum bitcut_status write_directed(const char *folder, const struct directed *d,
                                         const struct bitcut_unit *u, uint64_t seed,
                                         struct fault *f)
{
    const struct fragment_shape shape = { (size_t)d->count, 1, 1, (size_t)u->k };
    struct set s;
    enum bitcut_status status = set_init(&s, u, shape, true, f);
    if (status != BITCUT_OK) return status;
    const struct sample_arrays to = { &s.a, &s.b, &s.c, &s.scale_a, &s.scale_b };
    for (size_t i = 0; i < shape.count; i++) {
        sample_store(&to, u, i, &d->samples[i]);
        array_set(&s.d, i, sample_dot(u, &d->samples[i]));
    }
    json_object_set_new(s.meta, "origin", json_string("computed from the unit's row"));
    json_object_set_new(s.meta, "seed", json_seed(seed));
    status = set_write(folder, &s, f);
    set_clear(&s);
    return status;
}

static void take_kills(struct kills *k, const struct directed *d,
                       const struct bitcut_unit *u)
{
    kills_init(k, u);
    k->outputs = (size_t)d->count;
    for (int i = 0; i < k->count; i++) k->noticed[i] = (size_t)d->kills[i];
    for (int i = 0; i < d->count && k->has_ideal; i++)
        k->ideal_noticed +=
            sample_dot(&k->ideal, &d->samples[i]) != sample_dot(u, &d->samples[i]);
}

/* The folder of a unit's vectors: -o itself, or a folder in it with the unit's name. */
static void folder_of(char *path, size_t size, const struct context *x,
                      const struct bitcut_unit *u)
{
    const struct probe_options *const o = x->own;
    if (o->unit) snprintf(path, size, "%s", x->output);
    else snprintf(path, size, "%s/%s", x->output, u->name);
}

static enum bitcut_status make_one(struct kills *k, const struct bitcut_unit *u,
                                   const struct context *x, struct fault *f)
{
    char path[4096];
    struct directed d;
    enum bitcut_status status = directed_make(&d, u, x->seed, &x->progress, f);
    if (status != BITCUT_OK) return status;
    take_kills(k, &d, u);
    if (x->output) {
        folder_of(path, sizeof path, x, u);
        status = write_directed(path, &d, u, x->seed, f);
    }
    directed_clear(&d);
    return status;
}

/* Make the folder of all sets, and check that the folder of each can be written. */
static int prepare_folders(const struct bitcut_unit *const *chosen, int n,
                           const struct context *x)
{
    struct fault f;
    if (folder_make(x->output, &f) != BITCUT_OK) return fail(x->output, &f);
    for (int i = 0; i < n; i++) {
        char path[4096];
        folder_of(path, sizeof path, x, chosen[i]);
        if (output_check_folder(path, &f) != BITCUT_OK) return fail(path, &f);
    }
    return EXIT_GOOD;
}

/* Print units as soon as all earlier units are printed. */
static int from_generator(struct kills_list *list, struct context *x)
{
    const struct probe_options *const o = x->own;
    const struct bitcut_unit *chosen[UNITS_MAX];
    const int n = choose_units(chosen, o->unit);
    struct fault fault = { .status = BITCUT_OK };
    int first = n; /* index of the first unit that failed */
    size_t done = 0;
    const int status = x->output ? prepare_folders(chosen, n, x) : EXIT_GOOD;
    if (status != EXIT_GOOD) return status;
    list->count = n;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(x->threads, (size_t)n))
    for (int i = 0; i < n; i++) {
        struct fault f;
        const bool good = make_one(&list->at[i], chosen[i], x, &f) == BITCUT_OK;
#pragma omp critical
        {
            if (!good && i < first) fault = f, first = i;
            list->at[i].done = good;
            while (list->printed < n && list->at[list->printed].done)
                print_next(list, x);
            done++;
            if (threads_first()) progress_report(&x->progress, done, (size_t)n);
        }
    }
    if (first == n) return EXIT_GOOD;
    return fail(progress_stopped(&x->progress) ? "probe" : chosen[first]->name, &fault);
}

/* --- the command ------------------------------------------------------------------ */

static int run(struct context *x)
{
    const struct probe_options *const o = x->own;
    if (!o->mutants && !x->output) return complain("probe", "requires --mutants or -o");
    if (x->output && x->operand_count)
        return complain("-o", "cannot be combined with sets; vectors are made for units");
    if (o->unit && !table_find(TABLE(units), o->unit)) return fail_unit(o->unit, false);
    struct kills_list list = { .at = calloc(UNITS_MAX, sizeof *list.at) };
    if (!list.at) {
        static const struct fault none = { .status = BITCUT_NO_MEMORY,
                                           .text = "not enough memory" };
        return fail("probe", &none);
    }
    const int status = x->operand_count ? from_sets(&list, x) : from_generator(&list, x);
    while (list.printed < list.count) print_next(&list, x);
    free(list.at);
    return status > list.status ? status : list.status;
}

const struct command command_probe = {
    .name = "probe",
    .what = "Measure how well vectors distinguish a unit from its mutants, or make such "
            "vectors",
    .run = run,
    .own = options,
    .own_size = sizeof(struct probe_options),
    .operands = "[SET...]",
    .operands_most = OPERANDS_MAX,
    .output = "folder of the sets to make",
    .task = TASK_RECORD,
    .examples = {
        { "Make vectors that distinguish a unit from others",
          "bitcut probe --unit hopper/mma.m16n8k16.f32.f16 -o vectors" },
        { "Count the mutants of a unit that these vectors detect",
          "bitcut probe --mutants --unit hopper/mma.m16n8k16.f32.f16" },
    },
};
