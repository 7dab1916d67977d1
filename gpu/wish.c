/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/wish.h"

#include "lib/text.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_MOST = 80 };

/* --- wishes ----------------------------------------------------------------------- */

/* A wish: to do without it; what it says; what a kernel has that does the rest; and the
   status of a fault. */
struct wish {
    void (*drop)(struct bitcut_gemm *g);
    void (*asked)(char *text, const struct bitcut_gemm *g);
    void (*had)(char *text, const struct gpu_work *w);
    enum bitcut_status status;
    size_t (*most)(const struct gpu_work *w); /* that is largest where kernels have a
                                                 limit, of which one is told; NULL  */
};

#define SAY(...) snprintf(text, VALUE_MOST, __VA_ARGS__)

static void no_unit(struct bitcut_gemm *g) { g->unit = NULL; }

static void asked_unit(char *text, const struct bitcut_gemm *g)
{
    SAY("unit %.60s", bitcut_unit_name(g->unit));
}

static void had_unit(char *text, const struct gpu_work *w)
{
    SAY("%.70s", bitcut_unit_name(w->gemm.unit));
}

static void no_formats(struct bitcut_gemm *g)
{
    g->a.format = g->b.format = g->c.format = g->d.format;
}

static void asked_formats(char *text, const struct bitcut_gemm *g)
{
    (void)g;
    SAY("matrices of several formats");
}

static void had_formats(char *text, const struct gpu_work *w)
{
    SAY("all of %s", formats[w->kernel->matrices].name);
}

static void no_split(struct bitcut_gemm *g)
{
    g->split_a = g->split_b = NULL;
    g->high = g->low = NULL;
    g->scale = BITCUT_UNSET;
}

static void asked_split(char *text, const struct bitcut_gemm *g)
{
    const struct bitcut_split *const own = g->split_a ? g->split_a : g->split_b;
    SAY("%s%.30s", own ? "split " : "roundings or scale of words", own ? own->name : "");
}

static void had_split(char *text, const struct gpu_work *w)
{
    const struct gpu_kernel *const k = w->kernel;
    if (k->low_format) SAY("words as of %.30s", w->gemm.recipe->split->name);
    else SAY("%d words of %s", k->program.words, formats[k->format].name);
}

/* What is asked for is not what the recipe has, or it would not be said. */
static void no_low_low(struct bitcut_gemm *g)
{
    if (g->low_low != BITCUT_UNSET) g->low_low = !g->low_low;
}

static void asked_low_low(char *text, const struct bitcut_gemm *g)
{
    SAY("%s product of two low words", g->low_low ? "the" : "no");
}

static void had_low_low(char *text, const struct gpu_work *w)
{
    SAY("%s", w->kernel->program.terms > w->gemm.recipe->terms ? "kept" : "left out");
}

static void no_promote(struct bitcut_gemm *g) { g->promote = BITCUT_UNSET; }

static void asked_promote(char *text, const struct bitcut_gemm *g)
{
    if (g->promote) SAY("promotion after %d instructions", g->promote);
    else SAY("no promotion");
}

static void had_promote(char *text, const struct gpu_work *w)
{
    if (w->kernel->program.promote) SAY("after %d", w->kernel->program.promote);
    else SAY("none");
}

static void no_tile_k(struct bitcut_gemm *g) { g->tile_k = 0; }

static void asked_tile_k(char *text, const struct bitcut_gemm *g)
{
    if (g->tile_k == BITCUT_UNSET) SAY("its tiles of k");
    else SAY("tiles of %d of k", g->tile_k);
}

static void no_equilibrate(struct bitcut_gemm *g) { g->equilibrate = false; }

static void asked_equilibrate(char *text, const struct bitcut_gemm *g)
{
    (void)g;
    SAY("equilibrated lines");
}

static void had_none(char *text, const struct gpu_work *w)
{
    (void)w;
    SAY("none");
}

static void no_order(struct bitcut_gemm *g)
{
    const int slices = g->order.slices;
    struct bitcut_gemm plain;
    bitcut_gemm_init(&plain, sizeof plain);
    g->order = plain.order;
    g->order.slices = slices;
}

static void asked_order(char *text, const struct bitcut_gemm *g)
{
    (void)g;
    SAY("this order of k");
}

static void had_order(char *text, const struct gpu_work *w)
{
    (void)w;
    SAY("ascending, in slices of whole k-steps");
}

static void no_slices(struct bitcut_gemm *g) { g->order.slices = 1; }

static void asked_slices(char *text, const struct bitcut_gemm *g)
{
    SAY("%d slices of k", g->order.slices);
}

static void had_slices(char *text, const struct gpu_work *w)
{
    SAY("1 to %d", w->kernel->slices_most);
}

static size_t most_slices(const struct gpu_work *w)
{
    return (size_t)w->kernel->slices_most;
}

static void no_sizes(struct bitcut_gemm *g) { g->m = g->n = g->k = 1; }

static void asked_sizes(char *text, const struct bitcut_gemm *g)
{
    SAY("%zu x %zu x %zu", g->m, g->n, g->k);
}

static void had_sizes(char *text, const struct gpu_work *w)
{
    if (w->kernel->size_most) SAY("m, n and k up to %zu", w->kernel->size_most);
    else SAY("what fits memory");
}

static size_t most_sizes(const struct gpu_work *w)
{
    return w->kernel->size_most ? w->kernel->size_most : SIZE_MAX;
}

static void no_pointers(struct bitcut_gemm *g)
{
    g->a.each = g->b.each = g->c.each = g->d.each = NULL;
}

