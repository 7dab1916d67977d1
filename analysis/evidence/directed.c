/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/directed.h"

#include <stdlib.h>

_Static_assert(MUTANTS_MAX <= 64, "a mask of 64 bits holds the mutants that a sample "
                                  "detects");

enum {
    ROUND_SAMPLES = 64, /* of each class in a round */
    FULL_ROUNDS = 3,    /* rounds in which every mutant is tried */
    ROUNDS_MAX = 400,   /* afterwards only mutants that too few samples detect */
    POOL_KILLS = 24,    /* samples to choose from, for each mutant */
    POOL_MAX = 1 << 16
};

/* Samples that detect some mutants, and which. */
struct pool {
    struct sample *samples;
    uint64_t *masks;
    int count;
    int kills[MUTANTS_MAX];
};

uint64_t directed_mask(const struct bitcut_unit *u, const struct sample *s,
                       const struct mutant *mutants, int count, uint64_t which)
{
    const uint64_t d = sample_dot(u, s);
    uint64_t mask = 0;
    for (int i = 0; i < count; i++)
        if (which >> i & 1 && sample_dot(&mutants[i].unit, s) != d)
            mask |= UINT64_C(1) << i;
    return mask;
}

/* Mutants that are proved equivalent are left out. */
static uint64_t without_proof(const struct directed *d)
{
    uint64_t mask = 0;
    for (int i = 0; i < d->mutant_count; i++)
        mask |= (uint64_t)(d->mutants[i].proof == NULL) << i;
    return mask;
}

static void add_kills(int kills[MUTANTS_MAX], uint64_t mask)
{
    for (int i = 0; i < MUTANTS_MAX; i++) kills[i] += mask >> i & 1;
}

/* The mutants of `which` that fewer than `least` samples detect. */
static uint64_t noticed_by_few(const int kills[MUTANTS_MAX], uint64_t which, int least)
{
    uint64_t few = 0;
    for (int i = 0; i < MUTANTS_MAX; i++)
        if (kills[i] < least) few |= which & UINT64_C(1) << i;
    return few;
}

/* --- the pool --------------------------------------------------------------------- */

static void pool_clear(struct pool *p)
{
    free(p->samples);
    free(p->masks);
}

static bool pool_init(struct pool *p)
{
    *p = (struct pool){ .samples = memory_allocate(POOL_MAX, sizeof p->samples[0]),
                        .masks = memory_allocate(POOL_MAX, sizeof p->masks[0]) };
    return p->samples && p->masks;
}

static void pool_add(struct pool *p, const struct sample *s, uint64_t mask)
{
    if (p->count == POOL_MAX) return;
    p->samples[p->count] = *s;
    p->masks[p->count++] = mask;
    add_kills(p->kills, mask);
}

/* Add samples of every class that detect a mutant of `which` to the pool. */
static void pool_round(struct pool *p, const struct directed *d,
                       const struct bitcut_unit *u, uint64_t which, struct rng *rng)
{
    const uint64_t all = without_proof(d);
    for (const struct sample_class *class = sample_classes; class->name; class ++)
        for (int i = 0; i < ROUND_SAMPLES && (u->scale || !class->scaled); i++) {
            struct sample s;
            class->fill(&s, u, rng);
            if (directed_mask(u, &s, d->mutants, d->mutant_count, which))
                pool_add(p, &s, directed_mask(u, &s, d->mutants, d->mutant_count, all));
        }
}

static enum bitcut_status pool_fill(struct pool *p, const struct directed *d,
                                    const struct bitcut_unit *u, uint64_t seed,
                                    const struct progress *progress, struct fault *f)
{
    const uint64_t all = without_proof(d);
    struct rng rng = rng_start(seed, 0);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const uint64_t few = noticed_by_few(p->kills, all, POOL_KILLS);
        if (progress_stopped(progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        if (round >= FULL_ROUNDS && !few) break;
        pool_round(p, d, u, round < FULL_ROUNDS ? all : few, &rng);
    }
    return BITCUT_OK;
}

/* --- the choice ------------------------------------------------------------------- */

/* The sample that detects most of `wanted`, or -1. */
static int best_sample(const struct pool *p, uint64_t wanted)
{
    int best = -1, most = 0;
    for (int i = 0; i < p->count; i++) {
        const int n = __builtin_popcountll(p->masks[i] & wanted);
        if (n > most) most = n, best = i;
    }
    return best;
}

/* Take samples out of the pool until each mutant is detected often enough. */
static void choose(struct directed *d, struct pool *p)
{
    const uint64_t all = without_proof(d);
    int best;
    while ((best = best_sample(p, noticed_by_few(d->kills, all, DIRECTED_KILLS))) >= 0) {
        d->samples[d->count++] = p->samples[best];
        add_kills(d->kills, p->masks[best]);
        p->masks[best] = 0;
    }
}

enum bitcut_status directed_make(struct directed *d, const struct bitcut_unit *u,
                                 uint64_t seed, const struct progress *progress,
                                 struct fault *f)
{
    struct directed x = { .samples = memory_allocate(MUTANTS_MAX * DIRECTED_KILLS,
                                                     sizeof x.samples[0]) };
    struct pool p = { 0 };
    x.mutant_count = mutants_list(x.mutants, u);
    enum bitcut_status status = BITCUT_OK;
    if (!x.samples || !pool_init(&p))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the samples");
    else
        status = pool_fill(&p, &x, u, seed, progress, f);
    if (status == BITCUT_OK) {
        choose(&x, &p);
        *d = x;
    } else {
        directed_clear(&x);
    }
    pool_clear(&p);
    return status;
}

void directed_clear(struct directed *d)
{
    free(d->samples);
    d->samples = NULL;
}
