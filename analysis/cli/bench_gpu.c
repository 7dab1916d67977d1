#include "analysis/cli/bench_gpu.h"

#include "analysis/cli/bench_batch.h"
#include "analysis/cli/bench_plan.h"
#include "analysis/cli/place.h"
#include "analysis/device/race.h"
#include "analysis/cli/terminal.h"
#include "gpu/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNNERS_MOST = 512, HEATS_MOST = 512, N_MOST = 10000000, TILE_MOST = 4096 };

/* A shape to race, and whose it is. */
struct heat {
    const struct shape_set *set;
    struct kernel_shape shape;
};

struct bench {
    struct context *context;
    const struct bench_gpu *options;
    const struct bench_study *study;
    struct bench_filter filter;
    struct recorder recorder;
    struct race race;
    const struct option_counts *counts; /* of GEMMs at a time             */
    struct heat heat[HEATS_MOST];       /* each raced in each count       */
    size_t heats;
    struct runner runner[RUNNERS_MOST]; /* of the shape that is raced now */
    size_t runners;
    const char *input; /* of that shape */
    char label[96];
};

static const char *const part_names[GPU_PARTS] = {
    [GPU_WHOLE] = "whole",
    [GPU_PRODUCT] = "product",
    [GPU_SPLIT] = "split",
};

/* The peer after `at` that takes FP32 matrices; the first for NULL; NULL at the end. */
static const struct gpu_peer *peer_next(const struct bench *b, const struct gpu_peer *at)
{
    at = at ? at + 1 : b->recorder.gpu.module->timer->peers;
    while (at->name && at->matrices != FORMAT_F32) at++;
    return at->name ? at : NULL;
}

/* The GEMMs that are raced now, as the tile model reads them. */
static struct bitcut_gemm raced_gemm(const struct bench *b, int slices)
{
    const struct kernel_shape s = b->race.shape;
    return (struct bitcut_gemm){
        .count = b->race.count, .m = s.m, .n = s.n, .k = s.k, .order.slices = slices
    };
}

/* --- who takes part --------------------------------------------------------------- */

static bool splits_already(const struct bench *b, const struct runner *r)
{
    for (size_t i = 0; i < b->runners; i++) {
        const struct gpu_entrant *e = &b->runner[i].entrant;
        if (e->part == GPU_SPLIT && !strcmp(b->runner[i].split, r->split) &&
            e->plan.equilibrate == r->entrant.plan.equilibrate)
            return true;
    }
    return false;
}

/* All parts of it; a split that others have is timed once. */
static enum bitcut_status add(struct bench *b, struct runner r, struct fault *f)
{
    for (int part = 0; part < GPU_PARTS; part++) {
        r.entrant.part = (enum gpu_part)part;
        if (part != GPU_WHOLE && !r.split) continue;
        if (part == GPU_SPLIT && splits_already(b, &r)) continue;
        if (b->runners == RUNNERS_MOST)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "too many kernels at a time");
        b->runner[b->runners++] = r;
    }
    return BITCUT_OK;
}

static enum bitcut_status add_peer(struct bench *b, const struct gpu_peer *peer,
                                   struct fault *f)
{
    struct runner r = { .entrant = { .peer = peer, .plan.order.slices = 1 },
                        .name = peer->name,
                        .split = peer->split };
    const struct bitcut_split *split = r.split ? bitcut_split_find(r.split) : NULL;
    if (r.split && !split)
        return fault_set(f, BITCUT_CANNOT, "%s: there is no split %s", r.name, r.split);
    if (split) r.entrant.plan.split_a = r.entrant.plan.split_b = *split;
    return add(b, r, f);
}

static enum bitcut_status add_kernel(struct bench *b, const struct gpu_kernel *kernel,
                                     int slices, struct fault *f)
{
    struct gpu_work w;
    struct runner r = { .entrant = { .kernel = kernel }, .name = kernel->name };
    enum bitcut_status status = kernel_gemm(&r.gemm, &b->recorder, kernel, f);
    if (status != BITCUT_OK) return status;
    r.gemm.order.slices = slices;
    r.gemm.equilibrate = b->options->equilibrate;
    status = gpu_work_make(&w, &r.gemm, kernel, &b->recorder.device, f);
    if (status != BITCUT_OK) return status;
    r.entrant.plan = w.plan;
    r.split = w.plan.split_a.name;
    return add(b, r, f);
}

