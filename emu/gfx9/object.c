/* Code objects: ELF files, of which the loaded segments, the kernels' descriptors and the
   note of their arguments are read ("User Guide for AMDGPU Backend", ELF code object). */
#include "emu/gfx9/wave.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_AMDGPU = 224, NOTE_METADATA = 32 };

const struct gfx9_target gfx9_targets[] = {
    /* clang-format off */
    { "gfx908", "MI100",        "cdna1", 0x30, TARGET_GFX908, false, true,  false },
    { "gfx90a", "MI210, MI250", "cdna2", 0x3f, TARGET_GFX90A, true,  false, true  },
    { "gfx942", "MI300",        "cdna3", 0x4c, TARGET_GFX942, true,  false, true  },
    { 0 }
    /* clang-format on */
};

/* --- the file --------------------------------------------------------------------- */

/* An ELF file in memory; its structures are copied out, aligned or not. */
struct file {
    const uint8_t *at;
    size_t bytes;
    Elf64_Ehdr header;
};

static bool has(const struct file *x, uint64_t offset, uint64_t bytes)
{
    return offset <= x->bytes && bytes <= x->bytes - offset;
}

static bool open_file(struct file *x, const void *at, size_t bytes)
{
    *x = (struct file){ .at = at, .bytes = bytes };
    if (bytes < sizeof x->header) return false;
    memcpy(&x->header, at, sizeof x->header);
    return !memcmp(x->header.e_ident, ELFMAG, SELFMAG) &&
           x->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           x->header.e_ident[EI_DATA] == ELFDATA2LSB &&
           has(x, x->header.e_phoff, (uint64_t)x->header.e_phnum * sizeof(Elf64_Phdr)) &&
           has(x, x->header.e_shoff, (uint64_t)x->header.e_shnum * sizeof(Elf64_Shdr));
}

static Elf64_Phdr segment_of(const struct file *x, int n)
{
    Elf64_Phdr segment;
    memcpy(&segment, x->at + x->header.e_phoff + (size_t)n * sizeof segment,
           sizeof segment);
    return segment;
}

static Elf64_Shdr section_of(const struct file *x, int n)
{
    Elf64_Shdr section;
    memcpy(&section, x->at + x->header.e_shoff + (size_t)n * sizeof section,
           sizeof section);
    return section;
}

static const struct gfx9_target *target_of(const struct file *x)
{
    const unsigned machine = x->header.e_flags & 0xff; /* EF_AMDGPU_MACH */
    const struct gfx9_target *row = gfx9_targets;
    if (x->header.e_machine != MACHINE_AMDGPU) return NULL;
    while (row->name && row->machine != machine) row++;
    return row->name ? row : NULL;
}

const struct gfx9_target *gfx9_target_peek(const void *file, size_t bytes)
{
    struct file x;
    return open_file(&x, file, bytes) ? target_of(&x) : NULL;
}

/* --- the image -------------------------------------------------------------------- */

enum { IMAGE_MOST = 1 << 28 };

static enum bitcut_status load_image(struct gfx9_object *o, const struct file *x,
                                     struct fault *f)
{
    uint64_t end = 0;
    for (int n = 0; n < x->header.e_phnum; n++) {
        const Elf64_Phdr s = segment_of(x, n);
        if (s.p_type != PT_LOAD) continue;
        if (!has(x, s.p_offset, s.p_filesz) || s.p_filesz > s.p_memsz ||
            s.p_vaddr > IMAGE_MOST || s.p_memsz > IMAGE_MOST - s.p_vaddr)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "a segment of it is damaged");
        if (s.p_vaddr + s.p_memsz > end) end = s.p_vaddr + s.p_memsz;
    }
    o->image_bytes = (end + 63) / 64 * 64;
    o->image = aligned_alloc(256, (o->image_bytes + 511) / 256 * 256);
    if (!o->image) return fault_set(f, BITCUT_CANNOT, "no memory");
    memset(o->image, 0, o->image_bytes);
    for (int n = 0; n < x->header.e_phnum; n++) {
        const Elf64_Phdr s = segment_of(x, n);
        if (s.p_type == PT_LOAD)
            memcpy(o->image + s.p_vaddr, x->at + s.p_offset, s.p_filesz);
    }
    return BITCUT_OK;
}

