/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program under `bitcut run` is to do with its products: said by environment
   variables, so that every process that it starts knows. */
#ifndef BITCUT_ANALYSIS_RUN_SETTINGS_H
#define BITCUT_ANALYSIS_RUN_SETTINGS_H

#include "emu/gemm_text.h"

enum {
    SETTINGS_RULES_MAX = 64,
    PATTERN_MAX = 256,
    DEVICE_MAX = 64,
    RUN_PERCENT_ALL = -1 /* an audit of every call, whatever it takes */
};

struct run_settings;

/* A row of the variables, ended by a row without a name. */
struct setting {
    const char *name, *what;
    enum bitcut_status (*take)(struct run_settings *s, const char *value,
                               struct fault *f);
};

/* By enum setting_of. */
enum setting_of {
    SETTING_CONFIGURATION,
    SETTING_RULES,
    SETTING_AGAINST,
    SETTING_AUDIT,
    SETTING_FOLDER,
    SETTING_THREADS,
    SETTING_DEVICE,
    SETTING_MIN,
    SETTING_SITES
};
extern const struct setting settings[];

/* How products are computed: by the program's own library, or as a GEMM says. */
struct run_configuration {
    bool original;
    struct bitcut_gemm gemm; /* but for sizes and matrices */
    char line[CONFIGURATION_LINE_MAX]; /* "original", or that of
                                          configuration_line_write() */
};

/* Products of places that the pattern names are computed so. */
struct run_rule {
    char pattern[PATTERN_MAX]; /* of a shell, for a place or the last part of it */
    struct run_configuration way;
};

struct run_settings {
    struct run_configuration way;
    struct run_rule rule[SETTINGS_RULES_MAX]; /* the first that fits counts */
    int rules;
    bool compares;          /* every product is computed once more, so: ...        */
    struct run_configuration against; /* ..., and its result compared */
    bool audits;
    int percent;    /* of the program's time that an audit may take; RUN_PERCENT_ALL */
    int threads;    /* 0: all processors                                             */
    bool python;    /* places are lines of Python where there are any                */
    uint64_t least; /* products of two numbers that a call has, to be computed at all */
    char device[DEVICE_MAX]; /* that emulates large products; "": none            */
    char *modules; /* the folder of modules for devices, of BITCUT_MODULES; or NULL */
    char *folder; /* where processes write what they did, its whole path; or NULL  */
};

/* Take "original" or the line of a way.  BITCUT_BAD_ARGUMENT as
 * configuration_line_read(). */
enum bitcut_status run_configuration_read(struct run_configuration *to, const char *line,
                                          struct fault *f);

/* Take "PATTERN=WAY": the pattern ends at the first '='.  BITCUT_BAD_ARGUMENT. */
enum bitcut_status run_rule_read(struct run_rule *to, const char *text, struct fault *f);

/* A variable of the environment that is called like one of these, and is none: its name;
   NULL: there is none. */
enum { SETTING_NAME_MAX = 64 };
const char *run_setting_unknown(char name[SETTING_NAME_MAX]);

/* What the environment says; what it does not say: products are the program's own.
   Nothing of the environment is referred to later.  BITCUT_BAD_ARGUMENT names the first
   variable that is wrong; the others are taken.  BITCUT_NO_MEMORY. */
enum bitcut_status run_settings_read(struct run_settings *to, struct fault *f);

/* Whether a rule is for a place. */
bool run_rule_fits(const struct run_rule *r, const char *place);

/* How products of a place are computed. */
const struct run_configuration *run_settings_configuration(const struct run_settings *s,
                                                           const char *place);

#endif