/* The peers first. */
static enum bitcut_status add_all(struct bench *b, struct fault *f)
{
    const struct bitcut_gemm gemm = raced_gemm(b, 1);
    const struct gpu_peer *p = NULL;
    const struct gpu_kernel *kernel = NULL;
    enum bitcut_status status = BITCUT_OK;
    size_t kernels = 0;
    b->runners = 0;
    while (status == BITCUT_OK && (p = peer_next(b, p))) status = add_peer(b, p, f);
    while (status == BITCUT_OK && (kernel = gpu_kernel_next(&b->recorder.gpu, kernel))) {
        if (!bench_wants(kernel, &b->recorder, b->study, &b->filter, &gemm)) continue;
        kernels++;
        for (const int *slices = b->study->slices; *slices && status == BITCUT_OK;
             slices++)
            if (*slices <= kernel->slices_most)
                status = add_kernel(b, kernel, *slices, f);
    }
    if (status == BITCUT_OK && !kernels)
        status = fault_set(f, BITCUT_CANNOT, "no kernel of study %s is for this device",
                           b->study->name);
    return status;
}

/* --- rows ------------------------------------------------------------------------- */

/* Of all GEMMs of a batch. */
static double products(const struct race *r)
{
    const struct kernel_shape s = r->shape;
    return (double)r->count * (double)s.m * (double)s.n * (double)s.k;
}

static double word_bytes(const struct runner *r)
{
    const struct bitcut_split *s = &r->entrant.plan.split_a;
    return r->split ? (double)format_bytes(s->format) * s->words : 0;
}

/* The fewest bytes that the part reads and writes: operands or their words, and D. */
static double bytes_moved(const struct runner *r, const struct race *race)
{
    const double count = (double)race->count, m = (double)race->shape.m,
                 n = (double)race->shape.n, k = (double)race->shape.k;
    const double operands = count * (m + n) * k, d = count * m * n;
    switch (r->entrant.part) {
    case GPU_SPLIT: return (4 + word_bytes(r)) * operands;
    case GPU_PRODUCT: return word_bytes(r) * operands + 4 * d;
    default: return 4 * (operands + d);
    }
}

static bool timed(const struct runner *r) { return r && !r->fault[0]; }

/* The peer's same part, or all of it if it has no parts; NULL if it was not timed. */
static const struct runner *peer_runner(const struct bench *b, const struct gpu_peer *p,
                                        enum gpu_part part)
{
    const struct runner *found = NULL;
    for (size_t i = 0; i < b->runners; i++) {
        const struct gpu_entrant *e = &b->runner[i].entrant;
        if (e->peer == p && (e->part == part || !p->split)) found = &b->runner[i];
    }
    return timed(found) ? found : NULL;
}

static json_t *real_or_null(double x) { return x > 0 ? json_real(x) : json_null(); }

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* How fast it is beside every peer; of a third of the rate of f16 products, percent. */
static void describe_ratios(json_t *row, const struct bench *b, const struct runner *r)
{
    const enum gpu_part part = r->entrant.part;
    double half_ms = 0;
    const struct gpu_peer *p = NULL;
    while ((p = peer_next(b, p))) {
        char key[80];
        const struct runner *peer = part == GPU_SPLIT ? NULL : peer_runner(b, p, part);
        const double ratio = timed(r) && peer ? peer->ms / r->ms : 0;
        const struct runner *half =
            p->role == GPU_PEER_HALF ? peer_runner(b, p, GPU_PRODUCT) : NULL;
        snprintf(key, sizeof key, "ratio_%s", p->name);
        json_object_set_new(row, key, real_or_null(ratio));
        if (half) half_ms = half->ms;
    }
    const bool third = timed(r) && part != GPU_SPLIT && half_ms > 0;
    json_object_set_new(row, "third", real_or_null(third ? 300 * half_ms / r->ms : 0));
}

static void describe_speed(json_t *row, const struct bench *b, const struct runner *r)
{
    const double flops = r->entrant.part == GPU_SPLIT ? 0 : 2 * products(&b->race);
    json_object_update_new(
        row, json_pack("{s:o, s:o, s:o, s:o}", "ms", real_or_null(r->ms), "ms_min",
                       real_or_null(r->ms_min), "ms_max", real_or_null(r->ms_max),
                       "tflops", real_or_null(timed(r) ? flops / r->ms / 1e9 : 0)));
    describe_ratios(row, b, r);
}

