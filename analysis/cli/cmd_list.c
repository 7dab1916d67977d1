/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut list: the rows of any table of the library or the program. */
#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/metric.h"
#include "analysis/accuracy/monotone.h"
#include "analysis/answers/answers.h"
#include "analysis/bench/benchmark_plan.h"
#include "analysis/cli/command.h"
#include "analysis/cli/install_path.h"
#include "analysis/cli/screen.h"
#include "analysis/identify/fault.h"
#include "analysis/predict/library.h"
#include "analysis/sampling/criterion.h"
#include "analysis/study/study.h"
#include "emu/attention/attention_row.h"
#include "emu/rate.h"
#include "emu/unit.h"
#include "gpu/api/fp64.h"
#include "gpu/api/tile.h"
#include "lib/base/text.h"
#include "lib/io/listing.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* --- keys for the rows of the program's tables ------------------------------------ */

static void describe_metric(struct field_writer *w, const void *row)
{
    write_text_field(w, "source", ((const struct metric *)row)->source);
}

static void describe_bound(struct field_writer *w, const void *row)
{
    const struct bound_row *b = row;
    write_text_field(w, "kind", bound_kinds[b->kind]);
    write_text_field(w, "of", b->underflow ? "underflow" : "error");
    write_flag_field(w, "sharp", b->sharp);
    write_text_field(w, "source", b->source);
}

/* Whether a larger addend can lower an output of a unit. */
static void describe_monotone(struct field_writer *w, const void *row)
{
    static const char *const names[][2] = { { "c", "c_example" },
                                            { "product", "product_example" } };
    for (int i = 0; i < 2; i++) {
        struct monotone_example e;
        const enum monotone_addend addend = (enum monotone_addend)i;
        const bool lowered = !monotone_in(row, addend);
        write_flag_field(w, names[i][0], !lowered);
        write_text_field(w, names[i][1],
                         lowered && monotone_example_find(&e, row, addend) ? e.text
                                                                           : NULL);
    }
}

/* TFLOP/s, or products of f16 parts in the time of one product; null: unknown, or no
   unit. */
static void write_rate_field(struct field_writer *w, const char *name, double rate)
{
    if (rate > 0) write_real_field(w, name, rate);
    else write_text_field(w, name, NULL);
}

static void describe_rate(struct field_writer *w, const void *row)
{
    const struct rate_row *r = row;
    write_rate_field(w, "f16_tflops", rate_tflops(r));
    write_rate_field(w, "bf16", rate_cost(r, RATE_BF16));
    write_rate_field(w, "tf32", rate_cost(r, RATE_TF32));
    write_rate_field(w, "fp8", rate_cost(r, RATE_FP8));
    write_rate_field(w, "s8", rate_cost(r, RATE_S8));
    write_rate_field(w, "f32", rate_cost(r, RATE_F32));
    write_text_field(w, "source", r->source);
}

static void describe_model(struct field_writer *w, const void *row)
{
    const struct tile_model *m = row;
    write_flag_field(w, "rates", m->rates);
    write_list_field(w, "factors", BITCUT_TEXTS);
    for (int i = 0; i < TILE_FACTORS; i++)
        write_item_field(w, "%s: %s", m->factor[i].name, m->factor[i].what);
}

static void describe_library(struct field_writer *w, const void *row)
{
    const struct library *const l = row;
    write_text_field(w, "function", l->function);
    write_list_field(w, "chips", BITCUT_TEXTS);
    for (const struct library_chip *c = l->chips; c->name; c++)
        write_item_field(w, "%s", c->name);
    write_list_field(w, "calls", BITCUT_TEXTS);
    for (const struct library_call *c = l->calls; c && c->name; c++)
        write_item_field(w, "%s", c->name);
    write_list_field(w, "types", BITCUT_TEXTS);
    for (const struct library_types *t = l->types; t->name; t++)
        write_item_field(w, "%s", t->name);
    write_text_field(w, "settings", l->settings);
    write_text_field(w, "source", l->source);
}

/* A bound; 0 means none. */
static void write_most_field(struct field_writer *w, const char *name, size_t most)
{
    if (most) write_integer_field(w, name, (long long)most);
    else write_text_field(w, name, NULL);
}

