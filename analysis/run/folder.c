/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/folder.h"

#include "lib/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_PATH_MAX = 4096 };

/* --- adding up -------------------------------------------------------------------- */

/* A total in progress.  The tree finds the call sites that it already has. */
struct reading {
    struct run_total total;
    void *tree; /* of tsearch() */
};

/* Calls of one routine from one call site, with the same configurations, in any process,
   are merged. */
static int by_identity(const void *x, const void *y)
{
    const struct call_log_site *const a = x, *const b = y;
    const char *const texts[][2] = { { a->where, b->where },
                                     { a->native, b->native },
                                     { a->routine, b->routine },
                                     { a->configuration, b->configuration },
                                     { a->against, b->against } };
    int order = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && !order; i++)
        order = strcmp(texts[i][0], texts[i][1]);
    return order;
}

/* The array with space for one more entry.  Returns false if memory runs out. */
static bool make_room(struct run_total *t)
{
    enum { FIRST = 64 };
    const bool is_full = t->sites >= FIRST && !(t->sites & (t->sites - 1));
    if (t->sites && !is_full) return true;
    struct call_log_site **const more =
        realloc(t->site, (t->sites ? 2 * t->sites : FIRST) * sizeof *more);
    if (more) t->site = more;
    return more;
}

static enum bitcut_status add_site(struct reading *r, const struct call_log_site *p)
{
    struct run_total *const t = &r->total;
    struct call_log_site *const *const same = tfind(p, &r->tree, by_identity);
    if (same) return call_log_site_add(*same, p), BITCUT_OK;
    struct call_log_site *const own = make_room(t) ? malloc(sizeof *own) : NULL;
    if (!own) return BITCUT_NO_MEMORY;
    *own = *p;
    t->site[t->sites++] = own;
    return tsearch(own, &r->tree, by_identity) ? BITCUT_OK : BITCUT_NO_MEMORY;
}

static void add_routine(struct run_total *t, const struct call_log_routine *r)
{
    t->counted += r->calls;
    for (int i = 0; *r->name && i < CALL_LOG_ROUTINES_MAX; i++) {
        struct call_log_routine *const own = &t->routine[i];
        if (!*own->name) memcpy(own->name, r->name, sizeof own->name);
        if (strcmp(own->name, r->name) != 0) continue;
        own->calls += r->calls;
        return;
    }
}

/* Append the names of a list that the total does not have yet. */
static void add_libraries(struct run_total *t, const char *list)
{
    while (*list) {
        char name[256];
        const size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        list += length;
        list += strspn(list, ", ");
        if (!strstr(t->libraries, name))
            text_append(t->libraries, sizeof t->libraries, name);
    }
}

static enum bitcut_status add_call_log(struct reading *r, const struct call_log *l)
{
    struct run_total *const t = &r->total;
    enum bitcut_status status = BITCUT_OK;
    t->processes++;
    t->ended += l->ended != 0;
    t->lost += l->lost;
    for (int i = 0; i < PRECISIONS; i++) t->takes[i] |= l->takes[i] != 0;
    if (*l->fault) memcpy(t->fault, l->fault, sizeof t->fault);
    if (*l->device) memcpy(t->device, l->device, sizeof t->device);
    if (*l->device_fault)
        memcpy(t->device_fault, l->device_fault, sizeof t->device_fault);
    add_libraries(t, l->libraries);
    for (int i = 0; i < CALL_LOG_ROUTINES_MAX; i++) add_routine(t, &l->routine[i]);
    for (uint32_t i = 0; i < l->sites && status == BITCUT_OK; i++)
        status = add_site(r, &l->site[i]);
    return status;
}

static int by_products(const void *a, const void *b)
{
    const struct call_log_site *const x = *(struct call_log_site *const *)a,
                                      *const y = *(struct call_log_site *const *)b;
    if (x->products != y->products) return x->products < y->products ? 1 : -1;
    const int where = strcmp(x->where, y->where);
    return where ? where : strcmp(x->routine, y->routine);
}

static void finish(struct run_total *t)
{
    if (t->sites) qsort(t->site, t->sites, sizeof *t->site, by_products);
    for (size_t i = 0; i < t->sites; i++) call_log_site_add(t->sum, t->site[i]);
}

/* --- the folder ------------------------------------------------------------------- */

static bool join(char path[FILE_PATH_MAX], const char *folder, const char *name)
{
    const int n = snprintf(path, FILE_PATH_MAX, "%s/%s", folder, name);
    return n >= 0 && n < FILE_PATH_MAX;
}

static enum bitcut_status add_file(struct reading *r, const char *folder,
                                   const char *name, struct fault *f)
{
    char path[FILE_PATH_MAX];
    struct call_log *l;
    struct fault why;
    if (!text_stem(name, call_log_ending) || !join(path, folder, name)) return BITCUT_OK;
    enum bitcut_status status = call_log_read(&l, path, &why);
    if (status != BITCUT_OK) return fault_set(f, status, "%s: %s", name, why.text);
    status = add_call_log(r, l);
    call_log_close(l);
    return status == BITCUT_OK ? status : fault_set(f, status, "not enough memory");
}

enum bitcut_status run_total_read(struct run_total *to, const char *folder,
                                  struct fault *f)
{
    struct reading r = { .tree = NULL };
    struct run_total *const t = &r.total;
    enum bitcut_status status = BITCUT_OK;
    DIR *const files = opendir(folder);
    if (!files) return fault_set(f, BITCUT_UNSUPPORTED, "%s", strerror(errno));
    t->sum = calloc(1, sizeof *t->sum);
    if (!t->sum) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (struct dirent *file; status == BITCUT_OK && (file = readdir(files));)
        status = add_file(&r, folder, file->d_name, f);
    closedir(files);
    for (size_t i = 0; i < t->sites; i++) tdelete(t->site[i], &r.tree, by_identity);
    if (status == BITCUT_OK) finish(t), *to = *t;
    else run_total_clear(t);
    return status;
}

void run_total_clear(struct run_total *x)
{
    for (size_t i = 0; i < x->sites; i++) free(x->site[i]);
    free(x->site);
    free(x->sum);
    *x = (struct run_total){ 0 };
}

bool run_folder_has_call_log(const char *folder)
{
    bool has = false;
    DIR *const files = opendir(folder);
    for (struct dirent *file; files && !has && (file = readdir(files));)
        has = text_stem(file->d_name, call_log_ending) != 0;
    if (files) closedir(files);
    return has;
}

void run_folder_remove(const char *folder)
{
    char path[FILE_PATH_MAX];
    DIR *const files = opendir(folder);
    for (struct dirent *file; files && (file = readdir(files));)
        if (*file->d_name != '.' && join(path, folder, file->d_name)) unlink(path);
    if (files) closedir(files);
    rmdir(folder);
}
