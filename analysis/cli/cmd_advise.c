/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut advise: which recipe on which chip multiplies given matrices well enough, and of
   several products each. */
#include "analysis/advise/advise.h"
#include "analysis/cli/advise_say.h"
#include "analysis/cli/advise_values.h"
#include "analysis/cli/say.h"
#include "analysis/cli/setup.h"
#include "emu/way.h"
#include "lib/bits.h"
#include "lib/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WANT_UNSET 0x7fc0be7au /* a NaN nobody can ask for by its decimal text */

static const char *recipe_name;
static struct option_texts a_paths, b_paths;
static uint32_t largest[2]; /* beyond the matrices; 0: none */
static const char *metric_name = "relres";
static uint32_t want = WANT_UNSET;
static struct option_texts units_asked;

static const struct option_row options[] = {
    { "a", "A, .npy or .mtx; may be repeated, for several products", OPTION_TEXTS,
      &a_paths, "FILE" },
    { "b", "B, one for each A (default: A transposed)", OPTION_TEXTS, &b_paths, "FILE" },
    { "largest-a",
      "largest magnitude that A has elsewhere: words that overflow there will not do",
      OPTION_F32, &largest[0], "X" },
    { "largest-b", "likewise of B", OPTION_F32, &largest[1], "X" },
    { "want", "error that will do (default 1e-6; of backward_max 16 u)", OPTION_F32,
      &want, "X" },
    { "metric", "of that error: relres or backward_max (default relres)", OPTION_TEXT,
      &metric_name, "M" },
    { "unit",
      "to look at (bitcut list chips, units; default: all chips); may be repeated",
      OPTION_TEXTS, &units_asked, "U" },
    { "recipe", "to look at alone (bitcut list recipes)", OPTION_TEXT, &recipe_name,
      "R" },
    VERBOSE_OPTION,
    { 0 }
};

/* --- what is asked ---------------------------------------------------------------- */

static_assert((int)ADVISE_PLACES_MOST >= (int)OPTION_TEXTS_MOST, "all --unit fit");

/* A question with all that it points to. */
struct work {
    size_t pairs; /* of matrices */
    struct matrix a[OPTION_TEXTS_MOST], b[OPTION_TEXTS_MOST];
    struct advise_samples samples[OPTION_TEXTS_MOST];
    const char *place[ADVISE_PLACES_MOST];
    struct advise_question q;
    struct advise_values values[2];
    struct advise found;
};

static void work_clear(struct work *w)
{
    for (size_t i = 0; i < w->pairs; i++) {
        matrix_clear(&w->a[i]);
        matrix_clear(&w->b[i]);
        advise_samples_clear(&w->samples[i]);
    }
    for (int i = 0; i < 2; i++) advise_values_clear(&w->values[i]);
    advise_clear(&w->found);
}

/* The chips or units named; else the first chip of every architecture. */
static int take_places(struct work *w)
{
    for (int i = 0; i < units_asked.count; i++) {
        const char *const name = units_asked.text[i];
        if (!table_find(TABLE(chips), name) && !table_find(TABLE(units), name))
            return fail_unit(name, true);
        w->place[w->q.places++] = name;
    }
    if (!units_asked.count) w->q.places = advise_places(w->place);
    w->q.place = w->place;
    return EXIT_GOOD;
}

static int transpose(struct matrix *to, const struct matrix *from)
{
    struct fault f;
    if (matrix_init(to, from->cols, from->rows, &f) != BITCUT_OK) return fail("-a", &f);
    for (size_t i = 0; i < from->rows; i++)
        for (size_t j = 0; j < from->cols; j++)
            to->at[j * from->rows + i] = from->at[i * from->cols + j];
    return EXIT_GOOD;
}

/* Matrices of one product; without -a the first is missed. */
static int take_pair(struct matrix *a, struct matrix *b, int i)
{
    struct fault f;
    int status = setup_read(a, "-a", a_paths.text[i]);
    if (status == EXIT_GOOD)
        status =
            b_paths.count ? setup_read(b, "-b", b_paths.text[i]) : transpose(b, a);
    if (status != EXIT_GOOD) return status;
    if (a->cols != b->rows) {
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "A is %zu x %zu but B is %zu x %zu: columns of A must be rows of B",
                  a->rows, a->cols, b->rows, b->cols);
        return fail("matrices", &f);
    }
    if (!a->rows || !a->cols || !b->cols)
        return complain("matrices", "there is nothing to multiply");
    return EXIT_GOOD;
}

