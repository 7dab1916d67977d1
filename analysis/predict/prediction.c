/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/predict/library.h"

#include "analysis/order/order_sentence.h"
#include "emu/gemm_text.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/fma.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int prediction_computation(struct prediction *x, const struct bitcut_gemm *g)
{
    char line[CONFIGURATION_LINE_MAX], other[CONFIGURATION_LINE_MAX];
    configuration_line_write(line, g);
    for (size_t i = 0; i < x->computations; i++) {
        configuration_line_write(other, &x->computation[i]);
        if (!strcmp(line, other)) return (int)i;
    }
    assert(x->computations < BITCUT_PREDICTED_MAX);
    x->computation[x->computations] = *g;
    return (int)x->computations++;
}

enum bitcut_status prediction_add(struct prediction *x, struct predicted_part part,
                                  struct fault *f)
{
    if (x->parts == x->room) {
        const size_t room = x->room ? 2 * x->room : 16;
        struct predicted_part *const more = memory_allocate(room, sizeof *more);
        if (!more) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
        if (x->parts) memcpy(more, x->part, x->parts * sizeof *more);
        free(x->part);
        x->part = more;
        x->room = room;
    }
    x->part[x->parts++] = part;
    return BITCUT_OK;
}

/* A part in rows and columns of D. */
static struct predicted_part part_of_d(const struct prediction *x, size_t i)
{
    const struct predicted_part p = x->part[i];
    return x->transposed
               ? (struct predicted_part){ p.col, p.cols, p.row, p.rows, p.computation }
               : p;
}

size_t prediction_row(unsigned char *computation, const struct prediction *x, size_t row)
{
    size_t next = x->call.m;
    for (size_t i = 0; i < x->parts; i++) {
        const struct predicted_part p = part_of_d(x, i);
        if (p.row > row) next = smaller(next, p.row);
        else if (row < p.row + p.rows) {
            next = smaller(next, p.row + p.rows);
            memset(computation + p.col, p.computation, p.cols);
        }
    }
    return next;
}

static bool order_is_plain(const struct bitcut_order *o)
{
    return o->slices <= 1 && o->lanes <= 1;
}

/* Write the answer for computation i. */
static void state(struct bitcut_predicted *p, const struct prediction *x, size_t i,
                  size_t outputs)
{
    const struct bitcut_order *const order = &x->computation[i].order;
    *p = (struct bitcut_predicted){ .size = sizeof *p, .outputs = outputs };
    configuration_line_write(p->gemm, &x->computation[i]);
    if (order_is_plain(order)) text_add(p->text, sizeof p->text, "k is added in order");
    else order_text(p->text, sizeof p->text, order, x->call.k - x->lost);
    if (x->lost)
        text_add(p->text, sizeof p->text,
                 "; the last %zu k are in no slice, so that their products are lost",
                 x->lost);
}

/* Forget computations without outputs. */
static void drop_unused(struct prediction *x, size_t outputs[BITCUT_PREDICTED_MAX])
{
    int position[BITCUT_PREDICTED_MAX];
    size_t count = 0;
    for (size_t i = 0; i < x->computations; i++) {
        position[i] = (int)count;
        if (!outputs[i]) continue;
        x->computation[count] = x->computation[i];
        outputs[count++] = outputs[i];
    }
    x->computations = count;
    for (size_t i = 0; i < x->parts; i++)
        x->part[i].computation = position[x->part[i].computation];
}

enum bitcut_status prediction_finish(struct prediction *x, struct fault *f)
{
    size_t outputs[BITCUT_PREDICTED_MAX] = { 0 };
    unsigned char *const row = memory_allocate(x->call.n, 1);
    if (!row) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (size_t i = 0, next; i < x->call.m; i = next) {
        next = prediction_row(row, x, i);
        for (size_t j = 0; j < x->call.n; j++)
            outputs[row[j]] += (next - i) * x->call.count;
    }
    free(row);
    drop_unused(x, outputs);
    x->answer = (struct bitcut_prediction){ .computations = x->computations };
    for (size_t i = 0; i < x->computations; i++)
        state(&x->answer.computation[i], x, i, outputs[i]);
    return BITCUT_OK;
}

static bool is_finite(uint32_t x) { return (x & 0x7fffffff) < 0x7f800000; }

enum bitcut_status prediction_check_update(const struct prediction *x, struct fault *f)
{
    if (gemm_is_extended(&x->call))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "a bias and steps are not predicted for %s", x->library->name);
    if (x->call.alpha << 1 && is_finite(x->call.alpha) && is_finite(x->call.beta))
        return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED,
                     "alpha must be finite and not 0, and beta must be finite");
}

enum bitcut_status prediction_check_product(const struct prediction *x, struct fault *f)
{
    const enum bitcut_status status = prediction_check_update(x, f);
    if (status != BITCUT_OK || (x->call.alpha == F32_ONE && !(x->call.beta << 1)))
        return status;
    return fault_set(f, BITCUT_UNSUPPORTED,
                     "alpha other than 1 and beta other than 0 are not predicted for %s",
                     x->library->name);
}

void prediction_clear(struct prediction *x)
{
    free(x->part);
    *x = (struct prediction){ .parts = 0 };
}
