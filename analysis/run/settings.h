/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a program under `bitcut run`: environment variables, so that every
   process that it starts has them. */
#ifndef BITCUT_ANALYSIS_RUN_SETTINGS_H
#define BITCUT_ANALYSIS_RUN_SETTINGS_H

#include "emu/gemm_text.h"

enum {
    SETTINGS_RULES_MAX = 64,
    PATTERN_MAX = 256,
    DEVICE_MAX = 64,
    RUN_PERCENT_ALL = -1 /* audit every call, whatever it costs */
};

/* The precision of a routine's products, and the configurations that compute them. */
enum precision { PRECISION_F32, PRECISION_F64, PRECISIONS };

struct precision_row {
    const char *name;
    const struct bitcut_format *format; /* of the matrices; NULL: f32, as in a GEMM */
};

/* By enum precision. */
extern const struct precision_row precisions[];

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
    SETTING_SITES,
    SETTING_ORDER
};
extern const struct setting settings[];

/* The configuration of products: the program's own library, or a GEMM.  A GEMM with a
   scheme computes FP64 products, another one FP32 products. */
struct run_configuration {
    bool original;
    struct bitcut_gemm gemm;           /* without sizes and matrices */
    char line[CONFIGURATION_LINE_MAX]; /* "original", or the text of
                                          configuration_line_write() */
};

/* Products of call sites that match the pattern use this configuration. */
struct run_rule {
    char pattern[PATTERN_MAX]; /* shell pattern for a call site or its last part */
    struct run_configuration configuration;
};

struct run_settings {
    struct run_configuration configuration;
    struct run_rule rule[SETTINGS_RULES_MAX]; /* the first match applies */
    int rules;
    bool compares; /* every product is also computed in the configuration */
    struct run_configuration against; /* `against`, and the results are compared */
    /* whether products of a precision are computed, compared or audited: those of a
       configuration, or FP32 if there is none */
    bool takes[PRECISIONS];
    bool audits;
    int percent;    /* share of the program's time for the audit, or RUN_PERCENT_ALL */
    int threads;    /* 0: all processors                                             */
    bool keeps_order; /* whether a GPU sums in the order of a configuration; else it may
                         choose the slices of k of a configuration that has none       */
    bool python;    /* call sites are lines of Python, where there are any */
    /* smallest number of products of two numbers in a call that is computed */
    uint64_t least;
    char device[DEVICE_MAX]; /* device that emulates large products; "": none */
    char *modules;           /* folder of device modules, from BITCUT_MODULES; or NULL */
    char *folder;            /* folder of the logs, an absolute path; or NULL */
};

/* Read "original" or the text of a configuration.  Returns BITCUT_BAD_ARGUMENT as
   configuration_line_read() does. */
enum bitcut_status run_configuration_read(struct run_configuration *to, const char *line,
                                          struct fault *f);

/* Whether a configuration computes products of a precision; the original does. */
bool run_configuration_fits(const struct run_configuration *configuration,
                            enum precision precision);

/* Read "PATTERN=CONFIGURATION"; the pattern ends at the first '='.  Returns
   BITCUT_BAD_ARGUMENT. */
enum bitcut_status run_rule_read(struct run_rule *to, const char *text, struct fault *f);

/* An environment variable with the prefix of these that is unknown: its name; NULL: there
   is none. */
enum { SETTING_NAME_MAX = 64 };
const char *run_setting_unknown(char name[SETTING_NAME_MAX]);

/* Read the settings from the environment.  Without settings, products are computed by the
   program's own library.  The environment is not referred to later.  BITCUT_BAD_ARGUMENT
   names the first invalid variable; the other variables are read.  Returns
   BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status run_settings_read(struct run_settings *to, struct fault *f);

/* Whether a rule matches a call site. */
bool run_rule_fits(const struct run_rule *r, const char *site);

/* The configuration for products of a call site, of this precision: that of the first
   rule that matches and fits, or that of all sites, or the original. */
const struct run_configuration *run_settings_configuration(const struct run_settings *s,
                                                           const char *site,
                                                           enum precision precision);

#endif