static struct gpu gpu; /* the module whose tables are printed */

static void describe_architecture(struct field_writer *w, const void *row)
{
    write_text_field(w, "units", ((const struct gpu_architecture *)row)->units);
}

static void write_architectures_field(struct field_writer *w, unsigned set)
{
    const struct gpu_architecture *row = NULL;
    write_list_field(w, "architectures", BITCUT_TEXTS);
    while ((row = gpu_architecture_next(&gpu, row)))
        if (set & row->bit) write_item_field(w, "%s", row->name);
}

static void describe_instruction(struct field_writer *w, const void *row)
{
    const struct gpu_instruction *i = row;
    write_line_field(w, "shape", "%dx%dx%d", i->m, i->n, i->k);
    write_integer_field(w, "a_bytes", i->a_bytes);
    write_integer_field(w, "b_bytes", i->b_bytes);
    write_integer_field(w, "c_bytes", i->c_bytes);
    write_architectures_field(w, i->architectures);
    write_list_field(w, "variants", BITCUT_TEXTS);
    for (int v = 0; v < GPU_VARIANTS; v++)
        if (i->variants >> v & 1) write_item_field(w, "%s", gpu_variants[v].name);
}

static void describe_kernel(struct field_writer *w, const void *row)
{
    const struct gpu_kernel *k = row;
    write_text_field(w, "recipe", k->recipe);
    write_text_field(w, "instruction", k->instruction);
    write_text_field(w, "matrices", formats[k->matrices].name);
    write_text_field(w, "input", formats[k->format].name);
    write_integer_field(w, "terms", k->program.terms);
    write_integer_field(w, "promote", k->program.promote);
    if (k->tile_m)
        write_line_field(w, "tile", "%dx%dx%d", k->tile_m, k->tile_n, k->tile_k);
    else write_text_field(w, "tile", NULL);
    write_most_field(w, "products", (size_t)k->products);
    write_most_field(w, "warps", (size_t)k->warps);
    write_integer_field(w, "stages", k->stages);
    write_integer_field(w, "threads", k->threads);
    write_integer_field(w, "shared_bytes", k->shared_bytes);
    write_integer_field(w, "registers", k->registers);
    write_integer_field(w, "cluster", k->cluster_m * k->cluster_n);
    write_integer_field(w, "load_bytes", k->load_bytes);
    write_integer_field(w, "read_bytes", k->read_bytes);
    write_integer_field(w, "slices_most", k->slices_most);
    write_most_field(w, "slices_together", (size_t)k->slices_together);
    write_most_field(w, "size_most", k->size_most);
    write_most_field(w, "side_most", k->side_most);
    write_architectures_field(w, k->architectures);
}

static void describe_fp64_kernel(struct field_writer *w, const void *row)
{
    const struct gpu_fp64_kernel *k = row;
    write_text_field(w, "scheme", k->scheme);
    write_text_field(w, "instruction", k->instruction);
    write_integer_field(w, "parts_most", k->parts_most);
    write_most_field(w, "size_most", k->size_most);
    write_architectures_field(w, k->architectures);
}

static void describe_bench(struct field_writer *w, const void *row)
{
    const struct bench_study *b = row;
    write_text_field(w, "shapes", b->shapes);
    write_list_field(w, "kernels", BITCUT_TEXTS);
    for (int i = 0; i < SELECTIONS_MAX && b->kernels[i]; i++)
        write_item_field(w, "%s", b->kernels[i]);
    write_list_field(w, "slices", BITCUT_NUMBERS);
    for (const int *s = b->slices; *s; s++) write_item_field(w, "%d", *s);
    write_list_field(w, "batches", BITCUT_NUMBERS);
    for (const size_t *count = b->batches; *count; count++)
        write_item_field(w, "%zu", *count);
}

/* "4n" for 4, "n" for 1 in a scaled set; otherwise the number. */
static void length_text(char text[24], size_t length, bool scaled)
{
    snprintf(text, 24, length == 1 && scaled ? "n" : scaled ? "%zun" : "%zu", length);
}

