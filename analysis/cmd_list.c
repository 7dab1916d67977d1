/* bitcut list: the rows of any table. */
#include "analysis/bench_plan.h"
#include "analysis/command.h"
#include "analysis/field.h"
#include "analysis/metric.h"
#include "analysis/place.h"
#include "analysis/study.h"
#include "emu/unit.h"
#include "gpu/gpu.h"
#include "lib/input.h"
#include "lib/recipe.h"

#include <stdio.h>
#include <string.h>

static json_t *name_or_null(const struct bitcut_format *format)
{
    return format ? json_string(format->name) : json_null();
}

static json_t *text(const char *s) { return json_string(s ? s : ""); }

static void set(json_t *row, const char *key, json_t *value)
{
    json_object_set_new(row, key, value);
}

/* --- one function a table: what a row says beyond its name and purpose ------------ */

/* The fields that the evidence leaves open: an array of names. */
static json_t *open_fields(const struct bitcut_unit *u)
{
    json_t *open = json_array();
    for (const struct field *f = fields; f->name; f++)
        if (field_is_open(f, u)) json_array_append_new(open, json_string(f->name));
    return open;
}

static void describe_unit(json_t *row, const void *of)
{
    const struct bitcut_unit *u = of;
    set(row, "shape", json_sprintf("%dx%dx%d", u->m, u->n, u->k));
    set(row, "a", json_string(u->a->name));
    set(row, "b", json_string(u->b->name));
    set(row, "c", json_string(u->c->name));
    set(row, "scale", name_or_null(u->scale));
    for (const struct field *f = fields; f->name; f++)
        set(row, f->name,
            field_used(f, u) ? field_json(f, u, field_get(f, u)) : json_null());
    set(row, "vendor", unit_vendor(u) ? json_string(unit_vendor(u)) : json_null());
    set(row, "evidence", json_string(unit_evidence(u)));
    set(row, "open", open_fields(u));
    set(row, "source", text(u->source));
}

static void describe_summation(json_t *row, const void *of)
{
    const struct summation *s = of;
    json_t *reads = json_array();
    for (const struct field *f = fields; f->name; f++)
        if (f->reads > 0 && s->reads & (unsigned)f->reads)
            json_array_append_new(reads, json_string(f->name));
    set(row, "reads", reads);
    set(row, "exact", json_boolean(s->reads_exact));
    set(row, "fast", json_boolean(s->fast != NULL));
}

static void describe_chip(json_t *row, const void *of)
{
    set(row, "architecture", json_string(((const struct chip *)of)->architecture));
}

static void describe_format(json_t *row, const void *of)
{
    const struct bitcut_format *f = of;
    set(row, "bits", json_integer(f->bits - f->pad));
    set(row, "held_in", json_integer(f->bits));
    set(row, "exponent_bits", json_integer(f->exponent_bits));
    set(row, "fraction_bits", json_integer(f->fraction_bits));
    set(row, "emin", json_integer(format_emin(f)));
    set(row, "emax", json_integer(format_emax(f)));
    set(row, "largest", json_real(format_to_double(f, format_largest(f, false))));
}

static void describe_nothing(json_t *row, const void *of)
{
    (void)row;
    (void)of;
}

static void describe_split(json_t *row, const void *of)
{
    const struct bitcut_split *s = of;
    set(row, "format", json_string(s->format->name));
    set(row, "high", json_string(s->high->name));
    set(row, "low", json_string(s->words > 1 ? s->low->name : ""));
    set(row, "words", json_integer(s->words));
    set(row, "scale", json_integer(s->scale));
    set(row, "source", text(s->source));
}

/* Terms as "lh:1 hl:1 hh:0": word of A, word of B, accumulator; with a * if that is
   scaled first. */
static json_t *terms_text(const struct bitcut_recipe *r)
{
    static const char word[] = "hlm"; /* high, low, lowest of three */
    char line[8 * (RECIPE_TERMS_MOST + 1)] = "";
    for (int i = 0; i < r->terms; i++) {
        const struct recipe_term t = r->term[i];
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%c%c:%d%s", i ? " " : "", word[t.a],
                 word[t.b], t.accumulator, t.scaled ? "*" : "");
    }
    return json_string(line);
}

static void describe_recipe(json_t *row, const void *of)
{
    const struct bitcut_recipe *r = of;
    set(row, "split", json_string(r->split ? r->split->name : "of the unit"));
    set(row, "terms", terms_text(r));
    set(row, "low_low", json_boolean(r->keeps_low_low));
    set(row, "promote", json_integer(r->promote));
    set(row, "tile_k", json_integer(r->tile_k));
    set(row, "zeroed", json_string(recipe_zeroed_names[r->zeroed]));
    set(row, "source", text(r->source));
}

static void describe_input(json_t *row, const void *of)
{
    const struct input_family *in = of;
    json_t *parameters = json_array();
    for (int i = 0; i < in->parameters; i++)
        json_array_append_new(parameters, json_sprintf("%s=%g", in->parameter[i].name,
                                                       in->parameter[i].standard));
    set(row, "parameters", parameters);
}

