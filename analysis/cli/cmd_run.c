/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut run: run an unmodified program with its FP32 or FP64 products computed as on
   another machine, or compared. */
#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/cli/device_option.h"
#include "analysis/cli/fp64_command.h"
#include "analysis/cli/install_path.h"
#include "analysis/cli/run_text.h"
#include "analysis/cli/setup.h"
#include "analysis/cli/terminal.h"
#include "analysis/run/folder.h"
#include "analysis/run/program.h"
#include "emu/gemm_text.h"
#include "gpu/api/choose.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/io/decimal.h"
#include "lib/io/output.h"
#include "lib/number/bits.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct run_options {
    struct setup_options setup;
    struct fp64_options fp64;
    struct option_texts rules;
    const char *device, *against, *sample, *want, *least, *folder, *read;
    bool audit, native;
};

static const struct run_options defaults = { .setup = SETUP_DEFAULTS,
                                             .fp64 = FP64_DEFAULTS };

static const struct option_row options[] = {
    SETUP_CHOICE(run, false),
    FP64_OPTIONS(run),
    SETUP_VARIATIONS(run),
    { "rule",
      "PATTERN=RECIPE@UNIT[,promote=4,...], SCHEME@UNIT[,parts=N] or original: compute "
      "calls from sites that match a shell pattern, such as *train.py:*, in this "
      "configuration; the first match in the precision of the call applies; may be "
      "repeated",
      OPTION(run, rules, TEXTS, "RULE") },
    DEVICE_OPTION(run, "emulator"),
    { "against",
      "RECIPE@UNIT[,...], SCHEME@UNIT[,parts=N] or original: also compute every product "
      "of this precision in this configuration, and compare",
      OPTION(run, against, TEXT, "WAY") },
    { "audit",
      "audit the FP32 calls: values, bits retained by splits, errors of the results, and "
      "recipes that are accurate enough",
      OPTION(run, audit, FLAG, NULL) },
    { "sample",
      "percent of the run time that --audit may take beyond the first call of each call "
      "site (default 10), or all: every call",
      OPTION(run, sample, TEXT, "P") },
    { "want", "--audit: required relative error (default 1e-6)",
      OPTION(run, want, TEXT, "X") },
    { "least",
      "leave calls with fewer than N multiplications to the program's library (default "
      "0: none)",
      OPTION(run, least, TEXT, "N") },
    { "native", "report call sites in native code, even for Python programs",
      OPTION(run, native, FLAG, NULL) },
    { "folder", "existing folder in which to keep the logs of the processes",
      OPTION(run, folder, TEXT, "DIR") },
    { "read",
      "run nothing; report the logs in DIR, written with --folder or with the "
      "environment variables of the manual",
      OPTION(run, read, TEXT, "DIR") },
    { 0 }
};

/* --- settings of the program ------------------------------------------------------ */

enum { VARIABLES_MAX = 16 };

/* Set environment variables in this process, for the program. */
static bool tell(enum setting_of which, const char *value)
{
    return setenv(settings[which].name, value, 1) == 0;
}

static int fail_memory(void)
{
    const struct fault f = { .status = BITCUT_NO_MEMORY, .text = "not enough memory" };
    return fail("run", &f);
}

/* Without --unit: the unit of the kernel that the device of --device has for large
   products. */
static int find_unit(struct run_options *o)
{
    enum { LARGE = 1024 };
    struct recorder r;
    struct setup s = { .options = &o->setup };
    struct gpu_work w;
    struct fault f;
    int status = setup_open_gemm(&s, o->setup.recipe);
    if (status == EXIT_GOOD) status = device_open(&r, o->device, "run");
    if (status != EXIT_GOOD) return status;
    s.gemm.m = s.gemm.n = s.gemm.k = LARGE;
    const bool found =
        gpu_work_choose(&w, &r.gpu, &r.device, &s.gemm, &f) == BITCUT_OK;
    recorder_close(&r);
    if (!found) return fail("--device", &f);
    o->setup.unit = w.gemm.unit->name;
    return EXIT_GOOD;
}

/* The options that --scheme can be combined with. */
static const char *const taken_with_scheme[] = { "scheme",  "parts",   "unit",   "rule",
                                                 "against", "least",   "native", "folder",
                                                 "json",    "threads", "o",      NULL };