static void describe_shapes(struct field_writer *w, const void *row)
{
    const struct shape_set *s = row;
    write_text_field(w, "input", s->input ? s->input : "");
    write_list_field(w, "shapes", BITCUT_TEXTS);
    for (const struct kernel_shape *at = s->shape; at->m; at++) {
        char m[24], n[24], k[24];
        length_text(m, at->m, s->scaled);
        length_text(n, at->n, s->scaled);
        length_text(k, at->k, s->scaled);
        write_item_field(w, "%sx%sx%s", m, n, k);
    }
}

static void describe_study(struct field_writer *w, const void *row)
{
    const struct study *const s = row;
    write_integer_field(w, "points_small", (long long)s->points(s, STUDY_SMALL));
    write_integer_field(w, "points_paper", (long long)s->points(s, STUDY_PAPER));
    write_flag_field(w, "threaded", s->threaded);
}

/* --- the program's tables --------------------------------------------------------- */

static const struct bitcut_table own_tables[] = {
    /* clang-format off */
    { "metrics",       "measures of error",
      ROWS(metrics),           describe_metric },
    { "criteria",      "tests of a result, which bitcut tolerance tries on faulty kernels",
      ROWS(criteria),          NULL },
    { "bounds",        "bounds on the error of a GEMM",
      ROWS(bounds),            describe_bound },
    { "monotonicity",  "units, and whether a larger c or product never lowers a result",
      ROWS(units),             describe_monotone },
    { "rates",         "cost of a product on each architecture, in products of f16 parts",
      ROWS(rates),             describe_rate },
    { "studies",       "problems that bitcut study answers by a figure or table",
      ROWS(studies),           describe_study },
    { "benches",       "benchmarks of bench gpu: kernels on shapes",
      ROWS(bench_studies),     describe_bench },
    { "shapes",        "sets of m, n and k for bench gpu",
      ROWS(shape_sets),        describe_shapes },
    { "models",        "tile models, which rank tiles and kernels",
      ROWS(tile_models),       describe_model },
    { "variants",      "ways to issue one instruction on a device",
      ROWS(gpu_variants),      NULL },
    { "libraries",     "libraries whose GEMMs bitcut predict knows, and their chips",
      ROWS(libraries),         describe_library },
    { "axes",          "properties in which GEMMs differ, along which bitcut explain "
                       "searches",
      ROWS(axes),              NULL },
    { 0 }
    /* clang-format on */
};

/* Tables that are linked lists of pieces. */
static const void *next_fault(const void *row) { return kernel_fault_next(row); }

static void describe_fault(struct field_writer *w, const void *row)
{
    const struct kernel_fault *const d = row;
    write_text_field(w, "changes",
                     d->exact  ? "the product"
                     : d->fine ? "a few ulps"
                               : "parts or sums");
}

static const void *next_claim(const void *row) { return study_claim_next(row); }

static void describe_claim(struct field_writer *w, const void *row)
{
    const struct claim *const c = row;
    write_text_field(w, "study", study_of_claim(c)->name);
    write_text_field(w, "paper", c->paper);
    if (c->printed) write_text_field(w, "printed", c->printed);
    else write_real_field(w, "printed", c->number);
    write_flag_field(w, "quote", c->origin == ORIGIN_PAPER && !c->described);
    write_text_field(w, "device", c->device);
    write_text_field(w, "unit", c->unit);
    write_text_field(w, "needs", c->needs);
    write_text_field(w, "origin", claim_origins[c->origin].name);
    write_text_field(w, "criterion",
                     c->criterion ? claim_criteria[c->criterion].name : NULL);
    write_text_field(w, "assumes", c->assumes);
    write_text_field(w, "otherwise", c->otherwise);
}

/* The answer to which the key of a row belongs. */
static const struct record *answer_of(const struct record_field *row)
{
    for (const struct record *r = answers; r->name; r++)
        for (const struct record_field *f = r->field; f->name; f++)
            if (f == row) return r;
    return NULL;
}

static const void *next_key(const void *row)
{
    const struct record *r = row ? answer_of(row) : answers;
    const struct record_field *f = row ? (const struct record_field *)row + 1 : r->field;
    for (; r->name; f = (++r)->field)
        for (; f && f->name; f++)
            if (*f->name) return f;
    return NULL;
}

