/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of attention on an excerpt. */
#include "analysis/accuracy/attention_judge.h"
#include "analysis/sampling/attention_excerpt.h"
#include "emu/attention/attention_run.h"
#include "lib/base/size.h"

#include <stdlib.h>

/* Queries of a place, at most: places are what threads share. */
enum { PLACE_MAX = 32 };

enum bitcut_status attention_excerpt_plan(struct bitcut_attention *to,
                                          char line[BITCUT_ATTENTION_MAX],
                                          const struct attention_excerpt *x,
                                          const struct bitcut_attention_row *row,
                                          const char *vary, struct fault *f)
{
    struct bitcut_attention whole = x->whole;
    struct attention_plan plan;
    whole.row = row;
    whole.vary = vary;
    const enum bitcut_status status = attention_plan_make(&plan, &whole, f);
    if (status != BITCUT_OK) return status;
    attention_plan_write(line, &plan);
    *to = x->a;
    to->row = row;
    to->vary = line;
    return BITCUT_OK;
}

struct bitcut_attention attention_excerpt_head(const struct bitcut_attention *a, size_t h)
{
    struct bitcut_attention one = *a;
    one.heads = one.kv_heads = 1;
    one.q.each += h, one.k.each += h, one.v.each += h, one.o.each += h;
    return one;
}

/* The places of the excerpt in `a`: runs of queries of each head. */
static struct attention_place *list_places(size_t *count,
                                           const struct attention_excerpt *x)
{
    struct attention_place *const to = memory_allocate(x->heads * x->queries, sizeof *to);
    *count = 0;
    for (size_t h = 0; to && h < x->heads; h++)
        for (size_t i = 0; i < x->queries; i++) {
            struct attention_place *const last = to + *count - (*count > 0);
            if (*count && last->head == h && last->query + last->count == x->query[i] &&
                last->count < PLACE_MAX)
                last->count++;
            else to[(*count)++] = (struct attention_place){ h, x->query[i], 1 };
        }
    return to;
}

enum bitcut_status attention_excerpt_run(void **to, const struct attention_excerpt *x,
                                         const struct bitcut_attention *a, int threads,
                                         const struct progress *progress, struct fault *f)
{
    struct bitcut_attention own = *a;
    struct attention_plan plan;
    const size_t per = a->queries * a->value_dim,
                 bytes = (size_t)format_bytes(matrix_format(&a->o));
    size_t count, places;
    struct attention_place *const place = list_places(&places, x);
    own.o = (struct bitcut_matrix){ .format = a->o.format, .stride = per };
    own.o.to =
        size_multiply(&count, a->heads, per) ? memory_allocate(count, bytes) : NULL;
    *to = memory_allocate(x->outputs, bytes);
    enum bitcut_status status =
        place && own.o.to && *to
            ? BITCUT_OK
            : fault_set(f, BITCUT_NO_MEMORY,
                        "not enough memory for the outputs of a row");
    if (status == BITCUT_OK) status = attention_plan_make(&plan, &own, f);
    const struct attention_options how = {
        .threads = threads,
        .progress = progress,
        .only = x->queries == a->queries ? NULL : place,
        .only_count = places,
    };
    if (status == BITCUT_OK) status = attention_run(&plan, &how, f);
    if (status == BITCUT_OK) attention_outputs(*to, &own, x->query, x->queries);
    free(own.o.to);
    free(place);
    if (status == BITCUT_OK) return status;
    free(*to);
    *to = NULL;
    return status;
}