/* Where the tile model ranks it among the kernels of the same bits: 1 is its choice. */
static json_t *rank_of(const struct bench *b, const struct runner *r)
{
    const struct bitcut_gemm gemm = raced_gemm(b, r->entrant.plan.order.slices);
    struct gpu_choice x[GPU_CHOICES_MOST];
    const size_t count = gpu_kernel_rank(x, &b->recorder.gpu, &b->recorder.device,
                                         r->entrant.kernel, &gemm);
    for (size_t i = 0; i < count; i++)
        if (x[i].kernel == r->entrant.kernel) return json_count(i + 1);
    return json_null();
}

/* Its speed over that of the fastest of the same part and bits. */
static json_t *share_of_best(const struct bench *b, const struct runner *r)
{
    double best = r->ms;
    for (size_t i = 0; i < b->runners; i++) {
        const struct runner *x = &b->runner[i];
        if (timed(x) && x->entrant.kernel && x->entrant.part == r->entrant.part &&
            x->entrant.plan.order.slices == r->entrant.plan.order.slices &&
            gpu_kernel_alike(x->entrant.kernel, r->entrant.kernel))
            best = fmin(best, x->ms);
    }
    return real_or_null(timed(r) ? best / r->ms : 0);
}

static void describe_choice(json_t *row, const struct bench *b, const struct runner *r)
{
    const bool tiled = r->entrant.kernel && r->entrant.part != GPU_SPLIT;
    json_object_set_new(row, "rank", tiled ? rank_of(b, r) : json_null());
    json_object_set_new(row, "of_best", tiled ? share_of_best(b, r) : json_null());
}

/* Where it is on a roofline, and what its GEMMs cost. */
static void describe_costs(json_t *row, const struct bench *b, const struct runner *r)
{
    const double all = products(&b->race);
    const double flops = r->entrant.part == GPU_SPLIT ? 0 : 2 * all;
    const double bytes = bytes_moved(r, &b->race), joules = r->millijoules / 1e3;
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "flops_per_byte",
                  real_or_null(flops / bytes), "gb_per_second",
                  real_or_null(timed(r) ? bytes / r->ms / 1e6 : 0), "joules",
                  real_or_null(joules), "gflops_per_watt",
                  real_or_null(joules > 0 ? flops / joules / 1e9 : 0), "pj_per_product",
                  real_or_null(joules > 0 ? joules * 1e12 / all : 0), "mhz",
                  r->megahertz ? json_integer(r->megahertz) : json_null()));
}

static void describe_runner(json_t *row, const struct runner *r)
{
    const struct gpu_kernel *k = r->entrant.kernel;
    char tile[80] = "";
    if (k) snprintf(tile, sizeof tile, "%dx%dx%d", k->tile_m, k->tile_n, k->tile_k);
    json_object_update_new(
        row, json_pack("{s:o, s:o, s:b, s:o, s:o, s:i, s:o}", "recipe",
                       text_or_null(k ? k->recipe : NULL), "split",
                       text_or_null(r->split), "equilibrate",
                       (int)r->entrant.plan.equilibrate, "tile", text_or_null(tile),
                       "stages", k ? json_integer(k->stages) : json_null(), "split_k",
                       r->entrant.plan.order.slices, "fault", text_or_null(r->fault)));
}

static void describe_device(json_t *row, const struct bench *b)
{
    const struct gpu_device *d = &b->recorder.device;
    json_object_update_new(
        row,
        json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "study",
                  b->study->name, "input", b->input, "rounds", (json_int_t)b->race.rounds,
                  "seed", json_seed(b->race.seed), "date", json_today(), "device",
                  json_text(d->name), "driver", json_text(d->driver), "runtime",
                  json_text(d->runtime), "capability", d->capability, "library",
                  json_text(b->race.library.text)));
}

/* What people look at; --json has all. */
static const struct emit_column columns[] = {
    /* clang-format off */
    { "name",            "name",      0, NULL },
    { "part",            "part",      0, NULL },
    { "m",               "m",         0, NULL },
    { "n",               "n",         0, NULL },
    { "k",               "k",         0, NULL },
    { "count",           "count",     0, "1" },
    { "split_k",         "slices",    0, "1" },
    { "ms",              "ms",        4, NULL },
    { "tflops",          "tflops",    4, NULL },
    { "ratio_sgemm",     "x sgemm",   3, "-" },
    { "third",           "% third",   3, "-" },
    { "relres",          "relres",    3, NULL },
    { "gflops_per_watt", "GFlop/s/W", 3, "-" },
    { "compared",        "compared",  0, NULL },
    { "rank",            "rank",      0, "-" },
    { "of_best",         "of best",   3, "-" },
    { "fallback",        "fallback",  0, "-" },
    { "fault",           "fault",     0, "-" },
    { 0 }
    /* clang-format on */
};

