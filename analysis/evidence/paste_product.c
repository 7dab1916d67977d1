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
    p->order = (struct paste_k){ 1, 1 };
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

/* How rows are tried: with an order of k; `screened`: of rows that do not give all results
   that a line has in words, no groups are counted. */
struct attempt {
    struct paste_k order;
    bool screened;
    int threads;
    const struct progress *progress;
};

/* Count the groups that a row gives of line `x`. */
static enum bitcut_status try_row(struct paste_trial *t, const struct paste_line *x,
                                  const struct paste_operands *o, const struct attempt *how)
{
    bool same = true;
    enum bitcut_status status = BITCUT_OK;
    if (how->screened) status = paste_screen(&same, x, o, &t->row, how->order, NULL);
    if (status != BITCUT_OK || !same) return status;
    uint64_t *const d = memory_allocate(o->rows * o->cols, sizeof *d);
    status = d ? paste_compute(d, x, o, &t->row, how->order, BIAS_LAST, NULL)
               : BITCUT_NO_MEMORY;
    if (status == BITCUT_OK) t->agreeing += (size_t)paste_agreeing(x, d, o);
    free(d);
    return status;
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
        if (t->first != i || (how->screened && t->agreeing != p->groups)) continue;
        if (try_row(t, x, &o, how) != BITCUT_OK) {
#pragma omp atomic write
            full = true;
        }
    }
    paste_operands_clear(&o);
    for (size_t i = 0; i < p->trials; i++)
        p->trial[i].agreeing = p->trial[p->trial[i].first].agreeing;
    p->groups += PASTE_GROUPS;
    return full ? fault_set(f, BITCUT_NO_MEMORY, "not enough memory") : BITCUT_OK;
}

static enum bitcut_status try_lines(struct paste_product *p, const struct attempt *how,
                                    struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    p->order = how->order;
    p->groups = 0;
    for (size_t i = 0; i < p->trials; i++) p->trial[i].agreeing = 0;
    for (size_t i = 0; i < p->lines && status == BITCUT_OK; i++) {
        if (progress_stopped(how->progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        if (paste_decides(p->line[i])) status = try_line(p, p->line[i], how, f);
    }
    p->survivors = 0;
    for (size_t i = 0; i < p->trials; i++) p->survivors += paste_survives(p, &p->trial[i]);
    return status;
}

/* Orders in which kernels load k: lanes that hold `each` consecutive k. */
static enum bitcut_status try_orders(struct paste_product *p, struct attempt how,
                                     struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    how.screened = true;
    for (int lanes = 2; lanes <= 16 && !p->survivors && status == BITCUT_OK; lanes *= 2)
        for (int each = 2; each <= 16 && !p->survivors && status == BITCUT_OK; each *= 2) {
            how.order = (struct paste_k){ lanes, each };
            status = try_lines(p, &how, f);
        }
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
    while (first < row && !paste_rows_same(&rows[first], &rows[row], common_k(p))) first++;
    return first;
}

static enum bitcut_status try_product(struct paste_product *p, const struct attempt *how,
                                      struct fault *f)
{
    struct paste_row rows[PASTE_ROWS_MAX];
    if (!p->decides) return BITCUT_OK;
    p->trials = paste_rows(rows, p->line[0]);
    for (size_t i = 0; i < p->trials; i++)
        p->trial[i] = (struct paste_trial){ .row = rows[i], .first = first_same(rows, i, p) };
    enum bitcut_status status = try_lines(p, how, f);
    if (status != BITCUT_OK || p->survivors) return status;
    const struct paste_product ascending = *p;
    status = try_orders(p, *how, f);
    if (status == BITCUT_OK && !p->survivors) *p = ascending;
    return status;
}

enum bitcut_status paste_products(struct paste_product **to, size_t *count,
                                  const struct paste *paste, int threads,
                                  const struct progress *progress, struct fault *f)
{
    struct paste_product *const p = calloc(paste->count + 1, sizeof *p);
    const struct attempt how = { .order = { 1, 1 },
                               .threads = threads_for(threads, PASTE_ROWS_MAX),
                               .progress = progress };
    enum bitcut_status status = BITCUT_OK;
    size_t products;
    if (!p) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    collect(p, &products, paste);
    for (size_t i = 0; i < products && status == BITCUT_OK; i++)
        status = try_product(&p[i], &how, f);
    if (status != BITCUT_OK) return free(p), status;
    *to = p;
    *count = products;
    return BITCUT_OK;
}

enum bitcut_status paste_bias_place(int *place, const struct paste_line *x,
                                    const struct paste_row *row, struct paste_k order,
                                    struct fault *f)
{
    struct paste_operands o;
    enum bitcut_status status = paste_operands_make(&o, x, f);
    if (status != BITCUT_OK) return status;
    uint64_t *const d = memory_allocate(o.rows * o.cols, sizeof *d);
    if (!d) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (*place = 0; status == BITCUT_OK && *place < BIAS_PLACES; ++*place) {
        status = paste_compute(d, x, &o, row, order, *place, f);
        if (status == BITCUT_OK && paste_agreeing(x, d, &o) == PASTE_GROUPS) break;
    }
    free(d);
    paste_operands_clear(&o);
    return status;
}
