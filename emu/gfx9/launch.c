/* SPDX-License-Identifier: BSD-3-Clause */
/* A launch: work-groups run in parallel; the waves of a group alternate from barrier to
   barrier. */
#include "emu/gfx9/wave.h"

#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>
#include <string.h>

/* --- what the kernel asks for ----------------------------------------------------- */

/* The kernel's descriptor ("User Guide for AMDGPU Backend", kernel descriptor). */
struct descriptor {
    uint32_t lds, scratch, arguments;
    uint64_t entry;
    uint32_t resources1, resources2;
    uint16_t properties;
};

enum { DESCRIPTOR_BYTES = 64 };

/* How many of v0 to v2 hold the index of a work-item, if they are not packed into one. */
static unsigned item_registers(const struct descriptor *d)
{
    return 1 + (d->resources2 >> 11 & 3);
}

static struct descriptor descriptor_of(const struct gfx9_object *o,
                                       const struct gfx9_kernel *k)
{
    const uint8_t *at = gfx9_bytes_at(o, k->descriptor, DESCRIPTOR_BYTES, true);
    struct descriptor d;
    int64_t entry;
    memcpy(&d.lds, at, 4);
    memcpy(&d.scratch, at + 4, 4);
    memcpy(&d.arguments, at + 8, 4);
    memcpy(&entry, at + 16, 8);
    memcpy(&d.resources1, at + 48, 4);
    memcpy(&d.resources2, at + 52, 4);
    memcpy(&d.properties, at + 56, 2);
    d.entry = k->descriptor + (uint64_t)entry;
    return d;
}

enum { ITEMS_MAX = 1024, LDS_MAX = 65536, ARGUMENTS_MAX = 65536 };

/* The product of three extents; UINT64_MAX if it does not fit 64 bits. */
static uint64_t product_of(const uint32_t x[3])
{
    const uint64_t two = (uint64_t)x[0] * x[1];
    return x[2] && two > UINT64_MAX / x[2] ? UINT64_MAX : two * x[2];
}

/* Check the number of work-groups, and of work-items in a group. */
static enum bitcut_status check_extents(const struct gfx9_launch *x, struct fault *f)
{
    const char *name = x->kernel->name;
    const uint64_t items = product_of(x->items);
    if (!items || items > ITEMS_MAX)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: a work-group must have 1 to %d work-items, found %s%llu",
                         name, ITEMS_MAX, items == UINT64_MAX ? "more than " : "",
                         (unsigned long long)items);
    if (x->kernel->items_most && items > x->kernel->items_most)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "%s: %llu work-items exceed the %u that the kernel was compiled for", name,
            (unsigned long long)items, x->kernel->items_most);
    if (product_of(x->groups) > INT32_MAX)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: the grid has more than 2^31 work-groups", name);
    for (int n = 0; n < 3; n++)
        if ((uint64_t)x->groups[n] * x->items[n] > UINT32_MAX)
            return fault_set(
                f, BITCUT_BAD_ARGUMENT,
                "%s: the grid has more than 2^32 work-items along one dimension", name);
    return BITCUT_OK;
}

/* Check that the arguments of the launch and of the notes fit the descriptor's
   segment. */
static enum bitcut_status check_arguments(const struct gfx9_launch *x,
                                          const struct descriptor *d, struct fault *f)
{
    const struct gfx9_kernel *k = x->kernel;
    const size_t own = k->has_hidden ? k->hidden : d->arguments;
    uint64_t end = k->has_hidden ? k->hidden : 0;
    for (int n = 0; n < k->arguments; n++) {
        const uint64_t its = (uint64_t)k->argument[n].offset + k->argument[n].bytes;
        end = its > end ? its : end;
    }
    if (d->arguments > ARGUMENTS_MAX || end > d->arguments)
        return fault_set(
            f, BITCUT_UNSUPPORTED,
            "%s: the arguments take %llu bytes, but the descriptor has %u (at most %d)",
            k->name, (unsigned long long)end, d->arguments, ARGUMENTS_MAX);
    if (x->argument_bytes > own)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: found %zu bytes of arguments, expected %zu", k->name,
                         x->argument_bytes, own);
    return BITCUT_OK;
}