static void describe_key(struct field_writer *w, const void *row)
{
    const struct record_field *const f = row;
    write_text_field(w, "of", answer_of(f)->keys);
    write_text_field(w, "unit", *f->unit ? f->unit : NULL);
    write_text_field(w, "member", f->member);
}

struct chained_table {
    struct bitcut_table table;
    const void *(*next)(const void *row);
};

static const struct chained_table chained_tables[] = {
    { { "faults",
        "faults of kernels that bitcut explain can find",
        { NULL, 0 },
        describe_fault },
      next_fault },
    { { "keys",
        "keys of JSON output, with the meaning of each",
        { NULL, 0 },
        describe_key },
      next_key },
    { { "claims",
        "claims of papers that bitcut study checks",
        { NULL, 0 },
        describe_claim },
      next_claim },
    { { 0 }, NULL }
};

/* Tables in modules. */
static const void *next_architecture(const struct gpu *g, const void *at)
{
    return gpu_architecture_next(g, at);
}

static const void *next_instruction(const struct gpu *g, const void *at)
{
    return gpu_next(g, at);
}

static const void *next_kernel(const struct gpu *g, const void *at)
{
    return gpu_kernel_next(g, at);
}

static const void *next_fp64_kernel(const struct gpu *g, const void *at)
{
    return gpu_fp64_next(g, at);
}

struct module_table {
    struct bitcut_table table;
    const void *(*next)(const struct gpu *g, const void *at);
};

static const struct module_table module_tables[] = {
    { { "architectures",
        "devices for which code is compiled, with their units",
        { NULL, 0 },
        describe_architecture },
      next_architecture },
    { { "instructions",
        "single instructions that a device can record",
        { NULL, 0 },
        describe_instruction },
      next_instruction },
    { { "kernels", "whole GEMMs that a device can run", { NULL, 0 }, describe_kernel },
      next_kernel },
    { { "fp64-kernels",
        "FP64 GEMMs by a scheme that a device can run",
        { NULL, 0 },
        describe_fp64_kernel },
      next_fp64_kernel },
    { { 0 }, NULL }
};

/* --- printing --------------------------------------------------------------------- */

struct list_options {
    bool wide;
};

/* Whether the row's name contains the second operand; for a unit, also whether the
   operand names a chip that has it. */
static bool is_chosen(const struct context *x, const char *name, bool unit)
{
    const char *const part = x->operand_count > 1 ? x->operands[1] : "";
    const struct chip *const chip = unit ? table_find(TABLE(chips), part) : NULL;
    return strstr(name, part) || (chip && chip_has(chip, name));
}

static int rows_printed;

static void print_row(struct context *x, const struct bitcut_table *table, const void *of)
{
    struct bitcut_field field;
    const char *const name = bitcut_row_name(of);
    if (!is_chosen(x, name, table->name && !strcmp(table->name, "units"))) return;
    json_t *row = json_pack("{s:s}", "name", name);
    for (size_t i = 0; bitcut_row_field(&field, table, of, i); i++)
        json_object_set_new(row, field.name, json_of_text(field.kind, field.text));
    json_object_set_new(row, "what", json_string(bitcut_row_what(of)));
    emit_row(&x->emitter, row);
    rows_printed++;
}

/* --- units, in few columns -------------------------------------------------------- */

/* The first chips that have a unit, and the number of others.  With 18 columns for chips
   the table of all units has at most 100 columns. */
static json_t *chips_of(const char *unit)
{
    enum { CHIPS_WIDTH = 18, WIDE = 100 };
    const int columns = screen_columns(0);
    const size_t width = columns && columns < WIDE ? 0 : CHIPS_WIDTH;
    char text[80] = "", longer[80];
    int more = 0;
    for (const struct chip *c = chips; c->name; c++) {
        if (!chip_has(c, unit)) continue;
        snprintf(longer, sizeof longer, "%s%s%s", text, *text ? ", " : "", c->name);
        const bool fits = !more && strlen(longer) + strlen(" +99") <= width;
        if (!*text || fits) memcpy(text, longer, sizeof text);
        else more++;
    }
    if (more) text_add(text, sizeof text, " +%d", more);
    return json_string(*text ? text : "-");
}