static json_t *describe(const struct bench *b, const struct runner *r)
{
    const bool kernel = r->entrant.kernel;
    const struct kernel_shape s = b->race.shape;
    json_t *row =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", r->name, "part",
                  part_names[r->entrant.part], "m", json_count(s.m), "n", json_count(s.n),
                  "k", json_count(s.k), "count", json_count(b->race.count));
    describe_speed(row, b, r);
    json_object_update_new(
        row, json_pack("{s:o, s:o, s:o, s:o}", "relres",
                       r->looked_at ? json_number(r->relres) : json_null(), "compared",
                       kernel ? json_count(r->compared) : json_null(), "mismatches",
                       kernel ? json_count(r->mismatches) : json_null(), "fallback",
                       text_or_null(r->fallback)));
    describe_choice(row, b, r);
    describe_costs(row, b, r);
    describe_runner(row, r);
    describe_device(row, b);
    return row;
}

/* --- shapes ----------------------------------------------------------------------- */

static int fail_device(const struct runner *r)
{
    struct fault f;
    fault_set(&f, BITCUT_CANNOT, "%s", r->fault);
    return fail(r->name, &f);
}

static void set_label(struct bench *b)
{
    const struct kernel_shape s = b->race.shape;
    char count[32] = "";
    if (b->race.count > 1) snprintf(count, sizeof count, "%zu of ", b->race.count);
    snprintf(b->label, sizeof b->label, "%s%zu x %zu x %zu", count, s.m, s.n, s.k);
    terminal_label(b->label);
}

static int race_shape(struct bench *b, struct heat heat)
{
    struct fault f;
    struct input input;
    int worst = EXIT_GOOD;
    b->input = heat.set->input ? heat.set->input : b->options->input;
    if (input_parse(&input, b->input, &f) != BITCUT_OK)
        return fail_input("--input", "inputs", &f);
    b->race.shape = heat.shape;
    b->race.input = &input;
    set_label(b);
    enum bitcut_status status = add_all(b, &f);
    if (status == BITCUT_OK) status = race_run(b->runner, b->runners, &b->race, &f);
    if (status != BITCUT_OK) return fail("bench", &f);
    for (size_t i = 0; i < b->runners; i++)
        emit_row(&b->context->emitter, describe(b, &b->runner[i]));
    b->race.done++;
    for (size_t i = 0; i < b->runners && worst < EXIT_USAGE; i++) {
        const struct runner *r = &b->runner[i];
        if (r->mismatches) worst = EXIT_FOUND;
        else if (r->entrant.kernel && r->fault[0]) worst = fail_device(r);
    }
    return worst;
}

/* Every shape of a set, at every size if it is scaled. */
static int add_set(struct bench *b, const struct shape_set *set)
{
    const struct option_counts once = { 1, { 1 } }, *given = b->options->sizes;
    const struct option_counts *sizes = !set->scaled   ? &once
                                        : given->count ? given
                                                       : &bench_sizes;
    if (set->scaled && b->study->small && !given->count)
        return complain("-n", "missing; the kernels for batches take up to 64");
    for (int i = 0; i < sizes->count; i++)
        for (const struct kernel_shape *s = set->shape; s->m; s++) {
            const size_t n = sizes->at[i];
            if (b->heats == HEATS_MOST) return complain("--shapes", "too many at a time");
            b->heat[b->heats++] = (struct heat){ set, { s->m * n, s->n * n, s->k * n } };
        }
    return EXIT_GOOD;
}

/* Those of the command line, or the study's. */
static int add_sets(struct bench *b)
{
    const struct option_texts given = { 1, { b->study->shapes } }, *texts = &given;
    int status = EXIT_GOOD;
    bool scaled = false;
    if (b->options->shapes->count) texts = b->options->shapes;
    for (int i = 0; i < texts->count && status == EXIT_GOOD; i++) {
        const struct shape_set *set = table_find(TABLE(shape_sets), texts->text[i]);
        if (!set) return fail_unknown("--shapes", texts->text[i], TABLE(shape_sets));
        status = add_set(b, set);
        scaled |= set->scaled;
    }
    if (status == EXIT_GOOD && b->options->sizes->count && !scaled)
        return complain("-n", "is for shapes made of n; bitcut list shapes has all");
    return status;
}

