/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_round.h"

#include <stdlib.h>

/* What came of the kernels: the first that did not run ends the race. */
static enum bitcut_status judge(struct race_result *result, const struct course *c,
                                struct fault *f)
{
    for (size_t i = 0; i < c->runners; i++) {
        const struct runner *r = &c->runner[i];
        result->mismatches += r->mismatches;
        if (!r->entrant.kernel || r->mismatches || !r->fault[0]) continue;
        result->failed = r->name;
        return fault_set(f, BITCUT_UNSUPPORTED, "%s", r->fault);
    }
    return BITCUT_OK;
}

static enum bitcut_status run_heat(struct race_result *result, struct course *c,
                                   const struct heat *heat, struct fault *f)
{
    const struct race *race = c->race;
    c->shape = heat->shape;
    c->input = heat->input;
    race->begins(race->listener, heat, c->count);
    enum bitcut_status status = course_enter(c, f);
    if (status == BITCUT_OK) status = course_run(c, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < c->runners; i++)
        race->row(race->listener, course_row(c, &c->runner[i]));
    c->done++;
    course_add_to_mean(c);
    return judge(result, c, f);
}

/* All heats in batches of c->count. */
static enum bitcut_status run_count(struct race_result *result, struct course *c,
                                    struct fault *f)
{
    const struct race *race = c->race;
    enum bitcut_status status = BITCUT_OK;
    for (int pointers = 0; pointers < 2; pointers++)
        c->mean[pointers] = (struct race_mean){ 0 };
    for (size_t i = 0; i < race->heats && status == BITCUT_OK; i++)
        status = run_heat(result, c, &race->heat[i], f);
    for (int pointers = 0; pointers < 2 && status == BITCUT_OK; pointers++)
        if (c->mean[pointers].shapes)
            race->row(race->listener, course_mean_row(c, pointers));
    return status;
}

enum bitcut_status race_run(struct race_result *result, const struct race *race,
                            struct fault *f)
{
    struct course *c = calloc(1, sizeof *c);
    enum bitcut_status status = BITCUT_OK;
    *result = (struct race_result){ 0 };
    if (!c) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    c->race = race;
    for (size_t i = 0; i < race->counts && status == BITCUT_OK; i++) {
        c->count = race->count[i];
        status = run_count(result, c, f);
    }
    free(c);
    return status;
}
