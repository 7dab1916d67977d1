/* A launch: work-groups in parallel, each group's waves by turns from barrier to
   barrier. */
#include "emu/gfx9/wave.h"

#include "lib/hostfp.h"
#include "lib/threads.h"

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

static struct descriptor descriptor_of(const struct gfx9_object *o,
                                       const struct gfx9_kernel *k)
{
    const uint8_t *at = o->image + k->descriptor;
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

enum { ITEMS_MOST = 1024, LDS_MOST = 65536 };

static enum bitcut_status check(const struct gfx9_launch *x, const struct descriptor *d,
                                struct fault *f)
{
    const char *name = x->kernel->name;
    const uint64_t items = (uint64_t)x->items[0] * x->items[1] * x->items[2];
    const uint64_t groups = (uint64_t)x->groups[0] * x->groups[1];
    const size_t own = x->kernel->has_hidden ? x->kernel->hidden : d->arguments;
    if (!items || items > ITEMS_MOST)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: %llu work-items, not 1 to %d", name,
                         (unsigned long long)items, ITEMS_MOST);
    if (x->kernel->items_most && items > x->kernel->items_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: %llu work-items, and it was compiled for %u at most", name,
                         (unsigned long long)items, x->kernel->items_most);
    if (groups * x->groups[2] > INT32_MAX)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: more than 2^31 work-groups", name);
    if (x->argument_bytes > own || d->arguments > 1 << 16)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: %zu bytes of arguments, and it takes %zu", name,
                         x->argument_bytes, own);
    if ((uint64_t)d->lds + x->lds_bytes > LDS_MOST)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: %llu bytes of LDS, of which there "
                         "are %d",
                         name, (unsigned long long)d->lds + x->lds_bytes, LDS_MOST);
    if (d->scratch)
        return fault_set(
            f, BITCUT_CANNOT,
            "%s: spills registers to %u bytes of scratch memory, which is not "
            "executed here",
            name, d->scratch);
    if ((d->resources1 >> 12 & 0xff) != 0xf0 || !(d->resources1 >> 23 & 1))
        return fault_set(f, BITCUT_CANNOT,
                         "%s: a floating-point mode other than IEEE's, to nearest with "
                         "subnormals",
                         name);
    return BITCUT_OK;
}

/* --- what it is given ------------------------------------------------------------- */

enum { PACKET_BYTES = 64, HIDDEN_BYTES = 256 };

/* Arguments, hidden ones, and the dispatch packet, the same for all groups. */
struct given {
    uint8_t *segment;
    size_t segment_bytes;
    _Alignas(64) uint8_t packet[PACKET_BYTES];
};

static void put(uint8_t *to, size_t room, size_t at, const void *from, size_t bytes)
{
    if (at + bytes <= room) memcpy(to + at, from, bytes);
}

/* Work-groups and work-items where code object version 5 has them: block_count,
   group_size and remainder of x, y, z, then grid_dims. */
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

/* hsa_kernel_dispatch_packet_t: work-items of a group at byte 4, of all at 12. */
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

/* What a thread keeps from one group to the next. */
struct room {
    struct group group;
    struct wave *waves;
    uint32_t (*registers)[LANES];
    uint64_t (*unset)[2];
};

enum { FILES = 2 * VGPRS };

static void room_clear(struct room *r)
{
    free(r->group.lds);
    free(r->group.lds_set);
    free(r->group.touched);
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
    r->waves = memory_allocate(waves, sizeof *r->waves);
    r->registers = memory_allocate(waves * FILES, sizeof *r->registers);
    r->unset = memory_allocate(waves * FILES, sizeof *r->unset);
    if (r->group.lds && r->group.lds_set && r->group.touched && r->waves &&
        r->registers && r->unset)
        return true;
    room_clear(r);
    return false;
}

static void set_pair(struct wave *w, int at, const void *to)
{
    w->s[at] = (uint32_t)(uintptr_t)to;
    w->s[at + 1] = (uint32_t)((uint64_t)(uintptr_t)to >> 32);
    scalar_unset_write(w, (unsigned)at, 2, false);
}

