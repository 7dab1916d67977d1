/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_check.h"

#include "analysis/accuracy/judge.h"
#include "lib/base/size.h"
#include "lib/input/input.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 32,
    COLUMNS = 128,
    GEMMS = 3,     /* at least, more if they are small */
    DISTINCT = 256 /* operands of f16 */
};

static const double whole_products = 1 << 22;

static bool is_f32(const struct look *x) { return x->format == &formats[FORMAT_F32]; }

static size_t outputs_of_gemm(const struct look *x)
{
    return x->rows.count * x->cols.count;
}

static size_t outputs(const struct look *x)
{
    return x->gemms.count * outputs_of_gemm(x);
}

static uint32_t convert(const struct bitcut_format *to, const struct bitcut_format *from,
                        uint32_t bits)
{
    return (uint32_t)bitcut_format_convert(to, &roundings[ROUND_RN], from, bits);
}

/* --- operands --------------------------------------------------------------------- */

/* Matrix i of those stored one below the other, each with that many rows. */
static struct matrix part_of(const struct matrix *all, size_t rows, size_t i)
{
    return (struct matrix){ .rows = rows,
                            .cols = all->cols,
                            .at = all->at + i * rows * all->cols };
}

/* The different rows x cols matrices of all GEMMs: in f32 each from its own seed;
   otherwise all from one seed, and rounded. */
static enum bitcut_status generate(struct matrix *to, const struct look *x,
                                   enum input_role role, size_t rows, size_t cols,
                                   struct fault *f)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct benchmark *r = x->course->benchmark;
    const size_t seeds = is_f32(x) ? x->distinct : 1, each = x->distinct / seeds * rows;
    struct input input;
    enum bitcut_status status = input_parse(&input, x->course->input, f);
    if (status == BITCUT_OK) status = matrix_init(to, x->distinct * rows, cols, f);
    for (size_t i = 0; i < seeds && status == BITCUT_OK; i++) {
        struct matrix one = part_of(to, each, i);
        status = input_fill(&one, &input, role, r->seed + i, r->threads, f);
    }
    for (size_t i = 0; i < to->rows * cols && status == BITCUT_OK && !is_f32(x); i++)
        to->at[i] = convert(f32, x->format, convert(x->format, f32, to->at[i]));
    return status;
}

static enum bitcut_status operands_init(struct look *x, struct fault *f)
{
    const struct kernel_shape s = x->course->shape;
    const enum bitcut_status status = generate(&x->a, x, INPUT_A, s.m, s.k, f);
    return status == BITCUT_OK ? generate(&x->b, x, INPUT_B, s.k, s.n, f) : status;
}

/* In place. */
static void pack(const struct matrix *m, const struct look *x)
{
    for (size_t i = 0; i < m->rows * m->cols && !is_f32(x); i++) {
        const uint32_t bits = convert(x->format, &formats[FORMAT_F32], m->at[i]);
        memcpy((char *)m->at + i * x->bytes, &bits, x->bytes);
    }
}

void look_pack(struct look *x)
{
    pack(&x->a, x);
    pack(&x->b, x);
}

/* --- outputs that are compared ---------------------------------------------------- */

static struct excerpt all_of(size_t count) { return (struct excerpt){ .count = count }; }

static void choose_outputs(struct look *x)
{
    const struct kernel_shape s = x->course->shape;
    const uint64_t seed = x->course->benchmark->seed;
    const double products = (double)s.m * (double)s.n * (double)s.k;
    const double fit = fmin(fmax(GEMMS, whole_products / products), EXCERPT_MAX);
    const bool whole = products <= whole_products;
    x->gemms = is_f32(x) ? excerpt_some(x->course->count, (size_t)fit, seed, 2)
                         : excerpt_some(x->course->count, EXCERPT_MAX, seed, 0);
    x->rows = whole ? all_of(s.m) : excerpt_some(s.m, ROWS, seed, 0);
    x->cols = whole ? all_of(s.n) : excerpt_some(s.n, COLUMNS, seed, 1);
}

