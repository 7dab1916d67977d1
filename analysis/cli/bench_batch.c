#include "analysis/cli/bench_batch.h"

#include "analysis/device/matrix_excerpt.h"
#include "analysis/device/race.h"
#include "lib/file/source.h"
#include "analysis/cli/terminal.h"
#include "lib/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DISTINCT = 256,  /* matrices of A, and of B, that differ                   */
    LOOKED_AT = 256, /* GEMMs that are looked at                               */
    MEAN_MOST = 32,  /* m, n and k of shapes that the means are over           */
    RUNNERS_MOST = 64,
    PEERS_MOST = 8
};

/* One that takes part, and what is found of it.  A time is of one batch. */
struct batch_runner {
    struct gpu_entrant entrant;
    const char *name;
    struct bitcut_gemm gemm; /* of a kernel */
    /* ------------------------------------------------------------------------------- */
    double relres; /* of the outputs looked at */
    size_t compared, mismatches;
    char fault[GPU_FAULT_MOST]; /* why it was not timed, or "" */
    int repeats, megahertz;
    double ms, ms_min, ms_max;
};

/* How much faster than each peer, over the shapes on which the kernel was timed. */
struct mean {
    double sum[PEERS_MOST];
    int timed[PEERS_MOST]; /* on so many of the shapes the peer, too */
    int shapes;
};

/* Batches of one shape and count under way. */
struct course {
    const struct bench_batch *bench;
    struct kernel_shape shape;
    size_t count, distinct;
    uint16_t *a, *b, *d, *model; /* distinct matrices; D: one; the model's: as A */
    double *exact;               /* as the model's                               */
    const struct gpu_kernel *modelled;
    struct excerpt some; /* the GEMMs looked at */
    struct gpu_session *session;
    struct gpu_library library;
    struct batch_runner runner[RUNNERS_MOST];
    size_t runners;
};

static const struct gpu_timer *timer_of(const struct bench_batch *b)
{
    return b->recorder->gpu.module->timer;
}

/* The peer after `at` that takes f16 matrices; the first for NULL; NULL at the end. */
static const struct gpu_peer *peer_next(const struct bench_batch *b,
                                        const struct gpu_peer *at)
{
    at = at ? at + 1 : timer_of(b)->peers;
    while (at->name && at->matrices != FORMAT_F16) at++;
    return at->name ? at : NULL;
}

static bool by_pointers(const struct batch_runner *r)
{
    return r->entrant.kernel ? r->entrant.pointers : r->entrant.peer->pointers;
}

/* --- who takes part --------------------------------------------------------------- */

static bool takes(const struct bench_batch *b, const struct gpu_kernel *k,
                  struct kernel_shape s)
{
    return !gpu_kernel_splits(k) && gpu_kernel_fits(&b->recorder->device, k) &&
           s.m <= k->size_most && s.n <= k->size_most && s.k <= k->size_most;
}

/* Whether no kernel on the same instruction is for smaller sizes and takes the shape. */
static bool is_smallest(const struct bench_batch *b, const struct gpu_kernel *k,
                        struct kernel_shape s)
{
    const struct gpu_kernel *other = NULL;
    while ((other = gpu_kernel_next(&b->recorder->gpu, other)))
        if (!other->instruction == !k->instruction && other->size_most < k->size_most &&
            takes(b, other, s))
            return false;
    return true;
}

static bool wants(const struct bench_batch *b, const struct gpu_kernel *k,
                  struct kernel_shape s)
{
    if (!takes(b, k, s)) return false;
    return b->options->kernel ? kernel_is_called(k->name, b->options->kernel)
                              : is_smallest(b, k, s);
}

static enum bitcut_status add(struct course *c, struct batch_runner r, struct fault *f)
{
    if (c->runners == RUNNERS_MOST)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "too many kernels at a time");
    c->runner[c->runners++] = r;
    return BITCUT_OK;
}

static enum bitcut_status add_kernel(struct course *c, const struct gpu_kernel *k,
                                     struct fault *f)
{
    struct batch_runner r = { .entrant = { .kernel = k }, .name = k->name };
    struct gpu_work w;
    enum bitcut_status status = kernel_gemm(&r.gemm, c->bench->recorder, k, f);
    if (status == BITCUT_OK)
        status = gpu_work_make(&w, &r.gemm, k, &c->bench->recorder->device, f);
    if (status == BITCUT_OK) r.entrant.plan = w.plan;
    if (status == BITCUT_OK) status = add(c, r, f);
    r.entrant.pointers = true;
    return status == BITCUT_OK ? add(c, r, f) : status;
}

