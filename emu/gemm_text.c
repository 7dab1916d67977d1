/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/gemm_text.h"

#include "emu/fp64/fp64_gemm.h"
#include "emu/unit.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/gemm/configuration.h"

#include <stdio.h>
#include <string.h>

enum { NAME_LENGTH_MAX = 60 };

/* --- reading ---------------------------------------------------------------------- */

static enum bitcut_status unknown(const char *what, const char *name, struct table table,
                                  struct fault *f)
{
    char hint[TABLE_HINT_MAX];
    table_hint(hint, table, name);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown %s \"%.*s\"%s", what,
                     text_fit(name, NAME_LENGTH_MAX), name, hint);
}

const struct bitcut_format *way_parts(const struct bitcut_gemm *g)
{
    const struct bitcut_split *split = g->split_a ? g->split_a : g->recipe->split;
    return split ? split->part[0].format : &formats[FORMAT_F16];
}

/* Find the unit of this name for the formats of the GEMM's parts. */
static enum bitcut_status read_unit(struct bitcut_gemm *g, const char *name,
                                    struct fault *f)
{
    g->unit = unit_find(name, way_parts(g));
    if (g->unit) return BITCUT_OK;
    if (!table_find(TABLE(chips), name)) return unknown("unit", name, TABLE(chips), f);
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s has no instruction for %s, the format of the parts of %s", name,
                     way_parts(g)->name, g->recipe->name);
}

enum bitcut_status configuration_line_read(struct bitcut_gemm *to, const char *line,
                                           struct fault *f)
{
    char text[CONFIGURATION_LINE_MAX];
    struct gemm_plan plan;
    if (strlen(line) >= sizeof text)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the configuration is too long (%zu characters)", strlen(line));
    strcpy(text, line);
    char *list = strchr(text, ',');
    if (list) *list++ = 0;
    char *const unit = strchr(text, '@');
    if (!unit)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "expected RECIPE@UNIT such as legemm@mi210, found \"%.*s\"",
                         text_fit(text, NAME_LENGTH_MAX), text);
    *unit = 0;
    const struct bitcut_scheme *const scheme = bitcut_scheme_find(text);
    if (scheme) return fp64_line_read(to, scheme, unit + 1, list, f);
    const struct bitcut_recipe *const recipe = bitcut_recipe_find(text);
    if (!recipe) return unknown("recipe", text, TABLE(recipes), f);
    struct bitcut_gemm g = gemm_of(recipe, NULL), taken;
    enum bitcut_status status = configuration_read(&g, list, f);
    if (status == BITCUT_OK) status = read_unit(&g, unit + 1, f);
    if (status == BITCUT_OK) status = gemm_take(&taken, &g, f);
    if (status == BITCUT_OK) status = gemm_plan_on_any(&plan, &taken, f);
    if (status == BITCUT_OK) *to = taken;
    return status;
}

/* --- writing ---------------------------------------------------------------------- */

void configuration_line_write(char line[CONFIGURATION_LINE_MAX],
                              const struct bitcut_gemm *g)
{
    if (g->scheme) {
        fp64_line_write(line, CONFIGURATION_LINE_MAX, g);
        return;
    }
    snprintf(line, CONFIGURATION_LINE_MAX, "%s@%s", g->recipe->name, g->unit->name);
    configuration_write(line, CONFIGURATION_LINE_MAX, g);
}

/* --- for callers ------------------------------------------------------------------ */

enum bitcut_status bitcut_gemm_read(struct bitcut_gemm *to, const char *line, char *why)
{
    struct bitcut_gemm g;
    struct fault f;
    enum bitcut_status status = gemm_check_place(to, &f);
    if (status == BITCUT_OK && (!to || !line))
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "line and GEMM must not be NULL");
    if (status == BITCUT_OK) status = configuration_line_read(&g, line, &f);
    if (status == BITCUT_OK) gemm_give(to, &g);
    return fault_write(why, status, &f);
}

enum bitcut_status bitcut_gemm_write(char line[BITCUT_GEMM_MAX],
                                     const struct bitcut_gemm *gemm)
{
    struct bitcut_gemm g;
    const enum bitcut_status status =
        line ? gemm_take_any(&g, gemm, NULL) : BITCUT_BAD_ARGUMENT;
    if (status != BITCUT_OK || (!g.recipe && !g.scheme) || !g.unit)
        return BITCUT_BAD_ARGUMENT;
    configuration_line_write(line, &g);
    return BITCUT_OK;
}
