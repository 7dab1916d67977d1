/* bitcut verify: a dumped GEMM result against the emulator, bit for bit. */
#include "analysis/metric.h"
#include "analysis/setup.h"
#include "analysis/show.h"

static const char *dump;

static const struct option_row options[] = { SETUP_OPTIONS,
                                             { "d", "the result to check, .npy or .mtx",
                                               OPTION_TEXT, &dump, "FILE" },
                                             { 0 } };

static json_t *first_difference(const struct matrix *want, const struct matrix *got,
                                size_t at)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    return json_pack("{s:[I,I], s:o, s:o, s:o}", "at", (json_int_t)(at / want->cols),
                     (json_int_t)(at % want->cols), "emulator",
                     show_encoding(f32, want->at[at]), "file",
                     show_encoding(f32, got->at[at]), "ulps",
                     json_integer((json_int_t)ulp_distance(want->at[at], got->at[at])));
}

static int report(struct context *x, const struct setup *s, const struct matrix *want,
                  const struct matrix *got)
{
    const size_t count = want->rows * want->cols;
    size_t mismatches = 0, first = 0;
    for (size_t i = 0; i < count; i++)
        if (want->at[i] != got->at[i] && !mismatches++) first = i;
    json_t *row = json_object();
    setup_describe(row, &s->gemm);
    json_object_update_new(
        row, json_pack("{s:I, s:I, s:o}", "compared", (json_int_t)count, "mismatches",
                       (json_int_t)mismatches, "first",
                       mismatches ? first_difference(want, got, first) : json_null()));
    emit_row(&x->emitter, row);
    return mismatches ? EXIT_FOUND : EXIT_GOOD;
}

static int compare(struct context *x, const struct setup *s, const struct matrix *got)
{
    struct matrix want = { 0 };
    struct fault f;
    if (got->rows != s->a.rows || got->cols != s->b.cols) {
        fault_set(&f, BITCUT_BAD_ARGUMENT, "D is %zu x %zu, not %zu x %zu", got->rows,
                  got->cols, s->a.rows, s->b.cols);
        return fail("matrices", &f);
    }
    int status = setup_run(&want, s, x);
    if (status == EXIT_GOOD) status = report(x, s, &want, got);
    matrix_clear(&want);
    return status;
}

static int run(struct context *x)
{
    struct setup s = { 0 };
    struct matrix got = { 0 };
    int status = setup_gemm(&s.gemm, x);
    if (status == EXIT_GOOD) status = setup_read(&s.a, "-a", setup_options.a);
    if (status == EXIT_GOOD) status = setup_read(&s.b, "-b", setup_options.b);
    if (status == EXIT_GOOD) status = setup_read(&got, "-d", dump);
    if (status == EXIT_GOOD) status = setup_finish(&s);
    if (status == EXIT_GOOD) status = compare(x, &s, &got);
    matrix_clear(&got);
    setup_clear(&s);
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .what = "Compare a GEMM result from a file with the emulator, bit for bit",
    .run = run,
    .own = options,
    .operands = "",
};
