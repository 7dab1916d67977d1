/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/bench_emu_device.h"

#include "analysis/cli/bench_gpu.h"
#include "analysis/cli/device_gemm.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/terminal.h"
#include "analysis/evidence/field.h"
#include "emu/gemm.h"
#include "gpu/api/choose.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/input/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPU verifies this many products, or one row.  A time is the best of a few runs. */
#define VERIFIED_PRODUCTS 4e10
enum { ROUNDS = 3 };

/* Runs that are timed together, so that the time between them does not count. */
enum { TIMED_MILLISECONDS = 200, REPEATS_MAX = 100 };

struct task {
    struct context *context;
    struct emulating_device devices; /* the first one is timed; all compute whole GEMMs */
    const struct bitcut_recipe *recipe;
    const char *input;
    size_t n;
    struct matrix a, b, got, want;
    struct gpu_session *session; /* with these matrices on the device */
};

/* The results for one unit. */
struct found {
    struct gpu_work work;
    size_t rows, mismatches;    /* rows of D compared; outputs that differ */
    double host, device, whole; /* seconds: for `rows` on the CPU; for D on the device;
                                   with copies to and from it */
    uint64_t repaired;          /* steps, see struct gpu_module */
};

static const struct emit_column columns[] = {
    /* clang-format off */
    { "unit",                "unit",       0, NULL },
    { "method",              "method",     0, NULL },
    { "n",                   "n",          0, NULL },
    { "products_per_second", "products/s", 3, NULL },
    { "host_ratio",          "x host",     3, NULL },
    { "repaired_fraction",   "repaired",   2, "0"  },
    { "whole_ratio",         "whole",      3, NULL },
    { "verified",            "verified",   0, NULL },
    { "mismatches",          "mismatches", 0, NULL },
    { 0 }
    /* clang-format on */
};

static const struct gpu_module *module_of(const struct task *t)
{
    return t->devices.recorder.gpu.module;
}

static enum bitcut_status told(const char *why, struct fault *f)
{
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
}

/* --- CPU and device --------------------------------------------------------------- */

static double products(const struct task *t, const struct gpu_work *w, size_t rows)
{
    return (double)w->plan.terms * (double)rows * (double)t->n * (double)t->n;
}

/* Compute rows from `first` on by the emulator, and add the time that it took. */
static enum bitcut_status emulate_rows(struct found *x, struct task *t, size_t first,
                                       size_t rows, struct fault *f)
{
    struct bitcut_gemm g = x->work.gemm;
    gemm_set_dense(&g, t->want.at, rows, t->n, t->n, t->a.at + first * t->n, t->b.at,
                   NULL);
    g.kernel = NULL;
    const struct gemm_options how = { .threads = t->context->threads,
                                      .progress = &t->context->progress };
    const double start = seconds_now();
    const enum bitcut_status status = gemm_run(&g, &how, f);
    x->host += seconds_now() - start;
    return status;
}

/* Compare rows of D from the device. */
static enum bitcut_status compare_rows(struct found *x, struct task *t, size_t first,
                                       size_t rows, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    enum bitcut_status status = rows ? emulate_rows(x, t, first, rows, f) : BITCUT_OK;
    if (status != BITCUT_OK || !rows) return status;
    if (module_of(t)->timer->read(t->got.at, t->session, first, rows, why))
        return told(why, f);
    for (size_t i = 0; i < rows * t->n; i++)
        x->mismatches += t->got.at[i] != t->want.at[i];
    x->rows += rows;
    return BITCUT_OK;
}

static enum bitcut_status verify(struct found *x, struct task *t, struct fault *f)
{
    const double each = products(t, &x->work, 1);
    size_t rows = (size_t)(VERIFIED_PRODUCTS / each) + 1;
    if (rows > t->n) rows = t->n;
    const size_t last = rows == t->n ? 0 : rows / 2;
    const enum bitcut_status status = compare_rows(x, t, 0, rows - last, f);
    return status == BITCUT_OK ? compare_rows(x, t, t->n - last, last, f) : status;
}

/* --- time ------------------------------------------------------------------------- */

static uint64_t take_repaired(const struct task *t)
{
    struct gpu_count counts[GPU_COUNTS_MAX];
    const int n = module_of(t)->counts ? module_of(t)->counts(counts) : 0;
    for (int i = 0; i < n; i++)
        if (!strcmp(counts[i].name, "repaired outputs")) return counts[i].value;
    return 0;
}

