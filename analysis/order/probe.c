/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/order/probe.h"

#include "analysis/order/order_sentence.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

/* --- the order -------------------------------------------------------------------- */

/* Among the orders that give all sizes, the first that agrees on random data, otherwise
   the first. */
static enum bitcut_status choose(struct probe_result *r, const struct probe_guess *guess,
                                 size_t count, const struct probe *p, struct fault *f)
{
    struct probe_data x;
    struct probe_fit fit;
    enum bitcut_status status = probe_data_make(&x, p, f);
    if (status != BITCUT_OK) return status;
    r->calls++;
    for (size_t i = 0; i < count && !r->fit.units && status == BITCUT_OK; i++) {
        status = probe_fit_units(&fit, &guess[i], &x, p, f);
        if (i && !fit.units) continue;
        r->guess = guess[i];
        r->fit = fit;
    }
    probe_data_clear(&x);
    return status;
}

static enum bitcut_status find(struct probe_result *r, const struct probe_sizes *s,
                               const struct probe *p, struct fault *f)
{
    struct probe_guess guess[PROBE_GUESSES_MAX];
    size_t count;
    const enum bitcut_status status = probe_search(guess, &count, s, p->progress, f);
    if (status != BITCUT_OK) return status;
    r->found = count;
    if (count) return choose(r, guess, count, p, f);
    r->sums = probe_sums(r->sum, PROBE_SUMS_MAX, s);
    size_t first = 1;
    for (size_t y = 2; y < s->count; y++)
        if (probe_below(s, 0, y) < probe_below(s, 0, first)) first = y;
    r->first = s->at[first];
    r->first_below = probe_below(s, 0, first);
    return BITCUT_OK;
}

static enum bitcut_status check(const struct probe *p, struct fault *f)
{
    if (!p->m || !p->n || !p->k)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "m, n and k must be at least 1");
    if (p->k > p->input->k_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "k can be 1 to %zu for %s",
                         p->input->k_most, p->input->format->name);
    return BITCUT_OK;
}

/* --- sentences -------------------------------------------------------------------- */

static void describe_sums(char *text, size_t size, const struct probe_result *r)
{
    text_add(text, size, "No order of slices and lanes gives the sums of the program");
    if (!r->sums)
        text_add(text, size, "; product 0 is first added to product %zu, in a sum of %zu",
                 r->first, r->first_below);
    for (size_t i = 0; i < r->sums && i < PROBE_SUMS_MAX; i++)
        text_add(text, size, "%s%zu", i ? ", " : "; neighbours are in sums of ",
                 r->sum[i]);
    if (r->sums) text_add(text, size, r->sums > PROBE_SUMS_MAX ? ", ... k" : " k");
    text_add(text, size, ".");
}

static void describe_order(char *text, size_t size, const struct probe_result *r)
{
    static const char *const joins[] = {
        [PROBE_CUT] = "%zu products are added at a time",
        [PROBE_EXACT] = "%zu products are added exactly at a time",
        [PROBE_PAIRS] = "%zu products are added in pairs at a time",
    };
    const struct probe_guess *g = &r->guess;
    char order[300];
    order_text(order, sizeof order, &g->order, r->k);
    if (!*order) text_add(text, size, "k is added in order, in one sum");
    else {
        text_add(text, size, "%s", order);
        if (*text == 't') *text = 'T';
    }
    if (g->order.slices > 1 && g->order.lanes == 1 && !g->order.partial_first &&
        !g->order.balance_tail && g->order.reduction == BITCUT_ASCENDING && !g->promote)
        text_add(text, size, " (or one sum is promoted every %d k)", g->order.tile);
    if (g->promote)
        text_add(text, size, ", each sum is promoted every %zu k", g->promote);
    text_add(text, size, "; ");
    if (g->block == 1) text_add(text, size, "one product is added at a time");
    else text_add(text, size, joins[g->join], g->block);
    text_add(text, size, ".");
}

static void describe_fit(char *text, size_t size, const struct probe_fit *fit)
{
    if (!fit->recipe) {
        text_add(text, size, " No unit here has such inputs and this order.");
        return;
    }
    text_add(text, size, " On random data %s on %s", fit->recipe->name,
             fit->unit[0]->name);
    if (fit->units > 1)
        text_add(text, size, ", as %zu unit%s more,", fit->units - 1,
                 fit->units > 2 ? "s" : "");
    if (fit->mismatches)
        text_add(text, size, " comes nearest: %zu of %zu outputs differ.",
                 fit->mismatches, fit->compared);
    else text_add(text, size, " gives all %zu outputs to the bit.", fit->compared);
}

static void describe(char text[PROBE_TEXT_MAX], const struct probe_result *r)
{
    if (!r->found) {
        describe_sums(text, PROBE_TEXT_MAX, r);
        return;
    }
    describe_order(text, PROBE_TEXT_MAX, r);
    describe_fit(text, PROBE_TEXT_MAX, &r->fit);
}

