/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_round.h"

#include "gpu/api/choose.h"
#include "lib/base/threads.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MEAN_SIDES_MAX = 32 }; /* largest m, n and k in the means over shapes */

/* Share of a board's power limit that counts as being at the limit, if the board reports
   no reason for its clock. */
static const double full_power = 0.98;

static const char *const part_names[GPU_PARTS] = {
    [GPU_WHOLE] = "whole",
    [GPU_PRODUCT] = "product",
    [GPU_SPLIT] = "split",
};

static const char *const addressings[2] = { "strides", "pointers" };

/* --- values of a row; unknown values are null ------------------------------------- */

static void set_real(json_t *row, const char *key, double x)
{
    json_object_set_new(row, key, x > 0 ? json_real(x) : json_null());
}

static void set_text(json_t *row, const char *key, const char *text)
{
    json_object_set_new(row, key, text && *text ? json_string(text) : json_null());
}

static void set_count(json_t *row, const char *key, bool known, size_t count)
{
    json_object_set_new(row, key, known ? json_count(count) : json_null());
}

static void set_clock(json_t *row, const char *key, int megahertz)
{
    set_count(row, key, megahertz != 0, (size_t)megahertz);
}

/* The excess of x over y in percent; 0 if one is unknown. */
static double percent_over(double x, double y)
{
    return x > 0 && y > 0 ? 100 * (x / y - 1) : 0;
}

static void set_ratio(json_t *row, const struct gpu_peer *p, double ratio)
{
    char key[80];
    snprintf(key, sizeof key, "ratio_%s", p->name);
    set_real(row, key, ratio);
}

/* A time in a unit with `per_ms` units in a millisecond. */
static void set_times(json_t *row, const char *unit, double each, const struct runner *r)
{
    static const char *const ends[3] = { "", "_min", "_max" };
    const double ms[3] = { r->ms, r->ms_min, r->ms_max };
    for (int i = 0; i < 3; i++) {
        char key[16];
        snprintf(key, sizeof key, "%s%s", unit, ends[i]);
        set_real(row, key, ms[i] * each);
    }
}

/* --- results of runners ----------------------------------------------------------- */

/* For all GEMMs of a batch. */
static double products(const struct benchmark_round *c)
{
    const struct kernel_shape s = c->shape;
    return (double)c->count * (double)s.m * (double)s.n * (double)s.k;
}

static double flops(const struct benchmark_round *c, const struct runner *r)
{
    return r->entrant.part == GPU_SPLIT ? 0 : 2 * products(c);
}

/* The fewest bytes that the part reads and writes: operands or their parts, and D. */
static double bytes_moved(const struct benchmark_round *c, const struct runner *r)
{
    const double count = (double)c->count, m = (double)c->shape.m, n = (double)c->shape.n,
                 k = (double)c->shape.k;
    const struct bitcut_split *split = &r->entrant.plan.split_a;
    const double element = format_bytes(&formats[c->benchmark->study->matrices]),
                 parts =
                     r->split ? format_bytes(split->part[0].format) * split->parts : 0;
    const double operands = count * (m + n) * k, d = element * count * m * n;
    switch (r->entrant.part) {
    case GPU_SPLIT: return (element + parts) * operands;
    case GPU_PRODUCT: return parts * operands + d;
    default: return element * operands + d;
    }
}

/* 0: not timed */
static double per_ms(const struct runner *r, double amount)
{
    return runner_is_timed(r) ? amount / r->ms : 0;
}

/* The same part of the peer, or all of it if it has no parts; NULL if it was not timed.
 */
static const struct runner *peer_runner(const struct benchmark_round *c,
                                        const struct gpu_peer *p, enum gpu_part part)
{
    const struct runner *found = NULL;
    for (size_t i = 0; i < c->runners; i++) {
        const struct gpu_entrant *e = &c->runner[i].entrant;
        if (e->peer == p && (e->part == part || !p->split)) found = &c->runner[i];
    }
    return runner_is_timed(found) ? found : NULL;
}

/* The speed relative to a peer; 0: one was not timed, or it is a split pass. */
static double ratio_to(const struct benchmark_round *c, const struct runner *r,
                       const struct gpu_peer *p)
{
    const enum gpu_part part = r->entrant.part;
    const struct runner *peer = part == GPU_SPLIT ? NULL : peer_runner(c, p, part);
    return runner_is_timed(r) && peer ? peer->ms / r->ms : 0;
}

