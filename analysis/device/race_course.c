#include "analysis/device/race_look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPEATS_MOST = 10000,
    TIMED_MS = 30,
    PREPARED = 2 /* rounds that verifying and the energy count for */
};

/* A heat under way. */
struct live {
    struct course *course;
    struct look look;
    struct gpu_session *session;
    size_t steps; /* for progress */
};

static const struct gpu_timer *timer_of(const struct live *x)
{
    return race_timer(x->course->race);
}

/* The operands go to the device. */
static enum bitcut_status session_init(struct live *x, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    struct course *const c = x->course;
    struct look *const l = &x->look;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.count = c->count;
    gemm_set_dense(&g, NULL, c->shape.m, c->shape.n, c->shape.k, l->a.at, l->b.at, NULL);
    g.a.format = g.b.format = l->format;
    look_pack(l);
    const int status = timer_of(x)->begin(&x->session, &c->library, &g, l->distinct,
                                          c->race->recorder->device.number, why);
    matrix_clear(&l->b);
    matrix_clear(&l->a);
    return status == 0 ? BITCUT_OK : fault_set(f, BITCUT_CANNOT, "%s", why);
}

/* --- one run ---------------------------------------------------------------------- */

/* A fault of the device goes to the runner, which is not run again. */
static enum bitcut_status run(struct gpu_measurement *to, struct live *x,
                              struct runner *r, const struct gpu_entrant *entrant,
                              int repeats, struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (progress_stopped(x->course->race->progress))
        return fault_set(f, BITCUT_CANNOT, "stopped");
    if (timer_of(x)->run(to, x->session, entrant, repeats, why) != 0)
        snprintf(r->fault, sizeof r->fault, "%s", why);
    return BITCUT_OK;
}

/* How often what takes `once` milliseconds is repeated to take so many. */
static int repeats_for(double milliseconds, double once)
{
    const double wanted = ceil(milliseconds / once);
    return !(wanted <= REPEATS_MOST) ? REPEATS_MOST : wanted > 1 ? (int)wanted : 1;
}

/* Each of the heat's runners takes as many steps as there are rounds, and PREPARED. */
static void step(struct live *x)
{
    const struct course *c = x->course;
    const struct race *r = c->race;
    const size_t all = c->runners * (r->rounds + PREPARED);
    progress_report(r->progress, c->done * all + x->steps++, r->heats * r->counts * all);
}

static enum bitcut_status check(struct runner *r, struct live *x, struct fault *f)
{
    const struct gpu_library *library = &x->course->library;
    struct gpu_entrant whole = r->entrant;
    struct gpu_measurement once;
    if (whole.peer && !library->here) {
        snprintf(r->fault, sizeof r->fault, "%.*s", GPU_FAULT_MOST - 1, library->text);
        return BITCUT_OK;
    }
    if (whole.part == GPU_SPLIT) whole.part = GPU_WHOLE;
    enum bitcut_status status = run(&once, x, r, &whole, 1, f);
    if (status != BITCUT_OK || r->fault[0]) return status;
    status = look_read(&x->look, x->session, f);
    return status == BITCUT_OK ? look_judge(r, &x->look, f) : status;
}

/* --- timing ----------------------------------------------------------------------- */

static int by_size(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* How often it runs in a timing; the first look is a warm-up. */
static enum bitcut_status choose_repeats(struct runner *r, struct live *x,
                                         struct fault *f)
{
    struct gpu_measurement once;
    const enum bitcut_status status = run(&once, x, r, &r->entrant, 1, f);
    if (status == BITCUT_OK && !r->fault[0])
        r->repeats = repeats_for(TIMED_MS, once.milliseconds);
    return status;
}

/* Every runner once in each round. */
static enum bitcut_status run_rounds(struct live *x, double *times, struct fault *f)
{
    struct course *const c = x->course;
    const size_t rounds = c->race->rounds;
    enum bitcut_status status = BITCUT_OK;
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++) {
            struct runner *const r = &c->runner[i];
            struct gpu_measurement y = { 0 };
            step(x);
            if (r->fault[0]) continue;
            status = run(&y, x, r, &r->entrant, r->repeats, f);
            times[i * rounds + round] = y.milliseconds / r->repeats;
            r->megahertz = y.megahertz;
        }
    return status;
}

static void find_median(struct runner *r, double *times, size_t count)
{
    qsort(times, count, sizeof *times, by_size);
    r->ms = (times[(count - 1) / 2] + times[count / 2]) / 2;
    r->ms_min = times[0];
    r->ms_max = times[count - 1];
}

static enum bitcut_status measure_energy(struct runner *r, struct live *x,
                                         struct fault *f)
{
    struct gpu_measurement y;
    const double wanted = (double)x->course->race->energy_milliseconds;
    const int repeats = repeats_for(wanted, r->ms);
    const enum bitcut_status status = run(&y, x, r, &r->entrant, repeats, f);
    if (status != BITCUT_OK || r->fault[0]) return status;
    r->megahertz = y.megahertz;
    if (y.board_millijoules > 0) r->millijoules = y.board_millijoules / repeats;
    return status;
}

static enum bitcut_status time_all(struct live *x, struct fault *f)
{
    struct course *const c = x->course;
    const size_t rounds = c->race->rounds;
    double *times = memory_allocate(c->runners * rounds, sizeof *times);
    if (!times) return fault_set(f, BITCUT_NO_MEMORY, "out of memory");
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++)
        if (!c->runner[i].fault[0]) status = choose_repeats(&c->runner[i], x, f);
    if (status == BITCUT_OK) status = run_rounds(x, times, f);
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++) {
        struct runner *const r = &c->runner[i];
        step(x);
        if (r->fault[0]) continue;
        find_median(r, times + i * rounds, rounds);
        if (c->race->energy_milliseconds && r->entrant.part == GPU_WHOLE)
            status = measure_energy(r, x, f);
    }
    free(times);
    return status;
}

enum bitcut_status course_run(struct course *c, struct fault *f)
{
    struct live *x = calloc(1, sizeof *x);
    if (!x) return fault_set(f, BITCUT_NO_MEMORY, "out of memory");
    x->course = c;
    enum bitcut_status status = look_init(&x->look, c, f);
    if (status == BITCUT_OK) status = session_init(x, f);
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++) {
        step(x);
        status = check(&c->runner[i], x, f);
    }
    if (status == BITCUT_OK) status = time_all(x, f);
    if (x->session) timer_of(x)->end(x->session);
    look_clear(&x->look);
    free(x);
    return status;
}
