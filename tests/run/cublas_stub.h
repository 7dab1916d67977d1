/* A cuBLAS and a cuBLASLt for tests of bitcut run: the GEMMs by loops as plain as can be,
   on memory of tests/lib/model_stream.h, and an account of who called what with which
   arguments.  From NVIDIA's headers cublas_api.h and cublasLt.h. */
#ifndef BITCUT_TESTS_RUN_CUBLAS_STUB_H
#define BITCUT_TESTS_RUN_CUBLAS_STUB_H

#include "tests/lib/model_stream.h"

#include <stddef.h>
#include <stdint.h>

/* A handle: what a program sets of one. */
struct stub_handle {
    struct model_stream *stream;
    int pointer_mode, math_mode;
    int status; /* that its routines return */
};

/* Descriptors of cuBLASLt: attributes by their numbers, all others are not known. */
enum { STUB_ATTRIBUTES_MOST = 40 };
struct stub_descriptor {
    bool known[STUB_ATTRIBUTES_MOST];
    int64_t value[STUB_ATTRIBUTES_MOST];
};

/* Calls of a routine so far; of all with NULL.  Of setters and getters none is counted. */
long stub_calls(const char *name);

/* The arguments of the last one of those, behind the handle, as numbers. */
enum { STUB_ARGUMENTS_MOST = 24 };
const int64_t *stub_arguments(int *count);

/* The workspace that was set last, of whichever handle. */
void *stub_workspace(void);

#endif