/* The configuration of --recipe or --scheme, and --unit. */
static int write_way_field(struct run_options *o, const struct context *x)
{
    struct setup s = { .options = &o->setup };
    char line[CONFIGURATION_LINE_MAX];
    int parts, status = fp64_check(&o->fp64);
    if (o->fp64.scheme) {
        status = fp64_check_options(x, taken_with_scheme, "--scheme");
        if (status == EXIT_GOOD)
            status = fp64_choose(&s.gemm, &parts, &o->fp64, o->setup.unit);
        if (status != EXIT_GOOD) return status;
        configuration_line_write(line, &s.gemm);
        return tell(SETTING_CONFIGURATION, line) ? EXIT_GOOD : fail_memory();
    }
    if (status != EXIT_GOOD) return status;
    if (o->setup.recipe && !o->setup.unit && !device_is_emulator(o->device))
        status = find_unit(o);
    if (status == EXIT_GOOD) status = setup_gemm(&s);
    if (status != EXIT_GOOD) return status;
    configuration_line_write(line, &s.gemm);
    return tell(SETTING_CONFIGURATION, line) ? EXIT_GOOD : fail_memory();
}

/* Only FP32 products are audited. */
static int check_audit(const struct run_options *o,
                       const struct run_configuration *configuration)
{
    if (!o->audit || run_configuration_fits(configuration, PRECISION_F32))
        return EXIT_GOOD;
    return complain("--audit",
                    "audits FP32 products; it cannot be combined with a scheme");
}

static int write_rules_field(const struct run_options *o)
{
    const struct option_texts *const rules = &o->rules;
    static char list[OPTION_TEXTS_MAX * 1024];
    for (int i = 0; i < rules->count; i++) {
        struct run_rule rule;
        struct fault f;
        if (run_rule_read(&rule, rules->text[i], &f) != BITCUT_OK)
            return fail("--rule", &f);
        const int status = check_audit(o, &rule.configuration);
        if (status != EXIT_GOOD) return status;
        text_add(list, sizeof list, "%s=%s\n", rule.pattern, rule.configuration.line);
    }
    return !*list || tell(SETTING_RULES, list) ? EXIT_GOOD : fail_memory();
}

static int write_against_field(const struct run_options *o)
{
    struct run_configuration configuration;
    struct fault f;
    if (!o->against) return EXIT_GOOD;
    if (run_configuration_read(&configuration, o->against, &f) != BITCUT_OK)
        return fail("--against", &f);
    const int status = check_audit(o, &configuration);
    if (status != EXIT_GOOD) return status;
    return tell(SETTING_AGAINST, configuration.line) ? EXIT_GOOD : fail_memory();
}

static int write_audit_field(const struct run_options *o)
{
    static struct run_settings s;
    struct fault f;
    uint32_t number;
    if (!o->audit && (o->sample || o->want))
        return complain(o->sample ? "--sample" : "--want", "requires --audit");
    if (o->want && !decimal_read(&number, o->want))
        return complain("--want", "requires a number such as 1e-6");
    if (o->want && !(value_of_float(number) > 0))
        return complain("--want", "must be greater than 0");
    if (!o->audit) return EXIT_GOOD;
    if (settings[SETTING_AUDIT].take(&s, o->sample ? o->sample : "10", &f) != BITCUT_OK)
        return fail("--sample", &f);
    return tell(SETTING_AUDIT, o->sample ? o->sample : "10") ? EXIT_GOOD : fail_memory();
}

static int write_least_field(const char *least)
{
    static struct run_settings s;
    struct fault f;
    if (!least) return EXIT_GOOD;
    if (settings[SETTING_MIN].take(&s, least, &f) != BITCUT_OK)
        return fail("--least", &f);
    return tell(SETTING_MIN, least) ? EXIT_GOOD : fail_memory();
}

/* Whether the device, which is the CPU, has a kernel for the configuration of --recipe.
 */
static int check_own_device(const struct run_options *o)
{
    struct recorder r;
    struct setup s = { .options = &o->setup };
    struct gpu_work w;
    struct fault f;
    int status = device_open(&r, o->device, "run");
    if (status != EXIT_GOOD) return status;
    if (o->setup.recipe) status = setup_gemm(&s);
    s.gemm.m = s.gemm.n = s.gemm.k = 1;
    if (status == EXIT_GOOD && o->setup.recipe &&
        gpu_work_choose(&w, &r.gpu, &r.device, &s.gemm, &f) != BITCUT_OK)
        status = fail("--device", &f);
    recorder_close(&r);
    return status;
}

