/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/run/settings.h"

#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/number/format.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct precision_row precisions[] = {
    [PRECISION_F32] = { "FP32", NULL },
    [PRECISION_F64] = { "FP64", &formats[FORMAT_F64] },
};

bool run_configuration_fits(const struct run_configuration *configuration,
                            enum precision precision)
{
    return configuration->original ||
           (configuration->gemm.scheme != NULL) == (precision == PRECISION_F64);
}

enum bitcut_status run_configuration_read(struct run_configuration *to, const char *line,
                                          struct fault *f)
{
    struct run_configuration w = { .original = !strcmp(line, "original"),
                                   .line = "original" };
    if (w.original) {
        *to = w;
        return BITCUT_OK;
    }
    const enum bitcut_status status = configuration_line_read(&w.gemm, line, f);
    if (status != BITCUT_OK) return status;
    configuration_line_write(w.line, &w.gemm);
    *to = w;
    return BITCUT_OK;
}

enum bitcut_status run_rule_read(struct run_rule *to, const char *text, struct fault *f)
{
    const char *const end = strchr(text, '=');
    const size_t length = end ? (size_t)(end - text) : 0;
    if (!length || length >= PATTERN_MAX)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "expected PATTERN=RECIPE@UNIT such as *train.py:*=legemm@mi210, "
                         "found \"%.*s\"",
                         text_fit(text, 60), text);
    snprintf(to->pattern, sizeof to->pattern, "%.*s", (int)length, text);
    return run_configuration_read(&to->configuration, end + 1, f);
}

static enum bitcut_status read_rules(struct run_settings *s, const char *list,
                                     struct fault *f)
{
    enum { RULE_MAX = PATTERN_MAX + CONFIGURATION_LINE_MAX };
    while (*list) {
        char rule[RULE_MAX];
        const size_t length = strcspn(list, "\n");
        if (length >= sizeof rule || s->rules == SETTINGS_RULES_MAX)
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "too many rules, or a rule is too long");
        snprintf(rule, sizeof rule, "%.*s", (int)length, list);
        list += length + (list[length] != 0);
        if (!length) continue;
        const enum bitcut_status status = run_rule_read(&s->rule[s->rules], rule, f);
        if (status != BITCUT_OK) return status;
        s->rules++;
    }
    return BITCUT_OK;
}

/* A number with at most this many digits, at most 18. */
static enum bitcut_status read_digits(uint64_t *to, const char *value, size_t most,
                                      struct fault *f)
{
    const size_t digits = strspn(value, "0123456789");
    if (!digits || digits > most || value[digits])
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "expected a whole number below 10^%zu, found \"%.*s\"", most,
                         text_fit(value, 60), value);
    *to = strtoull(value, NULL, 10);
    return BITCUT_OK;
}

static enum bitcut_status read_number(int *to, const char *value, struct fault *f)
{
    uint64_t x;
    const enum bitcut_status status = read_digits(&x, value, 9, f);
    if (status == BITCUT_OK) *to = (int)x;
    return status;
}

static enum bitcut_status take_configuration(struct run_settings *s, const char *value,
                                             struct fault *f)
{
    return run_configuration_read(&s->configuration, value, f);
}

static enum bitcut_status take_against(struct run_settings *s, const char *value,
                                       struct fault *f)
{
    s->compares = true;
    return run_configuration_read(&s->against, value, f);
}

static enum bitcut_status take_audit(struct run_settings *s, const char *value,
                                     struct fault *f)
{
    s->audits = true;
    if (strcmp(value, "all") != 0) return read_number(&s->percent, value, f);
    s->percent = RUN_PERCENT_ALL;
    return BITCUT_OK;
}

static enum bitcut_status take_folder(struct run_settings *s, const char *value,
                                      struct fault *f)
{
    /* An absolute copy: the program may change its folder, or overwrite the environment.
     */
    s->folder = realpath(value, NULL);
    if (!s->folder) s->folder = strdup(value);
    return s->folder ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

static enum bitcut_status take_threads(struct run_settings *s, const char *value,
                                       struct fault *f)
{
    return read_number(&s->threads, value, f);
}

static enum bitcut_status take_device(struct run_settings *s, const char *value,
                                      struct fault *f)
{
    const int n = snprintf(s->device, sizeof s->device, "%s", value);
    if (n >= 0 && n < (int)sizeof s->device) return BITCUT_OK;
    *s->device = 0;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "the device name is too long");
}

static enum bitcut_status take_least(struct run_settings *s, const char *value,
                                     struct fault *f)
{
    return read_digits(&s->least, value, 18, f);
}

static enum bitcut_status take_sites(struct run_settings *s, const char *value,
                                     struct fault *f)
{
    s->python = strcmp(value, "native") != 0;
    return !s->python
               ? BITCUT_OK
               : fault_set(f, BITCUT_BAD_ARGUMENT, "expected native, found \"%.*s\"",
                           text_fit(value, 60), value);
}

static enum bitcut_status take_order(struct run_settings *s, const char *value,
                                     struct fault *f)
{
    s->keeps_order = !strcmp(value, "kept");
    return s->keeps_order
               ? BITCUT_OK
               : fault_set(f, BITCUT_BAD_ARGUMENT, "expected kept, found \"%.*s\"",
                           text_fit(value, 60), value);
}