/* The peers first. */
static enum bitcut_status add_all(struct course *c, struct fault *f)
{
    const struct bench_batch *b = c->bench;
    const struct gpu_kernel *k = NULL;
    enum bitcut_status status = BITCUT_OK;
    const struct gpu_peer *p = NULL;
    while (status == BITCUT_OK && (p = peer_next(b, p)))
        status =
            add(c, (struct batch_runner){ .entrant = { .peer = p }, .name = p->name }, f);
    const size_t peers = c->runners;
    while (status == BITCUT_OK && (k = gpu_kernel_next(&b->recorder->gpu, k)))
        if (wants(b, k, c->shape)) status = add_kernel(c, k, f);
    if (status == BITCUT_OK && c->runners == peers)
        status = fault_set(f, BITCUT_CANNOT,
                           "no kernel for %zu x %zu x %zu is for this device", c->shape.m,
                           c->shape.n, c->shape.k);
    return status;
}

/* --- operands --------------------------------------------------------------------- */

/* `count` matrices of an input family, rounded to f16. */
static enum bitcut_status make(uint16_t **to, const struct bench_batch *b,
                               enum input_role role, size_t count, size_t rows,
                               size_t cols, struct fault *f)
{
    struct input input;
    struct matrix m = { 0 };
    enum bitcut_status status = input_parse(&input, b->options->input, f);
    if (status == BITCUT_OK)
        status = source_generate(&m, &input, role, count * rows, cols, b->context->seed,
                                 b->context->threads, f);
    *to = memory_allocate(count * rows * cols, sizeof **to);
    if (status == BITCUT_OK && !*to) status = fault_set(f, BITCUT_NO_MEMORY, "no memory");
    for (size_t i = 0; status == BITCUT_OK && i < count * rows * cols; i++)
        (*to)[i] = (uint16_t)bitcut_format_convert(
            &formats[FORMAT_F16], &roundings[ROUND_RN], &formats[FORMAT_F32], m.at[i]);
    matrix_clear(&m);
    return status;
}

static double half(uint16_t x) { return format_to_double(&formats[FORMAT_F16], x); }

/* Products of f16 are exact in binary64, and their sums but for the last bits. */
static void make_exact(struct course *c)
{
    const struct kernel_shape s = c->shape;
    for (size_t x = 0; x < c->distinct; x++)
        for (size_t i = 0; i < s.m; i++)
            for (size_t j = 0; j < s.n; j++) {
                double sum = 0;
                for (size_t p = 0; p < s.k; p++)
                    sum += half(c->a[(x * s.m + i) * s.k + p]) *
                           half(c->b[(x * s.k + p) * s.n + j]);
                c->exact[(x * s.m + i) * s.n + j] = sum;
            }
}

static enum bitcut_status course_init(struct course *c, struct fault *f)
{
    const struct kernel_shape s = c->shape;
    const size_t outputs = s.m * s.n;
    char why[GPU_FAULT_MOST];
    c->distinct = smaller(c->count, DISTINCT);
    c->some = excerpt_some(c->count, LOOKED_AT, c->bench->context->seed, 0);
    enum bitcut_status status = make(&c->a, c->bench, INPUT_A, c->distinct, s.m, s.k, f);
    if (status == BITCUT_OK)
        status = make(&c->b, c->bench, INPUT_B, c->distinct, s.k, s.n, f);
    if (status != BITCUT_OK) return status;
    c->d = memory_allocate(outputs, sizeof *c->d);
    c->model = memory_allocate(c->distinct * outputs, sizeof *c->model);
    c->exact = memory_allocate(c->distinct * outputs, sizeof *c->exact);
    if (!c->d || !c->model || !c->exact)
        return fault_set(f, BITCUT_NO_MEMORY, "no memory");
    make_exact(c);
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.count = c->count;
    g.m = s.m;
    g.n = s.n;
    g.k = s.k;
    g.a = (struct bitcut_matrix){ .at = c->a, .format = &formats[FORMAT_F16] };
    g.b = (struct bitcut_matrix){ .at = c->b, .format = &formats[FORMAT_F16] };
    if (timer_of(c->bench)->begin(&c->session, &c->library, &g, c->distinct,
                                  c->bench->recorder->device.number, why) == 0)
        return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "%s", why);
}

static void course_clear(struct course *c)
{
    if (c->session) timer_of(c->bench)->end(c->session);
    free(c->exact);
    free(c->model);
    free(c->d);
    free(c->b);
    free(c->a);
}

/* --- verifying -------------------------------------------------------------------- */