/* Relative to each peer; and to the fastest FP32 peer, if none is named sgemm. */
static void describe_ratios(json_t *row, const struct benchmark_round *c,
                            const struct runner *r)
{
    static const char fastest[] = "sgemm";
    const struct gpu_peer *p = NULL;
    double least = INFINITY;
    bool singles = false, has = false;
    while ((p = benchmark_round_peer(c, p))) {
        const double ratio = ratio_to(c, r, p);
        set_ratio(row, p, ratio);
        has |= !strcmp(p->name, fastest);
        if (p->role != GPU_PEER_SINGLE) continue;
        singles = true;
        if (ratio > 0) least = fmin(least, ratio);
    }
    const struct gpu_peer all = { .name = fastest };
    if (singles && !has) set_ratio(row, &all, isfinite(least) ? least : 0);
}

/* The processor time of calls, for whole kernels only. */
static void describe_host(json_t *row, const struct runner *r)
{
    set_real(row, "us_start", r->host.start);
    set_real(row, "us_choose", r->host.choose);
    set_real(row, "us_launch", r->host.launch);
}

/* The comparison of D. */
static void describe_found(json_t *row, const struct runner *r, bool known)
{
    const bool kernel = r->entrant.kernel;
    json_object_set_new(row, "relres", known ? json_number(r->relres) : json_null());
    set_count(row, "compared", kernel, r->compared);
    set_count(row, "mismatches", kernel, r->mismatches);
}

/* Where and how everything ran. */
static void describe_benchmark(json_t *row, const struct benchmark_round *c)
{
    const struct benchmark *r = c->benchmark;
    const struct gpu_device *d = &r->recorder->device;
    json_object_update_new(
        row, json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "study",
                       r->study->name, "input", c->input, "rounds", (json_int_t)r->rounds,
                       "seed", json_seed(r->seed), "date", json_today(), "device",
                       json_text(d->name), "driver", json_text(d->driver), "runtime",
                       json_text(d->runtime), "architecture", d->architecture->name,
                       "library", json_text(c->library.text)));
}

/* --- large GEMMs, computed from parts --------------------------------------------- */

static double burst(const struct runner *r) { return runner_is_timed(r) ? r->ms : 0; }

/* Percent of a third of the fastest peer's rate of products of 16-bit parts, both in
   bursts or both under load. */
static double third(const struct benchmark_round *c, const struct runner *r,
                    double (*milliseconds)(const struct runner *r))
{
    const double own = milliseconds(r);
    const struct gpu_peer *p = NULL;
    double halves = 0;
    while ((p = benchmark_round_peer(c, p))) {
        const struct runner *half =
            p->role == GPU_PEER_HALF ? peer_runner(c, p, GPU_PRODUCT) : NULL;
        const double ms = half ? milliseconds(half) : 0;
        if (ms > 0 && !(halves > 0 && halves < ms)) halves = ms;
    }
    return own > 0 && r->entrant.part != GPU_SPLIT ? 300 * halves / own : 0;
}

static double watts(const struct runner *r)
{
    return runner_sustained(r) > 0 ? r->loop.board_watts : 0;
}

/* The reason for a reduced clock under load, or NULL. */
static const char *limit_of(const struct runner *r)
{
    const struct gpu_measurement *y = &r->loop;
    const bool full = watts(r) > 0 && y->board_watts_most > 0 &&
                      watts(r) >= full_power * y->board_watts_most;
    if (!(runner_sustained(r) > 0)) return NULL;
    if (y->at_heat > y->at_power) return "thermal";
    if (y->at_power || full) return "power";
    return y->reads ? "none" : NULL;
}

/* The figures that depend on the temperature of the board, or NULL. */
static const char *workload_of(const struct runner *r)
{
    if (!runner_is_timed(r)) return NULL;
    if (fabs(percent_over(runner_sustained(r), r->ms)) > BENCHMARK_HEAT_PERCENT)
        return "sustained";
    return fabs(percent_over(r->ms_last, r->ms_first)) > BENCHMARK_HEAT_PERCENT ? "rounds"
                                                                                : NULL;
}

