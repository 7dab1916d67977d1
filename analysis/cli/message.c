/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* flockfile() */

#include "analysis/cli/message.h"

#include "analysis/cli/command.h"
#include "analysis/cli/default_options.h"
#include "analysis/cli/terminal.h"
#include "emu/unit.h"
#include "lib/base/text.h"
#include "lib/io/output.h"

#include <stdio.h>

/* stderr's lock is also theirs. */
static bool told;          /* the command printed a message, or that it was stopped */
static struct fault *kept; /* where messages are stored instead of being printed */

struct fault *message_keep(struct fault *to)
{
    flockfile(stderr);
    struct fault *const before = kept;
    kept = to;
    funlockfile(stderr);
    return before;
}

/* Print "bitcut: WHAT", `between`, and `text`, or store it.  If an option was not on the
   command line, the text begins with the variable or file that set it. */
static void print_message(const char *what, const char *between, enum bitcut_status status,
                          const char *text)
{
    const char *const source = default_options_source(what);
    char whose[160];
    if (source) {
        snprintf(whose, sizeof whose, "%.*s: %s", text_fit(source, 120), source, what);
        what = whose;
    }
    flockfile(stderr);
    if (kept) {
        fault_set(kept, status, "%s%s%s", what, between, text);
    } else {
        told |= terminal_stopped();
        terminal_label(NULL);
        text_print(stderr, "bitcut: %s%s%s\n", what, between, text);
        fflush(stderr);
    }
    funlockfile(stderr);
}

int fail(const char *what, const struct fault *f)
{
    print_message(what ? what : "", what ? ": " : "", f->status, f->text);
    return f->status == BITCUT_BAD_ARGUMENT ? EXIT_USAGE : EXIT_CANNOT;
}

int fail_about(const char *otherwise, const struct fault *f)
{
    char option[40];
    if (!f->about) return fail(otherwise, f);
    snprintf(option, sizeof option, f->about[1] ? "--%s" : "-%s", f->about);
    return fail(option, f);
}

void fail_stopped(const char *command)
{
    static const struct fault stopped = { BITCUT_UNSUPPORTED, "stopped", NULL };
    flockfile(stderr);
    kept = NULL; /* the program ends: a stored message would not be printed */
    if (!told) fail(command, &stopped);
    funlockfile(stderr);
}

int complain(const char *what, const char *why)
{
    print_message(what, " ", BITCUT_BAD_ARGUMENT, why);
    return EXIT_USAGE;
}

void warn_renamed(const char *what, const char *was, const char *name)
{
    static const char *printed; /* one old name per run is enough: more are rare */
    if (printed == was) return;
    printed = was;
    flockfile(stderr);
    terminal_label(NULL);
    text_print(stderr,
               "bitcut: %s: %s is now %s; this version still reads the old name\n", what,
               was, name);
    funlockfile(stderr);
}

int check_use(const struct context *x, const struct option_use *uses, unsigned use)
{
    const struct option_use *row = option_misused(x->given, x->options, uses, use);
    char option[64];
    if (!row) return EXIT_GOOD;
    snprintf(option, sizeof option, "%s%s", row->name[1] ? "--" : "-", row->name);
    return complain(option, row->otherwise);
}

int check_distinct_files(const struct used_file *files)
{
    for (const struct used_file *a = files; a->option; a++) {
        for (const struct used_file *b = files; a->path && b->option; b++) {
            struct fault f;
            if (a == b || !a->written || !b->path || !output_same(a->path, b->path))
                continue;
            fault_set(&f, BITCUT_BAD_ARGUMENT,
                      "%s and %s name the same file; choose another file for %s",
                      b->option, a->option, a->option);
            return fail(a->path, &f);
        }
    }
    return EXIT_GOOD;
}

int check_files(const struct used_file *files)
{
    const int status = check_distinct_files(files);
    for (const struct used_file *x = files; status == EXIT_GOOD && x->option; x++) {
        struct fault f;
        if (x->written && x->path && output_check(x->path, &f) != BITCUT_OK)
            return fail(x->path, &f);
    }
    return status;
}

int fail_unknown(const char *option, const char *name, struct table table)
{
    struct fault f;
    char hint[TABLE_HINT_MAX];
    table_hint(hint, table, name);
    fault_set(&f, BITCUT_BAD_ARGUMENT, "unknown name \"%.*s\"%s", text_fit(name, 60),
              name, *hint ? hint : "; see bitcut list");
    return fail(option, &f);
}

int fail_input(const char *option, const char *list, const struct fault *f)
{
    struct fault more;
    fault_set(&more, f->status, "%s (see bitcut list %s)", f->text, list);
    return fail(option, &more);
}

int fail_unit(const char *name, bool takes_chips)
{
    struct fault f;
    char names[160];
    const int length = text_fit(name, 60);
    const struct chip *chip = table_find(TABLE(chips), name);
    table_near(names, sizeof names, TABLE(chips), name);
    if (takes_chips && *names) return fail_unknown("--unit", name, TABLE(chips));
    table_near(names, sizeof names, TABLE(units), name);
    if (!chip && *names) return fail_unknown("--unit", name, TABLE(units));
    if (chip)
        fault_set(
            &f, BITCUT_BAD_ARGUMENT,
            "%s is a chip; name one of its instructions, %s/... in bitcut list units",
            name, chip->architecture);
    else if (takes_chips)
        fault_set(
            &f, BITCUT_BAD_ARGUMENT,
            "unknown unit or chip \"%.*s\"; see bitcut list chips and bitcut list units",
            length, name);
    else
        fault_set(&f, BITCUT_BAD_ARGUMENT, "unknown unit \"%.*s\"; see bitcut list units",
                  length, name);
    return fail("--unit", &f);
}
