/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/run/program.h"

#include "lib/base/text.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- finding ---------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static int missing(const char *name, int error, struct fault *f)
{
    fault_set(f, BITCUT_UNSUPPORTED, "%.*s: %s", text_fit(name, 120), name,
              strerror(error));
    return error == ENOENT || error == ENOTDIR ? PROGRAM_NOT_FOUND : PROGRAM_CANNOT_RUN;
}

/* A name with a '/': a file, or why it cannot be run. */
static int check_file(const char *path, struct fault *f)
{
    struct stat status;
    if (is_program(path)) return 0;
    if (stat(path, &status) != 0) return missing(path, errno, f);
    return missing(path, S_ISDIR(status.st_mode) ? EISDIR : EACCES, f);
}

/* The first folder of PATH that has it.  A file there that cannot be run is reported, if
   no other one can be run. */
static int search(char path[PROGRAM_PATH_MAX], const char *name, struct fault *f)
{
    const char *folders = secure_getenv("PATH");
    bool seen = false;
    if (!folders) folders = "/usr/bin:/bin";
    for (const char *at = folders; *name && at; at = *at ? at + 1 : NULL) {
        const size_t length = strcspn(at, ":");
        const int n = snprintf(path, PROGRAM_PATH_MAX, "%.*s%s%s", (int)length, at,
                               length ? "/" : "", name);
        at += length;
        if (n < 0 || n >= PROGRAM_PATH_MAX) continue;
        if (is_program(path)) return 0;
        seen |= access(path, F_OK) == 0;
    }
    return missing(name, seen ? EACCES : ENOENT, f);
}

int program_find(char path[PROGRAM_PATH_MAX], const char *name, struct fault *f)
{
    if (!strchr(name, '/')) return search(path, name, f);
    if (snprintf(path, PROGRAM_PATH_MAX, "%s", name) >= PROGRAM_PATH_MAX)
        return missing(name, ENAMETOOLONG, f);
    return check_file(path, f);
}

/* --- running ---------------------------------------------------------------------- */

static volatile sig_atomic_t child;   /* its process, 0: there is none yet */
static volatile sig_atomic_t waiting; /* a signal that came before it, or 0 */

static void send_on(int number)
{
    const int error = errno;
    if (child) kill((pid_t)child, number);
    else waiting = number;
    errno = error;
}

/* Signals while the program runs: those of the terminal go to it as well. */
static const struct {
    int number;
    void (*handler)(int);
} signals[] = {
    { SIGINT, SIG_IGN }, { SIGQUIT, SIG_IGN }, { SIGTERM, send_on }, { SIGHUP, send_on }
};

enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void signals_set(struct sigaction before[SIGNALS])
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action = { .sa_flags = SA_RESTART };
        action.sa_handler = signals[i].handler;
        sigaction(signals[i].number, NULL, &before[i]);
        /* Signals that the parent process ignores stay ignored, also in the program. */
        if (before[i].sa_handler != SIG_IGN) sigaction(signals[i].number, &action, NULL);
    }
}

static void signals_restore(const struct sigaction before[SIGNALS])
{
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i].number, &before[i], NULL);
}

/* Restore these signals in the program, and reset the others. */
static int start(pid_t *process, const char *path, char *const *words,
                 char *const *environment, const struct sigaction before[SIGNALS])
{
    posix_spawnattr_t attributes;
    sigset_t usual;
    sigemptyset(&usual);
    for (int i = 0; i < SIGNALS; i++)
        if (before[i].sa_handler != SIG_IGN) sigaddset(&usual, signals[i].number);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int error = posix_spawn(process, path, NULL, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* A script without an interpreter in its first line is run by the shell. */
static int start_script(pid_t *process, const char *path, char *const *words,
                        char *const *environment, const struct sigaction before[SIGNALS])
{
    static char shell[] = "/bin/sh";
    size_t count = 0;
    while (words[count]) count++;
    char **const all = memory_allocate(count + 2, sizeof *all);
    if (!all) return ENOMEM;
    all[0] = shell;
    all[1] = (char *)(uintptr_t)path;
    for (size_t i = 1; i <= count; i++) all[i + 1] = words[i];
    const int error = start(process, shell, all, environment, before);
    free(all);
    return error;
}

static int wait_for(pid_t process)
{
    int status;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return WIFSIGNALED(status) ? PROGRAM_BY_SIGNAL + WTERMSIG(status)
                               : WEXITSTATUS(status);
}

int program_run(bool *failed, const char *path, char *const *words,
                char *const *environment, struct fault *f)
{
    struct sigaction before[SIGNALS];
    pid_t process;
    signals_set(before);
    int error = start(&process, path, words, environment, before);
    if (error == ENOEXEC)
        error = start_script(&process, path, words, environment, before);
    *failed = error != 0;
    int status =
        error == ENOMEM || error == EAGAIN ? PROGRAM_OWN_FAILURE : PROGRAM_CANNOT_RUN;
    if (error) {
        /* program_find() has found it, so it exists */
        fault_set(f, BITCUT_UNSUPPORTED, "%.*s: %s", text_fit(path, 120), path,
                  error == ENOENT ? "its interpreter or loader does not exist"
                                  : strerror(error));
    } else {
        child = process;
        if (waiting) kill(process, waiting);
        status = wait_for(process);
        child = waiting = 0;
    }
    signals_restore(before);
    return status;
}
