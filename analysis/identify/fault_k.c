/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults in the k that are added: missing, twice, stale, in another order. */
#include "analysis/identify/fault.h"

#include "lib/base/size.h"

#include <stdio.h>

/* --- ranges ----------------------------------------------------------------------- */

/* Each range left out, or read as zeros. */
static size_t twice_ranges(const struct space *s) { return 2 * s->ranges; }

static bool k_lost(struct candidate *x, const struct space *s, int kind)
{
    x->lost = s->range[kind / 2];
    x->lost_are_zero = kind % 2;
    return true;
}

static void describe_lost(char *text, size_t size, const struct candidate *x,
                          const struct space *s, int kind)
{
    (void)x;
    const struct k_range r = s->range[kind / 2];
    snprintf(text, size, "the products of k from %zu to %zu are missing", r.first,
             r.end - 1);
}

static size_t every_range(const struct space *s) { return s->ranges; }

static bool k_twice(struct candidate *x, const struct space *s, int kind)
{
    struct bitcut_order *const o = &x->plan.order;
    const bool sliced = o->slices > 1 && o->tile;
    const size_t step = (size_t)(sliced ? o->tile : larger_int(x->plan.k_step, 1));
    x->twice = s->range[kind];
    if (x->twice.end == s->k) x->gap = divide_up(s->k, step) * step - s->k;
    /* One more slice. */
    if (sliced) o->slices = (int)divide_up(candidate_places(x, s->k), (size_t)o->tile);
    return true;
}

static void describe_k_twice(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)x;
    const struct k_range r = s->range[kind];
    snprintf(text, size, "the products of k from %zu to %zu are added twice", r.first,
             r.end - 1);
}

/* --- steps ------------------------------------------------------------------------ */

/* x->by: k of a step, then the parameters of the fault. */
static size_t step_of(const struct candidate *x) { return (size_t)x->by[0]; }

static size_t whole_steps(const struct candidate *x, size_t k)
{
    return divide_up(k, step_of(x)) * step_of(x);
}

enum { STEPS = 6 }; /* of 4, 8, 16, ... k */

static size_t every_step(const struct space *s)
{
    (void)s;
    return STEPS;
}

static void describe_steps(char *text, size_t size, const char *what,
                           const struct candidate *x)
{
    snprintf(text, size, what, x->by[0]);
}

static size_t from_last(const struct candidate *x, size_t p, size_t k)
{
    return whole_steps(x, k) - step_of(x) - p / step_of(x) * step_of(x) + p % step_of(x);
}

static bool k_descends(struct candidate *x, const struct space *s, int kind)
{
    x->by[0] = 4 << kind;
    x->k_at = from_last;
    x->places = whole_steps;
    return (size_t)x->by[0] < s->k && x->by[0] % x->plan.k_step == 0;
}

static void describe_descends(char *text, size_t size, const struct candidate *x,
                              const struct space *s, int kind)
{
    (void)s, (void)kind;
    describe_steps(text, size, "k is taken from the last to the first, %d at a time", x);
}

/* Every by[1]-th step from the first, then every by[1]-th step from the second, ... */
static size_t strided(const struct candidate *x, size_t p, size_t k)
{
    const size_t steps = divide_up(k, step_of(x)), stride = (size_t)x->by[1];
    size_t at = p / step_of(x);
    for (size_t first = 0; first < stride; first++) {
        const size_t count = steps > first ? divide_up(steps - first, stride) : 0;
        if (at < count) return (first + at * stride) * step_of(x) + p % step_of(x);
        at -= count;
    }
    return SIZE_MAX;
}

enum { STRIDES = 3 }; /* 2, 4, 8 */

static size_t every_stride(const struct space *s)
{
    (void)s;
    return STEPS * STRIDES;
}

static bool k_strided(struct candidate *x, const struct space *s, int kind)
{
    x->by[0] = 4 << kind / STRIDES;
    x->by[1] = 2 << kind % STRIDES;
    x->k_at = strided;
    x->places = whole_steps;
    return (size_t)(x->by[0] * x->by[1]) <= s->k && x->by[0] % x->plan.k_step == 0;
}

static void describe_strided(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "k is taken %d at a time: first every %dth, then those between",
             x->by[0], x->by[1]);
}

