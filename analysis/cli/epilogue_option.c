/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/epilogue_option.h"

#include "lib/base/size.h"
#include "lib/io/decimal.h"
#include "lib/number/fma.h"

#include <limits.h>
#include <string.h>

bool epilogue_options_given(const struct epilogue_options *o)
{
    const char *const texts[] = { o->epilogue, o->start,        o->scaling,
                                  o->bias,     o->format_bias,  o->scale_a,
                                  o->scale_b,  o->format_scale, o->block_a,
                                  o->block_b,  o->quantize_a,   o->quantize_b,
                                  o->clamp,    o->zero_a,       o->zero_b,
                                  o->zero_d };
    bool any = o->bias_rows || o->scale_d != F32_ONE;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) any |= texts[i] != NULL;
    return any;
}

void epilogue_files_clear(struct epilogue_files *x)
{
    encoded_clear(&x->bias);
    encoded_clear(&x->scale_a);
    encoded_clear(&x->scale_b);
}

/* Read the file of an option, with encodings of a format if that is named. */
static int read_file(struct encoded_matrix *m, const char *path, const char *option,
                     const char *format)
{
    struct fault f;
    struct matrix_request r = { .format = bitcut_format_find(format),
                                .format_option = option,
                                .shape_option = "--shape-a",
                                .vector = true };
    if (format && !r.format) return fail_unknown(option, format, TABLE(formats));
    return matrix_file_read(m, path, &r, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

/* A matrix with one FP32 number; false if the text is no number. */
static bool read_number(struct encoded_matrix *m, const char *text)
{
    uint32_t x;
    struct fault f;
    if (!decimal_read(&x, text) ||
        encoded_init(m, 1, 1, &formats[FORMAT_F32], &f) != BITCUT_OK)
        return false;
    *(uint32_t *)m->at = x;
    return true;
}

/* The bias as a row, whichever way its file has it. */
static int apply_bias(struct bitcut_gemm *g, struct encoded_matrix *to,
                      const struct epilogue_options *o, size_t m, size_t n)
{
    struct fault f;
    const size_t count = o->bias_rows ? m : n;
    if (!o->bias) {
        if (o->bias_rows) return complain("--bias-rows", "requires --bias");
        return o->format_bias ? complain("--format-bias", "requires --bias") : EXIT_GOOD;
    }
    const int status = read_file(to, o->bias, "--format-bias", o->format_bias);
    if (status != EXIT_GOOD) return status;
    if ((to->rows != 1 && to->cols != 1) || to->rows * to->cols != count) {
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "%zu x %zu; a bias has %zu elements, one for each %s of D%s", to->rows,
                  to->cols, count, o->bias_rows ? "row" : "column",
                  !o->bias_rows && to->rows * to->cols == m
                      ? "; --bias-rows takes one for each row"
                      : "");
        return fail("--bias", &f);
    }
    g->bias = encoded_view(to);
    g->bias.layout = BITCUT_ROW_MAJOR;
    g->bias.ld = 0;
    g->bias_rows = o->bias_rows;
    return EXIT_GOOD;
}

/* Set *size to the size of a block, if `count` blocks of one usual size cover `total`; 0
   stands for all.  A block for each wins.  False: several sizes would do, or none. */
static bool guess_block(size_t *size, size_t count, size_t total)
{
    static const size_t sizes[] = { 1, 16, 32, 64, 128, 256 };
    int found = 0;
    if (count == 1 && total != 1) {
        *size = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (divide_up(total, sizes[i]) == count && !found++) *size = sizes[i];
    return found == 1 || (found && *size == 1);
}

/* A pair RxK; 0 stands for all. */
static bool read_block(struct bitcut_scales *to, const char *text)
{
    int side[3];
    if (!option_tile(side, text, 2, 0, INT_MAX) || side[2]) return false;
    to->lines = (size_t)side[0];
    to->depth = (size_t)side[1];
    return true;
}

/* The factors of one side. */
struct side {
    const char *option, *block_option, *text, *block, *line;
    size_t lines, k;
    bool by_columns; /* blocks of k are the rows of the file */
};

static int apply_factors(struct bitcut_scales *to, struct encoded_matrix *m,
                         const struct side *s, const char *format)
{
    struct fault f;
    if (!s->text)
        return s->block ? complain(s->block_option, "requires factors") : EXIT_GOOD;
    int status = EXIT_GOOD;
    if (!read_number(m, s->text))
        status = read_file(m, s->text, "--format-scale", format);
    if (status != EXIT_GOOD) return status;
    if (s->by_columns ? m->cols == 1 && m->rows == s->lines && s->lines != 1
                      : m->rows == 1 && m->cols == s->lines && s->lines != 1) {
        const size_t rows = m->rows; /* a vector, one for each line */
        m->rows = m->cols;
        m->cols = rows;
    }
    const size_t across = s->by_columns ? m->cols : m->rows,
                 along = s->by_columns ? m->rows : m->cols;
    if (s->block && !read_block(to, s->block))
        return complain(s->block_option, "must be lines and k, for example 1x128");
    if (!s->block && (!guess_block(&to->lines, across, s->lines) ||
                      !guess_block(&to->depth, along, s->k))) {
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "%zu x %zu factors for %zu %s and %zu k: give %s, for example 1x128",
                  m->rows, m->cols, s->lines, s->line, s->k, s->block_option);
        return fail(s->option, &f);
    }
    if (across != block_count(s->lines, to->lines) ||
        along != block_count(s->k, to->depth)) {
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "%zu x %zu factors do not fit blocks of %zu %s and %zu k", m->rows,
                  m->cols, to->lines, s->line, to->depth);
        return fail(s->option, &f);
    }
    to->at = encoded_view(m);
    return EXIT_GOOD;
}