/* GEMM i of those compared: its rows and columns, and the exact product. */
static enum bitcut_status gather(struct look *x, size_t i, struct fault *f)
{
    const struct benchmark *r = x->course->benchmark;
    const struct kernel_shape s = x->course->shape;
    const size_t number = excerpt_line(&x->gemms, i) % x->distinct,
                 each = outputs_of_gemm(x);
    const struct excerpt all = all_of(s.k);
    const struct matrix a = part_of(&x->a, s.m, number), b = part_of(&x->b, s.k, number);
    const struct gemm_options options = { .threads = r->threads,
                                          .progress = r->progress };
    struct judge judge;
    enum bitcut_status status = excerpt_gather(&x->some_a[i], &a, &x->rows, &all, f);
    if (status == BITCUT_OK)
        status = excerpt_gather(&x->some_b[i], &b, &all, &x->cols, f);
    if (status == BITCUT_OK)
        status = judge_init(&judge, &references[0], &x->some_a[i], &x->some_b[i], NULL,
                            &options, f);
    if (status != BITCUT_OK) return status;
    memcpy(x->exact32 + i * each, judge.comparison.reference32,
           each * sizeof *x->exact32);
    memcpy(x->exact64 + i * each, judge.comparison.reference64,
           each * sizeof *x->exact64);
    judge_clear(&judge);
    return BITCUT_OK;
}

/* Rows of D that are copied at a time: one, or a whole matrix that is compared as a
   whole. */
static size_t lines_at_once(const struct look *x)
{
    return x->rows.some || x->cols.some ? 1 : x->rows.count;
}

static enum bitcut_status outputs_init(struct look *x, struct fault *f)
{
    choose_outputs(x);
    const size_t count = outputs(x), n = x->course->shape.n;
    if (!(x->d = memory_allocate(count, x->bytes)) ||
        !(x->single = memory_allocate(count, x->bytes)) ||
        !(x->model = memory_allocate(count, x->bytes)) ||
        !(x->exact32 = memory_allocate(count, sizeof *x->exact32)) ||
        !(x->exact64 = memory_allocate(count, sizeof *x->exact64)) ||
        !(x->lines = memory_allocate(lines_at_once(x) * n, x->bytes)))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = matrix_init(&x->value, count, 1, f);
    for (size_t i = 0; i < x->gemms.count && status == BITCUT_OK; i++)
        status = gather(x, i, f);
    return status;
}

void look_clear(struct look *x)
{
    for (size_t i = 0; i < x->gemms.count; i++) {
        matrix_clear(&x->some_b[i]);
        matrix_clear(&x->some_a[i]);
    }
    matrix_clear(&x->value);
    free(x->lines);
    free(x->exact64);
    free(x->exact32);
    free(x->model);
    free(x->single);
    free(x->d);
    matrix_clear(&x->b);
    matrix_clear(&x->a);
}

enum bitcut_status look_init(struct look *x, const struct benchmark_round *c,
                             struct fault *f)
{
    x->course = c;
    x->format = &formats[c->benchmark->study->matrices];
    x->bytes = (size_t)format_bytes(x->format);
    x->distinct = is_f32(x) ? c->count : smaller(c->count, DISTINCT);
    const enum bitcut_status status = operands_init(x, f);
    return status == BITCUT_OK ? outputs_init(x, f) : status;
}

/* --- verifying -------------------------------------------------------------------- */

enum bitcut_status look_read(struct look *x, struct gpu_session *session, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    const struct gpu_timer *timer = benchmark_timer(x->course->benchmark);
    const size_t each = lines_at_once(x), m = x->course->shape.m, n = x->course->shape.n;
    unsigned char *to = x->d;
    for (size_t i = 0; i < x->gemms.count * x->rows.count; i += each) {
        const size_t gemm = excerpt_line(&x->gemms, i / x->rows.count),
                     line = excerpt_line(&x->rows, i % x->rows.count);
        if (timer->read(x->lines, session, gemm * m + line, each, why) != 0)
            return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
        for (size_t p = 0; p < each; p++)
            for (size_t j = 0; j < x->cols.count; j++, to += x->bytes)
                memcpy(to, x->lines + (p * n + excerpt_line(&x->cols, j)) * x->bytes,
                       x->bytes);
    }
    return BITCUT_OK;
}

