/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut advise: which recipe on which chip multiplies given matrices well enough, and of
   several products each. */
#include "analysis/advise/advise_say.h"
#include "analysis/cli/say.h"
#include "analysis/cli/setup.h"
#include "analysis/evidence/record_json.h"
#include "lib/bits.h"

#include <assert.h>

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
    struct matrix a[OPTION_TEXTS_MOST], b[OPTION_TEXTS_MOST];
    const char *place[ADVISE_PLACES_MOST];
    struct advise_question q;
};

static void work_clear(struct work *w)
{
    for (size_t i = 0; i < w->q.pairs; i++) {
        matrix_clear(&w->a[i]);
        matrix_clear(&w->b[i]);
    }
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
    int status = setup_read(a, "-a", a_paths.text[i]);
    if (status == EXIT_GOOD)
        status =
            b_paths.count ? setup_read(b, "-b", b_paths.text[i]) : transpose(b, a);
    return status == EXIT_GOOD ? setup_check_pair(a, b) : status;
}

static int take_matrices(struct work *w)
{
    int status = EXIT_GOOD;
    if (b_paths.count && b_paths.count != a_paths.count)
        return complain("-b", "needs as many files as -a, or none");
    do {
        const size_t i = w->q.pairs++;
        status = take_pair(&w->a[i], &w->b[i], (int)i);
    } while (status == EXIT_GOOD && (int)w->q.pairs < a_paths.count);
    w->q.a = w->a;
    w->q.b = w->b;
    w->q.input_a = a_paths.text[w->q.pairs - 1];
    w->q.input_b = b_paths.count ? b_paths.text[w->q.pairs - 1] : NULL;
    return status;
}

/* A magnitude that an option says: finite. */
static int take_largest(uint32_t to[2])
{
    for (int i = 0; i < 2; i++) {
        to[i] = largest[i] & 0x7fffffff;
        if (to[i] >= 0x7f800000)
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
    w->q.values = true;
    w->q.recipe = bitcut_recipe_find(recipe_name);
    if (!(w->q.want > 0)) return complain("--want", "must be above 0");
    if (recipe_name && !w->q.recipe)
        return fail_unknown("--recipe", recipe_name, TABLE(recipes));
    int status = take_largest(w->q.largest);
    if (status == EXIT_GOOD) status = take_places(w);
    return status == EXIT_GOOD ? take_matrices(w) : status;
}

/* --- the answer ------------------------------------------------------------------- */

/* Prints and returns an exit status: EXIT_FOUND, nothing reaches it. */
static int find(const struct work *w, struct context *x)
{
    struct advise found;
    struct fault f;
    if (advise_find(&found, &w->q, x->threads, &x->progress, &f) != BITCUT_OK)
        return fail("advise", &f);
    json_t *const row = json_object();
    record_json(row, advise_fields, &found);
    emit_answer(&x->emitter, row, advise_lines, &found);
    const int status = found.choice ? EXIT_GOOD : EXIT_FOUND;
    advise_clear(&found);
    return status;
}

static int run(struct context *x)
{
    struct work w = { .q = { .places = 0 } };
    x->emitter.verbose = say_verbose;
    int status = take(&w, x);
    if (status == EXIT_GOOD) status = find(&w, x);
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