/* --- the whole -------------------------------------------------------------------- */

enum bitcut_status probe_run(struct probe_result *to, const struct probe *p,
                             struct fault *f)
{
    const double start = seconds_now();
    struct probe_sizes s;
    enum bitcut_status status = check(p, f);
    if (status == BITCUT_OK) status = probe_sizes_make(&s, p, f);
    if (status != BITCUT_OK) return status;
    struct probe_result r = { .m = p->m,
                              .n = p->n,
                              .k = p->k,
                              .positions = s.count,
                              .calls = s.calls,
                              .format = p->input->format };
    status = find(&r, &s, p, f);
    probe_sizes_clear(&s);
    if (status != BITCUT_OK) return status;
    describe(r.text, &r);
    r.seconds = seconds_now() - start;
    *to = r;
    return BITCUT_OK;
}

/* --- fields ----------------------------------------------------------------------- */

static bool is_found(const void *result)
{
    return ((const struct probe_result *)result)->found;
}

static void write_order(char *text, size_t size, const void *result)
{
    order_options(text, size, &((const struct probe_result *)result)->guess.order);
}

static const char *reduction(const void *result)
{
    return reductions[((const struct probe_result *)result)->guess.order.reduction].name;
}

static const char *join(const void *result)
{
    static const char *const joins[] = {
        [PROBE_CUT] = "cut", [PROBE_EXACT] = "exact", [PROBE_PAIRS] = "pairs"
    };
    return joins[((const struct probe_result *)result)->guess.join];
}

static const char *unit(const void *result)
{
    const struct probe_fit *const fit = &((const struct probe_result *)result)->fit;
    return fit->recipe ? fit->unit[0]->name : NULL;
}

static const void *unit_at(const void *result, size_t i, void *room)
{
    const struct probe_fit *const fit = &((const struct probe_result *)result)->fit;
    (void)room;
    return i < fit->units ? fit->unit[i]->name : NULL;
}

#define OF_PROBE(place, key, unit, what)                                                 \
    RECORD_INNER(struct probe_result, place, key, unit, what)

static const struct record_field order_fields[] = {
    RECORD_SENTENCE(write_order, "order",
                    "the order of k, in the notation of --split-k and --order"),
    OF_PROBE(guess.order.slices, "slices", "", "slices of k"),
    OF_PROBE(guess.order.tile, "tile", "", "k of a tile, 0: no tiles"),
    OF_PROBE(guess.order.lanes, "lanes", "", "lanes, to which k goes in turn"),
    OF_PROBE(guess.order.chunk, "chunk", "", "k that a lane takes at a time"),
    RECORD_TEXT_OF(reduction, "reduction", "how lanes and slices are added"),
    OF_PROBE(guess.order.partial_first, "partial_first", "",
             "whether the partial tile is first"),
    OF_PROBE(guess.block, "block", "", "number of products that are added at a time"),
    RECORD_TEXT_OF(join, "join",
                   "how these products are added: \"cut\", \"exact\" or "
                   "\"pairs\""),
    OF_PROBE(guess.promote, "promote_k", "",
             "number of k after which sums are promoted, "
             "0: never"),
    OF_PROBE(fit.recipe, "recipe", "",
             "the recipe with the nearest results on random data"),
    RECORD_TEXT_OF(unit, "unit", "the unit of that recipe"),
    RECORD_ITEMS(unit_at, NULL, "units", "all units that give the same results"),
    OF_PROBE(fit.compared, "compared", "", "outputs that were compared"),
    OF_PROBE(fit.mismatches, "mismatches", "", "outputs that differ"),
    { 0 }
};

const struct record_field probe_fields[] = {
    OF_PROBE(text, "hypothesis", "", "the result, in sentences"),
    OF_PROBE(found, "found", "", "whether one order gives every sum that was observed"),
    OF_PROBE(m, "m", "", "rows of D"),
    OF_PROBE(n, "n", "", "columns of D"),
    OF_PROBE(k, "k", "", "columns of A"),
    OF_PROBE(format, "format", "", "format of A and B"),
    OF_PROBE(positions, "positions", "", "number of k that were probed"),
    OF_PROBE(calls, "calls", "", "runs of the program"),
    OF_PROBE(seconds, "seconds", "s", "time that the search took"),
    RECORD_TOGETHER(is_found, order_fields, "", "the order that was found"),
    { 0 }
};

static void describe_explanation(char *text, size_t size, const void *result)
{
    text_add(text, size, "%s", ((const struct probe_result *)result)->text);
}

const struct record_line probe_lines[] = {
    { .label = LABEL_VERDICT, .describe = describe_explanation }, { 0 }
};
