/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of the program, and what the command line says to all of them. */
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

/* What the command line said besides a command's own options. */
struct context {
    struct emitter emitter; /* standard output: text, or JSON Lines with --json    */
    int threads;            /* --threads, 0: all processors                        */
    uint64_t seed;          /* --seed                                              */
    const char *output;     /* -o of a command that has it, or NULL                */
    char *const *program; /* what comes after "--" of a command that starts one, ended by
                             NULL; NULL: there is no "--"                            */
    struct progress progress;
    const struct gemm_offload *offload; /* of --device, where it is for that; NULL */
    const char *const *operands;
    int operand_count;
    const void *own;                  /* the command's options, as they were read */
    const struct option_row *options; /* all that the command has                 */
    const bool *given;                /* options[i] was on the command line       */
    char *command_line; /* for reports: the command as it was given, without -o */
};

/* How the command computes. */
static inline struct gemm_options context_options(const struct context *x)
{
    return (struct gemm_options){ .threads = x->threads,
                                  .progress = &x->progress,
                                  .offload = x->offload };
}

/* What people want of the program, in the order that help lists it in. */
enum command_task {
    TASK_VALIDATE,
    TASK_ROUNDING,
    TASK_COMPUTE,
    TASK_CHOOSE,
    TASK_REPORT,
    TASK_RECORD,
    TASK_NAMES
};

/* What a command line does, and that line.  Files a.npy, b.npy and d.npy are those that the
   first example of gemm writes; data/ is the project's folder of recorded data. */
struct example {
    const char *what, *line;
};

enum { EXAMPLES = 2 };

/* A row of the command table.  `own` are the command's options; the shared ones (--json,
   --threads, --seed, --help) are read as well. */
struct command {
    const char *name, *what;
    int (*run)(struct context *context);
    const struct option_row *own;
    size_t own_size;      /* bytes of their struct; 0: there is none          */
    const void *defaults; /* that struct without any option; NULL: all zeros  */
    const char *operands; /* how operands look in the usage line, "" if there are none */
    int operands_most;
    const char *operand_table; /* `bitcut list` of what operands name, "" if they name
                                  tables; NULL: they are files, or the words in
                                  `operands`, or there are none */
    const char
        *output; /* what -o names; NULL: there is no -o, all goes to standard output */
    int failure; /* of a command that starts a program, which comes after "--", and ends
                    as that does: its own exit status where others have EXIT_USAGE or
                    EXIT_CANNOT; else 0 */
    enum command_task task; /* under which help lists it */
    bool first;             /* one of those that the program shows without arguments */
    const char *notes;      /* what its results mean, a paragraph of help; NULL: none */
    struct example examples[EXAMPLES];
};

extern const struct command command_list, command_mma, command_replay, command_split,
    command_probe, command_gemm, command_verify, command_study, command_report,
    command_bench, command_record, command_fit, command_tile, command_explain,
    command_tolerance, command_bound, command_advise, command_run, command_convert;

#endif