/* Seconds per D, for `repeats` of them. */
static enum bitcut_status time_once(double *seconds, const struct found *x,
                                    struct task *t, int repeats, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    struct gpu_measurement m;
    const struct gpu_loop loop = { .warm = 1, .repeats = repeats, .reads = 1 };
    const struct gpu_entrant entrant = { .kernel = x->work.kernel,
                                         .plan = x->work.plan,
                                         .part = GPU_WHOLE,
                                         .emulation = &x->work.emulation };
    if (module_of(t)->timer->run(&m, t->session, &entrant, &loop, why))
        return told(why, f);
    *seconds = m.milliseconds / 1000 / repeats;
    return BITCUT_OK;
}

/* Compute D once for comparison, and count the repaired steps. */
static enum bitcut_status run_once(struct found *x, struct task *t, struct fault *f)
{
    take_repaired(t);
    const enum bitcut_status status = time_once(&x->device, x, t, 1, f);
    x->repaired = take_repaired(t) / 2; /* one run was started before */
    return status;
}

static enum bitcut_status time_device(struct found *x, struct task *t, struct fault *f)
{
    double now;
    const double wanted = x->device > 0 ? TIMED_MILLISECONDS / 1000.0 / x->device : 1;
    const int repeats = wanted < 1              ? 1
                        : wanted > REPEATS_MAX ? REPEATS_MAX
                                                : (int)wanted;
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < ROUNDS && status == BITCUT_OK; i++) {
        status = time_once(&now, x, t, repeats, f);
        if (status == BITCUT_OK && now < x->device) x->device = now;
        if (progress_stopped(&t->context->progress)) return told("stopped", f);
    }
    return status;
}

/* Compute from matrices in CPU memory, on all devices. */
static enum bitcut_status run_whole(struct task *t, struct gpu_work *w, struct fault *f)
{
    const size_t bytes = t->n * t->n * sizeof(uint32_t);
    const struct gpu_memory memory[4] = {
        { t->a.at, bytes }, { t->b.at, bytes }, { NULL, 0 }, { t->got.at, bytes }
    };
    struct gemm_offload all = t->devices.group.offload;
    if (t->devices.group.count == 1)
        return gpu_work_run(w, memory, &t->devices.recorder.gpu,
                            &t->devices.recorder.device, f);
    all.least = 0;
    w->gemm.kernel = NULL;
    const size_t before = gpu_offload_group_runs(&t->devices.group);
    const enum bitcut_status status =
        gemm_run(&w->gemm,
                 &(struct gemm_options){ .threads = t->context->threads,
                                         .progress = &t->context->progress,
                                         .offload = &all },
                 f);
    if (status != BITCUT_OK || gpu_offload_group_runs(&t->devices.group) > before)
        return status;
    return told("the devices did not take the whole GEMM", f);
}

/* The same, twice; D is the same as before. */
static enum bitcut_status time_whole(struct found *x, struct task *t, struct fault *f)
{
    enum { TIMES = 2 };
    char why[GPU_FAULT_MAX];
    enum bitcut_status status = BITCUT_OK;
    struct gpu_work w = x->work;
    w.gemm.d.to = t->got.at;
    for (int i = 0; i < TIMES && status == BITCUT_OK; i++) {
        const double start = seconds_now();
        status = run_whole(t, &w, f);
        const double now = seconds_now() - start;
        if (i == 0 || now < x->whole) x->whole = now;
    }
    if (status != BITCUT_OK) return status;
    if (module_of(t)->timer->read(t->want.at, t->session, 0, t->n, why))
        return told(why, f);
    for (size_t i = 0; i < t->n * t->n; i++)
        x->mismatches += t->got.at[i] != t->want.at[i];
    return BITCUT_OK;
}

/* --- units ------------------------------------------------------------------------ */

static json_t *describe(const struct task *t, const struct found *x)
{
    const double rate = products(t, &x->work, t->n) / x->device,
                 host = products(t, &x->work, x->rows) / x->host;
    const int block = x->work.emulation.rule[0].block;
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:I, s:s, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:I, s:I, "
        "s:s, s:i, s:s}",
        "unit", x->work.gemm.unit->name, "evidence", unit_evidence(x->work.gemm.unit),
        "recipe", t->recipe->name, "method", device_gemm_methods(&x->work), "n",
        (json_int_t)t->n, "input", t->input, "products_per_second", rate,
        "host_products_per_second", host, "host_ratio", rate / host, "repaired",
        (json_int_t)x->repaired, "repaired_fraction",
        (double)x->repaired * (block ? block : 1) / products(t, &x->work, t->n),
        "whole_seconds", x->whole, "whole_ratio", x->whole / x->device, "verified",
        (json_int_t)(x->rows * t->n), "mismatches", (json_int_t)x->mismatches, "device",
        t->devices.recorder.device.name, "devices", t->devices.group.count, "driver",
        t->devices.recorder.device.driver);
}

