#define _POSIX_C_SOURCE 200809L

#include "analysis/terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static const char *label = "";
static int shown = -1; /* the percentage on the screen, -1: none */

static void interrupt(int number)
{
    (void)number;
    interrupted = 1; /* the handler is gone now: a second signal ends the process */
}

static void show(void *context, double part)
{
    const int percent = (int)(100 * part);
    (void)context;
    if (percent == shown) return;
    shown = percent;
    fprintf(stderr, "\r%s %3d %%\033[K", label, percent);
    fflush(stderr);
}

/* Unless whoever started the program had it ignored. */
static void catch_signal(int number)
{
    struct sigaction action = { .sa_flags = (int)SA_RESETHAND }, before;
    action.sa_handler = interrupt;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

struct progress terminal_progress(void)
{
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    return (struct progress){ .report = isatty(STDERR_FILENO) ? show : NULL,
                              .stop = &interrupted };
}

void terminal_label(const char *name)
{
    if (shown >= 0) fputs("\r\033[K", stderr), fflush(stderr);
    shown = -1;
    label = name ? name : "";
}
