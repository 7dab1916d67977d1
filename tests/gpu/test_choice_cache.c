/* SPDX-License-Identifier: BSD-3-Clause */
/* A remembered choice equals a new one, with tests/gpu/device.c as the device.  Run in
   the build folder. */
#define _POSIX_C_SOURCE 200809L

#include "gpu/api/choice_cache.h"
#include "tests/gpu/any_device.h"

#include <pthread.h>

static struct gpu_chosen *chosen;

static void begin(void)
{
    open_device();
    chosen = gpu_chosen_make();
    ck_assert_ptr_nonnull(chosen);
}

static void end(void)
{
    gpu_chosen_free(chosen);
    gpu_close(&gpu);
}

static struct bitcut_gemm gemm_of(size_t m, size_t n, size_t k)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("plain");
    g.m = m, g.n = n, g.k = k;
    return g;
}

/* --- the same outcome ------------------------------------------------------------- */

static bool same_matrix(const struct bitcut_matrix *x, const struct bitcut_matrix *y)
{
    return x->at == y->at && x->each == y->each && x->format == y->format &&
           x->layout == y->layout && x->ld == y->ld && x->stride == y->stride &&
           x->prepared == y->prepared && x->prepared_stride == y->prepared_stride;
}

static bool same_order(const struct bitcut_order *x, const struct bitcut_order *y)
{
    return x->slices == y->slices && x->tile == y->tile &&
           x->partial_first == y->partial_first && x->cut == y->cut &&
           x->balance_tail == y->balance_tail && x->lanes == y->lanes &&
           x->chunk == y->chunk && x->reduction == y->reduction &&
           x->partial_format == y->partial_format &&
           x->partial_store == y->partial_store && x->unroll == y->unroll &&
           x->narrow == y->narrow && x->remainder_in_lane == y->remainder_in_lane &&
           x->slices_ascending == y->slices_ascending &&
           x->narrow_apart == y->narrow_apart &&
           !memcmp(x->lane_order, y->lane_order, sizeof x->lane_order);
}

static bool same_gemm(const struct bitcut_gemm *x, const struct bitcut_gemm *y)
{
    return x->size == y->size && x->recipe == y->recipe && x->split_a == y->split_a &&
           x->split_b == y->split_b && x->high == y->high && x->low == y->low &&
           x->scale == y->scale && x->dropped_term == y->dropped_term &&
           x->promote == y->promote && x->tile_k == y->tile_k &&
           x->equilibrate == y->equilibrate && x->any_promotion == y->any_promotion &&
           x->any_slices == y->any_slices && same_order(&x->order, &y->order) &&
           x->unit == y->unit && x->kernel == y->kernel && x->count == y->count &&
           x->m == y->m && x->n == y->n && x->k == y->k && x->alpha == y->alpha &&
           x->beta == y->beta && same_matrix(&x->a, &y->a) && same_matrix(&x->b, &y->b) &&
           same_matrix(&x->c, &y->c) && same_matrix(&x->d, &y->d);
}

static bool same_split(const struct bitcut_split *x, const struct bitcut_split *y)
{
    bool same = x->parts == y->parts && x->scale == y->scale;
    for (int i = 0; same && i < x->parts; i++)
        same = x->part[i].format == y->part[i].format &&
               x->part[i].rounding == y->part[i].rounding &&
               x->part[i].level == y->part[i].level && x->part[i].copy == y->part[i].copy;
    return same;
}

static bool same_terms(const struct gemm_plan *x, const struct gemm_plan *y)
{
    bool same = x->terms == y->terms && x->accumulators == y->accumulators;
    for (int i = 0; same && i < x->terms; i++)
        same = x->term[i].a == y->term[i].a && x->term[i].b == y->term[i].b &&
               x->term[i].accumulator == y->term[i].accumulator &&
               x->term[i].scaled == y->term[i].scaled;
    return same;
}

