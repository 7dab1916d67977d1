/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/setup.h"

#include "analysis/accuracy/short_result.h"
#include "emu/gemm_fields.h"
#include "emu/gemm_text.h"
#include "lib/base/text.h"
#include "lib/gemm/configuration.h"
#include "lib/gemm/order.h"
#include "lib/gemm/sparsity.h"
#include "lib/io/json_record.h"

#include "lib/number/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_rounding(const struct bitcut_rounding **r, const char *option,
                        const char *name)
{
    if (!name) return EXIT_GOOD;
    const struct bitcut_rounding *found = bitcut_rounding_find(name);
    if (!found) return fail_unknown(option, name, TABLE(roundings));
    *r = found;
    return EXIT_GOOD;
}

static int check_scale(int scale)
{
    if (scale == SETUP_UNSET || (scale >= 0 && scale <= GEMM_SCALE_MAX))
        return EXIT_GOOD;
    return complain("--scale", "must be 0 to 60");
}

int setup_split(struct bitcut_split *split, const char *name, const char *high,
                const char *low, int scale)
{
    if (name) {
        const struct bitcut_split *row = bitcut_split_find(name);
        if (!row) return fail_unknown("--split", name, TABLE(splits));
        *split = *row;
    }
    if (set_rounding(&split->part[0].rounding, "--high", high)) return EXIT_USAGE;
    for (int i = 1; i < SPLIT_PARTS_MAX; i++)
        if (set_rounding(&split->part[i].rounding, "--low", low)) return EXIT_USAGE;
    if (scale != SETUP_UNSET) split->scale = scale;
    return check_scale(scale);
}

int setup_unit(const struct bitcut_unit **unit, const char *name,
               const struct bitcut_format *parts, const char *whose)
{
    *unit = unit_find(name, parts);
    if (*unit) return EXIT_GOOD;
    if (!table_find(TABLE(chips), name)) return fail_unit(name, true);
    struct fault f;
    fault_set(&f, BITCUT_BAD_ARGUMENT,
              "%s has no instruction for %s, the format of the parts of %s; choose "
              "another chip or recipe",
              name, parts->name, whose);
    return fail("--unit", &f);
}

static int fail_terms(const struct bitcut_recipe *r)
{
    struct fault f;
    char more[40] = "";
    if (r->dropped_term.a)
        snprintf(more, sizeof more, ", or %d with low*low", r->terms + 1);
    fault_set(&f, BITCUT_BAD_ARGUMENT,
              "recipe %s has %d terms%s", r->name, r->terms, more);
    return fail("--terms", &f);
}

/* What is wrong with the GEMM, with the splits that are possible if one was requested. */
static int fail_gemm(const struct setup *s, const struct fault *f)
{
    struct bitcut_gemm other = s->gemm;
    struct gemm_plan plan;
    struct fault more = *f;
    char names[120] = "";
    for (const struct bitcut_split *row = splits; row->name; row++) {
        other.split_a = other.split_b = row;
        if (gemm_plan_on_unit(&plan, &other, NULL) == BITCUT_OK)
            text_append(names, sizeof names, row->name);
    }
    if (s->options->split && *names)
        fault_set(&more, f->status, "%s; --split can be %s", f->text, names);
    return fail_about("--recipe", &more);
}

/* Options that set a field of the GEMM (lib/gemm/configuration.h): by name, or by a
   number in a range.  If a number can be out of range, the range is described in words.
 */