static void describe_pair(json_t *row, const void *of)
{
    const struct input_pair *p = of;
    set(row, "a", json_string(p->a));
    set(row, "b", json_string(p->b));
}

static void describe_metric(json_t *row, const void *of)
{
    set(row, "source", text(((const struct metric *)of)->source));
}

static json_t *variant_names(unsigned variants)
{
    json_t *names = json_array();
    for (int i = 0; i < GPU_VARIANTS; i++)
        if (variants >> i & 1)
            json_array_append_new(names, json_string(gpu_variants[i].name));
    return names;
}

/* A bound; 0 is none. */
static json_t *most_or_null(size_t most) { return most ? json_count(most) : json_null(); }

static void describe_instruction(json_t *row, const void *of)
{
    const struct gpu_instruction *i = of;
    set(row, "shape", json_sprintf("%dx%dx%d", i->m, i->n, i->k));
    set(row, "a_bytes", json_integer(i->a_bytes));
    set(row, "b_bytes", json_integer(i->b_bytes));
    set(row, "c_bytes", json_integer(i->c_bytes));
    set(row, "least", json_integer(i->least));
    set(row, "most", most_or_null((size_t)i->most));
    set(row, "variants", variant_names(i->variants));
}

static void describe_kernel(json_t *row, const void *of)
{
    const struct gpu_kernel *k = of;
    set(row, "recipe", json_string(k->recipe));
    set(row, "instruction", k->instruction ? json_string(k->instruction) : json_null());
    set(row, "matrices", json_string(formats[k->matrices].name));
    set(row, "input", json_string(formats[k->format].name));
    set(row, "terms", json_integer(k->program.terms));
    set(row, "promote", json_integer(k->program.promote));
    set(row, "tile",
        k->tile_m ? json_sprintf("%dx%dx%d", k->tile_m, k->tile_n, k->tile_k)
                  : json_null());
    set(row, "products", most_or_null((size_t)k->products));
    set(row, "warps", most_or_null((size_t)k->warps));
    set(row, "stages", json_integer(k->stages));
    set(row, "threads", json_integer(k->threads));
    set(row, "shared_bytes", json_integer(k->shared_bytes));
    set(row, "registers", json_integer(k->registers));
    set(row, "cluster", json_integer(k->cluster));
    set(row, "load_bytes", json_integer(k->load_bytes));
    set(row, "read_bytes", json_integer(k->read_bytes));
    set(row, "slices_most", json_integer(k->slices_most));
    set(row, "size_most", most_or_null(k->size_most));
    set(row, "least", json_integer(k->least));
    set(row, "most", most_or_null((size_t)k->most));
}

static json_t *names_list(const char *const *name, size_t most)
{
    json_t *names = json_array();
    for (size_t i = 0; i < most && name[i]; i++)
        json_array_append_new(names, json_string(name[i]));
    return names;
}

static void describe_bench(json_t *row, const void *of)
{
    const struct bench_study *b = of;
    json_t *slices = json_array(), *batches = json_array();
    for (const int *s = b->slices; *s; s++)
        json_array_append_new(slices, json_integer(*s));
    for (int i = 0; i < b->batches.count; i++)
        json_array_append_new(batches, json_count(b->batches.at[i]));
    set(row, "shapes", json_string(b->shapes));
    set(row, "kernels", names_list(b->kernels, SELECTIONS_MOST));
    set(row, "slices", slices);
    set(row, "batches", batches);
}

/* "4n" for 4, "n" for 1, of a scaled set; else the number. */
static void length_text(char text[24], size_t length, bool scaled)
{
    snprintf(text, 24, length == 1 && scaled ? "n" : scaled ? "%zun" : "%zu", length);
}

static void describe_shapes(json_t *row, const void *of)
{
    const struct shape_set *s = of;
    json_t *list = json_array();
    for (const struct kernel_shape *at = s->shape; at->m; at++) {
        char m[24], n[24], k[24];
        length_text(m, at->m, s->scaled);
        length_text(n, at->n, s->scaled);
        length_text(k, at->k, s->scaled);
        json_array_append_new(list, json_sprintf("%sx%sx%s", m, n, k));
    }
    set(row, "input", text(s->input));
    set(row, "shapes", list);
}

/* --- printing --------------------------------------------------------------------- */

static void print_row(struct context *x, const struct table_row *of,
                      void (*describe)(json_t *row, const void *of))
{
    json_t *row = json_object();
    set(row, "name", json_string(of->name));
    describe(row, of);
    set(row, "what", text(of->what));
    emit_row(&x->emitter, row);
}

/* Rows that are not one after the other in a table. */
static const void *next_summation(const struct gpu *g, const void *at)
{
    const struct summation *const *s = summations;
    (void)g;
    while (at && *s++ != at) continue;
    return *s;
}

static const void *next_instruction(const struct gpu *g, const void *at)
{
    return gpu_next(g, at);
}