/* Check every number of the descriptor that determines which memory is accessed, and
   refuse unsupported settings. */
static enum bitcut_status check_descriptor(const struct gfx9_launch *x,
                                           const struct descriptor *d, struct fault *f)
{
    const char *name = x->kernel->name;
    if ((uint64_t)d->lds + x->lds_bytes > LDS_MAX)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: %llu bytes of LDS exceed the limit of %d", name,
                         (unsigned long long)d->lds + x->lds_bytes, LDS_MAX);
    if (d->scratch)
        return fault_set(
            f, BITCUT_UNSUPPORTED,
            "%s: unsupported: %u bytes of scratch memory (spilled registers)", name,
            d->scratch);
    if ((d->resources1 >> 12 & 0xff) != 0xf0 || !(d->resources1 >> 23 & 1))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "%s: unsupported floating-point mode; expected rounding to "
                         "nearest with subnormals",
                         name);
    if (item_registers(d) > 3)
        return fault_set(
            f, BITCUT_UNSUPPORTED,
            "%s: the descriptor asks for %u work-item index registers; expected 1 to 3",
            name, item_registers(d));
    if (d->entry % 4 || !gfx9_section_at(x->object, d->entry))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s: the entry point is outside the code",
                         name);
    return BITCUT_OK;
}

static enum bitcut_status check(const struct gfx9_launch *x, const struct descriptor *d,
                                struct fault *f)
{
    enum bitcut_status status = check_extents(x, f);
    if (status == BITCUT_OK) status = check_arguments(x, d, f);
    return status == BITCUT_OK ? check_descriptor(x, d, f) : status;
}

/* --- what it is given ------------------------------------------------------------- */

enum { PACKET_BYTES = 64 };

/* Arguments, hidden arguments, and the dispatch packet, the same for all groups. */
struct given {
    uint8_t *segment;
    size_t segment_bytes;
    _Alignas(64) uint8_t packet[PACKET_BYTES];
};

static void put(uint8_t *to, size_t room, size_t at, const void *from, size_t bytes)
{
    if (at + bytes <= room) memcpy(to + at, from, bytes);
}

/* Put the numbers of work-groups and work-items where code object version 5 has them:
   block_count, group_size and remainder of x, y, z, then grid_dims. */
static void put_hidden(struct given *to, const struct gfx9_launch *x)
{
    const size_t from = x->kernel->hidden;
    const uint16_t dimensions = 3;
    for (size_t n = 0; n < 3; n++) {
        const uint16_t items = (uint16_t)x->items[n];
        put(to->segment, to->segment_bytes, from + 4 * n, &x->groups[n], 4);
        put(to->segment, to->segment_bytes, from + 12 + 2 * n, &items, 2);
    }
    put(to->segment, to->segment_bytes, from + 64, &dimensions, 2);
}

/* hsa_kernel_dispatch_packet_t: the work-items of a group at byte 4, of the grid at byte
   12. */
static void put_packet(struct given *to, const struct gfx9_launch *x)
{
    for (size_t n = 0; n < 3; n++) {
        const uint16_t items = (uint16_t)x->items[n];
        const uint32_t all = x->groups[n] * x->items[n];
        memcpy(to->packet + 4 + 2 * n, &items, sizeof items);
        memcpy(to->packet + 12 + 4 * n, &all, sizeof all);
    }
}

static bool given_init(struct given *to, const struct gfx9_launch *x,
                       const struct descriptor *d)
{
    *to = (struct given){ .segment_bytes = (d->arguments + 63u) / 64 * 64 + 64 };
    to->segment =
        aligned_alloc(64, to->segment_bytes); /* compilers load beyond its end */
    if (!to->segment) return false;
    memset(to->segment, 0, to->segment_bytes);
    if (x->argument_bytes) memcpy(to->segment, x->arguments, x->argument_bytes);
    if (x->kernel->counts_blocks) put_hidden(to, x);
    put_packet(to, x);
    return true;
}

