#include "analysis/error/budget_watch.h"

#include "emu/engine.h"
#include "emu/sum.h"

#include <stdlib.h>

/* --- ledgers ---------------------------------------------------------------------- */

static void ledger_init(struct ledger *x)
{
    for (int i = 0; i < LEDGER_ENTRIES; i++) mpz_init(x->entry[i]);
}

static void ledger_clear(struct ledger *x)
{
    for (int i = 0; i < LEDGER_ENTRIES; i++) mpz_clear(x->entry[i]);
}

static void ledger_zero(struct ledger *x)
{
    for (int i = 0; i < LEDGER_ENTRIES; i++) mpz_set_ui(x->entry[i], 0);
}

static void ledger_add(struct ledger *to, const struct ledger *x)
{
    for (int i = 0; i < LEDGER_ENTRIES; i++)
        mpz_add(to->entry[i], to->entry[i], x->entry[i]);
}

static void ledger_shift(struct ledger *x, long by)
{
    for (int i = 0; i < LEDGER_ENTRIES; i++)
        if (mpz_sgn(x->entry[i])) dyadic_shift(x->entry[i], by);
}

/* The sum is `value`: what its entries lack is of this one. */
static void ledger_close(struct ledger *x, int entry, const mpz_t value)
{
    mpz_t lack;
    mpz_init_set(lack, value);
    for (int i = 0; i < LEDGER_ENTRIES; i++) mpz_sub(lack, lack, x->entry[i]);
    mpz_add(x->entry[entry], x->entry[entry], lack);
    mpz_clear(lack);
}

static void ledger_close_f32(struct ledger *x, int entry, uint32_t value)
{
    mpz_t y;
    mpz_init(y);
    dyadic_set_f32(y, value);
    ledger_close(x, entry, y);
    mpz_clear(y);
}

/* --- watching --------------------------------------------------------------------- */

/* Products of FP32 values, and what units cut of them. */
static void running_start(struct running *x)
{
    wide_clear(&x->products, -600, 400);
    wide_clear(&x->cut, -600, 400);
    x->used = false;
}

struct watcher *watcher_new(const struct gemm_plan *plan)
{
    struct watcher *const w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->plan = plan;
    for (int i = 0; i < RECIPE_ACCUMULATORS_MOST; i++) {
        ledger_init(&w->accumulator[i].ledger);
        mpz_init(w->accumulator[i].now);
        running_start(&w->accumulator[i]);
    }
    ledger_init(&w->promoted);
    for (int i = 0; i <= K_PARTS_KEPT_MOST; i++) ledger_init(&w->sum[i]);
    return w;
}

void watcher_free(struct watcher *w)
{
    for (int i = 0; i < RECIPE_ACCUMULATORS_MOST; i++) {
        ledger_clear(&w->accumulator[i].ledger);
        mpz_clear(w->accumulator[i].now);
    }
    ledger_clear(&w->promoted);
    for (int i = 0; i <= K_PARTS_KEPT_MOST; i++) ledger_clear(&w->sum[i]);
    free(w);
}

static void add_integer(struct wide *to, int128 x, int exponent)
{
    wide_add_term(to, integer_term(x, exponent), false);
}

/* What a sum of a step cut: of terms that were aligned, and of itself before others
   joined it. */
static void add_cut(struct running *x, const struct unit_trace *t,
                    const struct trace_sum *s)
{
    for (int i = s->first; i < s->first + s->terms && s->aligned; i++) {
        add_integer(&x->cut, t->term[i].aligned, s->value.exponent);
        wide_add_term(&x->cut, t->term[i].value, true);
    }
    if (s->cut && !s->rounded) {
        wide_add_term(&x->cut, s->kept, false);
        wide_add_term(&x->cut, s->value, true);
    }
}

static bool all_finite(const struct number *x, int count)
{
    bool all = true;
    for (int i = 0; i < count; i++)
        all &= x[i].kind == NUMBER_FINITE || x[i].kind == NUMBER_ZERO;
    return all;
}

void watcher_end(struct watcher *w, const char *what, int term)
{
    if (!w->event.what) w->event = (struct budget_event){ what, term, w->instructions };
}

static void see_instruction(struct watcher *w, const struct watch_event *e)
{
    const struct bitcut_unit *u = e->unit;
    struct running *const x = &w->accumulator[e->accumulator];
    if (!all_finite(e->a, u->k) || !all_finite(e->b, u->k))
        watcher_end(w, "a word is infinite or NaN", e->term);
    else if (!format_is_finite(u->c, e->after))
        watcher_end(w, "an accumulator overflows", e->term);
    w->instructions++;
    if (w->event.what) return;
    unit_trace(&w->trace, u, (struct lane){ e->a, NULL }, (struct lane){ e->b, NULL },
               e->before);
    for (int i = 0; i < u->k; i++)
        wide_add_term(&x->products, product_term(u, e->a[i], e->b[i]), false);
    for (int i = 0; i < w->trace.sums; i++) add_cut(x, &w->trace, &w->trace.sum[i]);
    dyadic_set(x->now, u->c, e->after);
    x->used = true;
}

