/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/constraint.h"

#include "lib/base/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 80 };

/* --- constraints ------------------------------------------------------------------ */

/* A member of struct bitcut_gemm or struct gpu_kernel; a number is an int or a size_t. */
struct field {
    size_t at, size;
};

/* A text: `some` is a printf() format of the number; `none`, if not NULL, replaces it if
   the number is not above 0; or a function writes the text. */
struct phrase {
    const char *some, *none;
    void (*describe)(char text[VALUE_MAX], const struct bitcut_gemm *g,
                     const struct gpu_work *w);
};

struct constraint {
    struct field field[5]; /* members of a GEMM that set the constraint, a number first */
    struct phrase asked;
    struct field limit; /* number of a kernel that satisfies all other constraints; 0:
                           any                                             */
    struct phrase had;
    bool most;                 /* whether only the largest limit is reported */
    enum bitcut_status status; /* status of the fault */
};

#define SAY(...) snprintf(text, VALUE_MAX, __VA_ARGS__)

static void asked_unit(char *text, const struct bitcut_gemm *g, const struct gpu_work *w)
{
    (void)w;
    SAY("unit %.60s", bitcut_unit_name(g->unit));
}

static void had_unit(char *text, const struct bitcut_gemm *g, const struct gpu_work *w)
{
    (void)g;
    SAY("%.70s", bitcut_unit_name(w->gemm.unit));
}

static void had_formats(char *text, const struct bitcut_gemm *g, const struct gpu_work *w)
{
    (void)g;
    SAY("all in %s", formats[w->kernel->matrices].name);
}

static void asked_split(char *text, const struct bitcut_gemm *g, const struct gpu_work *w)
{
    const struct bitcut_split *const own = g->split_a ? g->split_a : g->split_b;
    (void)w;
    SAY("%s%.30s", own ? "split " : "roundings or scale of parts", own ? own->name : "");
}

static void had_split(char *text, const struct bitcut_gemm *g, const struct gpu_work *w)
{
    const struct gpu_kernel *const k = w->kernel;
    (void)g;
    if (k->low_format) SAY("parts of split %.30s", w->gemm.recipe->split->name);
    else SAY("%d parts in %s", k->program.parts, formats[k->format].name);
}

static void had_dropped_term(char *text, const struct bitcut_gemm *g,
                             const struct gpu_work *w)
{
    (void)g;
    SAY("%s", w->kernel->program.terms > w->gemm.recipe->terms ? "included" : "left out");
}

static void asked_sizes(char *text, const struct bitcut_gemm *g, const struct gpu_work *w)
{
    (void)w;
    SAY("%zu x %zu x %zu", g->m, g->n, g->k);
}

#define OF(type, x)                                                                      \
    {                                                                                    \
        offsetof(type, x), sizeof((type *)NULL)->x                                       \
    }
#define GEMM(x)   OF(struct bitcut_gemm, x)
#define KERNEL(x) OF(struct gpu_kernel, x)

/* Constraints on the operands come first.  If two constraints cannot be satisfied
   together, the later one is reported. */
static const struct constraint constraints[] = {
    /* clang-format off */
    { .field = { GEMM(a.format), GEMM(b.format), GEMM(c.format) },
      .asked = { .some = "matrices of several formats" }, .had = { .describe = had_formats },
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(a.prepared), GEMM(b.prepared) },
      .asked = { .some = "prepared operands" }, .had = { .some = "matrices" },
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(a.each), GEMM(b.each), GEMM(c.each), GEMM(d.each) },
      .asked = { .some = "pointers to matrices" }, .had = { .some = "matrices at strides" },
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(unit) },
      .asked = { .describe = asked_unit }, .had = { .describe = had_unit },
      .status = BITCUT_UNSUPPORTED },
    { .field = { GEMM(split_a), GEMM(split_b), GEMM(high), GEMM(low), GEMM(scale) },
      .asked = { .describe = asked_split }, .had = { .describe = had_split },
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(dropped_term) },
      .asked = { .some = "the low*low term", .none = "no low*low term" },
      .had = { .describe = had_dropped_term }, .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(tile_k) },
      .asked = { .some = "tiles of k = %lld", .none = "its tiles along k" }, .had = { .some = "none" },
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(promote) },
      .asked = { .some = "promotion every %lld instructions", .none = "no promotion" },
      .limit = KERNEL(program.promote), .had = { .some = "every %lld", .none = "none" },
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(equilibrate) },
      .asked = { .some = "equilibration" }, .had = { .some = "none" },
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(order.slices) },
      .asked = { .some = "%lld slices of k" }, .limit = KERNEL(slices_most),
      .had = { .some = "1 to %lld" }, .most = true, .status = BITCUT_BAD_ARGUMENT },
    { .field = { GEMM(m), GEMM(n), GEMM(k) },
      .asked = { .describe = asked_sizes }, .limit = KERNEL(size_most),
      .had = { .some = "m, n and k up to %lld", .none = "sizes that fit in memory" }, .most = true,
      .status = BITCUT_BAD_ARGUMENT },
    { .field = { { offsetof(struct bitcut_gemm, order.tile), /* everything except the
                                                                slices             */
                   sizeof(struct bitcut_order) - offsetof(struct bitcut_order, tile) } },
      .asked = { .some = "this order of k" }, .had = { .some = "ascending, in slices of whole k-steps" },
      .status = BITCUT_UNSUPPORTED },
    /* clang-format on */
};