static bool same_plan(const struct gemm_plan *x, const struct gemm_plan *y)
{
    return x->recipe == y->recipe && same_split(&x->split_a, &y->split_a) &&
           same_split(&x->split_b, &y->split_b) && same_terms(x, y) &&
           x->scale == y->scale && x->dropped_term == y->dropped_term &&
           x->equilibrate == y->equilibrate && x->target == y->target &&
           x->promote == y->promote && x->tile_k == y->tile_k &&
           same_order(&x->order, &y->order);
}

/* What is recalled is what would be chosen. */
static void check(const struct bitcut_gemm *g, const char *what)
{
    struct gpu_work own, recalled;
    struct fault why = { .status = BITCUT_OK, .text = "" }, again = { BITCUT_OK, "" };
    const enum bitcut_status status = gpu_work_choose(&own, &gpu, &on, g, &why),
                             other =
                                 gpu_work_recall(&recalled, chosen, &gpu, &on, g, &again);
    ck_assert_msg(status == other, "%s: %d, not %d", what, other, status);
    if (status != BITCUT_OK) {
        ck_assert_str_eq(why.text, again.text);
        return;
    }
    ck_assert_msg(own.kernel == recalled.kernel, "%s: %s, not %s", what,
                  recalled.kernel->name, own.kernel->name);
    ck_assert_msg(same_gemm(&own.gemm, &recalled.gemm), "%s: another GEMM", what);
    ck_assert_msg(same_plan(&own.plan, &recalled.plan), "%s: another plan", what);
}

/* --- what a choice depends on ----------------------------------------------------- */

static const char some[1];
static const void *const pointers[1] = { some };

#define UNIT "hopper/mma.m16n8k16.f32.f16"
#define OF_F16                                                                           \
    x->a.format = x->b.format = x->c.format = x->d.format = &formats[FORMAT_F16]