/* The measurements under load, and the spread of its rounds. */
static void describe_load(json_t *row, const struct benchmark_round *c,
                          const struct runner *r)
{
    const double ms = runner_sustained(r);
    const bool timed = runner_is_timed(r);
    json_object_set_new(row, "spread", timed ? json_real(runner_spread(r)) : json_null());
    json_object_set_new(row, "drift",
                        timed ? json_real(percent_over(r->ms_last, r->ms_first))
                              : json_null());
    set_real(row, "ms_sustained", ms);
    set_real(row, "tflops_sustained", ms > 0 ? flops(c, r) / ms / 1e9 : 0);
    set_real(row, "third_sustained", third(c, r, runner_sustained));
    set_clock(row, "mhz_sustained", r->loop.megahertz);
    set_real(row, "watts", watts(r));
    set_real(row, "watts_limit", r->loop.board_watts_most);
    set_text(row, "limit", limit_of(r));
    set_text(row, "heat", workload_of(r));
}

/* The rank by the tile model among the kernels with the same bits: 1 is the model's
   choice, 0 means no rank. */
static size_t rank_of(const struct benchmark_round *c, const struct runner *r)
{
    const struct bitcut_gemm gemm = benchmark_round_gemm(c, r->entrant.plan.order.slices);
    const struct recorder *recorder = c->benchmark->recorder;
    struct gpu_choice x[GPU_CHOICES_MAX];
    const size_t count =
        gpu_kernel_rank(x, &recorder->gpu, &recorder->device, r->entrant.kernel, &gemm);
    for (size_t i = 0; i < count; i++)
        if (x[i].kernel == r->entrant.kernel) return i + 1;
    return 0;
}

/* Its speed relative to the fastest kernel with the same part and bits. */
static double share_of_best(const struct benchmark_round *c, const struct runner *r)
{
    double best = r->ms;
    for (size_t i = 0; i < c->runners; i++) {
        const struct runner *x = &c->runner[i];
        if (runner_is_timed(x) && x->entrant.kernel &&
            x->entrant.part == r->entrant.part &&
            x->entrant.plan.order.slices == r->entrant.plan.order.slices &&
            gpu_kernel_alike(x->entrant.kernel, r->entrant.kernel))
            best = fmin(best, x->ms);
    }
    return runner_is_timed(r) ? best / r->ms : 0;
}

/* Its position on a roofline, and the cost of its GEMMs. */
static void describe_costs(json_t *row, const struct benchmark_round *c,
                           const struct runner *r)
{
    const double bytes = bytes_moved(c, r), joules = watts(r) * runner_sustained(r) / 1e3;
    set_real(row, "flops_per_byte", flops(c, r) / bytes);
    set_real(row, "gb_per_second", per_ms(r, bytes) / 1e6);
    set_real(row, "joules", joules);
    set_real(row, "gflops_per_watt", joules > 0 ? flops(c, r) / joules / 1e9 : 0);
    set_real(row, "pj_per_product", joules > 0 ? joules * 1e12 / products(c) : 0);
    set_clock(row, "mhz", r->megahertz);
}

static void describe_kernel(json_t *row, const struct runner *r)
{
    const struct gpu_kernel *k = r->entrant.kernel;
    char tile[80] = "";
    if (k) snprintf(tile, sizeof tile, "%dx%dx%d", k->tile_m, k->tile_n, k->tile_k);
    set_text(row, "recipe", k ? k->recipe : NULL);
    set_text(row, "split", r->split);
    json_object_set_new(row, "equilibrate", json_boolean(r->entrant.plan.equilibrate));
    set_text(row, "tile", tile);
    set_count(row, "stages", k, k ? (size_t)k->stages : 0);
    set_count(row, "split_k", true, (size_t)r->entrant.plan.order.slices);
}

/* The peak rate of its unit and the share that is reached, where the module measures it.
 */
static void describe_peak(json_t *row, const struct benchmark_round *c,
                          const struct runner *r)
{
    const struct gpu_kernel *const k = r->entrant.kernel;
    if (!benchmark_timer(c->benchmark)->peak) return;
    const double terms = k ? k->program.terms : 1, rate = per_ms(r, products(c)) * 1e3;
    set_count(row, "threads", true, (size_t)threads_for(c->benchmark->threads, SIZE_MAX));
    set_count(row, "terms", k, k ? (size_t)k->program.terms : 0);
    set_real(row, "peak_products_per_second", r->peak);
    set_real(row, "of_peak", r->peak > 0 ? terms * rate / r->peak : 0);
}