/* --- code ------------------------------------------------------------------------- */

static bool is_code(const struct gfx9_object *o, const Elf64_Shdr *s)
{
    return s->sh_type == SHT_PROGBITS && s->sh_flags & SHF_EXECINSTR &&
           s->sh_addr <= o->image_bytes && s->sh_size <= o->image_bytes - s->sh_addr;
}

static enum bitcut_status decode_code(struct gfx9_object *o, const struct file *x,
                                      struct fault *f)
{
    const size_t dwords = o->image_bytes / 4;
    o->at = memory_allocate(dwords + 1, sizeof *o->at);
    o->code = memory_allocate(dwords + 1, sizeof *o->code);
    if (!o->at || !o->code) return fault_set(f, BITCUT_CANNOT, "no memory");
    for (size_t n = 0; n <= dwords; n++) o->at[n] = UINT32_MAX;
    for (int n = 0; n < x->header.e_shnum; n++) {
        const Elf64_Shdr s = section_of(x, n);
        if (!is_code(o, &s) || s.sh_addr % 4) continue;
        for (uint64_t at = s.sh_addr; at + 4 <= s.sh_addr + s.sh_size;) {
            struct instruction *i = &o->code[o->code_count];
            gfx9_decode(i, o, at);
            if (o->at[at / 4] == UINT32_MAX) o->at[at / 4] = (uint32_t)o->code_count++;
            if (o->code_count > dwords)
                return fault_set(f, BITCUT_BAD_ARGUMENT, "its sections overlap");
            at += i->bytes;
        }
    }
    return BITCUT_OK;
}

void gfx9_find_units(struct gfx9_object *o)
{
    char name[128];
    for (const struct opcode *row = gfx9_matrix; row->name; row++) {
        if (!row->unit || !(row->targets & o->target->bit)) continue;
        strcpy(name, o->target->units);
        strcat(name, "/");
        strcat(name, row->unit);
        struct matrix_unit *to = &o->units[row->number];
        to->unit = unit_find(name, NULL);
        to->has_fast = to->unit && fast_fragment_make(&to->fast, to->unit);
    }
}

/* --- kernels ---------------------------------------------------------------------- */

/* The address of a symbol, or false. */
static bool find_symbol(uint64_t *address, const struct file *x, const char *name,
                        const char *ending)
{
    const size_t length = strlen(name);
    for (int n = 0; n < x->header.e_shnum; n++) {
        const Elf64_Shdr s = section_of(x, n);
        if (s.sh_type != SHT_DYNSYM && s.sh_type != SHT_SYMTAB) continue;
        if (s.sh_link >= x->header.e_shnum || !has(x, s.sh_offset, s.sh_size)) continue;
        const Elf64_Shdr t = section_of(x, (int)s.sh_link);
        if (!has(x, t.sh_offset, t.sh_size)) continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s.sh_size;
             at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, x->at + s.sh_offset + at, sizeof symbol);
            const size_t need = length + strlen(ending) + 1;
            if (symbol.st_name > t.sh_size || t.sh_size - symbol.st_name < need) continue;
            const char *text = (const char *)x->at + t.sh_offset + symbol.st_name;
            if (memcmp(text, name, length) ||
                memcmp(text + length, ending, need - length))
                continue;
            *address = symbol.st_value;
            return true;
        }
    }
    return false;
}

enum { DESCRIPTOR_BYTES = 64 };