/* --- the suite -------------------------------------------------------------------- */

/* Counts of the command line, or the study's. */
static int check_batches(struct bench *b)
{
    static const struct option_counts single = { 1, { 1 } };
    const struct option_counts *given = b->options->batches, *own = &b->study->batches;
    const size_t most = b->study->small ? N_MOST : GPU_COUNT_MOST;
    b->counts = given->count ? given : own->count ? own : &single;
    if (given->count && !own->count)
        return complain("--batch", "is for a study of batches");
    for (int i = 0; i < b->counts->count; i++)
        if (b->counts->at[i] < 1 || b->counts->at[i] > most)
            return complain("--batch", b->study->small ? "must be 1 to 10000000"
                                                       : "must be 1 to 65535");
    return EXIT_GOOD;
}

/* A study, a kernel and sizes that can be. */
static int check_options(struct bench *b)
{
    const struct bench_gpu *o = b->options;
    b->study = o->study ? table_find(TABLE(bench_studies), o->study) : bench_studies;
    if (!b->study) return fail_unknown("--study", o->study, TABLE(bench_studies));
    if (!o->rounds || o->rounds > ROUNDS_MOST)
        return complain("--rounds", "must be 1 to 99");
    for (int i = 0; i < o->sizes->count; i++)
        if (o->sizes->at[i] < 1 || o->sizes->at[i] > N_MOST)
            return complain("-n", "must be 1 to 10000000");
    b->filter.kernel = o->kernel;
    if (o->tile && !option_tile(b->filter.tile, o->tile, 2, TILE_MOST))
        return complain("--tile", "not sides like 128x64 or 128x64x32");
    return check_batches(b);
}

/* Whether the module has a kernel that is called so, and one with the tile. */
static int check_filter(const struct bench *b)
{
    const struct gpu_kernel *kernel = NULL;
    bool called = !b->filter.kernel, tiled = false;
    while ((kernel = gpu_kernel_next(&b->recorder.gpu, kernel))) {
        if (!gpu_kernel_splits(kernel)) continue;
        called |= b->filter.kernel && kernel_is_called(kernel->name, b->filter.kernel);
        tiled |= bench_has_tile(kernel, &b->filter);
    }
    if (!called) return complain("--kernel", "unknown; bitcut list kernels has all");
    return tiled ? EXIT_GOOD
                 : complain("--tile", "no kernel has it; bitcut list kernels has all");
}

static int run_batches(const struct bench *b)
{
    struct kernel_shape shape[HEATS_MOST];
    const struct bench_batch batch = { b->context, b->options, b->study, &b->recorder,
                                       b->counts,  shape,      b->heats };
    for (size_t i = 0; i < b->heats; i++) shape[i] = b->heat[i].shape;
    return bench_batch(&batch);
}

static int run_gemms(struct bench *b)
{
    int worst = b->recorder.gpu.module->timer
                    ? check_filter(b)
                    : complain("bench", "the module times nothing");
    b->race.total = b->heats * (size_t)b->counts->count;
    while (b->race.done < b->race.total && worst < EXIT_USAGE) {
        b->race.count = b->counts->at[b->race.done / b->heats];
        const int status = race_shape(b, b->heat[b->race.done % b->heats]);
        if (status > worst) worst = status;
    }
    return worst;
}

static int run(struct bench *b)
{
    char folder[PLACE_MOST];
    struct fault f;
    int worst = check_options(b);
    if (worst == EXIT_GOOD) worst = add_sets(b);
    if (worst != EXIT_GOOD) return worst;
    if (recorder_open(&b->recorder, place_module(folder), &f) != BITCUT_OK)
        return fail("bench", &f);
    worst = b->study->small ? run_batches(b) : run_gemms(b);
    recorder_close(&b->recorder);
    return worst;
}

int bench_gpu(struct context *x, const struct bench_gpu *options)
{
    struct bench *b = calloc(1, sizeof *b);
    struct fault f;
    if (!b) {
        fault_set(&f, BITCUT_NO_MEMORY, "out of memory");
        return fail("bench", &f);
    }
    x->emitter.columns = columns;
    b->context = x;
    b->options = options;
    b->race = (struct race){ .recorder = &b->recorder,
                             .seed = x->seed,
                             .threads = x->threads,
                             .rounds = options->rounds,
                             .energy_milliseconds = options->energy_milliseconds,
                             .progress = &x->progress };
    const int status = run(b);
    free(b);
    return status;
}
