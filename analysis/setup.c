#include "analysis/setup.h"

#include "analysis/source.h"
#include "lib/fma.h"
#include "lib/text.h"

#include <stdio.h>
#include <string.h>

struct setup_options setup_options = {
    .alpha = F32_ONE,
    .beta = SETUP_BETA_UNSET,
    .scale = SETUP_UNSET,
    .terms = SETUP_UNSET,
    .promote = SETUP_UNSET,
    .tile_k = SETUP_UNSET,
    .slices = 1,
};

static int set_rounding(const struct bitcut_rounding **r, const char *option,
                        const char *name)
{
    if (!name) return EXIT_GOOD;
    const struct bitcut_rounding *found = bitcut_rounding_find(name);
    if (!found) return fail_unknown(option, name, TABLE(roundings));
    *r = found;
    return EXIT_GOOD;
}

int setup_split(struct bitcut_split *split, const char *name, const char *high,
                const char *low, int scale)
{
    if (name) {
        const struct bitcut_split *row = bitcut_split_find(name);
        if (!row) return fail_unknown("--split", name, TABLE(splits));
        *split = *row;
    }
    if (set_rounding(&split->high, "--high", high) ||
        set_rounding(&split->low, "--low", low))
        return EXIT_USAGE;
    if (scale == SETUP_UNSET) return EXIT_GOOD;
    if (scale < 0 || scale > 60) return complain("--scale", "must be 0 to 60");
    split->scale = scale;
    return EXIT_GOOD;
}

static int find_unit(const struct bitcut_unit **unit, const struct bitcut_recipe *recipe,
                     const struct bitcut_split *split)
{
    const struct bitcut_format *input =
        recipe->split || setup_options.split ? split->format : &formats[FORMAT_F16];
    *unit = unit_find(setup_options.unit, input);
    if (*unit) return EXIT_GOOD;
    if (!table_find(TABLE(chips), setup_options.unit))
        return fail_unit(setup_options.unit, true);
    struct fault f;
    fault_set(
        &f, BITCUT_BAD_ARGUMENT,
        "%s has no instruction for %s, the words of %s; choose another chip or recipe",
        setup_options.unit, input->name, recipe->name);
    return fail("--unit", &f);
}

/* Whether the numbers of the options can be, whatever the recipe. */
static int check_numbers(const struct setup_options *o)
{
    if (o->slices < 1) return complain("--split-k", "must be 1 or more");
    if (o->promote < 0 && o->promote != SETUP_UNSET)
        return complain("--promote", "cannot be negative; 0 is never");
    if (o->tile_k != SETUP_UNSET && o->tile_k < 0)
        return complain("--tile-k", "cannot be negative; 0 is none");
    return EXIT_GOOD;
}

static int fail_terms(const struct bitcut_recipe *r)
{
    struct fault f;
    char more[40] = "";
    if (r->low_low.a) snprintf(more, sizeof more, ", or %d with low*low", r->terms + 1);
    fault_set(&f, BITCUT_BAD_ARGUMENT,
              "the recipe does not have that many terms: %s has %d%s", r->name, r->terms,
              more);
    return fail("--terms", &f);
}

/* What is wrong with the GEMM, with the splits that would do if one was asked for. */
static int fail_gemm(const struct gemm *g, const struct fault *f)
{
    struct gemm other = *g;
    struct fault more = *f, unused;
    char names[120] = "";
    for (const struct bitcut_split *row = splits; row->name; row++) {
        other.split = *row;
        if (gemm_check(&other, &unused) == BITCUT_OK)
            text_append(names, sizeof names, row->name);
    }
    if (setup_options.split && *names)
        fault_set(&more, f->status, "%s; --split can be %s", f->text, names);
    return fail("--recipe", &more);
}

