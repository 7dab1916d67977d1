/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/bench_fp64.h"

#include "analysis/cli/device_option.h"
#include "analysis/cli/terminal.h"
#include "analysis/fp64/fp64_answer.h"
#include "analysis/verify/kernel_trial.h"
#include "gpu/api/fp64.h"
#include "lib/base/stats.h"
#include "lib/base/table.h"
#include "lib/base/threads.h"
#include "lib/input/input.h"
#include "lib/number/bits.h"

#include <stdlib.h>
#include <string.h>

/* Rows and columns of D that are compared. */
enum { LINES = 16, ROUNDS_MAX = 1000 };

/* Numbers of parts with which kernels are timed. */
static const int parts_of[] = { 7, 8, 9 };

/* One product, and what is compared of it. */
struct bench64 {
    struct context *context;
    const struct recorder *recorder;
    size_t n;
    double *a, *b, *d;
    size_t lines, row[LINES], column[LINES];
    double *rows, *columns, got[LINES * LINES], want[LINES * LINES];
    double milliseconds[ROUNDS_MAX];
    int rounds;
    double peer; /* median time of the first entrant; 0: it has not run */
};

/* --- data ------------------------------------------------------------------------- */

/* Lines at equal distances, with the first and the last. */
static void choose_lines(struct bench64 *t)
{
    t->lines = t->n < LINES ? t->n : LINES;
    for (size_t i = 0; i < t->lines; i++) {
        t->row[i] = t->lines > 1 ? i * (t->n - 1) / (t->lines - 1) : 0;
        t->column[i] = t->row[i];
    }
}

static enum bitcut_status make(struct bench64 *t, const struct input *in, struct fault *f)
{
    const struct context *const x = t->context;
    const size_t n = t->n;
    choose_lines(t);
    t->a = memory_allocate(n * n, sizeof *t->a);
    t->b = memory_allocate(n * n, sizeof *t->b);
    t->d = memory_allocate(n * n, sizeof *t->d);
    t->rows = memory_allocate(n * LINES, sizeof *t->rows);
    t->columns = memory_allocate(n * LINES, sizeof *t->columns);
    if (!t->a || !t->b || !t->d || !t->rows || !t->columns)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for n = %zu", n);
    enum bitcut_status status =
        input_fill_f64(t->a, n, n, in, INPUT_A, x->seed, x->threads, f);
    if (status == BITCUT_OK)
        status = input_fill_f64(t->b, n, n, in, INPUT_B, x->seed, x->threads, f);
    for (size_t i = 0; i < t->lines && status == BITCUT_OK; i++) {
        memcpy(t->rows + i * n, t->a + t->row[i] * n, n * sizeof *t->a);
        for (size_t p = 0; p < n; p++)
            t->columns[p * t->lines + i] = t->b[p * n + t->column[i]];
    }
    return status;
}

static void clear(struct bench64 *t)
{
    free(t->a);
    free(t->b);
    free(t->d);
    free(t->rows);
    free(t->columns);
}

/* --- one entrant ------------------------------------------------------------------ */

static struct bitcut_matrix view(double *at)
{
    return (struct bitcut_matrix){ .to = at, .format = &formats[FORMAT_F64] };
}

/* The GEMM of an entrant; of a peer, that of multiply-adds. */
static enum bitcut_status gemm_of_entrant(struct gpu_fp64 *to, struct bench64 *t,
                                          const struct gpu_fp64_kernel *kernel,
                                          const struct gpu_fp64_peer *peer, int parts,
                                          struct fault *f)
{
    const struct gpu_device *const device = &t->recorder->device;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    const enum bitcut_status status =
        kernel ? gpu_fp64_gemm(&g, kernel, device, f) : BITCUT_OK;
    if (status != BITCUT_OK) return status;
    if (!kernel) {
        g.scheme = bitcut_scheme_find("fp64");
        g.unit = bitcut_unit_find("fma/f64", NULL);
    }
    g.parts = parts;
    g.m = g.n = g.k = t->n;
    g.a = view(t->a);
    g.b = view(t->b);
    g.d = view(t->d);
    if (kernel) return gpu_fp64_make(to, &g, kernel, device, f);
    g.a.ld = g.b.ld = g.d.ld = t->n;
    *to = (struct gpu_fp64){ .peer = peer, .gemm = g };
    return BITCUT_OK;
}

/* The compared outputs, as a GEMM. */
static struct bitcut_gemm sample(struct bench64 *t, const struct gpu_fp64 *e)
{
    struct bitcut_gemm g = e->gemm;
    g.m = g.n = t->lines;
    g.a = view(t->rows);
    g.b = view(t->columns);
    g.d = view(t->want);
    return g;
}

