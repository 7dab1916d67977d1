/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/explain_statistic.h"

#include "analysis/cli/setup.h"
#include "lib/input/torch_draws.h"
#include "lib/io/json_record.h"

bool explain_statistic_asked(const struct explain_statistic_options *o)
{
    bool any = o->draws != NULL;
    for (int i = 0; i < STATISTICS; i++) any |= o->statistic[i] != NULL;
    return any;
}

static int read_statistics(struct statistic_problem *p,
                           const struct explain_statistic_options *o)
{
    bool given = false;
    for (int i = 0; i < STATISTICS; i++) {
        char option[16];
        if (!o->statistic[i]) continue;
        snprintf(option, sizeof option, "--%s", statistics[i].name);
        if (!published_read(&p->published[i], o->statistic[i]))
            return complain(option, "must be a decimal number such as 1.5e-07");
        if (i != STATISTIC_MEAN && p->published[i].value < 0)
            return complain(option, "must be at least 0");
        given = true;
    }
    if (!given)
        return complain("--torch-shape", "requires --rms, --max, --mean or --largest");
    return o->draws ? EXIT_GOOD
                    : complain("--torch-shape",
                               "is required by a statistic; it lists the draws, such as "
                               "\"A 10x8, B 8x25\"");
}

static json_t *answer_json(const struct statistic_answer *r)
{
    json_t *const row = json_object();
    if (r->named) setup_describe(row, &r->best.x.gemm, &r->best.x.plan);
    record_json(row, statistic_fields, r);
    return row;
}

int explain_statistic(struct context *x, const struct explain_statistic_options *o,
                      const struct statistic_problem *limits)
{
    struct statistic_problem p = *limits;
    static struct statistic_answer r;
    struct fault f;
    int status = read_statistics(&p, o);
    if (status != EXIT_GOOD) return status;
    if (torch_draws(&p.a, &p.b, o->draws, o->seed, &f) != BITCUT_OK)
        return fail("--torch-shape", &f);
    p.threads = x->threads;
    p.progress = &x->progress;
    if (statistic_search(&r, &p, &f) != BITCUT_OK) status = fail("explain", &f);
    else {
        emit_answer(&x->emitter, answer_json(&r), statistic_lines, &r);
        status = r.found ? EXIT_GOOD : EXIT_FOUND;
    }
    matrix_clear(&p.a);
    matrix_clear(&p.b);
    return status;
}
