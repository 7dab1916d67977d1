/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions, as declared in lib/bitcut.h. */
#include "analysis/predict/predict.h"

#include "lib/gemm/view.h"

#include <stdlib.h>
#include <string.h>

/* --- the call --------------------------------------------------------------------- */

static const struct library_types *types_of(const struct library *l, const char *name,
                                            const struct bitcut_gemm *g)
{
    const struct bitcut_format *const a = matrix_format(&g->a), *b = matrix_format(&g->b),
                                      *const d = matrix_format(&g->d);
    for (const struct library_types *t = l->types; t->name; t++)
        if (a == b && a == &formats[t->operands] && d == &formats[t->result] &&
            (!name || !strcmp(name, t->name)))
            return t;
    return NULL;
}

enum bitcut_status predict_choose(struct prediction *x, const struct bitcut_gemm *g,
                                  const struct bitcut_predict_options *o, struct fault *f)
{
    x->library = table_find(TABLE(libraries), o->library);
    if (!x->library)
        return fault_option(f, "library",
                            "unknown library; bitcut list libraries has all");
    x->chip = table_find((struct table){ x->library->chips, sizeof *x->library->chips },
                         o->chip);
    if (!x->chip)
        return fault_option(f, "chip",
                            "%s has no such chip; bitcut list libraries has all",
                            x->library->name);
    x->types = types_of(x->library, o->types, g);
    if (!x->types)
        return fault_option(f, "types", "%s is not predicted for these types",
                            x->library->name);
    if (o->library_threads < 0)
        return fault_option(f, "library-threads", "must be 1 or more");
    if (o->fields && !x->library->has_fields)
        return fault_option(f, "fields", "%s is not asked for an algorithm",
                            x->library->name);
    if (o->call && !x->library->calls)
        return fault_option(f, "call", "%s is called by its own functions",
                            x->library->name);
    x->made =
        o->call
            ? table_find((struct table){ x->library->calls, sizeof *x->library->calls },
                         o->call)
            : x->library->calls;
    if (o->call && !x->made)
        return fault_option(f, "call",
                            "%s has no such call; bitcut list libraries has all",
                            x->library->name);
    x->threads = o->library_threads ? o->library_threads : 1;
    x->fields = o->fields;
    return BITCUT_OK;
}

/* Whether a GEMM is dense products of one size, which a library's call can be. */
static bool is_a_product(const struct bitcut_gemm *g)
{
    return g->count && !g->offsets && !g->sparsity && !g->zero_a && !g->zero_b;
}

/* Whether a rows x cols matrix has a layout, as a vector has both. */
static bool has_layout(const struct bitcut_matrix *x, char layout, size_t rows,
                       size_t cols)
{
    return rows == 1 || cols == 1 ||
           (x->layout == BITCUT_COLUMN_MAJOR) == (layout == 'T');
}

/* Whether A and B have the layout that the call of the program decides. */
static bool has_layout_of_call(const struct prediction *x)
{
    const struct bitcut_gemm *const g = &x->call;
    const char *const layout = x->made ? x->made->layout : NULL;
    return !layout || (has_layout(&g->a, layout[0], g->m, g->k) &&
                       has_layout(&g->b, layout[1], g->k, g->n));
}

enum bitcut_status predict_find(struct prediction *x, const struct bitcut_gemm *g,
                                struct fault *f)
{
    x->call = *g;
    x->function = x->library->function;
    if (!is_a_product(g))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "groups, zero points and sparse matrices are not predicted");
    if (g->count > 1 && !x->library->has_batches)
        return fault_set(f, BITCUT_UNSUPPORTED, "batches are not predicted for %s",
                         x->library->name);
    if (gemm_has_scales(g) && !x->made)
        return fault_set(f, BITCUT_UNSUPPORTED, "factors are not predicted for %s",
                         x->library->name);
    if (!has_layout_of_call(x))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s is predicted in the layout %s alone",
                         x->made->name, x->made->layout);
    if (!g->m || !g->n || !g->k)
        return fault_set(f, BITCUT_UNSUPPORTED, "m, n and k must be 1 or more");
    const enum bitcut_status status = x->library->predict(x, f);
    return status == BITCUT_OK ? prediction_finish(x, f) : status;
}

/* --- D ---------------------------------------------------------------------------- */

