#include "analysis/device/race.h"

#include "analysis/device/matrix_excerpt.h"
#include "analysis/error/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 32,
    COLUMNS = 128,
    GEMMS = 3, /* and more where they are small */
    REPEATS_MOST = 10000,
    PREPARED = 2 /* rounds that verifying and the energy count for */
};

static const double whole_products = 1 << 22;

/* What the outputs of a GEMM that are looked at are made of, and should be. */
struct look {
    struct matrix a, b;
    struct judge judge;
};

/* A race under way.  Matrices of several GEMMs lie below each other. */
struct course {
    struct race *race;
    struct gpu_session *session;
    struct matrix a, b;               /* the operands                                   */
    struct excerpt gemms, rows, cols; /* the outputs that are looked at                 */
    struct look look[EXCERPT_MOST];   /* gemms.count of them                            */
    struct matrix d, single, model; /* by a runner, single_peer, the model of modelled */
    const struct gpu_peer *single_peer;
    const struct gpu_kernel *modelled;
    int modelled_slices;
    uint32_t *row; /* of D */
    size_t steps;  /* for progress */
};

static const struct gpu_timer *timer_of(const struct course *c)
{
    return c->race->recorder->gpu.module->timer;
}

/* --- both sides ------------------------------------------------------------------- */

/* Matrix i of those below each other, each of so many rows. */
static struct matrix part_of(const struct matrix *all, size_t rows, size_t i)
{
    return (struct matrix){ rows, all->cols, all->at + i * rows * all->cols };
}

/* The rows x cols matrices of all GEMMs, each from a seed of its own. */
static enum bitcut_status generate(struct matrix *to, const struct race *r,
                                   enum input_role role, size_t rows, size_t cols,
                                   struct fault *f)
{
    enum bitcut_status status = matrix_init(to, r->count * rows, cols, f);
    for (size_t i = 0; i < r->count && status == BITCUT_OK; i++) {
        struct matrix one = part_of(to, rows, i);
        status = input_fill(&one, r->input, role, r->seed + i, r->threads, f);
    }
    return status;
}

static enum bitcut_status operands_init(struct course *c, struct fault *f)
{
    const struct kernel_shape s = c->race->shape;
    const enum bitcut_status status = generate(&c->a, c->race, INPUT_A, s.m, s.k, f);
    return status == BITCUT_OK ? generate(&c->b, c->race, INPUT_B, s.k, s.n, f) : status;
}

static void choose_outputs(struct course *c)
{
    const struct race *r = c->race;
    const struct kernel_shape s = r->shape;
    const double products = (double)s.m * (double)s.n * (double)s.k;
    const double fit = fmin(fmax(GEMMS, whole_products / products), EXCERPT_MOST);
    const bool whole = products <= whole_products;
    c->gemms = excerpt_some(r->count, (size_t)fit, r->seed, 2);
    c->rows =
        whole ? (struct excerpt){ .count = s.m } : excerpt_some(s.m, ROWS, r->seed, 0);
    c->cols =
        whole ? (struct excerpt){ .count = s.n } : excerpt_some(s.n, COLUMNS, r->seed, 1);
}

static enum bitcut_status look_init(struct look *l, const struct course *c, size_t gemm,
                                    struct fault *f)
{
    const struct race *r = c->race;
    const struct excerpt all = { .count = r->shape.k };
    const struct matrix a = part_of(&c->a, r->shape.m, gemm),
                        b = part_of(&c->b, r->shape.k, gemm);
    enum bitcut_status status = excerpt_gather(&l->a, &a, &c->rows, &all, f);
    if (status == BITCUT_OK) status = excerpt_gather(&l->b, &b, &all, &c->cols, f);
    return status == BITCUT_OK ? judge_init(&l->judge, &references[0], &l->a, &l->b, NULL,
                                            r->threads, r->progress, f)
                               : status;
}

static enum bitcut_status outputs_init(struct course *c, struct fault *f)
{
    choose_outputs(c);
    const size_t m = c->gemms.count * c->rows.count, n = c->cols.count;
    enum bitcut_status status = matrix_init(&c->d, m, n, f);
    if (status == BITCUT_OK) status = matrix_init(&c->single, m, n, f);
    if (status == BITCUT_OK) status = matrix_init(&c->model, m, n, f);
    if (status != BITCUT_OK) return status;
    c->row = memory_allocate(c->race->shape.n, sizeof *c->row);
    if (!c->row) return fault_set(f, BITCUT_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < c->gemms.count && status == BITCUT_OK; i++)
        status = look_init(&c->look[i], c, excerpt_line(&c->gemms, i), f);
    return status;
}