/* The complete GEMM on the device.  Returns false if it does not run on the unit. */
static bool pose(struct gpu_work *w, const struct task *t, const struct bitcut_unit *u,
                 struct fault *f)
{
    struct bitcut_gemm g = gemm_of(t->recipe, u);
    gemm_set_dense(&g, t->got.at, t->n, t->n, t->n, t->a.at, t->b.at, NULL);
    return gpu_work_emulate(w, &t->devices.recorder.gpu, &t->devices.recorder.device, &g,
                            f) == BITCUT_OK;
}

/* All results for a unit, whose GEMM is complete, with its matrices on the device. */
static enum bitcut_status find(struct found *x, struct task *t, struct fault *f)
{
    const struct gpu_timer *const timer = module_of(t)->timer;
    char why[GPU_FAULT_MAX];
    struct gpu_library library;
    if (timer->begin(&t->session, &library, &x->work.gemm, 1,
                     t->devices.recorder.device.number, why))
        return told(why, f);
    enum bitcut_status status = run_once(x, t, f);
    if (status == BITCUT_OK) status = verify(x, t, f);
    if (status == BITCUT_OK && !x->mismatches) status = time_device(x, t, f);
    if (status == BITCUT_OK && !x->mismatches) status = time_whole(x, t, f);
    timer->end(t->session);
    return status;
}

static int bench_unit(struct task *t, const struct bitcut_unit *u)
{
    struct fault f;
    struct found x = { 0 };
    if (!pose(&x.work, t, u, &f)) return fail(u->name, &f);
    terminal_label(u->name);
    if (find(&x, t, &f) != BITCUT_OK) return fail(u->name, &f);
    emit_row(&t->context->emitter, describe(t, &x));
    return x.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* The worse of two exit statuses. */
static bool goes_on(int *worst, int status)
{
    if (status != EXIT_GOOD) *worst = status;
    return status == EXIT_GOOD || status == EXIT_FOUND;
}

static int bench_units(struct task *t, const struct bitcut_unit *only)
{
    int worst = EXIT_GOOD;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        struct gpu_work w;
        if (only ? u != only : field_repeats(u) || !pose(&w, t, u, NULL)) continue;
        if (!goes_on(&worst, bench_unit(t, u))) break;
    }
    return worst;
}

/* --- sizes ------------------------------------------------------------------------ */

static enum bitcut_status task_fill(struct task *t, const struct input *input,
                                    struct fault *f)
{
    const struct context *x = t->context;
    enum bitcut_status status =
        source_generate(&t->a, input, INPUT_A, t->n, t->n, x->seed, x->threads, f);
    if (status == BITCUT_OK)
        status =
            source_generate(&t->b, input, INPUT_B, t->n, t->n, x->seed, x->threads, f);
    if (status == BITCUT_OK) status = matrix_init(&t->got, t->n, t->n, f);
    return status == BITCUT_OK ? matrix_init(&t->want, t->n, t->n, f) : status;
}

static void task_clear(struct task *t)
{
    matrix_clear(&t->a);
    matrix_clear(&t->b);
    matrix_clear(&t->got);
    matrix_clear(&t->want);
}

static int bench_size(struct task *t, const struct input *input,
                      const struct bitcut_unit *only)
{
    struct fault f;
    const int status =
        task_fill(t, input, &f) == BITCUT_OK ? bench_units(t, only) : fail("bench", &f);
    task_clear(t);
    return status;
}

int bench_emu_device(struct context *x, const struct input *input,
                     const struct bitcut_recipe *recipe)
{
    static const struct option_counts usual = { 1, { 4096 } };
    const struct bench_options *const o = x->own;
    const struct option_counts *const sizes = o->sizes.count ? &o->sizes : &usual;
    const struct bitcut_format *parts =
        recipe->split ? recipe->split->part[0].format : &formats[FORMAT_F16];
    struct task t = { .context = x, .recipe = recipe, .input = input->family->name };
    const struct bitcut_unit *only = NULL;
    if (o->unit && !(only = unit_find(o->unit, parts))) return fail_unit(o->unit, true);
    int worst = emulating_device_open(&t.devices, x, o->device, "bench");
    x->emitter.columns = columns;
    if (worst == EXIT_GOOD && !module_of(&t)->timer)
        worst = complain("--device", "names a device whose module times nothing");
    for (int i = 0; i < sizes->count && worst <= EXIT_FOUND; i++) {
        t.n = sizes->at[i];
        if (!goes_on(&worst, t.n ? bench_size(&t, input, only)
                                 : complain("-n", "must be at least 1")))
            break;
    }
    emulating_device_close(&t.devices, x);
    return worst;
}
