/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut advise: the recipe and the chip that multiply given matrices accurately enough.
 */
#include "analysis/cli/fp64_advise.h"
#include "analysis/cli/row_value.h"
#include "analysis/cli/setup.h"
#include "analysis/sampling/advise_text.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WANT_UNSET 0x7fc0be7au /* a NaN that no decimal text gives */

struct advise_options {
    struct option_texts a, b, units;
    uint32_t largest[2]; /* in other data; 0: none */
    uint32_t want;
    const char *metric, *recipe, *format_d;
    struct setup_options setup; /* what files hold; C, alpha, beta and the epilogue */
    bool verbose, quantizers, fp64;
};

static const struct advise_options defaults = { .want = WANT_UNSET,
                                                .metric = "relres",
                                                .setup = SETUP_BATCH_DEFAULTS };

static const struct option_row options[] = {
    { "a",
      "A, a file (.npy, .npz, .mtx, .safetensors, .pt; FILE:NAME for a member); may be "
      "repeated, for several products",
      OPTION(advise, a, TEXTS, "FILE") },
    { "b", "B, one for each A (default: A transposed)",
      OPTION(advise, b, TEXTS, "FILE") },
    { "c", "C from a file; one row or column stands for all (default: no C)",
      OPTION(advise, setup.c, TEXT, "FILE") },
    { "alpha", "factor of A B (default 1)", OPTION(advise, setup.alpha, NUMBER, "X") },
    { "beta", "factor of C (default 0, or 1 with -c)",
      OPTION(advise, setup.beta, NUMBER, "X") },
    MATRIX_OPTION_BOTH(advise, setup.files),
    MATRIX_OPTIONS_AB(advise, setup.files),
    MATRIX_OPTIONS_C(advise, setup.files),
    { "largest-a",
      "largest magnitude of A in other data; splits that overflow there are rejected",
      OPTION(advise, largest[0], F32, "X") },
    { "largest-b", "the same for B", OPTION(advise, largest[1], F32, "X") },
    { "fp64",
      "A and B are FP64: find the scheme with the fewest slices or moduli, or say that "
      "DGEMM is not needed (default --want: the error of FP64 multiply-adds)",
      OPTION(advise, fp64, FLAG, NULL) },
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
    MATRIX_OPTIONS_OFFSETS(advise, setup.files),
    MATRIX_OPTION_INDEX(advise, setup.files),
    MATRIX_OPTIONS_SPARSE(advise, setup.files),
    EPILOGUE_OPTIONS(advise),
    ZERO_OPTIONS_AB(advise),
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
    struct setup_options own; /* of the last pair of files */
    struct setup s;           /* of the last pair, whose matrices are in `of` */
    struct gemm_data *of;
    const char *target[ADVISE_TARGETS_MAX];
    char options[1 << 12]; /* of alpha, beta, C, the steps and their operands */
    struct advise_problem q;
};

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
    const struct epilogue_options *const e = &o->setup.epilogue;
    const char *const name[] = { e->quantize_a, e->quantize_b };
    q->quantizers = o->quantizers;
    for (int i = 0; i < 2; i++) {
        const char *const option = i ? "--quantize-b" : "--quantize-a";
        q->quantizer[i] = bitcut_quantizer_find(name[i]);
        if (name[i] && !q->quantizer[i])
            return fail_unknown(option, name[i], TABLE(quantizers));
        if (name[i] && o->quantizers)
            return complain(option, "cannot be combined with --quantizers");
    }
    if (q->quantizers && (e->scale_a || e->scale_b))
        return complain("--quantizers", "cannot be combined with --scale-a or --scale-b");
    q->format_d = bitcut_format_find(o->format_d);
    if (o->format_d && !q->format_d)
        return fail_unknown("--format-d", o->format_d, TABLE(formats));
    if (q->format_d && !format_is_result(q->format_d))
        return complain("--format-d", "names a format that D of FP32 sums cannot have");
    return EXIT_GOOD;
}

/* The GEMM as it is asked for; quantized operands have factors. */
static int check_gemm(const struct work *w)
{
    static const uint32_t one = F32_ONE;
    const struct bitcut_scales some = { .at.at = &one };
    struct bitcut_gemm g = w->s.gemm, taken;
    struct fault f;
    if (w->q.quantizers) return EXIT_GOOD; /* with factors, and without */
    if (w->q.quantizer[0]) g.scale_a = some;
    if (w->q.quantizer[1]) g.scale_b = some;
    if (gemm_take(&taken, &g, &f) != BITCUT_OK) return fail_about("--recipe", &f);
    if (epilogue_check_operands(&g, &f) != BITCUT_OK) return fail_about("--epilogue", &f);
    return EXIT_GOOD;
}

/* A and B of one pair of files. */
static int read_pair(struct setup *s)
{
    const struct setup_options *const o = s->options;
    int status = setup_read(&s->a, "-a", o->a, &o->files);
    if (status != EXIT_GOOD) return status;
    if (o->b) return setup_read(&s->b, "-b", o->b, &o->files);
    if (s->a.is_batch || matrix_has_groups(&o->files) || o->files.positions)
        return complain("-b", "is required with a batch, groups or --positions-a");
    return transpose(&s->b, &s->a);
}