/* One thing that is changed of a GEMM. */
#define CHANGES(CHANGE)                                                                  \
    CHANGE(nothing, (void)x)                                                             \
    CHANGE(alpha, x->alpha = 0x40000000)                                                 \
    CHANGE(beta, x->beta = 0x3f800000)                                                   \
    CHANGE(minus_zero, x->beta = 0x80000000)                                             \
    CHANGE(places, (x->a.at = some, x->d.at = some + 1, x->b.stride = 64))               \
    CHANGE(strides, (x->a.stride = 4, x->c.stride = 5, x->d.stride = 6))                 \
    CHANGE(parts, (x->a.prepared = some, x->a.prepared_stride = 512))                    \
    CHANGE(each, x->b.each = pointers)                                                   \
    CHANGE(count, x->count = 7)                                                          \
    CHANGE(none, x->count = 0)                                                           \
    CHANGE(m, x->m = 512)                                                                \
    CHANGE(n, x->n = 512)                                                                \
    CHANGE(k, x->k = 512)                                                                \
    CHANGE(layout_a, x->a.layout = BITCUT_COLUMN_MAJOR)                                  \
    CHANGE(layout_b, x->b.layout = BITCUT_COLUMN_MAJOR)                                  \
    CHANGE(layout_c, (x->c.layout = BITCUT_COLUMN_MAJOR, x->beta = 0x3f800000))          \
    CHANGE(layout_d, x->d.layout = BITCUT_COLUMN_MAJOR)                                  \
    CHANGE(ld, x->d.ld = 77)                                                             \
    CHANGE(small, OF_F16)                                                                \
    CHANGE(one_format, x->b.format = &formats[FORMAT_F16])                               \
    CHANGE(format_c, (x->c.format = &formats[FORMAT_F16], x->beta = 0x3f800000))         \
    CHANGE(unread_c, x->c.format = &formats[FORMAT_F16])                                 \
    CHANGE(recipe, x->recipe = bitcut_recipe_find("ootomo"))                             \
    CHANGE(no_recipe, x->recipe = NULL)                                                  \
    CHANGE(four, x->recipe = bitcut_recipe_find("markidis"))                             \
    CHANGE(mixed, x->recipe = bitcut_recipe_find("half-fp8"))                            \
    CHANGE(mixed_scaled, (x->recipe = bitcut_recipe_find("half-fp8"), x->scale = 3))     \
    CHANGE(often, (x->recipe = bitcut_recipe_find("ootomo"), x->any_promotion = true))   \
    CHANGE(split_a, x->split_a = bitcut_split_find("tf32"))                              \
    CHANGE(split_b, x->split_b = bitcut_split_find("tf32"))                              \
    CHANGE(splits, x->split_a = x->split_b = bitcut_split_find("tf32"))                  \
    CHANGE(high, x->high = bitcut_rounding_find("rz"))                                   \
    CHANGE(low, x->low = bitcut_rounding_find("rz"))                                     \
    CHANGE(scale, x->scale = 3)                                                          \
    CHANGE(dropped_term, x->dropped_term = 1)                                            \
    CHANGE(no_low_low,                                                                   \
           (x->recipe = bitcut_recipe_find("markidis"), x->dropped_term = 0))            \
    CHANGE(promote, x->promote = 4)                                                      \
    CHANGE(tile_k, x->tile_k = 32)                                                       \
    CHANGE(equilibrate, x->equilibrate = true)                                           \
    CHANGE(slices, x->order.slices = 2)                                                  \
    CHANGE(tile, x->order.tile = 8)                                                      \
    CHANGE(partial_first, x->order.partial_first = true)                                 \
    CHANGE(cut, x->order.cut = 16)                                                       \
    CHANGE(halve, x->order.balance_tail = 16)                                            \
    CHANGE(lanes, x->order.lanes = 2)                                                    \
    CHANGE(turn, x->order.chunk = 16)                                                    \
    CHANGE(sums, x->order.partial_format = &formats[FORMAT_F16])                         \
    CHANGE(sum_rounding, x->sum_rounding = bitcut_rounding_find("rz"))                   \
    CHANGE(stored, x->order.partial_store = true)                                        \
    CHANGE(lane_order, x->order.lane_order[0] = 1)                                       \
    CHANGE(unroll, x->order.unroll = 8)                                                  \
    CHANGE(narrow, x->order.narrow = 2)                                                  \
    CHANGE(ascending, x->order.slices_ascending = true)                                  \
    CHANGE(apart, x->order.narrow_apart = true)                                          \
    CHANGE(in_lane, x->order.remainder_in_lane = true)                                   \
    CHANGE(reduction, x->order.reduction = BITCUT_TREE)                                  \
    CHANGE(unit, x->unit = bitcut_unit_find(UNIT, NULL))                                 \
    CHANGE(emulated, x->unit = bitcut_unit_find("volta/mma.m8n8k4.f32.f16", NULL))       \
    CHANGE(kernel, (x->recipe = NULL, x->kernel = "gemm.plain.f16"))                     \
    CHANGE(other_kernel, (x->recipe = NULL, x->kernel = "gemm.plain.tf32"))              \
    CHANGE(no_kernel, (x->recipe = NULL, x->kernel = "gemm.plain"))                      \
    CHANGE(bad, x->order.slices = -1)

#define DEFINED(name, what)                                                              \
    static void change_##name(struct bitcut_gemm *x) { what; }
#define ROW(name, what) { #name, change_##name },

CHANGES(DEFINED)

static const struct {
    const char *name;
    void (*change)(struct bitcut_gemm *x);
} changes[] = { CHANGES(ROW) };

enum { CHANGED = sizeof changes / sizeof changes[0] };

/* Every GEMM after every other one. */
START_TEST(one_after_the_other)
{
    begin();
    for (size_t i = 0; i < CHANGED; i++)
        for (size_t j = 0; j < CHANGED; j++) {
            struct bitcut_gemm first = gemm_of(8, 8, 8), second = first;
            changes[i].change(&first);
            changes[j].change(&second);
            check(&first, changes[i].name);
            check(&second, changes[j].name);
            changes[i].change(&second);
            check(&second, changes[i].name);
        }
    end();
}
END_TEST

/* More than are remembered, and again; of one hash are GEMMs that differ in one size. */
START_TEST(many)
{
    begin();
    for (int round = 0; round < 2; round++)
        for (size_t i = 1; i <= 300; i++)
            for (int which = 0; which < 4; which++) {
                struct bitcut_gemm g = gemm_of(8, 8, 8);
                *(which == 0   ? &g.count
                  : which == 1 ? &g.m
                  : which == 2 ? &g.n
                               : &g.k) = i;
                check(&g, "many");
            }
    end();
}
END_TEST

