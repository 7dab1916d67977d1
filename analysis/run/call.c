/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "analysis/run/call.h"

#include "analysis/run/audit.h"
#include "analysis/run/run_state.h"
#include "analysis/run/shadow.h"
#include "lib/number/hostfp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack address of the thread's outermost call, NULL: there is none.  A call that is
   not deeper is outermost itself: the earlier one was left by a jump. */
static _Thread_local const char *outermost;

/* The same for a routine that is only counted: products within it are still computed. */
static _Thread_local const char *counting;

any_function *call_original(struct routine *r, const void *caller)
{
    any_function *const f = original_of(r, caller);
    if (f) return f;
    run_warn("bitcut: run: %s: called, but no library of the program contains it\n",
             r->name);
    _exit(127);
}

/* --- log -------------------------------------------------------------------------- */

static void note_sizes(struct call_log_site *p, const struct bitcut_gemm *g,
                       struct call_groups *groups)
{
    const bool scaled = product_is_scaled(g), added = product_reads_c(g);
    const uint64_t size[] = { g->m, g->n, g->k };
    for (int i = 0; i < 3; i++) {
        if (size[i] < p->least[i]) p->least[i] = size[i];
        if (size[i] > p->most[i]) p->most[i] = size[i];
    }
    p->gemms += g->count;
    p->scaled += scaled && !groups->scaled;
    p->added += added && !groups->added;
    groups->scaled |= scaled;
    groups->added |= added;
}

/* The end of a call.  Groups count as one call, which ends as the most important group.
 */
static void note_end(struct call_log_site *p, const struct call *t,
                     struct call_groups *groups)
{
    static const int weight[CALL_ENDS] = {
        [CALL_EMPTY] = 0, [CALL_PASSED] = 1,  [CALL_TAKEN] = 2,
        [CALL_LEFT] = 3,  [CALL_ILLEGAL] = 4, [CALL_FAILED] = 5,
    };
    if (groups->begun) {
        if (weight[t->end] <= weight[groups->end]) return;
        p->ended[groups->end]--;
        p->left[groups->left] -= groups->end == CALL_LEFT;
    }
    p->ended[t->end]++;
    p->left[t->left] += t->end == CALL_LEFT;
    groups->begun = true;
    groups->end = t->end;
    groups->left = t->left;
}

/* The lock is held. */
static void note(struct call_log_site *p, const struct call *t, double seconds)
{
    struct call_groups alone = { .begun = false };
    struct call_groups *const groups = t->groups ? t->groups : &alone;
    note_end(p, t, groups);
    p->captured += t->there && t->there->capture != 0;
    p->seconds += seconds;
    p->own_seconds += t->own_seconds;
    if (t->fault.status != BITCUT_OK) memcpy(p->fault, t->fault.text, sizeof p->fault);
    if (t->end == CALL_ILLEGAL) return;
    note_sizes(p, &t->product->gemm, groups);
    p->on_device += t->on_device;
    if (t->end != CALL_EMPTY) p->products += product_count(t->product);
    if (t->shadow) call_log_difference_add(&p->difference, &t->shadow->difference);
    if (!t->audit) return;
    p->watched += !groups->watched;
    groups->watched = true;
    audit_note(p, t->audit);
}

/* Outside of the lock the call site and its configuration are known. */
static void write_down(const struct call *t, double seconds)
{
    run_lock();
    struct call_log_site *const p = run_place(t->routine, &t->site);
    if (p) note(p, t, seconds);
    run_unlock();
}

/* --- a call ----------------------------------------------------------------------- */

/* Leave a call to the original, for the reason in its stream_call. */
static void leave(struct call *t)
{
    t->end = CALL_LEFT;
    t->left = t->there->left;
    t->fault = t->there->fault;
}

/* Decide whether and where a product is computed, before anything is computed. */
static void prepare(struct call *t)
{
    const struct run_settings *const s = run_settings();
    const struct run_configuration *const configuration = t->site.configuration;
    t->end = configuration->original ? CALL_PASSED : CALL_TAKEN;
    if (configuration->original && !s->audits && !s->compares) return;
    if (!configuration->original && product_count(t->product) < (double)s->least) {
        t->end = CALL_LEFT;
        t->left = LEFT_SMALL;
    } else if (t->there && (!stream_call_open(t->there, t->product) ||
                            (!configuration->original &&
                             !stream_call_choose(t->there, configuration)))) {
        if (configuration->original)
            t->fault = t->there->fault; /* then nothing is compared */
        else leave(t);
    }
}