/* Append the products of one pair of files, whose elements have their formats. */
static int append(struct work *w, const struct bitcut_gemm *g, int threads)
{
    struct gemm_data *more, *all;
    size_t count;
    struct fault f;
    if (advise_take_operands(&more, &count, g, threads, &f) != BITCUT_OK)
        return fail("matrices", &f);
    all = memory_allocate(w->q.pairs + count, sizeof *all);
    if (!all) {
        advise_clear_operands(more, count);
        return fault_set(&f, BITCUT_NO_MEMORY, "not enough memory"), fail("matrices", &f);
    }
    const int32_t zero[] = { g->zero_a, g->zero_b };
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        more[i].a.format = w->s.a.format;
        more[i].b.format = w->s.b.format;
        status = matrix_subtract_both(&more[i].a, &more[i].b, zero, &f);
    }
    if (status != BITCUT_OK) {
        advise_clear_operands(more, count);
        free(all);
        return fail(*zero ? "--zero-a" : "--zero-b", &f);
    }
    if (w->of) memcpy(all, w->of, w->q.pairs * sizeof *all);
    memcpy(all + w->q.pairs, more, count * sizeof *all);
    free(w->of);
    free(more);
    w->q.of = w->of = all;
    w->q.pairs += count;
    return EXIT_GOOD;
}

/* The products of pair i of files, with C, the bias and the factors.  Without -a it is
   reported as missing. */
static int take_pair(struct work *w, int i, const struct context *x)
{
    const struct advise_options *const o = x->own;
    struct setup *const s = &w->s;
    setup_clear(s);
    *s = (struct setup){ .options = &w->own };
    w->own.a = o->a.text[i];
    w->own.b = o->b.count ? o->b.text[i] : NULL;
    int status = setup_open_gemm(s, "plain");
    if (status != EXIT_GOOD) return status;
    s->gemm.recipe = NULL;
    s->gemm.d.format = w->q.format_d;
    s->quantized[0].quantizer = s->quantized[1].quantizer = NULL; /* trials have them */
    status = read_pair(s);
    if (status == EXIT_GOOD) status = setup_finish(s);
    if (status == EXIT_GOOD) status = check_gemm(w);
    if (status != EXIT_GOOD) return status;
    const struct bitcut_gemm g = setup_gemms(s, NULL);
    status = append(w, &g, x->threads);
    s->gemm.positions = (struct bitcut_matrix){ .at = NULL }; /* A has them */
    matrix_clear(&s->a);
    matrix_clear(&s->b);
    return status;
}

/* Whether something is given that belongs to one pair of files. */
static bool is_of_one_pair(const struct setup_options *o)
{
    struct epilogue_options others = o->epilogue;
    others.quantize_a = others.quantize_b = NULL;
    return epilogue_options_given(&others) || o->c || o->files.positions ||
           matrix_has_groups(&o->files);
}

static int take_gemm(struct work *w, const struct context *x)
{
    static const char *const own[] = { "quantize-a", "quantize-b", "zero-a", "zero-b",
                                       NULL };
    const struct advise_options *const o = x->own;
    int status = o->b.count ? EXIT_GOOD : matrix_unread("-b", &o->setup.files), i = 0;
    w->own = o->setup;
    if (status != EXIT_GOOD) return status;
    if (o->b.count && o->b.count != o->a.count)
        return complain("-b", "must be given as often as -a, or not at all");
    if (o->a.count > 1 && is_of_one_pair(&o->setup))
        return complain("-a",
                        "must be given once with -c, a bias, factors, steps, groups "
                        "or --positions-a");
    do status = take_pair(w, i++, x);
    while (status == EXIT_GOOD && i < o->a.count);
    options_write(w->options, sizeof w->options, o, x->given, x->options,
                  offsetof(struct advise_options, setup),
                  offsetof(struct advise_options, setup) + sizeof o->setup, own);
    w->q.input_a = w->own.a;
    w->q.input_b = w->own.b;
    w->q.gemm = &w->s.gemm;
    w->q.options = w->options;
    return status;
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
    return status == EXIT_GOOD ? take_gemm(w, x) : status;
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

static int run_fp64(struct context *x)
{
    const struct advise_options *const o = x->own;
    if (o->a.count > 1 || o->b.count > 1)
        return complain("-a", "and -b must be given once with --fp64");
    return fp64_advise(x, &(struct fp64_advise){ .a = o->a.count ? o->a.text[0] : NULL,
                                                 .b = o->b.count ? o->b.text[0] : NULL,
                                                 .metric = o->metric,
                                                 .want = o->want == WANT_UNSET
                                                             ? NAN
                                                             : value_of_float(o->want),
                                                 .units = &o->units,
                                                 .files = &o->setup.files });
}

static int run(struct context *x)
{
    const struct advise_options *const o = x->own;
    struct work w = { .q = { .targets = 0 } };
    x->emitter.verbose = o->verbose;
    if (o->fp64) return run_fp64(x);
    int status = take(&w, x);
    if (status == EXIT_GOOD) status = find(&w, x);
    advise_clear_operands(w.of, w.q.pairs);
    setup_clear(&w.s);
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
