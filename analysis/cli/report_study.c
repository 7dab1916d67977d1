/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/report_study.h"

#include "analysis/cli/command.h"

#include <stdlib.h>

bool report_study_is_recorded(const struct study_run *run)
{
    return run->scale == (enum study_scale)RECORDED_SCALE && run->seed == RECORDED_SEED;
}

/* --- rows ------------------------------------------------------------------------- */

static void take(void *points, size_t at, json_t *rows)
{
    ((struct study_points *)points)->rows[at] = rows;
}

/* Compute the points without rows. */
static enum bitcut_status complete(struct study_points *p, const struct study *study,
                                   const struct study_run *run, struct fault *f)
{
    bool *wanted = memory_allocate(p->count, sizeof *wanted);
    if (!wanted) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (size_t at = 0; at < p->count; at++) wanted[at] = !p->rows[at];
    const enum bitcut_status status = study_compute(study, run, wanted, take, p, f);
    free(wanted);
    return status;
}

static enum bitcut_status make_rows(json_t **rows, struct study_points *recorded,
                                    const struct study *study,
                                    const struct study_run *run, struct fault *f)
{
    size_t missing;
    if (!report_study_is_recorded(run)) return study_rows(rows, study, run, f);
    const enum bitcut_status status = complete(recorded, study, run, f);
    if (status == BITCUT_OK) *rows = study_log_rows(&missing, recorded);
    return status;
}

/* --- retained data ---------------------------------------------------------------- */

/* Record the stored file in the section, and as one of its inputs. */
static void write_kept_field(struct section *s, const struct study_points *points,
                             json_t *file)
{
    size_t there = 0;
    json_t *inputs = json_array();
    for (size_t at = 0; at < points->count; at++) there += points->rows[at] != NULL;
    s->recorded =
        json_pack("{s:s, s:o, s:o, s:o}", "scale", study_scales[RECORDED_SCALE].name,
                  "seed", json_seed(RECORDED_SEED), "points", json_count(there), "of",
                  json_count(points->count));
    json_object_update(s->recorded, json_array_get(file, 0));
    if (s->inputs) json_array_extend(inputs, s->inputs);
    json_array_extend(inputs, file);
    json_decref(s->inputs);
    s->inputs = inputs;
}

/* --- verdicts --------------------------------------------------------------------- */

/* The keys of a verdict that depend on rows. */
static json_t *finding_of(json_t *verdict)
{
    static const char *const keys[] = { "verdict", "ours",   "low",
                                        "high",    "reason", "origin" };
    json_t *finding = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_object_set(finding, keys[i], json_object_get(verdict, keys[i]));
    json_decref(verdict);
    return finding;
}

/* Verdicts by the rows of the section and, unless it is NULL, by those of `recorded`. */
static json_t *verdicts_of(const struct section *s, const struct study *study,
                           const struct study_points *recorded)
{
    size_t missing = 0;
    json_t *all = json_array(),
           *rows = recorded ? study_log_rows(&missing, recorded) : NULL;
    for (const struct claim *c = study->claims; c->name; c++) {
        json_t *verdict = claim_verdict(study->name, c, s->rows, 0, 0);
        json_object_set_new(verdict, "scale", json_string(s->scale));
        json_object_set_new(verdict, "recorded",
                            recorded ? finding_of(claim_verdict(study->name, c, rows,
                                                                missing, recorded->count))
                                     : json_null());
        json_array_append_new(all, verdict);
    }
    json_decref(rows);
    return all;
}

int report_study(struct section *s, const struct study *study,
                 const struct study_run *run, struct recorded_studies *recorded)
{
    json_t *file = json_object_get(recorded->files, study->name);
    struct study_points *points = study_log_of(&recorded->log, study);
    struct fault f;
    if (file) write_kept_field(s, points, file);
    if (make_rows(&s->rows, points, study, run, &f) != BITCUT_OK)
        return fail(s->name, &f);
    const int status =
        file ? recorded_studies_check(recorded, study, s->rows) : EXIT_GOOD;
    if (status != EXIT_GOOD) return status;
    s->verdicts =
        verdicts_of(s, study, file && !report_study_is_recorded(run) ? points : NULL);
    return EXIT_GOOD;
}
