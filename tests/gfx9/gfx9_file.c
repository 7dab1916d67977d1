/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS = 0x1000, CODE_AT = 0x100, MACHINE_AMDGPU = 224, NOTE_METADATA = 32 };

/* IEEE mode, to nearest with subnormals. */
#define MODE_IEEE (0xf0u << 12 | 1u << 23)

/* --- growing bytes ----------------------------------------------------------------- */

struct bytes {
    uint8_t *at;
    size_t count, room;
};

static void *put(struct bytes *to, const void *from, size_t count)
{
    while (to->count + count > to->room) {
        to->room = to->room ? 2 * to->room : 4096;
        to->at = realloc(to->at, to->room);
        if (!to->at) abort();
    }
    uint8_t *const at = to->at + to->count;
    if (from) memcpy(at, from, count);
    else memset(at, 0, count);
    to->count += count;
    return at;
}

static void align(struct bytes *to, size_t step)
{
    put(to, NULL, (step - to->count % step) % step);
}

/* --- the note: MessagePack --------------------------------------------------------- */

static void put_big(struct bytes *to, uint8_t tag, uint64_t x, int count)
{
    put(to, &tag, 1);
    for (int i = count - 1; i >= 0; i--) put(to, &(uint8_t){ (uint8_t)(x >> 8 * i) }, 1);
}

static void put_text(struct bytes *to, const char *text)
{
    put_big(to, 0xdb, strlen(text), 4);
    put(to, text, strlen(text));
}

static void put_pair(struct bytes *to, const char *key, uint64_t x)
{
    put_text(to, key);
    put_big(to, 0xcf, x, 8);
}

static void put_argument(struct bytes *to, const struct code_argument *x)
{
    put_big(to, 0xde, 3, 2);
    put_pair(to, ".offset", x->offset);
    put_pair(to, ".size", x->bytes);
    put_text(to, ".value_kind");
    put_text(to, x->hidden    ? "hidden_block_count_x"
                 : x->address ? "global_buffer"
                              : "by_value");
}

static void put_kernel(struct bytes *to, const struct code_file *x)
{
    put_big(to, 0xdf, 3 + x->repeated, 4);
    put_text(to, ".symbol");
    put_text(to, "k.kd");
    for (size_t n = 0; n <= x->repeated; n++)
        put_pair(to, ".max_flat_workgroup_size", x->items_most);
    put_text(to, ".args");
    put_big(to, 0xdd, (uint64_t)x->arguments + x->claimed, 4);
    for (int n = 0; n < x->arguments; n++) put_argument(to, &x->argument[n]);
}

static void put_more_kernels(struct bytes *to, const struct code_file *x)
{
    for (size_t n = 0; n < x->more_kernels; n++) {
        char name[32];
        snprintf(name, sizeof name, "k%zu.kd", n);
        put_big(to, 0xde, 1, 2);
        put_text(to, ".symbol");
        put_text(to, x->same_names ? "k.kd" : name);
    }
}

static void put_note(struct bytes *to, const struct code_file *x)
{
    struct bytes text = { 0 };
    put_big(&text, 0xde, 2, 2);
    put_text(&text, "nested");
    for (size_t n = 0; n < x->nested; n++) put(&text, &(uint8_t){ 0x91 }, 1);
    put(&text, &(uint8_t){ 0 }, 1);
    put_text(&text, "amdhsa.kernels");
    put_big(&text, 0xdd, 1 + x->more_kernels, 4);
    put_kernel(&text, x);
    put_more_kernels(&text, x);
    const Elf64_Nhdr head = { 7, (Elf64_Word)text.count, NOTE_METADATA };
    put(to, &head, sizeof head);
    put(to, "AMDGPU\0", 8);
    put(to, text.at, text.count);
    align(to, 4);
    free(text.at);
}

/* --- the segment ------------------------------------------------------------------- */

static void put_descriptor(struct bytes *to, const struct code_descriptor *d)
{
    uint8_t at[64] = { 0 };
    const uint32_t resources1 = d->resources1 ^ MODE_IEEE;
    const uint64_t entry = (uint64_t)d->entry + CODE_AT;
    memcpy(at, &d->lds, 4);
    memcpy(at + 4, &d->scratch, 4);
    memcpy(at + 8, &d->arguments, 4);
    memcpy(at + 16, &entry, 8);
    memcpy(at + 48, &resources1, 4);
    memcpy(at + 52, &d->resources2, 4);
    memcpy(at + 56, &d->properties, 2);
    put(to, at, sizeof at);
}

/* --- symbols ----------------------------------------------------------------------- */

static Elf64_Sym symbol_of(size_t name)
{
    return (Elf64_Sym){ .st_name = (Elf64_Word)name, .st_value = ADDRESS, .st_size = 64 };
}

