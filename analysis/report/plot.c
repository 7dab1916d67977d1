/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/report/plot.h"

#include "analysis/report/plot_script.h"
#include "lib/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the program ------------------------------------------------------------------ */

/* How the child ended, in the form of waitpid(); it is killed if work is to stop.  The
   child is polled, since any thread may receive a signal. */
static int end_of(pid_t child, const struct progress *progress)
{
    static const struct timespec moment = { .tv_nsec = 10000000 };
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (progress_stopped(progress)) kill(child, SIGKILL);
        nanosleep(&moment, NULL);
    }
    return status;
}

static enum bitcut_status system_fault(const char *what, struct fault *f)
{
    return fault_set(f, BITCUT_UNSUPPORTED, "%s: %s", what, strerror(errno));
}

static _Noreturn void become_gnuplot(FILE *script, FILE *picture)
{
    const int null = open("/dev/null", O_WRONLY);
    if (null >= 0 && dup2(fileno(script), 0) >= 0 && dup2(fileno(picture), 1) >= 0 &&
        dup2(null, 2) >= 0)
        execlp("gnuplot", "gnuplot", "-d",
               (char *)NULL); /* without the user's settings */
    _exit(127);
}

/* Run gnuplot with `script` as standard input and `picture` as standard output.  Returns
   whether it exists and drew the picture. */
static enum bitcut_status run_gnuplot(bool *drawn, FILE *script, FILE *picture,
                                      const struct progress *progress, struct fault *f)
{
    if (fflush(script) || ferror(script)) return system_fault("its script", f);
    rewind(script);
    const pid_t child = fork();
    if (child < 0) return system_fault("gnuplot", f);
    if (child == 0) become_gnuplot(script, picture);
    const int status = end_of(child, progress);
    *drawn = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return BITCUT_OK;
}

/* The whole file; nothing if it is empty. */
static enum bitcut_status read_all(struct picture *p, FILE *from, struct fault *f)
{
    if (fseek(from, 0, SEEK_END) != 0) return system_fault("the picture", f);
    const long size = ftell(from);
    if (size <= 0) return BITCUT_OK;
    char *bytes = memory_allocate((size_t)size + 1, 1);
    if (!bytes)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the picture");
    rewind(from);
    if (fread(bytes, 1, (size_t)size, from) != (size_t)size) {
        free(bytes);
        return system_fault("the picture", f);
    }
    bytes[size] = 0;
    *p = (struct picture){ bytes, (size_t)size };
    return BITCUT_OK;
}

/* cairo writes the time into a PDF.  A fixed date of the same length makes pictures of
   the same data equal. */
static void fix_date(struct picture *p)
{
    static const char key[] = "/CreationDate (D:", date[] = "20000101000000";
    const size_t length = strlen(key);
    for (size_t i = 0; i + length + strlen(date) < p->size; i++)
        if (!memcmp(p->bytes + i, key, length))
            memcpy(p->bytes + i + length, date, strlen(date));
}

enum bitcut_status plot_draw(struct picture *picture, enum plot_kind kind,
                             const struct study_plot *plot, const char *title,
                             json_t *rows, const struct progress *progress,
                             struct fault *f)
{
    FILE *script = tmpfile(), *drawing = tmpfile();
    enum bitcut_status status = BITCUT_OK;
    bool drawn = false;
    *picture = (struct picture){ 0 };
    if (!script || !drawing) status = system_fault("a temporary file", f);
    if (status == BITCUT_OK) {
        struct plot_data d;
        plot_data_init(&d, plot, rows);
        plot_write_script(script, &d, &plot_forms[kind], title);
        plot_data_clear(&d);
        status = run_gnuplot(&drawn, script, drawing, progress, f);
    }
    if (drawn) status = read_all(picture, drawing, f);
    if (picture->bytes) fix_date(picture);
    if (script) fclose(script);
    if (drawing) fclose(drawing);
    return status;
}

enum bitcut_status picture_write(const char *path, const struct picture *p,
                                 struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    fwrite(p->bytes, 1, p->size, o.file);
    return output_commit(&o, f);
}
