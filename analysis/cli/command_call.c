/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/command_call.h"

#include "lib/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 2000 };

void command_call_add(struct command_call *call, const char *word)
{
    assert(call->words < COMMAND_WORDS_MOST);
    call->word[call->words++] = word;
}

/* With the context of the caller but for what a command line says. */
static int run_words(struct command_call *call, void *own, const struct command *command,
                     const struct context *from)
{
    const char *operands[1];
    bool given[OPTIONS_MOST] = { false };
    struct fault f;
    struct context x = { .threads = from->threads,
                         .seed = from->seed,
                         .progress = from->progress,
                         .operands = operands,
                         .own = own,
                         .options = command->own,
                         .given = given,
                         .command_line = from->command_line };
    if (options_read(own, given, operands, &x.operand_count, 0, command->own, call->words,
                     call->word, &f) != BITCUT_OK)
        return fail(command->name, &f);
    const int status = command->run(&x);
    call->says = emit_says(&x.emitter);
    call->rows = x.emitter.rows ? x.emitter.rows : json_array();
    return status;
}

int command_call_run(struct command_call *call, const struct command *command,
                     const struct context *x)
{
    static const struct fault full = { BITCUT_NO_MEMORY, "not enough memory" };
    struct option_values *const kept = options_keep(command->own);
    void *const own = options_init(command->own_size, command->defaults);
    call->status =
        kept && own ? run_words(call, own, command, x) : fail(command->name, &full);
    if (kept) options_restore(kept, command->own);
    free(own);
    return call->status;
}

/* Whether a shell takes the word as it stands. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_./=,:+@%";
    return *word && !word[strspn(word, plain)];
}

/* In quotes, with those of its own outside of them. */
static void say_quoted(char *line, size_t size, const char *word)
{
    say_more(line, size, "'");
    for (; *word; word++)
        if (*word == '\'') say_more(line, size, "'\\''");
        else say_more(line, size, "%c", *word);
    say_more(line, size, "'");
}

json_t *command_call_line(const struct command_call *call)
{
    char line[LINE_MOST] = "bitcut";
    for (int i = 0; i < call->words; i++) {
        say_more(line, sizeof line, " ");
        if (is_plain(call->word[i])) say_more(line, sizeof line, "%s", call->word[i]);
        else say_quoted(line, sizeof line, call->word[i]);
    }
    return json_text(line);
}

void command_call_clear(struct command_call *call)
{
    json_decref(call->rows);
    json_decref(call->says);
    *call = (struct command_call){ .words = 0 };
}