static int apply_clamp(struct bitcut_gemm *g, const char *text)
{
    char low[DECIMAL_MAX];
    if (!text) return EXIT_GOOD;
    const size_t length = strcspn(text, ",");
    if (text[length] && length < sizeof low) {
        memcpy(low, text, length);
        low[length] = 0;
        if (decimal_read(&g->clamp_low, low) &&
            decimal_read(&g->clamp_high, text + length + 1))
            return EXIT_GOOD;
    }
    return complain("--clamp", "must be as 0,6");
}

static int apply_zero(int32_t *to, const char *option, const char *text)
{
    int x = 0;
    if (text && !option_read_int(&x, text))
        return complain(option, "requires a whole number from -2147483648 to 2147483647");
    *to = x;
    return EXIT_GOOD;
}

int epilogue_zeros_apply(struct bitcut_gemm *g, const struct epilogue_options *o)
{
    int status = apply_zero(&g->zero_a, "--zero-a", o->zero_a);
    if (status == EXIT_GOOD) status = apply_zero(&g->zero_b, "--zero-b", o->zero_b);
    return status == EXIT_GOOD ? apply_zero(&g->zero_d, "--zero-d", o->zero_d) : status;
}

/* Check that the zero points of named steps were given: without, they have no effect. */
static int check_zero_steps(const struct bitcut_gemm *g, const struct epilogue_options *o)
{
    if (epilogue_has(g->epilogue, BITCUT_STEP_ZEROS) && !o->zero_a && !o->zero_b)
        return complain("--epilogue", "step zeros requires --zero-a or --zero-b");
    if (epilogue_has(g->epilogue, BITCUT_STEP_ZERO_D) && !o->zero_d)
        return complain("--epilogue", "step zero-d requires --zero-d");
    return EXIT_GOOD;
}

int epilogue_options_apply(struct bitcut_gemm *g, struct epilogue_files *to,
                           const struct epilogue_options *o, size_t m, size_t n, size_t k)
{
    const struct side a = { "--scale-a", "--block-a", o->scale_a, o->block_a,
                            "rows",      m,           k,          false },
                      b = { "--scale-b", "--block-b", o->scale_b, o->block_b,
                            "columns",   n,           k,          true };
    if (o->format_scale && !o->scale_a && !o->scale_b)
        return complain("--format-scale", "requires --scale-a or --scale-b");
    g->scale_d = o->scale_d;
    int status = epilogue_zeros_apply(g, o);
    if (status == EXIT_GOOD) status = check_zero_steps(g, o);
    if (status == EXIT_GOOD) status = apply_clamp(g, o->clamp);
    if (status == EXIT_GOOD) status = apply_bias(g, &to->bias, o, m, n);
    if (status == EXIT_GOOD)
        status = apply_factors(&g->scale_a, &to->scale_a, &a, o->format_scale);
    if (status == EXIT_GOOD)
        status = apply_factors(&g->scale_b, &to->scale_b, &b, o->format_scale);
    return status;
}