/* Compute the result. */
static void compute(struct call *t)
{
    enum bitcut_status status;
    if (t->there) {
        status = stream_call_start(t->there, t->site.configuration);
        if (status == BITCUT_BAD_ARGUMENT) leave(t);
        else if (status == BITCUT_OK) t->on_device += t->product->gemm.count;
        else t->fault = t->there->fault;
    } else {
        status = call_compute(t, t->product, t->site.configuration, &t->fault);
    }
    if (status != BITCUT_OK && t->end != CALL_LEFT) t->end = CALL_FAILED;
}

/* Computations before the original is called, if it is called: the result, or another
   result to compare with it. */
static void serve(struct call *t)
{
    prepare(t);
    if (t->end == CALL_LEFT) return;
    if (run_settings()->audits) audit_begin(t);
    if (run_settings()->compares) shadow_begin(t);
    if (t->shadow && t->shadow->swaps) return; /* the original comes next */
    if (!t->site.configuration->original) compute(t);
}

/* The end of a call without a product. */
static enum call_end end_of(enum legality legality)
{
    return legality == LEGAL_EMPTY  ? CALL_EMPTY
           : legality == LEGAL_LEFT ? CALL_LEFT
                                    : CALL_ILLEGAL;
}

/* Called under hostfp_enter(), like everything after a call: the program may use any
   mode, including traps. */
static void begin_turn(struct call *t, struct routine *routine, const void *caller,
                       const struct product *product, enum legality legality,
                       struct stream_call *there, struct call_groups *groups,
                       const char *here)
{
    *t = (struct call){ .routine = routine,
                        .product = product,
                        .there = there,
                        .groups = groups,
                        .began = seconds_now() };
    t->outermost = !(outermost && here < outermost);
    if (!t->outermost) {
        t->original = call_original(routine, caller);
        return;
    }
    run_complain();
    run_site(&t->site, routine, caller);
    if (legality == LEGAL) serve(t);
    else t->end = end_of(legality);
    if (legality == LEGAL_LEFT) leave(t);
    const bool original = t->end != CALL_TAKEN || (t->shadow && t->shadow->swaps);
    if (original) t->original = call_original(routine, caller);
    /* The error handler of an invalid call may leave by a jump. */
    if (t->end == CALL_ILLEGAL) write_down(t, 0);
    else outermost = here;
}

void call_begin_there(struct call *t, struct routine *routine, const void *caller,
                      const struct product *product, enum legality legality,
                      struct stream_call *there)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    begin_turn(t, routine, caller, product, legality, there, NULL,
               __builtin_frame_address(0));
    hostfp_leave(&saved);
}

void call_begin(struct call *t, struct routine *routine, const void *caller,
                const struct product *product, enum legality legality,
                struct call_groups *groups)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    begin_turn(t, routine, caller, product, legality, NULL, groups,
               __builtin_frame_address(0));
    hostfp_leave(&saved);
}

void call_end(struct call *t)
{
    struct hostfp saved;
    if (!t->outermost || t->end == CALL_ILLEGAL) return;
    hostfp_enter(&saved);
    outermost = NULL;
    const double seconds = seconds_now() - t->began - t->own_seconds;
    /* A call that was left has no result of its configuration: it is not audited. */
    if (t->shadow && t->end != CALL_LEFT) shadow_end(t);
    if (t->audit) audit_end(t);
    write_down(t, seconds);
    shadow_free(t->shadow);
    audit_free(t->audit);
    if (t->there) stream_call_close(t->there);
    hostfp_leave(&saved);
}

/* --- calls that are only counted -------------------------------------------------- */

/* The entry of a routine in a log.  The lock is held.  NULL: there is no log. */
static struct call_log_routine *counted(struct call_log *l, struct routine *routine)
{
    struct call_log_routine *const last = &l->routine[routine->row];
    if (!strcmp(last->name, routine->name)) return last;
    for (unsigned i = 0; i < CALL_LOG_ROUTINES_MAX; i++) {
        struct call_log_routine *const r = &l->routine[i];
        if (!*r->name) snprintf(r->name, sizeof r->name, "%s", routine->name);
        if (strcmp(r->name, routine->name) != 0) continue;
        routine->row = i;
        return r;
    }
    return NULL;
}

any_function *call_count(struct routine *routine, const void *caller, const char *here)
{
    const bool inside = (outermost && here < outermost) || (counting && here < counting);
    if (!inside) {
        struct call_log *const l = run_settings()->folder ? run_call_log() : NULL;
        counting = here;
        run_lock();
        struct call_log_routine *const r = l ? counted(l, routine) : NULL;
        if (r) r->calls++;
        run_unlock();
    }
    return call_original(routine, caller);
}

void call_counted(const char *here)
{
    if (counting == here) counting = NULL;
}
