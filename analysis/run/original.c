/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr(), dlvsym(), dl_iterate_phdr(), RTLD_NEXT */

#include "analysis/run/original.h"

#include "lib/base/text.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef DLSYM_TAKEN
/* The dlsym() after this library's, under one of its versions. */
EARLY look_up *original_dlsym(void)
{
    static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5" };
    static _Atomic(look_up *) found;
    look_up *f = found;
    for (size_t i = 0; !f && i < sizeof versions / sizeof versions[0]; i++) {
        void *const symbol = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&f, &symbol, sizeof f);
    }
    found = f;
    return f;
}
#else
look_up *original_dlsym(void) { return dlsym; }
#endif

static void *look_for(void *handle, const char *name)
{
    look_up *const f = original_dlsym();
    return f ? f(handle, name) : NULL;
}

/* ISO C has no conversion between these. */
static any_function *as_function(void *symbol)
{
    any_function *f;
    memcpy(&f, &symbol, sizeof f);
    return f;
}

/* Two libraries, by their load addresses. */
struct order {
    uintptr_t own, other;
    bool in_front; /* the other was loaded before this one */
};

/* Stop at the first of both: the loader lists them in its search order. */
static int find_first(struct dl_phdr_info *info, size_t size, void *context)
{
    struct order *const x = context;
    (void)size;
    if (!*info->dlpi_name) return 0;
    x->in_front = info->dlpi_addr == x->other;
    return x->in_front || info->dlpi_addr == x->own;
}

/* Whether a symbol belongs to this library, or to a library preloaded before it, which
   has called and would be called again. */
static bool is_not_behind(void *symbol)
{
    Dl_info own, other;
    void *here;
    bool (*const self)(void *) = is_not_behind;
    memcpy(&here, &self, sizeof here);
    if (!dladdr(here, &own) || !dladdr(symbol, &other)) return false;
    struct order x = { .own = (uintptr_t)own.dli_fbase,
                       .other = (uintptr_t)other.dli_fbase };
    dl_iterate_phdr(find_first, &x);
    return x.in_front || x.own == x.other;
}

/* The symbol in an open library, or in its dependencies; NULL: in none after this one.
   The library stays open as long as the process: results are remembered. */
static void *symbol_of(const char *library, const char *name)
{
    void *const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *const symbol = handle ? look_for(handle, name) : NULL;
    if (symbol && !is_not_behind(symbol)) return symbol;
    if (handle) dlclose(handle);
    return NULL;
}

/* --- all libraries ---------------------------------------------------------------- */

enum { LIBRARIES_MAX = 4096 };

/* The files of the libraries that are open. */
struct libraries {
    size_t count;
    char *file[LIBRARIES_MAX];
};

/* The loader must not be called from within its own iteration. */
static int note_library(struct dl_phdr_info *info, size_t size, void *context)
{
    struct libraries *const all = context;
    (void)size;
    if (!*info->dlpi_name) return 0;
    if (all->count == LIBRARIES_MAX) return 1;
    char *const file = strdup(info->dlpi_name);
    if (file) all->file[all->count++] = file;
    return !file;
}

static struct libraries *libraries_list(void)
{
    struct libraries *const all = calloc(1, sizeof *all);
    if (all) dl_iterate_phdr(note_library, all);
    return all;
}

static void libraries_free(struct libraries *all)
{
    for (size_t i = 0; all && i < all->count; i++) free(all->file[i]);
    free(all);
}

static void *symbol_of_any(const char *name)
{
    struct libraries *const all = libraries_list();
    void *found = NULL;
    for (size_t i = 0; all && !found && i < all->count; i++)
        found = symbol_of(all->file[i], name);
    libraries_free(all);
    return found;
}

/* --- one routine ------------------------------------------------------------------ */

any_function *original_find(const char *name, const void *caller)
{
    Dl_info info;
    void *symbol = look_for(RTLD_NEXT, name);
    if (!symbol && dladdr(caller, &info) && info.dli_fname)
        symbol = symbol_of(info.dli_fname, name);
    return as_function(symbol ? symbol : symbol_of_any(name));
}

/* The result for a caller: never changed, and never freed. */
struct found {
    const void *caller;
    any_function *original;
    unsigned count; /* number of entries from this one on */
    struct found *next;
};

enum { FOUND_MAX = 256 };

any_function *original_of(struct routine *r, const void *caller)
{
    struct found *first = r->found;
    for (const struct found *at = first; at; at = at->next)
        if (at->caller == caller) return at->original;
    any_function *const original = original_find(r->name, caller);
    struct found *const own =
        original && !(first && first->count == FOUND_MAX) ? malloc(sizeof *own) : NULL;
    if (!own) return original;
    do *own = (struct found){ caller, original, first ? first->count + 1 : 1, first };
    while (!atomic_compare_exchange_weak(&r->found, &first, own));
    return original;
}

/* The name of the file that has a symbol, without its folders. */
static const char *file_of(const void *symbol)
{
    Dl_info info;
    if (!symbol || !dladdr(symbol, &info) || !info.dli_fname) return NULL;
    const char *const slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

void original_libraries(char *text, size_t size, const char *name)
{
    struct libraries *const all = libraries_list();
    text[0] = 0;
    for (size_t i = 0; all && i < all->count; i++) {
        void *const symbol = symbol_of(all->file[i], name);
        const char *const slash = strrchr(all->file[i], '/');
        const char *const file = slash ? slash + 1 : all->file[i];
        const char *const whose = file_of(symbol);
        if (whose && !strcmp(whose, file)) text_append(text, size, file);
    }
    libraries_free(all);
}
