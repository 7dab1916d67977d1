/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr() */

#include "analysis/run/call_site.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void site_native(char *text, size_t size, const void *address)
{
    Dl_info info = { 0 };
    if (!dladdr(address, &info) || !info.dli_fname) {
        snprintf(text, size, "%p", address);
        return;
    }
    const char *const slash = strrchr(info.dli_fname, '/');
    const char *const file = slash ? slash + 1 : info.dli_fname;
    const char *const base = info.dli_sname ? info.dli_saddr : info.dli_fbase;
    snprintf(text, size, "%s%s%s+0x%zx", file, info.dli_sname ? ":" : "",
             info.dli_sname ? info.dli_sname : "",
             (size_t)((const char *)address - base));
}