/* A fault of the device goes to the runner, which is not run again. */
static enum bitcut_status run(struct gpu_measurement *to, struct course *c,
                              struct batch_runner *r, int repeats, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (progress_stopped(&c->bench->context->progress))
        return fault_set(f, BITCUT_CANNOT, "stopped");
    if (timer_of(c->bench)->run(to, c->session, &r->entrant, repeats, why) != 0)
        snprintf(r->fault, sizeof r->fault, "%s", why);
    return BITCUT_OK;
}

/* What a kernel must give; both its addressings follow each other. */
static enum bitcut_status run_model(struct course *c, const struct batch_runner *r,
                                    struct fault *f)
{
    const struct kernel_shape s = c->shape;
    if (c->modelled == r->entrant.kernel) return BITCUT_OK;
    c->modelled = r->entrant.kernel;
    const struct bitcut_format *f16 = &formats[FORMAT_F16];
    struct bitcut_gemm g = r->gemm;
    g.count = c->distinct;
    g.m = s.m;
    g.n = s.n;
    g.k = s.k;
    g.a = (struct bitcut_matrix){ .at = c->a, .format = f16, .stride = s.m * s.k };
    g.b = (struct bitcut_matrix){ .at = c->b, .format = f16, .stride = s.k * s.n };
    g.d = (struct bitcut_matrix){ .to = c->model, .format = f16, .stride = s.m * s.n };
    return gemm_run(&g, &(struct gemm_options){ .threads = c->bench->context->threads },
                    f);
}

/* Look at D of what ran last. */
static enum bitcut_status look(struct batch_runner *r, struct course *c, struct fault *f)
{
    const size_t outputs = c->shape.m * c->shape.n;
    double error = 0, norm = 0;
    char why[GPU_FAULT_MOST];
    for (size_t i = 0; i < c->some.count; i++) {
        const size_t gemm = excerpt_line(&c->some, i), at = gemm % c->distinct * outputs;
        if (timer_of(c->bench)->read(c->d, c->session, gemm * c->shape.m, c->shape.m,
                                     why) != 0)
            return fault_set(f, BITCUT_CANNOT, "%s", why);
        for (size_t e = 0; e < outputs; e++) {
            const double exact = c->exact[at + e], off = half(c->d[e]) - exact;
            error += off * off;
            norm += exact * exact;
            if (!r->entrant.kernel) continue;
            r->compared++;
            r->mismatches += c->d[e] != c->model[at + e];
        }
    }
    r->relres = sqrt(error / norm);
    if (r->mismatches)
        snprintf(r->fault, sizeof r->fault, "%zu of %zu outputs are not the model's",
                 r->mismatches, r->compared);
    return BITCUT_OK;
}

static enum bitcut_status check(struct batch_runner *r, struct course *c, struct fault *f)
{
    struct gpu_measurement once;
    enum bitcut_status status = BITCUT_OK;
    if (!r->entrant.kernel && !c->library.here) {
        snprintf(r->fault, sizeof r->fault, "%.*s", GPU_FAULT_MOST - 1, c->library.text);
        return BITCUT_OK;
    }
    if (r->entrant.kernel) status = run_model(c, r, f);
    if (status == BITCUT_OK) status = run(&once, c, r, 1, f);
    return status == BITCUT_OK && !r->fault[0] ? look(r, c, f) : status;
}

/* --- timing ----------------------------------------------------------------------- */

static enum bitcut_status choose_repeats(struct batch_runner *r, struct course *c,
                                         struct fault *f)
{
    struct gpu_measurement once;
    const enum bitcut_status status = run(&once, c, r, 1, f);
    if (status == BITCUT_OK && !r->fault[0])
        r->repeats = race_repeats(RACE_TIMED_MS, once.milliseconds);
    return status;
}

static enum bitcut_status time_all(struct course *c, struct fault *f)
{
    const size_t rounds = c->bench->options->rounds;
    double times[RUNNERS_MOST][ROUNDS_MOST];
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++)
        if (!c->runner[i].fault[0]) status = choose_repeats(&c->runner[i], c, f);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++) {
            struct batch_runner *const r = &c->runner[i];
            struct gpu_measurement x = { 0 };
            if (r->fault[0]) continue;
            status = run(&x, c, r, r->repeats, f);
            times[i][round] = x.milliseconds / r->repeats;
            r->megahertz = x.megahertz;
        }
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++) {
        struct batch_runner *const r = &c->runner[i];
        if (!r->fault[0]) race_median(&r->ms, &r->ms_min, &r->ms_max, times[i], rounds);
    }
    return status;
}

