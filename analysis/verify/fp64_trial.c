/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/fp64_trial.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the grid --------------------------------------------------------------------- */

/* Elements, from 64 random bits. */
struct fp64_values {
    const char *name;
    double (*element)(uint64_t bits);
};

static double uniform(uint64_t bits)
{
    return (double)(int64_t)(bits >> 11) * 0x1p-52 - 1;
}

static double wide(uint64_t bits)
{
    return ldexp(uniform(bits * 0x9e3779b97f4a7c15), (int)(bits % 121) - 60);
}

/* Few bits, zeros, and the largest below a power of two. */
static double short_values(uint64_t bits)
{
    static const double all[] = { 0,       -0.0,     1,        -1, 0x1.fffffffffffffp0,
                                  0x1p-40, 0.984375, -0x1.8p-3 };
    return all[bits >> 40 & 7];
}

static double subnormal(uint64_t bits)
{
    return ldexp(uniform(bits), -1022 + (bits & 1 ? 0 : (int)(bits >> 1 & 15)));
}

/* Any encoding, once in a while. */
static double any(uint64_t bits)
{
    return bits >> 8 & 255 ? uniform(bits) : double_of_bits(bits);
}

static const struct fp64_values values[] = {
    { "urand(-1,1)", uniform },   { "exponents from -60 to 60", wide },
    { "few bits", short_values }, { "around 2^-1022", subnormal },
    { "any encodings", any },
};

static const struct kernel_shape shapes[] = {
    { 1, 1, 1 },      { 5, 3, 0 },       { 17, 33, 16 },   { 130, 70, 31 },
    { 64, 257, 129 }, { 300, 270, 200 }, { 3, 1000, 100 }, { 40, 24, 4097 },
    { 9, 8, 16385 },  { 7, 5, 70001 },
};

static const struct {
    double alpha, beta;
} factors[] = { { 1, 0 }, { -1.3, 0 }, { 0.7, -2.1 } };

enum {
    SHAPES = sizeof shapes / sizeof shapes[0],
    VALUES = sizeof values / sizeof values[0],
    FACTORS = sizeof factors / sizeof factors[0]
};

/* One GEMM of the grid. */
struct fp64_case {
    struct kernel_shape shape;
    const struct fp64_values *values;
    double alpha, beta;
    int parts;
};

size_t fp64_trial_size(const struct fp64_trial *t)
{
    return shard_size(t->shard, 0, t->shape ? 1 : SHAPES * VALUES);
}

static struct fp64_case case_at(const struct fp64_trial *t, size_t i)
{
    static const int parts[] = { 8, 7, 9, 1, 13, 5, 18 };
    const size_t kinds = sizeof parts / sizeof parts[0];
    struct fp64_case x = { .shape = t->shape ? *t->shape : shapes[i % SHAPES],
                           .values = &values[t->shape ? 0 : i / SHAPES],
                           .alpha = factors[i % FACTORS].alpha,
                           .beta = factors[i % FACTORS].beta,
                           .parts = t->parts ? t->parts : parts[i % kinds] };
    x.parts = smaller_int(x.parts, t->kernel->parts_most);
    return x;
}

/* --- one GEMM --------------------------------------------------------------------- */

/* Rows and columns of D that are compared, and their part of the operands. */
enum { LINES_MAX = 300 };

struct matrices {
    double *a, *b, *c, *d;             /* of the GEMM                     */
    double *rows, *columns, *of_c, *e; /* of the compared rows and columns */
    size_t row[LINES_MAX], column[LINES_MAX], m, n;
};

static void matrices_clear(struct matrices *x)
{
    double *const all[] = { x->a, x->b, x->c, x->d, x->rows, x->columns, x->of_c, x->e };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Streams of random numbers. */
enum { OF_A, OF_B, OF_C, OF_ROWS, OF_COLUMNS };

/* All lines, or random ones with the first and the last. */
static size_t choose_lines(size_t to[LINES_MAX], size_t lines, struct rng random)
{
    const size_t count = lines <= LINES_MAX ? lines : LINES_MAX / 4;
    for (size_t i = 0; i < count; i++)
        to[i] = count == lines ? i
                : i == 0       ? 0
                : i == 1       ? lines - 1
                               : (size_t)rand_below(rng_bits(&random), lines);
    return count;
}

static void draw(double *to, size_t count, double (*element)(uint64_t bits),
                 struct rng random)
{
    for (size_t i = 0; i < count; i++) to[i] = element(rng_bits(&random));
}

static bool allocate(double **to, size_t rows, size_t cols)
{
    size_t count;
    if (size_multiply(&count, rows, cols)) *to = memory_allocate(count, sizeof **to);
    return *to;
}

static bool matrices_make(struct matrices *x, const struct fp64_case *c, uint64_t seed)
{
    const size_t m = c->shape.m, n = c->shape.n, k = c->shape.k;
    *x = (struct matrices){ .a = NULL };
    x->m = choose_lines(x->row, m, rng_start(seed, OF_ROWS));
    x->n = choose_lines(x->column, n, rng_start(seed, OF_COLUMNS));
    if (!allocate(&x->a, m, k) || !allocate(&x->b, k, n) || !allocate(&x->c, m, n) ||
        !allocate(&x->d, m, n) || !allocate(&x->rows, x->m, k) ||
        !allocate(&x->columns, k, x->n) || !allocate(&x->of_c, x->m, x->n) ||
        !allocate(&x->e, x->m, x->n))
        return false;
    draw(x->a, m * k, c->values->element, rng_start(seed, OF_A));
    draw(x->b, k * n, c->values->element, rng_start(seed, OF_B));
    draw(x->c, m * n, uniform, rng_start(seed, OF_C));
    for (size_t i = 0; i < x->m; i++)
        memcpy(x->rows + i * k, x->a + x->row[i] * k, k * sizeof *x->a);
    for (size_t p = 0; p < k; p++)
        for (size_t j = 0; j < x->n; j++)
            x->columns[p * x->n + j] = x->b[p * n + x->column[j]];
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++)
            x->of_c[i * x->n + j] = x->c[x->row[i] * n + x->column[j]];
    return true;
}

