/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/provenance.h"

#include "analysis/study/distinct.h"
#include "build_info.h"
#include "emu/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* --- program and machine ---------------------------------------------------------- */

/* The value of the first line "model name : value", or of "Model", or NULL. */
static json_t *processor_name(FILE *from)
{
    char line[256];
    while (fgets(line, sizeof line, from)) {
        char *const value = strchr(line, ':');
        if (!value || (strncmp(line, "model name", 10) && strncmp(line, "Model", 5)))
            continue;
        char *const start = value + 1 + strspn(value + 1, " \t");
        start[strcspn(start, "\n")] = 0;
        return json_string(start);
    }
    return NULL;
}

/* As named by Linux, otherwise the machine type. */
static json_t *processor(void)
{
    json_t *name = NULL;
    struct utsname about;
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file) {
        name = processor_name(file);
        fclose(file);
    }
    if (name) return name;
    return json_string(uname(&about) >= 0 ? about.machine : "unknown");
}

json_t *provenance_build(void)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "bitcut", bitcut_version(), "commit",
                     BUILD_COMMIT, "compiler", COMPILER, "flags", BUILD_FLAGS,
                     "processor", processor());
}

/* --- units ------------------------------------------------------------------------ */

static void add_unit(json_t *models, json_t *known, const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "unit"));
    if (!name || json_object_get(known, name)) return;
    const struct bitcut_unit *unit = unit_find(name, &formats[FORMAT_F16]);
    if (!unit) unit = unit_find(name, &formats[FORMAT_F32]);
    json_object_set_new(known, name, json_true());
    json_array_append_new(models, json_pack("{s:s, s:s?}", "unit", name, "evidence",
                                            unit ? unit_evidence(unit) : NULL));
}

/* The units of its rows and of its claims. */
static json_t *units_of(const struct section *s)
{
    json_t *models = json_array(), *known = json_object();
    for (size_t i = 0; i < json_array_size(s->rows); i++)
        add_unit(models, known, json_array_get(s->rows, i));
    for (size_t i = 0; i < json_array_size(s->verdicts); i++)
        add_unit(models, known, json_array_get(s->verdicts, i));
    json_decref(known);
    return models;
}

/* --- sections --------------------------------------------------------------------- */

json_t *provenance_of(const struct section *s, const char *data)
{
    json_t *all = provenance_build();
    json_object_set(all, "command", s->source);
    json_object_set_new(all, "recorded",
                        s->origin ? json_incref(s->origin) : json_null());
    json_object_set_new(all, "units", units_of(s));
    json_object_set_new(all, "inputs", s->inputs ? json_incref(s->inputs) : json_array());
    json_object_set_new(all, "data", json_string(data));
    return all;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* Append " (separator) text"; the text is released. */
static json_t *longer(json_t *line, const char *separator, const char *text,
                      const char *more)
{
    json_t *all = json_sprintf("%s%s%s%s%s", json_string_value(line), separator, text,
                               *more ? ": " : "", more);
    json_decref(line);
    return all;
}

/* Each unit with its evidence, or, if there are many, the number of units for each kind
   of evidence. */
static json_t *add_units(json_t *line, json_t *rows)
{
    enum { NAMED_MAX = 6 };
    const char *separator = "; units ";
    struct distinct d;
    const size_t count = json_array_size(rows);
    distinct_of(&d, rows, count > NAMED_MAX ? "evidence" : "unit");
    for (size_t group = 0; group < d.groups; group++) {
        const json_t *unit = json_array_get(rows, d.first[group]);
        char number[32];
        size_t members = 0;
        for (size_t i = 0; i < d.rows; i++) members += d.group[i] == group;
        snprintf(number, sizeof number, "%zu of %zu", members, count);
        line =
            longer(line, separator, count > NAMED_MAX ? number : text_of(unit, "unit"),
                   text_of(unit, "evidence"));
        separator = "; ";
    }
    distinct_clear(&d);
    return line;
}

/* The files by their names. */
static json_t *add_inputs(json_t *line, const json_t *inputs)
{
    for (size_t i = 0; i < json_array_size(inputs); i++)
        line = longer(line, i ? ", " : "; inputs ",
                      text_of(json_array_get(inputs, i), "file"), "");
    return line;
}

json_t *provenance_line(const struct section *s)
{
    const json_t *p = s->provenance;
    json_t *line = json_sprintf("bitcut %s, commit %s, %s %s, %s", text_of(p, "bitcut"),
                                text_of(p, "commit"), text_of(p, "compiler"),
                                text_of(p, "flags"), text_of(p, "processor"));
    line = add_units(line, json_object_get(p, "units"));
    line = add_inputs(line, json_object_get(p, "inputs"));
    return longer(line, "; data SHA-256 ", text_of(p, "data"), "");
}