/* The evidence up to its first comma.  A note below the table says that AMD units were not
   run on AMD hardware. */
static json_t *short_evidence(struct context *x, const char *evidence)
{
    if (strstr(evidence, "not run on AMD hardware by us"))
        x->emitter.note = "Units of AMD GPUs: not run on AMD hardware by us.";
    return json_stringn(evidence, strcspn(evidence, ","));
}

static void list_units(struct context *x)
{
    for (const struct bitcut_unit *u = units; u->name; u++) {
        if (!is_chosen(x, u->name, true)) continue;
        emit_row(&x->emitter,
                 json_pack("{s:s, s:o, s:o, s:o}", "name", u->name, "shape",
                           json_sprintf("%dx%dx%d", u->m, u->n, u->k), "evidence",
                           short_evidence(x, unit_evidence(u)), "chips",
                           chips_of(u->name)));
        rows_printed++;
    }
    x->emitter.table = true;
}

/* Algorithms of attention, without their fields. */
static void list_attentions(struct context *x)
{
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++) {
        if (!is_chosen(x, r->name, false)) continue;
        emit_row(&x->emitter,
                 json_pack("{s:s, s:o, s:s}", "name", r->name, "evidence",
                           json_stringn(r->evidence, strcspn(r->evidence, ",;")), "what",
                           r->what));
        rows_printed++;
    }
    x->emitter.table = true;
}

/* Tables that are printed in few columns, unless all are wanted. */
static const struct {
    const char *name;
    void (*list)(struct context *x);
} narrow[] = { { "units", list_units },
               { "attentions", list_attentions },
               { NULL, NULL } };

/* --- tables ----------------------------------------------------------------------- */

static int list_rows(struct context *x, const struct bitcut_table *table)
{
    const void *row = NULL;
    while ((row = bitcut_row_next(table, row))) print_row(x, table, row);
    return EXIT_GOOD;
}

static int list_chained(struct context *x, const struct chained_table *c)
{
    const void *row = NULL;
    while ((row = c->next(row))) print_row(x, &c->table, row);
    return EXIT_GOOD;
}

/* Print the rows of all available modules, those of each table once.  An existing module
   must open. */
static int list_module(struct context *x, const struct module_table *m)
{
    const void *row = NULL;
    char folder[PLACE_MAX];
    struct fault f;
    for (const struct gpu_backend *b = gpu_backends; b->name; b++) {
        if (b->tables || !gpu_is_built(b, place_module(folder))) continue;
        if (gpu_open(&gpu, b, place_module(folder), &f) != BITCUT_OK)
            return fail("list", &f);
        while ((row = m->next(&gpu, row))) print_row(x, &m->table, row);
        gpu_close(&gpu);
    }
    return EXIT_GOOD;
}

static const struct table_row device_table[] = {
    { "devices", "devices that GEMMs can run on, or why they are unavailable" }, { 0 }
};

/* A module: its architectures, and why others are unsupported. */
static json_t *architectures_of(const struct gpu_device *d)
{
    json_t *names = json_array();
    for (const struct gpu_architecture *a = d->architecture; a->name; a++)
        if (a->bit & d->architectures) json_array_append_new(names, json_string(a->name));
    return names;
}

static void print_device(struct context *x, json_t *name, const struct gpu_device *d,
                         const char *what, const char *why)
{
    rows_printed++;
    emit_row(&x->emitter,
             json_pack("{s:o, s:b, s:o, s:o, s:o}", "name", name, "here", d != NULL,
                       "architectures", d ? architectures_of(d) : json_array(), "why",
                       why && *why ? json_text(why) : json_null(), "what",
                       json_text(what)));
}

static json_t *device_name(const struct gpu_backend *b, const struct gpu_device *d)
{
    if (b->by_architecture) return json_sprintf("%s:%s", b->name, d->architecture->name);
    return d->number ? json_sprintf("%s:%d", b->name, d->number) : json_string(b->name);
}

