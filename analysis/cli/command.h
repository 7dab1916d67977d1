/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of the program, and the options that all of them share. */
#ifndef BITCUT_ANALYSIS_CLI_COMMAND_H
#define BITCUT_ANALYSIS_CLI_COMMAND_H

#include "analysis/cli/emit.h"
#include "analysis/cli/message.h"
#include "analysis/cli/option.h"
#include "emu/gemm.h"
#include "lib/base/progress.h"
#include "lib/base/table.h"
#include "lib/io/json_value.h"

enum { OPERANDS_MAX = 1024 };

/* The command line, except a command's own options. */
struct context {
    struct emitter emitter; /* standard output: text, or JSON Lines with --json    */
    int threads;            /* --threads, 0: all processors                        */
    uint64_t seed;          /* --seed                                              */
    const char *output;     /* argument of -o, or NULL */
    char *const *program;   /* the words after "--" of a command that starts a program,
                               ended by NULL; NULL: there is no "--" */
    struct progress progress;
    /* the device of --device as an offload, or NULL */
    const struct gemm_offload *offload;
    const char *const *operands;
    int operand_count;
    const void *own;                  /* the command's options after reading */
    const struct option_row *options; /* all options of the command */
    const bool *given;                /* options[i] was on the command line       */
    char *command_line;               /* for reports: the command line without -o */
};

/* Options for computations of the command. */
static inline struct gemm_options context_options(const struct context *x)
{
    return (struct gemm_options){ .threads = x->threads,
                                  .progress = &x->progress,
                                  .offload = x->offload };
}

/* The tasks of users, in the order of the help text. */
enum command_task {
    TASK_VALIDATE,
    TASK_ROUNDING,
    TASK_COMPUTE,
    TASK_CHOOSE,
    TASK_REPORT,
    TASK_RECORD,
    TASK_NAMES
};

/* An example command line and its description.  The files a.npy, b.npy and d.npy are
   written by the first example of gemm; data/ is the project's folder of recorded data.
 */
struct example {
    const char *what, *line;
};

enum { EXAMPLES = 3 };

/* A row of the command table.  `own` points to the command's options; the shared options
   (--json, --threads, --seed, --help) are read as well. */
struct command {
    const char *name, *what;
    int (*run)(struct context *context);
    const struct option_row *own;
    size_t own_size;      /* bytes of their struct; 0: there is none          */
    const void *defaults; /* the defaults of that struct; NULL: all zeros */
    const char *operands; /* operands in the usage line; "": there are none */
    int operands_most;
    const char *operand_table; /* tables of `bitcut list` for the operands; "": the
                                  operands are names of tables; NULL: the operands are
                                  files, or the words in `operands`, or there are none */
    const char *output; /* the meaning of -o; NULL: there is no -o, and everything goes to
                           standard output */
    int failure; /* for a command that starts the program after "--" and ends with the
                    program's status: the command's own exit status in place of EXIT_USAGE
                    and EXIT_CANNOT; otherwise 0 */
    enum command_task task; /* the heading under which help lists it */
    bool first;        /* shown by the program without arguments */
    const char *notes; /* a paragraph of help about the meaning of results; NULL: none */
    struct example examples[EXAMPLES];
};

extern const struct command command_list, command_mma, command_replay, command_split,
    command_probe, command_gemm, command_verify, command_study, command_report,
    command_bench, command_record, command_fit, command_tile, command_explain,
    command_tolerance, command_bound, command_advise, command_run, command_convert,
    command_mufu, command_predict, command_attention;

#endif
