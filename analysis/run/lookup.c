/* SPDX-License-Identifier: BSD-3-Clause */
/* A replacement of the C library's dlsym().  A program that looks up routines of cuBLAS
   by a handle, as JAX, TensorFlow and ctypes do, gets the routine of this library, if a
   call of it would be passed on to the routine that was found.  Everything else is left
   to the C library, which has to see the program's own call, since RTLD_NEXT and
   RTLD_DEFAULT depend on the caller.  Therefore dlsym() itself consists of a few
   instructions that call lookup_answer(), and jump to the C library as if they did not
   exist. */
#define _GNU_SOURCE /* dladdr(), RTLD_NEXT */

#include "analysis/run/original.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#ifdef DLSYM_TAKEN

/* The decision: continue with `next`, or, if it is NULL, return the symbol.  It is
   returned in two registers. */
struct answer {
    look_up *next;
    void *symbol;
};

__attribute__((visibility("hidden"))) struct answer
lookup_answer(void *handle, const char *name, const void *caller);

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "push %rdi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "push %rsi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "sub $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "mov 24(%rsp), %rdx\n"
        "call lookup_answer\n"
        "add $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "pop %rsi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "pop %rdi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "test %rax, %rax\n"
        "jz 1f\n"
        "jmp *%rax\n"
        "1: mov %rdx, %rax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size dlsym, . - dlsym\n"
        ".popsection\n");
#else
__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        ".p2align 2\n"
        "dlsym:\n"
        ".cfi_startproc\n"
        "hint 34\n" /* bti c */
        "stp x29, x30, [sp, -32]!\n"
        ".cfi_def_cfa_offset 32\n"
        ".cfi_offset 29, -32\n"
        ".cfi_offset 30, -24\n"
        "mov x29, sp\n"
        "stp x0, x1, [sp, 16]\n"
        "mov x2, x30\n"
        "bl lookup_answer\n"
        "mov x16, x0\n"
        "mov x17, x1\n"
        "ldp x0, x1, [sp, 16]\n"
        "ldp x29, x30, [sp], 32\n"
        ".cfi_restore 29\n"
        ".cfi_restore 30\n"
        ".cfi_def_cfa_offset 0\n"
        "cbz x16, 1f\n"
        "br x16\n"
        "1: mov x0, x17\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size dlsym, . - dlsym\n"
        ".popsection\n");
#endif

EARLY static bool is_cublas(const char *name)
{
    static const char beginning[] = "cublas";
    int i = 0;
    while (beginning[i] && name[i] == beginning[i]) i++;
    return !beginning[i];
}

/* --- routines of cuBLAS ----------------------------------------------------------- */

static const char here; /* an address in this library */

static bool is_own(const void *at)
{
    Dl_info own, other;
    return dladdr(&here, &own) && dladdr(at, &other) && own.dli_fbase == other.dli_fbase;
}

/* The routine of this library with that name, or NULL. */
static void *own_routine(const char *name, look_up *next)
{
    Dl_info own;
    const bool known = dladdr(&here, &own) != 0;
    void *const self = known ? dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *const symbol = self ? next(self, name) : NULL;
    if (self) dlclose(self);
    return symbol && is_own(symbol) ? symbol : NULL;
}

/* Whether a call of this library's routine is passed on to the routine that was found. */
static bool is_passed_to(const void *found, const char *name, const void *caller)
{
    any_function *const original = original_find(name, caller);
    return memcmp(&original, &found, sizeof found) == 0;
}

static void *look_for(void *handle, const char *name, const void *caller, look_up *next)
{
    void *const found = next(handle, name);
    const int error = errno;
    if (!found || is_own(caller)) return found;
    void *const own = own_routine(name, next);
    const bool taken = own && own != found && is_passed_to(found, name, caller);
    dlerror(); /* errors of these calls are not the program's */
    errno = error;
    return taken ? own : found;
}

EARLY struct answer lookup_answer(void *handle, const char *name, const void *caller)
{
    look_up *const next = original_dlsym();
    if (!next || !name || handle == RTLD_NEXT || handle == RTLD_DEFAULT ||
        !is_cublas(name))
        return (struct answer){ next, NULL };
    return (struct answer){ NULL, look_for(handle, name, caller, next) };
}

#endif
