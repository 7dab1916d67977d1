/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut advise: the recipe and the chip that multiply given matrices accurately enough.
 */
#include "analysis/cli/row_value.h"
#include "analysis/cli/setup.h"
#include "analysis/sampling/advise_text.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"

#include <assert.h>

#define WANT_UNSET 0x7fc0be7au /* a NaN that no decimal text gives */

struct advise_options {
    struct option_texts a, b, units;
    uint32_t largest[2]; /* in other data; 0: none */
    uint32_t want;
    const char *metric, *recipe, *quantize_a, *quantize_b, *format_d;
    struct matrix_options files;
    bool verbose, quantizers;
};

static const struct advise_options defaults = { .want = WANT_UNSET, .metric = "relres" };

static const struct option_row options[] = {
    { "a",
      "A, a file (.npy, .npz, .mtx, .safetensors, .pt; FILE:NAME for a member); may be "
      "repeated, for several products",
      OPTION(advise, a, TEXTS, "FILE") },
    { "b", "B, one for each A (default: A transposed)",
      OPTION(advise, b, TEXTS, "FILE") },
    MATRIX_OPTION_BOTH(advise, files),
    MATRIX_OPTIONS_AB(advise, files),
    { "largest-a",
      "largest magnitude of A in other data; splits that overflow there are rejected",
      OPTION(advise, largest[0], F32, "X") },
    { "largest-b", "the same for B", OPTION(advise, largest[1], F32, "X") },
    { "want", "required error (default 1e-6; for backward_max 16 u)",
      OPTION(advise, want, F32, "X") },
    { "metric", "metric of the error: relres or backward_max (default relres)",
      OPTION(advise, metric, TEXT, "M") },
    { "unit",
      "consider this chip or unit (bitcut list chips, units; default: all chips); may be "
      "repeated",
      OPTION(advise, units, TEXTS, "U") },
    { "recipe", "consider this recipe only (bitcut list recipes)",
      OPTION(advise, recipe, TEXT, "R") },
    { "quantize-a", "quantize A in every GEMM (bitcut list quantizers)",
      OPTION(advise, quantize_a, TEXT, "Q") },
    { "quantize-b", "quantize B in every GEMM", OPTION(advise, quantize_b, TEXT, "Q") },
    { "quantizers",
      "also try every quantizer, for A and B, on units that multiply its elements",
      OPTION(advise, quantizers, FLAG, NULL) },
    { "format-d", "format of D, to which results are rounded (bitcut list formats)",
      OPTION(advise, format_d, TEXT, "F") },
    VERBOSE_OPTION(advise),
    { 0 }
};

/* --- the input -------------------------------------------------------------------- */

static_assert((int)ADVISE_TARGETS_MAX >= (int)OPTION_TEXTS_MAX, "all --unit fit");

/* A problem with everything that it points to. */
struct work {
    struct matrix a[OPTION_TEXTS_MAX], b[OPTION_TEXTS_MAX];
    const char *target[ADVISE_TARGETS_MAX];
    struct advise_problem q;
};

static void work_clear(struct work *w)
{
    for (size_t i = 0; i < w->q.pairs; i++) {
        matrix_clear(&w->a[i]);
        matrix_clear(&w->b[i]);
    }
}

/* The named chips or units; otherwise the first chip of every architecture. */
static int take_places(struct work *w, const struct option_texts *units_asked)
{
    for (int i = 0; i < units_asked->count; i++) {
        const char *const name = units_asked->text[i];
        if (!table_find(TABLE(chips), name) && !table_find(TABLE(units), name))
            return fail_unit(name, true);
        w->target[w->q.targets++] = name;
    }
    if (!units_asked->count) w->q.targets = advise_targets(w->target);
    w->q.target = w->target;
    return EXIT_GOOD;
}

static int transpose(struct matrix *to, const struct matrix *from)
{
    struct fault f;
    if (matrix_init(to, from->cols, from->rows, &f) != BITCUT_OK) return fail("-a", &f);
    matrix_transpose(to->at, from->at, from->rows, from->cols);
    return EXIT_GOOD;
}

