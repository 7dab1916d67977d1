/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: a table of commands and the options they share. */
#define _GNU_SOURCE /* O_PATH */

#include "analysis/cli/command.h"
#include "analysis/cli/default_options.h"
#include "analysis/cli/guard.h"
#include "analysis/cli/probe_command.h"
#include "analysis/cli/reference.h"
#include "analysis/cli/screen.h"
#include "analysis/cli/terminal.h"
#include "lib/base/threads.h"
#include "lib/io/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_list,
    &command_mma,
    &command_mufu,
    &command_replay,
    &command_record,
    &command_probe,
    &command_fit,
    &command_split,
    &command_convert,
    &command_gemm,
    &command_attention,
    &command_bound,
    &command_verify,
    &command_explain,
    &command_study,
    &command_report,
    &command_bench,
    &command_tile,
    &command_tolerance,
    &command_advise,
    &command_predict,
    &command_run,
    NULL,
};

static const char *const tasks[] = {
    [TASK_VALIDATE] = "Validate a kernel",
    [TASK_ROUNDING] = "Study rounding",
    [TASK_COMPUTE] = "Compute as a matrix unit does",
    [TASK_CHOOSE] = "Choose a recipe, a kernel or a tile",
    [TASK_REPORT] = "Write a report",
    [TASK_RECORD] = "Record a GPU and model its unit",
    [TASK_NAMES] = "Look up names",
};

static struct context context = { .seed = 1 };
static bool help;
static const struct fault no_memory = { .status = BITCUT_NO_MEMORY,
                                        .text = "not enough memory" };
static const char *command_name;

static const struct option_row shared_options[] = {
    { "json", "print JSON Lines only on standard output", .kind = OPTION_FLAG,
      .value = &context.emitter.json },
    { "seed", "seed of all random numbers (default 1)", .kind = OPTION_SEED,
      .value = &context.seed, .argument = "N", .has_default = true },
    { "threads", "number of threads (default 0: all processors)", .kind = OPTION_INT,
      .value = &context.threads, .argument = "N", .has_default = true },
    { "help", "print this and exit", .kind = OPTION_FLAG, .value = &help },
    { "h", "the same as --help", .kind = OPTION_FLAG, .value = &help },
    { 0 }
};

enum {
    SHARED = sizeof shared_options / sizeof shared_options[0] - 1,
    GIVEN_THREADS_MAX = 1024
};

/* The option -o; it has no name if the command has none. */
static struct option_row output_option(const struct command *c)
{
    struct option_row row = reference_output(c);
    row.value = &context.output;
    return row;
}

static void print_paragraph(const char *text)
{
    screen_wrap(screen_columns(SCREEN_TYPICAL), 0, 0, text, SCREEN_NEUTRAL);
}

/* The commands by task: all, or the first ones. */
static void print_commands(bool all)
{
    enum { NAME_WIDTH = 10 };
    for (size_t task = 0; task < sizeof tasks / sizeof *tasks; task++) {
        bool begun = false;
        for (const struct command *const *c = commands; *c; c++) {
            if ((*c)->task != task || !(all || (*c)->first)) continue;
            if (!begun) printf("\n%s:\n", tasks[task]);
            begun = true;
            options_print_line((*c)->name, NAME_WIDTH, (*c)->what);
        }
    }
}

static void print_usage(bool all)
{
    printf("Usage: bitcut COMMAND [options]\n");
    print_paragraph("Bit-exact models of GPU matrix units, FP32 GEMM recipes on them, exact "
                    "references and error analysis.");
    print_commands(all);
    putchar('\n');
}

/* The text without a command. */
static int print_overview(void)
{
    print_usage(false);
    print_paragraph(
        "`bitcut --help` lists all commands, `bitcut COMMAND --help` the options of a "
        "command.");
    return EXIT_GOOD;
}