/* The devices of an open module: all usable ones, or why there is none. */
static void list_devices_of(struct context *x, const struct gpu *g,
                            const struct gpu_backend *b)
{
    struct gpu_device device;
    struct fault f;
    int number = 0, count = 0;
    for (; gpu_describe_next(&device, g, &number, &f) == BITCUT_OK; count++)
        print_device(x, device_name(b, &device), &device, device.name, device.lacks);
    if (!count) print_device(x, json_string(b->name), NULL, b->what, f.text);
}

static int list_devices(struct context *x)
{
    static const struct gpu_architecture none = { 0 };
    const struct gpu_device emulator = { .architecture = &none };
    char folder[PLACE_MAX];
    struct fault f;
    print_device(x, json_string("emulator"), &emulator,
                 "the emulator: this program with the models of the units", NULL);
    for (const struct gpu_backend *b = gpu_backends; b->name; b++)
        if (gpu_open(&gpu, b, place_module(folder), &f) != BITCUT_OK)
            print_device(x, json_string(b->name), NULL, b->what, f.text);
        else {
            list_devices_of(x, &gpu, b);
            gpu_close(&gpu);
        }
    return EXIT_GOOD;
}

/* The names of all tables, in the order in which they are listed. */
enum { TABLES_MAX = 64 };

/* Add a name; the last row of the array remains for the end. */
static void add_name(struct table_row all[TABLES_MAX], size_t *count, struct table_row row)
{
    assert(*count + 1 < TABLES_MAX);
    all[(*count)++] = row;
}

static void all_tables(struct table_row all[TABLES_MAX])
{
    const struct table parts[] = { TABLE(own_tables), TABLE(chained_tables),
                                   TABLE(module_tables), TABLE(device_table) };
    const struct bitcut_table *t = NULL;
    const struct table_row *row = NULL;
    size_t count = 0;
    while ((t = bitcut_table_next(t)))
        add_name(all, &count,
                 (struct table_row){ bitcut_table_name(t), bitcut_table_what(t) });
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        while ((row = table_next(parts[i], row))) add_name(all, &count, *row);
    all[count] = (struct table_row){ 0 };
}

static int list_table(struct context *x, const struct table_row *all)
{
    const struct list_options *const o = x->own;
    const char *name = x->operands[0];
    const struct bitcut_table *t = bitcut_table_find(name);
    if (!t) t = table_find(TABLE(own_tables), name);
    for (size_t i = 0; narrow[i].name && !o->wide && !x->emitter.json; i++)
        if (t && !strcmp(name, narrow[i].name)) {
            narrow[i].list(x);
            return EXIT_GOOD;
        }
    if (t) return list_rows(x, t);
    if (table_find(TABLE(device_table), name)) return list_devices(x);
    const struct chained_table *c = table_find(TABLE(chained_tables), name);
    if (c) return list_chained(x, c);
    const struct module_table *m = table_find(TABLE(module_tables), name);
    return m ? list_module(x, m)
             : fail_unknown("list", name, (struct table){ all, sizeof *all });
}

static int run(struct context *x)
{
    struct table_row all[TABLES_MAX];
    all_tables(all);
    if (x->operand_count == 0)
        return list_rows(x, &(struct bitcut_table){ .rows = TABLE(all) });
    const int status = list_table(x, all);
    if (status == EXIT_GOOD && x->operand_count > 1 && !rows_printed)
        return complain(x->operands[1], "no name in this table contains it");
    return status;
}

static const struct option_row options[] = {
    { "wide", "units, attentions: print all columns", OPTION(list, wide, FLAG, NULL) },
    { 0 },
};

const struct command command_list = {
    .name = "list",
    .what = "Print the rows of a table: units, formats, splits, recipes, inputs and more",
    .run = run,
    .own = options,
    .own_size = sizeof(struct list_options),
    .operands = "[TABLE [NAME]]",
    .operand_table = "",
    .operands_most = 2,
    .task = TASK_NAMES,
    .first = true,
    .examples = {
        { "Print the units of an H100",
          "bitcut list units h100" },
        { "Print the recipes of GEMMs, for a program",
          "bitcut list recipes --json" },
    },
};
