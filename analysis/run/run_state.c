/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "analysis/run/run_state.h"

#include "analysis/run/call_site.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct run_settings asked;
static pthread_once_t asked_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call_log *call_log;
static bool call_log_tried;

/* --- settings --------------------------------------------------------------------- */

static char settings_fault[BITCUT_TEXT_MAX]; /* or "" */
static bool warns; /* standard error was open at the beginning */

/* A child has its own log, if it has something to log. */
static void begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    if (call_log) call_log_close(call_log);
    call_log = NULL;
    call_log_tried = false;
}

/* Done before any thread takes the lock, because of children; and before the program
   opens a file, to find out whether standard error exists. */
static void read_settings(void)
{
    struct fault f;
    warns = fcntl(STDERR_FILENO, F_GETFD) >= 0;
    pthread_atfork(NULL, NULL, begin_child);
    if (run_settings_read(&asked, &f) == BITCUT_OK) return;
    memcpy(settings_fault, f.text, sizeof settings_fault);
    asked =
        (struct run_settings){ .configuration = { .original = true, .line = "original" },
                               .takes = { true, true },
                               .folder = asked.folder };
}

const struct run_settings *run_settings(void)
{
    pthread_once(&asked_once, read_settings);
    return &asked;
}

void run_warn(const char *format, ...)
{
    va_list arguments;
    run_settings();
    va_start(arguments, format);
    if (warns) vdprintf(STDERR_FILENO, format, arguments);
    va_end(arguments);
}

void run_complain(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    run_settings();
    if (*settings_fault && !atomic_flag_test_and_set(&told))
        run_warn("bitcut: run: %s; products are computed by the program's own library\n",
                 settings_fault);
}

/* --- the call_log ----------------------------------------------------------------- */

/* Hashes of the call sites in the log, so that few texts are compared. */
static uint64_t site_hash[CALL_LOG_SITES_MAX];

void run_lock(void) { pthread_mutex_lock(&lock); }

void run_unlock(void) { pthread_mutex_unlock(&lock); }

/* The lock is held. */
static struct call_log *own_call_log(void)
{
    struct fault f;
    if (call_log_tried) return call_log;
    const char *const folder = run_settings()->folder;
    call_log_tried = true;
    call_log = folder ? call_log_open(folder, &f) : NULL;
    if (call_log) {
        memcpy(call_log->fault, settings_fault, sizeof call_log->fault);
        for (int i = 0; i < PRECISIONS; i++)
            call_log->takes[i] = run_settings()->takes[i];
    } else if (folder)
        run_warn("bitcut: run: %s: %s; process %ld writes no log\n", folder, f.text,
                 (long)getpid());
    return call_log;
}

struct call_log *run_call_log(void)
{
    run_lock();
    struct call_log *const own = own_call_log();
    run_unlock();
    return own;
}

/* FNV-1a of a text and its terminator. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    do h = (h ^ (unsigned char)*text) * 0x100000001b3;
    while (*text++);
    return h;
}

struct call_log_site *run_place(const struct routine *routine,
                                const struct run_site *site)
{
    const struct run_settings *const s = run_settings();
    struct call_log *const l = own_call_log();
    if (!l) return NULL;
    const char *const key[] = { routine->name, site->where, site->native,
                                site->configuration->line };
    uint64_t h = 0xcbf29ce484222325;
    for (int i = 0; i < 4; i++) h = hash_text(h, key[i]);
    for (uint32_t i = 0; i < l->sites; i++) {
        struct call_log_site *const p = &l->site[i];
        if (site_hash[i] == h && !strcmp(p->routine, routine->name) &&
            !strcmp(p->where, site->where) && !strcmp(p->native, site->native) &&
            !strcmp(p->configuration, site->configuration->line))
            return p;
    }
    struct call_log_site *const p = call_log_new_site(l);
    if (!p) {
        l->lost++;
        return NULL;
    }
    snprintf(p->routine, sizeof p->routine, "%s", routine->name);
    memcpy(p->where, site->where, sizeof p->where);
    memcpy(p->native, site->native, sizeof p->native);
    snprintf(p->configuration, sizeof p->configuration, "%s", site->configuration->line);
    if (s->compares && run_configuration_fits(&s->against, routine->precision))
        memcpy(p->against, s->against.line, sizeof p->against);
    for (int i = 0; i < 3; i++) p->least[i] = UINT64_MAX;
    site_hash[l->sites++] = h;
    return p;
}

/* --- sites ------------------------------------------------------------------------ */

enum { NATIVES = 1024 };

/* Names of the code at addresses, which are slow to find: a slot for each hash. */
static struct {
    const void *caller;
    char name[PLACE_MAX_BYTES];
} native[NATIVES];

static void name_native(char name[PLACE_MAX_BYTES], const void *caller)
{
    const size_t slot = (size_t)((uintptr_t)caller * 0x9e3779b97f4a7c15 >> 54);
    run_lock();
    const bool known = native[slot].caller == caller;
    if (known) memcpy(name, native[slot].name, PLACE_MAX_BYTES);
    run_unlock();
    if (known) return;
    site_native(name, PLACE_MAX_BYTES, caller);
    run_lock();
    memcpy(native[slot].name, name, PLACE_MAX_BYTES);
    native[slot].caller = caller;
    run_unlock();
}

void run_site(struct run_site *to, const struct routine *routine, const void *caller)
{
    const struct run_settings *const s = run_settings();
    *to = (struct run_site){ .where = "" };
    if (s->rules || s->folder) {
        name_native(to->native, caller);
        if (!s->python || !site_python(to->where, sizeof to->where))
            memcpy(to->where, to->native, sizeof to->where);
    }
    to->configuration = run_settings_configuration(s, to->where, routine->precision);
}

/* --- the process's beginning and end ---------------------------------------------- */

/* The settings are read before the program can change its environment.  Without a folder
   there is no log. */
__attribute__((constructor)) static void begin(void)
{
    if (run_settings()->folder) run_call_log();
}

/* The routines whose libraries are reported if none was called. */
static const char *const looked_for[] = { "sgemm_",    "cblas_sgemm",
                                          "sgemm_64_", "scipy_cblas_sgemm64_",
                                          "dgemm_",    "cublasSgemm_v2" };

__attribute__((destructor)) static void end(void)
{
    struct call_log *const l = call_log_tried ? call_log : NULL;
    if (!l || l->ended || l->process != getpid()) return;
    for (size_t i = 0; i < sizeof looked_for / sizeof looked_for[0]; i++)
        if (!*l->libraries)
            original_libraries(l->libraries, sizeof l->libraries, looked_for[i]);
    l->ended = 1;
}