int setup_gemm(struct gemm *g, const struct context *x)
{
    const struct setup_options *o = &setup_options;
    if (!o->recipe || !o->unit)
        return complain("--recipe, --unit",
                        "both are needed, such as --recipe ootomo --unit a100");
    const struct bitcut_recipe *recipe = bitcut_recipe_find(o->recipe);
    if (!recipe) return fail_unknown("--recipe", o->recipe, TABLE(recipes));

    struct bitcut_split split = { 0 };
    if (recipe->split) split = *recipe->split;
    if (!recipe->split && !o->split && (o->high || o->low || o->scale != SETUP_UNSET))
        split = splits[SPLIT_HALF];
    int status = check_numbers(o);
    if (status == EXIT_GOOD)
        status = setup_split(&split, o->split, o->high, o->low, o->scale);
    const struct bitcut_unit *unit;
    if (status == EXIT_GOOD) status = find_unit(&unit, recipe, &split);
    if (status != EXIT_GOOD) return status;

    struct fault f;
    if (!split.name) split = split_plain(unit->a);
    *g = gemm_of(recipe, unit);
    g->split = split;
    g->alpha = o->alpha;
    g->beta = o->beta != SETUP_BETA_UNSET ? o->beta : o->c ? F32_ONE : 0;
    g->threads = x->threads;
    g->slices = o->slices;
    g->equilibrate = o->equilibrate;
    if (o->promote != SETUP_UNSET) g->promote = o->promote;
    if (o->tile_k != SETUP_UNSET) g->tile_k = o->tile_k;
    if (o->terms != SETUP_UNSET) g->low_low = o->terms == g->recipe->terms + 1;
    if (o->terms != SETUP_UNSET && gemm_terms(g) != o->terms) return fail_terms(recipe);
    return gemm_check(g, &f) == BITCUT_OK ? EXIT_GOOD : fail_gemm(g, &f);
}

int setup_read(struct matrix *m, const char *option, const char *path)
{
    struct fault f;
    if (!path) return complain(option, "missing: A, B and D are needed, .npy or .mtx");
    return source_read(m, path, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

int setup_check_shape(const char *name, const struct matrix *m, size_t rows, size_t cols)
{
    struct fault f;
    const bool transposed = m->rows == cols && m->cols == rows;
    if (m->rows == rows && m->cols == cols) return EXIT_GOOD;
    fault_set(&f, BITCUT_BAD_ARGUMENT, "%s is %zu x %zu, not %zu x %zu%s%s%s", name,
              m->rows, m->cols, rows, cols,
              transposed ? ": it looks transposed; write it by rows (NumPy: " : "",
              transposed ? name : "", transposed ? ".T)" : "");
    return fail("matrices", &f);
}

/* A has as many columns as B has rows. */
static int check_inner(const struct setup *s)
{
    struct fault f;
    char hint[80] = "columns of A must be rows of B";
    if (s->a.cols == s->b.rows) return EXIT_GOOD;
    if (!setup_options.a) snprintf(hint, sizeof hint, "give -a, or -k %zu", s->b.rows);
    else if (s->a.cols == s->b.cols) strcpy(hint, "B looks transposed (NumPy: B.T)");
    else if (s->a.rows == s->b.rows) strcpy(hint, "A looks transposed (NumPy: A.T)");
    fault_set(&f, BITCUT_BAD_ARGUMENT, "A is %zu x %zu but B is %zu x %zu: %s", s->a.rows,
              s->a.cols, s->b.rows, s->b.cols, hint);
    return fail("matrices", &f);
}

int setup_finish(struct setup *s)
{
    int status = check_inner(s);
    if (status != EXIT_GOOD) return status;
    if (!setup_options.c) {
        if ((s->gemm.beta & 0x7fffffff) == 0) return EXIT_GOOD;
        return complain("--beta", "is not zero, but there is no -c");
    }
    status = setup_read(&s->c, "-c", setup_options.c);
    if (status != EXIT_GOOD) return status;
    return setup_check_shape("C", &s->c, s->a.rows, s->b.cols);
}

int setup_run(struct matrix *d, const struct setup *s, const struct context *x)
{
    struct fault f;
    if (matrix_init(d, s->a.rows, s->b.cols, &f) != BITCUT_OK) return fail("D", &f);
    if (gemm_run(d->at, d->cols, &s->gemm, d->rows, d->cols, s->a.cols, s->a.at,
                 s->a.cols, s->b.at, s->b.cols, s->c.at, s->c.cols, &x->progress,
                 &f) == BITCUT_OK)
        return EXIT_GOOD;
    return fail("gemm", &f);
}

void setup_clear(struct setup *s)
{
    matrix_clear(&s->a);
    matrix_clear(&s->b);
    matrix_clear(&s->c);
}

void setup_describe(json_t *row, const struct gemm *g)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    json_t *what = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:i, s:i, s:i, s:i, s:o, s:o}",
        "recipe", g->recipe->name, "unit", g->unit->name, "evidence",
        unit_evidence(g->unit), "split", g->split.name, "high",
        g->split.high->name, "low", g->split.low->name, "scale", g->split.scale,
        "equilibrate", (int)g->equilibrate, "terms", gemm_terms(g), "promote",
        g->promote, "tile_k", g->tile_k, "split_k", g->slices, "alpha",
        json_number(format_to_double(f32, g->alpha)), "beta",
        json_number(format_to_double(f32, g->beta)));
    json_object_update_new(row, what);
}