static const struct variation {
    const char *option, *field;
    size_t at; /* offset of the name or the number in struct setup_options */
    bool is_name;
    int least, most;
    const char *range;
} variations[] = {
#define AT(MEMBER) offsetof(struct setup_options, MEMBER)
    { "--split-k", "slices", AT(slices), false, 1, INT_MAX, "must be at least 1" },
    { "--promote", "promote", AT(promote), false, 0, INT_MAX,
      "must not be negative (0: never)" },
    { "--tile-k", "tile-k", AT(tile_k), false, 0, INT_MAX,
      "must not be negative (0: none)" },
    { "--split", "split-a", .at = AT(split), .is_name = true },
    { "--split", "split-b", .at = AT(split), .is_name = true },
    { "--split-a", "split-a", .at = AT(split_a), .is_name = true },
    { "--split-b", "split-b", .at = AT(split_b), .is_name = true },
    { "--high", "high", .at = AT(high), .is_name = true },
    { "--low", "low", .at = AT(low), .is_name = true },
    { "--sum-rounding", "sum-rounding", .at = AT(sum_rounding), .is_name = true },
    { "--round-seed", "round-seed", AT(round_seed), false, 0, INT_MAX,
      "must not be negative" },
    { "--scale", "scale", AT(scale), false, 0, GEMM_SCALE_MAX, "must be 0 to 60" },
    { "--epilogue", "epilogue", .at = AT(epilogue.epilogue), .is_name = true },
    { "--start", "start", .at = AT(epilogue.start), .is_name = true },
    { "--scaling", "scaling", .at = AT(epilogue.scaling), .is_name = true },
    { "--terms", "terms", AT(terms), false, INT_MIN, INT_MAX, NULL },
#undef AT
};

static int vary_name(struct bitcut_gemm *g, const struct variation *v, const char *name)
{
    const struct configuration_field *const field = configuration_find(v->field);
    if (!name || configuration_set(g, field, name) == CONFIGURATION_SET)
        return EXIT_GOOD;
    return fail_unknown(v->option, name, configuration_table(field));
}

static int vary_number(struct bitcut_gemm *g, const struct variation *v, int number)
{
    const struct configuration_field *const field = configuration_find(v->field);
    if (number == SETUP_UNSET) return EXIT_GOOD;
    if (number < v->least || number > v->most) return complain(v->option, v->range);
    return configuration_set_number(g, field, number) == CONFIGURATION_SET
               ? EXIT_GOOD
               : fail_terms(g->recipe);
}

static int vary(struct setup *s, const struct variation *v)
{
    const void *const at = (const char *)s->options + v->at;
    return v->is_name ? vary_name(&s->gemm, v, *(const char *const *)at)
                      : vary_number(&s->gemm, v, *(const int *)at);
}

int setup_open_gemm(struct setup *s, const char *name)
{
    const struct setup_options *const o = s->options;
    const struct bitcut_recipe *recipe = bitcut_recipe_find(name);
    if (!recipe) return fail_unknown("--recipe", name, TABLE(recipes));
    struct bitcut_gemm *const g = &s->gemm;
    *g = gemm_of(recipe, NULL);
    struct fault f;
    int status = EXIT_GOOD;
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++)
        if (status == EXIT_GOOD) status = vary(s, &variations[i]);
    if (status == EXIT_GOOD && o->unit)
        status = setup_unit(&g->unit, o->unit, way_parts(g), recipe->name);
    if (status != EXIT_GOOD) return status;
    if (o->order && order_read(&g->order, o->order, &f) != BITCUT_OK)
        return fail("--order", &f);
    const struct configuration_field *const old =
        o->order ? configuration_renamed(o->order) : NULL;
    if (old) warn_renamed("--order", old->was, old->name);
    g->alpha = o->alpha.f32;
    g->beta = o->beta.f32 != SETUP_BETA_UNSET ? o->beta.f32 : o->c ? F32_ONE : 0;
    g->equilibrate = o->equilibrate;
    status = quantize_options_read(s->quantized, g, &o->epilogue);
    if (status != EXIT_GOOD) return status;
    return matrix_option_format(&g->d.format, &o->files, MATRIX_D);
}

static enum bitcut_status plan_on_unit(struct setup *s, const struct bitcut_gemm *g,
                                       struct fault *f)
{
    return (s->takes_integers ? gemm_plan_on_any : gemm_plan_on_floats)(&s->plan, g, f);
}