/* --- a group ---------------------------------------------------------------------- */

/* Memory that a thread reuses from one group to the next. */
struct room {
    struct group group;
    struct wave *waves;
    uint32_t (*registers)[LANES];
    uint64_t (*unset)[2];
};

static void room_clear(struct room *r)
{
    free(r->group.lds);
    free(r->group.lds_set);
    free(r->group.touched);
    free(r->group.matrix);
    free(r->waves);
    free(r->registers);
    free(r->unset);
}

static bool room_init(struct room *r, size_t waves, uint32_t lds)
{
    *r = (struct room){ .group = { .lds_bytes = lds } };
    r->group.lds = malloc(lds + 4);
    r->group.lds_set = malloc(lds + 4);
    r->group.touched = memory_allocate(lds / 2 + 2, sizeof *r->group.touched);
    r->waves = calloc(waves, sizeof *r->waves);
    r->registers = memory_allocate(waves * FILES_GUARDED, sizeof *r->registers);
    r->unset = memory_allocate(waves * FILES_GUARDED, sizeof *r->unset);
    r->group.matrix = matrix_room_make();
    if (r->group.lds && r->group.lds_set && r->group.touched && r->group.matrix &&
        r->waves && r->registers && r->unset)
        return true;
    room_clear(r);
    return false;
}

static void set_pair(struct wave *w, int at, uint64_t to)
{
    w->s[at] = (uint32_t)to;
    w->s[at + 1] = (uint32_t)(to >> 32);
    scalar_unset_write(w, (unsigned)at, 2, false);
}

/* Set the scalar registers that are initialised before the first instruction: the ones
   that the descriptor's properties select, then the index of the group, if requested. */
static void set_scalars(struct wave *w, const struct descriptor *d,
                        const uint32_t place[3])
{
    int at = 0;
    if (d->properties & 1) at += 4; /* a buffer for scratch */
    if (d->properties & 2) set_pair(w, at, ADDRESS_PACKET), at += 2;
    if (d->properties & 4) at += 2; /* a queue */
    if (d->properties & 8) set_pair(w, at, ADDRESS_ARGUMENTS), at += 2;
    if (d->properties & 16) at += 2; /* a number of the dispatch */
    if (d->properties & 32) at += 2; /* scratch */
    if (d->properties & 64) at += 1;
    for (unsigned n = 0; n < 3; n++) {
        if (!(d->resources2 >> (7 + n) & 1)) continue;
        w->s[at] = place[n];
        scalar_unset_write(w, (unsigned)at++, 1, false);
    }
}

/* Put the index of a work-item into v0, or into v0, v1 and v2, as far as requested. */
static void set_items(struct wave *w, const struct gfx9_launch *x,
                      const struct descriptor *d)
{
    const bool packs = x->object->target->packs_items;
    const unsigned count = item_registers(d);
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t item = w->number * LANES + l, nx = x->items[0], ny = x->items[1];
        const uint32_t at[3] = { item % nx, item / nx % ny, item / nx / ny };
        w->v[0][l] = packs ? at[0] | at[1] << 10 | at[2] << 20 : at[0];
        for (unsigned n = 1; !packs && n < count; n++) w->v[n][l] = at[n];
    }
    vector_unset_write(w, 0, packs ? 1 : count, ~0ull, 0, 0);
}

static void wave_start(struct wave *w, struct room *r, uint32_t number,
                       const struct descriptor *d)
{
    const struct gfx9_launch *x = r->group.launch;
    const uint32_t items = x->items[0] * x->items[1] * x->items[2];
    const uint32_t left = items - number * LANES;
    wave_guard(w, false);
    memset(w, 0, sizeof *w);
    w->group = &r->group;
    w->section = gfx9_section_at(x->object, d->entry);
    w->number = number;
    w->pc = d->entry;
    w->exec = left >= LANES ? ~0ull : (1ull << left) - 1;
    w->v = r->registers + (size_t)number * FILES_GUARDED;
    w->unset = r->unset + (size_t)number * FILES_GUARDED;
    wave_guard(w, true);
    memset(w->v, 0xcd, FILES * sizeof *w->v);
    memset(w->unset, 0xff, FILES * sizeof *w->unset);
    memset(w->unset_s, 0xff, sizeof w->unset_s);
    scalar_unset_write(w, SGPR_EXEC, 2, false);
    w->unset_scc = true;
    set_items(w, x, d);
}