/* The names: one long one, of which others are the ends, then k's. */
static size_t put_names(struct bytes *to, const struct code_file *x)
{
    put(to, NULL, 1);
    memset(put(to, NULL, x->name_bytes), 'k', x->name_bytes);
    put(to, "x.kd", 5);
    const size_t k = to->count;
    put(to, "k.kd", 5);
    for (size_t n = 0; n < x->more_kernels; n++) {
        char name[32];
        snprintf(name, sizeof name, "k%zu.kd", n);
        put(to, name, strlen(name) + 1);
    }
    return k;
}

static void put_symbols(struct bytes *to, const struct code_file *x,
                        const struct bytes *names, size_t k)
{
    for (size_t n = 0; n < x->more_symbols; n++) {
        const Elf64_Sym s = symbol_of(1 + (x->name_bytes ? n % x->name_bytes : 0));
        put(to, &s, sizeof s);
    }
    for (size_t at = k; at < names->count; at += strlen((char *)names->at + at) + 1) {
        const Elf64_Sym s = symbol_of(at);
        put(to, &s, sizeof s);
    }
}

/* --- the file ---------------------------------------------------------------------- */

/* Where the parts are. */
struct parts {
    Elf64_Phdr segment, note;
    Elf64_Shdr code, names, symbols;
};

static void put_segments(struct bytes *to, const struct parts *p,
                         const struct code_file *x)
{
    for (size_t n = 0; n <= x->more_segments; n++) {
        Elf64_Phdr s = p->segment;
        if (x->apart) s.p_vaddr += n * 0x1000;
        put(to, &s, sizeof s);
    }
    for (size_t n = 0; n <= x->more_notes; n++) put(to, &p->note, sizeof p->note);
}

static size_t put_sections(struct bytes *to, const struct parts *p,
                           const struct code_file *x)
{
    const size_t from = to->count;
    put(to, NULL, sizeof(Elf64_Shdr));
    put(to, &p->names, sizeof p->names);
    for (size_t n = 0; n <= x->more_sections; n++) {
        Elf64_Shdr s = p->code;
        if (x->apart) s.sh_addr += n * 0x1000;
        put(to, &s, sizeof s);
    }
    for (size_t n = 0; n <= x->more_tables; n++) put(to, &p->symbols, sizeof p->symbols);
    return from;
}

static void put_header(struct bytes *to, const struct code_file *x, size_t sections,
                       size_t segments, size_t segments_at)
{
    Elf64_Ehdr h = { .e_type = ET_DYN,
                     .e_machine = MACHINE_AMDGPU,
                     .e_version = 1,
                     .e_phoff = segments_at,
                     .e_shoff = sections,
                     .e_flags = x->target->machine,
                     .e_ehsize = sizeof h,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = (Elf64_Half)segments,
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum =
                         (Elf64_Half)((to->count - sections) / sizeof(Elf64_Shdr)) };
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = 1;
    memcpy(to->at, &h, sizeof h);
}

uint8_t *code_file_make(size_t *bytes, const struct code_file *x)
{
    struct bytes file = { 0 }, names = { 0 };
    struct parts p;
    put(&file, NULL, sizeof(Elf64_Ehdr));
    const size_t image = file.count;
    put_descriptor(&file, &x->descriptor);
    put(&file, NULL, CODE_AT - 64);
    put(&file, x->code, 4 * x->dwords);
    p.segment = (Elf64_Phdr){ PT_LOAD,
                              PF_R | PF_X,
                              image,
                              ADDRESS,
                              ADDRESS,
                              file.count - image,
                              file.count - image + x->zeros,
                              4096 };
    p.code = (Elf64_Shdr){ 0,
                           SHT_PROGBITS,
                           SHF_ALLOC | SHF_EXECINSTR,
                           ADDRESS + CODE_AT,
                           image + CODE_AT,
                           4 * x->dwords + x->code_zeros,
                           0,
                           0,
                           4,
                           0 };
    const size_t note = file.count;
    put_note(&file, x);
    p.note = (Elf64_Phdr){ PT_NOTE,           PF_R, note, 0, 0, file.count - note,
                           file.count - note, 4 };
    const size_t k = put_names(&names, x);
    p.names = (Elf64_Shdr){ 0, SHT_STRTAB, 0, 0, file.count, names.count, 0, 0, 1, 0 };
    put(&file, names.at, names.count);
    align(&file, 8);
    p.symbols = (Elf64_Shdr){ 0, SHT_DYNSYM, 0, 0, file.count, 0, 1, 0, 8, 24 };
    put_symbols(&file, x, &names, k);
    p.symbols.sh_size = file.count - p.symbols.sh_offset;
    free(names.at);
    const size_t segments = file.count;
    put_segments(&file, &p, x);
    const size_t sections = put_sections(&file, &p, x);
    put_header(&file, x, sections, 2 + x->more_segments + x->more_notes, segments);
    *bytes = file.count;
    return file.at;
}