/* The ledger of an accumulator, up to date. */
static struct ledger *settled(struct watcher *w, int accumulator)
{
    struct running *const x = &w->accumulator[accumulator];
    mpz_t y;
    if (!x->used) return &x->ledger;
    mpz_init(y);
    dyadic_set_wide(y, &x->products);
    mpz_add(x->ledger.entry[LEDGER_PRODUCTS], x->ledger.entry[LEDGER_PRODUCTS], y);
    dyadic_set_wide(y, &x->cut);
    mpz_add(x->ledger.entry[LEDGER_ALIGNED], x->ledger.entry[LEDGER_ALIGNED], y);
    mpz_clear(y);
    ledger_close(&x->ledger, LEDGER_ACCUMULATED, x->now);
    running_start(x);
    return &x->ledger;
}

static void accumulator_zero(struct watcher *w, int accumulator)
{
    ledger_zero(&w->accumulator[accumulator].ledger);
    running_start(&w->accumulator[accumulator]);
}

static void see_promotion(struct watcher *w, const struct watch_event *e)
{
    ledger_add(&w->promoted, settled(w, 0));
    ledger_close_f32(&w->promoted, LEDGER_PROMOTED, (uint32_t)e->after);
    accumulator_zero(w, 0);
}

static void see_scaling(struct watcher *w, const struct watch_event *e)
{
    struct ledger *const x = settled(w, e->accumulator);
    ledger_shift(x, -w->plan->scale);
    ledger_close_f32(x, LEDGER_PROMOTED, (uint32_t)e->after);
    dyadic_set_f32(w->accumulator[e->accumulator].now, (uint32_t)e->after);
}

/* What an accumulator adds to the sum of its lane. */
static const struct ledger *part_of_lane(struct watcher *w, int accumulator)
{
    const bool promotes = w->plan->promote || w->plan->tile_k;
    return accumulator == 0 && promotes ? &w->promoted : settled(w, accumulator);
}

static void see_start(struct watcher *w, const struct watch_event *e)
{
    struct ledger *const sum = &w->sum[w->kept];
    ledger_zero(sum);
    ledger_add(sum, part_of_lane(w, e->accumulator));
}

static void see_fold(struct watcher *w, const struct watch_event *e)
{
    struct ledger *const sum = &w->sum[w->kept];
    ledger_shift(sum, -w->plan->scale);
    ledger_add(sum, part_of_lane(w, e->accumulator));
    ledger_close_f32(sum, LEDGER_PROMOTED, (uint32_t)e->after);
}

static void see_sum(struct watcher *w, const struct watch_event *e)
{
    ledger_close_f32(&w->sum[w->kept++], LEDGER_SLICED, (uint32_t)e->after);
    for (int i = 0; i < w->plan->accumulators; i++) accumulator_zero(w, i);
    ledger_zero(&w->promoted);
}

static void see_addition(struct watcher *w, const struct watch_event *e)
{
    w->kept--;
    ledger_add(&w->sum[w->kept - 1], &w->sum[w->kept]);
    ledger_close_f32(&w->sum[w->kept - 1], LEDGER_SLICED, (uint32_t)e->after);
}

void watcher_see(void *context, const struct watch_event *e)
{
    static void (*const how[])(struct watcher *, const struct watch_event *) = {
        [WATCH_INSTRUCTION] = see_instruction,
        [WATCH_PROMOTION] = see_promotion,
        [WATCH_SCALING] = see_scaling,
        [WATCH_START] = see_start,
        [WATCH_FOLD] = see_fold,
        [WATCH_SUM] = see_sum,
        [WATCH_ADDITION] = see_addition,
        [WATCH_END] = NULL
    };
    struct watcher *const w = context;
    if (e->kind == WATCH_ZEROING) watcher_end(w, "an accumulator is set to zero", -1);
    else if (e->kind != WATCH_INSTRUCTION &&
             !format_is_finite(&formats[FORMAT_F32], e->after))
        watcher_end(w, "a sum overflows", -1);
    if (e->kind == WATCH_END) w->total = (uint32_t)e->before, w->d = (uint32_t)e->after;
    else if (!w->event.what || e->kind == WATCH_INSTRUCTION) how[e->kind](w, e);
}