static enum bitcut_status session_init(struct course *c, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    const struct race *r = c->race;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.count = r->count;
    g.m = r->shape.m;
    g.n = r->shape.n;
    g.k = r->shape.k;
    g.a = (struct bitcut_matrix){ .at = c->a.at, .format = &formats[FORMAT_F32] };
    g.b = (struct bitcut_matrix){ .at = c->b.at, .format = &formats[FORMAT_F32] };
    if (timer_of(c)->begin(&c->session, &c->race->library, &g, g.count,
                           r->recorder->device.number, why) == 0)
        return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "%s", why);
}

static void look_clear(struct look *l)
{
    judge_clear(&l->judge);
    matrix_clear(&l->b);
    matrix_clear(&l->a);
}

static void course_clear(struct course *c)
{
    if (c->session) timer_of(c)->end(c->session);
    for (size_t i = 0; i < c->gemms.count; i++) look_clear(&c->look[i]);
    free(c->row);
    matrix_clear(&c->model);
    matrix_clear(&c->single);
    matrix_clear(&c->d);
    matrix_clear(&c->b);
    matrix_clear(&c->a);
}

/* --- one run ---------------------------------------------------------------------- */

/* A fault of the device goes to the runner, which is not run again. */
static enum bitcut_status run(struct gpu_measurement *to, struct course *c,
                              struct runner *r, const struct gpu_entrant *entrant,
                              int repeats, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (progress_stopped(c->race->progress))
        return fault_set(f, BITCUT_CANNOT, "stopped");
    if (timer_of(c)->run(to, c->session, entrant, repeats, why) != 0)
        snprintf(r->fault, sizeof r->fault, "%s", why);
    return BITCUT_OK;
}

int race_repeats(double milliseconds, double once)
{
    const double wanted = ceil(milliseconds / once);
    return !(wanted <= REPEATS_MOST) ? REPEATS_MOST : wanted > 1 ? (int)wanted : 1;
}

static void step(struct course *c, size_t all)
{
    progress_report(c->race->progress, c->race->done * all + c->steps++,
                    c->race->total * all);
}

/* --- verifying -------------------------------------------------------------------- */

/* The outputs that are looked at, of what ran last. */
static enum bitcut_status read_outputs(struct course *c, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    for (size_t i = 0; i < c->d.rows; i++) {
        const size_t gemm = excerpt_line(&c->gemms, i / c->rows.count),
                     line = excerpt_line(&c->rows, i % c->rows.count);
        if (timer_of(c)->read(c->row, c->session, gemm * c->race->shape.m + line, 1, why))
            return fault_set(f, BITCUT_CANNOT, "%s", why);
        for (size_t j = 0; j < c->d.cols; j++)
            c->d.at[i * c->d.cols + j] = c->row[excerpt_line(&c->cols, j)];
    }
    return BITCUT_OK;
}

/* What a kernel must give; parts of one kernel follow each other. */
static enum bitcut_status run_model(struct course *c, const struct runner *r,
                                    struct fault *f)
{
    const struct gpu_entrant *e = &r->entrant;
    const struct gemm_options options = { .threads = c->race->threads,
                                          .progress = c->race->progress };
    enum bitcut_status status = BITCUT_OK;
    if (c->modelled == e->kernel && c->modelled_slices == e->plan.order.slices)
        return status;
    for (size_t i = 0; i < c->gemms.count && status == BITCUT_OK; i++) {
        const struct look *l = &c->look[i];
        const struct matrix d = part_of(&c->model, c->rows.count, i);
        struct bitcut_gemm g = r->gemm;
        gemm_set_dense(&g, d.at, d.rows, d.cols, l->a.cols, l->a.at, l->b.at, NULL);
        status = gemm_run(&g, &options, f);
    }
    c->modelled = status == BITCUT_OK ? e->kernel : NULL;
    c->modelled_slices = e->plan.order.slices;
    return status;
}

static enum bitcut_status compare(struct runner *r, struct course *c, struct fault *f)
{
    const enum bitcut_status status = run_model(c, r, f);
    if (status != BITCUT_OK) return status;
    r->compared = r->looked_at;
    for (size_t i = 0; i < r->compared; i++)
        r->mismatches += c->d.at[i] != c->model.at[i];
    if (r->mismatches)
        snprintf(r->fault, sizeof r->fault, "%zu of %zu outputs are not the model's",
                 r->mismatches, r->compared);
    return status;
}

/* Keep D of the peer in FP32; of another one, see whether it is the same. */
static void find_fallback(struct runner *r, struct course *c)
{
    const struct gpu_peer *peer = r->entrant.peer;
    const size_t bytes = c->d.rows * c->d.cols * sizeof *c->d.at;
    if (peer->role == GPU_PEER_SINGLE) {
        memcpy(c->single.at, c->d.at, bytes);
        c->single_peer = peer;
    } else if (c->single_peer && !memcmp(c->single.at, c->d.at, bytes)) {
        r->fallback = c->single_peer->name;
    }
}