static int print_help(void)
{
    print_usage(true);
    print_paragraph("`bitcut COMMAND --help` lists the options of a command.");
    printf("\nOptions of every command:\n");
    options_print(shared_options);
    options_print_line("--version", OPTION_WIDTH, "print the version and exit");
    putchar('\n');
    print_paragraph("Default options, such as \"--recipe ootomo --unit h100 --threads 4\", are "
                    "read from the environment variable BITCUT_DEFAULTS, or else from the "
                    "file ~/.config/bitcut/defaults.");
    putchar('\n');
    print_paragraph("Exit status: 0 good, 1 a comparison or bound failed, 2 usage, "
                    "3 cannot run, 130 Ctrl-C.");
    return EXIT_GOOD;
}

static void print_examples(const struct example *e)
{
    printf("\nExamples:\n");
    for (int i = 0; i < EXAMPLES && e[i].line; i++) {
        printf("  %s:\n    ", e[i].what);
        screen_wrap(screen_columns(SCREEN_TYPICAL), 4, 4, e[i].line, SCREEN_NEUTRAL);
    }
}

static int print_command_help(const struct command *c)
{
    char what[256];
    printf("Usage: bitcut %s [options]%s%s\n", c->name, *c->operands ? " " : "",
           c->operands);
    snprintf(what, sizeof what, "%s.", c->what);
    print_paragraph(what);
    putchar('\n');
    options_print(c->own);
    options_print((const struct option_row[]){ output_option(c), { 0 } });
    options_print(shared_options);
    if (c->notes) {
        putchar('\n');
        print_paragraph(c->notes);
    }
    print_examples(c->examples);
    return EXIT_GOOD;
}

/* --- running a command ------------------------------------------------------------ */

/* The status of a command, or `failure` if its output cannot be written.  A command that
   failed has printed why. */
static int finish(int status, int failure)
{
    terminal_label(NULL);
    context.emitter.failed = status == EXIT_FOUND;
    const int error = emit_end(&context.emitter);
    if (error) {
        struct fault f;
        fault_set(&f, BITCUT_UNSUPPORTED, "%s", strerror(error));
        if (status <= EXIT_FOUND) fail("standard output", &f);
        return failure;
    }
    return status;
}

/* Called if the command did not end when it was asked to.  Output printed so far stays,
   including rows that wait for a table, and no incomplete file is left. */
static void give_up(void)
{
    flockfile(stderr);
    fail_stopped(command_name);
    emit_end(&context.emitter);
    probe_command_abandon();
    output_sweep();
    _exit(terminal_status(EXIT_CANNOT));
}

/* The index of "--", which precedes a program and its arguments; argc: there is none. */
static int program_at(int argc, char **argv)
{
    int i = 1;
    while (i < argc && strcmp(argv[i], "--") != 0) i++;
    return i;
}

static int misread(const struct command *c, bool program_missing, struct fault *f)
{
    if (program_missing)
        fault_set(f, f->status, "%s (the program comes after --)", f->text);
    return fail(c->name, f);
}

/* Read the command line into `context` and `own`, the command's struct of options. */
static int read_words(const struct command *c, void *own,
                      struct option_row rows[OPTIONS_MAX], bool given[OPTIONS_MAX],
                      int argc, char **argv)
{
    static const char *operands[OPERANDS_MAX];
    const char *const *words = (const char *const *)argv;
    const int end = c->failure ? program_at(argc, argv) : argc;
    const char *defaults[DEFAULT_WORDS_MAX];
    struct fault f;
    int n = 0, more = 0;
    if (!own) return fail(c->name, &no_memory);
    for (; n < SHARED; n++) rows[n] = shared_options[n];
    for (const struct option_row *row = c->own; row->name; row++) {
        assert(n < OPTIONS_MAX - 2);
        rows[n++] = *row;
    }
    rows[n] = output_option(c);
    if (end < argc) context.program = argv + end + 1;
    if (options_read(own, given, operands, &context.operand_count, c->operands_most, rows,
                     end, words, &f))
        return misread(c, c->failure && end == argc, &f);
    if (!help && default_options_apply(own, given, rows, defaults, &more, &f) != BITCUT_OK)
        return fail(NULL, &f);
    if (context.threads < 0 || context.threads > GIVEN_THREADS_MAX)
        return complain("--threads", "must be 0 to 1024");
    threads_limit(context.threads);
    context.operands = operands;
    /* A report is the same wherever it is written, so -o is left out. */
    context.command_line =
        options_join("bitcut", rows, "o", defaults, more, argc, words);
    return context.command_line ? EXIT_GOOD : fail(c->name, &no_memory);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct option_row rows[OPTIONS_MAX] = { 0 };
    bool given[OPTIONS_MAX] = { false };
    void *const own = options_init(c->own_size, c->defaults);
    int status = read_words(c, own, rows, given, argc, argv);
    if (status == EXIT_GOOD && help) return finish(print_command_help(c), EXIT_CANNOT);
    context.own = own;
    context.options = rows;
    context.given = given;
    command_name = context.emitter.schema = c->name;
    if (status == EXIT_GOOD && !terminal_progress(&context.progress, give_up))
        status = fail(c->name, &no_memory);
    if (status != EXIT_GOOD) return c->failure ? c->failure : status;
    terminal_label(c->name);
    status = c->run(&context);
    free(context.command_line);
    free(own);
    return finish(status, c->failure ? c->failure : EXIT_CANNOT);
}

