/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines of the program's own libraries. */
#ifndef BITCUT_ANALYSIS_RUN_ORIGINAL_H
#define BITCUT_ANALYSIS_RUN_ORIGINAL_H

#include "analysis/run/settings.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/* A function of any type. */
typedef void any_function(void);

/* The function with which lookup.c replaces dlsym(). */
#if defined(__GLIBC__) && !defined(__ILP32__) &&                                         \
    (defined(__x86_64__) || defined(__aarch64__))
#define DLSYM_TAKEN
#endif

/* Sanitizers are disabled here: sanitizers and allocators look functions up before
   sanitizers can be used. */
#define EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

/* The C library's dlsym(), found without a call of dlsym().  NULL: there is none. */
typedef void *look_up(void *handle, const char *name);
look_up *original_dlsym(void);

/* The routine with that name that the code at `caller` would call without this library:
   the routine of the program and the libraries that it was started with; otherwise of the
   libraries loaded by the caller's own library; otherwise of any library.  NULL: no
   library has it. */
any_function *original_find(const char *name, const void *caller);

/* A routine under one of its names, with the functions found for its callers: a program
   may have several libraries with the routine, each for some of its callers. */
struct found;
struct routine {
    const char *name;
    enum precision precision; /* of its products, if they are computed here */
    _Atomic(struct found *) found;
    unsigned row; /* its last row of a log, if it is only counted */
};

/* original_find() for a routine; the result is remembered for the next call from that
   position. */
any_function *original_of(struct routine *routine, const void *caller);

/* Write the names of the process's libraries that have a routine with that name,
   separated by ", ", as far as `size` bytes allow. */
void original_libraries(char *text, size_t size, const char *name);

#endif