static int take_matrices(struct work *w)
{
    int status = EXIT_GOOD;
    if (b_paths.count && b_paths.count != a_paths.count)
        return complain("-b", "needs as many files as -a, or none");
    do {
        const size_t i = w->pairs++;
        status = take_pair(&w->a[i], &w->b[i], (int)i);
    } while (status == EXIT_GOOD && (int)w->pairs < a_paths.count);
    return status;
}

/* A magnitude that an option says: finite. */
static int check_largest(void)
{
    for (int i = 0; i < 2; i++) {
        largest[i] &= 0x7fffffff;
        if (largest[i] >= 0x7f800000)
            return complain(i ? "--largest-b" : "--largest-a", "must be finite");
    }
    return EXIT_GOOD;
}

static int take(struct work *w, const struct context *x)
{
    w->q.metric = table_find(TABLE(weighed_metrics), metric_name);
    if (!w->q.metric)
        return fail_unknown("--metric", metric_name, TABLE(weighed_metrics));
    w->q.want = want == WANT_UNSET ? w->q.metric->want : value_of_float(want);
    w->q.seed = x->seed;
    w->q.recipe = bitcut_recipe_find(recipe_name);
    if (!(w->q.want > 0)) return complain("--want", "must be above 0");
    if (recipe_name && !w->q.recipe)
        return fail_unknown("--recipe", recipe_name, TABLE(recipes));
    int status = check_largest();
    if (status == EXIT_GOOD) status = take_places(w);
    return status == EXIT_GOOD ? take_matrices(w) : status;
}

/* --- what is found ---------------------------------------------------------------- */

/* Whether both have the same units, and products cost the same there. */
static bool are_alike(const struct chip *x, const struct chip *y)
{
    return !strcmp(x->architecture, y->architecture) &&
           (x->rates && y->rates ? !strcmp(x->rates, y->rates) : x->rates == y->rates);
}

/* All chips of the architecture and rates of a place, or its name. */
static json_t *chips_json(const char *place)
{
    const struct chip *const chip = table_find(TABLE(chips), place);
    char names[1000] = "";
    for (const struct chip *c = chips; chip && c->name; c++)
        if (are_alike(c, chip))
            text_append(names, sizeof names, c->name);
    return json_string(chip ? names : place);
}

/* Products of two numbers, of all. */
static double count_products(const struct work *w)
{
    double products = 0;
    for (size_t i = 0; i < w->pairs; i++)
        products +=
            (double)w->a[i].rows * (double)w->b[i].cols * (double)w->a[i].cols;
    return products;
}

static json_t *trial_json(const struct work *w, const struct advise_trial *t)
{
    const double products = count_products(w);
    char line[WAY_MOST];
    way_write(line, &t->gemm);
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:i, s:b, s:i, s:o, s:f, s:o, s:o, s:o, s:o, "
        "s:o, s:b}",
        "gemm", line, "place", w->q.place[t->place], "chips",
        chips_json(w->q.place[t->place]), "unit",
        t->gemm.unit->name, "evidence", unit_evidence(t->gemm.unit), "recipe",
        t->gemm.recipe->name, "split", t->plan.split_a.name, "scale",
        t->plan.split_a.scale, "equilibrate", (int)t->gemm.equilibrate, "terms",
        t->plan.terms, "products", json_number(t->plan.terms * products), "cost", t->cost,
        "tflops", t->tflops > 0 ? json_real(t->tflops) : json_null(), "error",
        json_number(t->error.value), "high", json_number(t->error.high), "checked",
        isnan(t->checked) ? json_null() : json_number(t->checked), "bound",
        isnan(t->bound) ? json_null() : json_number(t->bound), "reaches",
        (int)t->reaches);
}