/* --- rows ------------------------------------------------------------------------- */

static json_t *real_or_null(double x) { return x > 0 ? json_real(x) : json_null(); }

static const char *addressing_name(bool pointers)
{
    return pointers ? "pointers" : "strides";
}

/* How much faster than a peer, or 0. */
static double ratio_to(const struct course *c, const struct batch_runner *r,
                       const struct gpu_peer *p)
{
    for (size_t i = 0; i < c->runners; i++)
        if (c->runner[i].entrant.peer == p && !c->runner[i].fault[0] && !r->fault[0])
            return c->runner[i].ms / r->ms;
    return 0;
}

static void set_ratio(json_t *row, const struct gpu_peer *p, double ratio)
{
    char key[80];
    snprintf(key, sizeof key, "ratio_%s", p->name);
    json_object_set_new(row, key, real_or_null(ratio));
}

static void describe_device(json_t *row, const struct bench_batch *b, const char *library)
{
    const struct gpu_device *d = &b->recorder->device;
    json_object_update_new(
        row,
        json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "study",
                  b->study->name, "input", b->options->input, "rounds",
                  (json_int_t)b->options->rounds, "seed", json_seed(b->context->seed),
                  "date", json_today(), "device", json_text(d->name), "driver",
                  json_text(d->driver), "runtime", json_text(d->runtime), "capability",
                  d->capability, "library", json_text(library)));
}

/* What people look at; --json has all. */
static const struct emit_column columns[] = {
    /* clang-format off */
    { "name",           "name",       0, NULL },
    { "addressing",     "addressing", 0, NULL },
    { "m",              "m",          0, NULL },
    { "n",              "n",          0, NULL },
    { "k",              "k",          0, NULL },
    { "count",          "count",      0, NULL },
    { "us",             "us",         4, NULL },
    { "gb_per_second",  "GB/s",       4, NULL },
    { "ratio_strided",  "x strided",  3, "-" },
    { "ratio_pointers", "x pointers", 3, "-" },
    { "relres",         "relres",     3, NULL },
    { "compared",       "compared",   0, NULL },
    { "fault",          "fault",      0, "-" },
    { 0 }
    /* clang-format on */
};

static json_t *describe(const struct course *c, const struct batch_runner *r)
{
    const struct kernel_shape s = c->shape;
    const double count = (double)c->count, m = (double)s.m, n = (double)s.n,
                 k = (double)s.k;
    const double seconds = r->ms / 1e3, bytes = 2 * count * (m * k + k * n + m * n);
    const bool timed = !r->fault[0], kernel = r->entrant.kernel;
    json_t *row = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", r->name,
        "addressing", addressing_name(by_pointers(r)), "m", json_count(s.m), "n",
        json_count(s.n), "k", json_count(s.k), "count", json_count(c->count), "us",
        real_or_null(r->ms * 1e3), "us_min", real_or_null(r->ms_min * 1e3), "us_max",
        real_or_null(r->ms_max * 1e3), "gflops",
        real_or_null(timed ? 2 * count * m * n * k / seconds / 1e9 : 0), "gb_per_second",
        real_or_null(timed ? bytes / seconds / 1e9 : 0));
    const struct gpu_peer *p = NULL;
    while ((p = peer_next(c->bench, p))) set_ratio(row, p, ratio_to(c, r, p));
    json_object_update_new(
        row, json_pack("{s:o, s:o, s:o, s:o, s:o}", "relres",
                       timed || r->mismatches ? json_number(r->relres) : json_null(),
                       "compared", kernel ? json_count(r->compared) : json_null(),
                       "mismatches", kernel ? json_count(r->mismatches) : json_null(),
                       "mhz", r->megahertz ? json_integer(r->megahertz) : json_null(),
                       "fault", timed ? json_null() : json_string(r->fault)));
    describe_device(row, c->bench, c->library.text);
    return row;
}

/* The first kernel's ratios into the mean of its addressing. */
static void add_to_mean(struct mean mean[2], const struct course *c)
{
    const struct gpu_kernel *first = NULL;
    if (c->shape.m > MEAN_MOST || c->shape.n > MEAN_MOST || c->shape.k > MEAN_MOST)
        return;
    for (size_t i = 0; i < c->runners; i++) {
        const struct batch_runner *r = &c->runner[i];
        if (!first) first = r->entrant.kernel;
        if (!first || r->entrant.kernel != first || r->fault[0]) continue;
        struct mean *const to = &mean[r->entrant.pointers];
        const struct gpu_peer *peer = NULL;
        to->shapes++;
        for (int p = 0; p < PEERS_MOST && (peer = peer_next(c->bench, peer)); p++) {
            const double ratio = ratio_to(c, r, peer);
            to->sum[p] += ratio;
            to->timed[p] += ratio > 0;
        }
    }
}