static enum bitcut_status find_descriptors(struct gfx9_object *o, const struct file *x,
                                           struct fault *f)
{
    for (size_t n = 0; n < o->kernel_count; n++) {
        uint64_t at;
        if (!find_symbol(&at, x, o->kernels[n].name, ".kd") ||
            at > o->image_bytes - DESCRIPTOR_BYTES)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%.100s has no descriptor",
                             o->kernels[n].name);
        o->kernels[n].descriptor = at;
    }
    return BITCUT_OK;
}

static enum bitcut_status read_note(struct gfx9_object *o, const struct file *x,
                                    struct fault *f)
{
    for (int n = 0; n < x->header.e_phnum; n++) {
        const Elf64_Phdr s = segment_of(x, n);
        Elf64_Nhdr note;
        if (s.p_type != PT_NOTE || !has(x, s.p_offset, s.p_filesz)) continue;
        for (uint64_t at = 0; at + sizeof note <= s.p_filesz;) {
            memcpy(&note, x->at + s.p_offset + at, sizeof note);
            const uint64_t text = at + sizeof note + (note.n_namesz + 3ull) / 4 * 4;
            const uint64_t end = text + (note.n_descsz + 3ull) / 4 * 4;
            if (end > s.p_filesz) break;
            if (note.n_type == NOTE_METADATA)
                return gfx9_read_notes(o, x->at + s.p_offset + text, note.n_descsz, f);
            at = end;
        }
    }
    return fault_set(f, BITCUT_BAD_ARGUMENT, "it has no note of its kernels");
}

/* --- the whole -------------------------------------------------------------------- */

static enum bitcut_status load(struct gfx9_object *o, const struct file *x,
                               struct fault *f)
{
    enum bitcut_status status = load_image(o, x, f);
    if (status == BITCUT_OK && o->image_bytes < DESCRIPTOR_BYTES)
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "it has no code");
    if (status == BITCUT_OK) status = read_note(o, x, f);
    if (status == BITCUT_OK) status = find_descriptors(o, x, f);
    if (status == BITCUT_OK) status = decode_code(o, x, f);
    if (status == BITCUT_OK) gfx9_find_units(o);
    return status;
}

enum bitcut_status gfx9_load(struct gfx9_object **to, const void *file, size_t bytes,
                             struct fault *f)
{
    struct file x;
    if (!open_file(&x, file, bytes))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "no ELF file of 64 bits, or damaged");
    const struct gfx9_target *target = target_of(&x);
    if (!target)
        return fault_set(f, BITCUT_CANNOT,
                         "code for another machine than gfx908, gfx90a or gfx942");
    struct gfx9_object *o = calloc(1, sizeof *o);
    if (!o) return fault_set(f, BITCUT_CANNOT, "no memory");
    o->target = target;
    const enum bitcut_status status = load(o, &x, f);
    if (status == BITCUT_OK) *to = o;
    else gfx9_unload(o);
    return status;
}

void gfx9_unload(struct gfx9_object *o)
{
    if (!o) return;
    free(o->at);
    free(o->code);
    free(o->kernels);
    free(o->names);
    free(o->image);
    free(o);
}

const struct gfx9_target *gfx9_target_of(const struct gfx9_object *o)
{
    return o->target;
}

const struct gfx9_kernel *gfx9_kernel_next(const struct gfx9_object *o,
                                           const struct gfx9_kernel *at)
{
    const struct gfx9_kernel *next = at ? at + 1 : o->kernels;
    return next < o->kernels + o->kernel_count ? next : NULL;
}

const struct gfx9_kernel *gfx9_kernel_find(const struct gfx9_object *o, const char *name)
{
    const struct gfx9_kernel *at = NULL;
    while ((at = gfx9_kernel_next(o, at)))
        if (!strcmp(at->name, name)) break;
    return at;
}

void gfx9_list(const struct gfx9_object *o,
               bool (*each)(void *with, size_t at, const char *mnemonic), void *with)
{
    for (size_t n = 0; n < o->code_count; n++) {
        const struct instruction *i = &o->code[n];
        if (!each(with, i->offset, i->opcode ? i->opcode->name : NULL)) return;
    }
}
