/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/paste_product.h"

#include "lib/base/text.h"
#include "lib/base/threads.h"

#include <stdlib.h>

/* --- products --------------------------------------------------------------------- */

static void name_product(char name[PASTE_NAME_MAX], const struct paste_line *x)
{
    *name = 0;
    text_add(name, PASTE_NAME_MAX, "%s", x->a->name);
    if (x->b != x->a) text_add(name, PASTE_NAME_MAX, " x %s", x->b->name);
    if (x->acc) text_add(name, PASTE_NAME_MAX, ", %s sums", x->acc->name);
    if (x->math && x->math != x->a)
        text_add(name, PASTE_NAME_MAX, ", %s allowed", x->math->name);
    if (x->scale)
        text_add(name, PASTE_NAME_MAX, ", %s for %zu k", x->scale->name, x->scale_block);
}

static bool same_product(const struct paste_line *x, const struct paste_line *y)
{
    return x->a == y->a && x->b == y->b && x->acc == y->acc && x->math == y->math &&
           x->scale == y->scale && x->scale_block == y->scale_block;
}

bool paste_decides(const struct paste_line *x)
{
    return x->ran && paste_is_short(x) && (x->op == PASTE_MM || x->op == PASTE_SCALED);
}

static void add_line(struct paste_product *p, const struct paste_line *x)
{
    if (!p->lines) name_product(p->name, x);
    p->line[p->lines++] = x;
    p->decides += paste_decides(x);
    p->missing += !x->ran;
}

static void collect(struct paste_product *p, size_t *count, const struct paste *paste)
{
    *count = 0;
    for (size_t i = 0; i < paste->count; i++) {
        size_t at = 0;
        while (at < *count && !same_product(p[at].line[0], &paste->at[i])) at++;
        add_line(&p[at], &paste->at[i]);
        if (at == *count) ++*count;
    }
}

bool paste_survives(const struct paste_product *p, const struct paste_trial *t)
{
    return p->groups && t->agreeing == p->groups;
}

/* --- trying rows ------------------------------------------------------------------ */

/* How rows are tried. */
struct attempt {
    bool any_order;
    int threads;
    const struct progress *progress;
};

/* Count the groups that a row gives of line `x`: of one that has k ascending, or all if
   it gives the line in some order. */
static enum bitcut_status try_row(struct paste_trial *t, uint64_t *d,
                                  const struct paste_line *x,
                                  const struct paste_operands *o, bool any_order)
{
    struct paste_k order = paste_orders[0];
    int groups = PASTE_GROUPS;
    const enum bitcut_status status =
        any_order ? paste_find_order(&order, d, x, o, &t->row, true, NULL)
                  : paste_given(&groups, d, x, o, &t->row, order, BIAS_LAST, false, NULL);
    if (status != BITCUT_OK || !order.lanes) return status;
    t->agreeing += (size_t)groups;
    if ((size_t)order.slice < x->k) t->slices |= (unsigned)order.slice;
    else t->filled = true;
    if (order.lanes > 1) t->lanes = order;
    return BITCUT_OK;
}

/* The same for all rows of a product. */
static enum bitcut_status try_line(struct paste_product *p, const struct paste_line *x,
                                   const struct attempt *how, struct fault *f)
{
    struct paste_operands o;
    enum bitcut_status status = paste_operands_make(&o, x, f);
    bool full = false;
    if (status != BITCUT_OK) return status;
#pragma omp parallel for schedule(dynamic) num_threads(how->threads)
    for (size_t i = 0; i < p->trials; i++) {
        struct paste_trial *const t = &p->trial[i];
        if (t->first != i || (how->any_order && t->agreeing != p->groups)) continue;
        uint64_t *const d = memory_allocate(o.rows * o.cols, sizeof *d);
        if (!d || try_row(t, d, x, &o, how->any_order) != BITCUT_OK) {
#pragma omp atomic write
            full = true;
        }
        free(d);
    }
    paste_operands_clear(&o);
    p->groups += PASTE_GROUPS;
    return full ? fault_set(f, BITCUT_NO_MEMORY, "not enough memory") : BITCUT_OK;
}