struct bitcut_gemm predict_gemm(const struct prediction *x, size_t i,
                                const struct bitcut_gemm *g)
{
    struct bitcut_gemm to = x->computation[i];
    to.count = g->count, to.m = g->m, to.n = g->n, to.k = g->k - x->lost;
    to.alpha = g->alpha, to.beta = g->beta;
    to.a = g->a, to.b = g->b, to.c = g->c, to.d = g->d;
    to.bias = g->bias, to.bias_rows = g->bias_rows;
    to.scale_a = g->scale_a, to.scale_b = g->scale_b;
    if (x->lost && !to.a.ld && to.a.layout == BITCUT_ROW_MAJOR) to.a.ld = g->k;
    if (x->lost && !to.b.ld && to.b.layout == BITCUT_COLUMN_MAJOR) to.b.ld = g->k;
    return to;
}

/* Copy the outputs of computation i from `from`, row-major and without gaps. */
static void copy_outputs(const struct prediction *x, size_t i,
                         const struct bitcut_gemm *g, const void *from,
                         unsigned char *row)
{
    const struct bitcut_matrix one = { .at = from, .format = g->d.format };
    const struct view source = view_of(&one, 0, g->m, g->n, false),
                      to = view_of(&g->d, 0, g->m, g->n, false);
    for (size_t r = 0, next; r < g->m; r = next) {
        next = prediction_row(row, x, r);
        for (size_t p = r; p < next; p++)
            for (size_t j = 0; j < g->n; j++)
                if (row[j] == i)
                    view_set_encoding(&to, p, j, (uint32_t)view_encoding(&source, p, j));
    }
}

/* Compute D of every computation, and keep its own outputs of each. */
static enum bitcut_status compute_several(const struct prediction *x,
                                          const struct bitcut_gemm *g, int threads,
                                          char *why)
{
    size_t count;
    struct fault f;
    void *const d =
        size_multiply(&count, g->m, g->n)
            ? memory_allocate(count, (size_t)format_bytes(matrix_format(&g->d)))
            : NULL;
    unsigned char *const row = memory_allocate(g->n, 1);
    enum bitcut_status status =
        d && row ? BITCUT_OK : fault_set(&f, BITCUT_NO_MEMORY, "not enough memory");
    fault_write(why, status, &f);
    for (size_t i = 0; i < x->computations && status == BITCUT_OK; i++) {
        struct bitcut_gemm one = predict_gemm(x, i, g);
        one.d = (struct bitcut_matrix){ .to = d, .format = g->d.format };
        status = bitcut_gemm(NULL, &one, threads, why);
        if (status == BITCUT_OK) copy_outputs(x, i, g, d, row);
    }
    free(row);
    free(d);
    return status;
}

enum bitcut_status predict_compute(const struct prediction *x,
                                   const struct bitcut_gemm *g, int threads, char *why)
{
    if (x->computations > 1) return compute_several(x, g, threads, why);
    const struct bitcut_gemm one = predict_gemm(x, 0, g);
    return bitcut_gemm(NULL, &one, threads, why);
}

/* --- the calls of the library ----------------------------------------------------- */

static enum bitcut_status predict(struct prediction *x, struct bitcut_gemm *g,
                                  const struct bitcut_gemm *gemm,
                                  const struct bitcut_predict_options *options,
                                  struct fault *f)
{
    if (!options) return fault_set(f, BITCUT_BAD_ARGUMENT, "the options are NULL");
    enum bitcut_status status =
        struct_check("options", options->size, sizeof *options, f);
    if (status == BITCUT_OK) status = gemm_take(g, gemm, f);
    if (status == BITCUT_OK) status = predict_choose(x, g, options, f);
    return status == BITCUT_OK ? predict_find(x, g, f) : status;
}

enum bitcut_status bitcut_predict(struct bitcut_prediction *to,
                                  const struct bitcut_gemm *gemm,
                                  const struct bitcut_predict_options *options, char *why)
{
    struct prediction x = { .parts = 0 };
    struct bitcut_gemm g;
    struct fault f;
    enum bitcut_status status =
        to ? struct_check("prediction", to->size, sizeof *to, &f)
           : fault_set(&f, BITCUT_BAD_ARGUMENT, "the prediction is NULL");
    if (status == BITCUT_OK) status = predict(&x, &g, gemm, options, &f);
    if (status == BITCUT_OK) {
        x.answer.size = to->size;
        *to = x.answer;
    }
    prediction_clear(&x);
    return fault_write(why, status, &f);
}

enum bitcut_status bitcut_predict_gemm(const struct bitcut_gemm *gemm,
                                       const struct bitcut_predict_options *options,
                                       int threads, char *why)
{
    struct prediction x = { .parts = 0 };
    struct bitcut_gemm g;
    struct fault f;
    enum bitcut_status status = predict(&x, &g, gemm, options, &f);
    fault_write(why, status, &f);
    if (status == BITCUT_OK) status = predict_compute(&x, &g, threads, why);
    prediction_clear(&x);
    return status;
}