static const void *next_kernel(const struct gpu *g, const void *at)
{
    return gpu_kernel_next(g, at);
}

/* --- the table of tables ---------------------------------------------------------- */

struct listing {
    const char *name, *what;
    const void *rows;
    size_t row_size;
    void (*describe)(json_t *row, const void *of);
    const void *(*next)(const struct gpu *g, const void *at); /* instead of rows ... */
    bool module;                                              /* ... from the module */
};

#define LISTING(name, what, rows, describe)                                              \
    {                                                                                    \
        name, what, rows, sizeof(rows)[0], describe, NULL, false                         \
    }

static const struct listing listings[] = {
    LISTING("units", "matrix units and how each rounds", units, describe_unit),
    { "summations", "how a step adds products, and which fields of a unit it reads", NULL,
      0, describe_summation, next_summation, false },
    LISTING("chips", "names for the units of an architecture", chips, describe_chip),
    LISTING("formats", "floating-point formats", formats, describe_format),
    LISTING("roundings", "rounding rules", roundings, describe_nothing),
    LISTING("splits", "ways to make short words of an FP32 value", splits,
            describe_split),
    LISTING("recipes", "whole GEMMs made of instructions", recipes, describe_recipe),
    LISTING("inputs", "families of input matrices", inputs, describe_input),
    LISTING("pairs", "families for A and B that belong together", input_pairs,
            describe_pair),
    LISTING("metrics", "measures of error", metrics, describe_metric),
    LISTING("studies", "questions with a figure or table as answer", studies,
            describe_nothing),
    LISTING("benches", "what bench gpu runs: kernels on shapes", bench_studies,
            describe_bench),
    LISTING("shapes", "sets of m, n and k for bench gpu", shape_sets, describe_shapes),
    LISTING("variants", "ways to issue one instruction on a device", gpu_variants,
            describe_nothing),
    { "instructions", "single instructions that a device can record", NULL, 0,
      describe_instruction, next_instruction, true },
    { "kernels", "whole GEMMs that a device can run", NULL, 0, describe_kernel,
      next_kernel, true },
    { "devices", "what GEMMs can run on, and why the others are not there", NULL, 0, NULL,
      NULL, false },
    { 0 }
};

static int list_tables(struct context *x)
{
    for (const struct listing *l = listings; l->name; l++)
        emit_row(&x->emitter, json_pack("{s:s, s:s}", "name", l->name, "what", l->what));
    return EXIT_GOOD;
}

static int list_next(struct context *x, const struct listing *l)
{
    const void *row = NULL;
    struct gpu gpu;
    struct fault f;
    if (l->module && place_open_module(&gpu, &f) != BITCUT_OK) return fail("list", &f);
    while ((row = l->next(&gpu, row))) print_row(x, row, l->describe);
    if (l->module) gpu_close(&gpu);
    return EXIT_GOOD;
}

static void print_device(struct context *x, json_t *name, const char *what,
                         const char *why)
{
    emit_row(&x->emitter,
             json_pack("{s:o, s:b, s:o, s:o}", "name", name, "here", why == NULL, "why",
                       why ? json_text(why) : json_null(), "what", json_text(what)));
}

/* Those of an open module: all, or why there is none. */
static void list_devices_of(struct context *x, const struct gpu *g,
                            const struct gpu_backend *b)
{
    struct gpu_device device;
    struct fault f;
    int number = 0;
    for (; gpu_describe(&device, g, number, &f) == BITCUT_OK; number++)
        print_device(
            x, number ? json_sprintf("%s:%d", b->name, number) : json_string(b->name),
            device.name, NULL);
    if (!number) print_device(x, json_string(b->name), b->what, f.text);
}

static int list_devices(struct context *x)
{
    struct gpu gpu;
    struct fault f;
    print_device(x, json_string("emulator"), "this program, by the units' models", NULL);
    for (const struct gpu_backend *b = gpu_backends; b->name; b++)
        if (!b->built_in) print_device(x, json_string(b->name), "", b->what);
        else if (place_open_module(&gpu, &f) != BITCUT_OK)
            print_device(x, json_string(b->name), b->what, f.text);
        else {
            list_devices_of(x, &gpu, b);
            gpu_close(&gpu);
        }
    return EXIT_GOOD;
}

static int run(struct context *x)
{
    if (x->operand_count == 0) return list_tables(x);
    const struct listing *l = table_find(TABLE(listings), x->operands[0]);
    if (!l) return fail_unknown("list", x->operands[0], TABLE(listings));
    if (l->next) return list_next(x, l);
    if (!l->describe) return list_devices(x);
    const struct table rows = { l->rows, l->row_size };
    const struct table_row *of = NULL;
    while ((of = table_next(rows, of))) print_row(x, of, l->describe);
    return EXIT_GOOD;
}

static const struct option_row options[] = { { 0 } };

const struct command command_list = {
    .name = "list",
    .what = "Print the rows of a table: units, formats, splits, recipes, inputs and more",
    .run = run,
    .own = options,
    .operands = "[TABLE]",
    .operands_most = 1,
};