/* The expected result of a kernel.  Different timings of one kernel follow each other. */
static enum bitcut_status run_model(struct look *x, const struct runner *r,
                                    struct fault *f)
{
    const struct gpu_entrant *e = &r->entrant;
    const struct gemm_options options = { .threads = x->course->benchmark->threads,
                                          .progress = x->course->benchmark->progress };
    const size_t bytes = outputs_of_gemm(x) * x->bytes;
    enum bitcut_status status = BITCUT_OK;
    if (x->modelled == e->kernel && x->modelled_slices == e->plan.order.slices)
        return status;
    for (size_t i = 0; i < x->gemms.count && status == BITCUT_OK; i++) {
        struct bitcut_gemm g = r->gemm;
        gemm_set_dense(&g, NULL, x->rows.count, x->cols.count, x->course->shape.k,
                       x->some_a[i].at, x->some_b[i].at, NULL);
        g.d = (struct bitcut_matrix){ .to = x->model + i * bytes, .format = x->format };
        status = gemm_run(&g, &options, f);
    }
    x->modelled = status == BITCUT_OK ? e->kernel : NULL;
    x->modelled_slices = e->plan.order.slices;
    return status;
}

static enum bitcut_status compare(struct runner *r, struct look *x, struct fault *f)
{
    const enum bitcut_status status = run_model(x, r, f);
    if (status != BITCUT_OK) return status;
    r->compared = r->looked_at;
    for (size_t i = 0; i < r->compared; i++)
        r->mismatches +=
            memcmp(x->d + i * x->bytes, x->model + i * x->bytes, x->bytes) != 0;
    if (r->mismatches)
        snprintf(r->fault, sizeof r->fault, "%zu of %zu outputs differ from the model",
                 r->mismatches, r->compared);
    return status;
}

/* Store D of the FP32 peer; for another peer, check whether D is the same. */
static void find_fallback(struct runner *r, struct look *x)
{
    const struct gpu_peer *peer = r->entrant.peer;
    const size_t bytes = outputs(x) * x->bytes;
    if (peer->role == GPU_PEER_SINGLE) {
        memcpy(x->single, x->d, bytes);
        x->single_peer = peer;
    } else if (x->single_peer && !memcmp(x->single, x->d, bytes)) {
        r->fallback = x->single_peer->name;
    }
}

/* Compare several of the GEMMs together. */
static double relres_of(const struct look *x, size_t first, size_t gemms)
{
    const size_t at = first * outputs_of_gemm(x);
    const struct comparison c = { .m = gemms * x->rows.count,
                                  .n = x->cols.count,
                                  .d = x->value.at + at,
                                  .reference32 = x->exact32 + at,
                                  .reference64 = x->exact64 + at };
    struct hostfp mode;
    hostfp_enter(&mode);
    const double value = metrics[METRIC_RELRES].value(&c, 1);
    hostfp_leave(&mode);
    return value;
}

/* the largest for f32, otherwise of all together */
static double find_relres(struct look *x)
{
    const size_t each = is_f32(x) ? 1 : x->gemms.count;
    double most = 0;
    for (size_t i = 0; i < outputs(x); i++) {
        uint32_t bits = 0;
        memcpy(&bits, x->d + i * x->bytes, x->bytes);
        x->value.at[i] = convert(&formats[FORMAT_F32], x->format, bits);
    }
    for (size_t i = 0; i < x->gemms.count; i += each) {
        const double value = relres_of(x, i, each);
        if (isnan(value) || value > most) most = value;
    }
    return most;
}

enum bitcut_status look_judge(struct runner *r, struct look *x, struct fault *f)
{
    r->relres = find_relres(x);
    r->looked_at = outputs(x);
    if (r->entrant.kernel) return compare(r, x, f);
    find_fallback(r, x);
    return BITCUT_OK;
}