static struct bitcut_matrix view(double *at)
{
    return (struct bitcut_matrix){ .to = at, .format = bitcut_format_find("f64") };
}

/* The GEMM of a case without matrices. */
static enum bitcut_status gemm_of_case(struct bitcut_gemm *g, const struct fp64_case *c,
                                       const struct fp64_trial *t, struct fault *f)
{
    const enum bitcut_status status =
        gpu_fp64_gemm(g, t->kernel, &t->recorder->device, f);
    if (status != BITCUT_OK) return status;
    g->parts = c->parts;
    g->m = c->shape.m, g->n = c->shape.n, g->k = c->shape.k;
    g->alpha_f64 = c->alpha, g->beta_f64 = c->beta;
    return BITCUT_OK;
}

/* The compared outputs, by the emulator. */
static enum bitcut_status emulate(const struct matrices *x, const struct fp64_case *c,
                                  const struct fp64_trial *t, struct fault *f)
{
    char why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g;
    enum bitcut_status status = gemm_of_case(&g, c, t, f);
    if (status != BITCUT_OK) return status;
    g.m = x->m, g.n = x->n;
    g.a = view(x->rows);
    g.b = view(x->columns);
    if (c->beta != 0) g.c = view(x->of_c);
    g.d = view(x->e);
    status = bitcut_gemm(NULL, &g, t->threads, why);
    return status == BITCUT_OK ? status : fault_set(f, status, "%s", why);
}

static enum bitcut_status run_kernel(const struct matrices *x, const struct fp64_case *c,
                                     const struct fp64_trial *t, struct fault *f)
{
    const struct recorder *const r = t->recorder;
    struct bitcut_gemm g;
    struct gpu_fp64 w;
    enum bitcut_status status = gemm_of_case(&g, c, t, f);
    if (status != BITCUT_OK) return status;
    g.a = view(x->a);
    g.b = view(x->b);
    if (c->beta != 0) g.c = view(x->c);
    g.d = view(x->d);
    status = gpu_fp64_make(&w, &g, t->kernel, &r->device, f);
    return status == BITCUT_OK ? gpu_fp64_run(&w, NULL, 0, &r->gpu, &r->device, f)
                               : status;
}

static void compare(struct kernel_result *r, const struct matrices *x,
                    const struct fp64_case *c)
{
    for (size_t at = 0; at < x->m * x->n; at++) {
        const size_t i = x->row[at / x->n], j = x->column[at % x->n];
        const uint64_t want = bits_of_double(x->e[at]),
                       got = bits_of_double(x->d[i * c->shape.n + j]);
        r->compared++;
        if (want == got || r->mismatches++) continue;
        r->first = (struct kernel_mismatch){ .shape = c->shape,
                                             .room = "row-major",
                                             .input = c->values->name,
                                             .transposes = "nn",
                                             .outputs = "nn",
                                             .alpha = c->alpha,
                                             .beta = c->beta,
                                             .count = 1,
                                             .at = { i, j },
                                             .is_output = true,
                                             .bits = apart_of(bitcut_format_find("f64"),
                                                              want, got) };
    }
}

static enum bitcut_status run_case(struct kernel_result *r, const struct fp64_trial *t,
                                   const struct fp64_case *c, uint64_t seed,
                                   struct fault *f)
{
    struct matrices x;
    enum bitcut_status status = BITCUT_OK;
    if (!matrices_make(&x, c, seed))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    if (status == BITCUT_OK) status = run_kernel(&x, c, t, f);
    if (status == BITCUT_OK) status = emulate(&x, c, t, f);
    if (status == BITCUT_OK) compare(r, &x, c);
    matrices_clear(&x);
    return status;
}

enum bitcut_status fp64_trial_run(struct kernel_result *r, const struct fp64_trial *t,
                                  const struct progress *progress, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    const size_t count = fp64_trial_size(t);
    *r = (struct kernel_result){ .configurations = count };
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        const size_t at = t->shard.at + i * t->shard.count;
        const struct fp64_case now = case_at(t, at);
        if (progress_stopped(progress)) break;
        status = run_case(r, t, &now, t->seed + at, f);
        progress_report(progress, i + 1, count);
    }
    return progress_end(status, progress, f);
}