/* Fail with the reason why an instruction is not executed, as far as it is known since
   decoding. */
static void refuse(struct wave *w, const struct instruction *i)
{
    char why[80];
    if (i->bytes == 0) wave_fail(w, i, "execution leaves the code");
    else if (!i->opcode)
        wave_fail(w, i, "unsupported instruction %08x %08x", i->word[0], i->word[1]);
    else if (i->cannot) wave_fail(w, i, "unsupported: %s", i->cannot);
    else if (!operands_exist(why, sizeof why, i)) wave_fail(w, i, "%s", why);
}

enum { LOOK_EVERY = 0xfff }; /* instructions of a group between checks for a stop */

static void look(struct wave *w, const struct instruction *i)
{
    const struct group *g = w->group;
    if (progress_stopped(g->launch->progress)) wave_fail(w, i, "stopped");
    else if (g->deadline > 0 && seconds_now() > g->deadline)
        wave_fail(w, i, "the kernel did not end within %g s (--seconds)",
                  g->launch->seconds);
}

/* The instruction at pc; an instruction of no bytes if there is none. */
static const struct instruction *fetch(struct wave *w)
{
    struct group *g = w->group;
    uint32_t at = UINT32_MAX;
    if (!w->section || w->pc - w->section->address >= w->section->bytes)
        w->section = gfx9_section_at(g->object, w->pc);
    if (w->section) at = w->section->at[(w->pc - w->section->address) / 4];
    if (at != UINT32_MAX) return &g->object->code[at];
    g->none = (struct instruction){ .offset = (uint32_t)w->pc, .refused = true };
    return &g->none;
}

/* Run a wave to its next barrier or its end. */
static void wave_run(struct wave *w)
{
    struct group *g = w->group;
    while (!w->ended && !w->waiting && !g->failed) {
        const struct instruction *i = fetch(w);
        g->counts.instructions++;
        if (i->refused) refuse(w, i);
        else if (!g->left) wave_fail(w, i, "the work-group does not terminate");
        else if (!(g->left-- & LOOK_EVERY)) look(w, i);
        if (g->failed) return;
        w->pc += i->bytes;
        i->opcode->act(w, i);
    }
}

/* The number of accesses to LDS before the first one that is not yet waited for. */
static uint32_t waited_of(const struct wave *w)
{
    uint32_t least = w->accesses + 1;
    for (int p = 0; p < w->pendings; p++)
        if (w->pending[p].lds && w->pending[p].lds < least) least = w->pending[p].lds;
    return least - 1;
}

/* Run all waves alternately.  A barrier is passed when all waves that have not ended have
   reached it. */
static void group_run(struct group *g)
{
    for (bool running = true; running && !g->failed; g->epoch++) {
        running = false;
        for (int n = 0; n < g->wave_count && !g->failed; n++)
            if (!g->waves[n].ended) wave_run(&g->waves[n]);
        for (int n = 0; n < g->wave_count; n++) {
            g->waves[n].waited = waited_of(&g->waves[n]);
            running |= g->waves[n].waiting;
            g->waves[n].waiting = false;
        }
    }
}

static const uint64_t INSTRUCTIONS_MAX = 1ull << 36;

