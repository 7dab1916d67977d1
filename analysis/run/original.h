/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines of the program's own libraries. */
#ifndef BITCUT_ANALYSIS_RUN_ORIGINAL_H
#define BITCUT_ANALYSIS_RUN_ORIGINAL_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/* A function of any type. */
typedef void any_function(void);

/* Where lookup.c takes the place of dlsym(). */
#if defined(__GLIBC__) && !defined(__ILP32__) &&                                         \
    (defined(__x86_64__) || defined(__aarch64__))
#define DLSYM_TAKEN
#endif

/* Sanitizers and allocators look functions up before they can be used. */
#define EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

/* The C library's dlsym(), which the call of dlsym() may not be; NULL: there is none. */
typedef void *look_up(void *handle, const char *name);
look_up *original_dlsym(void);

/* The routine of that name that code at `caller` would call if this library were not
   here: that of the program and the libraries that it was started with; else of the
   libraries that the caller's own one brought; else of any library.  NULL: no library has
   it. */
any_function *original_find(const char *name, const void *caller);

/* A routine under one of its names, and what was found for those that called it: programs
   may have several libraries that have it, each for some of their callers. */
struct found;
struct routine {
    const char *name;
    _Atomic(struct found *) found;
    unsigned row; /* of a call_log that it had last, if it is only counted */
};

/* original_find() of a routine, kept for the next call from that place. */
any_function *original_of(struct routine *routine, const void *caller);

/* Write the names of the process's libraries that have a routine of that name, ", "
   between, as far as `size` bytes reach. */
void original_libraries(char *text, size_t size, const char *name);

#endif