/* Whether the device can be opened here, and emulates. */
static int check_emulating_device(struct context *x, const char *device)
{
    static struct emulating_device d;
    const int status = emulating_device_open(&d, x, device, "run");
    emulating_device_close(&d, x);
    return status;
}

/* Set the device, if it can be opened here, and the folder of its module for the program.
 */
static int write_device_field(const char *library, struct context *x,
                              const struct run_options *o)
{
    char modules[PLACE_MAX];
    if (device_is_emulator(o->device)) return EXIT_GOOD;
    if (!o->setup.recipe && !o->setup.unit && !o->rules.count && !o->against)
        return complain("--device", "requires --recipe, --rule or --against");
    const int status = device_is_host(o->device) ? check_own_device(o)
                                                 : check_emulating_device(x, o->device);
    if (status != EXIT_GOOD) return status;
    snprintf(modules, sizeof modules, "%.*s", (int)(strrchr(library, '/') - library),
             library);
    return tell(SETTING_DEVICE, o->device) && setenv("BITCUT_MODULES", modules, 1) == 0
               ? EXIT_GOOD
               : fail_memory();
}

/* Put the library before libraries that are preloaded already. */
static int preload(const char *library)
{
    char list[2 * PLACE_MAX];
    const char *const before = secure_getenv("LD_PRELOAD");
    struct fault f;
    if (strpbrk(library, " :")) {
        fault_set(&f, BITCUT_UNSUPPORTED,
                  "the loader does not accept a path with a blank or a colon");
        return fail(library, &f);
    }
    const int n = snprintf(list, sizeof list, "%s%s%s", library,
                           before && *before ? ":" : "", before ? before : "");
    if (n < 0 || n >= (int)sizeof list) return complain("LD_PRELOAD", "is too long");
    return setenv("LD_PRELOAD", list, 1) == 0 ? EXIT_GOOD : fail_memory();
}

/* Remove the settings of an enclosing run. */
static void forget_settings(void)
{
    char name[SETTING_NAME_MAX];
    for (const struct setting *row = settings; row->name; row++) unsetenv(row->name);
    while (run_setting_unknown(name)) unsetenv(name);
}

static int write_all_field(const char *folder, const char *library, struct context *x)
{
    struct run_options o = *(const struct run_options *)x->own;
    char threads[16];
    forget_settings();
    int status = write_audit_field(&o);
    if (status != EXIT_GOOD) return status;
    if (o.setup.recipe || o.setup.unit || o.fp64.scheme || o.fp64.parts != SETUP_UNSET)
        status = write_way_field(&o, x);
    else if (!o.rules.count && !o.against && !o.audit)
        status = complain("run", "requires --recipe or --scheme with --unit, --rule, "
                                 "--against or --audit");
    if (status == EXIT_GOOD) status = write_rules_field(&o);
    if (status == EXIT_GOOD) status = write_against_field(&o);
    if (status == EXIT_GOOD) status = write_least_field(o.least);
    if (status == EXIT_GOOD) status = write_device_field(library, x, &o);
    snprintf(threads, sizeof threads, "%d", x->threads);
    if (status == EXIT_GOOD &&
        !(tell(SETTING_THREADS, threads) && tell(SETTING_FOLDER, folder) &&
          (!o.native || tell(SETTING_SITES, "native")) &&
          (!o.setup.order || tell(SETTING_ORDER, "kept"))))
        status = fail_memory();
    return status == EXIT_GOOD ? preload(library) : status;
}

/* --- a run ------------------------------------------------------------------------ */

/* Everything except options: paths. */
struct run {
    char program[PROGRAM_PATH_MAX], library[PLACE_MAX], folder[PLACE_MAX];
    bool own_folder;
    struct output output; /* of -o */
    bool writes;
};

