/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700 /* setitimer() */

#include "analysis/cli/terminal.h"

#include "analysis/cli/message.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/io/output.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted; /* the first signal that came, or 0 */
static sem_t signals;                     /* signals that came and were not handled yet */
static void (*give_up)(void);
/* --- percentages ------------------------------------------------------------------ */

/* What is on the screen, and what it is of. */
static struct {
    const char *label;
    size_t step, steps; /* which of how many the percentages count; 0 steps: one   */
    double begun, part; /* when the work began, and how much of it is done         */
    double shown_at;    /* seconds_now(), when the line was written                */
    int percent;        /* on the screen, -1: none                                 */
} line = { .label = "", .percent = -1 };

/* Work that begins anew, such as a second pass, has a time of its own. */
static void show(void *context, double part)
{
    const int percent = (int)(100 * part);
    const double now = seconds_now(),
                 all =
                     line.steps ? ((double)line.step + part) / (double)line.steps : part;
    char left[60], step[60] = "";
    (void)context;
    if (!line.begun || (!line.steps && all < line.part)) line.begun = now;
    line.part = all;
    if (percent == line.percent && now - line.shown_at < 1) return;
    line.percent = percent;
    line.shown_at = now;
    describe_time_left(left, sizeof left, now - line.begun, all);
    if (line.steps > 1)
        snprintf(step, sizeof step, " (%zu of %zu)", line.step + 1, line.steps);
    text_print(stderr, "\r%s%s %3d %%%s\033[K", line.label, step, percent, left);
    fflush(stderr);
}

void terminal_label(const char *name)
{
    if (line.percent >= 0) fputs("\r\033[K", stderr), fflush(stderr);
    line.percent = -1;
    line.label = name ? name : "";
}

void terminal_step(const char *name, size_t step, size_t steps)
{
    terminal_label(name);
    if (!step) line.begun = seconds_now();
    line.step = step;
    line.steps = steps;
}

/* --- signals ---------------------------------------------------------------------- */

/* Seconds in which work may end by itself; then seconds for give_up(). */
enum { GRACE_SECONDS = 1, LAST_MICROSECONDS = 500000 };

static void interrupt(int number)
{
    const int error = errno;
    if (!interrupted) interrupted = number;
    sem_post(&signals);
    errno = error;
}

bool terminal_stopped(void) { return interrupted != 0; }

int terminal_status(int status)
{
    return status == EXIT_CANNOT && interrupted == SIGINT ? EXIT_INTERRUPTED : status;
}

static void leave(int number)
{
    (void)number;
    _exit(terminal_status(EXIT_CANNOT));
}

/* Whether a signal came before the time was over. */
static bool wait_until(const struct timespec *end)
{
    int failed;
    do failed = sem_timedwait(&signals, end);
    while (failed && errno == EINTR);
    return !failed;
}

/* The thread that ends the process: work may not check for signals at this time, or may
   hang in another library.  So may give_up(), which writes to pipes. */
static void *watch(void *unused)
{
    const struct sigaction last = { .sa_handler = leave };
    const struct itimerval time_left = { .it_value.tv_usec = LAST_MICROSECONDS };
    struct timespec end;
    while (sem_wait(&signals)) {}
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += GRACE_SECONDS;
    wait_until(&end);
    sigaction(SIGALRM, &last, NULL);
    setitimer(ITIMER_REAL, &time_left, NULL);
    give_up();
    return unused;
}

/* The reader of the output closed it: no message is printed, but no file is left
   incomplete. */
static void end_quietly(int number)
{
    output_sweep();
    signal(number, SIG_DFL);
    raise(number);
}

/* A handler, since ignoring the signal would be inherited by programs: the write that the
   limit forbids fails, and is reported. */
static void pass_over(int number) { (void)number; }

static const struct {
    int number;
    void (*handler)(int);
} caught[] = {
    { SIGINT, interrupt },    { SIGTERM, interrupt },   { SIGHUP, interrupt },
    { SIGPIPE, end_quietly }, { SIGXFSZ, pass_over },
};

/* Unless the parent process had it ignored. */
static void catch_signal(int number, void (*handler)(int))
{
    struct sigaction action = { .sa_flags = SA_RESTART }, before;
    action.sa_handler = handler;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

bool terminal_progress(struct progress *progress, void (*last_words)(void))
{
    pthread_t thread;
    give_up = last_words;
    if (sem_init(&signals, 0, 0) || pthread_create(&thread, NULL, watch, NULL))
        return false;
    pthread_detach(thread);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        catch_signal(caught[i].number, caught[i].handler);
    *progress = (struct progress){ .report = isatty(STDERR_FILENO) ? show : NULL,
                                   .stop = &interrupted };
    return true;
}