/* Scalar registers that are set before the first instruction: those of the descriptor's
   properties, then the group's place, if asked for. */
static void set_scalars(struct wave *w, const struct descriptor *d,
                        const struct given *given, const uint32_t place[3])
{
    int at = 0;
    if (d->properties & 1) at += 4; /* a buffer for scratch */
    if (d->properties & 2) set_pair(w, at, given->packet), at += 2;
    if (d->properties & 4) at += 2; /* a queue */
    if (d->properties & 8) set_pair(w, at, given->segment), at += 2;
    if (d->properties & 16) at += 2; /* a number of the dispatch */
    if (d->properties & 32) at += 2; /* scratch */
    if (d->properties & 64) at += 1;
    for (unsigned n = 0; n < 3; n++) {
        if (!(d->resources2 >> (7 + n) & 1)) continue;
        w->s[at] = place[n];
        scalar_unset_write(w, (unsigned)at++, 1, false);
    }
}

/* A work-item's place in v0, or in v0, v1 and v2 as far as asked for. */
static void set_items(struct wave *w, const struct gfx9_launch *x,
                      const struct descriptor *d)
{
    const bool packs = x->object->target->packs_items;
    const unsigned more = d->resources2 >> 11 & 3;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t item = w->number * LANES + l, nx = x->items[0], ny = x->items[1];
        const uint32_t at[3] = { item % nx, item / nx % ny, item / nx / ny };
        w->v[0][l] = packs ? at[0] | at[1] << 10 | at[2] << 20 : at[0];
        for (unsigned n = 1; !packs && n <= more; n++) w->v[n][l] = at[n];
    }
    vector_unset_write(w, 0, packs ? 1 : 1 + more, ~0ull, 0, 0);
}

static void wave_start(struct wave *w, struct room *r, uint32_t number,
                       const struct descriptor *d)
{
    const struct gfx9_launch *x = r->group.launch;
    const uint32_t items = x->items[0] * x->items[1] * x->items[2];
    const uint32_t left = items - number * LANES;
    memset(w, 0, sizeof *w);
    w->group = &r->group;
    w->number = number;
    w->pc = d->entry;
    w->exec = left >= LANES ? ~0ull : (1ull << left) - 1;
    w->v = r->registers + (size_t)number * FILES;
    w->unset = r->unset + (size_t)number * FILES;
    memset(w->v, 0xcd, FILES * sizeof *w->v);
    memset(w->unset, 0xff, FILES * sizeof *w->unset);
    memset(w->unset_s, 0xff, sizeof w->unset_s);
    scalar_unset_write(w, SGPR_EXEC, 2, false);
    w->unset_scc = true;
    set_items(w, x, d);
}

enum { LOOK_EVERY = 0xffff }; /* instructions of a group, for whether to stop */

/* Run a wave to its next barrier or its end. */
static void wave_run(struct wave *w)
{
    struct group *g = w->group;
    const struct gfx9_object *o = g->object;
    while (!w->ended && !w->waiting && !g->failed) {
        struct instruction none = { .offset = (uint32_t)w->pc };
        const struct instruction *i = &none;
        if (w->pc < o->image_bytes && o->at[w->pc / 4] != UINT32_MAX)
            i = &o->code[o->at[w->pc / 4]];
        g->counts.instructions++;
        if (i->bytes == 0) wave_fail(w, i, "the code goes on where there is none");
        else if (!i->opcode)
            wave_fail(w, i, "%08x %08x is not executed here", i->word[0], i->word[1]);
        else if (i->cannot) wave_fail(w, i, "%s is not executed here", i->cannot);
        else if (!g->left--) wave_fail(w, i, "the work-group does not end");
        else if (!(g->left & LOOK_EVERY) && progress_stopped(g->launch->progress))
            wave_fail(w, i, "stopped");
        if (g->failed) return;
        w->pc += i->bytes;
        i->opcode->act(w, i);
    }
}

