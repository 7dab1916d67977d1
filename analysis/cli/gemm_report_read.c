/* SPDX-License-Identifier: BSD-3-Clause */
/* The options and the matrices of a report about one GEMM. */
#include "analysis/cli/gemm_report_answers.h"

#include "analysis/cli/option.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <string.h>

/* --- options and matrices --------------------------------------------------------- */

/* Read an option that is a text; `to` stays unchanged without the text. */
static int read_option(void *to, const char *name, enum option_kind kind,
                       const char *text)
{
    const struct option_row row = { .name = name, .kind = kind };
    struct fault f;
    if (!text || option_set(to, &row, text, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail("report", &f);
}

/* Check the options before anything is computed. */
static int read_options(struct gemm_answers *a)
{
    const struct gemm_report_options *const o = a->o;
    const struct epilogue_options *const e = &o->setup.epilogue;
    uint32_t want = 0;
    if (e->zero_d) return complain("--zero-d", "requires a D of integers");
    if ((e->zero_a || e->zero_b) && (e->quantize_a || e->quantize_b))
        return complain(e->zero_a ? "--zero-a" : "--zero-b",
                        "cannot be combined with --quantize-a or --quantize-b");
    a->told = gemm_of(NULL, NULL);
    a->told.alpha = o->setup.alpha.f32;
    a->told.beta = o->setup.beta.f32 != SETUP_BETA_UNSET ? o->setup.beta.f32
                   : o->setup.c                          ? F32_ONE
                                                         : 0;
    a->seconds = 0;
    int status = read_option(&want, "want", OPTION_F32, o->want);
    if (status == EXIT_GOOD)
        status = read_option(&a->seconds, "seconds", OPTION_COUNT, o->seconds);
    if (status != EXIT_GOOD) return status;
    a->want = o->want ? value_of_float(want) : norm_sample_metrics[0].want;
    if (!(a->want > 0)) return complain("--want", "must be greater than 0");
    if (!f32_is_zero(a->told.beta) && !o->setup.c)
        return complain("--beta", "must be 0 without -c");
    return EXIT_GOOD;
}

/* --- reading ---------------------------------------------------------------------- */

/* With a result, matrices may be stored otherwise than they should: explain also tries
   transposed ones. */
static int check_matrices(struct gemm_answers *a)
{
    struct setup *const s = &a->s;
    if (a->d.at && s->a.cols != s->b.rows) return EXIT_GOOD;
    const int status = setup_check_pair(&s->a, &s->b);
    return status == EXIT_GOOD && s->c.at ? setup_expand_c(&s->c, s->a.rows, s->b.cols)
                                          : status;
}

/* The bias, the factors, the start and the steps, with what they leave open. */
static int read_told(struct gemm_answers *a)
{
    struct setup *const s = &a->s;
    struct problem q = { .unit = table_find(TABLE(units), a->o->setup.unit) };
    struct fault f;
    a->own = a->o->setup;
    a->own.unit = NULL; /* that of the result */
    a->own.epilogue.zero_a = a->own.epilogue.zero_b = NULL; /* read_zeros() */
    if (!epilogue_options_given(&a->own.epilogue) || s->a.cols != s->b.rows)
        return EXIT_GOOD;
    s->options = &a->own;
    const int status = setup_tell(s);
    if (status != EXIT_GOOD) return status;
    struct bitcut_gemm g = s->gemm;
    gemm_set_dense(&g, NULL, s->a.rows, s->b.cols, s->a.cols, s->a.at, s->b.at, s->c.at);
    if (problem_tell(&q, &g, &f) != BITCUT_OK) return fail("--epilogue", &f);
    a->tells = problem_is_told(&q);
    if (a->tells) a->told = q.told;
    a->steps_told = q.steps_told;
    a->scaling_told = q.scaling_told;
    return EXIT_GOOD;
}

/* The kept elements of a sparse A, which becomes an A with zeros. */
static int read_sparsity(struct gemm_answers *a)
{
    const struct setup_options *const o = &a->o->setup;
    const char *const option = o->files.positions ? "--positions-a" : "--sparse-a";
    if (!matrix_is_sparse(&o->files)) return EXIT_GOOD;
    if (!o->recipe || !a->o->d)
        return complain(option, "requires -d, --recipe and --unit");
    if (o->epilogue.quantize_a || o->epilogue.quantize_b)
        return complain(option, "cannot be combined with --quantize-a or --quantize-b");
    a->sparse = true;
    const int status = matrix_sparse(&a->s.a, a->s.b.rows, &o->files);
    return status == EXIT_GOOD ? setup_check_inner(&a->s, true) : status;
}

/* What becomes of a GEMM with a sparse A, once everything else is told. */
static void tell_sparsity(struct gemm_answers *a)
{
    if (!a->sparse) return;
    a->told.sparsity = BITCUT_SPARSE_A;
    if (a->o->setup.files.positions)
        a->told.positions =
            (struct bitcut_matrix){ .at = a->s.a.kept, .format = &formats[FORMAT_U8] };
}

/* The zero points, and A and B less them. */
static int read_zeros(struct gemm_answers *a)
{
    const struct epilogue_options *const e = &a->o->setup.epilogue;
    struct setup *const s = &a->s;
    struct matrix *const less = a->less;
    struct bitcut_gemm g = gemm_of(NULL, NULL);
    struct fault f;
    const int status = epilogue_zeros_apply(&g, e);
    if (status != EXIT_GOOD || !gemm_has_zeros(&g)) return status;
    const int32_t zero[] = { g.zero_a, g.zero_b };
    if (!matrix_copy(&less[0], &s->a) || !matrix_copy(&less[1], &s->b)) {
        fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
        return fail("report", &f);
    }
    less[0].format = s->a.format;
    less[1].format = s->b.format;
    memcpy(a->zero, zero, sizeof zero);
    return matrix_subtract_both(&less[0], &less[1], zero, &f) == BITCUT_OK
               ? EXIT_GOOD
               : fail(e->zero_a ? "--zero-a" : "--zero-b", &f);
}

static int read_matrices(struct gemm_answers *a)
{
    const struct setup_options *const o = &a->o->setup;
    const char *const d = a->o->d;
    struct setup *const s = &a->s;
    s->files = &o->files;
    int status = setup_read(&s->a, "-a", o->a, s->files);
    if (status == EXIT_GOOD) status = setup_read(&s->b, "-b", o->b, s->files);
    if (status == EXIT_GOOD && !o->c) status = matrix_unread("-c", s->files);
    if (status == EXIT_GOOD && !d) status = matrix_unread("-d", s->files);
    if (status == EXIT_GOOD && o->c) status = setup_read(&s->c, "-c", o->c, s->files);
    if (status == EXIT_GOOD && o->epilogue.quantize_a)
        status = setup_read(&a->original[0], "-a", o->a, s->files);
    if (status == EXIT_GOOD && o->epilogue.quantize_b)
        status = setup_read(&a->original[1], "-b", o->b, s->files);
    if (status == EXIT_GOOD && d) status = setup_read(&a->d, "-d", d, s->files);
    if (status == EXIT_GOOD) status = gemm_report_batch_take(a);
    if (status == EXIT_GOOD) status = read_sparsity(a);
    if (status == EXIT_GOOD) status = read_zeros(a);
    if (status == EXIT_GOOD) status = read_told(a);
    if (status != EXIT_GOOD) return status;
    tell_sparsity(a);
    if (d) setup_take_result(s, &a->d);
    return check_matrices(a);
}

int gemm_answers_read(struct gemm_answers *a)
{
    const struct setup_options *const o = &a->o->setup;
    struct setup *const s = &a->s;
    struct fault f;
    int status = read_options(a);
    if (status == EXIT_GOOD) status = read_matrices(a);
    if (status != EXIT_GOOD) return status;
    s->input_a = o->a;
    s->input_b = o->b;
    a->data = (struct gemm_data){ .a = s->a, .b = s->b };
    if (a->tells &&
        gemm_data_take_extra(&a->data, &a->told, 0, a->context->threads, &f) != BITCUT_OK)
        return fail("report", &f);
    a->data.c = s->c;
    return o->recipe ? gemm_answers_take(a) : EXIT_GOOD;
}