/* All means of a row are over the same shapes: 0 if the peer was not timed on one. */
static double mean_of(const struct mean *x, int peer)
{
    return x->timed[peer] == x->shapes ? x->sum[peer] / x->shapes : 0;
}

static void emit_means(const struct bench_batch *b, const struct mean mean[2],
                       size_t count, const char *library)
{
    for (int pointers = 0; pointers < 2; pointers++) {
        const struct mean *x = &mean[pointers];
        if (!x->shapes) continue;
        json_t *row = json_pack("{s:s, s:s, s:i, s:o}", "name", "mean", "addressing",
                                addressing_name(pointers), "shapes", x->shapes, "count",
                                json_count(count));
        const struct gpu_peer *peer = NULL;
        for (int p = 0; p < PEERS_MOST && (peer = peer_next(b, peer)); p++)
            set_ratio(row, peer, mean_of(x, p));
        describe_device(row, b, library);
        emit_row(&b->context->emitter, row);
    }
}

/* --- the suite -------------------------------------------------------------------- */

static int fail_device(const struct batch_runner *r)
{
    struct fault f;
    fault_set(&f, BITCUT_CANNOT, "%s", r->fault);
    return fail(r->name, &f);
}

/* The worst of what came of the kernels. */
static int judge(const struct course *c)
{
    int worst = EXIT_GOOD;
    for (size_t i = 0; i < c->runners && worst < EXIT_USAGE; i++) {
        const struct batch_runner *r = &c->runner[i];
        if (r->mismatches) worst = EXIT_FOUND;
        else if (r->entrant.kernel && r->fault[0]) worst = fail_device(r);
    }
    return worst;
}

static int race_batch(struct course *c, struct mean mean[2])
{
    struct fault f;
    enum bitcut_status status = add_all(c, &f);
    if (status == BITCUT_OK) status = course_init(c, &f);
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++)
        status = check(&c->runner[i], c, &f);
    if (status == BITCUT_OK) status = time_all(c, &f);
    if (status != BITCUT_OK) return fail("bench", &f);
    for (size_t i = 0; i < c->runners; i++)
        emit_row(&c->bench->context->emitter, describe(c, &c->runner[i]));
    add_to_mean(mean, c);
    return judge(c);
}

/* Round `round` of so many: batches of `count`. */
static int race_count(const struct bench_batch *b, size_t count, size_t round,
                      size_t rounds)
{
    struct mean mean[2] = { 0 };
    char label[80], library[GPU_TEXT_MOST] = "";
    struct course *c = calloc(1, sizeof *c);
    int worst = EXIT_GOOD;
    for (size_t i = 0; c && i < b->shapes && worst < EXIT_USAGE; i++) {
        *c = (struct course){ .bench = b, .shape = b->shape[i], .count = count };
        snprintf(label, sizeof label, "%zu of %zu x %zu x %zu", count, c->shape.m,
                 c->shape.n, c->shape.k);
        terminal_label(label);
        progress_report(&b->context->progress, round * b->shapes + i, rounds * b->shapes);
        const int status = race_batch(c, mean);
        if (status > worst) worst = status;
        memcpy(library, c->library.text, sizeof library);
        course_clear(c);
    }
    terminal_label(NULL);
    if (worst < EXIT_USAGE) emit_means(b, mean, count, library);
    free(c);
    return c ? worst : EXIT_CANNOT;
}

static int check_kernel(const struct bench_batch *b)
{
    const struct gpu_kernel *k = NULL;
    if (!b->options->kernel) return EXIT_GOOD;
    while ((k = gpu_kernel_next(&b->recorder->gpu, k)))
        if (!gpu_kernel_splits(k) && kernel_is_called(k->name, b->options->kernel))
            return EXIT_GOOD;
    return complain("--kernel", "not one for batches; bitcut list kernels has all");
}

int bench_batch(const struct bench_batch *b)
{
    if (!timer_of(b)) return complain("bench", "the module times nothing");
    const size_t rounds = (size_t)b->counts->count;
    b->context->emitter.columns = columns;
    int worst = check_kernel(b);
    for (size_t i = 0; i < rounds && worst < EXIT_USAGE; i++) {
        const int status = race_count(b, b->counts->at[i], i, rounds);
        if (status > worst) worst = status;
    }
    return worst;
}
