/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "analysis/run/call_site.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The functions of a Python in the process that are called, as declared in its headers;
   its objects are opaque. */
static struct {
    int (*Py_IsInitialized)(void);
    void *(*PyGILState_GetThisThreadState)(void);
    int (*PyGILState_Ensure)(void);
    void (*PyGILState_Release)(int state);
    void *(*PyEval_GetFrame)(void);        /* borrowed */
    void *(*PyFrame_GetBack)(void *frame); /* new, or NULL */
    void *(*PyFrame_GetCode)(void *frame); /* new */
    int (*PyFrame_GetLineNumber)(void *frame);
    void *(*PyObject_GetAttrString)(void *object, const char *name); /* new, or NULL */
    const char *(*PyUnicode_AsUTF8)(void *object);
    void (*PyErr_Fetch)(void **type, void **value, void **trace);
    void (*PyErr_Restore)(void *type, void *value, void *trace);
    void (*Py_IncRef)(void *object);
    void (*Py_DecRef)(void *object); /* or of NULL */
} py;

static bool find_python(void)
{
#define FIND(name)                                                                       \
    {                                                                                    \
#name, &py.name                                                                  \
    }
    static const struct {
        const char *name;
        void *to;
    } functions[] = {
        FIND(Py_IsInitialized),
        FIND(PyGILState_GetThisThreadState),
        FIND(PyGILState_Ensure),
        FIND(PyGILState_Release),
        FIND(PyEval_GetFrame),
        FIND(PyFrame_GetBack),
        FIND(PyFrame_GetCode),
        FIND(PyFrame_GetLineNumber),
        FIND(PyObject_GetAttrString),
        FIND(PyUnicode_AsUTF8),
        FIND(PyErr_Fetch),
        FIND(PyErr_Restore),
        FIND(Py_IncRef),
        FIND(Py_DecRef),
    };
#undef FIND
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *const symbol = dlsym(RTLD_DEFAULT, functions[i].name);
        if (!symbol) return false;
        memcpy(functions[i].to, &symbol, sizeof symbol);
    }
    return true;
}

/* Whether Python is in the process: it may be loaded later. */
static bool python_found(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool found;
    if (found) return true;
    if (!dlsym(RTLD_DEFAULT, "Py_IsInitialized")) return false;
    pthread_mutex_lock(&lock);
    if (!found) found = find_python();
    pthread_mutex_unlock(&lock);
    return found;
}

/* The text of an attribute of a code object; "" if it has none. */
static void attribute(char *text, size_t size, void *code, const char *name)
{
    void *const object = py.PyObject_GetAttrString(code, name);
    const char *const value = object ? py.PyUnicode_AsUTF8(object) : NULL;
    snprintf(text, size, "%s", value ? value : "");
    py.Py_DecRef(object);
}

static bool is_installed(const char *file)
{
    return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
           strstr(file, "/lib/python3") || !strncmp(file, "<__", 3) ||
           !strncmp(file, "<frozen", 7);
}

/* "FILE:LINE FUNCTION" of a frame, and whether its file belongs to an installed package.
 */
static bool describe(char *text, size_t size, void *frame)
{
    char file[200], function[80];
    void *const code = py.PyFrame_GetCode(frame);
    attribute(file, sizeof file, code, "co_filename");
    attribute(function, sizeof function, code, "co_name");
    py.Py_DecRef(code);
    const bool module = function[0] == '<'; /* <module>, <lambda> */
    snprintf(text, size, "%s:%d%s%s", file, py.PyFrame_GetLineNumber(frame),
             module ? "" : " ", module ? "" : function);
    return is_installed(file);
}

enum { FRAMES_MAX = 100, FRAME_MAX = 300 };

/* The frames from the innermost outwards, up to one outside installed packages. */
static bool walk(char *text, size_t size)
{
    char innermost[FRAME_MAX] = "", own[FRAME_MAX] = "";
    void *frame = py.PyEval_GetFrame();
    if (!frame) return false;
    py.Py_IncRef(frame);
    bool installed = true;
    for (int i = 0; frame && installed && i < FRAMES_MAX; i++) {
        void *const back = py.PyFrame_GetBack(frame);
        installed = describe(own, sizeof own, frame);
        if (i == 0) memcpy(innermost, own, sizeof innermost);
        py.Py_DecRef(frame);
        frame = back;
    }
    py.Py_DecRef(frame);
    if (installed) snprintf(text, size, "%s", innermost);
    else
        snprintf(text, size, "%s%s%s", own, strcmp(own, innermost) ? " < " : "",
                 strcmp(own, innermost) ? innermost : "");
    return true;
}

bool site_python(char *text, size_t size)
{
    if (!python_found() || !py.Py_IsInitialized() || !py.PyGILState_GetThisThreadState())
        return false;
    void *type, *value, *trace;
    const int state = py.PyGILState_Ensure();
    py.PyErr_Fetch(&type, &value, &trace);
    const bool found = walk(text, size);
    py.PyErr_Restore(type, value, trace);
    py.PyGILState_Release(state);
    return found;
}