static int find_library(struct run *r)
{
    char modules[PLACE_MAX];
    struct fault f;
    const int n = snprintf(r->library, sizeof r->library, "%s/bitcut-run.so",
                           place_module(modules));
    if (n < 0 || n >= (int)sizeof r->library)
        return complain("BITCUT_MODULES", "is too long");
    if (access(r->library, R_OK) != 0) {
        fault_set(&f, BITCUT_UNSUPPORTED,
                  "%s (the library of bitcut run; BITCUT_MODULES sets its folder)",
                  strerror(errno));
        return fail(r->library, &f);
    }
    if (*r->library == '/') return EXIT_GOOD;
    /* An absolute path: the program may change its folder. */
    char *const whole = realpath(r->library, NULL);
    if (!whole || strlen(whole) >= sizeof r->library) return free(whole), fail_memory();
    strcpy(r->library, whole);
    free(whole);
    return EXIT_GOOD;
}

/* Check the folder of --folder: it must not have logs of another run, which would be
   added up. */
static int find_asked_folder(struct run *r, const char *folder)
{
    struct stat status;
    struct fault f;
    char *const whole = realpath(folder, NULL);
    const char *why = NULL;
    if (!whole || stat(whole, &status) != 0) why = strerror(errno);
    else if (!S_ISDIR(status.st_mode)) why = strerror(ENOTDIR);
    else if (access(whole, R_OK | W_OK | X_OK) != 0) why = strerror(errno);
    else if (strlen(whole) >= sizeof r->folder) why = strerror(ENAMETOOLONG);
    else if (run_folder_has_call_log(whole))
        why =
            "the folder has the logs of another run (see --read); choose an empty folder";
    else strcpy(r->folder, whole);
    free(whole);
    if (!why) return EXIT_GOOD;
    fault_set(&f, BITCUT_UNSUPPORTED, "%.*s: %s", text_fit(folder, 200), folder, why);
    return fail("--folder", &f);
}

/* Make a temporary folder. */
static int make_folder(struct run *r)
{
    struct fault f;
    const char *const named = secure_getenv("TMPDIR");
    const char *const temporary = named && *named == '/' ? named : "/tmp";
    const int n =
        snprintf(r->folder, sizeof r->folder, "%s/bitcut-run-XXXXXX", temporary);
    r->own_folder = n >= 0 && n < (int)sizeof r->folder && mkdtemp(r->folder);
    if (r->own_folder) return EXIT_GOOD;
    fault_set(
        &f, BITCUT_UNSUPPORTED,
        "cannot create a folder: %s (TMPDIR sets another parent folder, --folder another "
        "folder)",
        strerror(errno));
    return fail(temporary, &f);
}

static int find_folder(struct run *r, const struct run_options *o)
{
    return o->folder ? find_asked_folder(r, o->folder) : make_folder(r);
}

static int find_output(struct run *r, const struct context *x)
{
    struct fault f;
    if (!x->output) return EXIT_GOOD;
    if (output_open(&r->output, x->output, &f) != BITCUT_OK) return fail(x->output, &f);
    r->writes = true;
    return EXIT_GOOD;
}

/* The program's own exit status, or that of a failure. */
static int find_program(struct run *r, const struct context *x)
{
    struct fault f;
    if (!x->program || !*x->program) {
        complain(
            "run",
            "requires a program: bitcut run --recipe R --unit U -- PROGRAM ARGUMENTS");
        return PROGRAM_OWN_FAILURE;
    }
    int status = program_find(r->program, *x->program, &f);
    if (!status) status = program_check(r->program, r->library, &f);
    if (status) fail("run", &f);
    return status;
}

/* Report rules that match no call site: a wrong pattern would have no effect, without a
   message. */
static void write_idle_rules_field(const struct run_total *t,
                                   const struct option_texts *rules)
{
    for (int i = 0; i < rules->count && t->sites; i++) {
        struct run_rule rule;
        bool fits = run_rule_read(&rule, rules->text[i], NULL) != BITCUT_OK;
        for (size_t p = 0; p < t->sites && !fits; p++)
            fits = run_rule_fits(&rule, t->site[p]->where);
        if (fits) continue;
        struct fault f;
        fault_set(&f, BITCUT_UNSUPPORTED,
                  "no call site matches %.*s; a pattern must match the whole call site, "
                  "or the part after its last /; did you mean '*%.*s*'?",
                  text_fit(rule.pattern, 100), rule.pattern, text_fit(rule.pattern, 100),
                  rule.pattern);
        fail("--rule", &f);
    }
}

