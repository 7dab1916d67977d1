/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/emulate/chains.h"

#include "lib/base/size.h"

#include <stdlib.h>

/* A walk through a chain.  It only counts if the arrays are NULL; otherwise it writes
   them. */
struct walk {
    const struct gpu_emulation *e;
    const struct gemm_plan *plan;
    int accumulator;
    struct chain *to;
    uint64_t products;
    struct chain_run run; /* the last run,                                            */
    uint64_t next;        /* and the position after its last product                  */
    uint64_t event;       /* position of the last event; UINT64_MAX: no event yet     */
    int done;             /* instructions of accumulator 0 since its last promotion */
};

static void add_event(struct walk *w, uint32_t what)
{
    struct chain *const c = w->to;
    if (w->event != w->products) c->events++;
    w->event = w->products;
    if (!c->event) return;
    struct chain_event *const x = &c->event[c->events - 1];
    x->what = x->at == (uint32_t)w->products ? x->what | what : what;
    x->at = (uint32_t)w->products;
}

/* Add an instruction that begins at a position. */
static void add_instruction(struct walk *w, const struct recipe_term *t, uint64_t at)
{
    struct chain *const c = w->to;
    const int k = w->e->rule[w->accumulator].k;
    if (!c->runs || at != w->next || t->a != w->run.a || t->b != w->run.b) {
        w->run = (struct chain_run){ (uint32_t)w->products, (uint32_t)at, (uint8_t)t->a,
                                     (uint8_t)t->b };
        if (c->run) c->run[c->runs] = w->run;
        c->runs++;
    }
    w->products += (unsigned)k;
    w->next = at + (unsigned)k;
}

static void promote(struct walk *w)
{
    add_event(w, CHAIN_PROMOTE);
    w->done = 0;
}

/* Add the events before a term in a tile. */
static void prepare(struct walk *w, int t)
{
    const struct recipe_term *const term = &w->plan->term[t];
    if (term->accumulator != w->accumulator) return;
    if (term->scaled) add_event(w, CHAIN_SCALE);
    if (t + 1 == w->plan->terms && w->plan->recipe->zeroed) add_event(w, CHAIN_ZERO);
}

/* Add the instructions of a term in a k-step. */
static void add_term(struct walk *w, int t, size_t step)
{
    const struct recipe_term *const term = &w->plan->term[t];
    const int k = w->e->rule[w->accumulator].k;
    if (term->accumulator != w->accumulator) return;
    for (int i = 0; i < w->e->k_step; i += k) {
        add_instruction(w, term, (uint64_t)step * (unsigned)w->e->k_step + (unsigned)i);
        if (w->accumulator == 0 && ++w->done == w->plan->promote) promote(w);
    }
}

/* Add a tile of k, or a whole sequence: the terms from `first` on, interleaved. */
static void add_tile(struct walk *w, size_t from, size_t to)
{
    const int terms = w->plan->terms, together = w->plan->tile_k ? 1 : terms;
    for (int first = 0; first < terms; first += together) {
        prepare(w, first);
        for (size_t s = from; s < to; s++)
            for (int t = first; t < first + together; t++) add_term(w, t, s);
    }
    if (w->accumulator == 0 && w->e->promotes && w->done) promote(w);
}

static void walk(struct walk *w, size_t from, size_t to)
{
    const size_t tile = w->plan->tile_k
                            ? divide_up((size_t)w->plan->tile_k, (size_t)w->e->k_step)
                            : to - from;
    for (size_t s = from; s < to; s += tile) add_tile(w, s, smaller(s + tile, to));
}

/* Begin a walk through a chain whose runs and events may have memory, or none yet. */
static struct walk walk_of(struct chain *to, const struct gpu_emulation *e,
                           const struct gemm_plan *plan, int accumulator)
{
    to->runs = to->events = 0;
    return (struct walk){
        .e = e, .plan = plan, .accumulator = accumulator, .to = to, .event = UINT64_MAX
    };
}

/* The terms of an accumulator, as a set. */
static unsigned terms_of(const struct gemm_plan *plan, int accumulator)
{
    unsigned count = 0;
    for (int t = 0; t < plan->terms; t++)
        count += plan->term[t].accumulator == accumulator;
    return count;
}

enum bitcut_status chain_make(struct chain *to, const struct gpu_emulation *e,
                              const struct gemm_plan *plan, const struct k_parts *parts,
                              size_t sequence, int accumulator)
{
    const size_t from = parts->first[sequence], end = parts->first[sequence + 1];
    const unsigned k = (unsigned)e->k_step, terms = terms_of(plan, accumulator);
    struct chain x = { 0 };
    if (end > UINT32_MAX / k || end - from > UINT32_MAX / k / terms)
        return BITCUT_UNSUPPORTED;
    x.products = (uint32_t)((end - from) * k * terms);
    struct walk w = walk_of(&x, e, plan, accumulator);
    walk(&w, from, end);
    x.run = calloc(x.runs, sizeof *x.run);
    x.event = calloc(x.events ? x.events : 1, sizeof *x.event);
    if (!x.run || !x.event) {
        chain_clear(&x);
        return BITCUT_NO_MEMORY;
    }
    w = walk_of(&x, e, plan, accumulator);
    walk(&w, from, end);
    *to = x;
    return BITCUT_OK;
}

void chain_clear(struct chain *x)
{
    free(x->run);
    free(x->event);
    *x = (struct chain){ 0 };
}