static void asked_pointers(char *text, const struct bitcut_gemm *g)
{
    (void)g;
    SAY("pointers to matrices");
}

static void had_strides(char *text, const struct gpu_work *w)
{
    (void)w;
    SAY("matrices at strides");
}

static void no_words(struct bitcut_gemm *g) { g->a.words = g->b.words = NULL; }

static void asked_words(char *text, const struct bitcut_gemm *g)
{
    (void)g;
    SAY("words in place of matrices");
}

static void had_matrices(char *text, const struct gpu_work *w)
{
    (void)w;
    SAY("matrices");
}

/* Those that say what the GEMM is come first: if two cannot be had together, the later
   one is told. */
static const struct wish wishes[] = {
    /* clang-format off */
    { no_formats,     asked_formats,     had_formats,  BITCUT_BAD_ARGUMENT, NULL        },
    { no_words,       asked_words,       had_matrices, BITCUT_BAD_ARGUMENT, NULL        },
    { no_pointers,    asked_pointers,    had_strides,  BITCUT_BAD_ARGUMENT, NULL        },
    { no_unit,        asked_unit,        had_unit,     BITCUT_CANNOT,       NULL        },
    { no_split,       asked_split,       had_split,    BITCUT_BAD_ARGUMENT, NULL        },
    { no_low_low,     asked_low_low,     had_low_low,  BITCUT_BAD_ARGUMENT, NULL        },
    { no_tile_k,      asked_tile_k,      had_none,     BITCUT_BAD_ARGUMENT, NULL        },
    { no_promote,     asked_promote,     had_promote,  BITCUT_BAD_ARGUMENT, NULL        },
    { no_equilibrate, asked_equilibrate, had_none,     BITCUT_BAD_ARGUMENT, NULL        },
    { no_slices,      asked_slices,      had_slices,   BITCUT_BAD_ARGUMENT, most_slices },
    { no_sizes,       asked_sizes,       had_sizes,    BITCUT_BAD_ARGUMENT, most_sizes  },
    { no_order,       asked_order,       had_order,    BITCUT_CANNOT,       NULL        },
    /* clang-format on */
};

enum { WISHES = sizeof wishes / sizeof wishes[0] };

/* --- which of them ---------------------------------------------------------------- */

/* The kernels of a device, and a GEMM for them. */
struct asking {
    const struct gpu *gpu;
    const struct gpu_device *device;
    const struct bitcut_gemm *gemm; /* with its promotion */
    gpu_try_kernel *try_kernel;
};

/* The next kernel that does the GEMM without a set of wishes; NULL: none. */
static const struct gpu_kernel *next_without(struct gpu_work *to, const struct asking *x,
                                             unsigned without, const struct gpu_kernel *k)
{
    struct bitcut_gemm g = *x->gemm;
    struct fault f;
    for (int i = 0; i < WISHES; i++)
        if (without >> i & 1) wishes[i].drop(&g);
    while ((k = gpu_kernel_next(x->gpu, k)))
        if (x->try_kernel(to, x->device, &g, g.promote, k, &f) == BITCUT_OK) return k;
    return NULL;
}

/* A set of wishes without which a kernel does the GEMM, and all of which it needs to be
   without; 0: there is none. */
static unsigned fewest(const struct asking *x)
{
    struct gpu_work w;
    unsigned set = (1u << WISHES) - 1;
    if (!next_without(&w, x, set, NULL)) return 0;
    for (int i = 0; i < WISHES; i++)
        if (next_without(&w, x, set & ~(1u << i), NULL)) set &= ~(1u << i);
    return set;
}

/* What the kernels have that do all but a set of wishes, each said once, or the most. */
static void list_had(char had[VALUE_MOST], const struct asking *x, int wish, unsigned set)
{
    const struct wish *const row = &wishes[wish];
    const struct gpu_kernel *k = NULL;
    struct gpu_work w;
    size_t most = 0;
    had[0] = 0;
    while ((k = next_without(&w, x, set, k))) {
        char text[VALUE_MOST];
        if (row->most && row->most(&w) <= most) continue;
        if (row->most) most = row->most(&w), had[0] = 0;
        row->had(text, &w);
        if (!strstr(had, text)) text_append(had, VALUE_MOST, text);
    }
}

/* Add a wish that is not met, and what can be had. */
static void say(char *texts, size_t size, const struct asking *x, int wish, unsigned set)
{
    char asked[VALUE_MOST], had[VALUE_MOST], both[2 * VALUE_MOST + 16];
    wishes[wish].asked(asked, x->gemm);
    list_had(had, x, wish, set);
    snprintf(both, sizeof both, "%s (can be %s)", asked, had);
    text_append(texts, size, both);
}

enum bitcut_status gpu_wish_fault(struct fault *f, const struct gpu *gpu,
                                  const struct gpu_device *device,
                                  const struct bitcut_gemm *gemm, int promote,
                                  gpu_try_kernel *try_kernel)
{
    struct bitcut_gemm g = *gemm;
    g.promote = promote;
    const struct asking x = { gpu, device, &g, try_kernel };
    const unsigned set = fewest(&x);
    enum bitcut_status status = BITCUT_OK;
    char texts[BITCUT_TEXT_MOST] = "";
    for (int i = 0; i < WISHES; i++) {
        if (!(set >> i & 1)) continue;
        say(texts, sizeof texts, &x, i, set);
        status = wishes[i].status;
    }
    return set ? fault_set(f, status, "no kernel for recipe %s on %.60s does this: %s",
                           g.recipe->name, device->name, texts)
               : BITCUT_OK;
}
