/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_check.h"
#include "analysis/bench/benchmark_host.h"

#include "lib/base/stats.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPEATS_MAX = 1000000,
    WARM_TENTHS = 3, /* of the loop under load */
    PART_MS = 16,    /* between two reads of the board in this loop, at least: a read
                        takes up to 5 ms, and the device would wait in shorter parts */
    PREPARED = 2     /* rounds that verification and the loop under load count for */
};

/* A workload in progress. */
struct live {
    struct benchmark_round *course;
    struct look look;
    struct gpu_session *session;
    size_t steps; /* for progress */
    struct rng rng;
    size_t order[RUNNERS_MAX]; /* of the runners, in this round */
};

static const struct gpu_timer *timer_of(const struct live *x)
{
    return benchmark_timer(x->course->benchmark);
}

/* Copy the operands to the device. */
static enum bitcut_status session_init(struct live *x, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    struct benchmark_round *const c = x->course;
    struct look *const l = &x->look;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.count = c->count;
    gemm_set_dense(&g, NULL, c->shape.m, c->shape.n, c->shape.k, l->a.at, l->b.at, NULL);
    g.a.format = g.b.format = l->format;
    look_pack(l);
    const int status = timer_of(x)->begin(&x->session, &c->library, &g, l->distinct,
                                          c->benchmark->recorder->device.number, why);
    matrix_clear(&l->b);
    matrix_clear(&l->a);
    return status == 0 ? BITCUT_OK : fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
}

/* --- one run ---------------------------------------------------------------------- */

/* A fault of the device is recorded in the runner, which is not run again. */
static enum bitcut_status run(struct gpu_measurement *to, struct live *x,
                              struct runner *r, const struct gpu_entrant *entrant,
                              const struct gpu_loop *loop, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (progress_stopped(x->course->benchmark->progress))
        return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    if (timer_of(x)->run(to, x->session, entrant, loop, why) != 0)
        snprintf(r->fault, sizeof r->fault, "%s", why);
    return BITCUT_OK;
}

static const struct gpu_loop loop_once = { .warm = 1, .repeats = 1, .reads = 1 };

/* The number of repetitions that take about `milliseconds`, if one takes `once`. */
static int repeats_for(double milliseconds, double once)
{
    const double wanted = ceil(milliseconds / once);
    return !(wanted <= REPEATS_MAX) ? REPEATS_MAX : wanted > 1 ? (int)wanted : 1;
}

/* Number of steps for progress: each of the workload's runners has as many steps as there
   are rounds, plus PREPARED. */
static void step(struct live *x)
{
    const struct benchmark_round *c = x->course;
    const struct benchmark *r = c->benchmark;
    const size_t all = c->runners * (r->rounds + PREPARED);
    progress_report(r->progress, c->done * all + x->steps++,
                    r->workloads * r->counts * all);
}

static enum bitcut_status check(struct runner *r, struct live *x, struct fault *f)
{
    const struct gpu_library *library = &x->course->library;
    struct gpu_entrant whole = r->entrant;
    struct gpu_measurement once;
    if (whole.peer && !library->here) {
        snprintf(r->fault, sizeof r->fault, "%.*s", GPU_FAULT_MAX - 1, library->text);
        return BITCUT_OK;
    }
    if (whole.part == GPU_SPLIT) whole.part = GPU_WHOLE;
    enum bitcut_status status = run(&once, x, r, &whole, &loop_once, f);
    if (status != BITCUT_OK || r->fault[0]) return status;
    status = look_read(&x->look, x->session, f);
    return status == BITCUT_OK ? look_judge(r, &x->look, f) : status;
}

/* --- timing ----------------------------------------------------------------------- */

/* The number of repetitions in a timing.  The first run is a warm-up. */
static enum bitcut_status choose_repeats(struct runner *r, struct live *x,
                                         struct fault *f)
{
    struct gpu_measurement once;
    const enum bitcut_status status = run(&once, x, r, &r->entrant, &loop_once, f);
    if (status == BITCUT_OK && !r->fault[0])
        r->repeats = repeats_for(BENCHMARK_BURST_MS, once.milliseconds);
    return status;
}

/* Draw the next order. */
static void shuffle(struct live *x)
{
    const size_t count = x->course->runners;
    for (size_t i = 0; i < count; i++) x->order[i] = i;
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)rand_below(rng_bits(&x->rng), i),
                     last = x->order[i - 1];
        x->order[i - 1] = x->order[other];
        x->order[other] = last;
    }
}

/* Time one batch. */
static enum bitcut_status run_burst(double *ms, struct live *x, struct runner *r,
                                    struct fault *f)
{
    const struct gpu_loop loop = { .warm = 1, .repeats = r->repeats, .reads = 1 };
    struct gpu_measurement y = { 0 };
    step(x);
    if (r->fault[0]) return BITCUT_OK;
    const enum bitcut_status status = run(&y, x, r, &r->entrant, &loop, f);
    *ms = y.milliseconds / r->repeats;
    r->megahertz = y.megahertz;
    return status;
}