static const struct shell {
    const char *name;
    void (*put)(const struct reference *r);
} shells[] = { { "bash", reference_bash },
               { "fish", reference_fish },
               { "zsh", reference_zsh },
               { 0 } };

/* Options for the build: --make-page [COMMAND], --make-completion SHELL. */
static int write_reference(int argc, char **argv)
{
    const struct reference reference = { commands, shared_options };
    const bool page = !strcmp(argv[1], "--make-page");
    const char *const name = argc > 2 ? argv[2] : page ? NULL : "";
    const struct command *c = name ? table_find(TABLE(commands), name) : NULL;
    const struct shell *s = name ? table_find(TABLE(shells), name) : NULL;
    if (page && name && !c) return fail_unknown("command", name, TABLE(commands));
    if (!page && strcmp(argv[1], "--make-completion") != 0)
        return complain(argv[1], "is not an option");
    if (!page && !s) return fail_unknown("shell", name, TABLE(shells));
    if (page) reference_page(&reference, c);
    else s->put(&reference);
    return EXIT_GOOD;
}

static int run_words(int argc, char **argv)
{
    if (argc < 2) return finish(print_overview(), EXIT_CANNOT);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return finish(print_help(), EXIT_CANNOT);
    if (!strcmp(argv[1], "--version")) {
        printf("bitcut %s\n", bitcut_version());
        return finish(EXIT_GOOD, EXIT_CANNOT);
    }
    if (!strncmp(argv[1], "--make-", 7))
        return finish(write_reference(argc, argv), EXIT_CANNOT);
    const struct command *c = table_find(TABLE(commands), argv[1]);
    return c ? run(c, argc - 1, argv + 1)
             : fail_unknown("command", argv[1], TABLE(commands));
}

/* Standard input, output or error may be closed.  A file of the command would then get
   its number, and output would go into that file.  So the number is occupied, by a
   descriptor that can be neither read nor written and fails as the closed one does;
   messages go to /dev/null.  A program started by the command has it closed, as it was.
 */
static void take_closed_numbers(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) >= 0 || errno != EBADF) continue;
        const int taken =
            i == STDERR_FILENO ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
        if (taken < 0) open("/", O_PATH | O_CLOEXEC);
    }
}

static void end(int status)
{
    guard_end();
    exit(terminal_status(status));
}

struct command_words {
    int argc;
    char **argv;
};

/* It does not return: then OpenMP's threads would end, which takes memory. */
static void *run_in_thread(void *given)
{
    const struct command_words *const words = given;
    end(run_words(words->argc, words->argv));
    return NULL;
}

/* The command runs in a thread whose stack size does not depend on the limit of the
   process. */
int main(int argc, char **argv)
{
    enum { STACK_BYTES = 8 << 20 };
    struct command_words words = { argc, argv };
    pthread_attr_t attributes;
    pthread_t thread;
    take_closed_numbers();
    guard_begin();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&thread, &attributes, run_in_thread, &words))
        end(fail("bitcut", &no_memory));
    pthread_join(thread, NULL);
    return EXIT_CANNOT;
}