/* Accesses to LDS before the first that is not waited for. */
static uint32_t waited_of(const struct wave *w)
{
    uint32_t least = w->accesses + 1;
    for (int p = 0; p < w->pendings; p++)
        if (w->pending[p].lds && w->pending[p].lds < least) least = w->pending[p].lds;
    return least - 1;
}

/* All waves by turns; a barrier is passed when all that have not ended are there. */
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

static const uint64_t INSTRUCTIONS_MOST = 1ull << 36;

static void group_start(struct room *r, const struct gfx9_launch *x,
                        const struct descriptor *d, const struct given *given,
                        uint64_t number)
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
    g->entry = d->entry;
    g->left = INSTRUCTIONS_MOST;
    g->failed = false;
    g->readable[0] = (struct gfx9_memory){ given->segment, given->segment_bytes };
    g->readable[1] =
        (struct gfx9_memory){ (void *)(uintptr_t)given->packet, PACKET_BYTES };
    g->readable[2] = (struct gfx9_memory){ x->object->image, x->object->image_bytes };
    memset(g->lds, 0xa5, g->lds_bytes);
    memset(g->lds_set, 0, g->lds_bytes);
    memset(g->touched, 0, (g->lds_bytes / 2 + 2) * sizeof *g->touched);
    for (int n = 0; n < g->wave_count; n++) {
        wave_start(&r->waves[n], r, (uint32_t)n, d);
        set_scalars(&r->waves[n], d, given, place);
    }
}

/* --- the launch ------------------------------------------------------------------- */

/* What threads agree on: the first group that failed, and its fault. */
struct outcome {
    uint64_t failed; /* UINT64_MAX: none */
    struct fault fault;
    struct gfx9_counts counts;
};

static void run_groups(struct outcome *all, const struct gfx9_launch *x,
                       const struct descriptor *d, const struct given *given)
{
    const uint64_t groups = (uint64_t)x->groups[0] * x->groups[1] * x->groups[2];
    const uint32_t items = x->items[0] * x->items[1] * x->items[2];
#pragma omp parallel num_threads(threads_for(x->threads, groups))
    {
        struct room r;
        struct hostfp mode;
        const bool here =
            room_init(&r, (items + LANES - 1) / LANES, d->lds + x->lds_bytes);
        hostfp_enter(&mode);
#pragma omp for schedule(dynamic, 1)
        for (uint64_t n = 0; n < groups; n++) {
            uint64_t failed;
#pragma omp atomic read
            failed = all->failed;
            if (n > failed) continue;
            if (threads_first()) progress_report(x->progress, n, groups);
            if (here) {
                group_start(&r, x, d, given, n);
                group_run(&r.group);
            }
            if (here && !r.group.failed) continue;
#pragma omp critical(gfx9_outcome)
            if (n < all->failed) {
                if (here) all->fault = r.group.fault;
                else fault_set(&all->fault, BITCUT_CANNOT, "no memory");
#pragma omp atomic write
                all->failed = n;
            }
        }
        hostfp_leave(&mode);
#pragma omp critical(gfx9_outcome)
        if (here) gfx9_counts_add(&all->counts, &r.group.counts);
        if (here) room_clear(&r);
    }
}

enum bitcut_status gfx9_run(struct gfx9_counts *counts, const struct gfx9_launch *x,
                            struct fault *f)
{
    const struct descriptor d = descriptor_of(x->object, x->kernel);
    struct outcome all = { .failed = UINT64_MAX };
    struct given given;
    const enum bitcut_status status = check(x, &d, f);
    if (status != BITCUT_OK) return status;
    if (!given_init(&given, x, &d)) return fault_set(f, BITCUT_CANNOT, "no memory");
    run_groups(&all, x, &d, &given);
    free(given.segment);
    if (all.failed != UINT64_MAX) {
        if (f) *f = all.fault;
        return all.fault.status;
    }
    if (counts) *counts = all.counts;
    return BITCUT_OK;
}
