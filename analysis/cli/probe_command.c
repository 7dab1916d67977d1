/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/cli/probe_command.h"

#include "lib/base/clock.h"
#include "lib/input/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* For probe_command_abandon(): the open command, and the leader of its process group
   while it runs. */
static struct probe_command *_Atomic opened;
static _Atomic pid_t leader;

static enum bitcut_status system_fault(const char *what, int error, struct fault *f)
{
    return fault_set(f, error == ENOMEM ? BITCUT_NO_MEMORY : BITCUT_UNSUPPORTED, "%s: %s",
                     what, strerror(error));
}

/* --- the folder ------------------------------------------------------------------- */

enum { PATH_LENGTH_MAX = PLACE_MAX + 256 };

static void accumulation_of(char path[PATH_LENGTH_MAX], const struct probe_command *x,
                            const char *name)
{
    snprintf(path, PATH_LENGTH_MAX, "%s/%s", x->folder, name);
}

enum bitcut_status probe_command_open(struct probe_command *x, const char *text,
                                      const struct progress *progress, struct fault *f)
{
    const char *base = secure_getenv("TMPDIR");
    *x = (struct probe_command){ .text = text, .progress = progress };
    const int length = snprintf(x->folder, sizeof x->folder, "%s/bitcut-XXXXXX",
                                base && *base ? base : "/tmp");
    if (length < PLACE_MAX && mkdtemp(x->folder)) {
        opened = x;
        return BITCUT_OK;
    }
    x->folder[0] = 0;
    return system_fault("a temporary folder", length < PLACE_MAX ? errno : ENAMETOOLONG,
                        f);
}

static void remove_folder(const struct probe_command *x)
{
    DIR *const folder = opendir(x->folder);
    char path[PATH_LENGTH_MAX];
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        accumulation_of(path, x, e->d_name);
        unlink(path);
    }
    if (folder) closedir(folder);
    rmdir(x->folder);
}

void probe_command_close(struct probe_command *x)
{
    opened = NULL;
    if (*x->folder) remove_folder(x);
    x->folder[0] = 0;
}

void probe_command_abandon(void)
{
    const struct probe_command *const x = opened;
    const pid_t group = leader;
    if (group) kill(-group, SIGKILL);
    if (x) remove_folder(x);
}

/* --- the process ------------------------------------------------------------------ */

static bool set_size(const char *name, size_t size)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", size);
    return !setenv(name, text, 1);
}

static bool set_environment(const struct probe_command *x, const struct matrix *a,
                            const struct matrix *b)
{
    static const char *const files[][2] = { { "BITCUT_A", "A.npy" },
                                            { "BITCUT_B", "B.npy" },
                                            { "BITCUT_D", "D.npy" } };
    char path[PATH_LENGTH_MAX];
    bool good = true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        accumulation_of(path, x, files[i][1]);
        good = good && !setenv(files[i][0], path, 1);
    }
    return good && set_size("BITCUT_M", a->rows) && set_size("BITCUT_N", b->cols) &&
           set_size("BITCUT_K", a->cols);
}

/* Reset signals as a shell expects, and make a process group.  Signals typed at the
   terminal reach only this process, which then ends the group. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, caught;
    sigemptyset(&none);
    sigemptyset(&caught);
    sigaddset(&caught, SIGINT);
    sigaddset(&caught, SIGTERM);
    sigaddset(&caught, SIGHUP);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &caught);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                                    POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
}

static int start(pid_t *child, const char *text)
{
    char shell[] = "sh", option[] = "-c";
    char *const words[] = { shell, option, (char *)text, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        error = set_attributes(&attributes);
        if (!error)
            error = posix_spawn(child, "/bin/sh", &files, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Wait for the child until a time, or with INFINITY until it is asked to stop. */
static bool wait_for(int *ended, pid_t child, double end, const struct progress *progress)
{
    const struct timespec pause = { .tv_nsec = 2000000 };
    while (seconds_now() < end && !progress_stopped(progress)) {
        const pid_t got = waitpid(child, ended, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR)) return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* It has a fifth of a second to end by itself, less than this process has. */
static void stop(pid_t child)
{
    int ended;
    kill(-child, SIGTERM);
    const bool has_ended = wait_for(&ended, child, seconds_now() + 0.2, NULL);
    kill(-child, SIGKILL); /* also other processes in its group */
    if (has_ended) return;
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {}
}

static enum bitcut_status run_shell(const struct probe_command *x, struct fault *f)
{
    pid_t child;
    int ended = 0;
    const int error = start(&child, x->text);
    if (error) return system_fault("/bin/sh", error, f);
    leader = child;
    const bool has_ended = wait_for(&ended, child, INFINITY, x->progress);
    if (!has_ended) stop(child);
    leader = 0;
    if (!has_ended) return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    if (WIFSIGNALED(ended))
        return fault_set(f, BITCUT_UNSUPPORTED, "the command was terminated by signal %d",
                         WTERMSIG(ended));
    if (WEXITSTATUS(ended))
        return fault_set(f, BITCUT_UNSUPPORTED, "the command failed with exit status %d",
                         WEXITSTATUS(ended));
    return BITCUT_OK;
}

/* --- the whole run ---------------------------------------------------------------- */

static enum bitcut_status write_matrix(const struct probe_command *x, const char *name,
                                       const struct matrix *m, struct fault *f)
{
    char path[PATH_LENGTH_MAX];
    accumulation_of(path, x, name);
    return source_write(path, m, f);
}

static enum bitcut_status read_result(struct matrix *d, const struct probe_command *x,
                                      size_t rows, size_t cols, struct fault *f)
{
    char path[PATH_LENGTH_MAX];
    struct fault why;
    struct matrix got;
    accumulation_of(path, x, "D.npy");
    if (access(path, F_OK))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "the command did not write the file $BITCUT_D");
    if (source_read(&got, path, &why) != BITCUT_OK)
        return fault_set(f, BITCUT_UNSUPPORTED, "$BITCUT_D: %.200s", why.text);
    if (got.rows == rows && got.cols == cols) {
        *d = got;
        return BITCUT_OK;
    }
    fault_set(f, BITCUT_UNSUPPORTED, "$BITCUT_D is %zu x %zu; expected %zu x %zu",
              got.rows, got.cols, rows, cols);
    matrix_clear(&got);
    return BITCUT_UNSUPPORTED;
}

enum bitcut_status probe_command_run(struct matrix *d, void *context,
                                     const struct matrix *a, const struct matrix *b,
                                     struct fault *f)
{
    const struct probe_command *x = context;
    char path[PATH_LENGTH_MAX];
    accumulation_of(path, x, "D.npy");
    unlink(path);
    enum bitcut_status status = write_matrix(x, "A.npy", a, f);
    if (status == BITCUT_OK) status = write_matrix(x, "B.npy", b, f);
    if (status == BITCUT_OK && !set_environment(x, a, b))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (status == BITCUT_OK) status = run_shell(x, f);
    if (status == BITCUT_OK) status = read_result(d, x, a->rows, b->cols, f);
    return status;
}