/* The matrices of one product.  Without -a the first one is reported as missing. */
static int take_pair(struct matrix *a, struct matrix *b, int i,
                     const struct advise_options *o)
{
    int status = setup_read(a, "-a", o->a.text[i], &o->files);
    if (status == EXIT_GOOD)
        status =
            o->b.count ? setup_read(b, "-b", o->b.text[i], &o->files) : transpose(b, a);
    return status == EXIT_GOOD ? setup_check_pair(a, b) : status;
}

static int take_matrices(struct work *w, const struct advise_options *o)
{
    int status = o->b.count ? EXIT_GOOD : matrix_unread("-b", &o->files);
    if (status != EXIT_GOOD) return status;
    if (o->b.count && o->b.count != o->a.count)
        return complain("-b", "must be given as often as -a, or not at all");
    do {
        const size_t i = w->q.pairs++;
        status = take_pair(&w->a[i], &w->b[i], (int)i, o);
    } while (status == EXIT_GOOD && (int)w->q.pairs < o->a.count);
    w->q.a = w->a;
    w->q.b = w->b;
    w->q.input_a = o->a.text[w->q.pairs - 1];
    w->q.input_b = o->b.count ? o->b.text[w->q.pairs - 1] : NULL;
    return status;
}

/* Read a finite magnitude from an option. */
static int take_largest(uint32_t to[2], const uint32_t largest[2])
{
    for (int i = 0; i < 2; i++) {
        to[i] = largest[i] & 0x7fffffff;
        if (to[i] >= 0x7f800000)
            return complain(i ? "--largest-b" : "--largest-a", "must be finite");
    }
    return EXIT_GOOD;
}

static int take_quantizers(struct advise_problem *q, const struct advise_options *o)
{
    const char *const name[] = { o->quantize_a, o->quantize_b };
    q->quantizers = o->quantizers;
    for (int i = 0; i < 2; i++) {
        const char *const option = i ? "--quantize-b" : "--quantize-a";
        q->quantizer[i] = bitcut_quantizer_find(name[i]);
        if (name[i] && !q->quantizer[i])
            return fail_unknown(option, name[i], TABLE(quantizers));
        if (name[i] && o->quantizers)
            return complain("--quantizers", "cannot be combined with --quantize-a or -b, "
                                            "which every GEMM has");
    }
    q->format_d = bitcut_format_find(o->format_d);
    if (o->format_d && !q->format_d)
        return fail_unknown("--format-d", o->format_d, TABLE(formats));
    if (q->format_d && !format_is_result(q->format_d))
        return complain("--format-d", "names a format that D of FP32 sums cannot have");
    return EXIT_GOOD;
}

static int take(struct work *w, const struct context *x)
{
    const struct advise_options *const o = x->own;
    w->q.metric = table_find(TABLE(norm_sample_metrics), o->metric);
    if (!w->q.metric)
        return fail_unknown("--metric", o->metric, TABLE(norm_sample_metrics));
    w->q.want = o->want == WANT_UNSET ? w->q.metric->want : value_of_float(o->want);
    w->q.seed = x->seed;
    w->q.values = true;
    w->q.recipe = bitcut_recipe_find(o->recipe);
    if (!(w->q.want > 0)) return complain("--want", "must be greater than 0");
    if (o->recipe && !w->q.recipe)
        return fail_unknown("--recipe", o->recipe, TABLE(recipes));
    int status = take_quantizers(&w->q, o);
    if (status == EXIT_GOOD) status = take_largest(w->q.largest, o->largest);
    if (status == EXIT_GOOD) status = take_places(w, &o->units);
    return status == EXIT_GOOD ? take_matrices(w, o) : status;
}

/* --- the answer ------------------------------------------------------------------- */

/* Prints messages and returns an exit status: EXIT_FOUND if nothing reaches the required
   error. */
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
    const struct advise_options *const o = x->own;
    struct work w = { .q = { .targets = 0 } };
    x->emitter.verbose = o->verbose;
    int status = take(&w, x);
    if (status == EXIT_GOOD) status = find(&w, x);
    work_clear(&w);
    return status;
}

const struct command command_advise = {
    .name = "advise",
    .what = "Recommend recipes and chips that are accurate enough for given matrices",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_CHOOSE,
    .first = true,
    .examples = {
        { "Find the recipe that is accurate enough on an H100",
          "bitcut advise -a a.npy -b b.npy --unit h100" },
        { "The same on every chip, for a larger error",
          "bitcut advise -a a.npy -b b.npy --want 1e-4" },
    },
};