/* Of each place what is advised there. */
static json_t *places_json(const struct work *w)
{
    json_t *list = json_array();
    for (size_t p = 0; p < w->q.places; p++)
        if (w->found.best[p] != ADVISE_NONE)
            json_array_append_new(list, trial_json(w, &w->found.trial[w->found.best[p]]));
    return list;
}

static json_t *trials_json(const struct work *w)
{
    json_t *list = json_array();
    for (size_t i = 0; i < w->found.trials; i++)
        json_array_append_new(list, trial_json(w, &w->found.trial[i]));
    return list;
}

/* --- 2^10, 2^11, or equilibration ------------------------------------------------- */

/* Where scales are compared: on what is advised, or else where words of f16 can be. */
static const struct bitcut_unit *unit_of_f16(const struct work *w)
{
    const struct bitcut_format *const f16 = &formats[FORMAT_F16];
    const ptrdiff_t choice = w->found.choice;
    const struct bitcut_unit *u =
        choice == ADVISE_NONE ? NULL
                              : unit_find(w->q.place[w->found.trial[choice].place], f16);
    for (size_t p = 0; p < w->q.places && !(u && u->a == f16); p++)
        u = unit_find(w->q.place[p], f16);
    return u && u->a == f16 ? u : NULL;
}

/* One way to scale: what it errs by, and what words keep. */
static int scale_json(json_t *list, struct work *w, const struct bitcut_recipe *r,
                      const struct bitcut_unit *u, int scale, bool equilibrate,
                      const struct context *x)
{
    struct advise_trial t = { .gemm = gemm_of(r, u) };
    struct retention kept[2] = { { .count = 0 }, { .count = 0 } };
    struct fault f;
    t.gemm.scale = scale;
    t.gemm.equilibrate = equilibrate;
    if (gemm_plan_on_unit(&t.plan, &t.gemm, NULL) != BITCUT_OK) return EXIT_GOOD;
    if (advise_try(&t, w->samples, w->pairs, x->threads, &x->progress, &f) != BITCUT_OK)
        return fail("advise", &f);
    for (int i = 0; i < 2; i++)
        if (advise_values_all(&kept[i], &w->values[i], &t.plan.split_a, scale,
                              u->flush_inputs, equilibrate, x, &f) != BITCUT_OK)
            return fail("advise", &f);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                        "recipe", r->name, "unit", u->name, "scale", scale, "equilibrate",
                        (int)equilibrate, "error", json_number(t.error.value), "bits_a",
                        json_number(kept[0].bits), "bits_b", json_number(kept[1].bits),
                        "overflow_a", json_number(kept[0].p_overflow), "overflow_b",
                        json_number(kept[1].p_overflow), "flushed_a",
                        json_number(kept[0].p_flushed), "flushed_b",
                        json_number(kept[1].p_flushed)));
    return EXIT_GOOD;
}

static int scales_json(json_t *row, struct work *w, const struct context *x)
{
    static const struct bitcut_recipe *const tried[] = { &recipes[RECIPE_OOTOMO],
                                                         &recipes[RECIPE_LEGEMM] };
    const struct bitcut_unit *const u = unit_of_f16(w);
    json_t *const list = json_array();
    int status = EXIT_GOOD;
    for (int i = 0; u && i < 2; i++)
        for (int way = 0; way < 3 && status == EXIT_GOOD; way++)
            status = scale_json(list, w, tried[i], u, way ? 11 : 10, way == 2, x);
    if (status == EXIT_GOOD) json_object_set_new(row, "scales", list);
    else json_decref(list);
    return status;
}

/* --- the row ---------------------------------------------------------------------- */

static int take_values(json_t *row, struct work *w)
{
    struct fault f;
    for (int i = 0; i < 2; i++) {
        if (advise_values_take(&w->values[i], i ? "B" : "A", i ? w->b : w->a, w->pairs,
                               i == 1, &f) != BITCUT_OK)
            return fail("advise", &f);
        json_object_set_new(row, i ? "values_b" : "values_a",
                            advise_values_json(&w->values[i]));
    }
    return EXIT_GOOD;
}