enum { WISHES = sizeof constraints / sizeof constraints[0] };

/* Remove a constraint from a GEMM.  If the product of low parts is requested or excluded,
   this differs from the recipe; otherwise it would not be a constraint. */
static void drop(struct bitcut_gemm *g, const struct constraint *wish)
{
    struct bitcut_gemm none;
    bitcut_gemm_init(&none, sizeof none);
    none.a.format = none.b.format = none.c.format = g->d.format;
    none.dropped_term = g->dropped_term == BITCUT_UNSET ? BITCUT_UNSET : !g->dropped_term;
    none.tile_k = 0;
    none.order.slices = 1;
    none.m = none.n = none.k = 1;
    for (size_t i = 0; i < sizeof wish->field / sizeof *wish->field; i++)
        memcpy((char *)g + wish->field[i].at, (const char *)&none + wish->field[i].at,
               wish->field[i].size);
}

static long long number_of(const void *of, struct field x)
{
    const void *const at = (const char *)of + x.at;
    return x.size == sizeof(int)      ? *(const int *)at
           : x.size == sizeof(size_t) ? (long long)*(const size_t *)at
                                      : 0;
}

static void describe_phrase(char text[VALUE_MAX], const struct phrase *p,
                            long long number, const struct bitcut_gemm *g,
                            const struct gpu_work *w)
{
    if (p->describe) p->describe(text, g, w);
    else SAY(number > 0 || !p->none ? p->some : p->none, number);
}

/* --- which of them ---------------------------------------------------------------- */

/* The kernels of a device, and a GEMM for them. */
struct asking {
    const struct gpu *gpu;
    const struct gpu_device *device;
    const struct bitcut_gemm *gemm; /* with its promotion */
    gpu_try_kernel *try_kernel;
};

/* The next kernel that computes the GEMM without a set of constraints; NULL: none. */
static const struct gpu_kernel *next_without(struct gpu_work *to, const struct asking *x,
                                             unsigned without, const struct gpu_kernel *k)
{
    struct bitcut_gemm g = *x->gemm;
    struct fault f;
    for (int i = 0; i < WISHES; i++)
        if (without >> i & 1) drop(&g, &constraints[i]);
    while ((k = gpu_kernel_next(x->gpu, k)))
        if (x->try_kernel(to, x->device, &g, g.promote, k, &f) == BITCUT_OK) return k;
    return NULL;
}

/* A smallest set of constraints without which a kernel computes the GEMM; 0: there is
   none. */
static unsigned fewest(const struct asking *x)
{
    struct gpu_work w;
    unsigned set = (1u << WISHES) - 1;
    if (!next_without(&w, x, set, NULL)) return 0;
    for (int i = 0; i < WISHES; i++)
        if (next_without(&w, x, set & ~(1u << i), NULL)) set &= ~(1u << i);
    return set;
}

/* List the supported values of the kernels that satisfy all other constraints, each value
   once, or only the largest. */
static void list_had(char had[VALUE_MAX], const struct asking *x, int wish, unsigned set)
{
    const struct constraint *const row = &constraints[wish];
    const struct gpu_kernel *k = NULL;
    struct gpu_work w;
    long long most = 0;
    had[0] = 0;
    while ((k = next_without(&w, x, set, k))) {
        char text[VALUE_MAX];
        const long long limit = number_of(w.kernel, row->limit),
                        reach = limit ? limit : LLONG_MAX;
        if (row->most && reach <= most) continue;
        if (row->most) most = reach, had[0] = 0;
        describe_phrase(text, &row->had, limit, x->gemm, &w);
        if (!strstr(had, text)) text_append(had, VALUE_MAX, text);
    }
}

/* Append a constraint that is not satisfied, and the supported values. */
static void describe(char *texts, size_t size, const struct asking *x, int wish,
                     unsigned set)
{
    char asked[VALUE_MAX], had[VALUE_MAX], both[2 * VALUE_MAX + 16];
    describe_phrase(asked, &constraints[wish].asked,
                    number_of(x->gemm, constraints[wish].field[0]), x->gemm, NULL);
    list_had(had, x, wish, set);
    snprintf(both, sizeof both, "%s (supported: %s)", asked, had);
    text_append(texts, size, both);
}

enum bitcut_status gpu_constraint_fault(struct fault *f, const struct gpu *gpu,
                                        const struct gpu_device *device,
                                        const struct bitcut_gemm *gemm, int promote,
                                        gpu_try_kernel *try_kernel)
{
    struct bitcut_gemm g = *gemm;
    g.promote = promote;
    const struct asking x = { gpu, device, &g, try_kernel };
    const unsigned set = fewest(&x);
    enum bitcut_status status = BITCUT_OK;
    char texts[BITCUT_TEXT_MAX] = "";
    for (int i = 0; i < WISHES; i++) {
        if (!(set >> i & 1)) continue;
        describe(texts, sizeof texts, &x, i, set);
        status = constraints[i].status;
    }
    return set ? fault_set(f, status, "no kernel for recipe %s on %.60s supports: %s",
                           g.recipe->name, device->name, texts)
               : BITCUT_OK;
}