/* Describe the run.  Standard output belongs to the program, so this goes to standard
   error. */
static int print_total(struct run *r, const char *folder, double elapsed,
                       struct context *x)
{
    static struct run_total total;
    const struct run_options *const o = x->own;
    struct fault f;
    if (run_total_read(&total, folder, &f) != BITCUT_OK) {
        fail(folder, &f);
        return PROGRAM_OWN_FAILURE;
    }
    if (!o->read) {
        fflush(stdout);
        if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) x->emitter.broken = true;
    }
    const struct run_description told = { .total = &total,
                                          .program = o->read ? NULL : r->program,
                                          .elapsed = elapsed,
                                          .folder = total.sum->watched ? folder : NULL,
                                          .want = o->want,
                                          .file = r->writes ? r->output.file : NULL };
    run_describe(&told, x);
    if (!x->emitter.json) write_idle_rules_field(&total, &o->rules);
    run_total_clear(&total);
    if (!r->writes) return EXIT_GOOD;
    r->writes = false;
    if (output_commit(&r->output, &f) == BITCUT_OK) return EXIT_GOOD;
    fail(x->output, &f);
    return PROGRAM_OWN_FAILURE;
}

static int start_and_tell(struct run *r, struct context *x)
{
    struct fault f;
    bool failed;
    terminal_label(NULL);
    const double began = seconds_now();
    const int status = program_run(&failed, r->program, x->program, environ, &f);
    if (failed) {
        fail("run", &f);
        return status;
    }
    /* The reader of standard error may have closed it; the folder is removed
       nevertheless. */
    signal(SIGPIPE, SIG_IGN);
    const int told = print_total(r, r->folder, seconds_now() - began, x);
    return told == EXIT_GOOD ? status : told;
}

static int run_program(struct run *r, struct context *x)
{
    int status = find_library(r) == EXIT_GOOD ? 0 : PROGRAM_OWN_FAILURE;
    if (!status) status = find_program(r, x);
    if (!status &&
        (find_folder(r, x->own) != EXIT_GOOD || find_output(r, x) != EXIT_GOOD ||
         write_all_field(r->folder, r->library, x) != EXIT_GOOD))
        status = PROGRAM_OWN_FAILURE;
    if (!status) status = start_and_tell(r, x);
    if (r->writes) output_abandon(&r->output);
    if (r->own_folder) run_folder_remove(r->folder);
    return status;
}

/* The option given with --read that has no effect there; NULL: none. */
static const char *idle_option(const struct context *x)
{
    const struct option_row *own = options;
    for (; own->name; own++) {
        const struct option_row *row = x->options;
        while (strcmp(row->name, own->name) != 0) row++;
        if (x->given[row - x->options] && strcmp(row->name, "read") != 0 &&
            strcmp(row->name, "want") != 0)
            return own->name;
    }
    return NULL;
}

static int check_reading(const struct context *x)
{
    char option[64];
    const char *const idle = idle_option(x);
    if (x->program) return complain("--read", "cannot be combined with a program");
    if (!idle) return EXIT_GOOD;
    snprintf(option, sizeof option, "--%s", idle);
    return complain(option, "cannot be combined with --read");
}

static int run(struct context *x)
{
    const struct run_options *const o = x->own;
    struct run r = { .own_folder = false };
    if (!o->read) return run_program(&r, x);
    if (check_reading(x) != EXIT_GOOD) return PROGRAM_OWN_FAILURE;
    int status = find_output(&r, x) == EXIT_GOOD ? 0 : PROGRAM_OWN_FAILURE;
    if (!status) status = print_total(&r, o->read, 0, x);
    if (r.writes) output_abandon(&r.output);
    return status;
}

const struct command command_run = {
    .name = "run",
    .what = "Run a program with its FP32 or FP64 products computed as on another machine",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "-- PROGRAM ARGUMENTS",
    .output = "also write the report to this file, as JSON Lines",
    .failure = PROGRAM_OWN_FAILURE,
    .task = TASK_COMPUTE,
    .examples = {
        { "Run a program with its FP32 products computed as on an H100",
          "bitcut run --recipe ootomo --unit h100 -- python3 train.py" },
        { "Find which products of a program need FP32",
          "bitcut run --audit -o audit.jsonl -- python3 train.py" },
    },
};