/* Rows that compute the same have the result of the first of them. */
static void copy_results(struct paste_product *p)
{
    p->survivors = 0;
    for (size_t i = 0; i < p->trials; i++) {
        struct paste_trial *const t = &p->trial[i];
        const struct paste_trial *const first = &p->trial[t->first];
        t->agreeing = first->agreeing;
        t->slices = first->slices;
        t->filled = first->filled;
        t->lanes = first->lanes;
        p->survivors += paste_survives(p, t);
    }
}

static enum bitcut_status try_lines(struct paste_product *p, const struct attempt *how,
                                    struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    p->any_order = how->any_order;
    p->groups = 0;
    for (size_t i = 0; i < p->trials; i++) p->trial[i].agreeing = 0;
    for (size_t i = 0; i < p->lines && status == BITCUT_OK; i++) {
        if (progress_stopped(how->progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        if (paste_decides(p->line[i])) status = try_line(p, p->line[i], how, f);
    }
    copy_results(p);
    return status;
}

/* A divisor of the k of all lines that decide. */
static size_t common_k(const struct paste_product *p)
{
    size_t k = 0;
    for (size_t i = 0; i < p->lines; i++)
        if (paste_decides(p->line[i])) k |= p->line[i]->k;
    return k & -k;
}

static size_t first_same(const struct paste_row *rows, size_t row,
                         const struct paste_product *p)
{
    size_t first = 0;
    while (first < row && !paste_rows_same(&rows[first], &rows[row], common_k(p)))
        first++;
    return first;
}

static enum bitcut_status try_product(struct paste_product *p, struct attempt how,
                                      struct fault *f)
{
    struct paste_row rows[PASTE_ROWS_MAX];
    if (!p->decides) return BITCUT_OK;
    p->trials = paste_rows(rows, p->line[0]);
    for (size_t i = 0; i < p->trials; i++)
        p->trial[i] = (struct paste_trial){ .row = rows[i],
                                            .first = first_same(rows, i, p),
                                            .lanes = paste_orders[0] };
    enum bitcut_status status = try_lines(p, &how, f);
    if (status != BITCUT_OK || p->survivors) return status;
    const struct paste_product ascending = *p;
    how.any_order = true;
    status = try_lines(p, &how, f);
    if (status == BITCUT_OK && !p->survivors) *p = ascending; /* for the nearest row */
    return status;
}

enum bitcut_status paste_products(struct paste_product **to, size_t *count,
                                  const struct paste *paste, int threads,
                                  const struct progress *progress, struct fault *f)
{
    struct paste_product *const p = calloc(paste->count + 1, sizeof *p);
    const struct attempt how = { .threads = threads_for(threads, PASTE_ROWS_MAX),
                                 .progress = progress };
    enum bitcut_status status = BITCUT_OK;
    size_t products;
    if (!p) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    collect(p, &products, paste);
    for (size_t i = 0; i < products && status == BITCUT_OK; i++)
        status = try_product(&p[i], how, f);
    if (status != BITCUT_OK) return free(p), status;
    *to = p;
    *count = products;
    return BITCUT_OK;
}

enum bitcut_status paste_bias_place(int *place, const struct paste_line *x,
                                    const struct paste_row *row, struct fault *f)
{
    struct paste_operands o;
    enum bitcut_status status = paste_operands_make(&o, x, f);
    bool given = false;
    *place = BIAS_PLACES;
    if (status != BITCUT_OK) return status;
    uint64_t *const d = memory_allocate(o.rows * o.cols, sizeof *d);
    if (!d) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (const struct paste_k *k = paste_orders; k->lanes && !given; k++)
        for (int i = 0; i < BIAS_PLACES && !given && status == BITCUT_OK; i++) {
            int groups = 0;
            status = paste_given(&groups, d, x, &o, row, *k, i, true, f);
            given = status == BITCUT_OK && groups == PASTE_GROUPS;
            if (given) *place = i;
        }
    free(d);
    paste_operands_clear(&o);
    return status;
}