/* --- what is remembered ----------------------------------------------------------- */

/* A device whose kernels are gone. */
static enum bitcut_status without_kernels(struct gpu_work *to,
                                          const struct bitcut_gemm *g)
{
    static const struct gpu_family none[] = { { 0 } };
    struct gpu_module module = *gpu.module;
    struct fault f;
    const struct gpu empty = { &module, NULL };
    module.families = none;
    module.multipliers = NULL;
    return gpu_work_recall(to, chosen, &empty, &on, g, &f);
}

START_TEST(remembered)
{
    struct bitcut_gemm g = gemm_of(64, 64, 64);
    struct gpu_work w;
    begin();
    ck_assert_int_eq(without_kernels(&w, &g), BITCUT_UNSUPPORTED);
    check(&g, "64");
    ck_assert_int_eq(without_kernels(&w, &g), BITCUT_OK);
    g.alpha = 0x40000000, g.a.at = some, g.d.stride = 64;
    ck_assert_int_eq(without_kernels(&w, &g), BITCUT_OK);
    ck_assert(w.gemm.alpha == g.alpha && w.gemm.a.at == some && w.gemm.d.stride == 64);
    g.k = 65;
    ck_assert_int_eq(without_kernels(&w, &g), BITCUT_UNSUPPORTED);
    end();
}
END_TEST

/* The caller's text may be another one afterwards. */
START_TEST(names)
{
    char name[] = "gemm.plain.f16", same[] = "gemm.plain.f16";
    struct bitcut_gemm g = gemm_of(8, 8, 8);
    struct gpu_work w;
    begin();
    g.recipe = NULL;
    g.kernel = name;
    check(&g, name);
    memset(name, 'x', sizeof name - 1);
    ck_assert_int_eq(without_kernels(&w, &g), BITCUT_BAD_ARGUMENT);
    g.kernel = same;
    ck_assert_int_eq(without_kernels(&w, &g), BITCUT_OK);
    ck_assert(w.gemm.kernel == same && !strcmp(w.kernel->name, same));
    end();
}
END_TEST

/* --- threads ---------------------------------------------------------------------- */

enum { THREADS = 8, SHAPES = 150, CALLS = 20000 };

static const struct gpu_kernel *expected[SHAPES];

static struct bitcut_gemm shape(size_t i) { return gemm_of(1 + i, 24 + i % 40, 9 + i); }

/* How many were wrong. */
static void *recall(void *context)
{
    uintptr_t wrong = 0;
    for (size_t i = 0, at = (uintptr_t)context; i < CALLS; i++, at = (at + 7) % SHAPES) {
        struct gpu_work w;
        struct fault f;
        struct bitcut_gemm g = shape(i % 4 ? at : 0);
        g.a.at = (const void *)((uintptr_t)context + 4 * i); /* not read */
        wrong += gpu_work_recall(&w, chosen, &gpu, &on, &g, &f) != BITCUT_OK ||
                 w.kernel != expected[g.m - 1] || w.gemm.a.at != g.a.at ||
                 w.gemm.m != g.m || w.gemm.k != g.k || w.plan.order.slices != 1;
    }
    return (void *)wrong;
}

START_TEST(threads)
{
    pthread_t thread[THREADS];
    void *wrong;
    begin();
    for (size_t i = 0; i < SHAPES; i++) {
        struct gpu_work w;
        struct fault f;
        const struct bitcut_gemm g = shape(i);
        ck_assert_int_eq(gpu_work_choose(&w, &gpu, &on, &g, &f), BITCUT_OK);
        expected[i] = w.kernel;
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, recall, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &wrong);
        ck_assert_uint_eq((uintptr_t)wrong, 0);
    }
    end();
}
END_TEST

DEVICE_TEST_MAIN("chosen", one_after_the_other, many, remembered, names, threads)