/* The largest of the GEMMs looked at. */
static double find_relres(struct course *c)
{
    double most = 0, values[METRICS];
    for (size_t i = 0; i < c->gemms.count; i++) {
        struct comparison *const x = &c->look[i].judge.comparison;
        x->d = part_of(&c->d, c->rows.count, i).at;
        metrics_run(values, x);
        if (isnan(values[METRIC_RELRES]) || values[METRIC_RELRES] > most)
            most = values[METRIC_RELRES];
    }
    return most;
}

static enum bitcut_status check(struct runner *r, struct course *c, struct fault *f)
{
    struct gpu_entrant whole = r->entrant;
    struct gpu_measurement once;
    if (whole.peer && !c->race->library.here) {
        snprintf(r->fault, sizeof r->fault, "%.*s", GPU_FAULT_MOST - 1,
                 c->race->library.text);
        return BITCUT_OK;
    }
    if (whole.part == GPU_SPLIT) whole.part = GPU_WHOLE;
    enum bitcut_status status = run(&once, c, r, &whole, 1, f);
    if (status != BITCUT_OK || r->fault[0]) return status;
    status = read_outputs(c, f);
    if (status != BITCUT_OK) return status;
    r->relres = find_relres(c);
    r->looked_at = c->d.rows * c->d.cols;
    if (whole.kernel) return compare(r, c, f);
    find_fallback(r, c);
    return BITCUT_OK;
}

/* --- timing ----------------------------------------------------------------------- */

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* How often it runs in a timing; the first look is a warm-up. */
static enum bitcut_status choose_repeats(struct runner *r, struct course *c,
                                         struct fault *f)
{
    struct gpu_measurement once;
    const enum bitcut_status status = run(&once, c, r, &r->entrant, 1, f);
    if (status == BITCUT_OK && !r->fault[0])
        r->repeats = race_repeats(RACE_TIMED_MS, once.milliseconds);
    return status;
}

/* Every runner once in each round. */
static enum bitcut_status run_rounds(struct runner *runner, size_t count,
                                     struct course *c, double *times, struct fault *f)
{
    const size_t rounds = c->race->rounds;
    enum bitcut_status status = BITCUT_OK;
    for (size_t round = 0; round < rounds && status == BITCUT_OK; round++)
        for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
            struct runner *const r = &runner[i];
            struct gpu_measurement x = { 0 };
            step(c, count * (rounds + PREPARED));
            if (r->fault[0]) continue;
            status = run(&x, c, r, &r->entrant, r->repeats, f);
            times[i * rounds + round] = x.milliseconds / r->repeats;
            r->megahertz = x.megahertz;
        }
    return status;
}

void race_median(double *median, double *least, double *most, double *times, size_t count)
{
    qsort(times, count, sizeof *times, by_size);
    *median = (times[(count - 1) / 2] + times[count / 2]) / 2;
    *least = times[0];
    *most = times[count - 1];
}

static enum bitcut_status measure_energy(struct runner *r, struct course *c,
                                         struct fault *f)
{
    struct gpu_measurement x;
    const int repeats = race_repeats((double)c->race->energy_milliseconds, r->ms);
    const enum bitcut_status status = run(&x, c, r, &r->entrant, repeats, f);
    if (status != BITCUT_OK || r->fault[0]) return status;
    r->megahertz = x.megahertz;
    if (x.board_millijoules > 0) r->millijoules = x.board_millijoules / repeats;
    return status;
}

static enum bitcut_status time_all(struct runner *runner, size_t count, struct course *c,
                                   struct fault *f)
{
    const size_t rounds = c->race->rounds, all = count * (rounds + PREPARED);
    double *times = memory_allocate(count * rounds, sizeof *times);
    if (!times) return fault_set(f, BITCUT_NO_MEMORY, "out of memory");
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        if (!runner[i].fault[0]) status = choose_repeats(&runner[i], c, f);
    if (status == BITCUT_OK) status = run_rounds(runner, count, c, times, f);
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        struct runner *const r = &runner[i];
        step(c, all);
        if (r->fault[0]) continue;
        race_median(&r->ms, &r->ms_min, &r->ms_max, times + i * rounds, rounds);
        if (c->race->energy_milliseconds && r->entrant.part == GPU_WHOLE)
            status = measure_energy(r, c, f);
    }
    free(times);
    return status;
}

enum bitcut_status race_run(struct runner *runner, size_t count, struct race *race,
                            struct fault *f)
{
    struct course c = { .race = race };
    enum bitcut_status status = operands_init(&c, f);
    if (status == BITCUT_OK) status = outputs_init(&c, f);
    if (status == BITCUT_OK) status = session_init(&c, f);
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        step(&c, count * (race->rounds + PREPARED));
        status = check(&runner[i], &c, f);
    }
    if (status == BITCUT_OK) status = time_all(runner, count, &c, f);
    course_clear(&c);
    return status;
}