/* Whether the outputs equal the emulator's; *error is their largest error, u |A||B|. */
static enum bitcut_status check(double *error, struct bench64 *t,
                                const struct gpu_fp64 *e, struct fault *f)
{
    const struct gemm_options options = context_options(t->context);
    const struct reference *const exact = table_find(TABLE(references), "exact");
    struct bitcut_gemm g = sample(t, e);
    for (size_t i = 0; i < t->lines; i++)
        for (size_t j = 0; j < t->lines; j++)
            t->got[i * t->lines + j] = t->d[t->row[i] * t->n + t->column[j]];
    enum bitcut_status status = BITCUT_OK;
    if (e->kernel) {
        status = fp64_gemm_run(NULL, &g, &options, f);
        if (status == BITCUT_OK &&
            memcmp(t->got, t->want, t->lines * t->lines * sizeof *t->got))
            return fault_set(f, BITCUT_UNSUPPORTED,
                             "the result differs from the emulator's");
    }
    g.d = view(t->got);
    const struct fp64_choice by = { .parts = g.parts, .slices = 1, .bits = -1 };
    struct fp64_answer answer = fp64_answer_of(&g, &by);
    if (status == BITCUT_OK)
        status = fp64_answer_judge(&answer, &g, exact, &options, f);
    *error = answer.value[METRIC_BACKWARD_MAX];
    return status;
}

static int by_time(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* Products of parts for each product of A B; 0 for a peer. */
static int products_of(const struct gpu_fp64 *e)
{
    return e->kernel ? e->gemm.parts * (e->gemm.parts + 1) / 2 : 0;
}

static int run_entrant(struct bench64 *t, const struct gpu_fp64_kernel *kernel,
                       const struct gpu_fp64_peer *peer, int parts)
{
    const char *const name = kernel ? kernel->name : peer->name;
    struct gpu_fp64 entrant;
    const struct gpu_fp64 *const e = &entrant;
    const struct recorder *const r = t->recorder;
    struct fault f;
    double error = 0;
    terminal_label(name);
    if (gemm_of_entrant(&entrant, t, kernel, peer, parts, &f) != BITCUT_OK ||
        gpu_fp64_run(e, t->milliseconds, t->rounds, &r->gpu, &r->device, &f) !=
            BITCUT_OK ||
        check(&error, t, e, &f) != BITCUT_OK)
        return fail(name, &f);
    qsort(t->milliseconds, (size_t)t->rounds, sizeof *t->milliseconds, by_time);
    const double median = t->milliseconds[t->rounds / 2], n = (double)t->n;
    if (t->peer == 0) t->peer = median;
    json_t *const row = json_pack(
        "{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "method", name, "device",
        r->device.name, "n", (json_int_t)t->n, "milliseconds", median, "fastest",
        t->milliseconds[0], "slowest", t->milliseconds[t->rounds - 1],
        "products_per_second", n * n * n / median * 1e3, "ratio", t->peer / median,
        "error", error);
    json_object_set_new(row, "parts",
                        e->kernel ? json_integer(e->gemm.parts) : json_null());
    json_object_set_new(row, "part_products",
                        e->kernel ? json_integer(products_of(e)) : json_null());
    emit_row(&t->context->emitter, row);
    return EXIT_GOOD;
}

static int run_all(struct bench64 *t, const char *name)
{
    const struct recorder *const r = t->recorder;
    const struct gpu_fp64_peer *peer = r->gpu.module->fp64_peers;
    const struct gpu_fp64_kernel *k = NULL;
    int status = EXIT_GOOD;
    for (; peer && peer->name && status == EXIT_GOOD; peer++)
        status = run_entrant(t, NULL, peer, 1);
    while ((k = gpu_fp64_next(&r->gpu, k)) && status == EXIT_GOOD) {
        if (name && !kernel_is_called(k->name, name)) continue;
        for (size_t i = 0; i < sizeof parts_of / sizeof *parts_of && status == EXIT_GOOD;
             i++)
            status = run_entrant(t, k, NULL, parts_of[i]);
    }
    return status;
}

/* --- the suite -------------------------------------------------------------------- */

static int run_size(struct context *x, const struct recorder *r, size_t n,
                    const struct input *in)
{
    static struct bench64 t;
    const struct bench_options *const o = x->own;
    struct fault f;
    t = (struct bench64){ .context = x, .recorder = r, .n = n, .rounds = (int)o->rounds };
    const int status = make(&t, in, &f) == BITCUT_OK ? run_all(&t, o->kernel)
                                                     : fail("bench", &f);
    clear(&t);
    return status;
}

int bench_fp64(struct context *x)
{
    static const size_t usual[] = { 1024, 2048, 4096, 8192 };
    const struct bench_options *const o = x->own;
    const size_t count =
        o->sizes.count ? (size_t)o->sizes.count : sizeof usual / sizeof *usual;
    struct recorder r;
    struct input in;
    struct fault f;
    if (o->rounds < 1 || o->rounds > ROUNDS_MAX)
        return complain("--rounds", "must be 1 to 1000");
    if (input_parse(&in, o->input, &f) != BITCUT_OK)
        return fail_input("--input", "inputs", &f);
    int status = device_open(&r, o->device, "bench");
    if (status != EXIT_GOOD) return status;
    if (!gpu_fp64_next(&r.gpu, NULL))
        status = complain("--device", "names a device without kernels for FP64 GEMMs");
    for (size_t i = 0; i < count && status == EXIT_GOOD; i++) {
        const size_t n = o->sizes.count ? o->sizes.at[i] : usual[i];
        status = n ? run_size(x, &r, n, &in) : complain("-n", "must be at least 1");
    }
    recorder_close(&r);
    return status;
}
