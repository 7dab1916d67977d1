/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */

#include "analysis/cli/install_path.h"

#include "lib/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Write head[0 .. length) and tail.  Returns false if they do not fit. */
static bool join(char to[PLACE_MAX], const char *head, size_t length, const char *tail)
{
    const int written = snprintf(to, PLACE_MAX, "%.*s%s", (int)length, head, tail);
    return written >= 0 && written < PLACE_MAX;
}

/* The folder of the program's file.  Returns false if the system does not report it. */
static bool program_folder(char to[PLACE_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", to, PLACE_MAX - 1);
    to[length > 0 ? length : 0] = 0;
    char *name = strrchr(to, '/');
    if (name) *name = 0;
    return name != NULL;
}

static bool in_build(char to[PLACE_MAX], const char *program, const char *built)
{
    char path[PLACE_MAX], status[PLACE_MAX];
    const size_t above = text_stem(program, "/.libs");
    const size_t length = above ? above : strlen(program);
    if (!join(status, program, length, "/config.status") || access(status, F_OK) != 0)
        return false;
    if (*built == '/') return join(to, built, strlen(built), "");
    return join(path, program, length, "/") && join(to, path, strlen(path), built);
}

/* The path `tail` of BINDIR below the common parent folder of both paths. */
static bool moved(char to[PLACE_MAX], const char *program, const char *installed)
{
    size_t common = 0;
    for (size_t i = 0; BINDIR[i] && BINDIR[i] == installed[i]; i++)
        if (BINDIR[i] == '/') common = i;
    const size_t length = text_stem(program, &BINDIR[common]);
    return length && join(to, program, length, installed + common);
}

void place_find(char folder[PLACE_MAX], const char *built, const char *installed)
{
    char program[PLACE_MAX];
    const bool known = program_folder(program);
    if (known && in_build(folder, program, built)) return;
    if (known && moved(folder, program, installed)) return;
    join(folder, installed, strlen(installed), "");
}

const char *place_module(char folder[PLACE_MAX])
{
    const char *const named = secure_getenv("BITCUT_MODULES");
    if (named && *named) return named;
    place_find(folder, ".", PKGLIBDIR);
    return folder;
}
