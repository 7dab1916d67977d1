/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/cli/guard.h"

#include "analysis/cli/command.h"
#include "lib/io/output.h"

#include <gmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool running;

static void say(const char *text)
{
    while (*text) {
        const ssize_t n = write(STDERR_FILENO, text, strlen(text));
        if (n <= 0) return;
        text += n;
    }
}

/* Any thread may come here, at any lack of resources.  Only the first one prints, without
   stdio. */
static _Noreturn void end(const char *line)
{
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&ending)) pause();
    if (isatty(STDERR_FILENO)) say("\r\033[K"); /* the line of terminal_label() */
    say(line);
    output_sweep();
    _exit(EXIT_CANNOT);
}

static void exit_early(void)
{
    if (running) end("bitcut: memory or threads: not enough\n");
}

static void *or_end(void *memory)
{
    if (!memory) end("bitcut: memory: not enough\n");
    return memory;
}

static void *allocate(size_t size) { return or_end(malloc(size)); }

static void *reallocate(void *memory, size_t before, size_t size)
{
    (void)before;
    return or_end(realloc(memory, size));
}

static void release(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

void guard_begin(void)
{
    static char messages[BUFSIZ];
    running = true;
    setvbuf(stderr, messages, _IOFBF, sizeof messages);
    mp_set_memory_functions(allocate, reallocate, release);
    json_set_alloc_funcs(allocate, free);
    if (atexit(exit_early)) end("bitcut: memory: not enough\n");
}

void guard_end(void) { running = false; }