const struct setting settings[] = {
    [SETTING_CONFIGURATION] = { "BITCUT_RUN", "RECIPE@UNIT, SCHEME@UNIT or original",
                                take_configuration },
    [SETTING_RULES] = { "BITCUT_RUN_RULES", "PATTERN=CONFIGURATION, one per line",
                        read_rules },
    [SETTING_AGAINST] = { "BITCUT_RUN_AGAINST", "configuration to compare with",
                          take_against },
    [SETTING_AUDIT] = { "BITCUT_RUN_AUDIT", "all, or percent of the program's run time",
                        take_audit },
    [SETTING_FOLDER] = { "BITCUT_RUN_FOLDER",
                         "existing folder for the log of each process", take_folder },
    [SETTING_THREADS] = { "BITCUT_RUN_THREADS", "0: all processors", take_threads },
    [SETTING_DEVICE] = { "BITCUT_RUN_DEVICE",
                         "device that computes the products: cpu or cuda[:N]",
                         take_device },
    [SETTING_MIN] = { "BITCUT_RUN_LEAST",
                      "calls with fewer multiplications stay with the library",
                      take_least },
    [SETTING_SITES] = { "BITCUT_RUN_SITES",
                        "native: call sites are never lines of Python code", take_sites },
    [SETTING_ORDER] = { "BITCUT_RUN_ORDER", "kept: a GPU does not choose the slices of k",
                        take_order },
    { 0 },
};

const char *run_setting_unknown(char name[SETTING_NAME_MAX])
{
    static const char start[] = "BITCUT_RUN";
    for (char *const *at = environ; at && *at; at++) {
        const size_t length = strcspn(*at, "=");
        if (strncmp(*at, start, strlen(start)) != 0 || length >= SETTING_NAME_MAX)
            continue;
        snprintf(name, SETTING_NAME_MAX, "%.*s", (int)length, *at);
        if (!table_find(TABLE(settings), name)) return name;
    }
    return NULL;
}

/* Set the precisions that any configuration computes. */
static void find_precisions(struct run_settings *s)
{
    for (enum precision p = 0; p < PRECISIONS; p++) {
        const struct run_configuration *const own = &s->configuration, *const other =
                                                                           &s->against;
        s->takes[p] = !own->original && run_configuration_fits(own, p);
        s->takes[p] |=
            s->compares && !other->original && run_configuration_fits(other, p);
        for (int i = 0; i < s->rules; i++) {
            const struct run_configuration *const of_rule = &s->rule[i].configuration;
            s->takes[p] |= !of_rule->original && run_configuration_fits(of_rule, p);
        }
    }
    s->takes[PRECISION_F32] |= !s->takes[PRECISION_F64];
}

/* Let kernels of a GPU choose the slices of k, where no order is given. */
static void open_slices(struct run_settings *s)
{
    s->configuration.gemm.any_slices = s->against.gemm.any_slices = !s->keeps_order;
    for (int i = 0; i < s->rules; i++)
        s->rule[i].configuration.gemm.any_slices = !s->keeps_order;
}

/* Combinations of settings that are invalid, and unknown settings. */
static enum bitcut_status check_all(const struct run_settings *s, struct fault *f)
{
    char name[SETTING_NAME_MAX], hint[TABLE_HINT_MAX];
    const enum setting_of idle = s->audits ? SETTING_AUDIT : SETTING_AGAINST;
    if (run_setting_unknown(name)) {
        table_hint(hint, TABLE(settings), name);
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: unknown variable%s", name, hint);
    }
    if ((s->audits || s->compares) && !s->folder)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s requires %s, the folder for the results",
                         settings[idle].name, settings[SETTING_FOLDER].name);
    if (s->audits && s->takes[PRECISION_F64])
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s audits FP32 products; it cannot be combined with a scheme",
                         settings[SETTING_AUDIT].name);
    return BITCUT_OK;
}

enum bitcut_status run_settings_read(struct run_settings *to, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    const char *const modules = secure_getenv("BITCUT_MODULES");
    *to =
        (struct run_settings){ .configuration = { .original = true, .line = "original" },
                               .takes = { true, true },
                               .modules = modules ? strdup(modules) : NULL,
                               .python = true };
    if (modules && !to->modules)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (const struct setting *row = settings; row->name; row++) {
        struct fault why;
        const char *const value = secure_getenv(row->name);
        if (value && *value && row->take(to, value, &why) != BITCUT_OK &&
            status == BITCUT_OK)
            status = fault_set(f, why.status, "%s: %s", row->name, why.text);
    }
    if (status != BITCUT_OK) return status;
    find_precisions(to);
    open_slices(to);
    return check_all(to, f);
}

bool run_rule_fits(const struct run_rule *r, const char *site)
{
    const char *const slash = strrchr(site, '/');
    return fnmatch(r->pattern, site, 0) == 0 ||
           (slash && fnmatch(r->pattern, slash + 1, 0) == 0);
}

const struct run_configuration *run_settings_configuration(const struct run_settings *s,
                                                           const char *site,
                                                           enum precision precision)
{
    static const struct run_configuration original = { .original = true,
                                                       .line = "original" };
    for (const struct run_rule *r = s->rule; r < s->rule + s->rules; r++)
        if (run_configuration_fits(&r->configuration, precision) &&
            run_rule_fits(r, site))
            return &r->configuration;
    return run_configuration_fits(&s->configuration, precision) ? &s->configuration
                                                                : &original;
}