static void describe_large(json_t *row, const struct benchmark_round *c,
                           const struct runner *r)
{
    const bool tiled = r->entrant.kernel && r->entrant.part != GPU_SPLIT;
    const size_t rank = tiled ? rank_of(c, r) : 0;
    set_times(row, "ms", 1, r);
    set_real(row, "tflops", per_ms(r, flops(c, r)) / 1e9);
    describe_ratios(row, c, r);
    set_real(row, "third", third(c, r, burst));
    describe_peak(row, c, r);
    describe_load(row, c, r);
    describe_host(row, r);
    describe_found(row, r, r->looked_at);
    set_text(row, "fallback", r->fallback);
    set_count(row, "rank", rank != 0, rank);
    set_real(row, "of_best", tiled ? share_of_best(c, r) : 0);
    describe_costs(row, c, r);
    describe_kernel(row, r);
}

/* --- small GEMMs, read as they are ------------------------------------------------ */

static void describe_small(json_t *row, const struct benchmark_round *c,
                           const struct runner *r)
{
    set_times(row, "us", 1e3, r);
    set_real(row, "gflops", per_ms(r, flops(c, r)) / 1e6);
    set_real(row, "gb_per_second", per_ms(r, bytes_moved(c, r)) / 1e6);
    describe_ratios(row, c, r);
    describe_host(row, r);
    describe_found(row, r, runner_is_timed(r) || r->mismatches);
    set_clock(row, "mhz", r->megahertz);
}

/* --- rows ------------------------------------------------------------------------- */

json_t *benchmark_round_row(const struct benchmark_round *c, const struct runner *r)
{
    const struct gpu_entrant *e = &r->entrant;
    const struct kernel_shape s = c->shape;
    const bool large = benchmark_is_large(c->benchmark);
    const bool pointers = e->kernel ? e->pointers : e->peer->pointers;
    json_t *row = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o}", "name", r->name, large ? "part" : "addressing",
        large ? part_names[e->part] : addressings[pointers], "m", json_count(s.m), "n",
        json_count(s.n), "k", json_count(s.k), "count", json_count(c->count));
    if (large) describe_large(row, c, r);
    else describe_small(row, c, r);
    const struct runner *const unsteady = benchmark_round_unsteady(c);
    set_text(row, "unsteady", unsteady ? unsteady->name : NULL);
    set_text(row, "fault", r->fault);
    describe_benchmark(row, c);
    return row;
}

void benchmark_round_add_to_mean(struct benchmark_round *c)
{
    const struct kernel_shape s = c->shape;
    const struct gpu_kernel *first = NULL;
    if (benchmark_is_large(c->benchmark) || s.m > MEAN_SIDES_MAX ||
        s.n > MEAN_SIDES_MAX || s.k > MEAN_SIDES_MAX)
        return;
    for (size_t i = 0; i < c->runners; i++) {
        const struct runner *r = &c->runner[i];
        if (!first) first = r->entrant.kernel;
        if (!first || r->entrant.kernel != first || r->fault[0]) continue;
        struct benchmark_mean *const to = &c->mean[r->entrant.pointers];
        const struct gpu_peer *peer = NULL;
        to->shapes++;
        for (int p = 0; p < MEAN_PEERS_MAX && (peer = benchmark_round_peer(c, peer));
             p++) {
            const double ratio = ratio_to(c, r, peer);
            to->sum[p] += ratio;
            to->timed[p] += ratio > 0;
        }
    }
}

json_t *benchmark_round_mean_row(const struct benchmark_round *c, bool pointers)
{
    const struct benchmark_mean *x = &c->mean[pointers];
    json_t *row = json_pack("{s:s, s:s, s:i, s:o}", "name", "mean", "addressing",
                            addressings[pointers], "shapes", x->shapes, "count",
                            json_count(c->count));
    const struct gpu_peer *peer = NULL;
    for (int p = 0; p < MEAN_PEERS_MAX && (peer = benchmark_round_peer(c, peer)); p++)
        set_ratio(row, peer, x->timed[p] == x->shapes ? x->sum[p] / x->shapes : 0);
    describe_benchmark(row, c);
    return row;
}