/* In every by[1] steps, step by[2] has the operands of the step before. */
static size_t stale(const struct candidate *x, size_t p, size_t k)
{
    const size_t step = step_of(x), at = p / step;
    (void)k;
    return at && at % (size_t)x->by[1] == (size_t)x->by[2] ? p - step : p;
}

enum { STAGE_STEPS = 8 }; /* of 1, 2, 4, ... k */

enum { STAGES_MAX = 8, STAGES = STAGES_MAX * (STAGES_MAX + 1) / 2 };

static size_t every_stage(const struct space *s)
{
    (void)s;
    return STAGE_STEPS * STAGES;
}

static bool k_stale(struct candidate *x, const struct space *s, int kind)
{
    int stages = 1, stage = kind % STAGES;
    for (; stage >= stages; stages++) stage -= stages;
    x->by[0] = 1 << kind / STAGES;
    x->by[1] = stages;
    x->by[2] = stage;
    x->k_at = stale;
    x->places = whole_steps;
    return stages > 1 && (size_t)x->by[0] * (size_t)(stage ? stage : stages) < s->k;
}

static void describe_stale(char *text, size_t size, const struct candidate *x,
                           const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size,
             "in every %d steps of %d k, step %d has the operands of the step before",
             x->by[1], x->by[0], x->by[2]);
}

/* --- slices ----------------------------------------------------------------------- */

/* Slices of by[1] k.  Each slice after the first begins with the last by[0] k of the
   slice before; the first slice begins with zeros. */
static size_t overlapping(const struct candidate *x, size_t p, size_t k)
{
    const size_t each = (size_t)x->by[1] + step_of(x), slice = p / each, at = p % each;
    (void)k;
    if (!slice && at < step_of(x)) return SIZE_MAX;
    return slice * (size_t)x->by[1] + at - step_of(x);
}

static size_t overlapping_places(const struct candidate *x, size_t k)
{
    return k + divide_up(k, (size_t)x->by[1]) * step_of(x);
}

enum { SLICES_MAX = 16, OVERLAPS = STEPS + 2 }; /* of 1, 2, 4, ... k */

static size_t every_overlap(const struct space *s)
{
    (void)s;
    return OVERLAPS * (SLICES_MAX - 1);
}

static bool slices_overlap(struct candidate *x, const struct space *s, int kind)
{
    const int step = 1 << kind % OVERLAPS, slices = kind / OVERLAPS + 2;
    const size_t steps = divide_up(s->k, (size_t)step);
    x->by[0] = step;
    x->by[1] = step * (int)divide_up(steps, (size_t)slices);
    x->k_at = overlapping;
    x->places = overlapping_places;
    x->plan.order.tile = x->by[1] + step;
    x->plan.order.slices =
        (int)divide_up(overlapping_places(x, s->k), (size_t)x->plan.order.tile);
    return steps > 1 && x->plan.order.slices == slices &&
           (!x->plan.k_step || step % x->plan.k_step == 0);
}

static void describe_overlap(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size,
             "k is cut into slices of %d; each slice after the first begins %d k early",
             x->by[1], x->by[0]);
}

/* --- the table -------------------------------------------------------------------- */

const struct kernel_fault kernel_faults_k[] = {
    { .name = "k lost",
      .exact = true,
      .of_ranges = true,
      .what = "some products are not added",
      .kinds = twice_ranges,
      .alter = k_lost,
      .describe = describe_lost },
    { .name = "k twice",
      .exact = true,
      .of_ranges = true,
      .what = "some products are added twice",
      .kinds = every_range,
      .alter = k_twice,
      .describe = describe_k_twice },
    { .name = "k stale",
      .exact = true,
      .what = "some steps have the operands of the step before",
      .kinds = every_stage,
      .alter = k_stale,
      .describe = describe_stale },
    { .name = "k descending",
      .fine = true,
      .what = "k is taken from the last to the first",
      .kinds = every_step,
      .alter = k_descends,
      .describe = describe_descends },
    { .name = "k with stride",
      .fine = true,
      .what = "k is taken in strides",
      .kinds = every_stride,
      .alter = k_strided,
      .describe = describe_strided },
    { .name = "slices overlap",
      .exact = true,
      .what = "slices repeat k of the slice before",
      .kinds = every_overlap,
      .alter = slices_overlap,
      .describe = describe_overlap },
    { 0 }
};