int setup_plan(struct setup *s)
{
    struct fault f;
    if (plan_on_unit(s, &s->gemm, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail_gemm(s, &f);
}

/* D of a unit of integers is s32 unless an option says otherwise. */
static void choose_result(struct setup *s)
{
    struct bitcut_gemm *const g = &s->gemm;
    const struct epilogue_options *const e = &s->options->epilogue;
    if (!s->takes_integers || !g->unit || !format_is_integer(g->unit->c) || g->d.format ||
        e->scale_a || e->scale_b || e->quantize_a || e->quantize_b ||
        epilogue_has(g->epilogue, BITCUT_STEP_FLOAT))
        return;
    g->d.format = &formats[FORMAT_S32];
}

int setup_gemm(struct setup *s)
{
    const struct setup_options *const o = s->options;
    if (!o->recipe || !o->unit)
        return complain("--recipe, --unit",
                        "are both required, for example --recipe ootomo --unit a100");
    const int status = setup_open_gemm(s, o->recipe);
    if (status != EXIT_GOOD) return status;
    choose_result(s);
    return setup_plan(s);
}

int setup_read(struct matrix *m, const char *option, const char *path,
               const struct matrix_options *files)
{
    struct encoded_matrix x;
    struct fault f;
    const int status = matrix_read(&x, option, path, files);
    if (status != EXIT_GOOD) return status;
    return encoded_f32(m, &x, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

static const struct matrix_options *files_of(const struct setup *s)
{
    return s->options ? &s->options->files : s->files;
}

int setup_read_result(struct setup *s, struct matrix *d, const char *path)
{
    const int status = setup_read(d, "-d", path, files_of(s));
    if (status == EXIT_GOOD) setup_take_result(s, d);
    return status;
}

void setup_take_result(struct setup *s, struct matrix *d)
{
    s->gemm.d.format = d->format;
    s->d = d;
}

int setup_check_shape(const char *name, const struct matrix *m, size_t rows, size_t cols)
{
    struct fault f;
    const bool transposed = m->rows == cols && m->cols == rows;
    if (m->rows == rows && m->cols == cols) return EXIT_GOOD;
    fault_set(&f, BITCUT_BAD_ARGUMENT, "%s is %zu x %zu; expected %zu x %zu%s%s%s", name,
              m->rows, m->cols, rows, cols,
              transposed ? "; it looks transposed; write it by rows (NumPy: " : "",
              transposed ? name : "", transposed ? ".T)" : "");
    return fail("matrices", &f);
}

int setup_check_inner(const struct setup *s, bool has_a)
{
    struct fault f;
    char hint[80] = "the columns of A must match the rows of B";
    if (s->a.cols == s->b.rows) return EXIT_GOOD;
    if (!has_a) snprintf(hint, sizeof hint, "give -a, or -k %zu", s->b.rows);
    else if (s->a.cols == s->b.cols) strcpy(hint, "B looks transposed (NumPy: B.T)");
    else if (s->a.rows == s->b.rows) strcpy(hint, "A looks transposed (NumPy: A.T)");
    fault_set(&f, BITCUT_BAD_ARGUMENT, "A is %zu x %zu but B is %zu x %zu; %s", s->a.rows,
              s->a.cols, s->b.rows, s->b.cols, hint);
    return fail("matrices", &f);
}

int setup_check_pair(const struct matrix *a, const struct matrix *b)
{
    struct fault f;
    if (a->cols != b->rows) {
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "A is %zu x %zu but B is %zu x %zu; the columns of A must match the "
                  "rows of B",
                  a->rows, a->cols, b->rows, b->cols);
        return fail("matrices", &f);
    }
    if (!a->rows || !a->cols || !b->cols) return complain("matrices", "are empty");
    return EXIT_GOOD;
}

int setup_expand_c(struct matrix *c, size_t rows, size_t cols)
{
    struct matrix all;
    struct fault f;
    const bool is_row = c->rows == 1 && c->cols == cols && rows != 1,
               is_column = c->cols == 1 && c->rows == rows && cols != 1;
    if (!is_row && !is_column) return setup_check_shape("C", c, rows, cols);
    const size_t count = matrix_count(c);
    size_t lines;
    if (!size_multiply(&lines, count, rows))
        return fault_set(&f, BITCUT_NO_MEMORY, "not enough memory"), fail("C", &f);
    if (matrix_init(&all, lines, cols, &f) != BITCUT_OK) return fail("C", &f);
    for (size_t i = 0; i < lines; i++)
        for (size_t j = 0; j < cols; j++)
            all.at[i * cols + j] = c->at[is_row ? i / rows * cols + j : i];
    all.rows = rows;
    all.is_batch = c->is_batch;
    all.count = c->count;
    matrix_clear(c);
    *c = all;
    return EXIT_GOOD;
}

int setup_extend(struct setup *s, size_t m, size_t n, size_t k)
{
    struct fault f;
    struct bitcut_gemm taken;
    if (start_is_c(s->gemm.start) && !s->options->c)
        return complain("--start", "c and slice-c require -c");
    const int status =
        epilogue_options_apply(&s->gemm, &s->extra, &s->options->epilogue, m, n, k);
    if (status != EXIT_GOOD || !s->gemm.unit) return status;
    if (gemm_take(&taken, &s->gemm, &f) != BITCUT_OK) return fail_about("--recipe", &f);
    if (epilogue_check_operands(&s->gemm, &f) != BITCUT_OK)
        return fail_about("--epilogue", &f);
    if (!gemm_is_extended(&s->gemm)) return EXIT_GOOD;
    return plan_on_unit(s, &taken, &f) == BITCUT_OK ? EXIT_GOOD
                                                    : fail_about("--recipe", &f);
}

/* Check that a matrix of a file has integers of the format of the unit's operand; round
   one of a family to it. */
static int make_integers(struct matrix *m, const char *path, const char *option,
                         const struct bitcut_format *format)
{
    const struct bitcut_rounding *const to_range = split_plain(format).part[0].rounding;
    struct fault f;
    for (size_t i = 0; i < m->rows * m->cols; i++) {
        const uint32_t x = f32_through(format, to_range, m->at[i]);
        if (path && value_of_float(x) != value_of_float(m->at[i])) {
            fault_set(&f, BITCUT_BAD_FILE,
                      "element [%zu, %zu], %.9g, is not a value of %s", i / m->cols,
                      i % m->cols, value_of_float(m->at[i]), format->name);
            return fail(option, &f);
        }
        m->at[i] = x;
    }
    return EXIT_GOOD;
}

/* C of a GEMM of integers. */
static int read_integer_c(struct setup *s)
{
    const int status =
        matrix_read(&s->integer_c, "-c", s->options->c, &s->options->files);
    const struct matrix shape = { .rows = s->integer_c.rows, .cols = s->integer_c.cols };
    if (status != EXIT_GOOD) return status;
    if (s->integer_c.is_batch)
        return complain("-c", "must have two dimensions on a unit of integers");
    return setup_check_shape("C", &shape, s->a.rows, s->b.cols);
}

int setup_read_c(struct setup *s)
{
    if (!s->options->c) {
        if (!gemm_reads_c(&s->gemm)) return matrix_unread("-c", &s->options->files);
        return complain("--beta", "must be 0 without -c");
    }
    if (s->plan.integer) return read_integer_c(s);
    const int status = setup_read(&s->c, "-c", s->options->c, &s->options->files);
    return status == EXIT_GOOD ? setup_expand_c(&s->c, s->a.rows, s->b.cols) : status;
}

/* Read the groups; with --index there is one GEMM. */
static int take_groups(struct setup *s, struct matrix *const of[MATRICES])
{
    const struct matrix_options *const o = &s->options->files;
    const struct bitcut_gemm *const g = &s->gemm;
    const bool of_rows = o->offsets && o->index != SIZE_MAX,
               of_k = o->offsets_k && o->index != SIZE_MAX;
    int status = matrix_offsets(&s->offsets, &s->count, &s->a, o);
    if (status == EXIT_GOOD && of_rows && s->options->epilogue.bias_rows)
        status = complain("--index", "cannot be combined with --offsets and --bias-rows");
    if (status == EXIT_GOOD && of_rows && g->scale_a.lines)
        status =
            complain("--index", "cannot be combined with --offsets and factors of rows");
    if (status == EXIT_GOOD && of_k &&
        (factor_depth(&g->scale_a) || factor_depth(&g->scale_b)))
        status = complain(
            "--index", "cannot be combined with --offsets-k and factors of blocks of k");
    if (status == EXIT_GOOD) status = matrix_groups(of, s->offsets, s->count, o);
    s->is_batch = o->index == SIZE_MAX;
    if (s->is_batch) return status;
    free(s->offsets);
    s->offsets = NULL;
    s->count = 1;
    return status;
}

static int quantize_operands(struct setup *s)
{
    if (!s->quantized[0].quantizer && !s->quantized[1].quantizer) return EXIT_GOOD;
    if (s->a.is_batch || s->b.is_batch)
        return complain("--quantize-a, --quantize-b", "take arrays of two dimensions");
    return quantize_options_apply(s->quantized, &s->gemm, &s->extra, &s->a, &s->b);
}

int setup_tell(struct setup *s)
{
    struct fault f;
    struct bitcut_gemm taken;
    int status = setup_open_gemm(s, "plain");
    if (status == EXIT_GOOD) status = setup_check_inner(s, true);
    if (status == EXIT_GOOD) status = quantize_operands(s);
    if (status == EXIT_GOOD) status = setup_extend(s, s->a.rows, s->b.cols, s->a.cols);
    if (status != EXIT_GOOD) return status;
    return gemm_take(&taken, &s->gemm, &f) == BITCUT_OK ? EXIT_GOOD
                                                        : fail_about("--recipe", &f);
}

int setup_check_integers(struct setup *s, const struct setup_options *o)
{
    if (s->a.is_batch || s->b.is_batch || matrix_has_groups(&o->files))
        return complain("-a, -b", "must have two dimensions on a unit of integers");
    const int status = make_integers(&s->a, o->a, "-a", s->gemm.unit->a);
    return status == EXIT_GOOD ? make_integers(&s->b, o->b, "-b", s->gemm.unit->b)
                               : status;
}

/* Find the kept elements of a sparse A. */
static int take_sparsity(struct setup *s)
{
    const struct matrix_options *const o = &s->options->files;
    if (!matrix_is_sparse(o)) return EXIT_GOOD;
    if (!s->options->a)
        return complain(o->positions ? "--positions-a" : "--sparse-a",
                        "requires -a, a file");
    if (o->offsets_k)
        return complain("--offsets-k",
                        "cannot be combined with --sparse-a or --positions-a");
    s->gemm.sparsity = BITCUT_SPARSE_A;
    return matrix_sparse(&s->a, s->b.rows, o);
}

int setup_values(struct setup *s)
{
    struct fault f;
    struct gemm_plan plan;
    if (!s->plan.integer) return EXIT_GOOD;
    if (s->options->c)
        return complain("-c",
                        "does not apply to a bound or tolerance on a unit of integers");
    return gemm_plan_on_values(&plan, &s->gemm, &f) == BITCUT_OK ? EXIT_GOOD
                                                                 : fail("--unit", &f);
}

int setup_finish(struct setup *s)
{
    struct matrix none = { 0 };
    struct matrix *const of[MATRICES] = { &s->a, &s->b, &s->c, s->d ? s->d : &none };
    int status = take_sparsity(s);
    if (status == EXIT_GOOD) status = setup_check_inner(s, s->options->a);
    if (status == EXIT_GOOD) status = quantize_operands(s);
    if (status == EXIT_GOOD && s->plan.integer)
        status = setup_check_integers(s, s->options);
    if (status == EXIT_GOOD) status = setup_extend(s, s->a.rows, s->b.cols, s->a.cols);
    if (status == EXIT_GOOD) status = setup_read_c(s);
    if (status == EXIT_GOOD && s->d)
        status = setup_check_shape("D", s->d, s->a.rows, s->b.cols);
    if (status == EXIT_GOOD)
        status = matrix_has_groups(&s->options->files)
                     ? take_groups(s, of)
                     : matrix_batch(&s->is_batch, &s->count, of, &s->options->files);
    if (s->options->files.positions)
        s->gemm.positions =
            (struct bitcut_matrix){ .at = s->a.kept, .format = &formats[FORMAT_U8] };
    return status;
}

/* The distance from one matrix of a batch to the next. */
static size_t stride_of(const struct matrix *m)
{
    return matrix_count(m) > 1 ? m->rows * m->cols : 0;
}

struct bitcut_gemm setup_gemms(const struct setup *s, uint32_t *d)
{
    struct bitcut_gemm g = s->gemm;
    gemm_set_dense(&g, d, s->a.rows, s->b.cols, s->a.cols, s->a.at, s->b.at, s->c.at);
    g.count = s->is_batch ? s->count : 1;
    g.a.stride = stride_of(&s->a);
    sparsity_set(&g, &s->a);
    g.b.stride = stride_of(&s->b);
    g.c.stride = stride_of(&s->c);
    g.d.stride = g.m * g.n;
    if (s->integer_c.at) g.c = encoded_view(&s->integer_c);
    if (!s->offsets) return g;
    g.offsets = s->offsets;
    g.offsets_of_k = s->options->files.offsets_k;
    if (gemm_groups_rows(&g)) g.d.stride = 0;
    return g;
}

int setup_run_encoded(struct encoded_matrix *d, const struct setup *s,
                      const struct context *x)
{
    struct fault f;
    const struct bitcut_format *const format = matrix_format(&s->gemm.d);
    const struct gemm_options options = context_options(x);
    const enum bitcut_status made =
        s->is_batch && (!s->offsets || s->options->files.offsets_k)
            ? encoded_init_batch(d, s->count, s->a.rows, s->b.cols, format, &f)
            : encoded_init(d, s->a.rows, s->b.cols, format, &f);
    if (made != BITCUT_OK) return fail("D", &f);
    struct bitcut_gemm g = setup_gemms(s, d->at);
    g.d.format = d->format;
    if (gemm_check_matrices(&g, true, &f) == BITCUT_OK &&
        gemm_run(&g, &options, &f) == BITCUT_OK)
        return EXIT_GOOD;
    encoded_clear(d);
    return fail("gemm", &f);
}

int setup_run(struct matrix *d, const struct setup *s, const struct context *x)
{
    struct encoded_matrix e;
    struct fault f;
    const int status = setup_run_encoded(&e, s, x);
    if (status != EXIT_GOOD) return status;
    return encoded_f32(d, &e, &f) == BITCUT_OK ? EXIT_GOOD : fail("D", &f);
}

void setup_clear(struct setup *s)
{
    matrix_clear(&s->a);
    matrix_clear(&s->b);
    matrix_clear(&s->c);
    encoded_clear(&s->integer_c);
    epilogue_files_clear(&s->extra);
    free(s->offsets);
    s->offsets = NULL;
}

/* The unit of each term, unless all run on the GEMM's unit. */
static void describe_units(json_t *row, const struct bitcut_unit *unit,
                           const struct gemm_plan *p)
{
    bool same = true;
    for (int i = 0; i < p->terms; i++) same &= !p->unit[i] || p->unit[i] == unit;
    if (same) return;
    json_t *names = json_array();
    for (int i = 0; i < p->terms; i++)
        json_array_append_new(names, json_string(p->unit[i]->name));
    json_object_set_new(row, "units", names);
}

static json_t *planned_json(const struct gemm_plan *p,
                            const struct configuration_field *x)
{
    const struct configuration_value v = configuration_planned(p, x);
    if (x->kind == CONFIGURATION_LANES)
        return *v.lanes ? json_string(v.lanes) : json_null();
    if (x->kind == CONFIGURATION_SUM_ROUNDING && !v.text) return json_null();
    if (v.text) return json_string(v.text);
    return x->kind == CONFIGURATION_FLAG ? json_boolean(v.number)
                                         : json_integer(v.number);
}

void setup_describe(json_t *row, const struct bitcut_gemm *g, const struct gemm_plan *p)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    json_object_set_new(row, "recipe", json_string(p->recipe->name));
    json_object_set_new(row, "unit", json_string(g->unit->name));
    json_object_set_new(row, "evidence", json_string(unit_evidence(g->unit)));
    for (const struct configuration_field *x = configuration_fields; x->name; x++)
        json_object_set_new(row, x->key, planned_json(p, x));
    json_object_set_new(row, "alpha", json_number(format_to_double(f32, g->alpha)));
    json_object_set_new(row, "beta", json_number(format_to_double(f32, g->beta)));
    record_json(row, gemm_operand_fields, g);
    describe_units(row, g->unit, p);
}

struct gemm_description setup_description(const struct setup *s, const struct context *x,
                                          bool seeded)
{
    return (struct gemm_description){ .gemm = &s->gemm,
                                      .plan = &s->plan,
                                      .m = s->a.rows,
                                      .n = s->b.cols,
                                      .k = s->a.cols,
                                      .is_batch = s->is_batch,
                                      .count = s->count,
                                      .input_a = s->input_a,
                                      .input_b = s->input_b,
                                      .quantized = s->quantized,
                                      .seeded = seeded && s->drawn,
                                      .seed = x->seed };
}
