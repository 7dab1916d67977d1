/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/evidence/set_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LENGTH_MAX = 4096 };

/* A folder that was searched. */
struct searched {
    dev_t device;
    ino_t inode;
};

struct walk {
    struct found_list *list;
    struct searched *searched;
    size_t count, room;
    const struct progress *progress;
};

/* `array` with space for one more element after `count`.  Returns NULL, with the array
   unchanged, if memory runs out. */
static void *grown(void *array, size_t *room, size_t count, size_t size)
{
    const size_t more = 2 * count + 16;
    if (count < *room) return array;
    void *now = realloc(array, more * size);
    if (now) *room = more;
    return now;
}

/* --- entries ---------------------------------------------------------------------- */

/* Append a folder with its fault; `status` is BITCUT_OK if there is none. */
static enum bitcut_status append(struct found_list *list, const char *folder,
                                 enum bitcut_status status, const char *why)
{
    void *at = grown(list->at, &list->room, list->count, sizeof list->at[0]);
    if (!at) return BITCUT_NO_MEMORY;
    list->at = at;
    struct found *x = &list->at[list->count];
    x->folder = strdup(folder);
    if (!x->folder) return BITCUT_NO_MEMORY;
    x->line = (struct set_line){ .length = 0 };
    fault_set(&x->fault, status, "%s", why);
    list->count++;
    return BITCUT_OK;
}

/* --- folders ---------------------------------------------------------------------- */

static bool path_join(char path[PATH_LENGTH_MAX], const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    const int n = snprintf(path, PATH_LENGTH_MAX, "%s%s%s", folder, slash, name);
    return n > 0 && n < PATH_LENGTH_MAX;
}

/* Whether stat() or access() failed because the file does not exist; otherwise it cannot
   be read. */
static bool is_missing(int error) { return error == ENOENT || error == ENOTDIR; }

/* A folder whose meta.json cannot be examined counts as a set, so that reading it reports
   the reason. */
static bool is_set(const char *folder)
{
    char path[PATH_LENGTH_MAX];
    return path_join(path, folder, "meta.json") &&
           (access(path, F_OK) == 0 || !is_missing(errno));
}

static bool is_folder(struct stat *s, const char *path)
{
    return stat(path, s) == 0 && S_ISDIR(s->st_mode);
}

/* Whether the folder was searched before; if not, record it.  Links can form circles. */
static enum bitcut_status note(bool *again, struct walk *w, const struct stat *s)
{
    *again = true;
    for (size_t i = 0; i < w->count; i++)
        if (w->searched[i].device == s->st_dev && w->searched[i].inode == s->st_ino)
            return BITCUT_OK;
    void *at = grown(w->searched, &w->room, w->count, sizeof w->searched[0]);
    if (!at) return BITCUT_NO_MEMORY;
    w->searched = at;
    w->searched[w->count++] = (struct searched){ s->st_dev, s->st_ino };
    *again = false;
    return BITCUT_OK;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

static enum bitcut_status search(struct walk *w, const char *folder);

/* One name in a folder: a set, a folder to search, or nothing of interest. */
static enum bitcut_status visit(struct walk *w, const char *folder, const char *name)
{
    char path[PATH_LENGTH_MAX];
    struct stat s;
    bool again;
    if (!path_join(path, folder, name))
        return append(w->list, folder, BITCUT_UNSUPPORTED, "a name in it is too long");
    if (stat(path, &s) != 0) /* a link may lead nowhere */
        return is_missing(errno) || errno == ELOOP
                   ? BITCUT_OK
                   : append(w->list, path, BITCUT_UNSUPPORTED, strerror(errno));
    if (!S_ISDIR(s.st_mode)) return BITCUT_OK;
    if (is_set(path)) return append(w->list, path, BITCUT_OK, "");
    const enum bitcut_status status = note(&again, w, &s);
    return status != BITCUT_OK || again ? status : search(w, path);
}

static enum bitcut_status search(struct walk *w, const char *folder)
{
    struct dirent **entry;
    enum bitcut_status status = BITCUT_OK;
    const int n = scandir(folder, &entry, visible, by_name);
    if (n < 0 && errno == ENOMEM) return BITCUT_NO_MEMORY;
    if (n < 0) return append(w->list, folder, BITCUT_UNSUPPORTED, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (status == BITCUT_OK && !progress_stopped(w->progress))
            status = visit(w, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* --- files ------------------------------------------------------------------------ */

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static enum bitcut_status append_lines(struct found_list *list, const char *file)
{
    struct set_line *lines;
    size_t count;
    char name[PATH_LENGTH_MAX];
    struct fault f;
    enum bitcut_status status = set_lines(&lines, &count, file, &f);
    if (status == BITCUT_NO_MEMORY) return status;
    if (status != BITCUT_OK) return append(list, file, status, f.text);
    if (!count) status = append(list, file, BITCUT_BAD_FILE, "the file is empty");
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        const int n = snprintf(name, sizeof name, "%s:%zu", file, lines[i].number);
        if (n < 0 || n >= PATH_LENGTH_MAX)
            status = append(list, file, BITCUT_UNSUPPORTED, "the name is too long");
        else status = append(list, name, BITCUT_OK, "");
        if (status == BITCUT_OK && n < PATH_LENGTH_MAX)
            list->at[list->count - 1].line = lines[i];
    }
    free(lines);
    return status;
}

enum bitcut_status set_find(struct found_list *list, const char *operand,
                            const struct progress *progress, struct fault *f)
{
    struct walk w = { .list = list, .progress = progress };
    const size_t before = list->count;
    struct stat s;
    bool again;
    enum bitcut_status status;
    if (is_file(operand)) {
        status = append_lines(list, operand);
    } else if (!is_folder(&s, operand) || is_set(operand)) {
        status = append(list, operand, BITCUT_OK, "");
    } else {
        status = note(&again, &w, &s);
        if (status == BITCUT_OK) status = search(&w, operand);
        if (status == BITCUT_OK && list->count == before)
            status = append(list, operand, BITCUT_UNSUPPORTED,
                            "meta.json: not found in this folder or a subfolder");
    }
    free(w.searched);
    return status == BITCUT_OK ? status : fault_set(f, status, "not enough memory");
}

/* FILE of FILE:N, whose line is known. */
static enum bitcut_status read_line(struct set *s, const struct found *x, unsigned needs,
                                    struct fault *f)
{
    json_t *row = NULL;
    char *const path = strndup(x->folder, (size_t)(strrchr(x->folder, ':') - x->folder));
    if (!path) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = set_line_at(&row, path, &x->line, f);
    if (status == BITCUT_OK) status = set_read_line(s, row, needs, f);
    json_decref(row);
    free(path);
    return status;
}

enum bitcut_status found_read(struct set *s, const struct found *x, unsigned needs,
                              struct fault *f)
{
    if (x->fault.status != BITCUT_OK) return *f = x->fault, f->status;
    return x->line.length ? read_line(s, x, needs, f) : set_read(s, x->folder, needs, f);
}

void found_clear(struct found_list *list)
{
    for (size_t i = 0; i < list->count; i++) free(list->at[i].folder);
    free(list->at);
    *list = (struct found_list){ 0 };
}
