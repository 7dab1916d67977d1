/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "analysis/run/program.h"

#include "lib/base/text.h"
#include "lib/io/stream.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A file in memory; at NULL: it cannot be read, or is empty. */
struct image {
    const char *at;
    size_t bytes;
};

static struct image image_open(const char *path)
{
    struct image x = { NULL, 0 };
    uint64_t size;
    const int file = file_open(&size, path, NULL);
    if (file < 0) return x;
    if (size) {
        void *const at = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at != MAP_FAILED) x = (struct image){ at, (size_t)size };
    }
    close(file);
    return x;
}

static void image_close(struct image *x)
{
    if (x->at) munmap((void *)(uintptr_t)x->at, x->bytes);
}

/* `count` records of `size` bytes at an offset of the file; NULL: the file does not have
   all of them, or they are not aligned. */
static const void *records(const struct image *x, uint64_t offset, uint64_t count,
                           size_t size)
{
    const bool fits = offset <= x->bytes && count <= (x->bytes - offset) / size;
    return fits && (size == 1 || offset % sizeof(void *) == 0) ? x->at + offset : NULL;
}

/* The header of an ELF file with this program's class and byte order; NULL: it has
   another. */
static const ElfW(Ehdr) * elf_of(const struct image *x)
{
    const ElfW(Ehdr) *const head = records(x, 0, 1, sizeof *head);
    const uint16_t one = 1;
    const int data = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    const int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (!x->at || !head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return NULL;
    return head->e_ident[EI_CLASS] == class && head->e_ident[EI_DATA] == data ? head
                                                                              : NULL;
}

static bool is_elf(const struct image *x)
{
    return x->at && x->bytes >= SELFMAG && memcmp(x->at, ELFMAG, SELFMAG) == 0;
}

/* Whether the file requests a loader. */
static bool is_dynamic(const struct image *x, const ElfW(Ehdr) * head)
{
    const ElfW(Phdr) *const part = records(x, head->e_phoff, head->e_phnum, sizeof *part);
    for (int i = 0; part && i < head->e_phnum; i++)
        if (part[i].p_type == PT_INTERP) return true;
    return false;
}

/* --- rights ----------------------------------------------------------------------- */

/* Whether the program gets rights that its caller does not have: then the loader preloads
   nothing (AT_SECURE). */
static bool gains_rights(const char *path)
{
    struct stat file;
    struct statvfs system;
    if (stat(path, &file) != 0) return false;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return false;
    if (statvfs(path, &system) == 0 && system.f_flag & ST_NOSUID) return false;
    const bool user = file.st_mode & S_ISUID && file.st_uid != getuid();
    const bool group =
        file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getgid();
    const bool capable =
        getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
    return user || group || capable;
}

/* --- the file, or its interpreter ------------------------------------------------- */

enum { INTERPRETERS_MAX = 5 };

static int refuse(struct fault *f, const char *path, const char *why)
{
    fault_set(f, BITCUT_UNSUPPORTED, "%.*s: %s", text_fit(path, 100), path, why);
    return PROGRAM_OWN_FAILURE;
}

/* The interpreter of a script: the first word after "#!", or "/bin/sh". */
static void interpreter(char path[PROGRAM_PATH_MAX], const struct image *x)
{
    size_t at = 2, length = 0;
    const bool named = x->at && x->bytes > 2 && !memcmp(x->at, "#!", 2);
    while (named && at < x->bytes && (x->at[at] == ' ' || x->at[at] == '\t')) at++;
    while (named && at + length < x->bytes && !strchr(" \t\n", x->at[at + length]) &&
           length < PROGRAM_PATH_MAX - 1)
        length++;
    snprintf(path, PROGRAM_PATH_MAX, "%.*s", (int)length, named ? x->at + at : "");
    if (!*path) snprintf(path, PROGRAM_PATH_MAX, "/bin/sh");
}

static int check_elf(const char *path, const char *library, const struct image *x,
                     struct fault *f)
{
    struct image own = image_open(library);
    const ElfW(Ehdr) *const head = elf_of(x), *const other = elf_of(&own);
    const bool same = head && other && head->e_machine == other->e_machine;
    const bool dynamic = head && is_dynamic(x, head);
    image_close(&own);
    if (!same)
        return refuse(f, path,
                      "unsupported: the program is built for another machine or word "
                      "size than bitcut");
    if (!dynamic)
        return refuse(
            f, path,
            "unsupported: the program is linked statically; link it with a shared BLAS");
    return 0;
}

int program_check(const char *path, const char *library, struct fault *f)
{
    char at[PROGRAM_PATH_MAX];
    snprintf(at, sizeof at, "%s", path);
    if (gains_rights(path))
        return refuse(f, path,
                      "unsupported: the program is setuid, setgid or has capabilities, "
                      "so the loader ignores preloaded libraries");
    for (int i = 0; i < INTERPRETERS_MAX; i++) {
        struct image x = image_open(at);
        const bool elf = is_elf(&x), readable = x.at != NULL;
        const int status = elf ? check_elf(at, library, &x, f) : 0;
        if (!elf) interpreter(at, &x);
        image_close(&x);
        if (elf || !readable) return status;
    }
    return 0;
}

/* --- functions in it -------------------------------------------------------------- */

/* The first of the names that a symbol table has as a function of the file. */
static const char *table_has(const struct image *x, const ElfW(Shdr) * all,
                             unsigned count, const ElfW(Shdr) * table,
                             const char *const *names)
{
    const uint64_t symbols = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *const symbol =
        records(x, table->sh_offset, symbols, sizeof(ElfW(Sym)));
    if (!symbol || table->sh_link >= count) return NULL;
    const ElfW(Shdr) *const texts = &all[table->sh_link];
    const char *const text = records(x, texts->sh_offset, texts->sh_size, 1);
    if (!text || !texts->sh_size || text[texts->sh_size - 1]) return NULL;
    for (uint64_t i = 0; i < symbols; i++) {
        if (symbol[i].st_shndx == SHN_UNDEF || symbol[i].st_name >= texts->sh_size ||
            ELF64_ST_TYPE(symbol[i].st_info) != STT_FUNC)
            continue;
        for (const char *const *name = names; *name; name++)
            if (!strcmp(text + symbol[i].st_name, *name)) return *name;
    }
    return NULL;
}

const char *program_has(const char *path, const char *const *names)
{
    struct image x = image_open(path);
    const ElfW(Ehdr) *const head = elf_of(&x);
    const ElfW(Shdr) *const part =
        head ? records(&x, head->e_shoff, head->e_shnum, sizeof *part) : NULL;
    const char *found = NULL;
    for (unsigned i = 0; part && !found && i < head->e_shnum; i++)
        if (part[i].sh_type == SHT_SYMTAB || part[i].sh_type == SHT_DYNSYM)
            found = table_has(&x, part, head->e_shnum, &part[i], names);
    image_close(&x);
    return found;
}