/* Time every runner once in each round. */
static enum bitcut_status run_rounds(struct live *x, double *times, struct fault *f)
{
    struct benchmark_round *const c = x->course;
    const size_t rounds = c->benchmark->rounds;
    enum bitcut_status status = BITCUT_OK;
    for (size_t round = 0; round < rounds; round++) {
        shuffle(x);
        for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++)
            status = run_burst(&times[x->order[i] * rounds + round], x,
                               &c->runner[x->order[i]], f);
    }
    return status;
}

static void find_median(struct runner *r, double *times, size_t count)
{
    r->ms_first = times[0];
    r->ms_last = times[count - 1];
    doubles_sort(times, count);
    r->ms = (times[(count - 1) / 2] + times[count / 2]) / 2;
    r->ms_min = times[0];
    r->ms_max = times[count - 1];
}

const struct runner *benchmark_round_unsteady(const struct benchmark_round *c)
{
    const struct runner *found = NULL;
    double most = BENCHMARK_UNSTEADY_PERCENT;
    for (size_t i = 0; i < c->runners; i++) {
        const struct runner *const r = &c->runner[i];
        if (!r->entrant.peer || !runner_is_timed(r) || !(runner_spread(r) > most))
            continue;
        most = runner_spread(r);
        found = r;
    }
    return found;
}

/* Every ratio depends on the times of a peer: repeat all rounds if one is unsteady. */
static enum bitcut_status run_attempts(struct live *x, double *times, struct fault *f)
{
    struct benchmark_round *const c = x->course;
    const size_t rounds = c->benchmark->rounds, steps = x->steps;
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < BENCHMARK_ATTEMPTS && status == BITCUT_OK; i++) {
        x->steps = steps;
        status = run_rounds(x, times, f);
        for (size_t j = 0; j < c->runners && status == BITCUT_OK; j++)
            if (!c->runner[j].fault[0])
                find_median(&c->runner[j], times + j * rounds, rounds);
        if (!benchmark_round_unsteady(c)) break;
    }
    return status;
}

/* The number of parts of a loop.  The board is read once in each part. */
static int parts_for(int repeats, double once)
{
    const double parts = fmax(1, floor(repeats * once / PART_MS));
    return (int)fmin(parts, fmin(repeats, GPU_READS_MAX));
}

/* The loop under load. */
static enum bitcut_status run_sustained(struct live *x, struct runner *r, struct fault *f)
{
    const double tenth = (double)x->course->benchmark->sustained_milliseconds / 10;
    step(x);
    if (r->fault[0] || r->entrant.part == GPU_SPLIT || !(tenth > 0)) return BITCUT_OK;
    const int repeats = repeats_for((10 - WARM_TENTHS) * tenth, r->ms);
    const struct gpu_loop loop = {
        .warm = repeats_for(WARM_TENTHS * tenth, r->ms),
        .repeats = repeats,
        .reads = parts_for(repeats, r->ms),
    };
    const enum bitcut_status status = run(&r->loop, x, r, &r->entrant, &loop, f);
    r->loop_repeats = repeats;
    return status;
}

static void measure_host(struct live *x, struct runner *r)
{
    if (!r->entrant.kernel || r->entrant.part != GPU_WHOLE || r->fault[0]) return;
    host_cost_measure(r, x->session, x->course->benchmark);
}

/* The peak rate of a runner's unit, measured once for each unit. */
static void measure_peak(struct live *x, struct runner *r)
{
    const struct gpu_timer *const timer = timer_of(x);
    const struct gpu_entrant *const e = &r->entrant;
    const bool single = e->peer && e->peer->role == GPU_PEER_SINGLE;
    if (!timer->peak || r->fault[0] || e->part == GPU_SPLIT || !(e->kernel || single))
        return;
    for (const struct runner *other = x->course->runner; other < r && !(r->peak > 0);
         other++)
        if (!other->entrant.kernel == !e->kernel &&
            (single || other->entrant.kernel->instruction == e->kernel->instruction))
            r->peak = other->peak;
    if (!(r->peak > 0)) r->peak = timer->peak(e->kernel);
}

static enum bitcut_status time_all(struct live *x, struct fault *f)
{
    struct benchmark_round *const c = x->course;
    const size_t rounds = c->benchmark->rounds;
    double *times = memory_allocate(c->runners * rounds, sizeof *times);
    if (!times) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = BITCUT_OK;
    x->rng = rng_start(c->benchmark->seed, BENCHMARK_ORDER_STREAM + c->done);
    for (size_t i = 0; i < c->runners; i++) measure_peak(x, &c->runner[i]);
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++)
        if (!c->runner[i].fault[0]) status = choose_repeats(&c->runner[i], x, f);
    if (status == BITCUT_OK) status = run_attempts(x, times, f);
    shuffle(x);
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++)
        status = run_sustained(x, &c->runner[x->order[i]], f);
    for (size_t i = 0; i < c->runners && status == BITCUT_OK; i++)
        measure_host(x, &c->runner[i]);
    free(times);
    return status;
}

enum bitcut_status benchmark_round_run(struct benchmark_round *c, struct fault *f)
{
    struct live *x = calloc(1, sizeof *x);
    if (!x) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
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