static void group_start(struct room *r, const struct gfx9_launch *x,
                        const struct descriptor *d, const struct given *given,
                        uint64_t number, double deadline)
{
    struct group *g = &r->group;
    const uint32_t items = x->items[0] * x->items[1] * x->items[2];
    const uint32_t place[] = { (uint32_t)(number % x->groups[0]),
                               (uint32_t)(number / x->groups[0] % x->groups[1]),
                               (uint32_t)(number / x->groups[0] / x->groups[1]) };
    g->launch = x;
    g->object = x->object;
    g->waves = r->waves;
    g->wave_count = (int)((items + LANES - 1) / LANES);
    g->epoch = 1;
    g->entry = (size_t)d->entry;
    g->left = INSTRUCTIONS_MAX;
    g->deadline = deadline;
    g->failed = false;
    g->readable[0] =
        (struct gfx9_memory){ given->segment, given->segment_bytes, ADDRESS_ARGUMENTS };
    g->readable[1] = (struct gfx9_memory){ (void *)(uintptr_t)given->packet, PACKET_BYTES,
                                           ADDRESS_PACKET };
    memset(g->lds, 0xa5, g->lds_bytes);
    memset(g->lds_set, 0, g->lds_bytes);
    memset(g->touched, 0, (g->lds_bytes / 2 + 2) * sizeof *g->touched);
    for (int n = 0; n < g->wave_count; n++) {
        wave_start(&r->waves[n], r, (uint32_t)n, d);
        set_scalars(&r->waves[n], d, place);
    }
}

/* --- the launch ------------------------------------------------------------------- */

/* Data shared by threads: the next group, the first group that failed, and its fault. */
struct outcome {
    uint64_t next, failed; /* UINT64_MAX: no group failed */
    struct fault fault;
    struct gfx9_counts counts;
    double deadline;
};

/* Take groups in their order, up to the first group that failed, so that all groups
   before it are complete. */
static bool take_group(uint64_t *n, struct outcome *all, uint64_t groups)
{
    uint64_t failed;
#pragma omp atomic capture
    *n = all->next++;
#pragma omp atomic read
    failed = all->failed;
    return *n < groups && *n < failed;
}

static void note_failure(struct outcome *all, uint64_t n, const struct fault *fault)
{
#pragma omp critical(gfx9_outcome)
    if (n < all->failed) {
        all->fault = *fault;
#pragma omp atomic write
        all->failed = n;
    }
}

/* The work of one thread: run groups until there are no more. */
static void run_some(struct outcome *all, struct room *r, const struct gfx9_launch *x,
                     const struct descriptor *d, const struct given *given)
{
    const uint64_t groups = product_of(x->groups);
    struct hostfp mode;
    hostfp_enter(&mode);
    for (uint64_t n; take_group(&n, all, groups);) {
        if (threads_first()) progress_report(x->progress, n, groups);
        group_start(r, x, d, given, n, all->deadline);
        group_run(&r->group);
        if (r->group.failed) note_failure(all, n, &r->group.fault);
    }
    hostfp_leave(&mode);
#pragma omp critical(gfx9_outcome)
    gfx9_counts_add(&all->counts, &r->group.counts);
}

static void run_groups(struct outcome *all, const struct gfx9_launch *x,
                       const struct descriptor *d, const struct given *given)
{
    const size_t waves = divide_up(product_of(x->items), LANES);
#pragma omp parallel num_threads(threads_for(x->threads, product_of(x->groups)))
    {
        struct room r;
        if (room_init(&r, waves, d->lds + x->lds_bytes)) {
            run_some(all, &r, x, d, given);
            room_clear(&r);
        } else
            note_failure(all, 0,
                         &(struct fault){ .status = BITCUT_UNSUPPORTED,
                                          .text = "not enough memory" });
    }
}

enum bitcut_status gfx9_run(struct gfx9_counts *counts, const struct gfx9_launch *x,
                            struct fault *f)
{
    const struct descriptor d = descriptor_of(x->object, x->kernel);
    struct outcome all = { .failed = UINT64_MAX };
    if (x->seconds > 0) all.deadline = seconds_now() + x->seconds;
    struct given given;
    const enum bitcut_status status = check(x, &d, f);
    if (status != BITCUT_OK) return status;
    if (!given_init(&given, x, &d))
        return fault_set(f, BITCUT_UNSUPPORTED, "not enough memory");
    run_groups(&all, x, &d, &given);
    free(given.segment);
    if (all.failed != UINT64_MAX) {
        if (f) *f = all.fault;
        return all.fault.status;
    }
    if (counts) *counts = all.counts;
    return BITCUT_OK;
}