static int values_json(json_t *row, struct work *w, const struct context *x)
{
    struct fault f;
    const int status = take_values(row, w);
    if (status != EXIT_GOOD) return status;
    json_t *const kept = json_array();
    for (int i = 0; i < (b_paths.count ? 2 : 1); i++)
        if (advise_values_keep(kept, &w->values[i], &w->q, x, &f) != BITCUT_OK) {
            json_decref(kept);
            return fail("advise", &f);
        }
    json_object_set_new(row, "kept", kept);
    return EXIT_GOOD;
}

static json_t *describe(const struct work *w, const struct context *x)
{
    const size_t last = w->pairs - 1;
    return json_pack(
        "{s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "want", w->q.want, "metric",
        w->q.metric->name, "pairs", json_count(w->pairs), "m",
        json_count(w->a[last].rows), "n", json_count(w->b[last].cols), "k",
        json_count(w->a[last].cols), "input_a", json_text(a_paths.text[last]), "input_b",
        b_paths.count ? json_text(b_paths.text[last]) : json_null(), "seed",
        json_seed(x->seed), "transposed", (int)!b_paths.count);
}

/* Outputs of the first or of the second sample of every product. */
static size_t count_outputs(const struct work *w, bool second)
{
    size_t count = 0;
    for (size_t i = 0; i < w->pairs; i++) {
        const struct weighed *const x =
            second ? &w->samples[i].second : &w->samples[i].first;
        count += x->a.rows * x->b.cols;
    }
    return count;
}

/* Samples of every product; words are to hold what there is elsewhere, too. */
static enum bitcut_status draw(bool *all, struct work *w, const struct context *x,
                               struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *all = true;
    for (size_t i = 0; i < w->pairs && status == BITCUT_OK; i++) {
        struct advise_samples *const s = &w->samples[i];
        w->q.a = &w->a[i];
        w->q.b = &w->b[i];
        status = advise_samples_draw(s, &w->q, x->threads, &x->progress, f);
        for (int o = 0; o < 2; o++)
            if (largest[o] > s->largest[o]) s->largest[o] = largest[o];
        *all &= s->first.all;
    }
    return status;
}

static int advise(json_t *row, struct work *w, const struct context *x)
{
    struct fault f;
    bool all;
    if (draw(&all, w, x, &f) != BITCUT_OK ||
        advise_find(&w->found, &w->q, w->samples, w->pairs, x->threads, &x->progress,
                    &f) != BITCUT_OK)
        return fail("advise", &f);
    const ptrdiff_t choice = w->found.choice;
    json_object_update_new(
        row, json_pack("{s:o, s:o, s:b, s:o, s:o}", "outputs",
                       json_count(count_outputs(w, false)), "checks",
                       json_count(count_outputs(w, true)), "all", (int)all, "advice",
                       choice == ADVISE_NONE ? json_null()
                                             : trial_json(w, &w->found.trial[choice]),
                       "places", places_json(w)));
    return EXIT_GOOD;
}

static int work_on(json_t *row, struct work *w, const struct context *x)
{
    int status = advise(row, w, x);
    if (status == EXIT_GOOD) status = values_json(row, w, x);
    if (status == EXIT_GOOD) status = scales_json(row, w, x);
    if (status == EXIT_GOOD) json_object_set_new(row, "tried", trials_json(w));
    return status;
}

static int run(struct context *x)
{
    static struct work w;
    w = (struct work){ .q = { .places = 0 } };
    x->emitter.lines = advise_lines;
    x->emitter.verbose = say_verbose;
    int status = take(&w, x);
    if (status == EXIT_GOOD) {
        json_t *const row = describe(&w, x);
        status = work_on(row, &w, x);
        if (status == EXIT_GOOD) emit_row(&x->emitter, row);
        else json_decref(row);
        if (status == EXIT_GOOD && w.found.choice == ADVISE_NONE) status = EXIT_FOUND;
    }
    work_clear(&w);
    return status;
}

const struct command command_advise = {
    .name = "advise",
    .what = "Say which recipe on which chip is accurate enough for given matrices",
    .run = run,
    .own = options,
    .operands = "",
};
