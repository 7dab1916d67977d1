/* The routines of the program's own libraries. */
#ifndef BITCUT_ANALYSIS_RUN_ORIGINAL_H
#define BITCUT_ANALYSIS_RUN_ORIGINAL_H

#include <stddef.h>

/* A function of any type. */
typedef void any_function(void);

/* The routine of that name that code at `caller` would call if this library were not
   here: that of the program and the libraries that it was started with; else of the
   libraries that the caller's own one brought; else of any library.  NULL: no library has
   it. */
any_function *original_find(const char *name, const void *caller);

/* Write the names of the process's libraries that have a routine of that name, ", "
   between, as far as `size` bytes reach. */
void original_libraries(char *text, size_t size, const char *name);

#endif
