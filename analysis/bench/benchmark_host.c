/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_host.h"

#include "gpu/api/choice_cache.h"
#include "gpu/api/start.h"
#include "lib/base/clock.h"
#include "lib/base/stats.h"

/* A start has several launches, and a queue holds about a thousand. */
enum { BURST_MAX = 50, BURSTS_MAX = 20, CHOICES = 5 };

/* Milliseconds of device work in a burst, and in all bursts. */
static const double burst_milliseconds = 20, all_milliseconds = 200;

/* The call and its number of repetitions. */
struct host {
    const struct benchmark *benchmark;
    struct gpu_session *session;
    struct gpu_chosen *chosen;
    struct gpu_place place;
    struct bitcut_gemm gemm;    /* in its place, with the kernel's name */
    struct bitcut_gemm another; /* the same with its recipe */
    int burst, bursts;
};

typedef bool host_call(struct host *h);

static bool start(struct host *h)
{
    const struct recorder *const r = h->benchmark->recorder;
    const struct gpu_room room = { .workspace = h->place.workspace,
                                   .bytes = h->place.bytes,
                                   .stream = h->place.stream };
    struct gpu_work w;
    struct fault f;
    return gpu_work_recall(&w, h->chosen, &r->gpu, &r->device, &h->gemm, &f) ==
               BITCUT_OK &&
           gpu_work_start(&w, &r->gpu, &r->device, &room, &f) == BITCUT_OK;
}

static bool choose(struct host *h)
{
    const struct recorder *const r = h->benchmark->recorder;
    struct gpu_work w;
    struct fault f;
    return gpu_work_choose(&w, &r->gpu, &r->device, &h->another, &f) == BITCUT_OK;
}

static bool start_empty(struct host *h)
{
    char why[GPU_FAULT_MAX];
    return benchmark_timer(h->benchmark)->start_empty(h->session, why) == 0;
}

static bool wait_for_all(struct host *h)
{
    char why[GPU_FAULT_MAX];
    const struct gpu_timer *const timer = benchmark_timer(h->benchmark);
    return !timer->wait || timer->wait(h->session, why) == 0;
}

/* Microseconds per call; 0: a call failed. */
static double median(struct host *h, host_call *call, int burst)
{
    double each[1 + BURSTS_MAX];
    for (int i = 0; i <= h->bursts; i++) {
        bool good = true;
        const double from = seconds_now();
        for (int j = 0; j < burst && good; j++) good = call(h);
        each[i] = 1e6 * (seconds_now() - from) / burst;
        if (!wait_for_all(h) || !good) return 0;
    }
    return doubles_median(each + 1, (size_t)h->bursts);
}

static int between(double x, int least, int most)
{
    return x <= least ? least : x >= most ? most : (int)x;
}

/* The calls of a kernel's GEMM.  A batch takes the device this many milliseconds. */
static void set_calls(struct host *h, const struct runner *r)
{
    const struct bitcut_gemm *const is = &h->place.gemm;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.kernel = r->name;
    g.order.slices = r->gemm.order.slices;
    g.equilibrate = r->gemm.equilibrate;
    g.count = is->count;
    g.m = is->m, g.n = is->n, g.k = is->k;
    g.a = is->a, g.b = is->b, g.d = is->d;
    h->gemm = h->another = g;
    h->another.kernel = NULL;
    h->another.recipe = r->gemm.recipe;
    h->burst = between(burst_milliseconds / r->ms, 1, BURST_MAX);
    h->bursts = between(all_milliseconds / (h->burst * r->ms), 3, BURSTS_MAX);
}

void host_cost_measure(struct runner *r, struct gpu_session *session,
                       const struct benchmark *benchmark)
{
    char why[GPU_FAULT_MAX];
    struct host h = { .benchmark = benchmark,
                      .session = session,
                      .chosen = gpu_chosen_make() };
    r->host = (struct host_cost){ 0 };
    if (h.chosen &&
        benchmark_timer(benchmark)->place(&h.place, session, &r->entrant, why) == 0) {
        set_calls(&h, r);
        if (benchmark_timer(benchmark)->wait) r->host.start = median(&h, start, h.burst);
        r->host.choose = median(&h, choose, CHOICES);
        if (benchmark_timer(benchmark)->start_empty)
            r->host.launch = median(&h, start_empty, BURST_MAX);
    }
    gpu_chosen_free(h.chosen);
}
